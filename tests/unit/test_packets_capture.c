/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The floor's front door: capture_read() on files, with both halves behind
 * it.
 */
#include "packet_support.h"

#include "capture/capture.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char directory[] = "/tmp/test_capture_XXXXXX";
static char paths[3][64];

static int
make_directory(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    for (int i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d", directory, i);
    }
    return 0;
}

static int
remove_directory(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        unlink(paths[i]);
    }
    return rmdir(directory);
}

static void
put_le32(FILE *out, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        fputc((int)(value >> 8 * i & 0xff), out);
    }
}

static FILE *
begin(const char *path, uint32_t link)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    const uint32_t words[] = {0xa1b23c4d, 0x00040002, 0, 0, 262144, link};
    for (unsigned i = 0; i < 6; i++) {
        put_le32(out, words[i]);
    }
    return out;
}

static void
put_frame(FILE *out, uint32_t ns, const struct buffer *frame)
{
    put_le32(out, 1700000000);
    put_le32(out, ns);
    put_le32(out, (uint32_t)frame->length);
    put_le32(out, (uint32_t)frame->length);
    assert_int_equal(fwrite(frame->data, 1, frame->length, out),
                     frame->length);
}

static void
put_packet(FILE *out, uint32_t ns, const struct tcp_packet *packet)
{
    static struct buffer frame;
    frame.length = 0;
    add_tcp(&frame, packet);
    put_frame(out, ns, &frame);
}

/* Calls and replies xid [from, to), one connection. */
static void
put_calls(FILE *out, uint32_t from, uint32_t to)
{
    static struct buffer record;
    for (uint32_t xid = from; xid < to; xid++) {
        for (int side = CLIENT; side <= SERVER; side++) {
            record.length = 0;
            if (side == CLIENT) {
                add_call_record(&record, xid, 108);
            } else {
                add_reply_record(&record, xid, 108);
            }
            put_packet(out, xid * 1000 + 500 * (uint32_t)side,
                       &(struct tcp_packet){.from = side,
                                            .seq = 1 + xid * 112,
                                            .data = record.data,
                                            .length = record.length});
        }
    }
}

/* The same into a file of their own. */
static void
write_calls(const char *path, uint32_t from, uint32_t to)
{
    FILE *out = begin(path, 228);
    put_calls(out, from, to);
    assert_int_equal(fclose(out), 0);
}

struct tally {
    uint64_t replied, other;
    uint64_t digest; /* of serials, xids and times in order */
};

static void
on_transaction(void *context, const struct rpc_transaction *tx)
{
    struct tally *tally = context;
    tally->replied += tx->outcome == RPC_REPLIED;
    tally->other += tx->outcome != RPC_REPLIED;
    const uint64_t parts[] = {tx->serial, tx->xid, (uint64_t)tx->call_first_ns,
                              (uint64_t)tx->reply_last_ns};
    for (unsigned i = 0; i < 4; i++) {
        tally->digest = (tally->digest ^ parts[i]) * 1099511628211u;
    }
}

static struct capture_result result;
static char error[512];

static enum capture_status
read_files(size_t count, unsigned threads, const char *filter,
           struct tally *tally)
{
    const char *names[3] = {paths[0], paths[1], paths[2]};
    struct capture_options options;
    capture_options_default(&options);
    options.threads = threads;
    options.filter = filter;
    memset(tally, 0, sizeof *tally);
    struct rpc_transaction_sink sink = {tally, on_transaction, NULL};
    return capture_read(names, count, &options, &sink, &result, error,
                        sizeof error);
}

/* More packets than fit in what is read ahead, in a file larger than the
 * window on it. */
static void
test_threads_do_not_matter(void **state)
{
    (void)state;
    struct tally one, many;
    write_calls(paths[0], 0, 60000);
    assert_int_equal(read_files(1, 1, NULL, &one), CAPTURE_OK);
    capture_result_free(&result);
    for (unsigned threads = 0; threads <= 4; threads += 2) {
        assert_int_equal(read_files(1, threads, NULL, &many), CAPTURE_OK);
        assert_int_equal(result.inputs[0].packets, 120000);
        assert_int_equal(result.packets.packets, 120000);
        assert_int_equal(result.packets.gaps, 0);
        assert_true(result.inputs[0].complete);
        assert_int_equal(many.replied, 60000);
        assert_int_equal(many.other, 0);
        assert_true(many.digest == one.digest);
        capture_result_free(&result);
    }
}

