/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures made by hand: the samples are {99, 100, 101} times something, whose
 * deviation is 1 and whose 95 % interval is 4.302653 / sqrt(3) = 2.4841 on
 * both sides (Student's t for two degrees of freedom, any table). */
#include "analysis/expect.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define LABEL "nfs3"

static char label[] = LABEL, local_label[] = "local";
static struct run_filesystem filesystems[2];
static struct run_exec one_exec;
static struct run_cell cells[12];
static struct run run;
static struct run_traffic traffic;
static struct group_figures groups[4];
static struct figures figures;

static void
fill_group(struct group_figures *group, size_t filesystem,
           enum run_method method, double mean)
{
    static double values[4][3];
    double *sample = values[group - groups];
    int i;

    memset(group, 0, sizeof *group);
    for (i = 0; i < 3; i++)
        sample[i] = mean - 1 + i;
    group->filesystem = filesystem;
    group->method = method;
    group->cells = 3;
    group->execs = 600;
    group->us_per_exec = sample;
    group->sample = stat_summarise(sample, 3);
    group->mean = stat_mean(&group->sample, 95);
}

/* nfs3 none 100 us, 1 GETATTR; nfs3 setattr 150 us, 1 GETATTR, 1 SETATTR, in
 * 3 of 600 execs a READ; nfs3 read with a single cell; local none. */
static int
setup(void **state)
{
    static const enum run_method methods[] = {METHOD_NONE, METHOD_SETATTR,
                                              METHOD_READ, METHOD_NONE};
    size_t i;

    (void)state;
    memset(filesystems, 0, sizeof filesystems);
    memset(cells, 0, sizeof cells);
    memset(&run, 0, sizeof run);
    memset(&traffic, 0, sizeof traffic);
    memset(&figures, 0, sizeof figures);
    filesystems[0].label = label;
    filesystems[0].kind = FILESYSTEM_NFS;
    filesystems[0].wire_shows_all = true;
    filesystems[1].label = local_label;
    run.filesystems = filesystems;
    run.filesystem_count = 2;
    run.cells = cells;
    run.cell_count = 12;
    for (i = 0; i < 12; i++) {
        cells[i].filesystem = i / 3 == 3;
        cells[i].method = methods[i / 3];
        cells[i].execs = &one_exec;
        cells[i].exec_count = 1;
    }
    traffic.any_capture = true;
    fill_group(&groups[0], 0, METHOD_NONE, 100);
    fill_group(&groups[1], 0, METHOD_SETATTR, 150);
    fill_group(&groups[2], 0, METHOD_READ, 100);
    fill_group(&groups[3], 1, METHOD_NONE, 50);
    run_counts_add(&groups[0].operations, "GETATTR", 600);
    run_counts_add(&groups[1].operations, "GETATTR", 600);
    run_counts_add(&groups[1].operations, "SETATTR", 600);
    run_counts_add(&groups[1].operations, "READ", 3);
    groups[0].rpcs = 600;
    groups[1].rpcs = 1203;
    groups[2].cells = 1;
    groups[2].sample = stat_summarise(groups[2].us_per_exec, 1);
    groups[2].mean = stat_mean(&groups[2].sample, 95);
    figures.run = &run;
    figures.traffic = &traffic;
    figures.confidence = 95;
    figures.groups = groups;
    figures.group_count = 4;
    return 0;
}

static int
teardown(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < 4; i++)
        run_counts_release(&groups[i].operations);
    return 0;
}

static enum expect_verdict
verdict(const char *text)
{
    struct expectations expectations = {0};
    enum expect_verdict result;
    char error[512] = "";

    if (expect_add(&expectations, text, error, sizeof error) != 0)
        fail_msg("%s", error);
    assert_int_equal(
        expect_judge(&expectations, &figures, error, sizeof error), 0);
    result = expectations.items[0].verdict;
    assert_int_equal(expect_all_hold(&expectations), result == EXPECT_HOLDS);
    assert_true(strlen(expectations.items[0].reason) > 0);
    expect_free(&expectations);
    return result;
}

