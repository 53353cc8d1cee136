/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names learned from NFSv4 COMPOUNDs, and the handles of ACCESS at the depth
 * of counting. What is expected follows from RFC 8881 sections 16.2.3.1.1
 * (current and saved file handle) and 18.26 (RENAME).
 */
#include "analysis/file_names.h"
#include "analysis/rpc_counts.h"
#include "capture/rpc_message.h"
#include "tests/unit/rpc_support.h"

#include <string.h>

enum {
    CLIENT = 0,
    SERVER = 1,
    ACCESS = 3,
    GETFH = 10,
    LINK = 11,
    LOOKUP = 15,
    OPEN = 18,
    PUTFH = 22,
    PUTROOTFH = 24,
    READDIR = 26,
    RENAME = 29,
    RESTOREFH = 31,
    SAVEFH = 32,
    SEQUENCE = 53,
};

/* A matcher whose transactions go to names and counts. */
struct rig {
    struct rpc_match *match;
    struct rpc_connection connection;
    struct file_names *names;
    struct rpc_counts *counts;
    struct rpc_operation last; /* that has a detail, of the last transaction */
    struct nfs_detail detail;
};

static void
take(void *context, const struct rpc_transaction *tx)
{
    struct rig *rig = context;
    uint32_t i;

    file_names_learn(rig->names, tx);
    rpc_counts_transaction(rig->counts, tx);
    for (i = 0; i < tx->operation_count; i++) {
        if (tx->operations[i].detail == NULL ||
            tx->operations[i].number == GETFH)
            continue;
        rig->last = tx->operations[i];
        rig->detail = *tx->operations[i].detail;
    }
}

static void
rig_open(struct rig *rig, enum rpc_depth depth)
{
    const struct rpc_transaction_sink sink = {rig, take, NULL};
    struct capture_options options;

    memset(rig, 0, sizeof *rig);
    capture_options_default(&options);
    options.depth = depth;
    rig->names = file_names_new();
    rig->counts = rpc_counts_new(INT64_C(3000000000));
    rig->match = rpc_match_new(&options, &sink);
    assert_non_null(rig->names);
    assert_non_null(rig->counts);
    assert_non_null(rig->match);
    connection_set(&rig->connection, 1, 700, 2049);
}

static void
rig_close(struct rig *rig)
{
    rpc_match_finish(rig->match, 0);
    rpc_match_free(rig->match);
    file_names_free(rig->names);
    rpc_counts_free(rig->counts);
}

/* In pieces of so many bytes. */
static void
send_pieces(struct rig *rig, unsigned direction, const struct message *m,
            uint32_t size, int64_t when_ns)
{
    static struct rpc_piece pieces[2048];
    struct rpc_record record = {
        .connection = &rig->connection,
        .direction = direction,
        .length = m->length,
        .fragments = 1,
        .pieces = pieces,
        .first_ns = when_ns,
        .last_ns = when_ns,
    };
    uint32_t at;

    for (at = 0; at < m->length; at += size) {
        pieces[record.piece_count].offset = at;
        pieces[record.piece_count].length =
            m->length - at < size ? m->length - at : size;
        pieces[record.piece_count++].data = m->bytes + at;
    }
    rpc_match_record(rig->match, &record);
}

static void
send_message(struct rig *rig, unsigned direction, const struct message *m,
             int64_t when_ns)
{
    send_pieces(rig, direction, m, sizeof m->bytes, when_ns);
}

/* Of put_handle(28, fill). */
static uint64_t
hash_of(uint8_t fill)
{
    uint8_t bytes[28];

    memset(bytes, fill, sizeof bytes);
    return rpc_hash(bytes, sizeof bytes, 0);
}

static void
expect_path(const struct rig *rig, uint8_t fill, const char *path)
{
    char text[512];

    file_names_path(rig->names, hash_of(fill), ESCAPE_TERMINAL, text,
                    sizeof text);
    assert_string_equal(text, path);
}

static void
putfh(struct message *m, uint8_t fill)
{
    put32(m, PUTFH);
    put_handle(m, 28, fill);
}

static void
done(struct message *m, uint32_t operation)
{
    put32(m, operation);
    put32(m, 0);
}

