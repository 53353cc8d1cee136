/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/nfs4_samples.h"

void
put_stateid(struct message *m)
{
    put32(m, 1);
    put_pattern(m, 12, 0xa0);
}

void
put_bitmap(struct message *m, uint32_t count, const uint32_t *words)
{
    put32(m, count);
    for (uint32_t i = 0; i < count; i++) {
        put32(m, words[i]);
    }
}

static void
bitmap2(struct message *m, uint32_t low, uint32_t high)
{
    const uint32_t words[2] = {low, high};

    put_bitmap(m, 2, words);
}

static void
zeros(struct message *m, uint32_t words)
{
    while (words-- > 0) {
        put32(m, 0);
    }
}

/* size (4) and mode (33): RFC 8881 section 5.8. */
static void
put_fattr(struct message *m)
{
    bitmap2(m, 1u << 4, 1u << 1);
    put32(m, 12);
    put64(m, 632);
    put32(m, 0644);
}

static void
put_owner(struct message *m)
{
    put64(m, 0x1234);
    put_string(m, "owner");
}

static void
put_netloc(struct message *m, unsigned variant)
{
    if (variant % 2 == 0) {
        put32(m, 1); /* NL4_NAME */
        put_string(m, "server");
    } else {
        put32(m, 3); /* NL4_NETADDR */
        put_string(m, "tcp");
        put_string(m, "10.0.0.9.8.1");
    }
}

static void
put_channel(struct message *m, unsigned variant)
{
    zeros(m, 6);
    put32(m, variant % 2); /* rdma_ird<1> */
    zeros(m, variant % 2);
}

static void
put_callback_security(struct message *m)
{
    put32(m, 3);
    put32(m, 0); /* AUTH_NONE */
    put32(m, 1); /* AUTH_SYS */
    put32(m, 5);
    put_string(m, "machine");
    put32(m, 0);
    put32(m, 0);
    put32(m, 2);
    zeros(m, 2);
    put32(m, 6); /* RPCSEC_GSS */
    put32(m, 1);
    put_opaque(m, "abc", 3);
    put_opaque(m, "defgh", 5);
}

static void
open_arguments(struct message *m, unsigned variant)
{
    put32(m, 0); /* seqid */
    put32(m, 1); /* share access READ */
    put32(m, 0);
    put_owner(m);
    switch (variant) {
    case 0: /* NOCREATE, CLAIM_NULL */
        put32(m, 0);
        put32(m, 0);
        put_string(m, "file");
        break;
    case 1: /* CREATE UNCHECKED, CLAIM_NULL */
        put32(m, 1);
        put32(m, 0);
        put_fattr(m);
        put32(m, 0);
        put_string(m, "new");
        break;
    case 2: /* CREATE EXCLUSIVE4_1, CLAIM_DELEGATE_CUR */
        put32(m, 1);
        put32(m, 3);
        put_pattern(m, 8, 1);
        put_fattr(m);
        put32(m, 2);
        put_stateid(m);
        put_string(m, "again");
        break;
    default: /* NOCREATE, CLAIM_PREVIOUS */
        put32(m, 0);
        put32(m, 1);
        put32(m, 0);
    }
}

static void
exchange_id_arguments(struct message *m, unsigned variant)
{
    put_pattern(m, 8, 1);
    put_string(m, "client owner");
    put32(m, 0x101);
    put32(m, variant % 3);
    if (variant % 3 > 0) {
        bitmap2(m, 0x10, 0x20);
        bitmap2(m, 0x10, 0x20);
    }
    if (variant % 3 == 2) {
        put32(m, 2);
        put_opaque(m, "oid", 3);
        put_opaque(m, "oid12", 5);
        put32(m, 1);
        put_opaque(m, "oid", 3);
        zeros(m, 2);
    }
    put32(m, 1);
    put_string(m, "kernel.org");
    put_string(m, "Linux");
    put64(m, 0);
    put32(m, 0);
}

