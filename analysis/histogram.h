/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Durations counted in buckets of constant relative width: quantiles of any
 * number of values in constant memory. Minimum, maximum, count and mean are
 * exact. A quantile is the middle of its bucket: buckets double every 64, so
 * that it is off by at most 1/128 = 0.8 % of its value (values below 64 ns
 * are exact).
 */
#ifndef NAT_ANALYSIS_HISTOGRAM_H
#define NAT_ANALYSIS_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_STEPS 64 /* buckets per doubling; a power of two */
#define HISTOGRAM_BUCKETS ((63 - 6 + 1) * HISTOGRAM_STEPS)

__extension__ typedef unsigned __int128 histogram_sum;

struct histogram {
    uint64_t count;
    int64_t min, max;
    histogram_sum sum;
    uint32_t bucket[HISTOGRAM_BUCKETS];
};

/* A negative duration counts as 0; callers count those by themselves. */
void histogram_add(struct histogram *histogram, int64_t ns);

/* 0 when empty. */
double histogram_mean(const struct histogram *histogram);

/* p from 0 to 1; 0 when empty. */
int64_t histogram_quantile(const struct histogram *histogram, double p);

#endif
