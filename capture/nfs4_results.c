/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results of the NFSv4 operations. Section numbers of 18 are RFC 8881's,
 * those of 16 RFC 7530's, those of 15 RFC 7862's.
 */
#include "capture/nfs4_attr.h"
#include "capture/nfs4_op.h"
#include "capture/rpc_message.h"

#define STATEID 16
#define VERIFIER 8
#define CHANGE_INFO (4 + 8 + 8) /* change_info4 */

/* The statuses whose results are not void: RFC 8881 section 15.1. */
enum {
    OK4 = 0,
    DENIED4 = 10010,
    TOOSMALL4 = 10005,
    CLID_INUSE4 = 10017,
    LAYOUTTRYLATER4 = 10058,
    OFFLOAD_NO_REQS4 = 10094,
};

/* RFC 8881 section 18.16: nfsace4 of a delegation. */
static void
skip_ace(struct xdrc *x)
{
    xdrc_skip(x, 12);
    xdrc_skip_opaque(x);
}

/* Section 18.16: open_delegation4, with RFC 9754 section 4's kinds 4 and 5
 * (attributes delegated too). Returns the kind. */
uint32_t
nfs4_read_delegation(struct xdrc *x)
{
    uint32_t type = xdrc_u32(x);
    uint32_t why;

    switch (type) {
    case 0: /* OPEN_DELEGATE_NONE */
        break;
    case 1: /* READ */
    case 4: /* READ_ATTRS_DELEG */
        xdrc_skip(x, STATEID + 4);
        skip_ace(x);
        break;
    case 2: /* WRITE */
    case 5: /* WRITE_ATTRS_DELEG */
        xdrc_skip(x, STATEID + 4 + 4 + 8);
        skip_ace(x);
        break;
    case 3: /* NONE_EXT */
        why = xdrc_u32(x);
        if (why == 1 || why == 2) { /* WND4_CONTENTION, WND4_RESOURCE */
            xdrc_skip(x, 4);
        }
        break;
    default:
        xdrc_fail(x, XDRC_BAD);
    }
    return type;
}

/* Section 18.10.2: LOCK4denied. */
static void
skip_denied(struct xdrc *x)
{
    xdrc_skip(x, 8 + 8 + 4 + 8);
    xdrc_skip_opaque(x);
}

/* Section 16.31, 18.45: SECINFO4resok. */
static void
skip_secinfo(struct xdrc *x)
{
    uint32_t count = xdrc_count(x, 4);

    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        if (xdrc_u32(x) == SUNRPC_AUTH_GSS) {
            xdrc_skip_opaque(x);
            xdrc_skip(x, 8);
        }
    }
}

/* Section 18.23: READDIR4resok. */
static void
read_readdir(struct rpc_decode *d, struct nfs_detail *n)
{
    struct xdrc *x = &d->x;

    xdrc_skip(x, VERIFIER);
    while (xdrc_bool(x)) {
        struct nfs_entry *entry = n != NULL ? rpc_decode_entry(d, n) : NULL;

        xdrc_skip(x, 8);
        rpc_decode_entry_name(d, entry);
        if (entry != NULL) {
            nfs4_read_entry_attr(d, entry);
        } else {
            nfs4_skip_fattr(x);
        }
        if (n != NULL) {
            n->count_done++;
        }
    }
    (void)xdrc_bool(x);
}

/* Section 18.35: EXCHANGE_ID4resok. */
static void
skip_exchange_id(struct xdrc *x)
{
    uint32_t count;

    xdrc_skip(x, 8 + 4 + 4);
    switch (xdrc_u32(x)) {
    case 0: /* SP4_NONE */
        break;
    case 1: /* SP4_MACH_CRED */
        nfs4_skip_bitmap(x);
        nfs4_skip_bitmap(x);
        break;
    case 2: /* SP4_SSV */
        nfs4_skip_bitmap(x);
        nfs4_skip_bitmap(x);
        xdrc_skip(x, 4 * 4);
        count = xdrc_count(x, 4);
        for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
            xdrc_skip_opaque(x);
        }
        break;
    default:
        xdrc_fail(x, XDRC_BAD);
    }
    xdrc_skip(x, 8);
    xdrc_skip_opaque(x);
    xdrc_skip_opaque(x);
    count = xdrc_count(x, 20);
    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        xdrc_skip_opaque(x);
        xdrc_skip_opaque(x);
        xdrc_skip(x, 12);
    }
}

