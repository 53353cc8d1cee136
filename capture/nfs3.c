/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NFS version 3, RFC 1813. At RPC_DEPTH_COUNTS only SETATTR, ACCESS, READ and
 * WRITE are read beyond their status; ACCESS with its file, so that redundant
 * ones can be told.
 */
#include "capture/rpc_decode.h"

#define FHSIZE3 64 /* RFC 1813 section 2.4: NFS3_FHSIZE */
#define VERIFIER 8 /* cookieverf3, createverf3, writeverf3 */

/* RFC 1813 section 3. */
enum nfs3_procedure {
    NULL3,
    GETATTR3,
    SETATTR3,
    LOOKUP3,
    ACCESS3,
    READLINK3,
    READ3,
    WRITE3,
    CREATE3,
    MKDIR3,
    SYMLINK3,
    MKNOD3,
    REMOVE3,
    RMDIR3,
    RENAME3,
    LINK3,
    READDIR3,
    READDIRPLUS3,
    FSSTAT3,
    FSINFO3,
    PATHCONF3,
    COMMIT3,
    PROCEDURES3,
};

/* --- parts --------------------------------------------------------------- */

/* RFC 1813 section 2.5: nfstime3. */
static struct nfs_time
read_time(struct xdrc *x)
{
    struct nfs_time t;

    t.seconds = xdrc_u32(x);
    t.nanoseconds = xdrc_u32(x);
    return t;
}

/* RFC 1813 section 2.6: set_atime, set_mtime. */
static enum nfs_time_how
read_set_time(struct xdrc *x, struct nfs_time *when)
{
    switch (xdrc_u32(x)) {
    case 0:
        return NFS_TIME_KEEP;
    case 1:
        return NFS_TIME_SERVER;
    case 2:
        *when = read_time(x);
        return NFS_TIME_CLIENT;
    default:
        xdrc_fail(x, XDRC_BAD);
        return NFS_TIME_KEEP;
    }
}

/* RFC 1813 section 2.6: sattr3. */
static void
read_sattr(struct xdrc *x, struct nfs_sattr *s)
{
    s->mode = xdrc_bool(x);
    xdrc_skip(x, s->mode ? 4 : 0);
    s->owner = xdrc_bool(x);
    xdrc_skip(x, s->owner ? 4 : 0);
    s->group = xdrc_bool(x);
    xdrc_skip(x, s->group ? 4 : 0);
    s->size = xdrc_bool(x);
    xdrc_skip(x, s->size ? 8 : 0);
    s->atime_how = read_set_time(x, &s->atime);
    s->mtime_how = read_set_time(x, &s->mtime);
    s->empty = xdrc_ok(x) && !s->mode && !s->owner && !s->group && !s->size &&
               s->atime_how == NFS_TIME_KEEP && s->mtime_how == NFS_TIME_KEEP;
}

/* RFC 1813 section 2.6: fattr3. */
static void
read_fattr(struct xdrc *x, struct nfs_attr *a)
{
    if (a == NULL) {
        xdrc_skip(x, 84);
        return;
    }
    xdrc_skip(x, 20); /* type, mode, nlink, uid, gid */
    a->size = xdrc_u64(x);
    xdrc_skip(x, 24); /* used, rdev, fsid */
    a->fileid = xdrc_u64(x);
    a->atime = read_time(x);
    a->mtime = read_time(x);
    a->ctime = read_time(x);
    a->valid = xdrc_ok(x) ? NFS_ATTR_SIZE | NFS_ATTR_FILEID | NFS_ATTR_ATIME |
                                NFS_ATTR_MTIME | NFS_ATTR_CTIME
                          : 0;
}

/* RFC 1813 section 2.6: post_op_attr. */
void
nfs3_post_op(struct rpc_decode *d, struct nfs_attr *a)
{
    if (xdrc_bool(&d->x)) {
        read_fattr(&d->x, a);
    }
}

