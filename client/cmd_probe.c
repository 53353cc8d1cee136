/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One question: does the access time move on this mount, and by whom?
 *
 * Theory of operation. Between two looks at the true time (the server's, over
 * our own connection; stat on a local file system) one thing is done:
 *
 *   exec      of a program whose pages are cached
 *   read      of one cached byte
 *   READ      that must reach the server (O_DIRECT), after the access time was
 *             set back by two days: every policy but "never" moves it
 *   again     the same a second later: only a strict policy moves it, one like
 *             relatime waits until the file changes or a day has passed
 *   setattr   utimensat(2) with UTIME_NOW
 *
 * A second lies between the steps, since some servers keep whole seconds.
 */
#define _GNU_SOURCE /* O_DIRECT */
#include "client/commands.h"

#include "client/atime_method.h"
#include "client/nfs_mount.h"
#include "client/progress.h"
#include "client/stop.h"
#include "client/test_run.h"
#include "client/util.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_MS 1100
#define TWO_DAYS 172800

enum probe_step {
    STEP_EXEC,
    STEP_READ,
    STEP_DIRECT,
    STEP_AGAIN,
    STEP_SETATTR,
    STEP_COUNT
};

enum probe_result { MOVED, NOT_MOVED, REFUSED, UNKNOWN };

struct answers {
    enum probe_result results[STEP_COUNT];
    int errors[STEP_COUNT]; /* errno when REFUSED */
};

static const char *const step_names[] = {
    [STEP_EXEC] = "exec of a cached program",
    [STEP_READ] = "read of a cached byte",
    [STEP_DIRECT] = "read that reaches the file system",
    [STEP_AGAIN] = "the same, a second later",
    [STEP_SETATTR] = "utimensat to the current time",
};
_Static_assert(sizeof(step_names) / sizeof(step_names[0]) == STEP_COUNT,
               "each step has a name");

static int
exec_program(struct test *test, size_t times)
{
    const struct launch_order order = {
        .method = METHOD_NONE,
        .spawn = SPAWN_VFORK,
        .execs = times,
        .program = test->run.filesystems[0].program_path,
        .empty_environment = true,
    };
    struct launch_result result;

    if (launcher_prepare(test->launcher, &order, test->error,
                         sizeof(test->error)) != 0 ||
        launcher_run(test->launcher, &result, test->error,
                     sizeof(test->error)) != 0 ||
        launcher_finish(test->launcher, test->error, sizeof(test->error)) != 0)
        return EIO;
    return result.exec_count > 0 ? launcher_records(test->launcher)->exec_errno
                                 : EINTR;
}

static int
apply(const char *path, enum run_method method)
{
    struct atime_method state;
    int result;

    atime_method_open(&state, method, path);
    result = atime_method_apply(&state);
    atime_method_close(&state);
    return result;
}

/* Where there is no O_DIRECT the pages are dropped instead. */
static int
read_for_sure(const char *path)
{
    int fd, result = apply(path, METHOD_DIRECT_READ);

    if (result != EINVAL)
        return result;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    return apply(path, METHOD_OPEN_READ);
}

static int
set_back(const char *path)
{
    const struct timespec times[2] = {
        {.tv_sec = realtime_ns() / 1000000000 - TWO_DAYS},
        {.tv_nsec = UTIME_OMIT}};

    return utimensat(AT_FDCWD, path, times, 0) == 0 ? 0 : errno;
}

static int
do_step(struct test *test, enum probe_step step)
{
    const char *path = test->run.filesystems[0].program_path;

    switch (step) {
    case STEP_EXEC:
        return exec_program(test, 1);
    case STEP_READ:
        return apply(path, METHOD_OPEN_READ);
    case STEP_DIRECT:
    case STEP_AGAIN:
        return read_for_sure(path);
    case STEP_SETATTR:
        return apply(path, METHOD_SETATTR);
    case STEP_COUNT:
        break;
    }
    return EINVAL;
}

static void
try_step(struct test *test, enum probe_step step, struct answers *answers)
{
    struct run_attr before, after;

    progress_show("%s", step_names[step]);
    answers->results[step] = UNKNOWN;
    if (step == STEP_DIRECT &&
        set_back(test->run.filesystems[0].program_path) != 0)
        answers->errors[step] = errno; /* it still may move */
    if (stop_sleep_ms(STEP_MS) != 0)
        return;
    test_true_times(test, 0, &before);
    answers->errors[step] = do_step(test, step);
    if (answers->errors[step] != 0) {
        answers->results[step] = REFUSED;
        return;
    }
    test_true_times(test, 0, &after);
    if (before.atime_ns != RUN_UNKNOWN_NS && after.atime_ns != RUN_UNKNOWN_NS)
        answers->results[step] =
            before.atime_ns != after.atime_ns ? MOVED : NOT_MOVED;
}

/* --- the answer ----------------------------------------------------------- */

