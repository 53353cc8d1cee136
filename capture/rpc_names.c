/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of what goes over the wire, as the RFCs spell them.
 */
#include "capture/rpc_transaction.h"

#include <stdio.h>
#include <string.h>

#define LENGTH(table) (sizeof(table) / sizeof((table)[0]))

/* RFC 1094 section 2.2. */
static const char *const nfs2_procedures[] = {
    [0] = "NULL",     [1] = "GETATTR",  [2] = "SETATTR", [3] = "ROOT",
    [4] = "LOOKUP",   [5] = "READLINK", [6] = "READ",    [7] = "WRITECACHE",
    [8] = "WRITE",    [9] = "CREATE",   [10] = "REMOVE", [11] = "RENAME",
    [12] = "LINK",    [13] = "SYMLINK", [14] = "MKDIR",  [15] = "RMDIR",
    [16] = "READDIR", [17] = "STATFS",
};
_Static_assert(LENGTH(nfs2_procedures) == 18,
               "nfs2_procedures ends where it should");

/* RFC 1813 section 3. */
static const char *const nfs3_procedures[] = {
    [0] = "NULL",      [1] = "GETATTR",      [2] = "SETATTR",  [3] = "LOOKUP",
    [4] = "ACCESS",    [5] = "READLINK",     [6] = "READ",     [7] = "WRITE",
    [8] = "CREATE",    [9] = "MKDIR",        [10] = "SYMLINK", [11] = "MKNOD",
    [12] = "REMOVE",   [13] = "RMDIR",       [14] = "RENAME",  [15] = "LINK",
    [16] = "READDIR",  [17] = "READDIRPLUS", [18] = "FSSTAT",  [19] = "FSINFO",
    [20] = "PATHCONF", [21] = "COMMIT",
};
_Static_assert(LENGTH(nfs3_procedures) == 22,
               "nfs3_procedures ends where it should");

/* RFC 8881 section 16. */
static const char *const nfs4_procedures[] = {
    [0] = "NULL",
    [1] = "COMPOUND",
};
_Static_assert(LENGTH(nfs4_procedures) == 2,
               "nfs4_procedures ends where it should");

/* RFC 8881 section 20. */
static const char *const callback_procedures[] = {
    [0] = "CB_NULL",
    [1] = "CB_COMPOUND",
};
_Static_assert(LENGTH(callback_procedures) == 2,
               "callback_procedures ends where it should");

/* RFC 1094 section A.5. */
static const char *const mount_procedures[] = {
    [0] = "NULL",    [1] = "MNT",    [2] = "DUMP",      [3] = "UMNT",
    [4] = "UMNTALL", [5] = "EXPORT", [6] = "EXPORTALL", [7] = "PATHCONF",
};
_Static_assert(LENGTH(mount_procedures) == 8,
               "mount_procedures ends where it should");

/* RFC 1813 section 5.2. */
static const char *const mount3_procedures[] = {
    [0] = "NULL", [1] = "MNT",     [2] = "DUMP",
    [3] = "UMNT", [4] = "UMNTALL", [5] = "EXPORT",
};
_Static_assert(LENGTH(mount3_procedures) == 6,
               "mount3_procedures ends where it should");

/* RFC 1833 section 3. */
static const char *const portmap_procedures[] = {
    [0] = "NULL",    [1] = "SET",  [2] = "UNSET",
    [3] = "GETPORT", [4] = "DUMP", [5] = "CALLIT",
};
_Static_assert(LENGTH(portmap_procedures) == 6,
               "portmap_procedures ends where it should");

/* RFC 1833 section 2. */
static const char *const rpcbind3_procedures[] = {
    [0] = "NULL",    [1] = "SET",         [2] = "UNSET",
    [3] = "GETADDR", [4] = "DUMP",        [5] = "CALLIT",
    [6] = "GETTIME", [7] = "UADDR2TADDR", [8] = "TADDR2UADDR",
};
_Static_assert(LENGTH(rpcbind3_procedures) == 9,
               "rpcbind3_procedures ends where it should");