/* Section 18.36: CREATE_SESSION4resok. */
static void
skip_create_session(struct xdrc *x)
{
    xdrc_skip(x, 16 + 4 + 4);
    for (unsigned i = 0; i < 2; i++) {
        xdrc_skip(x, 6 * 4);
        xdrc_skip_array(x, 4);
    }
}

/* Section 18.39: GET_DIR_DELEGATION4res_non_fatal. */
static void
skip_dir_delegation(struct xdrc *x)
{
    if (xdrc_u32(x) == 0) { /* GDD4_OK */
        xdrc_skip(x, VERIFIER + STATEID);
        nfs4_skip_bitmap(x);
        nfs4_skip_bitmap(x);
        nfs4_skip_bitmap(x);
    } else {
        xdrc_skip(x, 4);
    }
}

/* Section 18.43: LAYOUTGET4resok. */
static void
skip_layoutget(struct xdrc *x)
{
    uint32_t count;

    xdrc_skip(x, 4 + STATEID);
    count = xdrc_count(x, 28);
    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        xdrc_skip(x, 8 + 8 + 4 + 4);
        xdrc_skip_opaque(x);
    }
}

/* RFC 7862 section 15.2, 15.12: write_response4. */
void
nfs4_skip_write_response(struct xdrc *x, uint64_t *count)
{
    uint64_t value;

    xdrc_skip_array(x, STATEID);
    value = xdrc_u64(x);
    if (count != NULL) {
        *count = value;
    }
    xdrc_skip(x, 4 + VERIFIER);
}

/* Section 15.10: READ_PLUS4resok. */
static void
read_read_plus(struct xdrc *x, struct nfs_detail *n)
{
    uint32_t count;

    xdrc_skip(x, 4);
    count = xdrc_count(x, 16);
    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        uint32_t kind = xdrc_u32(x);

        xdrc_skip(x, 8);
        if (kind == 0) { /* NFS4_CONTENT_DATA */
            uint32_t length = xdrc_skip_opaque(x);

            if (n != NULL) {
                n->count_done += length;
            }
        } else if (kind == 1) { /* NFS4_CONTENT_HOLE */
            xdrc_skip(x, 8);
        } else {
            xdrc_fail(x, XDRC_BAD);
        }
    }
}

