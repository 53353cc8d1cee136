/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every reply of the server says of the program's access time: when it
 * moved, by which RPC, to whose time, and what moved with it.
 *
 * A reply that carries attributes is an observation. Between two observations
 * that differ, the atime moved: by the RPC whose reply shows it when that is
 * a SETATTR of the atime or a READ, else by the last such RPC between the two
 * (an NFSv4 READ carries no attributes), else by nobody that was seen.
 */
#ifndef NAT_ANALYSIS_ATIME_HISTORY_H
#define NAT_ANALYSIS_ATIME_HISTORY_H

#include "analysis/exec_window.h"
#include "analysis/run_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum atime_mover {
    ATIME_FIRST, /* nothing to compare with yet */
    ATIME_STAYED,
    ATIME_MOVED_BY_SETATTR,
    ATIME_MOVED_BY_READ,
    ATIME_MOVED_BY_OTHER,
};

/* One observation; times of files are since the epoch by the server's clock. */
struct atime_point {
    int64_t when_ns; /* the reply, monotonic */
    int64_t atime_ns;
    int64_t ctime_ns; /* RUN_UNKNOWN_NS when the reply did not say */
    uint32_t cell, exec; /* of the mover; where it stayed, of the reply */
    enum atime_mover mover;
    bool own;            /* the reply was to a call of this program */
};

/* The client's view at the ends of a cell, for the same plot. */
struct atime_stat {
    int64_t when_ns, atime_ns;
    uint32_t cell;
};

enum atime_verdict {
    ATIME_UNKNOWN,
    ATIME_BY_SETATTR,
    ATIME_BY_READ,
    ATIME_BY_OTHER,   /* moved, and by no RPC that was seen */
    ATIME_NOT_MOVED,
    ATIME_REFUSED,
    ATIME_CACHE_ONLY, /* the client's stat says moved, the server not */
};

/* One method's cells of the file system. Execs are counted once each. */
struct atime_group {
    uint64_t execs, observations;
    uint64_t set_execs;   /* execs with a SETATTR of the atime that went well */
    uint64_t set_server, set_client; /* such calls, by whose time */
    uint64_t set_delegated;          /* of a delegated time, RFC 9754 */
    uint64_t moved_execs; /* execs whose RPC gave the atime another value */
    uint64_t by_setattr, by_read, by_other; /* movements */
    uint64_t ctime_known, with_ctime;   /* movements; of these with ctime */
    uint64_t change_known, with_change; /* NFSv4 change attribute likewise */
    uint64_t refused;          /* SETATTRs of the atime that failed */
    char refused_status[32];   /* of the first: "NFS3ERR_PERM" */
    uint64_t client_exact, client_truncated, client_replaced; /* set_client */
    int64_t resolution_ns; /* of the values: 1, 100, 1000, 10^6, 10^9; 0 too
                              few values */
    int64_t step_ns;       /* the values are apart by multiples of this: the
                              server's clock tick; 0: no such step */
    uint64_t reread_execs; /* execs that READ the program while exec'd ... */
    uint64_t reread_after; /* ... of these, ctime or change had moved since
                              the exec that READ it before */
    uint64_t access_calls, access_redundant; /* same handle, credential and
                              mask again within the attribute cache's time,
                              ctime unmoved */
};

struct atime_history {
    struct atime_point *points; /* by time */
    size_t point_count;
    struct atime_stat *client;  /* by time */
    size_t client_count;
    struct atime_group groups[METHOD_COUNT];
};

/* @return 0, or -1 when out of memory. Free in every case. */
int atime_history_compute(const struct run *run,
                          const struct run_traffic *traffic, size_t filesystem,
                          struct atime_history *history);
void atime_history_free(struct atime_history *history);

/* What the probe and stat said at the ends of the cells, beside the wire. */
struct atime_ends {
    unsigned server_known, server_moved; /* cells */
    unsigned client_known, client_moved;
    bool method_failed; /* some method call failed with an errno */
};

enum atime_verdict atime_verdict(const struct atime_group *group,
                                 const struct atime_ends *ends);

/* "moved by SETATTR", "not moved" ... */
const char *atime_verdict_name(enum atime_verdict verdict);

#endif
