/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The floor's front door: capture files in, transactions out.
 */
#ifndef NAT_CAPTURE_CAPTURE_H
#define NAT_CAPTURE_CAPTURE_H

#include "capture/rpc_transaction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How it is to be read. Zero-initialise, then capture_options_default(). */
struct capture_options {
    enum rpc_depth depth;
    const uint16_t *ports; /* server ports beside 2049, 111, 20049 */
    size_t port_count;
    const char *filter;    /* libpcap filter, or NULL */
    uint64_t packet_limit; /* stop after so many that passed it; 0: never */
    unsigned threads;      /* 0: as many as help; 1: none but the caller */
    size_t max_pending;    /* outstanding calls, all connections */
    size_t max_connections;
    size_t max_reorder_bytes; /* out-of-order TCP data held, all together */
    int64_t reply_timeout_ns; /* a call unanswered this long is reported */
    void (*progress)(void *context, uint64_t bytes, uint64_t total);
    void *progress_context; /* total is 0 when unknown (stdin) */
    /* Called when the filter is compiled and the files are open, before the
     * first byte is read: the place to give up privileges. `all_open` is
     * false when there are so many that the rest is opened later. */
    void (*ready)(void *context, bool all_open);
    void *ready_context;
};

void capture_options_default(struct capture_options *options);

/* What is known of one input after it was read. */
struct capture_input {
    char *path;
    uint64_t packets;
    uint64_t bytes;
    bool complete;  /* false: cut short or unreadable from some place on */
    char *warning;  /* one line with file and offset, or NULL */
};

struct capture_result {
    struct capture_input *inputs; /* those that were begun */
    size_t input_count;
    bool limit_reached; /* stopped at packet_limit: what comes after it was
                           not looked at, nor were further inputs */
    struct packet_losses packets;
    struct rpc_losses rpc;
    int64_t first_ns, last_ns; /* of all packets; 0 when none */
    /* For the answer when nothing was found. */
    uint64_t tcp_payload_packets, udp_payload_packets;
    uint16_t busiest_port; /* server-looking port with most payload, or 0 */
    bool saw_rdma;         /* RoCEv2 (UDP 4791) or iWARP port 20049 data */
};

enum capture_status {
    CAPTURE_OK,
    CAPTURE_INCOMPLETE, /* some input cut short: see inputs[].warning */
    CAPTURE_FAILED,     /* nothing could be read: see error */
};

/*
 * Reads the files ("-" is standard input; several are one capture, in the
 * order given) and calls the sink for every transaction, in the order in
 * which they complete; the same for every number of threads. Calls that wait
 * for a reply when it stops at the limit are unanswered, nothing is lost.
 *
 * @param error receives one line that names the file, the place and what to
 *        do, when CAPTURE_FAILED.
 * Give the result to capture_result_free() in every case.
 */
enum capture_status capture_read(const char *const *paths, size_t path_count,
                                 const struct capture_options *options,
                                 const struct rpc_transaction_sink *sink,
                                 struct capture_result *result, char *error,
                                 size_t error_size);

void capture_result_free(struct capture_result *result);

#endif
