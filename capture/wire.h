/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words out of captured bytes, by byte so that no alignment is needed. The
 * caller has checked that they are there.
 */
#ifndef NAT_CAPTURE_WIRE_H
#define NAT_CAPTURE_WIRE_H

#include <stdint.h>
#include <string.h>

static inline uint16_t
wire_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t
wire_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static inline uint16_t
wire_le16(const uint8_t *p)
{
    return (uint16_t)(p[1] << 8 | p[0]);
}

static inline uint32_t
wire_le32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 |
           p[0];
}

/* Host order: for comparing and hashing only. */
static inline uint32_t
wire_raw32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static inline uint64_t
wire_raw64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* Mixes well enough for a hash table (a 64-bit multiply and a fold). */
static inline uint64_t
wire_mix(uint64_t value)
{
    value *= UINT64_C(0x9E3779B97F4A7C15);
    return value ^ value >> 32;
}

#endif
