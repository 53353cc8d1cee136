/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The head of an RPC message, RFC 5531 section 9: everything before the
 * arguments or the results.
 */
#ifndef NAT_CAPTURE_RPC_MESSAGE_H
#define NAT_CAPTURE_RPC_MESSAGE_H

#include "capture/rpc_transaction.h"
#include "capture/xdr_cursor.h"

#include <stdbool.h>
#include <stdint.h>

/* RFC 5531 section 9: msg_type. */
enum sunrpc_direction { SUNRPC_CALL = 0, SUNRPC_REPLY = 1 };

/* RFC 5531 section 9: reply_stat, accept_stat. */
enum { SUNRPC_MSG_ACCEPTED = 0, SUNRPC_MSG_DENIED = 1 };
enum { SUNRPC_ACCEPT_SUCCESS = 0, SUNRPC_ACCEPT_PROG_MISMATCH = 2 };
enum { SUNRPC_REJECT_MISMATCH = 0, SUNRPC_REJECT_AUTH = 1 };

/* RFC 5531 section 8.2, RFC 2203 section 2, RFC 9289 section 4.1. */
enum sunrpc_flavor {
    SUNRPC_AUTH_NONE = 0,
    SUNRPC_AUTH_SYS = 1,
    SUNRPC_AUTH_SHORT = 2,
    SUNRPC_AUTH_GSS = 6,
    SUNRPC_AUTH_TLS = 7,
};

/* RFC 2203 section 5: rpc_gss_proc_t, rpc_gss_service_t. */
enum { SUNRPC_GSS_DATA = 0, SUNRPC_GSS_DESTROY = 3 };
enum {
    SUNRPC_GSS_NONE = 1,
    SUNRPC_GSS_INTEGRITY = 2,
    SUNRPC_GSS_PRIVACY = 3,
};

/* RFC 5531 section 8.2: opaque_auth body<400>. */
#define SUNRPC_AUTH_BODY_MAX 400
/* xid to the lengths of an empty credential and verifier. */
#define SUNRPC_CALL_MIN 40
/* xid to reject_stat's first detail. */
#define SUNRPC_REPLY_MIN 16

struct rpc_call_head {
    uint32_t xid, program, version, procedure;
    struct rpc_credential credential;
    bool numbers_known; /* program, version and procedure were captured */
};

struct rpc_reply_head {
    uint32_t xid;
    uint32_t reply_stat;
    uint32_t accept_stat;             /* or reject_stat */
    uint32_t detail_low, detail_high; /* versions of a mismatch; auth_stat */
    bool stat_known;
    bool starttls; /* verifier of RFC 9289 section 4.1 */
};

/*
 * The credential of the call before on the same connection, kept because the
 * next one is nearly always equal to it.
 */
struct rpc_credential_memo {
    uint32_t length;                  /* 0: nothing kept */
    struct rpc_credential credential; /* machine_name is not kept */
    uint8_t body[SUNRPC_AUTH_BODY_MAX];
};

/*
 * Both expect the cursor behind xid and msg_type, and leave it at the first
 * byte of arguments or results. Returns the cursor's status:
 * SHORT  a part is not captured; what was read before it is filled in
 * BAD    contradicts the protocol
 * `memo` may be NULL. credential.machine_name points into the record or the
 * cursor's scratch.
 */
enum xdrc_status
rpc_call_head_read(struct xdrc *cursor, struct rpc_credential_memo *memo,
                   struct rpc_call_head *head);
enum xdrc_status
rpc_reply_head_read(struct xdrc *cursor, struct rpc_reply_head *head);

/*
 * RFC 2203 section 5.3.2.2: under integrity protection arguments and results
 * are wrapped in a length and a sequence number. Narrows the cursor to what
 * is inside; *outer is for xdrc_widen().
 */
void
rpc_integrity_enter(struct xdrc *cursor, uint32_t *outer);

/* A 64-bit hash that mixes well and has no secret; never 0. */
uint64_t
rpc_hash(const void *data, uint32_t length, uint64_t seed);

#endif
