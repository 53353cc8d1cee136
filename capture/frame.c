/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * A `span` is what is left of the frame: the bytes at hand and how many there
 * were on the wire. Each layer steps over its header with span_step(), the
 * one bounds check, and calls the next. IP sets the span's wire length to
 * what its header says, so that padding falls away and a short snaplen is
 * seen as captured < length. Tunnels call back into the link or IP layer; a
 * depth limit ends what never ends.
 */
#include "capture/frame.h"

#include "capture/wire.h"

#include <stddef.h>

#define MAX_DEPTH 8
#define MAX_TAGS 8
#define MAX_EXTENSIONS 16

enum ether_type {
    ETHER_IPV4 = 0x0800,
    ETHER_TRANSPARENT_BRIDGE = 0x6558,
    ETHER_VLAN = 0x8100,
    ETHER_IPV6 = 0x86dd,
    ETHER_MPLS = 0x8847,
    ETHER_MPLS_UPSTREAM = 0x8848,
    ETHER_PPPOE_SESSION = 0x8864,
    ETHER_SERVICE_VLAN = 0x88a8, /* IEEE 802.1ad */
    ETHER_ERSPAN_2 = 0x88be,
    ETHER_ERSPAN_3 = 0x22eb,
    ETHER_VLAN_8200 = 0x8200, /* further tags of switch makers */
    ETHER_VLAN_9100 = 0x9100,
    ETHER_VLAN_9200 = 0x9200,
    ETHER_VLAN_9300 = 0x9300,
};

enum ip_protocol {
    IP_HOP_BY_HOP = 0,
    IP_IPV4 = 4,
    IP_IPV6 = 41,
    IP_ROUTING = 43,
    IP_FRAGMENT = 44,
    IP_GRE = 47,
    IP_AUTHENTICATION = 51,
    IP_NONE = 59,
    IP_DESTINATION = 60,
    IP_MOBILITY = 135,
    IP_HIP = 139,
    IP_SHIM6 = 140,
};

#define VXLAN_PORT 4789  /* RFC 7348 */
#define GENEVE_PORT 6081 /* RFC 8926 */

struct span {
    const uint8_t *p;
    uint32_t captured, length;
};

static enum frame_status
network(struct span span, unsigned type, unsigned depth, struct frame *frame);
static enum frame_status
ethernet(struct span span, unsigned depth, struct frame *frame);
static enum frame_status
transport(struct span span, unsigned protocol, unsigned depth,
          struct frame *frame);

/* Steps over `count` bytes; false when they are not at hand. */
static inline bool
span_step(struct span *span, uint32_t count)
{
    if (span->captured < count) {
        return false;
    }
    span->p += count;
    span->captured -= count;
    span->length -= count;
    return true;
}

/* Sets the wire length to what a header says of the rest. */
static inline void
span_limit(struct span *span, uint32_t length)
{
    span->length = length;
    if (span->captured > length) {
        span->captured = length;
    }
}

static enum frame_status
raw_ip(struct span span, unsigned depth, struct frame *frame)
{
    if (span.captured < 1) {
        return FRAME_SHORT;
    }
    switch (span.p[0] >> 4) {
    case 4:
        return network(span, ETHER_IPV4, depth, frame);
    case 6:
        return network(span, ETHER_IPV6, depth, frame);
    default:
        return FRAME_NOT_IP;
    }
}

/* --- IP ------------------------------------------------------------------ */

static enum frame_status
ipv4(struct span span, unsigned depth, struct frame *frame)
{
    const uint8_t *p = span.p;
    if (span.captured < 20) {
        return FRAME_SHORT;
    }
    uint32_t header = (uint32_t)(p[0] & 15) * 4;
    uint32_t total = wire_be16(p + 2);
    if (p[0] >> 4 != 4 || header < 20) {
        return FRAME_MALFORMED;
    }
    frame->zero_length = total == 0;
    if (total == 0) {
        total = span.length;
    }
    if (total < header) {
        return FRAME_MALFORMED;
    }
    span_limit(&span, total);
    frame->family = 4;
    frame->address_length = 4;
    frame->hops = p[8];
    frame->source = p + 12;
    frame->destination = p + 16;
    frame->id = wire_be16(p + 4);
    unsigned piece = wire_be16(p + 6);
    if (!span_step(&span, header)) {
        return FRAME_SHORT;
    }
    if ((piece & 0x3fff) != 0) {
        frame->protocol = p[9];
        frame->more = (piece & 0x2000) != 0;
        frame->offset = (piece & 0x1fff) * 8;
        frame->payload = span.p;
        frame->captured = span.captured;
        frame->length = span.length;
        return FRAME_FRAGMENT;
    }
    return transport(span, p[9], depth, frame);
}

