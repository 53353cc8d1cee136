/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bench for other programs: JSON with the figures, CSV with every time. */
#include "analysis/bench_figures.h"
#include "analysis/escape.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static json_t *
text_value(const char *text)
{
    json_t *value = text != NULL ? json_string(text) : NULL;

    return value != NULL ? value : json_null();
}

static json_t *
number_value(bool known, double number)
{
    return known ? json_real(number) : json_null();
}

static json_t *
counts_value(const struct run_counts *counts)
{
    json_t *object = json_object();
    size_t i;

    for (i = 0; i < counts->length; i++)
        json_object_set_new(object, counts->items[i].name,
                            json_integer((json_int_t)counts->items[i].count));
    return object;
}

static json_t *
rpcs_value(const struct bench_group *group)
{
    if (!group->counted)
        return json_null();
    return json_pack("{s:s, s:b, s:I, s:I, s:I, s:o}", "counted_by",
                     group->from_wire ? "wire" : "mountstats", "lossy",
                     group->lossy, "rpcs", (json_int_t)group->rpcs,
                     "sent_bytes", (json_int_t)group->sent, "received_bytes",
                     (json_int_t)group->received, "operations",
                     counts_value(&group->counts));
}

static json_t *
group_value(const struct bench_figures *figures,
            const struct bench_group *group)
{
    const struct stat_summary *sample = &group->sample;
    const bool any = sample->n > 0;
    json_t *ns = json_array();
    size_t i;

    for (i = 0; i < group->cells; i++)
        json_array_append_new(ns, json_real(group->ns[i]));
    return json_pack(
        "{s:o, s:s, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o}",
        "filesystem",
        text_value(figures->run->filesystems[group->filesystem].label),
        "variant", group->variant, "runs", (int)group->cells, "operations",
        (json_int_t)group->operations, "ns_per_operation", ns, "mean_ns",
        number_value(group->mean.has_value, group->mean.value),
        "mean_half_width_ns",
        number_value(group->mean.has_half, group->mean.half_width), "stddev_ns",
        number_value(sample->has_stddev, sample->stddev), "min_ns",
        number_value(any, sample->min), "max_ns",
        number_value(any, sample->max), "median_ns",
        number_value(any, sample->median), "median_low_ns",
        number_value(group->median.known, group->median.low), "median_high_ns",
        number_value(group->median.known, group->median.high), "rpcs",
        rpcs_value(group), "observations", counts_value(&group->observations));
}

int
bench_json(const struct bench_figures *figures, FILE *out)
{
    static const char *const states[] = {"running", "complete", "interrupted",
                                         "failed"};
    const struct run *run = figures->run;
    json_t *groups = json_array(), *root;
    int result;
    size_t i;

    for (i = 0; i < figures->group_count; i++)
        json_array_append_new(groups,
                              group_value(figures, &figures->groups[i]));
    root = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:i, s:i, s:b, s:f, s:I, "
        "s:o}",
        "schema", "nfs-atime-test.bench/1", "bench", text_value(run->bench),
        "run", text_value(run->id), "tool_version",
        text_value(run->tool_version), "kernel", text_value(run->kernel),
        "clock", text_value(run->clock), "state", states[run->state],
        "state_reason", text_value(run->state_reason), "cells_planned",
        (int)figures->cells_planned, "cells_done", (int)figures->cells_done,
        "counts_complete", figures->counts_complete, "confidence",
        figures->confidence, "file_bytes", (json_int_t)run->bench_bytes,
        "groups", groups);
    if (root == NULL)
        return -1;
    result = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    fputc('\n', out);
    json_decref(root);
    return result;
}

static void
text_field(const char *text, FILE *out)
{
    if (text != NULL)
        escape_write(ESCAPE_CSV, text, strlen(text), out);
    fputc(',', out);
}

static void
cell_rows(const struct run *run, const struct run_cell *cell, FILE *out)
{
    static const char *const states[] = {"done", "interrupted", "failed",
                                         "pending"};
    size_t i, j;

    for (i = 0; i < cell->series_count; i++)
        for (j = 0; j < cell->series[i].length; j++) {
            text_field(run->id, out);
            text_field(run->bench, out);
            text_field(run->filesystems[cell->filesystem].label, out);
            text_field(cell->variant, out);
            fprintf(out, "%u,%s,", cell->repetition + 1, states[cell->state]);
            text_field(cell->series[i].name, out);
            fprintf(out, "%" PRIu64 ",%" PRId64 "\r\n",
                    cell->series[i].operations, cell->series[i].ns[j]);
        }
}

void
bench_csv(const struct bench_figures *figures, FILE *out)
{
    size_t i;

    fputs("run,bench,filesystem,variant,repetition,state,series,operations,"
          "ns\r\n", out);
    for (i = 0; i < figures->run->cell_count; i++)
        cell_rows(figures->run, &figures->run->cells[i], out);
}
