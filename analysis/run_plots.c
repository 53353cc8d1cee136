/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/run_plots.h"

#include "analysis/html_page.h"

#include <stdlib.h>
#include <string.h>

unsigned
method_colour(enum run_method method)
{
    static const unsigned colours[] = {
        [METHOD_NOEXEC] = 8,    [METHOD_NONE] = 1, [METHOD_SETATTR] = 2,
        [METHOD_READ] = 3,      [METHOD_OPEN_READ] = 4,
        [METHOD_DIRECT_READ] = 5,
    };
    _Static_assert(sizeof colours / sizeof colours[0] == METHOD_COUNT,
                   "a colour per method");

    return colours[method];
}

unsigned
procedure_colour(const char *name)
{
    static const char *const names[] = {"GETATTR", "SETATTR", "READ",
                                        "ACCESS", "LOOKUP", "OPEN", "CLOSE"};
    unsigned i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return i + 1;
    return PLOT_SERIES_COUNT;
}

void
figure_begin(FILE *out, const char *id)
{
    fprintf(out, "<figure id=\"%s\">\n<div class=\"panels\">\n", id);
}

void
figure_caption(FILE *out, unsigned number, const char *title)
{
    fprintf(out, "</div>\n<figcaption><b>Figure %u. %s.</b> ", number, title);
}

void
figure_end(FILE *out)
{
    fputs("</figcaption>\n</figure>\n", out);
}

void
panel_begin(FILE *out, const char *heading)
{
    fputs("<div class=\"panel\">\n<p class=\"pt\">", out);
    html_text(out, heading);
    fputs("</p>\n", out);
}

void
panel_end(FILE *out, const struct plotter *plotter, bool drawn)
{
    if (!drawn) {
        fputs("<p class=\"note\">No picture: ", out);
        html_text(out, plotter->missing ? "gnuplot is not installed"
                                        : plotter->error);
        fputs("</p>\n", out);
    }
    fputs("</div>\n", out);
}

void
legend_begin(FILE *out)
{
    fputs("<ul class=\"legend\">\n", out);
}

void
legend_entry(FILE *out, unsigned colour, const char *text)
{
    fprintf(out, "<li><i class=\"k%u\"></i>", colour);
    html_text(out, text);
    fputs("</li>\n", out);
}

void
legend_end(FILE *out)
{
    fputs("</ul>\n", out);
}

void
legend_of_methods(const struct figures *figures, enum run_method first,
                  FILE *out)
{
    bool used[METHOD_COUNT] = {false};
    size_t i;

    for (i = 0; i < figures->group_count; i++)
        if (figures->groups[i].cells > 0)
            used[figures->groups[i].method] = true;
    legend_begin(out);
    for (i = first; i < METHOD_COUNT; i++)
        if (used[i])
            legend_entry(out, method_colour((enum run_method)i),
                         run_method_name((enum run_method)i));
    legend_end(out);
}

/* Columns of the longest name; the frames of a page's panels are alike where
 * their names are. */
static size_t
widest(const char *const *names, size_t count)
{
    size_t i, most = 11;

    for (i = 0; i < count; i++)
        if (strlen(names[i]) > most)
            most = strlen(names[i]);
    return most < 24 ? most : 24;
}

FILE *
rows_begin(struct plot *plot, struct plotter *plotter, unsigned height,
           const char *const *names, size_t count, const char *unit)
{
    size_t i;

    plot_begin(plot, plotter, PANEL_WIDTH, height);
    if (plot->script == NULL)
        return NULL;
    fputs("set border 0\nunset key\nunset grid\nset grid xtics linecolor rgb "
          PLOT_LINE " linetype 1 linewidth 0.5\nset ytics scale 0 (",
          plot->script);
    for (i = 0; i < count; i++) {
        char name[32];

        snprintf(name, sizeof name, "%.24s", names[i]);
        plot_text(plot, name);
        fprintf(plot->script, " %zu%s", count - i, i + 1 < count ? "," : "");
    }
    fprintf(plot->script, ") textcolor rgb " PLOT_INK "\nset yrange "
            "[0.4:%g]\nset xtics scale 0\nset lmargin %zu\n"
            "set rmargin 2\nset xlabel '%s'\n"
            "set style fill solid 1 noborder\n", (double)count + 0.6,
            widest(names, count), unit);
    return plot->script;
}

void
rows_bar(FILE *script, double height, double half, double from, double to)
{
    fprintf(script, "%.9g %.4f %.9g %.9g %.4f %.4f\n", (from + to) / 2,
            height, from, to, height - half, height + half);
}

double *
group_execs_sorted(const struct run *run, size_t filesystem,
                   enum run_method method, size_t *count)
{
    size_t i, j, n = 0;
    double *us;

    for (i = 0; i < run->cell_count; i++)
        if (run->cells[i].filesystem == filesystem &&
            run->cells[i].method == method && cell_is_finished(&run->cells[i]))
            n += run->cells[i].exec_count;
    *count = 0;
    us = n > 0 ? malloc(n * sizeof(*us)) : NULL;
    if (us == NULL)
        return NULL;
    for (i = 0; i < run->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];

        if (cell->filesystem != filesystem || cell->method != method ||
            !cell_is_finished(cell))
            continue;
        for (j = 0; j < cell->exec_count; j++)
            us[(*count)++] = (double)exec_wall_ns(&cell->execs[j]) * 1e-3;
    }
    stat_sort(us, *count);
    return us;
}

int64_t
run_first_ns(const struct run *run)
{
    int64_t first = 0;
    bool any = false;
    size_t i;

    for (i = 0; i < run->cell_count; i++) {
        if (run->cells[i].exec_count == 0)
            continue;
        if (!any || run->cells[i].execs[0].start_ns < first)
            first = run->cells[i].execs[0].start_ns;
        any = true;
    }
    return first;
}

double
run_length_s(const struct run *run)
{
    const int64_t first = run_first_ns(run);
    int64_t last = first;
    size_t i;

    for (i = 0; i < run->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];

        if (cell->exec_count > 0 &&
            cell->execs[cell->exec_count - 1].end_ns > last)
            last = cell->execs[cell->exec_count - 1].end_ns;
    }
    return (double)(last - first) * 1e-9;
}
