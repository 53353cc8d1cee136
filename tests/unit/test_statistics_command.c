/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exit status and streams of the compare command. */
#include "client/commands.h"

#include "analysis/run_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define BEFORE "tests/data/seeds-003-before.txt"
#define AFTER "tests/data/seeds-003-after.txt"

static char output[65536];

/* Runs compare in a child whose standard input, output and error are files;
 * output then holds what it wrote to both. @return the exit status. */
static int
compare(const char *input, char *const *arguments)
{
    FILE *in = tmpfile(), *out = tmpfile();
    int status, count = 1;
    size_t length;
    pid_t child;

    assert_non_null(in);
    assert_non_null(out);
    fputs(input, in);
    rewind(in);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char *argv[16] = {(char[]){"compare"}};

        for (; arguments[count - 1]; count++)
            argv[count] = arguments[count - 1];
        dup2(fileno(in), STDIN_FILENO);
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(out), STDERR_FILENO);
        status = cmd_compare(count, argv);
        fflush(NULL);
        _exit(status);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    rewind(out);
    length = fread(output, 1, sizeof output - 1, out);
    output[length] = '\0';
    fclose(in);
    fclose(out);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define COMPARE(input, ...) \
    compare(input, (char *const[]){__VA_ARGS__, NULL})

static void
columns(void **state)
{
    (void)state;
    assert_int_equal(COMPARE("", BEFORE, AFTER), 0);
    assert_non_null(strstr(output, "-98.3515% +/- 0.876513%"));
    assert_non_null(strstr(output, "|A"));
    assert_int_equal(COMPARE("", "-A", BEFORE, AFTER), 0);
    assert_null(strstr(output, "+---"));
    assert_non_null(strstr(output, "Difference at"));
    assert_int_equal(COMPARE("", "-n", BEFORE, AFTER), 0);
    assert_null(strstr(output, "Difference"));
    assert_int_equal(COMPARE("a 1\nb 2\n", "-C", "2", "-"), 0);
    assert_non_null(strstr(output, "x <stdin>"));
    assert_int_equal(COMPARE("1\n2\n", "--format", "json"), 0);
    assert_non_null(strstr(output, "\"schema\": \"nfs-atime-test.compare/1\""));
    assert_int_equal(COMPARE("", "-c", "99.5", BEFORE, AFTER), 0);
    assert_non_null(strstr(output, "99.8"));
}

static void
expectation(void **state)
{
    (void)state;
    assert_int_equal(COMPARE("", "--expect", "none", BEFORE, BEFORE), 0);
    assert_int_equal(COMPARE("", "--expect", "none", BEFORE, AFTER), 3);
}

static void
raw_runs(void **state)
{
    (void)state;
    assert_int_equal(COMPARE("", "tests/data/seeds-000.time"), 0);
    assert_non_null(strstr(output, "+64.7 +-3.7   more"));
    assert_int_equal(COMPARE("", "tests/data/seeds-000.time",
                             "tests/data/seeds-001.time"), 0);
    assert_non_null(strstr(output, "1 of 2 comparisons proven"));
    assert_int_equal(COMPARE("", "--expect", "none",
                             "tests/data/seeds-000.time",
                             "tests/data/seeds-001.time"), 3);
    assert_int_equal(COMPARE("", "--expect", "none",
                             "tests/data/seeds-000.time",
                             "tests/data/seeds-000.time"), 0);
    assert_int_equal(COMPARE("u-s-noexec\n1 real 1 user 1 sys\n", "--time",
                             "-"), 1);
    assert_non_null(strstr(output, "--execs"));
    assert_int_equal(COMPARE("u-s-noexec\n1 real 1 user 1 sys\n", "--time",
                             "--execs", "1000", "-"), 0);
    assert_non_null(strstr(output, "1000.0"));
}

/* A finished run of 3 cells of 10 execs on "local"; us per exec: first, one
 * more, two more. */
