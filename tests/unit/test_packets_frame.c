/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Link layers, tags, tunnels, IP headers and IP fragments: the same call in
 * each wrapping gives the same record.
 */
#include "packet_support.h"

#include "capture/frame.h"

#include <stdarg.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static struct bench bench;
static struct buffer call, ip, frame;

static int
set_up(void **state)
{
    (void)state;
    call.length = ip.length = frame.length = 0;
    add_call_record(&call, 7, 100);
    add_tcp(&ip, &(struct tcp_packet){.from = CLIENT,
                                      .seq = 1,
                                      .data = call.data,
                                      .length = call.length});
    bench_start(&bench, NULL);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    bench_stop(&bench);
    return 0;
}

static void
expect_call(void)
{
    assert_string_equal(bench_text(&bench), "c7");
    assert_int_equal(bench.rows[0].length, 100);
    assert_int_equal(bench.rows[0].captured, 100);
    assert_int_equal(bench_losses(&bench)->malformed_packets, 0);
    assert_int_equal(bench_losses(&bench)->unsupported_packets, 0);
}

/* A header of hexadecimal digits in front of the IP packet. */
static void
add_hex(struct buffer *out, const char *hex)
{
    for (; hex[0] != '\0'; hex += 2) {
        unsigned byte = 0;
        for (unsigned i = 0; i < 2; i++) {
            char c = hex[i];
            byte = byte * 16 + (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
        }
        add8(out, byte);
    }
}

#define MACS "020000000001020000000002"
#define MAC_IP MACS "0800"

static void
test_link_types(void **state)
{
    static const struct {
        uint32_t link;
        const char *header;
    } cases[] = {
        {1, MAC_IP},
        {1, MACS "8100"
                 "0001"
                 "0800"},
        {1, MACS "8100"
                 "0000"
                 "0800"}, /* priority tag */
        {1, MACS "88a8"
                 "0001"
                 "8100"
                 "0002"
                 "0800"},
        {1, MACS "9100"
                 "0001"
                 "9100"
                 "0002"
                 "8100"
                 "0003"
                 "0800"},
        {1, MACS "8200"
                 "0001"
                 "0800"},
        {1, MACS "9200"
                 "0001"
                 "9300"
                 "0002"
                 "0800"},
        {1, MACS "00a8"
                 "aaaa03"
                 "000000"
                 "0800"}, /* 802.3, SNAP */
        {1, MACS "8100"
                 "0001"
                 "00a8"
                 "aaaa03"
                 "000000"
                 "0800"},
        {1, MACS "8864"
                 "11000001"
                 "0092"
                 "0021"}, /* PPPoE */
        {1, MACS "8847"
                 "00001040"
                 "00002140"}, /* MPLS, two labels */
        {1, MACS "8847"
                 "00001140"
                 "00000000" MAC_IP}, /* pseudowire */
        {113, "0000"
              "0001"
              "0006"
              "020000000001"
              "0000"
              "0800"},
        {113, "0004"
              "0001"
              "0006"
              "020000000001"
              "0000"
              "8100"
              "0005"
              "0800"},
        {276, "0800"
              "0000"
              "00000001"
              "0001"
              "00"
              "06"
              "020000000001"
              "0000"},
        {0, "02000000"},
        {0, "00000002"},
        {108, "00000002"},
        {0, "00080000"}, /* an EtherType instead of a family */
        {101, ""},
        {12, ""},
        {14, ""},
        {228, ""},
        {9, "ff030021"},
        {9, "0021"},
        {9, "21"},
        {50, "ff030021"},
        {104, "0f000800"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench_stop(&bench);
        bench_start(&bench, NULL);
        frame.length = 0;
        add_hex(&frame, cases[i].header);
        add(&frame, ip.data, ip.length);
        assert_true(frame_link_known(cases[i].link));
        bench_frame(&bench, cases[i].link, &frame, frame.length);
        expect_call();
    }
}

static void
test_ipv6_families(void **state)
{
    static const char *const families[] = {"0a000000", "18000000", "1c000000",
                                           "1e000000", "0000000a", "00000018",
                                           "0000001c", "0000001e"};
    (void)state;
    ip.length = 0;
    add_tcp(&ip, &(struct tcp_packet){.family = 6,
                                      .seq = 1,
                                      .data = call.data,
                                      .length = call.length});
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        bench_stop(&bench);
        bench_start(&bench, NULL);
        frame.length = 0;
        add_hex(&frame, families[i]);
        add(&frame, ip.data, ip.length);
        bench_frame(&bench, 0, &frame, frame.length);
        expect_call();
    }
}

static void
test_unknown(void **state)
{
    (void)state;
    assert_false(frame_link_known(147));
    bench_frame(&bench, 147, &ip, ip.length);
    add_ethernet(&frame, 0x0806);
    add_zeros(&frame, 46);
    bench_frame(&bench, 1, &frame, frame.length);
    assert_int_equal(bench.row_count, 0);
    assert_int_equal(bench_losses(&bench)->unsupported_packets, 2);
}

/* --- tunnels ------------------------------------------------------------- */

/* The call's packet, or its Ethernet frame, in an outer IPv4 packet. */
static void
send_tunnel(unsigned protocol, const char *header, bool inner_ethernet)
{
    static struct buffer inside;
    inside.length = 0;
    add_hex(&inside, header);
    if (inner_ethernet) {
        add_hex(&inside, MAC_IP);
    }
    add(&inside, ip.data, ip.length);
    frame.length = 0;
    add_ethernet(&frame, 0x0800);
    add_ipv4(&frame, CLIENT, protocol, inside.length, 9, 0);
    add(&frame, inside.data, inside.length);
    bench_frame(&bench, 1, &frame, frame.length);
}

static void
test_tunnels(void **state)
{
    static const struct {
        unsigned protocol;
        const char *header;
        bool ethernet;
    } cases[] = {
        {47, "00000800", false},
        {47,
         "20000800"
         "00000063",
         false},
        {47,
         "b0000800"
         "00000000"
         "00000063"
         "00000001",
         false},
        {47, "00006558", true},
        {47,
         "100088be"
         "00000001"
         "1000000000000000",
         true}, /* ERSPAN II */
        {47, "000088be", true},
        {4, "", false},
        /* UDP to 4789, VXLAN; to 6081, Geneve with and without options. */
        {17,
         "c000"
         "12b5"
         "0000"
         "0000"
         "0800000000002a00",
         true},
        {17,
         "c000"
         "17c1"
         "0000"
         "0000"
         "0000655800002a00",
         true},
        {17,
         "c000"
         "17c1"
         "0000"
         "0000"
         "0100080000002a00"
         "aabbccdd",
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench_stop(&bench);
        bench_start(&bench, NULL);
        send_tunnel(cases[i].protocol, cases[i].header, cases[i].ethernet);
        expect_call();
    }
}

/* Captured outside and inside the tunnel: a copy. */
static void
test_tunnel_seen_twice(void **state)
{
    (void)state;
    send_tunnel(17, "c00012b5000000000800000000002a00", true);
    bench_frame(&bench, 228, &ip, ip.length);
    expect_call();
    assert_int_equal(bench_losses(&bench)->capture_duplicates, 1);
}

/* IP in IP without end: a depth limit. */
static void
test_endless_tunnel(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 500; i++) {
        add_ipv4(&frame, CLIENT, 4, 20u * (499 - i), 1, 0);
    }
    bench_frame(&bench, 228, &frame, frame.length);
    assert_int_equal(bench_losses(&bench)->malformed_packets, 1);
}

/* --- IP headers ---------------------------------------------------------- */

static void
send_ip(const struct tcp_packet *packet)
{
    bench_stop(&bench);
    bench_start(&bench, NULL);
    bench_tcp(&bench, packet);
}

static void
test_padding_is_not_payload(void **state)
{
    (void)state;
    /* An ACK of 40 bytes, then a call: both in padded frames. */
    bench_tcp(&bench,
              &(struct tcp_packet){.seq = 1, .flags = 0x10, .padding = 6});
    bench_tcp(&bench, &(struct tcp_packet){.seq = 1,
                                           .data = call.data,
                                           .length = call.length,
                                           .padding = 4});
    bench_tcp(&bench, &(struct tcp_packet){.seq = 1 + 104,
                                           .data = call.data,
                                           .length = call.length,
                                           .padding = 18});
    assert_string_equal(bench_text(&bench), "c7 c7");
    assert_int_equal(bench_losses(&bench)->gaps, 0);
}

static void
test_length_zero(void **state)
{
    (void)state;
    for (int family = 4; family <= 6; family += 2) {
        send_ip(&(struct tcp_packet){.seq = 1,
                                     .family = family,
                                     .data = call.data,
                                     .length = call.length,
                                     .zero_length = true});
        expect_call();
        assert_int_equal(bench_losses(&bench)->zero_length_ip, 1);
    }
}

/* More than 64 KiB in one packet, its length 0; and cut by the capture. */
static void
test_very_large(void **state)
{
    (void)state;
    static struct buffer large;
    for (unsigned cut = 0; cut < 2; cut++) {
        large.length = 0;
        add_reply_record(&large, 8, 150000);
        send_ip(&(struct tcp_packet){.from = SERVER,
                                     .seq = 1,
                                     .data = large.data,
                                     .length = large.length,
                                     .zero_length = true,
                                     .snap = cut ? 128 : 0});
        assert_int_equal(bench.row_count, 1);
        assert_int_equal(bench.rows[0].xid, 8);
        assert_int_equal(bench.rows[0].length, 150000);
        assert_int_equal(bench.rows[0].flags, cut ? RPC_RECORD_SNAPPED : 0);
    }
}

static void
test_bad_lengths(void **state)
{
    static const struct {
        size_t at;
        uint8_t value;
    } cases[] = {
        {0, 0x44},  /* header of 16 bytes */
        {0, 0x75},  /* version 7 */
        {3, 19},    /* total length 19 (the high byte is cleared below) */
        {32, 0x40}, /* TCP header of 16 bytes */
        {32, 0xf0}, /* TCP header of 60 bytes, in a packet of 50 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bench_stop(&bench);
        bench_start(&bench, NULL);
        frame.length = 0;
        add(&frame, ip.data, ip.length);
        frame.data[cases[i].at] = cases[i].value;
        if (cases[i].at == 3) {
            frame.data[2] = 0;
        }
        if (cases[i].value == 0xf0) {
            frame.data[2] = 0;
            frame.data[3] = 50;
        }
        bench_frame(&bench, 228, &frame, frame.length);
        assert_int_equal(bench.row_count, 0);
        assert_int_equal(bench_losses(&bench)->malformed_packets, 1);
    }
}

static void
test_ipv4_options(void **state)
{
    (void)state;
    add(&frame, ip.data, 20);
    frame.data[0] = 0x46;
    frame.data[3] = (uint8_t)(frame.data[3] + 4);
    add_hex(&frame, "94040000"); /* router alert */
    add(&frame, ip.data + 20, ip.length - 20);
    bench_frame(&bench, 228, &frame, frame.length);
    expect_call();
}

/* Hop-by-hop, routing, destination and an atomic fragment before TCP. */
static void
test_ipv6_extensions(void **state)
{
    (void)state;
    static struct buffer v6;
    v6.length = 0;
    add_tcp(&v6, &(struct tcp_packet){.family = 6,
                                      .seq = 1,
                                      .data = call.data,
                                      .length = call.length});
    const char *headers = "2b00010400000000"  /* hop-by-hop, then routing */
                          "3c00000000000000"  /* routing, then destination */
                          "2c00010400000000"  /* destination, then fragment */
                          "0600000012345678"; /* atomic fragment, then TCP */
    add_ipv6(&frame, CLIENT, 0, v6.length - 40 + 32);
    add_hex(&frame, headers);
    add(&frame, v6.data + 40, v6.length - 40);
    bench_frame(&bench, 229, &frame, frame.length);
    expect_call();
}

/* RFC 2675: the length is in a hop-by-hop option. */
static void
test_jumbogram(void **state)
{
    (void)state;
    static struct buffer large, v6;
    large.length = v6.length = 0;
    add_reply_record(&large, 8, 100000);
    add_tcp(&v6, &(struct tcp_packet){.from = SERVER,
                                      .family = 6,
                                      .seq = 1,
                                      .data = large.data,
                                      .length = large.length});
    add_ipv6(&frame, SERVER, 0, 0);
    add_hex(&frame, "0600c204");
    add32(&frame, (uint32_t)(v6.length - 40 + 8));
    add(&frame, v6.data + 40, v6.length - 40);
    add_zeros(&frame, 6); /* a trailer that must not count */
    bench_frame(&bench, 229, &frame, frame.length);
    assert_string_equal(bench_text(&bench), "r8");
    assert_int_equal(bench_losses(&bench)->zero_length_ip, 0);
    assert_int_equal(bench.rows[0].captured, 100000);
}

/* --- fragments ----------------------------------------------------------- */

static struct buffer message, datagram;

/* One IP fragment of the datagram: [from, to) of what is behind IP. */
static void
send_fragment(int family, int from_side, unsigned id, size_t from, size_t to,
              size_t snap)
{
    bool more = to < datagram.length;
    frame.length = 0;
    if (family == 4) {
        add_ipv4(&frame, from_side, 17, to - from, id,
                 (unsigned)(from / 8) | (more ? 0x2000u : 0));
    } else {
        add_ipv6(&frame, from_side, 44, to - from + 8);
        add8(&frame, 17);
        add8(&frame, 0);
        add16(&frame, (unsigned)from | more);
        add32(&frame, id);
    }
    add(&frame, datagram.data + from, to - from);
    size_t captured = snap != 0 && snap < frame.length ? snap : frame.length;
    bench_frame(&bench, family == 4 ? 228 : 229, &frame, captured);
}

/* An 8 KiB reply over UDP. */
static void
make_datagram(uint32_t xid, bool reply)
{
    message.length = datagram.length = 0;
    if (reply) {
        add_reply(&message, xid, 8192);
    } else {
        add_call(&message, xid, 8192);
    }
    add_udp(&datagram, reply ? SERVER : CLIENT, 700, 2049, message.data,
            message.length);
}

#define PIECE 1480

/* In order, last first, each twice; both families, with a short snapshot. */
static void
test_fragments_in_any_order(void **state)
{
    static const char *const orders[] = {"012345", "543210", "503142",
                                         "001122334455", "012345012345"};
    (void)state;
    for (int family = 4; family <= 6; family += 2) {
        for (size_t i = 0; i < 5; i++) {
            for (size_t snap = 0; snap <= 128; snap += 128) {
                bench_stop(&bench);
                bench_start(&bench, NULL);
                make_datagram(5, true);
                for (const char *p = orders[i]; *p != '\0'; p++) {
                    size_t from = (size_t)(*p - '0') * PIECE;
                    size_t to = from + PIECE;
                    to = to < datagram.length ? to : datagram.length;
                    send_fragment(family, SERVER, 99, from, to, snap);
                }
                packet_engine_finish(bench.engine);
                assert_int_equal(bench.row_count, 1);
                assert_int_equal(bench.rows[0].xid, 5);
                assert_int_equal(bench.rows[0].length, 8192);
                assert_int_equal(bench.rows[0].flags,
                                 RPC_RECORD_DATAGRAM |
                                     (snap ? RPC_RECORD_SNAPPED : 0));
                if (snap == 0) {
                    assert_int_equal(bench.rows[0].captured, 8192);
                }
                assert_int_equal(bench_losses(&bench)->incomplete_datagrams, 0);
                assert_int_equal(bench_losses(&bench)->capture_duplicates,
                                 i >= 3 ? 6 : 0);
            }
        }
    }
}

/* Two hosts use the same identification at the same time. */
static void
test_same_identification(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        for (int side = CLIENT; side <= SERVER; side++) {
            make_datagram(side == CLIENT ? 1 : 2, side == SERVER);
            size_t to = (i + 1) * PIECE;
            to = to < datagram.length ? to : datagram.length;
            send_fragment(4, side, 99, i * PIECE, to, 0);
        }
    }
    assert_string_equal(bench_text(&bench), "c1 r2");
}

/* One fragment lost: counted; the header is there, so the RPC is too. */
static void
test_fragment_lost(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 6; lost++) {
        bench_stop(&bench);
        bench_start(&bench, NULL);
        make_datagram(3, false);
        for (unsigned i = 0; i < 6; i++) {
            size_t to = (i + 1) * PIECE;
            to = to < datagram.length ? to : datagram.length;
            if (i != lost) {
                send_fragment(4, CLIENT, 50, i * PIECE, to, 0);
            }
        }
        packet_engine_finish(bench.engine);
        assert_int_equal(bench_losses(&bench)->incomplete_datagrams, 1);
        assert_int_equal(bench.row_count, lost == 0 ? 0 : 1);
        if (lost > 0) {
            assert_true(bench.rows[0].flags & RPC_RECORD_GAP);
            assert_int_equal(bench.rows[0].length, 8192);
        }
    }
}

