/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What goes on, on standard error: one line that is rewritten on a terminal;
 * elsewhere, when asked for, a line every few seconds. Nothing is written
 * while a cell runs.
 */
#ifndef NAT_CLIENT_PROGRESS_H
#define NAT_CLIENT_PROGRESS_H

enum progress_mode { PROGRESS_QUIET, PROGRESS_NORMAL, PROGRESS_VERBOSE };

void progress_start(enum progress_mode mode);
void progress_show(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* Takes the line away, before something else is written. */
void progress_clear(void);

#endif
