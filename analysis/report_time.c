/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The raw runs, a line each, as time(1) prints them: nothing is computed but
 * the sums of a cell. */
#include "analysis/report.h"

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

void
report_time(const struct run *run, FILE *out)
{
    size_t i, j;
    unsigned method;

    for (i = 0; i < run->filesystem_count; i++) {
        const char *label = run->filesystems[i].label;
        bool heading = false;

        for (method = 0; method < METHOD_COUNT; method++) {
            bool any = false;

            for (j = 0; j < run->cell_count; j++) {
                const struct run_cell *cell = &run->cells[j];

                if (cell->filesystem != i || cell->exec_count == 0 ||
                    cell->method != (enum run_method)method)
                    continue;
                if (method == METHOD_NOEXEC && !any) {
                    fprintf(out, "%s-%s-noexec\n", label, run->program);
                } else if (method != METHOD_NOEXEC && !heading) {
                    fprintf(out, "%s-static-%s\n", label, run->program);
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
}
