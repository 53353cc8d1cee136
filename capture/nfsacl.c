/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NFSACL versions 2 and 3: POSIX ACLs beside NFS version 2 and 3. No RFC; the
 * layout is that of the Solaris and Linux implementations. The entries of the
 * lists are not looked at.
 */
#include "capture/rpc_decode.h"

enum nfsacl_procedure { NULL_A, GETACL, SETACL, GETATTR_A, ACCESS_A };

static void
read_handle(struct rpc_decode *d, uint32_t version, struct nfs_handle *h)
{
    const uint8_t *bytes;

    if (version == 3) {
        rpc_decode_handle(d, 64, h);
        return;
    }
    bytes = xdrc_fixed(&d->x, 32);
    if (bytes != NULL) {
        nfs_handle_set(h, bytes, 32);
    }
}

void
nfsacl_call(struct rpc_decode *d, uint32_t version, uint32_t procedure)
{
    struct rpc_operation *op = rpc_decode_single(d, procedure);
    struct nfs_detail *n;

    op->flags |= RPC_OP_IN_CALL;
    if (procedure == NULL_A || procedure > ACCESS_A || !d->full) {
        return;
    }
    n = rpc_decode_detail(d, op);
    if (version == 3 && procedure > SETACL) {
        return;
    }
    read_handle(d, version, &n->handle);
    if (procedure == ACCESS_A) {
        n->access_requested = xdrc_u32(&d->x);
    }
}

void
nfsacl_reply(struct rpc_decode *d, uint32_t version, uint32_t procedure)
{
    struct rpc_operation *op = rpc_decode_single(d, procedure);
    struct nfs_detail *n;
    uint32_t status;

    op->flags |= RPC_OP_IN_REPLY;
    if (procedure == NULL_A || procedure > ACCESS_A) {
        return;
    }
    status = rpc_decode_status(d, op);
    if (!d->full || !xdrc_ok(&d->x)) {
        return;
    }
    n = rpc_decode_detail(d, op);
    if (version == 3) {
        nfs3_post_op(d, &n->after);
    } else if (status == 0) {
        nfs2_attributes(d, &n->after);
        if (procedure == ACCESS_A) {
            n->access_granted = xdrc_u32(&d->x);
        }
    }
}
