/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * Each packet is decoded to its innermost IP payload. Fragments go to the
 * reassembly and come back as datagrams. TCP and UDP are looked up in a hash
 * table of flows, whose key is the packet's own bytes: for IPv4 the two
 * adjacent addresses as one word and the two ports as another, stored for
 * both directions. The last flow is tried first.
 *
 * A flow is made for every TCP connection, RPC or not, because the decision
 * must be remembered, and for UDP only when content says RPC. It ends when
 * its port pair is used again (a SYN with another sequence number), some
 * time after a reset or two FINs, when the table is full and it was idle
 * (a hand goes round and takes the first flow not used since it came by; one
 * that carries no RPC is no loss), or at the end of input.
 */
#include "capture/packet_engine.h"

#include "capture/frame.h"
#include "capture/ip_fragments.h"
#include "capture/rpc_ports.h"
#include "capture/rpc_stream.h"
#include "capture/tcp_sequence.h"
#include "capture/tcp_stream.h"
#include "capture/wire.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_CONNECTIONS 16384
#define FIRST_TABLE 1024
#define LINGER_NS INT64_C(2000000000) /* after a reset or two FINs */
#define COPIES 4096                   /* datagrams remembered */
#define COPY_NS INT64_C(100000000)
#define COPY_BARE_NS INT64_C(1000000)
#define ROCE_PORT 4791
#define LINE 64 /* of the cache */

struct flow {
    uint64_t addresses[2]; /* key as seen in direction 0 and 1 */
    uint32_t ports[2];
    uint32_t hash;
    uint8_t family, protocol;
    bool used, closing;
    uint8_t server; /* which end looks like the server; 2: unknown */
    struct rpc_channel channel;
    uint64_t payload_bytes;
    uint32_t index; /* in engine->flows */
    struct flow *linger_next, *linger_previous;
    int64_t closed_ns;
    /* The RPC half may look at it from another thread: lines of its own. */
    alignas(LINE) struct rpc_connection connection;
    alignas(LINE) struct tcp_half half[]; /* two for TCP, none for UDP */
};

struct cell {
    uint32_t hash;
    uint32_t index; /* in flows, plus one; 0: empty */
};

struct copy {
    uint64_t print;
    int64_t ns;
};

struct packet_engine {
    struct packet_losses losses;
    struct rpc_stream_context records;
    struct tcp_stream_context tcp;
    struct ip_fragments *fragments;
    struct rpc_record_sink sink;
    struct rpc_ports ports;

    struct flow *last;
    struct cell *cells;
    uint32_t cell_mask;
    struct flow **flows;
    size_t flow_count, flow_capacity, max_flows, hand;
    struct flow *linger_first, *linger_last;
    uint64_t next_serial;

    int64_t first_ns, last_ns, previous_ns;
    bool any_packet, saw_roce, keep_ended;
    uint64_t tcp_payload_packets, udp_payload_packets;
    uint64_t *port_bytes; /* payload by server-looking port */
    struct copy copies[COPIES];
};

/* --- flows --------------------------------------------------------------- */

static uint32_t
end_hash(const uint8_t *address, uint8_t size, uint16_t port)
{
    uint64_t value = wire_raw32(address);
    if (size == 16) {
        value = wire_mix(wire_raw64(address)) ^ wire_raw64(address + 8);
    }
    return (uint32_t)wire_mix(value << 16 ^ value >> 48 ^ port);
}

/* The key of one direction; for IPv6 a digest, compared in full later. */
static inline uint64_t
address_key(const struct frame *frame)
{
    if (frame->family == 4) {
        return wire_raw64(frame->source);
    }
    const uint8_t *p = frame->source;
    uint64_t key = wire_mix(wire_raw64(p) ^ 1);
    key = wire_mix(key ^ wire_raw64(p + 8));
    key = wire_mix(key ^ wire_raw64(p + 16));
    return wire_mix(key ^ wire_raw64(p + 24));
}

