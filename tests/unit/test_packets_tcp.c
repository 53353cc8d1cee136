/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TCP as captures show it, through the whole packet half: each case is a
 * list of packets and the records that must come out, whatever their order
 * and cuts.
 */
#include "packet_support.h"

#include "capture/tcp_sequence.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct bench bench;
static struct buffer stream[2];
static uint32_t isn[2];

/* A segment of the stream of one side, [from, from + length). */
static struct tcp_packet
part(int from_side, size_t from, size_t length)
{
    return (struct tcp_packet){.from = from_side,
                               .seq = isn[from_side] + 1 + (uint32_t)from,
                               .ack = isn[1 - from_side] + 1,
                               .data = stream[from_side].data + from,
                               .length = length};
}

static void
send_part(int from_side, size_t from, size_t length)
{
    struct tcp_packet packet = part(from_side, from, length);
    bench_tcp(&bench, &packet);
}

/* An acknowledgment by one side of the other's stream up to `upto`. */
static void
send_ack(int from_side, size_t own, size_t upto)
{
    struct tcp_packet packet = part(from_side, own, 0);
    packet.ack = isn[1 - from_side] + 1 + (uint32_t)upto;
    packet.flags = 0x10;
    bench_tcp(&bench, &packet);
}

static void
handshake(void)
{
    struct tcp_packet syn = {.from = CLIENT, .seq = isn[0], .flags = 0x02};
    struct tcp_packet both = {
        .from = SERVER, .seq = isn[1], .ack = isn[0] + 1, .flags = 0x12};
    bench_tcp(&bench, &syn);
    bench_tcp(&bench, &both);
    send_ack(CLIENT, 0, 0);
}

/* Five calls of 100 bytes (104 with their marks) and their replies. */
#define SIZE 104
static int
set_up(void **state)
{
    (void)state;
    isn[0] = 1000;
    isn[1] = 5000000;
    stream[0].length = stream[1].length = 0;
    for (uint32_t xid = 1; xid <= 5; xid++) {
        add_call_record(&stream[0], xid, SIZE - 4);
        add_reply_record(&stream[1], xid, SIZE - 4);
    }
    bench_start(&bench, NULL);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    if (bench.engine != NULL) {
        bench_stop(&bench);
    }
    return 0;
}

/* Ends the capture and compares the records. */
static void
expect(const char *text)
{
    packet_engine_finish(bench.engine);
    assert_string_equal(bench_text(&bench), text);
}

/* --- sequence numbers ---------------------------------------------------- */

static void
test_serial_arithmetic(void **state)
{
    (void)state;
    static const struct {
        uint32_t a, b;
        int32_t diff;
    } cases[] = {
        {0, 0, 0},
        {1, 0, 1},
        {0, 1, -1},
        {0, 0xffffffff, 1},
        {0xffffffff, 0, -1},
        {0x7fffffff, 0, 0x7fffffff},
        {0x10, 0xfffffff0, 0x20},
        {0xfffffff0, 0x10, -0x20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(tcp_seq_diff(cases[i].a, cases[i].b), cases[i].diff);
        assert_int_equal(tcp_seq_before(cases[i].a, cases[i].b),
                         cases[i].diff < 0);
        assert_int_equal(tcp_seq_after(cases[i].a, cases[i].b),
                         cases[i].diff > 0);
    }
}

/* The sequence number wraps inside the second call. */
static void
test_wrap(void **state)
{
    (void)state;
    isn[0] = 0xffffff00;
    handshake();
    for (size_t at = 0; at < 5 * SIZE; at += 40) {
        send_part(CLIENT, at, 5 * SIZE - at < 40 ? 5 * SIZE - at : 40);
    }
    expect("c1 c2 c3 c4 c5");
    assert_int_equal(bench_losses(&bench)->gaps, 0);
}

/* --- order --------------------------------------------------------------- */

/* Segments of one call each, in the order given by their digits. */
static void
test_orders(void **state)
{
    static const char *const orders[] = {"12345", "12435", "15432", "21345",
                                         "54321", "13254", "51234"};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        handshake();
        for (const char *digit = orders[i]; *digit != '\0'; digit++) {
            send_part(CLIENT, (size_t)(*digit - '1') * SIZE, SIZE);
        }
        expect("c1 c2 c3 c4 c5");
        assert_int_equal(bench_losses(&bench)->gaps, 0);
        assert_int_equal(bench_losses(&bench)->tcp_retransmissions, 0);
        tear_down(state);
        set_up(state);
    }
}

