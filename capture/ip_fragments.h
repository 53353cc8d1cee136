/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * IP datagrams out of their fragments: RFC 791 section 3.2, RFC 8200 section
 * 4.5. Bounded in number and bytes; what never completes is counted.
 */
#ifndef NAT_CAPTURE_IP_FRAGMENTS_H
#define NAT_CAPTURE_IP_FRAGMENTS_H

#include "capture/frame.h"
#include "capture/rpc_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IP_DATAGRAM_PIECES 128

/*
 * A datagram's payload (everything behind the IP header). `frame` describes
 * it as frame_decode() would: payload and captured are the contiguous bytes
 * at its start. All bytes at hand are in `pieces`, by offset in the payload.
 */
struct ip_datagram {
    struct frame frame;
    const struct rpc_piece *pieces;
    unsigned piece_count;
    bool complete; /* false: only the first fragments were captured */
    int64_t first_ns, last_ns;
};

struct ip_fragments;

struct ip_fragments_sink {
    void *context;
    /* Valid during the call only. */
    void (*datagram)(void *context, const struct ip_datagram *datagram);
};

/* NULL when there is no memory. */
struct ip_fragments *
ip_fragments_new(const struct ip_fragments_sink *sink,
                 struct packet_losses *losses);
void
ip_fragments_free(struct ip_fragments *fragments);

/* Adds a FRAME_FRAGMENT; calls the sink when that completes its datagram. */
void
ip_fragments_add(struct ip_fragments *fragments, const struct frame *frame,
                 int64_t ns);

/*
 * Gives up datagrams begun more than two seconds before `now_ns` (INT64_MAX:
 * all). Each counts as incomplete; those whose first fragment was seen still
 * go to the sink, incomplete, since an RPC header is in them.
 */
void
ip_fragments_expire(struct ip_fragments *fragments, int64_t now_ns);

/* Time at which expiry has something to do, or INT64_MAX. */
int64_t
ip_fragments_deadline(const struct ip_fragments *fragments);

/*
 * A reply with `xid` from `source` to `destination` was seen: an incomplete
 * UDP call with that xid the other way must have reached its receiver whole,
 * so it goes to the sink now, before its reply.
 */
void
ip_fragments_answered(struct ip_fragments *fragments, uint8_t family,
                      const uint8_t *source, const uint8_t *destination,
                      uint32_t xid);

#endif
