/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * The producer (the packet half's thread) fills batches of events in a ring;
 * `produced` and `released` count batches. The consumer (the caller) gives
 * them to the RPC half.
 *
 * A record's bytes are not copied when they lie in the packet at hand: the
 * source's window keeps what it showed before its last move. Before it moves
 * again the batch at hand is closed, and the producer waits until the
 * consumer has released all batches of the window before the present one:
 * `settled` is their number. Other bytes (records put together from several
 * packets) are copied into the batch.
 *
 * The RPC half answers the packet half in three ways, and each must take
 * effect at the same packet as if there were one thread. The producer waits
 * for the consumer to have nothing left:
 *
 *   outstanding()        before it asks
 *   a port was learned   after each reply on a connection that carried a
 *   TLS was agreed to    call to the port mapper, or one with AUTH_TLS
 *
 * Where that happens it tends to happen again, and waiting costs more than a
 * record does. So for some records after it the producer gives them to the
 * RPC half itself (`alone`), while the consumer has nothing to do.
 *
 * Connections that end live until the RPC half has seen their end.
 */
#include "capture/record_ahead.h"

#include "capture/rpc_message.h"
#include "capture/rpc_transaction.h"
#include "capture/wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES 16 /* even */
#define BATCH_EVENTS 256
#define BATCH_BYTES ((size_t)16 << 10) /* at first */
#define BATCH_PACKETS 16384            /* after which one is closed */
#define FEW 4                          /* not worth waking somebody for */
#define DISTANCE 4                     /* records fetched ahead */
#define ALONE 256                      /* records, after the last answer */
#define CALL_HEAD 28                   /* to the credential's flavor */

enum event_kind { EVENT_RECORD, EVENT_GAP, EVENT_END };

struct event {
    enum event_kind kind;
    struct rpc_record record; /* RECORD; connection, direction: all */
    struct rpc_piece piece;   /* the record's only one */
    uint64_t bytes;           /* GAP */
    int64_t ns;               /* GAP, END */
};

struct batch {
    unsigned count;
    uint64_t packets, consumed; /* so far, of the file */
    size_t used, capacity;      /* of `bytes` */
    uint8_t *bytes;
    struct event events[BATCH_EVENTS];
};

struct record_ahead {
    struct rpc_record_sink sink;
    struct pcap_source *source;
    struct packet_engine *engine;
    struct capture_filter *filter;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t filled, freed;
    bool over;
    uint64_t produced, released; /* batches */
    uint64_t wanted;             /* released, for the producer to go on */

    /* Of the producer only. */
    uint64_t settled;
    uint64_t room_until; /* no need to ask before */
    struct batch *open;  /* being filled, or NULL */
    unsigned alone;      /* records to come without the consumer */
    uint64_t packets, shown;
    const uint8_t *packet; /* the one at hand */
    uint32_t packet_size;
    enum pcap_source_status status;

    struct batch batches[BATCHES];
};

/* --- the producer -------------------------------------------------------- */

/* The batch being filled goes to the consumer, who is woken for several of
 * them, or when the producer waits. */
static void
close_batch(struct record_ahead *ahead)
{
    struct batch *batch = ahead->open;
    if (batch == NULL) {
        return;
    }
    batch->packets = ahead->packets;
    batch->consumed = pcap_source_consumed(ahead->source);
    ahead->shown = ahead->packets;
    ahead->open = NULL;
    pthread_mutex_lock(&ahead->lock);
    ahead->produced++;
    if (ahead->produced - ahead->released == FEW) {
        pthread_cond_signal(&ahead->filled);
    }
    pthread_mutex_unlock(&ahead->lock);
}

/* Waits until at least `count` batches were released. */
static void
wait_released(struct record_ahead *ahead, uint64_t count)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->wanted = count;
    if (ahead->released < count) {
        pthread_cond_signal(&ahead->filled);
    }
    while (ahead->released < count) {
        pthread_cond_wait(&ahead->freed, &ahead->lock);
    }
    pthread_mutex_unlock(&ahead->lock);
}

static void
before_move(void *context)
{
    struct record_ahead *ahead = context;
    close_batch(ahead);
    wait_released(ahead, ahead->settled);
    ahead->settled = ahead->produced;
}

/* Waits until the RPC half has seen all that there was; then it is the
 * producer's for a while. */