/* Calls 1, 3, 2 with a reply in between: that is no proof of a loss. */
static void
test_reply_between(void **state)
{
    (void)state;
    handshake();
    send_part(CLIENT, 0, SIZE);
    send_part(CLIENT, 2 * SIZE, SIZE);
    send_part(SERVER, 0, SIZE);
    send_part(CLIENT, SIZE, SIZE);
    expect("c1 r1 c2 c3");
    assert_int_equal(bench_losses(&bench)->gap_bytes, 0);
}

/* The acknowledgment is captured before the data that it acknowledges. */
static void
test_ack_before_data(void **state)
{
    (void)state;
    handshake();
    send_part(CLIENT, 0, SIZE);
    send_ack(SERVER, 0, 3 * SIZE);
    send_part(CLIENT, 2 * SIZE, SIZE);
    send_part(CLIENT, SIZE, SIZE);
    expect("c1 c2 c3");
    assert_int_equal(bench_losses(&bench)->gaps, 0);
}

/* A lost segment: exact but for the record in it, exactly counted. */
static void
test_each_segment_lost(void **state)
{
    static const char *const want[] = {"c2 c3 c4 c5", "c1 c3 c4 c5",
                                       "c1 c2 c4 c5", "c1 c2 c3 c5",
                                       "c1 c2 c3 c4"};
    for (unsigned lost = 0; lost < 5; lost++) {
        handshake();
        for (unsigned i = 0; i < 5; i++) {
            if (i != lost) {
                send_part(CLIENT, i * SIZE, SIZE);
            }
            send_ack(SERVER, 0, (i + 1) * SIZE);
        }
        expect(want[lost]);
        assert_int_equal(bench_losses(&bench)->gaps, 1);
        assert_int_equal(bench_losses(&bench)->gap_bytes, SIZE);
        tear_down(state);
        set_up(state);
    }
}

/* Once acknowledged, a hole is given up after the grace, not at the end. */
static void
test_grace(void **state)
{
    (void)state;
    handshake();
    send_part(CLIENT, 0, SIZE);
    send_part(CLIENT, 2 * SIZE, SIZE);
    send_ack(SERVER, 0, 3 * SIZE);
    assert_string_equal(bench_text(&bench), "c1");
    bench.now_ns += 50000000;
    send_ack(SERVER, 0, 3 * SIZE);
    assert_string_equal(bench_text(&bench), "c1 c3");
    expect("c1 c3");
}

/* Without an acknowledgment a retransmission is waited for. */
static void
test_loss_on_the_network(void **state)
{
    (void)state;
    handshake();
    send_part(CLIENT, 0, SIZE);
    send_part(CLIENT, 2 * SIZE, SIZE);
    send_ack(SERVER, 0, SIZE);
    bench.now_ns += 300000000;
    send_part(CLIENT, SIZE, SIZE);
    expect("c1 c2 c3");
    assert_int_equal(bench_losses(&bench)->gaps, 0);
}

static void
test_fin_with_a_hole(void **state)
{
    (void)state;
    handshake();
    send_part(CLIENT, 0, SIZE);
    struct tcp_packet fin = part(CLIENT, 3 * SIZE, 0);
    fin.flags = 0x11;
    bench_tcp(&bench, &fin);
    expect("c1");
    assert_int_equal(bench_losses(&bench)->gap_bytes, 2 * SIZE);
}

/* --- bytes seen twice ---------------------------------------------------- */

