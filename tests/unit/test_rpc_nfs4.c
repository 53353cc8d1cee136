/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * COMPOUNDs: every operation is reached and passed over, nothing is lost when
 * one is not known, and the file an operation works on is found.
 */
#include "tests/unit/nfs4_samples.h"
#include "tests/unit/rpc_support.h"

#include <stdlib.h>
#include <string.h>

#define CLIENT 0
#define SERVER 1

static const uint32_t operations[] = {
    3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,    17,
    18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,    32,
    33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46,    47,
    48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61,    62,
    63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 10044,
};
#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static const struct rpc_losses *
losses(struct bench *b)
{
    return rpc_match_losses(b->match);
}

/* PUTFH, the operation, GETATTR, ACCESS. */
static void
call_with(struct message *m, uint32_t xid, uint32_t op, unsigned variant)
{
    put_compound(m, xid, 2, 4);
    sample_arguments(m, 22, 0);
    sample_arguments(m, op, variant);
    sample_arguments(m, 9, 0);
    sample_arguments(m, 3, 0);
}

static void
reply_with(struct message *m, uint32_t xid, uint32_t op, unsigned variant)
{
    put_compound_reply(m, xid, 0, 4);
    sample_results(m, 22, 0);
    sample_results(m, op, variant);
    sample_results(m, 9, 0);
    sample_results(m, 3, 0);
}

static void
check_all_reached(const struct kept *k, uint32_t op)
{
    const uint32_t want[4] = {22, op, 9, 3};

    assert_int_equal(k->tx.operation_count, 4);
    assert_int_equal(k->tx.operations_announced, 4);
    assert_int_equal(k->tx.minor_version, 2);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(k->operations[i].number, want[i]);
        assert_int_equal(k->operations[i].flags,
                         RPC_OP_IN_CALL | RPC_OP_IN_REPLY);
        assert_int_equal(k->operations[i].status, 0);
    }
    assert_int_equal(k->operations[3].detail->access_granted, 0x0d);
}

static void
each_operation_is_passed_over(void **state)
{
    struct message m;

    (void)state;
    for (unsigned depth = 0; depth < 2; depth++) {
        for (unsigned i = 0; i < OPERATIONS; i++) {
            for (unsigned v = 0; v < SAMPLE_VARIANTS; v++) {
                struct bench b;

                bench_open(&b, depth ? RPC_DEPTH_FULL : RPC_DEPTH_COUNTS, 0, 0);
                call_with(&m, 1, operations[i], v);
                feed(&b, &b.connection, CLIENT, &m, 1);
                reply_with(&m, 1, operations[i], v);
                feed(&b, &b.connection, SERVER, &m, 2);
                assert_int_equal(b.count, 1);
                assert_int_equal(b.kept[0].tx.flags, 0);
                check_all_reached(&b.kept[0], operations[i]);
                assert_int_equal(losses(&b)->trailing_bytes, 0);
                assert_int_equal(losses(&b)->partly_decoded, 0);
                assert_int_equal(losses(&b)->unattributed_compounds, 0);
                bench_close(&b);
            }
        }
    }
}

/* The COMPOUND is one call; the operations in it are counted apart, and
 * procedure 1 is not GETATTR. */
