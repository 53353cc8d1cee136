/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * Each exec is reduced to a hash of its sequence of call names and to where
 * its RPCs are; sorting by hash brings equal sequences together, so that the
 * number of different sequences needs no bound. Text is made for the rows
 * that are printed only. The first and last execs of the cells are in the
 * rows like all others, and once more by themselves.
 */
#include "analysis/signatures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct one_exec {
    uint64_t hash;
    size_t cell, position; /* of its first RPC in the cell's walk */
    uint32_t exec, rpcs;
    double us;
};

/* FNV-1a, 64 bits; the final zero keeps names apart. */
static uint64_t
add_name(uint64_t hash, const char *name)
{
    do {
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    } while (*name++ != '\0');
    return hash;
}

static void
write_sequence(const struct run_traffic *traffic, const struct one_exec *one,
               char *text, size_t size)
{
    size_t position = one->position, used = 0;
    const struct window_rpc *rpc = cell_next_rpc(traffic, one->cell, &position);

    snprintf(text, size, "%s", "no RPC");
    while (rpc != NULL && rpc->exec == one->exec) {
        const char *name = window_rpc_name(rpc);
        char word[48];
        unsigned times = 0;
        int length;

        while (rpc != NULL && rpc->exec == one->exec &&
               strcmp(window_rpc_name(rpc), name) == 0) {
            times++;
            rpc = cell_next_rpc(traffic, one->cell, &position);
        }
        length = times == 1 ? snprintf(word, sizeof word, "%s", name)
                            : snprintf(word, sizeof word, "%s x%u", name,
                                       times);
        if (length < 0 || used + (size_t)length + 5 >= size) {
            snprintf(text + used, size - used, " ...");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used > 0 ? " " : "", word);
    }
}

/* The execs of one cell; returns how many. */
static size_t
read_cell(const struct run *run, const struct run_traffic *traffic,
          size_t index, struct one_exec *list)
{
    const struct run_cell *cell = &run->cells[index];
    size_t position = 0, before = 0, i;
    const struct window_rpc *rpc = cell_next_rpc(traffic, index, &position);

    for (i = 0; i < cell->exec_count; i++) {
        struct one_exec *one = &list[i];

        while (rpc != NULL && rpc->exec != i &&
               (rpc->exec == NO_EXEC || rpc->exec < i)) {
            before = position;
            rpc = cell_next_rpc(traffic, index, &position);
        }
        one->cell = index;
        one->exec = (uint32_t)i;
        one->position = before;
        one->rpcs = 0;
        one->hash = UINT64_C(0xcbf29ce484222325);
        one->us = (double)exec_wall_ns(&cell->execs[i]) / 1000.0;
        while (rpc != NULL && rpc->exec == i) {
            one->hash = add_name(one->hash, window_rpc_name(rpc));
            one->rpcs++;
            before = position;
            rpc = cell_next_rpc(traffic, index, &position);
        }
    }
    return cell->exec_count;
}

static int
by_hash(const void *left, const void *right)
{
    const struct one_exec *a = left, *b = right;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    return a->exec < b->exec ? -1 : a->exec > b->exec;
}

struct span { /* equal hashes in the sorted list */
    size_t first, count;
};

