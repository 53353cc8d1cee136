/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several runs that differ in the round-trip time: by how much an exec takes
 * longer for each us of it is the number of round trips that it waits for.
 */
#ifndef NAT_ANALYSIS_RTT_SLOPE_H
#define NAT_ANALYSIS_RTT_SLOPE_H

#include "analysis/figures.h"

#include <stddef.h>
#include <stdio.h>

/* A cell: one value of us per exec at one round-trip time. */
struct rtt_point {
    char *filesystem; /* label */
    enum run_method method;
    size_t run;       /* in the order in which they were added */
    double rtt_us;    /* median of that run's NULL calls */
    double us;        /* per exec */
    double trips;     /* blocking RPCs per exec; < 0 without a capture */
};

struct rtt_runs {
    struct rtt_point *points;
    size_t count, space, runs;
};

/* One file system and method over all runs that have it. */
struct rtt_slope {
    const char *filesystem; /* lives as long as the rtt_runs */
    enum run_method method;
    size_t runs, cells;
    double rtt_min_us, rtt_max_us;
    struct stat_estimate slope; /* round trips waited for per exec */
    struct stat_estimate fixed; /* us per exec at a round-trip time of 0 */
    double r2;
    bool counted_known;
    double counted_min, counted_max; /* blocking RPCs per exec, means of the
                                        runs */
    double counted; /* the slope that these counts would give: of count times
                       round-trip time over round-trip time, because a count
                       may itself depend on how long an exec takes */
};

/* Adds the cells of a run. @return 0, or -1 when out of memory. */
int rtt_runs_add(struct rtt_runs *runs, const struct figures *figures);
void rtt_runs_free(struct rtt_runs *runs);

/*
 * Slopes of all that was measured at two or more different round-trip times;
 * *slopes is allocated, free(3) it.
 * @return how many, or -1 when out of memory.
 */
int rtt_slopes(const struct rtt_runs *runs, double confidence,
               struct rtt_slope **slopes);

/* A table for the end of a text report; nothing when there is no slope. */
void rtt_slopes_text(const struct rtt_slope *slopes, size_t count,
                     double confidence, FILE *out);

/* As a JSON document of its own: schema nfs-atime-test.rtt/1. @return 0, -1 */
int rtt_slopes_json(const struct rtt_slope *slopes, size_t count, FILE *out);

#endif
