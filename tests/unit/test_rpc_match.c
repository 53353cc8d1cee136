/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which reply answers which call, and what is said of those that have none.
 */
#include "tests/unit/rpc_support.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define CLIENT 0
#define SERVER 1

/* RFC 1813 section 3.3.1: GETATTR of a file. */
static void
getattr(struct message *m, uint32_t xid, uint8_t file)
{
    put_call(m, xid, 100003, 3, 1);
    put_handle(m, 16, file);
}

static void
getattr_reply(struct message *m, uint32_t xid)
{
    put_reply(m, xid);
    put32(m, 0);
    put_fattr3(m, 1, 2, 3);
}

static const struct rpc_losses *
losses(struct bench *b)
{
    return rpc_match_losses(b->match);
}

static void
call_and_reply(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    getattr(&m, 5, 1);
    feed(&b, &b.connection, CLIENT, &m, 100);
    assert_int_equal(b.count, 0);
    assert_true(rpc_match_outstanding(b.match, &b.connection, SERVER, 5));
    assert_false(rpc_match_outstanding(b.match, &b.connection, CLIENT, 5));
    assert_false(rpc_match_outstanding(b.match, &b.connection, SERVER, 6));
    getattr_reply(&m, 5);
    feed(&b, &b.connection, SERVER, &m, 350);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.kept[0].tx.outcome, RPC_REPLIED);
    assert_int_equal(b.kept[0].tx.client, CLIENT);
    assert_true(b.kept[0].tx.call_first_ns == 100);
    assert_true(b.kept[0].tx.call_last_ns == 101);
    assert_true(b.kept[0].tx.reply_first_ns == 350);
    assert_true(b.kept[0].tx.reply_last_ns == 351);
    assert_int_equal(b.kept[0].tx.reply_bytes, m.length);
    assert_true(b.kept[0].tx.status_known);
    assert_int_equal(b.kept[0].tx.credential.uid, 1000);
    assert_string_equal(b.kept[0].machine, "client");
    assert_false(rpc_match_outstanding(b.match, &b.connection, SERVER, 5));
    assert_int_equal(losses(&b)->trailing_bytes, 0);
    bench_close(&b);
}

/* Call at 0, again at 60 s, reply at 60.1 s, the reply once more, the call
 * once more, its reply: one transaction, timed from the first. */
static void
retransmission_keeps_the_first_time(void **state)
{
    struct message call, reply;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    getattr(&call, 9, 1);
    getattr_reply(&reply, 9);
    feed(&b, &b.connection, CLIENT, &call, 0);
    feed(&b, &b.connection, CLIENT, &call, 60 * SECOND);
    feed(&b, &b.connection, SERVER, &reply, 60 * SECOND + SECOND / 10);
    feed(&b, &b.connection, SERVER, &reply, 61 * SECOND);
    feed(&b, &b.connection, CLIENT, &call, 62 * SECOND);
    feed(&b, &b.connection, SERVER, &reply, 63 * SECOND);
    rpc_match_finish(b.match, 64 * SECOND);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.kept[0].tx.retransmissions, 1);
    assert_true(b.kept[0].tx.call_first_ns == 0);
    assert_true(b.kept[0].tx.resent_ns == 60 * SECOND);
    assert_true(b.kept[0].tx.reply_first_ns == 60 * SECOND + SECOND / 10);
    assert_int_equal(b.late_count, 3);
    assert_int_equal(b.late[0].kind, RPC_LATE_DUPLICATE_REPLY);
    assert_int_equal(b.late[1].kind, RPC_LATE_RETRANSMISSION);
    assert_int_equal(b.late[2].kind, RPC_LATE_DUPLICATE_REPLY);
    assert_true(b.late[1].serial == b.kept[0].tx.serial);
    assert_int_equal(b.late[1].procedure, 1);
    assert_int_equal(losses(&b)->calls, 3);
    assert_int_equal(losses(&b)->replies, 3);
    assert_int_equal(losses(&b)->retransmissions, 2);
    assert_int_equal(losses(&b)->duplicate_replies, 2);
    assert_int_equal(losses(&b)->orphan_replies, 0);
    bench_close(&b);
}

/* AUTH_SYS stamps may differ between two transmissions. */
static void
retransmission_with_another_stamp(void **state)
{
    struct message call;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    getattr(&call, 9, 1);
    feed(&b, &b.connection, CLIENT, &call, 0);
    call.bytes[35] ^= 0x55;
    feed(&b, &b.connection, CLIENT, &call, 1);
    assert_int_equal(losses(&b)->retransmissions, 1);
    assert_int_equal(losses(&b)->unanswered_calls, 0);
    bench_close(&b);
}