static int
by_count(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

static size_t
find_spans(const struct one_exec *list, size_t count, struct span *spans)
{
    size_t i, found = 0;

    for (i = 0; i < count; i++) {
        if (i == 0 || list[i].hash != list[i - 1].hash) {
            spans[found].first = i;
            spans[found++].count = 0;
        }
        spans[found - 1].count++;
    }
    if (found > 1)
        qsort(spans, found, sizeof(*spans), by_count);
    return found;
}

static struct stat_estimate
mean_of(const struct one_exec *list, size_t count, double confidence,
        double *scratch)
{
    struct stat_summary summary;
    size_t i;

    for (i = 0; i < count; i++)
        scratch[i] = list[i].us;
    summary = stat_summarise(scratch, count);
    return stat_mean(&summary, confidence);
}

static double
mean_rpcs(const struct one_exec *list, size_t count)
{
    double sum = 0;
    size_t i;

    for (i = 0; i < count; i++)
        sum += list[i].rpcs;
    return count > 0 ? sum / (double)count : 0.0;
}

static void
fill_rows(const struct run_traffic *traffic, const struct one_exec *list,
          const struct span *spans, double confidence, double *scratch,
          struct signatures *out)
{
    double rpcs = 0;
    size_t i, j, n = 0;

    for (i = 0; i < out->distinct; i++) {
        const struct one_exec *first = &list[spans[i].first];

        if (i < SIGNATURE_ROWS) {
            struct signature_row *row = &out->rows[out->row_count++];

            write_sequence(traffic, first, row->text, sizeof row->text);
            row->execs = spans[i].count;
            row->rpcs = first->rpcs;
            row->us = mean_of(first, spans[i].count, confidence, scratch);
        } else {
            out->others.execs += spans[i].count;
            rpcs += mean_rpcs(first, spans[i].count) * (double)spans[i].count;
        }
    }
    for (i = SIGNATURE_ROWS; i < out->distinct; i++)
        for (j = 0; j < spans[i].count; j++)
            scratch[n++] = list[spans[i].first + j].us;
    if (n > 0) {
        const struct stat_summary summary = stat_summarise(scratch, n);

        out->others.us = stat_mean(&summary, confidence);
        out->others.rpcs = rpcs / (double)n;
        snprintf(out->others.text, sizeof out->others.text,
                 "%zu other sequences", out->distinct - SIGNATURE_ROWS);
    }
}

/* Takes the first or last exec of each cell from the list in cell order. */
static void
fill_edge(const struct run_traffic *traffic, const struct one_exec *list,
          size_t count, bool last, double confidence, struct one_exec *edge,
          struct span *spans, double *scratch, struct signature_edge *out)
{
    size_t i, n = 0;

    for (i = 0; i < count; i++)
        if (last ? i + 1 == count || list[i + 1].cell != list[i].cell
                 : list[i].exec == 0)
            edge[n++] = list[i];
    out->execs = n;
    out->rpcs = mean_rpcs(edge, n);
    out->us = mean_of(edge, n, confidence, scratch);
    if (n == 0)
        return;
    qsort(edge, n, sizeof(*edge), by_hash);
    find_spans(edge, n, spans);
    out->same = spans[0].count;
    write_sequence(traffic, &edge[spans[0].first], out->text,
                   sizeof out->text);
}

int
signatures_compute(const struct run *run, const struct run_traffic *traffic,
                   size_t filesystem, enum run_method method,
                   double confidence, struct signatures *out)
{
    struct one_exec *list, *edge;
    struct span *spans;
    double *scratch;
    size_t i, total = 0, count = 0;

    memset(out, 0, sizeof *out);
    for (i = 0; i < run->cell_count; i++)
        if (run->cells[i].filesystem == filesystem &&
            run->cells[i].method == method &&
            cell_is_finished(&run->cells[i]))
            total += run->cells[i].exec_count;
    list = calloc(total + 1, sizeof(*list));
    edge = calloc(total + 1, sizeof(*edge));
    spans = calloc(total + 1, sizeof(*spans));
    scratch = calloc(total + 1, sizeof(*scratch));
    if (list == NULL || edge == NULL || spans == NULL || scratch == NULL)
        count = SIZE_MAX;
    for (i = 0; i < run->cell_count && count != SIZE_MAX; i++)
        if (run->cells[i].filesystem == filesystem &&
            run->cells[i].method == method &&
            cell_is_finished(&run->cells[i]))
            count += read_cell(run, traffic, i, list + count);
    if (count != SIZE_MAX && count > 0) {
        out->execs = count;
        fill_edge(traffic, list, count, false, confidence, edge, spans,
                  scratch, &out->first);
        fill_edge(traffic, list, count, true, confidence, edge, spans,
                  scratch, &out->last);
        qsort(list, count, sizeof(*list), by_hash);
        out->distinct = find_spans(list, count, spans);
        fill_rows(traffic, list, spans, confidence, scratch, out);
    }
    free(list);
    free(edge);
    free(spans);
    free(scratch);
    return count == SIZE_MAX ? -1 : 0;
}
