/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packets built byte by byte for the tests of the packet half, and a sink
 * that writes down the records it is given. Nothing here uses the code under
 * test to build.
 */
#ifndef NAT_TESTS_PACKET_SUPPORT_H
#define NAT_TESTS_PACKET_SUPPORT_H

#include "capture/packet_engine.h"
#include "capture/rpc_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- bytes --------------------------------------------------------------- */

struct buffer {
    uint8_t data[1 << 18];
    size_t length;
};

void
add(struct buffer *buffer, const void *data, size_t length);
void
add8(struct buffer *buffer, unsigned value);
void
add16(struct buffer *buffer, unsigned value); /* big-endian */
void
add32(struct buffer *buffer, uint32_t value);
void
add_zeros(struct buffer *buffer, size_t length);

/* RPC messages (RFC 5531 section 9), `length` bytes in all, filled up with a
 * pattern that depends on the xid; a GETATTR of NFSv3 and its reply. */
void
add_call(struct buffer *buffer, uint32_t xid, size_t length);
void
add_reply(struct buffer *buffer, uint32_t xid, size_t length);
/* The same with their record mark (section 11). */
void
add_call_record(struct buffer *buffer, uint32_t xid, size_t length);
void
add_reply_record(struct buffer *buffer, uint32_t xid, size_t length);

/* --- packets ------------------------------------------------------------- */

#define CLIENT 0
#define SERVER 1

/* What a TCP packet says; zero fields get usual values. Client 10.0.0.1,
 * port 700, server 10.0.0.2, port 2049 (so that directions are 0 and 1). */
struct tcp_packet {
    int from; /* CLIENT or SERVER */
    uint32_t seq, ack;
    unsigned flags; /* 0: ACK and PSH */
    const uint8_t *data;
    size_t length;
    unsigned ip_id; /* 0: the next of a counter */
    bool no_id;     /* identification 0 */
    bool offloaded; /* checksum left to the interface: the same for all */
    unsigned hops;  /* 0: 64 */
    uint16_t client_port, server_port;
    uint32_t stamp; /* timestamps option's value; 0: no option */
    int64_t ns;
    size_t snap; /* captured bytes of the IP packet; 0: all */
    bool zero_length;
    size_t padding; /* bytes behind the IP packet */
    int family;     /* 0 or 4, 6 */
};

/* Appends the IP packet to `out`. */
void
add_tcp(struct buffer *out, const struct tcp_packet *packet);

/* An IPv4 header for `length` bytes of payload. `piece`: flags and offset. */
void
add_ipv4(struct buffer *out, int from, unsigned protocol, size_t length,
         unsigned id, unsigned piece);
void
add_ipv6(struct buffer *out, int from, unsigned next, size_t length);
/* UDP header and payload. */
void
add_udp(struct buffer *out, int from, unsigned client_port,
        unsigned server_port, const void *data, size_t length);
/* Ethernet header. */
void
add_ethernet(struct buffer *out, unsigned type);

/* --- the engine, and what came out --------------------------------------- */

struct row {
    unsigned direction, flags;
    uint32_t length, fragments, xid, captured;
    uint64_t digest; /* of all bytes at hand, with their offsets */
    int64_t first_ns, last_ns;
};

struct bench {
    struct packet_engine *engine;
    struct row rows[4096];
    unsigned row_count, gaps, ends;
    uint64_t gap_bytes;
    uint32_t outstanding; /* xid said to be awaited */
    struct rpc_connection *last_connection;
    int64_t now_ns;
};

void
bench_start(struct bench *bench, const struct capture_options *options);
void
bench_stop(struct bench *bench);
struct packet_losses *
bench_losses(struct bench *bench);
/* A sink that leads to the bench, for tests below the engine. */
struct rpc_record_sink
bench_sink(struct bench *bench);

/* One packet of a link type, at bench->now_ns, which advances by 10 us. */
void
bench_frame(struct bench *bench, uint32_t link_type, const struct buffer *frame,
            size_t captured);
void
bench_tcp(struct bench *bench, const struct tcp_packet *packet);

/* The xids of the rows as text: "c1 r1 c2", "c" from the client, with "!"
 * behind records with bytes missing. */
const char *
bench_text(const struct bench *bench);

#endif
