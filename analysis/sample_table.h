/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples side by side in ministat's form: table, plot, verdict.
 */
#ifndef NAT_ANALYSIS_SAMPLE_TABLE_H
#define NAT_ANALYSIS_SAMPLE_TABLE_H

#include "analysis/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SAMPLES_MAX 6      /* as many as there are symbols */
#define PLOT_WIDTH 74      /* columns between the borders */
#define PLOT_WIDTH_LEAST 8
#define PLOT_WIDTH_MOST 1000
#define PLOT_ROWS_MOST 24  /* above, one symbol stands for several values */

struct sample {
    const char *name; /* printed escaped */
    const double *values;
    size_t length;    /* at least 1 */
    struct stat_summary summary;
};

struct sample_style {
    unsigned width;       /* 0: PLOT_WIDTH */
    bool no_plot;         /* -A */
    bool no_comparison;   /* -n; no plot either */
    bool separate_bars;   /* -s */
    bool upper_median;    /* n even: ministat's median */
    enum stat_t t;
    double confidence;
    const char *indent;   /* before each line, or NULL */
};

/* The mark of sample number i < SAMPLES_MAX. */
char sample_symbol(size_t i);

/* Which symbol is whose. */
void samples_legend(const struct sample *samples, size_t count,
                    const char *indent, FILE *out);

/*
 * A dot plot: each value a symbol over its place, '*' where two samples
 * meet; below it a bar from mean - deviation to mean + deviation with A at
 * the mean and M at the median. Says so when all values are equal.
 */
void samples_plot(const struct sample *samples, size_t count,
                  const struct sample_style *style, FILE *out);

/* N, Min, Max, Median, Avg, Stddev of each; after each but the first what is
 * proven of its difference from the first. */
void samples_table(const struct sample *samples, size_t count,
                   const struct sample_style *style, FILE *out);

/* Legend, plot, table as the style has them. */
void samples_print(const struct sample *samples, size_t count,
                   const struct sample_style *style, FILE *out);

/* "Difference at 95.0% confidence ..." or "No difference proven ...". */
void difference_print(const struct stat_difference *difference,
                      const char *indent, FILE *out);

#endif
