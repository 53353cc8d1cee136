/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Network lock manager, versions 1, 3 and 4: RFC 1813 appendix II. The
 * procedures and their statuses; the locks themselves are nobody's business
 * here.
 */
#include "capture/rpc_decode.h"

void
nlm_call(struct rpc_decode *d, uint32_t version, uint32_t procedure)
{
    (void)version;
    rpc_decode_single(d, procedure)->flags |= RPC_OP_IN_CALL;
}

void
nlm_reply(struct rpc_decode *d, uint32_t version, uint32_t procedure)
{
    struct rpc_operation *op = rpc_decode_single(d, procedure);

    (void)version;
    op->flags |= RPC_OP_IN_REPLY;
    /* TEST to GRANTED, SHARE, UNSHARE, NM_LOCK: a cookie and a status. */
    if ((procedure >= 1 && procedure <= 5) ||
        (procedure >= 20 && procedure <= 22)) {
        xdrc_skip_opaque(&d->x);
        (void)rpc_decode_status(d, op);
    }
}
