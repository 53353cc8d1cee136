/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* pipe2 */
#include "client/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t stopping;
static int stop_pipe[2] = {-1, -1};

static void
on_signal(int number)
{
    int saved = errno;

    /* A second one ends the process: the only way out of a wait for a server
     * that is gone. */
    signal(number, SIG_DFL);
    if (stopping == 0) {
        stopping = number;
        if (write(stop_pipe[1], "", 1) < 0)
            stopping = number; /* polled as a number all the same */
    }
    errno = saved;
}

int
stop_install(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};

    if (stop_pipe[0] < 0 && pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct sigaction old;

        /* What nohup or a shell's & has set to be ignored stays so. */
        if (sigaction(signals[i], NULL, &old) == 0 &&
            old.sa_handler == SIG_IGN)
            continue;
        if (sigaction(signals[i], &action, NULL) != 0)
            return -1;
    }
    return 0;
}

int
stop_signal(void)
{
    return stopping;
}

int
stop_fd(void)
{
    return stop_pipe[0];
}

int
stop_sleep_ms(int milliseconds)
{
    struct pollfd wait = {.fd = stop_pipe[0], .events = POLLIN};

    if (stopping == 0)
        poll(&wait, 1, milliseconds);
    return stopping != 0;
}
