/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time against counts: over the execs of a file system and over its cells,
 * all methods but noexec; and over runs with different round-trip times.
 */
#ifndef NAT_ANALYSIS_CORRELATION_H
#define NAT_ANALYSIS_CORRELATION_H

#include "analysis/exec_window.h"
#include "analysis/run_file.h"
#include "analysis/statistics.h"

#include <stdbool.h>
#include <stddef.h>

#define CORRELATION_TERMS 10 /* names; the last may be "others" */

struct correlation_term {
    const char *name;
    double per_exec;
    struct stat_correlation pearson, spearman;             /* execs */
    struct stat_correlation cell_pearson, cell_spearman;   /* cells */
    struct stat_summary latency; /* us on the wire, answered calls */
};

/*
 * us per exec explained by counts per exec. A term's slope holds all that
 * comes with one such call: its round trip, the client's work for it, and the
 * method's own call where only one method makes it.
 */
struct correlation {
    size_t term_count;
    struct correlation_term terms[CORRELATION_TERMS];
    struct stat_regression execs, cells; /* terms in the same order */
};

/* @return 0, or -1 when out of memory. Free in every case. */
int correlation_compute(const struct run *run,
                        const struct run_traffic *traffic, size_t filesystem,
                        double confidence, struct correlation *correlation);
void correlation_free(struct correlation *correlation);

/* "SETATTR, READ" for the members of a group of a regression, at most size
 * bytes. Returns text. */
const char *correlation_group_names(const struct correlation *correlation,
                                    const struct stat_regression *regression,
                                    size_t group, char *text, size_t size);

/* This program's own NULL calls (pings and markers) of the file system's NFS
 * version, as the capture saw them: us from call to reply. */
struct stat_summary wire_null_calls(const struct run *run,
                                    const struct run_traffic *traffic,
                                    size_t filesystem);

/* Median of the NULL calls as the program saw them, in us; 0 when there are
 * none. */
double ping_median_us(const struct run_filesystem *filesystem);

#endif
