/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counts of a capture for a person: calls first, then what went wrong. */
#include "analysis/capture_report.h"
#include "analysis/escape.h"
#include "analysis/group_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* 12.3 us, 4.56 ms, 1.20 s: three digits that count. */
static const char *
duration_text(int64_t ns, char *text, size_t size)
{
    const double value = (double)ns;

    if (ns < 1000)
        snprintf(text, size, "%" PRId64 " ns", ns);
    else if (value < 1e6)
        snprintf(text, size, "%.*f us", value < 1e5 ? 1 : 0, value / 1e3);
    else if (value < 1e9)
        snprintf(text, size, "%.*f ms", value < 1e8 ? 2 : 0, value / 1e6);
    else
        snprintf(text, size, "%.2f s", value / 1e9);
    return text;
}

static void
duration_cell(FILE *out, const struct histogram *latency, int64_t ns)
{
    char text[32];

    fprintf(out, " %8s", latency == NULL || latency->count == 0
                             ? "-"
                             : duration_text(ns, text, sizeof text));
}

static void
row_name(const struct procedure_counts *row, char *text, size_t size)
{
    const char *program = rpc_program_name(row->program);
    const char *name =
        row->by_main
            ? nfs4_operation_name(row->number, row->callback)
            : rpc_procedure_name(row->program, row->version, row->number);
    char number[24], unknown[20];

    snprintf(number, sizeof number, "procedure %" PRIu32, row->number);
    snprintf(unknown, sizeof unknown, "program %" PRIu32, row->program);
    if (row->by_main)
        snprintf(text, size, "    %s", name != NULL ? name : number);
    else if (row->program == SUNRPC_NFS && !row->callback)
        snprintf(text, size, "NFSv%" PRIu32 " %s", row->version,
                 name != NULL ? name : number);
    else
        snprintf(text, size, "%s %" PRIu32 " %s",
                 row->callback ? "NFS_CB" : program != NULL ? program : unknown,
                 row->version, name != NULL ? name : number);
}

static uint64_t
error_total(const struct error_counts *errors)
{
    uint64_t total = errors->other_errors;
    unsigned i;

    for (i = 0; i < errors->rows; i++)
        total += errors->row[i].count;
    return total;
}

static void
procedure_line(const struct procedure_counts *row, bool wide, FILE *out)
{
    const struct histogram *last = row->last;
    char name[64];

    row_name(row, name, sizeof name);
    fprintf(out, "%-27.27s %9" PRIu64, name, row->calls);
    if (wide)
        fprintf(out, " %9" PRIu64 " %8" PRIu64 " %8" PRIu64, row->replies,
                error_total(&row->errors) + row->rpc_errors,
                row->retransmissions);
    duration_cell(out, last, last != NULL ? last->min : 0);
    duration_cell(out, last,
                  last != NULL ? histogram_quantile(last, 0.5) : 0);
    if (wide)
        duration_cell(out, last,
                      last != NULL ? histogram_quantile(last, 0.95) : 0);
    duration_cell(out, last,
                  last != NULL ? histogram_quantile(last, 0.99) : 0);
    duration_cell(out, last, last != NULL ? last->max : 0);
    fputc('\n', out);
}

static void
procedure_table(struct rpc_counts *counts, bool wide, FILE *out)
{
    size_t n, i;
    const struct procedure_counts *const *rows =
        rpc_counts_procedures(counts, &n);

    if (n == 0)
        return;
    fprintf(out, "\n%-27s %9s", "RPC", "calls");
    if (wide)
        fprintf(out, " %9s %8s %8s", "replies", "errors", "resent");
    fprintf(out, " %8s %8s", "min", "median");
    if (wide)
        fprintf(out, " %8s", "p95");
    fprintf(out, " %8s %8s\n", "p99", "max");
    for (i = 0; i < n; i++)
        procedure_line(rows[i], wide, out);
}

