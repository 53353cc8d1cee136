/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arguments of the NFSv4 operations. Section numbers of 18 are RFC 8881's,
 * those of 16 RFC 7530's, those of 15 RFC 7862's.
 */
#include "capture/nfs4_attr.h"
#include "capture/nfs4_op.h"
#include "capture/rpc_message.h"

#define STATEID 16 /* stateid4 */

/* The detail when somebody will look at it, or NULL. */
static struct nfs_detail *
full_detail(struct rpc_decode *d, struct rpc_operation *op)
{
    return d->full ? rpc_decode_detail(d, op) : NULL;
}

/* Section 18.1. At full depth the file is found afterwards. */
static void
read_access(struct rpc_decode *d, struct nfs_detail *n)
{
    n->access_requested = xdrc_u32(&d->x);
    if (d->current != NULL) {
        nfs_handle_set(&n->handle, d->current, d->current_length);
    }
}

/* RFC 8881 section 3.3.13: state_owner4. */
static void
skip_owner(struct xdrc *x)
{
    xdrc_skip(x, 8);
    xdrc_skip_opaque(x);
}

static void
read_fattr_of(struct rpc_decode *d, struct nfs_detail *n)
{
    if (n != NULL) {
        nfs4_read_sattr(d, &n->sattr);
    } else {
        nfs4_skip_fattr(&d->x);
    }
}

/* Section 18.4: CREATE4args. */
static void
read_create(struct rpc_decode *d, struct nfs_detail *n)
{
    struct xdrc *x = &d->x;

    switch (xdrc_u32(x)) {
    case 3: /* NF4BLK */
    case 4: /* NF4CHR */
        xdrc_skip(x, 8);
        break;
    case 5: /* NF4LNK */
        xdrc_skip_opaque(x);
        break;
    default:
        break;
    }
    rpc_decode_name(d, n);
    read_fattr_of(d, n);
}

/* Section 18.10: LOCK4args. */
static void
read_lock(struct xdrc *x)
{
    xdrc_skip(x, 4 + 4 + 8 + 8);
    if (xdrc_bool(x)) {
        xdrc_skip(x, 4 + STATEID + 4);
        skip_owner(x);
    } else {
        xdrc_skip(x, STATEID + 4);
    }
}

/* Section 18.16: openflag4. */
static void
read_open_how(struct rpc_decode *d, struct nfs_detail *n)
{
    struct xdrc *x = &d->x;

    if (xdrc_u32(x) != 1) { /* OPEN4_NOCREATE */
        return;
    }
    switch (xdrc_u32(x)) {
    case 0: /* UNCHECKED4 */
    case 1: /* GUARDED4 */
        read_fattr_of(d, n);
        break;
    case 2: /* EXCLUSIVE4 */
        xdrc_skip(x, 8);
        break;
    case 3: /* EXCLUSIVE4_1 */
        xdrc_skip(x, 8);
        read_fattr_of(d, n);
        break;
    default:
        xdrc_fail(x, XDRC_BAD);
    }
}

/* Section 18.16: OPEN4args. */
static void
read_open(struct rpc_decode *d, struct nfs_detail *n)
{
    struct xdrc *x = &d->x;
    uint32_t share_access;

    xdrc_skip(x, 4);
    share_access = xdrc_u32(x);
    if (n != NULL) {
        n->open_share_access = share_access;
    }
    xdrc_skip(x, 4);
    skip_owner(x);
    read_open_how(d, n);
    switch (xdrc_u32(x)) {
    case 0: /* CLAIM_NULL */
    case 3: /* CLAIM_DELEGATE_PREV */
        rpc_decode_name(d, n);
        d->current = NULL; /* the file of that name is the current one now */
        break;
    case 1: /* CLAIM_PREVIOUS */
        xdrc_skip(x, 4);
        break;
    case 2: /* CLAIM_DELEGATE_CUR */
        xdrc_skip(x, STATEID);
        rpc_decode_name(d, n);
        d->current = NULL;
        break;
    case 5: /* CLAIM_DELEG_CUR_FH */
        xdrc_skip(x, STATEID);
        break;
    case 4: /* CLAIM_FH */
    case 6: /* CLAIM_DELEG_PREV_FH */
        break;
    default:
        xdrc_fail(x, XDRC_BAD);
    }
}

static void
read_io(struct rpc_decode *d, struct rpc_operation *op)
{
    struct nfs_detail *n = rpc_decode_detail(d, op);
    struct xdrc *x = &d->x;

    xdrc_skip(x, STATEID);
    n->offset = xdrc_u64(x);
    if (op->number == OP4_WRITE) {
        xdrc_skip(x, 4); /* stable_how4 */
        n->count_requested = xdrc_skip_opaque(x);
    } else {
        n->count_requested = xdrc_u32(x);
    }
}

