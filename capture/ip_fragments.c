/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * A datagram under way is one slot of a small table, found by (source,
 * destination, protocol, identification). Its fragments are copied to their
 * offset in one buffer, and noted as pieces by offset:
 *
 *        0          1480        2960      4440
 *        |== data ==|== da      |         |== data ==|
 *          piece 0    piece 1     missing   piece 2
 *
 * `length` of a piece is what IP says, `captured` what the snapshot length
 * left of it. The datagram is complete when the last fragment is known and
 * the pieces cover all of it, captured or not. Bytes seen twice keep their
 * first copy; a fragment that is known already is a copy, one that overlaps
 * another in part is counted. When slots or bytes run out the oldest goes.
 */
#include "capture/ip_fragments.h"

#include "capture/wire.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 256
#define MAX_DATAGRAM ((uint32_t)65535 + 8)
#define MAX_BYTES ((size_t)4 << 20)
#define LIFETIME_NS INT64_C(2000000000)

struct piece {
    uint32_t offset, length, captured;
};

struct slot {
    bool used;
    bool passed; /* went to the sink early: ip_fragments_answered() */
    uint8_t family, protocol, hops;
    uint8_t addresses[32]; /* source, destination */
    uint32_t id;
    uint32_t total; /* 0: last fragment not seen */
    int64_t begun_ns, first_ns, last_ns;
    unsigned piece_count;
    struct piece pieces[IP_DATAGRAM_PIECES];
    uint8_t *data;
    uint32_t capacity;
};

struct ip_fragments {
    struct ip_fragments_sink sink;
    struct packet_losses *losses;
    bool passing; /* the sink is running */
    unsigned used;
    size_t bytes;
    int64_t deadline;
    struct slot slots[SLOTS];
};

struct ip_fragments *
ip_fragments_new(const struct ip_fragments_sink *sink,
                 struct packet_losses *losses)
{
    struct ip_fragments *fragments = calloc(1, sizeof *fragments);
    if (fragments != NULL) {
        fragments->sink = *sink;
        fragments->losses = losses;
        fragments->deadline = INT64_MAX;
    }
    return fragments;
}

static void
slot_free(struct ip_fragments *fragments, struct slot *slot)
{
    if (slot->used) {
        fragments->bytes -= slot->capacity;
        fragments->used--;
        free(slot->data);
        slot->data = NULL;
        slot->capacity = 0;
        slot->used = false;
    }
    if (fragments->used == 0) {
        fragments->deadline = INT64_MAX;
    }
}

void
ip_fragments_free(struct ip_fragments *fragments)
{
    if (fragments == NULL) {
        return;
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        free(fragments->slots[i].data);
    }
    free(fragments);
}

int64_t
ip_fragments_deadline(const struct ip_fragments *fragments)
{
    return fragments->deadline;
}

/* Do the pieces cover all of the datagram? */
static bool
is_complete(const struct slot *slot)
{
    uint32_t at = 0;
    for (unsigned i = 0; i < slot->piece_count; i++) {
        if (slot->pieces[i].offset > at) {
            return false;
        }
        at = slot->pieces[i].offset + slot->pieces[i].length;
    }
    return slot->total > 0 && at >= slot->total;
}

/* Passes the datagram on, whole or not. */
static void
pass_on(struct ip_fragments *fragments, struct slot *slot, bool complete)
{
    struct rpc_piece pieces[IP_DATAGRAM_PIECES];
    unsigned count = 0;
    uint32_t covered = 0;
    /* Fragments may reach beyond what the last one says is the end. */
    const uint32_t end = slot->total > 0 ? slot->total : UINT32_MAX;
    for (unsigned i = 0; i < slot->piece_count; i++) {
        const struct piece *piece = &slot->pieces[i];
        covered = piece->offset + piece->length;
        if (piece->captured == 0 || piece->offset >= end) {
            continue;
        }
        uint32_t size = piece->captured;
        if (size > end - piece->offset) {
            size = end - piece->offset;
        }
        if (count > 0 && pieces[count - 1].offset + pieces[count - 1].length ==
                             piece->offset) {
            pieces[count - 1].length += size;
        } else {
            pieces[count++] = (struct rpc_piece){piece->offset, size,
                                                 slot->data + piece->offset};
        }
    }
    struct ip_datagram datagram = {
        .frame =
            {
                .family = slot->family,
                .address_length = slot->family == 4 ? 4 : 16,
                .protocol = slot->protocol,
                .hops = slot->hops,
                .source = slot->addresses,
                .destination = slot->addresses + (slot->family == 4 ? 4 : 16),
                .id = slot->id,
                .length = slot->total > 0 ? slot->total : covered,
            },
        .pieces = pieces,
        .piece_count = count,
        .complete = complete,
        .first_ns = slot->first_ns,
        .last_ns = slot->last_ns,
    };
    if (count > 0 && pieces[0].offset == 0) {
        datagram.frame.payload = pieces[0].data;
        datagram.frame.captured = pieces[0].length;
        fragments->passing = true;
        fragments->sink.datagram(fragments->sink.context, &datagram);
        fragments->passing = false;
    }
}