/* PUTROOTFH, GETFH: the root; PUTFH, LOOKUP, GETFH below it. */
static void
learn_root_and(struct rig *rig, uint8_t directory, uint8_t file,
               const char *name, int64_t when)
{
    struct message m = {.length = 0};

    put_compound(&m, (uint32_t)when, 1, 2);
    put32(&m, PUTROOTFH);
    put32(&m, GETFH);
    send_message(rig, CLIENT, &m, when);
    m.length = 0;
    put_compound_reply(&m, (uint32_t)when, 0, 2);
    done(&m, PUTROOTFH);
    done(&m, GETFH);
    put_handle(&m, 28, 1);
    send_message(rig, SERVER, &m, when + 1);

    m.length = 0;
    put_compound(&m, (uint32_t)when + 2, 1, 3);
    putfh(&m, directory);
    put32(&m, LOOKUP);
    put_string(&m, name);
    put32(&m, GETFH);
    send_message(rig, CLIENT, &m, when + 2);
    m.length = 0;
    put_compound_reply(&m, (uint32_t)when + 2, 0, 3);
    done(&m, PUTFH);
    done(&m, LOOKUP);
    done(&m, GETFH);
    put_handle(&m, 28, file);
    send_message(rig, SERVER, &m, when + 3);
}

static void
test_lookup_and_root(void **state)
{
    struct rig rig;
    char text[64];

    (void)state;
    rig_open(&rig, RPC_DEPTH_FULL);
    assert_false(file_names_path(rig.names, hash_of(1), ESCAPE_TERMINAL, text,
                                 sizeof text));
    assert_int_equal(strlen(text), 10); /* [01234567] */
    learn_root_and(&rig, 1, 2, "srv", 10);
    learn_root_and(&rig, 2, 3, "file", 20);
    expect_path(&rig, 1, "/");
    expect_path(&rig, 2, "/srv");
    expect_path(&rig, 3, "/srv/file");
    rig_close(&rig);
}

/* PUTFH from, SAVEFH, PUTFH to, the operation. */
static void
two_directories(struct rig *rig, uint32_t operation, uint8_t from, uint8_t to,
                const char *name, const char *new_name, uint32_t status)
{
    struct message m = {.length = 0};
    static uint32_t xid = 1000;

    xid++;
    put_compound(&m, xid, 1, 4);
    putfh(&m, from);
    put32(&m, SAVEFH);
    putfh(&m, to);
    put32(&m, operation);
    put_string(&m, name);
    if (new_name != NULL)
        put_string(&m, new_name);
    send_message(rig, CLIENT, &m, 1000);
    m.length = 0;
    put_compound_reply(&m, xid, status, 4);
    done(&m, PUTFH);
    done(&m, SAVEFH);
    done(&m, PUTFH);
    put32(&m, operation);
    put32(&m, status);
    if (status == 0)
        put_pattern(&m, operation == RENAME ? 40 : 20, 0); /* change_info4 */
    send_message(rig, SERVER, &m, 1001);
}

static void
test_rename(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig, RPC_DEPTH_FULL);
    learn_root_and(&rig, 1, 2, "a", 10);
    learn_root_and(&rig, 1, 3, "b", 20);
    learn_root_and(&rig, 2, 4, "file", 30);
    expect_path(&rig, 4, "/a/file");
    two_directories(&rig, RENAME, 2, 3, "file", "moved", 13);
    expect_path(&rig, 4, "/a/file"); /* refused */
    two_directories(&rig, RENAME, 2, 3, "file", "moved", 0);
    expect_path(&rig, 4, "/b/moved");
    assert_true(rig.detail.handle.hash == hash_of(2));
    assert_true(rig.detail.result_handle.hash == hash_of(3));
    assert_int_equal(rig.detail.name_length, 4);
    assert_int_equal(rig.detail.new_name_length, 5);
    two_directories(&rig, RENAME, 1, 1, "b", "c", 0);
    expect_path(&rig, 4, "/c/moved"); /* with its directory */
    rig_close(&rig);
}

/* The new name is the file's second one: it keeps the first. */
static void
test_link(void **state)
{
    struct rig rig;

    (void)state;
    rig_open(&rig, RPC_DEPTH_FULL);
    learn_root_and(&rig, 1, 2, "a", 10);
    learn_root_and(&rig, 2, 4, "file", 30);
    two_directories(&rig, LINK, 4, 1, "link", NULL, 0);
    assert_true(rig.detail.handle.hash == hash_of(1));
    assert_true(rig.detail.result_handle.hash == hash_of(4));
    expect_path(&rig, 4, "/a/file");
    rig_close(&rig);
}

/* Section 18.23: entries with attributes, the handle (19) among them or not;
 * type (1) before it and fileid (20) after it. */
