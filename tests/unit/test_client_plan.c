/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/options.h"
#include "client/plan.h"
#include "client/util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const enum run_method all_methods[] = {
    METHOD_NOEXEC, METHOD_NONE,      METHOD_SETATTR,
    METHOD_READ,   METHOD_OPEN_READ, METHOD_DIRECT_READ};

static void
make_plan(struct run *run, uint64_t seed)
{
    memset(run, 0, sizeof(*run));
    run->filesystem_count = 3;
    run->filesystems = need_memory(3, sizeof(*run->filesystems));
    run->repetitions = 4;
    run->seed = seed;
    plan_cells(run, all_methods, METHOD_COUNT);
}

static void
every_cell_once_a_repetition(void **state)
{
    struct run run;

    (void)state;
    make_plan(&run, 1);
    assert_int_equal(run.cell_count, 72);
    for (unsigned repetition = 0; repetition < 4; repetition++) {
        unsigned seen[3][METHOD_COUNT] = {{0}};

        for (unsigned i = 0; i < 18; i++) {
            const struct run_cell *cell = &run.cells[repetition * 18 + i];

            assert_int_equal(cell->repetition, repetition);
            assert_int_equal(cell->state, CELL_PENDING);
            assert_true(cell->server_before.atime_ns == RUN_UNKNOWN_NS);
            seen[cell->filesystem][cell->method]++;
        }
        for (int f = 0; f < 3; f++)
            for (int m = 0; m < METHOD_COUNT; m++)
                assert_int_equal(seen[f][m], 1);
    }
    run_free(&run);
}

static bool
same_order(const struct run *a, const struct run *b)
{
    for (size_t i = 0; i < a->cell_count; i++)
        if (a->cells[i].filesystem != b->cells[i].filesystem ||
            a->cells[i].method != b->cells[i].method)
            return false;
    return true;
}

static void
seed_makes_the_order(void **state)
{
    struct run a, b, c;
    bool repeats = true;

    (void)state;
    make_plan(&a, 7);
    make_plan(&b, 7);
    make_plan(&c, 8);
    assert_true(same_order(&a, &b));
    assert_false(same_order(&a, &c));
    for (int i = 0; i < 18; i++)
        repeats = repeats && a.cells[i].method == a.cells[18 + i].method;
    assert_false(repeats); /* another order in the next repetition */
    run_free(&a);
    run_free(&b);
    run_free(&c);
}

/* Each of the 18 cells comes first about as often as any other: chi-square
 * with 17 degrees of freedom exceeds 40.8 once in a thousand, and the seeds
 * are fixed. */
static void
order_is_even(void **state)
{
    unsigned first[18] = {0};
    double chi_square = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 1800; seed++) {
        struct run run;

        make_plan(&run, seed);
        first[run.cells[0].filesystem * METHOD_COUNT + run.cells[0].method]++;
        run_free(&run);
    }
    for (int i = 0; i < 18; i++)
        chi_square += (first[i] - 100.0) * (first[i] - 100.0) / 100.0;
    assert_true(chi_square < 40.8);
}

static void
durations(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"10ms", 10000000}, {"250us", 250000},    {"2s", 2000000000},
        {"0", 0},           {"1.5ms", 1500000},   {"3", 3000000000},
        {"7ns", 7},         {"", -1},             {"ms", -1},
        {"-1s", -1},        {"1 s", -1},          {"1h", -1},
        {"nan", -1},        {"inf", -1},          {"1e300s", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_true(duration_parse(cases[i].text) == cases[i].ns);
}

static enum options_status
read_line(struct test_options *options, const char *const *words)
{
    static char name[] = "nfs-atime-test";
    char *argv[32];
    int argc = 0;

    /* getopt moves the pointers at most, never the texts. */
    argv[argc++] = name;
    for (; *words != NULL; words++)
        argv[argc++] = (char *)(uintptr_t)*words;
    argv[argc] = NULL;
    return options_read(options, argc, argv, false);
}

static void
command_line(void **state)
{
    const char *const words[] = {
        "--mount",   "/mnt/a",        "--mount",       "/mnt/b/",
        "--local",   "/tmp",          "-n",            "7",
        "--methods", "none,setattr",  "--label",       "/mnt/b=second",
        "--program", "/bin/echo",     "--export-note", "for all",
        "--",        "one",           NULL};
    struct test_options options;

    (void)state;
    assert_int_equal(read_line(&options, words), OPTIONS_RUN);
    assert_int_equal(options.directory_count, 3);
    assert_int_equal(options.kinds[1], FILESYSTEM_NFS);
    assert_int_equal(options.kinds[2], FILESYSTEM_LOCAL);
    assert_int_equal(options.execs, 7);
    assert_int_equal(options.method_count, 2);
    assert_int_equal(options.methods[1], METHOD_SETATTR);
    assert_string_equal(options.program_arguments[0], "one");
    assert_string_equal(directory_text(&options.labels, "/mnt/b"), "second");
    assert_null(directory_text(&options.labels, "/mnt/a"));
    assert_string_equal(directory_text(&options.export_notes, "/mnt/a"),
                        "for all");
    options_free(&options);
}

static void
wrong_command_lines(void **state)
{
    static const char *const lines[][6] = {
        {NULL},
        {"--mount", "/a", "-n", "0", NULL},
        {"--mount", "/a", "-n", "-5", NULL},
        {"--mount", "/a", "-n", "5x", NULL},
        {"--mount", "/a", "-n", "99999999999999999999", NULL},
        {"--mount", "/a", "--methods", "none,none", NULL},
        {"--mount", "/a", "--methods", "", NULL},
        {"--mount", "/a", "--methods", "touch", NULL},
        {"--mount", "/a", "--spawn", "clone", NULL},
        {"--mount", "/a", "--format", "pdf", NULL},
        {"--mount", "/a", "--label", "/b=x", NULL},
        {"--mount", "/a", "--interval", "soon", NULL},
        {"--mount", "/a", "word", NULL},
        {"--mount", NULL},
        {"--nonsense", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct test_options options;

        assert_int_equal(read_line(&options, lines[i]), OPTIONS_WRONG);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_once_a_repetition),
        cmocka_unit_test(seed_makes_the_order),
        cmocka_unit_test(order_is_even),
        cmocka_unit_test(durations),
        cmocka_unit_test(command_line),
        cmocka_unit_test(wrong_command_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
