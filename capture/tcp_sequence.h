/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Serial arithmetic on TCP sequence numbers: RFC 9293 section 3.4, all sums
 * modulo 2^32. Right as long as the two numbers are less than 2^31 apart.
 */
#ifndef NAT_CAPTURE_TCP_SEQUENCE_H
#define NAT_CAPTURE_TCP_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

/* How far `a` lies after `b`; negative when before. */
static inline int32_t
tcp_seq_diff(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

static inline bool
tcp_seq_before(uint32_t a, uint32_t b)
{
    return tcp_seq_diff(a, b) < 0;
}

static inline bool
tcp_seq_after(uint32_t a, uint32_t b)
{
    return tcp_seq_diff(a, b) > 0;
}

#endif