static inline bool
flow_is(const struct flow *flow, const struct frame *frame, uint64_t key,
        uint32_t ports, unsigned *direction)
{
    if (flow->family != frame->family || flow->protocol != frame->protocol) {
        return false;
    }
    unsigned d;
    if (flow->addresses[0] == key && flow->ports[0] == ports) {
        d = 0;
    } else if (flow->addresses[1] == key && flow->ports[1] == ports) {
        d = 1;
    } else {
        return false;
    }
    *direction = d;
    return frame->family == 4 ||
           (memcmp(flow->connection.ends[d].address, frame->source, 16) == 0 &&
            memcmp(flow->connection.ends[1 - d].address, frame->destination,
                   16) == 0);
}

static uint32_t
frame_hash(const struct frame *frame)
{
    const uint8_t *p = frame->payload;
    uint32_t hash =
        end_hash(frame->source, frame->address_length, wire_be16(p)) +
        end_hash(frame->destination, frame->address_length, wire_be16(p + 2));
    return hash * 2654435761u + frame->protocol;
}

static struct flow *
flow_find(struct packet_engine *engine, const struct frame *frame,
          unsigned *direction)
{
    uint64_t key = address_key(frame);
    uint32_t ports = wire_raw32(frame->payload);
    struct flow *flow = engine->last;
    if (flow != NULL && flow_is(flow, frame, key, ports, direction)) {
        return flow;
    }
    uint32_t hash = frame_hash(frame);
    for (uint32_t at = hash & engine->cell_mask;;
         at = (at + 1) & engine->cell_mask) {
        const struct cell *cell = &engine->cells[at];
        if (cell->index == 0) {
            return NULL;
        }
        if (cell->hash == hash) {
            flow = engine->flows[cell->index - 1];
            if (flow_is(flow, frame, key, ports, direction)) {
                engine->last = flow;
                return flow;
            }
        }
    }
}

static void
cell_put(struct cell *cells, uint32_t mask, uint32_t hash, uint32_t index)
{
    uint32_t at = hash & mask;
    while (cells[at].index != 0) {
        at = (at + 1) & mask;
    }
    cells[at] = (struct cell){hash, index};
}

/* Twice the cells when they are half full. */
static bool
table_grow(struct packet_engine *engine)
{
    if (engine->flow_count * 2 < engine->cell_mask) {
        return true;
    }
    uint32_t mask = engine->cell_mask * 2 + 1;
    struct cell *cells = calloc((size_t)mask + 1, sizeof *cells);
    if (cells == NULL) {
        return false;
    }
    for (uint32_t i = 0; i <= engine->cell_mask; i++) {
        if (engine->cells[i].index != 0) {
            cell_put(cells, mask, engine->cells[i].hash,
                     engine->cells[i].index);
        }
    }
    free(engine->cells);
    engine->cells = cells;
    engine->cell_mask = mask;
    return true;
}

/* Takes a cell out and closes the gap it leaves in its run. */
static void
cell_remove(struct packet_engine *engine, uint32_t hash, uint32_t index)
{
    struct cell *cells = engine->cells;
    uint32_t mask = engine->cell_mask;
    uint32_t at = hash & mask;
    while (cells[at].index != index) {
        at = (at + 1) & mask;
    }
    for (uint32_t next = (at + 1) & mask; cells[next].index != 0;
         next = (next + 1) & mask) {
        uint32_t home = cells[next].hash & mask;
        if (((next - home) & mask) >= ((next - at) & mask)) {
            cells[at] = cells[next];
            at = next;
        }
    }
    cells[at].index = 0;
}

/* The port that a server would have: the one that was opened, is known, or
 * is lower. */
