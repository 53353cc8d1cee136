/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time against the number of RPCs: a point per cell, the straight line
 * through them, and the band in which the line lies. */
#include "analysis/html_page.h"
#include "analysis/run_plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BAND_STEPS 40

struct points {
    double *x, *y; /* RPCs per exec; us per exec */
    enum run_method *method;
    size_t n;
    double low, high; /* of x */
};

static bool
is_point(const struct run *run, size_t index, size_t filesystem)
{
    const struct run_cell *cell = &run->cells[index];

    return cell->filesystem == filesystem && cell_is_finished(cell) &&
           cell->method != METHOD_NOEXEC;
}

static void
points_free(struct points *points)
{
    free(points->x);
    free(points->y);
    free(points->method);
}

/* @return false when out of memory. */
static bool
points_take(const struct figures *figures, size_t filesystem,
            struct points *points)
{
    const struct run *run = figures->run;
    size_t i, j;

    memset(points, 0, sizeof *points);
    points->x = calloc(run->cell_count + 1, sizeof(*points->x));
    points->y = calloc(run->cell_count + 1, sizeof(*points->y));
    points->method = calloc(run->cell_count + 1, sizeof(*points->method));
    if (points->x == NULL || points->y == NULL || points->method == NULL)
        return false;
    for (i = 0; i < run->cell_count && i < figures->traffic->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];
        double sum = 0;

        if (!is_point(run, i, filesystem))
            continue;
        for (j = 0; j < cell->exec_count; j++)
            sum += (double)exec_wall_ns(&cell->execs[j]) * 1e-3;
        points->x[points->n] = (double)figures->traffic->cells[i].rpcs /
                               (double)cell->exec_count;
        points->y[points->n] = sum / (double)cell->exec_count;
        points->method[points->n] = cell->method;
        if (points->n == 0 || points->x[points->n] < points->low)
            points->low = points->x[points->n];
        points->high = fmax(points->high, points->x[points->n]);
        points->n++;
    }
    return true;
}

/* The line and its band: the mean's interval at each x. */
static void
write_band(FILE *script, const struct points *points,
           const struct stat_regression *line, double confidence)
{
    const struct stat_summary x = stat_summarise(points->x, points->n);
    const double squares = x.stddev * x.stddev * (double)(x.n - 1);
    const double t = stat_t_quantile(confidence, line->degrees, STAT_T_EXACT);
    size_t i;

    fputs("$band <<END\n", script);
    for (i = 0; i <= BAND_STEPS; i++) {
        const double at = points->low + (points->high - points->low) *
                                            (double)i / BAND_STEPS;
        const double y = line->intercept.value + line->term[0].slope.value * at;
        const double half =
            t * line->residual_stddev *
            sqrt(1.0 / (double)x.n + (at - x.mean) * (at - x.mean) / squares);

        fprintf(script, "%.9g %.9g %.9g %.9g\n", at, y, y - half, y + half);
    }
    fputs("END\n", script);
}

static bool
relation_panel(struct run_plots *plots, const struct points *points,
               const struct stat_regression *line, bool has_line)
{
    struct plot plot;
    unsigned method;
    const char *comma = "";
    size_t i;

    plot_begin(&plot, &plots->plotter, PANEL_WIDTH, 320);
    if (plot.script == NULL)
        return false;
    fputs("unset key\nset xlabel 'RPCs per exec'\nset ylabel 'µs per exec'\n"
          "set yrange [0:*]\nset offsets 0, 0, graph 0.08, 0\n", plot.script);
    plot_axis(&plot, 'x', 0, points->high * 1.08);
    if (has_line)
        write_band(plot.script, points, line, plots->figures->confidence);
    for (method = 0; method < METHOD_COUNT; method++) {
        fprintf(plot.script, "$m%u <<END\n", method);
        for (i = 0; i < points->n; i++)
            if ((unsigned)points->method[i] == method)
                fprintf(plot.script, "%.9g %.9g\n", points->x[i],
                        points->y[i]);
        fputs("END\n", plot.script);
    }
    fputs("plot ", plot.script);
    if (has_line) {
        fputs("$band using 1:3:4 with filledcurves linecolor rgb " PLOT_SOFT
              " fillstyle transparent solid 0.2 noborder, $band using 1:2 "
              "with lines linecolor rgb " PLOT_SOFT " linewidth 1.5",
              plot.script);
        comma = ", ";
    }
    for (method = 0; method < METHOD_COUNT; method++) {
        bool any = false;

        for (i = 0; i < points->n; i++)
            any = any || (unsigned)points->method[i] == method;
        if (!any)
            continue;
        fprintf(plot.script, "%s$m%u using 1:2 with points pointtype 6 "
                "pointsize 0.7 linecolor rgb " PLOT_SERIES, comma, method,
                method_colour((enum run_method)method));
        comma = ", ";
    }
    fputc('\n', plot.script);
    return plot_end(&plot, "Time per exec against RPCs per exec, by cell",
                    plots->out);
}

