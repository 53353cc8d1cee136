/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * The window [at, end) is the rest of the current piece, clipped to the
 * limit. `end_offset` says where in the record the window ends, so that the
 * position needs no field of its own:
 *
 *     record   |----piece 0----|...hole...|--piece 1--|.........|
 *              0               ^                                 ^limit
 *                 ^at          end, end_offset
 *
 * Inside a hole the window is empty and end_offset is the position. The
 * position never passes the limit, and the limit never passes the record's
 * length.
 */
#include "capture/xdr_cursor.h"

static const uint8_t nothing[1];

/* Opens the window at `position`, which is at or after the current piece. */
static void
seek(struct xdrc *c, uint32_t position)
{
    c->at = nothing;
    c->end = nothing;
    c->end_offset = position;
    if (c->piece > 0) {
        c->piece--; /* the current piece may still cover it */
    }
    for (; c->piece < c->piece_count; c->piece++) {
        const struct rpc_piece *p = &c->pieces[c->piece];
        uint64_t end = (uint64_t)p->offset + p->length;

        if (end <= position) {
            continue;
        }
        if (p->offset > position || position >= c->limit) {
            c->piece++;
            break;
        }
        if (end > c->limit) {
            end = c->limit;
        }
        c->at = p->data + (position - p->offset);
        c->end = p->data + (end - p->offset);
        c->end_offset = (uint32_t)end;
        c->piece++;
        break;
    }
}

void
xdrc_init(struct xdrc *c, const struct rpc_record *record,
          struct xdrc_scratch *scratch)
{
    c->limit = record->length;
    c->status = XDRC_OK;
    c->piece = 0;
    c->piece_count = record->piece_count;
    c->pieces = record->pieces;
    c->scratch = scratch;
    scratch->used = 0;
    if (record->piece_count > 0 && record->pieces->offset == 0) {
        uint32_t size = record->pieces->length;

        size = size < c->limit ? size : c->limit;
        c->at = record->pieces->data;
        c->end = c->at + size;
        c->end_offset = size;
        c->piece = 1;
        return;
    }
    seek(c, 0);
}

void
xdrc_init_flat(struct xdrc *c, struct rpc_piece *piece, const void *data,
               uint32_t length)
{
    piece->offset = 0;
    piece->length = length;
    piece->data = data;
    c->limit = length;
    c->status = XDRC_OK;
    c->piece = 0;
    c->piece_count = 1;
    c->pieces = piece;
    c->scratch = NULL; /* one piece: nothing straddles */
    seek(c, 0);
}

/*
 * The window holds fewer than `size` bytes: the rest is in the pieces that
 * follow without a hole, or missing.
 */
const uint8_t *
xdrc_reach(struct xdrc *c, uint32_t size)
{
    uint8_t *whole;
    uint32_t have = 0;

    if (c->status != XDRC_OK) {
        return NULL;
    }
    if (size > xdrc_left(c)) {
        xdrc_fail(c, XDRC_BAD);
        return NULL;
    }
    if (c->at == c->end) {
        seek(c, c->end_offset);
        if ((size_t)(c->end - c->at) >= size) {
            const uint8_t *bytes = c->at;
            c->at += size;
            return bytes;
        }
    }
    if (size > XDRC_SCRATCH - c->scratch->used) {
        xdrc_fail(c, XDRC_LIMIT);
        return NULL;
    }
    whole = c->scratch->bytes + c->scratch->used;
    while (have < size) {
        uint32_t part = (uint32_t)(c->end - c->at);

        if (part == 0) {
            seek(c, c->end_offset);
            part = (uint32_t)(c->end - c->at);
            if (part == 0) {
                xdrc_fail(c, XDRC_SHORT);
                return NULL;
            }
        }
        if (part > size - have) {
            part = size - have;
        }
        memcpy(whole + have, c->at, part);
        c->at += part;
        have += part;
    }
    c->scratch->used += size;
    return whole;
}

void
xdrc_advance(struct xdrc *c, uint32_t size)
{
    if (c->status != XDRC_OK) {
        return;
    }
    if (size > xdrc_left(c)) {
        xdrc_fail(c, XDRC_BAD);
        return;
    }
    seek(c, xdrc_position(c) + size);
}

uint32_t
xdrc_narrow(struct xdrc *c, uint32_t size)
{
    uint32_t outer = c->limit;

    if (c->status != XDRC_OK) {
        return outer;
    }
    if (size > xdrc_left(c)) {
        xdrc_fail(c, XDRC_BAD);
        return outer;
    }
    c->limit = xdrc_position(c) + size;
    if (c->end_offset > c->limit) {
        c->end -= c->end_offset - c->limit;
        c->end_offset = c->limit;
    }
    return outer;
}

void
xdrc_widen(struct xdrc *c, uint32_t outer, bool forgive)
{
    uint32_t inner_end = c->limit;

    c->limit = outer;
    if (forgive) {
        c->status = XDRC_OK;
    }
    if (c->status == XDRC_OK) {
        seek(c, inner_end);
    }
}
