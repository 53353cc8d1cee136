/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bars that lie down, one per method: what an exec's time is made of, and
 * which RPCs it sends. All panels of a figure have one scale. */
#include "analysis/html_page.h"
#include "analysis/run_plots.h"

#include <math.h>
#include <string.h>

enum part { PART_FORK, PART_EXEC, PART_METHOD, PART_WAIT, PART_COUNT };

static const struct {
    const char *text;
    unsigned colour;
} parts[] = {
    [PART_FORK] = {"fork and exit (the time of noexec)", 8},
    [PART_EXEC] = {"the exec, at the client", 1},
    [PART_METHOD] = {"the method's own call, at the client", 3},
    [PART_WAIT] = {"waiting for RPCs", 2},
};
_Static_assert(sizeof parts / sizeof parts[0] == PART_COUNT, "a text per part");

/* The parts of a group's mean, in us; they add up to it. */
static void
split(const struct run_plots *plots, size_t index, double us[PART_COUNT])
{
    const struct group_figures *group = &plots->figures->groups[index];
    const struct group_figures *base =
        figures_group(plots->figures, group->filesystem, METHOD_NOEXEC);
    const struct rpc_wait *wait = &group->wait;
    double left = group->mean.value;

    memset(us, 0, PART_COUNT * sizeof(*us));
    if (group->reasons_known && wait->waits.has_value) {
        us[PART_WAIT] = fmin(wait->waits.value, left);
        left -= us[PART_WAIT];
        us[PART_METHOD] = fmin(wait->method_own.value, left);
    } else {
        us[PART_METHOD] = fmin(group->method_us, left);
    }
    left -= us[PART_METHOD];
    if (group->method == METHOD_NOEXEC)
        us[PART_FORK] = left;
    else if (base != NULL && base->mean.has_value)
        us[PART_FORK] = fmin(base->mean.value, left);
    us[PART_EXEC] = left - us[PART_FORK];
}

static size_t
count_rows(const struct figures *figures, size_t filesystem)
{
    size_t i, n = 0;

    for (i = 0; i < figures->group_count; i++)
        n += figures->groups[i].filesystem == filesystem &&
             figures->groups[i].cells > 0;
    return n;
}

/* Frame of a panel with a row per group: the names of the methods. */
static FILE *
begin_rows(struct run_plots *plots, struct plot *plot, size_t filesystem,
           double most, const char *unit)
{
    const struct figures *figures = plots->figures;
    const char *names[METHOD_COUNT];
    size_t i, count = 0;
    FILE *script;

    for (i = 0; i < figures->group_count; i++)
        if (figures->groups[i].filesystem == filesystem &&
            figures->groups[i].cells > 0 && count < METHOD_COUNT)
            names[count++] = run_method_name(figures->groups[i].method);
    script = rows_begin(plot, &plots->plotter, 70 + 28 * (unsigned)count,
                        names, count, unit);
    if (script != NULL)
        plot_axis(plot, 'x', 0, most);
    return script;
}

static double
longest_time(const struct figures *figures)
{
    double most = 0;
    size_t i;

    for (i = 0; i < figures->group_count; i++)
        if (figures->groups[i].cells > 0)
            most = fmax(most, figures->groups[i].mean.value +
                                  figures->groups[i].mean.half_width);
    return most;
}