/* An RPC message of `count` words in a datagram, to or from the port mapper. */
static void
put_message(FILE *out, uint32_t ns, int from, unsigned client_port,
            const uint32_t *words, size_t count)
{
    static struct buffer message, frame;
    message.length = 0;
    for (size_t i = 0; i < count; i++) {
        add32(&message, words[i]);
    }
    frame.length = 0;
    add_ipv4(&frame, from, 17, message.length + 8, ns % 65535 + 1, 0);
    add_udp(&frame, from, client_port, 111, message.data, message.length);
    put_frame(out, ns, &frame);
}

/* RFC 1833 section 3.1: where is NFS version 3 on TCP? */
static void
put_getport(FILE *out, uint32_t ns, unsigned client_port, uint32_t xid)
{
    const uint32_t call[] = {xid, 0, 2, 100000, 2, 3, 0, 0, 0, 0,
                             100003, 3, 6, 0};
    put_message(out, ns, CLIENT, client_port, call,
                sizeof call / sizeof call[0]);
}

static void
put_port(FILE *out, uint32_t ns, unsigned client_port, uint32_t xid,
         uint32_t port)
{
    const uint32_t reply[] = {xid, 1, 0, 0, 0, 0, port};
    put_message(out, ns, SERVER, client_port, reply,
                sizeof reply / sizeof reply[0]);
}

/* A reply to a call that nobody saw. */
static void
put_orphan(FILE *out, uint32_t ns, uint32_t xid, uint32_t port)
{
    static struct buffer record;
    record.length = 0;
    add_reply_record(&record, xid, 108);
    put_packet(out, ns,
               &(struct tcp_packet){.from = SERVER,
                                    .server_port = (uint16_t)port,
                                    .client_port = 50000,
                                    .seq = 1,
                                    .data = record.data,
                                    .length = record.length});
}

/* The orphan's connection is reset and its ports used again. */
static void
put_reuse(FILE *out, uint32_t ns, uint32_t port)
{
    struct tcp_packet packet = {.from = SERVER,
                                .server_port = (uint16_t)port,
                                .client_port = 50000,
                                .flags = 4, /* RST */
                                .seq = 113};
    put_packet(out, ns, &packet);
    packet.from = CLIENT;
    packet.flags = 2; /* SYN */
    packet.seq = 5000;
    put_packet(out, ns, &packet);
}

/*
 * A port that a reply names counts from the very next packet on: a reply
 * there, whose call nobody saw, is one. Each time behind many records that
 * may still wait for the other thread; `far`: also the call, behind a call
 * that had been waited for.
 */
static void
learned_in_time(bool far)
{
    const uint32_t ports = 100, calls = 300;
    FILE *out = begin(paths[0], 228);
    for (uint32_t i = 0; i < ports; i++) {
        uint32_t ns = i * 1000, xid = 1000000 + i, port = 20100 + i;
        if (far) {
            put_getport(out, ns, 700, 3000000 + i);
            put_getport(out, ns, 1000 + i, xid);
        }
        put_calls(out, i * calls, (i + 1) * calls);
        if (i > 0) {
            put_reuse(out, ns, port - 1);
        }
        if (!far) {
            put_getport(out, ns, 1000 + i, xid);
        }
        put_port(out, ns + 1, 1000 + i, xid, port);
        put_orphan(out, ns + 2, 2000000 + i, port);
    }
    assert_int_equal(fclose(out), 0);
    for (unsigned threads = 0; threads < 2; threads++) {
        struct tally tally;
        assert_int_equal(read_files(1, threads, NULL, &tally), CAPTURE_OK);
        assert_int_equal(tally.replied, ports * (calls + 1));
        assert_int_equal(result.rpc.orphan_replies, ports);
        assert_int_equal(result.rpc.unanswered_calls, far ? ports : 0);
        capture_result_free(&result);
    }
}

static void
test_learned_in_time(void **state)
{
    (void)state;
    learned_in_time(false);
    learned_in_time(true);
}