/* Section 16.33: SETCLIENTID4args. */
static void
read_setclientid(struct rpc_decode *d)
{
    struct xdrc *x = &d->x;

    xdrc_skip(x, 8);
    xdrc_skip_opaque(x);
    d->callback_program = xdrc_u32(x);
    xdrc_skip_opaque(x);
    xdrc_skip_opaque(x);
    xdrc_skip(x, 4);
}

/* Section 18.33: callback_sec_parms4<>. */
static void
skip_callback_security(struct xdrc *x)
{
    uint32_t count = xdrc_count(x, 4);

    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        switch (xdrc_u32(x)) {
        case SUNRPC_AUTH_NONE:
            break;
        case SUNRPC_AUTH_SYS:
            xdrc_skip(x, 4);
            xdrc_skip_opaque(x);
            xdrc_skip(x, 8);
            xdrc_skip_array(x, 4);
            break;
        case SUNRPC_AUTH_GSS:
            xdrc_skip(x, 4);
            xdrc_skip_opaque(x);
            xdrc_skip_opaque(x);
            break;
        default:
            xdrc_fail(x, XDRC_UNSUPPORTED);
        }
    }
}

/* Section 18.35: state_protect4_a. */
static void
skip_state_protect(struct xdrc *x)
{
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
        for (unsigned list = 0; list < 2; list++) {
            uint32_t count = xdrc_count(x, 4);

            for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
                xdrc_skip_opaque(x);
            }
        }
        xdrc_skip(x, 8);
        break;
    default:
        xdrc_fail(x, XDRC_BAD);
    }
}

/* Section 18.35: EXCHANGE_ID4args. */
static void
read_exchange_id(struct xdrc *x)
{
    uint32_t count;

    xdrc_skip(x, 8);
    xdrc_skip_opaque(x);
    xdrc_skip(x, 4);
    skip_state_protect(x);
    count = xdrc_count(x, 20);
    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        xdrc_skip_opaque(x);
        xdrc_skip_opaque(x);
        xdrc_skip(x, 12);
    }
}

/* Section 18.36: CREATE_SESSION4args. */
static void
read_create_session(struct rpc_decode *d)
{
    struct xdrc *x = &d->x;

    xdrc_skip(x, 8 + 4 + 4);
    for (unsigned i = 0; i < 2; i++) {
        xdrc_skip(x, 6 * 4);
        xdrc_skip_array(x, 4);
    }
    d->callback_program = xdrc_u32(x);
    skip_callback_security(x);
}

/* Section 18.39: GET_DIR_DELEGATION4args. */
static void
read_dir_delegation(struct xdrc *x)
{
    xdrc_skip(x, 4);
    nfs4_skip_bitmap(x);
    xdrc_skip(x, 12 + 12);
    nfs4_skip_bitmap(x);
    nfs4_skip_bitmap(x);
}

/* Section 18.42: LAYOUTCOMMIT4args. */
static void
read_layoutcommit(struct xdrc *x)
{
    xdrc_skip(x, 8 + 8 + 4 + STATEID);
    if (xdrc_bool(x)) {
        xdrc_skip(x, 8);
    }
    if (xdrc_bool(x)) {
        xdrc_skip(x, 12);
    }
    xdrc_skip(x, 4);
    xdrc_skip_opaque(x);
}

/* Section 18.44: LAYOUTRETURN4args. */
static void
read_layoutreturn(struct xdrc *x)
{
    xdrc_skip(x, 4 + 4 + 4);
    switch (xdrc_u32(x)) {
    case 1: /* LAYOUTRETURN4_FILE */
        xdrc_skip(x, 8 + 8 + STATEID);
        xdrc_skip_opaque(x);
        break;
    case 2: /* LAYOUTRETURN4_FSID */
    case 3: /* LAYOUTRETURN4_ALL */
        break;
    default:
        xdrc_fail(x, XDRC_BAD);
    }
}

/* RFC 7862 section 4.9.2: netloc4. */
void
nfs4_skip_netloc(struct xdrc *x)
{
    switch (xdrc_u32(x)) {
    case 1: /* NL4_NAME */
    case 2: /* NL4_URL */
        xdrc_skip_opaque(x);
        break;
    case 3: /* NL4_NETADDR */
        xdrc_skip_opaque(x);
        xdrc_skip_opaque(x);
        break;
    default:
        xdrc_fail(x, XDRC_BAD);
    }
}

/* Section 15.2: COPY4args. */
static void
read_copy(struct xdrc *x)
{
    uint32_t count;

    xdrc_skip(x, 2 * STATEID + 3 * 8 + 4 + 4);
    count = xdrc_count(x, 8);
    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        nfs4_skip_netloc(x);
    }
}

