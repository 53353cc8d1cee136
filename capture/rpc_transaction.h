/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The product of the capture floor: RPC transactions. A transaction is one
 * logical call, however often it was sent, with the reply that answered it.
 *
 * All pointers are valid during the callback only; copy what is kept.
 * Times are signed nanoseconds since the epoch by the capture's clock.
 */
#ifndef NAT_CAPTURE_RPC_TRANSACTION_H
#define NAT_CAPTURE_RPC_TRANSACTION_H

#include "capture/rpc_record.h"

#include <stdbool.h>
#include <stdint.h>

enum sunrpc_program {
    SUNRPC_PORTMAP = 100000, /* RFC 1833: portmap 2, rpcbind 3 and 4 */
    SUNRPC_NFS = 100003,     /* RFC 1094, 1813, 7530, 8881, 7862, 8276 */
    SUNRPC_MOUNT = 100005,   /* RFC 1094 app. A, RFC 1813 app. I */
    SUNRPC_NLM = 100021,     /* RFC 1813 app. II */
    SUNRPC_NSM = 100024,     /* status monitor */
    SUNRPC_NFSACL = 100227,
    SUNRPC_NFS_CB = 0x40000000, /* RFC 7530 section 16: transient range */
};

enum rpc_outcome {
    RPC_REPLIED,
    RPC_UNANSWERED,   /* call seen, no reply until the end or the limit */
    RPC_ORPHAN_REPLY, /* reply seen, its call not: program unknown (0) */
};

enum rpc_transaction_flag {
    RPC_TX_CALLBACK = 1 << 0,   /* sent by the server: backchannel */
    RPC_TX_GSS_CONTROL = 1 << 1, /* RPCSEC_GSS INIT, CONTINUE_INIT, DESTROY */
    RPC_TX_ENCRYPTED = 1 << 2,  /* krb5p: arguments not visible */
    RPC_TX_CALL_PARTLY = 1 << 3, /* call decoded up to a point only */
    RPC_TX_REPLY_PARTLY = 1 << 4,
    RPC_TX_CALL_MALFORMED = 1 << 5, /* contradicts itself: counted */
    RPC_TX_REPLY_MALFORMED = 1 << 6,
    RPC_TX_TLS_PROBE = 1 << 7,  /* NULL with AUTH_TLS (RFC 9289) */
    RPC_TX_REPLY_FIRST = 1 << 8, /* reply stamped before its call */
    RPC_TX_NEAR_GAP = 1 << 9,   /* unanswered or orphan beside a gap */
    RPC_TX_OPS_FROM_REPLY = 1 << 10, /* call's tail not seen: op list taken
                                        from the reply's resop numbers */
};

/* What a SETATTR (or CREATE, OPEN) does to a time: RFC 1813 section 2.6
 * time_how, RFC 8881 section 5.8 settime4. */
enum nfs_time_how { NFS_TIME_KEEP, NFS_TIME_SERVER, NFS_TIME_CLIENT };

struct nfs_time {
    int64_t seconds;
    uint32_t nanoseconds;
};

struct nfs_sattr {
    enum nfs_time_how atime_how, mtime_how;
    bool size, mode, owner, group, other; /* other: v4 attributes beyond */
    bool empty;      /* sets nothing at all */
    bool delegated_times; /* v4 attributes 84, 85: RFC 9754 */
    struct nfs_time atime, mtime; /* when ..._CLIENT */
};

enum nfs_attr_bit {
    NFS_ATTR_ATIME = 1 << 0,
    NFS_ATTR_MTIME = 1 << 1,
    NFS_ATTR_CTIME = 1 << 2,
    NFS_ATTR_CHANGE = 1 << 3, /* v4 only */
    NFS_ATTR_SIZE = 1 << 4,
    NFS_ATTR_FILEID = 1 << 5,
};

struct nfs_attr {
    unsigned valid; /* enum nfs_attr_bit */
    struct nfs_time atime, mtime, ctime;
    uint64_t change, size, fileid;
};

#define NFS_HANDLE_MAX 128 /* NFS4_FHSIZE, RFC 8881 section 3.1 */

/* A file handle: opaque. hash is 0 when there is none. */
struct nfs_handle {
    uint8_t length;
    uint64_t hash;
    uint8_t bytes[NFS_HANDLE_MAX];
};

/* An entry of a directory listing: READDIRPLUS, READDIR of NFSv4. */
struct nfs_entry {
    const char *name; /* as nfs_detail.name */
    uint32_t name_length;
    uint64_t handle; /* hash, as in struct nfs_handle; 0: none given */
};

#define NFS_ENTRIES_KEPT 1024 /* of one reply */

/* Operations with something to say beyond number and status. `handle` is the
 * file the operation works on (v4: the current file handle at that point,
 * hash 0 when it cannot be known from the COMPOUND); `result_handle` what
 * LOOKUP, CREATE, OPEN+GETFH gave for `name`. RENAME: the directories it
 * comes from and goes to; LINK: the directory and the file. */
struct nfs_detail {
    struct nfs_handle handle;
    struct nfs_handle result_handle;
    const char *name; /* not terminated, unescaped, hostile */
    uint32_t name_length;
    uint32_t new_name_length;
    const char *new_name; /* RENAME */
    const struct nfs_entry *entries; /* of a listing */
    uint32_t entry_count;
    struct nfs_sattr sattr;         /* SETATTR, CREATE, OPEN, MKDIR ... */
    uint32_t access_requested, access_supported, access_granted;
    uint64_t offset;                /* READ, WRITE, COMMIT */
    uint32_t count_requested, count_done;
    uint32_t open_share_access;     /* OPEN */
    uint32_t delegation_type;       /* OPEN reply: 0 none, RFC 8881 18.16 */
    struct nfs_attr before, after;  /* wcc before (v3), post-op / GETATTR */
};

