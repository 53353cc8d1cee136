/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation. A set is built cell by cell: the first repetition of a
 * file system and method opens a cell, the next ones add to it. A count that
 * shows up late was 0 before, and one that stays away is 0, so all lists of a
 * cell have as many values as it has repetitions. Comparing pairs the cells
 * of two sets by label and method and makes one row per time and per count.
 */
#include "analysis/compare.h"

#include "analysis/bench_figures.h"
#include "analysis/exec_window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct compare_cell *
set_cell(struct compare_set *set, const char *label, const char *method)
{
    struct compare_cell *cell;

    for (size_t i = 0; i < set->cell_count; i++)
        if (!strcmp(set->cells[i].label, label) &&
            !strcmp(set->cells[i].method, method))
            return &set->cells[i];
    cell = realloc(set->cells, (set->cell_count + 1) * sizeof *cell);
    if (!cell)
        return NULL;
    set->cells = cell;
    cell += set->cell_count++;
    *cell = (struct compare_cell){.label = strdup(label),
                                  .method = strdup(method),
                                  .counted = true};
    return cell->label && cell->method ? cell : NULL;
}

static int
append(double **list, size_t length, double value)
{
    double *grown = realloc(*list, (length + 1) * sizeof *grown);

    if (!grown)
        return -1;
    *list = grown;
    grown[length] = value;
    return 0;
}

static struct compare_count *
cell_count(struct compare_cell *cell, const char *name)
{
    struct compare_count *count;

    for (size_t i = 0; i < cell->count_count; i++)
        if (!strcmp(cell->counts[i].name, name))
            return &cell->counts[i];
    count = realloc(cell->counts, (cell->count_count + 1) * sizeof *count);
    if (!count)
        return NULL;
    cell->counts = count;
    count += cell->count_count++;
    *count = (struct compare_count){
        .name = strdup(name),
        .per_exec = calloc(cell->n ? cell->n : 1, sizeof(double))};
    return count->name && count->per_exec ? count : NULL;
}

/* One more repetition: every count grows by a value, 0 where not named. */
static int
add_repetition(struct compare_cell *cell, double us,
               const struct run_counts *counts, double execs)
{
    for (size_t i = 0; i < cell->count_count; i++)
        if (append(&cell->counts[i].per_exec, cell->n, 0.0))
            return -1;
    if (append(&cell->us, cell->n, us))
        return -1;
    cell->n++;
    for (size_t i = 0; i < counts->length; i++) {
        struct compare_count *count = cell_count(cell, counts->items[i].name);

        if (!count)
            return -1;
        count->per_exec[cell->n - 1] +=
            (double)counts->items[i].count / execs;
    }
    return 0;
}

static bool
from_mountstats(void *context, const struct run *run, size_t index,
                struct run_counts *into, bool *lossy)
{
    const struct run_cell *cell = &run->cells[index];

    (void)context;
    *lossy = cell->mountstats_reset;
    for (size_t i = 0; i < cell->mountstats.length; i++)
        run_counts_add(into, cell->mountstats.items[i].name,
                       cell->mountstats.items[i].count);
    return cell->mountstats_known;
}

static int
add_run_cell(struct compare_set *set, const struct run *run, size_t index,
             compare_counter counter, void *context)
{
    const struct run_cell *from = &run->cells[index];
    double execs = (double)from->exec_count, us;
    uint64_t operations;
    struct run_counts counts = {0};
    struct compare_cell *cell;
    bool lossy = false;
    int status;

    if (from->variant != NULL) {
        us = bench_cell_ns(from, &operations) * 1e-3;
        execs = (double)operations;
    } else {
        us = (double)(from->execs[from->exec_count - 1].end_ns -
                      from->execs[0].start_ns) / execs / 1000.0;
    }
    cell = set_cell(set, run->filesystems[from->filesystem].label,
                    from->variant != NULL ? from->variant
                                          : run_method_name(from->method));
    if (!cell)
        return -1;
    cell->counted &= counter(context, run, index, &counts, &lossy);
    cell->lossy |= lossy;
    status = add_repetition(cell, us, &counts, execs);
    run_counts_release(&counts);
    return status;
}

static char *
copy_or_null(const char *text)
{
    return text ? strdup(text) : NULL;
}