/* RFC 1813 section 2.6: wcc_data. */
static void
read_wcc(struct rpc_decode *d, struct nfs_attr *before, struct nfs_attr *after)
{
    struct xdrc *x = &d->x;

    if (xdrc_bool(x)) {
        if (before == NULL) {
            xdrc_skip(x, 24);
        } else {
            before->size = xdrc_u64(x);
            before->mtime = read_time(x);
            before->ctime = read_time(x);
            before->valid =
                xdrc_ok(x) ? NFS_ATTR_SIZE | NFS_ATTR_MTIME | NFS_ATTR_CTIME
                           : 0;
        }
    }
    nfs3_post_op(d, after);
}

static void
read_handle(struct rpc_decode *d, struct nfs_handle *h)
{
    if (h == NULL) {
        uint32_t length = xdrc_u32(&d->x);

        if (length > FHSIZE3) {
            xdrc_fail(&d->x, XDRC_BAD);
        }
        xdrc_skip(&d->x, length + xdrc_fill(length));
        return;
    }
    rpc_decode_handle(d, FHSIZE3, h);
}

/* RFC 1813 section 2.6: diropargs3. */
static void
read_dirop(struct rpc_decode *d, struct nfs_detail *n)
{
    read_handle(d, &n->handle);
    rpc_decode_name(d, n);
}

/* --- calls --------------------------------------------------------------- */

static void
call_setattr(struct rpc_decode *d, struct nfs_detail *n)
{
    read_handle(d, d->full ? &n->handle : NULL);
    read_sattr(&d->x, &n->sattr);
    if (xdrc_bool(&d->x)) {
        xdrc_skip(&d->x, 8); /* guard: the ctime that must still hold */
    }
}

static void
call_io(struct rpc_decode *d, struct nfs_detail *n, bool write)
{
    read_handle(d, d->full ? &n->handle : NULL);
    n->offset = xdrc_u64(&d->x);
    n->count_requested = xdrc_u32(&d->x);
    if (write) {
        xdrc_skip(&d->x, 4); /* stable_how */
        if (xdrc_skip_opaque(&d->x) != n->count_requested && xdrc_ok(&d->x)) {
            xdrc_fail(&d->x, XDRC_BAD);
        }
    }
}

/* RFC 1813 section 3.3.8: createhow3. */
static void
call_create(struct rpc_decode *d, struct nfs_detail *n)
{
    read_dirop(d, n);
    switch (xdrc_u32(&d->x)) {
    case 0: /* UNCHECKED */
    case 1: /* GUARDED */
        read_sattr(&d->x, &n->sattr);
        break;
    case 2: /* EXCLUSIVE */
        xdrc_skip(&d->x, VERIFIER);
        break;
    default:
        xdrc_fail(&d->x, XDRC_BAD);
    }
}

/* RFC 1813 section 3.3.11: mknoddata3. */
static void
call_mknod(struct rpc_decode *d, struct nfs_detail *n)
{
    read_dirop(d, n);
    switch (xdrc_u32(&d->x)) {
    case 3: /* NF3BLK */
    case 4: /* NF3CHR */
        read_sattr(&d->x, &n->sattr);
        xdrc_skip(&d->x, 8);
        break;
    case 6: /* NF3SOCK */
    case 7: /* NF3FIFO */
        read_sattr(&d->x, &n->sattr);
        break;
    default:
        break;
    }
}

