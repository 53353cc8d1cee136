/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/plan.h"

#include "client/nfs_probe.h"
#include "client/util.h"

/* Steele, Lea and Flood's SplitMix64: one word of state, any seed is good. */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 .. bound - 1, each as likely: what lies beyond the last whole multiple of
 * bound is drawn again. */
static size_t
random_below(uint64_t *state, size_t bound)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound, drawn;

    do
        drawn = next_random(state);
    while (drawn >= limit);
    return (size_t)(drawn % bound);
}

static void
plan_cell(struct run_cell *cell, size_t filesystem, enum run_method method,
          unsigned repetition)
{
    cell->filesystem = (unsigned)filesystem;
    cell->method = method;
    cell->repetition = repetition;
    cell->state = CELL_PENDING;
    cell->open_marker.back_monotonic_ns = RUN_UNKNOWN_NS;
    cell->close_marker.back_monotonic_ns = RUN_UNKNOWN_NS;
    run_attr_unknown(&cell->server_before);
    run_attr_unknown(&cell->server_after);
    run_attr_unknown(&cell->client_before);
    run_attr_unknown(&cell->client_after);
    run_attr_unknown(&cell->export_before);
    run_attr_unknown(&cell->export_after);
}

/* Fisher and Yates. */
static void
shuffle(struct run_cell *cells, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = random_below(state, i);
        struct run_cell swap = cells[i - 1];

        cells[i - 1] = cells[j];
        cells[j] = swap;
    }
}

/* One of methods and variants is NULL. */
static void
plan(struct run *run, const enum run_method *methods,
     const char *const *variants, size_t count)
{
    size_t round = run->filesystem_count * count;
    uint64_t state = run->seed;

    run->cell_count = round * run->repetitions;
    run->cells = need_memory(run->cell_count, sizeof(*run->cells));
    for (unsigned repetition = 0; repetition < run->repetitions;
         repetition++) {
        struct run_cell *cells = run->cells + repetition * round;

        for (size_t i = 0; i < round; i++) {
            plan_cell(&cells[i], i / count,
                      methods != NULL ? methods[i % count] : METHOD_NONE,
                      repetition);
            if (variants != NULL)
                cells[i].variant = copy_text(variants[i % count]);
        }
        shuffle(cells, round, &state);
    }
}

void
plan_cells(struct run *run, const enum run_method *methods,
           size_t method_count)
{
    plan(run, methods, NULL, method_count);
}

void
plan_variants(struct run *run, const char *const *variants,
              size_t variant_count)
{
    plan(run, NULL, variants, variant_count);
}