static uint16_t
server_port(const struct packet_engine *engine, const struct flow *flow)
{
    const struct rpc_endpoint *ends = flow->connection.ends;
    if (flow->server < 2) {
        return ends[flow->server].port;
    }
    bool known0 = rpc_ports_has(&engine->ports, ends[0].port);
    bool known1 = rpc_ports_has(&engine->ports, ends[1].port);
    if (known0 != known1) {
        return ends[known0 ? 0 : 1].port;
    }
    return ends[0].port < ends[1].port ? ends[0].port : ends[1].port;
}

static void
linger_remove(struct packet_engine *engine, struct flow *flow)
{
    if (!flow->closing) {
        return;
    }
    if (flow->linger_previous != NULL) {
        flow->linger_previous->linger_next = flow->linger_next;
    } else {
        engine->linger_first = flow->linger_next;
    }
    if (flow->linger_next != NULL) {
        flow->linger_next->linger_previous = flow->linger_previous;
    } else {
        engine->linger_last = flow->linger_previous;
    }
    flow->closing = false;
}

static void
flow_end(struct packet_engine *engine, struct flow *flow, int64_t ns)
{
    if (flow->protocol == FRAME_TCP) {
        tcp_half_end(&engine->tcp, &flow->half[0], ns);
        tcp_half_end(&engine->tcp, &flow->half[1], ns);
        struct rpc_channel *channel = &flow->channel;
        if (channel->verdict == RPC_UNDECIDED && channel->port_known &&
            channel->saw_payload) {
            engine->losses.not_rpc_streams++;
        }
    }
    engine->port_bytes[server_port(engine, flow)] += flow->payload_bytes;
    engine->sink.connection_end(engine->sink.context, &flow->connection, ns);
    linger_remove(engine, flow);
    cell_remove(engine, flow->hash, flow->index + 1);
    if (engine->last == flow) {
        engine->last = NULL;
    }
    /* The last flow takes the place in the list. */
    struct flow *moved = engine->flows[--engine->flow_count];
    if (moved != flow) {
        uint32_t old = moved->index + 1;
        uint32_t at = moved->hash & engine->cell_mask;
        while (engine->cells[at].index != old) {
            at = (at + 1) & engine->cell_mask;
        }
        engine->cells[at].index = flow->index + 1;
        moved->index = flow->index;
        engine->flows[flow->index] = moved;
    }
    if (!engine->keep_ended) {
        free(flow);
    }
}

/* Makes room for one more flow. */
static void
flow_evict(struct packet_engine *engine, int64_t ns)
{
    if (engine->linger_first != NULL) {
        flow_end(engine, engine->linger_first, ns);
        return;
    }
    for (;;) {
        if (engine->hand >= engine->flow_count) {
            engine->hand = 0;
        }
        struct flow *flow = engine->flows[engine->hand];
        if (!flow->used || flow->channel.verdict == RPC_REJECTED) {
            engine->losses.connection_overflows +=
                flow->channel.verdict == RPC_ACCEPTED;
            flow_end(engine, flow, ns);
            return;
        }
        flow->used = false;
        engine->hand++;
    }
}

static void
linger_expire(struct packet_engine *engine, int64_t ns)
{
    while (engine->linger_first != NULL &&
           engine->linger_first->closed_ns < ns - LINGER_NS) {
        flow_end(engine, engine->linger_first, ns);
    }
}

static void
flow_close(struct packet_engine *engine, struct flow *flow, int64_t ns)
{
    if (flow->closing) {
        return;
    }
    flow->closing = true;
    flow->closed_ns = ns;
    flow->linger_next = NULL;
    flow->linger_previous = engine->linger_last;
    if (engine->linger_last != NULL) {
        engine->linger_last->linger_next = flow;
    } else {
        engine->linger_first = flow;
    }
    engine->linger_last = flow;
}

static void
endpoint_set(struct rpc_endpoint *end, const struct frame *frame,
             const uint8_t *address, uint16_t port)
{
    end->family = frame->family;
    memcpy(end->address, address, frame->address_length);
    end->port = port;
}