/* A port filter passes the first fragment only: the call still comes before
 * its reply. */
static void
test_only_first_fragment(void **state)
{
    (void)state;
    make_datagram(3, false);
    send_fragment(4, CLIENT, 50, 0, PIECE, 0);
    static struct buffer reply;
    reply.length = frame.length = 0;
    add_reply(&reply, 3, 100);
    add_ipv4(&frame, SERVER, 17, reply.length + 8, 7, 0);
    add_udp(&frame, SERVER, 700, 2049, reply.data, reply.length);
    bench_frame(&bench, 228, &frame, frame.length);
    packet_engine_finish(bench.engine);
    assert_string_equal(bench_text(&bench), "c3! r3");
    assert_int_equal(bench_losses(&bench)->incomplete_datagrams, 1);
}

static void
test_fragment_overlap(void **state)
{
    (void)state;
    make_datagram(3, false);
    send_fragment(4, CLIENT, 50, 0, 4000, 0);
    send_fragment(4, CLIENT, 50, 3200, 6400, 0);
    send_fragment(4, CLIENT, 50, 6400, datagram.length, 0);
    assert_string_equal(bench_text(&bench), "c3");
    assert_int_equal(bench.rows[0].captured, 8192);
    assert_int_equal(bench_losses(&bench)->fragment_overlaps, 1);
}

