/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pictures of a run's page: figures with a panel per file system, a
 * legend, and a caption that says what to see.
 */
#ifndef NAT_ANALYSIS_RUN_PLOTS_H
#define NAT_ANALYSIS_RUN_PLOTS_H

#include "analysis/figures.h"
#include "analysis/gnuplot.h"

#include <stdbool.h>
#include <stdio.h>

struct run_plots {
    const struct figures *figures;
    struct plotter plotter;
    FILE *out;
};

/* Each writes a <figure>, or nothing when the run has nothing for it.
 * @return 0, or -1 when out of memory. */
int run_plot_times(struct run_plots *plots);
int run_plot_counts(struct run_plots *plots);
int run_plot_relation(struct run_plots *plots);
int run_plot_distributions(struct run_plots *plots);
int run_plot_ladders(struct run_plots *plots);
int run_plot_atimes(struct run_plots *plots);
int run_plot_drift(struct run_plots *plots);

#define PANEL_WIDTH 460

/* --- for these files alone ------------------------------------------------ */

/* From 1 to PLOT_SERIES_COUNT. */
unsigned method_colour(enum run_method method);
unsigned procedure_colour(const char *name); /* the last: "others" */

/* <figure> with an id; figure_end() closes it after a caption that the caller
 * has written into the open <figcaption>. */
void figure_begin(FILE *out, const char *id);
void figure_caption(FILE *out, unsigned number, const char *title);
void figure_end(FILE *out);

/* A panel with its heading, which is text from anywhere. */
void panel_begin(FILE *out, const char *heading);
/* drawn false: says in the panel's place why there is no picture. */
void panel_end(FILE *out, const struct plotter *plotter, bool drawn);

void legend_begin(FILE *out);
void legend_entry(FILE *out, unsigned colour, const char *text);
void legend_end(FILE *out);
/* Those methods from `first` on of which the run has a finished cell. */
void legend_of_methods(const struct figures *figures, enum run_method first,
                       FILE *out);

/* --- rows: names up the side, the first on top ---------------------------- */

/* The frame; the first of `count` rows is at height `count`, the last at 1.
 * Without an x axis yet. @return the script, or NULL: no picture. */
FILE *rows_begin(struct plot *plot, struct plotter *plotter, unsigned height,
                 const char *const *names, size_t count, const char *unit);
/* A line of data for `using 1:2:3:4:5:6 with boxxyerror`. */
void rows_bar(FILE *script, double height, double half, double from,
              double to);

/* us of every recorded exec of the group's finished cells, ascending; NULL
 * when there are none or out of memory. */
double *group_execs_sorted(const struct run *run, size_t filesystem,
                           enum run_method method, size_t *count);

/* Monotonic time of the first exec of the run; 0 when there is none. */
int64_t run_first_ns(const struct run *run);
/* From there to the end of the last one, in seconds. */
double run_length_s(const struct run *run);

#endif
