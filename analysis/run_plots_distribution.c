/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How times are distributed: of execs, of RPCs; and whether they change in
 * the course of the run. */
#include "analysis/html_page.h"
#include "analysis/run_plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CURVE_POINTS 120 /* of a distribution: finer than the eye */
#define WARM_POINTS 64   /* of the course within a cell */

/* The distribution of ascending values as a block of "value share". */
static void
write_curve(FILE *script, const char *name, const double *ascending, size_t n)
{
    const size_t points = n < CURVE_POINTS ? n : CURVE_POINTS;
    size_t i;

    fprintf(script, "%s <<END\n", name);
    for (i = 0; i < points; i++) {
        const size_t rank =
            points == 1 ? 0 : (size_t)((double)i * (double)(n - 1) /
                                           (double)(points - 1) + 0.5);

        fprintf(script, "%.9g %.6f\n", fmax(ascending[rank], 1e-3),
                100.0 * (double)(rank + 1) / (double)n);
    }
    fputs("END\n", script);
}

static void
begin_curves(struct run_plots *plots, struct plot *plot, double low,
             double high, const char *unit)
{
    plot_begin(plot, &plots->plotter, PANEL_WIDTH, 300);
    if (plot->script == NULL)
        return;
    fprintf(plot->script,
            "unset key\nset yrange [0:100]\nset ytics 25\n"
            "set xlabel '%s'\nset ylabel 'share, %%'\n", unit);
    plot_log_axis(plot, low * 0.9, high * 1.1);
}

static bool
exec_curves_panel(struct run_plots *plots, size_t filesystem, double low,
                  double high)
{
    struct plot plot;
    const char *comma = "plot ";
    char *text = NULL;
    size_t length = 0;
    FILE *lines;
    unsigned method;

    begin_curves(plots, &plot, low, high, "µs per exec");
    if (plot.script == NULL || (lines = open_memstream(&text, &length)) == NULL)
        return false;
    for (method = 0; method < METHOD_COUNT; method++) {
        size_t n;
        double *us = group_execs_sorted(plots->figures->run, filesystem,
                                        (enum run_method)method, &n);
        char name[16];

        if (us == NULL)
            continue;
        snprintf(name, sizeof name, "$m%u", method);
        write_curve(plot.script, name, us, n);
        free(us);
        fprintf(lines, "%s%s using 1:2 with %s linewidth 1.8 linecolor rgb "
                PLOT_SERIES, comma, name, n < 20 ? "steps" : "lines",
                method_colour((enum run_method)method));
        comma = ", ";
    }
    fclose(lines);
    fprintf(plot.script, "%s\n", text);
    free(text);
    return plot_end(&plot, "Distribution of exec times by method", plots->out);
}

/* --- latency of RPCs ------------------------------------------------------ */

static bool
rpc_counts_here(const struct run_traffic *traffic, const struct run *run,
                size_t index, size_t filesystem)
{
    const struct window_rpc *rpc = &traffic->rpcs[index];

    return (rpc->owner == OWNER_EXEC || rpc->owner == OWNER_CELL) &&
           rpc->cell != NO_CELL && rpc->answered &&
           rpc->reply_ns >= rpc->call_ns &&
           run->cells[rpc->cell].filesystem == filesystem;
}

/* Ascending latencies in us of the RPCs with that colour; NULL for none. */
static double *
latencies(const struct figures *figures, size_t filesystem, unsigned colour,
          size_t *count)
{
    const struct run_traffic *traffic = figures->traffic;
    double *us = NULL;
    size_t i, n = 0;
    int pass;

    *count = 0;
    for (pass = 0; pass < 2; pass++) {
        n = 0;
        for (i = 0; i < traffic->rpc_count; i++) {
            const struct window_rpc *rpc = &traffic->rpcs[i];

            if (!rpc_counts_here(traffic, figures->run, i, filesystem) ||
                procedure_colour(window_rpc_name(rpc)) != colour)
                continue;
            if (us != NULL)
                us[n] = (double)(rpc->reply_ns - rpc->call_ns) * 1e-3;
            n++;
        }
        if (us == NULL && n > 0)
            us = malloc(n * sizeof(*us));
        if (us == NULL)
            return NULL;
    }
    stat_sort(us, n);
    *count = n;
    return us;
}

