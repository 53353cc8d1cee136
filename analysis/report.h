/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stored run as a report. Everything comes from the run file and its
 * captures; nothing is measured here.
 */
#ifndef NAT_ANALYSIS_REPORT_H
#define NAT_ANALYSIS_REPORT_H

#include "analysis/figures.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum report_format {
    REPORT_TEXT,
    REPORT_TIME,     /* raw runs as time(1) prints them: real, user, sys */
    REPORT_JSON,     /* schema nfs-atime-test.report/1 */
    REPORT_CSV,      /* one row per cell */
    REPORT_MARKDOWN, /* the tables, for a mail */
    REPORT_HTML,
    REPORT_FORMAT_COUNT /* also: no such format */
};

struct expectations; /* analysis/expect.h */
struct rtt_runs;

struct report_options {
    double confidence;            /* per cent: 95.0; 0 means 95 */
    const char *const *captures;  /* captures from elsewhere, joined by the */
    size_t capture_count;         /* markers; 0: the run's own */
    struct rtt_runs *rtt;         /* NULL, or gathers the run's cells */
    struct expectations *expect;  /* NULL, or judged with the run's figures */
    bool judge_only;              /* no report, only the judging */
};

/* REPORT_FORMAT_COUNT when there is no such name. */
enum report_format report_format_by_name(const char *name);

/*
 * Reads the run at path (a directory or its run.json) and its captures, and
 * writes the report.
 * @return 0; 3 when not every expectation holds; 4 when the run is incomplete
 *         (interrupted, drops, a capture cut short): the report is written
 *         all the same; 1 when there is nothing
 *         to report, with one line in error.
 */
int report_run(const char *path, enum report_format format,
               const struct report_options *options, FILE *out, char *error,
               size_t error_size);

/* The formats, of figures that are computed already. */
void report_text(const struct figures *figures, FILE *out);
void report_time(const struct run *run, FILE *out);
void report_csv(const struct figures *figures, FILE *out);
int report_json(const struct figures *figures, FILE *out);
void report_markdown(const struct figures *figures, FILE *out);
int report_html(const struct figures *figures, FILE *out);

/* What several runs say together, after their reports: round trips that an
 * exec waits for. Text and JSON (schema nfs-atime-test.rtt/1); the other
 * formats, and runs of one round-trip time, have nothing to add.
 * @return 0, or -1 when out of memory. */
int report_rtt(const struct rtt_runs *runs, enum report_format format,
               double confidence, FILE *out);

#endif
