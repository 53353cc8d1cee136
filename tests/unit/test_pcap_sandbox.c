/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sandbox from the inside: a sink that does, while a capture is decoded,
 * what a decoder taken over by its input would do. Each attempt is a process
 * of its own; what has to become of it is in the table.
 */
#define _GNU_SOURCE /* CLONE_NEWUSER, fork */
#include "capture/capture.h"
#include "client/sandbox.h"
#include "tests/support/pcap_builder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h> /* before cmocka.h */

#include <cmocka.h>

static char capture_path[] = "/tmp/nat-sandbox-XXXXXX";
static bool limited; /* this build and kernel limit system calls */

/* --- attempts: 0 when it went well, else errno ------------------------------- */

static int
outcome(long result)
{
    return result < 0 ? errno : 0;
}

static int
nothing(void)
{
    return 0;
}

static int
make_socket(void)
{
    return outcome(socket(AF_INET, SOCK_STREAM, 0));
}

static int
make_socket_pair(void)
{
    int pair[2];

    return outcome(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static int
execute(void)
{
    char *const arguments[] = {"true", NULL};

    return outcome(execv("/bin/true", arguments));
}

static int
make_process(void)
{
    const pid_t child = fork();

    if (child == 0)
        _exit(0);
    return outcome(child);
}

static int
trace(void)
{
    return outcome(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int
remove_file(void)
{
    return outcome(unlink("/tmp/nat-sandbox-does-not-exist"));
}

static int
signal_others(void)
{
    return outcome(kill(getppid(), 0));
}

static int
leave_namespace(void)
{
    return outcome(unshare(CLONE_NEWUSER));
}

static int
open_to_read(void)
{
    return outcome(open("/etc/passwd", O_RDONLY));
}

static int
open_to_write(void)
{
    return outcome(open("/dev/null", O_WRONLY));
}

static int
make_file(void)
{
    return outcome(open("/tmp/nat-sandbox-made", O_RDONLY | O_CREAT, 0600));
}

static int
map_executable(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? errno : 0;
}

static int
make_executable(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? EINVAL
                            : outcome(mprotect(at, 4096, PROT_READ | PROT_EXEC));
}

static int
change_limits(void)
{
    const struct rlimit limit = {64, 64};

    return outcome(setrlimit(RLIMIT_NOFILE, &limit));
}

static void *
idle(void *argument)
{
    return argument;
}

static int
make_thread(void)
{
    pthread_t thread;
    const int status = pthread_create(&thread, NULL, idle, NULL);

    return status != 0 ? status : pthread_join(thread, NULL);
}

static void *
make_socket_in_thread(void *argument)
{
    (void)argument;
    make_socket();
    return NULL;
}

static int
thread_makes_socket(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, make_socket_in_thread, NULL) != 0
               ? EINVAL
               : pthread_join(thread, NULL);
}

static int
allocate(void)
{
    void *large = malloc(32 << 20), *small = malloc(100);
    int status = large == NULL || small == NULL ? ENOMEM : 0;

    if (large != NULL)
        memset(large, 1, 32 << 20);
    large = realloc(large, 64 << 20);
    free(small);
    free(large);
    return status;
}

static int
end_by_abort(void)
{
    abort();
}

/* --- the rig ------------------------------------------------------------------- */

struct attempt {
    const char *name;
    int (*act)(void);
    enum sandbox_files files;
    int signal;  /* that ends the process; 0: none */
    int error;   /* what the attempt gives otherwise */
};

static void
enter(void *context, bool all_open)
{
    const struct attempt *attempt = context;
    char why[256];

    (void)all_open;
    sandbox_enter(attempt->files, false, why, sizeof why);
}

static int seen_error;

static void
on_transaction(void *context, const struct rpc_transaction *tx)
{
    const struct attempt *attempt = context;

    (void)tx;
    seen_error = attempt->act();
}

/* Decodes the capture in a child; its status. */
static int
child_status(struct attempt *attempt)
{
    const struct rpc_transaction_sink sink = {attempt, on_transaction, NULL};
    const char *paths[] = {capture_path};
    struct capture_options options;
    struct capture_result result;
    char error[256];
    int status;
    const pid_t child = fork();

    if (child == 0) {
        const struct rlimit no_core = {0, 0};

        setrlimit(RLIMIT_CORE, &no_core);
        capture_options_default(&options);
        options.ready = enter;
        options.ready_context = attempt;
        seen_error = 255;
        capture_read(paths, 1, &options, &sink, &result, error, sizeof error);
        _exit(seen_error);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void
test_attempts(void **state)
{
    struct attempt attempts[] = {
        {"nothing", nothing, SANDBOX_FILES_OPEN, 0, 0},
        {"malloc", allocate, SANDBOX_FILES_OPEN, 0, 0},
        {"thread", make_thread, SANDBOX_FILES_OPEN, 0, 0},
        {"abort", end_by_abort, SANDBOX_FILES_OPEN, SIGABRT, 0},
        {"socket", make_socket, SANDBOX_FILES_OPEN, SIGSYS, 0},
        {"socketpair", make_socket_pair, SANDBOX_FILES_OPEN, SIGSYS, 0},
        {"execve", execute, SANDBOX_FILES_OPEN, SIGSYS, 0},
        {"ptrace", trace, SANDBOX_FILES_OPEN, SIGSYS, 0},
        {"unlink", remove_file, SANDBOX_FILES_OPEN, SIGSYS, 0},
        {"kill", signal_others, SANDBOX_FILES_OPEN, SIGSYS, 0},
        {"unshare", leave_namespace, SANDBOX_FILES_OPEN, SIGSYS, 0},
        {"socket in a thread", thread_makes_socket, SANDBOX_FILES_OPEN,
         SIGSYS, 0},
        {"fork", make_process, SANDBOX_FILES_OPEN, 0, EPERM},
        {"open", open_to_read, SANDBOX_FILES_OPEN, 0, EPERM},
        {"open to write", open_to_write, SANDBOX_FILES_OPEN, 0, EPERM},
        {"create", make_file, SANDBOX_FILES_OPEN, 0, EPERM},
        {"mmap to execute", map_executable, SANDBOX_FILES_OPEN, 0, EPERM},
        {"mprotect to execute", make_executable, SANDBOX_FILES_OPEN, 0, EPERM},
        {"setrlimit", change_limits, SANDBOX_FILES_OPEN, 0, EPERM},
        {"open, more files", open_to_read, SANDBOX_FILES_READ, 0, 0},
        {"open to write, more files", open_to_write, SANDBOX_FILES_READ, 0,
         EPERM},
        {"create, more files", make_file, SANDBOX_FILES_READ, 0, EPERM},
        {"socket, more files", make_socket, SANDBOX_FILES_READ, SIGSYS, 0},
        {"execve, more files", execute, SANDBOX_FILES_READ, SIGSYS, 0},
    };
    size_t i;

    (void)state;
    if (!limited)
        skip();
    for (i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        struct attempt *attempt = &attempts[i];
        const int status = child_status(attempt);

        if (attempt->signal != 0
                ? !WIFSIGNALED(status) || WTERMSIG(status) != attempt->signal
                : !WIFEXITED(status) || WEXITSTATUS(status) != attempt->error)
            fail_msg("%s: status 0x%x, not %s %d", attempt->name,
                     (unsigned)status,
                     attempt->signal != 0 ? "signal" : "exit",
                     attempt->signal != 0 ? attempt->signal : attempt->error);
    }
}

/* Before ready() nothing is given up: the filter may look up names. */
static void
test_outside(void **state)
{
    (void)state;
    assert_int_equal(make_socket(), 0);
    assert_int_equal(open_to_read(), 0);
}

static void
write_capture(void)
{
    const int descriptor = mkstemp(capture_path);
    struct pcap_out out;
    struct bytes message = {.length = 0};

    assert_true(descriptor >= 0);
    close(descriptor);
    pcap_begin(&out, capture_path);
    put_call(&message, 1, 100003, 3, 0, "client", 0);
    pcap_udp(&out, 1000000000, 0, 700, &message);
    message.length = 0;
    put_reply(&message, 1);
    pcap_udp(&out, 1000100000, 1, 700, &message);
    pcap_end(&out);
}

/* Does this build limit system calls? Asked of a child. */
static bool
is_limited(void)
{
    int status = 0;
    char why[256] = "";
    const pid_t child = fork();

    if (child == 0) {
        const bool full = sandbox_enter(SANDBOX_FILES_OPEN, false, why,
                                        sizeof why) == SANDBOX_FULL;

        if (!full)
            dprintf(STDERR_FILENO, "skipped: %s\n", why);
        _exit(full);
    }
    return child > 0 && waitpid(child, &status, 0) == child &&
           WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attempts),
        cmocka_unit_test(test_outside),
    };
    int failures;

    write_capture();
    limited = is_limited();
    failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(capture_path);
    return failures != 0 ? failures : limited ? 0 : 77;
}