static bool
latency_panel(struct run_plots *plots, size_t filesystem, double low,
              double high, bool used[PLOT_SERIES_COUNT + 1])
{
    struct plot plot;
    const char *comma = "plot ";
    char *text = NULL;
    size_t length = 0;
    unsigned colour;
    FILE *lines;

    begin_curves(plots, &plot, low, high, "µs from call to reply");
    if (plot.script == NULL || (lines = open_memstream(&text, &length)) == NULL)
        return false;
    for (colour = 1; colour <= PLOT_SERIES_COUNT; colour++) {
        size_t n;
        double *us = latencies(plots->figures, filesystem, colour, &n);
        char name[16];

        if (us == NULL)
            continue;
        used[colour] = true;
        snprintf(name, sizeof name, "$p%u", colour);
        write_curve(plot.script, name, us, n);
        free(us);
        fprintf(lines, "%s%s using 1:2 with %s linewidth 1.8 linecolor rgb "
                PLOT_SERIES, comma, name, n < 20 ? "steps" : "lines", colour);
        comma = ", ";
    }
    fclose(lines);
    fprintf(plot.script, "%s\n", text);
    free(text);
    return plot_end(&plot, "Distribution of RPC latency by procedure",
                    plots->out);
}

static bool
latency_range(const struct figures *figures, double *low, double *high)
{
    const struct run_traffic *traffic = figures->traffic;
    bool any = false;
    size_t i, f;

    for (f = 0; f < figures->run->filesystem_count; f++)
        for (i = 0; i < traffic->rpc_count; i++) {
            double us;

            if (!rpc_counts_here(traffic, figures->run, i, f))
                continue;
            us = fmax((double)(traffic->rpcs[i].reply_ns -
                               traffic->rpcs[i].call_ns) * 1e-3, 1e-3);
            *low = any ? fmin(*low, us) : us;
            *high = any ? fmax(*high, us) : us;
            any = true;
        }
    return any;
}

static void
latency_figure(struct run_plots *plots)
{
    static const char *const names[] = {"", "GETATTR", "SETATTR", "READ",
                                        "ACCESS", "LOOKUP", "OPEN", "CLOSE",
                                        "others"};
    bool used[PLOT_SERIES_COUNT + 1] = {false};
    const struct figures *figures = plots->figures;
    double low = 0, high = 0;
    unsigned colour;
    size_t i;

    if (!latency_range(figures, &low, &high))
        return;
    figure_begin(plots->out, "figure-4b");
    for (i = 0; i < figures->run->filesystem_count; i++) {
        if (figures->run->filesystems[i].kind != FILESYSTEM_NFS)
            continue;
        panel_begin(plots->out, figures->run->filesystems[i].label);
        panel_end(plots->out, &plots->plotter,
                  latency_panel(plots, i, low, high, used));
    }
    legend_begin(plots->out);
    for (colour = 1; colour <= PLOT_SERIES_COUNT; colour++)
        if (used[colour])
            legend_entry(plots->out, colour, names[colour]);
    legend_end(plots->out);
    figure_caption(plots->out, 4, "Distribution, continued: RPC latency");
    fputs("From a call's first byte to its reply's last, as the capture saw "
          "them. Curves that stand apart are procedures for which the server "
          "does more; a curve that leans has a tail.", plots->out);
    figure_end(plots->out);
}

