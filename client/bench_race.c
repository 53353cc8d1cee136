/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Readers of /proc/PID against a process that execs itself: each exec takes
 * away the memory map that they look at.
 *
 * Theory of operation. A worker starts the program with more execs than it
 * can ever do and one thread for each file; each thread opens, reads to the
 * end, closes and looks at what it got, until the time is over. What is read
 * of a process between two maps may be empty; what is there must be whole: a
 * map's areas ascend and do not overlap, status names the process, statm has
 * its seven numbers. The kernel's own opinion is its taint mask.
 */
#define _GNU_SOURCE /* strsep */
#include "client/bench.h"

#include "client/bench_worker.h"
#include "client/progress.h"
#include "client/race_check.h"
#include "client/util.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_ERRNO 256
#define FILE_BYTES 65536
#define NEVER_DONE UINT64_C(9999999999999999999)
#define SLICE_NS 50000000
#define TAINTED "/proc/sys/kernel/tainted"

static const struct {
    const char *name;
    enum race_finding (*check)(char *text, pid_t pid);
} files[] = {
    {"maps", race_check_maps},
    {"status", race_check_status},
    {"statm", race_check_statm},
};
#define FILE_COUNT (sizeof(files) / sizeof(files[0]))

/* What one thread saw. */
struct reader_result {
    uint64_t reads, bytes;
    uint64_t findings[RACE_FINDING_COUNT];
    uint64_t open_errors[MOST_ERRNO], read_errors[MOST_ERRNO];
};

struct race {
    char program[4096];
    int64_t wanted_ns;
    int64_t elapsed_ns;
    uint64_t execs;
    bool survived;   /* still exec'ing when it was told to stop */
    int wait_status; /* when it did not */
    uint64_t taint_before, taint_after;
    struct reader_result readers[FILE_COUNT];
};

struct reader {
    pthread_t thread;
    size_t file;
    pid_t pid;
    atomic_int *end;
    struct reader_result *result;
};

static uint64_t
kernel_taint(void)
{
    char *text = read_text_file(TAINTED, NULL);
    uint64_t mask = text != NULL ? strtoull(text, NULL, 10) : 0;

    free(text);
    return mask;
}

static void
count_errno(uint64_t *counts, int number)
{
    counts[number > 0 && number < MOST_ERRNO ? number : 0]++;
}

static void
read_once(const struct reader *reader, const char *path, char *buffer)
{
    struct reader_result *result = reader->result;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t got = 0;

    if (fd < 0) {
        count_errno(result->open_errors, errno);
        return;
    }
    while (used < FILE_BYTES - 1 &&
           (got = read(fd, buffer + used, FILE_BYTES - 1 - used)) > 0)
        used += (size_t)got;
    if (got < 0)
        count_errno(result->read_errors, errno);
    close(fd);
    buffer[used] = '\0';
    result->reads++;
    result->bytes += used;
    if (got >= 0)
        result->findings[files[reader->file].check(buffer, reader->pid)]++;
}

static void *
read_on(void *context)
{
    const struct reader *reader = context;
    char path[64], *buffer = need_memory(FILE_BYTES, 1);

    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)reader->pid,
             files[reader->file].name);
    while (atomic_load_explicit(reader->end, memory_order_relaxed) == 0)
        read_once(reader, path, buffer);
    free(buffer);
    return NULL;
}

/* Until the time is over, the request to stop, or the program's end. */
static void
let_run(struct race *race, const struct self_exec *self,
        const atomic_int *stop)
{
    int64_t end_ns = self->start_ns + race->wanted_ns;
    struct pollfd gone = {.fd = self->gone, .events = POLLIN};

    while (monotonic_ns() < end_ns && atomic_load(stop) == 0 &&
           poll(&gone, 1, SLICE_NS / 1000000) <= 0)
        continue;
}

