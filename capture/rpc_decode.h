/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the decoders of arguments and results share: one body being read, and
 * the place where its meaning is kept until the transaction is handed out.
 *
 * A decoder reads as far as it is asked to and leaves the cursor's status to
 * say how it went: what was stored before a failure stays.
 */
#ifndef NAT_CAPTURE_RPC_DECODE_H
#define NAT_CAPTURE_RPC_DECODE_H

#include "capture/rpc_store.h"
#include "capture/rpc_transaction.h"
#include "capture/xdr_cursor.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes kept of a name; the rest is passed over. */
#define RPC_NAME_KEPT 1024

/* Ports taken from one portmap or rpcbind reply. */
#define RPC_PORTS_TAUGHT 16

/* Meaning of one call and, later, of its reply. */
struct rpc_meaning {
    struct rpc_operation *operations;
    uint32_t operation_count;
    uint32_t operation_room;
    uint32_t operations_announced;
    uint32_t minor_version;
    uint32_t status;
    bool status_known;
    bool from_reply; /* operations beyond the call's came from the reply */
    struct rpc_operation single; /* for programs without COMPOUND */
    struct rpc_store store;
};

struct rpc_decode {
    struct xdrc x;
    bool full;   /* RPC_DEPTH_FULL */
    bool keep;   /* a call: names have to outlive the record */
    bool to_end; /* set by a decoder that read all it expects of the body */
    enum xdrc_status inner; /* failure of a part that has its own length: what
                               comes after it was read all the same */
    struct rpc_meaning *meaning;
    struct rpc_store_pool *pool;
    struct nfs_detail spare; /* takes what finds no memory */
    /* v4 at RPC_DEPTH_COUNTS: the file handle of the last PUTFH (call) or
     * GETFH (reply), while it is the current one, or NULL. */
    const uint8_t *current;
    uint32_t current_length;
    /* What the bodies teach; 0 when nothing. */
    uint32_t callback_program; /* SETCLIENTID, CREATE_SESSION, ... */
    unsigned port_count;       /* portmap and rpcbind replies */
    uint16_t ports[RPC_PORTS_TAUGHT];
};

/* The operation's detail, made when there is none yet; never NULL. */
struct nfs_detail *
rpc_decode_detail(struct rpc_decode *decode, struct rpc_operation *operation);

/* The only operation of a program without COMPOUND. */
struct rpc_operation *
rpc_decode_single(struct rpc_decode *decode, uint32_t number);

/* Reads a string: into detail->name, or past it when detail is NULL. */
void
rpc_decode_name(struct rpc_decode *decode, struct nfs_detail *detail);

/* RENAME's second name. */
void
rpc_decode_new_name(struct rpc_decode *decode, struct nfs_detail *detail);

/*
 * A directory listing, entry by entry: a new entry at the end of
 * detail->entries, then its name and perhaps its handle. NULL when no more is
 * kept; the other two pass over what they are given no entry for.
 */
struct nfs_entry *
rpc_decode_entry(struct rpc_decode *decode, struct nfs_detail *detail);
void
rpc_decode_entry_name(struct rpc_decode *decode, struct nfs_entry *entry);
void
rpc_decode_entry_handle(struct rpc_decode *decode, uint32_t most,
                        struct nfs_entry *entry);

/* An opaque file handle of at most `most` bytes; `handle` may be NULL. */
void
rpc_decode_handle(struct rpc_decode *decode, uint32_t most,
                  struct nfs_handle *handle);

/* `length` bytes as a handle. */
void
nfs_handle_set(struct nfs_handle *handle, const uint8_t *bytes,
               uint32_t length);
void
nfs_handle_copy(struct nfs_handle *to, const struct nfs_handle *from);

/* status, the first word of most results. */
uint32_t
rpc_decode_status(struct rpc_decode *decode, struct rpc_operation *operation);

/* --- the programs; `procedure` of the call ------------------------------- */

void
nfs2_call(struct rpc_decode *decode, uint32_t procedure);
void
nfs2_reply(struct rpc_decode *decode, uint32_t procedure);
void
nfs3_call(struct rpc_decode *decode, uint32_t procedure);
void
nfs3_reply(struct rpc_decode *decode, uint32_t procedure);
void
nfs4_call(struct rpc_decode *decode, uint32_t procedure);
void
nfs4_reply(struct rpc_decode *decode, uint32_t procedure);
/* Fills in the file that each operation of a COMPOUND works on. */
void
nfs4_resolve_handles(struct rpc_meaning *meaning);
void
nfs4_callback_call(struct rpc_decode *decode, uint32_t procedure);
void
nfs4_callback_reply(struct rpc_decode *decode, uint32_t procedure);
void
mount_call(struct rpc_decode *decode, uint32_t version, uint32_t procedure);
void
mount_reply(struct rpc_decode *decode, uint32_t version, uint32_t procedure);
void
nlm_call(struct rpc_decode *decode, uint32_t version, uint32_t procedure);
void
nlm_reply(struct rpc_decode *decode, uint32_t version, uint32_t procedure);
void
nsm_call(struct rpc_decode *decode, uint32_t procedure);
void
nsm_reply(struct rpc_decode *decode, uint32_t procedure);
void
nfsacl_call(struct rpc_decode *decode, uint32_t version, uint32_t procedure);
void
nfsacl_reply(struct rpc_decode *decode, uint32_t version, uint32_t procedure);
void
portmap_call(struct rpc_decode *decode, uint32_t version, uint32_t procedure);
void
portmap_reply(struct rpc_decode *decode, uint32_t version, uint32_t procedure);

/* Parts of version 2 and 3 that NFSACL borrows. */
void
nfs2_attributes(struct rpc_decode *decode, struct nfs_attr *attr);
void
nfs3_post_op(struct rpc_decode *decode, struct nfs_attr *attr);

#endif
