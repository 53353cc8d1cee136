/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Texts of /proc as proc(5) and the kernel's fs/nfs describe them, and what
 * must be read out of them.
 */
#include "client/mount_stats.h"
#include "client/nfs_mount.h"
#include "client/util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char mountinfo[] =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,discard\n"
    "30 22 0:30 / /mnt rw - tmpfs tmpfs rw,size=65536k\n"
    "40 30 0:40 / /mnt/nfs rw,noatime shared:9 master:2 - nfs "
    "10.0.0.2:/srv rw,vers=3,hard,proto=tcp,sec=sys,mountaddr=10.0.0.2,"
    "mountvers=3,mountport=43573,mountproto=tcp,addr=10.0.0.2\n"
    "41 30 0:41 /sub /mnt/with\\040blank\\134x rw - nfs4 "
    "[fd00::2]:/srv rw,vers=4.2,proto=tcp6,port=2050,nconnect=4,sec=krb5p,"
    "addr=fd00::2\n"
    "42 30 0:42 / /mnt/nfs rw - nfs4 10.0.0.3:/over "
    "rw,vers=4.1,proto=rdma,port=20049,sec=sys,addr=10.0.0.3\n"
    "43 30 0:43 / /mnt/tls rw - nfs4 10.0.0.4:/ "
    "rw,vers=4.2,proto=tcp,xprtsec=tls,sec=sys,addr=10.0.0.4\n";

static void
read_table(const char *text, struct mount_table *table)
{
    char error[512] = "";

    if (mount_table_parse(text, table, error, sizeof(error)) != 0)
        fail_msg("%s", error);
}

static void
finds_the_longest_and_last(void **state)
{
    static const struct {
        const char *path, *device;
    } cases[] = {
        {"/", "/dev/vda1"},
        {"/mntx", "/dev/vda1"}, /* a longer name is no directory below */
        {"/mnt", "tmpfs"},
        {"/mnt/other/deep", "tmpfs"},
        {"/mnt/nfs", "10.0.0.3:/over"}, /* mounted over 10.0.0.2:/srv */
        {"/mnt/nfs/a/b", "10.0.0.3:/over"},
        {"/mnt/nfsx", "tmpfs"},
        {"/mnt/with blank\\x/dir", "[fd00::2]:/srv"},
    };
    struct mount_table table;

    (void)state;
    read_table(mountinfo, &table);
    assert_int_equal(table.length, 6);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(mount_table_find(&table, cases[i].path)->device,
                            cases[i].device);
    mount_table_free(&table);
}

static void
describes_v3(void **state)
{
    struct run_filesystem filesystem = {0};
    struct mount_table table;

    (void)state;
    read_table(mountinfo, &table);
    mount_describe(&table.items[2], &filesystem);
    assert_int_equal(filesystem.kind, FILESYSTEM_NFS);
    assert_string_equal(filesystem.version, "3");
    assert_string_equal(filesystem.server_address, "10.0.0.2");
    assert_string_equal(filesystem.server_path, "/srv");
    assert_string_equal(filesystem.transport, "tcp");
    assert_string_equal(filesystem.security, "sys");
    assert_int_equal(filesystem.port, 2049); /* not shown: the default */
    assert_int_equal(filesystem.nconnect, 1);
    assert_true(filesystem.wire_shows_all);
    assert_string_equal(mount_idle_atime_option(filesystem.options),
                        "noatime");
    mount_forget(&filesystem);
    mount_table_free(&table);
}

static void
names_what_the_wire_hides(void **state)
{
    struct run_filesystem filesystem = {0};
    struct mount_table table;

    (void)state;
    read_table(mountinfo, &table);
    mount_describe(&table.items[3], &filesystem);
    assert_string_equal(filesystem.version, "4.2");
    assert_string_equal(filesystem.server_address, "fd00::2");
    assert_string_equal(filesystem.server_path, "/srv");
    assert_int_equal(filesystem.port, 2050);
    assert_int_equal(filesystem.nconnect, 4);
    assert_false(filesystem.wire_shows_all);
    assert_non_null(strstr(filesystem.why_not, "krb5p"));
    mount_forget(&filesystem);
    mount_describe(&table.items[4], &filesystem);
    assert_false(filesystem.wire_shows_all);
    assert_non_null(strstr(filesystem.why_not, "RDMA"));
    assert_null(mount_idle_atime_option(filesystem.options));
    mount_forget(&filesystem);
    mount_describe(&table.items[5], &filesystem);
    assert_false(filesystem.wire_shows_all);
    assert_non_null(strstr(filesystem.why_not, "xprtsec=tls"));
    assert_string_equal(filesystem.server_path, "/");
    mount_forget(&filesystem);
    mount_table_free(&table);
}

