/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Network status monitor, version 1: X/Open XNFS chapter 11.
 */
#include "capture/rpc_decode.h"

enum nsm_procedure { SM_NULL, SM_STAT, SM_MON };

void
nsm_call(struct rpc_decode *d, uint32_t procedure)
{
    rpc_decode_single(d, procedure)->flags |= RPC_OP_IN_CALL;
}

void
nsm_reply(struct rpc_decode *d, uint32_t procedure)
{
    struct rpc_operation *op = rpc_decode_single(d, procedure);

    op->flags |= RPC_OP_IN_REPLY;
    if (procedure == SM_STAT || procedure == SM_MON) {
        (void)rpc_decode_status(d, op); /* and the monitor's state */
    }
}
