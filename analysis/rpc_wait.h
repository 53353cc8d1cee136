/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an exec waited for: how much of its wall time it could not go on
 * because an RPC was outstanding, and of which procedure.
 *
 * An RPC is *blocking* when what the client did next began after its reply:
 * going back from the time at which the process was reaped (or its method
 * was done), the RPC whose reply came last before, then the one whose reply
 * came last before that one's call, and so on. It is *overlapped* when the
 * process was reaped, or the method was done, while it was outstanding, or
 * when another RPC that is on that way was outstanding at its reply.
 *
 * Time with several RPCs outstanding counts once: for a blocking one before
 * an overlapped one, and among equals for the one whose reply comes last.
 * So the procedures' times add up to the time with any RPC outstanding.
 *
 * An exec's wall time ends with its method; a pause until the next exec is
 * not in it. Times are of the place of the capture: what the client's own RPC
 * layer takes before and after is the client's own time.
 */
#ifndef NAT_ANALYSIS_RPC_WAIT_H
#define NAT_ANALYSIS_RPC_WAIT_H

#include "analysis/exec_window.h"
#include "analysis/run_file.h"
#include "analysis/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAIT_PROCEDURES 24 /* names kept apart; the rest is "others" */

struct wait_procedure {
    const char *name;
    uint64_t calls, blocking, overlapped; /* answered calls of execs */
    uint64_t unanswered;        /* neither: how long is not known */
    double *us;                 /* [cells] waited per exec */
    struct stat_summary sample; /* of those */
    struct stat_estimate wait;  /* us per exec */
    double overlapped_us;       /* per exec, outstanding but not waited for */
    struct stat_summary latency; /* us, call to reply on the wire */
};

/* A part of the difference in time from the group that it is compared with;
 * us per exec. */
struct wait_part {
    const char *name;           /* of a procedure */
    double rpcs;                /* blocking calls per exec, difference */
    double latency;             /* us per call, mean; of the group that has
                                   the calls */
    struct stat_difference us;
};

struct rpc_wait {
    size_t cells;
    uint64_t execs;
    struct wait_procedure *procedures;
    size_t procedure_count;
    double *wall_cells, *waits_cells, *method_cells, *trips_cells; /* [cells] */
    struct stat_estimate wall;    /* us per exec, start to end */
    struct stat_estimate waits;   /* of it, with a blocking RPC outstanding */
    struct stat_estimate own;     /* the rest: the client's own time */
    struct stat_estimate method_own; /* of that, between exit and end */
    double overlapped;            /* us per exec: overlapped RPCs only */
    struct stat_estimate round_trips; /* blocking RPCs per exec */
    /* us that an exec takes longer for each us that it waits longer, over
     * execs: 0 if it did not wait; 1 where only latencies vary, and more where
     * longer waiting means more RPCs, by the client's work for them. No value
     * without variation. */
    struct stat_estimate per_us_waited;
    uint64_t retransmitted;
    /* Per exec, [execs]: the client's own time until the process was reaped,
     * and what was waited for until then, [execs * WAIT_PROCEDURES]. */
    double *exec_own;
    uint16_t *exec_trips;

    /* Against the same file system without a method; rpc_wait_compare(). */
    bool compared;
    struct stat_difference measured;   /* wall */
    struct wait_part *parts;           /* largest first */
    size_t part_count;
    struct stat_difference method_part; /* the method's own call, no RPC
                                           outstanding */
    bool work_known;
    double work_us; /* the client's work for the RPCs waited for until the
                       process was reaped: struct rpc_work */
    double explained;                   /* sum of parts, method_part, work */
    double rest;                        /* measured - explained */
};

/*
 * Computes the waiting of the finished cells of a group. Free in every case.
 * @return 0, or -1 when out of memory.
 */
int rpc_wait_compute(const struct run *run, const struct run_traffic *traffic,
                     size_t filesystem, enum run_method method,
                     double confidence, struct rpc_wait *wait);

/*
 * What the client itself works for an RPC, sending and receiving, beside the
 * time that it is outstanding at the place of the capture: a regression of
 * the execs' own time (until reaped) on what they waited for, over all groups
 * of a file system.
 */
struct rpc_work {
    const char *names[WAIT_PROCEDURES];
    size_t count;
    struct stat_regression fit; /* us of own time per RPC, by name */
};

/* @param groups NULL-terminated. @return 0, or -1 when out of memory. Free in
 * every case with rpc_work_free(). */
int rpc_work_compute(const struct rpc_wait *const *groups, double confidence,
                     struct rpc_work *work);
void rpc_work_free(struct rpc_work *work);

/* Splits the difference in wall time between two groups into waiting by
 * procedure, the client's work for the RPCs (work may be NULL), the method's
 * own call, and a rest. @return 0, -1 out of memory */
int rpc_wait_compare(const struct rpc_wait *none, const struct rpc_work *work,
                     struct rpc_wait *wait, double confidence);

void rpc_wait_free(struct rpc_wait *wait);

const struct wait_procedure *rpc_wait_find(const struct rpc_wait *wait,
                                           const char *name);

/* Why a method's SETATTRs cost what they do, from their figures. */
enum setattr_cost {
    SETATTR_COALESCED = 1 << 0,  /* clearly fewer SETATTRs than execs */
    SETATTR_OVERLAPPED = 1 << 1, /* the exec goes on while it is outstanding */
    SETATTR_CHEAPER = 1 << 2,    /* clearly less than a NULL call */
    SETATTR_REPLACES = 1 << 3,   /* saves waiting for other RPCs */
    SETATTR_WAITED = 1 << 4,     /* one is waited for in full */
};

struct setattr_account {
    unsigned reasons; /* enum setattr_cost; 0: no SETATTR was seen */
    bool below_ping;  /* the measured overhead is below the ping */
    double overhead_us, ping_us;
    double null_us; /* a NULL call at the place of the capture; 0 unknown */
    double per_exec, blocking_share, latency_us, saved_us;
    const char *saved_name; /* what is saved most, or NULL */
};

/* wait must be compared.
 * @param ping_us median of NULL calls at the program; 0 when not known
 * @param null_us the same on the wire: what a latency is compared with */
void setattr_account(const struct rpc_wait *wait, double ping_us,
                     double null_us, struct setattr_account *account);

#endif
