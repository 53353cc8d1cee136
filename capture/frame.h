/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a captured frame to the IP payload in it, through tags and tunnels:
 * link layer, IPv4 (RFC 791), IPv6 with its extension headers (RFC 8200).
 */
#ifndef NAT_CAPTURE_FRAME_H
#define NAT_CAPTURE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

enum frame_status {
    FRAME_TRANSPORT, /* TCP or UDP: `payload` is its header */
    FRAME_FRAGMENT,  /* a piece of a datagram: see offset and more */
    FRAME_OTHER,     /* IP with another protocol in it */
    FRAME_NOT_IP,
    FRAME_SHORT,        /* captured too little to tell what it is */
    FRAME_MALFORMED,    /* headers that contradict themselves */
    FRAME_LINK_UNKNOWN, /* link type not decoded */
};

#define FRAME_TCP 6
#define FRAME_UDP 17

/* The innermost IP packet. Pointers lie in the bytes that were decoded. */
struct frame {
    uint8_t family;         /* 4 or 6 */
    uint8_t address_length; /* 4 or 16 */
    uint8_t protocol;       /* of `payload`: TCP, UDP ... */
    uint8_t hops;           /* time to live */
    bool more;              /* fragment: others follow it */
    bool zero_length;       /* IP length 0: offload; link length was used */
    const uint8_t *source, *destination; /* adjacent, network order */
    uint32_t id;     /* v4: identification; v6: of the fragment, or 0 */
    uint32_t offset; /* fragment: of `payload` in the datagram */
    const uint8_t *payload;
    uint32_t captured, length; /* of payload: at hand, by IP's length */
};

/* Is this LINKTYPE_ number decoded? */
bool
frame_link_known(uint32_t link_type);

/*
 * Decodes `captured` bytes of a frame that had `length` on the wire. Padding
 * and trailers behind the IP packet are left out.
 */
enum frame_status
frame_decode(uint32_t link_type, const uint8_t *data, uint32_t captured,
             uint32_t length, struct frame *frame);

/*
 * Goes on after reassembly: `frame` holds a whole datagram's payload whose
 * protocol may be an extension header or a tunnel.
 */
enum frame_status
frame_decode_payload(struct frame *frame);

#endif
