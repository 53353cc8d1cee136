/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RPC messages of two connections. First a byte: bit 0 full depth. Then
 * messages: what (1 byte: bit 0 direction, 1 connection, 2 with a hole, 3
 * only a part captured, 4 the connection ends after it, 5 a gap before it, 6
 * time passes), length (2), bytes.
 */
#include "tests/fuzz/fuzz_rpc.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    bool full = (fuzz_number(&input, 1) & 1) != 0;
    struct rpc_connection connections[2];
    uint64_t serial, records = 0, before;
    int64_t now;
    struct rpc_match *match = fuzz_match(full, &now, &serial);

    before = rpc_match_losses(match)->calls + rpc_match_losses(match)->replies;
    fuzz_connection(&connections[0], serial, 700, 2049);
    fuzz_connection(&connections[1], ++serial, 2049, 2049);
    while (input.left > 0) {
        uint32_t what = fuzz_number(&input, 1);
        uint32_t length = fuzz_number(&input, 2);
        struct rpc_connection *connection = &connections[what >> 1 & 1];
        uint32_t hole = 0, missing = 0;
        if ((what & 12) != 0) {
            hole = fuzz_number(&input, 1) * 4;
            missing = fuzz_number(&input, 1) * 4;
        }
        uint8_t *bytes = fuzz_run(&input, &length);
        if ((what & 32) != 0) {
            rpc_match_gap(match, connection, what & 1, 100, now);
        }
        fuzz_record(match, connection, what & 1, bytes, length,
                    (what & 8) != 0 && missing < length ? length - missing
                                                        : length,
                    hole, (what & 4) != 0 ? missing : 0, now);
        records++;
        (void)rpc_match_outstanding(match, connection, what & 1, 7);
        now += (what & 64) != 0 ? INT64_C(70000000000) : 1000;
        if ((what & 16) != 0) {
            rpc_match_connection_end(match, connection, now);
            serial++;
            fuzz_connection(connection, serial, (uint16_t)(700 + serial % 99),
                            2049);
        }
        free(bytes);
    }
    rpc_match_connection_end(match, &connections[0], now);
    rpc_match_connection_end(match, &connections[1], now);
    rpc_match_finish(match, now);
    const struct rpc_losses *losses = rpc_match_losses(match);
    if (losses->calls + losses->replies > before + records) {
        abort();
    }
    return 0;
}
