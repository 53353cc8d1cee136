/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/rtt_slope.h"

#include "analysis/correlation.h"
#include "analysis/escape.h"
#include "analysis/report_json_parts.h"

#include <stdlib.h>
#include <string.h>

/* Two pings closer than this are one round-trip time, measured twice. */
#define SAME_RTT 1.05

static bool
add_point(struct rtt_runs *runs, const struct rtt_point *point,
          const char *label)
{
    if (runs->count == runs->space) {
        const size_t space = runs->space == 0 ? 64 : 2 * runs->space;
        struct rtt_point *grown =
            realloc(runs->points, space * sizeof(*grown));

        if (grown == NULL)
            return false;
        runs->points = grown;
        runs->space = space;
    }
    runs->points[runs->count] = *point;
    runs->points[runs->count].filesystem = strdup(label);
    return runs->points[runs->count++].filesystem != NULL;
}

int
rtt_runs_add(struct rtt_runs *runs, const struct figures *figures)
{
    size_t i, cell;

    for (i = 0; i < figures->group_count; i++) {
        const struct group_figures *group = &figures->groups[i];
        const struct run_filesystem *filesystem =
            &figures->run->filesystems[group->filesystem];
        struct rtt_point point = {.method = group->method, .run = runs->runs};

        point.rtt_us = ping_median_us(filesystem);
        if (filesystem->kind != FILESYSTEM_NFS || point.rtt_us <= 0 ||
            filesystem->label == NULL)
            continue;
        for (cell = 0; cell < group->cells; cell++) {
            point.us = group->us_per_exec[cell];
            point.trips = cell < group->wait.cells
                              ? group->wait.trips_cells[cell]
                              : -1.0;
            if (!add_point(runs, &point, filesystem->label))
                return -1;
        }
    }
    runs->runs++;
    return 0;
}

void
rtt_runs_free(struct rtt_runs *runs)
{
    size_t i;

    for (i = 0; i < runs->count; i++)
        free(runs->points[i].filesystem);
    free(runs->points);
    memset(runs, 0, sizeof *runs);
}

static bool
same_row(const struct rtt_point *a, const struct rtt_point *b)
{
    return a->method == b->method && strcmp(a->filesystem, b->filesystem) == 0;
}

struct rows { /* of one slope */
    double *rtt, *us, *trips_time, *trips;
    size_t *run, count;
};

static void
take_rows(const struct rtt_runs *runs, size_t first, struct rows *rows,
          struct rtt_slope *slope)
{
    const struct rtt_point *leader = &runs->points[first];
    size_t i, last_run = SIZE_MAX;

    memset(slope, 0, sizeof *slope);
    slope->filesystem = leader->filesystem;
    slope->method = leader->method;
    slope->rtt_min_us = slope->rtt_max_us = leader->rtt_us;
    slope->counted_known = true;
    rows->count = 0;
    for (i = first; i < runs->count; i++) {
        const struct rtt_point *point = &runs->points[i];

        if (!same_row(leader, point))
            continue;
        slope->runs += point->run != last_run;
        last_run = point->run;
        if (point->rtt_us < slope->rtt_min_us)
            slope->rtt_min_us = point->rtt_us;
        if (point->rtt_us > slope->rtt_max_us)
            slope->rtt_max_us = point->rtt_us;
        if (point->trips < 0)
            slope->counted_known = false;
        rows->rtt[rows->count] = point->rtt_us;
        rows->us[rows->count] = point->us;
        rows->trips[rows->count] = point->trips;
        rows->run[rows->count] = point->run;
        rows->trips_time[rows->count++] = point->trips * point->rtt_us;
    }
    slope->cells = rows->count;
}

static void
count_range(const struct rows *rows, struct rtt_slope *slope)
{
    bool first = true;
    size_t i = 0;

    while (i < rows->count) {
        const size_t run = rows->run[i];
        double sum = 0, mean;
        size_t n = 0;

        for (; i < rows->count && rows->run[i] == run; i++, n++)
            sum += rows->trips[i];
        mean = sum / (double)n;
        if (first || mean < slope->counted_min)
            slope->counted_min = mean;
        if (first || mean > slope->counted_max)
            slope->counted_max = mean;
        first = false;
    }
}

static bool
fit_rows(const struct rows *rows, double confidence, struct rtt_slope *slope)
{
    struct stat_regression line =
        stat_regress(rows->us, rows->rtt, rows->count, 1, confidence);
    const bool known =
        line.known && line.term[0].state == STAT_TERM_ESTIMATED;

    if (known) {
        slope->slope = line.term[0].slope;
        slope->fixed = line.intercept;
        slope->r2 = line.has_r2 ? line.r2 : 0.0;
    }
    stat_regression_free(&line);
    if (known && slope->counted_known) {
        line = stat_regress(rows->trips_time, rows->rtt, rows->count, 1,
                            confidence);
        slope->counted_known =
            line.known && line.term[0].state == STAT_TERM_ESTIMATED;
        if (slope->counted_known)
            slope->counted = line.term[0].slope.value;
        stat_regression_free(&line);
        count_range(rows, slope);
    }
    return known;
}

