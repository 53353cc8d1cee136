/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The counts of a capture: per procedure, per NFSv4 operation, what SETATTRs
 * set and ACCESSes ask. Fed transaction by transaction, in bounded memory.
 */
#ifndef NAT_ANALYSIS_RPC_COUNTS_H
#define NAT_ANALYSIS_RPC_COUNTS_H

#include "analysis/histogram.h"
#include "capture/rpc_transaction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct status_count {
    uint32_t status;
    uint64_t count;
};

#define STATUS_ROWS 24 /* kinds of error kept apart per row; the rest add up
                          in other_errors */

struct error_counts {
    struct status_count row[STATUS_ROWS];
    unsigned rows;
    uint64_t other_errors;
};

/* A COMPOUND is one call of the procedure; `main_operation` rows (see
 * exec_window.h) split it further, with procedure 1 and by_main true. */
struct procedure_counts {
    uint32_t program, version, number;
    bool callback;
    bool by_main;
    uint64_t calls;    /* logical calls, each once */
    uint64_t replies;
    uint64_t retransmissions, duplicate_replies, unanswered;
    uint64_t rpc_errors; /* denied, or accepted but not performed */
    uint64_t call_bytes, reply_bytes; /* of calls and replies seen once */
    struct error_counts errors;
    struct histogram *last;  /* latency to the reply's last byte */
    struct histogram *first; /* to its first; NULL when never different */
};

struct operation_counts {
    uint32_t minor_version, number;
    bool callback;
    uint64_t calls, replies;
    struct error_counts errors;
};

/* SETATTRs that set the same. */
struct setattr_counts {
    struct nfs_sattr what; /* its times not looked at */
    uint32_t version;
    uint64_t calls, errors;
};

struct access_counts {
    uint32_t requested, granted;
    bool answered;       /* granted means something */
    uint64_t calls;
    uint64_t redundant;  /* same client, file, credential and mask within the
                            cache time */
};

struct marker_seen {
    char text[256];
    int64_t when_ns;
};

struct rpc_counts; /* opaque */

/* @param access_cache_ns within which an equal ACCESS is redundant. */
struct rpc_counts *rpc_counts_new(int64_t access_cache_ns);
void rpc_counts_free(struct rpc_counts *counts);

/* For rpc_transaction_sink. */
void rpc_counts_transaction(void *counts, const struct rpc_transaction *tx);
void rpc_counts_late(void *counts, const struct rpc_late *late);

/* Rows, sorted: by program, version, number; by_main rows after their
 * procedure. Valid until the next transaction. */
const struct procedure_counts *const *
rpc_counts_procedures(struct rpc_counts *counts, size_t *length);
const struct operation_counts *
rpc_counts_operations(struct rpc_counts *counts, size_t *length);
const struct setattr_counts *rpc_counts_setattrs(const struct rpc_counts *counts,
                                                 size_t *length);
const struct access_counts *rpc_counts_accesses(const struct rpc_counts *counts,
                                                size_t *length);
const struct marker_seen *rpc_counts_markers(const struct rpc_counts *counts,
                                             size_t *length);

/* Rows that no more room was kept for (hostile captures): calls in them. */
uint64_t rpc_counts_unlisted(const struct rpc_counts *counts);
/* False when handles were not decoded: redundant is then not known. */
bool rpc_counts_handles_known(const struct rpc_counts *counts);

/* "atime server, mtime -, size" in words: "atime to server time". Returns
 * out. */
const char *setattr_text(const struct nfs_sattr *what, char *out,
                         size_t size);

#endif
