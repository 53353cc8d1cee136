/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * `next` is the sequence number the stream waits for; it is set by the SYN,
 * or by the first data when the connection was open before the capture. Data
 * at `next` goes straight to the records. Data behind it is known already:
 * a copy made by the capture, a keepalive, or a retransmission, counted
 * apart. Data beyond it leaves a hole:
 *
 *        next        a     b        c
 *         |          |=====|        |======>     held, no overlaps
 *         |---hole---|     |--hole--|
 *
 * and is held until the hole is filled or given up. An acknowledgment beyond
 * the hole says that the receiver has the bytes, so they are not coming
 * again; but captures swap packets, so a grace passes before a gap is
 * declared. Without such an acknowledgment a retransmission is waited for.
 * Of bytes seen twice the first copy wins.
 *
 * A copy made by the capture is told by everything that a sender changes
 * when it sends again: the IP identification above all. Where there is none
 * (IPv6, or zero) all the rest must agree within a millisecond. In-order new
 * data cannot be a copy, so that only packets that bring nothing new are
 * compared.
 */
#include "capture/tcp_stream.h"

#include "capture/tcp_sequence.h"

#include <stdlib.h>
#include <string.h>

/* Further away than any window: another place in the stream, not reorder. */
#define FAR ((int32_t)64 << 20)

struct tcp_held {
    struct tcp_held *next;
    int64_t ns;
    uint32_t seq, captured, length;
    uint8_t data[];
};

/* --- copies made by the capture ------------------------------------------ */

static bool
is_copy(const struct tcp_stream_context *context, const struct tcp_half *half,
        const struct tcp_segment *s)
{
    for (unsigned i = 0; i < TCP_TRACES; i++) {
        const struct tcp_trace *t = &half->traces[i];
        if (!t->used || t->seq != s->seq || t->ack != s->ack ||
            t->ip_id != s->ip_id || t->length != s->length ||
            t->flags != s->flags || t->window != s->window ||
            t->stamp != s->stamp) {
            continue;
        }
        int64_t apart = s->ns > t->ns ? s->ns - t->ns : t->ns - s->ns;
        if (s->ip_id != 0 ? apart <= context->limits.duplicate_ns
                          : apart <= context->limits.duplicate_bare_ns &&
                                t->checksum == s->checksum) {
            return true;
        }
    }
    return false;
}

static inline void
remember(struct tcp_half *half, const struct tcp_segment *s)
{
    struct tcp_trace *t = &half->traces[half->trace_next];
    half->trace_next = (uint8_t)((half->trace_next + 1) % TCP_TRACES);
    t->ns = s->ns;
    t->seq = s->seq;
    t->ack = s->ack;
    t->length = s->length;
    t->stamp = s->stamp;
    t->ip_id = s->ip_id;
    t->checksum = s->checksum;
    t->window = s->window;
    t->flags = s->flags;
    t->used = true;
}

/* --- held data ----------------------------------------------------------- */

static int64_t
deadline_of(const struct tcp_stream_context *context,
            const struct tcp_half *half)
{
    int64_t wait = context->limits.patience_ns;
    if (!half->ack_known) {
        wait = context->limits.silent_ns;
    } else if (!tcp_seq_before(half->acked, half->held->seq)) {
        wait = context->limits.grace_ns;
    }
    return half->held_since > INT64_MAX - wait ? INT64_MAX
                                               : half->held_since + wait;
}

static void
holding_add(struct tcp_stream_context *context, struct tcp_half *half)
{
    half->holding_next = NULL;
    half->holding_previous = context->holding_last;
    if (context->holding_last != NULL) {
        context->holding_last->holding_next = half;
    } else {
        context->holding_first = half;
    }
    context->holding_last = half;
}