static void
error_names(const struct error_counts *errors, uint32_t program,
            uint32_t version, FILE *out)
{
    unsigned i;

    for (i = 0; i < errors->rows; i++) {
        const uint32_t status = errors->row[i].status;
        const char *name = program == SUNRPC_MOUNT
                               ? mount_status_name(version, status)
                               : nfs_status_name(version, status);

        if (name != NULL)
            fprintf(out, "  %s %" PRIu64, name, errors->row[i].count);
        else
            fprintf(out, "  status %" PRIu32 " %" PRIu64, status,
                    errors->row[i].count);
    }
    if (errors->other_errors > 0)
        fprintf(out, "  others %" PRIu64, errors->other_errors);
}

static void
operation_table(struct rpc_counts *counts, FILE *out)
{
    size_t n, i;
    const struct operation_counts *rows = rpc_counts_operations(counts, &n);

    if (n == 0)
        return;
    fprintf(out, "\n%-27s %9s %9s  %s\n", "NFSv4 operation", "calls",
            "replies", "errors");
    for (i = 0; i < n; i++) {
        const char *name =
            nfs4_operation_name(rows[i].number, rows[i].callback);
        char text[64], number[24];

        snprintf(number, sizeof number, "operation %" PRIu32, rows[i].number);
        snprintf(text, sizeof text, "4.%" PRIu32 " %s", rows[i].minor_version,
                 name != NULL ? name : number);
        fprintf(out, "%-27s %9" PRIu64 " %9" PRIu64, text, rows[i].calls,
                rows[i].replies);
        error_names(&rows[i].errors, SUNRPC_NFS, 4, out);
        fputc('\n', out);
    }
}

static void
error_table(struct rpc_counts *counts, FILE *out)
{
    size_t n, i;
    const struct procedure_counts *const *rows =
        rpc_counts_procedures(counts, &n);
    bool any = false;

    for (i = 0; i < n; i++) {
        char name[64];

        if (rows[i]->by_main || error_total(&rows[i]->errors) == 0)
            continue;
        if (!any)
            fputs("\nErrors\n", out);
        any = true;
        row_name(rows[i], name, sizeof name);
        fprintf(out, "%-27s", name);
        error_names(&rows[i]->errors, rows[i]->program,
                    rows[i]->callback ? 4 : rows[i]->version, out);
        fputc('\n', out);
    }
}

static void
setattr_table(struct rpc_counts *counts, FILE *out)
{
    size_t n, i;
    const struct setattr_counts *rows = rpc_counts_setattrs(counts, &n);

    if (n > 0)
        fputs("\nSETATTR sets\n", out);
    for (i = 0; i < n; i++) {
        char text[128];

        fprintf(out, "%9" PRIu64 "  v%" PRIu32 "  %s", rows[i].calls,
                rows[i].version,
                setattr_text(&rows[i].what, text, sizeof text));
        if (rows[i].errors > 0)
            fprintf(out, "  (%" PRIu64 " refused)", rows[i].errors);
        fputc('\n', out);
    }
}

static void
access_table(struct rpc_counts *counts, FILE *out)
{
    size_t n, i;
    const struct access_counts *rows = rpc_counts_accesses(counts, &n);

    if (n > 0)
        fputs("\nACCESS asks -> granted\n", out);
    for (i = 0; i < n; i++) {
        char requested[160], granted[160];

        nfs_access_names(rows[i].requested, requested, sizeof requested);
        nfs_access_names(rows[i].granted, granted, sizeof granted);
        fprintf(out, "%9" PRIu64 "  %s -> %s", rows[i].calls, requested,
                !rows[i].answered         ? "?"
                : rows[i].granted == 0    ? "nothing"
                : rows[i].granted == rows[i].requested ? "all"
                                                       : granted);
        if (rows[i].redundant > 0)
            fprintf(out, "  (%" PRIu64 " redundant)", rows[i].redundant);
        fputc('\n', out);
    }
}

static void
input_lines(const struct capture_result *result, FILE *out)
{
    char limit[256];
    size_t i;

    for (i = 0; i < result->input_count; i++) {
        const struct capture_input *input = &result->inputs[i];
        char path[512], warning[1024];

        fprintf(out, "%s: %" PRIu64 " packets%s\n",
                escape_string(ESCAPE_TERMINAL, input->path, path,
                              sizeof path), input->packets,
                input->complete ? "" : ", incomplete");
        if (input->warning != NULL)
            fprintf(out, "  %s\n",
                    escape_string(ESCAPE_TERMINAL, input->warning, warning,
                                  sizeof warning));
    }
    if (capture_limit_text(result, limit, sizeof limit))
        fprintf(out, "%s\n", limit);
    if (result->packets.packets > 0)
        fprintf(out, "%" PRIu64 " calls and %" PRIu64 " replies in %.6f s\n",
                result->rpc.calls, result->rpc.replies,
                (double)(result->last_ns - result->first_ns) * 1e-9);
}