/* Hop-by-hop options: the jumbo payload length of RFC 2675, or 0. */
static uint32_t
jumbo_length(const uint8_t *p, uint32_t size)
{
    for (uint32_t at = 2; at + 2 <= size;) {
        if (p[at] == 0) {
            at++;
            continue;
        }
        if (p[at] == 0xc2 && p[at + 1] == 4 && at + 6 <= size) {
            return wire_be32(p + at + 2);
        }
        at += 2u + p[at + 1];
    }
    return 0;
}

/* IPv6 extension headers up to the transport header. */
static enum frame_status
extensions(struct span span, unsigned protocol, unsigned depth,
           struct frame *frame)
{
    for (unsigned i = 0; i < MAX_EXTENSIONS; i++) {
        const uint8_t *p = span.p;
        uint32_t size;
        switch (protocol) {
        case IP_HOP_BY_HOP:
        case IP_ROUTING:
        case IP_DESTINATION:
        case IP_MOBILITY:
        case IP_HIP:
        case IP_SHIM6:
            if (span.captured < 8) {
                return FRAME_SHORT;
            }
            size = (p[1] + 1u) * 8;
            break;
        case IP_AUTHENTICATION:
            if (span.captured < 8) {
                return FRAME_SHORT;
            }
            size = (p[1] + 2u) * 4;
            break;
        case IP_FRAGMENT:
            if (span.captured < 8) {
                return FRAME_SHORT;
            }
            size = 8;
            break;
        default:
            return transport(span, protocol, depth, frame);
        }
        if (size > span.length) {
            return FRAME_MALFORMED;
        }
        unsigned here = protocol;
        protocol = p[0];
        if (!span_step(&span, size)) {
            return FRAME_SHORT;
        }
        if (here == IP_FRAGMENT && (wire_be16(p + 2) & 0xfff9) != 0) {
            frame->protocol = (uint8_t)protocol;
            frame->id = wire_be32(p + 4);
            frame->offset = wire_be16(p + 2) & 0xfff8u;
            frame->more = (p[3] & 1) != 0;
            frame->payload = span.p;
            frame->captured = span.captured;
            frame->length = span.length;
            return FRAME_FRAGMENT;
        }
    }
    return FRAME_MALFORMED;
}

static enum frame_status
ipv6(struct span span, unsigned depth, struct frame *frame)
{
    const uint8_t *p = span.p;
    if (span.captured < 40) {
        return FRAME_SHORT;
    }
    if (p[0] >> 4 != 6) {
        return FRAME_MALFORMED;
    }
    uint32_t length = wire_be16(p + 4);
    frame->family = 6;
    frame->address_length = 16;
    frame->hops = p[7];
    frame->source = p + 8;
    frame->destination = p + 24;
    frame->id = 0;
    span_step(&span, 40);
    if (length == 0 && p[6] == IP_HOP_BY_HOP && span.captured >= 8) {
        uint32_t size = (span.p[1] + 1u) * 8;
        length =
            jumbo_length(span.p, size < span.captured ? size : span.captured);
        if (length > (uint32_t)1 << 30) {
            return FRAME_MALFORMED;
        }
    }
    frame->zero_length = length == 0 && p[6] != IP_NONE;
    span_limit(&span, length == 0 ? span.length : length);
    return extensions(span, p[6], depth, frame);
}

/* --- tunnels ------------------------------------------------------------- */

/* RFC 2784, RFC 2890; ERSPAN as switches send it. */
static enum frame_status
gre(struct span span, unsigned depth, struct frame *frame)
{
    const uint8_t *p = span.p;
    if (!span_step(&span, 4)) {
        return FRAME_SHORT;
    }
    unsigned flags = wire_be16(p);
    unsigned type = wire_be16(p + 2);
    if ((flags & 7) != 0 || (flags & 0x4000) != 0) {
        return FRAME_OTHER; /* version 1 is PPTP; source routes: RFC 1701 */
    }
    uint32_t options = ((flags & 0x8000) ? 4u : 0) +
                       ((flags & 0x2000) ? 4 : 0) + ((flags & 0x1000) ? 4 : 0);
    if (type == ETHER_ERSPAN_2 && (flags & 0x1000)) {
        options += 8;
    } else if (type == ETHER_ERSPAN_3) {
        options += 12;
    }
    if (!span_step(&span, options)) {
        return FRAME_SHORT;
    }
    if (type == ETHER_ERSPAN_2 || type == ETHER_ERSPAN_3) {
        return ethernet(span, depth + 1, frame);
    }
    return network(span, type, depth + 1, frame);
}