/* RFC 1833 section 2. */
static const char *const rpcbind4_procedures[] = {
    [0] = "NULL",        [1] = "SET",         [2] = "UNSET",
    [3] = "GETADDR",     [4] = "DUMP",        [5] = "BCAST",
    [6] = "GETTIME",     [7] = "UADDR2TADDR", [8] = "TADDR2UADDR",
    [9] = "GETVERSADDR", [10] = "INDIRECT",   [11] = "GETADDRLIST",
    [12] = "GETSTAT",
};
_Static_assert(LENGTH(rpcbind4_procedures) == 13,
               "rpcbind4_procedures ends where it should");

/* RFC 1813 section 6.1: the numbers 16 to 19 are not used. */
static const char *const nlm_procedures[] = {
    [0] = "NULL",         [1] = "TEST",         [2] = "LOCK",
    [3] = "CANCEL",       [4] = "UNLOCK",       [5] = "GRANTED",
    [6] = "TEST_MSG",     [7] = "LOCK_MSG",     [8] = "CANCEL_MSG",
    [9] = "UNLOCK_MSG",   [10] = "GRANTED_MSG", [11] = "TEST_RES",
    [12] = "LOCK_RES",    [13] = "CANCEL_RES",  [14] = "UNLOCK_RES",
    [15] = "GRANTED_RES", [20] = "SHARE",       [21] = "UNSHARE",
    [22] = "NM_LOCK",     [23] = "FREE_ALL",
};
_Static_assert(LENGTH(nlm_procedures) == 24,
               "nlm_procedures ends where it should");

/* X/Open XNFS chapter 11. */
static const char *const nsm_procedures[] = {
    [0] = "NULL",      [1] = "STAT",       [2] = "MON",    [3] = "UNMON",
    [4] = "UNMON_ALL", [5] = "SIMU_CRASH", [6] = "NOTIFY",
};
_Static_assert(LENGTH(nsm_procedures) == 7,
               "nsm_procedures ends where it should");

/* As Solaris and Linux have them. */
static const char *const nfsacl2_procedures[] = {
    [0] = "NULL",    [1] = "GETACL", [2] = "SETACL",
    [3] = "GETATTR", [4] = "ACCESS", [5] = "GETXATTRDIR",
};
_Static_assert(LENGTH(nfsacl2_procedures) == 6,
               "nfsacl2_procedures ends where it should");

/* As Solaris and Linux have them. */
static const char *const nfsacl3_procedures[] = {
    [0] = "NULL",
    [1] = "GETACL",
    [2] = "SETACL",
    [3] = "GETXATTRDIR",
};
_Static_assert(LENGTH(nfsacl3_procedures) == 4,
               "nfsacl3_procedures ends where it should");

/* RFC 7530 section 16, RFC 8881 section 18, RFC 7862 section 15, RFC 8276
 * section 8.4. */
