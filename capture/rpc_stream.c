/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * In step (MARK, BODY) framing is arithmetic: a mark tells how many bytes
 * follow, wherever segments were cut, and missing bytes inside a fragment
 * (snapshot length, lost packet) cost those bytes and no more. A record that
 * lies in one segment is handed over where it lies. One that does not is
 * copied to an assembly: its head, which holds the headers and most argument
 * lists, and the tail of each fragment; the middle is stepped over. An
 * assembly's size does not depend on the record's.
 *
 * Framing is lost when missing bytes cover a mark, when a mark announces
 * more than any RPC implementation sends, or when several records in a row
 * do not look like RPC. Then, and at a start in the middle of a connection,
 * SEARCH tries each byte as a mark followed by an RPC header. A call to a
 * known program, or a reply that somebody waits for, is accepted at once; a
 * reply that only looks like one needs a second sign: it begins where the
 * stream or segment begins, its record ends where the segment ends, or
 * another header follows it. Up to 28 bytes are carried over a segment's
 * border, so that the result does not depend on where segments were cut.
 *
 * A connection is accepted by content. On a server's port its first bytes
 * (START) only have to be possible as RPC; elsewhere they must be a call to
 * a known program, or one must begin a segment soon. RPC over TLS (RFC 9289)
 * shows itself by a TLS record where a mark is due.
 */
#include "capture/rpc_stream.h"

#include "capture/rpc_transaction.h"
#include "capture/wire.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 28 /* mark and RPC header as far as they are judged */
#define MAX_PIECES 64
#define TAIL_PIECES 16
#define LARGE_RECORD ((uint32_t)64 << 10)
#define LEAST_HEAD ((uint32_t)1024) /* whatever the limits say */
#define SPARE_HEAD ((uint32_t)4 << 10)

struct held_piece {
    uint32_t offset, length;
};

struct rpc_assembly {
    struct rpc_assembly *next; /* spare list */
    int64_t first_ns, last_ns;
    uint32_t length; /* of the record so far, holes counted */
    uint32_t fragments;
    unsigned flags;
    unsigned head_count, tail_count;
    struct held_piece head_pieces[MAX_PIECES];
    struct held_piece tail_pieces[TAIL_PIECES]; /* packed in `tail` */
    uint32_t head_capacity, tail_used, tail_capacity;
    uint8_t *head; /* indexed by offset in the record */
    uint8_t *tail;
};

/* --- what an RPC header looks like --------------------------------------- */

enum likeness { UNLIKE, TOO_SHORT, POSSIBLE, CERTAIN };

static bool
known_program(uint32_t program, uint32_t version, uint32_t procedure)
{
    switch (program) {
    case SUNRPC_PORTMAP:
    case SUNRPC_NFS:
    case SUNRPC_MOUNT:
    case SUNRPC_NLM:
    case SUNRPC_NSM:
    case SUNRPC_NFSACL:
    case 100011: /* rquota */
        return version <= 8 && procedure <= 64;
    default:
        /* Transient programs (RFC 5531 section 8.1): NFSv4 callbacks. */
        return program >= 0x40000000 && program < 0x60000000 &&
               (version == 1 || version == 4) && procedure <= 1;
    }
}

/*
 * An RPC header at `p`, of which `have` bytes are there, record mark not
 * counted. RFC 5531 section 9.
 */
static enum likeness
message_likeness(const uint8_t *p, uint32_t have, bool strict)
{
    if (have < 8) {
        return TOO_SHORT;
    }
    uint32_t type = wire_be32(p + 4);
    if (type > 1) {
        return UNLIKE;
    }
    if (type == 0) {
        if (have >= 12 && wire_be32(p + 8) != 2) {
            return UNLIKE;
        }
        if (have < 24) {
            return TOO_SHORT;
        }
        if (known_program(wire_be32(p + 12), wire_be32(p + 16),
                          wire_be32(p + 20))) {
            return CERTAIN;
        }
        return strict ? UNLIKE : POSSIBLE;
    }
    if (have < 12) {
        return TOO_SHORT;
    }
    uint32_t denied = wire_be32(p + 8);
    if (denied > 1) {
        return UNLIKE;
    }
    if (have < 24) {
        return TOO_SHORT;
    }
    uint32_t flavor = wire_be32(p + 12);
    uint32_t size = wire_be32(p + 16);
    if (denied) {
        return flavor <= 1 ? POSSIBLE : UNLIKE; /* reject_stat */
    }
    /* AUTH_NONE is empty, but for the 8 bytes that agree to TLS: RFC 9289
     * section 4.1. */
    if (flavor > 7 || size > 400 ||
        (flavor == 0 && size != 0 && size != 8 && strict)) {
        return UNLIKE;
    }
    if (size == 0 && wire_be32(p + 20) > 5) {
        return UNLIKE; /* accept_stat */
    }
    return POSSIBLE;
}

