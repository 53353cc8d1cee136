/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run joined with its captures: which transaction belongs to which cell and
 * which exec.
 *
 * All times are of the run's monotonic clock, in nanoseconds, whatever clock
 * the capture had.
 */
#ifndef NAT_ANALYSIS_EXEC_WINDOW_H
#define NAT_ANALYSIS_EXEC_WINDOW_H

#include "analysis/run_file.h"
#include "capture/rpc_transaction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rpc_owner {
    OWNER_EXEC,       /* in the window of an exec of a cell */
    OWNER_CELL,       /* between a cell's markers, outside any exec */
    OWNER_BACKGROUND, /* lease renewal, callback, another mount, no cell */
    OWNER_SELF,       /* this program's own calls: markers, ping, GETATTR */
};

#define NO_CELL UINT32_MAX
#define NO_EXEC UINT32_MAX
#define NO_FILESYSTEM UINT32_MAX

/* One transaction of the run. The name is what the kernel's mountstats calls
 * the call: the procedure, in NFSv4 the COMPOUND's main operation. */
struct window_rpc {
    int64_t call_ns;       /* first byte of the first transmission */
    int64_t reply_ns;      /* last byte of the reply; RUN_UNKNOWN_NS */
    int64_t reply_first_ns;
    uint32_t cell, exec;   /* NO_CELL, NO_EXEC */
    uint32_t program, version, procedure;
    uint32_t status;
    uint32_t main_operation; /* procedure, or the COMPOUND's main operation */
    uint32_t operations;     /* index into run_traffic.operations */
    uint32_t operation_count;
    uint32_t read_bytes;     /* by READs in it, as replied */
    uint32_t call_bytes, reply_bytes; /* record lengths */
    uint32_t retransmissions;
    uint32_t access_requested;
    uint64_t handle_hash;    /* of the main operation */
    uint64_t credential_hash;
    struct nfs_sattr sattr;  /* of a SETATTR in it */
    struct nfs_attr attr;    /* what the reply says of a file, at its end */
    uint8_t owner;           /* enum rpc_owner */
    bool on_program;         /* the main operation's file is the program */
    bool attr_on_program;    /* attr is the program's */
    uint32_t attr_filesystem; /* of that program; NO_FILESYSTEM */
    bool answered;
    bool status_known;
    unsigned flags;          /* enum rpc_transaction_flag */
};

/* Counts of a cell by name; exec's and cell's own RPCs, background not. */
struct cell_traffic {
    size_t first, count;      /* in run_traffic.rpcs, by call time */
    struct run_counts calls;  /* per mountstats name */
    struct run_counts operations; /* per operation (v3: procedure) */
    struct run_counts errors; /* "SETATTR NFS3ERR_ACCES" */
    uint64_t rpcs;            /* calls in all */
    uint64_t retransmissions; /* beyond that */
    uint64_t background;
    uint64_t read_bytes;
    uint64_t call_bytes, reply_bytes; /* of RPC records */
    uint64_t unanswered;
    uint64_t empty_setattrs;
    bool marked;              /* both markers were found in the capture */
    bool lossy;               /* counts are >=: drops or gaps fell into it, or
                                 may have, and the kernel's own count does not
                                 say that none did */
    int64_t open_ns, close_ns; /* the window, monotonic */
};

struct run_traffic {
    struct window_rpc *rpcs; /* in order of call_ns */
    size_t rpc_count;
    uint16_t *operations; /* pool of operation numbers */
    size_t operation_count;
    struct cell_traffic *cells; /* one per cell of the run */
    size_t cell_count;
    struct run_counts idle;     /* background during the idle phase */
    int64_t idle_ns;            /* its length, all file systems */
    uint64_t packets, own_calls, background_calls;
    uint64_t markers_found;
    struct packet_losses packet_losses;
    struct rpc_losses rpc_losses;
    bool captures_complete;
    bool any_capture;
    char *warning;              /* of the first capture that has one */
    /* capture clock = monotonic + offset + drift * (monotonic - origin) */
    int64_t clock_offset_ns, clock_origin_ns;
    double clock_drift;         /* dimensionless; ppm * 1e-6 */
    bool clock_from_markers;    /* a foreign capture: fitted; else the run's
                                   own realtime clock */
    double clock_residual_ns;   /* largest distance of a marker from the fit */
    int64_t clock_ahead_ns;     /* of the client's realtime clock, at the
                                   origin; RUN_UNKNOWN_NS */
};

/*
 * Reads the run's captures and assigns every transaction.
 *
 * @param captures paths of captures from elsewhere to join by the markers
 *        instead of the run's own; count 0: the run's own captures.
 * @return 0; 1 when a capture was incomplete (all else is filled); -1 with
 *         one line in error.
 * Give traffic to run_traffic_free() in every case.
 */
int run_traffic_read(const struct run *run, const char *const *captures,
                     size_t capture_count, struct run_traffic *traffic,
                     char *error, size_t error_size);

void run_traffic_free(struct run_traffic *traffic);

/* Whether no loss is known that can make a count too small. */
bool run_traffic_nothing_lost(const struct run *run,
                              const struct run_traffic *traffic);

/* The operation that names a COMPOUND: the first that is not SEQUENCE,
 * PUTFH, PUTROOTFH, GETFH, SAVEFH or RESTOREFH, GETATTR only when there is
 * no other; SEQUENCE when it is alone (lease renewal). */
uint32_t compound_main_operation(const struct rpc_operation *operations,
                                 uint32_t count);

/* The name of a window's call: "SETATTR". */
const char *window_rpc_name(const struct window_rpc *rpc);

/*
 * The kernel's count against the wire's, for one cell.
 * Kinds of call that one COMPOUND form stands for (GETATTR, FSINFO, PATHCONF,
 * STATFS, SERVER_CAPS, LOOKUP_ROOT; OPEN and OPEN_NOATTR) are put together in
 * NFSv4 before comparing.
 * @return true when every count agrees; else the differences as "ACCESS wire
 *         3, mountstats 4" in text.
 */
bool mountstats_agree(const struct run *run, const struct run_cell *cell,
                      const struct cell_traffic *traffic, char *text,
                      size_t size);

/* A cell whose figures count: done, and with an exec in it. */
bool cell_is_finished(const struct run_cell *cell);

/* From an exec's start to the end of its method; a pause until the next exec
 * is not in it. */
int64_t exec_wall_ns(const struct run_exec *exec);

/* The cell's next transaction, an exec's or between execs, by call time; NULL
 * after the last. *position is 0 before the first. */
const struct window_rpc *cell_next_rpc(const struct run_traffic *traffic,
                                       size_t cell, size_t *position);

uint64_t run_counts_get(const struct run_counts *counts, const char *name);
void run_counts_release(struct run_counts *counts);

#endif
