/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One figure for each kind of bench: bars by file system, curves over the
 * size, bars of before and after. */
#include "analysis/bench_html.h"

#include "analysis/bench_parts.h"
#include "analysis/run_plots.h"

#include <math.h>
#include <string.h>

#define MOST_BARS 16

struct picture {
    const struct bench_figures *figures;
    struct plotter plotter;
    FILE *out;
};

static const char *
label_of(const struct picture *picture, size_t filesystem)
{
    return picture->figures->run->filesystems[filesystem].label;
}

/* --- bars ----------------------------------------------------------------- */

struct bar {
    const char *name;
    const struct bench_group *group;
    double parts[BENCH_PREFAULT_PARTS]; /* they add up to the mean, in units */
};

/* Each bar's parts in the colours 1, 2 ...; the interval of its mean; a ring
 * for each run. `ns` is the unit. */
static bool
bars_panel(struct picture *picture, const struct bar *bars, size_t count,
           unsigned parts, double ns, double most, const char *unit,
           const char *label)
{
    const char *names[MOST_BARS];
    struct plot plot;
    unsigned part;
    size_t i, j;
    FILE *script;

    for (i = 0; i < count; i++)
        names[i] = bars[i].name;
    script = rows_begin(&plot, &picture->plotter, 70 + 36 * (unsigned)count,
                        names, count, unit);
    if (script == NULL)
        return false;
    plot_axis(&plot, 'x', 0, most * 1.08);
    for (part = 0; part < parts; part++) {
        fprintf(script, "$p%u <<END\n", part);
        for (i = 0; i < count; i++) {
            double from = 0;

            for (j = 0; j < part; j++)
                from += bars[i].parts[j];
            rows_bar(script, (double)(count - i) + 0.12, 0.24, from,
                     from + bars[i].parts[part]);
        }
        fputs("END\n", script);
    }
    fputs("$means <<END\n", script);
    for (i = 0; i < count; i++)
        fprintf(script, "%.9g %.2f %.9g\n", bars[i].group->mean.value / ns,
                (double)(count - i) + 0.12,
                bars[i].group->mean.half_width / ns);
    fputs("END\n$runs <<END\n", script);
    for (i = 0; i < count; i++)
        for (j = 0; j < bars[i].group->cells; j++)
            fprintf(script, "%.9g %.2f\n", bars[i].group->ns[j] / ns,
                    (double)(count - i) - 0.26);
    fputs("END\nplot ", script);
    for (part = 0; part < parts; part++)
        fprintf(script, "$p%u using 1:2:3:4:5:6 with boxxyerror linecolor "
                "rgb " PLOT_SERIES ", ", part, part + 1);
    fputs("$means using 1:2:3 with xerrorbars pointtype 0 linecolor rgb "
          PLOT_INK " linewidth 1.4, $runs using 1:2 with points pointtype 6 "
          "pointsize 0.6 linecolor rgb " PLOT_INK "\n", script);
    return plot_end(&plot, label, picture->out);
}

/* The longest mean with its interval, or run. */
static double
longest(const struct bench_figures *figures)
{
    double most = 0;
    size_t i;

    for (i = 0; i < figures->group_count; i++) {
        const struct bench_group *group = &figures->groups[i];

        if (group->cells > 0)
            most = fmax(most, fmax(group->sample.max,
                                   group->mean.value +
                                       group->mean.half_width));
    }
    return most;
}

static void
self_exec_picture(struct picture *picture)
{
    const struct bench_figures *figures = picture->figures;
    struct bar bars[MOST_BARS];
    size_t i, count = 0;

    for (i = 0; i < figures->group_count && count < MOST_BARS; i++) {
        const struct bench_group *group = &figures->groups[i];

        if (group->cells == 0)
            continue;
        bars[count].name = label_of(picture, group->filesystem);
        bars[count].group = group;
        bars[count++].parts[0] = group->mean.value * 1e-3;
    }
    figure_begin(picture->out, "figure-1");
    panel_begin(picture->out, "An exec by itself");
    panel_end(picture->out, &picture->plotter,
              bars_panel(picture, bars, count, 1, 1e3,
                         longest(figures) * 1e-3, "µs per exec",
                         "Time per exec by file system"));
    figure_caption(picture->out, 1, "Time per exec");
    fprintf(picture->out, "A bar is the mean of a file system's runs, the thin "
            "line its %.4g %% interval, a ring below it one run. Rings far "
            "apart are a machine that was not quiet, not a file system.",
            figures->confidence);
    figure_end(picture->out);
}