/* A fragment that lies behind what the last one says is the end. */
static void
test_fragment_behind_the_end(void **state)
{
    (void)state;
    make_datagram(3, false);
    const size_t whole = datagram.length;
    datagram.length = 3200;
    send_fragment(4, CLIENT, 51, 1600, 3200, 0);
    datagram.length = whole;
    send_fragment(4, CLIENT, 51, 3200, 4800, 0);
    send_fragment(4, CLIENT, 51, 0, 1600, 0);
    assert_string_equal(bench_text(&bench), "c3!");
    assert_int_equal(bench.rows[0].captured, 3200 - 8);
}

/* TCP in fragments. */
static void
test_fragmented_tcp(void **state)
{
    (void)state;
    datagram.length = 0;
    add(&datagram, ip.data + 20, ip.length - 20);
    const size_t cuts[] = {0, 24, 80, datagram.length};
    for (unsigned i = 0; i < 3; i++) {
        bool more = i < 2;
        frame.length = 0;
        add_ipv4(&frame, CLIENT, 6, cuts[i + 1] - cuts[i], 31,
                 (unsigned)cuts[i] / 8 | (more ? 0x2000u : 0));
        add(&frame, datagram.data + cuts[i], cuts[i + 1] - cuts[i]);
        bench_frame(&bench, 228, &frame, frame.length);
    }
    expect_call();
}