bool
rpc_datagram_plausible(const uint8_t *data, uint32_t captured, bool strict)
{
    enum likeness likeness = message_likeness(data, captured, strict);
    return strict ? likeness == CERTAIN : likeness != UNLIKE;
}

/* A mark and a header at `p`, for the search. */
static enum likeness
record_likeness(const struct rpc_stream_context *context,
                const struct rpc_stream *stream, const uint8_t *p,
                uint32_t have)
{
    if (have < 4) {
        return TOO_SHORT;
    }
    uint32_t size = wire_be32(p) & 0x7fffffff;
    if (size < 20 || size > context->limits.max_fragment) {
        return UNLIKE;
    }
    enum likeness likeness = message_likeness(p + 4, have - 4, true);
    if (likeness == POSSIBLE && wire_be32(p + 8) == 1 &&
        context->sink.outstanding != NULL &&
        context->sink.outstanding(context->sink.context,
                                  stream->channel->connection,
                                  stream->direction, wire_be32(p + 4))) {
        return CERTAIN;
    }
    return likeness;
}

/* RFC 8446 section 5.1: type 20 to 23, version 3.0 to 3.4, length. */
static bool
looks_like_tls(const uint8_t *p, uint32_t have)
{
    return have >= 3 && p[0] >= 20 && p[0] <= 23 && p[1] == 3 && p[2] <= 4 &&
           (have < 5 || wire_be16(p + 3) <= 16384 + 256);
}

/* --- assemblies ---------------------------------------------------------- */

static struct rpc_assembly *
assembly_take(struct rpc_stream_context *context)
{
    struct rpc_assembly *assembly = context->spare;
    if (assembly != NULL) {
        context->spare = assembly->next;
    } else {
        assembly = calloc(1, sizeof *assembly);
        if (assembly == NULL) {
            return NULL;
        }
        assembly->tail_capacity = 2 * context->limits.tail;
        assembly->tail = malloc(assembly->tail_capacity);
        if (assembly->tail == NULL) {
            free(assembly);
            return NULL;
        }
        context->assembly_bytes += sizeof *assembly + assembly->tail_capacity;
    }
    assembly->length = 0;
    assembly->fragments = 0;
    assembly->flags = 0;
    assembly->head_count = 0;
    assembly->tail_count = 0;
    assembly->tail_used = 0;
    return assembly;
}

static void
assembly_give(struct rpc_stream_context *context, struct rpc_assembly *assembly)
{
    if (assembly->head_capacity > SPARE_HEAD) {
        context->assembly_bytes -= assembly->head_capacity;
        free(assembly->head);
        assembly->head = NULL;
        assembly->head_capacity = 0;
    }
    assembly->next = context->spare;
    context->spare = assembly;
}

/* Room for `need` bytes of head; false when the limits say no. */
static bool
head_reserve(struct rpc_stream_context *context, struct rpc_assembly *assembly,
             uint32_t need)
{
    if (need <= assembly->head_capacity) {
        return true;
    }
    uint32_t capacity = LEAST_HEAD;
    while (capacity < need) {
        capacity *= 2;
    }
    size_t more = capacity - assembly->head_capacity;
    if (context->assembly_bytes + more > context->limits.max_assembly &&
        capacity > LEAST_HEAD) {
        return false;
    }
    uint8_t *larger = realloc(assembly->head, capacity);
    if (larger == NULL) {
        return false;
    }
    assembly->head = larger;
    assembly->head_capacity = capacity;
    context->assembly_bytes += more;
    return true;
}

/* Adds [offset, offset + size) to a list, joined to its last piece if it can
 * be; false when the list is full. */