static void
test_readdir(void **state)
{
    struct message m = {.length = 0}, values = {.length = 0};
    struct rig rig;

    (void)state;
    rig_open(&rig, RPC_DEPTH_FULL);
    learn_root_and(&rig, 1, 2, "dir", 10);
    put_compound(&m, 77, 1, 2);
    putfh(&m, 2);
    put32(&m, READDIR);
    put64(&m, 0);
    put64(&m, 0);
    put32(&m, 4096);
    put32(&m, 4096);
    put32(&m, 0); /* bitmap */
    send_message(&rig, CLIENT, &m, 100);
    m.length = 0;
    put_compound_reply(&m, 77, 0, 2);
    done(&m, PUTFH);
    done(&m, READDIR);
    put64(&m, 0); /* verifier */
    for (uint8_t i = 0; i < 3; i++) {
        values.length = 0;
        put32(&m, 1);
        put64(&m, i);
        put_string(&m, i == 0 ? "zero" : i == 1 ? "one" : "two");
        put32(&m, 1);
        put32(&m, 1u << 1 | (i != 1 ? 1u << 19 : 0) | 1u << 20);
        put32(&values, 1);
        if (i != 1)
            put_handle(&values, 28, (uint8_t)(100 + i));
        put64(&values, 4711);
        put_opaque(&m, values.bytes, values.length);
    }
    put32(&m, 0);
    put32(&m, 1);
    send_message(&rig, SERVER, &m, 101);
    assert_int_equal(rig.detail.entry_count, 3);
    assert_int_equal(rig.detail.count_done, 3);
    expect_path(&rig, 100, "/dir/zero");
    expect_path(&rig, 102, "/dir/two");
    rig_close(&rig);
}

/* Section 18.16: OPEN of a name, or of the current file itself. */
static void
open_arguments(struct message *m, uint32_t claim)
{
    put32(m, 0); /* seqid */
    put32(m, 1); /* share access, deny */
    put32(m, 0);
    put64(m, 1); /* owner */
    put_string(m, "owner");
    put32(m, 0); /* OPEN4_NOCREATE */
    put32(m, claim);
    if (claim == 0)
        put_string(m, "name");
}

/* READDIRPLUS of NFSv3 in pieces of all kinds of sizes: names and handles
 * across their borders, more of them than the scratch would hold. */
static void
test_readdirplus_in_pieces(void **state)
{
    static struct message m;
    char name[256], path[280];
    uint32_t size;

    (void)state;
    for (size = 33; size < 1500; size += 97) {
        struct rig rig;

        rig_open(&rig, RPC_DEPTH_FULL);
        learn_root_and(&rig, 1, 2, "dir", 10);
        m.length = 0;
        put_call(&m, 1, SUNRPC_NFS, 3, 17);
        put_handle(&m, 28, 2);
        put64(&m, 0);
        put64(&m, 0);
        put32(&m, 512);
        put32(&m, 65536);
        send_message(&rig, CLIENT, &m, 100);
        m.length = 0;
        put_reply(&m, 1);
        put32(&m, 0);
        put32(&m, 0); /* no attributes */
        put64(&m, 0); /* verifier */
        for (uint8_t i = 100; i < 200; i++) {
            memset(name, i % 26 + 'a', 255);
            name[255] = '\0';
            put32(&m, 1);
            put64(&m, i);
            put_string(&m, name);
            put64(&m, i);
            put32(&m, 0);
            put32(&m, 1);
            put_handle(&m, 28, i);
        }
        put32(&m, 0);
        put32(&m, 1);
        send_pieces(&rig, SERVER, &m, size, 101);
        assert_int_equal(rig.detail.entry_count, 100);
        for (uint8_t i = 100; i < 200; i++) {
            memset(name, i % 26 + 'a', 255);
            snprintf(path, sizeof path, "/dir/%s", name);
            expect_path(&rig, i, path);
        }
        assert_int_equal(rpc_match_losses(rig.match)->partly_decoded, 0);
        rig_close(&rig);
    }
}

/* --- ACCESS when counting ------------------------------------------------------- */

static void
access_after(struct rig *rig, const uint32_t *operations, size_t count,
             uint32_t claim)
{
    struct message m = {.length = 0};
    static uint32_t xid = 5000;

    put_compound(&m, ++xid, 0, (uint32_t)count + 3);
    putfh(&m, 7);
    put32(&m, SAVEFH);
    for (size_t i = 0; i < count; i++) {
        put32(&m, operations[i]);
        if (operations[i] == LOOKUP)
            put_string(&m, "name");
        if (operations[i] == PUTFH)
            put_handle(&m, 28, 8);
        if (operations[i] == OPEN)
            open_arguments(&m, claim);
    }
    put32(&m, ACCESS);
    put32(&m, 0x21);
    send_message(rig, CLIENT, &m, 1000);
    m.length = 0;
    put_compound_reply(&m, xid, 0, (uint32_t)count + 3);
    done(&m, PUTFH);
    done(&m, SAVEFH);
    for (size_t i = 0; i < count; i++) {
        done(&m, operations[i]);
        if (operations[i] == GETFH)
            put_handle(&m, 28, 9);
        if (operations[i] == OPEN) {
            put_pattern(&m, 16 + 20 + 4, 0); /* stateid, change, flags */
            put32(&m, 0);                    /* attributes */
            put32(&m, 0);                    /* delegation */
        }
    }
    done(&m, ACCESS);
    put32(&m, 0x21);
    put32(&m, 0x21);
    send_message(rig, SERVER, &m, 1001);
    assert_int_equal(rig->last.number, ACCESS);
}

