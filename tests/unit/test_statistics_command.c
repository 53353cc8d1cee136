/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exit status and streams of the compare command. */
#include "client/commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
