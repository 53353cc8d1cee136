/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/progress.h"

#include "client/util.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_EVERY_NS 5000000000
#define LINE_BYTES 80

static enum progress_mode mode;
static bool terminal, shown;
static int64_t last_ns;

void
progress_start(enum progress_mode wanted)
{
    mode = wanted;
    terminal = isatty(STDERR_FILENO) != 0;
    last_ns = 0;
}

void
progress_show(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    int64_t now = monotonic_ns();

    if (mode == PROGRESS_QUIET ||
        (!terminal && (mode != PROGRESS_VERBOSE ||
                       (last_ns != 0 && now - last_ns < LINE_EVERY_NS))))
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fprintf(stderr, terminal ? "\r\033[K%s" : "%s\n", line);
    fflush(stderr);
    shown = terminal;
    last_ns = now;
}

void
progress_clear(void)
{
    if (!shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    shown = false;
}
