/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Transactions counted in groups: by client, server, file, user or interval
 * of time. Fed transaction by transaction, in bounded memory: groups that no
 * room is left for are summed up in one. The sums over all groups are the
 * totals of rpc_counts (analysis/rpc_counts.h).
 */
#ifndef NAT_ANALYSIS_GROUP_COUNTS_H
#define NAT_ANALYSIS_GROUP_COUNTS_H

#include "analysis/file_names.h"
#include "capture/rpc_transaction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum group_by {
    GROUP_BY_CLIENT, /* address of the NFS client */
    GROUP_BY_SERVER,
    GROUP_BY_FILE,   /* handle; needs RPC_DEPTH_FULL */
    GROUP_BY_UID,    /* of AUTH_SYS; the other flavours one group each */
    GROUP_BY_INTERVAL, /* of the call's time, counted from the epoch */
};

#define GROUPS_KEPT 4096
#define GROUP_STEPS 16     /* latency classes per doubling: 3 % off at most */
#define GROUP_FIRST_BIT 8  /* from 256 ns ... */
#define GROUP_DOUBLINGS 30 /* ... to 275 s */
#define GROUP_CLASSES (GROUP_DOUBLINGS * GROUP_STEPS)

/* Calls of one kind in a group: a procedure, or the main operation of a
 * COMPOUND. */
struct group_calls {
    uint32_t program, version, number;
    bool main_operation, callback;
    uint64_t calls, errors;
};

struct group {
    uint64_t key[2]; /* address; handle's hash; uid and flavour; interval */
    uint32_t kind;   /* address family; flavour + 1; 0 where it has no meaning */
    bool partial;    /* calls of it may be in the rest, too */
    uint64_t calls, replies, retransmissions, unanswered;
    uint64_t errors; /* by status, and RPCs denied or not performed */
    uint64_t call_bytes, reply_bytes;
    uint64_t latencies; /* how many went into these: */
    double mean_ns;
    int64_t min_ns, max_ns;
    uint32_t *classes; /* NULL: none, or no memory */
    struct group_calls *by_kind; /* in no order */
    size_t kinds, kind_room;
    uint64_t unlisted; /* calls of kinds that no room was left for */
};

struct group_counts; /* opaque */

/* @param interval_ns for GROUP_BY_INTERVAL; above 0. NULL: no memory. */
struct group_counts *group_counts_new(enum group_by by, int64_t interval_ns);
void group_counts_free(struct group_counts *groups);

void group_counts_transaction(struct group_counts *groups,
                              const struct rpc_transaction *tx);

/*
 * The groups: most calls first, intervals by time. Valid until the next
 * transaction. *rest: what the others come to, NULL when there are none;
 * *rest_groups: how many were put there (one that came back counts again).
 */
const struct group *const *
group_counts_rows(struct group_counts *groups, size_t *length,
                  const struct group **rest, uint64_t *rest_groups);

enum group_by group_counts_by(const struct group_counts *groups);
int64_t group_counts_interval(const struct group_counts *groups);

/* Adds what `from` holds to `to`, which was zero-initialised with min_ns
 * INT64_MAX; give it to group_release() at the end. */
void group_add(struct group *to, const struct group *from);
void group_release(struct group *group);

/* Its kinds of calls, most first. */
void group_sort_kinds(struct group *group);

/* "GETATTR", "CB_RECALL", "MOUNT MNT", "procedure 99". */
const char *group_calls_name(const struct group_calls *calls, char *text,
                             size_t size);

/* Latency at p from 0 to 1: the middle of its class, within min and max. */
int64_t group_quantile(const struct group *group, double p);

/* "client", "server", "file", "uid", "interval". */
const char *group_by_name(enum group_by by);

/* "10.0.0.1", "/srv/lib", "[9c0d2a11]", "no file", "1000", "RPCSEC_GSS";
 * an interval's start in seconds since `first`, an interval's number.
 * Escaped for `target`; `names` may be NULL. */
const char *group_name(const struct group_counts *groups,
                       const struct group *group,
                       const struct file_names *names, int64_t first,
                       enum escape_for target, char *text, size_t size);

#endif
