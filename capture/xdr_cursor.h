/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading XDR (RFC 4506) out of a record that may have holes.
 *
 * A cursor walks over the pieces of one record. Whatever is read must be
 * there; what is only passed over need not be: a skip may start, end or lie
 * in a hole. Every check of a bound happens in xdrc_reach() and
 * xdrc_advance(); the functions around them know the shape of the data only.
 *
 * The status is sticky. After the first failure every read gives 0 and every
 * skip does nothing, so a decoder looks at the status before it trusts a
 * loop bound and once at its end.
 */
#ifndef NAT_CAPTURE_XDR_CURSOR_H
#define NAT_CAPTURE_XDR_CURSOR_H

#include "capture/rpc_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum xdrc_status {
    XDRC_OK,
    XDRC_SHORT,       /* the bytes exist, but were not captured */
    XDRC_LIMIT,       /* over a limit of ours: more than is kept */
    XDRC_BAD,         /* contradicts itself or the protocol: past the end of
                         the record, an impossible discriminant or length */
    XDRC_UNSUPPORTED, /* well formed so far, but its layout is not known */
};

/* Where values that straddle two pieces are put together. */
#define XDRC_SCRATCH 4096

struct xdrc_scratch {
    uint32_t used;
    uint8_t bytes[XDRC_SCRATCH];
};

/* Fields are the implementation's; use the functions. */
struct xdrc {
    const uint8_t *at;   /* next byte, if at < end */
    const uint8_t *end;  /* end of what is contiguous from `at` */
    uint32_t end_offset; /* `end` in the record */
    uint32_t limit;      /* nothing is read at or past this offset */
    enum xdrc_status status;
    uint32_t piece; /* index of the piece after the current one */
    uint32_t piece_count;
    const struct rpc_piece *pieces;
    struct xdrc_scratch *scratch;
};

/* Starts at the record's first byte. The scratch is emptied; values that it
 * holds stay valid until it is used for another cursor. */
void
xdrc_init(struct xdrc *cursor, const struct rpc_record *record,
          struct xdrc_scratch *scratch);

/* One buffer without holes. `piece` is filled in and has to live as long as
 * the cursor. */
void
xdrc_init_flat(struct xdrc *cursor, struct rpc_piece *piece, const void *data,
               uint32_t length);

/* Slow paths; see the inline functions. */
const uint8_t *
xdrc_reach(struct xdrc *cursor, uint32_t size);
void
xdrc_advance(struct xdrc *cursor, uint32_t size);

static inline void
xdrc_fail(struct xdrc *cursor, enum xdrc_status status)
{
    if (cursor->status == XDRC_OK) {
        cursor->status = status;
    }
    cursor->end_offset -= (uint32_t)(cursor->end - cursor->at);
    cursor->end = cursor->at;
}

static inline bool
xdrc_ok(const struct xdrc *cursor)
{
    return cursor->status == XDRC_OK;
}

/* Offset in the record of the next byte. */
static inline uint32_t
xdrc_position(const struct xdrc *cursor)
{
    return cursor->end_offset - (uint32_t)(cursor->end - cursor->at);
}

/* Bytes from here to the end of the record (or the narrower limit), whether
 * captured or not. */
static inline uint32_t
xdrc_left(const struct xdrc *cursor)
{
    return cursor->limit - xdrc_position(cursor);
}

/*
 * Narrows the cursor to the next `size` bytes and returns the limit from
 * before, for xdrc_widen(). BAD when fewer are left.
 */
uint32_t
xdrc_narrow(struct xdrc *cursor, uint32_t size);

/* Back to an outer limit; goes to the end of the inner one first when the
 * status is OK or the failure was one of the inner part alone (`forgive`). */
void
xdrc_widen(struct xdrc *cursor, uint32_t outer, bool forgive);

