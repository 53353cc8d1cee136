/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "capture/nfs4_attr.h"

/* Attributes are numbered to 86 so far (RFC 9754). */
#define KNOWN_WORDS 3

/* RFC 8881 section 5.6 to 5.8, RFC 7862 section 12.2, RFC 8275, RFC 8276
 * section 8.2, RFC 9754 section 3 and 5. */
enum nfs4_attribute {
    FATTR4_CHANGE = 3,
    FATTR4_SIZE = 4,
    FATTR4_FILEHANDLE = 19,
    FATTR4_FILEID = 20,
    FATTR4_MODE = 33,
    FATTR4_OWNER = 36,
    FATTR4_OWNER_GROUP = 37,
    FATTR4_TIME_ACCESS = 47,
    FATTR4_TIME_ACCESS_SET = 48,
    FATTR4_TIME_METADATA = 52,
    FATTR4_TIME_MODIFY = 53,
    FATTR4_TIME_MODIFY_SET = 54,
    FATTR4_MODE_SET_MASKED = 74,
    FATTR4_MODE_UMASK = 81,
    FATTR4_TIME_DELEG_ACCESS = 84,
    FATTR4_TIME_DELEG_MODIFY = 85,
};

struct bitmap {
    uint32_t words[KNOWN_WORDS];
    bool beyond; /* a bit in a word after those */
};

static void
read_bitmap(struct xdrc *x, struct bitmap *b)
{
    uint32_t count = xdrc_count(x, 4);

    memset(b, 0, sizeof(*b));
    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        uint32_t word = xdrc_u32(x);

        if (i < KNOWN_WORDS) {
            b->words[i] = word;
        } else if (word != 0) {
            b->beyond = true;
        }
    }
}

void
nfs4_skip_bitmap(struct xdrc *x)
{
    xdrc_skip_array(x, 4);
}

void
nfs4_skip_fattr(struct xdrc *x)
{
    xdrc_skip_array(x, 4);
    xdrc_skip_opaque(x);
}

static inline bool
has(const struct bitmap *b, unsigned bit)
{
    return (b->words[bit / 32] >> bit % 32 & 1) != 0;
}

static inline void
clear(struct bitmap *b, unsigned bit)
{
    b->words[bit / 32] &= ~(UINT32_C(1) << bit % 32);
}

/* RFC 8881 section 3.3.1: nfstime4. */
static struct nfs_time
read_time(struct xdrc *x)
{
    struct nfs_time t;

    t.seconds = (int64_t)xdrc_u64(x);
    t.nanoseconds = xdrc_u32(x);
    return t;
}

/* RFC 8881 section 5.8.2.38 and 3.3.2: settime4. */
static enum nfs_time_how
read_settime(struct xdrc *x, struct nfs_time *when)
{
    switch (xdrc_u32(x)) {
    case 0:
        return xdrc_ok(x) ? NFS_TIME_SERVER : NFS_TIME_KEEP;
    case 1:
        *when = read_time(x);
        return NFS_TIME_CLIENT;
    default:
        xdrc_fail(x, XDRC_BAD);
        return NFS_TIME_KEEP;
    }
}

/* --- values that nobody asks for ----------------------------------------- */

/* RFC 8881 section 6.2.1: nfsace4<>. */
static void
skip_acl(struct xdrc *x)
{
    uint32_t count = xdrc_count(x, 16);

    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        xdrc_skip(x, 12);
        xdrc_skip_opaque(x);
    }
}

static void
skip_strings(struct xdrc *x)
{
    uint32_t count = xdrc_count(x, 4);

    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        xdrc_skip_opaque(x);
    }
}

/* RFC 8881 section 11.16: fs_locations4. */
static void
skip_fs_locations(struct xdrc *x)
{
    uint32_t count;

    skip_strings(x);
    count = xdrc_count(x, 8);
    for (uint32_t i = 0; i < count && xdrc_ok(x); i++) {
        skip_strings(x);
        skip_strings(x);
    }
}

/*
 * Sizes of the attributes whose value has a fixed one, in words; VARIABLE
 * for those read by skip_variable(), 0 for those whose layout is not known
 * here. The length of the fattr4 bounds the damage of an unknown one.
 */
