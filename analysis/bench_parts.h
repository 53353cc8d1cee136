/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the text and the page of a bench have in common.
 */
#ifndef NAT_ANALYSIS_BENCH_PARTS_H
#define NAT_ANALYSIS_BENCH_PARTS_H

#include "analysis/bench_figures.h"
#include "analysis/figures.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For what reports of the test and of a bench show alike: the setting and the
 * losses. It has no groups. */
struct figures bench_shell(const struct bench_figures *figures);

/* self-exec --race: nothing but what the readers saw. */
bool bench_is_race(const struct run *run);

/* One line; bytes of the program's name are escaped for a terminal. */
const char *bench_plan(const struct run *run, char *text, size_t size);

#define BENCH_MOST_COLUMNS 5

/* The operations worth a column, the most frequent first; the names live as
 * long as figures. @return how many, at most BENCH_MOST_COLUMNS */
size_t bench_columns(const struct bench_figures *figures, const char **names);
/* Calls of what has no column and does something by itself. */
uint64_t bench_others(const struct bench_group *group,
                      const char *const *names, size_t columns);

/* What a reader of /proc may find although nothing is wrong. */
bool bench_is_expected(const char *observation);

/* --- header -------------------------------------------------------------- */

#define BENCH_HEADER_METHODS 4
#define BENCH_HEADER_SIZES 64
extern const char *const bench_header_methods[BENCH_HEADER_METHODS];

enum bench_header_figure {
    BENCH_HEADER_TIME, /* ns, the median and its interval */
    BENCH_HEADER_READS,
    BENCH_HEADER_BYTES,
};

/* "warm" and "cold" in words. */
const char *bench_header_state(const char *state);

/* state: "warm" or "cold". NULL when there is none. */
const struct bench_group *
bench_header_group(const struct bench_figures *figures, size_t filesystem,
                   const char *method, unsigned long size, const char *state);
/* The sizes of the run, ascending; at most BENCH_HEADER_SIZES. */
size_t bench_header_sizes(const struct bench_figures *figures,
                          unsigned long *sizes);
/* The figure in words, per access; "-" when there is none. */
const char *bench_header_text(const struct bench_figures *figures,
                              size_t filesystem, const char *method,
                              unsigned long size, const char *state,
                              enum bench_header_figure what, char *text,
                              size_t text_size);

/* Of the file system's cold accesses those that found a page in the cache. */
void bench_still_cached(const struct bench_figures *figures, size_t filesystem,
                        uint64_t *cold, uint64_t *cached);

/* --- prefault ------------------------------------------------------------ */

#define BENCH_PREFAULT_PARTS 3
extern const char *const bench_prefault_variants[2]; /* before, after */
extern const char *const bench_prefault_parts[BENCH_PREFAULT_PARTS];

/* Mean seconds of a part of the group's finished cells; 0 when it has none. */
double bench_part_mean(const struct bench_figures *figures,
                       const struct bench_group *group, const char *name);

#endif
