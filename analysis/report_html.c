/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of a run: what was found, in which setting, the pictures, the
 * tables behind them, what was lost, and how to make it again. */
#include "analysis/html_page.h"
#include "analysis/report.h"
#include "analysis/report_html_parts.h"
#include "analysis/run_plots.h"

#include <stdlib.h>
#include <string.h>

static void
sentences(const struct figures *figures, size_t from, size_t to, FILE *out)
{
    size_t i;

    fprintf(out, "<ol class=\"findings\" start=\"%zu\">\n", from + 1);
    for (i = from; i < to; i++) {
        fputs("<li>", out);
        html_text(out, figures->findings[i]);
        fputs("</li>\n", out);
    }
    fputs("</ol>\n", out);
}

/* What can be done without is folded away when it is more than a little. */
static void
findings(const struct figures *figures, FILE *out)
{
    const size_t all = figures->finding_count;
    size_t shown = figures->main_finding_count;

    html_heading(out, "findings", "Findings");
    if (all == 0) {
        fputs("<p>None: too little was measured.</p>\n", out);
        return;
    }
    if (shown == 0 || all < shown + 3)
        shown = all;
    sentences(figures, 0, shown, out);
    if (shown == all)
        return;
    fprintf(out, "<details><summary>%zu more: local file systems, exec alone, "
            "SETATTR against the ping</summary>\n", all - shown);
    sentences(figures, shown, all, out);
    fputs("</details>\n", out);
}

static int
pictures(struct run_plots *plots)
{
    FILE *out = plots->out;
    struct plotter *plotter = &plots->plotter;
    int result;

    html_heading(out, "pictures", "Pictures");
    plot_svg_shapes(out);
    plotter->missing = !plot_available();
    if (plotter->missing)
        fputs("<p class=\"note\">gnuplot is not installed: all pictures but "
              "figure 5 are missing; everything else is complete. Install it "
              "(on Debian the package gnuplot-nox) and make the report "
              "again.</p>\n", out);
    if (!plotter->missing && (run_plot_times(plots) != 0 ||
                              run_plot_counts(plots) != 0 ||
                              run_plot_relation(plots) != 0 ||
                              run_plot_distributions(plots) != 0))
        return -1;
    result = run_plot_ladders(plots);
    if (result == 0 && !plotter->missing)
        result = run_plot_atimes(plots) != 0 || run_plot_drift(plots) != 0
                     ? -1
                     : 0;
    return result;
}

int
report_html(const struct figures *figures, FILE *out)
{
    struct run_plots plots = {.figures = figures, .out = out};
    char title[256];
    int result;

    snprintf(title, sizeof title, "nfs-atime-test: run %s",
             figures->run->id != NULL ? figures->run->id : "?");
    html_begin(out, title);
    html_contents(out);
    html_reservations(figures, out);
    findings(figures, out);
    html_setting(figures, out);
    result = pictures(&plots);
    html_heading(out, "tables", "Tables");
    html_run_tables(figures, out);
    html_losses(figures, out);
    html_again(figures->run, out);
    html_end(out);
    return result;
}