static bool
piece_add(struct held_piece *pieces, unsigned *count, unsigned limit,
          uint32_t offset, uint32_t size)
{
    if (*count > 0) {
        struct held_piece *last = &pieces[*count - 1];
        if (last->offset + last->length == offset) {
            last->length += size;
            return true;
        }
    }
    if (*count == limit) {
        return false;
    }
    pieces[*count].offset = offset;
    pieces[*count].length = size;
    ++*count;
    return true;
}

/* Makes room in the tail by giving up its oldest bytes. */
static void
tail_shift(struct rpc_assembly *assembly, uint32_t need)
{
    uint32_t drop = 0;
    unsigned gone = 0;
    while (gone < assembly->tail_count &&
           (assembly->tail_used - drop + need > assembly->tail_capacity ||
            assembly->tail_count - gone == TAIL_PIECES)) {
        struct held_piece *piece = &assembly->tail_pieces[gone];
        uint32_t over = assembly->tail_used - drop + need;
        over = over > assembly->tail_capacity ? over - assembly->tail_capacity
                                              : piece->length;
        /* Half at a time, so that a byte is moved a few times at most. */
        if (over < assembly->tail_capacity / 2) {
            over = assembly->tail_capacity / 2;
        }
        if (over < piece->length) {
            piece->offset += over;
            piece->length -= over;
            drop += over;
        } else {
            drop += piece->length;
            gone++;
        }
    }
    memmove(assembly->tail, assembly->tail + drop, assembly->tail_used - drop);
    assembly->tail_used -= drop;
    memmove(assembly->tail_pieces, assembly->tail_pieces + gone,
            (assembly->tail_count - gone) * sizeof assembly->tail_pieces[0]);
    assembly->tail_count -= gone;
    assembly->flags |= RPC_RECORD_SKIPPED;
}

static void
tail_add(struct rpc_assembly *assembly, const uint8_t *data, uint32_t offset,
         uint32_t size)
{
    if (assembly->tail_used + size > assembly->tail_capacity ||
        assembly->tail_count == TAIL_PIECES) {
        tail_shift(assembly, size);
    }
    if (!piece_add(assembly->tail_pieces, &assembly->tail_count, TAIL_PIECES,
                   offset, size)) {
        assembly->flags |= RPC_RECORD_SKIPPED;
        return;
    }
    memcpy(assembly->tail + assembly->tail_used, data, size);
    assembly->tail_used += size;
}

/*
 * The record's next `size` bytes are at `data`; `left` is how many the
 * fragment still has, these counted. Keeps what the limits ask for.
 */
static void
assembly_bytes(struct rpc_stream_context *context,
               struct rpc_assembly *assembly, const uint8_t *data,
               uint32_t size, uint32_t left)
{
    uint32_t offset = assembly->length;
    uint32_t done = 0;
    if (offset < context->limits.head) {
        uint32_t room = context->limits.head - offset;
        uint32_t take = size < room ? size : room;
        if (!head_reserve(context, assembly, offset + take)) {
            /* The limit on all records together: the least there is. */
            (void)head_reserve(context, assembly, LEAST_HEAD);
            room = assembly->head_capacity > offset
                       ? assembly->head_capacity - offset
                       : 0;
            take = take < room ? take : room;
        }
        if (take > 0 && piece_add(assembly->head_pieces, &assembly->head_count,
                                  MAX_PIECES - TAIL_PIECES, offset, take)) {
            memcpy(assembly->head + offset, data, take);
            done = take;
        }
    }
    uint32_t tail = context->limits.tail;
    uint32_t from = left > tail ? left - tail : 0; /* where the tail begins */
    if (from < done) {
        from = done;
    }
    if (from > done) {
        assembly->flags |= RPC_RECORD_SKIPPED;
    }
    if (from < size) {
        tail_add(assembly, data + from, offset + from, size - from);
    }
    assembly->length += size;
}

/* --- handing records over ------------------------------------------------ */

/* Follows whether records look like RPC; true when framing must be wrong. */
static bool
header_is_strange(struct rpc_stream *stream, const uint8_t *header,
                  uint32_t have, uint32_t size)
{
    if (have < 8) {
        return false;
    }
    if (wire_be32(header + 4) <= 1) {
        stream->bad_headers = 0;
        return false;
    }
    if (stream->bad_headers < 255) {
        stream->bad_headers++;
    }
    return size > LARGE_RECORD || stream->bad_headers >= 3;
}

