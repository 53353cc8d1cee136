/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exec loop on a local directory. */
#define _GNU_SOURCE /* O_DIRECT for the file system's sake */
#include "client/exec_loop.h"
#include "client/program_place.h"
#include "client/programs/embedded.h"
#include "client/stop.h"
#include "client/util.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define EXECS 50

static struct launcher *launcher;
static struct program_place place;
static char *base;

static int
set_up(void **state)
{
    const struct embedded_program *program = embedded_program("static");
    char error[512] = "";
    char pattern[] = "/tmp/nfs-atime-test-unit-XXXXXX";

    (void)state;
    if (launcher_start(&launcher, 100000, NULL, error, sizeof(error)) != 0)
        return -1;
    base = copy_text(mkdtemp(pattern));
    return program_place_make(&place, base, program->bytes, program->length,
                              error, sizeof(error));
}

static int
tear_down(void **state)
{
    (void)state;
    launcher_end(launcher);
    if (program_place_remove(&place) != 0 || rmdir(base) != 0)
        return -1;
    program_place_free(&place);
    free(base);
    return 0;
}

static struct launch_result
run_order(const struct launch_order *order)
{
    struct launch_result result = {0};
    char error[512] = "";

    if (launcher_prepare(launcher, order, error, sizeof(error)) != 0 ||
        launcher_run(launcher, &result, error, sizeof(error)) != 0 ||
        launcher_finish(launcher, error, sizeof(error)) != 0)
        fail_msg("%s", error);
    return result;
}

static struct launch_order
order_of(enum run_method method, enum spawn_kind spawn, const char *program)
{
    return (struct launch_order){.method = method,
                                 .spawn = spawn,
                                 .execs = EXECS,
                                 .program = program,
                                 .empty_environment = true};
}

static void
every_spawn_and_method_counts(void **state)
{
    (void)state;
    for (int spawn = 0; spawn < SPAWN_COUNT; spawn++)
        for (int method = 0; method < METHOD_COUNT; method++) {
            struct launch_order order = order_of(
                (enum run_method)method, (enum spawn_kind)spawn, place.path);
            struct launch_result result = run_order(&order);
            const struct run_exec *records = launcher_records(launcher);
            int64_t last = 0;

            assert_int_equal(result.exec_count, EXECS);
            assert_false(result.interrupted);
            for (int i = 0; i < EXECS; i++) {
                const struct run_exec *record = &records[i];

                assert_int_equal(record->exec_errno, 0);
                assert_int_equal(record->wait_status, 0);
                assert_true(record->start_ns >= last);
                assert_true(record->exit_ns >= record->start_ns);
                assert_true(record->end_ns >= record->exit_ns);
                if (method == METHOD_NOEXEC)
                    assert_true(record->exec_ns == RUN_UNKNOWN_NS);
                else
                    assert_true(record->exec_ns >= record->start_ns);
                last = record->end_ns;
                /* Not every file system has O_DIRECT. */
                if (method != METHOD_DIRECT_READ)
                    assert_int_equal(record->method_errno, 0);
            }
        }
}

static void
check_failure(const char *program, int expected)
{
    for (int spawn = 0; spawn < SPAWN_COUNT; spawn++) {
        struct launch_order order =
            order_of(METHOD_NONE, (enum spawn_kind)spawn, program);
        struct launch_result result = run_order(&order);
        const struct run_exec *records = launcher_records(launcher);

        assert_int_equal(result.exec_count, EXECS);
        for (int i = 0; i < EXECS; i++) {
            assert_int_equal(records[i].exec_errno, expected);
            assert_true(records[i].exec_ns == RUN_UNKNOWN_NS);
        }
    }
}

static void
exec_failures_are_told(void **state)
{
    char *path = format_text("%s/other", base);
    int fd;

    (void)state;
    check_failure(path, ENOENT);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(write(fd, "x", 1) == 1);
    check_failure(path, EACCES); /* not executable, not even for root */
    assert_int_equal(chmod(path, 0700), 0);
    check_failure(path, ETXTBSY); /* open for writing: by us */
    close(fd);
    check_failure(path, ENOEXEC);
    assert_int_equal(unlink(path), 0);
    free(path);
}