/* Overlapping segments: {from, length} in capture order. */
static void
test_overlaps(void **state)
{
    static const struct {
        size_t cuts[6][2];
    } cases[] = {
        {{{0, 100}, {50, 250}, {300, 220}}},
        {{{0, 100}, {200, 100}, {100, 200}, {300, 220}}},
        {{{0, 520}, {0, 520}}},
        {{{0, 300}, {100, 100}, {250, 270}}},
        {{{0, 10}, {20, 10}, {40, 10}, {5, 515}}},
        {{{0, 10}, {400, 120}, {300, 150}, {100, 350}, {0, 200}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        handshake();
        for (size_t k = 0; k < 6 && cases[i].cuts[k][1] > 0; k++) {
            send_part(CLIENT, cases[i].cuts[k][0], cases[i].cuts[k][1]);
        }
        packet_engine_finish(bench.engine);
        assert_string_equal(bench_text(&bench), "c1 c2 c3 c4 c5");
        assert_int_equal(bench_losses(&bench)->gaps, 0);
        tear_down(state);
        set_up(state);
    }
}

/* A byte that is in the stream stays what it was first. */
static void
test_first_copy_wins(void **state)
{
    (void)state;
    uint8_t other[SIZE];
    memset(other, 0xee, sizeof other);
    handshake();
    send_part(CLIENT, SIZE / 2, SIZE / 2);
    struct tcp_packet wrong = part(CLIENT, 0, SIZE);
    memcpy(other, stream[0].data, SIZE / 2);
    wrong.data = other;
    bench_tcp(&bench, &wrong);
    expect("c1");
    uint64_t digest = bench.rows[0].digest;
    tear_down(state);
    set_up(state);
    handshake();
    send_part(CLIENT, 0, SIZE);
    expect("c1");
    assert_true(bench.rows[0].digest == digest);
}

static void
test_retransmission(void **state)
{
    (void)state;
    handshake();
    send_part(CLIENT, 0, SIZE);
    bench.now_ns += 300000000;
    send_part(CLIENT, 0, SIZE);
    bench.now_ns += 1000000; /* soon, but with an identification of its own */
    send_part(CLIENT, 0, SIZE);
    expect("c1");
    assert_int_equal(bench_losses(&bench)->tcp_retransmissions, 2);
    assert_int_equal(bench_losses(&bench)->capture_duplicates, 0);
}

/* An ACK without data at the number where data comes next. */
static void
test_empty_segment_does_not_advance(void **state)
{
    (void)state;
    handshake();
    send_ack(CLIENT, 0, 0);
    send_part(CLIENT, 0, SIZE);
    expect("c1");
    assert_int_equal(bench_losses(&bench)->tcp_retransmissions, 0);
}

/* Keepalives: the byte before the next one, or none, before the next call. */
static void
test_keepalive(void **state)
{
    for (size_t length = 0; length <= 1; length++) {
        static const uint8_t garbage[1] = {0};
        handshake();
        send_part(CLIENT, 0, SIZE);
        bench.now_ns += INT64_C(60000000000);
        struct tcp_packet alive = part(CLIENT, SIZE - 1, length);
        alive.data = garbage;
        alive.flags = 0x10;
        bench_tcp(&bench, &alive);
        bench.now_ns += INT64_C(1000000000);
        send_part(CLIENT, SIZE, SIZE);
        expect("c1 c2");
        assert_int_equal(bench_losses(&bench)->keepalives, 1);
        assert_int_equal(bench_losses(&bench)->tcp_retransmissions, 0);
        tear_down(state);
        set_up(state);
    }
}

/* A zero-window probe carries a real byte; the segment comes again whole. */
static void
test_zero_window_probe(void **state)
{
    (void)state;
    handshake();
    send_part(CLIENT, 0, SIZE);
    send_part(CLIENT, SIZE, 1);
    bench.now_ns += 500000000;
    send_part(CLIENT, SIZE, SIZE);
    expect("c1 c2");
    assert_int_equal(bench_losses(&bench)->keepalives, 0);
    assert_int_equal(bench_losses(&bench)->gaps, 0);
}

/* --- the capture's own copies -------------------------------------------- */

static void
test_every_packet_twice(void **state)
{
    (void)state;
    unsigned id = 77;
    for (unsigned i = 0; i < 5; i++) {
        for (int side = CLIENT; side <= SERVER; side++) {
            struct tcp_packet packet = part(side, i * SIZE, SIZE);
            packet.ack = isn[1 - side] + 1 + (uint32_t)(i * SIZE) +
                         (side == SERVER ? SIZE : 0);
            packet.ip_id = id++;
            bench_tcp(&bench, &packet);
            packet.hops = i % 2 ? 63 : 64; /* a router in between */
            bench_tcp(&bench, &packet);
        }
    }
    expect("c1 r1 c2 r2 c3 r3 c4 r4 c5 r5");
    assert_int_equal(bench_losses(&bench)->capture_duplicates, 10);
    assert_int_equal(bench_losses(&bench)->tcp_retransmissions, 0);
}

/* Identification 0: only the very same packet within a millisecond. */
static void
test_copies_without_identification(void **state)
{
    static const struct {
        uint32_t stamp;
        int64_t later_ns;
        unsigned copies, retransmissions;
    } cases[] = {
        {500, 20000, 1, 0},     /* same stamp, 20 us later */
        {500, 5000000, 0, 1},   /* same stamp, 5 ms later */
        {501, 20000, 0, 1},     /* sent again: another stamp */
        {700, 200000000, 0, 1}, /* a timeout */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int family = 4; family <= 6; family += 2) {
            struct tcp_packet packet = part(CLIENT, 0, SIZE);
            packet.family = family;
            packet.no_id = true;
            packet.stamp = 500;
            packet.offloaded = true;
            bench_tcp(&bench, &packet);
            packet.stamp = cases[i].stamp;
            bench.now_ns += cases[i].later_ns - 10000;
            bench_tcp(&bench, &packet);
            expect("c1");
            assert_int_equal(bench_losses(&bench)->capture_duplicates,
                             cases[i].copies);
            assert_int_equal(bench_losses(&bench)->tcp_retransmissions,
                             cases[i].retransmissions);
            tear_down(state);
            set_up(state);
        }
    }
}

/* --- where connections begin and end ------------------------------------- */

static void
test_no_handshake(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        send_part(CLIENT, i * SIZE, SIZE);
        send_part(SERVER, i * SIZE, SIZE);
    }
    expect("c1 r1 c2 r2 c3 r3 c4 r4 c5 r5");
    assert_int_equal(bench_losses(&bench)->resync_bytes, 0);
}