static void
accept(struct rpc_stream *stream)
{
    if (stream->channel->verdict == RPC_UNDECIDED) {
        stream->channel->verdict = RPC_ACCEPTED;
    }
}

static void
hand_over(struct rpc_stream_context *context, struct rpc_stream *stream,
          const struct rpc_record *record)
{
    if (record->length < 8) {
        context->losses->malformed_records++;
        return;
    }
    if (stream->channel->verdict == RPC_UNDECIDED && record->piece_count > 0 &&
        record->pieces[0].offset == 0) {
        enum likeness likeness = message_likeness(
            record->pieces[0].data, record->pieces[0].length, true);
        if (likeness == CERTAIN ||
            (likeness == POSSIBLE && stream->channel->port_known)) {
            accept(stream);
        }
    }
    context->sink.record(context->sink.context, record);
}

/* The assembled record, complete or not, goes to the sink. */
static void
assembly_flush(struct rpc_stream_context *context, struct rpc_stream *stream,
               unsigned flags)
{
    struct rpc_assembly *assembly = stream->assembly;
    if (assembly == NULL) {
        return;
    }
    stream->assembly = NULL;
    struct rpc_piece pieces[MAX_PIECES];
    unsigned count = 0;
    for (unsigned i = 0; i < assembly->head_count; i++) {
        struct held_piece *held = &assembly->head_pieces[i];
        pieces[count++] = (struct rpc_piece){held->offset, held->length,
                                             assembly->head + held->offset};
    }
    uint32_t at = 0;
    for (unsigned i = 0; i < assembly->tail_count; i++) {
        struct held_piece *held = &assembly->tail_pieces[i];
        pieces[count++] =
            (struct rpc_piece){held->offset, held->length, assembly->tail + at};
        at += held->length;
    }
    struct rpc_record record = {
        .connection = stream->channel->connection,
        .direction = stream->direction,
        .flags = assembly->flags | flags,
        .length = assembly->length,
        .fragments = assembly->fragments,
        .pieces = pieces,
        .piece_count = count,
        .first_ns = assembly->first_ns,
        .last_ns = assembly->last_ns,
    };
    hand_over(context, stream, &record);
    assembly_give(context, assembly);
}

/* --- in step ------------------------------------------------------------- */

/* Framing is lost; what follows is searched. */
static void
lose(struct rpc_stream *stream)
{
    stream->state = RPC_STREAM_SEARCH;
    stream->mark_have = 0;
    stream->carry_have = 0;
    stream->bad_headers = 0;
    stream->fragment_left = 0;
}

static void
enter_tls(struct rpc_stream_context *context, struct rpc_stream *stream,
          uint32_t length)
{
    if (stream->channel->verdict != RPC_TLS) {
        stream->channel->verdict = RPC_TLS;
        context->losses->tls_streams++;
    }
    context->losses->tls_bytes += length;
}

/* The fragment's last byte was passed. */
static void
fragment_end(struct rpc_stream_context *context, struct rpc_stream *stream)
{
    stream->state = RPC_STREAM_MARK;
    if (stream->last_fragment) {
        assembly_flush(context, stream, 0);
    }
}

/* A whole mark was read: the fragment it announces begins. */
static void
fragment_begin(struct rpc_stream_context *context, struct rpc_stream *stream,
               uint32_t mark, int64_t ns)
{
    struct rpc_assembly *assembly = stream->assembly;
    if (assembly == NULL) {
        assembly = assembly_take(context);
        if (assembly == NULL) {
            lose(stream);
            return;
        }
        assembly->first_ns = ns;
        assembly->last_ns = ns;
        stream->assembly = assembly;
    }
    assembly->fragments++;
    stream->last_fragment = (mark & 0x80000000) != 0;
    stream->fragment_left = mark & 0x7fffffff;
    stream->state = RPC_STREAM_BODY;
    if (stream->fragment_left == 0) {
        fragment_end(context, stream);
    }
}

/* Bytes of a record that will never come, `left` of them in this fragment. */
static void
body_hole(struct rpc_stream_context *context, struct rpc_stream *stream,
          uint32_t bytes, unsigned flag)
{
    stream->assembly->length += bytes;
    stream->assembly->flags |= flag;
    stream->fragment_left -= bytes;
    if (stream->fragment_left == 0) {
        fragment_end(context, stream);
    }
}

/*
 * A mark that cannot be one, at `data`: TLS, or framing is lost. The record
 * under way, if any, ends here.
 */