static void
end_program(struct race *race, const struct self_exec *self)
{
    uint64_t left = NEVER_DONE;
    int status = 0;

    /* Between two maps there is no command line: once more, then. */
    for (int i = 0; i < 1000 && self_exec_left(self->pid, &left) != 0; i++)
        sleep_ns(100000);
    race->elapsed_ns = monotonic_ns() - self->start_ns;
    race->execs = NEVER_DONE - left;
    kill(self->pid, SIGKILL);
    while (waitpid(self->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    race->survived = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    race->wait_status = status;
    close(self->gone);
}

static int
race_work(void *shared, const atomic_int *stop, char *error,
          size_t error_size)
{
    struct race *race = shared;
    struct reader readers[FILE_COUNT];
    struct self_exec self;
    atomic_int end = 0;
    size_t started;
    int failure = 0;

    race->taint_before = kernel_taint();
    if (self_exec_start(&self, race->program, NEVER_DONE) != 0)
        return set_error(error, error_size, "%s: exec failed: %s",
                         race->program, strerror(errno));
    for (started = 0; started < FILE_COUNT && failure == 0; started++) {
        readers[started] = (struct reader){.file = started, .pid = self.pid,
                                           .end = &end,
                                           .result = &race->readers[started]};
        failure = pthread_create(&readers[started].thread, NULL, read_on,
                                 &readers[started]);
        if (failure != 0)
            break;
    }
    if (failure == 0)
        let_run(race, &self, stop);
    atomic_store(&end, 1);
    for (size_t i = 0; i < started; i++)
        pthread_join(readers[i].thread, NULL);
    end_program(race, &self);
    race->taint_after = kernel_taint();
    if (failure != 0)
        return set_error(error, error_size, "a thread to read with: %s",
                         strerror(failure));
    return 0;
}

/* --- into the run --------------------------------------------------------- */

static void __attribute__((format(printf, 3, 4)))
observe(struct run_cell *cell, uint64_t count, const char *format, ...)
{
    char name[128];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    run_counts_add(&cell->observations, name, count);
}

static void
keep_reader(struct run_cell *cell, const char *file,
            const struct reader_result *result)
{
    observe(cell, result->reads, "%s: reads", file);
    observe(cell, result->bytes, "%s: bytes", file);
    for (int i = 1; i < RACE_FINDING_COUNT; i++)
        if (result->findings[i] > 0)
            observe(cell, result->findings[i], "%s: %s", file,
                    race_finding_name((enum race_finding)i));
    for (int i = 0; i < MOST_ERRNO; i++) {
        if (result->open_errors[i] > 0)
            observe(cell, result->open_errors[i], "%s: open %s", file,
                    errno_name(i));
        if (result->read_errors[i] > 0)
            observe(cell, result->read_errors[i], "%s: read %s", file,
                    errno_name(i));
    }
}

static void
keep_race(struct test *test, struct run_cell *cell, const struct race *race)
{
    const int status = race->wait_status;

    if (race->execs > 0)
        bench_add_time(cell, "elapsed", race->execs, race->elapsed_ns);
    for (size_t i = 0; i < FILE_COUNT; i++)
        keep_reader(cell, files[i].name, &race->readers[i]);
    observe(cell, race->survived, "the program lived until it was stopped");
    if (race->taint_before != race->taint_after)
        observe(cell, race->taint_after,
                "kernel taint mask, before %" PRIu64, race->taint_before);
    if (race->survived)
        return;
    cell->state = CELL_FAILED;
    if (WIFSIGNALED(status))
        set_error(test->error, sizeof(test->error),
                  "the program was ended by signal %d (%s) while its /proc "
                  "files were read", WTERMSIG(status),
                  strsignal(WTERMSIG(status)));
    else
        set_error(test->error, sizeof(test->error),
                  "the program left with status %d while its /proc files "
                  "were read", WEXITSTATUS(status));
    cell->error = copy_text(test->error);
}

int
race_measure(struct test *test, struct run_cell *cell)
{
    struct race *race = shared_memory(sizeof(*race));
    int status;

    if (race == NULL)
        return set_error(test->error, sizeof(test->error), "memory: %s",
                         strerror(errno));
    race->wanted_ns = bench_settings(test)->race_ns;
    snprintf(race->program, sizeof(race->program), "%s",
             test->run.filesystems[cell->filesystem].program_path);
    status = worker_run(race_work, race, test->error, sizeof(test->error));
    if (status == 1)
        cell->state = CELL_INTERRUPTED;
    if (status >= 0)
        keep_race(test, cell, race);
    shared_memory_free(race, sizeof(*race));
    return status < 0 ? -1 : 0;
}