/* Results of minor version 1 and 2 with more than a fixed size. */
static void
read_later(struct rpc_decode *d, struct rpc_operation *op, struct nfs_detail *n)
{
    struct xdrc *x = &d->x;
    uint32_t count;

    switch (op->number) {
    case OP4_EXCHANGE_ID:
        skip_exchange_id(x);
        break;
    case OP4_CREATE_SESSION:
        skip_create_session(x);
        break;
    case OP4_GET_DIR_DELEGATION:
        skip_dir_delegation(x);
        break;
    case OP4_GETDEVICEINFO:
        xdrc_skip(x, 4);
        xdrc_skip_opaque(x);
        nfs4_skip_bitmap(x);
        break;
    case OP4_GETDEVICELIST:
        xdrc_skip(x, 8 + VERIFIER);
        xdrc_skip_array(x, 16);
        xdrc_skip(x, 4);
        break;
    case OP4_LAYOUTCOMMIT:
        xdrc_skip(x, xdrc_bool(x) ? 8 : 0);
        break;
    case OP4_LAYOUTGET:
        skip_layoutget(x);
        break;
    case OP4_LAYOUTRETURN:
        xdrc_skip(x, xdrc_bool(x) ? STATEID : 0);
        break;
    case OP4_SECINFO_NO_NAME:
        skip_secinfo(x);
        break;
    case OP4_SET_SSV:
    case OP4_GETXATTR:
        xdrc_skip_opaque(x);
        break;
    case OP4_TEST_STATEID:
        xdrc_skip_array(x, 4);
        break;
    case OP4_WANT_DELEGATION:
        (void)nfs4_read_delegation(x);
        break;
    case OP4_COPY:
        nfs4_skip_write_response(x, NULL);
        xdrc_skip(x, 8);
        break;
    case OP4_COPY_NOTIFY:
        xdrc_skip(x, 12 + STATEID);
        count = xdrc_count(x, 8);
        for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
            nfs4_skip_netloc(x);
        }
        break;
    case OP4_IO_ADVISE:
        nfs4_skip_bitmap(x);
        break;
    case OP4_OFFLOAD_STATUS:
        xdrc_skip(x, 8);
        xdrc_skip_array(x, 4);
        break;
    case OP4_READ_PLUS:
        read_read_plus(x, n);
        break;
    case OP4_WRITE_SAME:
        nfs4_skip_write_response(x, NULL);
        break;
    case OP4_LISTXATTRS:
        xdrc_skip(x, 8);
        count = xdrc_count(x, 4);
        for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
            xdrc_skip_opaque(x);
        }
        xdrc_skip(x, 4);
        break;
    default:
        xdrc_fail(x, XDRC_UNSUPPORTED);
    }
}

static void
read_access(struct rpc_decode *d, struct rpc_operation *op)
{
    struct nfs_detail *n = rpc_decode_detail(d, op);

    n->access_supported = xdrc_u32(&d->x);
    n->access_granted = xdrc_u32(&d->x);
    if (d->current != NULL && n->handle.hash == 0) {
        nfs_handle_set(&n->handle, d->current, d->current_length);
    }
}

static void
read_open(struct xdrc *x, struct nfs_detail *n)
{
    uint32_t type;

    xdrc_skip(x, STATEID + CHANGE_INFO + 4);
    nfs4_skip_bitmap(x);
    type = nfs4_read_delegation(x);
    if (n != NULL) {
        n->delegation_type = type;
    }
}

/* Results when the operation went well. 255: another reader's. */
#define OTHER 255
static const uint8_t fixed_size[76] = {
    [0] = OTHER,
    [1] = OTHER,
    [2] = OTHER,
    [OP4_ACCESS] = OTHER,
    [OP4_CLOSE] = STATEID,
    [OP4_COMMIT] = VERIFIER,
    [OP4_CREATE] = OTHER,
    [OP4_GETATTR] = OTHER,
    [OP4_GETFH] = OTHER,
    [OP4_LINK] = CHANGE_INFO,
    [OP4_LOCK] = STATEID,
    [OP4_LOCKU] = STATEID,
    [OP4_OPEN] = OTHER,
    [OP4_OPEN_CONFIRM] = STATEID,
    [OP4_OPEN_DOWNGRADE] = STATEID,
    [OP4_READ] = OTHER,
    [OP4_READDIR] = OTHER,
    [OP4_READLINK] = OTHER,
    [OP4_REMOVE] = CHANGE_INFO,
    [OP4_RENAME] = 2 * CHANGE_INFO,
    [OP4_SECINFO] = OTHER,
    [OP4_SETATTR] = OTHER,
    [OP4_SETCLIENTID] = 8 + VERIFIER,
    [OP4_WRITE] = OTHER,
    [OP4_BIND_CONN_TO_SESSION] = 16 + 4 + 4,
    [OP4_EXCHANGE_ID] = OTHER,
    [OP4_CREATE_SESSION] = OTHER,
    [OP4_GET_DIR_DELEGATION] = OTHER,
    [OP4_GETDEVICEINFO] = OTHER,
    [OP4_GETDEVICELIST] = OTHER,
    [OP4_LAYOUTCOMMIT] = OTHER,
    [OP4_LAYOUTGET] = OTHER,
    [OP4_LAYOUTRETURN] = OTHER,
    [OP4_SECINFO_NO_NAME] = OTHER,
    [OP4_SEQUENCE] = 16 + 5 * 4,
    [OP4_SET_SSV] = OTHER,
    [OP4_TEST_STATEID] = OTHER,
    [OP4_WANT_DELEGATION] = OTHER,
    [OP4_COPY] = OTHER,
    [OP4_COPY_NOTIFY] = OTHER,
    [OP4_IO_ADVISE] = OTHER,
    [OP4_OFFLOAD_STATUS] = OTHER,
    [OP4_READ_PLUS] = OTHER,
    [OP4_SEEK] = 4 + 8,
    [OP4_WRITE_SAME] = OTHER,
    [OP4_GETXATTR] = OTHER,
    [OP4_SETXATTR] = CHANGE_INFO,
    [OP4_LISTXATTRS] = OTHER,
    [OP4_REMOVEXATTR] = CHANGE_INFO,
};

