/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The colour of a run is its place in the command line; rows of a panel are
 * methods, and within a row the runs lie below one another in that order.
 */
#include "analysis/compare_html.h"

#include "analysis/html_page.h"
#include "analysis/run_plots.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SENTENCES 20

struct page {
    const struct compare_cell **cells; /* the first set's, in order */
    const struct comparison *comparisons;
    const struct compare_set *sets;
    size_t set_count;
    struct plotter plotter;
    FILE *out;
};

static unsigned
set_colour(size_t index)
{
    return (unsigned)(index % PLOT_SERIES_COUNT) + 1;
}

static int
by_label_and_method(const void *left, const void *right)
{
    const struct compare_cell *a = *(const struct compare_cell *const *)left;
    const struct compare_cell *b = *(const struct compare_cell *const *)right;
    const int labels = strcmp(a->label, b->label);
    const unsigned first = run_method_by_name(a->method);
    const unsigned second = run_method_by_name(b->method);

    if (labels != 0)
        return labels;
    return first != second ? (first < second ? -1 : 1)
                           : strcmp(a->method, b->method);
}

/* The labels of the first set, each once; @return how many. */
static size_t
labels_of(const struct page *page, const char **labels, size_t most)
{
    size_t i, n = 0;

    for (i = 0; i < page->sets[0].cell_count && n < most; i++)
        if (n == 0 || strcmp(labels[n - 1], page->cells[i]->label) != 0)
            labels[n++] = page->cells[i]->label;
    return n;
}

static const struct compare_cell *
cell_of(const struct compare_set *set, const char *label, const char *method)
{
    size_t i;

    for (i = 0; i < set->cell_count; i++)
        if (strcmp(set->cells[i].label, label) == 0 &&
            strcmp(set->cells[i].method, method) == 0)
            return &set->cells[i];
    return NULL;
}

static size_t
methods_of(const struct page *page, const char *label)
{
    size_t i, n = 0;

    for (i = 0; i < page->sets[0].cell_count; i++)
        n += strcmp(page->cells[i]->label, label) == 0;
    return n;
}

/* --- words ---------------------------------------------------------------- */

static void
row_words(const struct compare_row *row, const struct comparison *comparison,
          FILE *out)
{
    const struct stat_difference *d = &row->welch;
    const char *unit = row->count == NULL ? "µs" : "per exec";
    const int digits = row->count == NULL ? 1 : 3;

    html_text(out, row->first->label);
    fputc(' ', out);
    html_text(out, row->first->method);
    fputs(": ", out);
    if (row->count != NULL)
        html_text(out, row->count);
    else
        fputs("time", out);
    fprintf(out, " %.*f → %.*f %s", digits, row->sample[0].summary.mean,
            digits, row->sample[1].summary.mean, unit);
    fprintf(out, " (%+.*f", digits, d->absolute.value);
    if (d->absolute.has_half)
        fprintf(out, " ± %.*f", digits, d->absolute.half_width);
    if (d->percent.has_value)
        fprintf(out, ", %+.1f %%", d->percent.value);
    fputs(") in ", out);
    html_text(out, comparison->second->name);
    fputc('.', out);
}

static void
findings(const struct page *page)
{
    FILE *out = page->out;
    size_t i, j, proven = 0, tests = 0, said = 0;

    html_heading(out, "findings", "Findings");
    for (i = 0; i + 1 < page->set_count; i++) {
        proven += page->comparisons[i].proven;
        tests += page->comparisons[i].tests;
    }
    fprintf(out, "<p>%zu of %zu differences that could be tested are proven "
            "at %.4g %%, all taken together (Holm's procedure).%s</p>\n",
            proven, tests, page->comparisons[0].confidence,
            proven == 0 ? " That is no proof that the runs are equal." : "");
    if (proven == 0)
        return;
    fputs("<ol class=\"findings\">\n", out);
    for (i = 0; i + 1 < page->set_count; i++)
        for (j = 0; j < page->comparisons[i].row_count; j++) {
            if (!page->comparisons[i].rows[j].proven ||
                said++ >= MOST_SENTENCES)
                continue;
            fputs("<li>", out);
            row_words(&page->comparisons[i].rows[j], &page->comparisons[i],
                      out);
            fputs("</li>\n", out);
        }
    fputs("</ol>\n", out);
    if (said > MOST_SENTENCES)
        fprintf(out, "<p>%zu more are in the <a href=\"#tables\">tables</a>."
                "</p>\n", said - MOST_SENTENCES);
}