static void
test_one_direction_only(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        send_part(SERVER, i * SIZE, SIZE);
    }
    expect("r1 r2 r3 r4 r5");
}

/* The capture begins in the middle of a call, and of a reply. */
static void
test_start_inside_a_record(void **state)
{
    (void)state;
    send_part(CLIENT, 50, 2 * SIZE - 50);
    send_part(SERVER, 30, SIZE - 30);
    send_part(SERVER, SIZE, SIZE);
    expect("c2 r2");
    assert_int_equal(bench_losses(&bench)->resync_bytes, SIZE - 50 + SIZE - 30);
}

static void
test_data_in_syn_and_with_fin(void **state)
{
    (void)state;
    struct tcp_packet syn = part(CLIENT, 0, SIZE);
    syn.seq = isn[0];
    syn.flags = 0x02;
    bench_tcp(&bench, &syn);
    struct tcp_packet fin = part(CLIENT, SIZE, SIZE);
    fin.flags = 0x19;
    bench_tcp(&bench, &fin);
    expect("c1 c2");
}

static void
test_first_call_on_final_ack(void **state)
{
    (void)state;
    struct tcp_packet syn = {.from = CLIENT, .seq = isn[0], .flags = 0x02};
    bench_tcp(&bench, &syn);
    send_part(CLIENT, 0, SIZE);
    expect("c1");
}

/* A reset, then the same ports again with other sequence numbers. */
static void
test_port_reuse(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        handshake();
        send_part(CLIENT, 0, SIZE + 20); /* the second call is cut */
        if (round == 1) {
            struct tcp_packet reset = part(CLIENT, SIZE + 20, 0);
            reset.flags = 0x04;
            bench_tcp(&bench, &reset);
        }
        isn[0] += 777777;
        isn[1] += 999;
    }
    expect("c1 c2! c1 c2! c1 c2!");
    assert_int_equal(bench.ends, 3);
    assert_int_equal(bench_losses(&bench)->gaps, 0);
}