static bool
exec_range(const struct run *run, double *low, double *high)
{
    bool any = false;
    size_t i, j;

    for (i = 0; i < run->cell_count; i++) {
        if (!cell_is_finished(&run->cells[i]))
            continue;
        for (j = 0; j < run->cells[i].exec_count; j++) {
            const double us = fmax(
                (double)exec_wall_ns(&run->cells[i].execs[j]) * 1e-3, 1e-3);

            *low = any ? fmin(*low, us) : us;
            *high = any ? fmax(*high, us) : us;
            any = true;
        }
    }
    return any;
}

int
run_plot_distributions(struct run_plots *plots)
{
    const struct run *run = plots->figures->run;
    double low = 0, high = 0;
    size_t i;

    if (!exec_range(run, &low, &high))
        return 0;
    figure_begin(plots->out, "figure-4");
    for (i = 0; i < run->filesystem_count; i++) {
        panel_begin(plots->out, run->filesystems[i].label);
        panel_end(plots->out, &plots->plotter,
                  exec_curves_panel(plots, i, low, high));
    }
    legend_of_methods(plots->figures, METHOD_NOEXEC, plots->out);
    figure_caption(plots->out, 4, "Distribution of exec times");
    fputs("How many of the execs, in per cent, were done within a time (log "
          "axis). A steep curve is a method that always costs the same; a "
          "step at the side is a second kind of exec; a tail to the right "
          "are the slow ones that a mean hides.", plots->out);
    figure_end(plots->out);
    latency_figure(plots);
    return 0;
}

/* --- in the course of the run --------------------------------------------- */

/* Cell by cell: start, median, and the values at 5 and 95 %. */
static bool
course_panel(struct run_plots *plots, size_t filesystem)
{
    const struct run *run = plots->figures->run;
    const int64_t first = run_first_ns(run);
    const double length = fmax(run_length_s(run), 1e-6);
    struct plot plot;
    const char *comma = "plot ";
    unsigned method;
    size_t i, j;

    plot_begin(&plot, &plots->plotter, PANEL_WIDTH, 300);
    if (plot.script == NULL)
        return false;
    fputs("unset key\nset xlabel 'seconds into the run'\n"
          "set ylabel 'µs per exec'\nset yrange [0:*]\n"
          "set offsets 0, 0, graph 0.05, 0\n", plot.script);
    plot_axis(&plot, 'x', -0.02 * length, 1.03 * length);
    for (method = 0; method < METHOD_COUNT; method++) {
        fprintf(plot.script, "$m%u <<END\n", method);
        for (i = 0; i < run->cell_count; i++) {
            const struct run_cell *cell = &run->cells[i];
            double *us;

            if (cell->filesystem != filesystem ||
                (unsigned)cell->method != method || !cell_is_finished(cell))
                continue;
            us = malloc(cell->exec_count * sizeof(*us));
            if (us == NULL)
                continue;
            for (j = 0; j < cell->exec_count; j++)
                us[j] = (double)exec_wall_ns(&cell->execs[j]) * 1e-3;
            stat_sort(us, cell->exec_count);
            fprintf(plot.script, "%.9g %.9g %.9g %.9g\n",
                    (double)(cell->execs[0].start_ns - first) * 1e-9,
                    stat_quantile(us, cell->exec_count, 0.5),
                    stat_quantile(us, cell->exec_count, 0.05),
                    stat_quantile(us, cell->exec_count, 0.95));
            free(us);
        }
        fputs("END\n", plot.script);
    }
    for (method = 0; method < METHOD_COUNT; method++) {
        const struct group_figures *group = figures_group(
            plots->figures, filesystem, (enum run_method)method);

        if (group == NULL || group->cells == 0)
            continue;
        fprintf(plot.script, "%s$m%u using 1:2:3:4 with yerrorbars pointtype "
                "6 pointsize 0.6 linewidth 1.2 linecolor rgb " PLOT_SERIES,
                comma, method, method_colour((enum run_method)method));
        comma = ", ";
    }
    fputc('\n', plot.script);
    return plot_end(&plot, "Exec times of each cell in the course of the run",
                    plots->out);
}

