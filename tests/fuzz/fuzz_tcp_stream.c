/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One TCP connection on the server's port, both directions, and the records
 * in it. A segment: what (1 byte: bit 0 sender, 1 acknowledges all, 2 skips
 * ahead or back, 3 FIN, 4 cut by the snapshot length, 5 time passes, 6 copy
 * of the segment before), captured (2), move of the sequence number when it
 * skips (1, signed, times 64), bytes.
 */
#include "capture/rpc_stream.h"
#include "capture/tcp_stream.h"
#include "tests/fuzz/fuzz_input.h"

struct seen {
    uint64_t bytes[2];
};

static void
record(void *context, const struct rpc_record *record)
{
    struct seen *seen = context;
    uint64_t end = 0;
    for (unsigned i = 0; i < record->piece_count; i++) {
        const struct rpc_piece *piece = &record->pieces[i];
        if (piece->offset < end) {
            abort(); /* pieces overlap or are out of order */
        }
        end = (uint64_t)piece->offset + piece->length;
        fuzz_look(piece->data, piece->length);
    }
    if (end > record->length || record->last_ns < record->first_ns) {
        abort();
    }
    seen->bytes[record->direction] += record->length;
}

static bool
outstanding(void *context, const struct rpc_connection *connection,
            unsigned direction, uint32_t xid)
{
    (void)context, (void)connection, (void)direction;
    return (xid & 0xff) == 7;
}

static void
gap(void *context, struct rpc_connection *connection, unsigned direction,
    uint64_t bytes, int64_t when_ns)
{
    (void)context, (void)connection, (void)direction, (void)bytes,
        (void)when_ns;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct seen seen = {{0, 0}};
    struct packet_losses losses = {0};
    const struct rpc_record_sink sink = {&seen, record, outstanding, gap, NULL};
    struct rpc_connection connection = {
        .serial = 1, .transport = RPC_TRANSPORT_TCP};
    struct rpc_channel channel = {.connection = &connection};
    struct rpc_stream_context records;
    struct tcp_stream_context context;
    struct tcp_half halves[2];
    struct tcp_segment segment = {.window = 1000}, before = {0};
    unsigned before_from = 0;
    uint8_t *before_bytes = NULL;
    uint32_t next[2];
    int64_t now = INT64_C(1700000000000000000);

    memset(halves, 0, sizeof halves);
    uint32_t how = fuzz_number(&input, 1);
    rpc_stream_context_init(&records, (how & 1) != 0, &sink, &losses);
    tcp_stream_context_init(&context, &records, &losses);
    channel.port_known = (how & 2) != 0;
    channel.tls_agreed = (how & 4) != 0;
    for (unsigned d = 0; d < 2; d++) {
        tcp_half_init(&halves[d]);
        rpc_stream_init(&halves[d].stream, &channel, d, (how & 8) != 0);
        next[d] = (how & 16) != 0 ? UINT32_MAX - 100 : 1000;
    }
    while (input.left > 0) {
        uint32_t what = fuzz_number(&input, 1);
        uint32_t captured = fuzz_number(&input, 2);
        unsigned from = what & 1;
        if ((what & 4) != 0) {
            next[from] += (uint32_t)((int8_t)fuzz_number(&input, 1) * 64);
        }
        if ((what & 64) != 0) {
            segment = before;
            from = before_from;
        } else {
            uint8_t *bytes = fuzz_run(&input, &captured);
            segment.data = bytes;
            segment.captured = captured;
            segment.length = captured + ((what & 16) != 0 ? 100 : 0);
            segment.seq = next[from];
            segment.ack = next[1 - from];
            segment.flags = TCP_ACK | ((what & 8) != 0 ? TCP_FIN : 0);
            if ((what & 2) != 0) {
                segment.ack -= 10;
            }
            segment.ip_id++;
            next[from] += segment.length + ((what & 8) != 0);
            free(before_bytes);
            before_bytes = bytes;
        }
        now += (what & 32) != 0 ? INT64_C(400000000) : 10000;
        segment.ns = now;
        before = segment;
        before_from = from;
        tcp_stream_segment(&context, &halves[from], &halves[1 - from],
                           &segment);
        if (now >= context.deadline) {
            tcp_stream_expire(&context, now);
        }
    }
    tcp_half_end(&context, &halves[0], now);
    tcp_half_end(&context, &halves[1], now);
    if (context.held_bytes != 0 || halves[0].stream.assembly != NULL ||
        halves[1].stream.assembly != NULL) {
        abort(); /* something is still held */
    }
    rpc_stream_context_free(&records);
    free(before_bytes);
    return 0;
}