static const char *const nfs4_operations[] = {
    [3] = "ACCESS",
    [4] = "CLOSE",
    [5] = "COMMIT",
    [6] = "CREATE",
    [7] = "DELEGPURGE",
    [8] = "DELEGRETURN",
    [9] = "GETATTR",
    [10] = "GETFH",
    [11] = "LINK",
    [12] = "LOCK",
    [13] = "LOCKT",
    [14] = "LOCKU",
    [15] = "LOOKUP",
    [16] = "LOOKUPP",
    [17] = "NVERIFY",
    [18] = "OPEN",
    [19] = "OPENATTR",
    [20] = "OPEN_CONFIRM",
    [21] = "OPEN_DOWNGRADE",
    [22] = "PUTFH",
    [23] = "PUTPUBFH",
    [24] = "PUTROOTFH",
    [25] = "READ",
    [26] = "READDIR",
    [27] = "READLINK",
    [28] = "REMOVE",
    [29] = "RENAME",
    [30] = "RENEW",
    [31] = "RESTOREFH",
    [32] = "SAVEFH",
    [33] = "SECINFO",
    [34] = "SETATTR",
    [35] = "SETCLIENTID",
    [36] = "SETCLIENTID_CONFIRM",
    [37] = "VERIFY",
    [38] = "WRITE",
    [39] = "RELEASE_LOCKOWNER",
    [40] = "BACKCHANNEL_CTL",
    [41] = "BIND_CONN_TO_SESSION",
    [42] = "EXCHANGE_ID",
    [43] = "CREATE_SESSION",
    [44] = "DESTROY_SESSION",
    [45] = "FREE_STATEID",
    [46] = "GET_DIR_DELEGATION",
    [47] = "GETDEVICEINFO",
    [48] = "GETDEVICELIST",
    [49] = "LAYOUTCOMMIT",
    [50] = "LAYOUTGET",
    [51] = "LAYOUTRETURN",
    [52] = "SECINFO_NO_NAME",
    [53] = "SEQUENCE",
    [54] = "SET_SSV",
    [55] = "TEST_STATEID",
    [56] = "WANT_DELEGATION",
    [57] = "DESTROY_CLIENTID",
    [58] = "RECLAIM_COMPLETE",
    [59] = "ALLOCATE",
    [60] = "COPY",
    [61] = "COPY_NOTIFY",
    [62] = "DEALLOCATE",
    [63] = "IO_ADVISE",
    [64] = "LAYOUTERROR",
    [65] = "LAYOUTSTATS",
    [66] = "OFFLOAD_CANCEL",
    [67] = "OFFLOAD_STATUS",
    [68] = "READ_PLUS",
    [69] = "SEEK",
    [70] = "WRITE_SAME",
    [71] = "CLONE",
    [72] = "GETXATTR",
    [73] = "SETXATTR",
    [74] = "LISTXATTRS",
    [75] = "REMOVEXATTR",
};
_Static_assert(LENGTH(nfs4_operations) == 76,
               "nfs4_operations ends where it should");

/* RFC 8881 section 20, RFC 7862 section 16. */
static const char *const callback_operations[] = {
    [3] = "CB_GETATTR",
    [4] = "CB_RECALL",
    [5] = "CB_LAYOUTRECALL",
    [6] = "CB_NOTIFY",
    [7] = "CB_PUSH_DELEG",
    [8] = "CB_RECALL_ANY",
    [9] = "CB_RECALLABLE_OBJ_AVAIL",
    [10] = "CB_RECALL_SLOT",
    [11] = "CB_SEQUENCE",
    [12] = "CB_WANTS_CANCELLED",
    [13] = "CB_NOTIFY_LOCK",
    [14] = "CB_NOTIFY_DEVICEID",
    [15] = "CB_OFFLOAD",
};
_Static_assert(LENGTH(callback_operations) == 16,
               "callback_operations ends where it should");

/* RFC 1094 section 2.3.1. */
static const char *const nfs2_statuses[] = {
    [0] = "NFS_OK",           [1] = "NFSERR_PERM",
    [2] = "NFSERR_NOENT",     [5] = "NFSERR_IO",
    [6] = "NFSERR_NXIO",      [13] = "NFSERR_ACCES",
    [17] = "NFSERR_EXIST",    [19] = "NFSERR_NODEV",
    [20] = "NFSERR_NOTDIR",   [21] = "NFSERR_ISDIR",
    [27] = "NFSERR_FBIG",     [28] = "NFSERR_NOSPC",
    [30] = "NFSERR_ROFS",     [63] = "NFSERR_NAMETOOLONG",
    [66] = "NFSERR_NOTEMPTY", [69] = "NFSERR_DQUOT",
    [70] = "NFSERR_STALE",    [99] = "NFSERR_WFLUSH",
};
_Static_assert(LENGTH(nfs2_statuses) == 100,
               "nfs2_statuses ends where it should");