static const char *
policy(const struct answers *answers)
{
    if (answers->results[STEP_DIRECT] == MOVED &&
        answers->results[STEP_AGAIN] == MOVED)
        return "strict";
    if (answers->results[STEP_DIRECT] == MOVED &&
        answers->results[STEP_AGAIN] == NOT_MOVED)
        return "relatime-like";
    if (answers->results[STEP_DIRECT] == NOT_MOVED &&
        answers->results[STEP_AGAIN] == NOT_MOVED)
        return "never";
    return "unknown";
}

static void
print_answer(const struct run_filesystem *filesystem,
             const struct answers *answers)
{
    const char *rule = policy(answers);

    printf("answer    ");
    if (strcmp(rule, "unknown") == 0)
        printf("unknown\n");
    else if (strcmp(rule, "never") == 0)
        printf("never by reading%s\n",
               answers->results[STEP_SETATTR] == MOVED
                   ? "; by SETATTR alone"
                   : "");
    else if (filesystem->kind == FILESYSTEM_LOCAL ||
             answers->results[STEP_READ] == MOVED)
        printf("%s\n", rule);
    else
        printf("only on READ that reaches the server, whose policy is %s\n",
               rule);
}

static void
print_step(const struct run_filesystem *filesystem,
           const struct answers *answers, enum probe_step step)
{
    bool nfs = filesystem->kind == FILESYSTEM_NFS;

    printf("%-35s", step_names[step]);
    switch (answers->results[step]) {
    case MOVED:
        puts(!nfs                   ? "moved"
             : step == STEP_SETATTR ? "moved, by the client's SETATTR"
                                    : "moved, by the server");
        break;
    case NOT_MOVED:
        puts("not moved");
        break;
    case REFUSED:
        printf("%s\n", errno_name(answers->errors[step]));
        break;
    case UNKNOWN:
        puts("unknown");
        break;
    }
}

static void
print_options(const struct run_filesystem *filesystem,
              const struct answers *answers)
{
    static const char *const names[] = {"noatime", "relatime", "strictatime",
                                        "nodiratime", "lazytime"};
    char set[128] = "none";
    size_t used = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (mount_option(filesystem->options, names[i], NULL, 0))
            used += (size_t)snprintf(set + used, sizeof(set) - used, "%s%s",
                                     used > 0 ? "," : "", names[i]);
    if (filesystem->kind == FILESYSTEM_LOCAL)
        printf("access time options                %s; they decide here\n",
               set);
    else
        printf("access time options                %s; none of them has an "
               "effect on NFS%s\n", set,
               strstr(set, "noatime") != NULL &&
                       answers->results[STEP_DIRECT] == MOVED
                   ? ": it moved all the same"
                   : "");
}

static int
print_answers(const struct test *test, const struct answers *answers)
{
    const struct run_filesystem *filesystem = &test->run.filesystems[0];

    printf("%s    %s    %s%s\n", filesystem->directory, filesystem->device,
           filesystem->kind == FILESYSTEM_NFS ? "NFSv" : filesystem->type,
           filesystem->kind == FILESYSTEM_NFS ? filesystem->version : "");
    print_answer(filesystem, answers);
    for (int step = 0; step < STEP_COUNT; step++)
        print_step(filesystem, answers, (enum probe_step)step);
    print_options(filesystem, answers);
    return strcmp(policy(answers), "unknown") == 0 ? EXIT_INCOMPLETE
                                                   : EXIT_DONE;
}

static int
ask(struct test *test, const struct test_options *options,
    struct answers *answers)
{
    int status;

    if (test_start(test, options, NULL) != 0)
        return -1;
    if (stop_install() != 0)
        return set_error(test->error, sizeof(test->error), "signals: %s",
                         strerror(errno));
    if (test_add_filesystem(test, 0) != 0)
        return -1;
    /* Twice, so that the pages are there. */
    status = exec_program(test, 2);
    if (status != 0)
        return set_error(test->error, sizeof(test->error), "%s: exec: %s",
                         test->run.filesystems[0].program_path,
                         strerror(status));
    for (int step = 0; step < STEP_COUNT && stop_signal() == 0; step++)
        try_step(test, (enum probe_step)step, answers);
    return 0;
}

int
cmd_probe(int argc, char **argv)
{
    struct test_options options;
    struct answers answers = {0};
    struct test test;
    int status;

    switch (options_read(&options, argc, argv, true)) {
    case OPTIONS_DONE:
        return EXIT_DONE;
    case OPTIONS_WRONG:
        return EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    options.execs = 2;
    progress_start(options.quiet     ? PROGRESS_QUIET
                   : options.verbose ? PROGRESS_VERBOSE
                                     : PROGRESS_NORMAL);
    status = ask(&test, &options, &answers) == 0 ? EXIT_DONE : EXIT_FAILED;
    test_clean_up(&test);
    progress_clear();
    if (stop_signal() != 0)
        status = EXIT_SIGNAL + stop_signal();
    else if (status == EXIT_DONE)
        status = print_answers(&test, &answers);
    else
        fprintf(stderr, "nfs-atime-test: %s\n", test.error);
    run_free(&test.run);
    options_free(&options);
    return status;
}