/* Both transmissions cut to different lengths by the capture. */
static void
retransmission_captured_shorter(void **state)
{
    struct message call;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    getattr(&call, 9, 1);
    feed(&b, &b.connection, CLIENT, &call, 0);
    feed_short(&b, &b.connection, CLIENT, &call, call.length - 6, 1);
    assert_int_equal(losses(&b)->retransmissions, 1);
    bench_close(&b);
}

/* The same xid with other arguments, or another procedure: a new call. */
static void
xid_used_again(void **state)
{
    struct message call, reply;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    getattr(&call, 0xffffffff, 1);
    feed(&b, &b.connection, CLIENT, &call, 0);
    getattr(&call, 0xffffffff, 2); /* while the first is outstanding */
    feed(&b, &b.connection, CLIENT, &call, 10);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.kept[0].tx.outcome, RPC_UNANSWERED);
    getattr_reply(&reply, 0xffffffff);
    feed(&b, &b.connection, SERVER, &reply, 20);
    assert_int_equal(b.count, 2);
    assert_true(b.kept[1].tx.call_first_ns == 10);
    /* Ten minutes on, the same xid and another procedure. */
    put_call(&call, 0xffffffff, 100003, 3, 0);
    feed(&b, &b.connection, CLIENT, &call, 600 * SECOND);
    put_reply(&reply, 0xffffffff);
    feed(&b, &b.connection, SERVER, &reply, 600 * SECOND + 5);
    assert_int_equal(b.count, 3);
    assert_int_equal(b.kept[2].tx.procedure, 0);
    assert_int_equal(losses(&b)->retransmissions, 0);
    /* xid 0 follows 0xffffffff, and is an xid like others. */
    getattr(&call, 0, 1);
    feed(&b, &b.connection, CLIENT, &call, 601 * SECOND);
    getattr_reply(&reply, 0);
    feed(&b, &b.connection, SERVER, &reply, 601 * SECOND + 5);
    assert_int_equal(b.count, 4);
    assert_int_equal(losses(&b)->orphan_replies, 0);
    bench_close(&b);
}

/* A counter as a client of the other byte order sends it. */
static uint32_t
swapped(uint32_t i)
{
    return i << 24 | (i & 0xff00) << 8 | (i >> 8 & 0xff00) | i >> 24;
}

/* xids counted up in the other byte order, thousands of them outstanding. */
static void
xids_in_any_order(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    for (uint32_t i = 0; i < 3000; i++) {
        getattr(&m, swapped(i), (uint8_t)i);
        feed(&b, &b.connection, CLIENT, &m, i);
    }
    for (uint32_t i = 3000; i-- > 0;) {
        getattr_reply(&m, swapped(i));
        feed(&b, &b.connection, SERVER, &m, 10000);
    }
    /* All of them repeated: within the table of completed calls. */
    for (uint32_t i = 3000; i-- > 0;) {
        getattr_reply(&m, swapped(i));
        feed(&b, &b.connection, SERVER, &m, 20000);
    }
    rpc_match_finish(b.match, 30000);
    assert_int_equal(losses(&b)->unanswered_calls, 0);
    assert_int_equal(losses(&b)->orphan_replies, 0);
    assert_int_equal(losses(&b)->duplicate_replies, 3000);
    bench_close(&b);
}

/* Two clients, and two connections of one client, with the same xid. */
static void
xid_is_of_its_connection(void **state)
{
    struct rpc_connection other, third;
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    connection_set(&other, 2, 701, 2049);
    other.ends[0].address[3] = 2; /* 10.0.0.2 */
    connection_set(&third, 3, 702, 2049);
    getattr(&m, 1, 1);
    feed(&b, &b.connection, CLIENT, &m, 1);
    feed(&b, &other, CLIENT, &m, 2);
    getattr(&m, 1, 9);
    feed(&b, &third, CLIENT, &m, 3);
    getattr_reply(&m, 1);
    feed(&b, &third, SERVER, &m, 13);
    feed(&b, &other, SERVER, &m, 12);
    feed(&b, &b.connection, SERVER, &m, 11);
    assert_int_equal(b.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(b.kept[i].tx.reply_first_ns - b.kept[i].tx.call_first_ns ==
                    10);
    }
    assert_int_equal(losses(&b)->retransmissions, 0);
    bench_close(&b);
}

