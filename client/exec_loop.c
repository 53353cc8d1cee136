/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation. The cost of fork grows with the memory of the process
 * that forks, so the loop runs in a launcher: a child forked before anything
 * large exists, which allocates nothing. Orders and records lie in shared
 * memory that is touched before the first exec; a SEQPACKET pair carries one
 * byte per step ('P' prepare, 'G' go, 'F' finish) and one answer back. When
 * the parent is gone the pair ends, and so does the launcher.
 *
 * The launcher leads a process group, so that a terminal's Ctrl-C reaches the
 * parent alone, and the parent can reach every child that was exec'd without
 * knowing its number. Its signal handler only interrupts waitpid: handlers,
 * unlike ignored signals, are reset by exec, so that the child starts with
 * the default actions and no system call of ours in between.
 *
 * Whether the exec itself happened is learnt
 * - vfork: from a variable: parent and child share memory, and vfork returns
 *   in the parent when the exec is done or the child has left;
 * - fork: from a close-on-exec pipe, made before the clock starts: end of
 *   file is success, else the child wrote its errno;
 * - posix_spawn: from its return value (glibc waits for the exec).
 */
#define _GNU_SOURCE /* vfork, pipe2, MAP_POPULATE, setgroups */
#include "client/exec_loop.h"

#include "client/atime_method.h"
#include "client/progress.h"
#include "client/stop.h"
#include "client/util.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGUMENTS 256
#define ARGUMENT_BYTES 32768

/* How long an exec may take to end after a request to stop. */
#define STOP_PATIENCE_MS 3000
#define TERMINATE_PATIENCE_MS 2000
/* After this long without an exec the user is told. */
#define STUCK_MS 30000

struct shared {
    atomic_int stop;
    atomic_size_t done; /* execs of the loop at hand */
    /* the order */
    enum run_method method;
    enum spawn_kind spawn;
    size_t execs;
    int64_t interval_ns;
    bool empty_environment;
    char program[PATH_MAX];
    unsigned argument_count;
    char arguments[ARGUMENT_BYTES]; /* each ended by NUL */
    /* the result */
    struct launch_result result;
    struct run_attr attr;
    struct run_exec records[];
};

struct launcher {
    pid_t pid;
    int socket;
    struct shared *shared;
    size_t shared_bytes;
    size_t max_execs;
};

struct answer {
    char step;
    int error; /* errno, or 0 */
};

extern char **environ;

static const char *const spawn_names[] = {
    [SPAWN_VFORK] = "vfork",
    [SPAWN_FORK] = "fork",
    [SPAWN_POSIX_SPAWN] = "posix_spawn",
};
_Static_assert(sizeof(spawn_names) / sizeof(spawn_names[0]) == SPAWN_COUNT,
               "each spawn kind has a name");

const char *
spawn_kind_name(enum spawn_kind kind)
{
    return (unsigned)kind < SPAWN_COUNT ? spawn_names[kind] : "?";
}

enum spawn_kind
spawn_kind_by_name(const char *name)
{
    unsigned kind;

    for (kind = 0; kind < SPAWN_COUNT; kind++)
        if (strcmp(spawn_names[kind], name) == 0)
            break;
    return (enum spawn_kind)kind;
}

/* --- the launcher's side -------------------------------------------------- */

/* What the loop needs, worked out once per cell. */
struct loop {
    struct shared *shared;
    char *argv[MAX_ARGUMENTS + 2];
    char **environment;
    struct atime_method method;
};

static void
on_interrupt(int number)
{
    (void)number; /* waitpid returns EINTR, the loop looks at shared->stop */
}

/*
 * The child of vfork borrows this frame's memory: `failure` is volatile so
 * that what it stores is read here, and nothing else is written.
 */
static pid_t
spawn_by_vfork(const struct loop *loop, bool noexec, int *exec_errno)
{
    volatile int failure = 0;
    pid_t pid = vfork();

    if (pid == 0) {
        if (noexec)
            _exit(0);
        execve(loop->shared->program, loop->argv, loop->environment);
        failure = errno;
        _exit(127);
    }
    *exec_errno = pid < 0 ? errno : failure;
    return pid;
}

