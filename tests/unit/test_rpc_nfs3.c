/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NFS versions 2 and 3 and the programs beside them, written after the XDR of
 * RFC 1094 and RFC 1813.
 */
#include "tests/unit/rpc_support.h"

#include <string.h>

#define CLIENT 0
#define SERVER 1

static const struct rpc_losses *
losses(struct bench *b)
{
    return rpc_match_losses(b->match);
}

static void
zeros(struct message *m, uint32_t words)
{
    while (words-- > 0) {
        put32(m, 0);
    }
}

/* --- examples of version 3 -------------------------------------------------
 */

static void
put_dirop(struct message *m, const char *name)
{
    put_handle(m, 32, 0x11);
    put_string(m, name);
}

/* Mode, size, atime to the server's time, mtime to 100.200: section 2.6. */
static void
put_sattr3(struct message *m)
{
    put32(m, 1);
    put32(m, 0644);
    put32(m, 0);
    put32(m, 0);
    put32(m, 1);
    put64(m, 632);
    put32(m, 1);
    put32(m, 2);
    put32(m, 100);
    put32(m, 200);
}

/* Section 3.3.0 to 3.3.21. */
static void
call3(struct message *m, uint32_t xid, uint32_t procedure, unsigned variant)
{
    put_call(m, xid, 100003, 3, procedure);
    switch (procedure) {
    case 0:
        break;
    case 2:
        put_handle(m, 32, 0x11);
        put_sattr3(m);
        put32(m, variant); /* guard */
        zeros(m, variant * 2);
        break;
    case 3:
    case 12:
    case 13:
        put_dirop(m, "name");
        break;
    case 4:
        put_handle(m, 32, 0x11);
        put32(m, 0x2d);
        break;
    case 6:
        put_handle(m, 32, 0x11);
        put64(m, UINT64_C(0x100000000));
        put32(m, 4096);
        break;
    case 7:
        put_handle(m, 32, 0x11);
        put64(m, 8192);
        put32(m, 5);
        put32(m, 2);
        put_opaque(m, "bytes", 5);
        break;
    case 8:
        put_dirop(m, "file");
        put32(m, variant * 2); /* UNCHECKED, EXCLUSIVE */
        if (variant == 0) {
            put_sattr3(m);
        } else {
            put_pattern(m, 8, 1);
        }
        break;
    case 9:
        put_dirop(m, "directory");
        put_sattr3(m);
        break;
    case 10:
        put_dirop(m, "link");
        put_sattr3(m);
        put_string(m, "target/of/it");
        break;
    case 11:
        put_dirop(m, "node");
        put32(m, variant == 0 ? 7 : 4); /* FIFO, CHR */
        put_sattr3(m);
        zeros(m, variant * 2);
        break;
    case 14:
        put_dirop(m, "old");
        put_dirop(m, "new");
        break;
    case 15:
        put_handle(m, 32, 0x22);
        put_dirop(m, "second");
        break;
    case 16:
        put_handle(m, 32, 0x11);
        zeros(m, 4);
        put32(m, 4096);
        break;
    case 17:
        put_handle(m, 32, 0x11);
        zeros(m, 4);
        put32(m, 512);
        put32(m, 4096);
        break;
    case 21:
        put_handle(m, 32, 0x11);
        put64(m, 0);
        put32(m, 4096);
        break;
    default: /* GETATTR, READLINK, FSSTAT, FSINFO, PATHCONF */
        put_handle(m, 32, 0x11);
    }
}

static void
put_entries(struct message *m, bool plus)
{
    for (unsigned i = 0; i < 2; i++) {
        put32(m, 1);
        put64(m, 100 + i);
        put_string(m, i == 0 ? "." : "entry");
        put64(m, i);
        if (plus) {
            put_post_op(m);
            put32(m, 1);
            put_handle(m, 32, 0x33);
        }
    }
    put32(m, 0);
    put32(m, 1);
}

