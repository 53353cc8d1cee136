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

/* A string of which no more than RPC_NAME_KEPT bytes are kept. */
static void
read_name(struct rpc_decode *d, const char **name, uint32_t *name_length)
{
    uint32_t length = xdrc_u32(&d->x);
    uint32_t kept = length < RPC_NAME_KEPT ? length : RPC_NAME_KEPT;
    const uint8_t *bytes;

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
    *name = (const char *)bytes;
    *name_length = bytes != NULL ? kept : 0;
    xdrc_skip(&d->x, length - kept);
    xdrc_skip(&d->x, xdrc_fill(length));
}

void
rpc_decode_name(struct rpc_decode *d, struct nfs_detail *detail)
{
    if (detail == NULL) {
        xdrc_skip_opaque(&d->x);
    } else {
        read_name(d, &detail->name, &detail->name_length);
    }
}

void
rpc_decode_new_name(struct rpc_decode *d, struct nfs_detail *detail)
{
    if (detail == NULL) {
        xdrc_skip_opaque(&d->x);
    } else {
        read_name(d, &detail->new_name, &detail->new_name_length);
    }
}

#define FIRST_ENTRIES 64 /* then twice as many each time */

struct nfs_entry *
rpc_decode_entry(struct rpc_decode *d, struct nfs_detail *detail)
{
    uint32_t count = detail->entry_count;
    bool full = count == 0 || (count >= FIRST_ENTRIES &&
                               (count & (count - 1)) == 0);
    struct nfs_entry *entries =
        (struct nfs_entry *)(uintptr_t)detail->entries;

    if (count >= NFS_ENTRIES_KEPT) {
        return NULL;
    }
    if (full) {
        uint32_t room = count == 0 ? FIRST_ENTRIES : count * 2;
        struct nfs_entry *more = rpc_store_alloc(
            d->pool, &d->meaning->store, room * sizeof(*more));

        if (more == NULL) {
            return NULL;
        }
        if (count > 0) {
            memcpy(more, entries, count * sizeof(*more));
        }
        entries = more;
        detail->entries = more;
    }
    detail->entry_count++;
    memset(&entries[count], 0, sizeof(entries[count]));
    return &entries[count];
}

/* A reply can have more entries that straddle two segments than the scratch
 * has room for: such a name is copied, and its place given back. */
void
rpc_decode_entry_name(struct rpc_decode *d, struct nfs_entry *entry)
{
    uint32_t used = d->x.scratch != NULL ? d->x.scratch->used : 0;

    if (entry == NULL) {
        xdrc_skip_opaque(&d->x);
        return;
    }
    read_name(d, &entry->name, &entry->name_length);
    if (d->x.scratch != NULL && d->x.scratch->used != used) {
        char *copy = rpc_store_alloc(d->pool, &d->meaning->store,
                                     entry->name_length);

        if (copy != NULL && entry->name != NULL) {
            memcpy(copy, entry->name, entry->name_length);
        } else {
            entry->name_length = 0;
        }
        entry->name = copy;
        d->x.scratch->used = used;
    }
}

void
rpc_decode_entry_handle(struct rpc_decode *d, uint32_t most,
                        struct nfs_entry *entry)
{
    uint32_t used = d->x.scratch != NULL ? d->x.scratch->used : 0;
    uint32_t length;
    const uint8_t *bytes = xdrc_opaque(&d->x, most, &length);

    if (bytes != NULL && entry != NULL) {
        entry->handle = rpc_hash(bytes, length, 0);
    }
    if (d->x.scratch != NULL) {
        d->x.scratch->used = used;
    }
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
