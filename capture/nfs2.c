/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NFS version 2, RFC 1094. Times are seconds and microseconds, sizes 32 bits.
 */
#include "capture/rpc_decode.h"

#define FHSIZE2 32 /* RFC 1094 section 2.3.3 */
#define UNSET UINT32_MAX

/* RFC 1094 section 2.2. */
enum nfs2_procedure {
    NULL2,
    GETATTR2,
    SETATTR2,
    ROOT2,
    LOOKUP2,
    READLINK2,
    READ2,
    WRITECACHE2,
    WRITE2,
    CREATE2,
    REMOVE2,
    RENAME2,
    LINK2,
    SYMLINK2,
    MKDIR2,
    RMDIR2,
    READDIR2,
    STATFS2,
};

/* RFC 1094 section 2.3.4: timeval. */
static struct nfs_time
read_time(struct xdrc *x)
{
    struct nfs_time t;

    t.seconds = xdrc_u32(x);
    t.nanoseconds = xdrc_u32(x);
    t.nanoseconds = t.nanoseconds < 1000000 ? t.nanoseconds * 1000 : UINT32_MAX;
    return t;
}

/*
 * RFC 1094 section 2.3.6: sattr, where all bits set mean "leave it". A
 * modify time of 1000000 microseconds asks the server for its own time, for
 * both times: a convention of the first implementation that clients keep.
 */
static void
read_sattr(struct xdrc *x, struct nfs_sattr *s)
{
    uint32_t atime, mtime, atime_us, mtime_us;

    s->mode = xdrc_u32(x) != UNSET;
    s->owner = xdrc_u32(x) != UNSET;
    s->group = xdrc_u32(x) != UNSET;
    s->size = xdrc_u32(x) != UNSET;
    atime = xdrc_u32(x);
    atime_us = xdrc_u32(x);
    mtime = xdrc_u32(x);
    mtime_us = xdrc_u32(x);
    if (!xdrc_ok(x)) {
        return;
    }
    if (atime != UNSET) {
        s->atime_how = NFS_TIME_CLIENT;
        s->atime.seconds = atime;
        s->atime.nanoseconds = atime_us < 1000000 ? atime_us * 1000 : 0;
    }
    if (mtime != UNSET) {
        s->mtime_how = NFS_TIME_CLIENT;
        s->mtime.seconds = mtime;
        s->mtime.nanoseconds = mtime_us < 1000000 ? mtime_us * 1000 : 0;
        if (mtime_us == 1000000) {
            s->mtime_how = NFS_TIME_SERVER;
            s->atime_how = NFS_TIME_SERVER;
        }
    }
    s->empty = !s->mode && !s->owner && !s->group && !s->size &&
               s->atime_how == NFS_TIME_KEEP && s->mtime_how == NFS_TIME_KEEP;
}

/* RFC 1094 section 2.3.5: fattr. */
void
nfs2_attributes(struct rpc_decode *d, struct nfs_attr *a)
{
    struct xdrc *x = &d->x;

    if (a == NULL) {
        xdrc_skip(x, 17 * 4);
        return;
    }
    xdrc_skip(x, 5 * 4); /* type, mode, nlink, uid, gid */
    a->size = xdrc_u32(x);
    xdrc_skip(x, 4 * 4); /* blocksize, rdev, blocks, fsid */
    a->fileid = xdrc_u32(x);
    a->atime = read_time(x);
    a->mtime = read_time(x);
    a->ctime = read_time(x);
    a->valid = xdrc_ok(x) ? NFS_ATTR_SIZE | NFS_ATTR_FILEID | NFS_ATTR_ATIME |
                                NFS_ATTR_MTIME | NFS_ATTR_CTIME
                          : 0;
}

static void
read_handle(struct rpc_decode *d, struct nfs_handle *h)
{
    const uint8_t *bytes;

    if (h == NULL) {
        xdrc_skip(&d->x, FHSIZE2);
        return;
    }
    bytes = xdrc_fixed(&d->x, FHSIZE2);
    if (bytes != NULL) {
        nfs_handle_set(h, bytes, FHSIZE2);
    }
}

static void
read_dirop(struct rpc_decode *d, struct nfs_detail *n)
{
    read_handle(d, &n->handle);
    rpc_decode_name(d, n);
}

/* --- calls --------------------------------------------------------------- */

