/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One half of a TCP connection (RFC 9293): segments in the order they were
 * captured become the stream of bytes that one side sent.
 */
#ifndef NAT_CAPTURE_TCP_STREAM_H
#define NAT_CAPTURE_TCP_STREAM_H

#include "capture/rpc_stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tcp_flag {
    TCP_FIN = 1 << 0,
    TCP_SYN = 1 << 1,
    TCP_RST = 1 << 2,
    TCP_PUSH = 1 << 3,
    TCP_ACK = 1 << 4,
};

struct tcp_segment {
    int64_t ns;
    const uint8_t *data;
    uint32_t captured, length; /* of data: at hand, on the wire */
    uint32_t seq, ack;
    uint32_t stamp; /* timestamp option's value, raw, or 0 */
    uint16_t ip_id; /* 0: none */
    uint16_t checksum, window;
    uint8_t flags;
};

/* What tells a packet captured twice from one sent twice. */
struct tcp_trace {
    int64_t ns;
    uint32_t seq, ack, length, stamp;
    uint16_t ip_id, checksum, window;
    uint8_t flags;
    bool used;
};
#define TCP_TRACES 8

struct tcp_held;

struct tcp_half {
    uint32_t next;  /* sequence number of the stream's next byte */
    uint32_t acked; /* highest acknowledgment seen of this half's bytes */
    uint32_t isn, fin_seq;
    bool started; /* `next` is known */
    bool ack_known, syn_seen, fin_seen, had_data;
    uint8_t trace_next;
    uint32_t held_count;
    struct tcp_held *held; /* by sequence number, no overlaps */
    int64_t held_since;
    struct tcp_half *holding_next, *holding_previous;
    struct rpc_stream stream;
    struct tcp_trace traces[TCP_TRACES];
};

/* Limits; tcp_stream_context_init() sets the defaults. */
struct tcp_stream_limits {
    size_t max_held;           /* bytes out of order, all connections */
    uint32_t max_held_count;   /* segments out of order in one half */
    uint32_t grace_segments;   /* segments a hole may last once it was ACKed */
    int64_t grace_ns;          /* time it may last once it was ACKed */
    int64_t silent_ns;         /* when no ACKs are seen at all */
    int64_t patience_ns;       /* when ACKs say that it was not received */
    int64_t duplicate_ns;      /* copies with an IP identification */
    int64_t duplicate_bare_ns; /* and without */
};

struct tcp_stream_context {
    struct tcp_stream_limits limits;
    struct rpc_stream_context *records;
    struct packet_losses *losses;
    size_t held_bytes;
    int64_t deadline; /* earliest time at which a hole is given up */
    struct tcp_half *holding_first, *holding_last; /* oldest first */
};

void
tcp_stream_context_init(struct tcp_stream_context *context,
                        struct rpc_stream_context *records,
                        struct packet_losses *losses);

/* `stream` is set up by the caller once it knows whether it was opened in
 * sight; everything else is zero. */
void
tcp_half_init(struct tcp_half *half);

/*
 * A segment sent by `half`, whose peer is `other`. Segments with SYN or RST
 * are looked at by the caller first: a new connection has a new half.
 */
void
tcp_stream_segment(struct tcp_stream_context *context, struct tcp_half *half,
                   struct tcp_half *other, const struct tcp_segment *segment);

/* Gives up the holes whose time has come at `now_ns`. */
void
tcp_stream_expire(struct tcp_stream_context *context, int64_t now_ns);

/* No more segments: what is held is passed on, its holes declared. */
void
tcp_half_end(struct tcp_stream_context *context, struct tcp_half *half,
             int64_t ns);

#endif
