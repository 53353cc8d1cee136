/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/correlation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct names {
    const char *list[CORRELATION_TERMS];
    size_t count;
};

struct table { /* rows of counts by term, and the times beside them */
    double *x, *y, *column;
    size_t rows;
};

static bool
takes_part(const struct run_cell *cell, size_t filesystem)
{
    return cell->filesystem == filesystem && cell->method != METHOD_NOEXEC &&
           cell_is_finished(cell);
}

/* The common procedures first, so that equal runs give equal orders; what
 * does not occur has no term. */
static void
choose_names(const struct run *run, const struct run_traffic *traffic,
             size_t filesystem, struct names *names)
{
    static const char *const common[] = {"SETATTR", "ACCESS", "GETATTR",
                                         "READ",    "LOOKUP", "OPEN",
                                         "CLOSE"};
    struct run_counts all = {0};
    size_t i, j;

    for (i = 0; i < run->cell_count; i++)
        if (takes_part(&run->cells[i], filesystem))
            for (j = 0; j < traffic->cells[i].calls.length; j++)
                run_counts_add(&all, traffic->cells[i].calls.items[j].name,
                               traffic->cells[i].calls.items[j].count);
    names->count = 0;
    for (i = 0; i < sizeof common / sizeof common[0]; i++)
        if (run_counts_get(&all, common[i]) > 0)
            names->list[names->count++] = common[i];
    run_counts_release(&all);
}

/* A name that is not common gets a term while there is room, then "others". */
static size_t
term_of(struct names *names, const char *name)
{
    size_t i;

    for (i = 0; i < names->count; i++)
        if (strcmp(names->list[i], name) == 0)
            return i;
    if (names->count == CORRELATION_TERMS)
        return CORRELATION_TERMS - 1;
    names->list[names->count] =
        names->count + 1 == CORRELATION_TERMS ? "others" : name;
    return names->count++;
}

static void
fill_cell(const struct run *run, const struct run_traffic *traffic,
          size_t index, struct names *names, struct table *execs,
          struct table *cells)
{
    const struct run_cell *cell = &run->cells[index];
    const double each = 1.0 / (double)cell->exec_count;
    double *of_cell = cells->x + cells->rows * CORRELATION_TERMS;
    const struct window_rpc *rpc;
    size_t position = 0, i;

    while ((rpc = cell_next_rpc(traffic, index, &position)) != NULL) {
        const size_t term = term_of(names, window_rpc_name(rpc));

        if (rpc->exec == NO_EXEC)
            continue;
        execs->x[(execs->rows + rpc->exec) * CORRELATION_TERMS + term] += 1;
        of_cell[term] += each;
    }
    for (i = 0; i < cell->exec_count; i++) {
        const double us = (double)exec_wall_ns(&cell->execs[i]) / 1000.0;

        execs->y[execs->rows + i] = us;
        cells->y[cells->rows] += us * each;
    }
    execs->rows += cell->exec_count;
    cells->rows++;
}

/* The first `terms` of CORRELATION_TERMS columns, without the unused ones. */
static void
narrow(struct table *table, size_t terms)
{
    size_t i;

    for (i = 0; i < table->rows; i++)
        memmove(table->x + i * terms, table->x + i * CORRELATION_TERMS,
                terms * sizeof(double));
}

static void
correlate(struct table *table, size_t terms, size_t term, double confidence,
          struct stat_correlation *pearson, struct stat_correlation *spearman)
{
    size_t i;

    for (i = 0; i < table->rows; i++)
        table->column[i] = table->x[i * terms + term];
    *pearson = stat_pearson(table->column, table->y, table->rows, confidence);
    *spearman =
        stat_spearman(table->column, table->y, table->rows, confidence);
}

static bool
latencies(const struct run *run, const struct run_traffic *traffic,
          size_t filesystem, const struct names *names,
          struct correlation *out)
{
    double *values;
    size_t i, term, total = 0;

    for (i = 0; i < run->cell_count; i++)
        if (takes_part(&run->cells[i], filesystem))
            total += traffic->cells[i].count;
    values = calloc(total + 1, sizeof(*values));
    for (term = 0; values != NULL && term < names->count; term++) {
        size_t n = 0;

        for (i = 0; i < run->cell_count; i++) {
            const struct window_rpc *rpc;
            size_t position = 0;

            if (!takes_part(&run->cells[i], filesystem))
                continue;
            while ((rpc = cell_next_rpc(traffic, i, &position)) != NULL)
                if (rpc->answered &&
                    strcmp(window_rpc_name(rpc), names->list[term]) == 0)
                    values[n++] =
                        (double)(rpc->reply_ns - rpc->call_ns) / 1000.0;
        }
        out->terms[term].latency = stat_summarise(values, n);
    }
    free(values);
    return values != NULL;
}