static void
setting(const struct page *page)
{
    FILE *out = page->out;
    size_t i;

    html_heading(out, "setting", "Setting");
    fputs("<ul class=\"legend\">\n", out);
    for (i = 0; i < page->set_count; i++)
        legend_entry(out, set_colour(i), page->sets[i].name);
    fputs("</ul>\n<dl>\n", out);
    for (i = 0; i < page->set_count; i++) {
        const struct compare_set *set = &page->sets[i];

        fputs("<dt>", out);
        html_text(out, i == 0 ? "first" : "against it");
        fputs("</dt><dd>", out);
        html_text(out, set->name);
        if (set->kernel != NULL) {
            fputs("; Linux ", out);
            html_text(out, set->kernel);
        }
        if (set->clock != NULL) {
            fputs("; clock ", out);
            html_text(out, set->clock);
        }
        if (set->incomplete)
            fputs("; <strong>incomplete</strong>", out);
        fputs("</dd>\n", out);
    }
    fputs("</dl>\n", out);
}

static void
sets_legend(const struct page *page)
{
    size_t i;

    legend_begin(page->out);
    for (i = 0; i < page->set_count; i++)
        legend_entry(page->out, set_colour(i), page->sets[i].name);
    legend_end(page->out);
}

/* --- pictures ------------------------------------------------------------- */

/* Methods up the side. */
static FILE *
begin_rows(struct page *page, struct plot *plot, const char *label,
           const char *unit)
{
    const struct compare_set *set = &page->sets[0];
    const char **names = calloc(set->cell_count + 1, sizeof(*names));
    size_t i, count = 0;
    FILE *script;

    if (names == NULL) {
        memset(plot, 0, sizeof *plot);
        return NULL;
    }
    for (i = 0; i < set->cell_count; i++)
        if (strcmp(page->cells[i]->label, label) == 0)
            names[count++] = page->cells[i]->method;
    script = rows_begin(plot, &page->plotter,
                        70 + (unsigned)count *
                                 (14 + 12 * (unsigned)page->set_count),
                        names, count, unit);
    free(names);
    return script;
}

/* Height of set number `index` in row `row`. */
static double
height_of(const struct page *page, size_t row, size_t index)
{
    const double step = 0.76 / (double)page->set_count;

    return (double)row + 0.38 - step * ((double)index + 0.5);
}

/* The time's row of a comparison. */
static const struct compare_row *
time_row(const struct comparison *comparison, const char *label,
         const char *method)
{
    size_t i;

    for (i = 0; i < comparison->row_count; i++)
        if (comparison->rows[i].count == NULL &&
            strcmp(comparison->rows[i].first->label, label) == 0 &&
            strcmp(comparison->rows[i].first->method, method) == 0)
            return &comparison->rows[i];
    return NULL;
}

/* Differences in per cent, with intervals. */
static bool
difference_panel(struct page *page, const char *label, double low, double high)
{
    const struct compare_set *set = &page->sets[0];
    struct plot plot;
    size_t i, j, row;

    if (begin_rows(page, &plot, label, "time against the first, %") == NULL)
        return false;
    plot_axis(&plot, 'x', low, high);
    for (j = 1; j < page->set_count; j++) {
        row = methods_of(page, label);
        fprintf(plot.script, "$s%zu <<END\n", j);
        for (i = 0; i < set->cell_count; i++) {
            const struct compare_row *test;

            if (strcmp(page->cells[i]->label, label) != 0)
                continue;
            test = time_row(&page->comparisons[j - 1], label,
                            page->cells[i]->method);
            if (test != NULL && test->welch.percent.has_value)
                fprintf(plot.script, "%.9g %.4f %.9g\n",
                        test->welch.percent.value,
                        height_of(page, row, j),
                        test->welch.percent.has_half
                            ? test->welch.percent.half_width
                            : 0.0);
            row--;
        }
        fputs("END\n", plot.script);
    }
    fputs("set arrow from 0,graph 0 to 0,graph 1 nohead linecolor rgb "
          PLOT_SOFT " linewidth 1\nplot ", plot.script);
    for (j = 1; j < page->set_count; j++)
        fprintf(plot.script, "%s$s%zu using 1:2:3 with xerrorbars pointtype "
                "7 pointsize 0.5 linewidth 1.5 linecolor rgb " PLOT_SERIES,
                j > 1 ? ", " : "", j, set_colour(j));
    fputc('\n', plot.script);
    return plot_end(&plot, "Difference in time per method", page->out);
}