/* The client comes back from another port and sends its call again. */
static void
retransmission_over_a_new_connection(void **state)
{
    for (unsigned ended = 0; ended < 2; ended++) {
        struct rpc_connection again;
        struct message call, reply;
        struct bench b;

        (void)state;
        bench_open(&b, RPC_DEPTH_FULL, 0, 0);
        connection_set(&again, 2, 701, 2049);
        getattr(&call, 5, 1);
        getattr_reply(&reply, 5);
        feed(&b, &b.connection, CLIENT, &call, 100);
        if (ended) {
            rpc_match_connection_end(b.match, &b.connection, 150);
            memset(&b.connection, 0xee, sizeof(b.connection)); /* gone */
        }
        feed(&b, &again, CLIENT, &call, 200);
        assert_true(rpc_match_outstanding(b.match, &again, SERVER, 5));
        feed(&b, &again, SERVER, &reply, 250);
        assert_int_equal(b.count, 1);
        assert_int_equal(b.kept[0].tx.retransmissions, 1);
        assert_true(b.kept[0].tx.call_first_ns == 100);
        assert_int_equal(b.kept[0].connection.serial, 2);
        assert_int_equal(losses(&b)->calls, 2);
        /* Its reply came, but not to the client: once more. */
        rpc_match_connection_end(b.match, &again, 300);
        connection_set(&again, 3, 702, 2049);
        feed(&b, &again, CLIENT, &call, 400);
        assert_int_equal(b.late_count, 1);
        rpc_match_finish(b.match, 500);
        assert_int_equal(b.count, 1);
        bench_close(&b);
    }
}

/* The connection ends and nobody comes back: unanswered, with the ends of
 * the connection still known. */
static void
unanswered_after_the_connection(void **state)
{
    struct message call;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 10 * SECOND);
    getattr(&call, 5, 1);
    feed(&b, &b.connection, CLIENT, &call, 0);
    rpc_match_connection_end(b.match, &b.connection, 1);
    memset(&b.connection, 0xee, sizeof(b.connection));
    rpc_match_finish(b.match, SECOND);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.kept[0].tx.outcome, RPC_UNANSWERED);
    assert_int_equal(b.kept[0].connection.ends[0].port, 700);
    assert_int_equal(losses(&b)->unanswered_calls, 1);
    bench_close(&b);
}

/* The timeout counts from the last transmission. */
static void
unanswered_after_the_timeout(void **state)
{
    struct message call, other;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 10 * SECOND);
    getattr(&call, 5, 1);
    getattr(&other, 6, 1);
    feed(&b, &b.connection, CLIENT, &call, 0);
    feed(&b, &b.connection, CLIENT, &call, 8 * SECOND);
    feed(&b, &b.connection, CLIENT, &other, 18 * SECOND);
    assert_int_equal(b.count, 0); /* at the limit */
    feed(&b, &b.connection, CLIENT, &other, 18 * SECOND + 1);
    assert_int_equal(b.count, 1); /* one past it */
    assert_int_equal(b.kept[0].tx.xid, 5);
    assert_int_equal(b.kept[0].tx.outcome, RPC_UNANSWERED);
    bench_close(&b);
}

/* The capture starts between call and reply, and ends so. */
static void
orphans_and_unanswered_are_apart(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    getattr_reply(&m, 1);
    feed(&b, &b.connection, SERVER, &m, 10);
    getattr(&m, 2, 1);
    feed(&b, &b.connection, CLIENT, &m, 20);
    rpc_match_finish(b.match, 30);
    assert_int_equal(b.count, 2);
    assert_int_equal(losses(&b)->orphan_replies, 1);
    assert_int_equal(losses(&b)->unanswered_calls, 1);
    for (unsigned i = 0; i < 2; i++) {
        const struct rpc_transaction *tx = &b.kept[i].tx;

        if (tx->outcome == RPC_ORPHAN_REPLY) {
            assert_int_equal(tx->program, 0);
            assert_int_equal(tx->xid, 1);
            assert_true(tx->reply_first_ns == 10);
            assert_int_equal(tx->client, CLIENT);
        } else {
            assert_int_equal(tx->outcome, RPC_UNANSWERED);
        }
        assert_int_equal(tx->flags & RPC_TX_NEAR_GAP, 0);
    }
    bench_close(&b);
}

