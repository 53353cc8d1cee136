/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same numbers on every machine: splitmix64 (Steele, Lea and Flood,
 * 2014), and normal deviates by the polar method. */
#ifndef NAT_TESTS_UNIT_SEEDED_RANDOM_H
#define NAT_TESTS_UNIT_SEEDED_RANDOM_H

#include <math.h>
#include <stdint.h>

static inline uint64_t
random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 <= u < 1 */
static inline double
random_uniform(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-53;
}

static inline double
random_normal(uint64_t *state)
{
    double u, v, s;

    do {
        u = 2.0 * random_uniform(state) - 1.0;
        v = 2.0 * random_uniform(state) - 1.0;
        s = u * u + v * v;
    } while (s >= 1.0 || s == 0.0);
    return u * sqrt(-2.0 * log(s) / s);
}

#endif
