/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * MOUNT versions 1 and 2 (RFC 1094 appendix A) and 3 (RFC 1813 appendix I).
 */
#include "capture/rpc_decode.h"

enum mount_procedure { NULL_M, MNT, DUMP, UMNT, UMNTALL, EXPORT, EXPORTALL };

void
mount_call(struct rpc_decode *d, uint32_t version, uint32_t procedure)
{
    struct rpc_operation *op = rpc_decode_single(d, procedure);

    (void)version;
    op->flags |= RPC_OP_IN_CALL;
    if (procedure == MNT || procedure == UMNT) {
        rpc_decode_name(d, d->full ? rpc_decode_detail(d, op) : NULL);
    } else if (procedure > EXPORTALL) {
        return;
    }
    d->to_end = true;
}

/* RFC 1813 section 5.2.1, RFC 1094 section A.5.2: MNT's results. */
static void
reply_mnt(struct rpc_decode *d, uint32_t version, struct rpc_operation *op)
{
    struct nfs_detail *n;

    if (rpc_decode_status(d, op) != 0 || !xdrc_ok(&d->x) || !d->full) {
        return;
    }
    n = rpc_decode_detail(d, op);
    if (version == 3) {
        rpc_decode_handle(d, 64, &n->result_handle);
        xdrc_skip_array(&d->x, 4);
    } else {
        const uint8_t *bytes = xdrc_fixed(&d->x, 32);

        if (bytes != NULL) {
            nfs_handle_set(&n->result_handle, bytes, 32);
        }
    }
}

/* RFC 1813 section 5.2.2 and 5.2.5: mountlist, exports. */
static void
reply_list(struct rpc_decode *d, bool exports)
{
    while (xdrc_bool(&d->x)) {
        xdrc_skip_opaque(&d->x);
        if (!exports) {
            xdrc_skip_opaque(&d->x);
            continue;
        }
        while (xdrc_bool(&d->x)) {
            xdrc_skip_opaque(&d->x);
        }
    }
}

void
mount_reply(struct rpc_decode *d, uint32_t version, uint32_t procedure)
{
    struct rpc_operation *op = rpc_decode_single(d, procedure);

    op->flags |= RPC_OP_IN_REPLY;
    if (procedure == MNT) {
        reply_mnt(d, version, op);
    } else if (procedure == DUMP || procedure == EXPORT ||
               procedure == EXPORTALL) {
        reply_list(d, procedure != DUMP);
    } else if (procedure > EXPORTALL) {
        return;
    }
    d->to_end = d->full;
}
