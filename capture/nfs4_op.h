/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NFSv4 operations: numbers, and the two readers that a COMPOUND is made of.
 */
#ifndef NAT_CAPTURE_NFS4_OP_H
#define NAT_CAPTURE_NFS4_OP_H

#include "capture/rpc_decode.h"

#define NFS4_FHSIZE 128 /* RFC 8881 section 3.1 */

/* RFC 7530 section 16, RFC 8881 section 18, RFC 7862 section 15, RFC 8276
 * section 8.4. */
enum nfs4_operation {
    OP4_ACCESS = 3,
    OP4_CLOSE,
    OP4_COMMIT,
    OP4_CREATE,
    OP4_DELEGPURGE,
    OP4_DELEGRETURN,
    OP4_GETATTR,
    OP4_GETFH,
    OP4_LINK,
    OP4_LOCK,
    OP4_LOCKT,
    OP4_LOCKU,
    OP4_LOOKUP,
    OP4_LOOKUPP,
    OP4_NVERIFY,
    OP4_OPEN,
    OP4_OPENATTR,
    OP4_OPEN_CONFIRM,
    OP4_OPEN_DOWNGRADE,
    OP4_PUTFH,
    OP4_PUTPUBFH,
    OP4_PUTROOTFH,
    OP4_READ,
    OP4_READDIR,
    OP4_READLINK,
    OP4_REMOVE,
    OP4_RENAME,
    OP4_RENEW,
    OP4_RESTOREFH,
    OP4_SAVEFH,
    OP4_SECINFO,
    OP4_SETATTR,
    OP4_SETCLIENTID,
    OP4_SETCLIENTID_CONFIRM,
    OP4_VERIFY,
    OP4_WRITE,
    OP4_RELEASE_LOCKOWNER,
    OP4_BACKCHANNEL_CTL,
    OP4_BIND_CONN_TO_SESSION,
    OP4_EXCHANGE_ID,
    OP4_CREATE_SESSION,
    OP4_DESTROY_SESSION,
    OP4_FREE_STATEID,
    OP4_GET_DIR_DELEGATION,
    OP4_GETDEVICEINFO,
    OP4_GETDEVICELIST,
    OP4_LAYOUTCOMMIT,
    OP4_LAYOUTGET,
    OP4_LAYOUTRETURN,
    OP4_SECINFO_NO_NAME,
    OP4_SEQUENCE,
    OP4_SET_SSV,
    OP4_TEST_STATEID,
    OP4_WANT_DELEGATION,
    OP4_DESTROY_CLIENTID,
    OP4_RECLAIM_COMPLETE,
    OP4_ALLOCATE,
    OP4_COPY,
    OP4_COPY_NOTIFY,
    OP4_DEALLOCATE,
    OP4_IO_ADVISE,
    OP4_LAYOUTERROR,
    OP4_LAYOUTSTATS,
    OP4_OFFLOAD_CANCEL,
    OP4_OFFLOAD_STATUS,
    OP4_READ_PLUS,
    OP4_SEEK,
    OP4_WRITE_SAME,
    OP4_CLONE,
    OP4_GETXATTR,
    OP4_SETXATTR,
    OP4_LISTXATTRS,
    OP4_REMOVEXATTR,
    OP4_ILLEGAL = 10044,
};
_Static_assert(OP4_REMOVEXATTR == 75, "operations are numbered without a gap");

/*
 * Arguments of one operation, from behind its number. UNSUPPORTED when their
 * layout is not known: what follows cannot be reached.
 */
void
nfs4_read_arguments(struct rpc_decode *decode, struct rpc_operation *op);

/* Results of one operation, from behind its status. */
void
nfs4_read_results(struct rpc_decode *decode, struct rpc_operation *op);

/* The same of the callback operations. */
void
nfs4_read_callback_arguments(struct rpc_decode *decode,
                             struct rpc_operation *op);
void
nfs4_read_callback_results(struct rpc_decode *decode, struct rpc_operation *op);

/* Parts that both directions have. RFC 8881 section 18.16: open_delegation4;
 * RFC 7862 section 4.9.2 and 15.2: netloc4<>, write_response4. */
uint32_t
nfs4_read_delegation(struct xdrc *x);
void
nfs4_skip_netloc(struct xdrc *x);
void
nfs4_skip_write_response(struct xdrc *x, uint64_t *count);

/* Operations with a detail at RPC_DEPTH_COUNTS. */
static inline bool
nfs4_always_detailed(uint32_t number)
{
    return number == OP4_ACCESS || number == OP4_READ || number == OP4_WRITE ||
           number == OP4_SETATTR;
}

#endif
