/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls and replies whose heads are right and whose bodies are the input: how
 * (1 byte), procedure (1), bytes missing at the end of the reply (1), length
 * of the arguments (2), arguments, results.
 */
#ifndef NAT_TESTS_FUZZ_BODY_H
#define NAT_TESTS_FUZZ_BODY_H

#include "tests/fuzz/fuzz_rpc.h"

#define FUZZ_HEAD 40

static inline uint8_t *
fuzz_message(struct fuzz_input *input, uint32_t length, const uint32_t *head,
             uint32_t words, uint32_t *total)
{
    uint8_t *body = fuzz_run(input, &length);
    uint8_t *message = malloc((size_t)words * 4 + length);
    if (message == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < words * 4; i++) {
        message[i] = (uint8_t)(head[i / 4] >> (24 - 8 * (i % 4)));
    }
    memcpy(message + words * 4, body, length);
    free(body);
    *total = words * 4 + length;
    return message;
}

static inline void
fuzz_body(struct fuzz_input *input, bool full, bool callback, uint32_t program,
          uint32_t version, uint32_t procedure)
{
    int64_t now;
    uint64_t serial;
    struct rpc_match *match = fuzz_match(full, &now, &serial);
    struct rpc_connection connection;
    uint32_t missing = fuzz_number(input, 1);
    uint32_t length = fuzz_number(input, 2), total;
    const uint32_t call[10] = {7, 0, 2, program, version, procedure};
    const uint32_t reply[6] = {7, 1};

    fuzz_connection(&connection, serial, 700, 2049);
    uint8_t *message = fuzz_message(input, length, call, 10, &total);
    fuzz_record(match, &connection, callback ? 1 : 0, message, total, total, 0,
                0, now);
    free(message);
    message = fuzz_message(input, (uint32_t)input->left, reply, 6, &total);
    fuzz_record(match, &connection, callback ? 0 : 1, message, total,
                missing < total ? total - missing : 0, 0, 0, now + 1000);
    free(message);
    rpc_match_connection_end(match, &connection, now);
    rpc_match_finish(match, now);
}

#endif