static void
reply3(struct message *m, uint32_t xid, uint32_t procedure)
{
    put_reply(m, xid);
    if (procedure == 0) {
        return;
    }
    put32(m, 0);
    switch (procedure) {
    case 1:
        put_fattr3(m, 632, 4711, 1000000);
        break;
    case 2:
    case 12:
    case 13:
        put_wcc(m);
        break;
    case 3:
        put_handle(m, 32, 0x44);
        put_post_op(m);
        put_post_op(m);
        break;
    case 4:
        put_post_op(m);
        put32(m, 0x21);
        break;
    case 5:
        put_post_op(m);
        put_string(m, "target");
        break;
    case 6:
        put_post_op(m);
        put32(m, 9);
        put32(m, 1);
        put_opaque(m, "some data", 9);
        break;
    case 7:
        put_wcc(m);
        put32(m, 5);
        put32(m, 2);
        put_pattern(m, 8, 1);
        break;
    case 8:
    case 9:
    case 10:
    case 11:
        put32(m, 1);
        put_handle(m, 32, 0x44);
        put_post_op(m);
        put_wcc(m);
        break;
    case 14:
        put_wcc(m);
        put_wcc(m);
        break;
    case 15:
        put_post_op(m);
        put_wcc(m);
        break;
    case 16:
    case 17:
        put_post_op(m);
        put_pattern(m, 8, 1);
        put_entries(m, procedure == 17);
        break;
    case 18:
        put_post_op(m);
        zeros(m, 13);
        break;
    case 19:
        put_post_op(m);
        zeros(m, 12);
        break;
    case 20:
        put_post_op(m);
        zeros(m, 6);
        break;
    case 21:
        put_wcc(m);
        put_pattern(m, 8, 1);
        break;
    default:
        break;
    }
}

static void
each_procedure_is_read_to_its_end(void **state)
{
    (void)state;
    for (uint32_t procedure = 0; procedure <= 21; procedure++) {
        for (unsigned variant = 0; variant < 2; variant++) {
            struct message m;
            struct bench b;

            bench_open(&b, variant ? RPC_DEPTH_COUNTS : RPC_DEPTH_FULL, 0, 0);
            call3(&m, 1, procedure, variant);
            feed(&b, &b.connection, CLIENT, &m, 1);
            reply3(&m, 1, procedure);
            feed(&b, &b.connection, SERVER, &m, 2);
            assert_int_equal(b.count, 1);
            assert_int_equal(b.kept[0].tx.flags, 0);
            assert_int_equal(b.kept[0].tx.operation_count, 1);
            assert_int_equal(b.kept[0].operations[0].number, procedure);
            assert_int_equal(b.kept[0].operations[0].flags,
                             RPC_OP_IN_CALL | RPC_OP_IN_REPLY);
            assert_int_equal(losses(&b)->trailing_bytes, 0);
            assert_int_equal(losses(&b)->partly_decoded, 0);
            bench_close(&b);
        }
    }
}

/* Status 1 and what the RFC puts behind it in the failing arm. */
static void
each_failure_is_read_to_its_end(void **state)
{
    (void)state;
    for (uint32_t procedure = 1; procedure <= 21; procedure++) {
        struct message m;
        struct bench b;

        bench_open(&b, RPC_DEPTH_FULL, 0, 0);
        call3(&m, 1, procedure, 0);
        feed(&b, &b.connection, CLIENT, &m, 1);
        put_reply(&m, 1);
        put32(&m, 1);
        switch (procedure) {
        case 1:
            break;
        case 2:
        case 7:
        case 8:
        case 9:
        case 10:
        case 11:
        case 12:
        case 13:
        case 21:
            put_wcc(&m);
            break;
        case 14:
            put_wcc(&m);
            put_wcc(&m);
            break;
        case 15:
            put_post_op(&m);
            put_wcc(&m);
            break;
        default:
            put_post_op(&m);
        }
        feed(&b, &b.connection, SERVER, &m, 2);
        assert_int_equal(b.kept[0].tx.status, 1);
        assert_int_equal(b.kept[0].tx.flags, 0);
        assert_int_equal(losses(&b)->trailing_bytes, 0);
        bench_close(&b);
    }
}