/* The unit in which the longest time has a short number. */
static double
time_unit(double ns, const char **label)
{
    if (ns >= 1e9) {
        *label = "seconds for the file";
        return 1e9;
    }
    *label = ns >= 1e6 ? "ms for the file" : "µs for the file";
    return ns >= 1e6 ? 1e6 : 1e3;
}

static void
prefault_panel(struct picture *picture, size_t filesystem)
{
    const struct bench_figures *figures = picture->figures;
    const double most = longest(figures);
    const char *unit_label;
    const double unit = time_unit(most, &unit_label);
    struct bar bars[2];
    size_t i, j, count = 0;

    for (i = 0; i < 2; i++) {
        const struct bench_group *group = bench_group_find(
            figures, filesystem, bench_prefault_variants[i]);
        double sum = 0;

        if (group == NULL || group->cells == 0)
            continue;
        bars[count].name = group->variant;
        bars[count].group = group;
        for (j = 0; j < BENCH_PREFAULT_PARTS; j++) {
            bars[count].parts[j] =
                bench_part_mean(figures, group, bench_prefault_parts[j]) *
                1e9 / unit;
            sum += bars[count].parts[j];
        }
        /* What is between the parts is too little to be seen. */
        if (!(sum > 0))
            bars[count].parts[1] = group->mean.value / unit;
        count++;
    }
    if (count == 0)
        return;
    panel_begin(picture->out, label_of(picture, filesystem));
    panel_end(picture->out, &picture->plotter,
              bars_panel(picture, bars, count, BENCH_PREFAULT_PARTS, unit,
                         most / unit, unit_label,
                         "Time to write the file, before and after touching"));
}

static void
prefault_picture(struct picture *picture)
{
    static const char *const texts[BENCH_PREFAULT_PARTS] = {
        "touching the pages", "write(2)", "close(2)"};
    const struct bench_figures *figures = picture->figures;
    unsigned part;
    size_t i;

    figure_begin(picture->out, "figure-1");
    for (i = 0; i < figures->run->filesystem_count; i++)
        prefault_panel(picture, i);
    legend_begin(picture->out);
    for (part = 0; part < BENCH_PREFAULT_PARTS; part++)
        legend_entry(picture->out, part + 1, texts[part]);
    legend_end(picture->out);
    figure_caption(picture->out, 1, "Before and after");
    fprintf(picture->out, "A bar is the mean of the runs, in its parts, the "
            "thin line its %.4g %% interval, a ring below it one run. "
            "Touching pays when it takes less than it saves in write(2).",
            figures->confidence);
    figure_end(picture->out);
}

/* --- curves over the size ------------------------------------------------- */

static void
size_axis(struct plot *plot, const unsigned long *sizes, size_t count)
{
    const double low = (double)sizes[0], high = (double)sizes[count - 1];
    size_t i;

    if (count > 6) {
        plot_log_axis(plot, low / 1.15, high * 1.15);
        return;
    }
    fprintf(plot->script, "set logscale x\nset xrange [%.9g:%.9g]\n"
            "set xtics (", low / 1.6, high * 1.6);
    for (i = 0; i < count; i++)
        fprintf(plot->script, "%s'%lu' %lu", i > 0 ? "," : "", sizes[i],
                sizes[i]);
    fputs(")\n", plot->script);
}

static void
header_data(const struct picture *picture, FILE *script, size_t filesystem,
            const char *state, const unsigned long *sizes, size_t count)
{
    size_t i, j;

    for (j = 0; j < BENCH_HEADER_METHODS; j++) {
        fprintf(script, "$m%zu <<END\n", j);
        for (i = 0; i < count; i++) {
            const struct bench_group *group =
                bench_header_group(picture->figures, filesystem,
                                   bench_header_methods[j], sizes[i], state);
            double median;

            if (group == NULL || group->cells == 0)
                continue;
            median = group->sample.median;
            fprintf(script, "%lu %.9g %.9g %.9g\n", sizes[i], median * 1e-3,
                    (group->median.known ? group->median.low : median) * 1e-3,
                    (group->median.known ? group->median.high : median) *
                        1e-3);
        }
        fputs("END\n", script);
    }
}