static void
bad_mark(struct rpc_stream_context *context, struct rpc_stream *stream,
         const uint8_t *data, uint32_t captured, uint32_t length, int64_t ns)
{
    assembly_flush(context, stream, RPC_RECORD_CUT);
    if (looks_like_tls(data, captured) &&
        (stream->channel->tls_agreed || data[0] == 0x16)) {
        enter_tls(context, stream, length);
        return;
    }
    context->losses->malformed_records++;
    lose(stream);
    context->sink.gap(context->sink.context, stream->channel->connection,
                      stream->direction, 0, ns);
}

/* Takes the rest of a mark cut by a segment border; returns the bytes used. */
static uint32_t
mark_rest(struct rpc_stream_context *context, struct rpc_stream *stream,
          const uint8_t *data, uint32_t captured, uint32_t length, int64_t ns)
{
    uint32_t had = stream->mark_have;
    uint32_t need = 4u - had;
    uint32_t take = captured < need ? captured : need;
    if (had == 0) {
        stream->carry_ns = ns;
    }
    memcpy(stream->mark + had, data, take);
    stream->mark_have = (uint8_t)(had + take);
    if (stream->mark_have < 4) {
        return take;
    }
    stream->mark_have = 0;
    uint32_t mark = wire_be32(stream->mark);
    if ((mark & 0x7fffffff) > context->limits.max_fragment) {
        uint8_t joined[12];
        uint32_t copy = captured < 8 ? captured : 8;
        memcpy(joined, stream->mark, had);
        memcpy(joined + had, data, copy);
        bad_mark(context, stream, joined, had + copy, length + had, ns);
        return take;
    }
    fragment_begin(context, stream, mark, stream->carry_ns);
    return take;
}

/* A record that lies wholly in the segment: `p` is its mark. */
static void
whole_record(struct rpc_stream_context *context, struct rpc_stream *stream,
             const uint8_t *p, uint32_t captured, uint32_t size, int64_t ns)
{
    uint32_t have = captured - 4 < size ? captured - 4 : size;
    struct rpc_piece piece = {0, have, p + 4};
    struct rpc_record record = {
        .connection = stream->channel->connection,
        .direction = stream->direction,
        .flags = have < size ? RPC_RECORD_SNAPPED : 0,
        .length = size,
        .fragments = 1,
        .pieces = &piece,
        .piece_count = have > 0,
        .first_ns = ns,
        .last_ns = ns,
    };
    hand_over(context, stream, &record);
}

/*
 * A mark, or a piece of one, at `data`. Returns the bytes passed, which may
 * be more than were captured when a whole record is passed.
 */
static uint32_t
at_mark(struct rpc_stream_context *context, struct rpc_stream *stream,
        const uint8_t *data, uint32_t captured, uint32_t length, int64_t ns)
{
    if (stream->mark_have > 0 || captured < 4) {
        return mark_rest(context, stream, data, captured, length, ns);
    }
    uint32_t mark = wire_be32(data);
    uint32_t size = mark & 0x7fffffff;
    if (size > context->limits.max_fragment ||
        (stream->assembly == NULL && size >= 8 &&
         header_is_strange(stream, data + 4, captured - 4, size))) {
        bad_mark(context, stream, data, captured, length, ns);
        return 0;
    }
    if ((mark & 0x80000000) && stream->assembly == NULL && size <= length - 4) {
        whole_record(context, stream, data, captured, size, ns);
        return size + 4;
    }
    fragment_begin(context, stream, mark, ns);
    return 4;
}

/* A byte captured at `ns`: one that was held until those before it came is
 * older than they are. */
static void
reached(struct rpc_assembly *assembly, int64_t ns)
{
    if (ns > assembly->last_ns) {
        assembly->last_ns = ns;
    }
}

/* The rest of a fragment, as far as it is at hand. */
static uint32_t
in_body(struct rpc_stream_context *context, struct rpc_stream *stream,
        const uint8_t *data, uint32_t captured, int64_t ns)
{
    uint32_t left = stream->fragment_left;
    uint32_t used = captured < left ? captured : left;
    assembly_bytes(context, stream->assembly, data, used, left);
    reached(stream->assembly, ns);
    stream->fragment_left = left - used;
    if (stream->fragment_left == 0) {
        fragment_end(context, stream);
    }
    return used;
}