static void
first_version_arguments(struct message *m, uint32_t op, unsigned variant)
{
    switch (op) {
    case 3: /* ACCESS */
        put32(m, 0x1f);
        break;
    case 4: /* CLOSE */
        put32(m, 1);
        put_stateid(m);
        break;
    case 5: /* COMMIT */
        put64(m, 4096);
        put32(m, 8192);
        break;
    case 6: /* CREATE */
        put32(m, variant == 0 ? 2 : variant == 1 ? 5 : 4);
        if (variant == 1) {
            put_string(m, "target");
        } else if (variant > 1) {
            zeros(m, 2);
        }
        put_string(m, "object");
        put_fattr(m);
        break;
    case 7:  /* DELEGPURGE */
    case 30: /* RENEW */
        put64(m, 5);
        break;
    case 8: /* DELEGRETURN */
        put_stateid(m);
        break;
    case 9: /* GETATTR */
        bitmap2(m, 0x18, 0x30a23a);
        break;
    case 11: /* LINK */
    case 15: /* LOOKUP */
    case 28: /* REMOVE */
    case 33: /* SECINFO */
        put_string(m, "name");
        break;
    case 12: /* LOCK */
        put32(m, 1);
        put32(m, 0);
        put64(m, 0);
        put64(m, 10);
        put32(m, variant % 2);
        if (variant % 2 == 1) {
            put32(m, 1);
            put_stateid(m);
            put32(m, 2);
            put_owner(m);
        } else {
            put_stateid(m);
            put32(m, 3);
        }
        break;
    case 13: /* LOCKT */
        put32(m, 1);
        put64(m, 0);
        put64(m, 10);
        put_owner(m);
        break;
    case 14: /* LOCKU */
        put32(m, 1);
        put32(m, 4);
        put_stateid(m);
        put64(m, 0);
        put64(m, 10);
        break;
    case 17: /* NVERIFY */
    case 37: /* VERIFY */
        put_fattr(m);
        break;
    case 18:
        open_arguments(m, variant);
        break;
    case 19: /* OPENATTR */
        put32(m, 1);
        break;
    case 20: /* OPEN_CONFIRM */
        put_stateid(m);
        put32(m, 1);
        break;
    case 21: /* OPEN_DOWNGRADE */
        put_stateid(m);
        put32(m, 1);
        put32(m, 1);
        put32(m, 0);
        break;
    case 22: /* PUTFH */
        put_handle(m, 28, 0x77);
        break;
    case 25: /* READ */
        put_stateid(m);
        put64(m, 65536);
        put32(m, 4096);
        break;
    case 26: /* READDIR */
        zeros(m, 4);
        put32(m, 512);
        put32(m, 8192);
        bitmap2(m, 0x18, 0x30a23a);
        break;
    case 29: /* RENAME */
        put_string(m, "old");
        put_string(m, "newer");
        break;
    case 34: /* SETATTR */
        put_stateid(m);
        put_fattr(m);
        break;
    case 35: /* SETCLIENTID */
        put_pattern(m, 8, 1);
        put_string(m, "client id");
        put32(m, 0x40000000);
        put_string(m, "tcp");
        put_string(m, "10.0.0.1.200.17");
        put32(m, 1);
        break;
    case 36: /* SETCLIENTID_CONFIRM */
        put64(m, 5);
        put_pattern(m, 8, 1);
        break;
    case 38: /* WRITE */
        put_stateid(m);
        put64(m, 0);
        put32(m, 2);
        put_opaque(m, "hello", 5);
        break;
    case 39: /* RELEASE_LOCKOWNER */
        put_owner(m);
        break;
    default: /* GETFH, LOOKUPP, PUTPUBFH, PUTROOTFH, READLINK, ... */
        break;
    }
}