static bool
header_panel(struct picture *picture, size_t filesystem, const char *state,
             const unsigned long *sizes, size_t count)
{
    struct plot plot;
    const char *before = "plot ";
    size_t j;

    plot_begin(&plot, &picture->plotter, PANEL_WIDTH, 300);
    if (plot.script == NULL)
        return false;
    fputs("unset key\nset xlabel 'bytes looked at'\nset ylabel "
          "'µs per access'\nset logscale y\nset format y '%g'\n",
          plot.script);
    size_axis(&plot, sizes, count);
    header_data(picture, plot.script, filesystem, state, sizes, count);
    for (j = 0; j < BENCH_HEADER_METHODS; j++) {
        bool any = false;
        size_t i;

        for (i = 0; i < count; i++) {
            const struct bench_group *group =
                bench_header_group(picture->figures, filesystem,
                                   bench_header_methods[j], sizes[i], state);

            any = any || (group != NULL && group->cells > 0);
        }
        if (!any)
            continue;
        fprintf(plot.script, "%s$m%zu using 1:2:3:4 with yerrorlines "
                "pointtype 6 pointsize 0.6 linewidth 1.3 linecolor rgb "
                PLOT_SERIES, before, j, (unsigned)j + 1);
        before = ", ";
    }
    fputc('\n', plot.script);
    return plot_end(&plot, "Time per access against the bytes looked at",
                    picture->out);
}

static bool
any_header(const struct bench_figures *figures, size_t filesystem,
           const char *state, const unsigned long *sizes, size_t count)
{
    size_t i, j;

    for (i = 0; i < count; i++)
        for (j = 0; j < BENCH_HEADER_METHODS; j++) {
            const struct bench_group *group =
                bench_header_group(figures, filesystem,
                                   bench_header_methods[j], sizes[i], state);

            if (group != NULL && group->cells > 0)
                return true;
        }
    return false;
}

static void
header_picture(struct picture *picture)
{
    static const char *const states[] = {"warm", "cold"};
    const struct bench_figures *figures = picture->figures;
    unsigned long sizes[BENCH_HEADER_SIZES];
    const size_t count = bench_header_sizes(figures, sizes);
    size_t i, j, s;

    figure_begin(picture->out, "figure-1");
    for (i = 0; i < figures->run->filesystem_count; i++)
        for (s = 0; s < 2; s++) {
            char heading[320];

            if (!any_header(figures, i, states[s], sizes, count))
                continue;
            snprintf(heading, sizeof heading, "%.256s, %s",
                     label_of(picture, i), bench_header_state(states[s]));
            panel_begin(picture->out, heading);
            panel_end(picture->out, &picture->plotter,
                      header_panel(picture, i, states[s], sizes, count));
        }
    legend_begin(picture->out);
    for (j = 0; j < BENCH_HEADER_METHODS; j++)
        legend_entry(picture->out, (unsigned)j + 1, bench_header_methods[j]);
    legend_end(picture->out);
    figure_caption(picture->out, 1, "Time against size");
    fprintf(picture->out, "A ring is the median of the runs, the line through "
            "it its %.4g %% interval (from 6 runs on); both axes are "
            "logarithmic. A curve that stays flat pays for the way, one that "
            "climbs for the bytes.", figures->confidence);
    figure_end(picture->out);
}

void
bench_picture(const struct bench_figures *figures, FILE *out)
{
    struct picture picture = {.figures = figures, .out = out};
    const char *bench = figures->run->bench;

    if (!(longest(figures) > 0)) {
        fputs("<p>None: too little was measured.</p>\n", out);
        return;
    }
    if (bench_is_race(figures->run)) {
        fputs("<p>None for readings.</p>\n", out);
        return;
    }
    if (!plot_available()) {
        fputs("<p class=\"note\">gnuplot is not installed: the picture is "
              "missing; everything else is complete. Install it (on Debian "
              "the package gnuplot-nox) and make the report again.</p>\n",
              out);
        return;
    }
    plot_svg_shapes(out);
    if (strcmp(bench, "header") == 0)
        header_picture(&picture);
    else if (strcmp(bench, "prefault") == 0)
        prefault_picture(&picture);
    else
        self_exec_picture(&picture);
}