static void
holding_remove(struct tcp_stream_context *context, struct tcp_half *half)
{
    if (half->holding_previous != NULL) {
        half->holding_previous->holding_next = half->holding_next;
    } else {
        context->holding_first = half->holding_next;
    }
    if (half->holding_next != NULL) {
        half->holding_next->holding_previous = half->holding_previous;
    } else {
        context->holding_last = half->holding_previous;
    }
    if (context->holding_first == NULL) {
        context->deadline = INT64_MAX;
    }
}

static void
deliver(struct tcp_stream_context *context, struct tcp_half *half,
        const uint8_t *data, uint32_t captured, uint32_t length, int64_t ns)
{
    half->next += length;
    half->had_data = true;
    rpc_stream_data(context->records, &half->stream, data, captured, length,
                    ns);
}

/* Passes on what is held as far as it follows without a hole. All of it lies
 * at `next` or beyond: whoever delivers stops where held data begins. */
static void
drain(struct tcp_stream_context *context, struct tcp_half *half, int64_t ns)
{
    while (half->held != NULL) {
        struct tcp_held *held = half->held;
        if (held->seq != half->next) {
            half->held_since = ns;
            return;
        }
        half->held = held->next;
        half->held_count--;
        context->held_bytes -= sizeof *held + held->captured;
        deliver(context, half, held->data, held->captured, held->length,
                held->ns);
        free(held);
    }
    half->held_count = 0;
    holding_remove(context, half);
}

/* The first hole is declared a gap, and what follows it passed on. */
static void
give_up_hole(struct tcp_stream_context *context, struct tcp_half *half,
             int64_t ns)
{
    uint32_t bytes = half->held->seq - half->next;
    context->losses->gaps++;
    context->losses->gap_bytes += bytes;
    half->next = half->held->seq;
    rpc_stream_gap(context->records, &half->stream, bytes, half->held->ns);
    drain(context, half, ns);
}

void
tcp_stream_expire(struct tcp_stream_context *context, int64_t now_ns)
{
    int64_t earliest = INT64_MAX;
    struct tcp_half *half = context->holding_first;
    while (half != NULL) {
        struct tcp_half *following = half->holding_next;
        while (half->held != NULL && deadline_of(context, half) <= now_ns) {
            give_up_hole(context, half, now_ns);
        }
        if (half->held != NULL) {
            int64_t deadline = deadline_of(context, half);
            earliest = deadline < earliest ? deadline : earliest;
        }
        half = following;
    }
    context->deadline = earliest;
}

/* Puts [seq, seq + length) into the list at `link`; no overlap there. */
static bool
held_insert(struct tcp_stream_context *context, struct tcp_half *half,
            struct tcp_held **link, const struct tcp_segment *s, uint32_t from,
            uint32_t length)
{
    uint32_t captured = 0;
    if (from < s->captured) {
        captured = s->captured - from < length ? s->captured - from : length;
    }
    struct tcp_held *held = malloc(sizeof *held + captured);
    if (held == NULL) {
        context->losses->reorder_overflows++;
        return false;
    }
    held->ns = s->ns;
    held->seq = s->seq + from;
    held->captured = captured;
    held->length = length;
    if (captured > 0) {
        memcpy(held->data, s->data + from, captured);
    }
    held->next = *link;
    *link = held;
    half->held_count++;
    context->held_bytes += sizeof *held + captured;
    return true;
}

/*
 * Holds the bytes of a segment beyond the hole which are not held yet; true
 * when there were any.
 */