static void
settle(struct record_ahead *ahead)
{
    if (ahead->alone == 0) {
        close_batch(ahead);
        wait_released(ahead, ahead->produced);
        packet_engine_keep_ended(ahead->engine, false);
    }
    ahead->alone = ALONE;
}

/* Is the RPC half at hand, in this thread? */
static bool
at_hand(const struct record_ahead *ahead)
{
    return !ahead->running || ahead->alone > 0;
}

/* Waits until the ring has room; once full, until it is half empty, so that
 * the threads do not wake each other for every batch. */
static void
wait_room(struct record_ahead *ahead)
{
    if (ahead->produced < BATCHES || ahead->room_until > ahead->produced) {
        return;
    }
    wait_released(ahead, ahead->produced - BATCHES / 2);
    ahead->room_until = ahead->produced + BATCHES / 2;
}

static struct batch *
open_batch(struct record_ahead *ahead)
{
    if (ahead->open == NULL) {
        wait_room(ahead);
        ahead->open = &ahead->batches[ahead->produced % BATCHES];
        ahead->open->count = 0;
        ahead->open->used = 0;
    }
    return ahead->open;
}

/* A place for the next event, which needs `bytes` beside it; NULL: no memory
 * for them. */
static struct event *
next_event(struct record_ahead *ahead, size_t bytes)
{
    struct batch *batch = open_batch(ahead);
    if (batch->count == BATCH_EVENTS ||
        (batch->used > 0 && batch->capacity - batch->used < bytes)) {
        close_batch(ahead);
        batch = open_batch(ahead);
    }
    if (batch->capacity - batch->used < bytes) { /* nothing in it yet */
        size_t capacity = bytes > BATCH_BYTES ? bytes : BATCH_BYTES;
        uint8_t *larger = malloc(capacity);
        if (larger == NULL) {
            return NULL;
        }
        free(batch->bytes);
        batch->bytes = larger;
        batch->capacity = capacity;
    }
    return &batch->events[batch->count];
}

/* Does a piece lie in the packet at hand? */
static bool
stays(const struct record_ahead *ahead, const struct rpc_piece *piece)
{
    uintptr_t packet = (uintptr_t)ahead->packet;
    uintptr_t data = (uintptr_t)piece->data;
    return data >= packet && data - packet <= ahead->packet_size &&
           piece->length <= ahead->packet_size - (data - packet);
}

