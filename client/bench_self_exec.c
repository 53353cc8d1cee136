/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that execs itself, over and over, in one process.
 *
 * Theory of operation. The program counts down in argv[1] and nothing else
 * knows how far it is, so that is where progress is read from. vfork returns
 * when its first exec is done: the clock starts there, and only the execs of
 * the program by itself, and its exit, are in the time. The write end of a
 * pipe goes from exec to exec and closes with the process. A request to stop
 * halts the process, so that the count and the time belong together, before
 * it is killed.
 */
#define _GNU_SOURCE /* vfork, pipe2 */
#include "client/bench.h"

#include "client/bench_worker.h"
#include "client/plan.h"
#include "client/progress.h"
#include "client/stop.h"
#include "client/util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNTER_DIGITS 20
#define HALT_PATIENCE_NS 1000000000

int
self_exec_left(pid_t pid, uint64_t *left)
{
    char path[64], *text, *end;
    const char *counter;
    size_t length;
    int result = -1;

    snprintf(path, sizeof(path), "/proc/%ld/cmdline", (long)pid);
    text = read_text_file(path, &length);
    if (text == NULL)
        return -1;
    counter = text + strlen(text) + 1;
    if (counter < text + length) {
        errno = 0;
        *left = strtoull(counter, &end, 10);
        if (end == counter + COUNTER_DIGITS && *end == '\0' && errno == 0)
            result = 0;
    }
    free(text);
    return result;
}

int
self_exec_start(struct self_exec *self, const char *program, uint64_t execs)
{
    char counter[COUNTER_DIGITS + 1];
    char *const arguments[] = {(char *)program, counter, NULL};
    char *const environment[] = {NULL};
    volatile int failure = 0;
    int ends[2], kept;

    snprintf(counter, sizeof(counter), "%0*" PRIu64, COUNTER_DIGITS, execs);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    self->pid = vfork();
    if (self->pid == 0) {
        worker_become();
        kept = fcntl(ends[1], F_DUPFD, 3); /* this one outlives an exec */
        if (kept >= 0)
            execve(program, arguments, environment);
        failure = errno;
        _exit(127);
    }
    self->start_ns = monotonic_ns();
    if (self->pid < 0)
        failure = errno;
    close(ends[1]);
    self->gone = ends[0];
    if (failure == 0)
        return 0;
    close(ends[0]);
    if (self->pid > 0)
        waitpid(self->pid, NULL, 0);
    errno = failure;
    return -1;
}

/* One run while it goes on. */
struct watch {
    const struct test *test;
    const struct run_cell *cell;
    struct self_exec self;
    uint64_t execs, left;
    int64_t stopped_ns; /* 0: not stopped */
};

static void
show_progress(void *context)
{
    struct watch *watch = context;
    const struct run_filesystem *filesystem =
        &watch->test->run.filesystems[watch->cell->filesystem];
    int64_t spent = monotonic_ns() - watch->self.start_ns;
    uint64_t done;

    if (self_exec_left(watch->self.pid, &watch->left) != 0 ||
        watch->left >= watch->execs)
        return;
    done = watch->execs - watch->left;
    progress_show("%s, run %u of %u: %" PRIu64 " of %" PRIu64 " execs, "
                  "%.1f us each, %.0f s to go",
                  filesystem->label, watch->cell->repetition + 1,
                  watch->test->run.repetitions, done, watch->execs,
                  (double)spent / 1e3 / (double)done,
                  (double)spent / 1e9 / (double)done * (double)watch->left);
}

static void
halt(void *context)
{
    struct watch *watch = context;
    int64_t until = monotonic_ns() + HALT_PATIENCE_NS;
    siginfo_t info;

    kill(watch->self.pid, SIGSTOP);
    do {
        info.si_pid = 0;
        if (waitid(P_PID, (id_t)watch->self.pid, &info,
                   WSTOPPED | WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid != 0)
            break;
        sleep_ns(1000000);
    } while (monotonic_ns() < until);
    watch->stopped_ns = monotonic_ns();
    if (self_exec_left(watch->self.pid, &watch->left) != 0)
        watch->left = watch->execs; /* not known: nothing is claimed */
    kill(watch->self.pid, SIGKILL);
}

static int
why_it_ended(struct test *test, const char *program, int status)
{
    if (WIFSIGNALED(status))
        return set_error(test->error, sizeof(test->error),
                         "%s: ended by signal %d (%s) while it exec'd itself",
                         program, WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) > 128)
        return set_error(test->error, sizeof(test->error),
                         "%s: could not exec itself any more: %s", program,
                         strerror(WEXITSTATUS(status) - 128));
    return set_error(test->error, sizeof(test->error),
                     "%s: left with status %d", program, WEXITSTATUS(status));
}

int
self_exec_measure(struct test *test, struct run_cell *cell)
{
    struct watch watch = {.test = test, .cell = cell,
                          .execs = bench_settings(test)->count};
    const struct worker_events events = {show_progress, halt, &watch};
    const char *program =
        test->run.filesystems[cell->filesystem].program_path;
    int64_t end_ns;
    int status = 0, waited;

    if (bench_settings(test)->race_ns > 0)
        return race_measure(test, cell);
    if (self_exec_start(&watch.self, program, watch.execs) != 0)
        return set_error(test->error, sizeof(test->error),
                         "%s: exec failed: %s", program, strerror(errno));
    waited = worker_wait(watch.self.pid, watch.self.gone, &events, &status);
    end_ns = monotonic_ns();
    close(watch.self.gone);
    if (waited != 0)
        return set_error(test->error, sizeof(test->error),
                         "process %ld does not end: the server does not "
                         "answer", (long)watch.self.pid);
    if (watch.stopped_ns != 0) {
        cell->state = CELL_INTERRUPTED;
        if (watch.left < watch.execs)
            bench_add_time(cell, "elapsed", watch.execs - watch.left,
                           watch.stopped_ns - watch.self.start_ns);
        return 0;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return why_it_ended(test, program, status);
    bench_add_time(cell, "elapsed", watch.execs,
                   end_ns - watch.self.start_ns);
    return 0;
}

void
self_exec_plan(struct test *test)
{
    static const char *const plain[] = {"self-exec"}, *const race[] = {"race"};
    const struct bench_settings *settings = bench_settings(test);

    test->run.execs = settings->count <= UINT32_MAX
                          ? (unsigned)settings->count
                          : UINT32_MAX;
    test->run.repetitions = settings->race_ns > 0 ? 1 : settings->runs;
    plan_variants(&test->run, settings->race_ns > 0 ? race : plain, 1);
}