static bool
times_panel(struct run_plots *plots, size_t filesystem, double most)
{
    const struct figures *figures = plots->figures;
    struct plot plot;
    size_t i, row;
    unsigned part;

    if (begin_rows(plots, &plot, filesystem, most * 1.32, "µs per exec") ==
        NULL)
        return false;
    for (part = 0; part <= PART_COUNT; part++) {
        fprintf(plot.script, "$d%u <<END\n", part);
        row = count_rows(figures, filesystem);
        for (i = 0; i < figures->group_count; i++) {
            const struct group_figures *group = &figures->groups[i];
            double us[PART_COUNT], from = 0;
            unsigned before;

            if (group->filesystem != filesystem || group->cells == 0)
                continue;
            split(plots, i, us);
            for (before = 0; before < part && before < PART_COUNT; before++)
                from += us[before];
            if (part < PART_COUNT)
                rows_bar(plot.script, (double)row, 0.36, from,
                         from + us[part]);
            else
                fprintf(plot.script, "%.9g %zu %.9g \"%s%.1f\"\n",
                        group->mean.value, row, group->mean.half_width, "",
                        group->mean.value);
            row--;
        }
        fputs("END\n", plot.script);
    }
    fputs("plot ", plot.script);
    for (part = 0; part < PART_COUNT; part++)
        fprintf(plot.script, "$d%u using 1:2:3:4:5:6 with boxxyerror "
                "linecolor rgb " PLOT_SERIES ", ", part, parts[part].colour);
    fprintf(plot.script, "$d%u using 1:2:3 with xerrorbars pointtype 0 "
            "linecolor rgb " PLOT_INK " linewidth 1.4, "
            "$d%u using ($1+$3):2:4 with labels left offset 0.8,0 textcolor "
            "rgb " PLOT_INK "\n", part, part);
    return plot_end(&plot, "Time per exec by method, in parts", plots->out);
}

static void
times_caption(const struct run_plots *plots)
{
    const struct figures *figures = plots->figures;
    double us[PART_COUNT], share = 0;
    size_t i, most = figures->group_count;

    for (i = 0; i < figures->group_count; i++) {
        if (figures->groups[i].cells == 0 ||
            !(figures->groups[i].mean.value > 0))
            continue;
        split(plots, i, us);
        if (us[PART_WAIT] / figures->groups[i].mean.value > share) {
            share = us[PART_WAIT] / figures->groups[i].mean.value;
            most = i;
        }
    }
    fprintf(plots->out, "A bar is the mean of one method, the thin line its "
            "%.4g %% interval over the repetitions; a method costs what its "
            "bar is longer than <em>none</em>.", figures->confidence);
    if (most == figures->group_count)
        return;
    fputc(' ', plots->out);
    html_text(plots->out,
              figures->run->filesystems[figures->groups[most].filesystem]
                  .label);
    fprintf(plots->out, " %s waits most: for %.0f %% of its time it cannot "
            "go on because an RPC is outstanding.",
            run_method_name(figures->groups[most].method), 100 * share);
}

int
run_plot_times(struct run_plots *plots)
{
    const struct figures *figures = plots->figures;
    const double most = longest_time(figures);
    unsigned part;
    size_t i;

    if (!(most > 0))
        return 0;
    figure_begin(plots->out, "figure-1");
    for (i = 0; i < figures->run->filesystem_count; i++) {
        if (count_rows(figures, i) == 0)
            continue;
        panel_begin(plots->out, figures->run->filesystems[i].label);
        panel_end(plots->out, &plots->plotter, times_panel(plots, i, most));
    }
    legend_begin(plots->out);
    for (part = 0; part < PART_COUNT; part++)
        legend_entry(plots->out, parts[part].colour, parts[part].text);
    legend_end(plots->out);
    figure_caption(plots->out, 1, "Time per exec");
    times_caption(plots);
    figure_end(plots->out);
    return 0;
}

/* --- RPCs per exec -------------------------------------------------------- */

/* Calls per exec of the group that have the colour. */
static double
calls_of_colour(const struct group_figures *group, unsigned colour)
{
    uint64_t count = 0;
    size_t i;

    for (i = 0; i < group->calls.length; i++)
        if (procedure_colour(group->calls.items[i].name) == colour)
            count += group->calls.items[i].count;
    return group->execs > 0 ? (double)count / (double)group->execs : 0;
}

static double
calls_per_exec(const struct group_figures *group)
{
    double sum = 0;
    unsigned colour;

    for (colour = 1; colour <= PLOT_SERIES_COUNT; colour++)
        sum += calls_of_colour(group, colour);
    return sum;
}