/* Copies the pieces that do not stay, and the list of them. */
static void
keep_pieces(struct record_ahead *ahead, struct batch *batch,
            const struct rpc_record *from, struct rpc_record *to)
{
    struct rpc_piece *list = (struct rpc_piece *)(batch->bytes + batch->used);
    uint8_t *at = (uint8_t *)(list + from->piece_count);
    for (unsigned i = 0; i < from->piece_count; i++) {
        list[i] = from->pieces[i];
        if (!stays(ahead, &list[i])) {
            memcpy(at, list[i].data, list[i].length);
            list[i].data = at;
            at += list[i].length;
        }
    }
    to->pieces = list;
    size_t used = (size_t)(at - batch->bytes);
    batch->used = (used + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
    if (batch->used > batch->capacity) {
        batch->used = batch->capacity;
    }
}

/*
 * The first bytes of a message, as far as they are there without a hole.
 *
 * @param room where they are put together if they lie in several pieces.
 * @param have how many, up to CALL_HEAD.
 */
static const uint8_t *
message_head(const struct rpc_record *record, uint8_t room[CALL_HEAD],
             uint32_t *have)
{
    *have = 0;
    for (unsigned i = 0; i < record->piece_count && *have < CALL_HEAD; i++) {
        const struct rpc_piece *piece = &record->pieces[i];
        if (piece->offset != *have) {
            break;
        }
        if (i == 0 && piece->length >= CALL_HEAD) {
            *have = CALL_HEAD;
            return piece->data;
        }
        uint32_t take = CALL_HEAD - *have;
        take = piece->length < take ? piece->length : take;
        memcpy(room + *have, piece->data, take);
        *have += take;
    }
    return room;
}

/* Follows which connections may teach the packet half; true when this record
 * may: RFC 1833 (a port), RFC 9289 section 4.1 (TLS). */
static bool
may_teach(const struct rpc_record *record)
{
    uint8_t room[CALL_HEAD];
    uint32_t have;
    const uint8_t *head = message_head(record, room, &have);
    if (have < 8) {
        return false;
    }
    if (wire_be32(head + 4) == SUNRPC_CALL &&
        ((have >= 16 && wire_be32(head + 12) == SUNRPC_PORTMAP) ||
         (have >= 28 && wire_be32(head + 24) == SUNRPC_AUTH_TLS))) {
        record->connection->teaches = true;
    }
    /* A call, too: its reply may have come before it. */
    return record->connection->teaches;
}

/* A record for the RPC half in this thread. */
static void
take_alone(struct record_ahead *ahead, const struct rpc_record *record)
{
    ahead->sink.record(ahead->sink.context, record);
    if (!ahead->running) {
        return;
    }
    if (may_teach(record)) {
        ahead->alone = ALONE;
    } else if (--ahead->alone == 0) {
        packet_engine_keep_ended(ahead->engine, true);
    }
}

static void
take_record(void *context, const struct rpc_record *record)
{
    struct record_ahead *ahead = context;
    if (at_hand(ahead)) {
        take_alone(ahead, record);
        return;
    }
    bool plain = record->piece_count == 0 ||
                 (record->piece_count == 1 && stays(ahead, record->pieces));
    size_t bytes = 0;
    if (!plain) {
        for (unsigned i = 0; i < record->piece_count; i++) {
            bytes += sizeof(struct rpc_piece) + record->pieces[i].length;
        }
    }
    struct event *event = next_event(ahead, bytes);
    if (event == NULL) {
        settle(ahead);
        take_alone(ahead, record);
        return;
    }
    event->kind = EVENT_RECORD;
    event->record = *record;
    if (!plain) {
        keep_pieces(ahead, ahead->open, record, &event->record);
    } else {
        event->record.pieces = &event->piece;
        if (record->piece_count == 1) {
            event->piece = record->pieces[0];
        }
    }
    ahead->open->count++;
    if (may_teach(record)) {
        settle(ahead);
    }
}

static bool
ask_outstanding(void *context, const struct rpc_connection *connection,
                unsigned direction, uint32_t xid)
{
    struct record_ahead *ahead = context;
    if (ahead->sink.outstanding == NULL) {
        return false;
    }
    if (ahead->running) {
        settle(ahead);
    }
    return ahead->sink.outstanding(ahead->sink.context, connection, direction,
                                   xid);
}

static void
take_gap(void *context, struct rpc_connection *connection, unsigned direction,
         uint64_t bytes, int64_t when_ns)
{
    struct record_ahead *ahead = context;
    if (at_hand(ahead)) {
        ahead->sink.gap(ahead->sink.context, connection, direction, bytes,
                        when_ns);
        return;
    }
    struct event *event = next_event(ahead, 0);
    event->kind = EVENT_GAP;
    event->record.connection = connection;
    event->record.direction = direction;
    event->bytes = bytes;
    event->ns = when_ns;
    ahead->open->count++;
}

static void
take_end(void *context, struct rpc_connection *connection, int64_t when_ns)
{
    struct record_ahead *ahead = context;
    if (at_hand(ahead)) {
        ahead->sink.connection_end(ahead->sink.context, connection, when_ns);
        return;
    }
    struct event *event = next_event(ahead, 0);
    event->kind = EVENT_END;
    event->record.connection = connection;
    event->ns = when_ns;
    ahead->open->count++;
}

static void *
produce(void *argument)
{
    struct record_ahead *ahead = argument;
    struct packet packet;
    enum pcap_source_status status;
    while ((status = pcap_source_next(ahead->source, &packet)) ==
           PCAP_SOURCE_PACKET) {
        ahead->packet = packet.data;
        ahead->packet_size = packet.captured;
        if (ahead->filter != NULL &&
            !capture_filter_match(ahead->filter, &packet)) {
            packet_engine_filtered(ahead->engine);
        } else {
            packet_engine_packet(ahead->engine, &packet);
        }
        if (++ahead->packets - ahead->shown >= BATCH_PACKETS) {
            open_batch(ahead);
            close_batch(ahead);
        }
    }
    open_batch(ahead);
    close_batch(ahead);
    pthread_mutex_lock(&ahead->lock);
    ahead->status = status;
    ahead->over = true;
    pthread_cond_signal(&ahead->filled);
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/* --- the consumer -------------------------------------------------------- */

/* The record's first bytes are fetched while those before it are read. */
static inline void
fetch(const struct event *event)
{
    if (event->kind == EVENT_RECORD && event->record.piece_count > 0) {
        const uint8_t *data = event->record.pieces->data;
        __builtin_prefetch(data);
        __builtin_prefetch(data + 64);
        __builtin_prefetch(data + 128);
    }
}

static void
hand_on(struct record_ahead *ahead, const struct event *event)
{
    const struct rpc_record_sink *sink = &ahead->sink;
    struct rpc_connection *connection = event->record.connection;
    switch (event->kind) {
    case EVENT_RECORD:
        sink->record(sink->context, &event->record);
        break;
    case EVENT_GAP:
        sink->gap(sink->context, connection, event->record.direction,
                  event->bytes, event->ns);
        break;
    case EVENT_END:
        sink->connection_end(sink->context, connection, event->ns);
        packet_engine_forget(connection);
        break;
    }
}

/* The next batch, or NULL at the end. `held`: the one before was this. */
static const struct batch *
next_batch(struct record_ahead *ahead, const struct batch *held)
{
    const struct batch *batch = NULL;
    pthread_mutex_lock(&ahead->lock);
    if (held != NULL) {
        ahead->released++;
        if (ahead->released == ahead->wanted) {
            pthread_cond_signal(&ahead->freed);
        }
    }
    while (ahead->produced == ahead->released && !ahead->over) {
        pthread_cond_wait(&ahead->filled, &ahead->lock);
    }
    if (ahead->produced > ahead->released) {
        batch = &ahead->batches[ahead->released % BATCHES];
    }
    pthread_mutex_unlock(&ahead->lock);
    return batch;
}

bool
record_ahead_read(struct record_ahead *ahead, struct pcap_source *source,
                  struct packet_engine *engine, struct capture_filter *filter,
                  record_ahead_progress progress, void *progress_context,
                  uint64_t *packets, enum pcap_source_status *status)
{
    if (!pcap_source_keeps(source, ahead, before_move)) {
        return false;
    }
    ahead->source = source;
    ahead->engine = engine;
    ahead->filter = filter;
    ahead->over = false;
    ahead->produced = 0;
    ahead->released = 0;
    ahead->wanted = 0;
    ahead->settled = 0;
    ahead->room_until = 0;
    ahead->open = NULL;
    ahead->alone = 0;
    ahead->packets = 0;
    ahead->shown = 0;
    ahead->running = true;
    packet_engine_keep_ended(engine, true);
    pthread_t thread;
    bool started = pthread_create(&thread, NULL, produce, ahead) == 0;
    if (started) {
        const struct batch *batch = NULL;
        uint64_t shown = 0;
        while ((batch = next_batch(ahead, batch)) != NULL) {
            for (unsigned i = 0; i < batch->count; i++) {
                if (i + DISTANCE < batch->count) {
                    fetch(&batch->events[i + DISTANCE]);
                }
                hand_on(ahead, &batch->events[i]);
            }
            if (batch->packets - shown >= BATCH_PACKETS) {
                shown = batch->packets;
                progress(progress_context, batch->consumed);
            }
        }
        pthread_join(thread, NULL);
        *packets = ahead->packets;
        *status = ahead->status;
    }
    packet_engine_keep_ended(engine, false);
    ahead->running = false;
    pcap_source_keeps(source, NULL, NULL);
    return started;
}

struct rpc_record_sink
record_ahead_sink(struct record_ahead *ahead)
{
    return (struct rpc_record_sink){
        .context = ahead,
        .record = take_record,
        .outstanding = ask_outstanding,
        .gap = take_gap,
        .connection_end = take_end,
    };
}

struct record_ahead *
record_ahead_new(const struct rpc_record_sink *sink)
{
    struct record_ahead *ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL) {
        return NULL;
    }
    ahead->sink = *sink;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->filled, NULL);
    pthread_cond_init(&ahead->freed, NULL);
    return ahead;
}

void
record_ahead_free(struct record_ahead *ahead)
{
    if (ahead == NULL) {
        return;
    }
    for (unsigned i = 0; i < BATCHES; i++) {
        free(ahead->batches[i].bytes);
    }
    pthread_mutex_destroy(&ahead->lock);
    pthread_cond_destroy(&ahead->filled);
    pthread_cond_destroy(&ahead->freed);
    free(ahead);
}