/* `size` bytes in one run, without fill. NULL after failure. */
static inline const uint8_t *
xdrc_raw(struct xdrc *cursor, uint32_t size)
{
    if ((size_t)(cursor->end - cursor->at) >= size) {
        const uint8_t *bytes = cursor->at;
        cursor->at += size;
        return bytes;
    }
    return xdrc_reach(cursor, size);
}

/* RFC 4506 section 4.1, 4.2: int, unsigned int, enum, bool. */
static inline uint32_t
xdrc_u32(struct xdrc *cursor)
{
    const uint8_t *b = xdrc_raw(cursor, 4);
    uint32_t value;

    if (b == NULL) {
        return 0;
    }
    memcpy(&value, b, 4);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    return value;
}

/* RFC 4506 section 4.5: hyper. */
static inline uint64_t
xdrc_u64(struct xdrc *cursor)
{
    const uint8_t *b = xdrc_raw(cursor, 8);
    uint64_t value;

    if (b == NULL) {
        return 0;
    }
    memcpy(&value, b, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* RFC 4506 section 4.4: 0 or 1, anything else is BAD. */
static inline bool
xdrc_bool(struct xdrc *cursor)
{
    uint32_t value = xdrc_u32(cursor);

    if (value > 1) {
        xdrc_fail(cursor, XDRC_BAD);
        return false;
    }
    return value == 1;
}

/* Passes over `size` bytes, fill not added; may cross holes. */
static inline void
xdrc_skip(struct xdrc *cursor, uint32_t size)
{
    if ((size_t)(cursor->end - cursor->at) >= size) {
        cursor->at += size;
    } else {
        xdrc_advance(cursor, size);
    }
}

/* Fill after `size` bytes of opaque data: RFC 4506 section 3. */
static inline uint32_t
xdrc_fill(uint32_t size)
{
    return -size & 3u;
}

/* RFC 4506 section 4.9: fixed-length opaque, fill consumed. */
static inline const uint8_t *
xdrc_fixed(struct xdrc *cursor, uint32_t size)
{
    const uint8_t *bytes = xdrc_raw(cursor, size);

    xdrc_skip(cursor, xdrc_fill(size));
    return bytes;
}

/*
 * RFC 4506 section 4.10, 4.11: variable-length opaque or string of at most
 * `most` bytes (BAD above it). Fill is consumed, its content not looked at.
 * *length is 0 after failure.
 */
static inline const uint8_t *
xdrc_opaque(struct xdrc *cursor, uint32_t most, uint32_t *length)
{
    uint32_t size = xdrc_u32(cursor);
    const uint8_t *bytes;

    *length = 0;
    if (size > most) {
        xdrc_fail(cursor, XDRC_BAD);
        return NULL;
    }
    bytes = xdrc_fixed(cursor, size);
    if (bytes != NULL) {
        *length = size;
    }
    return bytes;
}

/* The same passed over, of any length that the record has; returns the
 * length. */
static inline uint32_t
xdrc_skip_opaque(struct xdrc *cursor)
{
    uint32_t size = xdrc_u32(cursor);

    xdrc_skip(cursor, size);
    xdrc_skip(cursor, xdrc_fill(size));
    return size;
}

/*
 * Count of an array whose elements take at least `least` bytes each (1 or
 * more). BAD, and 0, when the record cannot hold that many: a loop over it
 * is bounded by the record's length.
 */
static inline uint32_t
xdrc_count(struct xdrc *cursor, uint32_t least)
{
    uint32_t count = xdrc_u32(cursor);

    if (count > xdrc_left(cursor) / least) {
        xdrc_fail(cursor, XDRC_BAD);
        return 0;
    }
    return count;
}

/* An array of fixed-size elements, passed over. Returns their number. */
static inline uint32_t
xdrc_skip_array(struct xdrc *cursor, uint32_t size)
{
    uint32_t count = xdrc_count(cursor, size);

    xdrc_skip(cursor, count * size);
    return count;
}

#endif
