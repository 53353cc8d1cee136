/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every cell of a run against the same of an older one. "Not slower than the
 * tolerance allows" holds unless the opposite is proven: a slowdown that is
 * there and not proven passes, since a gate that fails by chance is turned
 * off by the people it was made for.
 */
#include "analysis/expect.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    size_t item; /* index into the expectations */
    struct stat_difference over; /* the tolerated mean */
};

static const struct group_figures *
same_group(const struct figures *in, const struct figures *of,
           const struct group_figures *group)
{
    const char *label = of->run->filesystems[group->filesystem].label;
    size_t i;

    for (i = 0; i < in->run->filesystem_count; i++)
        if (strcmp(in->run->filesystems[i].label, label) == 0)
            return figures_group(in, i, group->method);
    return NULL;
}

static void
judge_pair(struct expectation *item, const struct group_figures *now,
           const struct group_figures *before, double confidence,
           double tolerance, struct stat_difference *over)
{
    struct stat_summary allowed = before->sample;

    allowed.mean *= 1 + tolerance / 100;
    allowed.stddev *= 1 + tolerance / 100;
    *over = stat_welch(&allowed, &now->sample, confidence);
    item->verdict = over->verdict == STAT_UNTESTABLE ? EXPECT_INCONCLUSIVE
                                                     : EXPECT_HOLDS;
    snprintf(item->reason, sizeof item->reason,
             over->verdict == STAT_UNTESTABLE
                 ? "%.1f us, was %.1f us, but without repetitions nothing is "
                   "proven"
                 : "%.1f us, was %.1f us (%+.1f %%)",
             now->mean.value, before->mean.value,
             before->mean.value > 0
                 ? 100 * (now->mean.value / before->mean.value - 1)
                 : 0.0);
}

/* Marks those whose slowdown is proven among all. */
static int
mark_proven(struct expectations *expectations, const struct pair *pairs,
            size_t n, double confidence)
{
    double *p = calloc(n + 1, sizeof(*p));
    bool *proven = calloc(n + 1, sizeof(*proven));
    size_t i;
    int result = -1;

    if (p != NULL && proven != NULL) {
        for (i = 0; i < n; i++)
            p[i] = pairs[i].over.verdict != STAT_UNTESTABLE &&
                           pairs[i].over.absolute.value > 0
                       ? pairs[i].over.p
                       : 1;
        result = stat_holm(p, n, confidence, proven);
    }
    for (i = 0; result == 0 && i < n; i++)
        if (proven[i])
            expectations->items[pairs[i].item].verdict = EXPECT_FAILS;
    free(p);
    free(proven);
    return result;
}

static int
judge_all(struct expectations *expectations, const struct figures *figures,
          const struct figures *old)
{
    struct pair *pairs = calloc(figures->group_count + 1, sizeof(*pairs));
    size_t i, n = 0;
    int result = pairs == NULL ? -1 : 0;

    for (i = 0; result == 0 && i < figures->group_count; i++) {
        const struct group_figures *now = &figures->groups[i];
        const struct group_figures *before = same_group(old, figures, now);
        struct expectation *item;
        char text[320];

        snprintf(text, sizeof text, "%s %s time at most %.4g %% over the "
                 "baseline's", figures->run->filesystems[now->filesystem].label,
                 run_method_name(now->method), expectations->tolerance);
        item = expect_append(expectations, text);
        if (item == NULL) {
            result = -1;
        } else if (now->cells == 0 || before == NULL || before->cells == 0) {
            item->verdict = EXPECT_INCONCLUSIVE;
            snprintf(item->reason, sizeof item->reason, "%s",
                     now->cells == 0 ? "it has no finished cell"
                                     : "the baseline has no such cell");
        } else {
            judge_pair(item, now, before, figures->confidence,
                       expectations->tolerance, &pairs[n].over);
            pairs[n++].item = expectations->length - 1;
        }
    }
    if (result == 0)
        result = mark_proven(expectations, pairs, n, figures->confidence);
    free(pairs);
    return result;
}

int
expect_judge_baseline(struct expectations *expectations,
                      const struct figures *figures, char *error,
                      size_t error_size)
{
    struct run_traffic traffic;
    struct figures old;
    struct run run;
    size_t i;
    int result = -1;

    if (run_read(expectations->baseline, &run, error, error_size) != 0)
        return -1;
    /* Times need no capture. */
    for (i = 0; i < run.filesystem_count; i++)
        run.filesystems[i].wire_shows_all = false;
    memset(&old, 0, sizeof old);
    memset(&traffic, 0, sizeof traffic);
    traffic.cells = calloc(run.cell_count + 1, sizeof(*traffic.cells));
    traffic.cell_count = run.cell_count;
    if (traffic.cells != NULL &&
        figures_compute(&run, &traffic, figures->confidence, &old) == 0)
        result = judge_all(expectations, figures, &old);
    if (result != 0)
        snprintf(error, error_size, "out of memory");
    figures_free(&old);
    run_traffic_free(&traffic);
    run_free(&run);
    return result;
}