/* Every prefix, as a short capture and as a short record. */
static void
every_prefix_of_every_procedure(void **state)
{
    (void)state;
    for (uint32_t procedure = 1; procedure <= 21; procedure++) {
        struct message call, reply;
        uint32_t longer;

        call3(&call, 1, procedure, procedure % 2);
        reply3(&reply, 1, procedure);
        longer = call.length > reply.length ? call.length : reply.length;
        for (uint32_t n = 24; n < longer; n++) {
            uint32_t c = n < call.length ? n : call.length;
            uint32_t r = n < reply.length ? n : reply.length;
            struct bench b;

            bench_open(&b, RPC_DEPTH_FULL, 0, 0);
            feed_short(&b, &b.connection, CLIENT, &call, c, 1);
            feed_short(&b, &b.connection, SERVER, &reply, r, 2);
            assert_int_equal(b.count, 1);
            assert_int_equal(b.kept[0].tx.outcome, RPC_REPLIED);
            assert_int_equal(b.kept[0].tx.procedure, procedure);
            assert_int_equal(losses(&b)->malformed_calls, 0);
            assert_int_equal(losses(&b)->malformed_replies, 0);
            feed_cut(&b, &b.connection, CLIENT, &call, c, 3);
            feed_cut(&b, &b.connection, SERVER, &reply, r, 4);
            assert_int_equal(losses(&b)->malformed_calls, n < call.length);
            bench_close(&b);
        }
    }
}