static pid_t
spawn_by_fork(const struct loop *loop, bool noexec, int status_pipe[2],
              int *exec_errno)
{
    int failure = 0;
    ssize_t got;
    pid_t pid = fork();

    if (pid == 0) {
        if (noexec)
            _exit(0);
        execve(loop->shared->program, loop->argv, loop->environment);
        failure = errno;
        if (write(status_pipe[1], &failure, sizeof(failure)) < 0)
            _exit(126);
        _exit(127);
    }
    if (pid < 0) {
        *exec_errno = errno;
        return pid;
    }
    *exec_errno = 0;
    if (noexec)
        return pid;
    close(status_pipe[1]);
    status_pipe[1] = -1;
    do
        got = read(status_pipe[0], &failure, sizeof(failure));
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof(failure))
        *exec_errno = failure;
    return pid;
}

/* noexec with posix_spawn: there is no spawn without exec, so vfork. */
static pid_t
spawn_by_posix_spawn(const struct loop *loop, bool noexec, int *exec_errno)
{
    pid_t pid;

    if (noexec)
        return spawn_by_vfork(loop, noexec, exec_errno);
    *exec_errno = posix_spawn(&pid, loop->shared->program, NULL, NULL,
                              loop->argv, loop->environment);
    return *exec_errno == 0 ? pid : -1;
}

/* Waits for the child, whatever signals say; a stop that lasts is answered
 * by the parent, which signals the whole group. */