static struct flow *
flow_allocate(size_t halves)
{
    size_t size = sizeof(struct flow) + halves * sizeof(struct tcp_half);
    size = (size + LINE - 1) / LINE * LINE;
    struct flow *flow = aligned_alloc(LINE, size);
    if (flow != NULL) {
        memset(flow, 0, size);
    }
    return flow;
}

static struct flow *
flow_new(struct packet_engine *engine, const struct frame *frame, int64_t ns,
         unsigned *direction)
{
    linger_expire(engine, ns);
    if (engine->flow_count >= engine->max_flows) {
        flow_evict(engine, ns);
    }
    size_t halves = frame->protocol == FRAME_TCP ? 2 : 0;
    if (engine->flow_count == engine->flow_capacity) {
        size_t capacity = engine->flow_capacity * 2 + 64;
        struct flow **larger =
            realloc(engine->flows, capacity * sizeof *larger);
        if (larger == NULL) {
            return NULL;
        }
        engine->flows = larger;
        engine->flow_capacity = capacity;
    }
    struct flow *flow = flow_allocate(halves);
    if (flow == NULL || !table_grow(engine)) {
        free(flow);
        engine->losses.connection_overflows++;
        return NULL;
    }
    uint16_t source = wire_be16(frame->payload);
    uint16_t destination = wire_be16(frame->payload + 2);
    int order =
        memcmp(frame->source, frame->destination, frame->address_length);
    unsigned d = order < 0 || (order == 0 && source <= destination) ? 0 : 1;
    flow->family = frame->family;
    flow->protocol = frame->protocol;
    flow->hash = frame_hash(frame);
    struct frame back = *frame;
    uint8_t turned[32];
    memcpy(turned, frame->destination, frame->address_length);
    memcpy(turned + frame->address_length, frame->source,
           frame->address_length);
    back.source = turned;
    flow->addresses[d] = address_key(frame);
    flow->addresses[1 - d] = address_key(&back);
    uint8_t ports[4];
    memcpy(ports, frame->payload + 2, 2);
    memcpy(ports + 2, frame->payload, 2);
    flow->ports[d] = wire_raw32(frame->payload);
    flow->ports[1 - d] = wire_raw32(ports);
    flow->server = 2;
    struct rpc_connection *connection = &flow->connection;
    connection->serial = ++engine->next_serial;
    connection->transport = halves ? RPC_TRANSPORT_TCP : RPC_TRANSPORT_UDP;
    endpoint_set(&connection->ends[d], frame, frame->source, source);
    endpoint_set(&connection->ends[1 - d], frame, frame->destination,
                 destination);
    flow->channel.connection = connection;
    flow->channel.port_known = rpc_ports_has(&engine->ports, source) ||
                               rpc_ports_has(&engine->ports, destination);
    for (unsigned i = 0; i < halves; i++) {
        tcp_half_init(&flow->half[i]);
        rpc_stream_init(&flow->half[i].stream, &flow->channel, i, false);
    }
    flow->index = (uint32_t)engine->flow_count;
    engine->flows[engine->flow_count++] = flow;
    cell_put(engine->cells, engine->cell_mask, flow->hash, flow->index + 1);
    engine->last = flow;
    *direction = d;
    return flow;
}

/* --- TCP ----------------------------------------------------------------- */

/* Does this SYN open another connection than the one on record? */
static bool
syn_is_new(const struct tcp_half *half, const struct tcp_segment *s)
{
    if (half->syn_seen) {
        return half->isn != s->seq;
    }
    /* A SYN captured behind the first data is still its own. */
    return half->had_data && (tcp_seq_diff(half->next, s->seq + 1) < 0 ||
                              tcp_seq_diff(half->next, s->seq + 1) > 1 << 20);
}