static void
second_version_arguments(struct message *m, uint32_t op, unsigned variant)
{
    switch (op) {
    case 40: /* BACKCHANNEL_CTL */
        put32(m, 0x40000000);
        put_callback_security(m);
        break;
    case 41: /* BIND_CONN_TO_SESSION */
        put_pattern(m, 16, 1);
        put32(m, 3);
        put32(m, 0);
        break;
    case 42:
        exchange_id_arguments(m, variant);
        break;
    case 43: /* CREATE_SESSION */
        put64(m, 5);
        put32(m, 1);
        put32(m, 3);
        put_channel(m, variant);
        put_channel(m, variant + 1);
        put32(m, 0x40000000);
        put_callback_security(m);
        break;
    case 44: /* DESTROY_SESSION */
        put_pattern(m, 16, 1);
        break;
    case 45: /* FREE_STATEID */
        put_stateid(m);
        break;
    case 46: /* GET_DIR_DELEGATION */
        put32(m, 0);
        bitmap2(m, 1, 2);
        zeros(m, 6);
        bitmap2(m, 1, 2);
        bitmap2(m, 1, 2);
        break;
    case 47: /* GETDEVICEINFO */
        put_pattern(m, 16, 1);
        put32(m, 1);
        put32(m, 4096);
        bitmap2(m, 6, 0);
        break;
    case 48: /* GETDEVICELIST */
        put32(m, 1);
        put32(m, 16);
        zeros(m, 4);
        break;
    case 49: /* LAYOUTCOMMIT */
        put64(m, 0);
        put64(m, 100);
        put32(m, 0);
        put_stateid(m);
        put32(m, variant & 1);
        if ((variant & 1) != 0) {
            put64(m, 99);
        }
        put32(m, variant >> 1 & 1);
        if ((variant >> 1 & 1) != 0) {
            put64(m, 7);
            put32(m, 8);
        }
        put32(m, 1);
        put_opaque(m, "update!", 7);
        break;
    case 50: /* LAYOUTGET */
        put32(m, 0);
        put32(m, 1);
        put32(m, 1);
        put64(m, 0);
        put64(m, UINT64_MAX);
        put64(m, 4096);
        put_stateid(m);
        put32(m, 4096);
        break;
    case 51: /* LAYOUTRETURN */
        put32(m, 0);
        put32(m, 1);
        put32(m, 3);
        put32(m, 1 + variant % 3);
        if (variant % 3 == 0) {
            put64(m, 0);
            put64(m, UINT64_MAX);
            put_stateid(m);
            put_opaque(m, "", 0);
        }
        break;
    case 52: /* SECINFO_NO_NAME */
    case 58: /* RECLAIM_COMPLETE */
        put32(m, 0);
        break;
    case 53: /* SEQUENCE */
        put_pattern(m, 16, 1);
        put32(m, 7);
        put32(m, 0);
        put32(m, 0);
        put32(m, 1);
        break;
    case 54: /* SET_SSV */
        put_opaque(m, "ssv", 3);
        put_opaque(m, "digest", 6);
        break;
    case 55: /* TEST_STATEID */
        put32(m, 2);
        put_stateid(m);
        put_stateid(m);
        break;
    case 56: /* WANT_DELEGATION */
        put32(m, 0x100);
        put32(m, variant % 2 == 0 ? 4 : 1); /* CLAIM_FH, CLAIM_PREVIOUS */
        zeros(m, variant % 2);
        break;
    case 57: /* DESTROY_CLIENTID */
        put64(m, 5);
        break;
    default:
        break;
    }
}

