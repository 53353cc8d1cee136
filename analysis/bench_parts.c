/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/bench_parts.h"

#include "analysis/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct figures
bench_shell(const struct bench_figures *figures)
{
    return (struct figures){
        .run = figures->run,
        .traffic = figures->traffic,
        .confidence = figures->confidence,
        .cells_done = figures->cells_done,
        .cells_planned = figures->cells_planned,
        .cells_compared = figures->cells_compared,
        .cells_agree = figures->cells_agree,
        .counts_complete = figures->counts_complete,
    };
}

bool
bench_is_race(const struct run *run)
{
    return run->cell_count > 0 && strcmp(run->cells[0].variant, "race") == 0;
}

const char *
bench_plan(const struct run *run, char *text, size_t size)
{
    char program[128];

    escape_string(ESCAPE_TERMINAL, run->program, program, sizeof program);
    if (strcmp(run->bench, "self-exec") == 0)
        snprintf(text, size, "a program of %" PRIu64 " bytes that "
                 "execs itself; %zu file system%s x %u run%s, interleaved "
                 "(seed %" PRIu64 ")", run->program_bytes,
                 run->filesystem_count, run->filesystem_count == 1 ? "" : "s",
                 run->repetitions, run->repetitions == 1 ? "" : "s",
                 run->seed);
    else
        snprintf(text, size, "bench %s; %zu file system%s x %u run%s, "
                 "interleaved (seed %" PRIu64 "); program %s, %" PRIu64
                 " bytes", run->bench, run->filesystem_count,
                 run->filesystem_count == 1 ? "" : "s", run->repetitions,
                 run->repetitions == 1 ? "" : "s", run->seed, program,
                 run->program_bytes);
    return text;
}

size_t
bench_columns(const struct bench_figures *figures, const char **names)
{
    struct run_counts all = {0};
    size_t count = 0, i, j;

    for (i = 0; i < figures->group_count; i++)
        for (j = 0; j < figures->groups[i].counts.length; j++)
            run_counts_add(&all, figures->groups[i].counts.items[j].name,
                           figures->groups[i].counts.items[j].count);
    while (count < BENCH_MOST_COLUMNS) {
        const struct run_count *best = NULL;

        for (i = 0; i < all.length; i++)
            if (all.items[i].count > 0 && (best == NULL ||
                                           all.items[i].count > best->count) &&
                !operation_is_scaffolding(all.items[i].name))
                best = &all.items[i];
        if (best == NULL)
            break;
        for (i = 0; i < figures->group_count; i++)
            for (j = 0; j < figures->groups[i].counts.length; j++)
                if (strcmp(figures->groups[i].counts.items[j].name,
                           best->name) == 0)
                    names[count] = figures->groups[i].counts.items[j].name;
        count++;
        all.items[best - all.items].count = 0;
    }
    run_counts_release(&all);
    return count;
}

uint64_t
bench_others(const struct bench_group *group, const char *const *names,
             size_t columns)
{
    uint64_t others = 0;
    size_t i, j;

    for (i = 0; i < group->counts.length; i++) {
        const struct run_count *item = &group->counts.items[i];

        for (j = 0; j < columns && strcmp(names[j], item->name) != 0; j++)
            continue;
        if (j == columns && !operation_is_scaffolding(item->name))
            others += item->count;
    }
    return others;
}

bool
bench_is_expected(const char *name)
{
    static const char *const names[] = {": reads", ": bytes", ": empty",
                                        ": no memory lines"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strstr(name, names[i]) != NULL)
            return true;
    return strncmp(name, "the program lived", 17) == 0;
}

const char *const bench_header_methods[BENCH_HEADER_METHODS] = {
    "mmap", "read", "pread", "malloc+read"};

const char *
bench_header_state(const char *state)
{
    return strcmp(state, "warm") == 0 ? "from the page cache"
                                      : "past the page cache";
}

const struct bench_group *
bench_header_group(const struct bench_figures *figures, size_t filesystem,
                   const char *method, unsigned long size, const char *state)
{
    char variant[64];

    snprintf(variant, sizeof variant, "%s/%lu/%s", method, size, state);
    return bench_group_find(figures, filesystem, variant);
}

size_t
bench_header_sizes(const struct bench_figures *figures, unsigned long *sizes)
{
    size_t count = 0, i, j, k;

    for (i = 0; i < figures->group_count; i++) {
        const char *slash = strchr(figures->groups[i].variant, '/');
        const unsigned long size =
            slash != NULL ? strtoul(slash + 1, NULL, 10) : 0;

        for (j = 0; j < count && sizes[j] < size; j++)
            continue;
        if (count == BENCH_HEADER_SIZES || (j < count && sizes[j] == size))
            continue;
        for (k = count++; k > j; k--)
            sizes[k] = sizes[k - 1];
        sizes[j] = size;
    }
    return count;
}

const char *
bench_header_text(const struct bench_figures *figures, size_t filesystem,
                  const char *method, unsigned long size, const char *state,
                  enum bench_header_figure what, char *text, size_t text_size)
{
    const struct bench_group *group =
        bench_header_group(figures, filesystem, method, size, state);

    if (group == NULL || group->cells == 0 ||
        (what != BENCH_HEADER_TIME && !group->counted))
        snprintf(text, text_size, "-");
    else if (what == BENCH_HEADER_READS)
        snprintf(text, text_size, "%s%.3f", group->lossy ? ">=" : "",
                 (double)run_counts_get(&group->counts, "READ") /
                     (double)group->operations);
    else if (what == BENCH_HEADER_BYTES)
        snprintf(text, text_size, "%.0f",
                 (double)group->received / (double)group->operations);
    else if (group->median.known)
        snprintf(text, text_size, "%.0f (%.0f-%.0f)", group->sample.median,
                 group->median.low, group->median.high);
    else
        snprintf(text, text_size, "%.0f", group->sample.median);
    return text;
}

void
bench_still_cached(const struct bench_figures *figures, size_t filesystem,
                   uint64_t *cold, uint64_t *cached)
{
    size_t i;

    *cold = *cached = 0;
    for (i = 0; i < figures->group_count; i++) {
        const struct bench_group *group = &figures->groups[i];

        if (group->filesystem != filesystem)
            continue;
        *cold += run_counts_get(&group->observations, "cold accesses");
        *cached +=
            run_counts_get(&group->observations, "of these still cached");
    }
}

const char *const bench_prefault_variants[2] = {"untouched", "touched"};
const char *const bench_prefault_parts[BENCH_PREFAULT_PARTS] = {
    "touch", "write", "close"};

double
bench_part_mean(const struct bench_figures *figures,
                const struct bench_group *group, const char *name)
{
    double total = 0.0;
    size_t n = 0, i, j;

    for (i = 0; i < figures->run->cell_count; i++) {
        const struct run_cell *cell = &figures->run->cells[i];

        if (cell->filesystem != group->filesystem ||
            strcmp(cell->variant, group->variant) != 0 ||
            !bench_cell_is_finished(cell))
            continue;
        for (j = 0; j < cell->series_count; j++)
            if (strcmp(cell->series[j].name, name) == 0 &&
                cell->series[j].length > 0) {
                total += (double)cell->series[j].ns[0] * 1e-9;
                n++;
            }
    }
    return n > 0 ? total / (double)n : 0.0;
}
