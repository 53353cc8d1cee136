/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packets out of a capture file: pcap in both byte orders and resolutions,
 * pcapng (draft-ietf-opsawg-pcapng: sections, interfaces, EPB, SPB and the
 * obsolete PB), snoop (RFC 1761).
 */
#ifndef NAT_CAPTURE_PCAP_SOURCE_H
#define NAT_CAPTURE_PCAP_SOURCE_H

#include "capture/byte_input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One packet as captured. `data` is valid until the next packet is asked
 * for. */
struct packet {
    int64_t ns; /* since the epoch */
    const uint8_t *data;
    uint32_t captured, length; /* bytes at hand, bytes on the wire */
    uint32_t link_type;        /* LINKTYPE_ number */
};

/* More than any capture program writes: a larger length is a broken file. */
#define PCAP_SOURCE_MAX_PACKET ((uint32_t)16 << 20)

enum pcap_source_status {
    PCAP_SOURCE_PACKET,
    PCAP_SOURCE_END,    /* all of it was read */
    PCAP_SOURCE_BROKEN, /* cut short or corrupt here: see the message */
};

struct pcap_source;

/*
 * Reads the file's first header from `input`, which it takes over (closed
 * with the source, and on failure). `name` is used in messages.
 *
 * @return NULL with one line in `error`: not a capture file, or a kind that
 *         is not read, and what to do.
 */
struct pcap_source *
pcap_source_new(struct byte_input *input, const char *name, char *error,
                size_t error_size);

void
pcap_source_free(struct pcap_source *source);

/* The next packet. After END or BROKEN the same is given again. */
enum pcap_source_status
pcap_source_next(struct pcap_source *source, struct packet *packet);

/* One line with name and offset once BROKEN was returned, else NULL. */
const char *
pcap_source_message(const struct pcap_source *source);

/* Packets of an interface the file never described, or shorter than their
 * own headers; they were passed over. */
uint64_t
pcap_source_malformed(const struct pcap_source *source);

/* Bytes of the file that were read, for progress, and all of them or 0. */
uint64_t
pcap_source_consumed(struct pcap_source *source);
uint64_t
pcap_source_size(const struct pcap_source *source);

/*
 * May packets be decoded by another thread than the one that asks for them?
 * See byte_input_keeps().
 */
bool
pcap_source_keeps(struct pcap_source *source, void *context,
                  void (*before_move)(void *context));

/* The link type when the whole file has one (pcap, snoop), or UINT32_MAX. */
uint32_t
pcap_source_link_type(const struct pcap_source *source);

#endif
