/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clock readings, strings and files as the client floor needs them.
 */
#ifndef NAT_CLIENT_UTIL_H
#define NAT_CLIENT_UTIL_H

#include "analysis/run_file.h"

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes one line into error (NULL or size 0: nowhere). @return -1 always. */
int set_error(char *error, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Nanoseconds of CLOCK_MONOTONIC, and of CLOCK_REALTIME since the epoch. */
int64_t monotonic_ns(void);
int64_t realtime_ns(void);
struct run_clock_pair clock_pair(void);
/* Sleeps that long, signals or not. */
void sleep_ns(int64_t nanoseconds);

/* Memory or the end of the process: the client's own tables are small, and
 * without them there is nothing to save. */
void *need_memory(size_t count, size_t size);
void *grow_memory(void *memory, size_t count, size_t size);
char *copy_text(const char *text); /* NULL gives NULL */
char *format_text(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* The whole file with a NUL behind it; /proc files too. NULL and errno. */
char *read_text_file(const char *path, size_t *length);

/* "EPERM"; unknown numbers as "errno 1234". The text is static. */
const char *errno_name(int number);

/* Appends a warning to the run and shows it on standard error, unless the
 * same one is there already. */
void run_warn(struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * What is wrong with the option at which getopt_long() stopped, such as
 * "unknown option --mont" or "-n needs a value". Needs opterr 0 and a colon
 * before the short options.
 * @param code what it returned, '?' or ':'
 */
const char *option_problem(int code, char *const *argv,
                           const struct option *options, char *text,
                           size_t size);

/* Makes directory and its parents, mode 0777 less umask. 0, or -1 and
 * errno. */
int make_directories(const char *path);

#endif