/* RFC 1813 section 2.6. */
static const char *const nfs3_statuses[] = {
    [0] = "NFS3_OK",
    [1] = "NFS3ERR_PERM",
    [2] = "NFS3ERR_NOENT",
    [5] = "NFS3ERR_IO",
    [6] = "NFS3ERR_NXIO",
    [13] = "NFS3ERR_ACCES",
    [17] = "NFS3ERR_EXIST",
    [18] = "NFS3ERR_XDEV",
    [19] = "NFS3ERR_NODEV",
    [20] = "NFS3ERR_NOTDIR",
    [21] = "NFS3ERR_ISDIR",
    [22] = "NFS3ERR_INVAL",
    [27] = "NFS3ERR_FBIG",
    [28] = "NFS3ERR_NOSPC",
    [30] = "NFS3ERR_ROFS",
    [31] = "NFS3ERR_MLINK",
    [63] = "NFS3ERR_NAMETOOLONG",
    [66] = "NFS3ERR_NOTEMPTY",
    [69] = "NFS3ERR_DQUOT",
    [70] = "NFS3ERR_STALE",
    [71] = "NFS3ERR_REMOTE",
};
_Static_assert(LENGTH(nfs3_statuses) == 72,
               "nfs3_statuses ends where it should");

/* RFC 1813 section 2.6: those from 10000 on, less 10000. */
static const char *const nfs3_high_statuses[] = {
    [1] = "NFS3ERR_BADHANDLE",  [2] = "NFS3ERR_NOT_SYNC",
    [3] = "NFS3ERR_BAD_COOKIE", [4] = "NFS3ERR_NOTSUPP",
    [5] = "NFS3ERR_TOOSMALL",   [6] = "NFS3ERR_SERVERFAULT",
    [7] = "NFS3ERR_BADTYPE",    [8] = "NFS3ERR_JUKEBOX",
};
_Static_assert(LENGTH(nfs3_high_statuses) == 9,
               "nfs3_high_statuses ends where it should");

/* RFC 8881 section 15.1. */
static const char *const nfs4_statuses[] = {
    [0] = "NFS4_OK",           [1] = "NFS4ERR_PERM",
    [2] = "NFS4ERR_NOENT",     [5] = "NFS4ERR_IO",
    [6] = "NFS4ERR_NXIO",      [13] = "NFS4ERR_ACCESS",
    [17] = "NFS4ERR_EXIST",    [18] = "NFS4ERR_XDEV",
    [20] = "NFS4ERR_NOTDIR",   [21] = "NFS4ERR_ISDIR",
    [22] = "NFS4ERR_INVAL",    [27] = "NFS4ERR_FBIG",
    [28] = "NFS4ERR_NOSPC",    [30] = "NFS4ERR_ROFS",
    [31] = "NFS4ERR_MLINK",    [63] = "NFS4ERR_NAMETOOLONG",
    [66] = "NFS4ERR_NOTEMPTY", [69] = "NFS4ERR_DQUOT",
    [70] = "NFS4ERR_STALE",
};
_Static_assert(LENGTH(nfs4_statuses) == 71,
               "nfs4_statuses ends where it should");

/* RFC 8881 section 15.1, RFC 7530 section 13.1, RFC 7862 section 11, RFC 8276
 * section 8.5: those from 10000 on, less 10000. */