/* Every repetition as a dot. */
static bool
time_panel(struct page *page, const char *label, double most)
{
    struct plot plot;
    size_t i, j, k, row;

    if (begin_rows(page, &plot, label, "µs per exec") == NULL)
        return false;
    plot_axis(&plot, 'x', 0, most * 1.05);
    for (j = 0; j < page->set_count; j++) {
        row = methods_of(page, label);
        fprintf(plot.script, "$s%zu <<END\n", j);
        for (i = 0; i < page->sets[0].cell_count; i++) {
            const struct compare_cell *cell;

            if (strcmp(page->cells[i]->label, label) != 0)
                continue;
            cell = cell_of(&page->sets[j], label,
                           page->cells[i]->method);
            for (k = 0; cell != NULL && k < cell->n; k++)
                fprintf(plot.script, "%.9g %.4f\n", cell->us[k],
                        height_of(page, row, j));
            row--;
        }
        fputs("END\n", plot.script);
    }
    for (j = 0; j < page->set_count; j++)
        fprintf(plot.script, "%s$s%zu using 1:2 with points pointtype 6 "
                "pointsize 0.6 linecolor rgb " PLOT_SERIES,
                j > 0 ? ", " : "plot ", j, set_colour(j));
    fputc('\n', plot.script);
    return plot_end(&plot, "Time per exec by repetition", page->out);
}

