/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names, checked at the numbers that the RFCs give them, and past the ends.
 */
#include "tests/unit/rpc_support.h"

#include <string.h>

struct procedure_name {
    uint32_t program, version, procedure;
    const char *name;
};

static const struct procedure_name procedures[] = {
    {100003, 2, 17, "STATFS"},
    {100003, 2, 18, NULL},
    {100003, 3, 0, "NULL"},
    {100003, 3, 1, "GETATTR"},
    {100003, 3, 4, "ACCESS"},
    {100003, 3, 17, "READDIRPLUS"},
    {100003, 3, 21, "COMMIT"},
    {100003, 3, 22, NULL},
    {100003, 4, 1, "COMPOUND"},
    {100003, 4, 2, NULL},
    {100003, 5, 0, NULL},
    {100005, 3, 1, "MNT"},
    {100005, 1, 7, "PATHCONF"},
    {100005, 3, 6, NULL},
    {100000, 2, 3, "GETPORT"},
    {100000, 3, 3, "GETADDR"},
    {100000, 4, 9, "GETVERSADDR"},
    {100000, 4, 12, "GETSTAT"},
    {100021, 4, 5, "GRANTED"},
    {100021, 4, 16, NULL},
    {100021, 4, 23, "FREE_ALL"},
    {100024, 1, 6, "NOTIFY"},
    {100227, 3, 1, "GETACL"},
    {100227, 2, 4, "ACCESS"},
    {0x40000000, 1, 1, "CB_COMPOUND"},
    {0x5fffffff, 4, 0, "CB_NULL"},
    {0x60000000, 1, 0, NULL},
    {7, 1, 0, NULL},
    {100003, 3, 0xffffffff, NULL},
};

static void
same(const char *got, const char *want)
{
    if (want == NULL) {
        assert_null(got);
    } else {
        assert_non_null(got);
        assert_string_equal(got, want);
    }
}

static void
procedures_by_version(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(procedures) / sizeof(procedures[0]); i++) {
        same(rpc_procedure_name(procedures[i].program, procedures[i].version,
                                procedures[i].procedure),
             procedures[i].name);
    }
}

static void
operations_without_a_gap(void **state)
{
    (void)state;
    for (uint32_t i = 3; i <= 75; i++) {
        assert_non_null(nfs4_operation_name(i, false));
    }
    for (uint32_t i = 3; i <= 15; i++) {
        assert_non_null(nfs4_operation_name(i, true));
    }
    same(nfs4_operation_name(2, false), NULL);
    same(nfs4_operation_name(9, false), "GETATTR");
    same(nfs4_operation_name(34, false), "SETATTR");
    same(nfs4_operation_name(39, false), "RELEASE_LOCKOWNER");
    same(nfs4_operation_name(40, false), "BACKCHANNEL_CTL");
    same(nfs4_operation_name(53, false), "SEQUENCE");
    same(nfs4_operation_name(58, false), "RECLAIM_COMPLETE");
    same(nfs4_operation_name(59, false), "ALLOCATE");
    same(nfs4_operation_name(63, false), "IO_ADVISE");
    same(nfs4_operation_name(68, false), "READ_PLUS");
    same(nfs4_operation_name(71, false), "CLONE");
    same(nfs4_operation_name(72, false), "GETXATTR");
    same(nfs4_operation_name(75, false), "REMOVEXATTR");
    same(nfs4_operation_name(76, false), NULL);
    same(nfs4_operation_name(10044, false), "ILLEGAL");
    same(nfs4_operation_name(0xffffffff, false), NULL);
    same(nfs4_operation_name(11, true), "CB_SEQUENCE");
    same(nfs4_operation_name(16, true), NULL);
}

static void
statuses_by_version(void **state)
{
    (void)state;
    same(nfs_status_name(2, 70), "NFSERR_STALE");
    same(nfs_status_name(3, 0), "NFS3_OK");
    same(nfs_status_name(3, 1), "NFS3ERR_PERM");
    same(nfs_status_name(3, 13), "NFS3ERR_ACCES");
    same(nfs_status_name(3, 3), NULL);
    same(nfs_status_name(3, 10008), "NFS3ERR_JUKEBOX");
    same(nfs_status_name(3, 10009), NULL);
    same(nfs_status_name(4, 13), "NFS4ERR_ACCESS");
    same(nfs_status_name(4, 10008), "NFS4ERR_DELAY");
    same(nfs_status_name(4, 10002), NULL);
    same(nfs_status_name(4, 10052), "NFS4ERR_BADSESSION");
    same(nfs_status_name(4, 10073), NULL);
    same(nfs_status_name(4, 10096), "NFS4ERR_XATTR2BIG");
    same(nfs_status_name(4, 10097), NULL);
    same(nfs_status_name(4, 0xffffffff), NULL);
    same(nfs_status_name(9, 0), NULL);
    same(mount_status_name(3, 13), "MNT3ERR_ACCES");
    same(mount_status_name(3, 10006), "MNT3ERR_SERVERFAULT");
    same(mount_status_name(1, 13), "NFSERR_ACCES");
}

/* Unknown bits in hexadecimal, and no byte past the end. */
static void
access_bits(void **state)
{
    char out[64];

    (void)state;
    assert_string_equal(nfs_access_names(0x21, out, sizeof(out)),
                        "READ|EXECUTE");
    assert_string_equal(nfs_access_names(0x1ff, out, sizeof(out)),
                        "READ|LOOKUP|MODIFY|EXTEND|DELETE|EXECUTE|XAREAD|"
                        "XAWRITE|XALIST");
    assert_string_equal(nfs_access_names(0x201, out, sizeof(out)),
                        "READ|0x200");
    assert_string_equal(nfs_access_names(0, out, sizeof(out)), "0");
    for (size_t size = 1; size < 20; size++) {
        memset(out, '#', sizeof(out));
        nfs_access_names(0x80000021, out, size);
        assert_true(strlen(out) < size);
        assert_int_equal(out[size], '#');
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(procedures_by_version),
        cmocka_unit_test(operations_without_a_gap),
        cmocka_unit_test(statuses_by_version),
        cmocka_unit_test(access_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
