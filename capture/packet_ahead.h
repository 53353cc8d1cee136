/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds and decodes the packets of one file in a thread of its own, ahead of
 * the engine, and hands them over in order, many at a time.
 */
#ifndef NAT_CAPTURE_PACKET_AHEAD_H
#define NAT_CAPTURE_PACKET_AHEAD_H

#include "capture/capture_filter.h"
#include "capture/packet_engine.h"
#include "capture/pcap_source.h"

#include <stdint.h>

#define PACKET_BATCH 256

struct packet_batch {
    unsigned count;
    uint64_t consumed; /* bytes of the file, for progress */
    struct packet_decoded packets[PACKET_BATCH];
};

struct packet_ahead;

/*
 * @param filter or NULL; used by the other thread until the end.
 * @return NULL when the source cannot be read that way (or there is no
 *         thread): read it packet by packet then.
 */
struct packet_ahead *
packet_ahead_new(struct pcap_source *source, struct capture_filter *filter);

/* The next packets; those handed over before are gone. NULL at the end. */
const struct packet_batch *
packet_ahead_next(struct packet_ahead *ahead);

/* Ends the thread and frees all; says how the source ended. */
enum pcap_source_status
packet_ahead_finish(struct packet_ahead *ahead);

#endif