/* Results of an operation that failed: void but for these. */
static void
read_failed(struct rpc_decode *d, const struct rpc_operation *op)
{
    struct xdrc *x = &d->x;

    if (op->number == OP4_SETATTR) {
        nfs4_skip_bitmap(x); /* not a union: section 18.30 */
    } else if ((op->number == OP4_LOCK || op->number == OP4_LOCKT) &&
               op->status == DENIED4) {
        skip_denied(x);
    } else if (op->number == OP4_SETCLIENTID && op->status == CLID_INUSE4) {
        xdrc_skip_opaque(x);
        xdrc_skip_opaque(x);
    } else if ((op->number == OP4_GETDEVICEINFO && op->status == TOOSMALL4) ||
               (op->number == OP4_LAYOUTGET && op->status == LAYOUTTRYLATER4)) {
        xdrc_skip(x, 4);
    } else if (op->number == OP4_COPY && op->status == OFFLOAD_NO_REQS4) {
        xdrc_skip(x, 8);
    }
}

void
nfs4_read_results(struct rpc_decode *d, struct rpc_operation *op)
{
    struct xdrc *x = &d->x;
    struct nfs_detail *n = NULL;

    if (op->status != OK4) {
        read_failed(d, op);
        return;
    }
    if (op->number < 76 && fixed_size[op->number] != OTHER) {
        xdrc_skip(x, fixed_size[op->number]);
        return;
    }
    if (d->full && op->number < 76) {
        n = rpc_decode_detail(d, op);
    }
    switch (op->number) {
    case OP4_ILLEGAL:
        break;
    case OP4_ACCESS:
        read_access(d, op);
        break;
    case OP4_CREATE:
        xdrc_skip(x, CHANGE_INFO);
        nfs4_skip_bitmap(x);
        break;
    case OP4_GETATTR:
        if (n != NULL) {
            nfs4_read_attr(d, &n->after);
        } else {
            nfs4_skip_fattr(x);
        }
        break;
    case OP4_GETFH:
        if (n != NULL) {
            rpc_decode_handle(d, NFS4_FHSIZE, &n->result_handle);
        } else {
            d->current = xdrc_opaque(x, NFS4_FHSIZE, &d->current_length);
        }
        break;
    case OP4_OPEN:
        read_open(x, n);
        break;
    case OP4_READ:
        n = rpc_decode_detail(d, op);
        xdrc_skip(x, 4);
        n->count_done = xdrc_skip_opaque(x);
        break;
    case OP4_READDIR:
        read_readdir(d, n);
        break;
    case OP4_READLINK:
        xdrc_skip_opaque(x);
        break;
    case OP4_SECINFO:
        skip_secinfo(x);
        break;
    case OP4_SETATTR:
        nfs4_skip_bitmap(x);
        break;
    case OP4_WRITE:
        rpc_decode_detail(d, op)->count_done = xdrc_u32(x);
        xdrc_skip(x, 4 + VERIFIER);
        break;
    default:
        read_later(d, op, n);
    }
}