/* `bytes` that cannot be read, for the reason `flag`. */
static void
hole(struct rpc_stream_context *context, struct rpc_stream *stream,
     uint64_t bytes, unsigned flag, int64_t ns)
{
    switch (stream->state) {
    case RPC_STREAM_BODY: {
        uint32_t left = stream->fragment_left;
        uint32_t inside = bytes < left ? (uint32_t)bytes : left;
        if (flag == RPC_RECORD_SNAPPED) {
            reached(stream->assembly, ns);
        }
        body_hole(context, stream, inside, flag);
        bytes -= inside;
        break;
    }
    case RPC_STREAM_IGNORE:
        return;
    default:
        break;
    }
    if (bytes == 0) {
        return;
    }
    if (stream->state == RPC_STREAM_MARK) {
        assembly_flush(context, stream, flag | RPC_RECORD_CUT);
        context->sink.gap(context->sink.context, stream->channel->connection,
                          stream->direction, bytes, ns);
    }
    lose(stream);
}

/* --- at the start, and out of step --------------------------------------- */

/* Can these be the first bytes of an RPC connection? */
static enum likeness
start_likeness(const struct rpc_stream_context *context,
               const struct rpc_stream *stream, const uint8_t *p, uint32_t have)
{
    if (stream->channel->verdict == RPC_ACCEPTED) {
        return CERTAIN;
    }
    if (!stream->channel->port_known) {
        enum likeness likeness = record_likeness(context, stream, p, have);
        return likeness == POSSIBLE ? UNLIKE : likeness;
    }
    if (have < 4) {
        return TOO_SHORT;
    }
    uint32_t size = wire_be32(p) & 0x7fffffff;
    if (size > context->limits.max_fragment) {
        return UNLIKE;
    }
    uint32_t inside = have - 4 < size ? have - 4 : size;
    enum likeness likeness = message_likeness(p + 4, inside, false);
    if (likeness == TOO_SHORT && (inside == size || inside >= 12)) {
        return POSSIBLE;
    }
    return likeness;
}

/* iWARP opens with an MPA request or reply: RFC 5044 section 7.1. */
static bool
is_mpa(const uint8_t *p, uint32_t have)
{
    return have >= 10 && (memcmp(p, "MPA ID Req", 10) == 0 ||
                          memcmp(p, "MPA ID Rep", 10) == 0);
}

/* The whole connection is not RPC. */
static void
reject(struct rpc_stream_context *context, struct rpc_stream *stream)
{
    if (stream->channel->verdict == RPC_UNDECIDED) {
        stream->channel->verdict = RPC_REJECTED;
        context->losses->not_rpc_streams += stream->channel->port_known;
    }
    stream->state = RPC_STREAM_IGNORE;
}

/*
 * Bytes that are held in `carry` turned out to be a record's start: they are
 * passed on.
 */
static void
feed_carry(struct rpc_stream_context *context, struct rpc_stream *stream,
           uint32_t from)
{
    uint8_t held[RPC_STREAM_CARRY];
    uint32_t have = stream->carry_have;
    memcpy(held, stream->carry, have);
    stream->carry_have = 0;
    stream->state = RPC_STREAM_MARK;
    for (uint32_t at = from; at < have;) {
        uint32_t left = have - at;
        if (stream->state == RPC_STREAM_BODY) {
            at += in_body(context, stream, held + at, left, stream->carry_ns);
        } else if (stream->state == RPC_STREAM_MARK) {
            at += at_mark(context, stream, held + at, left, left,
                          stream->carry_ns);
        } else {
            break;
        }
    }
}