/* A SYN sent twice, and captured behind the first data, is the same. */
static void
test_syn_again(void **state)
{
    (void)state;
    struct tcp_packet syn = {.from = CLIENT, .seq = isn[0], .flags = 0x02};
    bench_tcp(&bench, &syn);
    bench_tcp(&bench, &syn);
    send_part(CLIENT, 0, SIZE);
    bench_tcp(&bench, &syn);
    send_part(CLIENT, SIZE, SIZE);
    expect("c1 c2");
    assert_int_equal(bench.ends, 1);
}

/* A record whose end was captured first is complete when its start is. */
static void
test_end_before_start(void **state)
{
    (void)state;
    send_part(CLIENT, 0, SIZE);
    send_part(CLIENT, SIZE + 60, SIZE - 60);
    send_part(CLIENT, SIZE, 60);
    expect("c1 c2");
    assert_true(bench.rows[1].first_ns > bench.rows[0].first_ns + 10000);
    assert_int_equal(bench.rows[1].last_ns, bench.rows[1].first_ns);
}

/* A reply on a port of which nothing is known, its call not captured: the
 * calls behind it are found. The second is held until the hole before it is
 * given up, so that its reply comes too early to be known as one. */
static void
test_any_port_without_first_call(void **state)
{
    (void)state;
    struct tcp_packet syn = {
        .from = CLIENT, .seq = isn[0], .flags = 0x02, .server_port = 12049};
    struct tcp_packet both = {.from = SERVER,
                              .seq = isn[1],
                              .ack = isn[0] + 1,
                              .flags = 0x12,
                              .server_port = 12049};
    bench_tcp(&bench, &syn);
    bench_tcp(&bench, &both);
    for (unsigned i = 0; i < 3; i++) {
        struct tcp_packet call = part(CLIENT, i * SIZE, SIZE);
        struct tcp_packet reply = part(SERVER, i * SIZE, SIZE);
        call.server_port = reply.server_port = 12049;
        reply.ack = call.seq + SIZE;
        if (i > 0) {
            bench_tcp(&bench, &call);
        }
        bench_tcp(&bench, &reply);
        bench.now_ns += 1000000000;
    }
    expect("c2 c3 r3");
}

/* A copy of a segment whose header was spoilt into a SYN's: its data would
 * lie one byte further, and the stream would be out of step. */
static void
test_broken_syn(void **state)
{
    (void)state;
    send_part(CLIENT, 0, SIZE);
    const struct tcp_packet broken = {
        .from = CLIENT,
        .seq = isn[0] + 1,
        .flags = 0x0a,
        .data = stream[0].data,
        .length = SIZE + 4,
    };
    bench_tcp(&bench, &broken);
    send_part(CLIENT, SIZE, SIZE);
    expect("c1 c2");
    assert_int_equal(bench_losses(&bench)->malformed_packets, 1);
    assert_int_equal(bench_losses(&bench)->gaps, 0);
}

/* The capture lost far more than a window. */
static void
test_long_gap(void **state)
{
    (void)state;
    handshake();
    send_part(CLIENT, 0, SIZE + 30);
    struct tcp_packet far = part(CLIENT, 2 * SIZE, SIZE);
    far.seq += 1000000000;
    bench_tcp(&bench, &far);
    expect("c1 c2! c3");
    assert_int_equal(bench_losses(&bench)->gaps, 1);
    assert_int_equal(bench_losses(&bench)->gap_bytes, 1000000000u + SIZE - 30);
}

/* --- bounds -------------------------------------------------------------- */