/* A reply in front of its call, by place or by stamp, still answers it. */
static void
reply_before_its_call(void **state)
{
    struct message call, reply;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    getattr(&call, 5, 1);
    getattr_reply(&reply, 5);
    feed(&b, &b.connection, SERVER, &reply, 1000);
    assert_int_equal(b.count, 0);
    feed(&b, &b.connection, CLIENT, &call, 6000); /* stamped later too */
    assert_int_equal(b.count, 1);
    assert_int_equal(b.kept[0].tx.outcome, RPC_REPLIED);
    assert_true(b.kept[0].tx.flags & RPC_TX_REPLY_FIRST);
    assert_true(b.kept[0].tx.reply_first_ns - b.kept[0].tx.call_first_ns ==
                -5000);
    assert_int_equal(b.kept[0].operations[0].detail->after.fileid, 2);
    assert_int_equal(losses(&b)->negative_latencies, 1);

    getattr(&call, 6, 1);
    getattr_reply(&reply, 6);
    feed(&b, &b.connection, SERVER, &reply, 9000); /* out of place only */
    feed(&b, &b.connection, CLIENT, &call, 8000);
    assert_int_equal(b.count, 2);
    assert_int_equal(b.kept[1].tx.flags & RPC_TX_REPLY_FIRST, 0);

    getattr(&call, 7, 1);
    getattr_reply(&reply, 7);
    feed(&b, &b.connection, CLIENT, &call, 20000); /* by stamp only */
    feed(&b, &b.connection, SERVER, &reply, 15000);
    assert_int_equal(b.count, 3);
    assert_true(b.kept[2].tx.flags & RPC_TX_REPLY_FIRST);
    assert_int_equal(losses(&b)->negative_latencies, 2);
    rpc_match_finish(b.match, 30000);
    assert_int_equal(losses(&b)->orphan_replies, 0);
    bench_close(&b);
}

/* Held replies are bounded in number and time; none is lost from the count. */
static void
held_replies_are_bounded(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        getattr_reply(&m, i);
        feed(&b, &b.connection, SERVER, &m, i);
    }
    assert_int_equal(losses(&b)->orphan_replies, 1000 - 128);
    getattr(&m, 5000, 1);
    feed(&b, &b.connection, CLIENT, &m, 3 * SECOND);
    assert_int_equal(losses(&b)->orphan_replies, 1000);
    bench_close(&b);
}

/* The server's calls share the connection and the numbers. */
static void
backchannel_is_apart(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    getattr(&m, 7, 1);
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_call(&m, 7, 0x40000000, 1, 0);
    feed(&b, &b.connection, SERVER, &m, 2);
    put_reply(&m, 7); /* from the client: the callback's */
    feed(&b, &b.connection, CLIENT, &m, 3);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.kept[0].tx.program, 0x40000000);
    assert_int_equal(b.kept[0].tx.client, SERVER);
    assert_true(b.kept[0].tx.flags & RPC_TX_CALLBACK);
    assert_true(rpc_match_outstanding(b.match, &b.connection, SERVER, 7));
    getattr_reply(&m, 7);
    feed(&b, &b.connection, SERVER, &m, 4);
    assert_int_equal(b.count, 2);
    assert_int_equal(b.kept[1].tx.program, 100003);
    assert_int_equal(b.kept[1].tx.flags & RPC_TX_CALLBACK, 0);
    /* A program nobody knows, from the server's side. */
    put_call(&m, 8, 0x23456789, 1, 1);
    feed(&b, &b.connection, SERVER, &m, 5);
    rpc_match_finish(b.match, 6);
    assert_true(b.kept[2].tx.flags & RPC_TX_CALLBACK);
    assert_int_equal(losses(&b)->unknown_program_calls, 1);
    bench_close(&b);
}

/* A crowd of both, answered in the order in which they were sent. */
static void
crowds_in_both_directions(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    for (uint32_t i = 0; i < 2500; i++) {
        getattr(&m, i, 1);
        feed(&b, &b.connection, CLIENT, &m, i);
        put_call(&m, i, 0x40000000, 1, 0);
        feed(&b, &b.connection, SERVER, &m, i);
    }
    for (uint32_t i = 0; i < 2500; i++) {
        b.count = 0;
        put_reply(&m, i);
        feed(&b, &b.connection, CLIENT, &m, 5000 + i);
        getattr_reply(&m, i);
        feed(&b, &b.connection, SERVER, &m, 5000 + i);
        assert_int_equal(b.count, 2);
        assert_int_equal(b.kept[0].tx.client, SERVER);
        assert_int_equal(b.kept[0].tx.program, 0x40000000);
        assert_int_equal(b.kept[1].tx.client, CLIENT);
        assert_int_equal(b.kept[1].tx.program, 100003);
        assert_true(b.kept[1].tx.call_first_ns == i);
    }
    rpc_match_finish(b.match, 10000);
    assert_int_equal(losses(&b)->unanswered_calls, 0);
    bench_close(&b);
}

