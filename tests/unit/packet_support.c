/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packet_support.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

void
add(struct buffer *buffer, const void *data, size_t length)
{
    assert_true(length <= sizeof buffer->data - buffer->length);
    if (length > 0) {
        memcpy(buffer->data + buffer->length, data, length);
    }
    buffer->length += length;
}

void
add8(struct buffer *buffer, unsigned value)
{
    uint8_t byte = (uint8_t)value;
    add(buffer, &byte, 1);
}

void
add16(struct buffer *buffer, unsigned value)
{
    add8(buffer, value >> 8);
    add8(buffer, value & 0xff);
}

void
add32(struct buffer *buffer, uint32_t value)
{
    add16(buffer, value >> 16);
    add16(buffer, value & 0xffff);
}

void
add_zeros(struct buffer *buffer, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        add8(buffer, 0);
    }
}

/* Never looks like an RPC header: no byte of it is 0 or 1. */
static void
add_pattern(struct buffer *buffer, uint32_t xid, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        add8(buffer, 0x20 + (unsigned)((xid * 7 + i) % 0xd0));
    }
}

void
add_call(struct buffer *buffer, uint32_t xid, size_t length)
{
    const uint32_t words[] = {xid, 0, 2, 100003, 3, 1, 0, 0, 0, 0};
    assert_true(length >= sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        add32(buffer, words[i]);
    }
    add_pattern(buffer, xid, length - sizeof words);
}

void
add_reply(struct buffer *buffer, uint32_t xid, size_t length)
{
    const uint32_t words[] = {xid, 1, 0, 0, 0, 0};
    assert_true(length >= sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        add32(buffer, words[i]);
    }
    add_pattern(buffer, xid, length - sizeof words);
}

void
add_call_record(struct buffer *buffer, uint32_t xid, size_t length)
{
    add32(buffer, 0x80000000u | (uint32_t)length);
    add_call(buffer, xid, length);
}

void
add_reply_record(struct buffer *buffer, uint32_t xid, size_t length)
{
    add32(buffer, 0x80000000u | (uint32_t)length);
    add_reply(buffer, xid, length);
}

static void
add_address(struct buffer *out, int family, int end)
{
    if (family == 4) {
        add32(out, 0x0a000001u + (uint32_t)end);
    } else {
        add32(out, 0xfd000000);
        add_zeros(out, 8);
        add32(out, 1u + (uint32_t)end);
    }
}

static void
put16(struct buffer *out, size_t at, unsigned value)
{
    out->data[at] = (uint8_t)(value >> 8);
    out->data[at + 1] = (uint8_t)value;
}

void
add_ipv4(struct buffer *out, int from, unsigned protocol, size_t length,
         unsigned id, unsigned piece)
{
    add16(out, 0x4500);
    add16(out, (unsigned)length + 20);
    add16(out, id);
    add16(out, piece);
    add8(out, 64);
    add8(out, protocol);
    add16(out, 0);
    add_address(out, 4, from);
    add_address(out, 4, 1 - from);
}

void
add_ipv6(struct buffer *out, int from, unsigned next, size_t length)
{
    add32(out, 0x60000000);
    add16(out, (unsigned)length);
    add8(out, next);
    add8(out, 64);
    add_address(out, 6, from);
    add_address(out, 6, 1 - from);
}

void
add_udp(struct buffer *out, int from, unsigned client_port,
        unsigned server_port, const void *data, size_t length)
{
    add16(out, from == CLIENT ? client_port : server_port);
    add16(out, from == CLIENT ? server_port : client_port);
    add16(out, (unsigned)length + 8);
    add16(out, 0);
    add(out, data, length);
}

void
add_ethernet(struct buffer *out, unsigned type)
{
    add_zeros(out, 12);
    add16(out, type);
}

void
add_tcp(struct buffer *out, const struct tcp_packet *packet)
{
    static unsigned next_id = 1000;
    unsigned options = packet->stamp != 0 ? 12 : 0;
    size_t length = 20 + options + packet->length;
    size_t start = out->length;
    unsigned id = packet->no_id        ? 0
                  : packet->ip_id != 0 ? packet->ip_id
                                       : next_id++ % 65535 + 1;
    if (packet->family == 6) {
        add_ipv6(out, packet->from, 6, length);
    } else {
        add_ipv4(out, packet->from, 6, length, id, 0x4000);
        out->data[start + 8] = (uint8_t)(packet->hops != 0 ? packet->hops : 64);
    }
    if (packet->zero_length) {
        put16(out, start + (packet->family == 6 ? 4 : 2), 0);
    }
    unsigned client = packet->client_port != 0 ? packet->client_port : 700;
    unsigned server = packet->server_port != 0 ? packet->server_port : 2049;
    add16(out, packet->from == CLIENT ? client : server);
    add16(out, packet->from == CLIENT ? server : client);
    add32(out, packet->seq);
    add32(out, packet->ack);
    add8(out, (20 + options) / 4 << 4);
    add8(out, packet->flags != 0 ? packet->flags : 0x18);
    add16(out, 1000);
    /* A checksum that depends on what the real one covers. */
    unsigned sum = packet->seq ^ packet->ack ^ packet->seq >> 16 ^
                   packet->stamp ^ (unsigned)packet->length;
    for (size_t i = 0; i < packet->length; i++) {
        sum = sum * 31 + packet->data[i];
    }
    add16(out, packet->offloaded ? 0x1234 : sum & 0xffff);
    add16(out, 0);
    if (options > 0) {
        add32(out, 0x0101080a);
        add32(out, packet->stamp);
        add32(out, 0);
    }
    add(out, packet->data, packet->length);
    add_zeros(out, packet->padding);
}