/* A rotated capture, cut between a call and its reply's file. */
static void
test_several_files(void **state)
{
    (void)state;
    struct tally tally;
    write_calls(paths[0], 0, 100);
    write_calls(paths[1], 100, 250);
    write_calls(paths[2], 250, 300);
    assert_int_equal(read_files(3, 0, NULL, &tally), CAPTURE_OK);
    assert_int_equal(tally.replied, 300);
    assert_int_equal(result.input_count, 3);
    assert_int_equal(result.inputs[1].packets, 300);
    assert_int_equal(result.packets.resync_bytes, 0);
    assert_true(result.first_ns == INT64_C(1700000000000000000));
    assert_true(result.last_ns == INT64_C(1700000000000299500));
    capture_result_free(&result);
}

static void
test_cut_and_missing(void **state)
{
    (void)state;
    struct tally tally;
    write_calls(paths[0], 0, 100);
    write_calls(paths[1], 100, 200);
    unlink(paths[2]);
    /* In the middle of the last reply. */
    assert_int_equal(truncate(paths[1], 24 + 200 * (16 + 152) - 20), 0);
    for (unsigned threads = 0; threads < 2; threads++) {
        assert_int_equal(read_files(3, threads, NULL, &tally),
                         CAPTURE_INCOMPLETE);
        assert_int_equal(tally.replied, 199);
        assert_int_equal(tally.other, 1);
        assert_true(result.inputs[0].complete);
        assert_null(result.inputs[0].warning);
        assert_false(result.inputs[1].complete);
        assert_non_null(strstr(result.inputs[1].warning, "offset 33456;"));
        assert_non_null(strstr(result.inputs[1].warning, paths[1]));
        assert_non_null(strstr(result.inputs[2].warning, "cannot open"));
        capture_result_free(&result);
    }
}

static void
test_nothing_to_read(void **state)
{
    (void)state;
    struct tally tally;
    unlink(paths[0]);
    assert_int_equal(read_files(1, 0, NULL, &tally), CAPTURE_FAILED);
    assert_non_null(strstr(error, paths[0]));
    capture_result_free(&result);
    fclose(begin(paths[0], 147));
    assert_int_equal(read_files(1, 0, NULL, &tally), CAPTURE_FAILED);
    assert_non_null(strstr(error, "link type 147"));
    capture_result_free(&result);
    write_calls(paths[0], 0, 1);
    assert_int_equal(read_files(1, 0, "prot 1", &tally), CAPTURE_FAILED);
    assert_non_null(strstr(error, "prot 1"));
    capture_result_free(&result);
    fclose(begin(paths[0], 1));
    assert_int_equal(read_files(1, 0, NULL, &tally), CAPTURE_OK);
    assert_int_equal(result.packets.packets, 0);
    capture_result_free(&result);
}

static void
test_filter(void **state)
{
    (void)state;
    struct tally tally;
    write_calls(paths[0], 0, 1000);
    for (unsigned threads = 0; threads < 2; threads++) {
        assert_int_equal(read_files(1, threads, "src host 10.0.0.1", &tally),
                         CAPTURE_OK);
        assert_int_equal(tally.replied, 0);
        assert_int_equal(tally.other, 1000);
        assert_int_equal(result.packets.packets, 2000);
        assert_int_equal(result.packets.filtered_packets, 1000);
        capture_result_free(&result);
    }
}

/* Traffic that is no RPC: what is needed to say so. */
static void
test_nothing_found(void **state)
{
    (void)state;
    struct tally tally;
    FILE *out = begin(paths[0], 228);
    static const char text[] = "HTTP/1.1 200 OK, and more to come";
    for (uint32_t i = 0; i < 10; i++) {
        put_packet(out, i,
                   &(struct tcp_packet){.from = SERVER,
                                        .server_port = 8080,
                                        .client_port = 50000,
                                        .seq = i * (uint32_t)sizeof text,
                                        .data = (const uint8_t *)text,
                                        .length = sizeof text});
    }
    fclose(out);
    assert_int_equal(read_files(1, 0, NULL, &tally), CAPTURE_OK);
    assert_int_equal(tally.replied + tally.other, 0);
    assert_int_equal(result.busiest_port, 8080);
    assert_int_equal(result.tcp_payload_packets, 10);
    assert_int_equal(result.packets.payload_bytes_on_port, 0);
    capture_result_free(&result);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_learned_in_time),
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_cut_and_missing),
        cmocka_unit_test(test_nothing_to_read),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_nothing_found),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
