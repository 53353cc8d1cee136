/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A matcher whose transactions are looked at in full: for the targets that
 * feed it records. */
#ifndef NAT_TESTS_FUZZ_RPC_H
#define NAT_TESTS_FUZZ_RPC_H

#include "capture/rpc_match.h"
#include "tests/fuzz/fuzz_input.h"

static inline void
fuzz_transaction(void *context, const struct rpc_transaction *tx)
{
    (void)context;
    if (tx->credential.machine_name != NULL) {
        fuzz_look(tx->credential.machine_name,
                  tx->credential.machine_name_length);
    }
    for (uint32_t i = 0; i < tx->operation_count; i++) {
        const struct rpc_operation *op = &tx->operations[i];
        if (op->detail != NULL) {
            fuzz_look(op->detail, sizeof *op->detail);
            if (op->detail->name != NULL) {
                fuzz_look(op->detail->name, op->detail->name_length);
            }
        }
    }
}

static inline void
fuzz_late(void *context, const struct rpc_late *late)
{
    (void)context;
    fuzz_look(late, sizeof *late);
}

/*
 * One matcher for each depth, made once, since its tables cost more than an
 * input. Each input starts a day after the one before: nothing that is
 * remembered of that is young enough to matter.
 */
static inline struct rpc_match *
fuzz_match(bool full, int64_t *now, uint64_t *serial)
{
    static struct rpc_match *matches[2];
    static int64_t day = 1;
    static uint64_t serials = 1;
    *now = day++ * INT64_C(86400000000000);
    *serial = serials;
    serials += 4096; /* more connections than an input can have */
    if (day > 100000) {
        day = 1;
        rpc_match_free(matches[0]);
        rpc_match_free(matches[1]);
        matches[0] = matches[1] = NULL;
    }
    if (matches[full] != NULL) {
        return matches[full];
    }
    const struct rpc_transaction_sink sink = {NULL, fuzz_transaction,
                                              fuzz_late};
    struct capture_options options = {
        .depth = full ? RPC_DEPTH_FULL : RPC_DEPTH_COUNTS,
        .max_pending = 64,
        .reply_timeout_ns = INT64_C(60000000000),
    };
    struct rpc_match *match = rpc_match_new(&options, &sink);
    if (match == NULL) {
        abort();
    }
    matches[full] = match;
    return match;
}

/* One record; the bytes between `hole` and `hole + hole_length` are missing,
 * and those from `captured` on. */
static inline void
fuzz_record(struct rpc_match *match, struct rpc_connection *connection,
            unsigned direction, const uint8_t *bytes, uint32_t length,
            uint32_t captured, uint32_t hole, uint32_t hole_length, int64_t ns)
{
    struct rpc_piece pieces[2] = {{0, captured, bytes}, {0, 0, NULL}};
    struct rpc_record record = {
        .connection = connection,
        .direction = direction,
        .length = length,
        .fragments = 1,
        .pieces = pieces,
        .piece_count = 1,
        .first_ns = ns,
        .last_ns = ns,
    };
    if (captured < length) {
        record.flags |= RPC_RECORD_SNAPPED;
    }
    if (hole_length > 0 && hole < captured) {
        uint32_t behind = captured - hole;
        pieces[0].length = hole;
        if (behind > hole_length) {
            pieces[1].offset = hole + hole_length;
            pieces[1].length = behind - hole_length;
            pieces[1].data = bytes + hole + hole_length;
            record.piece_count = 2;
        }
        record.flags |= RPC_RECORD_GAP;
    }
    rpc_match_record(match, &record);
}

static inline void
fuzz_connection(struct rpc_connection *connection, uint64_t serial,
                uint16_t client, uint16_t server)
{
    memset(connection, 0, sizeof *connection);
    connection->serial = serial;
    connection->transport = RPC_TRANSPORT_TCP;
    for (unsigned i = 0; i < 2; i++) {
        connection->ends[i].family = 4;
        connection->ends[i].address[0] = 10;
        connection->ends[i].address[3] = (uint8_t)(1 + i);
    }
    connection->ends[0].port = client;
    connection->ends[1].port = server;
}

#endif