static void
refuses_what_is_no_mountinfo(void **state)
{
    static const char *const texts[] = {
        "22 1 254:0 / / rw,relatime ext4 /dev/vda1 rw\n", /* no " - " */
        "22 1 254 / / rw - ext4 /dev/vda1 rw\n",
        "22 1 254:0 / / rw - ext4\n",
        "hello\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct mount_table table;
        char error[512] = "";

        assert_int_equal(
            mount_table_parse(texts[i], &table, error, sizeof(error)), -1);
        assert_non_null(strstr(error, "line 1"));
    }
}

static void
options_by_name(void **state)
{
    const char *options = "rw,mountport=1,port=2,sec=sys,port=3,noac";
    char value[16];

    (void)state;
    assert_true(mount_option(options, "port", value, sizeof(value)));
    assert_string_equal(value, "3"); /* the last one prevails */
    assert_true(mount_option(options, "mountport", value, sizeof(value)));
    assert_string_equal(value, "1");
    assert_true(mount_option(options, "noac", value, sizeof(value)));
    assert_string_equal(value, "");
    assert_false(mount_option(options, "no", value, sizeof(value)));
    assert_false(mount_option(options, "noacx", value, sizeof(value)));
    assert_false(mount_option("", "rw", value, sizeof(value)));
}

static const char mountstats[] =
    "device rootfs mounted on / with fstype rootfs\n"
    "device 10.0.0.2:/srv mounted on /mnt/nfs with fstype nfs "
    "statvers=1.0\n"
    "\topts:\trw,vers=3\n"
    "\tage:\t12\n"
    "\tRPC iostats version: 1.0  p/v: 100003/3 (nfs)\n"
    "\txprt:\ttcp 795 1 1 0 0 7 7 0 7 0 2 0 0\n"
    "\tper-op statistics\n"
    "\t        NULL: 1 1 0 44 24 0 0 0\n"
    "\t     GETATTR: 5 6 0 44 24 18446743919241604546 0 0\n"
    "\n"
    "device 10.0.0.2:/srv mounted on /mnt/nfs\\040two with fstype nfs4 "
    "statvers=1.1\n"
    "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
    "\tper-op statistics\n"
    "\t        NULL: 1 1 0 44 24 0 0 0 0\n"
    "\t SETATTR: 1000 1002 0 1 1 1 1 1 7\n"
    "\tTOMORROWS_OP: 3 3 0 1 1 1 1 1 7 8 9\n"
    "\t       BROKEN: 3 3 0\n"
    "\n"
    "device tmpfs mounted on /tmp with fstype tmpfs\n";

static uint64_t
count_of(const struct run_counts *counts, const char *name)
{
    for (size_t i = 0; i < counts->length; i++)
        if (strcmp(counts->items[i].name, name) == 0)
            return counts->items[i].count;
    return UINT64_MAX;
}

static void
counts_of_the_right_device(void **state)
{
    struct mount_stats stats;

    (void)state;
    mount_stats_parse(mountstats, "/mnt/nfs", &stats);
    assert_true(stats.known);
    assert_int_equal(stats.operations.length, 2);
    assert_int_equal(count_of(&stats.operations, "GETATTR"), 5);
    assert_int_equal(stats.transmissions, 7);
    mount_stats_free(&stats);
    mount_stats_parse(mountstats, "/mnt/nfs two", &stats);
    assert_true(stats.known);
    assert_int_equal(stats.operations.length, 3);
    assert_int_equal(count_of(&stats.operations, "SETATTR"), 1000);
    assert_int_equal(count_of(&stats.operations, "TOMORROWS_OP"), 3);
    mount_stats_free(&stats);
    mount_stats_parse(mountstats, "/mnt", &stats);
    assert_false(stats.known);
    mount_stats_free(&stats);
}

static void
free_counts(struct run_counts *counts)
{
    for (size_t i = 0; i < counts->length; i++)
        free(counts->items[i].name);
    free(counts->items);
}

static void
differences_and_resets(void **state)
{
    struct mount_stats before = {0}, after = {0};
    struct run_counts difference = {0};
    bool reset;

    (void)state;
    run_counts_add(&before.operations, "GETATTR", 5);
    run_counts_add(&before.operations, "READ", 7);
    run_counts_add(&after.operations, "GETATTR", 9);
    run_counts_add(&after.operations, "READ", 7);
    run_counts_add(&after.operations, "SETATTR", 2);
    mount_stats_difference(&before, &after, &difference, &reset);
    assert_false(reset);
    assert_int_equal(difference.length, 2);
    assert_int_equal(count_of(&difference, "GETATTR"), 4);
    assert_int_equal(count_of(&difference, "SETATTR"), 2);
    mount_stats_difference(&after, &before, &difference, &reset);
    assert_true(reset);
    assert_int_equal(difference.length, 2); /* nothing was added */
    mount_stats_free(&before);
    mount_stats_free(&after);
    free_counts(&difference);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_longest_and_last),
        cmocka_unit_test(describes_v3),
        cmocka_unit_test(names_what_the_wire_hides),
        cmocka_unit_test(refuses_what_is_no_mountinfo),
        cmocka_unit_test(options_by_name),
        cmocka_unit_test(counts_of_the_right_device),
        cmocka_unit_test(differences_and_resets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
