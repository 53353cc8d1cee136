/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The execs of a group (one file system, one method) by the sequence of their
 * RPCs: what an exec usually does, and what the exceptions do instead.
 */
#ifndef NAT_ANALYSIS_SIGNATURES_H
#define NAT_ANALYSIS_SIGNATURES_H

#include "analysis/exec_window.h"
#include "analysis/run_file.h"
#include "analysis/statistics.h"

#include <stddef.h>
#include <stdint.h>

#define SIGNATURE_ROWS 6  /* printed; the others are one row */
#define SIGNATURE_TEXT 96 /* bytes of a sequence; longer ones end in "..." */

/* Execs with one sequence. The interval takes the execs for independent. */
struct signature_row {
    char text[SIGNATURE_TEXT]; /* "ACCESS GETATTR READ x14"; "no RPC" */
    uint64_t execs;
    double rpcs;               /* per exec */
    struct stat_estimate us;   /* wall time of an exec */
};

/* The first or the last exec of every cell: one value for each cell. */
struct signature_edge {
    char text[SIGNATURE_TEXT]; /* the most common sequence among them */
    uint64_t execs, same;      /* cells, and how many have that sequence */
    double rpcs;
    struct stat_estimate us;
};

struct signatures {
    uint64_t execs;  /* of the finished cells: in the rows and others */
    size_t distinct; /* sequences */
    size_t row_count;
    struct signature_row rows[SIGNATURE_ROWS]; /* the most common first */
    struct signature_row others;               /* execs 0: none */
    struct signature_edge first, last;
};

/* @return 0, or -1 when out of memory. Nothing to free. */
int signatures_compute(const struct run *run,
                       const struct run_traffic *traffic, size_t filesystem,
                       enum run_method method, double confidence,
                       struct signatures *signatures);

#endif