/* Datagrams that never complete: memory and slots are bounded. */
static void
test_fragment_flood(void **state)
{
    (void)state;
    make_datagram(3, false);
    for (unsigned id = 1; id <= 5000; id++) {
        send_fragment(4, CLIENT, id, PIECE, 2 * PIECE, 0);
    }
    packet_engine_finish(bench.engine);
    assert_int_equal(bench.row_count, 0);
    assert_int_equal(bench_losses(&bench)->incomplete_datagrams, 5000);
}

/* --- UDP ----------------------------------------------------------------- */

static void
send_udp(int from, unsigned server_port, unsigned id, const struct buffer *rpc)
{
    frame.length = 0;
    add_ipv4(&frame, from, 17, rpc->length + 8, id, 0);
    add_udp(&frame, from, 700, server_port, rpc->data, rpc->length);
    bench_frame(&bench, 228, &frame, frame.length);
}

/* A copy has the same identification; a retransmission another. */
static void
test_udp_copies(void **state)
{
    (void)state;
    message.length = 0;
    add_call(&message, 4, 100);
    send_udp(CLIENT, 2049, 10, &message);
    send_udp(CLIENT, 2049, 10, &message);
    bench.now_ns += 1100000000;
    send_udp(CLIENT, 2049, 11, &message);
    assert_string_equal(bench_text(&bench), "c4 c4");
    assert_int_equal(bench_losses(&bench)->capture_duplicates, 1);
    /* Identification 0: only within a millisecond. */
    send_udp(CLIENT, 2049, 0, &message);
    send_udp(CLIENT, 2049, 0, &message);
    bench.now_ns += 5000000;
    send_udp(CLIENT, 2049, 0, &message);
    assert_int_equal(bench.row_count, 4);
    assert_int_equal(bench_losses(&bench)->capture_duplicates, 2);
}