static struct flow *
tcp_syn(struct packet_engine *engine, struct flow *flow,
        const struct frame *frame, const struct tcp_segment *s,
        unsigned *direction)
{
    const struct tcp_half *known = &flow->half[*direction];
    bool is_new = syn_is_new(known, s);
    if (!is_new && !known->syn_seen && known->had_data && s->length > 0) {
        /* Data in a SYN that lies inside of what was sent: a broken header. */
        engine->losses.malformed_packets++;
        return NULL;
    }
    if (is_new ||
        ((s->flags & TCP_ACK) == 0 && flow->closing &&
         !flow->half[*direction].syn_seen)) {
        flow_end(engine, flow, s->ns);
        flow = flow_new(engine, frame, s->ns, direction);
        if (flow == NULL) {
            return NULL;
        }
    }
    struct tcp_half *half = &flow->half[*direction];
    if (!half->syn_seen && !half->had_data) {
        rpc_stream_init(&half->stream, &flow->channel, *direction, true);
    }
    flow->server = (uint8_t)(s->flags & TCP_ACK ? *direction : 1 - *direction);
    return flow;
}

static void
tcp(struct packet_engine *engine, const struct frame *frame, int64_t ns)
{
    const uint8_t *p = frame->payload;
    if (frame->captured < 20) {
        engine->losses.malformed_packets += frame->length < 20;
        return;
    }
    uint32_t header = (uint32_t)(p[12] >> 4) * 4;
    if (header < 20 || header > frame->length) {
        engine->losses.malformed_packets++;
        return;
    }
    uint32_t cut = header < frame->captured ? header : frame->captured;
    struct tcp_segment segment = {
        .ns = ns,
        .data = p + cut,
        .captured = frame->captured - cut,
        .length = frame->length - header,
        .seq = wire_be32(p + 4),
        .ack = wire_be32(p + 8),
        .stamp = header >= 32 && cut >= 28 ? wire_raw32(p + 24) : 0,
        .ip_id = frame->family == 4 ? (uint16_t)frame->id : 0,
        .checksum = wire_be16(p + 16),
        .window = wire_be16(p + 14),
        .flags = p[13],
    };
    unsigned direction;
    struct flow *flow = flow_find(engine, frame, &direction);
    if (flow == NULL) {
        flow = flow_new(engine, frame, ns, &direction);
        if (flow == NULL) {
            return;
        }
    }
    flow->used = true;
    if (segment.flags & TCP_SYN) {
        flow = tcp_syn(engine, flow, frame, &segment, &direction);
        if (flow == NULL) {
            return;
        }
    }
    if (segment.length > 0) {
        engine->tcp_payload_packets++;
        flow->payload_bytes += segment.length;
        if (flow->channel.port_known) {
            engine->losses.payload_bytes_on_port += segment.length;
        }
    }
    struct tcp_half *half = &flow->half[direction];
    struct tcp_half *other = &flow->half[1 - direction];
    tcp_stream_segment(&engine->tcp, half, other, &segment);
    if ((segment.flags & TCP_RST) || (half->fin_seen && other->fin_seen)) {
        flow_close(engine, flow, ns);
    }
}

/* --- UDP ----------------------------------------------------------------- */

/* Was this datagram, or fragment, captured a moment ago already? */
static bool
datagram_is_copy(struct packet_engine *engine, const struct frame *frame,
                 int64_t ns)
{
    uint64_t print = address_key(frame);
    print = wire_mix(print ^ ((uint64_t)frame->id << 32 | frame->length));
    print = wire_mix(print ^ frame->offset ^ ((uint64_t)frame->protocol << 32));
    uint32_t look = frame->captured < 64 ? frame->captured : 64;
    uint32_t at = 0;
    for (; at + 8 <= look; at += 8) {
        print = wire_mix(print ^ wire_raw64(frame->payload + at));
    }
    for (; at < look; at++) {
        print = wire_mix(print ^ frame->payload[at]);
    }
    struct copy *copy = &engine->copies[print % COPIES];
    int64_t apart = ns > copy->ns ? ns - copy->ns : copy->ns - ns;
    if (copy->print == print &&
        apart <= (frame->id != 0 ? COPY_NS : COPY_BARE_NS)) {
        return true;
    }
    copy->print = print;
    copy->ns = ns;
    return false;
}