static void
what_is_kept_of_a_lookup(void **state)
{
    const struct nfs_detail *n;
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    call3(&m, 1, 3, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    reply3(&m, 1, 3);
    feed(&b, &b.connection, SERVER, &m, 2);
    n = b.kept[0].operations[0].detail;
    assert_string_equal(n->name, "name");
    assert_int_equal(n->handle.length, 32);
    assert_int_equal(n->handle.bytes[0], 0x11);
    assert_int_equal(n->result_handle.bytes[31], 0x44);
    assert_true(n->handle.hash != n->result_handle.hash);
    assert_true(n->after.fileid == 4711);
    assert_true(n->after.size == 632);
    assert_true(n->after.atime.seconds == 1000000);
    assert_int_equal(n->after.atime.nanoseconds, 1000);
    assert_true(n->after.mtime.seconds == 1000001);
    assert_true(n->after.ctime.seconds == 1000002);
    bench_close(&b);
}

static void
what_is_kept_of_a_setattr(void **state)
{
    (void)state;
    for (unsigned depth = 0; depth < 2; depth++) {
        const struct nfs_detail *n;
        struct message m;
        struct bench b;

        bench_open(&b, depth ? RPC_DEPTH_FULL : RPC_DEPTH_COUNTS, 0, 0);
        call3(&m, 1, 2, 0);
        feed(&b, &b.connection, CLIENT, &m, 1);
        reply3(&m, 1, 2);
        feed(&b, &b.connection, SERVER, &m, 2);
        n = b.kept[0].operations[0].detail;
        assert_int_equal(n->sattr.atime_how, NFS_TIME_SERVER);
        assert_int_equal(n->sattr.mtime_how, NFS_TIME_CLIENT);
        assert_true(n->sattr.mtime.seconds == 100);
        assert_int_equal(n->sattr.mtime.nanoseconds, 200);
        assert_true(n->sattr.mode && n->sattr.size);
        assert_false(n->sattr.owner || n->sattr.group || n->sattr.empty);
        if (depth == 1) {
            assert_true(n->before.mtime.seconds == 2000000);
            assert_true(n->before.size == 631);
            assert_int_equal(n->before.valid & NFS_ATTR_ATIME, 0);
            assert_true(n->after.atime.seconds == 1000000);
        }
        bench_close(&b);
    }
}

/* A SETATTR that sets nothing costs as much as one that does. */
static void
empty_setattr(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    put_call(&m, 1, 100003, 3, 2);
    put_handle(&m, 32, 1);
    zeros(&m, 6);
    zeros(&m, 1);
    feed(&b, &b.connection, CLIENT, &m, 1);
    rpc_match_finish(b.match, 2);
    assert_true(b.kept[0].operations[0].detail->sattr.empty);
    bench_close(&b);
}

static void
what_is_kept_of_reads_and_writes(void **state)
{
    const struct nfs_detail *n;
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    call3(&m, 1, 6, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    reply3(&m, 1, 6);
    feed(&b, &b.connection, SERVER, &m, 2);
    n = b.kept[0].operations[0].detail;
    assert_true(n->offset == UINT64_C(0x100000000));
    assert_int_equal(n->count_requested, 4096);
    assert_int_equal(n->count_done, 9);
    call3(&m, 2, 7, 0);
    feed(&b, &b.connection, CLIENT, &m, 3);
    reply3(&m, 2, 7);
    feed(&b, &b.connection, SERVER, &m, 4);
    n = b.kept[1].operations[0].detail;
    assert_int_equal(n->count_requested, 5);
    assert_int_equal(n->count_done, 5);
    bench_close(&b);
}

/* Count 4096, four bytes of data, and the record ends: malformed, counted,
 * and the call stays answered. The same with a length beyond the record. */
static void
read_that_contradicts_itself(void **state)
{
    static const uint32_t lengths[] = {4, 4096, 0xfffffffc};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct message m;
        struct bench b;

        bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
        call3(&m, 1, 6, 0);
        feed(&b, &b.connection, CLIENT, &m, 1);
        put_reply(&m, 1);
        put32(&m, 0);
        put32(&m, 0); /* no attributes */
        put32(&m, 4096);
        put32(&m, 0);
        put32(&m, lengths[i]);
        put32(&m, 0);
        feed(&b, &b.connection, SERVER, &m, 2);
        assert_int_equal(b.kept[0].tx.outcome, RPC_REPLIED);
        assert_int_equal(b.kept[0].tx.status, 0);
        assert_true(b.kept[0].tx.flags & RPC_TX_REPLY_MALFORMED);
        assert_int_equal(losses(&b)->malformed_replies, 1);
        bench_close(&b);
    }
}

/* The payload is a hole, as the packet half leaves it: nothing is missed. */
static void
payload_may_be_a_hole(void **state)
{
    struct rpc_record record = {0};
    struct rpc_piece pieces[2];
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    call3(&m, 1, 6, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_reply(&m, 1);
    put32(&m, 0);
    put_post_op(&m);
    put32(&m, 1 << 20);
    put32(&m, 0);
    put32(&m, 1 << 20);
    pieces[0] = (struct rpc_piece){0, 50, m.bytes};
    pieces[1] = (struct rpc_piece){50, m.length - 50, m.bytes + 50};
    record.connection = &b.connection;
    record.direction = SERVER;
    record.flags = RPC_RECORD_SKIPPED;
    record.length = m.length + (1 << 20);
    record.pieces = pieces;
    record.piece_count = 2;
    record.first_ns = 5;
    record.last_ns = 6;
    rpc_match_record(b.match, &record);
    assert_int_equal(b.kept[0].tx.flags, 0);
    assert_int_equal(b.kept[0].operations[0].detail->count_done, 1 << 20);
    assert_true(b.kept[0].operations[0].detail->after.fileid == 4711);
    assert_int_equal(losses(&b)->trailing_bytes, 0);
    bench_close(&b);
}

/* RFC 1813 section 2.4: at most 64 bytes. */
static void
handle_lengths(void **state)
{
    static const uint32_t lengths[] = {0, 64, 65, 128, 0xffffffff};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        for (unsigned depth = 0; depth < 2; depth++) {
            struct message m;
            struct bench b;

            bench_open(&b, depth ? RPC_DEPTH_FULL : RPC_DEPTH_COUNTS, 0, 0);
            put_call(&m, 1, 100003, 3, 4);
            if (lengths[i] < 200) {
                put_handle(&m, lengths[i], 1);
            } else {
                put32(&m, lengths[i]);
            }
            put32(&m, 1);
            feed(&b, &b.connection, CLIENT, &m, 1);
            assert_int_equal(losses(&b)->malformed_calls, lengths[i] > 64);
            bench_close(&b);
        }
    }
}

/* A name of 4 GiB in a record of 100 bytes; one longer than is kept. */
static void
name_lengths(void **state)
{
    static char name[3000];
    struct message m;
    struct bench b;

    (void)state;
    memset(name, 'n', sizeof(name));
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    put_call(&m, 1, 100003, 3, 3);
    put_handle(&m, 32, 1);
    put32(&m, 0xffffffff);
    put32(&m, 0);
    feed(&b, &b.connection, CLIENT, &m, 1);
    assert_int_equal(losses(&b)->malformed_calls, 1);
    put_call(&m, 2, 100003, 3, 3);
    put_handle(&m, 32, 1);
    put_opaque(&m, name, sizeof(name));
    feed(&b, &b.connection, CLIENT, &m, 2);
    rpc_match_finish(b.match, 3);
    assert_int_equal(losses(&b)->malformed_calls, 1);
    assert_int_equal(b.kept[1].operations[0].detail->name_length, 1024);
    assert_int_equal(losses(&b)->trailing_bytes, 0);
    bench_close(&b);
}

/* --- version 2, RFC 1094 ---------------------------------------------------
 */

static void
handle2(struct message *m)
{
    put_pattern(m, 32, 0x40);
}

/* Section 2.3.5, times in seconds and microseconds. */
static void
fattr2(struct message *m)
{
    put32(m, 1);
    put32(m, 0100644);
    put32(m, 1);
    put32(m, 1000);
    put32(m, 100);
    put32(m, 632);
    put32(m, 4096);
    put32(m, 0);
    put32(m, 8);
    put32(m, 7);
    put32(m, 4711);
    for (uint32_t i = 0; i < 3; i++) {
        put32(m, 100 + i);
        put32(m, 500 + i);
    }
}

static void
version_2_has_its_own_layout(void **state)
{
    const struct nfs_detail *n;
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    put_call(&m, 1, 100003, 2, 1);
    handle2(&m);
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_reply(&m, 1);
    put32(&m, 0);
    fattr2(&m);
    feed(&b, &b.connection, SERVER, &m, 2);
    n = b.kept[0].operations[0].detail;
    assert_int_equal(n->handle.length, 32);
    assert_true(n->after.atime.seconds == 100);
    assert_int_equal(n->after.atime.nanoseconds, 500000); /* 500 us */
    assert_true(n->after.size == 632);
    assert_true(n->after.fileid == 4711);
    assert_true(n->after.ctime.seconds == 102);
    assert_int_equal(losses(&b)->trailing_bytes, 0);
    bench_close(&b);
}

/* Section 2.3.6: mode, uid, gid, size, atime, mtime; -1 leaves a field. */
static void
version_2_setattr(void **state)
{
    static const uint32_t words[4][8] = {
        {0644, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u},
        {~0u, ~0u, ~0u, ~0u, 5, 6, ~0u, ~0u},
        {~0u, ~0u, ~0u, ~0u, 5, 0, 5, 1000000},
        {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u},
    };
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_COUNTS, 0, 0);
    for (uint32_t i = 0; i < 4; i++) {
        struct message m;

        put_call(&m, i, 100003, 2, 2);
        handle2(&m);
        for (unsigned k = 0; k < 8; k++) {
            put32(&m, words[i][k]);
        }
        feed(&b, &b.connection, CLIENT, &m, 1);
    }
    rpc_match_finish(b.match, 2);
    assert_true(b.kept[0].details[0].sattr.mode);
    assert_int_equal(b.kept[0].details[0].sattr.atime_how, NFS_TIME_KEEP);
    assert_false(b.kept[0].details[0].sattr.empty);
    assert_int_equal(b.kept[1].details[0].sattr.atime_how, NFS_TIME_CLIENT);
    assert_int_equal(b.kept[1].details[0].sattr.atime.nanoseconds, 6000);
    assert_int_equal(b.kept[1].details[0].sattr.mtime_how, NFS_TIME_KEEP);
    assert_int_equal(b.kept[2].details[0].sattr.atime_how, NFS_TIME_SERVER);
    assert_int_equal(b.kept[2].details[0].sattr.mtime_how, NFS_TIME_SERVER);
    assert_true(b.kept[3].details[0].sattr.empty);
    assert_int_equal(losses(&b)->trailing_bytes, 0);
    bench_close(&b);
}

