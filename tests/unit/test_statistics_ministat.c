/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Table and verdict against the ministat program, character by character: 100
 * generated pairs of data sets of many sizes and scales at each of its six
 * levels of confidence, and each row of its table of t. Skipped when it is
 * not installed.
 */
#include "analysis/sample_table.h"
#include "tests/unit/seeded_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define MOST 160

static char directory[] = "/tmp/ministat-test-XXXXXX";
static const double levels[] = {80, 90, 95, 98, 99, 99.5};
static const size_t level_count = sizeof levels / sizeof levels[0];

/* What the file says is what both programs get. */
static void
write_sample(const char *name, double *values, size_t n)
{
    FILE *out = fopen(name, "w");

    assert_non_null(out);
    for (size_t i = 0; i < n; i++) {
        char text[64];

        snprintf(text, sizeof text, "%.9g", values[i]);
        values[i] = strtod(text, NULL);
        fprintf(out, "%s\n", text);
    }
    assert_int_equal(fclose(out), 0);
}

static void
run_ministat(double confidence, char *text, size_t size)
{
    char command[128];
    size_t length;
    FILE *in;

    snprintf(command, sizeof command, "LC_ALL=C ministat -A -c %g a b",
             confidence);
    in = popen(command, "r");
    assert_non_null(in);
    length = fread(text, 1, size - 1, in);
    text[length] = '\0';
    assert_int_equal(pclose(in), 0);
}

static void
run_ours(const double *a, size_t na, const double *b, size_t nb,
         double confidence, char *text, size_t size)
{
    struct sample samples[2] = {{"a", a, na, stat_summarise(a, na)},
                                {"b", b, nb, stat_summarise(b, nb)}};
    struct sample_style style = {.confidence = confidence,
                                 .t = STAT_T_MINISTAT,
                                 .upper_median = true,
                                 .no_plot = true};
    FILE *out;

    memset(text, 0, size);
    out = fmemopen(text, size - 1, "w");
    assert_non_null(out);
    samples_print(samples, 2, &style, out);
    fclose(out);
}

static void
same_text(double *a, size_t na, double *b, size_t nb, double confidence)
{
    char want[2048], have[2048];

    write_sample("a", a, na);
    write_sample("b", b, nb);
    run_ministat(confidence, want, sizeof want);
    run_ours(a, na, b, nb, confidence, have, sizeof have);
    assert_string_equal(have, want);
}

static void
generated_sets(void **state)
{
    uint64_t seed = 20260101;
    double a[MOST], b[MOST];
    size_t proven = 0;

    (void)state;
    for (size_t k = 0; k < 100; k++) {
        double scale = pow(10.0, 9.0 * random_uniform(&seed) - 4.0);
        double shift = 2.0 * random_uniform(&seed) - 1.0;
        size_t na = 3 + random_bits(&seed) % (k % 5 ? 12 : 120);
        size_t nb = 3 + random_bits(&seed) % (k % 7 ? 12 : 120);

        for (size_t i = 0; i < na; i++)
            a[i] = scale * (5.0 + random_normal(&seed));
        for (size_t i = 0; i < nb; i++)
            b[i] = scale * (5.0 + shift + random_normal(&seed));
        for (size_t c = 0; c < level_count; c++) {
            struct stat_summary sa, sb;

            same_text(a, na, b, nb, levels[c]);
            sa = stat_summarise(a, na);
            sb = stat_summarise(b, nb);
            proven += stat_student(&sa, &sb, levels[c], STAT_T_MINISTAT)
                          .verdict != STAT_NONE_PROVEN;
        }
    }
    /* Both verdicts were met often, or the sets are no test. */
    assert_in_range(proven, 100, 500);
}

/* Samples far apart, so that the interval is printed: 4 to 103 degrees. */
static void
each_row_of_the_table(void **state)
{
    double a[MOST], b[MOST];

    (void)state;
    for (size_t degrees = 4; degrees <= 103; degrees++) {
        size_t na = degrees / 2 + 1, nb = degrees + 2 - na;

        for (size_t i = 0; i < na; i++)
            a[i] = 10.0 + (double)(i % 3);
        for (size_t i = 0; i < nb; i++)
            b[i] = 1000.0 + (double)(i % 4);
        for (size_t c = 0; c < level_count; c++)
            same_text(a, na, b, nb, levels[c]);
    }
}

static void
constants(void **state)
{
    double one[] = {1, 1, 1}, two[] = {2, 2, 2};

    (void)state;
    same_text(one, 3, two, 3, 95);
    same_text(one, 3, one, 3, 95);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_sets),
        cmocka_unit_test(each_row_of_the_table),
        cmocka_unit_test(constants),
    };
    int failed;

    if (system("command -v ministat >/dev/null 2>&1") != 0) {
        fputs("skipped: ministat is not installed\n", stderr);
        return 77;
    }
    if (!mkdtemp(directory) || chdir(directory) != 0) {
        perror(directory);
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink("a");
    unlink("b");
    if (chdir("/") == 0)
        rmdir(directory);
    return failed;
}
