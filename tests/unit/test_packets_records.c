/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Record marking (RFC 5531 section 11) fed below TCP: fragments, marks cut
 * anywhere, snapshot lengths, gaps and the search after them, TLS.
 */
#include "packet_support.h"

#include "capture/rpc_stream.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct bench bench;
static struct packet_losses losses;
static struct rpc_stream_context context;
static struct rpc_connection connection;
static struct rpc_channel channel;
static struct rpc_stream stream[2];
static struct buffer data;

static void
restart(bool at_start, bool full)
{
    memset(&bench, 0, sizeof bench);
    memset(&losses, 0, sizeof losses);
    memset(&channel, 0, sizeof channel);
    rpc_stream_context_free(&context);
    struct rpc_record_sink sink = bench_sink(&bench);
    rpc_stream_context_init(&context, full, &sink, &losses);
    channel.connection = &connection;
    channel.port_known = true;
    rpc_stream_init(&stream[0], &channel, 0, at_start);
    rpc_stream_init(&stream[1], &channel, 1, at_start);
}

static int
set_up(void **state)
{
    (void)state;
    restart(true, false);
    data.length = 0;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    rpc_stream_end(&context, &stream[0]);
    rpc_stream_end(&context, &stream[1]);
    rpc_stream_context_free(&context);
    return 0;
}

/* Bytes [from, to) of the buffer, in segments of `size`. */
static void
feed(unsigned side, size_t from, size_t to, size_t size)
{
    for (size_t at = from; at < to; at += size) {
        uint32_t length = (uint32_t)(to - at < size ? to - at : size);
        rpc_stream_data(&context, &stream[side], data.data + at, length, length,
                        (int64_t)at);
    }
}

/* --- fragments ----------------------------------------------------------- */

/* One record cut in fragments of these lengths; -1: the rest. */
static void
add_fragments(const int *lengths, uint32_t xid, size_t total)
{
    static struct buffer message;
    message.length = 0;
    add_call(&message, xid, total);
    size_t at = 0;
    for (unsigned i = 0;; i++) {
        size_t length = lengths[i] < 0 ? total - at : (size_t)lengths[i];
        bool last = at + length == total;
        add32(&data, (uint32_t)length | (last ? 0x80000000u : 0));
        add(&data, message.data + at, length);
        at += length;
        if (last) {
            break;
        }
    }
}

static void
test_fragments(void **state)
{
    static const int cuts[][6] = {
        {64, -1},       {40, -1},         {12, -1},    {1, 1, 1, 1, 1, -1},
        {0, 0, 40, -1}, {4, 4, 4, 4, -1}, {96, 0, -1},
    };
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        /* In one segment, and with the mark cut at each of its bytes. */
        for (size_t size = 1; size <= 200; size += size < 8 ? 1 : 96) {
            set_up(state);
            add_fragments(cuts[i], 9, 96);
            add_call_record(&data, 10, 60);
            feed(0, 0, data.length, size);
            assert_string_equal(bench_text(&bench), "c9 c10");
            assert_int_equal(bench.rows[0].length, 96);
            assert_int_equal(bench.rows[0].captured, 96);
            uint64_t digest = bench.rows[0].digest;
            set_up(state);
            add_call_record(&data, 9, 96);
            feed(0, 0, data.length, 200);
            assert_true(bench.rows[0].digest == digest);
        }
    }
}

static void
test_several_records_in_a_segment(void **state)
{
    (void)state;
    for (uint32_t xid = 1; xid <= 3; xid++) {
        add_call_record(&data, xid, 100);
    }
    feed(0, 0, data.length, data.length);
    assert_string_equal(bench_text(&bench), "c1 c2 c3");
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(bench.rows[i].first_ns, 0);
        assert_int_equal(bench.rows[i].fragments, 1);
    }
}

/* 11 calls of 100 bytes in segments of 150. */
static void
test_rest_is_kept(void **state)
{
    (void)state;
    for (uint32_t xid = 1; xid <= 11; xid++) {
        add_call_record(&data, xid, 96);
    }
    feed(0, 0, data.length, 150);
    assert_int_equal(bench.row_count, 11);
    /* The second lies in two segments: times of its first and last byte. */
    assert_int_equal(bench.rows[1].first_ns, 0);
    assert_int_equal(bench.rows[1].last_ns, 150);
}

