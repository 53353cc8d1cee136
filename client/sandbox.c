/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * An allow-list. What reading, decoding and printing use is allowed, some of
 * it by argument: mmap and mprotect without PROT_EXEC, clone for threads
 * only, openat for reading only or not at all. clone3 takes its flags from
 * memory, where a filter cannot look: it is said not to exist (ENOSYS), and
 * the C library falls back to clone. What is neither allowed nor in the list
 * of calls that end the process fails with EPERM, which the libraries can
 * live with: jansson then seeds its tables from the time, malloc counts the
 * processors in another way.
 *
 * Sanitizers look at their own process by ptrace and from further processes
 * when it ends: a build with them goes without the filter.
 */
#define _GNU_SOURCE /* CLONE_*, AT_EMPTY_PATH */
#include "client/sandbox.h"

#include "client/util.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <termios.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* Allowed whatever their arguments. Names that an architecture does not have
 * are passed over. */
static const int allowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(lseek),
    SCMP_SYS(_llseek),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(fstat64),
    SCMP_SYS(fadvise64),
    SCMP_SYS(readahead),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(futex_time64),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(membarrier),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getcpu),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(sigreturn),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_gettime64),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(clock_nanosleep_time64),
    SCMP_SYS(getrandom),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(sysinfo),
};

/* Nothing here ever makes these: whoever does has taken over. */
static const int deadly[] = {
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(socket),
    SCMP_SYS(socketpair),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(chroot),
    SCMP_SYS(pivot_root),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(setuid),
    SCMP_SYS(setgid),
    SCMP_SYS(setresuid),
    SCMP_SYS(setresgid),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(kill),
};

/* Threads of this process, as pthread_create() makes them. */
#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | \
                      CLONE_THREAD)
#define WRITING (O_ACCMODE | O_CREAT | O_TRUNC)

/* The first failure counts. */
static void
note(int *status, int result)
{
    if (*status == 0)
        *status = result;
}

static void
allow_if(scmp_filter_ctx filter, int *status, int call,
         struct scmp_arg_cmp condition)
{
    note(status, seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1,
                                        &condition));
}

static int
allow_by_argument(scmp_filter_ctx filter, enum sandbox_files files)
{
    const struct scmp_arg_cmp not_executable =
        SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    int status = 0;

    allow_if(filter, &status, SCMP_SYS(mmap), not_executable);
    allow_if(filter, &status, SCMP_SYS(mmap2), not_executable);
    allow_if(filter, &status, SCMP_SYS(mprotect), not_executable);
    allow_if(filter, &status, SCMP_SYS(clone),
             SCMP_A0(SCMP_CMP_MASKED_EQ, THREAD_FLAGS, THREAD_FLAGS));
    note(&status, seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS),
                                   SCMP_SYS(clone3), 0));
    /* abort() and raise(), to oneself. */
    allow_if(filter, &status, SCMP_SYS(tgkill),
             SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
    /* What stdio and progress ask of a terminal. */
    allow_if(filter, &status, SCMP_SYS(ioctl),
             SCMP_A1(SCMP_CMP_EQ, TIOCGWINSZ, 0));
    allow_if(filter, &status, SCMP_SYS(ioctl),
             SCMP_A1(SCMP_CMP_EQ, TCGETS, 0));
    if (files == SANDBOX_FILES_READ) {
        note(&status, seccomp_rule_add(filter, SCMP_ACT_ALLOW,
                                       SCMP_SYS(newfstatat), 0));
        note(&status, seccomp_rule_add(filter, SCMP_ACT_ALLOW,
                                       SCMP_SYS(statx), 0));
        allow_if(filter, &status, SCMP_SYS(openat),
                 SCMP_A2(SCMP_CMP_MASKED_EQ, WRITING, O_RDONLY));
        allow_if(filter, &status, SCMP_SYS(open),
                 SCMP_A1(SCMP_CMP_MASKED_EQ, WRITING, O_RDONLY));
    } else { /* fstat() of newer C libraries */
        allow_if(filter, &status, SCMP_SYS(newfstatat),
                 SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH));
        allow_if(filter, &status, SCMP_SYS(statx),
                 SCMP_A2(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH));
    }
    return status;
}

/* @return 0, or a negative errno. */
static int
load_filter(enum sandbox_files files)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    uint32_t kill = SCMP_ACT_KILL_PROCESS;
    int status = 0;
    size_t i;

    if (filter == NULL)
        return -ENOMEM;
    if (seccomp_api_get() < 3) /* before Linux 4.14 */
        kill = SCMP_ACT_KILL_THREAD;
    /* Calls of another architecture (32 bits) end the process, too. */
    note(&status, seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, kill));
    for (i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        note(&status,
             seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0));
    for (i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        note(&status, seccomp_rule_add(filter, kill, deadly[i], 0));
    note(&status, allow_by_argument(filter, files));
    if (status == 0)
        status = seccomp_load(filter);
    seccomp_release(filter);
    return status;
}

/* The one that reads other people's files stays while files are opened. */
static bool
drop_capabilities(enum sandbox_files files)
{
    const bool reads =
        capng_have_capability(CAPNG_EFFECTIVE, CAP_DAC_READ_SEARCH) > 0;

    capng_clear(CAPNG_SELECT_ALL);
    if (files == SANDBOX_FILES_READ && reads)
        capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED,
                     CAP_DAC_READ_SEARCH);
    return capng_apply(CAPNG_SELECT_CAPS) == 0;
}

enum sandbox_level
sandbox_enter(enum sandbox_files files, bool programs, char *why, size_t size)
{
    int status;

    if (!drop_capabilities(files) ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        set_error(why, size, "privileges could not be given up: %s",
                  strerror(errno));
        return SANDBOX_NONE;
    }
    if (programs) {
        set_error(why, size, "system calls are not limited: other programs "
                             "are started for this format");
        return SANDBOX_PRIVILEGES;
    }
    if (SANITIZED) {
        set_error(why, size, "system calls are not limited: built with "
                             "sanitizers");
        return SANDBOX_PRIVILEGES;
    }
    status = load_filter(files);
    if (status != 0) {
        set_error(why, size, "system calls are not limited: seccomp: %s",
                  strerror(status < 0 ? -status : EINVAL));
        return SANDBOX_PRIVILEGES;
    }
    return SANDBOX_FULL;
}