/* Operations of minor version 1 with more than a fixed size. */
static void
read_minor1(struct rpc_decode *d, struct rpc_operation *op)
{
    struct xdrc *x = &d->x;

    switch (op->number) {
    case OP4_BACKCHANNEL_CTL:
        d->callback_program = xdrc_u32(x);
        skip_callback_security(x);
        break;
    case OP4_EXCHANGE_ID:
        read_exchange_id(x);
        break;
    case OP4_CREATE_SESSION:
        read_create_session(d);
        break;
    case OP4_GET_DIR_DELEGATION:
        read_dir_delegation(x);
        break;
    case OP4_GETDEVICEINFO:
        xdrc_skip(x, 16 + 4 + 4);
        nfs4_skip_bitmap(x);
        break;
    case OP4_LAYOUTCOMMIT:
        read_layoutcommit(x);
        break;
    case OP4_LAYOUTRETURN:
        read_layoutreturn(x);
        break;
    case OP4_SET_SSV:
        xdrc_skip_opaque(x);
        xdrc_skip_opaque(x);
        break;
    case OP4_TEST_STATEID:
        xdrc_skip_array(x, STATEID);
        break;
    case OP4_WANT_DELEGATION:
        xdrc_skip(x, 4);
        if (xdrc_u32(x) == 1) { /* CLAIM_PREVIOUS */
            xdrc_skip(x, 4);
        }
        break;
    default:
        xdrc_fail(x, XDRC_UNSUPPORTED);
    }
}

/* Operations of minor version 2, and extended attributes. */
static void
read_minor2(struct rpc_decode *d, struct rpc_operation *op)
{
    struct xdrc *x = &d->x;

    switch (op->number) {
    case OP4_COPY:
        read_copy(x);
        break;
    case OP4_COPY_NOTIFY:
        xdrc_skip(x, STATEID);
        nfs4_skip_netloc(x);
        break;
    case OP4_IO_ADVISE:
        xdrc_skip(x, STATEID + 8 + 8);
        nfs4_skip_bitmap(x);
        break;
    case OP4_LAYOUTERROR:
        xdrc_skip(x, 8 + 8 + STATEID);
        xdrc_skip_array(x, 16 + 4 + 4);
        break;
    case OP4_LAYOUTSTATS:
        xdrc_skip(x, 8 + 8 + STATEID + 16 + 16 + 16 + 4);
        xdrc_skip_opaque(x);
        break;
    case OP4_WRITE_SAME:
        xdrc_skip(x, STATEID + 4 + 4 * 8 + 4 + 8);
        xdrc_skip_opaque(x);
        break;
    case OP4_GETXATTR:
    case OP4_REMOVEXATTR:
        rpc_decode_name(d, full_detail(d, op));
        break;
    case OP4_SETXATTR:
        xdrc_skip(x, 4);
        rpc_decode_name(d, full_detail(d, op));
        xdrc_skip_opaque(x);
        break;
    case OP4_READ_PLUS:
        if (d->full) {
            read_io(d, op);
        } else {
            xdrc_skip(x, STATEID + 8 + 4);
        }
        break;
    default:
        read_minor1(d, op);
    }
}