static void
test_reorder_limit(void **state)
{
    (void)state;
    struct capture_options options = {.max_reorder_bytes = 4096};
    bench_stop(&bench);
    bench_start(&bench, &options);
    handshake();
    stream[0].length = 0;
    for (uint32_t xid = 1; xid <= 200; xid++) {
        add_call_record(&stream[0], xid, SIZE - 4);
    }
    for (unsigned i = 1; i < 200; i++) {
        send_part(CLIENT, i * SIZE, SIZE);
    }
    packet_engine_finish(bench.engine);
    assert_int_equal(bench.row_count, 199);
    assert_int_equal(bench_losses(&bench)->reorder_overflows, 1);
    assert_int_equal(bench_losses(&bench)->gap_bytes, SIZE);
}

static void
test_connection_limit(void **state)
{
    (void)state;
    struct capture_options options = {.max_connections = 10};
    bench_stop(&bench);
    bench_start(&bench, &options);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 100; i++) {
            struct tcp_packet packet = part(CLIENT, 0, SIZE);
            packet.client_port = (uint16_t)(1000 + i);
            packet.seq += round * SIZE;
            bench_tcp(&bench, &packet);
        }
    }
    packet_engine_finish(bench.engine);
    assert_int_equal(bench.row_count, 200);
    assert_int_equal(bench.ends, 200);
    assert_int_equal(bench_losses(&bench)->connection_overflows, 190);
}

/* --- whose traffic it is ------------------------------------------------- */

static void
test_client_ports_do_not_matter(void **state)
{
    static const uint16_t ports[] = {674, 993, 994, 111, 2049, 80, 53};
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
        struct tcp_packet call = part(CLIENT, 0, SIZE);
        struct tcp_packet reply = part(SERVER, 0, SIZE);
        call.client_port = reply.client_port = ports[i];
        bench_tcp(&bench, &call);
        bench_tcp(&bench, &reply);
        expect("c1 r1");
        tear_down(state);
        set_up(state);
    }
}

/* A web client whose own port is 2049. */
static void
test_not_rpc(void **state)
{
    (void)state;
    static const char request[] =
        "GET / HTTP/1.1\r\nHost: example.net\r\nAccept: */*\r\n\r\n";
    for (unsigned opened = 0; opened < 2; opened++) {
        struct tcp_packet syn = {.from = CLIENT,
                                 .seq = isn[0],
                                 .flags = 0x02,
                                 .client_port = 2049,
                                 .server_port = 80};
        if (opened) {
            bench_tcp(&bench, &syn);
        }
        struct tcp_packet get = {.from = CLIENT,
                                 .seq = isn[0] + 1,
                                 .data = (const uint8_t *)request,
                                 .length = sizeof request - 1,
                                 .client_port = 2049,
                                 .server_port = 80};
        bench_tcp(&bench, &get);
        expect("");
        assert_int_equal(bench_losses(&bench)->not_rpc_streams, 1);
        assert_int_equal(bench_losses(&bench)->malformed_records, 0);
        tear_down(state);
        set_up(state);
    }
}

/* Any port, if the content is a call to a program we know. */
static void
test_any_port(void **state)
{
    for (unsigned opened = 0; opened < 2; opened++) {
        struct tcp_packet syn = {
            .from = CLIENT, .seq = isn[0], .flags = 0x02, .server_port = 12049};
        if (opened) {
            bench_tcp(&bench, &syn);
        }
        for (unsigned i = 0; i < 5; i++) {
            struct tcp_packet call = part(CLIENT, i * SIZE, SIZE);
            struct tcp_packet reply = part(SERVER, i * SIZE, SIZE);
            call.server_port = reply.server_port = 12049;
            bench_tcp(&bench, &call);
            bench_tcp(&bench, &reply);
        }
        expect("c1 r1 c2 r2 c3 r3 c4 r4 c5 r5");
        tear_down(state);
        set_up(state);
    }
}

/* A server's port that was learned: its replies need no call before. */
static void
test_learned_port(void **state)
{
    (void)state;
    packet_engine_add_port(bench.engine, 12049);
    struct tcp_packet reply = part(SERVER, 0, SIZE);
    reply.server_port = 12049;
    bench_tcp(&bench, &reply);
    expect("r1");
}

/* --- cuts ---------------------------------------------------------------- */