/* Mean over the cells of the group's exec number `from` to `to` - 1. */
static double
mean_of_numbers(const struct run *run, size_t filesystem, unsigned method,
                size_t from, size_t to)
{
    double sum = 0;
    size_t i, j, n = 0;

    for (i = 0; i < run->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];

        if (cell->filesystem != filesystem ||
            (unsigned)cell->method != method || !cell_is_finished(cell))
            continue;
        for (j = from; j < to && j < cell->exec_count; j++) {
            sum += (double)exec_wall_ns(&cell->execs[j]) * 1e-3;
            n++;
        }
    }
    return n > 0 ? sum / (double)n : -1;
}

static bool
warm_panel(struct run_plots *plots, size_t filesystem)
{
    const struct run *run = plots->figures->run;
    const char *comma = "plot ";
    struct plot plot;
    unsigned method;

    plot_begin(&plot, &plots->plotter, PANEL_WIDTH, 280);
    if (plot.script == NULL)
        return false;
    fprintf(plot.script,
            "unset key\nset logscale x\nset format x '%%g'\n"
            "set xlabel 'number of the exec in its cell'\n"
            "set ylabel 'µs, mean'\nset yrange [0:*]\n"
            "set xrange [0.9:%u]\nset offsets 0, 0, graph 0.05, 0\n",
            run->execs > 1 ? run->execs + run->execs / 10 + 1 : 2);
    for (method = 0; method < METHOD_COUNT; method++) {
        size_t from = 0, step;

        fprintf(plot.script, "$m%u <<END\n", method);
        for (; from < run->execs; from += step) {
            double us;

            step = from < 16 ? 1 : 1 + from / 8;
            us = mean_of_numbers(run, filesystem, method, from, from + step);
            if (us >= 0)
                fprintf(plot.script, "%.9g %.9g\n",
                        (double)from + 0.5 + (double)step / 2, us);
        }
        fputs("END\n", plot.script);
    }
    for (method = 0; method < METHOD_COUNT; method++) {
        const struct group_figures *group = figures_group(
            plots->figures, filesystem, (enum run_method)method);

        if (group == NULL || group->cells == 0)
            continue;
        fprintf(plot.script, "%s$m%u using 1:2 with linespoints pointtype 6 "
                "pointsize 0.4 linewidth 1.2 linecolor rgb " PLOT_SERIES,
                comma, method, method_colour((enum run_method)method));
        comma = ", ";
    }
    fputc('\n', plot.script);
    return plot_end(&plot, "Mean exec time by number of the exec in its cell",
                    plots->out);
}

int
run_plot_drift(struct run_plots *plots)
{
    const struct figures *figures = plots->figures;
    const struct run *run = figures->run;
    size_t i;

    if (figures->cells_done == 0)
        return 0;
    figure_begin(plots->out, "figure-7");
    for (i = 0; i < run->filesystem_count; i++) {
        panel_begin(plots->out, run->filesystems[i].label);
        panel_end(plots->out, &plots->plotter, course_panel(plots, i));
    }
    if (run->execs > 1)
        for (i = 0; i < run->filesystem_count; i++) {
            char heading[256];

            snprintf(heading, sizeof heading, "%s, within a cell",
                     run->filesystems[i].label);
            panel_begin(plots->out, heading);
            panel_end(plots->out, &plots->plotter, warm_panel(plots, i));
        }
    legend_of_methods(figures, METHOD_NOEXEC, plots->out);
    figure_caption(plots->out, 7, "Execs over time");
    fputs("First a ring per cell at its median, with the line from 5 to 95 % "
          "of its execs: rings of a colour that climb or fall are a drift of "
          "the machine or the server, and the interleaving spreads it over "
          "all methods. Then the mean of the first, second, third exec of "
          "the cells: a high start is what a cold cache costs.", plots->out);
    figure_end(plots->out);
    return 0;
}
