/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of a bench for a terminal or a mail. */
#include "analysis/bench_figures.h"
#include "analysis/bench_parts.h"
#include "analysis/escape.h"
#include "analysis/report_text_parts.h"
#include "analysis/sample_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN 9

static const char *
label_of(const struct bench_figures *figures, size_t filesystem, char *text,
         size_t size)
{
    return escape_string(ESCAPE_TERMINAL,
                         figures->run->filesystems[filesystem].label, text,
                         size);
}

/* --- RPCs ----------------------------------------------------------------- */

/* 1.000, 0 when it is none, and never 0.000 for something. */
static void
count_cell(FILE *out, double per_operation, bool at_least)
{
    char text[32];

    if (per_operation == 0.0 && !at_least)
        snprintf(text, sizeof text, "0");
    else if (per_operation > 0.0 && per_operation < 0.0005)
        snprintf(text, sizeof text, "<0.001");
    else
        snprintf(text, sizeof text, "%s%.3f", at_least ? ">=" : "",
                 per_operation);
    fprintf(out, "%*s", COLUMN, text);
}

static void
rpc_row(const struct bench_figures *figures, const struct bench_group *group,
        const char *const *names, size_t columns, FILE *out)
{
    const double each = group->operations > 0
                            ? 1.0 / (double)group->operations
                            : 0.0;
    char label[64];
    size_t i;

    fprintf(out, "%-9.9s %-11.11s",
            label_of(figures, group->filesystem, label, sizeof label),
            group->variant);
    if (!group->counted) {
        fputs("  not counted: no capture and no mountstats\n", out);
        return;
    }
    count_cell(out, (double)group->rpcs * each, group->lossy);
    for (i = 0; i < columns; i++)
        count_cell(out,
                   (double)run_counts_get(&group->counts, names[i]) * each,
                   group->lossy);
    count_cell(out, (double)bench_others(group, names, columns) * each,
               group->lossy);
    fprintf(out, " %10.0f %10.0f  %s\n", (double)group->sent * each,
            (double)group->received * each,
            group->from_wire ? "wire" : "mountstats");
}

static void
rpc_table(const struct bench_figures *figures, const char *unit, FILE *out)
{
    const char *names[BENCH_MOST_COLUMNS];
    const size_t columns = bench_columns(figures, names);
    size_t i;

    if (!run_has_nfs(figures->run)) {
        fputs("\nRPCs      none: no NFS file system in this run\n", out);
        return;
    }
    fprintf(out, "\nRPCs per %-12s%*s", unit, COLUMN, "RPCs");
    for (i = 0; i < columns; i++)
        fprintf(out, "%*.*s", COLUMN, COLUMN - 1, names[i]);
    fprintf(out, "%*s %10s %10s  counted by\n", COLUMN, "others", "bytes sent",
            "received");
    for (i = 0; i < figures->group_count; i++)
        if (figures->run->filesystems[figures->groups[i].filesystem].kind ==
            FILESYSTEM_NFS)
            rpc_row(figures, &figures->groups[i], names, columns, out);
}

/* --- self-exec ------------------------------------------------------------ */

static void
run_row(const struct bench_figures *figures, const struct run_cell *cell,
        bool first, FILE *out)
{
    uint64_t execs;
    double ns;
    char label[64];

    if (cell->series_count == 0)
        return;
    ns = bench_cell_ns(cell, &execs);
    fprintf(out, "%-9.9s run %-7u %12.3f s %12.2f us",
            first ? label_of(figures, cell->filesystem, label, sizeof label)
                  : "",
            cell->repetition + 1, ns * (double)execs * 1e-9, ns * 1e-3);
    if (cell->state != CELL_DONE)
        fprintf(out, "   cut short after %" PRIu64 " execs, not in the mean",
                execs);
    fputc('\n', out);
}

static void
mean_row(const struct bench_figures *figures, const struct bench_group *group,
         FILE *out)
{
    const double run = (double)figures->run->execs;

    if (!group->mean.has_value)
        return;
    fprintf(out, "%-9s mean        %12.3f s %12.2f us", "",
            group->mean.value * run * 1e-9, group->mean.value * 1e-3);
    if (group->mean.has_half)
        fprintf(out, "   +-%.3f s, +-%.2f us (%.4g %%, n %zu)",
                group->mean.half_width * run * 1e-9,
                group->mean.half_width * 1e-3, figures->confidence,
                group->cells);
    fputc('\n', out);
}

