/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capture/rpc_decode.h"

#include "capture/rpc_message.h"

/* Everything but the bytes of the handles, which their lengths guard. */
static void
clear_detail(struct nfs_detail *d)
{
    d->handle.length = 0;
    d->handle.hash = 0;
    d->result_handle.length = 0;
    d->result_handle.hash = 0;
    memset((char *)d + offsetof(struct nfs_detail, name), 0,
           sizeof(*d) - offsetof(struct nfs_detail, name));
}

struct nfs_detail *
rpc_decode_detail(struct rpc_decode *d, struct rpc_operation *op)
{
    struct nfs_detail *detail;

    if (op->detail != NULL) {
        return (struct nfs_detail *)(uintptr_t)op->detail;
    }
    detail = rpc_store_alloc(d->pool, &d->meaning->store, sizeof(*detail));
    if (detail == NULL) {
        clear_detail(&d->spare);
        return &d->spare;
    }
    clear_detail(detail);
    op->detail = detail;
    return detail;
}

struct rpc_operation *
rpc_decode_single(struct rpc_decode *d, uint32_t number)
{
    struct rpc_meaning *m = d->meaning;

    if (m->operation_count == 0) {
        m->single.number = number;
        m->single.status = 0;
        m->single.flags = 0;
        m->single.detail = NULL;
        m->operations = &m->single;
        m->operation_count = 1;
        m->operation_room = 1;
    }
    return &m->single;
}

void
rpc_decode_name(struct rpc_decode *d, struct nfs_detail *detail)
{
    uint32_t length = xdrc_u32(&d->x);
    uint32_t kept = length < RPC_NAME_KEPT ? length : RPC_NAME_KEPT;
    const uint8_t *bytes;

    if (detail == NULL) {
        xdrc_skip(&d->x, length);
        xdrc_skip(&d->x, xdrc_fill(length));
        return;
    }
    if (length > xdrc_left(&d->x)) {
        xdrc_fail(&d->x, XDRC_BAD);
        return;
    }
    bytes = xdrc_raw(&d->x, kept);
    if (bytes == NULL) {
        return;
    }
    if (d->keep) {
        char *copy = rpc_store_alloc(d->pool, &d->meaning->store, kept);

        if (copy != NULL) {
            memcpy(copy, bytes, kept);
        }
        bytes = (const uint8_t *)copy;
    }
    detail->name = (const char *)bytes;
    detail->name_length = bytes != NULL ? kept : 0;
    xdrc_skip(&d->x, length - kept);
    xdrc_skip(&d->x, xdrc_fill(length));
}

void
nfs_handle_set(struct nfs_handle *h, const uint8_t *bytes, uint32_t length)
{
    h->length = (uint8_t)length;
    h->hash = rpc_hash(bytes, length, 0);
    memcpy(h->bytes, bytes, length);
}

void
nfs_handle_copy(struct nfs_handle *to, const struct nfs_handle *from)
{
    to->length = from->length;
    to->hash = from->hash;
    memcpy(to->bytes, from->bytes, from->length);
}

void
rpc_decode_handle(struct rpc_decode *d, uint32_t most, struct nfs_handle *h)
{
    uint32_t length;
    const uint8_t *bytes = xdrc_opaque(&d->x, most, &length);

    if (bytes != NULL && h != NULL) {
        nfs_handle_set(h, bytes, length);
    }
}

uint32_t
rpc_decode_status(struct rpc_decode *d, struct rpc_operation *op)
{
    uint32_t status = xdrc_u32(&d->x);

    if (xdrc_ok(&d->x)) {
        op->status = status;
        op->flags |= RPC_OP_IN_REPLY;
        d->meaning->status = status;
        d->meaning->status_known = true;
    }
    return status;
}
