/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The raw runs, a line each, as time(1) prints them: nothing is computed but
 * the sums of a cell. The layout is that of raw_runs.h, which reads it back:
 * every line is a run of as many execs as the file says. */
#include "analysis/escape.h"
#include "analysis/exec_window.h"
#include "analysis/report.h"

#include <string.h>

static const char *
method_number(enum run_method method)
{
    switch (method) {
    case METHOD_NONE:
        return "-1";
    case METHOD_SETATTR:
        return "1";
    case METHOD_READ:
        return "2";
    case METHOD_OPEN_READ:
        return "3";
    default:
        return run_method_name(method);
    }
}

/* A word of a heading: no blanks in it, and no '#', which begins a comment. */
static void
word(const char *text, FILE *out)
{
    char safe[512];
    const char *c;

    escape_string(ESCAPE_TERMINAL, text, safe, sizeof safe);
    for (c = safe; *c != '\0'; c++)
        fputc(strchr(" \t#", *c) != NULL ? '_' : *c, out);
}

static bool
is_run(const struct run *run, const struct run_cell *cell)
{
    return cell_is_finished(cell) && cell->exec_count == run->execs;
}

static void
cell_line(const struct run_cell *cell, FILE *out)
{
    const double real =
        (double)(cell->execs[cell->exec_count - 1].end_ns -
                 cell->execs[0].start_ns) * 1e-9;

    fprintf(out, "    %12.6f real %12.6f user %12.6f sys\n", real,
            (double)(cell->user_ns == RUN_UNKNOWN_NS ? 0 : cell->user_ns) *
                1e-9,
            (double)(cell->system_ns == RUN_UNKNOWN_NS ? 0 : cell->system_ns) *
                1e-9);
}

/* In comments: cells of which something is there, but not all. */
static void
left_out(const struct run *run, FILE *out)
{
    size_t i;

    for (i = 0; i < run->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];

        if (cell->exec_count == 0 || is_run(run, cell))
            continue;
        fputs("# left out: ", out);
        word(run->filesystems[cell->filesystem].label, out);
        fprintf(out, " %s, %zu of %u execs\n", run_method_name(cell->method),
                cell->exec_count, run->execs);
    }
}

void
report_time(const struct run *run, FILE *out)
{
    size_t i, j;
    unsigned method;

    fprintf(out, "execs %u\n", run->execs);
    for (i = 0; i < run->filesystem_count; i++) {
        const char *label = run->filesystems[i].label;
        bool heading = false;

        for (method = 0; method < METHOD_COUNT; method++) {
            bool any = false;

            for (j = 0; j < run->cell_count; j++) {
                const struct run_cell *cell = &run->cells[j];

                if (cell->filesystem != i || !is_run(run, cell) ||
                    cell->method != (enum run_method)method)
                    continue;
                if (method == METHOD_NOEXEC && !any) {
                    word(label, out);
                    fputc('-', out);
                    word(run->program, out);
                    fputs("-noexec\n", out);
                } else if (method != METHOD_NOEXEC && !heading) {
                    word(label, out);
                    fputs("-static-", out);
                    word(run->program, out);
                    fputc('\n', out);
                    heading = true;
                }
                if (method != METHOD_NOEXEC && !any)
                    fprintf(out, "    method %s\n",
                            method_number(cell->method));
                any = true;
                cell_line(cell, out);
            }
        }
        if (i + 1 < run->filesystem_count)
            fputc('\n', out);
    }
    left_out(run, out);
}
