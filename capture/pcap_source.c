/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * The first word decides the format. In pcap and snoop every record has the
 * same header, so `next` is a straight read of it. In pcapng blocks follow
 * each other: section headers set the byte order and forget the interfaces,
 * interface blocks add one with its link type and clock, packet blocks are
 * returned, all others are stepped over. The position moves on whole packets
 * or blocks only: where the file ends or contradicts itself the message names
 * that offset, and what came before stays good.
 */
#include "capture/pcap_source.h"

#include "capture/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCAP_MICROSECONDS 0xa1b2c3d4u
#define PCAP_NANOSECONDS 0xa1b23c4du
#define PCAP_MODIFIED 0xa1b2cd34u
#define PCAPNG_SECTION 0x0a0d0d0au
#define PCAPNG_BYTE_ORDER 0x1a2b3c4du
#define PCAP_HEADER 24
#define PCAP_RECORD 16
#define SNOOP_HEADER 16
#define SNOOP_RECORD 24

enum block_type {
    BLOCK_INTERFACE = 1,
    BLOCK_PACKET = 2,
    BLOCK_SIMPLE = 3,
    BLOCK_ENHANCED = 6,
};

enum option_code {
    OPTION_END = 0,
    OPTION_TSRESOL = 9,
    OPTION_TSOFFSET = 14,
};

#define MAX_INTERFACES 4096
/* Packets and their options; larger blocks of these types are broken. */
#define MAX_PACKET_BLOCK (PCAP_SOURCE_MAX_PACKET + ((uint32_t)1 << 20))

enum format { FORMAT_PCAP, FORMAT_PCAPNG, FORMAT_SNOOP };

/* A pcapng interface's clock: ns = ticks * multiply / divide >> shift. */
struct interface {
    uint32_t link_type, snaplen;
    uint64_t multiply, divide;
    unsigned shift;
    int64_t offset_ns;
};

struct pcap_source {
    struct byte_input *input;
    struct byte_window *window;
    enum format format;
    enum pcap_source_status ended; /* PACKET: not yet */
    bool swapped;                  /* big-endian file */
    uint32_t fraction_ns;          /* pcap: ns per unit of the fraction */
    uint32_t link_type, snaplen;
    struct interface *interfaces;
    size_t interface_count, interface_capacity;
    int64_t last_ns; /* for simple packets, which have no time */
    uint64_t malformed;
    char *name;
    char message[512];
};

__extension__ typedef unsigned __int128 wide;

static inline uint32_t
word(const struct pcap_source *source, const uint8_t *p)
{
    return source->swapped ? wire_be32(p) : wire_le32(p);
}

