/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "tests/unit/rpc_support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void
put_bytes(struct message *m, const void *data, uint32_t length)
{
    assert_true(length <= sizeof(m->bytes) - m->length);
    if (length > 0) {
        memcpy(m->bytes + m->length, data, length);
    }
    m->length += length;
}

void
put32(struct message *m, uint32_t v)
{
    uint8_t b[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
                    (uint8_t)v};

    put_bytes(m, b, 4);
}

void
put64(struct message *m, uint64_t v)
{
    put32(m, (uint32_t)(v >> 32));
    put32(m, (uint32_t)v);
}

void
put_opaque(struct message *m, const void *data, uint32_t length)
{
    put32(m, length);
    put_bytes(m, data, length);
    while (m->length % 4 != 0) {
        put_bytes(m, "", 1);
    }
}

void
put_string(struct message *m, const char *text)
{
    put_opaque(m, text, (uint32_t)strlen(text));
}

void
put_pattern(struct message *m, uint32_t count, uint8_t first)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t b = (uint8_t)(first + i);

        put_bytes(m, &b, 1);
    }
}

void
put_handle(struct message *m, uint32_t length, uint8_t fill)
{
    uint8_t bytes[256];

    memset(bytes, fill, sizeof(bytes));
    put_opaque(m, bytes, length);
}

void
put_call_head(struct message *m, uint32_t xid, uint32_t program,
              uint32_t version, uint32_t procedure)
{
    m->length = 0;
    put32(m, xid);
    put32(m, 0); /* CALL */
    put32(m, 2); /* RPC version */
    put32(m, program);
    put32(m, version);
    put32(m, procedure);
}

void
put_call(struct message *m, uint32_t xid, uint32_t program, uint32_t version,
         uint32_t procedure)
{
    put_call_head(m, xid, program, version, procedure);
    put32(m, 1); /* AUTH_SYS */
    put32(m, 4 + 4 + 8 + 4 + 4 + 4 + 4);
    put32(m, 0x5eed);
    put_string(m, "client");
    put32(m, 1000);
    put32(m, 100);
    put32(m, 1);
    put32(m, 100);
    put32(m, 0); /* verifier: AUTH_NONE */
    put32(m, 0);
}

void
put_reply(struct message *m, uint32_t xid)
{
    m->length = 0;
    put32(m, xid);
    put32(m, 1); /* REPLY */
    put32(m, 0); /* accepted */
    put32(m, 0); /* verifier */
    put32(m, 0);
    put32(m, 0); /* SUCCESS */
}

void
put_fattr3(struct message *m, uint64_t size, uint64_t fileid, uint32_t atime)
{
    put32(m, 1);    /* type: regular file */
    put32(m, 0644); /* mode */
    put32(m, 1);    /* nlink */
    put32(m, 1000); /* uid */
    put32(m, 100);  /* gid */
    put64(m, size);
    put64(m, 4096); /* used */
    put64(m, 0);    /* rdev */
    put64(m, 77);   /* fsid */
    put64(m, fileid);
    for (uint32_t i = 0; i < 3; i++) {
        put32(m, atime + i);
        put32(m, 1000 + i);
    }
}

void
put_post_op(struct message *m)
{
    put32(m, 1);
    put_fattr3(m, 632, 4711, 1000000);
}

void
put_wcc(struct message *m)
{
    put32(m, 1);
    put64(m, 631);
    put32(m, 2000000);
    put32(m, 5);
    put32(m, 3000000);
    put32(m, 6);
    put_post_op(m);
}

void
put_compound(struct message *m, uint32_t xid, uint32_t minor,
             uint32_t operations)
{
    put_call(m, xid, 100003, 4, 1);
    put_string(m, "tag");
    put32(m, minor);
    put32(m, operations);
}

void
put_compound_reply(struct message *m, uint32_t xid, uint32_t status,
                   uint32_t results)
{
    put_reply(m, xid);
    put32(m, status);
    put_string(m, "tag");
    put32(m, results);
}