static void
test_access_handles_when_counting(void **state)
{
    static const uint32_t lookup[] = {LOOKUP}, back[] = {LOOKUP, RESTOREFH},
                          other[] = {PUTFH}, root[] = {PUTROOTFH},
                          told[] = {LOOKUP, GETFH},
                          left[] = {LOOKUP, GETFH, RESTOREFH},
                          opened[] = {OPEN};
    struct rig rig;
    size_t rows;

    (void)state;
    rig_open(&rig, RPC_DEPTH_COUNTS);
    access_after(&rig, NULL, 0, 0);
    assert_true(rig.detail.handle.hash == hash_of(7));
    access_after(&rig, other, 1, 0);
    assert_true(rig.detail.handle.hash == hash_of(8));
    assert_true(rpc_counts_handles_known(rig.counts));
    access_after(&rig, NULL, 0, 0); /* again: the only redundant one */
    assert_int_equal(rpc_counts_accesses(rig.counts, &rows)[0].redundant, 1);
    assert_int_equal(rows, 1);
    access_after(&rig, told, 2, 0); /* by the reply */
    assert_true(rig.detail.handle.hash == hash_of(9));
    assert_true(rpc_counts_handles_known(rig.counts));
    access_after(&rig, opened, 1, 4); /* CLAIM_FH: the file stays */
    assert_true(rig.detail.handle.hash == hash_of(7));
    assert_true(rpc_counts_handles_known(rig.counts));
    /* Another file, or one that a short look does not tell: not known. */
    access_after(&rig, lookup, 1, 0);
    assert_true(rig.detail.handle.hash == 0);
    access_after(&rig, back, 2, 0);
    assert_true(rig.detail.handle.hash == 0);
    access_after(&rig, opened, 1, 0); /* CLAIM_NULL */
    assert_true(rig.detail.handle.hash == 0);
    access_after(&rig, left, 3, 0);
    assert_true(rig.detail.handle.hash == 0);
    access_after(&rig, root, 1, 0);
    assert_true(rig.detail.handle.hash == 0);
    assert_false(rpc_counts_handles_known(rig.counts));
    rig_close(&rig);
}

static void
test_access_of_version_3_when_counting(void **state)
{
    struct message m = {.length = 0};
    struct rig rig;

    (void)state;
    rig_open(&rig, RPC_DEPTH_COUNTS);
    put_call(&m, 1, SUNRPC_NFS, 3, 4);
    put_handle(&m, 28, 7);
    put32(&m, 0x21);
    send_message(&rig, CLIENT, &m, 1);
    m.length = 0;
    put_reply(&m, 1);
    put32(&m, 0);
    put_post_op(&m);
    put32(&m, 0x21);
    send_message(&rig, SERVER, &m, 2);
    assert_true(rig.detail.handle.hash == hash_of(7));
    assert_true(rpc_counts_handles_known(rig.counts));
    rig_close(&rig);
}

/* More files than there is room for: the oldest are forgotten. */
static void
test_forgets(void **state)
{
    struct nfs_detail detail = {.name = "f", .name_length = 1};
    struct rpc_operation operation = {
        .number = 3, .flags = RPC_OP_IN_REPLY, .detail = &detail};
    const struct rpc_transaction tx = {
        .outcome = RPC_REPLIED,
        .program = SUNRPC_NFS,
        .version = 3,
        .procedure = 3,
        .operation_count = 1,
        .operations = &operation,
    };
    struct file_names *names = file_names_new();
    char text[32];
    uint64_t i;

    (void)state;
    assert_non_null(names);
    detail.handle.hash = 99;
    for (i = 1; i <= 200000; i++) {
        detail.result_handle.hash = i << 20 | 1;
        file_names_learn(names, &tx);
    }
    assert_true(file_names_forgotten(names) >= 200000 - 8192 * 4);
    assert_true(file_names_path(names, UINT64_C(200000) << 20 | 1,
                                ESCAPE_TERMINAL, text, sizeof text));
    assert_string_equal(text, "[00000000]/f");
    /* A buffer too small for the path: its end, behind dots. */
    assert_true(file_names_path(names, UINT64_C(200000) << 20 | 1,
                                ESCAPE_TERMINAL, text, 8));
    assert_string_equal(text, ".../f");
    file_names_free(names);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup_and_root),
        cmocka_unit_test(test_rename),
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_readdir),
        cmocka_unit_test(test_readdirplus_in_pieces),
        cmocka_unit_test(test_access_handles_when_counting),
        cmocka_unit_test(test_access_of_version_3_when_counting),
        cmocka_unit_test(test_forgets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