static bool
counts_panel(struct run_plots *plots, size_t filesystem, double most)
{
    const struct figures *figures = plots->figures;
    struct plot plot;
    size_t i, row;
    unsigned colour;

    if (begin_rows(plots, &plot, filesystem, most * 1.2, "RPCs per exec") ==
        NULL)
        return false;
    for (colour = 1; colour <= PLOT_SERIES_COUNT + 1; colour++) {
        fprintf(plot.script, "$d%u <<END\n", colour);
        row = count_rows(figures, filesystem);
        for (i = 0; i < figures->group_count; i++) {
            const struct group_figures *group = &figures->groups[i];
            double from = 0;
            unsigned before;

            if (group->filesystem != filesystem || group->cells == 0)
                continue;
            for (before = 1; before < colour && before <= PLOT_SERIES_COUNT;
                 before++)
                from += calls_of_colour(group, before);
            if (colour <= PLOT_SERIES_COUNT)
                rows_bar(plot.script, (double)row, 0.36, from,
                         from + calls_of_colour(group, colour));
            else
                fprintf(plot.script, "%.9g %zu \"%s%.3g\"\n", from, row,
                        group->cells_lossy > 0 ? ">=" : "", from);
            row--;
        }
        fputs("END\n", plot.script);
    }
    fputs("plot ", plot.script);
    for (colour = 1; colour <= PLOT_SERIES_COUNT; colour++)
        fprintf(plot.script, "$d%u using 1:2:3:4:5:6 with boxxyerror "
                "linecolor rgb " PLOT_SERIES ", ", colour, colour);
    fprintf(plot.script, "$d%u using 1:2:3 with labels left offset 0.8,0 "
            "textcolor rgb " PLOT_INK "\n", colour);
    return plot_end(&plot, "RPCs per exec by method and procedure",
                    plots->out);
}

/* The name of the colour, when the run has such calls. */
static void
counts_legend(const struct run_plots *plots)
{
    const struct figures *figures = plots->figures;
    unsigned colour;

    legend_begin(plots->out);
    for (colour = 1; colour <= PLOT_SERIES_COUNT; colour++) {
        const char *name = NULL;
        size_t i, j;

        for (i = 0; i < figures->group_count; i++)
            for (j = 0; j < figures->groups[i].calls.length; j++)
                if (procedure_colour(figures->groups[i].calls.items[j].name) ==
                    colour)
                    name = figures->groups[i].calls.items[j].name;
        if (name != NULL)
            legend_entry(plots->out, colour,
                         colour == PLOT_SERIES_COUNT ? "others" : name);
    }
    legend_end(plots->out);
}

int
run_plot_counts(struct run_plots *plots)
{
    const struct figures *figures = plots->figures;
    bool v4 = false;
    double most = 0;
    size_t i;

    for (i = 0; i < figures->group_count; i++)
        most = fmax(most, calls_per_exec(&figures->groups[i]));
    if (!(most > 0))
        return 0;
    figure_begin(plots->out, "figure-2");
    for (i = 0; i < figures->run->filesystem_count; i++) {
        const struct run_filesystem *filesystem = &figures->run->filesystems[i];

        if (filesystem->kind != FILESYSTEM_NFS || count_rows(figures, i) == 0)
            continue;
        v4 = v4 || (filesystem->version != NULL &&
                    filesystem->version[0] == '4');
        panel_begin(plots->out, filesystem->label);
        panel_end(plots->out, &plots->plotter, counts_panel(plots, i, most));
    }
    counts_legend(plots);
    figure_caption(plots->out, 2, "RPCs per exec");
    fprintf(plots->out, "What each method sends for one exec%s. A stretch "
            "that is 1 long is one such call for every exec; what a method "
            "adds to <em>none</em> is its own traffic.%s%s",
            v4 ? ", an NFSv4 COMPOUND under the name of its main operation"
               : "",
            figures->counts_complete
                ? ""
                : " Something was lost from the capture: lengths marked "
                  "&gt;= are at least that long.",
            figures->from_mountstats
                ? " Without a capture these are the kernel's own counts."
                : "");
    figure_end(plots->out);
    return 0;
}
