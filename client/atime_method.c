/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* O_DIRECT */
#include "client/atime_method.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
atime_method_open(struct atime_method *state, enum run_method method,
                  const char *path)
{
    int flags = O_RDONLY | O_CLOEXEC;

    memset(state, 0, sizeof(*state));
    state->method = method;
    state->path = path;
    state->descriptor = -1;
    if (method != METHOD_READ && method != METHOD_DIRECT_READ)
        return;
    if (method == METHOD_DIRECT_READ) {
        flags |= O_DIRECT;
        state->open_errno = posix_memalign(&state->buffer, ATIME_DIRECT_BYTES,
                                           ATIME_DIRECT_BYTES);
        if (state->open_errno != 0)
            return;
    }
    state->descriptor = open(path, flags);
    if (state->descriptor < 0)
        state->open_errno = errno;
}

static int
set_atime(const char *path)
{
    static const struct timespec times[2] = {{.tv_nsec = UTIME_NOW},
                                             {.tv_nsec = UTIME_OMIT}};

    return utimensat(AT_FDCWD, path, times, 0) == 0 ? 0 : errno;
}

static int
read_at_start(int descriptor, void *buffer, size_t length)
{
    ssize_t got;

    do
        got = pread(descriptor, buffer, length, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno;
    return got == 0 ? ENODATA : 0; /* the program is never empty */
}

static int
open_and_read(const char *path)
{
    int result, fd = open(path, O_RDONLY | O_CLOEXEC);
    char byte;

    if (fd < 0)
        return errno;
    result = read_at_start(fd, &byte, 1);
    if (close(fd) != 0 && result == 0)
        result = errno;
    return result;
}

int
atime_method_apply(struct atime_method *state)
{
    char byte;

    switch (state->method) {
    case METHOD_SETATTR:
        return set_atime(state->path);
    case METHOD_OPEN_READ:
        return open_and_read(state->path);
    case METHOD_READ:
        return state->descriptor < 0
                   ? state->open_errno
                   : read_at_start(state->descriptor, &byte, 1);
    case METHOD_DIRECT_READ:
        return state->descriptor < 0
                   ? state->open_errno
                   : read_at_start(state->descriptor, state->buffer,
                                   ATIME_DIRECT_BYTES);
    case METHOD_NOEXEC:
    case METHOD_NONE:
    case METHOD_COUNT:
        break;
    }
    return 0;
}

void
atime_method_close(struct atime_method *state)
{
    if (state->descriptor >= 0)
        close(state->descriptor);
    state->descriptor = -1;
    free(state->buffer);
    state->buffer = NULL;
}