static bool
hold(struct tcp_stream_context *context, struct tcp_half *half,
     const struct tcp_segment *s)
{
    bool first = half->held == NULL;
    bool any = false;
    uint32_t from = 0;
    struct tcp_held **link = &half->held;
    while (from < s->length) {
        struct tcp_held *held = *link;
        if (held == NULL) {
            any |= held_insert(context, half, link, s, from, s->length - from);
            break;
        }
        int32_t start = tcp_seq_diff(held->seq, s->seq + from);
        if (start > 0) { /* room before it */
            uint32_t room = (uint32_t)start;
            uint32_t rest = s->length - from;
            uint32_t size = rest < room ? rest : room;
            if (!held_insert(context, half, link, s, from, size)) {
                break;
            }
            any = true;
            from += size;
            link = &(*link)->next;
            continue;
        }
        int32_t end = tcp_seq_diff(held->seq + held->length, s->seq + from);
        if (end > 0) { /* known: the first copy stays */
            from += (uint32_t)end;
        }
        link = &held->next;
    }
    if (first && half->held != NULL) {
        half->held_since = s->ns;
        holding_add(context, half);
    }
    return any;
}

/* A segment beyond a hole. */
static void
ahead_of_hole(struct tcp_stream_context *context, struct tcp_half *half,
              const struct tcp_segment *s)
{
    if (half->held != NULL && is_copy(context, half, s)) {
        context->losses->capture_duplicates++;
        return;
    }
    if (!hold(context, half, s)) {
        context->losses->tcp_retransmissions++;
        return;
    }
    bool acked =
        half->ack_known && !tcp_seq_before(half->acked, half->held->seq);
    if (half->held_count > context->limits.max_held_count) {
        context->losses->reorder_overflows++;
        give_up_hole(context, half, s->ns);
    } else if (acked && half->held_count > context->limits.grace_segments) {
        give_up_hole(context, half, s->ns);
    }
    while (context->held_bytes > context->limits.max_held) {
        context->losses->reorder_overflows++;
        give_up_hole(context, context->holding_first, s->ns);
    }
    if (half->held != NULL) {
        int64_t deadline = deadline_of(context, half);
        if (deadline < context->deadline) {
            context->deadline = deadline;
        }
    }
}

/* Data from a place far away: the capture lost a long stretch. */
static void
jump(struct tcp_stream_context *context, struct tcp_half *half,
     const struct tcp_segment *s, int32_t ahead)
{
    while (half->held != NULL) {
        give_up_hole(context, half, s->ns);
    }
    uint32_t bytes = ahead > 0 ? s->seq - half->next : 0;
    context->losses->gaps++;
    context->losses->gap_bytes += bytes;
    rpc_stream_gap(context->records, &half->stream,
                   bytes > 0 ? bytes : UINT32_MAX, s->ns);
    half->next = s->seq;
    deliver(context, half, s->data, s->captured, s->length, s->ns);
}

/* --- segments ------------------------------------------------------------ */

/* A segment with no bytes beyond `next`. */
static void
nothing_new(struct tcp_stream_context *context, struct tcp_half *half,
            const struct tcp_segment *s)
{
    if (is_copy(context, half, s)) {
        context->losses->capture_duplicates++;
    } else if (s->length <= 1 && s->seq == half->next - 1 && half->started &&
               (s->flags & (TCP_SYN | TCP_FIN | TCP_RST)) == 0) {
        context->losses->keepalives++;
    } else if (s->length > 0) {
        context->losses->tcp_retransmissions++;
    }
}

/* `size` bytes of a segment from its byte `from` on. */
static void
deliver_part(struct tcp_stream_context *context, struct tcp_half *half,
             const struct tcp_segment *s, uint32_t from, uint32_t size)
{
    uint32_t cut = from < s->captured ? from : s->captured;
    uint32_t captured = s->captured - cut;
    deliver(context, half, s->data + cut, captured < size ? captured : size,
            size, s->ns);
}

/* Data that is not simply next. */
static void
out_of_order(struct tcp_stream_context *context, struct tcp_half *half,
             const struct tcp_segment *s)
{
    int32_t ahead = tcp_seq_diff(s->seq, half->next);
    if (ahead >= FAR || ahead <= -FAR) {
        jump(context, half, s, ahead);
        return;
    }
    if (ahead > 0) {
        ahead_of_hole(context, half, s);
        return;
    }
    uint32_t known = (uint32_t)-ahead;
    if (known >= s->length) {
        nothing_new(context, half, s);
        return;
    }
    while (known < s->length) {
        uint32_t size = s->length - known;
        if (half->held != NULL && half->held->seq - half->next < size) {
            size = half->held->seq - half->next;
        }
        deliver_part(context, half, s, known, size);
        if (half->held != NULL) {
            drain(context, half, s->ns);
        }
        known = half->next - s->seq;
    }
}

