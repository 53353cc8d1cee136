/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's access time in the course of the run, as the server's replies
 * and the client's stat have it. */
#include "analysis/atime_history.h"
#include "analysis/html_page.h"
#include "analysis/run_plots.h"

#include <math.h>
#include <string.h>

#define MOST_POINTS 600 /* of a panel */

enum series { SERIES_SERVER, SERIES_CLIENT, SERIES_SETATTR, SERIES_READ,
              SERIES_OTHER, SERIES_COUNT }; /* later ones lie on top */

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
                       "points pointtype 7 pointsize 0.45"},
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

/* Times of a panel: x counts from first_ns (monotonic), y from base_ns (the
 * wall clock then); an atime earlier than `floor` stands on the floor. */
struct frame {
    int64_t first_ns, base_ns;
    double floor;
};

static void
write_point(FILE *script, const struct frame *frame, int64_t when_ns,
            int64_t atime_ns)
{
    const double y = (double)(atime_ns - frame->base_ns) * 1e-9;

    fprintf(script, "%.9g %.9g\n",
            (double)(when_ns - frame->first_ns) * 1e-9,
            y < frame->floor ? frame->floor : y);
}

/* Writes one series, every step-th point of it. @return how many. */
static size_t
write_series(FILE *script, const struct atime_history *history,
             unsigned which, const struct frame *frame)
{
    size_t i, n = 0, seen = 0, step;

    fprintf(script, "$s%u <<END\n", which);
    if (which == SERIES_CLIENT) {
        for (i = 0; i < history->client_count; i++, n++)
            write_point(script, frame, history->client[i].when_ns,
                        history->client[i].atime_ns);
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
        write_point(script, frame, point->when_ns, point->atime_ns);
        n++;
    }
    fputs("END\n", script);
    return n;
}

/* The wall clock at the monotonic time `when_ns`. */
static int64_t
realtime_of(const struct run *run, int64_t when_ns)
{
    size_t i;

    for (i = 0; i < run->cell_count; i++) {
        const struct run_clock_pair *pair = &run->cells[i].clock_before;

        if (pair->realtime_ns != RUN_UNKNOWN_NS &&
            pair->monotonic_ns != RUN_UNKNOWN_NS)
            return when_ns + pair->realtime_ns - pair->monotonic_ns;
    }
    return when_ns;
}

static bool
atime_panel(struct run_plots *plots, const struct atime_history *history,
            bool used[SERIES_COUNT])
{
    const struct run *run = plots->figures->run;
    const int64_t first = run_first_ns(run);
    const double length = fmax(run_length_s(run), 1e-6);
    const struct frame frame = {first, realtime_of(run, first),
                                -0.15 * length};
    const char *comma = "plot ";
    size_t counts[SERIES_COUNT];
    struct plot plot;
    unsigned which;

    plot_begin(&plot, &plots->plotter, PANEL_WIDTH, 300);
    if (plot.script == NULL)
        return false;
    fputs("unset key\nset xlabel 'seconds into the run'\n"
          "set ylabel 'atime, seconds into the run'\n", plot.script);
    plot_axis(&plot, 'x', -0.03 * length, 1.04 * length);
    plot_axis(&plot, 'y', 0, 1.08 * length);
    fprintf(plot.script, "set yrange [%.9g:]\nset ytics add ('before' "
            "%.9g)\n", -0.2 * length, frame.floor);
    for (which = 0; which < SERIES_COUNT; which++)
        counts[which] = write_series(plot.script, history, which, &frame);
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
          "and the server's atime stayed. An atime on the diagonal is of "
          "that moment. A dot of the client above the line is an atime that "
          "only the client believes in.", plots->out);
    figure_end(plots->out);
    return 0;
}