/* The datagram is done with: passed on unless it was, and the slot freed. */
static void
finish(struct ip_fragments *fragments, struct slot *slot, bool complete)
{
    if (!slot->passed) {
        pass_on(fragments, slot, complete);
    }
    slot_free(fragments, slot);
}

static void
give_up(struct ip_fragments *fragments, struct slot *slot)
{
    fragments->losses->incomplete_datagrams++;
    finish(fragments, slot, false);
}

void
ip_fragments_expire(struct ip_fragments *fragments, int64_t now_ns)
{
    for (;;) {
        /* In order of time, so that the result does not depend on slots. */
        struct slot *oldest = NULL;
        for (unsigned i = 0; i < SLOTS; i++) {
            struct slot *slot = &fragments->slots[i];
            if (slot->used &&
                (oldest == NULL || slot->begun_ns < oldest->begun_ns)) {
                oldest = slot;
            }
        }
        if (oldest == NULL) {
            return;
        }
        if (now_ns != INT64_MAX && oldest->begun_ns > now_ns - LIFETIME_NS) {
            fragments->deadline = oldest->begun_ns + LIFETIME_NS;
            return;
        }
        give_up(fragments, oldest);
    }
}

static struct slot *
slot_find(struct ip_fragments *fragments, const struct frame *frame)
{
    size_t size = (size_t)frame->address_length * 2;
    for (unsigned i = 0, seen = 0; i < SLOTS && seen < fragments->used; i++) {
        struct slot *slot = &fragments->slots[i];
        seen += slot->used;
        if (slot->used && slot->id == frame->id &&
            slot->family == frame->family &&
            slot->protocol == frame->protocol &&
            memcmp(slot->addresses, frame->source, size) == 0) {
            return slot;
        }
    }
    return NULL;
}

static struct slot *
slot_new(struct ip_fragments *fragments, const struct frame *frame, int64_t ns)
{
    struct slot *free_slot = NULL;
    struct slot *oldest = NULL;
    for (unsigned i = 0; i < SLOTS && free_slot == NULL; i++) {
        struct slot *slot = &fragments->slots[i];
        if (!slot->used) {
            free_slot = slot;
        } else if (oldest == NULL || slot->begun_ns < oldest->begun_ns) {
            oldest = slot;
        }
    }
    if (free_slot == NULL) {
        if (oldest == NULL) {
            return NULL;
        }
        give_up(fragments, oldest);
        free_slot = oldest;
    }
    memset(free_slot, 0, sizeof *free_slot);
    free_slot->used = true;
    free_slot->family = frame->family;
    free_slot->protocol = frame->protocol;
    free_slot->hops = frame->hops;
    free_slot->id = frame->id;
    memcpy(free_slot->addresses, frame->source,
           (size_t)frame->address_length * 2);
    free_slot->begun_ns = ns;
    free_slot->first_ns = ns;
    free_slot->last_ns = ns;
    fragments->used++;
    if (ns <= INT64_MAX - LIFETIME_NS &&
        ns + LIFETIME_NS < fragments->deadline) {
        fragments->deadline = ns + LIFETIME_NS;
    }
    return free_slot;
}

static bool
slot_reserve(struct ip_fragments *fragments, struct slot *slot, uint32_t need)
{
    if (need <= slot->capacity) {
        return true;
    }
    uint32_t capacity = 4096;
    while (capacity < need) {
        capacity *= 2;
    }
    while (fragments->bytes + capacity > MAX_BYTES) {
        struct slot *oldest = NULL;
        for (unsigned i = 0; i < SLOTS; i++) {
            struct slot *other = &fragments->slots[i];
            if (other->used && other != slot &&
                (oldest == NULL || other->begun_ns < oldest->begun_ns)) {
                oldest = other;
            }
        }
        if (oldest == NULL) {
            return false;
        }
        give_up(fragments, oldest);
    }
    uint8_t *larger = realloc(slot->data, capacity);
    if (larger == NULL) {
        return false;
    }
    fragments->bytes += capacity - slot->capacity;
    slot->data = larger;
    slot->capacity = capacity;
    return true;
}

