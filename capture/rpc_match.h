/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records in, transactions out: pairs the replies with their calls.
 *
 * One instance serves all connections of a capture. It is not locked: one
 * thread at a time. rpc_match_record(), rpc_match_outstanding(),
 * rpc_match_gap() and rpc_match_connection_end() have the signatures of
 * struct rpc_record_sink, with the instance as its context (the `_sink`
 * function below fills one in).
 */
#ifndef NAT_CAPTURE_RPC_MATCH_H
#define NAT_CAPTURE_RPC_MATCH_H

#include "capture/capture.h"
#include "capture/rpc_record.h"
#include "capture/rpc_transaction.h"

#include <stdbool.h>
#include <stdint.h>

struct rpc_match;

/*
 * Uses of the options: depth, max_pending (0: the default of 65536) and
 * reply_timeout_ns (0 or less: none). The sink is copied; its functions may
 * be NULL. Returns NULL when memory is short.
 */
struct rpc_match *
rpc_match_new(const struct capture_options *options,
              const struct rpc_transaction_sink *sink);

/* Unanswered calls are not reported by this: see rpc_match_finish(). */
void
rpc_match_free(struct rpc_match *match);

/*
 * Who wants to know, while records are read:
 * `port`: a portmap or rpcbind reply named a port that was asked for, or in
 *         a list of all one of NFS, MOUNT, NLM, NSM or NFSACL.
 * `tls`:  the server answered a NULL call with AUTH_TLS by STARTTLS (RFC
 *         9289 section 4.1): what follows on this connection is TLS.
 * Each may be NULL.
 */
void
rpc_match_set_stream_hooks(struct rpc_match *match, void *context,
                           void (*port)(void *context, uint16_t port),
                           void (*tls)(void *context,
                                       struct rpc_connection *connection));

/* One record or datagram. Transactions that it completes are handed out
 * before this returns. */
void
rpc_match_record(struct rpc_match *match, const struct rpc_record *record);

/*
 * Is `xid` the xid of a call that still waits for its reply, the reply being
 * sent by ends[direction]? False when in doubt.
 */
bool
rpc_match_outstanding(struct rpc_match *match,
                      const struct rpc_connection *connection,
                      unsigned direction, uint32_t xid);

/* Records may be missing in what ends[direction] sent: calls that stay
 * unanswered, and replies without a call, get RPC_TX_NEAR_GAP. */
void
rpc_match_gap(struct rpc_match *match, struct rpc_connection *connection,
              unsigned direction, uint64_t bytes, int64_t when_ns);

/*
 * The connection is gone. Its outstanding calls are kept aside for a while,
 * because the client may send them again over a new connection; then they
 * are handed out as unanswered. The structure is not touched afterwards.
 */
void
rpc_match_connection_end(struct rpc_match *match,
                         struct rpc_connection *connection, int64_t when_ns);

/* End of input: every outstanding call is handed out as unanswered, in order
 * of their last transmissions, then every reply still held as an orphan. */
void
rpc_match_finish(struct rpc_match *match, int64_t last_ns);

const struct rpc_losses *
rpc_match_losses(const struct rpc_match *match);

/* A record sink that leads into `match`. */
struct rpc_record_sink
rpc_match_sink(struct rpc_match *match);

#endif