static const char *const nfs4_high_statuses[] = {
    [1] = "NFS4ERR_BADHANDLE",
    [3] = "NFS4ERR_BAD_COOKIE",
    [4] = "NFS4ERR_NOTSUPP",
    [5] = "NFS4ERR_TOOSMALL",
    [6] = "NFS4ERR_SERVERFAULT",
    [7] = "NFS4ERR_BADTYPE",
    [8] = "NFS4ERR_DELAY",
    [9] = "NFS4ERR_SAME",
    [10] = "NFS4ERR_DENIED",
    [11] = "NFS4ERR_EXPIRED",
    [12] = "NFS4ERR_LOCKED",
    [13] = "NFS4ERR_GRACE",
    [14] = "NFS4ERR_FHEXPIRED",
    [15] = "NFS4ERR_SHARE_DENIED",
    [16] = "NFS4ERR_WRONGSEC",
    [17] = "NFS4ERR_CLID_INUSE",
    [18] = "NFS4ERR_RESOURCE",
    [19] = "NFS4ERR_MOVED",
    [20] = "NFS4ERR_NOFILEHANDLE",
    [21] = "NFS4ERR_MINOR_VERS_MISMATCH",
    [22] = "NFS4ERR_STALE_CLIENTID",
    [23] = "NFS4ERR_STALE_STATEID",
    [24] = "NFS4ERR_OLD_STATEID",
    [25] = "NFS4ERR_BAD_STATEID",
    [26] = "NFS4ERR_BAD_SEQID",
    [27] = "NFS4ERR_NOT_SAME",
    [28] = "NFS4ERR_LOCK_RANGE",
    [29] = "NFS4ERR_SYMLINK",
    [30] = "NFS4ERR_RESTOREFH",
    [31] = "NFS4ERR_LEASE_MOVED",
    [32] = "NFS4ERR_ATTRNOTSUPP",
    [33] = "NFS4ERR_NO_GRACE",
    [34] = "NFS4ERR_RECLAIM_BAD",
    [35] = "NFS4ERR_RECLAIM_CONFLICT",
    [36] = "NFS4ERR_BADXDR",
    [37] = "NFS4ERR_LOCKS_HELD",
    [38] = "NFS4ERR_OPENMODE",
    [39] = "NFS4ERR_BADOWNER",
    [40] = "NFS4ERR_BADCHAR",
    [41] = "NFS4ERR_BADNAME",
    [42] = "NFS4ERR_BAD_RANGE",
    [43] = "NFS4ERR_LOCK_NOTSUPP",
    [44] = "NFS4ERR_OP_ILLEGAL",
    [45] = "NFS4ERR_DEADLOCK",
    [46] = "NFS4ERR_FILE_OPEN",
    [47] = "NFS4ERR_ADMIN_REVOKED",
    [48] = "NFS4ERR_CB_PATH_DOWN",
    [49] = "NFS4ERR_BADIOMODE",
    [50] = "NFS4ERR_BADLAYOUT",
    [51] = "NFS4ERR_BAD_SESSION_DIGEST",
    [52] = "NFS4ERR_BADSESSION",
    [53] = "NFS4ERR_BADSLOT",
    [54] = "NFS4ERR_COMPLETE_ALREADY",
    [55] = "NFS4ERR_CONN_NOT_BOUND_TO_SESSION",
    [56] = "NFS4ERR_DELEG_ALREADY_WANTED",
    [57] = "NFS4ERR_BACK_CHAN_BUSY",
    [58] = "NFS4ERR_LAYOUTTRYLATER",
    [59] = "NFS4ERR_LAYOUTUNAVAILABLE",
    [60] = "NFS4ERR_NOMATCHING_LAYOUT",
    [61] = "NFS4ERR_RECALLCONFLICT",
    [62] = "NFS4ERR_UNKNOWN_LAYOUTTYPE",
    [63] = "NFS4ERR_SEQ_MISORDERED",
    [64] = "NFS4ERR_SEQUENCE_POS",
    [65] = "NFS4ERR_REQ_TOO_BIG",
    [66] = "NFS4ERR_REP_TOO_BIG",
    [67] = "NFS4ERR_REP_TOO_BIG_TO_CACHE",
    [68] = "NFS4ERR_RETRY_UNCACHED_REP",
    [69] = "NFS4ERR_UNSAFE_COMPOUND",
    [70] = "NFS4ERR_TOO_MANY_OPS",
    [71] = "NFS4ERR_OP_NOT_IN_SESSION",
    [72] = "NFS4ERR_HASH_ALG_UNSUPP",
    [74] = "NFS4ERR_CLIENTID_BUSY",
    [75] = "NFS4ERR_PNFS_IO_HOLE",
    [76] = "NFS4ERR_SEQ_FALSE_RETRY",
    [77] = "NFS4ERR_BAD_HIGH_SLOT",
    [78] = "NFS4ERR_DEADSESSION",
    [79] = "NFS4ERR_ENCR_ALG_UNSUPP",
    [80] = "NFS4ERR_PNFS_NO_LAYOUT",
    [81] = "NFS4ERR_NOT_ONLY_OP",
    [82] = "NFS4ERR_WRONG_CRED",
    [83] = "NFS4ERR_WRONG_TYPE",
    [84] = "NFS4ERR_DIRDELEG_UNAVAIL",
    [85] = "NFS4ERR_REJECT_DELEG",
    [86] = "NFS4ERR_RETURNCONFLICT",
    [87] = "NFS4ERR_DELEG_REVOKED",
    [88] = "NFS4ERR_PARTNER_NOTSUPP",
    [89] = "NFS4ERR_PARTNER_NO_AUTH",
    [90] = "NFS4ERR_UNION_NOTSUPP",
    [91] = "NFS4ERR_OFFLOAD_DENIED",
    [92] = "NFS4ERR_WRONG_LFS",
    [93] = "NFS4ERR_BADLABEL",
    [94] = "NFS4ERR_OFFLOAD_NO_REQS",
    [95] = "NFS4ERR_NOXATTR",
    [96] = "NFS4ERR_XATTR2BIG",
};
_Static_assert(LENGTH(nfs4_high_statuses) == 97,
               "nfs4_high_statuses ends where it should");

