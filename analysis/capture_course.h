/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A capture in the course of time: calls and latencies in intervals of equal
 * length, in bounded memory however long it is; and who sent most, and which
 * files were asked for most. Fed transaction by transaction.
 */
#ifndef NAT_ANALYSIS_CAPTURE_COURSE_H
#define NAT_ANALYSIS_CAPTURE_COURSE_H

#include "capture/rpc_transaction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COURSE_KINDS 9     /* index 1 .. 8: procedure_colour(); 0 unused */
#define COURSE_INTERVALS 128
#define COURSE_STEPS 4     /* latency classes per doubling */
#define COURSE_CLASSES (40 * COURSE_STEPS) /* from 1 ns on */

struct course_interval {
    uint64_t calls[COURSE_KINDS];
    uint32_t latency[COURSE_KINDS][COURSE_CLASSES];
};

#define TOP_NAME 64 /* bytes of a file's name that are kept */

/* A client, or a file. */
struct top_row {
    bool used;
    uint64_t key;
    uint64_t calls[COURSE_KINDS], all;
    uint64_t retransmissions, errors, bytes;
    double latency_sum;
    uint64_t latencies;
    struct rpc_endpoint client;      /* its port is not looked at */
    uint8_t handle[NFS_HANDLE_MAX];  /* of a file */
    uint8_t handle_length;
    char name[TOP_NAME + 1];         /* unescaped, hostile; "" not known */
};

struct capture_course; /* opaque */

struct capture_course *capture_course_new(void);
void capture_course_free(struct capture_course *course);
void capture_course_transaction(struct capture_course *course,
                                const struct rpc_transaction *tx);

/* The intervals that were used, from the first call on. */
const struct course_interval *
capture_course_intervals(const struct capture_course *course, size_t *count,
                         int64_t *first_ns, int64_t *length_ns);

/* Middle of the class that holds quantile p; false when it is empty. */
bool course_latency(const struct course_interval *interval, unsigned kind,
                    double p, double *ns);

/* Rows with most calls first, at most `most`; *seen is how many there are and
 * *unlisted calls of those that no room was kept for. */
size_t capture_course_clients(const struct capture_course *course,
                              const struct top_row **rows, size_t most,
                              size_t *seen, uint64_t *unlisted);
size_t capture_course_files(const struct capture_course *course,
                            const struct top_row **rows, size_t most,
                            size_t *seen, uint64_t *unlisted);

/* What a transaction is called, and its kind. */
const char *course_name(const struct rpc_transaction *tx);

#endif
