/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run and its traffic built in memory from a model whose costs are known:
 * one NFSv3 mount, cells one after the other, times in us.
 *
 * Legal order: synthetic_begin(), for each cell synthetic_cell() and for each
 * exec start, any of work/wait/send, exit, any of those, end; then
 * synthetic_end(), and synthetic_free().
 */
#ifndef NAT_TESTS_UNIT_SYNTHETIC_RUN_H
#define NAT_TESTS_UNIT_SYNTHETIC_RUN_H

#include "analysis/exec_window.h"
#include "analysis/run_file.h"

/* RFC 1813 section 3.3 */
enum {
    PROC_GETATTR = 1,
    PROC_SETATTR = 2,
    PROC_ACCESS = 4,
    PROC_READ = 6,
};

struct synthetic {
    struct run run;
    struct run_traffic traffic;
    size_t rpc_space, execs;
    int64_t now;      /* ns, monotonic */
    uint64_t random;
    struct run_cell *cell;
};

void synthetic_begin(struct synthetic *s, uint64_t seed, size_t cells,
                     size_t execs, double ping_us);
void synthetic_cell(struct synthetic *s, enum run_method method);
void synthetic_start(struct synthetic *s);
/* The client computes: mean and standard deviation. */
void synthetic_work(struct synthetic *s, double us, double deviation);
/* An RPC that is waited for; the pointer holds until the next one. */
struct window_rpc *synthetic_wait(struct synthetic *s, uint32_t procedure,
                                  double us, double deviation);
/* An RPC that is not: the clock stays where it is. */
struct window_rpc *synthetic_send(struct synthetic *s, uint32_t procedure,
                                  double us);
void synthetic_exit(struct synthetic *s);
void synthetic_finish(struct synthetic *s);
/* Sorts, assigns and counts. */
void synthetic_end(struct synthetic *s);
void synthetic_free(struct synthetic *s);

/* Lets the RPC be about the program and its reply say these times. */
void synthetic_attr(struct window_rpc *rpc, int64_t atime_ns,
                    int64_t ctime_ns);

#endif