#define VARIABLE 255
static const uint8_t value_words[32 * KNOWN_WORDS] = {
    [0] = VARIABLE,  /* supported_attrs */
    [1] = 1,         /* type */
    [2] = 1,         /* fh_expire_type */
    [3] = 2,         /* change */
    [4] = 2,         /* size */
    [5] = 1,         /* link_support */
    [6] = 1,         /* symlink_support */
    [7] = 1,         /* named_attr */
    [8] = 4,         /* fsid */
    [9] = 1,         /* unique_handles */
    [10] = 1,        /* lease_time */
    [11] = 1,        /* rdattr_error */
    [12] = VARIABLE, /* acl */
    [13] = 1,        /* aclsupport */
    [14] = 1,        /* archive */
    [15] = 1,        /* cansettime */
    [16] = 1,        /* case_insensitive */
    [17] = 1,        /* case_preserving */
    [18] = 1,        /* chown_restricted */
    [19] = VARIABLE, /* filehandle */
    [20] = 2,        /* fileid */
    [21] = 2,        /* files_avail */
    [22] = 2,        /* files_free */
    [23] = 2,        /* files_total */
    [24] = VARIABLE, /* fs_locations */
    [25] = 1,        /* hidden */
    [26] = 1,        /* homogeneous */
    [27] = 2,        /* maxfilesize */
    [28] = 1,        /* maxlink */
    [29] = 1,        /* maxname */
    [30] = 2,        /* maxread */
    [31] = 2,        /* maxwrite */
    [32] = VARIABLE, /* mimetype */
    [33] = 1,        /* mode */
    [34] = 1,        /* no_trunc */
    [35] = 1,        /* numlinks */
    [36] = VARIABLE, /* owner */
    [37] = VARIABLE, /* owner_group */
    [38] = 2,        /* quota_avail_hard */
    [39] = 2,        /* quota_avail_soft */
    [40] = 2,        /* quota_used */
    [41] = 2,        /* rawdev */
    [42] = 2,        /* space_avail */
    [43] = 2,        /* space_free */
    [44] = 2,        /* space_total */
    [45] = 2,        /* space_used */
    [46] = 1,        /* system */
    [47] = 3,        /* time_access */
    [49] = 3,        /* time_backup */
    [50] = 3,        /* time_create */
    [51] = 3,        /* time_delta */
    [52] = 3,        /* time_metadata */
    [53] = 3,        /* time_modify */
    [55] = 2,        /* mounted_on_fileid */
    [56] = 3,        /* dir_notif_delay */
    [57] = 3,        /* dirent_notif_delay */
    [58] = VARIABLE, /* dacl */
    [59] = VARIABLE, /* sacl */
    [60] = 4,        /* change_policy */
    [62] = VARIABLE, /* fs_layout_types */
    [63] = VARIABLE, /* layout_hint */
    [64] = VARIABLE, /* layout_types */
    [65] = 1,        /* layout_blksize */
    [66] = 1,        /* layout_alignment */
    [74] = 2,        /* mode_set_masked */
    [75] = VARIABLE, /* suppattr_exclcreat */
    [76] = 1,        /* fs_charset_cap */
    [77] = 1,        /* clone_blksize */
    [78] = 2,        /* space_freed */
    [79] = 1,        /* change_attr_type */
    [80] = VARIABLE, /* sec_label */
    [81] = 2,        /* mode_umask */
    [82] = 1,        /* xattr_support */
    [83] = 1,        /* offline */
    [84] = 3,        /* time_deleg_access */
    [85] = 3,        /* time_deleg_modify */
};

static void
skip_variable(struct xdrc *x, unsigned attribute)
{
    switch (attribute) {
    case 0:
    case 62:
    case 64:
    case 75:
        nfs4_skip_bitmap(x);
        break;
    case 12:
        skip_acl(x);
        break;
    case 24:
        skip_fs_locations(x);
        break;
    case 58:
    case 59: /* nfsacl41: flags, aces */
        xdrc_skip(x, 4);
        skip_acl(x);
        break;
    case 63: /* layouthint4: type, body */
        xdrc_skip(x, 4);
        xdrc_skip_opaque(x);
        break;
    case 80: /* sec_label4: lfs, pi, data */
        xdrc_skip(x, 8);
        xdrc_skip_opaque(x);
        break;
    default:
        xdrc_skip_opaque(x);
    }
}

