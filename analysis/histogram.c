/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/histogram.h"

#include <stddef.h>

#define STEP_BITS 6
_Static_assert(1 << STEP_BITS == HISTOGRAM_STEPS, "steps are 2^STEP_BITS");

static size_t
bucket_of(uint64_t value)
{
    unsigned exponent;

    if (value < HISTOGRAM_STEPS)
        return (size_t)value;
    exponent = 63U - (unsigned)__builtin_clzll(value); /* >= STEP_BITS */
    return ((size_t)(exponent - STEP_BITS) + 1) * HISTOGRAM_STEPS +
           (size_t)(value >> (exponent - STEP_BITS)) - HISTOGRAM_STEPS;
}

/* The value in the middle of a bucket. */
static int64_t
bucket_middle(size_t bucket)
{
    const size_t octave = bucket / HISTOGRAM_STEPS;
    uint64_t low, width;

    if (octave == 0)
        return (int64_t)bucket;
    width = UINT64_C(1) << (octave - 1);
    low = (bucket % HISTOGRAM_STEPS + HISTOGRAM_STEPS) * width;
    return (int64_t)(low + width / 2);
}

void
histogram_add(struct histogram *histogram, int64_t ns)
{
    const int64_t value = ns < 0 ? 0 : ns;

    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (histogram->count == 0 || value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->sum += (uint64_t)value;
    histogram->bucket[bucket_of((uint64_t)value)]++;
}

double
histogram_mean(const struct histogram *histogram)
{
    return histogram->count > 0
               ? (double)histogram->sum / (double)histogram->count
               : 0;
}

int64_t
histogram_quantile(const struct histogram *histogram, double p)
{
    uint64_t rank, seen = 0;
    size_t i;

    if (histogram->count == 0)
        return 0;
    rank = (uint64_t)(p * (double)(histogram->count - 1));
    for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->bucket[i];
        if (seen > rank)
            break;
    }
    if (i == HISTOGRAM_BUCKETS)
        return histogram->max;
    {
        const int64_t middle = bucket_middle(i);

        if (middle < histogram->min)
            return histogram->min;
        return middle > histogram->max ? histogram->max : middle;
    }
}
