/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's access time in the course of the run, as the server's replies
 * and the client's stat have it. */
#include "analysis/atime_history.h"
#include "analysis/html_page.h"
#include "analysis/run_plots.h"

#include <string.h>

#define MOST_POINTS 600 /* of a panel */

enum series { SERIES_SERVER, SERIES_SETATTR, SERIES_READ, SERIES_OTHER,
              SERIES_CLIENT, SERIES_COUNT };

static const struct {
    const char *text;
    unsigned colour;
    const char *style;
} series[] = {
    [SERIES_SERVER] = {"the server's, as its replies say", 8,
                       "steps linewidth 1.3"},
    [SERIES_SETATTR] = {"moved by a SETATTR", 2, "points pointtype 6 "
                        "pointsize 0.45"},
    [SERIES_READ] = {"moved by a READ", 3, "points pointtype 6 "
                     "pointsize 0.45"},
    [SERIES_OTHER] = {"moved by nothing that was seen", 5,
                      "points pointtype 6 pointsize 0.45"},
    [SERIES_CLIENT] = {"the client's stat, before and after a cell", 1,
                       "points pointtype 7 pointsize 0.6"},
};
_Static_assert(sizeof series / sizeof series[0] == SERIES_COUNT,
               "a style per series");

static bool
in_series(enum atime_mover mover, unsigned which)
{
    switch (which) {
    case SERIES_SERVER:
        return true;
    case SERIES_SETATTR:
        return mover == ATIME_MOVED_BY_SETATTR;
    case SERIES_READ:
        return mover == ATIME_MOVED_BY_READ;
    case SERIES_OTHER:
        return mover == ATIME_MOVED_BY_OTHER;
    default:
        return false;
    }
}

/* Writes one series, every step-th point of it. @return how many. */
static size_t
write_series(FILE *script, const struct atime_history *history,
             unsigned which, int64_t first_ns, int64_t base_ns)
{
    size_t i, n = 0, seen = 0, step;

    fprintf(script, "$s%u <<END\n", which);
    if (which == SERIES_CLIENT) {
        for (i = 0; i < history->client_count; i++, n++)
            fprintf(script, "%.9g %.9g\n",
                    (double)(history->client[i].when_ns - first_ns) * 1e-9,
                    (double)(history->client[i].atime_ns - base_ns) * 1e-9);
        fputs("END\n", script);
        return n;
    }
    for (i = 0; i < history->point_count; i++)
        seen += in_series(history->points[i].mover, which);
    step = seen / MOST_POINTS + 1;
    for (i = 0, seen = 0; i < history->point_count; i++) {
        const struct atime_point *point = &history->points[i];

        if (!in_series(point->mover, which) || seen++ % step != 0)
            continue;
        fprintf(script, "%.9g %.9g\n",
                (double)(point->when_ns - first_ns) * 1e-9,
                (double)(point->atime_ns - base_ns) * 1e-9);
        n++;
    }
    fputs("END\n", script);
    return n;
}

/* Seconds are counted from the last atime before anything happened, so that
 * "moved" is above 0. */
static int64_t
base_of(const struct atime_history *history)
{
    if (history->client_count > 0 &&
        (history->point_count == 0 ||
         history->client[0].atime_ns < history->points[0].atime_ns))
        return history->client[0].atime_ns;
    return history->points[0].atime_ns;
}

static bool
atime_panel(struct run_plots *plots, const struct atime_history *history,
            bool used[SERIES_COUNT])
{
    const struct run *run = plots->figures->run;
    const int64_t first = run_first_ns(run), base = base_of(history);
    const char *comma = "plot ";
    size_t counts[SERIES_COUNT];
    struct plot plot;
    unsigned which;

    plot_begin(&plot, &plots->plotter, PANEL_WIDTH, 300);
    if (plot.script == NULL)
        return false;
    fputs("unset key\nset xlabel 'seconds into the run'\n"
          "set ylabel 'atime, s later than at first'\n"
          "set offsets graph 0.02, graph 0.02, graph 0.06, graph 0.06\n",
          plot.script);
    for (which = 0; which < SERIES_COUNT; which++)
        counts[which] = write_series(plot.script, history, which, first, base);
    for (which = 0; which < SERIES_COUNT; which++) {
        if (counts[which] == 0)
            continue;
        used[which] = true;
        fprintf(plot.script, "%s$s%u using 1:2 with %s linecolor rgb "
                PLOT_SERIES, comma, which, series[which].style,
                series[which].colour);
        comma = ", ";
    }
    fputc('\n', plot.script);
    return plot_end(&plot, "The file's access time in the course of the run",
                    plots->out);
}

static void
atime_legend(struct run_plots *plots, const bool used[SERIES_COUNT])
{
    unsigned which;

    legend_begin(plots->out);
    for (which = 0; which < SERIES_COUNT; which++)
        if (used[which])
            legend_entry(plots->out, series[which].colour, series[which].text);
    legend_end(plots->out);
}

int
run_plot_atimes(struct run_plots *plots)
{
    const struct figures *figures = plots->figures;
    bool used[SERIES_COUNT] = {false}, any = false;
    size_t i;

    if (figures->histories == NULL)
        return 0;
    for (i = 0; i < figures->run->filesystem_count; i++) {
        const struct atime_history *history = &figures->histories[i];

        if (history->point_count + history->client_count == 0)
            continue;
        if (!any)
            figure_begin(plots->out, "figure-6");
        any = true;
        panel_begin(plots->out, figures->run->filesystems[i].label);
        panel_end(plots->out, &plots->plotter,
                  atime_panel(plots, history, used));
    }
    if (!any)
        return 0;
    atime_legend(plots, used);
    figure_caption(plots->out, 6, "The program's access time over the run");
    fputs("Where the line climbs, the atime moved on the server, and the "
          "rings on it say by which call; where it is flat, execs went by "
          "and the server's atime stayed. A dot of the client above the line "
          "is an atime that only the client believes in.", plots->out);
    figure_end(plots->out);
    return 0;
}
