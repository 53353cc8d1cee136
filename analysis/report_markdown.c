/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two tables and the findings, for a mail or a tracker. */
#include "analysis/escape.h"
#include "analysis/findings.h"
#include "analysis/report.h"

#include <string.h>

/* A bar would end the cell and a backtick start code. */
static void
cell_text(const char *text, FILE *out)
{
    char safe[512];
    const char *c;

    escape_string(ESCAPE_TERMINAL, text, safe, sizeof safe);
    for (c = safe; *c != '\0'; c++) {
        if (strchr("|`*_<>[]\\", *c) != NULL)
            fputc('\\', out);
        fputc(*c, out);
    }
}

static void
time_row(const struct figures *figures, const struct group_figures *group,
         FILE *out)
{
    const struct stat_difference *over = &group->over_none;

    fputs("| ", out);
    cell_text(figures->run->filesystems[group->filesystem].label, out);
    fprintf(out, " | %s | ", run_method_name(group->method));
    if (group->mean.has_value)
        fprintf(out, "%.1f", group->mean.value);
    fputs(" | ", out);
    if (group->mean.has_half)
        fprintf(out, "%.1f", group->mean.half_width);
    fputs(" | ", out);
    if (over->verdict == STAT_NONE_PROVEN)
        fputs("none proven | |", out);
    else if (over->absolute.has_value && over->absolute.has_half)
        fprintf(out, "%+.1f ± %.1f | %+.1f %% |", over->absolute.value,
                over->absolute.half_width, over->percent.value);
    else
        fputs("| |", out);
    fprintf(out, " %.1f | %.1f |\n", group->user_us, group->system_us);
}

static void
count_row(const struct figures *figures, const struct group_figures *group,
          const char *const *names, size_t columns, FILE *out)
{
    const bool nfs = figures->run->filesystems[group->filesystem].kind ==
                     FILESYSTEM_NFS;
    char moved[64];
    size_t i;

    if (!nfs || group->execs == 0)
        return;
    fputs("| ", out);
    cell_text(figures->run->filesystems[group->filesystem].label, out);
    fprintf(out, " | %s | %.3f |", run_method_name(group->method),
            (double)group->rpcs / (double)group->execs);
    for (i = 0; i < columns; i++)
        fprintf(out, " %s%.3f |", group->cells_lossy > 0 ? "≥ " : "",
                group_per_exec(group, names[i], false));
    fprintf(out, " %.3f | %s |\n",
            group_others_per_exec(group, names, columns),
            atime_on_server_text(group, moved, sizeof moved));
}

void
report_markdown(const struct figures *figures, FILE *out)
{
    const char *names[8];
    const size_t columns = figures_columns(figures, names, 8);
    size_t i;

    fputs("Run ", out);
    cell_text(figures->run->id, out);
    fputs(", Linux ", out);
    cell_text(figures->run->kernel, out);
    fputs(", clock: ", out);
    cell_text(figures->run->clock, out);
    fprintf(out, ".\n\n| file system | method | us per exec | ± (%g %%) | "
            "over none, us | %% | user | system |\n"
            "|---|---|--:|--:|--:|--:|--:|--:|\n", figures->confidence);
    for (i = 0; i < figures->group_count; i++)
        time_row(figures, &figures->groups[i], out);
    fputs("\n| file system | method | RPCs |", out);
    for (i = 0; i < columns; i++)
        fprintf(out, " %s |", names[i]);
    fputs(" others | atime on the server |\n|---|---|--:|", out);
    for (i = 0; i < columns; i++)
        fputs("--:|", out);
    fputs("--:|---|\n", out);
    for (i = 0; i < figures->group_count; i++)
        count_row(figures, &figures->groups[i], names, columns, out);
    fputc('\n', out);
    for (i = 0; i < figures->finding_count; i++) {
        fprintf(out, "%zu. ", i + 1);
        cell_text(figures->findings[i], out);
        fputc('\n', out);
    }
}
