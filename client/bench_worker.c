/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* pipe2, MAP_ANONYMOUS */
#include "client/bench_worker.h"

#include "client/stop.h"
#include "client/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_NS 1000000000
#define STOP_PATIENCE_NS 3000000000
#define KILL_PATIENCE_NS 2000000000

/* What a worker shares beside its own results. */
struct desk {
    atomic_int stop;
    char error[1024];
};

void *
shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory != MAP_FAILED ? memory : NULL;
}

void
shared_memory_free(void *memory, size_t bytes)
{
    if (memory != NULL)
        munmap(memory, bytes);
}

void
worker_become(void)
{
    static const int defaults[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        signal(defaults[i], SIG_DFL);
}

/* What happens next to a child that was asked to stop, and when. */
struct ending {
    int64_t at_ns;
    unsigned stage; /* 0 not asked, 1 asked, 2 terminated, 3 killed, 4 lost */
};

static void
press(struct ending *ending, pid_t pid, const struct worker_events *events)
{
    int64_t now = monotonic_ns();

    if (stop_signal() == 0 || (ending->stage > 0 && now < ending->at_ns))
        return;
    ending->stage++;
    ending->at_ns = now + (ending->stage == 1 ? STOP_PATIENCE_NS
                                              : KILL_PATIENCE_NS);
    if (ending->stage == 1 && events->on_stop != NULL)
        events->on_stop(events->context);
    else if (ending->stage == 2)
        kill(-pid, SIGTERM);
    else if (ending->stage == 3)
        kill(-pid, SIGKILL);
}

int
worker_wait(pid_t pid, int gone, const struct worker_events *events,
            int *status)
{
    struct ending ending = {0};
    int64_t tick_ns = monotonic_ns() + TICK_NS;

    for (;;) {
        /* Once asked, the descriptor that says so stays readable. */
        struct pollfd wait[] = {
            {.fd = gone, .events = POLLIN},
            {.fd = ending.stage == 0 ? stop_fd() : -1, .events = POLLIN}};
        int64_t now = monotonic_ns();
        int64_t left = (ending.stage > 0 ? ending.at_ns : tick_ns) - now;

        if (poll(wait, 2, left > 0 ? (int)(left / 1000000) + 1 : 0) > 0 &&
            wait[0].revents != 0)
            break;
        press(&ending, pid, events);
        if (ending.stage > 3)
            return -1;
        if (monotonic_ns() >= tick_ns) {
            tick_ns = monotonic_ns() + TICK_NS;
            if (events->tick != NULL && ending.stage == 0)
                events->tick(events->context);
        }
    }
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return 0;
}

static _Noreturn void
work_here(worker_function *work, void *shared, struct desk *desk)
{
    worker_become();
    _exit(work(shared, &desk->stop, desk->error, sizeof(desk->error)) == 0
              ? 0
              : 1);
}

static void
ask_to_stop(void *context)
{
    struct desk *desk = context;

    atomic_store(&desk->stop, 1);
}

/* @return as worker_run(). */
static int
verdict(const struct desk *desk, int status, char *error, size_t error_size)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return atomic_load(&desk->stop) != 0 ? 1 : 0;
    if (stop_signal() != 0)
        return 1;
    if (WIFSIGNALED(status))
        return set_error(error, error_size,
                         "the measuring process was ended by signal %d (%s)",
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
    return set_error(error, error_size, "%s", desk->error);
}

int
worker_run(worker_function *work, void *shared, char *error,
           size_t error_size)
{
    struct desk *desk = shared_memory(sizeof(*desk));
    struct worker_events events = {.on_stop = ask_to_stop, .context = desk};
    int ends[2], status = 0, result;
    pid_t pid;

    if (desk == NULL || pipe2(ends, O_CLOEXEC) != 0) {
        result = set_error(error, error_size, "a process to measure in: %s",
                           strerror(errno));
        shared_memory_free(desk, sizeof(*desk));
        return result;
    }
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        work_here(work, shared, desk);
    }
    close(ends[1]);
    if (pid < 0)
        result = set_error(error, error_size, "fork: %s", strerror(errno));
    else if (worker_wait(pid, ends[0], &events, &status) != 0)
        result = set_error(error, error_size, "process %ld does not end: the "
                           "server does not answer", (long)pid);
    else
        result = verdict(desk, status, error, error_size);
    close(ends[0]);
    shared_memory_free(desk, sizeof(*desk));
    return result;
}