static void
call_full(struct rpc_decode *d, uint32_t procedure, struct nfs_detail *n)
{
    switch (procedure) {
    case LOOKUP3:
    case REMOVE3:
    case RMDIR3:
        read_dirop(d, n);
        break;
    case CREATE3:
        call_create(d, n);
        break;
    case MKDIR3:
        read_dirop(d, n);
        read_sattr(&d->x, &n->sattr);
        break;
    case SYMLINK3:
        read_dirop(d, n);
        read_sattr(&d->x, &n->sattr);
        xdrc_skip_opaque(&d->x);
        break;
    case MKNOD3:
        call_mknod(d, n);
        break;
    case RENAME3:
        read_dirop(d, n);
        read_handle(d, &n->result_handle);
        rpc_decode_new_name(d, n);
        break;
    case LINK3:
        read_handle(d, &n->result_handle);
        read_dirop(d, n);
        break;
    case READDIR3:
        read_handle(d, &n->handle);
        xdrc_skip(&d->x, 8 + VERIFIER);
        n->count_requested = xdrc_u32(&d->x);
        break;
    case READDIRPLUS3:
        read_handle(d, &n->handle);
        xdrc_skip(&d->x, 8 + VERIFIER + 4);
        n->count_requested = xdrc_u32(&d->x);
        break;
    case COMMIT3:
        call_io(d, n, false);
        break;
    default: /* GETATTR, READLINK, FSSTAT, FSINFO, PATHCONF */
        read_handle(d, &n->handle);
    }
}

void
nfs3_call(struct rpc_decode *d, uint32_t procedure)
{
    struct rpc_operation *op = rpc_decode_single(d, procedure);

    op->flags |= RPC_OP_IN_CALL;
    if (procedure == NULL3) {
        d->to_end = true;
        return;
    }
    switch (procedure) {
    case SETATTR3:
        call_setattr(d, rpc_decode_detail(d, op));
        break;
    case ACCESS3: {
        struct nfs_detail *n = rpc_decode_detail(d, op);

        read_handle(d, &n->handle);
        n->access_requested = xdrc_u32(&d->x);
        break;
    }
    case READ3:
    case WRITE3:
        call_io(d, rpc_decode_detail(d, op), procedure == WRITE3);
        break;
    default:
        if (!d->full) {
            return;
        }
        if (procedure >= PROCEDURES3) {
            xdrc_fail(&d->x, XDRC_UNSUPPORTED);
            return;
        }
        call_full(d, procedure, rpc_decode_detail(d, op));
    }
    d->to_end = true;
}

/* --- replies ------------------------------------------------------------- */

static void
reply_access(struct rpc_decode *d, uint32_t status, struct nfs_detail *n)
{
    nfs3_post_op(d, d->full ? &n->after : NULL);
    if (status == 0) {
        n->access_granted = xdrc_u32(&d->x);
        n->access_supported = n->access_requested;
    }
}

static void
reply_read(struct rpc_decode *d, uint32_t status, struct nfs_detail *n)
{
    nfs3_post_op(d, d->full ? &n->after : NULL);
    if (status == 0) {
        n->count_done = xdrc_u32(&d->x);
        (void)xdrc_bool(&d->x); /* eof */
        if (xdrc_skip_opaque(&d->x) != n->count_done && xdrc_ok(&d->x)) {
            xdrc_fail(&d->x, XDRC_BAD);
        }
    }
}

static void
reply_write(struct rpc_decode *d, uint32_t status, struct nfs_detail *n)
{
    read_wcc(d, d->full ? &n->before : NULL, d->full ? &n->after : NULL);
    if (status == 0) {
        n->count_done = xdrc_u32(&d->x);
        xdrc_skip(&d->x, 4 + VERIFIER);
    }
}

/* RFC 1813 section 3.3.8 to 3.3.11. The post-op attributes are those of the
 * new object. */
static void
reply_create(struct rpc_decode *d, uint32_t status, struct nfs_detail *n)
{
    if (status == 0) {
        if (xdrc_bool(&d->x)) {
            read_handle(d, &n->result_handle);
        }
        nfs3_post_op(d, &n->after);
    }
    read_wcc(d, NULL, NULL);
}

static void
reply_lookup(struct rpc_decode *d, uint32_t status, struct nfs_detail *n)
{
    if (status == 0) {
        read_handle(d, &n->result_handle);
        nfs3_post_op(d, &n->after);
    }
    nfs3_post_op(d, NULL);
}