/*
 * A UDP datagram. `pieces` are those of the datagram with its UDP header;
 * none when all that is at hand is in `frame`.
 */
static void
udp(struct packet_engine *engine, const struct frame *frame,
    const struct ip_datagram *whole, int64_t ns)
{
    const uint8_t *p = frame->payload;
    if (frame->captured < 8) {
        engine->losses.malformed_packets += frame->length < 8;
        return;
    }
    uint32_t length = wire_be16(p + 4);
    if (length == 0) { /* RFC 2675 section 4 */
        length = frame->length;
    }
    if (length < 8 || (length > frame->length && whole == NULL)) {
        engine->losses.malformed_packets++;
        return;
    }
    length -= 8;
    uint32_t captured = frame->captured - 8;
    captured = captured < length ? captured : length;
    uint16_t source = wire_be16(p);
    uint16_t destination = wire_be16(p + 2);
    engine->udp_payload_packets += length > 0;
    engine->saw_roce |= destination == ROCE_PORT;
    bool port_known = rpc_ports_has(&engine->ports, source) ||
                      rpc_ports_has(&engine->ports, destination);
    if (port_known) {
        engine->losses.payload_bytes_on_port += length;
    }
    unsigned direction;
    struct flow *flow = flow_find(engine, frame, &direction);
    if (flow == NULL) {
        bool plausible = rpc_datagram_plausible(p + 8, captured, !port_known);
        if (!plausible && !port_known) {
            uint16_t lower = source < destination ? source : destination;
            engine->port_bytes[lower] += length;
            return;
        }
        flow = flow_new(engine, frame, ns, &direction);
        if (flow == NULL) {
            return;
        }
    }
    flow->used = true;
    flow->payload_bytes += length;
    if (length < 8) {
        engine->losses.malformed_records++;
        return;
    }
    if (captured < 8) {
        return; /* counted as a truncated packet */
    }
    if (!rpc_datagram_plausible(p + 8, captured, false)) {
        if (flow->channel.verdict == RPC_UNDECIDED) {
            flow->channel.verdict = RPC_REJECTED;
            engine->losses.not_rpc_streams += port_known;
        }
        return;
    }
    flow->channel.verdict = RPC_ACCEPTED;
    if (wire_be32(p + 12) == 1 &&
        ip_fragments_deadline(engine->fragments) != INT64_MAX) {
        ip_fragments_answered(engine->fragments, frame->family, frame->source,
                              frame->destination, wire_be32(p + 8));
    }
    struct rpc_piece pieces[IP_DATAGRAM_PIECES];
    unsigned count = 0;
    pieces[count++] = (struct rpc_piece){0, captured, p + 8};
    for (unsigned i = 1; whole != NULL && i < whole->piece_count; i++) {
        struct rpc_piece piece = whole->pieces[i];
        piece.offset -= 8;
        if (piece.offset >= length) {
            break;
        }
        if (piece.length > length - piece.offset) {
            piece.length = length - piece.offset;
        }
        pieces[count++] = piece;
    }
    unsigned flags = RPC_RECORD_DATAGRAM;
    if (whole != NULL && !whole->complete) {
        flags |= RPC_RECORD_GAP;
    } else if (captured < length) {
        flags |= RPC_RECORD_SNAPPED;
    }
    struct rpc_record record = {
        .connection = &flow->connection,
        .direction = direction,
        .flags = flags,
        .length = length,
        .pieces = pieces,
        .piece_count = count,
        .first_ns = whole != NULL ? whole->first_ns : ns,
        .last_ns = whole != NULL ? whole->last_ns : ns,
    };
    engine->sink.record(engine->sink.context, &record);
}