static void
skip_value(struct xdrc *x, unsigned attribute)
{
    uint8_t words = value_words[attribute];

    if (words == VARIABLE) {
        skip_variable(x, attribute);
    } else if (words == 0) {
        xdrc_fail(x, XDRC_UNSUPPORTED);
    } else {
        xdrc_skip(x, words * 4u);
    }
}

/* --- walking through the values ------------------------------------------ */

/* The lowest attribute still in the bitmap, or -1. */
static int
next_attribute(struct bitmap *b)
{
    for (unsigned w = 0; w < KNOWN_WORDS; w++) {
        if (b->words[w] != 0) {
            unsigned bit = w * 32 + (unsigned)__builtin_ctz(b->words[w]);

            clear(b, bit);
            return (int)bit;
        }
    }
    return -1;
}

/* Attributes whose values are looked at. */
static const struct bitmap read_wanted = {
    .words = {1u << FATTR4_CHANGE | 1u << FATTR4_SIZE | 1u << FATTR4_FILEID,
              1u << (FATTR4_TIME_ACCESS - 32) |
                  1u << (FATTR4_TIME_METADATA - 32) |
                  1u << (FATTR4_TIME_MODIFY - 32),
              0},
};
static const struct bitmap entry_wanted = {
    .words = {1u << FATTR4_FILEHANDLE, 0, 0},
};
static const struct bitmap set_wanted = {
    .words = {0,
              1u << (FATTR4_TIME_ACCESS_SET - 32) |
                  1u << (FATTR4_TIME_MODIFY_SET - 32),
              1u << (FATTR4_TIME_DELEG_ACCESS - 64) |
                  1u << (FATTR4_TIME_DELEG_MODIFY - 64)},
};

static bool
any(const struct bitmap *b, const struct bitmap *wanted)
{
    return ((b->words[0] & wanted->words[0]) |
            (b->words[1] & wanted->words[1]) |
            (b->words[2] & wanted->words[2])) != 0;
}

/* Ends the look inside the values; keeps its failure apart. */
static void
leave_values(struct rpc_decode *d, uint32_t outer, uint32_t size,
             const struct bitmap *unread)
{
    struct xdrc *x = &d->x;

    if (xdrc_ok(x) && xdrc_left(x) > 0 && !unread->beyond &&
        (unread->words[0] | unread->words[1] | unread->words[2]) == 0) {
        xdrc_fail(x, XDRC_BAD); /* longer than its bitmap says */
    }
    if (d->inner == XDRC_OK) {
        d->inner = x->status;
    }
    xdrc_widen(x, outer, true);
    xdrc_skip(x, xdrc_fill(size));
}

static void
summarise(struct nfs_sattr *s, struct bitmap b)
{
    s->size = has(&b, FATTR4_SIZE);
    s->mode = has(&b, FATTR4_MODE) || has(&b, FATTR4_MODE_SET_MASKED) ||
              has(&b, FATTR4_MODE_UMASK);
    s->owner = has(&b, FATTR4_OWNER);
    s->group = has(&b, FATTR4_OWNER_GROUP);
    s->delegated_times =
        has(&b, FATTR4_TIME_DELEG_ACCESS) || has(&b, FATTR4_TIME_DELEG_MODIFY);
    s->empty =
        !b.beyond && b.words[0] == 0 && b.words[1] == 0 && b.words[2] == 0;
    clear(&b, FATTR4_SIZE);
    clear(&b, FATTR4_MODE);
    clear(&b, FATTR4_MODE_SET_MASKED);
    clear(&b, FATTR4_MODE_UMASK);
    clear(&b, FATTR4_OWNER);
    clear(&b, FATTR4_OWNER_GROUP);
    clear(&b, FATTR4_TIME_ACCESS_SET);
    clear(&b, FATTR4_TIME_MODIFY_SET);
    clear(&b, FATTR4_TIME_DELEG_ACCESS);
    clear(&b, FATTR4_TIME_DELEG_MODIFY);
    s->other =
        b.beyond || b.words[0] != 0 || b.words[1] != 0 || b.words[2] != 0;
}