static void
method_failures_are_counted_not_fatal(void **state)
{
    static const enum run_method methods[] = {
        METHOD_SETATTR, METHOD_READ, METHOD_OPEN_READ, METHOD_DIRECT_READ};
    char *path = format_text("%s/none", base);

    (void)state;
    for (size_t m = 0; m < 4; m++) {
        struct launch_order order = order_of(methods[m], SPAWN_VFORK, path);
        struct launch_result result = run_order(&order);

        assert_int_equal(result.exec_count, EXECS);
        for (int i = 0; i < EXECS; i++)
            assert_int_equal(launcher_records(launcher)[i].method_errno,
                             ENOENT);
    }
    free(path);
}

static void
setattr_moves_atime_alone(void **state)
{
    struct launch_order order =
        order_of(METHOD_SETATTR, SPAWN_VFORK, place.path);
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
    struct stat status;

    (void)state;
    assert_int_equal(utimensat(AT_FDCWD, place.path, old, 0), 0);
    run_order(&order);
    assert_int_equal(stat(place.path, &status), 0);
    assert_true(status.st_atim.tv_sec > 1000000000);
    assert_int_equal(status.st_mtim.tv_sec, 2000);
}

static void
exit_status_and_arguments(void **state)
{
    char *const arguments[] = {"-c", "exit $#", "sh", "a", "b", "c", NULL};
    struct launch_order order = order_of(METHOD_NONE, SPAWN_VFORK, "/bin/sh");
    struct launch_result result;

    (void)state;
    order.arguments = arguments;
    result = run_order(&order);
    assert_int_equal(result.exec_count, EXECS);
    for (int i = 0; i < EXECS; i++)
        assert_int_equal(WEXITSTATUS(launcher_records(launcher)[i].wait_status),
                         3);
    assert_true(result.user_ns + result.system_ns > 0);
    assert_true(result.minor_faults > 0);
}

static void
child_starts_with_default_signals(void **state)
{
    /* SIGTERM ends it, unless what the launcher does reached it. */
    char *const arguments[] = {"-c", "kill -TERM $$; exit 7", NULL};
    struct launch_order order = order_of(METHOD_NONE, SPAWN_FORK, "/bin/sh");

    (void)state;
    order.execs = 1;
    order.arguments = arguments;
    run_order(&order);
    assert_true(WIFSIGNALED(launcher_records(launcher)[0].wait_status));
    assert_int_equal(WTERMSIG(launcher_records(launcher)[0].wait_status),
                     SIGTERM);
}

static void
interval_is_kept(void **state)
{
    struct launch_order order =
        order_of(METHOD_NOEXEC, SPAWN_VFORK, place.path);
    const struct run_exec *records = launcher_records(launcher);

    (void)state;
    order.execs = 5;
    order.interval_ns = 2000000;
    run_order(&order);
    for (int i = 1; i < 5; i++)
        assert_true(records[i].start_ns - records[i - 1].end_ns >= 2000000);
}

/* Last: nothing can be run after a request to stop. */
static void
signal_in_the_middle(void **state)
{
    struct launch_order order =
        order_of(METHOD_NONE, SPAWN_VFORK, place.path);
    struct launch_result result;
    int64_t start = monotonic_ns();
    pid_t self = getpid(), child;

    (void)state;
    assert_int_equal(stop_install(), 0);
    order.execs = 100000;
    order.interval_ns = 1000000; /* 100 s in all */
    child = fork();
    if (child == 0) {
        sleep_ns(300000000);
        kill(self, SIGINT);
        _exit(0);
    }
    result = run_order(&order);
    waitpid(child, NULL, 0);
    assert_int_equal(stop_signal(), SIGINT);
    assert_true(result.interrupted);
    assert_true(result.exec_count > 0 && result.exec_count < 100000);
    assert_true(monotonic_ns() - start < 3000000000);
    for (size_t i = 0; i < result.exec_count; i++)
        assert_int_equal(launcher_records(launcher)[i].wait_status, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spawn_and_method_counts),
        cmocka_unit_test(exec_failures_are_told),
        cmocka_unit_test(method_failures_are_counted_not_fatal),
        cmocka_unit_test(setattr_moves_atime_alone),
        cmocka_unit_test(exit_status_and_arguments),
        cmocka_unit_test(child_starts_with_default_signals),
        cmocka_unit_test(interval_is_kept),
        cmocka_unit_test(signal_in_the_middle),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