static void
test_udp_on_any_port(void **state)
{
    (void)state;
    message.length = 0;
    add_call(&message, 4, 100);
    send_udp(CLIENT, 12049, 10, &message);
    message.length = 0;
    add_reply(&message, 4, 100);
    send_udp(SERVER, 12049, 11, &message);
    assert_string_equal(bench_text(&bench), "c4 r4");
    /* A reply alone, on a port that nobody knows, is nothing. */
    send_udp(SERVER, 13000, 12, &message);
    assert_int_equal(bench.row_count, 2);
}

static void
test_udp_not_rpc(void **state)
{
    (void)state;
    message.length = 0;
    add(&message, "this is not a remote procedure call", 35);
    send_udp(CLIENT, 2049, 10, &message);
    send_udp(CLIENT, 2049, 11, &message);
    message.length = 7;
    send_udp(CLIENT, 2049, 12, &message);
    assert_int_equal(bench.row_count, 0);
    assert_int_equal(bench_losses(&bench)->not_rpc_streams, 1);
    assert_int_equal(bench_losses(&bench)->malformed_records, 1);
}

/* --- hostile ------------------------------------------------------------- */

/* Every prefix of a frame, against the end of its allocation. */
static void
test_every_prefix(void **state)
{
    (void)state;
    add_hex(&frame, MACS "88a8"
                         "0001"
                         "8100"
                         "0002"
                         "0800");
    add(&frame, ip.data, ip.length);
    for (size_t length = 0; length <= frame.length; length++) {
        for (unsigned snapped = 0; snapped < 2; snapped++) {
            uint8_t *copy = test_malloc(length + 1);
            memcpy(copy, frame.data, length);
            struct frame decoded;
            struct packet packet = {
                .data = copy,
                .captured = (uint32_t)length,
                .length = (uint32_t)(snapped ? frame.length : length),
                .link_type = 1,
            };
            (void)frame_decode(1, copy, packet.captured, packet.length,
                               &decoded);
            bench_stop(&bench);
            bench_start(&bench, NULL);
            packet_engine_packet(bench.engine, &packet);
            test_free(copy);
            packet_engine_finish(bench.engine);
        }
    }
    expect_call(); /* the last prefix is all of it */
}