/* A sentence for the caption, kept until the panels are written. */
static void
say(FILE *words, const struct run_plots *plots, size_t filesystem,
    const struct stat_regression *line, bool has_line)
{
    html_text(words, plots->figures->run->filesystems[filesystem].label);
    if (!has_line) {
        fputs(": no line, its cells do not differ in RPCs or are too few. ",
              words);
        return;
    }
    fprintf(words, ": %.1f µs", line->term[0].slope.value);
    if (line->term[0].slope.has_half)
        fprintf(words, " ± %.1f", line->term[0].slope.half_width);
    fprintf(words, " for each RPC more");
    if (line->has_r2)
        fprintf(words, " (R² %.3f)", line->r2);
    fputs(". ", words);
}

static int
relation_of(struct run_plots *plots, size_t filesystem, FILE *words)
{
    struct stat_regression line;
    struct points points;
    bool has_line;

    if (!points_take(plots->figures, filesystem, &points)) {
        points_free(&points);
        return -1;
    }
    if (points.n == 0 || !(points.high > 0)) {
        points_free(&points);
        return 0;
    }
    line = stat_regress(points.y, points.x, points.n, 1,
                        plots->figures->confidence);
    has_line = line.known && line.degrees > 0 &&
               line.term[0].state == STAT_TERM_ESTIMATED &&
               points.high > points.low;
    panel_begin(plots->out, plots->figures->run->filesystems[filesystem].label);
    panel_end(plots->out, &plots->plotter,
              relation_panel(plots, &points, &line, has_line));
    say(words, plots, filesystem, &line, has_line);
    stat_regression_free(&line);
    points_free(&points);
    return 0;
}

int
run_plot_relation(struct run_plots *plots)
{
    const struct run *run = plots->figures->run;
    char *text = NULL, *panels = NULL;
    size_t length = 0, panels_length = 0, i;
    FILE *words = open_memstream(&text, &length), *page = plots->out, *inner;
    int result = 0;

    if (words == NULL)
        return -1;
    inner = open_memstream(&panels, &panels_length);
    if (inner == NULL) {
        fclose(words);
        free(text);
        return -1;
    }
    plots->out = inner;
    for (i = 0; i < run->filesystem_count && result == 0; i++)
        if (run->filesystems[i].kind == FILESYSTEM_NFS)
            result = relation_of(plots, i, words);
    plots->out = page;
    fclose(words);
    fclose(inner);
    if (result == 0 && panels_length > 0) {
        figure_begin(page, "figure-3");
        fwrite(panels, 1, panels_length, page);
        legend_of_methods(plots->figures, METHOD_NONE, page);
        figure_caption(page, 3, "Time against RPCs");
        fprintf(page, "A ring is one cell; the line is least squares over all "
                "cells of that file system, the band its %.4g %% interval. "
                "Rings on the line: time and RPCs go together; a method far "
                "above it pays for something else than round trips. ",
                plots->figures->confidence);
        fwrite(text, 1, length, page);
        figure_end(page);
    }
    free(text);
    free(panels);
    return result;
}