void
nfs4_read_sattr(struct rpc_decode *d, struct nfs_sattr *s)
{
    struct xdrc *x = &d->x;
    struct bitmap b;
    uint32_t outer, size;
    int attribute;

    read_bitmap(x, &b);
    if (!xdrc_ok(x)) {
        return;
    }
    summarise(s, b);
    size = xdrc_u32(x);
    outer = xdrc_narrow(x, size);
    if (!xdrc_ok(x)) {
        return;
    }
    while (xdrc_ok(x) && any(&b, &set_wanted) &&
           (attribute = next_attribute(&b)) >= 0) {
        switch (attribute) {
        case FATTR4_TIME_ACCESS_SET:
            s->atime_how = read_settime(x, &s->atime);
            break;
        case FATTR4_TIME_MODIFY_SET:
            s->mtime_how = read_settime(x, &s->mtime);
            break;
        case FATTR4_TIME_DELEG_ACCESS:
            s->atime = read_time(x);
            s->atime_how = NFS_TIME_CLIENT;
            break;
        case FATTR4_TIME_DELEG_MODIFY:
            s->mtime = read_time(x);
            s->mtime_how = NFS_TIME_CLIENT;
            break;
        default:
            skip_value(x, (unsigned)attribute);
        }
    }
    leave_values(d, outer, size, &b);
}

/* One attribute of a GETATTR's result. */
static void
read_value(struct xdrc *x, unsigned attribute, struct nfs_attr *a)
{
    unsigned bit;

    switch (attribute) {
    case FATTR4_CHANGE:
        a->change = xdrc_u64(x);
        bit = NFS_ATTR_CHANGE;
        break;
    case FATTR4_SIZE:
        a->size = xdrc_u64(x);
        bit = NFS_ATTR_SIZE;
        break;
    case FATTR4_FILEID:
        a->fileid = xdrc_u64(x);
        bit = NFS_ATTR_FILEID;
        break;
    case FATTR4_TIME_ACCESS:
        a->atime = read_time(x);
        bit = NFS_ATTR_ATIME;
        break;
    case FATTR4_TIME_METADATA:
        a->ctime = read_time(x);
        bit = NFS_ATTR_CTIME;
        break;
    case FATTR4_TIME_MODIFY:
        a->mtime = read_time(x);
        bit = NFS_ATTR_MTIME;
        break;
    default:
        skip_value(x, attribute);
        return;
    }
    if (xdrc_ok(x)) {
        a->valid |= bit;
    }
}

void
nfs4_read_attr(struct rpc_decode *d, struct nfs_attr *a)
{
    struct xdrc *x = &d->x;
    struct bitmap b;
    uint32_t outer, size;
    int attribute;

    read_bitmap(x, &b);
    size = xdrc_u32(x);
    outer = xdrc_narrow(x, size);
    if (!xdrc_ok(x)) {
        return;
    }
    while (xdrc_ok(x) && any(&b, &read_wanted) &&
           (attribute = next_attribute(&b)) >= 0) {
        read_value(x, (unsigned)attribute, a);
    }
    leave_values(d, outer, size, &b);
}

void
nfs4_read_entry_attr(struct rpc_decode *d, struct nfs_entry *entry)
{
    struct xdrc *x = &d->x;
    struct bitmap b;
    uint32_t outer, size;
    int attribute;

    read_bitmap(x, &b);
    size = xdrc_u32(x);
    outer = xdrc_narrow(x, size);
    if (!xdrc_ok(x)) {
        return;
    }
    while (xdrc_ok(x) && any(&b, &entry_wanted) &&
           (attribute = next_attribute(&b)) >= 0) {
        if (attribute == FATTR4_FILEHANDLE) {
            rpc_decode_entry_handle(d, NFS_HANDLE_MAX, entry);
        } else {
            skip_value(x, (unsigned)attribute);
        }
    }
    leave_values(d, outer, size, &b);
}
