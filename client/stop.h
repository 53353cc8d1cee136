/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SIGINT, SIGTERM and SIGHUP as a request to stop: a number to look at and a
 * descriptor to poll, so that no wait can miss it.
 */
#ifndef NAT_CLIENT_STOP_H
#define NAT_CLIENT_STOP_H

/* Installs the handlers. 0, or -1 and errno. */
int stop_install(void);
/* The first signal that asked to stop, or 0. */
int stop_signal(void);
/* Readable once asked to stop; -1 before stop_install(). Never read it. */
int stop_fd(void);
/* Waits up to that long. @return true when asked to stop. */
int stop_sleep_ms(int milliseconds);

#endif