/* Is a whole UDP datagram VXLAN or Geneve? Then decode what is inside. */
static bool
udp_tunnel(struct span span, unsigned depth, struct frame *frame,
           enum frame_status *status)
{
    const uint8_t *p = span.p;
    unsigned port = wire_be16(p + 2);
    if (port == VXLAN_PORT && span.captured >= 16 && p[8] == 8) {
        span_step(&span, 16);
        *status = ethernet(span, depth + 1, frame);
        return true;
    }
    if (port == GENEVE_PORT && span.captured >= 16 && p[8] >> 6 == 0) {
        unsigned type = wire_be16(p + 10);
        if (!span_step(&span, 16 + (p[8] & 63u) * 4)) {
            *status = FRAME_SHORT;
            return true;
        }
        *status = network(span, type, depth + 1, frame);
        return true;
    }
    return false;
}

static enum frame_status
transport(struct span span, unsigned protocol, unsigned depth,
          struct frame *frame)
{
    enum frame_status status;
    switch (protocol) {
    case FRAME_UDP:
        if (span.captured >= 8 && depth < MAX_DEPTH &&
            udp_tunnel(span, depth, frame, &status)) {
            return status;
        }
        break;
    case FRAME_TCP:
        break;
    case IP_IPV4:
        return network(span, ETHER_IPV4, depth + 1, frame);
    case IP_IPV6:
        return network(span, ETHER_IPV6, depth + 1, frame);
    case IP_GRE:
        return gre(span, depth, frame);
    default:
        return FRAME_OTHER;
    }
    frame->protocol = (uint8_t)protocol;
    frame->payload = span.p;
    frame->captured = span.captured;
    frame->length = span.length;
    return FRAME_TRANSPORT;
}

/* --- link layer ---------------------------------------------------------- */

/* RFC 1661: two bytes, or one when the first is odd. */
static enum frame_status
ppp(struct span span, unsigned depth, struct frame *frame)
{
    if (span.captured >= 2 && span.p[0] == 0xff && span.p[1] == 3) {
        span_step(&span, 2);
    }
    if (span.captured < 2) {
        return FRAME_SHORT;
    }
    unsigned protocol = span.p[0];
    if (protocol & 1) {
        span_step(&span, 1);
    } else {
        protocol = wire_be16(span.p);
        span_step(&span, 2);
    }
    switch (protocol) {
    case 0x21:
        return network(span, ETHER_IPV4, depth, frame);
    case 0x57:
        return network(span, ETHER_IPV6, depth, frame);
    case 0x281:
        return network(span, ETHER_MPLS, depth, frame);
    default:
        return FRAME_NOT_IP;
    }
}

/* RFC 3032 label stack; below it IP, or Ethernet behind a control word. */
static enum frame_status
mpls(struct span span, unsigned depth, struct frame *frame)
{
    for (unsigned i = 0; i < 16; i++) {
        const uint8_t *p = span.p;
        if (!span_step(&span, 4)) {
            return FRAME_SHORT;
        }
        if (!(p[2] & 1)) {
            continue;
        }
        if (span.captured >= 4 && span.p[0] >> 4 == 0) {
            span_step(&span, 4);
            return ethernet(span, depth + 1, frame);
        }
        return raw_ip(span, depth, frame);
    }
    return FRAME_MALFORMED;
}

/* IEEE 802.2 with SNAP (RFC 1042); IP right on LLC is 0x06. */
static enum frame_status
llc(struct span span, unsigned depth, struct frame *frame)
{
    const uint8_t *p = span.p;
    if (span.captured < 3) {
        return FRAME_SHORT;
    }
    if (p[0] == 0x06 && p[1] == 0x06 && p[2] == 3) {
        span_step(&span, 3);
        return network(span, ETHER_IPV4, depth, frame);
    }
    if (p[0] != 0xaa || p[1] != 0xaa || p[2] != 3) {
        return FRAME_NOT_IP;
    }
    if (!span_step(&span, 8)) {
        return FRAME_SHORT;
    }
    if (p[3] != 0 || p[4] != 0 || (p[5] != 0 && p[5] != 0xf8)) {
        return FRAME_NOT_IP;
    }
    return network(span, wire_be16(p + 6), depth, frame);
}

