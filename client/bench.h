/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The measurements beside the test: what each does in a cell. All else
 * (mounts, capture, markers, counters, saving, the report) is the test's, see
 * client/test_run.h.
 */
#ifndef NAT_CLIENT_BENCH_H
#define NAT_CLIENT_BENCH_H

#include "client/options.h"
#include "client/test_run.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bounds of a bench's numbers, for its command line and its memory. */
#define BENCH_MOST_SIZES 16
#define BENCH_MOST_ACCESSES 10000000
#define BENCH_MOST_HEADER 1048576
#define BENCH_MOST_BYTES (UINT64_C(1) << 36)

struct bench_settings {
    struct test_options test;
    uint64_t count;        /* execs of a run; warm accesses of a cell */
    unsigned cold;         /* cold accesses of a cell */
    unsigned runs;
    unsigned sizes[BENCH_MOST_SIZES];
    size_t size_count;
    uint64_t bytes;        /* of the file to write */
    int64_t race_ns;       /* 0: no race */
};

const struct bench_settings *bench_settings(const struct test *test);

/* The hooks of each: test_hooks.plan, warm_up, measure. */
void self_exec_plan(struct test *test);
int self_exec_measure(struct test *test, struct run_cell *cell);
int race_measure(struct test *test, struct run_cell *cell);
void header_plan(struct test *test);
int header_warm_up(struct test *test, size_t filesystem);
int header_measure(struct test *test, struct run_cell *cell);
void prefault_plan(struct test *test);
int prefault_warm_up(struct test *test, size_t filesystem);
int prefault_measure(struct test *test, struct run_cell *cell);

/* Adds a series of one time. Memory or the end of the process. */
void bench_add_time(struct run_cell *cell, const char *name,
                    uint64_t operations, int64_t ns);

/* --- the program that execs itself --------------------------------------- */

struct self_exec {
    pid_t pid;
    int gone;        /* readable when it has left; close it */
    int64_t start_ns; /* its first instruction was about to run */
};

/* Starts it with that many execs of itself to go.
 * @return 0, or -1 and errno of the exec. */
int self_exec_start(struct self_exec *self, const char *program,
                    uint64_t execs);
/* How many it has still to do, as its command line says.
 * @return 0, or -1: not to be read just now. */
int self_exec_left(pid_t pid, uint64_t *left);

#endif
