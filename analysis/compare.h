/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Measurements against each other: cell by cell the time, and beside it the
 * RPCs per exec.
 *
 * The sample of a cell is its repetitions, one mean of us per exec each; the
 * counts are samples of the same kind, so that "0.000 against 1.000 in all of
 * 5 repetitions" is tested as the times are.
 */
#ifndef NAT_ANALYSIS_COMPARE_H
#define NAT_ANALYSIS_COMPARE_H

#include "analysis/raw_runs.h"
#include "analysis/run_file.h"
#include "analysis/sample_table.h"
#include "analysis/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define COMPARE_SCHEMA "nfs-atime-test.compare/1"

struct compare_count {
    char *name;       /* "SETATTR" */
    double *per_exec; /* one per repetition, as many as the cell has */
};

/* All repetitions of one file system and method. */
struct compare_cell {
    char *label, *method;
    double *us; /* per exec, one per repetition */
    size_t n;
    bool counted; /* counts holds every RPC; else nobody counted */
    bool lossy;   /* the capture lost something: counts are lower bounds */
    struct compare_count *counts;
    size_t count_count;
};

/* One thing to compare. */
struct compare_set {
    char *name;   /* as the user gave it */
    char *kernel, *clock; /* NULL: not known */
    char *bench;  /* NULL: execs of the test */
    bool incomplete; /* interrupted, cells missing, a capture cut short */
    struct compare_cell *cells;
    size_t cell_count;
};

/*
 * Where a cell's RPCs come from: fills `into` with name and count of cell
 * number `index`, and lossy. @return false when nobody counted them.
 */
typedef bool (*compare_counter)(void *context, const struct run *run,
                                size_t index, struct run_counts *into,
                                bool *lossy);

/* Both @return 0, or -1 when out of memory; free the set in every case. With
 * counter NULL the counts are the kernel's, from the run's mountstats. */
int compare_set_from_run(const struct run *run, const char *name,
                         compare_counter counter, void *context,
                         struct compare_set *set);
int compare_set_from_raw(const struct raw_runs *runs, const char *name,
                         struct compare_set *set);
/* Reads run and captures, and takes the counts as the reports do: from the
 * wire, or from mountstats where the wire cannot show them.
 * @return 0, or -1 with one line in error. */
int compare_set_read(const char *path, struct compare_set *set, char *error,
                     size_t error_size);
void compare_set_free(struct compare_set *set);

/* One test: second against first. */
struct compare_row {
    const struct compare_cell *first, *second;
    const char *count;  /* NULL: the time, in us per exec */
    struct sample sample[2]; /* values are owned by the row */
    struct stat_difference student, welch;
    bool proven; /* by Welch's p, among all rows of the comparison (Holm) */
};

struct comparison {
    const struct compare_set *first, *second;
    double confidence;
    struct compare_row *rows; /* per cell: time, then counts by name */
    size_t row_count;
    size_t tests;    /* rows in which something varied or differed */
    size_t alone;    /* rows whose own interval excludes 0 */
    size_t proven;
    size_t only_first, only_second; /* cells without partner */
};

/* @return 0, or -1 when out of memory. Free in every case. The sets must live
 * as long. */
int compare_sets(const struct compare_set *first,
                 const struct compare_set *second, double confidence,
                 struct comparison *comparison);
void comparison_free(struct comparison *comparison);

/* ministat's block per cell as style has it, then the table of all. */
void comparison_text(const struct comparison *comparison,
                     const struct sample_style *style, FILE *out);
/* Array of comparisons. @return 0, or -1. */
int comparisons_json(const struct comparison *comparisons, size_t count,
                     FILE *out);
/* Plain samples, each against the first. @return 0, or -1. */
int samples_json(const struct sample *samples, size_t count,
                 double confidence, enum stat_t t, FILE *out);

#endif