/* The client's port is 2049 and the server's is not: content decides. */
static void
ports_are_hints(void **state)
{
    static const uint16_t ports[] = {674, 993, 111, 2049};
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    for (unsigned i = 0; i < 4; i++) {
        struct rpc_connection c;

        connection_set(&c, 10 + i, ports[i], 12049);
        getattr(&m, i, 1);
        feed(&b, &c, CLIENT, &m, 1);
        getattr_reply(&m, i);
        feed(&b, &c, SERVER, &m, 2);
        assert_int_equal(b.kept[i].tx.client, CLIENT);
        assert_int_equal(b.kept[i].tx.flags, 0);
        rpc_match_connection_end(b.match, &c, 3);
    }
    assert_int_equal(b.count, 4);
    bench_close(&b);
}

static void
outstanding_calls_are_bounded(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 4, 0);
    for (uint32_t i = 0; i < 4; i++) {
        getattr(&m, i, 1);
        feed(&b, &b.connection, CLIENT, &m, i);
    }
    assert_int_equal(losses(&b)->pending_overflows, 0);
    getattr(&m, 4, 1);
    feed(&b, &b.connection, CLIENT, &m, 4);
    assert_int_equal(losses(&b)->pending_overflows, 1);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.kept[0].tx.xid, 0); /* the oldest goes */
    bench_close(&b);
}

static void
gaps_are_said(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    getattr(&m, 1, 1);
    feed(&b, &b.connection, CLIENT, &m, 1);
    rpc_match_gap(b.match, &b.connection, SERVER, 5000, 2);
    rpc_match_gap(b.match, &b.connection, CLIENT, 5000, 3);
    getattr(&m, 2, 1); /* after the gap */
    feed(&b, &b.connection, CLIENT, &m, 4);
    getattr_reply(&m, 3); /* its call was in the gap */
    feed(&b, &b.connection, SERVER, &m, 5);
    rpc_match_finish(b.match, 6);
    assert_int_equal(b.count, 3);
    assert_int_equal(b.kept[0].tx.xid, 1);
    assert_true(b.kept[0].tx.flags & RPC_TX_NEAR_GAP);
    assert_int_equal(b.kept[1].tx.xid, 2);
    assert_false(b.kept[1].tx.flags & RPC_TX_NEAR_GAP);
    assert_int_equal(b.kept[2].tx.xid, 3);
    assert_true(b.kept[2].tx.flags & RPC_TX_NEAR_GAP);
    bench_close(&b);
}

static void
denied_and_refused(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    getattr(&m, 1, 1);
    feed(&b, &b.connection, CLIENT, &m, 1);
    m.length = 0; /* RFC 5531 section 9: MSG_DENIED, AUTH_ERROR, BADCRED */
    put32(&m, 1);
    put32(&m, 1);
    put32(&m, 1);
    put32(&m, 1);
    put32(&m, 1);
    feed(&b, &b.connection, SERVER, &m, 2);
    assert_int_equal(b.kept[0].tx.reply_stat, 1);
    assert_int_equal(b.kept[0].tx.accept_stat, 1);
    assert_false(b.kept[0].tx.status_known);
    getattr(&m, 2, 1);
    feed(&b, &b.connection, CLIENT, &m, 3);
    m.length = 0; /* PROC_UNAVAIL */
    put32(&m, 2);
    put32(&m, 1);
    put32(&m, 0);
    put32(&m, 0);
    put32(&m, 0);
    put32(&m, 3);
    feed(&b, &b.connection, SERVER, &m, 4);
    assert_int_equal(b.kept[1].tx.accept_stat, 3);
    assert_false(b.kept[1].tx.status_known);
    assert_int_equal(losses(&b)->malformed_replies, 0);
    bench_close(&b);
}

/* --- RPCSEC_GSS, RFC 2203 --------------------------------------------------
 */

static void
gss_call(struct message *m, uint32_t xid, uint32_t version, uint32_t procedure,
         uint32_t gss_procedure, uint32_t service, uint32_t sequence)
{
    put_call_head(m, xid, 100003, version, procedure);
    put32(m, 6);
    put32(m, 24);
    put32(m, 1);
    put32(m, gss_procedure);
    put32(m, sequence);
    put32(m, service);
    put_opaque(m, "ctx0", 4);
    put32(m, 6); /* verifier: a checksum of the header */
    put_opaque(m, "checksumchecksum", 16);
}