const uint8_t *
guarded(const void *data, uint32_t length)
{
    enum { SPACE = 1 << 17 };
    static uint8_t *place;

    if (place == NULL) {
        long page = sysconf(_SC_PAGESIZE);

        place = mmap(NULL, SPACE + (size_t)page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(place, MAP_FAILED);
        assert_int_equal(mprotect(place + SPACE, (size_t)page, PROT_NONE), 0);
    }
    assert_true(length <= SPACE);
    if (length > 0) {
        memcpy(place + SPACE - length, data, length);
    }
    return place + SPACE - length;
}

/* --- the sink --------------------------------------------------------------
 */

static void
keep_operation(struct kept *k, uint32_t i, const struct rpc_operation *op)
{
    k->operations[i] = *op;
    if (op->detail == NULL) {
        return;
    }
    k->details[i] = *op->detail;
    k->operations[i].detail = &k->details[i];
    if (op->detail->name != NULL) {
        uint32_t n = op->detail->name_length;

        n = n < sizeof(k->names[i]) ? n : (uint32_t)sizeof(k->names[i]) - 1;
        memcpy(k->names[i], op->detail->name, n);
        k->names[i][n] = '\0';
        k->details[i].name = k->names[i];
    }
}

static void
on_transaction(void *context, const struct rpc_transaction *tx)
{
    struct bench *b = context;
    struct kept *k;

    if (b->count == KEPT) {
        return;
    }
    k = &b->kept[b->count++];
    memset(k, 0, sizeof(*k));
    k->tx = *tx;
    k->connection = *tx->connection;
    k->tx.connection = &k->connection;
    k->tx.operations = k->operations;
    for (uint32_t i = 0; i < tx->operation_count && i < KEPT_OPERATIONS; i++) {
        keep_operation(k, i, &tx->operations[i]);
    }
    if (tx->credential.machine_name != NULL &&
        tx->credential.machine_name_length < sizeof(k->machine)) {
        memcpy(k->machine, tx->credential.machine_name,
               tx->credential.machine_name_length);
    }
}

static void
on_late(void *context, const struct rpc_late *late)
{
    struct bench *b = context;

    if (b->late_count < 32) {
        b->late[b->late_count++] = *late;
    }
}

static void
on_port(void *context, uint16_t port)
{
    struct bench *b = context;

    if (b->port_count < 8) {
        b->ports[b->port_count++] = port;
    }
}

static void
on_tls(void *context, struct rpc_connection *connection)
{
    struct bench *b = context;

    assert_non_null(connection);
    b->tls_count++;
}

void
bench_open(struct bench *b, enum rpc_depth depth, size_t max_pending,
           int64_t timeout_ns)
{
    struct capture_options options;
    struct rpc_transaction_sink sink = {b, on_transaction, on_late};

    memset(&options, 0, sizeof(options));
    options.depth = depth;
    options.max_pending = max_pending;
    options.reply_timeout_ns = timeout_ns;
    memset(b, 0, sizeof(*b));
    b->kept = calloc(KEPT, sizeof(*b->kept));
    assert_non_null(b->kept);
    b->match = rpc_match_new(&options, &sink);
    assert_non_null(b->match);
    rpc_match_set_stream_hooks(b->match, b, on_port, on_tls);
    connection_set(&b->connection, 1, 700, 2049);
}

void
bench_close(struct bench *b)
{
    rpc_match_free(b->match);
    free(b->kept);
}

void
connection_set(struct rpc_connection *c, uint64_t serial, uint16_t client_port,
               uint16_t server_port)
{
    static const uint8_t client[4] = {10, 0, 0, 1}, server[4] = {10, 0, 0, 9};

    memset(c, 0, sizeof(*c));
    c->serial = serial;
    c->transport = RPC_TRANSPORT_TCP;
    c->ends[0].family = 4;
    c->ends[1].family = 4;
    memcpy(c->ends[0].address, client, 4);
    memcpy(c->ends[1].address, server, 4);
    c->ends[0].port = client_port;
    c->ends[1].port = server_port;
}

static void
feed_part(struct bench *b, struct rpc_connection *c, unsigned direction,
          const struct message *m, uint32_t captured, uint32_t length,
          int64_t when_ns)
{
    struct rpc_piece piece = {0, captured, guarded(m->bytes, captured)};
    struct rpc_record record;

    memset(&record, 0, sizeof(record));
    record.connection = c;
    record.direction = direction;
    record.flags = captured < length ? RPC_RECORD_SNAPPED : 0;
    record.length = length;
    record.fragments = 1;
    record.pieces = &piece;
    record.piece_count = captured > 0;
    record.first_ns = when_ns;
    record.last_ns = when_ns + 1;
    rpc_match_record(b->match, &record);
}

void
feed(struct bench *b, struct rpc_connection *c, unsigned direction,
     const struct message *m, int64_t when_ns)
{
    feed_part(b, c, direction, m, m->length, m->length, when_ns);
}

void
feed_short(struct bench *b, struct rpc_connection *c, unsigned direction,
           const struct message *m, uint32_t captured, int64_t when_ns)
{
    feed_part(b, c, direction, m, captured, m->length, when_ns);
}

void
feed_cut(struct bench *b, struct rpc_connection *c, unsigned direction,
         const struct message *m, uint32_t length, int64_t when_ns)
{
    feed_part(b, c, direction, m, length, length, when_ns);
}
