/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/html_page.h"
#include "analysis/report.h"

static void
findings(const struct figures *figures, FILE *out)
{
    size_t i;

    html_heading(out, "findings", "Findings");
    if (figures->finding_count == 0) {
        fputs("<p>None: too little was measured.</p>\n", out);
        return;
    }
    fputs("<ol class=\"findings\">\n", out);
    for (i = 0; i < figures->finding_count; i++) {
        fputs("<li>", out);
        html_text(out, figures->findings[i]);
        fputs("</li>\n", out);
    }
    fputs("</ol>\n", out);
}

static void
time_table(const struct figures *figures, FILE *out)
{
    size_t i;

    html_table_begin(out, "Time per exec, µs",
                     "<File system|<Method|mean|±|over none|±|execs");
    for (i = 0; i < figures->group_count; i++) {
        const struct group_figures *group = &figures->groups[i];

        html_row_begin(out);
        html_row_head(out, figures->run->filesystems[group->filesystem].label);
        html_cell(out, run_method_name(group->method));
        html_number(out, "%.1f", group->mean.value);
        html_number(out, "%.1f", group->mean.half_width);
        html_number(out, "%+.1f", group->over_none.absolute.value);
        html_number(out, "%.1f", group->over_none.absolute.half_width);
        html_number(out, "%llu", (unsigned long long)group->execs);
        html_row_end(out);
    }
    html_table_end(out);
}

int
report_html(const struct figures *figures, FILE *out)
{
    html_begin(out, "nfs-atime-test");
    findings(figures, out);
    html_heading(out, "tables", "Tables");
    time_table(figures, out);
    html_end(out);
    return 0;
}
