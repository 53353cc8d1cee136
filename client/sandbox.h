/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gives up what reading a capture does not need, before its first byte: all
 * capabilities, the chance to gain any (no_new_privs), and every system call
 * but those for reading, writing and memory (seccomp). A port supplies
 * sandbox_enter(), or one that does nothing and says so.
 */
#ifndef NAT_CLIENT_SANDBOX_H
#define NAT_CLIENT_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

enum sandbox_files {
    SANDBOX_FILES_OPEN, /* every file is open already */
    SANDBOX_FILES_READ, /* more may be opened, for reading only */
};

enum sandbox_level {
    SANDBOX_NONE,       /* nothing could be given up */
    SANDBOX_PRIVILEGES, /* capabilities and no_new_privs, all calls allowed */
    SANDBOX_FULL,
};

/*
 * To be called while there is one thread; those made later are inside. Calls
 * that only an attacker makes (execve, socket, ptrace ...) end the process
 * by SIGSYS; others that are not allowed fail with EPERM.
 *
 * @param programs may still be started, such as gnuplot: no seccomp.
 * @param why says in one line why it is not SANDBOX_FULL.
 */
enum sandbox_level sandbox_enter(enum sandbox_files files, bool programs,
                                 char *why, size_t size);

#endif
