/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tests of the RPC half share: an XDR writer of its own, a place
 * whose next byte faults, and a sink that keeps copies.
 */
#ifndef NAT_TESTS_RPC_SUPPORT_H
#define NAT_TESTS_RPC_SUPPORT_H

#include "capture/rpc_match.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

/* --- writing XDR ---------------------------------------------------------- */

struct message {
    uint8_t bytes[65536];
    uint32_t length;
};

void
put32(struct message *m, uint32_t value);
void
put64(struct message *m, uint64_t value);
void
put_bytes(struct message *m, const void *data, uint32_t length);
/* Length, bytes, fill. */
void
put_opaque(struct message *m, const void *data, uint32_t length);
void
put_string(struct message *m, const char *text);
/* `count` bytes counted up from `first`. */
void
put_pattern(struct message *m, uint32_t count, uint8_t first);
/* A file handle of `length` bytes, all of them `fill`. */
void
put_handle(struct message *m, uint32_t length, uint8_t fill);

/* RFC 5531 section 9: call with AUTH_SYS of uid 1000, gid 100, "client". */
void
put_call(struct message *m, uint32_t xid, uint32_t program, uint32_t version,
         uint32_t procedure);
/* The same with a credential and verifier of the caller's (no bytes yet). */
void
put_call_head(struct message *m, uint32_t xid, uint32_t program,
              uint32_t version, uint32_t procedure);
/* Accepted, SUCCESS, empty verifier. */
void
put_reply(struct message *m, uint32_t xid);

/* RFC 1813 section 2.6: fattr3 whose times are atime, atime + 1, + 2. */
void
put_fattr3(struct message *m, uint64_t size, uint64_t fileid, uint32_t atime);
void
put_post_op(struct message *m);
void
put_wcc(struct message *m);

/* COMPOUND up to its operations: RFC 8881 section 16.2. */
void
put_compound(struct message *m, uint32_t xid, uint32_t minor,
             uint32_t operations);
void
put_compound_reply(struct message *m, uint32_t xid, uint32_t status,
                   uint32_t results);

/* --- the guard ------------------------------------------------------------ */

/* Copies to the last bytes before a page that must not be touched. */
const uint8_t *
guarded(const void *data, uint32_t length);

/* --- the sink ------------------------------------------------------------- */

#define KEPT_OPERATIONS 40
#define KEPT 96

struct kept {
    struct rpc_transaction tx;
    struct rpc_connection connection;
    struct rpc_operation operations[KEPT_OPERATIONS];
    struct nfs_detail details[KEPT_OPERATIONS];
    char names[KEPT_OPERATIONS][64];
    char machine[64];
};

struct bench {
    struct rpc_match *match;
    struct rpc_connection connection; /* client is ends[0], port 700 */
    struct kept *kept;
    unsigned count;
    struct rpc_late late[32];
    unsigned late_count;
    uint16_t ports[8];
    unsigned port_count;
    unsigned tls_count;
};

void
bench_open(struct bench *b, enum rpc_depth depth, size_t max_pending,
           int64_t timeout_ns);
void
bench_close(struct bench *b);

/* 10.0.0.1 (ends[0]) and 10.0.0.9; the client's port is given. */
void
connection_set(struct rpc_connection *c, uint64_t serial, uint16_t client_port,
               uint16_t server_port);

/* One whole record of one piece, its bytes before a guard page. */
void
feed(struct bench *b, struct rpc_connection *c, unsigned direction,
     const struct message *m, int64_t when_ns);
/* The same, of which only the first `captured` bytes are there. */
void
feed_short(struct bench *b, struct rpc_connection *c, unsigned direction,
           const struct message *m, uint32_t captured, int64_t when_ns);
/* A record that consists of the first `length` bytes of the message. */
void
feed_cut(struct bench *b, struct rpc_connection *c, unsigned direction,
         const struct message *m, uint32_t length, int64_t when_ns);

#endif
