/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/bench_figures.h"

#include "analysis/bench_html.h"

#include <stdlib.h>
#include <string.h>

bool
bench_cell_is_finished(const struct run_cell *cell)
{
    return cell->state == CELL_DONE && cell->series_count > 0 &&
           cell->series[0].length > 0;
}

double
bench_cell_ns(const struct run_cell *cell, uint64_t *operations)
{
    const struct run_series *series = &cell->series[0];
    double total = 0.0;
    size_t i;

    for (i = 0; i < series->length; i++)
        total += (double)series->ns[i];
    *operations = series->operations * series->length;
    return total / (double)*operations;
}

const struct bench_group *
bench_group_find(const struct bench_figures *figures, size_t filesystem,
                 const char *variant)
{
    size_t i;

    for (i = 0; i < figures->group_count; i++)
        if (figures->groups[i].filesystem == filesystem &&
            strcmp(figures->groups[i].variant, variant) == 0)
            return &figures->groups[i];
    return NULL;
}

static void
merge(struct run_counts *into, const struct run_counts *from)
{
    size_t i;

    for (i = 0; i < from->length; i++)
        run_counts_add(into, from->items[i].name, from->items[i].count);
}

static uint64_t
sum(const struct run_counts *counts)
{
    uint64_t total = 0;
    size_t i;

    for (i = 0; i < counts->length; i++)
        total += counts->items[i].count;
    return total;
}

static void
add_counts(struct bench_figures *figures, struct bench_group *group,
           size_t index)
{
    const struct run *run = figures->run;
    const struct run_cell *cell = &run->cells[index];
    const struct cell_traffic *wire = &figures->traffic->cells[index];
    char text[256];

    group->from_wire = figures->traffic->any_capture &&
                       run->filesystems[cell->filesystem].wire_shows_all &&
                       run->filesystems[cell->filesystem].capture != NULL;
    if (group->from_wire) {
        group->rpcs += wire->rpcs;
        group->sent += wire->call_bytes;
        group->received += wire->reply_bytes;
        group->lossy = group->lossy || wire->lossy;
        merge(&group->counts, &wire->operations);
        if (cell->mountstats_known && !cell->mountstats_reset) {
            figures->cells_compared++;
            figures->cells_agree +=
                mountstats_agree(run, cell, wire, text, sizeof text);
        }
        return;
    }
    group->counted = group->counted && cell->mountstats_known &&
                     !cell->mountstats_reset;
    group->rpcs += sum(&cell->mountstats);
    group->sent += sum(&cell->mountstats_sent);
    group->received += sum(&cell->mountstats_received);
    merge(&group->counts, &cell->mountstats);
}

/* @return the new group, or NULL: out of memory. */
static struct bench_group *
add_group(struct bench_figures *figures, size_t filesystem,
          const char *variant)
{
    struct bench_group *group = &figures->groups[figures->group_count];

    memset(group, 0, sizeof *group);
    group->filesystem = filesystem;
    group->variant = variant;
    group->counted =
        figures->run->filesystems[filesystem].kind == FILESYSTEM_NFS;
    group->ns = calloc(figures->run->cell_count, sizeof(*group->ns));
    if (group->ns == NULL)
        return NULL;
    figures->group_count++;
    return group;
}

static int
finish_group(struct bench_group *group, double confidence)
{
    double *sorted = malloc((group->cells + 1) * sizeof(*sorted));

    if (sorted == NULL)
        return -1;
    memcpy(sorted, group->ns, group->cells * sizeof(*sorted));
    stat_sort(sorted, group->cells);
    group->sample = stat_summarise(group->ns, group->cells);
    group->mean = stat_mean(&group->sample, confidence);
    group->median = stat_median_interval(sorted, group->cells, confidence);
    group->counted = group->counted && group->cells > 0;
    free(sorted);
    return 0;
}