/* The stream's first bytes; returns how many were taken. */
static uint32_t
at_start(struct rpc_stream_context *context, struct rpc_stream *stream,
         const uint8_t *data, uint32_t captured, uint32_t length, int64_t ns)
{
    uint8_t first[RPC_STREAM_CARRY];
    uint32_t held = stream->carry_have;
    uint32_t take = HEADER_BYTES - held;
    take = captured < take ? captured : take;
    memcpy(first, stream->carry, held);
    memcpy(first + held, data, take);
    enum likeness likeness =
        start_likeness(context, stream, first, held + take);
    if (likeness == TOO_SHORT) {
        if (held == 0) {
            stream->carry_ns = ns;
        }
        memcpy(stream->carry, first, held + take);
        stream->carry_have = (uint8_t)(held + take);
        if (stream->carry_have >= HEADER_BYTES) {
            reject(context, stream);
        }
        return take;
    }
    if (likeness == UNLIKE) {
        if (stream->channel->port_known && first[0] == 0x16 &&
            looks_like_tls(first, held + take)) {
            enter_tls(context, stream, length + held);
            return length;
        }
        if (!stream->channel->port_known &&
            record_likeness(context, stream, first, held + take) == POSSIBLE) {
            /* A reply whose call was not captured: the next call will tell. */
            stream->carry_have = 0;
            stream->state = RPC_STREAM_SEARCH;
            return captured;
        }
        context->saw_rdma |= is_mpa(first, held + take);
        reject(context, stream);
        return 0;
    }
    if (likeness == CERTAIN) {
        accept(stream);
    }
    feed_carry(context, stream, 0);
    return 0;
}

/* A reply that looks right at `p`: is there a second sign that a record
 * begins here? `length` is what is left of the segment on the wire. */
static bool
second_sign(const struct rpc_stream_context *context,
            const struct rpc_stream *stream, const uint8_t *p,
            uint32_t captured, uint32_t length, bool at_border)
{
    if (stream->channel->verdict == RPC_UNDECIDED &&
        !stream->channel->port_known) {
        return false;
    }
    uint32_t whole = 4 + (wire_be32(p) & 0x7fffffff);
    if (at_border || whole == length) {
        return true;
    }
    return whole < captured && record_likeness(context, stream, p + whole,
                                               captured - whole) >= POSSIBLE;
}

/* Tries positions in the carried bytes; true when a record was found or all
 * of the segment went into the carry (`*used` of it). */
static bool
search_carry(struct rpc_stream_context *context, struct rpc_stream *stream,
             const uint8_t *data, uint32_t captured, uint32_t *used)
{
    uint8_t joined[2 * RPC_STREAM_CARRY];
    uint32_t held = stream->carry_have;
    uint32_t more = captured < HEADER_BYTES ? captured : HEADER_BYTES;
    memcpy(joined, stream->carry, held);
    memcpy(joined + held, data, more);
    *used = 0;
    for (uint32_t i = 0; i < held; i++) {
        uint32_t have = held + more - i;
        enum likeness likeness =
            record_likeness(context, stream, joined + i, have);
        if (likeness == TOO_SHORT && more < HEADER_BYTES) {
            memcpy(stream->carry, joined + i, have);
            stream->carry_have = (uint8_t)have;
            stream->carry_at_start = stream->carry_at_start && i == 0;
            *used = captured;
            return true;
        }
        if (likeness == CERTAIN ||
            (likeness == POSSIBLE &&
             second_sign(context, stream, joined + i, have, 0,
                         stream->carry_at_start && i == 0))) {
            accept(stream);
            feed_carry(context, stream, i);
            return true;
        }
        context->losses->resync_bytes +=
            stream->channel->port_known || stream->channel->verdict != 0;
    }
    stream->carry_have = 0;
    return false;
}

/*
 * Looks for a record in the segment; returns the bytes passed. On success the
 * state is MARK and the next byte is the mark's first.
 */
static uint32_t
search(struct rpc_stream_context *context, struct rpc_stream *stream,
       const uint8_t *data, uint32_t captured, uint32_t length, int64_t ns,
       bool at_border)
{
    struct rpc_channel *channel = stream->channel;
    bool any_port = channel->verdict == RPC_UNDECIDED && !channel->port_known;
    if (stream->carry_have > 0) {
        uint32_t used;
        if (search_carry(context, stream, data, captured, &used)) {
            return used;
        }
    }
    if (channel->verdict == RPC_UNDECIDED && at_border && channel->port_known &&
        captured >= 5 && looks_like_tls(data, captured) &&
        ++channel->tls_signs >= 3) {
        enter_tls(context, stream, length);
        return length;
    }
    for (uint32_t i = 0; i < captured; i++) {
        uint32_t have = captured - i;
        if (have >= 12 && ((data[i + 8] | data[i + 9] | data[i + 10]) != 0 ||
                           data[i + 11] > 1)) {
            if (any_port) {
                break;
            }
            continue; /* not a message type: nearly all positions */
        }
        enum likeness likeness =
            record_likeness(context, stream, data + i, have);
        if (likeness == TOO_SHORT && captured == length) {
            memcpy(stream->carry, data + i, have);
            stream->carry_have = (uint8_t)have;
            stream->carry_at_start = at_border && i == 0;
            stream->carry_ns = ns;
            context->losses->resync_bytes += i;
            return captured;
        }
        if (likeness == CERTAIN ||
            (likeness == POSSIBLE &&
             second_sign(context, stream, data + i, have, length - i,
                         at_border && i == 0))) {
            accept(stream);
            stream->state = RPC_STREAM_MARK;
            context->losses->resync_bytes += i;
            return i;
        }
        if (any_port) {
            break;
        }
    }
    context->losses->resync_bytes += any_port ? 0 : captured;
    return captured;
}

