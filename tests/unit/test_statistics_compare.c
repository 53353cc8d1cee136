/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/compare.h"
#include "tests/unit/seeded_random.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define NEAR(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))
#define EXECS 100
#define REPETITIONS 5

/* nfs3 with none and setattr; a cell takes 100 execs of `us` + noise. */
static void
make_run(struct run *run, double us, double noise, uint64_t setattrs,
         uint64_t *seed)
{
    static const enum run_method methods[] = {METHOD_NONE, METHOD_SETATTR};

    *run = (struct run){.state = RUN_COMPLETE, .filesystem_count = 1};
    run->kernel = strdup("6.1.0\033[2J");
    run->filesystems = calloc(1, sizeof *run->filesystems);
    run->filesystems[0].label = strdup("nfs3");
    run->cell_count = 2 * REPETITIONS;
    run->cells = calloc(run->cell_count, sizeof *run->cells);
    for (size_t i = 0; i < run->cell_count; i++) {
        struct run_cell *cell = &run->cells[i];
        double each = us + noise * random_normal(seed);

        cell->method = methods[i % 2];
        cell->repetition = (unsigned)(i / 2);
        cell->exec_count = EXECS;
        cell->execs = calloc(EXECS, sizeof *cell->execs);
        cell->execs[EXECS - 1].end_ns = (int64_t)(each * EXECS * 1000.0);
        cell->mountstats_known = true;
        run_counts_add(&cell->mountstats, "GETATTR", EXECS);
        if (i % 2)
            run_counts_add(&cell->mountstats, "SETATTR", setattrs);
    }
}

static const struct compare_row *
find_row(const struct comparison *c, const char *method, const char *count)
{
    for (size_t i = 0; i < c->row_count; i++)
        if (!strcmp(c->rows[i].first->method, method) &&
            (count ? c->rows[i].count && !strcmp(c->rows[i].count, count)
                   : !c->rows[i].count))
            return &c->rows[i];
    fail_msg("no row %s %s", method, count ? count : "us");
    return NULL;
}

struct pair {
    struct compare_set set[2];
    struct comparison result;
};

static void
make_pair(struct pair *pair, double us, double noise, uint64_t setattrs,
          uint64_t *seed)
{
    struct run run;

    make_run(&run, 500, noise, EXECS, seed);
    assert_int_equal(
        compare_set_from_run(&run, "a", NULL, NULL, &pair->set[0]), 0);
    run_free(&run);
    make_run(&run, us, noise, setattrs, seed);
    assert_int_equal(
        compare_set_from_run(&run, "b", NULL, NULL, &pair->set[1]), 0);
    run_free(&run);
    assert_int_equal(compare_sets(&pair->set[0], &pair->set[1], 95.0,
                                  &pair->result),
                     0);
}

static void
free_pair(struct pair *pair)
{
    comparison_free(&pair->result);
    compare_set_free(&pair->set[0]);
    compare_set_free(&pair->set[1]);
}

/* 500 +- 0.5 against 505 us; SETATTR 1 per exec against none. */
static void
difference_in_time_and_counts(void **state)
{
    uint64_t seed = 1;
    const struct compare_row *row;
    struct pair pair;

    (void)state;
    make_pair(&pair, 505, 0.5, 0, &seed);
    assert_int_equal(pair.set[0].cell_count, 2);
    assert_int_equal(pair.set[0].cells[0].n, REPETITIONS);
    row = find_row(&pair.result, "none", NULL);
    assert_true(row->proven);
    NEAR(row->welch.absolute.value, 5, 1);
    NEAR(row->welch.percent.value, 1, 0.2);
    row = find_row(&pair.result, "setattr", "SETATTR");
    assert_true(row->proven);
    NEAR(row->sample[0].summary.mean, 1, 0);
    NEAR(row->sample[1].summary.mean, 0, 0);
    NEAR(row->welch.absolute.value, -1, 0);
    row = find_row(&pair.result, "setattr", "GETATTR");
    assert_false(row->proven);
    assert_int_equal(pair.result.tests, 3); /* 2 times, 1 count */
    assert_int_equal(pair.result.proven, 3);
    free_pair(&pair);
}

static void
same_settings_claim_little(void **state)
{
    size_t claimed = 0;
    uint64_t seed = 2;

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        struct pair pair;

        make_pair(&pair, 500, 1, EXECS, &seed);
        claimed += pair.result.proven > 0;
        free_pair(&pair);
    }
    assert_true(claimed <= 50);
}

static void
cells_that_have_no_partner(void **state)
{
    uint64_t seed = 3;
    struct run run;
    struct compare_set one, other;
    struct comparison c;

    (void)state;
    make_run(&run, 500, 1, EXECS, &seed);
    assert_int_equal(compare_set_from_run(&run, "a", NULL, NULL, &one), 0);
    for (size_t i = 1; i < run.cell_count; i += 2)
        run.cells[i].state = CELL_INTERRUPTED;
    assert_int_equal(compare_set_from_run(&run, "b", NULL, NULL, &other), 0);
    assert_false(one.incomplete);
    assert_true(other.incomplete);
    assert_int_equal(compare_sets(&one, &other, 95.0, &c), 0);
    assert_int_equal(c.only_first, 1);
    assert_int_equal(c.only_second, 0);
    comparison_free(&c);
    compare_set_free(&one);
    compare_set_free(&other);
    run_free(&run);
}

/* A count that appears in the third repetition was 0 in the two before. */
static bool
late_count(void *context, const struct run *run, size_t index,
           struct run_counts *into, bool *lossy)
{
    (void)context;
    if (run->cells[index].repetition == 2)
        run_counts_add(into, "ACCESS", EXECS / 2);
    *lossy = index == 0;
    return true;
}