static int
compute_group(struct bench_figures *figures, size_t filesystem,
              const char *variant)
{
    const struct run *run = figures->run;
    struct bench_group *group = add_group(figures, filesystem, variant);
    size_t i;

    if (group == NULL)
        return -1;
    for (i = 0; i < run->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];
        uint64_t operations;

        if (cell->filesystem != filesystem || cell->variant == NULL ||
            strcmp(cell->variant, variant) != 0)
            continue;
        merge(&group->observations, &cell->observations);
        if (!bench_cell_is_finished(cell))
            continue;
        group->ns[group->cells++] = bench_cell_ns(cell, &operations);
        group->operations += operations;
        if (run->filesystems[filesystem].kind == FILESYSTEM_NFS)
            add_counts(figures, group, i);
    }
    return finish_group(group, figures->confidence);
}

static int
compare_groups(const void *left, const void *right)
{
    const struct bench_group *a = left, *b = right;

    if (a->filesystem != b->filesystem)
        return a->filesystem < b->filesystem ? -1 : 1;
    return strcmp(a->variant, b->variant);
}

int
bench_figures_compute(const struct run *run,
                      const struct run_traffic *traffic, double confidence,
                      struct bench_figures *figures)
{
    size_t i;

    memset(figures, 0, sizeof *figures);
    figures->run = run;
    figures->traffic = traffic;
    figures->confidence = confidence > 0 ? confidence : STAT_CONFIDENCE;
    figures->cells_planned = (unsigned)run->cell_count;
    figures->groups = calloc(run->cell_count + 1, sizeof(*figures->groups));
    if (figures->groups == NULL)
        return -1;
    for (i = 0; i < run->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];

        figures->cells_done += bench_cell_is_finished(cell);
        if (cell->variant != NULL &&
            bench_group_find(figures, cell->filesystem, cell->variant) ==
                NULL &&
            compute_group(figures, cell->filesystem, cell->variant) != 0)
            return -1;
    }
    qsort(figures->groups, figures->group_count, sizeof(*figures->groups),
          compare_groups);
    figures->counts_complete =
        run->capture_count == 0 || run_traffic_nothing_lost(run, traffic);
    return 0;
}

void
bench_figures_free(struct bench_figures *figures)
{
    size_t i;

    for (i = 0; i < figures->group_count; i++) {
        free(figures->groups[i].ns);
        run_counts_release(&figures->groups[i].counts);
        run_counts_release(&figures->groups[i].observations);
    }
    free(figures->groups);
    memset(figures, 0, sizeof *figures);
}

/* --- the report ----------------------------------------------------------- */

/* The text as a block of code. @return 0, or -1: out of memory. */
static int
markdown(const struct bench_figures *figures, FILE *out)
{
    char *text = NULL;
    size_t length;
    FILE *memory = open_memstream(&text, &length);

    if (memory == NULL)
        return -1;
    bench_text(figures, memory);
    if (fclose(memory) != 0) {
        free(text);
        return -1;
    }
    fprintf(out, "```\n%s```\n", text);
    free(text);
    return 0;
}

static int
write_format(const struct bench_figures *figures, enum report_format format,
             FILE *out)
{
    switch (format) {
    case REPORT_JSON:
        return bench_json(figures, out);
    case REPORT_CSV:
        bench_csv(figures, out);
        return 0;
    case REPORT_HTML:
        bench_html(figures, out);
        return 0;
    case REPORT_MARKDOWN:
        return markdown(figures, out);
    default:
        bench_text(figures, out);
        return 0;
    }
}

int
bench_report(const struct run *run, const struct run_traffic *traffic,
             double confidence, enum report_format format, FILE *out,
             char *error, size_t error_size)
{
    struct bench_figures figures;
    int result;

    if (format == REPORT_TIME) {
        snprintf(error, error_size, "a bench has no raw runs of time(1): text, "
                 "json, csv, markdown or html");
        return -1;
    }
    result = bench_figures_compute(run, traffic, confidence, &figures);
    if (result == 0)
        result = write_format(&figures, format, out);
    if (result != 0)
        snprintf(error, error_size, "the report could not be made: out of "
                 "memory or out of room");
    else if (run->state != RUN_COMPLETE ||
             figures.cells_done < figures.cells_planned ||
             !figures.counts_complete)
        result = 4;
    bench_figures_free(&figures);
    return result;
}