static int
reap(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

static void
close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

#ifdef SEEDED_SLOWDOWN
static void
lengthen(void)
{
    int64_t end = monotonic_ns() + 5000;

    while (monotonic_ns() < end)
        continue;
}
#endif

/* One exec and the method after it. @return false: no process could be made
 * and the record holds the reason. */
static void
one_exec(struct loop *loop, struct run_exec *record)
{
    bool noexec = loop->shared->method == METHOD_NOEXEC;
    int status_pipe[2] = {-1, -1};
    pid_t pid = -1;

    memset(record, 0, sizeof(*record));
    record->exec_ns = RUN_UNKNOWN_NS;
    if (loop->shared->spawn == SPAWN_FORK && !noexec &&
        pipe2(status_pipe, O_CLOEXEC) != 0) {
        record->start_ns = monotonic_ns();
        record->exec_errno = errno;
        record->exit_ns = record->end_ns = record->start_ns;
        return;
    }
    record->start_ns = monotonic_ns();
    switch (loop->shared->spawn) {
    case SPAWN_FORK:
        pid = spawn_by_fork(loop, noexec, status_pipe, &record->exec_errno);
        break;
    case SPAWN_POSIX_SPAWN:
        pid = spawn_by_posix_spawn(loop, noexec, &record->exec_errno);
        break;
    case SPAWN_VFORK:
    case SPAWN_COUNT:
        pid = spawn_by_vfork(loop, noexec, &record->exec_errno);
        break;
    }
    if (!noexec && record->exec_errno == 0)
        record->exec_ns = monotonic_ns();
    if (pid > 0)
        record->wait_status = reap(pid);
    record->exit_ns = monotonic_ns();
#ifdef SEEDED_SLOWDOWN
    lengthen();
#endif
    record->method_errno = atime_method_apply(&loop->method);
    record->end_ns = monotonic_ns();
    close_pair(status_pipe);
}

static int64_t
timeval_ns(struct timeval time)
{
    return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

/* Adds usage with that sign: before is -1, after is +1. */
static void
add_usage(struct launch_result *result, int sign)
{
    static const int whose[] = {RUSAGE_CHILDREN, RUSAGE_SELF};

    for (size_t i = 0; i < 2; i++) {
        struct rusage usage;

        if (getrusage(whose[i], &usage) != 0)
            continue;
        result->user_ns += sign * timeval_ns(usage.ru_utime);
        result->system_ns += sign * timeval_ns(usage.ru_stime);
        result->minor_faults += (uint64_t)(sign * usage.ru_minflt);
        result->major_faults += (uint64_t)(sign * usage.ru_majflt);
    }
}

static void
run_loop(struct loop *loop)
{
    struct shared *shared = loop->shared;
    struct launch_result *result = &shared->result;
    size_t done = 0;

    add_usage(result, -1);
    while (done < shared->execs) {
        if (atomic_load_explicit(&shared->stop, memory_order_relaxed) != 0)
            break;
        one_exec(loop, &shared->records[done]);
        done++;
        atomic_store_explicit(&shared->done, done, memory_order_relaxed);
        if (shared->interval_ns > 0 && done < shared->execs) {
            struct timespec pause = {
                .tv_sec = shared->interval_ns / 1000000000,
                .tv_nsec = shared->interval_ns % 1000000000};
            nanosleep(&pause, NULL); /* cut short when asked to stop */
        }
    }
    add_usage(result, +1);
    result->exec_count = done;
    result->interrupted = done < shared->execs;
}

static void
prepare(struct loop *loop)
{
    static char *empty[] = {NULL};
    struct shared *shared = loop->shared;
    char *text = shared->arguments;
    unsigned i;

    loop->argv[0] = shared->program;
    for (i = 0; i < shared->argument_count; i++) {
        loop->argv[i + 1] = text;
        text += strlen(text) + 1;
    }
    loop->argv[i + 1] = NULL;
    loop->environment = shared->empty_environment ? empty : environ;
    memset(&shared->result, 0, sizeof(shared->result));
    atime_method_open(&loop->method, shared->method, shared->program);
}

static int64_t
timespec_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void
look_at_program(struct shared *shared)
{
    struct stat status;

    memset(&shared->attr, 0, sizeof(shared->attr));
    shared->attr.atime_ns = shared->attr.mtime_ns = shared->attr.ctime_ns =
        RUN_UNKNOWN_NS;
    if (stat(shared->program, &status) != 0)
        return;
    shared->attr.atime_ns = timespec_ns(status.st_atim);
    shared->attr.mtime_ns = timespec_ns(status.st_mtim);
    shared->attr.ctime_ns = timespec_ns(status.st_ctim);
}

static _Noreturn void
launcher_main(int socket, struct shared *shared)
{
    static struct loop loop;
    struct answer answer = {0};
    char step;

    loop.shared = shared;
    loop.method.descriptor = -1;
    for (;;) {
        ssize_t got = recv(socket, &step, 1, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            _exit(0); /* the parent is gone */
        switch (step) {
        case 'P':
            prepare(&loop);
            break;
        case 'G':
            run_loop(&loop);
            break;
        case 'A':
            look_at_program(shared);
            break;
        case 'F':
            atime_method_close(&loop.method);
            break;
        default:
            _exit(1);
        }
        answer.step = step;
        while (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
            if (errno != EINTR)
                _exit(1);
    }
}

static int
become_user(const struct passwd *user)
{
    if (initgroups(user->pw_name, user->pw_gid) != 0)
        return -1;
    if (setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)
        return -1;
    return 0;
}

static const struct passwd *
find_user(const char *name)
{
    const struct passwd *user = getpwnam(name);
    char *end;
    unsigned long number;

    if (user != NULL || *name < '0' || *name > '9')
        return user;
    number = strtoul(name, &end, 10);
    return *end == '\0' && number <= UINT_MAX ? getpwuid((uid_t)number) : NULL;
}

static int
become_launcher(const struct passwd *user)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    int null;

    sigemptyset(&action.sa_mask);
    if (setpgid(0, 0) != 0 && errno != EPERM)
        return errno;
    if (sigaction(SIGINT, &action, NULL) != 0 ||
        sigaction(SIGTERM, &action, NULL) != 0 ||
        sigaction(SIGHUP, &action, NULL) != 0)
        return errno;
    /* Ignored signals, unlike handlers, would reach what is exec'd. */
    if (signal(SIGPIPE, SIG_DFL) == SIG_ERR)
        return errno;
    /* What is exec'd neither reads the terminal nor writes on it. */
    null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
        dup2(null, 2) < 0)
        return errno;
    if (null > 2)
        close(null);
    if (user != NULL && become_user(user) != 0)
        return errno;
    return 0;
}

/* --- the parent's side ---------------------------------------------------- */

static int
send_step(struct launcher *launcher, char step)
{
    while (send(launcher->socket, &step, 1, MSG_NOSIGNAL) < 0)
        if (errno != EINTR)
            return -1;
    return 0;
}

/*
 * Waits for the launcher's answer. A request to stop is handed on and gets
 * sharper with time: the launcher stops by itself after the exec at hand, then
 * what was exec'd is terminated, then all is killed.
 */
static void
wait_for_answer(struct launcher *launcher)
{
    static const struct {
        int patience_ms;
        int signal;
    } steps[] = {{STOP_PATIENCE_MS, SIGTERM},
                 {TERMINATE_PATIENCE_MS, SIGKILL}};
    struct pollfd fds[2] = {{.fd = launcher->socket, .events = POLLIN},
                            {.fd = stop_fd(), .events = POLLIN}};
    size_t before = SIZE_MAX;
    bool told = false;
    int ready;

    while (stop_signal() == 0) {
        size_t done = atomic_load(&launcher->shared->done);

        ready = poll(fds, 2, STUCK_MS);
        if (ready > 0 && fds[0].revents != 0)
            return;
        if (ready == 0 && !told && before == done) {
            progress_clear();
            fprintf(stderr, "nfs-atime-test: nothing has happened for %d s: "
                    "does the server of %s answer? (Ctrl-C stops)\n",
                    STUCK_MS / 1000, launcher->shared->program);
            told = true;
        }
        before = done;
    }
    atomic_store(&launcher->shared->stop, 1);
    kill(launcher->pid, SIGTERM); /* out of a pause between execs */
    for (size_t i = 0; i < 2; i++) {
        int64_t end = monotonic_ns() + steps[i].patience_ms * 1000000LL;

        do
            ready = poll(fds, 1, (int)((end - monotonic_ns()) / 1000000));
        while (ready < 0 && errno == EINTR && monotonic_ns() < end);
        if (ready > 0)
            return;
        kill(-launcher->pid, steps[i].signal);
    }
}

/* Reads the answer to step. @return 0 or -1: gone, or not an answer. */
static int
receive_answer(struct launcher *launcher, char step, struct answer *answer)
{
    ssize_t got;

    wait_for_answer(launcher);
    do
        got = recv(launcher->socket, answer, sizeof(*answer), 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(*answer) && answer->step == step ? 0 : -1;
}

static int
launcher_gone(struct launcher *launcher, char *error, size_t error_size)
{
    int status;

    if (launcher->pid > 0 && waitpid(launcher->pid, &status, 0) > 0) {
        launcher->pid = -1;
        if (WIFSIGNALED(status))
            return set_error(error, error_size,
                             "the launcher process was ended by signal %d "
                             "(%s)", WTERMSIG(status),
                             strsignal(WTERMSIG(status)));
    }
    return set_error(error, error_size, "the launcher process is gone");
}

static int
step_and_answer(struct launcher *launcher, char step, char *error,
                size_t error_size)
{
    struct answer answer;

    if (send_step(launcher, step) != 0 ||
        receive_answer(launcher, step, &answer) != 0)
        return launcher_gone(launcher, error, error_size);
    return 0;
}

int
launcher_start(struct launcher **out, size_t max_execs, const char *as_user,
               char *error, size_t error_size)
{
    const struct passwd *user = NULL;
    struct launcher *launcher;
    struct answer answer;
    int pair[2];

    if (as_user != NULL) {
        user = find_user(as_user);
        if (user == NULL)
            return set_error(error, error_size,
                             "--as %s: there is no such user", as_user);
        if (geteuid() != 0)
            return set_error(error, error_size,
                             "--as %s: only root can become another user",
                             as_user);
    }
    if (max_execs > (SIZE_MAX - sizeof(struct shared)) /
                        sizeof(struct run_exec) / 2)
        return set_error(error, error_size, "-n %zu: too many", max_execs);
    launcher = need_memory(1, sizeof(*launcher));
    launcher->max_execs = max_execs;
    launcher->shared_bytes =
        sizeof(struct shared) + max_execs * sizeof(struct run_exec);
    launcher->shared = mmap(NULL, launcher->shared_bytes,
                            PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (launcher->shared == MAP_FAILED) {
        set_error(error, error_size,
                  "no memory for the records of %zu execs: %s", max_execs,
                  strerror(errno));
        free(launcher);
        return -1;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 ||
        (launcher->pid = fork()) < 0) {
        set_error(error, error_size, "cannot start the launcher: %s",
                  strerror(errno));
        munmap(launcher->shared, launcher->shared_bytes);
        free(launcher);
        return -1;
    }
    if (launcher->pid == 0) {
        close(pair[0]);
        /* Touch the records here too: no page fault inside the loop. */
        memset(launcher->shared, 0, launcher->shared_bytes);
        answer.step = 'S';
        answer.error = become_launcher(user);
        if (send(pair[1], &answer, sizeof(answer), MSG_NOSIGNAL) < 0 ||
            answer.error != 0)
            _exit(1);
        launcher_main(pair[1], launcher->shared);
    }
    close(pair[1]);
    launcher->socket = pair[0];
    if (receive_answer(launcher, 'S', &answer) != 0) {
        launcher_gone(launcher, error, error_size);
        launcher_end(launcher);
        return -1;
    }
    if (answer.error != 0) {
        set_error(error, error_size, "the launcher could not %s: %s",
                  user != NULL ? "become the user of --as" : "be set up",
                  strerror(answer.error));
        launcher_end(launcher);
        return -1;
    }
    *out = launcher;
    return 0;
}

int
launcher_prepare(struct launcher *launcher, const struct launch_order *order,
                 char *error, size_t error_size)
{
    struct shared *shared = launcher->shared;
    size_t used = 0;

    if (order->execs > launcher->max_execs)
        return set_error(error, error_size, "order of %zu execs, room for %zu",
                         order->execs, launcher->max_execs);
    if (strlen(order->program) >= sizeof(shared->program))
        return set_error(error, error_size, "%s: path too long",
                         order->program);
    shared->argument_count = 0;
    for (char *const *next = order->arguments; next != NULL && *next != NULL;
         next++) {
        size_t length = strlen(*next) + 1;

        if (used + length > sizeof(shared->arguments) ||
            shared->argument_count == MAX_ARGUMENTS)
            return set_error(error, error_size,
                             "%s: more than %d arguments or %d bytes of them",
                             order->program, MAX_ARGUMENTS, ARGUMENT_BYTES);
        memcpy(shared->arguments + used, *next, length);
        used += length;
        shared->argument_count++;
    }
    strcpy(shared->program, order->program);
    shared->method = order->method;
    shared->spawn = order->spawn;
    shared->execs = order->execs;
    shared->interval_ns = order->interval_ns;
    shared->empty_environment = order->empty_environment;
    return step_and_answer(launcher, 'P', error, error_size);
}

int
launcher_run(struct launcher *launcher, struct launch_result *result,
             char *error, size_t error_size)
{
    memset(result, 0, sizeof(*result));
    atomic_store(&launcher->shared->done, 0);
    if (step_and_answer(launcher, 'G', error, error_size) != 0)
        return -1;
    *result = launcher->shared->result;
    return 0;
}

int
launcher_stat(struct launcher *launcher, struct run_attr *attr, char *error,
              size_t error_size)
{
    if (step_and_answer(launcher, 'A', error, error_size) != 0)
        return -1;
    *attr = launcher->shared->attr;
    return 0;
}

int
launcher_finish(struct launcher *launcher, char *error, size_t error_size)
{
    return step_and_answer(launcher, 'F', error, error_size);
}

const struct run_exec *
launcher_records(const struct launcher *launcher)
{
    return launcher->shared->records;
}

void
launcher_end(struct launcher *launcher)
{
    if (launcher == NULL)
        return;
    close(launcher->socket);
    if (launcher->pid > 0)
        while (waitpid(launcher->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    munmap(launcher->shared, launcher->shared_bytes);
    free(launcher);
}