static void
call2(struct message *m, uint32_t xid, uint32_t procedure)
{
    put_call(m, xid, 100003, 2, procedure);
    if (procedure == 0 || procedure == 3 || procedure == 7) {
        return;
    }
    handle2(m);
    switch (procedure) {
    case 2:
        zeros(m, 8);
        break;
    case 4:
    case 10:
    case 15:
        put_string(m, "name");
        break;
    case 6:
        zeros(m, 3);
        break;
    case 8:
        zeros(m, 3);
        put_opaque(m, "abc", 3);
        break;
    case 9:
    case 14:
        put_string(m, "new");
        zeros(m, 8);
        break;
    case 11:
    case 12:
        if (procedure == 11) {
            put_string(m, "from");
        }
        handle2(m);
        put_string(m, "to");
        break;
    case 13:
        put_string(m, "link");
        put_string(m, "target");
        zeros(m, 8);
        break;
    case 16:
        zeros(m, 2);
        break;
    default:
        break;
    }
}

static void
reply2(struct message *m, uint32_t xid, uint32_t procedure)
{
    put_reply(m, xid);
    if (procedure == 0 || procedure == 3 || procedure == 7) {
        return;
    }
    put32(m, 0);
    switch (procedure) {
    case 1:
    case 2:
    case 8:
        fattr2(m);
        break;
    case 4:
    case 9:
    case 14:
        handle2(m);
        fattr2(m);
        break;
    case 5:
        put_string(m, "target");
        break;
    case 6:
        fattr2(m);
        put_opaque(m, "abc", 3);
        break;
    case 16:
        put32(m, 1);
        put32(m, 9);
        put_string(m, "entry");
        put32(m, 1);
        put32(m, 0);
        put32(m, 1);
        break;
    case 17:
        zeros(m, 5);
        break;
    default:
        break;
    }
}