enum rpc_operation_flag {
    RPC_OP_IN_CALL = 1 << 0,
    RPC_OP_IN_REPLY = 1 << 1,
};

/* NFSv4: one operation of the COMPOUND. Other programs: exactly one, its
 * number the procedure. */
struct rpc_operation {
    uint32_t number;
    uint32_t status; /* nfsstat when RPC_OP_IN_REPLY */
    unsigned flags;
    const struct nfs_detail *detail; /* NULL: nothing more to say, or the
                                        engine runs at RPC_DEPTH_COUNTS and
                                        only SETATTR, ACCESS (its file handle
                                        too), READ and WRITE have one */
};

struct rpc_credential {
    uint32_t flavor; /* RFC 5531 section 8.2; 6 RPCSEC_GSS, 7 AUTH_TLS */
    uint32_t uid, gid; /* AUTH_SYS only */
    const char *machine_name; /* AUTH_SYS, not terminated */
    uint32_t machine_name_length;
    uint32_t gss_procedure, gss_service; /* RFC 2203 section 5 */
    uint64_t hash; /* of the whole credential body, gids included */
};

struct rpc_transaction {
    uint64_t serial; /* in order of the first call (or orphan) seen */
    const struct rpc_connection *connection;
    unsigned client; /* connection->ends[client] sent the call */
    enum rpc_outcome outcome;
    unsigned flags; /* enum rpc_transaction_flag */
    uint32_t xid, program, version, procedure;
    uint32_t minor_version; /* NFSv4 */
    struct rpc_credential credential;

    int64_t call_first_ns, call_last_ns;   /* first transmission */
    int64_t resent_ns;                     /* last retransmission, or 0 */
    int64_t reply_first_ns, reply_last_ns;
    uint32_t retransmissions; /* until the reply */
    uint32_t call_bytes, reply_bytes; /* record lengths */

    uint32_t reply_stat;  /* RFC 5531 section 9: 0 accepted, 1 denied */
    uint32_t accept_stat; /* accept_stat, or reject_stat when denied */
    uint32_t status;      /* nfsstat3, COMPOUND status ...: 0 is OK */
    bool status_known;

    uint32_t operations_announced; /* COMPOUND: argarray's count */
    uint32_t operation_count;
    const struct rpc_operation *operations;
};

/* Seen after a transaction was handed out. */
enum rpc_late_kind {
    RPC_LATE_DUPLICATE_REPLY,
    RPC_LATE_RETRANSMISSION, /* the call again after its reply */
};

struct rpc_late {
    enum rpc_late_kind kind;
    uint64_t serial; /* of the transaction it belongs to */
    uint32_t program, version, procedure;
    int64_t when_ns;
    const struct rpc_connection *connection;
};

/* Losses that the RPC half counts by name; all of them are printed. */
struct rpc_losses {
    uint64_t calls, replies;       /* records seen, every transmission */
    uint64_t retransmissions;
    uint64_t duplicate_replies;
    uint64_t orphan_replies;
    uint64_t unanswered_calls;
    uint64_t malformed_calls, malformed_replies;
    uint64_t partly_decoded;       /* unknown operation or captured too short */
    uint64_t unattributed_compounds; /* v4: operations not visible */
    uint64_t encrypted_calls;      /* krb5p */
    uint64_t negative_latencies;   /* reply stamped before its call */
    uint64_t pending_overflows;    /* outstanding calls evicted: limit */
    uint64_t unknown_program_calls;
    uint64_t trailing_bytes;       /* records longer than what they hold */
};

enum rpc_depth {
    RPC_DEPTH_COUNTS, /* fast: numbers, status, SETATTR, ACCESS, sizes */
    RPC_DEPTH_FULL,   /* handles, names, attributes of every reply */
};

struct rpc_transaction_sink {
    void *context;
    void (*transaction)(void *context, const struct rpc_transaction *tx);
    void (*late)(void *context, const struct rpc_late *late);
};

/* --- names (capture/rpc_names.c) ---------------------------------------- */

/* "NFS", "MOUNT", "NFS_CB" ...; NULL when unknown. */
const char *rpc_program_name(uint32_t program);
/* "GETATTR"; for NFSv4 "NULL" or "COMPOUND"; NULL when unknown. */
const char *rpc_procedure_name(uint32_t program, uint32_t version,
                               uint32_t procedure);
/* NFSv4 operation by number, up to 75 and ILLEGAL; callback operations when
 * `callback`. NULL when unknown. */
const char *nfs4_operation_name(uint32_t number, bool callback);
/* "NFS3ERR_PERM", "NFS4ERR_DELAY", "NFSERR_..." by version; NULL unknown. */
const char *nfs_status_name(uint32_t version, uint32_t status);
/* MOUNT status; NULL when unknown. */
const char *mount_status_name(uint32_t version, uint32_t status);
/* Writes "READ|EXECUTE|0x200" for a mask of ACCESS bits; names of RFC 1813
 * section 3.3.4, RFC 8881 section 18.1, RFC 8276 section 8.4.1. Returns out. */
const char *nfs_access_names(uint32_t mask, char *out, size_t size);

#endif
