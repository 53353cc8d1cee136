/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Our NFS client against nfs-ganesha, by client_probe.sh. What must come out
 * is what stat(2) and touch(1) say of the exported file, without NFS.
 */
#include "client/nfs_probe.h"
#include "client/util.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define FILE_PATH "/mnt/export/a directory/program"
#define REST "/a directory/program"

static struct nfs_probe *
open_probe(unsigned version, unsigned mount_port)
{
    const struct nfs_probe_options options = {.address = "127.0.0.1",
                                              .port = 2049,
                                              .version = version,
                                              .mount_port = mount_port};
    struct nfs_probe *probe = NULL;
    char error[512] = "";

    if (nfs_probe_open(&probe, &options, error, sizeof(error)) != 0)
        fail_msg("%s", error);
    return probe;
}

static void
check_attributes(unsigned version, unsigned mount_port)
{
    struct nfs_probe *probe = open_probe(version, mount_port);
    char error[512] = "";
    struct run_attr attr;
    struct stat status;

    assert_int_equal(stat(FILE_PATH, &status), 0);
    if (nfs_probe_find(probe, "/mnt/export", REST, error, sizeof(error)) != 0)
        fail_msg("%s", error);
    assert_non_null(nfs_probe_handle(probe));
    assert_true(strlen(nfs_probe_handle(probe)) >= 8);
    for (int i = 0; i < 3; i++) {
        if (nfs_probe_getattr(probe, &attr, error, sizeof(error)) != 0)
            fail_msg("%s", error);
        /* 2001-02-03 04:05:06 and 2002-03-04 05:06:07 UTC by date(1) */
        assert_true(attr.atime_ns == INT64_C(981173106123456789));
        assert_true(attr.mtime_ns == INT64_C(1015218367987654321));
        assert_true(attr.ctime_ns ==
                    status.st_ctim.tv_sec * INT64_C(1000000000) +
                        status.st_ctim.tv_nsec);
        assert_int_equal(attr.change_known, version == 4);
    }
    nfs_probe_close(probe);
}

static void
v3_attributes_by_mountport(void **state)
{
    (void)state;
    check_attributes(3, 20048);
}

static void
v3_attributes_by_rpcbind(void **state)
{
    (void)state;
    check_attributes(3, 0);
}

static void
v4_attributes(void **state)
{
    (void)state;
    check_attributes(4, 0);
}

static void
v4_minor_version_is_the_servers(void **state)
{
    struct nfs_probe *probe = open_probe(4, 0);
    const char *minors = getenv("PROBE_MINORS");
    char error[512] = "";

    (void)state;
    assert_non_null(minors);
    assert_int_equal(nfs_probe_find(probe, "/mnt/export", REST, error,
                                    sizeof(error)),
                     0);
    assert_int_equal(nfs_probe_minor_version(probe), minors[0] - '0');
    nfs_probe_close(probe);
}

static void
missing_file_is_named(void **state)
{
    (void)state;
    for (unsigned version = 3; version <= 4; version++) {
        struct nfs_probe *probe = open_probe(version, 20048);
        char error[512] = "";
        struct run_attr attr;

        assert_int_equal(nfs_probe_find(probe, "/mnt/export", "/none", error,
                                        sizeof(error)),
                         -1);
        assert_non_null(strstr(error, "none"));
        assert_non_null(strstr(error, "NOENT"));
        assert_int_equal(
            nfs_probe_getattr(probe, &attr, error, sizeof(error)), -1);
        assert_true(attr.atime_ns == RUN_UNKNOWN_NS);
        nfs_probe_close(probe);
    }
}

static void
ping_and_marker(void **state)
{
    struct nfs_probe *probe = open_probe(3, 20048);
    struct run_marker marker = {0};
    struct run_counts ports = {0};
    char error[512] = "";

    (void)state;
    for (int i = 0; i < 10; i++)
        assert_true(nfs_probe_ping(probe, error, sizeof(error)) > 0);
    assert_int_equal(nfs_probe_marker(probe, RUN_MARKER_PREFIX "0/1/o",
                                      &marker, error, sizeof(error)),
                     0);
    assert_string_equal(marker.nonce, RUN_MARKER_PREFIX "0/1/o");
    assert_true(marker.back_monotonic_ns > marker.sent_monotonic_ns);
    nfs_probe_own_ports(probe, &ports);
    assert_int_equal(ports.length, 1);
    assert_memory_equal(ports.items[0].name, "127.0.0.1:", 10);
    assert_true(atoi(ports.items[0].name + 10) < 1024); /* as root */
    free(ports.items[0].name);
    free(ports.items);
    free(marker.nonce);
    nfs_probe_close(probe);
}

static void
nobody_answers(void **state)
{
    const struct nfs_probe_options options = {
        .address = "127.0.0.1", .port = 2050, .version = 3};
    struct nfs_probe *probe = NULL;
    char error[512] = "";

    (void)state;
    assert_int_equal(nfs_probe_open(&probe, &options, error, sizeof(error)),
                     -1);
    assert_non_null(strstr(error, "127.0.0.1 port 2050"));
    assert_null(probe);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v3_attributes_by_mountport),
        cmocka_unit_test(v3_attributes_by_rpcbind),
        cmocka_unit_test(v4_attributes),
        cmocka_unit_test(v4_minor_version_is_the_servers),
        cmocka_unit_test(missing_file_is_named),
        cmocka_unit_test(ping_and_marker),
        cmocka_unit_test(nobody_answers),
    };

    if (getenv("PROBE_MINORS") == NULL)
        return 77;
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