static bool
allocate(struct table *table, size_t rows)
{
    table->x = calloc(rows * CORRELATION_TERMS + 1, sizeof(double));
    table->y = calloc(rows + 1, sizeof(double));
    table->column = calloc(rows + 1, sizeof(double));
    return table->x != NULL && table->y != NULL && table->column != NULL;
}

static void
release(struct table *table)
{
    free(table->x);
    free(table->y);
    free(table->column);
}

static void
compute(struct table *execs, struct table *cells, const struct names *names,
        double confidence, struct correlation *out)
{
    size_t term, i;

    narrow(execs, names->count);
    narrow(cells, names->count);
    out->term_count = names->count;
    for (term = 0; term < names->count; term++) {
        struct correlation_term *one = &out->terms[term];
        double sum = 0;

        one->name = names->list[term];
        correlate(execs, names->count, term, confidence, &one->pearson,
                  &one->spearman);
        for (i = 0; i < execs->rows; i++)
            sum += execs->column[i];
        one->per_exec = execs->rows > 0 ? sum / (double)execs->rows : 0.0;
        correlate(cells, names->count, term, confidence, &one->cell_pearson,
                  &one->cell_spearman);
    }
    if (names->count == 0)
        return;
    out->execs = stat_regress(execs->y, execs->x, execs->rows, names->count,
                              confidence);
    out->cells = stat_regress(cells->y, cells->x, cells->rows, names->count,
                              confidence);
}

int
correlation_compute(const struct run *run, const struct run_traffic *traffic,
                    size_t filesystem, double confidence,
                    struct correlation *out)
{
    struct table execs = {0}, cells = {0};
    struct names names;
    size_t i, exec_rows = 0, cell_rows = 0;
    bool well;

    memset(out, 0, sizeof *out);
    for (i = 0; i < run->cell_count; i++) {
        if (!takes_part(&run->cells[i], filesystem))
            continue;
        exec_rows += run->cells[i].exec_count;
        cell_rows++;
    }
    choose_names(run, traffic, filesystem, &names);
    well = allocate(&execs, exec_rows) && allocate(&cells, cell_rows);
    for (i = 0; well && i < run->cell_count; i++)
        if (takes_part(&run->cells[i], filesystem))
            fill_cell(run, traffic, i, &names, &execs, &cells);
    if (well) {
        compute(&execs, &cells, &names, confidence, out);
        well = latencies(run, traffic, filesystem, &names, out);
    }
    release(&execs);
    release(&cells);
    return well ? 0 : -1;
}

void
correlation_free(struct correlation *correlation)
{
    stat_regression_free(&correlation->execs);
    stat_regression_free(&correlation->cells);
    memset(correlation, 0, sizeof *correlation);
}

const char *
correlation_group_names(const struct correlation *correlation,
                        const struct stat_regression *regression, size_t group,
                        char *text, size_t size)
{
    size_t i, used = 0;

    text[0] = '\0';
    for (i = 0; i < correlation->term_count && i < regression->terms; i++)
        if (regression->term[i].group == group && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     used > 0 ? ", " : "",
                                     correlation->terms[i].name);
    return text;
}

struct stat_summary
wire_null_calls(const struct run *run, const struct run_traffic *traffic,
                size_t filesystem)
{
    const char *version = run->filesystems[filesystem].version;
    const uint32_t number =
        version != NULL ? (uint32_t)(version[0] - '0') : 0;
    double *values = calloc(traffic->rpc_count + 1, sizeof(*values));
    struct stat_summary summary;
    size_t i, n = 0;

    for (i = 0; values != NULL && i < traffic->rpc_count; i++) {
        const struct window_rpc *rpc = &traffic->rpcs[i];

        if (rpc->owner == OWNER_SELF && rpc->answered &&
            rpc->program == SUNRPC_NFS && rpc->procedure == 0 &&
            rpc->version == number)
            values[n++] = (double)(rpc->reply_ns - rpc->call_ns) / 1000.0;
    }
    summary = stat_summarise(values, n);
    free(values);
    return summary;
}

double
ping_median_us(const struct run_filesystem *filesystem)
{
    const struct stat_summary summary = stat_summarise_ns(
        filesystem->ping_ns, filesystem->ping_count, 1e-3);

    return summary.n > 0 ? summary.median : 0.0;
}