/* What every COMPOUND has around its operations. */
static bool
is_scaffold(const char *name)
{
    static const char *const names[] = {"SEQUENCE", "PUTFH", "PUTROOTFH",
                                        "GETFH", "SAVEFH", "RESTOREFH"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static double
count_mean(const struct compare_cell *cell, unsigned colour)
{
    double sum = 0;
    size_t i, k;

    if (cell == NULL || cell->n == 0)
        return 0;
    for (i = 0; i < cell->count_count; i++)
        for (k = 0; procedure_colour(cell->counts[i].name) == colour &&
                    !is_scaffold(cell->counts[i].name) && k < cell->n; k++)
            sum += cell->counts[i].per_exec[k];
    return sum / (double)cell->n;
}

/* Stacked by procedure, a bar for each run. */
static bool
count_panel(struct page *page, const char *label, double most)
{
    const double half = 0.3 / (double)page->set_count;
    struct plot plot;
    unsigned colour, below;
    size_t i, j;

    if (begin_rows(page, &plot, label, "RPCs per exec") == NULL)
        return false;
    plot_axis(&plot, 'x', 0, most * 1.05);
    for (colour = 1; colour <= PLOT_SERIES_COUNT; colour++) {
        size_t row = methods_of(page, label);

        fprintf(plot.script, "$c%u <<END\n", colour);
        for (i = 0; i < page->sets[0].cell_count; i++) {
            const char *method = page->cells[i]->method;

            if (strcmp(page->cells[i]->label, label) != 0)
                continue;
            for (j = 0; j < page->set_count; j++) {
                const struct compare_cell *cell =
                    cell_of(&page->sets[j], label, method);
                const double y = height_of(page, row, j);
                double from = 0, to;

                for (below = 1; below < colour; below++)
                    from += count_mean(cell, below);
                to = from + count_mean(cell, colour);
                rows_bar(plot.script, y, half, from, to);
            }
            row--;
        }
        fputs("END\n", plot.script);
    }
    for (colour = 1; colour <= PLOT_SERIES_COUNT; colour++)
        fprintf(plot.script, "%s$c%u using 1:2:3:4:5:6 with boxxyerror "
                "linecolor rgb " PLOT_SERIES, colour > 1 ? ", " : "plot ",
                colour, colour);
    fputc('\n', plot.script);
    return plot_end(&plot, "RPCs per exec by method and run", page->out);
}

static void
difference_range(const struct page *page, double *low, double *high)
{
    size_t i, j;

    *low = -1;
    *high = 1;
    for (i = 0; i + 1 < page->set_count; i++)
        for (j = 0; j < page->comparisons[i].row_count; j++) {
            const struct compare_row *row = &page->comparisons[i].rows[j];
            const struct stat_estimate *d = &row->welch.percent;

            if (row->count != NULL || !d->has_value)
                continue;
            *low = fmin(*low, d->value - d->half_width);
            *high = fmax(*high, d->value + d->half_width);
        }
    *low *= 1.08;
    *high *= 1.08;
}

static void
most_of_all(const struct page *page, double *us, double *rpcs)
{
    unsigned colour;
    size_t i, j, k;

    *us = *rpcs = 0;
    for (i = 0; i < page->set_count; i++)
        for (j = 0; j < page->sets[i].cell_count; j++) {
            const struct compare_cell *cell = &page->sets[i].cells[j];
            double sum = 0;

            for (k = 0; k < cell->n; k++)
                *us = fmax(*us, cell->us[k]);
            for (colour = 1; colour <= PLOT_SERIES_COUNT; colour++)
                sum += count_mean(cell, colour);
            *rpcs = fmax(*rpcs, sum);
        }
}

static bool
any_count(const struct page *page, const char *label)
{
    size_t i, j;

    for (i = 0; i < page->set_count; i++)
        for (j = 0; j < page->sets[i].cell_count; j++)
            if (strcmp(page->sets[i].cells[j].label, label) == 0 &&
                page->sets[i].cells[j].count_count > 0)
                return true;
    return false;
}

enum panel_kind { PANEL_DIFFERENCE, PANEL_TIME, PANEL_COUNT };

static void
panels(struct page *page, enum panel_kind kind)
{
    const char *labels[64];
    const size_t n = labels_of(page, labels, 64);
    double low, high, us, rpcs;
    size_t i;

    difference_range(page, &low, &high);
    most_of_all(page, &us, &rpcs);
    for (i = 0; i < n; i++) {
        bool drawn;

        if (kind == PANEL_COUNT && !any_count(page, labels[i]))
            continue;
        panel_begin(page->out, labels[i]);
        drawn = kind == PANEL_DIFFERENCE
                    ? difference_panel(page, labels[i], low, high)
                : kind == PANEL_TIME ? time_panel(page, labels[i], us)
                                     : count_panel(page, labels[i], rpcs);
        panel_end(page->out, &page->plotter, drawn);
    }
}

static void
procedures_legend(const struct page *page)
{
    static const char *const names[] = {"", "GETATTR", "SETATTR", "READ",
                                        "ACCESS", "LOOKUP", "OPEN", "CLOSE",
                                        "others"};
    unsigned colour;

    legend_begin(page->out);
    for (colour = 1; colour <= PLOT_SERIES_COUNT; colour++) {
        double sum = 0;
        size_t i, j;

        for (i = 0; i < page->set_count; i++)
            for (j = 0; j < page->sets[i].cell_count; j++)
                sum += count_mean(&page->sets[i].cells[j], colour);
        if (sum > 0)
            legend_entry(page->out, colour, names[colour]);
    }
    legend_end(page->out);
}

/* --- the execs of runs, overlaid ------------------------------------------ */

static bool
curves_panel(struct page *page, const struct run *runs, const char *label,
             const char *method_name)
{
    const enum run_method method = run_method_by_name(method_name);
    const char *comma = "plot ";
    double low = 0, high = 0;
    char *lines = NULL;
    size_t length = 0, i, f, k;
    struct plot plot;
    FILE *line;

    plot_begin(&plot, &page->plotter, PANEL_WIDTH, 250);
    if (plot.script == NULL ||
        (line = open_memstream(&lines, &length)) == NULL)
        return false;
    fputs("unset key\nset yrange [0:100]\nset ytics 25\n"
          "set xlabel 'µs per exec'\nset ylabel 'share, %'\n", plot.script);
    for (i = 0; i < page->set_count; i++)
        for (f = 0; f < runs[i].filesystem_count; f++) {
            size_t n, points;
            double *us;

            if (strcmp(runs[i].filesystems[f].label, label) != 0)
                continue;
            us = group_execs_sorted(&runs[i], f, method, &n);
            if (us == NULL)
                continue;
            points = n < 120 ? n : 120;
            low = low > 0 ? fmin(low, us[0]) : us[0];
            high = fmax(high, us[n - 1]);
            fprintf(plot.script, "$r%zu <<END\n", i);
            for (k = 0; k < points; k++) {
                const size_t rank =
                    points == 1 ? 0 : k * (n - 1) / (points - 1);

                fprintf(plot.script, "%.9g %.4f\n", us[rank],
                        100.0 * (double)(rank + 1) / (double)n);
            }
            fputs("END\n", plot.script);
            fprintf(line, "%s$r%zu using 1:2 with lines linewidth 1.6 "
                    "linecolor rgb " PLOT_SERIES, comma, i, set_colour(i));
            comma = ", ";
            free(us);
        }
    fclose(line);
    plot_log_axis(&plot, fmax(low, 1e-3) * 0.95, fmax(high, 2e-3) * 1.05);
    fprintf(plot.script, "%s\n", lines);
    free(lines);
    return plot_end(&plot, "Distribution of exec times, by run", page->out);
}

static void
curves(struct page *page)
{
    struct run *runs = calloc(page->set_count, sizeof(*runs));
    char error[512];
    bool all = runs != NULL;
    size_t i;

    for (i = 0; all && i < page->set_count; i++)
        all = run_read(page->sets[i].name, &runs[i], error, sizeof error) == 0;
    if (all) {
        figure_begin(page->out, "figure-4");
        for (i = 0; i < page->sets[0].cell_count; i++) {
            const struct compare_cell *cell = page->cells[i];
            char heading[256];

            snprintf(heading, sizeof heading, "%s %s", cell->label,
                     cell->method);
            panel_begin(page->out, heading);
            panel_end(page->out, &page->plotter,
                      curves_panel(page, runs, cell->label, cell->method));
        }
        sets_legend(page);
        figure_caption(page->out, 4, "Distribution of exec times");
        fputs("How many of the execs, in per cent, were done within a time. "
              "Curves side by side from bottom to top: every exec became "
              "slower or faster; curves that part only near the top: the "
              "slow ones did.", page->out);
        figure_end(page->out);
    }
    for (i = 0; runs != NULL && i < page->set_count; i++)
        run_free(&runs[i]);
    free(runs);
}

static void
pictures(struct page *page, bool runs)
{
    FILE *out = page->out;
    double us, rpcs;

    html_heading(out, "pictures", "Pictures");
    plot_svg_shapes(out);
    if (!plot_available()) {
        fputs("<p class=\"note\">gnuplot is not installed: the pictures are "
              "missing; everything else is complete.</p>\n", out);
        return;
    }
    most_of_all(page, &us, &rpcs);
    figure_begin(out, "figure-1");
    panels(page, PANEL_DIFFERENCE);
    sets_legend(page);
    figure_caption(out, 1, "Difference in time");
    fprintf(out, "Against the first, in per cent, with %.4g %% intervals: "
            "one that crosses the line at 0 proves nothing.",
            page->comparisons[0].confidence);
    figure_end(out);
    figure_begin(out, "figure-2");
    panels(page, PANEL_TIME);
    sets_legend(page);
    figure_caption(out, 2, "Time per exec");
    fputs("A ring is one repetition. Groups that do not mix are a "
          "difference that needs no statistics.", out);
    figure_end(out);
    if (rpcs > 0) {
        figure_begin(out, "figure-3");
        panels(page, PANEL_COUNT);
        procedures_legend(page);
        figure_caption(out, 3, "RPCs per exec");
        fputs("For each method a bar for each run, from top to bottom in the "
              "order of the setting. A stretch that is there in one bar only "
              "is a call that one run does not make. In NFSv4 these are the "
              "operations inside COMPOUNDs, without SEQUENCE, PUTFH and "
              "their like.", out);
        figure_end(out);
    }
    if (runs)
        curves(page);
}

/* --- table ---------------------------------------------------------------- */

static void
table_row(const struct compare_row *row, FILE *out)
{
    const int digits = row->count == NULL ? 1 : 3;
    const struct stat_difference *d = &row->welch;

    html_row_begin(out);
    html_row_head(out, row->first->label);
    html_cell(out, row->first->method);
    html_cell(out, row->count == NULL ? "time, µs" : row->count);
    html_known(out, true, digits, row->sample[0].summary.mean, "");
    html_known(out, row->sample[0].summary.has_stddev, digits,
               row->sample[0].summary.stddev, "");
    html_number(out, "%zu", row->sample[0].length);
    html_known(out, true, digits, row->sample[1].summary.mean, "");
    html_known(out, row->sample[1].summary.has_stddev, digits,
               row->sample[1].summary.stddev, "");
    html_number(out, "%zu", row->sample[1].length);
    html_known(out, d->absolute.has_value, digits, d->absolute.value, "");
    html_known(out, d->absolute.has_half, digits, d->absolute.half_width, "± ");
    html_known(out, d->percent.has_value, 1, d->percent.value, "");
    if (d->verdict == STAT_UNTESTABLE)
        html_number(out, "-");
    else
        html_number(out, "%.2g", d->p);
    html_cell(out, row->proven                         ? "proven"
                   : d->verdict == STAT_UNTESTABLE     ? "untestable"
                                                       : "none proven");
    html_row_end(out);
}

static void
tables(const struct page *page)
{
    FILE *out = page->out;
    size_t i, j;

    html_heading(out, "tables", "Tables");
    for (i = 0; i + 1 < page->set_count; i++) {
        const struct comparison *comparison = &page->comparisons[i];

        fputs("<h3>", out);
        html_text(out, comparison->first->name);
        fputs(" against ", out);
        html_text(out, comparison->second->name);
        fputs("</h3>\n", out);
        html_table_begin(out, "mean, deviation and number of repetitions of "
                         "both; difference of the means, by Welch's t",
                         "<File system|<Method|<What|first|deviation|n|"
                         "second|deviation|n|difference|±|%|p|<Verdict");
        for (j = 0; j < comparison->row_count; j++)
            table_row(&comparison->rows[j], out);
        html_table_end(out);
        if (comparison->only_first + comparison->only_second > 0)
            fprintf(out, "<p class=\"sub\">Without a partner: %zu cells of "
                    "the first, %zu of the second.</p>\n",
                    comparison->only_first, comparison->only_second);
    }
}

static void
losses(const struct page *page)
{
    FILE *out = page->out;
    bool any = false;
    size_t i, j;

    html_heading(out, "losses", "Losses");
    for (i = 0; i < page->set_count; i++) {
        size_t lossy = 0;

        for (j = 0; j < page->sets[i].cell_count; j++)
            lossy += page->sets[i].cells[j].lossy;
        if (lossy == 0 && !page->sets[i].incomplete)
            continue;
        any = true;
        fputs("<p class=\"note\">", out);
        html_text(out, page->sets[i].name);
        if (page->sets[i].incomplete)
            fputs(" is incomplete", out);
        if (lossy > 0)
            fprintf(out, "%s something was lost from the capture of %zu "
                    "cells: their counts are lower bounds",
                    page->sets[i].incomplete ? ";" : ":", lossy);
        fputs(".</p>\n", out);
    }
    if (!any)
        fputs("<p>None.</p>\n", out);
}

int
comparisons_html(const struct comparison *comparisons,
                 const struct compare_set *sets, size_t set_count, bool runs,
                 FILE *out)
{
    struct page page = {.comparisons = comparisons, .sets = sets,
                        .set_count = set_count, .out = out};
    size_t i;

    page.cells = calloc(sets[0].cell_count + 1, sizeof(*page.cells));
    if (page.cells == NULL)
        return -1;
    for (i = 0; i < sets[0].cell_count; i++)
        page.cells[i] = &sets[0].cells[i];
    qsort(page.cells, sets[0].cell_count, sizeof(*page.cells),
          by_label_and_method);
    html_begin(out, "nfs-atime-test: comparison");
    html_contents(out);
    findings(&page);
    setting(&page);
    pictures(&page, runs);
    tables(&page);
    losses(&page);
    html_heading(out, "again", "Again");
    fputs("<pre>nfs-atime-test compare --format html", out);
    for (i = 0; i < set_count; i++) {
        fputc(' ', out);
        html_text(out, sets[i].name);
    }
    fputs(" &gt; compare.html</pre>\n", out);
    html_end(out);
    free(page.cells);
    return 0;
}