static void
write_run(const char *directory, int64_t first, enum run_state run_state)
{
    struct run run = {.state = run_state, .execs = 10, .repetitions = 3};
    char error[256];

    run.id = strdup("a run");
    run.filesystem_count = 1;
    run.filesystems = calloc(1, sizeof *run.filesystems);
    run.filesystems[0].label = strdup("local");
    run.filesystems[0].wire_shows_all = true;
    run.cell_count = 3;
    run.cells = calloc(3, sizeof *run.cells);
    for (size_t i = 0; i < 3; i++) {
        struct run_cell *cell = &run.cells[i];

        cell->method = METHOD_NONE;
        cell->repetition = (unsigned)i;
        cell->exec_count = 10;
        cell->execs = calloc(10, sizeof *cell->execs);
        for (int64_t k = 0; k < 10; k++) {
            int64_t each = (first + (int64_t)i) * 1000;

            cell->execs[k] = (struct run_exec){.start_ns = k * each,
                                               .exec_ns = k * each + 1,
                                               .exit_ns = k * each + 2,
                                               .end_ns = (k + 1) * each};
        }
    }
    if (mkdir(directory, 0700) || run_write(&run, directory, error,
                                            sizeof error))
        fail_msg("%s: %s", directory, error);
    run_free(&run);
}

static void
remove_run(const char *directory)
{
    char path[128];

    snprintf(path, sizeof path, "%s/run.json", directory);
    unlink(path);
    rmdir(directory);
}

/* 101 and 201 us: deviation 1 each, so pooled s = 1 and the half width is
 * 2.776445 sqrt(2/3) = 2.26696. */
static void
runs(void **state)
{
    char base[] = "/tmp/compare-test-XXXXXX";
    char a[64], b[64], cut[64];

    (void)state;
    assert_non_null(mkdtemp(base));
    snprintf(a, sizeof a, "%s/a", base);
    snprintf(b, sizeof b, "%s/b", base);
    snprintf(cut, sizeof cut, "%s/cut", base);
    write_run(a, 100, RUN_COMPLETE);
    write_run(b, 200, RUN_COMPLETE);
    write_run(cut, 100, RUN_INTERRUPTED);
    assert_int_equal(COMPARE("", "-A", a, b), 0);
    assert_non_null(strstr(output, "\t100 +/- 2.26696\n"));
    assert_non_null(strstr(output, "pooled s = 1)"));
    assert_non_null(strstr(output, "1 of 1 comparisons proven"));
    assert_int_equal(COMPARE("", "--expect", "none", a, b), 3);
    assert_int_equal(COMPARE("", "--expect", "none", a, a), 0);
    assert_int_equal(COMPARE("", "--format", "json", a, b), 0);
    assert_non_null(strstr(output, "\"filesystem\": \"local\""));
    assert_int_equal(COMPARE("", a, cut), 4);
    assert_non_null(strstr(output, "INCOMPLETE"));
    assert_non_null(strstr(output, "No difference proven"));
    assert_int_equal(COMPARE("", a), 2);
    remove_run(a);
    remove_run(b);
    remove_run(cut);
    rmdir(base);
}

static void
wrong_usage(void **state)
{
    (void)state;
    assert_int_equal(COMPARE("", "-c", "100", BEFORE), 2);
    assert_int_equal(COMPARE("", "-c", "nan", BEFORE), 2);
    assert_int_equal(COMPARE("", "-w", "2", BEFORE), 2);
    assert_int_equal(COMPARE("", "-C", "0", BEFORE), 2);
    assert_int_equal(COMPARE("", "-d", "", BEFORE), 2);
    assert_int_equal(COMPARE("", "--format", "csv", BEFORE), 2);
    assert_int_equal(COMPARE("", "--expect", "all", BEFORE), 2);
    assert_int_equal(COMPARE("", "--no-such"), 2);
    assert_int_equal(COMPARE("", "-", "-"), 2);
    assert_int_equal(COMPARE("", BEFORE, "tests/data"), 2);
    assert_int_equal(COMPARE("", "tests/data"), 2);
    assert_int_equal(COMPARE("", "-", "-", "-", "-", "-", "-", "-"), 2);
}

static void
failures(void **state)
{
    (void)state;
    assert_int_equal(COMPARE("", "/nonexistent"), 1);
    assert_non_null(strstr(output, "/nonexistent: No such file"));
    assert_int_equal(COMPARE("", "-"), 1);
    assert_int_equal(COMPARE("x\n", "-"), 1);
    assert_int_equal(COMPARE("", "tests/data", "tests/data"), 1);
}

static void
help(void **state)
{
    (void)state;
    assert_int_equal(COMPARE("", "--help"), 0);
    assert_non_null(strstr(output, "Exit status"));
    assert_int_equal(COMPARE("", "--version"), 0);
    assert_non_null(strstr(output, "nfs-atime-test "));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns),     cmocka_unit_test(expectation),
        cmocka_unit_test(raw_runs),    cmocka_unit_test(wrong_usage),
        cmocka_unit_test(failures),    cmocka_unit_test(help),
        cmocka_unit_test(runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