static void
third_version_arguments(struct message *m, uint32_t op, unsigned variant)
{
    switch (op) {
    case 59: /* ALLOCATE */
    case 62: /* DEALLOCATE */
        put_stateid(m);
        put64(m, 0);
        put64(m, 100);
        break;
    case 60: /* COPY */
        put_stateid(m);
        put_stateid(m);
        put64(m, 0);
        put64(m, 0);
        put64(m, 100);
        put32(m, 1);
        put32(m, 1);
        put32(m, variant);
        for (unsigned i = 0; i < variant; i++) {
            put_netloc(m, i);
        }
        break;
    case 61: /* COPY_NOTIFY */
        put_stateid(m);
        put_netloc(m, variant);
        break;
    case 63: /* IO_ADVISE */
        put_stateid(m);
        put64(m, 0);
        put64(m, 100);
        bitmap2(m, 1, 0);
        break;
    case 64: /* LAYOUTERROR */
        put64(m, 0);
        put64(m, 100);
        put_stateid(m);
        put32(m, 2);
        for (unsigned i = 0; i < 2; i++) {
            put_pattern(m, 16, 1);
            put32(m, 5);
            put32(m, 25);
        }
        break;
    case 65: /* LAYOUTSTATS */
        put64(m, 0);
        put64(m, 100);
        put_stateid(m);
        zeros(m, 8);
        put_pattern(m, 16, 1);
        put32(m, 4);
        put_opaque(m, "statistics", 10);
        break;
    case 66: /* OFFLOAD_CANCEL */
    case 67: /* OFFLOAD_STATUS */
        put_stateid(m);
        break;
    case 68: /* READ_PLUS */
        put_stateid(m);
        put64(m, 0);
        put32(m, 4096);
        break;
    case 69: /* SEEK */
        put_stateid(m);
        put64(m, 0);
        put32(m, 1);
        break;
    case 70: /* WRITE_SAME */
        put_stateid(m);
        put32(m, 2);
        put64(m, 0);
        put64(m, 4096);
        put64(m, 1);
        put64(m, 0);
        put32(m, 1);
        put64(m, 0);
        put_opaque(m, "pattern", 7);
        break;
    case 71: /* CLONE */
        put_stateid(m);
        put_stateid(m);
        put64(m, 0);
        put64(m, 0);
        put64(m, 100);
        break;
    case 72: /* GETXATTR */
    case 75: /* REMOVEXATTR */
        put_string(m, "user.key");
        break;
    case 73: /* SETXATTR */
        put32(m, 0);
        put_string(m, "user.key");
        put_opaque(m, "value", 5);
        break;
    case 74: /* LISTXATTRS */
        put64(m, 0);
        put32(m, 4096);
        break;
    default:
        break;
    }
}

void
sample_arguments(struct message *m, uint32_t op, unsigned variant)
{
    put32(m, op);
    first_version_arguments(m, op, variant);
    second_version_arguments(m, op, variant);
    third_version_arguments(m, op, variant);
}

/* --- results ---------------------------------------------------------------
 */

static void
put_change_info(struct message *m)
{
    put32(m, 1);
    put64(m, 10);
    put64(m, 11);
}

static void
put_delegation(struct message *m, unsigned variant)
{
    static const uint32_t types[SAMPLE_VARIANTS] = {0, 1, 2, 3};
    uint32_t type = types[variant];

    put32(m, type);
    if (type == 1 || type == 2) {
        put_stateid(m);
        put32(m, 0);
        if (type == 2) {
            put32(m, 1); /* NFS_LIMIT_SIZE */
            put64(m, 1 << 20);
        }
        zeros(m, 3);
        put_string(m, "EVERYONE@");
    } else if (type == 3) {
        put32(m, 1); /* WND4_CONTENTION */
        put32(m, 1);
    }
}

static void
put_secinfo(struct message *m)
{
    put32(m, 3);
    put32(m, 1);
    put32(m, 6);
    put_opaque(m, "\x2a\x86\x48\x86\xf7\x12\x01\x02\x02", 9);
    put32(m, 0);
    put32(m, 1);
    put32(m, 0);
}

static void
put_write_response(struct message *m, unsigned variant)
{
    put32(m, variant % 2);
    if (variant % 2 == 1) {
        put_stateid(m);
    }
    put64(m, 100);
    put32(m, 2);
    put_pattern(m, 8, 1);
}

