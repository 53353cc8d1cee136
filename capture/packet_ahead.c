/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * The producer fills batches in a ring; `produced` and `released` count them.
 * The packets' bytes lie in the source's window, which keeps what it showed
 * before its last move. Before it moves again the batch at hand is closed,
 * and the producer waits until the consumer has released all batches of the
 * window before the present one: `settled` is their number.
 */
#include "capture/packet_ahead.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define BATCHES 16 /* even */

struct packet_ahead {
    struct pcap_source *source;
    struct capture_filter *filter;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over, stop, holding;
    uint64_t produced, released; /* batches */
    uint64_t wanted;             /* released, for the producer to go on */
    uint64_t settled;            /* producer only */
    uint64_t room_until;         /* producer only: no need to ask before */
    struct packet_batch *open;   /* producer only: being filled, or NULL */
    enum pcap_source_status status;
    struct packet_batch batches[BATCHES];
};

/* The batch being filled goes to the consumer. */
static void
close_batch(struct packet_ahead *ahead)
{
    if (ahead->open == NULL) {
        return;
    }
    ahead->open->consumed = pcap_source_consumed(ahead->source);
    ahead->open = NULL;
    pthread_mutex_lock(&ahead->lock);
    ahead->produced++;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

/* Waits until at least `count` batches were released; false to stop. */
static bool
wait_released(struct packet_ahead *ahead, uint64_t count)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->wanted = count;
    while (ahead->released < count && !ahead->stop) {
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    }
    bool go_on = !ahead->stop;
    pthread_mutex_unlock(&ahead->lock);
    return go_on;
}

static void
before_move(void *context)
{
    struct packet_ahead *ahead = context;
    close_batch(ahead);
    wait_released(ahead, ahead->settled);
    ahead->settled = ahead->produced;
}

/* Waits until the ring has room; once full, until it is half empty, so that
 * the threads do not wake each other for every batch. */
static bool
wait_room(struct packet_ahead *ahead)
{
    if (ahead->produced < BATCHES || ahead->room_until > ahead->produced) {
        return true;
    }
    bool go_on = wait_released(ahead, ahead->produced - BATCHES / 2);
    ahead->room_until = ahead->produced + BATCHES / 2;
    return go_on;
}

/* A place for the next packet; NULL to stop. */
static struct packet_decoded *
next_place(struct packet_ahead *ahead)
{
    if (ahead->open != NULL && ahead->open->count == PACKET_BATCH) {
        close_batch(ahead);
    }
    if (ahead->open == NULL) {
        if (!wait_room(ahead)) {
            return NULL;
        }
        ahead->open = &ahead->batches[ahead->produced % BATCHES];
        ahead->open->count = 0;
    }
    return &ahead->open->packets[ahead->open->count];
}

static void *
produce(void *argument)
{
    struct packet_ahead *ahead = argument;
    struct packet packet;
    enum pcap_source_status status;
    while ((status = pcap_source_next(ahead->source, &packet)) ==
           PCAP_SOURCE_PACKET) {
        struct packet_decoded *decoded = next_place(ahead);
        if (decoded == NULL) {
            break;
        }
        if (ahead->filter != NULL &&
            !capture_filter_match(ahead->filter, &packet)) {
            decoded->filtered = true;
        } else {
            packet_decode(&packet, decoded);
        }
        ahead->open->count++;
    }
    close_batch(ahead);
    pthread_mutex_lock(&ahead->lock);
    ahead->status = status;
    ahead->over = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

struct packet_ahead *
packet_ahead_new(struct pcap_source *source, struct capture_filter *filter)
{
    struct packet_ahead *ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL || !pcap_source_keeps(source, ahead, before_move)) {
        free(ahead);
        return NULL;
    }
    ahead->source = source;
    ahead->filter = filter;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    if (pthread_create(&ahead->thread, NULL, produce, ahead) != 0) {
        pcap_source_keeps(source, NULL, NULL);
        pthread_mutex_destroy(&ahead->lock);
        pthread_cond_destroy(&ahead->changed);
        free(ahead);
        return NULL;
    }
    return ahead;
}

const struct packet_batch *
packet_ahead_next(struct packet_ahead *ahead)
{
    const struct packet_batch *batch = NULL;
    pthread_mutex_lock(&ahead->lock);
    if (ahead->holding) {
        ahead->released++;
        ahead->holding = false;
        if (ahead->released == ahead->wanted) {
            pthread_cond_signal(&ahead->changed);
        }
    }
    while (ahead->produced == ahead->released && !ahead->over) {
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    }
    if (ahead->produced > ahead->released) {
        batch = &ahead->batches[ahead->released % BATCHES];
        ahead->holding = true;
    }
    pthread_mutex_unlock(&ahead->lock);
    return batch;
}

enum pcap_source_status
packet_ahead_finish(struct packet_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->stop = true;
    pthread_cond_signal(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    enum pcap_source_status status = ahead->status;
    pcap_source_keeps(ahead->source, NULL, NULL);
    pthread_mutex_destroy(&ahead->lock);
    pthread_cond_destroy(&ahead->changed);
    free(ahead);
    return status;
}
