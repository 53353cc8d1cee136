/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A test while it runs: what belongs to it beside the run that is saved.
 *
 * Legal order: test_start(), test_add_filesystem() for each directory,
 * test_make_output(), captures_start(), test_run_cells(), captures_stop(), test_clean_up(). Every
 * step may be the last one but for test_clean_up(), which is always called.
 */
#ifndef NAT_CLIENT_TEST_RUN_H
#define NAT_CLIENT_TEST_RUN_H

#include "analysis/run_file.h"
#include "capture/recorder.h"
#include "client/exec_loop.h"
#include "client/mount_stats.h"
#include "client/nfs_probe.h"
#include "client/options.h"
#include "client/program_place.h"

#include <stdbool.h>
#include <stddef.h>

/* One interface that is captured. */
struct live_capture {
    struct recorder *recorder; /* NULL: not running (any more) */
    char *interface;
    struct recorder_stats last; /* at the end of the cell before */
};

/* Beside run.filesystems[i]. */
struct test_filesystem {
    struct program_place place;
    struct nfs_probe *probe;      /* NULL: local, or it could not connect */
    struct live_capture *capture; /* NULL: none */
    char *export_program;         /* the program by way of --export-dir */
    char *server_rest;            /* path of the program below the export */
    bool probe_warned;
};

struct test;

/* What a bench does in place of the exec loop. */
struct test_hooks {
    const char *bench; /* its name in the run */
    /* Makes run.cells (all CELL_PENDING, with variants) and fills execs and
     * repetitions. */
    void (*plan)(struct test *test);
    /* Before the first cell, for each file system; may be NULL.
     * @return 0, or -1 with test->error. */
    int (*warm_up)(struct test *test, size_t filesystem);
    /* Between a cell's markers: fills series, observations and, unless it is
     * done, state. @return 0, or -1 with test->error. */
    int (*measure)(struct test *test, struct run_cell *cell);
    const void *context;
    bool execs; /* the program: a mount with noexec will not do, and the
                   mount is warmed up by execs */
};

struct test {
    const struct test_options *options;
    const struct test_hooks *hooks; /* NULL: the test itself */
    struct run run;
    struct launcher *launcher;
    struct test_filesystem *filesystems; /* run.filesystem_count */
    struct live_capture *captures;
    size_t capture_count;
    char nonce[9];
    int64_t saved_ns;     /* when the run was last written */
    bool incomplete;      /* exit status 4 */
    char error[1024];     /* why a step failed */
};

/*
 * All of it: prepares, measures, saves, reports, cleans up.
 * @param hooks NULL, or the bench
 * @return the exit status.
 */
int test_execute(const struct test_options *options,
                 const struct test_hooks *hooks);

/* Fills what is known of machine and plan, and starts the launcher. @return 0,
 * or -1 with test->error. */
int test_start(struct test *test, const struct test_options *options,
               const struct test_hooks *hooks);
/* Puts the program there, finds mount and server. */
int test_add_filesystem(struct test *test, size_t index);

/* Makes the results' directory: when all else is well, so that a mistake
 * leaves no empty one behind. */
int test_make_output(struct test *test);

/* Starts a recorder for each interface in use and waits until each has seen a
 * marker. */
int captures_start(struct test *test);
/* After captures_start() failed: as if none had been asked for. */
void captures_give_up(struct test *test);
/* Waits for a marker's sight; marks it. A recorder that died stops the run:
 * -1 with test->error. */
int capture_confirm(struct test *test, struct test_filesystem *filesystem,
                    struct run_marker *marker);
/* Drops since the last call, into the cell. */
void capture_take_drops(struct test *test, struct test_filesystem *filesystem,
                        struct run_drops *drops);
/* Sends the end marker, drains and closes. */
void captures_stop(struct test *test);

/* Warm-up, idle phase and all cells. @return 0 all done; -1 stopped early,
 * test->run.state and state_reason say why. */
int test_run_cells(struct test *test);

/* The server's word on the program's times; local file systems: stat(2).
 * Unknown where it cannot be had, with a warning once. */
void test_true_times(struct test *test, size_t index, struct run_attr *attr);

/* Writes run.json. @return 0, or -1: said on standard error, and the test is
 * incomplete. */
int test_save(struct test *test);

/* After test_save() failed at the end: into a directory of its own below
 * TMPDIR or /tmp, which is said. @return 0, or -1: nowhere. */
int test_save_elsewhere(struct test *test);

/* Ends the launcher, removes the programs, frees all but the run. */
void test_clean_up(struct test *test);

#endif