static void
wrong_forms(void **state)
{
    static const char *const texts[] = {
        "",
        "nfs3",
        "nfs3 none",
        "nfs3 none time",
        "nfs3 none time <",
        "nfs3 none time < 3 4",
        "nfs3 none time < 3 furlongs",
        "nfs3 none time < nan",
        "nfs3 none time < inf",
        "nfs3 none time < -3",
        "nfs3 none time < 1e999",
        "nfs3 none time == 3",
        "nfs3 none time != 3",
        "nfs3 none time =< 3",
        "nfs3 none time <<< 3",
        "nfs3 none time < 3 *",
        "nfs3 none time < 3 * often",
        "nfs3 none time < none none",
        "nfs3 never time < 3",
        "nfs3 none /exec < 3",
        "nfs3 none SETATTR < 3",
        "nfs3 none SETATTR/exec < 3us",
        "nfs3 none SETATTR/exec 3",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct expectations expectations = {0};
        char error[512] = "";

        assert_int_equal(
            expect_add(&expectations, texts[i], error, sizeof error), -1);
        assert_non_null(strstr(error, "the form is"));
        expect_free(&expectations);
    }
}

static void
counts(void **state)
{
    (void)state;
    assert_int_equal(verdict("nfs3 none SETATTR/exec == 0"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 none SETATTR/exec==0"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 setattr SETATTR/exec == 0"), EXPECT_FAILS);
    assert_int_equal(verdict("nfs3 setattr SETATTR/exec == 1"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 setattr SETATTR/exec != 1"), EXPECT_FAILS);
    assert_int_equal(verdict("nfs3 setattr READ/exec == 0"), EXPECT_FAILS);
    assert_int_equal(verdict("nfs3 setattr READ/exec <= 0.005"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 setattr READ/exec < 0.005"), EXPECT_FAILS);
    assert_int_equal(verdict("nfs3 setattr READ/exec > 0.004"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 setattr RPCs/exec < 2.1"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 setattr RPCs/exec <= 2 * none"),
                     EXPECT_FAILS); /* 2.005 */
    assert_int_equal(verdict("nfs3 setattr GETATTR/exec == none"),
                     EXPECT_HOLDS);
}

static void
counts_not_known(void **state)
{
    (void)state;
    assert_int_equal(verdict("local none SETATTR/exec == 0"),
                     EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs9 none SETATTR/exec == 0"),
                     EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs3 direct-read SETATTR/exec == 0"),
                     EXPECT_INCONCLUSIVE);
    /* Nobody counted: no capture, and no mountstats. */
    traffic.any_capture = false;
    assert_int_equal(verdict("nfs3 none SETATTR/exec == 0"),
                     EXPECT_INCONCLUSIVE);
    /* The two counters contradict each other. */
    traffic.any_capture = true;
    groups[0].cells_compared = 3;
    groups[0].cells_agree = 2;
    assert_int_equal(verdict("nfs3 none SETATTR/exec == 0"),
                     EXPECT_INCONCLUSIVE);
}

/* What was seen is a lower bound. */
static void
losses(void **state)
{
    (void)state;
    groups[0].cells_lossy = 1;
    groups[1].cells_lossy = 1;
    assert_int_equal(verdict("nfs3 none SETATTR/exec == 0"),
                     EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs3 none GETATTR/exec == 0"), EXPECT_FAILS);
    assert_int_equal(verdict("nfs3 none GETATTR/exec == 1"),
                     EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs3 none GETATTR/exec != 0.5"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 none GETATTR/exec < 0.5"), EXPECT_FAILS);
    assert_int_equal(verdict("nfs3 none GETATTR/exec <= 1"),
                     EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs3 none GETATTR/exec < 2"),
                     EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs3 none GETATTR/exec >= 1"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 none GETATTR/exec > 1"),
                     EXPECT_INCONCLUSIVE);
    groups[1].cells_lossy = 0;
    assert_int_equal(verdict("nfs3 setattr GETATTR/exec <= none"),
                     EXPECT_INCONCLUSIVE);
}

static void
times(void **state)
{
    (void)state;
    assert_int_equal(verdict("nfs3 none time < 102.5"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 none time < 102.5us"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 none time < 0.1025 ms"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 none time < 102500ns"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 none time < 102.4"), EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs3 none time < 97.6"), EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs3 none time < 97.5"), EXPECT_FAILS);
    assert_int_equal(verdict("nfs3 none time > 97.5"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 none time > 97.6"), EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs3 none time >= 102.5"), EXPECT_FAILS);
    /* One repetition: no interval. */
    assert_int_equal(verdict("nfs3 read time < 1000"), EXPECT_INCONCLUSIVE);
}

/* 150 against f * 100: the standard error is sqrt(1/3 + f * f / 3), about 1.1
 * for f = 1.5, and t for the 3.5 degrees of freedom about 2.95. */
static void
times_against_a_method(void **state)
{
    (void)state;
    assert_int_equal(verdict("nfs3 setattr time < 1.6 * none"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 setattr time < 1.5 * none"),
                     EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs3 setattr time < 1.4 * none"), EXPECT_FAILS);
    assert_int_equal(verdict("nfs3 setattr time > none"), EXPECT_HOLDS);
    assert_int_equal(verdict("nfs3 setattr time < 1.6 * noexec"),
                     EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs3 setattr time < 1.6 * read"),
                     EXPECT_INCONCLUSIVE);
}

/* Two of three cells: what they show may be chance, what they refute is
 * refuted. */
static void
cells_missing(void **state)
{
    (void)state;
    groups[0].cells = 2;
    assert_int_equal(verdict("nfs3 none SETATTR/exec == 0"),
                     EXPECT_INCONCLUSIVE);
    assert_int_equal(verdict("nfs3 none GETATTR/exec == 0"), EXPECT_FAILS);
}

static void
written(void **state)
{
    struct expectations expectations = {0};
    char error[512], *text = NULL;
    size_t length = 0;
    FILE *out;

    (void)state;
    assert_int_equal(expect_add(&expectations, "nfs3 none SETATTR/exec == 0",
                                error, sizeof error), 0);
    assert_int_equal(expect_add(&expectations, "a<b none GETATTR/exec == 0",
                                error, sizeof error), -1); /* '<' parts words */
    expect_free(&expectations);
    assert_int_equal(expect_add(&expectations, "nfs3 none SETATTR/exec == 0",
                                error, sizeof error), 0);
    assert_int_equal(expect_add(&expectations, "a#\x1b&\" none READ/exec == 0",
                                error, sizeof error), 0);
    expect_judge(&expectations, &figures, error, sizeof error);

    out = open_memstream(&text, &length);
    expect_write(&expectations, EXPECT_TAP, NULL, out);
    fclose(out);
    assert_string_equal(
        text, "TAP version 13\n1..2\n"
              "ok 1 - nfs3 none SETATTR/exec == 0\n"
              "# 0 per exec against 0\n"
              "not ok 2 - a\\#\\x1b&\" none READ/exec == 0\n"
              "# inconclusive: the run has no finished cell a\\#\\x1b&\" "
              "none\n");
    free(text);
    text = NULL;
    out = open_memstream(&text, &length);
    expect_write(&expectations, EXPECT_LINES, NULL, out);
    fclose(out);
    assert_string_equal(text,
                        "inconclusive: a#\\x1b&\" none READ/exec == 0: the "
                        "run has no finished cell a#\\x1b&\" none\n");
    free(text);
    text = NULL;
    out = open_memstream(&text, &length);
    expect_write(&expectations, EXPECT_JUNIT, "<r>", out);
    fclose(out);
    assert_non_null(strstr(text, "<testsuite name=\"&lt;r&gt;\" tests=\"2\" "
                                 "failures=\"0\" errors=\"1\">"));
    assert_non_null(strstr(text, "name=\"a#\\x1b&amp;&quot; none"));
    assert_null(strchr(text, 0x1b));
    free(text);
    expect_free(&expectations);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_forms),
        cmocka_unit_test_setup_teardown(counts, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_not_known, setup, teardown),
        cmocka_unit_test_setup_teardown(losses, setup, teardown),
        cmocka_unit_test_setup_teardown(times, setup, teardown),
        cmocka_unit_test_setup_teardown(times_against_a_method, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(cells_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(written, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
