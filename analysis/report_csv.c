/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One row per cell, for spreadsheets and data frames: RFC 4180, numbers as
 * integers of nanoseconds, an empty field for what is not known. */
#include "analysis/escape.h"
#include "analysis/report.h"

#include <inttypes.h>
#include <string.h>

static void
text_field(const char *text, FILE *out)
{
    if (text != NULL)
        escape_write(ESCAPE_CSV, text, strlen(text), out);
    fputc(',', out);
}

static void
ns_field(int64_t ns, FILE *out)
{
    if (ns != RUN_UNKNOWN_NS)
        fprintf(out, "%" PRId64, ns);
    fputc(',', out);
}

static void
cell_row(const struct figures *figures, size_t index, FILE *out)
{
    static const char *const states[] = {"done", "interrupted", "failed",
                                         "pending"};
    const struct run_cell *cell = &figures->run->cells[index];
    const struct cell_traffic *traffic = &figures->traffic->cells[index];
    const struct run_filesystem *filesystem =
        &figures->run->filesystems[cell->filesystem];
    const bool counted = filesystem->kind == FILESYSTEM_NFS &&
                         figures->traffic->any_capture;
    static const char *const operations[] = {"SETATTR", "ACCESS",  "GETATTR",
                                             "READ",    "LOOKUP",  "OPEN",
                                             "CLOSE"};
    size_t i;

    text_field(figures->run->id, out);
    text_field(filesystem->label, out);
    text_field(run_method_name(cell->method), out);
    fprintf(out, "%u,", cell->repetition + 1);
    text_field(states[cell->state], out);
    fprintf(out, "%zu,", cell->exec_count);
    ns_field(cell->exec_count > 0
                 ? cell->execs[cell->exec_count - 1].end_ns -
                       cell->execs[0].start_ns
                 : RUN_UNKNOWN_NS, out);
    ns_field(cell->user_ns, out);
    ns_field(cell->system_ns, out);
    if (counted)
        fprintf(out, "%" PRIu64, traffic->rpcs);
    fputc(',', out);
    for (i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (counted)
            fprintf(out, "%" PRIu64,
                    run_counts_get(&traffic->operations, operations[i]));
        fputc(',', out);
    }
    ns_field(cell->server_before.atime_ns, out);
    ns_field(cell->server_after.atime_ns, out);
    ns_field(cell->client_before.atime_ns, out);
    if (cell->client_after.atime_ns != RUN_UNKNOWN_NS)
        fprintf(out, "%" PRId64, cell->client_after.atime_ns);
    fputs("\r\n", out);
}

void
report_csv(const struct figures *figures, FILE *out)
{
    size_t i;

    fputs("run,filesystem,method,repetition,state,execs,real_ns,user_ns,"
          "system_ns,rpcs,SETATTR,ACCESS,GETATTR,READ,LOOKUP,OPEN,CLOSE,"
          "server_atime_before_ns,server_atime_after_ns,"
          "client_atime_before_ns,client_atime_after_ns\r\n", out);
    for (i = 0; i < figures->run->cell_count; i++)
        cell_row(figures, i, out);
}