/* Over the first file system of the run. */
static void
over_row(const struct bench_figures *figures, const struct bench_group *group,
         FILE *out)
{
    const struct bench_group *first =
        bench_group_find(figures, 0, group->variant);
    struct stat_difference over;
    char label[64];

    if (first == NULL || first == group || first->cells == 0 ||
        group->cells == 0)
        return;
    over = stat_welch(&first->sample, &group->sample, figures->confidence);
    label_of(figures, 0, label, sizeof label);
    fprintf(out, "%-9s over %-9.9s", "", label);
    if (over.verdict == STAT_NONE_PROVEN || over.verdict == STAT_UNTESTABLE) {
        fprintf(out, "  %s\n", stat_verdict_name(over.verdict));
        return;
    }
    fprintf(out, "%23.2f us   +-%.2f us, %+.1f %%\n",
            over.absolute.value * 1e-3, over.absolute.half_width * 1e-3,
            over.percent.value);
}

/* The cells of one file system in order of runs, whatever the order in time.
 */
static void
self_exec_text(const struct bench_figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    size_t i, j;
    unsigned r;

    fprintf(out, "\nTime      of %u execs in a run %11s %15s\n", run->execs,
            "elapsed", "per exec");
    for (i = 0; i < figures->group_count; i++) {
        const struct bench_group *group = &figures->groups[i];

        for (r = 0; r < run->repetitions; r++)
            for (j = 0; j < run->cell_count; j++)
                if (run->cells[j].filesystem == group->filesystem &&
                    run->cells[j].repetition == r)
                    run_row(figures, &run->cells[j], r == 0, out);
        mean_row(figures, group, out);
        over_row(figures, group, out);
    }
    rpc_table(figures, "exec", out);
}

/* --- race ----------------------------------------------------------------- */

static void
race_text(const struct bench_figures *figures, FILE *out)
{
    size_t i, j;

    for (i = 0; i < figures->group_count; i++) {
        const struct bench_group *group = &figures->groups[i];
        uint64_t wrong = 0;
        char label[64];

        label_of(figures, group->filesystem, label, sizeof label);
        fprintf(out, "\nRace      %s: ", label);
        if (group->cells > 0)
            fprintf(out, "%" PRIu64 " execs in %.1f s, %.2f us each, while "
                    "threads read /proc/PID\n", group->operations,
                    group->mean.value * (double)group->operations * 1e-9,
                    group->mean.value * 1e-3);
        else
            fputs("not finished\n", out);
        for (j = 0; j < group->observations.length; j++) {
            const struct run_count *seen = &group->observations.items[j];

            fprintf(out, "          %-40s %14" PRIu64 "%s\n", seen->name,
                    seen->count,
                    bench_is_expected(seen->name) ? "" : "   wrong");
            wrong += bench_is_expected(seen->name) ? 0 : 1;
        }
        if (wrong == 0 && group->cells > 0)
            fputs("          nothing went wrong: what was read was whole, or "
                  "empty between two programs\n", out);
    }
}

/* --- header --------------------------------------------------------------- */

/* In the layout of 1997: a row per size, a column per way. */
static void
header_table(const struct bench_figures *figures, size_t filesystem,
             const char *state, enum bench_header_figure what, FILE *out)
{
    static const char *const units[] = {"  (ns)", "", ""};
    unsigned long sizes[BENCH_HEADER_SIZES];
    const size_t count = bench_header_sizes(figures, sizes);
    char text[48];
    size_t i, j;

    fprintf(out, "%-9s", "");
    for (j = 0; j < BENCH_HEADER_METHODS; j++)
        fprintf(out, "%24s", bench_header_methods[j]);
    fputc('\n', out);
    for (i = 0; i < count; i++) {
        fprintf(out, "%7lu: ", sizes[i]);
        for (j = 0; j < BENCH_HEADER_METHODS; j++)
            fprintf(out, "%24s",
                    bench_header_text(figures, filesystem,
                                      bench_header_methods[j], sizes[i],
                                      state, what, text, sizeof text));
        fprintf(out, "%s\n", i == 0 ? units[what] : "");
    }
}

/* Accesses that were to be cold and found a page in the cache. */
static void
still_cached(const struct bench_figures *figures, size_t filesystem, FILE *out)
{
    uint64_t cold, cached;

    bench_still_cached(figures, filesystem, &cold, &cached);
    if (cached > 0)
        fprintf(out, "          not cold: %" PRIu64 " of %" PRIu64
                " accesses found a page that the kernel had kept\n", cached,
                cold);
}