/* RFC 1813 section 3.3.16, 3.3.17: dirlist3, dirlistplus3. */
static void
reply_readdir(struct rpc_decode *d, uint32_t status, struct nfs_detail *n,
              bool plus)
{
    nfs3_post_op(d, &n->after);
    if (status != 0) {
        return;
    }
    xdrc_skip(&d->x, VERIFIER);
    while (xdrc_bool(&d->x)) {
        struct nfs_entry *entry = plus ? rpc_decode_entry(d, n) : NULL;

        xdrc_skip(&d->x, 8);
        rpc_decode_entry_name(d, entry);
        xdrc_skip(&d->x, 8);
        if (plus) {
            nfs3_post_op(d, NULL);
            if (xdrc_bool(&d->x)) {
                rpc_decode_entry_handle(d, FHSIZE3, entry);
            }
        }
        n->count_done++;
    }
    (void)xdrc_bool(&d->x); /* eof */
}

/* Results that are attributes and then `size` bytes nobody asks for. */
static void
reply_fixed(struct rpc_decode *d, uint32_t status, struct nfs_detail *n,
            uint32_t size)
{
    nfs3_post_op(d, &n->after);
    if (status == 0) {
        xdrc_skip(&d->x, size);
    }
}

static void
reply_full(struct rpc_decode *d, uint32_t procedure, uint32_t status,
           struct nfs_detail *n)
{
    switch (procedure) {
    case GETATTR3:
        if (status == 0) {
            read_fattr(&d->x, &n->after);
        }
        break;
    case SETATTR3:
    case REMOVE3:
    case RMDIR3:
        read_wcc(d, &n->before, &n->after);
        break;
    case LOOKUP3:
        reply_lookup(d, status, n);
        break;
    case READLINK3:
        nfs3_post_op(d, &n->after);
        if (status == 0) {
            xdrc_skip_opaque(&d->x);
        }
        break;
    case CREATE3:
    case MKDIR3:
    case SYMLINK3:
    case MKNOD3:
        reply_create(d, status, n);
        break;
    case RENAME3:
        read_wcc(d, &n->before, &n->after);
        read_wcc(d, NULL, NULL);
        break;
    case LINK3:
        nfs3_post_op(d, &n->after);
        read_wcc(d, NULL, NULL);
        break;
    case READDIR3:
    case READDIRPLUS3:
        reply_readdir(d, status, n, procedure == READDIRPLUS3);
        break;
    case FSSTAT3:
        reply_fixed(d, status, n, 6 * 8 + 4);
        break;
    case FSINFO3:
        reply_fixed(d, status, n, 7 * 4 + 8 + 8 + 4);
        break;
    case PATHCONF3:
        reply_fixed(d, status, n, 6 * 4);
        break;
    case COMMIT3:
        read_wcc(d, &n->before, &n->after);
        if (status == 0) {
            xdrc_skip(&d->x, VERIFIER);
        }
        break;
    default:
        xdrc_fail(&d->x, XDRC_UNSUPPORTED);
    }
}

void
nfs3_reply(struct rpc_decode *d, uint32_t procedure)
{
    struct rpc_operation *op = rpc_decode_single(d, procedure);
    uint32_t status;

    if (procedure == NULL3) {
        op->flags |= RPC_OP_IN_REPLY;
        d->to_end = true;
        return;
    }
    status = rpc_decode_status(d, op);
    if (!xdrc_ok(&d->x)) {
        return;
    }
    switch (procedure) {
    case ACCESS3:
        reply_access(d, status, rpc_decode_detail(d, op));
        break;
    case READ3:
        reply_read(d, status, rpc_decode_detail(d, op));
        break;
    case WRITE3:
        reply_write(d, status, rpc_decode_detail(d, op));
        break;
    default:
        if (!d->full) {
            return;
        }
        reply_full(d, procedure, status, rpc_decode_detail(d, op));
    }
    d->to_end = true;
}