/* Same records, to the byte, however the streams are cut into segments. */
static void
test_random_cuts(void **state)
{
    struct row want[10];
    uint64_t seed = 20;
    for (unsigned round = 0; round < 200; round++) {
        if (round % 2 == 0) {
            handshake();
        }
        size_t at[2] = {0, 0};
        const size_t all = 5 * SIZE;
        while (at[0] < all || at[1] < all) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            int side = at[1] < at[0] ? SERVER : CLIENT;
            size_t most = round == 0 ? all : round == 1 ? 1 : 150;
            size_t length = round == 0 ? all : 1 + (seed >> 33) % most;
            if (length > all - at[side]) {
                length = all - at[side];
            }
            if (round == 0 || length == 0) {
                length = all - at[side];
                send_part(side, at[side], length);
            } else {
                send_part(side, at[side], length);
            }
            at[side] += length;
        }
        packet_engine_finish(bench.engine);
        assert_int_equal(bench.row_count, 10);
        for (unsigned i = 0, seen[2] = {0, 0}; i < 10; i++) {
            struct row *row = &bench.rows[i];
            unsigned k = row->direction * 5 + seen[row->direction]++;
            if (round == 0) {
                want[k] = *row;
            }
            assert_int_equal(row->xid, want[k].xid);
            assert_int_equal(row->length, want[k].length);
            assert_int_equal(row->flags, 0);
            assert_true(row->digest == want[k].digest);
        }
        tear_down(state);
        set_up(state);
    }
}

/* Random order inside a window, duplicates, overlaps: the same records. */
static void
test_random_disorder(void **state)
{
    uint64_t seed = 7;
    for (unsigned round = 0; round < 300; round++) {
        isn[0] = round % 3 == 0 ? 0xffffff80u : 1000 + round;
        handshake();
        size_t cuts[64][2];
        unsigned count = 0;
        for (size_t at = 0; at < 5 * SIZE;) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            size_t length = 1 + (seed >> 33) % 60;
            length = length > 5 * SIZE - at ? 5 * SIZE - at : length;
            cuts[count][0] = at;
            cuts[count++][1] = length;
            at += length;
        }
        for (unsigned i = 0; i + 1 < count; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            unsigned k = i + (unsigned)((seed >> 33) % (count - i));
            size_t swap[2] = {cuts[i][0], cuts[i][1]};
            memcpy(cuts[i], cuts[k], sizeof swap);
            memcpy(cuts[k], swap, sizeof swap);
        }
        for (unsigned i = 0; i < count; i++) {
            send_part(CLIENT, cuts[i][0], cuts[i][1]);
            if (i % 4 == 3) { /* again, with a little more in front */
                size_t from = cuts[i][0] > 5 ? cuts[i][0] - 5 : 0;
                send_part(CLIENT, from, cuts[i][1]);
            }
        }
        expect("c1 c2 c3 c4 c5");
        assert_int_equal(bench_losses(&bench)->gaps, 0);
        tear_down(state);
        set_up(state);
    }
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_serial_arithmetic),
        T(test_wrap),
        T(test_orders),
        T(test_reply_between),
        T(test_ack_before_data),
        T(test_each_segment_lost),
        T(test_grace),
        T(test_loss_on_the_network),
        T(test_fin_with_a_hole),
        T(test_overlaps),
        T(test_first_copy_wins),
        T(test_retransmission),
        T(test_empty_segment_does_not_advance),
        T(test_keepalive),
        T(test_zero_window_probe),
        T(test_every_packet_twice),
        T(test_copies_without_identification),
        T(test_no_handshake),
        T(test_one_direction_only),
        T(test_start_inside_a_record),
        T(test_data_in_syn_and_with_fin),
        T(test_first_call_on_final_ack),
        T(test_port_reuse),
        T(test_syn_again),
        T(test_broken_syn),
        T(test_end_before_start),
        T(test_any_port_without_first_call),
        T(test_long_gap),
        T(test_reorder_limit),
        T(test_connection_limit),
        T(test_client_ports_do_not_matter),
        T(test_not_rpc),
        T(test_any_port),
        T(test_learned_port),
        T(test_random_cuts),
        T(test_random_disorder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