static void
first_version_results(struct message *m, uint32_t op, unsigned variant)
{
    switch (op) {
    case 3:
        put32(m, 0x1f);
        put32(m, 0x0d);
        break;
    case 4:
    case 12:
    case 14:
    case 20:
    case 21:
        put_stateid(m);
        break;
    case 5:
        put_pattern(m, 8, 1);
        break;
    case 6:
        put_change_info(m);
        bitmap2(m, 0x10, 2);
        break;
    case 9:
        put_fattr(m);
        break;
    case 10:
        put_handle(m, 28, 0x78);
        break;
    case 11:
    case 28:
        put_change_info(m);
        break;
    case 18:
        put_stateid(m);
        put_change_info(m);
        put32(m, 4);
        bitmap2(m, 0x10, 2);
        put_delegation(m, variant);
        break;
    case 25:
        put32(m, 1);
        put_opaque(m, "some data", 9);
        break;
    case 26:
        put_pattern(m, 8, 1);
        for (unsigned i = 0; i < variant; i++) {
            put32(m, 1);
            put64(m, i);
            put_string(m, "entry");
            put_fattr(m);
        }
        put32(m, 0);
        put32(m, 1);
        break;
    case 27:
        put_string(m, "target");
        break;
    case 29:
        put_change_info(m);
        put_change_info(m);
        break;
    case 33:
        put_secinfo(m);
        break;
    case 34:
        bitmap2(m, 0x10, 2);
        break;
    case 35:
        put64(m, 5);
        put_pattern(m, 8, 1);
        break;
    case 38:
        put32(m, 5);
        put32(m, 2);
        put_pattern(m, 8, 1);
        break;
    default:
        break;
    }
}

static void
second_version_results(struct message *m, uint32_t op, unsigned variant)
{
    switch (op) {
    case 41:
        put_pattern(m, 16, 1);
        put32(m, 3);
        put32(m, 0);
        break;
    case 42:
        put64(m, 5);
        put32(m, 1);
        put32(m, 0x101);
        put32(m, variant % 3);
        if (variant % 3 > 0) {
            bitmap2(m, 0x10, 0x20);
            bitmap2(m, 0x10, 0x20);
        }
        if (variant % 3 == 2) {
            zeros(m, 4);
            put32(m, 1);
            put_opaque(m, "handle", 6);
        }
        put64(m, 1);
        put_string(m, "server owner");
        put_string(m, "scope");
        put32(m, 1);
        put_string(m, "kernel.org");
        put_string(m, "Linux");
        put64(m, 0);
        put32(m, 0);
        break;
    case 43:
        put_pattern(m, 16, 1);
        put32(m, 1);
        put32(m, 3);
        put_channel(m, variant);
        put_channel(m, variant + 1);
        break;
    case 46:
        put32(m, variant % 2);
        if (variant % 2 == 0) {
            put_pattern(m, 8, 1);
            put_stateid(m);
            bitmap2(m, 1, 2);
            bitmap2(m, 1, 2);
            bitmap2(m, 1, 2);
        } else {
            put32(m, 0);
        }
        break;
    case 47:
        put32(m, 1);
        put_opaque(m, "device", 6);
        bitmap2(m, 6, 0);
        break;
    case 48:
        zeros(m, 4);
        put32(m, 2);
        put_pattern(m, 32, 1);
        put32(m, 1);
        break;
    case 49:
        put32(m, variant % 2);
        zeros(m, variant % 2 * 2);
        break;
    case 50:
        put32(m, 1);
        put_stateid(m);
        put32(m, 2);
        for (unsigned i = 0; i < 2; i++) {
            put64(m, 0);
            put64(m, 4096);
            put32(m, 1);
            put32(m, 3);
            put_opaque(m, "layout body", 11);
        }
        break;
    case 51:
        put32(m, variant % 2);
        if (variant % 2 == 1) {
            put_stateid(m);
        }
        break;
    case 52:
        put_secinfo(m);
        break;
    case 53:
        put_pattern(m, 16, 1);
        zeros(m, 5);
        break;
    case 54:
        put_opaque(m, "digest", 6);
        break;
    case 55:
        put32(m, 2);
        zeros(m, 2);
        break;
    case 56:
        put_delegation(m, variant);
        break;
    default:
        break;
    }
}