/* RFC 1813 section 5.1.5: mountstat3. */
static const char *const mount3_statuses[] = {
    [0] = "MNT3_OK",        [1] = "MNT3ERR_PERM",
    [2] = "MNT3ERR_NOENT",  [5] = "MNT3ERR_IO",
    [13] = "MNT3ERR_ACCES", [20] = "MNT3ERR_NOTDIR",
    [22] = "MNT3ERR_INVAL", [63] = "MNT3ERR_NAMETOOLONG",
};
_Static_assert(LENGTH(mount3_statuses) == 64,
               "mount3_statuses ends where it should");

/* RFC 1813 section 3.3.4, RFC 8276 section 8.4.1; by number of the bit. */
static const char *const access_bits[] = {
    [0] = "READ",   [1] = "LOOKUP",  [2] = "MODIFY",
    [3] = "EXTEND", [4] = "DELETE",  [5] = "EXECUTE",
    [6] = "XAREAD", [7] = "XAWRITE", [8] = "XALIST",
};
_Static_assert(LENGTH(access_bits) == 9, "access_bits ends where it should");

static const char *
entry(const char *const *table, size_t length, uint32_t number)
{
    return number < length ? table[number] : NULL;
}

/* Only in calls whose table is in sight. */
#define ENTRY(table, number) entry(table, LENGTH(table), number)

const char *
rpc_program_name(uint32_t program)
{
    switch (program) {
    case SUNRPC_PORTMAP:
        return "PORTMAP";
    case SUNRPC_NFS:
        return "NFS";
    case SUNRPC_MOUNT:
        return "MOUNT";
    case SUNRPC_NLM:
        return "NLM";
    case SUNRPC_NSM:
        return "NSM";
    case SUNRPC_NFSACL:
        return "NFSACL";
    default:
        /* RFC 5531 section 8.3: transient */
        return program >= SUNRPC_NFS_CB && program < 0x60000000 ? "NFS_CB"
                                                                : NULL;
    }
}