static void
test_records_too_short(void **state)
{
    for (uint32_t length = 0; length < 8; length++) {
        for (size_t size = 1; size < 100; size += 98) {
            set_up(state);
            add32(&data, 0x80000000u | length);
            add_zeros(&data, length);
            add_call_record(&data, 5, 60);
            feed(0, 0, data.length, size);
            assert_string_equal(bench_text(&bench), "c5");
            assert_int_equal(losses.malformed_records, 1);
        }
    }
}

/* A record that is no RPC, with a mark that is right, costs itself only. */
static void
test_strange_record(void **state)
{
    (void)state;
    add_call_record(&data, 1, 60);
    add32(&data, 0x80000000u | 200);
    for (unsigned i = 0; i < 200; i++) {
        add8(&data, 0xa0 + i % 50);
    }
    add_call_record(&data, 2, 60);
    feed(0, 0, data.length, data.length);
    assert_int_equal(bench.row_count, 3);
    assert_int_equal(bench.rows[2].xid, 2);
    assert_int_equal(losses.resync_bytes, 0);
}

/* A mark that announces more than anybody sends: search goes on behind it. */
static void
test_impossible_mark(void **state)
{
    (void)state;
    add_call_record(&data, 1, 60);
    add32(&data, 0xffffffff);
    for (unsigned i = 0; i < 50; i++) {
        add8(&data, 0xee);
    }
    size_t bad = data.length;
    add_call_record(&data, 2, 60);
    feed(0, 0, data.length, data.length);
    assert_string_equal(bench_text(&bench), "c1 c2");
    assert_int_equal(losses.malformed_records, 1);
    assert_int_equal(losses.resync_bytes, bad - 64);
    assert_int_equal(bench.gaps, 1);
}

/* --- what is kept -------------------------------------------------------- */

/* A 1 MiB reply: the head and the tail are kept, the rest is stepped over. */
static void
test_large_record(void **state)
{
    (void)state;
    static struct buffer chunk;
    chunk.length = 0;
    add_reply(&chunk, 3, 60000);
    for (unsigned full = 0; full < 2; full++) {
        restart(true, full);
        data.length = 0;
        add32(&data, 0x80000000u | 1048576);
        add(&data, chunk.data, 60000);
        feed(1, 0, data.length, 1448);
        uint32_t left = 1048576 - 60000;
        while (left > 0) {
            uint32_t step = left < 60000 ? left : 60000;
            rpc_stream_data(&context, &stream[1], chunk.data, step, step, left);
            left -= step;
        }
        size_t at = data.length;
        add_reply_record(&data, 4, 60);
        feed(1, at, data.length, 100);
        assert_string_equal(bench_text(&bench), "r3 r4");
        assert_int_equal(bench.rows[0].length, 1048576);
        assert_int_equal(bench.rows[0].flags, RPC_RECORD_SKIPPED);
        assert_int_equal(bench.rows[0].captured,
                         full ? 65536 + 1024 : 1024 + 256);
    }
}

/* Memory for records under way is bounded, whatever their number. */
static void
test_assembly_limit(void **state)
{
    (void)state;
    restart(true, true);
    static struct rpc_stream many[600];
    static struct buffer chunk;
    chunk.length = 0;
    add32(&chunk, 0x80000000u | 100000);
    add_reply(&chunk, 3, 99000);
    for (unsigned i = 0; i < 600; i++) {
        rpc_stream_init(&many[i], &channel, 1, true);
        rpc_stream_data(&context, &many[i], chunk.data, (uint32_t)chunk.length,
                        (uint32_t)chunk.length, 0);
    }
    assert_true(context.assembly_bytes <=
                context.limits.max_assembly + 600 * 4096);
    for (unsigned i = 0; i < 600; i++) {
        rpc_stream_end(&context, &many[i]);
    }
    assert_int_equal(bench.row_count, 600);
    assert_int_equal(bench.rows[599].xid, 3);
    assert_int_equal(bench.rows[599].flags,
                     RPC_RECORD_CUT | RPC_RECORD_SKIPPED);
}

/* --- snapshot length ----------------------------------------------------- */