static void
third_version_results(struct message *m, uint32_t op, unsigned variant)
{
    switch (op) {
    case 60:
        put_write_response(m, variant);
        put32(m, 1);
        put32(m, 1);
        break;
    case 61:
        put64(m, 90);
        put32(m, 0);
        put_stateid(m);
        put32(m, 1);
        put_netloc(m, variant);
        break;
    case 63:
        bitmap2(m, 1, 0);
        break;
    case 67:
        put64(m, 100);
        put32(m, variant % 2);
        zeros(m, variant % 2);
        break;
    case 68:
        put32(m, 1);
        put32(m, 2);
        put32(m, 0);
        put64(m, 0);
        put_opaque(m, "some bytes", 10);
        put32(m, 1);
        put64(m, 10);
        put64(m, 4086);
        break;
    case 69:
        put32(m, 0);
        put64(m, 4096);
        break;
    case 70:
        put_write_response(m, variant);
        break;
    case 72:
        put_opaque(m, "value", 5);
        break;
    case 73:
    case 75:
        put_change_info(m);
        break;
    case 74:
        put64(m, 2);
        put32(m, 2);
        put_string(m, "user.a");
        put_string(m, "user.bc");
        put32(m, 1);
        break;
    default:
        break;
    }
}

void
sample_results(struct message *m, uint32_t op, unsigned variant)
{
    put32(m, op);
    put32(m, 0);
    first_version_results(m, op, variant);
    second_version_results(m, op, variant);
    third_version_results(m, op, variant);
}

/* --- callbacks: RFC 8881 section 20, RFC 7862 section 16 -------------------
 */

void
sample_callback_arguments(struct message *m, uint32_t op, unsigned variant)
{
    put32(m, op);
    switch (op) {
    case 3: /* CB_GETATTR */
        put_handle(m, 28, 0x77);
        bitmap2(m, 0x18, 0);
        break;
    case 4: /* CB_RECALL */
        put_stateid(m);
        put32(m, 0);
        put_handle(m, 28, 0x77);
        break;
    case 5: /* CB_LAYOUTRECALL */
        put32(m, 1);
        put32(m, 1);
        put32(m, 0);
        put32(m, 1 + variant % 3);
        if (variant % 3 == 0) {
            put_handle(m, 28, 0x77);
            put64(m, 0);
            put64(m, 1);
            put_stateid(m);
        } else if (variant % 3 == 1) {
            put_pattern(m, 16, 1);
        }
        break;
    case 6: /* CB_NOTIFY */
        put_stateid(m);
        put_handle(m, 28, 0x77);
        put32(m, 1);
        bitmap2(m, 1, 0);
        put_opaque(m, "changes", 7);
        break;
    case 7: /* CB_PUSH_DELEG */
        put_handle(m, 28, 0x77);
        put_delegation(m, variant);
        break;
    case 8: /* CB_RECALL_ANY */
        put32(m, 10);
        bitmap2(m, 3, 0);
        break;
    case 9:  /* CB_RECALLABLE_OBJ_AVAIL */
    case 10: /* CB_RECALL_SLOT */
        put32(m, 1);
        break;
    case 11: /* CB_SEQUENCE */
        put_pattern(m, 16, 1);
        zeros(m, 4);
        put32(m, variant % 2);
        if (variant % 2 == 1) {
            put_pattern(m, 16, 1);
            put32(m, 2);
            zeros(m, 4);
        }
        break;
    case 12: /* CB_WANTS_CANCELLED */
        put32(m, 1);
        put32(m, 0);
        break;
    case 13: /* CB_NOTIFY_LOCK */
        put_handle(m, 28, 0x77);
        put_owner(m);
        break;
    case 14: /* CB_NOTIFY_DEVICEID */
        put32(m, 1);
        bitmap2(m, 2, 0);
        put_opaque(m, "device changes", 14);
        break;
    case 15: /* CB_OFFLOAD */
        put_handle(m, 28, 0x77);
        put_stateid(m);
        put32(m, variant % 2 == 0 ? 0 : 5);
        if (variant % 2 == 0) {
            put_write_response(m, variant / 2);
        } else {
            put64(m, 50);
        }
        break;
    default:
        break;
    }
}

void
sample_callback_results(struct message *m, uint32_t op)
{
    put32(m, op);
    put32(m, 0);
    if (op == 3) {
        put_fattr(m);
    } else if (op == 11) {
        put_pattern(m, 16, 1);
        zeros(m, 4);
    }
}
