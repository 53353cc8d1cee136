/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the reports of a bench print. A group is one file system and one
 * variant over all runs; its sample is one value for each finished cell: the
 * cell's time, divided by the operations (execs, accesses, files) that it
 * covers.
 */
#ifndef NAT_ANALYSIS_BENCH_FIGURES_H
#define NAT_ANALYSIS_BENCH_FIGURES_H

#include "analysis/exec_window.h"
#include "analysis/report.h"
#include "analysis/run_file.h"
#include "analysis/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct bench_group {
    size_t filesystem;     /* index */
    const char *variant;
    size_t cells;          /* finished */
    double *ns;            /* [cells], per operation, in order of runs */
    uint64_t operations;   /* of all finished cells */
    struct stat_summary sample;
    struct stat_estimate mean;
    struct stat_interval median; /* of sample.median */
    bool counted;          /* the figures below are known: on NFS, and seen on
                              the wire or in mountstats in every cell */
    bool from_wire;
    bool lossy;            /* counts are lower bounds */
    uint64_t rpcs, sent, received; /* bytes of RPC records */
    struct run_counts counts;      /* operations by name */
    struct run_counts observations;
};

struct bench_figures {
    const struct run *run;
    const struct run_traffic *traffic;
    double confidence;
    struct bench_group *groups; /* by file system, then variant */
    size_t group_count;
    unsigned cells_done, cells_planned;
    unsigned cells_compared, cells_agree; /* wire against mountstats */
    bool counts_complete;
};

/* A cell of a bench whose figures count. */
bool bench_cell_is_finished(const struct run_cell *cell);

/* The cell's figure: ns per operation, over all times of its first series;
 * *operations is how many that was. The cell has a series. */
double bench_cell_ns(const struct run_cell *cell, uint64_t *operations);

/* @return 0, or -1 when out of memory. Free in every case. run and traffic
 * must live as long. */
int bench_figures_compute(const struct run *run,
                          const struct run_traffic *traffic,
                          double confidence, struct bench_figures *figures);
void bench_figures_free(struct bench_figures *figures);

/* NULL when there is none. */
const struct bench_group *
bench_group_find(const struct bench_figures *figures, size_t filesystem,
                 const char *variant);

void bench_text(const struct bench_figures *figures, FILE *out);
/* One row per time. */
void bench_csv(const struct bench_figures *figures, FILE *out);
/* Schema nfs-atime-test.bench/1. @return 0, or -1. */
int bench_json(const struct bench_figures *figures, FILE *out);

/*
 * All of it for report_run(); Markdown shows the text.
 * @return 0; 4 when the run is incomplete; -1 with one line in error.
 */
int bench_report(const struct run *run, const struct run_traffic *traffic,
                 double confidence, enum report_format format, FILE *out,
                 char *error, size_t error_size);

#endif