/* Puts one piece in at `index`; false when there is no room for more. */
static bool
piece_insert(struct slot *slot, unsigned index, uint32_t offset,
             uint32_t length, const uint8_t *data, uint32_t captured)
{
    if (captured > length) {
        captured = length;
    }
    if (captured > 0) {
        memcpy(slot->data + offset, data, captured);
    }
    struct piece *before = index > 0 ? &slot->pieces[index - 1] : NULL;
    if (before != NULL && before->offset + before->length == offset &&
        before->captured == before->length) {
        before->length += length;
        before->captured += captured;
        return true;
    }
    if (slot->piece_count == IP_DATAGRAM_PIECES) {
        return false;
    }
    memmove(&slot->pieces[index + 1], &slot->pieces[index],
            (slot->piece_count - index) * sizeof slot->pieces[0]);
    slot->pieces[index] = (struct piece){offset, length, captured};
    slot->piece_count++;
    return true;
}

/* Adds the bytes that are not known yet; true when any were known. */
static bool
slot_add(struct slot *slot, const struct frame *frame, bool *any_new)
{
    uint32_t at = frame->offset;
    uint32_t end = frame->offset + frame->length;
    bool overlap = false;
    *any_new = false;
    for (unsigned i = 0; at < end;) {
        uint32_t limit = end;
        if (i < slot->piece_count) {
            const struct piece *piece = &slot->pieces[i];
            uint32_t piece_end = piece->offset + piece->length;
            if (piece->offset <= at) {
                if (piece_end > at) {
                    overlap = true;
                    at = piece_end;
                }
                i++;
                continue;
            }
            if (piece->offset < end) {
                limit = piece->offset;
                overlap = true;
            }
        }
        uint32_t from = at - frame->offset;
        uint32_t captured = from < frame->captured ? frame->captured - from : 0;
        unsigned count = slot->piece_count;
        if (!piece_insert(slot, i, at, limit - at, frame->payload + from,
                          captured)) {
            return overlap;
        }
        *any_new = true;
        i += slot->piece_count - count;
        at = limit;
    }
    return overlap;
}

void
ip_fragments_add(struct ip_fragments *fragments, const struct frame *frame,
                 int64_t ns)
{
    uint32_t end = frame->offset + frame->length;
    if (frame->length == 0 || end > MAX_DATAGRAM || end < frame->offset ||
        (frame->more && frame->length % 8 != 0)) {
        fragments->losses->malformed_packets++;
        return;
    }
    struct slot *slot = slot_find(fragments, frame);
    if (slot == NULL) {
        slot = slot_new(fragments, frame, ns);
    }
    if (slot == NULL || !slot_reserve(fragments, slot, end)) {
        fragments->losses->incomplete_datagrams++;
        if (slot != NULL) {
            slot_free(fragments, slot);
        }
        return;
    }
    bool any_new;
    bool overlap = slot_add(slot, frame, &any_new);
    if (!any_new) {
        fragments->losses->capture_duplicates += overlap;
        return;
    }
    fragments->losses->fragment_overlaps += overlap;
    if (frame->offset == 0) {
        slot->first_ns = ns;
    }
    if (ns > slot->last_ns) {
        slot->last_ns = ns;
    }
    if (!frame->more) {
        slot->total = end;
    }
    if (is_complete(slot)) {
        finish(fragments, slot, true);
    }
}

void
ip_fragments_answered(struct ip_fragments *fragments, uint8_t family,
                      const uint8_t *source, const uint8_t *destination,
                      uint32_t xid)
{
    size_t size = family == 4 ? 4 : 16;
    if (fragments->passing) {
        return;
    }
    for (unsigned i = 0, seen = 0; i < SLOTS && seen < fragments->used; i++) {
        struct slot *slot = &fragments->slots[i];
        seen += slot->used;
        if (slot->used && !slot->passed && slot->protocol == FRAME_UDP &&
            slot->family == family && slot->piece_count > 0 &&
            slot->pieces[0].offset == 0 && slot->pieces[0].captured >= 16 &&
            wire_be32(slot->data + 8) == xid &&
            wire_be32(slot->data + 12) == 0 &&
            memcmp(slot->addresses, destination, size) == 0 &&
            memcmp(slot->addresses + size, source, size) == 0) {
            /* The rest may still come, if this was a retransmission. */
            slot->passed = true;
            pass_on(fragments, slot, false);
            return;
        }
    }
}