/* What an EtherType announces; tags are stepped over here. */
static enum frame_status
network(struct span span, unsigned type, unsigned depth, struct frame *frame)
{
    if (depth > MAX_DEPTH) {
        return FRAME_MALFORMED;
    }
    for (unsigned tags = 0; tags <= MAX_TAGS; tags++) {
        const uint8_t *p = span.p;
        switch (type) {
        case ETHER_IPV4:
            return ipv4(span, depth, frame);
        case ETHER_IPV6:
            return ipv6(span, depth, frame);
        case ETHER_VLAN:
        case ETHER_SERVICE_VLAN:
        case ETHER_VLAN_8200:
        case ETHER_VLAN_9100:
        case ETHER_VLAN_9200:
        case ETHER_VLAN_9300:
            if (!span_step(&span, 4)) {
                return FRAME_SHORT;
            }
            type = wire_be16(p + 2);
            continue;
        case ETHER_MPLS:
        case ETHER_MPLS_UPSTREAM:
            return mpls(span, depth, frame);
        case ETHER_PPPOE_SESSION:
            if (!span_step(&span, 6)) {
                return FRAME_SHORT;
            }
            return ppp(span, depth, frame);
        case ETHER_TRANSPARENT_BRIDGE:
            return ethernet(span, depth + 1, frame);
        default:
            break;
        }
        if (type <= 1500) {
            return llc(span, depth, frame);
        }
        return FRAME_NOT_IP;
    }
    return FRAME_MALFORMED;
}

static enum frame_status
ethernet(struct span span, unsigned depth, struct frame *frame)
{
    const uint8_t *p = span.p;
    if (!span_step(&span, 14)) {
        return FRAME_SHORT;
    }
    return network(span, wire_be16(p + 12), depth, frame);
}

/* LINKTYPE_NULL and LOOP: an address family in whichever byte order the
 * capturing machine had; some write an EtherType. */
static enum frame_status
loopback(struct span span, struct frame *frame)
{
    const uint8_t *p = span.p;
    if (!span_step(&span, 4)) {
        return FRAME_SHORT;
    }
    uint32_t family = wire_be32(p);
    if (family > 0xffff) {
        family = wire_le32(p);
    }
    switch (family) {
    case 2:
    case ETHER_IPV4:
        return network(span, ETHER_IPV4, 0, frame);
    case 10: /* AF_INET6 of Linux, NetBSD and OpenBSD, FreeBSD, macOS */
    case 24:
    case 28:
    case 30:
    case ETHER_IPV6:
        return network(span, ETHER_IPV6, 0, frame);
    default:
        return FRAME_NOT_IP;
    }
}

/* A header of fixed size with an EtherType at `type_at`. */
static enum frame_status
cooked(struct span span, uint32_t size, uint32_t type_at, struct frame *frame)
{
    const uint8_t *p = span.p;
    if (!span_step(&span, size)) {
        return FRAME_SHORT;
    }
    return network(span, wire_be16(p + type_at), 0, frame);
}

bool
frame_link_known(uint32_t link_type)
{
    static const uint16_t known[] = {0,   1,   9,   10,  12,  14,  50, 51,
                                     101, 104, 108, 113, 228, 229, 276};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i] == link_type) {
            return true;
        }
    }
    return false;
}

enum frame_status
frame_decode(uint32_t link_type, const uint8_t *data, uint32_t captured,
             uint32_t length, struct frame *frame)
{
    struct span span = {data, captured, length};
    switch (link_type) {
    case 1: /* ETHERNET */
        return ethernet(span, 0, frame);
    case 0:   /* NULL */
    case 108: /* LOOP */
        return loopback(span, frame);
    case 9:  /* PPP */
    case 50: /* PPP_HDLC */
        return ppp(span, 0, frame);
    case 51: /* PPP_ETHER */
        return network(span, ETHER_PPPOE_SESSION, 0, frame);
    case 10: /* FDDI: frame control, addresses, LLC */
        return span_step(&span, 13) ? llc(span, 0, frame) : FRAME_SHORT;
    case 12: /* RAW, as some systems number it */
    case 14:
    case 101: /* RAW */
        return raw_ip(span, 0, frame);
    case 104: /* C_HDLC */
        return cooked(span, 4, 2, frame);
    case 113: /* LINUX_SLL */
        return cooked(span, 16, 14, frame);
    case 228: /* IPV4 */
        return network(span, ETHER_IPV4, 0, frame);
    case 229: /* IPV6 */
        return network(span, ETHER_IPV6, 0, frame);
    case 276: /* LINUX_SLL2 */
        return cooked(span, 20, 0, frame);
    default:
        return FRAME_LINK_UNKNOWN;
    }
}

enum frame_status
frame_decode_payload(struct frame *frame)
{
    struct span span = {frame->payload, frame->captured, frame->length};
    if (frame->family == 6) {
        return extensions(span, frame->protocol, 1, frame);
    }
    return transport(span, frame->protocol, 1, frame);
}