static void
compound_is_not_getattr(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    put_compound(&m, 1, 0, 3);
    sample_arguments(&m, 22, 0);
    sample_arguments(&m, 3, 0);
    sample_arguments(&m, 9, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    rpc_match_finish(b.match, 2);
    assert_int_equal(b.count, 1);
    assert_string_equal(rpc_procedure_name(100003, 4, b.kept[0].tx.procedure),
                        "COMPOUND");
    assert_int_equal(b.kept[0].tx.operation_count, 3);
    assert_int_equal(b.kept[0].operations[0].number, 22);
    assert_int_equal(b.kept[0].operations[1].number, 3);
    assert_int_equal(b.kept[0].operations[2].number, 9);
    assert_int_equal(b.kept[0].tx.minor_version, 0);
    bench_close(&b);
}

/* An operation that nobody knows: those before it stand, those behind it
 * come from the reply, whose results behind it cannot be reached either. */
static void
unknown_operation_keeps_the_others(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    put_compound(&m, 1, 2, 4);
    sample_arguments(&m, 53, 0);
    sample_arguments(&m, 22, 0);
    put32(&m, 99);
    put32(&m, 0xdeadbeef); /* whatever it takes */
    sample_arguments(&m, 9, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_compound_reply(&m, 1, 10044, 3);
    sample_results(&m, 53, 0);
    sample_results(&m, 22, 0);
    put32(&m, 10044);
    put32(&m, 10044);
    feed(&b, &b.connection, SERVER, &m, 2);
    assert_int_equal(b.kept[0].tx.flags, RPC_TX_CALL_PARTLY);
    assert_int_equal(b.kept[0].tx.operation_count, 3);
    assert_int_equal(b.kept[0].tx.operations_announced, 4);
    assert_int_equal(b.kept[0].operations[2].number, 99);
    assert_int_equal(b.kept[0].operations[2].status, 10044);
    assert_int_equal(losses(&b)->partly_decoded, 1);
    assert_int_equal(losses(&b)->malformed_calls, 0);
    assert_int_equal(losses(&b)->unattributed_compounds, 1);
    bench_close(&b);
}

/* The capture kept too little of the call, and all of the reply. */
static void
operations_from_the_reply(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    put_compound(&m, 1, 1, 4);
    sample_arguments(&m, 53, 0);
    sample_arguments(&m, 22, 0);
    sample_arguments(&m, 34, 0);
    sample_arguments(&m, 9, 0);
    feed_short(&b, &b.connection, CLIENT, &m, 128, 1);
    put_compound_reply(&m, 1, 0, 4);
    sample_results(&m, 53, 0);
    sample_results(&m, 22, 0);
    sample_results(&m, 34, 0);
    sample_results(&m, 9, 0);
    feed(&b, &b.connection, SERVER, &m, 2);
    assert_true(b.kept[0].tx.flags & RPC_TX_OPS_FROM_REPLY);
    assert_true(b.kept[0].tx.flags & RPC_TX_CALL_PARTLY);
    assert_int_equal(b.kept[0].tx.operation_count, 4);
    assert_int_equal(b.kept[0].operations[2].number, 34);
    assert_int_equal(b.kept[0].operations[2].flags, RPC_OP_IN_REPLY);
    assert_int_equal(losses(&b)->unattributed_compounds, 0);
    /* Neither of the two: said. */
    put_compound(&m, 2, 1, 4);
    sample_arguments(&m, 53, 0);
    sample_arguments(&m, 22, 0);
    sample_arguments(&m, 34, 0);
    sample_arguments(&m, 9, 0);
    feed_short(&b, &b.connection, CLIENT, &m, 64, 3);
    rpc_match_finish(b.match, 4);
    assert_int_equal(b.kept[1].tx.operation_count, 0);
    assert_int_equal(losses(&b)->unattributed_compounds, 1);
    bench_close(&b);
}

/* Results that are lists, one entry with an OID, are consumed to their end:
 * the next result is read from its place. */
static void
security_lists_are_consumed(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    put_compound(&m, 1, 1, 4);
    sample_arguments(&m, 53, 0);
    sample_arguments(&m, 24, 0);
    sample_arguments(&m, 52, 0);
    sample_arguments(&m, 9, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_compound_reply(&m, 1, 0, 4);
    sample_results(&m, 53, 0);
    sample_results(&m, 24, 0);
    sample_results(&m, 52, 0);
    sample_results(&m, 9, 0);
    feed(&b, &b.connection, SERVER, &m, 2);
    assert_int_equal(b.kept[0].operations[3].detail->after.valid,
                     NFS_ATTR_SIZE);
    assert_true(b.kept[0].operations[3].detail->after.size == 632);
    assert_int_equal(losses(&b)->trailing_bytes, 0);
    /* What is left over is counted. */
    put_compound(&m, 2, 1, 1);
    sample_arguments(&m, 24, 0);
    put32(&m, 5);
    put32(&m, 5);
    feed(&b, &b.connection, CLIENT, &m, 3);
    assert_int_equal(losses(&b)->trailing_bytes, 8);
    bench_close(&b);
}

/* --- shapes -------------------------------------------------------------- */

static void
bitmaps_of_any_length(void **state)
{
    static const uint32_t counts[] = {0, 1, 2, 3, 1000};
    static uint32_t words[1000];

    (void)state;
    words[0] = 0x18;
    words[999] = 1; /* nobody knows attribute 31968 */
    for (unsigned i = 0; i < 5; i++) {
        struct message m;
        struct bench b;

        bench_open(&b, RPC_DEPTH_FULL, 0, 0);
        put_compound(&m, 1, 2, 3);
        sample_arguments(&m, 22, 0);
        put32(&m, 9);
        put_bitmap(&m, counts[i], words);
        sample_arguments(&m, 3, 0);
        feed(&b, &b.connection, CLIENT, &m, 1);
        put_compound_reply(&m, 1, 0, 3);
        sample_results(&m, 22, 0);
        put32(&m, 9);
        put32(&m, 0);
        put_bitmap(&m, counts[i], words);
        put32(&m, counts[i] == 0 ? 0 : 16);
        if (counts[i] > 0) {
            put64(&m, 41);
            put64(&m, 42);
        }
        sample_results(&m, 3, 0);
        feed(&b, &b.connection, SERVER, &m, 2);
        assert_int_equal(b.kept[0].tx.operation_count, 3);
        assert_int_equal(b.kept[0].operations[2].detail->access_requested,
                         0x1f);
        assert_int_equal(b.kept[0].operations[2].detail->access_granted, 0x0d);
        if (counts[i] > 0) {
            assert_true(b.kept[0].operations[1].detail->after.change == 41);
            assert_true(b.kept[0].operations[1].detail->after.size == 42);
        }
        assert_int_equal(b.kept[0].tx.flags, 0);
        bench_close(&b);
    }
}

/* A count that the record cannot hold: what is there is kept. */
static void
impossible_operation_count(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    put_compound(&m, 1, 0, 0xffffffff);
    sample_arguments(&m, 22, 0);
    sample_arguments(&m, 24, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    rpc_match_finish(b.match, 2);
    assert_true(b.kept[0].tx.flags & RPC_TX_CALL_MALFORMED);
    assert_int_equal(b.kept[0].tx.operation_count, 2);
    assert_true(b.kept[0].tx.operations_announced > 2);
    assert_true(b.kept[0].tx.operations_announced <= m.length / 4);
    assert_int_equal(losses(&b)->malformed_calls, 1);
    assert_int_equal(losses(&b)->unattributed_compounds, 1);
    bench_close(&b);
}

/* More operations than are kept: a limit, not an error of the sender. */
static void
very_many_operations(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    put_compound(&m, 1, 0, 2000);
    for (unsigned i = 0; i < 2000; i++) {
        put32(&m, 24);
    }
    feed(&b, &b.connection, CLIENT, &m, 1);
    rpc_match_finish(b.match, 2);
    assert_int_equal(b.kept[0].tx.operation_count, 1024);
    assert_int_equal(b.kept[0].tx.operations_announced, 2000);
    assert_int_equal(b.kept[0].tx.flags, RPC_TX_CALL_PARTLY);
    assert_int_equal(losses(&b)->unattributed_compounds, 1);
    bench_close(&b);
}

static void
handles_of_any_length(void **state)
{
    static const uint32_t lengths[] = {0, 1, 127, 128, 129, 0xffffffff};

    (void)state;
    for (unsigned depth = 0; depth < 2; depth++) {
        for (unsigned i = 0; i < 6; i++) {
            struct message m;
            struct bench b;

            bench_open(&b, depth ? RPC_DEPTH_FULL : RPC_DEPTH_COUNTS, 0, 0);
            put_compound(&m, 1, 0, 2);
            put32(&m, 22);
            if (lengths[i] < 200) {
                put_handle(&m, lengths[i], 5);
            } else {
                put32(&m, lengths[i]);
            }
            sample_arguments(&m, 3, 0);
            feed(&b, &b.connection, CLIENT, &m, 1);
            rpc_match_finish(b.match, 2);
            assert_int_equal(losses(&b)->malformed_calls, lengths[i] > 128);
            assert_int_equal(b.kept[0].tx.operation_count,
                             lengths[i] > 128 ? 1 : 2);
            if (depth == 1 && lengths[i] <= 128) {
                assert_int_equal(b.kept[0].details[1].handle.length,
                                 lengths[i]);
            }
            bench_close(&b);
        }
    }
}

/* Every prefix of every operation, in call and reply, as a short capture and
 * as a short record, before a page that faults. */
static void
every_prefix_of_every_operation(void **state)
{
    struct message call, reply;

    (void)state;
    for (unsigned i = 0; i < OPERATIONS; i++) {
        unsigned v = i % SAMPLE_VARIANTS;
        uint32_t longer;
        struct bench b;

        bench_open(&b, RPC_DEPTH_FULL, 0, 0);
        call_with(&call, 1, operations[i], v);
        reply_with(&reply, 1, operations[i], v);
        longer = call.length > reply.length ? call.length : reply.length;
        for (uint32_t n = 24; n<longer; n += n> 100 && n % 4 == 1 ? 2 : 1) {
            uint64_t before = losses(&b)->malformed_calls;
            uint32_t c = n < call.length ? n : call.length;
            uint32_t r = n < reply.length ? n : reply.length;

            b.count = 0;
            call.bytes[3] = (uint8_t)n; /* an xid of its own */
            call.bytes[2] = (uint8_t)(n >> 8);
            reply.bytes[3] = (uint8_t)n;
            reply.bytes[2] = (uint8_t)(n >> 8);
            feed_short(&b, &b.connection, CLIENT, &call, c, 1);
            feed_short(&b, &b.connection, SERVER, &reply, r, 2);
            assert_int_equal(losses(&b)->malformed_calls, before);
            assert_int_equal(b.count, 1);
            assert_int_equal(b.kept[0].tx.outcome, RPC_REPLIED);
            call.bytes[0] = 1;
            reply.bytes[0] = 1;
            feed_cut(&b, &b.connection, CLIENT, &call, c, 3);
            feed_cut(&b, &b.connection, SERVER, &reply, r, 4);
            assert_int_equal(b.count, 2);
            if (n < call.length) {
                assert_int_equal(losses(&b)->malformed_calls, before + 1);
                assert_true(b.kept[1].tx.flags & RPC_TX_CALL_MALFORMED);
            }
            call.bytes[0] = 0;
            reply.bytes[0] = 0;
        }
        bench_close(&b);
    }
}

/* --- SETATTR and attributes ------------------------------------------------
 */

struct setting {
    uint32_t words[3];
    const char *values; /* in hexadecimal */
    struct nfs_sattr want;
};

static void
put_hex(struct message *m, const char *hex)
{
    uint8_t bytes[256];
    uint32_t n = 0;

    for (; hex[0] != '\0'; hex += 2) {
        const char pair[3] = {hex[0], hex[1], '\0'};

        bytes[n++] = (uint8_t)strtoul(pair, NULL, 16);
    }
    put_opaque(m, bytes, n);
}

/* RFC 8881 section 5.8 numbers the attributes: size 4, mode 33, owner 36,
 * group 37, time_access_set 48, time_modify_set 54; RFC 9754: 84 and 85. */
static const struct setting settings[] = {
    {{0, 1u << 16, 0}, "00000000", {.atime_how = NFS_TIME_SERVER}},
    {{0, 1u << 16, 0},
     "000000010000000000000064000000c8",
     {.atime_how = NFS_TIME_CLIENT, .atime = {100, 200}}},
    {{0, 1u << 16 | 1u << 22, 0},
     "0000000000000001fffffffffffffffe00000003",
     {.atime_how = NFS_TIME_SERVER,
      .mtime_how = NFS_TIME_CLIENT,
      .mtime = {-2, 3}}},
    {{0, 0, 0}, "", {.empty = true}},
    {{1u << 4, 0, 0}, "0000000000000000", {.size = true}},
    {{1u << 4, 1u << 1 | 1u << 4 | 1u << 5 | 1u << 16, 0},
     "0000000000000001000001a4"
     "0000000431303030"
     "0000000331303000"
     "00000000",
     {.size = true,
      .mode = true,
      .owner = true,
      .group = true,
      .atime_how = NFS_TIME_SERVER}},
    {{1u << 12, 1u << 16, 0}, /* an ACL of one entry in front */
     "0000000100000000000000000000000100000009"
     "45564552594f4e4540000000"
     "00000000",
     {.other = true, .atime_how = NFS_TIME_SERVER}},
    {{0, 0, 1u << 20 | 1u << 21},
     "000000000000000500000006000000000000000700000008",
     {.delegated_times = true,
      .atime_how = NFS_TIME_CLIENT,
      .mtime_how = NFS_TIME_CLIENT,
      .atime = {5, 6},
      .mtime = {7, 8}}},
};

static void
what_setattr_sets(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const struct nfs_sattr *want = &settings[i].want;
        const struct nfs_sattr *got;
        struct message m;
        struct bench b;

        bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
        put_compound(&m, 1, 2, 3);
        sample_arguments(&m, 22, 0);
        put32(&m, 34);
        put_stateid(&m);
        put_bitmap(&m, 3, settings[i].words);
        put_hex(&m, settings[i].values);
        sample_arguments(&m, 9, 0);
        feed(&b, &b.connection, CLIENT, &m, 1);
        rpc_match_finish(b.match, 2);
        assert_int_equal(b.kept[0].tx.operation_count, 3);
        assert_int_equal(b.kept[0].tx.flags, 0);
        got = &b.kept[0].operations[1].detail->sattr;
        assert_int_equal(got->atime_how, want->atime_how);
        assert_int_equal(got->mtime_how, want->mtime_how);
        assert_int_equal(got->size, want->size);
        assert_int_equal(got->mode, want->mode);
        assert_int_equal(got->owner, want->owner);
        assert_int_equal(got->group, want->group);
        assert_int_equal(got->other, want->other);
        assert_int_equal(got->empty, want->empty);
        assert_int_equal(got->delegated_times, want->delegated_times);
        assert_true(got->atime.seconds == want->atime.seconds);
        assert_int_equal(got->atime.nanoseconds, want->atime.nanoseconds);
        assert_true(got->mtime.seconds == want->mtime.seconds);
        assert_int_equal(got->mtime.nanoseconds, want->mtime.nanoseconds);
        bench_close(&b);
    }
}

/* Attributes whose values do not fill, or overfill, their opaque: the record
 * is called malformed, the operations behind it are reached. */
static void
attributes_that_contradict_their_length(void **state)
{
    static const char *const values[] = {"", "0000", "0000000100000000",
                                         "0000000000000000", "00000002"};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        const uint32_t words[2] = {0, 1u << 16};
        struct message m;
        struct bench b;

        bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
        put_compound(&m, 1, 2, 3);
        sample_arguments(&m, 22, 0);
        put32(&m, 34);
        put_stateid(&m);
        put_bitmap(&m, 2, words);
        put_hex(&m, values[i]);
        sample_arguments(&m, 3, 0);
        feed(&b, &b.connection, CLIENT, &m, 1);
        rpc_match_finish(b.match, 2);
        assert_int_equal(b.kept[0].tx.operation_count, 3);
        assert_int_equal(b.kept[0].operations[2].detail->access_requested,
                         0x1f);
        assert_true(b.kept[0].tx.flags & RPC_TX_CALL_MALFORMED);
        bench_close(&b);
    }
}

/* change 3, size 4, fileid 20; time_access 47, time_metadata 52, time_modify
 * 53; between and around them what a Linux client asks for: type 1, fsid 8,
 * mode 33, numlinks 35, owner 36, group 37, rawdev 41, space_used 45,
 * mounted_on_fileid 55, and one of which nothing is known: 86. */
static void
attributes_of_a_reply(void **state)
{
    const uint32_t words[3] = {
        1u << 1 | 1u << 3 | 1u << 4 | 1u << 8 | 1u << 20,
        1u << 1 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 9 | 1u << 13 | 1u << 15 |
            1u << 20 | 1u << 21 | 1u << 23,
        1u << 22,
    };
    struct message values, m;
    const struct nfs_attr *a;
    struct bench b;

    (void)state;
    values.length = 0;
    put32(&values, 1);
    put64(&values, 1001);
    put64(&values, 632);
    put64(&values, 1);
    put64(&values, 2);
    put64(&values, 4711);
    put32(&values, 0755);
    put32(&values, 1);
    put_string(&values, "1000");
    put_string(&values, "100");
    put64(&values, 0);
    put64(&values, 4096);
    put64(&values, (uint64_t)-5);
    put32(&values, 47);
    put64(&values, 52);
    put32(&values, 520);
    put64(&values, 53);
    put32(&values, 530);
    put64(&values, 4711);
    put32(&values, 0xffff);
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    put_compound(&m, 1, 2, 2);
    sample_arguments(&m, 22, 0);
    sample_arguments(&m, 9, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_compound_reply(&m, 1, 0, 2);
    sample_results(&m, 22, 0);
    put32(&m, 9);
    put32(&m, 0);
    put_bitmap(&m, 3, words);
    put_opaque(&m, values.bytes, values.length);
    feed(&b, &b.connection, SERVER, &m, 2);
    a = &b.kept[0].operations[1].detail->after;
    assert_int_equal(a->valid, NFS_ATTR_ATIME | NFS_ATTR_MTIME |
                                   NFS_ATTR_CTIME | NFS_ATTR_CHANGE |
                                   NFS_ATTR_SIZE | NFS_ATTR_FILEID);
    assert_true(a->change == 1001);
    assert_true(a->size == 632);
    assert_true(a->fileid == 4711);
    assert_true(a->atime.seconds == -5);
    assert_int_equal(a->atime.nanoseconds, 47);
    assert_true(a->ctime.seconds == 52);
    assert_true(a->mtime.seconds == 53);
    assert_int_equal(a->mtime.nanoseconds, 530);
    assert_int_equal(b.kept[0].tx.flags, 0);
    assert_int_equal(b.kept[0].operations[1].detail->handle.length, 28);
    bench_close(&b);
}

/* RFC 8881 section 18.30: a SETATTR that failed still has its bitmap. */
static void
failed_setattr_has_a_bitmap(void **state)
{
    const uint32_t none[1] = {0};
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    put_compound(&m, 1, 2, 3);
    sample_arguments(&m, 22, 0);
    sample_arguments(&m, 34, 0);
    sample_arguments(&m, 9, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_compound_reply(&m, 1, 1, 2);
    sample_results(&m, 22, 0);
    put32(&m, 34);
    put32(&m, 1); /* NFS4ERR_PERM */
    put_bitmap(&m, 1, none);
    feed(&b, &b.connection, SERVER, &m, 2);
    assert_int_equal(b.kept[0].tx.status, 1);
    assert_int_equal(b.kept[0].operations[1].status, 1);
    assert_int_equal(b.kept[0].operations[2].flags, RPC_OP_IN_CALL);
    assert_int_equal(losses(&b)->trailing_bytes, 0);
    bench_close(&b);
}

/* --- which file ---------------------------------------------------------- */

/* A reply to other operations than those of the call. */
static void
reply_that_contradicts_its_call(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    put_compound(&m, 1, 2, 2);
    sample_arguments(&m, 22, 0);
    sample_arguments(&m, 34, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_compound_reply(&m, 1, 0, 2);
    sample_results(&m, 22, 0);
    sample_results(&m, 9, 0);
    feed(&b, &b.connection, SERVER, &m, 2);
    assert_true(b.kept[0].tx.flags & RPC_TX_REPLY_MALFORMED);
    assert_int_equal(b.kept[0].operations[1].number, 34);
    assert_int_equal(b.kept[0].operations[1].flags, RPC_OP_IN_CALL);
    assert_int_equal(losses(&b)->malformed_replies, 1);
    bench_close(&b);
}

/* PUTFH d, SAVEFH, OPEN f, GETFH, ACCESS, RESTOREFH, GETATTR: the ACCESS is
 * of the file, the GETATTR of the directory, the OPEN gave the file. */
static void
files_are_followed(void **state)
{
    struct nfs_handle *file;
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    put_compound(&m, 1, 2, 8);
    sample_arguments(&m, 53, 0);
    sample_arguments(&m, 22, 0);
    sample_arguments(&m, 32, 0);
    sample_arguments(&m, 18, 0);
    sample_arguments(&m, 10, 0);
    sample_arguments(&m, 3, 0);
    sample_arguments(&m, 31, 0);
    sample_arguments(&m, 9, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_compound_reply(&m, 1, 0, 8);
    sample_results(&m, 53, 0);
    sample_results(&m, 22, 0);
    sample_results(&m, 32, 0);
    sample_results(&m, 18, 1);
    sample_results(&m, 10, 0);
    sample_results(&m, 3, 0);
    sample_results(&m, 31, 0);
    sample_results(&m, 9, 0);
    feed(&b, &b.connection, SERVER, &m, 2);
    assert_int_equal(b.kept[0].details[3].handle.bytes[0], 0x77);
    file = &b.kept[0].details[3].result_handle;
    assert_int_equal(file->length, 28);
    assert_int_equal(file->bytes[27], 0x78);
    assert_string_equal(b.kept[0].details[3].name, "file");
    assert_int_equal(b.kept[0].details[3].delegation_type, 1);
    assert_int_equal(b.kept[0].details[3].open_share_access, 1);
    assert_true(b.kept[0].details[5].handle.hash == file->hash);
    assert_int_equal(b.kept[0].details[7].handle.bytes[0], 0x77);
    bench_close(&b);
}

/* OPEN by handle stays where it is; LOOKUP without GETFH leads to a file
 * that cannot be known. */
static void
files_that_stay_or_get_unknown(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    put_compound(&m, 1, 2, 5);
    sample_arguments(&m, 22, 0);
    sample_arguments(&m, 18, 3); /* CLAIM_PREVIOUS */
    sample_arguments(&m, 3, 0);
    sample_arguments(&m, 15, 0);
    sample_arguments(&m, 9, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    rpc_match_finish(b.match, 2);
    assert_int_equal(b.kept[0].details[2].handle.bytes[0], 0x77);
    assert_int_equal(b.kept[0].details[3].handle.bytes[0], 0x77);
    assert_true(b.kept[0].details[3].result_handle.hash == 0);
    assert_true(b.kept[0].details[4].handle.hash == 0);
    bench_close(&b);
}

/* --- callbacks ----------------------------------------------------------- */

static void
each_callback_is_passed_over(void **state)
{
    (void)state;
    for (uint32_t op = 3; op <= 15; op++) {
        for (unsigned v = 0; v < SAMPLE_VARIANTS; v++) {
            struct message m;
            struct bench b;

            bench_open(&b, v % 2 ? RPC_DEPTH_FULL : RPC_DEPTH_COUNTS, 0, 0);
            put_call(&m, 1, 0x40000000, 1, 1);
            put_string(&m, "");
            put32(&m, 1);
            put32(&m, 7); /* callback_ident */
            put32(&m, 3);
            sample_callback_arguments(&m, 11, 0);
            sample_callback_arguments(&m, op, v);
            sample_callback_arguments(&m, 4, 0);
            feed(&b, &b.connection, SERVER, &m, 1);
            put_compound_reply(&m, 1, 0, 3);
            sample_callback_results(&m, 11);
            sample_callback_results(&m, op);
            sample_callback_results(&m, 4);
            feed(&b, &b.connection, CLIENT, &m, 2);
            assert_int_equal(b.count, 1);
            assert_int_equal(b.kept[0].tx.flags, RPC_TX_CALLBACK);
            assert_int_equal(b.kept[0].tx.operation_count, 3);
            assert_int_equal(b.kept[0].operations[1].number, op);
            assert_int_equal(b.kept[0].operations[2].number, 4);
            assert_int_equal(b.kept[0].operations[2].flags,
                             RPC_OP_IN_CALL | RPC_OP_IN_REPLY);
            assert_int_equal(losses(&b)->trailing_bytes, 0);
            assert_int_equal(losses(&b)->unknown_program_calls, 0);
            bench_close(&b);
        }
    }
}

/* A callback program outside the transient range is learned from the client
 * that announces it. */
static void
callback_program_is_learned(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    put_compound(&m, 1, 0, 1);
    put32(&m, 35);
    put_pattern(&m, 8, 1);
    put_string(&m, "client id");
    put32(&m, 0x20001234);
    put_string(&m, "tcp");
    put_string(&m, "10.0.0.1.200.17");
    put32(&m, 1);
    feed(&b, &b.connection, CLIENT, &m, 1);
    connection_set(&b.connection, 2, 40000, 801);
    put_call(&m, 1, 0x20001234, 1, 0);
    feed(&b, &b.connection, SERVER, &m, 2);
    rpc_match_finish(b.match, 3);
    assert_true(b.kept[1].tx.flags & RPC_TX_CALLBACK);
    assert_int_equal(losses(&b)->unknown_program_calls, 0);
    bench_close(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_is_passed_over),
        cmocka_unit_test(compound_is_not_getattr),
        cmocka_unit_test(unknown_operation_keeps_the_others),
        cmocka_unit_test(operations_from_the_reply),
        cmocka_unit_test(security_lists_are_consumed),
        cmocka_unit_test(bitmaps_of_any_length),
        cmocka_unit_test(impossible_operation_count),
        cmocka_unit_test(very_many_operations),
        cmocka_unit_test(handles_of_any_length),
        cmocka_unit_test(every_prefix_of_every_operation),
        cmocka_unit_test(what_setattr_sets),
        cmocka_unit_test(attributes_that_contradict_their_length),
        cmocka_unit_test(attributes_of_a_reply),
        cmocka_unit_test(failed_setattr_has_a_bitmap),
        cmocka_unit_test(reply_that_contradicts_its_call),
        cmocka_unit_test(files_are_followed),
        cmocka_unit_test(files_that_stay_or_get_unknown),
        cmocka_unit_test(each_callback_is_passed_over),
        cmocka_unit_test(callback_program_is_learned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