int
compare_set_from_run(const struct run *run, const char *name,
                     compare_counter counter, void *context,
                     struct compare_set *set)
{
    *set = (struct compare_set){.name = strdup(name),
                                .kernel = copy_or_null(run->kernel),
                                .clock = copy_or_null(run->clock),
                                .bench = copy_or_null(run->bench),
                                .incomplete = run->state != RUN_COMPLETE};
    if (!set->name)
        return -1;
    for (size_t i = 0; i < run->cell_count; i++) {
        const struct run_cell *cell = &run->cells[i];

        if (cell->variant != NULL ? !bench_cell_is_finished(cell)
                                  : cell->state != CELL_DONE ||
                                        cell->exec_count == 0) {
            set->incomplete = true;
            continue;
        }
        if (add_run_cell(set, run, i, counter ? counter : from_mountstats,
                         context))
            return -1;
    }
    return 0;
}

int
compare_set_from_raw(const struct raw_runs *runs, const char *name,
                     struct compare_set *set)
{
    const struct run_counts none = {0};

    *set = (struct compare_set){.name = strdup(name)};
    if (!set->name)
        return -1;
    for (size_t i = 0; i < runs->group_count; i++) {
        const struct raw_group *group = &runs->groups[i];
        struct compare_cell *cell;
        char method[256];

        snprintf(method, sizeof method, "%s%s%s",
                 run_method_name(group->method), *group->setting ? "/" : "",
                 group->setting);
        cell = set_cell(set, group->label, method);
        if (!cell)
            return -1;
        cell->counted = false;
        for (size_t k = 0; k < group->runs; k++)
            if (add_repetition(cell,
                               group->real[k] * 1e6 / (double)runs->execs,
                               &none, 1.0))
                return -1;
    }
    return 0;
}

static bool
from_traffic(void *context, const struct run *run, size_t index,
             struct run_counts *into, bool *lossy)
{
    const struct run_traffic *traffic = context;
    const struct run_cell *cell = &run->cells[index];
    const struct run_counts *wire = &traffic->cells[index].operations;

    if (!traffic->any_capture ||
        !run->filesystems[cell->filesystem].wire_shows_all)
        return from_mountstats(NULL, run, index, into, lossy);
    *lossy = traffic->cells[index].lossy;
    for (size_t i = 0; i < wire->length; i++)
        run_counts_add(into, wire->items[i].name, wire->items[i].count);
    return true;
}

int
compare_set_read(const char *path, struct compare_set *set, char *error,
                 size_t error_size)
{
    struct run_traffic traffic = {0};
    struct run run = {0};
    int status;

    *set = (struct compare_set){0};
    if (run_read(path, &run, error, error_size) != 0)
        return -1;
    status = run_traffic_read(&run, NULL, 0, &traffic, error, error_size);
    if (status >= 0) {
        bool cut = status > 0;
        status = compare_set_from_run(&run, path, from_traffic, &traffic, set);
        set->incomplete |= cut;
        if (status < 0)
            snprintf(error, error_size, "%s: out of memory", path);
        else if (set->cell_count == 0) {
            snprintf(error, error_size,
                     "%s: no finished cell in this run: nothing to compare",
                     path);
            status = -1;
        }
    }
    run_traffic_free(&traffic);
    run_free(&run);
    return status < 0 ? -1 : 0;
}

void
compare_set_free(struct compare_set *set)
{
    for (size_t i = 0; i < set->cell_count; i++) {
        struct compare_cell *cell = &set->cells[i];

        for (size_t k = 0; k < cell->count_count; k++) {
            free(cell->counts[k].name);
            free(cell->counts[k].per_exec);
        }
        free(cell->counts);
        free(cell->label);
        free(cell->method);
        free(cell->us);
    }
    free(set->cells);
    free(set->name);
    free(set->kernel);
    free(set->clock);
    free(set->bench);
    *set = (struct compare_set){0};
}

static const struct compare_cell *
partner(const struct compare_set *set, const struct compare_cell *cell)
{
    for (size_t i = 0; i < set->cell_count; i++)
        if (!strcmp(set->cells[i].label, cell->label) &&
            !strcmp(set->cells[i].method, cell->method))
            return &set->cells[i];
    return NULL;
}