/* --- packets ------------------------------------------------------------- */

static void
transport(struct packet_engine *engine, const struct frame *frame,
          const struct ip_datagram *whole, int64_t ns)
{
    if (frame->protocol == FRAME_TCP) {
        tcp(engine, frame, ns);
    } else if (whole != NULL || !datagram_is_copy(engine, frame, ns)) {
        udp(engine, frame, whole, ns);
    } else {
        engine->losses.capture_duplicates++;
    }
}

/* A datagram whose fragments are together. */
static void
reassembled(void *context, const struct ip_datagram *datagram)
{
    struct packet_engine *engine = context;
    struct frame frame = datagram->frame;
    uint8_t protocol = frame.protocol;
    enum frame_status status = frame_decode_payload(&frame);
    if (status != FRAME_TRANSPORT) {
        engine->losses.unsupported_packets++;
        return;
    }
    /* Pieces are those of the datagram itself, not of one inside it. */
    bool plain =
        protocol == FRAME_UDP && frame.payload == datagram->frame.payload;
    transport(engine, &frame, plain ? datagram : NULL, datagram->last_ns);
}

static void
clock_advance(struct packet_engine *engine, int64_t ns)
{
    if (!engine->any_packet) {
        engine->any_packet = true;
        engine->first_ns = ns;
        engine->last_ns = ns;
    } else if (ns < engine->previous_ns) {
        engine->losses.time_reversals++;
        if (ns < engine->first_ns) {
            engine->first_ns = ns;
        }
    }
    engine->previous_ns = ns;
    if (ns > engine->last_ns) {
        engine->last_ns = ns;
    }
    if (ns >= engine->tcp.deadline) {
        tcp_stream_expire(&engine->tcp, ns);
    }
    if (ns >= ip_fragments_deadline(engine->fragments)) {
        ip_fragments_expire(engine->fragments, ns);
    }
}

void
packet_engine_filtered(struct packet_engine *engine)
{
    engine->losses.packets++;
    engine->losses.filtered_packets++;
}

void
packet_engine_packet(struct packet_engine *engine, const struct packet *packet)
{
    struct frame frame;
    frame.zero_length = false;
    int64_t ns = packet->ns;
    bool truncated = packet->captured < packet->length;
    enum frame_status status =
        frame_decode(packet->link_type, packet->data, packet->captured,
                     packet->length, &frame);
    engine->losses.packets++;
    engine->losses.truncated_packets += truncated;
    clock_advance(engine, ns);
    engine->losses.zero_length_ip += frame.zero_length;
    switch (status) {
    case FRAME_TRANSPORT:
        transport(engine, &frame, NULL, ns);
        break;
    case FRAME_FRAGMENT:
        if (datagram_is_copy(engine, &frame, ns)) {
            engine->losses.capture_duplicates++;
        } else {
            ip_fragments_add(engine->fragments, &frame, ns);
        }
        break;
    case FRAME_MALFORMED:
        engine->losses.malformed_packets++;
        break;
    case FRAME_SHORT:
        /* Cut by the snapshot length, or ended inside its own headers. */
        engine->losses.malformed_packets += !truncated;
        break;
    case FRAME_OTHER:
        break;
    case FRAME_NOT_IP:
    case FRAME_LINK_UNKNOWN:
        engine->losses.unsupported_packets++;
        break;
    }
}

static int
by_serial(const void *a, const void *b)
{
    const struct flow *const *left = a;
    const struct flow *const *right = b;
    uint64_t l = (*left)->connection.serial;
    uint64_t r = (*right)->connection.serial;
    return l < r ? -1 : l > r;
}

