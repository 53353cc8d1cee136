/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operations that the server sends to the client: RFC 8881 section 20, RFC
 * 7862 section 16.
 */
#include "capture/nfs4_attr.h"
#include "capture/nfs4_op.h"

#define STATEID 16

enum nfs4_callback {
    CB_GETATTR = 3,
    CB_RECALL,
    CB_LAYOUTRECALL,
    CB_NOTIFY,
    CB_PUSH_DELEG,
    CB_RECALL_ANY,
    CB_RECALLABLE_OBJ_AVAIL,
    CB_RECALL_SLOT,
    CB_SEQUENCE,
    CB_WANTS_CANCELLED,
    CB_NOTIFY_LOCK,
    CB_NOTIFY_DEVICEID,
    CB_OFFLOAD,
    CB_ILLEGAL = 10044,
};

static void
read_handle(struct rpc_decode *d, struct rpc_operation *op)
{
    rpc_decode_handle(d, NFS4_FHSIZE,
                      d->full ? &rpc_decode_detail(d, op)->handle : NULL);
}

/* RFC 8881 section 20.3: layoutrecall4. */
static void
read_layout_recall(struct rpc_decode *d, struct rpc_operation *op)
{
    struct xdrc *x = &d->x;

    xdrc_skip(x, 4 + 4 + 4);
    switch (xdrc_u32(x)) {
    case 1: /* LAYOUTRECALL4_FILE */
        read_handle(d, op);
        xdrc_skip(x, 8 + 8 + STATEID);
        break;
    case 2: /* LAYOUTRECALL4_FSID */
        xdrc_skip(x, 16);
        break;
    case 3: /* LAYOUTRECALL4_ALL */
        break;
    default:
        xdrc_fail(x, XDRC_BAD);
    }
}

/* RFC 8881 section 20.4: notify4<>. */
static void
skip_notifications(struct xdrc *x)
{
    uint32_t count = xdrc_count(x, 8);

    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        nfs4_skip_fattr(x); /* a bitmap and an opaque */
    }
}

/* RFC 8881 section 20.9: CB_SEQUENCE4args. */
static void
read_sequence(struct xdrc *x)
{
    uint32_t count;

    xdrc_skip(x, 16 + 4 * 4);
    count = xdrc_count(x, 20);
    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        xdrc_skip(x, 16);
        xdrc_skip_array(x, 8);
    }
}

void
nfs4_read_callback_arguments(struct rpc_decode *d, struct rpc_operation *op)
{
    struct xdrc *x = &d->x;

    switch (op->number) {
    case CB_GETATTR:
        read_handle(d, op);
        nfs4_skip_bitmap(x);
        break;
    case CB_RECALL:
        xdrc_skip(x, STATEID + 4);
        read_handle(d, op);
        break;
    case CB_LAYOUTRECALL:
        read_layout_recall(d, op);
        break;
    case CB_NOTIFY:
        xdrc_skip(x, STATEID);
        read_handle(d, op);
        skip_notifications(x);
        break;
    case CB_PUSH_DELEG:
        read_handle(d, op);
        (void)nfs4_read_delegation(x);
        break;
    case CB_RECALL_ANY:
        xdrc_skip(x, 4);
        nfs4_skip_bitmap(x);
        break;
    case CB_RECALLABLE_OBJ_AVAIL:
    case CB_RECALL_SLOT:
        xdrc_skip(x, 4);
        break;
    case CB_SEQUENCE:
        read_sequence(x);
        break;
    case CB_WANTS_CANCELLED:
        xdrc_skip(x, 8);
        break;
    case CB_NOTIFY_LOCK:
        read_handle(d, op);
        xdrc_skip(x, 8);
        xdrc_skip_opaque(x);
        break;
    case CB_NOTIFY_DEVICEID:
        skip_notifications(x);
        break;
    case CB_OFFLOAD:
        read_handle(d, op);
        xdrc_skip(x, STATEID);
        if (xdrc_u32(x) == 0) {
            nfs4_skip_write_response(x, NULL);
        } else {
            xdrc_skip(x, 8);
        }
        break;
    case CB_ILLEGAL:
        break;
    default:
        xdrc_fail(x, XDRC_UNSUPPORTED);
    }
}

void
nfs4_read_callback_results(struct rpc_decode *d, struct rpc_operation *op)
{
    if (op->status != 0) {
        return;
    }
    if (op->number == CB_GETATTR) {
        if (d->full) {
            nfs4_read_attr(d, &rpc_decode_detail(d, op)->after);
        } else {
            nfs4_skip_fattr(&d->x);
        }
    } else if (op->number == CB_SEQUENCE) {
        xdrc_skip(&d->x, 16 + 4 * 4);
    } else if (op->number > CB_OFFLOAD && op->number != CB_ILLEGAL) {
        xdrc_fail(&d->x, XDRC_UNSUPPORTED);
    }
}