static void
header_text(const struct bench_figures *figures, FILE *out)
{
    static const char *const states[] = {"warm", "cold"};
    const struct run *run = figures->run;
    size_t i, s;

    for (i = 0; i < run->filesystem_count; i++)
        for (s = 0; s < 2; s++) {
            char label[64];

            label_of(figures, i, label, sizeof label);
            fprintf(out, "\n%-9.9s %s: ns per access, the median of %u runs "
                    "(with 6 or more, its %.4g %% interval)\n", label,
                    states[s], run->repetitions, figures->confidence);
            header_table(figures, i, states[s], BENCH_HEADER_TIME, out);
            if (s == 1)
                still_cached(figures, i, out);
            if (run->filesystems[i].kind != FILESYSTEM_NFS)
                continue;
            fprintf(out, "%-9.9s %s: READs per access\n", label, states[s]);
            header_table(figures, i, states[s], BENCH_HEADER_READS, out);
            if (s == 0)
                continue;
            fprintf(out, "%-9.9s %s: bytes received per access\n", label,
                    states[s]);
            header_table(figures, i, states[s], BENCH_HEADER_BYTES, out);
        }
}

/* --- prefault ------------------------------------------------------------- */

static void
part_rows(const struct bench_figures *figures,
          const struct bench_group *const *groups, FILE *out)
{
    size_t i, j;

    fputs("of the mean, in s:", out);
    for (j = 0; j < BENCH_PREFAULT_PARTS; j++)
        fprintf(out, "%12s", bench_prefault_parts[j]);
    fputc('\n', out);
    for (i = 0; i < 2; i++) {
        fprintf(out, "  %-16s", groups[i]->variant);
        for (j = 0; j < BENCH_PREFAULT_PARTS; j++)
            fprintf(out, "%12.6f",
                    bench_part_mean(figures, groups[i],
                                    bench_prefault_parts[j]));
        fputc('\n', out);
    }
}

static void
prefault_filesystem(const struct bench_figures *figures, size_t filesystem,
                    FILE *out)
{
    const struct sample_style style = {.confidence = figures->confidence,
                                       .t = STAT_T_EXACT};
    const struct bench_group *groups[2];
    struct sample samples[2] = {{0}};
    char label[64], names[2][96];
    double *seconds[2] = {NULL, NULL};
    bool complete = true;
    size_t i, j;

    label_of(figures, filesystem, label, sizeof label);
    for (i = 0; i < 2; i++) {
        groups[i] = bench_group_find(figures, filesystem,
                                     bench_prefault_variants[i]);
        complete = complete && groups[i] != NULL && groups[i]->cells > 0;
        if (!complete)
            break;
        seconds[i] = calloc(groups[i]->cells, sizeof(double));
        complete = seconds[i] != NULL;
        for (j = 0; complete && j < groups[i]->cells; j++)
            seconds[i][j] = groups[i]->ns[j] * 1e-9;
        snprintf(names[i], sizeof names[i], "%s %s", label,
                 bench_prefault_variants[i]);
        samples[i] = (struct sample){
            .name = names[i], .values = seconds[i],
            .length = groups[i]->cells,
            .summary = stat_summarise(seconds[i], groups[i]->cells)};
    }
    fprintf(out, "\n%s: seconds to write %" PRIu64 " bytes out of a mapped "
            "file\n", label, figures->run->bench_bytes);
    if (complete) {
        samples_print(samples, 2, &style, out);
        part_rows(figures, groups, out);
    } else {
        fputs("  too little was measured\n", out);
    }
    free(seconds[0]);
    free(seconds[1]);
}

/* --- all ------------------------------------------------------------------ */

static void
failed_cells(const struct run *run, FILE *out)
{
    size_t i;

    for (i = 0; i < run->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];
        char text[1024], error[768];

        if (cell->error == NULL)
            continue;
        snprintf(text, sizeof text, "%s %s, run %u: %s",
                 run->filesystems[cell->filesystem].label, cell->variant,
                 cell->repetition + 1,
                 escape_string(ESCAPE_TERMINAL, cell->error, error,
                               sizeof error));
        report_text_wrapped(out, "failed", text);
    }
}

void
bench_text(const struct bench_figures *figures, FILE *out)
{
    const struct run *run = figures->run;
    const struct figures shell = bench_shell(figures);
    char plan[512];
    size_t i;

    report_text_heading(&shell, out);
    report_text_wrapped(out, "plan", bench_plan(run, plan, sizeof plan));
    if (strcmp(run->bench, "header") == 0) {
        header_text(figures, out);
    } else if (strcmp(run->bench, "prefault") == 0) {
        for (i = 0; i < run->filesystem_count; i++)
            prefault_filesystem(figures, i, out);
        rpc_table(figures, "file", out);
    } else if (bench_is_race(run)) {
        race_text(figures, out);
    } else {
        self_exec_text(figures, out);
    }
    failed_cells(run, out);
    report_text_closing(&shell, out);
}