static const char *
nfs_procedure(uint32_t version, uint32_t procedure)
{
    switch (version) {
    case 2:
        return ENTRY(nfs2_procedures, procedure);
    case 3:
        return ENTRY(nfs3_procedures, procedure);
    case 4:
        return ENTRY(nfs4_procedures, procedure);
    default:
        return NULL;
    }
}

static const char *
portmap_procedure(uint32_t version, uint32_t procedure)
{
    switch (version) {
    case 2:
        return ENTRY(portmap_procedures, procedure);
    case 3:
        return ENTRY(rpcbind3_procedures, procedure);
    case 4:
        return ENTRY(rpcbind4_procedures, procedure);
    default:
        return NULL;
    }
}

const char *
rpc_procedure_name(uint32_t program, uint32_t version, uint32_t procedure)
{
    switch (program) {
    case SUNRPC_NFS:
        return nfs_procedure(version, procedure);
    case SUNRPC_PORTMAP:
        return portmap_procedure(version, procedure);
    case SUNRPC_MOUNT:
        if (version == 3) {
            return ENTRY(mount3_procedures, procedure);
        }
        return version == 1 || version == 2 ? ENTRY(mount_procedures, procedure)
                                            : NULL;
    case SUNRPC_NLM:
        return version >= 1 && version <= 4 ? ENTRY(nlm_procedures, procedure)
                                            : NULL;
    case SUNRPC_NSM:
        return version == 1 ? ENTRY(nsm_procedures, procedure) : NULL;
    case SUNRPC_NFSACL:
        if (version == 3) {
            return ENTRY(nfsacl3_procedures, procedure);
        }
        return version == 2 ? ENTRY(nfsacl2_procedures, procedure) : NULL;
    default:
        return rpc_program_name(program) != NULL
                   ? ENTRY(callback_procedures, procedure)
                   : NULL;
    }
}

const char *
nfs4_operation_name(uint32_t number, bool callback)
{
    if (number == 10044) {
        return callback ? "CB_ILLEGAL" : "ILLEGAL";
    }
    return callback ? ENTRY(callback_operations, number)
                    : ENTRY(nfs4_operations, number);
}

const char *
nfs_status_name(uint32_t version, uint32_t status)
{
    switch (version) {
    case 2:
        return ENTRY(nfs2_statuses, status);
    case 3:
        return status < 10000 ? ENTRY(nfs3_statuses, status)
                              : ENTRY(nfs3_high_statuses, status - 10000);
    case 4:
        return status < 10000 ? ENTRY(nfs4_statuses, status)
                              : ENTRY(nfs4_high_statuses, status - 10000);
    default:
        return NULL;
    }
}

/* RFC 1094 section A.4: versions 1 and 2 answer with an errno of UNIX, which
 * NFS version 2 numbers alike. */
const char *
mount_status_name(uint32_t version, uint32_t status)
{
    if (version == 3) {
        if (status == 10004) {
            return "MNT3ERR_NOTSUPP";
        }
        return status == 10006 ? "MNT3ERR_SERVERFAULT"
                               : ENTRY(mount3_statuses, status);
    }
    return version == 1 || version == 2 ? ENTRY(nfs2_statuses, status) : NULL;
}

/* Adds to what `out` holds; what does not fit is cut. */
static void
add(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);

    snprintf(out + used, size - used, "%s%s", used > 0 ? "|" : "", text);
}

const char *
nfs_access_names(uint32_t mask, char *out, size_t size)
{
    char rest[16];

    if (size == 0) {
        return out;
    }
    out[0] = '\0';
    for (uint32_t bit = 0; bit < LENGTH(access_bits); bit++) {
        if ((mask >> bit & 1) != 0) {
            add(out, size, access_bits[bit]);
            mask &= ~(UINT32_C(1) << bit);
        }
    }
    if (mask != 0) {
        snprintf(rest, sizeof(rest), "0x%x", (unsigned)mask);
        add(out, size, rest);
    }
    if (out[0] == '\0') {
        add(out, size, "0");
    }
    return out;
}