/* A 32 KiB reply in segments of 1448, each cut to `snap`: rows as without. */
static void
test_snapshot_length(void **state)
{
    static const uint32_t snaps[] = {60, 100, 190, 1448};
    for (size_t i = 0; i < sizeof snaps / sizeof snaps[0]; i++) {
        set_up(state);
        add_reply_record(&data, 1, 32768);
        for (size_t at = 0; at < data.length; at += 1448) {
            uint32_t length = (uint32_t)(data.length - at);
            length = length < 1448 ? length : 1448;
            uint32_t have = length < snaps[i] ? length : snaps[i];
            rpc_stream_data(&context, &stream[1], data.data + at, have, length,
                            (int64_t)at);
        }
        size_t next = data.length;
        add_reply_record(&data, 2, 60);
        feed(1, next, data.length, 100);
        assert_int_equal(bench.row_count, 2);
        assert_int_equal(bench.rows[0].xid, 1);
        assert_int_equal(bench.rows[0].length, 32768);
        assert_int_equal(bench.rows[0].first_ns, 0);
        assert_int_equal(bench.rows[0].last_ns, 32772 / 1448 * 1448);
        assert_int_equal(bench.rows[0].flags & RPC_RECORD_SNAPPED,
                         snaps[i] < 1448 ? RPC_RECORD_SNAPPED : 0);
        assert_int_equal(bench.rows[1].xid, 2);
        assert_int_equal(bench.gaps, 0);
        assert_int_equal(losses.resync_bytes, 0);
    }
}

/* The mark of the second record was not captured: it is lost, the third is
 * found where the next segment begins. */
static void
test_mark_behind_the_snapshot(void **state)
{
    (void)state;
    add_call_record(&data, 1, 100);
    add_call_record(&data, 2, 100);
    rpc_stream_data(&context, &stream[0], data.data, 90, 208, 0);
    size_t at = data.length;
    add_call_record(&data, 3, 100);
    feed(0, at, data.length, 200);
    assert_string_equal(bench_text(&bench), "c1! c3");
    assert_int_equal(bench.gaps, 1);
    assert_int_equal(bench.gap_bytes, 104);
    assert_int_equal(losses.resync_bytes, 0);
}

/* --- gaps ---------------------------------------------------------------- */

/* Any one segment of a 64 KiB reply between small ones is lost. */
static void
test_each_segment_of_a_reply_lost(void **state)
{
    enum { SEGMENT = 1448, COUNT = (65536 + 4 + SEGMENT - 1) / SEGMENT };
    for (unsigned lost = 0; lost < COUNT; lost++) {
        set_up(state);
        add_reply_record(&data, 1, 60);
        feed(1, 0, data.length, 100);
        size_t start = data.length;
        add_reply_record(&data, 2, 65536);
        size_t end = data.length;
        for (unsigned i = 0; i < COUNT; i++) {
            size_t from = start + i * SEGMENT;
            size_t to = from + SEGMENT < end ? from + SEGMENT : end;
            if (i == lost) {
                rpc_stream_gap(&context, &stream[1], to - from, 7);
            } else {
                feed(1, from, to, SEGMENT);
            }
        }
        add_reply_record(&data, 3, 60);
        feed(1, end, data.length, 100);
        if (lost == 0) { /* with its mark: the whole reply cannot be seen */
            assert_string_equal(bench_text(&bench), "r1 r3");
            assert_int_equal(losses.resync_bytes, 65540 - SEGMENT);
        } else {
            assert_string_equal(bench_text(&bench), "r1 r2! r3");
            assert_int_equal(bench.rows[1].length, 65536);
            assert_true(bench.rows[1].flags & RPC_RECORD_GAP);
            assert_int_equal(losses.resync_bytes, 0);
        }
    }
}

/* After a gap, in any cuts: calls by content; replies that somebody awaits,
 * or that begin where a segment begins. */
static void
test_search(void **state)
{
    for (size_t size = 1; size <= 300; size += size < 40 ? 1 : 26) {
        set_up(state);
        add_call_record(&data, 1, 60);
        size_t known = data.length;
        for (unsigned i = 0; i < 333; i++) {
            add8(&data, i % 5 == 0 ? 0x80 : 0);
        }
        size_t start = data.length;
        add_call_record(&data, 2, 100);
        add_call_record(&data, 3, 100);
        feed(0, 0, known, 100);
        rpc_stream_gap(&context, &stream[0], 1000, 5);
        feed(0, known, data.length, size);
        assert_string_equal(bench_text(&bench), "c1 c2 c3");
        assert_int_equal(losses.resync_bytes, start - known);

        set_up(state);
        add_reply_record(&data, 1, 60);
        known = data.length;
        for (unsigned i = 0; i < 333; i++) {
            add8(&data, 0x77);
        }
        add_reply_record(&data, 77, 100);
        add_reply_record(&data, 78, 100);
        feed(1, 0, known, 100);
        rpc_stream_gap(&context, &stream[1], 1000, 5);
        bench.outstanding = 77;
        feed(1, known, data.length, size);
        assert_string_equal(bench_text(&bench), "r1 r77 r78");
    }
}