int
rtt_slopes(const struct rtt_runs *runs, double confidence,
           struct rtt_slope **slopes)
{
    double *values = calloc(4 * runs->count + 1, sizeof(*values));
    struct rows rows = {.run = calloc(runs->count + 1, sizeof(size_t))};
    int found = 0;
    size_t i, j;

    *slopes = calloc(runs->count + 1, sizeof(**slopes));
    if (values == NULL || rows.run == NULL || *slopes == NULL)
        found = -1;
    rows.rtt = values;
    for (i = 0; found >= 0 && i < runs->count; i++) {
        struct rtt_slope *slope = &(*slopes)[found];

        rows.us = rows.rtt + runs->count;
        rows.trips_time = rows.us + runs->count;
        rows.trips = rows.trips_time + runs->count;
        for (j = 0; j < i && !same_row(&runs->points[j], &runs->points[i]);
             j++)
            ;
        if (j < i)
            continue;
        take_rows(runs, i, &rows, slope);
        if (slope->runs >= 2 &&
            slope->rtt_max_us > SAME_RTT * slope->rtt_min_us &&
            fit_rows(&rows, confidence, slope))
            found++;
    }
    free(values);
    free(rows.run);
    if (found < 0) {
        free(*slopes);
        *slopes = NULL;
    }
    return found;
}

void
rtt_slopes_text(const struct rtt_slope *slopes, size_t count,
                double confidence, FILE *out)
{
    size_t i;

    if (count == 0)
        return;
    fprintf(out, "\nRound trips that an exec waits for: us per exec over the "
            "ping's us, all runs (+- at %g %%)\n", confidence);
    fprintf(out, "%-21s%9s%8s%9s%12s%17s%10s%6s%7s  %s\n", "", "slope", "",
            "counted", "by run", "ping us", "at 0 us", "runs", "cells", "R2");
    for (i = 0; i < count; i++) {
        const struct rtt_slope *slope = &slopes[i];
        char label[64], half[24] = "", counted[24] = "-", range[32] = "-",
                        ping[32];

        escape_string(ESCAPE_TERMINAL,
                      i > 0 && strcmp(slope->filesystem,
                                      slopes[i - 1].filesystem) == 0
                          ? ""
                          : slope->filesystem, label, sizeof label);
        if (slope->slope.has_half)
            snprintf(half, sizeof half, "+-%.3f", slope->slope.half_width);
        if (slope->counted_known) {
            snprintf(counted, sizeof counted, "%.3f", slope->counted);
            snprintf(range, sizeof range, "%.2f..%.2f", slope->counted_min,
                     slope->counted_max);
        }
        snprintf(ping, sizeof ping, "%.0f..%.0f", slope->rtt_min_us,
                 slope->rtt_max_us);
        fprintf(out, "%-9.9s %-11s%9.3f%8s%9s%12s%17s%10.1f%6zu%7zu  %.4f\n",
                label, run_method_name(slope->method), slope->slope.value,
                half, counted, range, ping, slope->fixed.value, slope->runs,
                slope->cells, slope->r2);
    }
    fputs("counted: blocking RPCs of the captures, as the slope they would "
          "give; by run: their number per exec.\n", out);
}

int
rtt_slopes_json(const struct rtt_slope *slopes, size_t count, FILE *out)
{
    json_t *rows = json_array(), *root;
    int result;
    size_t i;

    for (i = 0; i < count; i++) {
        const struct rtt_slope *slope = &slopes[i];

        json_array_append_new(
            rows,
            json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:o, s:o, s:f, s:o}",
                      "filesystem", slope->filesystem, "method",
                      run_method_name(slope->method), "runs",
                      (json_int_t)slope->runs, "cells",
                      (json_int_t)slope->cells, "rtt_min_us",
                      slope->rtt_min_us, "rtt_max_us", slope->rtt_max_us,
                      "round_trips", report_json_estimate(&slope->slope),
                      "us_at_zero", report_json_estimate(&slope->fixed),
                      "r_squared", slope->r2, "round_trips_counted",
                      slope->counted_known ? json_real(slope->counted)
                                           : json_null()));
    }
    root = json_pack("{s:s, s:o}", "schema", "nfs-atime-test.rtt/1", "slopes",
                     rows);
    if (root == NULL)
        return -1;
    result = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    fputc('\n', out);
    json_decref(root);
    return result;
}