/* @return whether there was anything to say. */
static bool
loss_lines(const struct capture_result *result, FILE *out)
{
    struct named_loss losses[64];
    const size_t count = capture_losses(result, losses, 64);
    bool any = false, inconclusive = false;
    size_t i;

    for (i = 0; i < count; i++) {
        if (losses[i].count == 0)
            continue;
        if (!any)
            fputs("\nLost or odd\n", out);
        any = true;
        inconclusive = inconclusive || losses[i].changes_counts;
        fprintf(out, "%11" PRIu64 "  %s%s\n", losses[i].count, losses[i].text,
                losses[i].changes_counts ? " *" : "");
    }
    if (inconclusive)
        fputs("* the counts are lower bounds because of this.\n", out);
    return any;
}

void
capture_report_losses(const struct capture_report *report, FILE *out)
{
    const struct capture_result *result = report->result;
    char limit[256];
    size_t i;

    if (capture_limit_text(result, limit, sizeof limit))
        fprintf(out, "%s\n", limit);
    for (i = 0; i < result->input_count; i++) {
        char warning[1024];

        if (result->inputs[i].warning != NULL)
            fprintf(out, "%s\n",
                    escape_string(ESCAPE_TERMINAL, result->inputs[i].warning,
                                  warning, sizeof warning));
    }
    loss_lines(result, out);
}

static void
all_tables(const struct capture_report *report, unsigned width, FILE *out)
{
    input_lines(report->result, out);
    capture_report_nothing(report, out);
    procedure_table(report->counts, width == 0 || width >= 110, out);
    operation_table(report->counts, out);
    error_table(report->counts, out);
    setattr_table(report->counts, out);
    access_table(report->counts, out);
    if (report->groups != NULL)
        group_report_text(report->groups, report->names, width,
                          report->most_groups != 0 ? report->most_groups : 20,
                          out);
    if (!loss_lines(report->result, out))
        fputs("\nNothing was lost.\n", out);
}

/* Bytes of the text that go into that many columns: up to the last blank or
 * bar that does, else as much as does. */
static size_t
fitting(const char *text, size_t length, unsigned columns)
{
    size_t i, last = 0;
    unsigned column = 0;

    for (i = 0; i < length; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80 && column++ == columns)
            break;
        if (i > 0 && (text[i - 1] == ' ' || text[i - 1] == '|') &&
            text[i] != ' ')
            last = i;
    }
    return i == length || last == 0 ? i : last;
}

/* A line, broken to the width of the terminal; what follows the first part
 * stands 4 columns further in than that. */
static void
broken_line(const char *line, size_t length, unsigned width, FILE *out)
{
    unsigned indent = 0;
    size_t part;

    while (indent < length && line[indent] == ' ')
        indent++;
    part = indent + fitting(line + indent, length - indent, width - indent);
    indent += 4;
    for (;;) {
        size_t shown = part;

        while (shown > 0 && line[shown - 1] == ' ')
            shown--;
        fprintf(out, "%.*s\n", (int)shown, line);
        line += part;
        length -= part;
        if (length == 0)
            return;
        fprintf(out, "%*s", (int)indent, "");
        part = fitting(line, length, width - indent);
    }
}

void
capture_report_text(const struct capture_report *report, unsigned width,
                    FILE *out)
{
    char *text = NULL, *line, *end;
    size_t size;
    FILE *memory = width > 0 ? open_memstream(&text, &size) : NULL;

    if (memory == NULL) {
        all_tables(report, width, out);
        return;
    }
    width = width < 40 ? 40 : width;
    all_tables(report, width, memory);
    if (fclose(memory) == 0)
        for (line = text; (end = strchr(line, '\n')) != NULL; line = end + 1)
            broken_line(line, (size_t)(end - line), width, out);
    free(text);
}
