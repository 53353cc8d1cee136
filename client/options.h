/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line of the test and of probe.
 */
#ifndef NAT_CLIENT_OPTIONS_H
#define NAT_CLIENT_OPTIONS_H

#include "analysis/report.h"
#include "analysis/run_file.h"
#include "client/exec_loop.h"
#include "client/expect_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define EXIT_INCOMPLETE 4
#define EXIT_SIGNAL 128 /* + its number */

/* A text for one of the directories, or for all: directory is NULL. */
struct directory_text {
    char *directory;
    char *text;
};

struct directory_texts {
    struct directory_text *items;
    size_t length;
};

struct test_options {
    const char **directories;     /* --mount and --local, in that order */
    enum filesystem_kind *kinds;
    size_t directory_count;
    unsigned execs, repetitions, warmup;
    enum run_method methods[METHOD_COUNT];
    size_t method_count;
    const char *program;          /* a name of an embedded one, or a path */
    char *const *program_arguments; /* NULL at the end */
    enum spawn_kind spawn;
    uint64_t seed;
    const char *interface, *filter, *capture_file, *output;
    unsigned snaplen, ring_kib;
    bool no_capture;
    const char *clock, *id, *as_user; /* id NULL: time and host */
    struct directory_texts labels, export_notes, export_directories;
    int64_t idle_ns, interval_ns;
    enum report_format format;
    struct expect_request expect;
    bool quiet, verbose;
};

enum options_status { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_WRONG };

/*
 * Reads the command line; help and version are printed here. `probe` leaves
 * out what only the test has. On OPTIONS_WRONG one line was printed.
 */
enum options_status options_read(struct test_options *options, int argc,
                                 char **argv, bool probe);
void options_free(struct test_options *options);

/*
 * For commands with options of their own: the defaults; an option of the test
 * by its long name; what is left to do when all are read.
 */
void options_defaults(struct test_options *options);
enum options_status options_take(struct test_options *options,
                                 const char *name, const char *text);
enum options_status options_complete(struct test_options *options);

/* The text for a directory: its own, else the one for all, else NULL. */
const char *directory_text(const struct directory_texts *texts,
                           const char *directory);

/* "10ms", "250us", "2s", "0": nanoseconds, or -1. A bare number is seconds. */
int64_t duration_parse(const char *text);

#endif
