/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Raw runs as time(1) prints them, under headings: the layout of
 * `report --format time`, and of tables published in it.
 *
 *     execs 10000                      each run; may be left out
 *     ufs-static-noexec                fork without exec: the baseline
 *             4.32 real  0.04 user  4.13 sys
 *     ufs-static-static                FS-static-PROGRAM: fork and exec
 *         method -1                    -1, 1, 2, 3, or a method's name
 *             7.02 real  0.06 user  6.77 sys
 *         method 1/async               a setting after the slash
 *             8.38 real  0.29 user  7.85 sys
 *
 * '#' begins a comment. Seconds; a decimal point in every locale.
 */
#ifndef NAT_ANALYSIS_RAW_RUNS_H
#define NAT_ANALYSIS_RAW_RUNS_H

#include "analysis/run_file.h"
#include "analysis/statistics.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* All runs of one file system, method and setting. Times in seconds a run. */
struct raw_group {
    char *label;   /* "ufs"; of the baseline too */
    enum run_method method;
    char *setting; /* "async", or "" */
    double *real, *user, *sys;
    size_t runs;
};

struct raw_runs {
    uint64_t execs; /* per run; 0: the file does not say */
    struct raw_group *groups; /* in the file's order */
    size_t group_count;
};

/*
 * @param name appears in errors.
 * @return 0, or -1 with one line in error that names line and cause. Give
 *         runs to raw_runs_free() in every case.
 */
int raw_runs_read(FILE *in, const char *name, struct raw_runs *runs,
                  char *error, size_t error_size);
void raw_runs_free(struct raw_runs *runs);

/* NULL when there is none. setting NULL means "". */
const struct raw_group *raw_runs_group(const struct raw_runs *runs,
                                       const char *label,
                                       enum run_method method,
                                       const char *setting);

/* What a group of runs costs, in us per exec; runs->execs must not be 0. */
struct raw_cost {
    const struct raw_group *group;
    struct stat_summary sample;   /* us per exec of each run */
    struct stat_estimate mean;
    /* Welch. over_base: none over noexec is the exec itself, a method over
     * none is the method; step: over the method numbered one lower, in the
     * same setting. Without such a group: untestable, no value. */
    const struct raw_group *base, *below;
    struct stat_difference over_base, step;
};

struct raw_cost raw_runs_cost(const struct raw_runs *runs,
                              const struct raw_group *group,
                              double confidence);

/* The table of all groups and what is proven of each step. */
void raw_runs_print(const struct raw_runs *runs, double confidence, FILE *out);

#endif
