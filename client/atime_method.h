/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is done after each exec so that the file's access time moves.
 *
 * setattr      utimensat(2) by path: atime UTIME_NOW, mtime UTIME_OMIT
 * read         pread(2) of one byte, descriptor opened before the loop
 * open-read    open(2), read(2) of one byte, close(2)
 * direct-read  pread(2) of the first 4096 bytes with O_DIRECT, descriptor
 *              opened before the loop: one READ reaches the server per exec,
 *              and no OPEN, CLOSE or close-to-open GETATTR beside it, so that
 *              it differs from `read` by the READ alone
 * noexec, none nothing
 */
#ifndef NAT_CLIENT_ATIME_METHOD_H
#define NAT_CLIENT_ATIME_METHOD_H

#include "analysis/run_file.h"

#define ATIME_DIRECT_BYTES 4096

/* Zero-initialise but for descriptor: -1. */
struct atime_method {
    enum run_method method;
    const char *path;  /* not copied */
    int descriptor;    /* -1: none open */
    int open_errno;    /* why it could not be opened, or 0 */
    void *buffer;      /* page-aligned, for direct-read */
};

/* Never fails: a descriptor that could not be opened makes each
 * atime_method_apply() return the reason. */
void atime_method_open(struct atime_method *state, enum run_method method,
                       const char *path);
/* @return 0 or an errno. */
int atime_method_apply(struct atime_method *state);
void atime_method_close(struct atime_method *state);

#endif