static void
each_procedure_of_version_2(void **state)
{
    (void)state;
    for (uint32_t procedure = 0; procedure <= 17; procedure++) {
        struct message call, reply;
        struct bench b;

        bench_open(&b, RPC_DEPTH_FULL, 0, 0);
        call2(&call, 1, procedure);
        reply2(&reply, 1, procedure);
        feed(&b, &b.connection, CLIENT, &call, 1);
        feed(&b, &b.connection, SERVER, &reply, 2);
        assert_int_equal(b.kept[0].tx.flags, 0);
        assert_int_equal(losses(&b)->trailing_bytes, 0);
        for (uint32_t n = 24; n < call.length; n++) {
            call.bytes[2] = (uint8_t)n;
            feed_short(&b, &b.connection, CLIENT, &call, n, 3);
            feed_cut(&b, &b.connection, CLIENT, &call, n, 3);
        }
        bench_close(&b);
    }
}

/* --- the programs beside NFS -----------------------------------------------
 */

static void
mount_gives_a_handle(void **state)
{
    (void)state;
    for (uint32_t version = 1; version <= 3; version++) {
        struct message m;
        struct bench b;

        bench_open(&b, RPC_DEPTH_FULL, 0, 0);
        put_call(&m, 1, 100005, version, 1);
        put_string(&m, "/srv");
        feed(&b, &b.connection, CLIENT, &m, 1);
        put_reply(&m, 1);
        put32(&m, 0);
        if (version == 3) {
            put_handle(&m, 28, 0x55);
            put32(&m, 2);
            put32(&m, 1);
            put32(&m, 390003);
        } else {
            put_pattern(&m, 32, 0x55);
        }
        feed(&b, &b.connection, SERVER, &m, 2);
        assert_string_equal(b.kept[0].details[0].name, "/srv");
        assert_int_equal(b.kept[0].details[0].result_handle.length,
                         version == 3 ? 28 : 32);
        assert_int_equal(b.kept[0].details[0].result_handle.bytes[0], 0x55);
        assert_int_equal(losses(&b)->trailing_bytes, 0);
        put_call(&m, 2, 100005, version, 5); /* EXPORT */
        feed(&b, &b.connection, CLIENT, &m, 3);
        put_reply(&m, 2);
        put32(&m, 1);
        put_string(&m, "/srv");
        put32(&m, 1);
        put_string(&m, "10.0.0.0/24");
        put32(&m, 0);
        put32(&m, 0);
        feed(&b, &b.connection, SERVER, &m, 4);
        assert_int_equal(b.kept[1].tx.flags, 0);
        assert_int_equal(losses(&b)->trailing_bytes, 0);
        bench_close(&b);
    }
}