/* Section 5.3.2.2: length and sequence in front, a checksum behind. */
static void
gss_wrap(struct message *m, const struct message *inside, uint32_t sequence)
{
    put32(m, inside->length + 4);
    put32(m, sequence);
    put_bytes(m, inside->bytes, inside->length);
    put_opaque(m, "checksumchecksum", 16);
}

static void
integrity_is_read_through(void **state)
{
    struct message m, inside;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    inside.length = 0;
    put_handle(&inside, 16, 7);
    put32(&inside, 0x2d);
    gss_call(&m, 1, 3, 4, 0, 2, 900); /* ACCESS */
    gss_wrap(&m, &inside, 900);
    feed(&b, &b.connection, CLIENT, &m, 1);
    gss_call(&m, 1, 3, 4, 0, 2, 901); /* again: another sequence number */
    gss_wrap(&m, &inside, 901);
    feed(&b, &b.connection, CLIENT, &m, 2);
    inside.length = 0;
    put32(&inside, 0);
    put_post_op(&inside);
    put32(&inside, 0x21);
    put_reply(&m, 1);
    gss_wrap(&m, &inside, 901);
    feed(&b, &b.connection, SERVER, &m, 3);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.kept[0].tx.retransmissions, 1);
    assert_int_equal(b.kept[0].operations[0].detail->access_requested, 0x2d);
    assert_int_equal(b.kept[0].operations[0].detail->access_granted, 0x21);
    assert_int_equal(b.kept[0].operations[0].detail->handle.length, 16);
    assert_int_equal(losses(&b)->malformed_calls, 0);
    assert_int_equal(losses(&b)->malformed_replies, 0);
    assert_int_equal(losses(&b)->trailing_bytes, 0);
    bench_close(&b);
}

static void
plain_kerberos_is_read(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    gss_call(&m, 1, 3, 4, 0, 1, 900);
    put_handle(&m, 16, 7);
    put32(&m, 0x3f);
    feed(&b, &b.connection, CLIENT, &m, 1);
    rpc_match_finish(b.match, 2);
    assert_int_equal(b.kept[0].operations[0].detail->access_requested, 0x3f);
    bench_close(&b);
}

/* The procedure stays visible; what a COMPOUND does is unknown, not zero. */
static void
privacy_is_said(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    gss_call(&m, 1, 4, 1, 0, 3, 900);
    put_opaque(&m, "................", 16);
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_reply(&m, 1);
    put_opaque(&m, "................", 16);
    feed(&b, &b.connection, SERVER, &m, 2);
    gss_call(&m, 2, 3, 2, 0, 3, 901);
    put_opaque(&m, "................", 16);
    feed(&b, &b.connection, CLIENT, &m, 3);
    rpc_match_finish(b.match, 4);
    assert_int_equal(b.count, 2);
    assert_true(b.kept[0].tx.flags & RPC_TX_ENCRYPTED);
    assert_int_equal(b.kept[0].tx.operation_count, 0);
    assert_false(b.kept[0].tx.status_known);
    assert_int_equal(b.kept[1].tx.operation_count, 1);
    assert_int_equal(b.kept[1].operations[0].number, 2);
    assert_null(b.kept[1].operations[0].detail);
    assert_int_equal(losses(&b)->encrypted_calls, 2);
    assert_int_equal(losses(&b)->unattributed_compounds, 1);
    assert_int_equal(losses(&b)->malformed_calls, 0);
    bench_close(&b);
}

/* Context set-up travels as NULL with data: told from NULL by its flag. */
static void
context_setup_is_not_null(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    for (uint32_t control = 1; control <= 3; control++) {
        gss_call(&m, control, 3, 0, control, 1, 0);
        put_opaque(&m, "a token of some length..", 24);
        feed(&b, &b.connection, CLIENT, &m, 1);
        put_reply(&m, control);
        put_opaque(&m, "handle", 6);
        put32(&m, 0);
        feed(&b, &b.connection, SERVER, &m, 2);
        assert_true(b.kept[control - 1].tx.flags & RPC_TX_GSS_CONTROL);
    }
    assert_int_equal(b.count, 3);
    assert_int_equal(losses(&b)->trailing_bytes, 0);
    bench_close(&b);
}

/* --- TLS, RFC 9289 section 4.1 ---------------------------------------------
 */

