/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RPC records out of one direction of a TCP connection: record marking (RFC
 * 5531 section 11), the search for a record after a loss or at a start in
 * the middle, and the decision whether this is RPC at all.
 */
#ifndef NAT_CAPTURE_RPC_STREAM_H
#define NAT_CAPTURE_RPC_STREAM_H

#include "capture/rpc_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of a connection, for both its directions. */
enum rpc_verdict { RPC_UNDECIDED, RPC_ACCEPTED, RPC_REJECTED, RPC_TLS };

struct rpc_channel {
    struct rpc_connection *connection;
    uint8_t verdict; /* enum rpc_verdict */
    bool port_known; /* one of its ports is a server's */
    bool tls_agreed; /* STARTTLS was answered: TLS records may follow */
    bool saw_payload;
    uint8_t tls_signs; /* segments that begin like a TLS record */
    uint16_t tries;    /* payload packets seen while undecided */
};

/*
 * START   the stream's first byte comes next; nothing is known of content
 * MARK    at, or inside, a record mark
 * BODY    inside a fragment; its length is known
 * SEARCH  position unknown: looking for a record
 * IGNORE  not RPC, or encrypted
 */
enum rpc_stream_state {
    RPC_STREAM_START,
    RPC_STREAM_MARK,
    RPC_STREAM_BODY,
    RPC_STREAM_SEARCH,
    RPC_STREAM_IGNORE,
};

#define RPC_STREAM_CARRY 32 /* what a header needs to be told: 28, rounded */

struct rpc_assembly;

struct rpc_stream {
    struct rpc_channel *channel;
    uint8_t state; /* enum rpc_stream_state */
    uint8_t direction;
    uint8_t mark_have;   /* bytes of a mark cut by a segment border */
    uint8_t carry_have;  /* SEARCH: bytes not yet judged */
    uint8_t bad_headers; /* records in a row that do not look like RPC */
    bool last_fragment;
    bool carry_at_start;           /* carry[0] begins a stream or a segment */
    uint32_t fragment_left;        /* BODY */
    struct rpc_assembly *assembly; /* record held so far, or NULL */
    int64_t carry_ns; /* of carry[0], or of the mark's first byte */
    uint8_t mark[4];
    uint8_t carry[RPC_STREAM_CARRY];
};

/* Limits; rpc_stream_context_init() sets the defaults. */
struct rpc_stream_limits {
    uint32_t max_fragment; /* a longer mark is not one */
    uint32_t head, tail;   /* bytes kept of a record over several packets */
    size_t max_assembly;   /* bytes held in all records together */
    uint16_t tries;        /* packets to decide a connection on any port */
};

/* Shared by all streams of a capture. */
struct rpc_stream_context {
    struct rpc_stream_limits limits;
    struct rpc_record_sink sink;
    struct packet_losses *losses;
    size_t assembly_bytes;
    struct rpc_assembly *spare;
    bool saw_rdma;
};

/* @param full keep what RPC_DEPTH_FULL needs, else what counting needs. */
void
rpc_stream_context_init(struct rpc_stream_context *context, bool full,
                        const struct rpc_record_sink *sink,
                        struct packet_losses *losses);
void
rpc_stream_context_free(struct rpc_stream_context *context);

/*
 * @param at_start the connection's opening was seen, so that the first byte
 *        begins a record.
 */
void
rpc_stream_init(struct rpc_stream *stream, struct rpc_channel *channel,
                unsigned direction, bool at_start);

/*
 * The stream's next bytes: `captured` at hand of `length` on the wire; the
 * rest was cut by the snapshot length.
 */
void
rpc_stream_data(struct rpc_stream_context *context, struct rpc_stream *stream,
                const uint8_t *data, uint32_t captured, uint32_t length,
                int64_t ns);

/* `bytes` of the stream were never seen. */
void
rpc_stream_gap(struct rpc_stream_context *context, struct rpc_stream *stream,
               uint64_t bytes, int64_t ns);

/* No more bytes: a record under way is handed over as cut. */
void
rpc_stream_end(struct rpc_stream_context *context, struct rpc_stream *stream);

/*
 * Does a datagram look like an RPC message?
 *
 * @param strict accept a call to a program we know only; else any call of
 *        RPC version 2, or a reply.
 */
bool
rpc_datagram_plausible(const uint8_t *data, uint32_t captured, bool strict);

#endif