void
packet_engine_finish(struct packet_engine *engine)
{
    ip_fragments_expire(engine->fragments, INT64_MAX);
    tcp_stream_expire(&engine->tcp, INT64_MAX);
    size_t count = engine->flow_count;
    struct flow **order = malloc((count + 1) * sizeof(struct flow *));
    if (order == NULL) {
        while (engine->flow_count > 0) {
            flow_end(engine, engine->flows[0], engine->last_ns);
        }
        return;
    }
    if (count > 0) {
        memcpy(order, engine->flows, count * sizeof(struct flow *));
    }
    qsort(order, count, sizeof(struct flow *), by_serial);
    for (size_t i = 0; i < count; i++) {
        flow_end(engine, order[i], engine->last_ns);
    }
    free(order);
}

void
packet_engine_add_port(struct packet_engine *engine, uint16_t port)
{
    if (port != 0) {
        rpc_ports_add(&engine->ports, port);
    }
}

void
packet_engine_keep_ended(struct packet_engine *engine, bool keep)
{
    engine->keep_ended = keep;
}

static struct flow *
flow_of(struct rpc_connection *connection)
{
    return (struct flow *)((char *)connection -
                           offsetof(struct flow, connection));
}

void
packet_engine_forget(struct rpc_connection *connection)
{
    free(flow_of(connection));
}

void
packet_engine_set_tls(struct packet_engine *engine,
                      struct rpc_connection *connection)
{
    (void)engine;
    flow_of(connection)->channel.tls_agreed = true;
}

struct packet_losses *
packet_engine_losses(struct packet_engine *engine)
{
    return &engine->losses;
}

void
packet_engine_result(const struct packet_engine *engine,
                     struct capture_result *result)
{
    result->packets = engine->losses;
    result->first_ns = engine->first_ns;
    result->last_ns = engine->last_ns;
    result->tcp_payload_packets = engine->tcp_payload_packets;
    result->udp_payload_packets = engine->udp_payload_packets;
    result->saw_rdma = engine->saw_roce || engine->records.saw_rdma;
    uint64_t most = 0;
    for (unsigned port = 0; port < 65536; port++) {
        if (engine->port_bytes[port] > most) {
            most = engine->port_bytes[port];
            result->busiest_port = (uint16_t)port;
        }
    }
}

struct packet_engine *
packet_engine_new(const struct capture_options *options,
                  const struct rpc_record_sink *sink)
{
    struct packet_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        return NULL;
    }
    struct ip_fragments_sink fragments = {engine, reassembled};
    engine->fragments = ip_fragments_new(&fragments, &engine->losses);
    engine->cells = calloc(FIRST_TABLE, sizeof *engine->cells);
    engine->port_bytes = calloc(65536, sizeof *engine->port_bytes);
    if (engine->fragments == NULL || engine->cells == NULL ||
        engine->port_bytes == NULL) {
        packet_engine_free(engine);
        return NULL;
    }
    engine->cell_mask = FIRST_TABLE - 1;
    engine->max_flows = options->max_connections > 0 ? options->max_connections
                                                     : DEFAULT_CONNECTIONS;
    engine->sink = *sink;
    rpc_stream_context_init(&engine->records, options->depth == RPC_DEPTH_FULL,
                            sink, &engine->losses);
    tcp_stream_context_init(&engine->tcp, &engine->records, &engine->losses);
    if (options->max_reorder_bytes > 0) {
        engine->tcp.limits.max_held = options->max_reorder_bytes;
    }
    rpc_ports_add(&engine->ports, 2049);
    rpc_ports_add(&engine->ports, 20049);
    rpc_ports_add(&engine->ports, 111);
    for (size_t i = 0; i < options->port_count; i++) {
        rpc_ports_add(&engine->ports, options->ports[i]);
    }
    return engine;
}

void
packet_engine_free(struct packet_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    if (engine->cells != NULL && engine->fragments != NULL) {
        packet_engine_finish(engine);
    }
    rpc_stream_context_free(&engine->records);
    ip_fragments_free(engine->fragments);
    free(engine->cells);
    free(engine->flows);
    free(engine->port_bytes);
    free(engine);
}