static void
starttls_is_passed_on(void **state)
{
    for (unsigned yes = 0; yes < 2; yes++) {
        struct message m;
        struct bench b;

        (void)state;
        bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
        put_call_head(&m, 1, 100003, 4, 0);
        put32(&m, 7);
        put32(&m, 0);
        put32(&m, 0);
        put32(&m, 0);
        feed(&b, &b.connection, CLIENT, &m, 1);
        m.length = 0;
        put32(&m, 1);
        put32(&m, 1);
        put32(&m, 0);
        put32(&m, 0);
        put_opaque(&m, yes ? "STARTTLS" : "STOPTLS!", 8);
        put32(&m, 0);
        feed(&b, &b.connection, SERVER, &m, 2);
        assert_int_equal(b.tls_count, yes);
        assert_true(b.kept[0].tx.flags & RPC_TX_TLS_PROBE);
        bench_close(&b);
    }
}

/* --- ports that replies teach, RFC 1833 ------------------------------------
 */

static void
getport(struct bench *b, uint32_t xid, uint32_t program, uint32_t port)
{
    struct message m;

    put_call(&m, xid, 100000, 2, 3);
    put32(&m, program);
    put32(&m, 3);
    put32(&m, 6);
    put32(&m, 0);
    feed(b, &b->connection, CLIENT, &m, 1);
    put_reply(&m, xid);
    put32(&m, port);
    feed(b, &b->connection, SERVER, &m, 2);
}

static void
getaddr(struct bench *b, uint32_t xid, const char *address)
{
    struct message m;

    put_call(&m, xid, 100000, 4, 3);
    put32(&m, 100003);
    put32(&m, 3);
    put_string(&m, "tcp6");
    put_string(&m, "");
    put_string(&m, "superuser");
    feed(b, &b->connection, CLIENT, &m, 1);
    put_reply(&m, xid);
    put_string(&m, address);
    feed(b, &b->connection, SERVER, &m, 2);
}

static void
ports_are_learned(void **state)
{
    static const char *const wrong[] = {
        "",
        ".",
        "1",
        "0.0",
        "10.0.0.9.256.1",
        "10.0.0.9.1.300",
        "10.0.0.9.47.",
        "47.17",
        "10.0.0.9.0.0",
        "10.0.0.9.1234.5",
        "999999999999.1.2x",
    };
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    getport(&b, 1, 100003, 12049);
    getport(&b, 2, 100005, 70000); /* no port */
    getport(&b, 3, 100005, 0);     /* not registered */
    assert_int_equal(b.port_count, 1);
    assert_int_equal(b.ports[0], 12049);
    getport(&b, 4, 300019, 999); /* not ours, but asked for */
    assert_int_equal(b.port_count, 2);
    assert_int_equal(b.ports[1], 999);
    b.port_count = 1;
    getaddr(&b, 5, "10.0.0.9.47.17"); /* 47 * 256 + 17 */
    getaddr(&b, 6, "::1.8.1");
    assert_int_equal(b.port_count, 3);
    assert_int_equal(b.ports[1], 12049);
    assert_int_equal(b.ports[2], 2049);
    for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        getaddr(&b, 100 + i, wrong[i]);
    }
    assert_int_equal(b.port_count, 3);
    put_call(&m, 7, 100000, 2, 4); /* DUMP */
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_reply(&m, 7);
    for (uint32_t program = 100000; program < 100006; program++) {
        put32(&m, 1);
        put32(&m, program);
        put32(&m, 3);
        put32(&m, 6);
        put32(&m, program - 99000);
    }
    put32(&m, 0);
    feed(&b, &b.connection, SERVER, &m, 2);
    assert_int_equal(b.port_count, 5);
    assert_int_equal(b.ports[3], 1003);
    assert_int_equal(b.ports[4], 1005);
    assert_int_equal(losses(&b)->trailing_bytes, 0);
    bench_close(&b);
}

/* --- records that are not messages -----------------------------------------
 */

/* Every length from 0 to that of a whole message: as a record of that length
 * malformed, as a captured part partly decoded; always counted once. */