/* RFC 1813 section 6.3: nlm4_res is a cookie and a status. */
static void
lock_manager_statuses(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    put_call(&m, 1, 100021, 4, 2);
    put_string(&m, "cookie");
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_reply(&m, 1);
    put_string(&m, "cookie");
    put32(&m, 3); /* NLM4_BLOCKED */
    feed(&b, &b.connection, SERVER, &m, 2);
    assert_true(b.kept[0].tx.status_known);
    assert_int_equal(b.kept[0].tx.status, 3);
    bench_close(&b);
}

static void
acl_access_is_access(void **state)
{
    struct message m;
    struct bench b;

    (void)state;
    bench_open(&b, RPC_DEPTH_FULL, 0, 0);
    put_call(&m, 1, 100227, 2, 4);
    handle2(&m);
    put32(&m, 0x3f);
    feed(&b, &b.connection, CLIENT, &m, 1);
    put_reply(&m, 1);
    put32(&m, 0);
    fattr2(&m);
    put32(&m, 0x2d);
    feed(&b, &b.connection, SERVER, &m, 2);
    assert_int_equal(b.kept[0].details[0].access_requested, 0x3f);
    assert_int_equal(b.kept[0].details[0].access_granted, 0x2d);
    bench_close(&b);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_procedure_is_read_to_its_end),
        cmocka_unit_test(each_failure_is_read_to_its_end),
        cmocka_unit_test(every_prefix_of_every_procedure),
        cmocka_unit_test(what_is_kept_of_a_lookup),
        cmocka_unit_test(what_is_kept_of_a_setattr),
        cmocka_unit_test(empty_setattr),
        cmocka_unit_test(what_is_kept_of_reads_and_writes),
        cmocka_unit_test(read_that_contradicts_itself),
        cmocka_unit_test(payload_may_be_a_hole),
        cmocka_unit_test(handle_lengths),
        cmocka_unit_test(name_lengths),
        cmocka_unit_test(version_2_has_its_own_layout),
        cmocka_unit_test(version_2_setattr),
        cmocka_unit_test(each_procedure_of_version_2),
        cmocka_unit_test(mount_gives_a_handle),
        cmocka_unit_test(lock_manager_statuses),
        cmocka_unit_test(acl_access_is_access),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