/* --- the interface ------------------------------------------------------- */

void
rpc_stream_data(struct rpc_stream_context *context, struct rpc_stream *stream,
                const uint8_t *data, uint32_t captured, uint32_t length,
                int64_t ns)
{
    struct rpc_channel *channel = stream->channel;
    channel->saw_payload = true;
    if (channel->verdict != RPC_ACCEPTED) {
        if (channel->verdict == RPC_TLS) {
            context->losses->tls_bytes += length;
            return;
        }
        if (channel->verdict == RPC_REJECTED) {
            return;
        }
        if (!channel->port_known && ++channel->tries > context->limits.tries) {
            reject(context, stream);
            return;
        }
    }
    uint32_t at = 0;
    while (at < captured && channel->verdict < RPC_REJECTED) {
        const uint8_t *p = data + at;
        uint32_t have = captured - at;
        switch (stream->state) {
        case RPC_STREAM_MARK:
            at += at_mark(context, stream, p, have, length - at, ns);
            break;
        case RPC_STREAM_BODY:
            at += in_body(context, stream, p, have, ns);
            break;
        case RPC_STREAM_START:
            at += at_start(context, stream, p, have, length - at, ns);
            break;
        case RPC_STREAM_SEARCH:
            at += search(context, stream, p, have, length - at, ns, at == 0);
            break;
        default:
            return;
        }
    }
    if (at < length && channel->verdict < RPC_REJECTED) {
        hole(context, stream, length - at, RPC_RECORD_SNAPPED, ns);
    }
}

void
rpc_stream_gap(struct rpc_stream_context *context, struct rpc_stream *stream,
               uint64_t bytes, int64_t ns)
{
    if (stream->channel->verdict < RPC_REJECTED) {
        hole(context, stream, bytes, RPC_RECORD_GAP, ns);
    }
}

void
rpc_stream_end(struct rpc_stream_context *context, struct rpc_stream *stream)
{
    if (stream->state == RPC_STREAM_START && stream->carry_have > 0 &&
        stream->channel->port_known &&
        stream->channel->verdict < RPC_REJECTED) {
        feed_carry(context, stream, 0);
    }
    if (stream->assembly != NULL) {
        stream->assembly->length += stream->fragment_left;
        assembly_flush(context, stream, RPC_RECORD_CUT);
    }
    stream->state = RPC_STREAM_IGNORE;
}

void
rpc_stream_init(struct rpc_stream *stream, struct rpc_channel *channel,
                unsigned direction, bool at_start_of_stream)
{
    memset(stream, 0, sizeof *stream);
    stream->channel = channel;
    stream->direction = (uint8_t)direction;
    stream->state = at_start_of_stream ? RPC_STREAM_START : RPC_STREAM_SEARCH;
    stream->carry_at_start = true;
}

void
rpc_stream_context_init(struct rpc_stream_context *context, bool full,
                        const struct rpc_record_sink *sink,
                        struct packet_losses *losses)
{
    memset(context, 0, sizeof *context);
    context->limits.max_fragment = (uint32_t)32 << 20;
    context->limits.head = full ? (uint32_t)64 << 10 : 1024;
    context->limits.tail = full ? 1024 : 256;
    context->limits.max_assembly = (size_t)16 << 20;
    context->limits.tries = 64;
    context->sink = *sink;
    context->losses = losses;
}

void
rpc_stream_context_free(struct rpc_stream_context *context)
{
    while (context->spare != NULL) {
        struct rpc_assembly *assembly = context->spare;
        context->spare = assembly->next;
        free(assembly->head);
        free(assembly->tail);
        free(assembly);
    }
}