static void
records_shorter_than_a_header(void **state)
{
    struct message m;

    (void)state;
    getattr(&m, 3, 1);
    for (uint32_t n = 0; n < m.length; n++) {
        struct bench b;

        bench_open(&b, RPC_DEPTH_FULL, 0, 0);
        feed_cut(&b, &b.connection, CLIENT, &m, n, 1);
        rpc_match_finish(b.match, 2);
        assert_int_equal(losses(&b)->malformed_calls, 1);
        assert_int_equal(losses(&b)->partly_decoded, 0);
        assert_int_equal(b.count, n >= 24);
        bench_close(&b);
        bench_open(&b, RPC_DEPTH_FULL, 0, 0);
        feed_short(&b, &b.connection, CLIENT, &m, n, 1);
        rpc_match_finish(b.match, 2);
        assert_int_equal(losses(&b)->malformed_calls, 0);
        assert_int_equal(losses(&b)->partly_decoded, 1);
        assert_int_equal(b.count, n >= 24);
        if (n >= 24) {
            assert_int_equal(b.kept[0].tx.procedure, 1);
            assert_true(b.kept[0].tx.flags & RPC_TX_CALL_PARTLY);
        }
        bench_close(&b);
    }
}

/* A bad body costs one record: the next is read. */
static void
bad_body_costs_one_record(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    put_call(&m, 1, 100003, 3, 4);
    put32(&m, 0xffffffff); /* file handle of 4 GiB */
    feed(&b, &b.connection, CLIENT, &m, 1);
    getattr(&m, 2, 1);
    feed(&b, &b.connection, CLIENT, &m, 2);
    rpc_match_finish(b.match, 3);
    assert_int_equal(b.count, 2);
    assert_true(b.kept[0].tx.flags & RPC_TX_CALL_MALFORMED);
    assert_int_equal(b.kept[1].tx.flags, 0);
    assert_int_equal(losses(&b)->malformed_calls, 1);
    bench_close(&b);
}

/* Random bytes behind a header that looks right: nothing but counters. */
static void
noise_is_survived(void **state)
{
    static const uint32_t programs[] = {100000, 100003, 100005,    100021,
                                        100024, 100227, 0x40000000};
    uint32_t seed = 12345;
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 64, 50);
    for (uint32_t i = 0; i < 40000; i++) {
        uint32_t size = (i * 7) % 300;

        seed = seed * 1664525 + 1013904223;
        if ((seed >> 20) % 3 != 0) {
            put_call(&m, seed >> 28, programs[(seed >> 8) % 7],
                     1 + (seed >> 12) % 4, (seed >> 16) % 24);
        } else {
            put_reply(&m, seed >> 28);
        }
        for (uint32_t k = 0; k < size; k++) {
            uint8_t byte;

            seed = seed * 1664525 + 1013904223;
            /* mostly small numbers, as XDR has them */
            byte = k % 4 == 3 || (seed >> 28) == 0 ? (uint8_t)(seed >> 24) : 0;
            if (k % 4 == 3 && (seed & 0x10000) != 0) {
                byte &= 7;
            }
            put_bytes(&m, &byte, 1);
        }
        feed_short(&b, &b.connection, (seed >> 9) & 1, &m,
                   (seed >> 3) % 4 == 0 ? m.length / 2 : m.length, i);
    }
    rpc_match_finish(b.match, 50000);
    assert_int_equal(losses(&b)->calls + losses(&b)->replies, 40000);
    bench_close(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_and_reply),
        cmocka_unit_test(retransmission_keeps_the_first_time),
        cmocka_unit_test(retransmission_with_another_stamp),
        cmocka_unit_test(retransmission_captured_shorter),
        cmocka_unit_test(xid_used_again),
        cmocka_unit_test(xids_in_any_order),
        cmocka_unit_test(xid_is_of_its_connection),
        cmocka_unit_test(retransmission_over_a_new_connection),
        cmocka_unit_test(unanswered_after_the_connection),
        cmocka_unit_test(unanswered_after_the_timeout),
        cmocka_unit_test(orphans_and_unanswered_are_apart),
        cmocka_unit_test(reply_before_its_call),
        cmocka_unit_test(held_replies_are_bounded),
        cmocka_unit_test(backchannel_is_apart),
        cmocka_unit_test(crowds_in_both_directions),
        cmocka_unit_test(ports_are_hints),
        cmocka_unit_test(outstanding_calls_are_bounded),
        cmocka_unit_test(gaps_are_said),
        cmocka_unit_test(denied_and_refused),
        cmocka_unit_test(integrity_is_read_through),
        cmocka_unit_test(plain_kerberos_is_read),
        cmocka_unit_test(privacy_is_said),
        cmocka_unit_test(context_setup_is_not_null),
        cmocka_unit_test(starttls_is_passed_on),
        cmocka_unit_test(ports_are_learned),
        cmocka_unit_test(records_shorter_than_a_header),
        cmocka_unit_test(bad_body_costs_one_record),
        cmocka_unit_test(noise_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