/* Arguments of one size, and none of interest. 255: another reader's. */
#define OTHER 255
static const uint8_t fixed_size[76] = {
    [0] = OTHER,
    [1] = OTHER,
    [2] = OTHER,
    [OP4_ACCESS] = OTHER,
    [OP4_CLOSE] = 4 + STATEID,
    [OP4_COMMIT] = 8 + 4,
    [OP4_CREATE] = OTHER,
    [OP4_DELEGPURGE] = 8,
    [OP4_DELEGRETURN] = STATEID,
    [OP4_GETATTR] = OTHER,
    [OP4_LINK] = OTHER,
    [OP4_LOCK] = OTHER,
    [OP4_LOCKT] = OTHER,
    [OP4_LOCKU] = 4 + 4 + STATEID + 8 + 8,
    [OP4_LOOKUP] = OTHER,
    [OP4_NVERIFY] = OTHER,
    [OP4_OPEN] = OTHER,
    [OP4_OPENATTR] = 4,
    [OP4_OPEN_CONFIRM] = STATEID + 4,
    [OP4_OPEN_DOWNGRADE] = STATEID + 4 + 4 + 4,
    [OP4_PUTFH] = OTHER,
    [OP4_READ] = OTHER,
    [OP4_READDIR] = OTHER,
    [OP4_REMOVE] = OTHER,
    [OP4_RENAME] = OTHER,
    [OP4_RENEW] = 8,
    [OP4_SECINFO] = OTHER,
    [OP4_SETATTR] = OTHER,
    [OP4_SETCLIENTID] = OTHER,
    [OP4_SETCLIENTID_CONFIRM] = 8 + 8,
    [OP4_VERIFY] = OTHER,
    [OP4_WRITE] = OTHER,
    [OP4_RELEASE_LOCKOWNER] = OTHER,
    [OP4_BACKCHANNEL_CTL] = OTHER,
    [OP4_BIND_CONN_TO_SESSION] = 16 + 4 + 4,
    [OP4_EXCHANGE_ID] = OTHER,
    [OP4_CREATE_SESSION] = OTHER,
    [OP4_DESTROY_SESSION] = 16,
    [OP4_FREE_STATEID] = STATEID,
    [OP4_GET_DIR_DELEGATION] = OTHER,
    [OP4_GETDEVICEINFO] = OTHER,
    [OP4_GETDEVICELIST] = 4 + 4 + 8 + 8,
    [OP4_LAYOUTCOMMIT] = OTHER,
    [OP4_LAYOUTGET] = 4 + 4 + 4 + 8 + 8 + 8 + STATEID + 4,
    [OP4_LAYOUTRETURN] = OTHER,
    [OP4_SECINFO_NO_NAME] = 4,
    [OP4_SEQUENCE] = 16 + 4 * 4,
    [OP4_SET_SSV] = OTHER,
    [OP4_TEST_STATEID] = OTHER,
    [OP4_WANT_DELEGATION] = OTHER,
    [OP4_DESTROY_CLIENTID] = 8,
    [OP4_RECLAIM_COMPLETE] = 4,
    [OP4_ALLOCATE] = STATEID + 8 + 8,
    [OP4_COPY] = OTHER,
    [OP4_COPY_NOTIFY] = OTHER,
    [OP4_DEALLOCATE] = STATEID + 8 + 8,
    [OP4_IO_ADVISE] = OTHER,
    [OP4_LAYOUTERROR] = OTHER,
    [OP4_LAYOUTSTATS] = OTHER,
    [OP4_OFFLOAD_CANCEL] = STATEID,
    [OP4_OFFLOAD_STATUS] = STATEID,
    [OP4_READ_PLUS] = OTHER,
    [OP4_SEEK] = STATEID + 8 + 4,
    [OP4_WRITE_SAME] = OTHER,
    [OP4_CLONE] = 2 * STATEID + 3 * 8,
    [OP4_GETXATTR] = OTHER,
    [OP4_SETXATTR] = OTHER,
    [OP4_LISTXATTRS] = 8 + 4,
    [OP4_REMOVEXATTR] = OTHER,
};

void
nfs4_read_arguments(struct rpc_decode *d, struct rpc_operation *op)
{
    struct xdrc *x = &d->x;

    if (op->number < 76 && fixed_size[op->number] != OTHER) {
        xdrc_skip(x, fixed_size[op->number]);
        if (op->number == OP4_CLOSE || op->number == OP4_COMMIT ||
            op->number == OP4_GETFH || op->number == OP4_READLINK) {
            (void)full_detail(d, op);
        }
        return;
    }
    switch (op->number) {
    case OP4_ILLEGAL:
        break;
    case OP4_ACCESS:
        read_access(d, rpc_decode_detail(d, op));
        break;
    case OP4_CREATE:
        read_create(d, full_detail(d, op));
        break;
    case OP4_GETATTR:
        nfs4_skip_bitmap(x);
        (void)full_detail(d, op);
        break;
    case OP4_LINK:
    case OP4_LOOKUP:
    case OP4_REMOVE:
    case OP4_SECINFO:
        rpc_decode_name(d, full_detail(d, op));
        break;
    case OP4_LOCK:
        read_lock(x);
        break;
    case OP4_LOCKT:
        xdrc_skip(x, 4 + 8 + 8);
        skip_owner(x);
        break;
    case OP4_NVERIFY:
    case OP4_VERIFY:
        nfs4_skip_fattr(x);
        break;
    case OP4_OPEN:
        read_open(d, full_detail(d, op));
        break;
    case OP4_PUTFH:
        if (d->full) {
            rpc_decode_handle(d, NFS4_FHSIZE,
                              &rpc_decode_detail(d, op)->handle);
        } else {
            d->current = xdrc_opaque(x, NFS4_FHSIZE, &d->current_length);
        }
        break;
    case OP4_READ:
    case OP4_WRITE:
        read_io(d, op);
        break;
    case OP4_READDIR:
        xdrc_skip(x, 8 + 8 + 4 + 4);
        nfs4_skip_bitmap(x);
        (void)full_detail(d, op);
        break;
    case OP4_RENAME:
        rpc_decode_name(d, full_detail(d, op));
        rpc_decode_new_name(d, full_detail(d, op));
        break;
    case OP4_SETATTR:
        xdrc_skip(x, STATEID);
        nfs4_read_sattr(d, &rpc_decode_detail(d, op)->sattr);
        break;
    case OP4_SETCLIENTID:
        read_setclientid(d);
        break;
    case OP4_RELEASE_LOCKOWNER:
        skip_owner(x);
        break;
    default:
        read_minor2(d, op);
    }
}