static inline uint16_t
half_word(const struct pcap_source *source, const uint8_t *p)
{
    return source->swapped ? wire_be16(p) : wire_le16(p);
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static enum pcap_source_status
broken(struct pcap_source *source, const char *format, ...)
{
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    const char *failure = byte_input_failure(source->input);
    snprintf(source->message, sizeof source->message,
             "%s: %s%s%s at offset %llu%s; what came before it is counted",
             source->name, failure != NULL ? failure : "",
             failure != NULL ? ": " : "", why,
             (unsigned long long)byte_input_offset(source->input),
             byte_input_compressed(source->input) ? " (decompressed)" : "");
    source->ended = PCAP_SOURCE_BROKEN;
    return PCAP_SOURCE_BROKEN;
}

/* The input ended where `what` of `need` bytes should be. */
static enum pcap_source_status
ended_in(struct pcap_source *source, const char *what, size_t need, size_t have)
{
    if (have == 0 && byte_input_failure(source->input) == NULL) {
        source->ended = PCAP_SOURCE_END;
        return PCAP_SOURCE_END;
    }
    return broken(source, "cut short in %s (%zu of %zu bytes)", what, have,
                  need);
}

/* --- pcap ---------------------------------------------------------------- */

static enum pcap_source_status
pcap_body(struct pcap_source *source)
{
    struct byte_window *window = source->window;
    size_t have = byte_input_require(source->input, PCAP_RECORD);
    if (have < PCAP_RECORD) {
        return ended_in(source, "a packet header", PCAP_RECORD, have);
    }
    uint32_t captured = word(source, window->next + 8);
    if (captured > PCAP_SOURCE_MAX_PACKET) {
        return broken(source, "corrupt: a packet of %u captured bytes",
                      captured);
    }
    have = byte_input_require(source->input, PCAP_RECORD + captured);
    if (have < PCAP_RECORD + captured) {
        return ended_in(source, "a packet", PCAP_RECORD + captured, have);
    }
    return PCAP_SOURCE_PACKET;
}

static enum pcap_source_status
pcap_next(struct pcap_source *source, struct packet *packet)
{
    struct byte_window *window = source->window;
    size_t left = (size_t)(window->end - window->next);
    if (left < PCAP_RECORD ||
        left - PCAP_RECORD < word(source, window->next + 8)) {
        enum pcap_source_status status = pcap_body(source);
        if (status != PCAP_SOURCE_PACKET) {
            return status;
        }
    }
    const uint8_t *p = window->next;
    uint32_t captured = word(source, p + 8);
    uint32_t length = word(source, p + 12);
    if (captured > PCAP_SOURCE_MAX_PACKET) {
        return broken(source, "corrupt: a packet of %u captured bytes",
                      captured);
    }
    packet->ns = (int64_t)word(source, p) * 1000000000 +
                 (int64_t)word(source, p + 4) * source->fraction_ns;
    packet->captured = captured;
    packet->length = length < captured ? captured : length;
    packet->data = p + PCAP_RECORD;
    packet->link_type = source->link_type;
    window->next = p + PCAP_RECORD + captured;
    return PCAP_SOURCE_PACKET;
}

/* --- snoop --------------------------------------------------------------- */

static enum pcap_source_status
snoop_next(struct pcap_source *source, struct packet *packet)
{
    size_t have = byte_input_require(source->input, SNOOP_RECORD);
    if (have < SNOOP_RECORD) {
        return ended_in(source, "a packet header", SNOOP_RECORD, have);
    }
    const uint8_t *p = source->window->next;
    uint32_t length = wire_be32(p);
    uint32_t captured = wire_be32(p + 4);
    uint32_t record = wire_be32(p + 8);
    if (record > PCAP_SOURCE_MAX_PACKET || record < SNOOP_RECORD ||
        captured > record - SNOOP_RECORD) {
        return broken(source, "corrupt: a snoop record of %u bytes", record);
    }
    have = byte_input_require(source->input, record);
    if (have < SNOOP_RECORD + captured) {
        return ended_in(source, "a packet", record, have);
    }
    p = source->window->next;
    packet->ns = (int64_t)wire_be32(p + 16) * 1000000000 +
                 (int64_t)wire_be32(p + 20) * 1000;
    packet->captured = captured;
    packet->length = length < captured ? captured : length;
    packet->data = p + SNOOP_RECORD;
    packet->link_type = source->link_type;
    source->window->next += have < record ? have : record;
    return PCAP_SOURCE_PACKET;
}

/* --- pcapng -------------------------------------------------------------- */

static void
clock_of(struct interface *about, uint8_t resolution)
{
    unsigned exponent = resolution & 0x7f;
    about->multiply = 1;
    about->divide = 1;
    about->shift = 0;
    if (resolution & 0x80) {
        about->multiply = 1000000000;
        about->shift = exponent;
        return;
    }
    for (; exponent < 9; exponent++) {
        about->multiply *= 10;
    }
    for (; exponent > 9 && about->divide <= UINT64_MAX / 10; exponent--) {
        about->divide *= 10;
    }
}

static int64_t
ticks_to_ns(const struct interface *about, uint64_t ticks)
{
    wide ns = (wide)ticks * about->multiply / about->divide;
    ns = about->shift < 128 ? ns >> about->shift : 0;
    return (int64_t)((uint64_t)ns + (uint64_t)about->offset_ns);
}

/* Interface description block: `body` of `size` bytes. */
static bool
interface_add(struct pcap_source *source, const uint8_t *body, size_t size)
{
    if (source->interface_count == source->interface_capacity) {
        size_t capacity = source->interface_capacity * 2 + 8;
        struct interface *larger =
            realloc(source->interfaces, capacity * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        source->interfaces = larger;
        source->interface_capacity = capacity;
    }
    struct interface *about = &source->interfaces[source->interface_count++];
    memset(about, 0, sizeof *about);
    about->link_type = half_word(source, body);
    about->snaplen = word(source, body + 4);
    clock_of(about, 6);
    for (size_t at = 8; at + 4 <= size;) {
        unsigned code = half_word(source, body + at);
        size_t length = half_word(source, body + at + 2);
        at += 4;
        if (code == OPTION_END || length > size - at) {
            break;
        }
        if (code == OPTION_TSRESOL && length >= 1) {
            clock_of(about, body[at]);
        } else if (code == OPTION_TSOFFSET && length >= 8) {
            uint64_t low = word(source, body + at);
            uint64_t high = word(source, body + at + 4);
            uint64_t seconds =
                source->swapped ? low << 32 | high : high << 32 | low;
            about->offset_ns = (int64_t)(seconds * 1000000000u);
        }
        at += (length + 3) & ~(size_t)3;
    }
    return true;
}

/* Fills `packet` from a packet block's body; false when it contradicts
 * itself and is passed over. */
static bool
packet_block(struct pcap_source *source, uint32_t type, const uint8_t *body,
             size_t size, struct packet *packet)
{
    size_t header = type == BLOCK_SIMPLE ? 4 : 20;
    if (size < header) {
        return false;
    }
    uint32_t number = 0;
    if (type == BLOCK_ENHANCED) {
        number = word(source, body);
    } else if (type == BLOCK_PACKET) {
        number = half_word(source, body);
    }
    if (number >= source->interface_count) {
        return false;
    }
    const struct interface *about = &source->interfaces[number];
    if (type == BLOCK_SIMPLE) {
        packet->length = word(source, body);
        packet->captured = packet->length;
        if (about->snaplen != 0 && packet->captured > about->snaplen) {
            packet->captured = about->snaplen;
        }
        if (packet->captured > size - header) {
            packet->captured = (uint32_t)(size - header);
        }
        packet->ns = source->last_ns;
    } else {
        uint64_t ticks =
            (uint64_t)word(source, body + 4) << 32 | word(source, body + 8);
        packet->captured = word(source, body + 12);
        packet->length = word(source, body + 16);
        packet->ns = ticks_to_ns(about, ticks);
        source->last_ns = packet->ns;
    }
    if (packet->captured > size - header ||
        packet->captured > PCAP_SOURCE_MAX_PACKET) {
        return false;
    }
    if (packet->length < packet->captured) {
        packet->length = packet->captured;
    }
    packet->data = body + header;
    packet->link_type = about->link_type;
    return true;
}

/* At a section header block: sets the byte order. */
static enum pcap_source_status
section_start(struct pcap_source *source)
{
    size_t have = byte_input_require(source->input, 12);
    if (have < 12) {
        return ended_in(source, "a section header", 12, have);
    }
    const uint8_t *p = source->window->next + 8;
    if (wire_le32(p) == PCAPNG_BYTE_ORDER) {
        source->swapped = false;
    } else if (wire_be32(p) == PCAPNG_BYTE_ORDER) {
        source->swapped = true;
    } else {
        return broken(source, "corrupt: a section header without byte order");
    }
    source->interface_count = 0;
    return PCAP_SOURCE_PACKET;
}

/* The block at the window, of `type` and `total` bytes, is stepped over. */
static enum pcap_source_status
step_over(struct pcap_source *source, uint32_t total)
{
    uint64_t done = byte_input_skip(source->input, total);
    if (done < total) {
        return broken(source, "cut short in a block of %u bytes", total);
    }
    return PCAP_SOURCE_PACKET;
}

static enum pcap_source_status
pcapng_next(struct pcap_source *source, struct packet *packet)
{
    for (;;) {
        size_t have = byte_input_require(source->input, 8);
        if (have < 8) {
            return ended_in(source, "a block header", 8, have);
        }
        if (wire_le32(source->window->next) == PCAPNG_SECTION) {
            enum pcap_source_status status = section_start(source);
            if (status != PCAP_SOURCE_PACKET) {
                return status;
            }
        }
        uint32_t type = word(source, source->window->next);
        uint32_t total = word(source, source->window->next + 4);
        if (total < 12 || total % 4 != 0) {
            return broken(source, "corrupt: a block of %u bytes", total);
        }
        bool wanted = type == BLOCK_INTERFACE || type == BLOCK_PACKET ||
                      type == BLOCK_SIMPLE || type == BLOCK_ENHANCED;
        if (!wanted) {
            enum pcap_source_status status = step_over(source, total);
            if (status != PCAP_SOURCE_PACKET) {
                return status;
            }
            continue;
        }
        if (total > MAX_PACKET_BLOCK) {
            return broken(source, "corrupt: a packet block of %u bytes", total);
        }
        have = byte_input_require(source->input, total);
        if (have < total) {
            return ended_in(source, "a block", total, have);
        }
        const uint8_t *block = source->window->next;
        if (word(source, block + total - 4) != total) {
            return broken(source, "corrupt: the two lengths of a block differ");
        }
        size_t size = total - 12;
        source->window->next += total;
        if (type == BLOCK_INTERFACE) {
            if (size < 8 || source->interface_count == MAX_INTERFACES ||
                !interface_add(source, block + 8, size)) {
                return broken(source, "corrupt: an interface description");
            }
        } else if (packet_block(source, type, block + 8, size, packet)) {
            return PCAP_SOURCE_PACKET;
        } else {
            source->malformed++;
        }
    }
}

/* --- all formats --------------------------------------------------------- */

enum pcap_source_status
pcap_source_next(struct pcap_source *source, struct packet *packet)
{
    if (source->ended != PCAP_SOURCE_PACKET) {
        return source->ended;
    }
    switch (source->format) {
    case FORMAT_PCAP:
        return pcap_next(source, packet);
    case FORMAT_SNOOP:
        return snoop_next(source, packet);
    case FORMAT_PCAPNG:
        break;
    }
    return pcapng_next(source, packet);
}

static bool
open_pcap(struct pcap_source *source, const uint8_t *p)
{
    static const struct {
        uint32_t magic, fraction_ns;
    } kinds[] = {{PCAP_MICROSECONDS, 1000}, {PCAP_NANOSECONDS, 1}};
    for (unsigned i = 0; i < 2; i++) {
        bool little = wire_le32(p) == kinds[i].magic;
        if (little || wire_be32(p) == kinds[i].magic) {
            source->format = FORMAT_PCAP;
            source->swapped = !little;
            source->fraction_ns = kinds[i].fraction_ns;
            return true;
        }
    }
    return false;
}

/* Snoop data link numbers (RFC 1761 and later) that have a LINKTYPE_. */
static uint32_t
snoop_link_type(uint32_t number)
{
    return number == 4 || number == 2 ? 1 : UINT32_MAX;
}

/* Recognises the format; fills `why` and returns false when it is none. */
static bool
recognise(struct pcap_source *source, char *why, size_t why_size)
{
    size_t have = byte_input_require(source->input, PCAP_HEADER);
    const uint8_t *p = source->window->next;
    if (have == 0) {
        snprintf(why, why_size, "the file is empty");
        return false;
    }
    if (have < 4) {
        snprintf(why, why_size, "too short for a capture file");
        return false;
    }
    if (wire_le32(p) == PCAPNG_SECTION) {
        source->format = FORMAT_PCAPNG;
        source->link_type = UINT32_MAX;
        if (section_start(source) != PCAP_SOURCE_PACKET) {
            snprintf(why, why_size,
                     "a pcapng file cut short or broken in its first block");
            return false;
        }
        return true;
    }
    if (have >= SNOOP_HEADER && memcmp(p, "snoop\0\0\0", 8) == 0) {
        source->format = FORMAT_SNOOP;
        source->link_type = snoop_link_type(wire_be32(p + 12));
        source->window->next += SNOOP_HEADER;
        return true;
    }
    if (wire_le32(p) == PCAP_MODIFIED || wire_be32(p) == PCAP_MODIFIED) {
        snprintf(why, why_size,
                 "a \"modified\" pcap file (magic 0xa1b2cd34), which is not "
                 "read; convert it: editcap -F pcap IN OUT");
        return false;
    }
    if (!open_pcap(source, p)) {
        snprintf(why, why_size,
                 "not a capture file (pcap, pcapng or snoop, plain or "
                 "compressed by gzip or zstd)");
        return false;
    }
    if (have < PCAP_HEADER) {
        snprintf(why, why_size,
                 "cut short in the file header (%zu of %d bytes)", have,
                 PCAP_HEADER);
        return false;
    }
    source->snaplen = word(source, p + 16);
    /* The upper bits tell of a frame check sequence: a trailer. */
    source->link_type = word(source, p + 20) & 0xffff;
    source->window->next += PCAP_HEADER;
    return true;
}

struct pcap_source *
pcap_source_new(struct byte_input *input, const char *name, char *error,
                size_t error_size)
{
    struct pcap_source *source = calloc(1, sizeof *source);
    if (source != NULL) {
        source->name = strdup(name);
    }
    if (source == NULL || source->name == NULL) {
        snprintf(error, error_size, "%s: no memory", name);
        free(source);
        byte_input_close(input);
        return NULL;
    }
    source->input = input;
    source->window = byte_input_window(input);
    char why[200];
    if (!recognise(source, why, sizeof why)) {
        const char *failure = byte_input_failure(input);
        snprintf(error, error_size, "%s: %s%s%s", name,
                 failure != NULL ? failure : "", failure != NULL ? "; " : "",
                 why);
        pcap_source_free(source);
        return NULL;
    }
    return source;
}

void
pcap_source_free(struct pcap_source *source)
{
    if (source == NULL) {
        return;
    }
    byte_input_close(source->input);
    free(source->interfaces);
    free(source->name);
    free(source);
}

const char *
pcap_source_message(const struct pcap_source *source)
{
    return source->message[0] != '\0' ? source->message : NULL;
}

uint64_t
pcap_source_malformed(const struct pcap_source *source)
{
    return source->malformed;
}

uint64_t
pcap_source_consumed(struct pcap_source *source)
{
    return byte_input_consumed(source->input);
}

uint64_t
pcap_source_size(const struct pcap_source *source)
{
    return byte_input_size(source->input);
}

uint32_t
pcap_source_link_type(const struct pcap_source *source)
{
    return source->link_type;
}

bool
pcap_source_keeps(struct pcap_source *source, void *context,
                  void (*before_move)(void *context))
{
    return byte_input_keeps(source->input, context, before_move);
}