/* Every byte of it set to values that hurt. */
static void
test_every_byte_changed(void **state)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    (void)state;
    add_hex(&frame, MACS "88a8"
                         "0001"
                         "8100"
                         "0002"
                         "0800");
    add(&frame, ip.data, ip.length);
    for (size_t at = 0; at < frame.length; at++) {
        uint8_t kept = frame.data[at];
        for (unsigned i = 0; i < 5; i++) {
            frame.data[at] = values[i];
            bench_frame(&bench, 1, &frame, frame.length);
        }
        frame.data[at] = kept;
        bench.row_count = 0;
    }
    packet_engine_finish(bench.engine);
    assert_true(bench_losses(&bench)->packets == 5 * frame.length);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_link_types),
        T(test_ipv6_families),
        T(test_unknown),
        T(test_tunnels),
        T(test_tunnel_seen_twice),
        T(test_endless_tunnel),
        T(test_padding_is_not_payload),
        T(test_length_zero),
        T(test_very_large),
        T(test_bad_lengths),
        T(test_ipv4_options),
        T(test_ipv6_extensions),
        T(test_jumbogram),
        T(test_fragments_in_any_order),
        T(test_same_identification),
        T(test_fragment_lost),
        T(test_only_first_fragment),
        T(test_fragment_overlap),
        T(test_fragment_behind_the_end),
        T(test_fragmented_tcp),
        T(test_fragment_flood),
        T(test_udp_copies),
        T(test_udp_on_any_port),
        T(test_udp_not_rpc),
        T(test_every_prefix),
        T(test_every_byte_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