static void
call_full(struct rpc_decode *d, uint32_t procedure, struct nfs_detail *n)
{
    switch (procedure) {
    case LOOKUP2:
    case REMOVE2:
    case RMDIR2:
        read_dirop(d, n);
        break;
    case CREATE2:
    case MKDIR2:
        read_dirop(d, n);
        read_sattr(&d->x, &n->sattr);
        break;
    case RENAME2:
        read_dirop(d, n);
        read_handle(d, &n->result_handle);
        rpc_decode_new_name(d, n);
        break;
    case LINK2:
        read_handle(d, &n->result_handle);
        read_dirop(d, n);
        break;
    case SYMLINK2:
        read_dirop(d, n);
        xdrc_skip_opaque(&d->x);
        read_sattr(&d->x, &n->sattr);
        break;
    case READDIR2:
        read_handle(d, &n->handle);
        xdrc_skip(&d->x, 4);
        n->count_requested = xdrc_u32(&d->x);
        break;
    default: /* GETATTR, READLINK, STATFS */
        read_handle(d, &n->handle);
    }
}

static void
call_io(struct rpc_decode *d, struct nfs_detail *n, bool write)
{
    read_handle(d, d->full ? &n->handle : NULL);
    if (write) {
        xdrc_skip(&d->x, 4); /* beginoffset: unused */
        n->offset = xdrc_u32(&d->x);
        xdrc_skip(&d->x, 4); /* totalcount: unused */
        n->count_requested = xdrc_skip_opaque(&d->x);
    } else {
        n->offset = xdrc_u32(&d->x);
        n->count_requested = xdrc_u32(&d->x);
        xdrc_skip(&d->x, 4);
    }
}

void
nfs2_call(struct rpc_decode *d, uint32_t procedure)
{
    struct rpc_operation *op = rpc_decode_single(d, procedure);

    op->flags |= RPC_OP_IN_CALL;
    switch (procedure) {
    case NULL2:
    case ROOT2:
    case WRITECACHE2:
        break;
    case SETATTR2: {
        struct nfs_detail *n = rpc_decode_detail(d, op);

        read_handle(d, d->full ? &n->handle : NULL);
        read_sattr(&d->x, &n->sattr);
        break;
    }
    case READ2:
    case WRITE2:
        call_io(d, rpc_decode_detail(d, op), procedure == WRITE2);
        break;
    default:
        if (!d->full) {
            return;
        }
        if (procedure > STATFS2) {
            xdrc_fail(&d->x, XDRC_UNSUPPORTED);
            return;
        }
        call_full(d, procedure, rpc_decode_detail(d, op));
    }
    d->to_end = true;
}

/* --- replies ------------------------------------------------------------- */

static void
reply_readdir(struct rpc_decode *d, struct nfs_detail *n)
{
    while (xdrc_bool(&d->x)) {
        xdrc_skip(&d->x, 4);
        xdrc_skip_opaque(&d->x);
        xdrc_skip(&d->x, 4);
        n->count_done++;
    }
    (void)xdrc_bool(&d->x); /* eof */
}

static void
reply_full(struct rpc_decode *d, uint32_t procedure, struct nfs_detail *n)
{
    switch (procedure) {
    case GETATTR2:
    case SETATTR2:
        nfs2_attributes(d, &n->after);
        break;
    case LOOKUP2:
    case CREATE2:
    case MKDIR2:
        read_handle(d, &n->result_handle);
        nfs2_attributes(d, &n->after);
        break;
    case READLINK2:
        xdrc_skip_opaque(&d->x);
        break;
    case READDIR2:
        reply_readdir(d, n);
        break;
    case STATFS2:
        xdrc_skip(&d->x, 5 * 4);
        break;
    case REMOVE2:
    case RENAME2:
    case LINK2:
    case SYMLINK2:
    case RMDIR2:
        break;
    default:
        xdrc_fail(&d->x, XDRC_UNSUPPORTED);
    }
}

void
nfs2_reply(struct rpc_decode *d, uint32_t procedure)
{
    struct rpc_operation *op = rpc_decode_single(d, procedure);
    struct nfs_detail *n;

    if (procedure == NULL2 || procedure == ROOT2 || procedure == WRITECACHE2) {
        op->flags |= RPC_OP_IN_REPLY;
        d->to_end = true;
        return;
    }
    if (rpc_decode_status(d, op) != 0 || !xdrc_ok(&d->x)) {
        d->to_end = true;
        return;
    }
    if (procedure == READ2) {
        n = rpc_decode_detail(d, op);
        nfs2_attributes(d, d->full ? &n->after : NULL);
        n->count_done = xdrc_skip_opaque(&d->x);
    } else if (procedure == WRITE2) {
        n = rpc_decode_detail(d, op);
        nfs2_attributes(d, d->full ? &n->after : NULL);
        n->count_done = n->count_requested;
    } else if (d->full) {
        reply_full(d, procedure, rpc_decode_detail(d, op));
    } else {
        return;
    }
    d->to_end = true;
}