/* Zeros and ones that look like replies in a block of data do not fool it. */
static void
test_search_in_hostile_data(void **state)
{
    (void)state;
    add_reply_record(&data, 1, 60);
    feed(1, 0, data.length, 100);
    rpc_stream_gap(&context, &stream[1], 10, 5);
    size_t from = data.length;
    add32(&data, 0x55555555);
    for (unsigned i = 0; i < 50; i++) {
        const uint32_t words[] = {0x80000040, 99 + i, 1, 0, 0, 0, 0};
        for (unsigned k = 0; k < 7; k++) {
            add32(&data, words[k]);
        }
    }
    add32(&data, 0x55555555);
    feed(1, from, data.length, data.length);
    from = data.length;
    add_reply_record(&data, 2, 60);
    feed(1, from, data.length, 100);
    assert_int_equal(bench.rows[bench.row_count - 1].xid, 2);
}

/* --- not for us ---------------------------------------------------------- */

/* RPC over TLS: what is behind the handshake is counted, not parsed. */
static void
test_tls(void **state)
{
    static const uint8_t hello[] = {0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3};
    static const uint8_t bytes[] = {0x17, 3, 3, 1, 0, 1, 2, 3, 4, 5};
    for (size_t size = 1; size < 20; size += 9) {
        set_up(state);
        add_call_record(&data, 1, 60);
        size_t plain = data.length;
        add(&data, hello, sizeof hello);
        add(&data, bytes, sizeof bytes);
        feed(0, 0, plain, 100);
        channel.tls_agreed = true;
        feed(0, plain, data.length, size);
        feed(1, plain, data.length, size);
        assert_string_equal(bench_text(&bench), "c1");
        assert_int_equal(losses.tls_streams, 1);
        assert_int_equal(losses.tls_bytes, 2 * (sizeof hello + sizeof bytes));
        assert_int_equal(losses.malformed_records, 0);
    }
}

/* TLS from its first byte, or found in the middle of a connection. */
static void
test_tls_without_its_start(void **state)
{
    (void)state;
    static const uint8_t record[] = {0x17, 3, 3, 0, 20, 9, 9, 9, 9, 9, 9, 9, 9,
                                     9,    9, 9, 9, 9,  9, 9, 9, 9, 9, 9, 9};
    restart(false, false);
    add(&data, record, sizeof record);
    for (unsigned i = 0; i < 10; i++) {
        feed(0, 0, data.length, data.length);
    }
    assert_int_equal(losses.tls_streams, 1);
    assert_int_equal(bench.row_count, 0);
}

/* Every prefix of a stream, laid out so that one byte too far is seen. */
static void
test_every_prefix(void **state)
{
    static const int cuts[] = {12, 30, -1};
    (void)state;
    add_fragments(cuts, 1, 80);
    add_call_record(&data, 2, 60);
    struct buffer *whole = &data;
    for (size_t length = 0; length <= whole->length; length++) {
        restart(true, false);
        uint8_t *copy = test_malloc(length + 1);
        memcpy(copy, whole->data, length);
        rpc_stream_data(&context, &stream[0], copy, (uint32_t)length,
                        (uint32_t)whole->length, 0);
        test_free(copy);
        rpc_stream_end(&context, &stream[0]);
        assert_true(bench.row_count <= 2);
        if (length == whole->length) {
            assert_int_equal(bench.row_count, 2);
        }
    }
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_fragments),
        T(test_several_records_in_a_segment),
        T(test_rest_is_kept),
        T(test_records_too_short),
        T(test_strange_record),
        T(test_impossible_mark),
        T(test_large_record),
        T(test_assembly_limit),
        T(test_snapshot_length),
        T(test_mark_behind_the_snapshot),
        T(test_each_segment_of_a_reply_lost),
        T(test_search),
        T(test_search_in_hostile_data),
        T(test_tls),
        T(test_tls_without_its_start),
        T(test_every_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