/* The values of a count, or of the time; zeros for a count not there. */
static double *
values_of(const struct compare_cell *cell, const char *count)
{
    double *copy = calloc(cell->n ? cell->n : 1, sizeof *copy);
    const double *from = count ? NULL : cell->us;

    for (size_t i = 0; count && i < cell->count_count; i++)
        if (!strcmp(cell->counts[i].name, count))
            from = cell->counts[i].per_exec;
    if (copy && from)
        memcpy(copy, from, cell->n * sizeof *copy);
    return copy;
}

static int
add_row(struct comparison *c, const struct compare_cell *first,
        const struct compare_cell *second, const char *count)
{
    struct compare_row *row =
        realloc(c->rows, (c->row_count + 1) * sizeof *row);
    const struct compare_cell *cell[2] = {first, second};

    if (!row)
        return -1;
    c->rows = row;
    row += c->row_count++;
    *row = (struct compare_row){
        .first = first, .second = second, .count = count};
    for (size_t i = 0; i < 2; i++) {
        struct sample *s = &row->sample[i];
        s->name = i ? c->second->name : c->first->name;
        s->length = cell[i]->n;
        s->values = values_of(cell[i], count);
        if (!s->values)
            return -1;
        s->summary = stat_summarise(s->values, s->length);
    }
    row->student = stat_student(&row->sample[0].summary,
                                &row->sample[1].summary, c->confidence,
                                STAT_T_EXACT);
    row->welch = stat_welch(&row->sample[0].summary, &row->sample[1].summary,
                            c->confidence);
    return 0;
}

static int
add_counts(struct comparison *c, const struct compare_cell *first,
           const struct compare_cell *second)
{
    if (!first->counted || !second->counted)
        return 0;
    for (size_t i = 0; i < first->count_count; i++)
        if (add_row(c, first, second, first->counts[i].name))
            return -1;
    for (size_t i = 0; i < second->count_count; i++) {
        bool known = false;

        for (size_t k = 0; k < first->count_count; k++)
            known |= !strcmp(first->counts[k].name, second->counts[i].name);
        if (!known && add_row(c, first, second, second->counts[i].name))
            return -1;
    }
    return 0;
}

/* Equal constants can claim nothing and do not count as tests. */
static bool
is_test(const struct stat_difference *d)
{
    return d->verdict != STAT_UNTESTABLE &&
           (d->absolute.half_width > 0.0 || d->absolute.value != 0.0);
}

static int
judge_together(struct comparison *c)
{
    double *p = calloc(c->row_count ? c->row_count : 1, sizeof *p);
    bool *proven = calloc(c->row_count ? c->row_count : 1, sizeof *proven);
    int status = -1;

    if (!p || !proven)
        goto out;
    for (size_t i = 0; i < c->row_count; i++)
        if (is_test(&c->rows[i].welch))
            p[c->tests++] = c->rows[i].welch.p;
    status = stat_holm(p, c->tests, c->confidence, proven);
    for (size_t i = 0, k = 0; i < c->row_count; i++) {
        const struct stat_difference *d = &c->rows[i].welch;

        if (!is_test(d))
            continue;
        c->rows[i].proven = proven[k++];
        c->proven += c->rows[i].proven;
        c->alone += d->verdict != STAT_NONE_PROVEN;
    }
out:
    free(p);
    free(proven);
    return status;
}

int
compare_sets(const struct compare_set *first, const struct compare_set *second,
             double confidence, struct comparison *c)
{
    size_t pairs = 0;

    *c = (struct comparison){
        .first = first, .second = second, .confidence = confidence};
    for (size_t i = 0; i < first->cell_count; i++) {
        const struct compare_cell *cell = &first->cells[i];
        const struct compare_cell *other = partner(second, cell);

        if (!other) {
            c->only_first++;
            continue;
        }
        pairs++;
        if (add_row(c, cell, other, NULL) || add_counts(c, cell, other))
            return -1;
    }
    c->only_second = second->cell_count - pairs;
    return judge_together(c);
}

void
comparison_free(struct comparison *c)
{
    for (size_t i = 0; i < c->row_count; i++)
        for (size_t k = 0; k < 2; k++)
            free((double *)c->rows[i].sample[k].values);
    free(c->rows);
    *c = (struct comparison){0};
}