static void
acknowledge(struct tcp_stream_context *context, struct tcp_half *half,
            uint32_t ack)
{
    if (half->ack_known && !tcp_seq_after(ack, half->acked)) {
        return;
    }
    half->acked = ack;
    half->ack_known = true;
    if (half->held != NULL) {
        int64_t deadline = deadline_of(context, half);
        if (deadline < context->deadline) {
            context->deadline = deadline;
        }
    }
}

void
tcp_stream_segment(struct tcp_stream_context *context, struct tcp_half *half,
                   struct tcp_half *other, const struct tcp_segment *segment)
{
    const struct tcp_segment *s = segment;
    struct tcp_segment after_syn;
    if (s->flags & TCP_ACK) {
        acknowledge(context, other, s->ack);
    }
    if (s->flags & TCP_SYN) {
        if (half->syn_seen && half->isn == s->seq && s->length == 0) {
            nothing_new(context, half, s);
            remember(half, s);
            return;
        }
        if (!half->syn_seen) {
            half->syn_seen = true;
            half->isn = s->seq;
            if (!half->started) {
                half->started = true;
                half->next = s->seq + 1;
            }
        }
        remember(half, s);
        after_syn = *s;
        after_syn.seq++;
        s = &after_syn;
    }
    if (s->length > 0 && !(s->flags & TCP_RST)) {
        if (!half->started) {
            half->started = true;
            half->next = s->seq;
        }
        if (s->seq == half->next && half->held == NULL) {
            deliver(context, half, s->data, s->captured, s->length, s->ns);
        } else {
            out_of_order(context, half, s);
        }
    } else if (segment == s) {
        nothing_new(context, half, s);
    }
    if ((s->flags & TCP_FIN) && !half->fin_seen) {
        half->fin_seen = true;
        half->fin_seq = s->seq + s->length;
    }
    if (segment == s) {
        remember(half, s);
    }
}

void
tcp_half_end(struct tcp_stream_context *context, struct tcp_half *half,
             int64_t ns)
{
    while (half->held != NULL) {
        give_up_hole(context, half, ns);
    }
    /* Bytes before the FIN, or acknowledged, that never came. */
    int32_t missing = 0;
    if (half->started && half->fin_seen) {
        missing = tcp_seq_diff(half->fin_seq, half->next);
    } else if (half->started && half->ack_known) {
        missing = tcp_seq_diff(half->acked, half->next);
    }
    if (missing > 0 && missing < FAR) {
        context->losses->gaps++;
        context->losses->gap_bytes += (uint32_t)missing;
        rpc_stream_gap(context->records, &half->stream, (uint32_t)missing, ns);
    }
    rpc_stream_end(context->records, &half->stream);
}

void
tcp_half_init(struct tcp_half *half)
{
    memset(half, 0, sizeof *half);
}

void
tcp_stream_context_init(struct tcp_stream_context *context,
                        struct rpc_stream_context *records,
                        struct packet_losses *losses)
{
    memset(context, 0, sizeof *context);
    context->limits = (struct tcp_stream_limits){
        .max_held = (size_t)8 << 20,
        .max_held_count = 4096,
        .grace_segments = 64,
        .grace_ns = 20000000,
        .silent_ns = 1000000000,
        .patience_ns = 60000000000,
        .duplicate_ns = 100000000,
        .duplicate_bare_ns = 1000000,
    };
    context->records = records;
    context->losses = losses;
    context->deadline = INT64_MAX;
}