static void
counts_come_from_the_callback(void **state)
{
    uint64_t seed = 4;
    struct run run;
    struct compare_set set;

    (void)state;
    make_run(&run, 500, 1, EXECS, &seed);
    assert_int_equal(compare_set_from_run(&run, "a", late_count, NULL, &set),
                     0);
    assert_true(set.cells[0].lossy);
    assert_false(set.cells[1].lossy);
    assert_int_equal(set.cells[0].count_count, 1);
    for (size_t i = 0; i < REPETITIONS; i++)
        NEAR(set.cells[0].counts[0].per_exec[i], i == 2 ? 0.5 : 0, 0);
    compare_set_free(&set);
    run_free(&run);
}

static void
text_says_what_is_proven(void **state)
{
    struct sample_style style = {.confidence = 95.0, .no_plot = true};
    uint64_t seed = 5;
    char text[8192] = "";
    struct pair pair;
    FILE *out;

    (void)state;
    make_pair(&pair, 505, 0.5, 0, &seed);
    out = fmemopen(text, sizeof text - 1, "w");
    comparison_text(&pair.result, &style, out);
    fclose(out);
    assert_non_null(strstr(text, "Difference at 95.0% confidence"));
    assert_non_null(strstr(text, "(Student's t, pooled s = "));
    assert_non_null(strstr(text, "SETATTR"));
    assert_non_null(strstr(text, "unchanged: GETATTR 1.000"));
    assert_non_null(strstr(text, "3 of 3 comparisons proven"));
    assert_null(strchr(text, '\033'));
    free_pair(&pair);
}

static void
json_is_strict(void **state)
{
    uint64_t seed = 6;
    char text[65536] = "";
    const double one[] = {4}, none[] = {0, 0};
    struct sample samples[2] = {{"a\xff", none, 2, stat_summarise(none, 2)},
                                {"b", one, 1, stat_summarise(one, 1)}};
    struct pair pair;
    json_t *root, *cell;
    FILE *out;

    (void)state;
    make_pair(&pair, 505, 0.5, 0, &seed);
    out = fmemopen(text, sizeof text - 1, "w");
    assert_int_equal(comparisons_json(&pair.result, 1, out), 0);
    fclose(out);
    root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    cell = json_array_get(
        json_object_get(
            json_array_get(json_object_get(root, "comparisons"), 0), "cells"),
        1);
    assert_string_equal(
        json_string_value(json_object_get(cell, "method")), "setattr");
    cell = json_object_get(json_object_get(cell, "rpcs_per_exec"), "SETATTR");
    assert_true(json_is_true(json_object_get(cell, "proven")));
    json_decref(root);
    free_pair(&pair);

    memset(text, 0, sizeof text);
    out = fmemopen(text, sizeof text - 1, "w");
    assert_int_equal(samples_json(samples, 2, 95.0, STAT_T_MINISTAT, out), 0);
    fclose(out);
    root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    cell = json_array_get(json_object_get(root, "samples"), 1);
    assert_true(json_is_null(json_object_get(cell, "stddev")));
    cell = json_object_get(cell, "against_first");
    assert_true(json_is_null(json_object_get(cell, "half_width")));
    assert_true(json_is_null(json_object_get(cell, "percent")));
    json_decref(root);
}

static void
plot_by_hand(void **state)
{
    const double a[] = {2, 2, 2, 10}, b[] = {10, 10};
    struct sample samples[2] = {{"a", a, 4, stat_summarise(a, 4)},
                                {"b", b, 2, stat_summarise(b, 2)}};
    struct sample_style style = {.confidence = 95.0, .width = 11};
    char text[1024] = "";
    FILE *out = fmemopen(text, sizeof text - 1, "w");

    (void)state;
    /* a: mean 4, deviation 4, bar from 0 to 8; b: 10. The axis is 0 .. 10 in
     * 11 columns, one each. */
    samples_plot(samples, 2, &style, out);
    fclose(out);
    assert_string_equal(text, "+-----------+\n"
                              "|  x        |\n"
                              "|  x       +|\n"
                              "|  x       *|\n"
                              "||_M_A___| A|\n"
                              "+-----------+\n");
}

static void
plot_of_many_and_of_equal_values(void **state)
{
    static double many[5000];
    const double same[] = {7, 7};
    struct sample equal = {"e", same, 2, stat_summarise(same, 2)};
    struct sample_style style = {.confidence = 95.0};
    struct sample crowd;
    char text[16384] = "";
    FILE *out = fmemopen(text, sizeof text - 1, "w");
    size_t lines = 0;

    (void)state;
    samples_plot(&equal, 1, &style, out);
    fflush(out);
    assert_string_equal(text, "[no plot: all values are equal]\n");
    for (size_t i = 0; i < 5000; i++)
        many[i] = i == 0 ? 1e149 : (double)(i % 2);
    crowd = (struct sample){"c", many, 5000, stat_summarise(many, 5000)};
    samples_plot(&crowd, 1, &style, out);
    fclose(out);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_true(lines <= PLOT_ROWS_MOST + 5);
    assert_non_null(strstr(text, "[one symbol: up to "));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(difference_in_time_and_counts),
        cmocka_unit_test(same_settings_claim_little),
        cmocka_unit_test(cells_that_have_no_partner),
        cmocka_unit_test(counts_come_from_the_callback),
        cmocka_unit_test(text_says_what_is_proven),
        cmocka_unit_test(json_is_strict),
        cmocka_unit_test(plot_by_hand),
        cmocka_unit_test(plot_of_many_and_of_equal_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