/* --- the engine ---------------------------------------------------------- */

static void
on_record(void *context, const struct rpc_record *record)
{
    struct bench *bench = context;
    assert_true(bench->row_count < sizeof bench->rows / sizeof bench->rows[0]);
    struct row *row = &bench->rows[bench->row_count++];
    *row = (struct row){.direction = record->direction,
                        .flags = record->flags,
                        .length = record->length,
                        .fragments = record->fragments,
                        .first_ns = record->first_ns,
                        .last_ns = record->last_ns};
    uint32_t end = 0;
    uint64_t digest = 1469598103934665603u; /* FNV-1a */
    for (unsigned i = 0; i < record->piece_count; i++) {
        const struct rpc_piece *piece = &record->pieces[i];
        /* The contract of rpc_record.h: in order, apart, inside. */
        assert_true(piece->offset >= end);
        assert_true(piece->length <= record->length - piece->offset);
        end = piece->offset + piece->length;
        row->captured += piece->length;
        for (uint32_t at = 0; at < piece->length; at++) {
            digest ^= (uint64_t)(piece->offset + at) << 8 | piece->data[at];
            digest *= 1099511628211u;
        }
        if (piece->offset == 0 && piece->length >= 4) {
            row->xid = (uint32_t)piece->data[0] << 24 |
                       (uint32_t)piece->data[1] << 16 |
                       (uint32_t)piece->data[2] << 8 | piece->data[3];
        }
    }
    row->digest = digest;
    bench->last_connection = record->connection;
}

static bool
on_outstanding(void *context, const struct rpc_connection *connection,
               unsigned direction, uint32_t xid)
{
    struct bench *bench = context;
    (void)connection;
    (void)direction;
    return bench->outstanding != 0 && xid == bench->outstanding;
}

static void
on_gap(void *context, struct rpc_connection *connection, unsigned direction,
       uint64_t bytes, int64_t when_ns)
{
    struct bench *bench = context;
    (void)connection;
    (void)direction;
    (void)when_ns;
    bench->gaps++;
    bench->gap_bytes += bytes;
}

static void
on_end(void *context, struct rpc_connection *connection, int64_t when_ns)
{
    struct bench *bench = context;
    (void)connection;
    (void)when_ns;
    bench->ends++;
}

struct rpc_record_sink
bench_sink(struct bench *bench)
{
    return (struct rpc_record_sink){bench, on_record, on_outstanding, on_gap,
                                    on_end};
}

void
bench_start(struct bench *bench, const struct capture_options *options)
{
    struct capture_options defaults;
    memset(bench, 0, sizeof *bench);
    memset(&defaults, 0, sizeof defaults);
    struct rpc_record_sink sink = bench_sink(bench);
    bench->now_ns = INT64_C(1700000000000000000);
    bench->engine =
        packet_engine_new(options != NULL ? options : &defaults, &sink);
    assert_non_null(bench->engine);
}

void
bench_stop(struct bench *bench)
{
    packet_engine_free(bench->engine);
    bench->engine = NULL;
}

struct packet_losses *
bench_losses(struct bench *bench)
{
    return packet_engine_losses(bench->engine);
}

void
bench_frame(struct bench *bench, uint32_t link_type, const struct buffer *frame,
            size_t captured)
{
    struct packet packet = {
        .ns = bench->now_ns,
        .data = frame->data,
        .captured = (uint32_t)captured,
        .length = (uint32_t)frame->length,
        .link_type = link_type,
    };
    bench->now_ns += 10000;
    packet_engine_packet(bench->engine, &packet);
}

void
bench_tcp(struct bench *bench, const struct tcp_packet *packet)
{
    static struct buffer frame;
    frame.length = 0;
    add_tcp(&frame, packet);
    if (packet->ns != 0) {
        bench->now_ns = packet->ns;
    }
    size_t snap = packet->snap != 0 && packet->snap < frame.length
                      ? packet->snap
                      : frame.length;
    bench_frame(bench, packet->family == 6 ? 229 : 228, &frame, snap);
}

const char *
bench_text(const struct bench *bench)
{
    static char text[1 << 16];
    size_t at = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < bench->row_count; i++) {
        const struct row *row = &bench->rows[i];
        const unsigned holes =
            RPC_RECORD_GAP | RPC_RECORD_CUT | RPC_RECORD_SNAPPED;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%c%u%s",
                               i > 0 ? " " : "",
                               row->direction == CLIENT ? 'c' : 'r', row->xid,
                               row->flags & holes ? "!" : "");
        assert_true(at < sizeof text);
    }
    return text;
}
