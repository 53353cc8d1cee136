/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/run_file.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A run with something in every kind of field. */
static void
make_run(struct run *run)
{
    struct run_cell *cell;

    memset(run, 0, sizeof *run);
    run->id = strdup("2026-01-02T03:04:05Z-host");
    run->kernel = strdup("6.1.0");
    run->hostname = strdup("bad \xff name");
    run->clock = strdup("CLOCK_MONOTONIC");
    run->clock_resolution_ns = 1;
    run->state = RUN_INTERRUPTED;
    run->state_reason = strdup("signal 2 (Interrupt)");
    run->seed = 7;
    run->execs = 3;
    run->repetitions = 1;
    run->filesystem_count = 1;
    run->filesystems = calloc(1, sizeof(*run->filesystems));
    run->filesystems[0].label = strdup("nfs3");
    run->filesystems[0].kind = FILESYSTEM_NFS;
    run->filesystems[0].wire_shows_all = true;
    run->filesystems[0].port = 2049;
    run->filesystems[0].ping_ns = calloc(2, sizeof(int64_t));
    run->filesystems[0].ping_ns[0] = 250000;
    run->filesystems[0].ping_ns[1] = 260000;
    run->filesystems[0].ping_count = 2;
    run->filesystems[0].idle_start_realtime_ns = RUN_UNKNOWN_NS;
    run->filesystems[0].idle_end_realtime_ns = 5;
    run->cell_count = 1;
    run->cells = calloc(1, sizeof(*run->cells));
    cell = &run->cells[0];
    cell->method = METHOD_DIRECT_READ;
    cell->state = CELL_INTERRUPTED;
    cell->server_before.atime_ns = INT64_C(1893456000123456789);
    cell->server_before.mtime_ns = RUN_UNKNOWN_NS;
    cell->server_before.ctime_ns = 0;
    cell->server_before.change_known = true;
    cell->server_before.change = UINT64_C(0xfedcba9876543210);
    cell->open_marker.nonce = strdup("nfs-atime-test/0/0/o");
    cell->open_marker.sent_realtime_ns = 12;
    cell->user_ns = -1;
    run_counts_add(&cell->method_errors, "EPERM", 2);
    run_counts_add(&cell->method_errors, "EROFS", 1);
    run_counts_add(&cell->method_errors, "EPERM", 3);
    cell->exec_count = 2;
    cell->execs = calloc(2, sizeof(*cell->execs));
    cell->execs[0].start_ns = 100;
    cell->execs[0].exec_ns = 150;
    cell->execs[0].exit_ns = 180;
    cell->execs[0].end_ns = 190;
    cell->execs[1].start_ns = 200;
    cell->execs[1].exec_ns = RUN_UNKNOWN_NS;
    cell->execs[1].exec_errno = 2;
    cell->execs[1].wait_status = 32512;
    cell->execs[1].exit_ns = 220;
    cell->execs[1].end_ns = 230;
}

static char *
temporary_directory(void)
{
    char *directory = strdup("/tmp/nat-test-XXXXXX");

    assert_non_null(mkdtemp(directory));
    return directory;
}

static void
what_is_written_is_read(void **state)
{
    char error[512], *directory = temporary_directory(), path[128];
    struct run out, in;

    (void)state;
    make_run(&out);
    assert_int_equal(run_write(&out, directory, error, sizeof error), 0);
    assert_int_equal(run_read(directory, &in, error, sizeof error), 0);
    assert_string_equal(in.directory, directory);
    assert_string_equal(in.id, out.id);
    assert_string_equal(in.hostname, "bad ? name");
    assert_null(in.bench);
    assert_int_equal(in.state, RUN_INTERRUPTED);
    assert_string_equal(in.state_reason, "signal 2 (Interrupt)");
    assert_int_equal(in.filesystems[0].ping_ns[1], 260000);
    assert_true(in.filesystems[0].idle_start_realtime_ns == RUN_UNKNOWN_NS);
    assert_true(in.filesystems[0].idle_end_realtime_ns == 5);
    assert_true(in.filesystems[0].wire_shows_all);
    assert_int_equal(in.cells[0].method, METHOD_DIRECT_READ);
    assert_true(in.cells[0].server_before.atime_ns ==
                INT64_C(1893456000123456789));
    assert_true(in.cells[0].server_before.mtime_ns == RUN_UNKNOWN_NS);
    assert_true(in.cells[0].server_before.ctime_ns == 0);
    assert_true(in.cells[0].server_before.change ==
                UINT64_C(0xfedcba9876543210));
    assert_true(in.cells[0].user_ns == -1);
    assert_int_equal(in.cells[0].method_errors.length, 2);
    assert_string_equal(in.cells[0].method_errors.items[0].name, "EPERM");
    assert_int_equal(in.cells[0].method_errors.items[0].count, 5);
    assert_int_equal(in.cells[0].exec_count, 2);
    assert_true(in.cells[0].execs[1].exec_ns == RUN_UNKNOWN_NS);
    assert_int_equal(in.cells[0].execs[1].exec_errno, 2);
    assert_int_equal(in.cells[0].execs[1].wait_status, 32512);
    assert_string_equal(in.cells[0].open_marker.nonce, "nfs-atime-test/0/0/o");
    run_free(&in);
    run_free(&out);
    snprintf(path, sizeof path, "%s/run.json", directory);
    unlink(path);
    rmdir(directory);
    free(directory);
}

static void
a_missing_directory_is_named(void **state)
{
    char error[512];
    struct run run;

    (void)state;
    make_run(&run);
    assert_int_equal(run_write(&run, "/nonexistent-directory", error,
                               sizeof error), -1);
    assert_non_null(strstr(error, "/nonexistent-directory/run.json"));
    run_free(&run);
}

#define HEAD                                                                   \
    "{\"schema\":\"nfs-atime-test.run/1\",\"id\":\"x\",\"execs\":1,"           \
    "\"repetitions\":1,\"state\":\"complete\","

static void
damage_is_named_with_its_place(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "not JSON"},
        {"{\"schema\":", "line 1"},
        {"[]", "\"schema\""},
        {"{\"schema\":\"nfs-atime-test.run/2\"}", "nfs-atime-test.run/1"},
        {"{\"schema\":\"nfs-atime-test.run/1\"}", "id: missing"},
        {HEAD "\"execs\":2}", "duplicate"},
        {HEAD "\"seed\":\"1\"}", "seed: not an integer"},
        {HEAD "\"seed\":-1}", "seed: out of range"},
        {HEAD "\"cells\":{}}", "cells: not a list"},
        {HEAD "\"cells\":[{\"repetition\":0}]}", "cells[0].filesystem"},
        {HEAD "\"filesystems\":[{\"label\":\"a\",\"kind\":\"nfs\"}],"
              "\"cells\":[{\"repetition\":0,\"filesystem\":\"a\","
              "\"method\":\"gaze\",\"state\":\"done\"}]}",
         "cells[0].method: a name that is not known"},
        {HEAD "\"filesystems\":[{\"label\":\"a\",\"kind\":\"nfs\"}],"
              "\"cells\":[{\"repetition\":0,\"filesystem\":\"a\","
              "\"method\":\"none\",\"state\":\"done\","
              "\"execs\":{\"start_ns\":[1,2],\"exec_ns\":[1]}}]}",
         "cells[0].exec_ns: not as long"},
        {HEAD "\"filesystems\":[{\"label\":7,\"kind\":\"nfs\"}]}",
         "filesystems[0].label: not a string"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[512] = "";
        struct run run;

        assert_int_equal(run_parse(cases[i].text, strlen(cases[i].text),
                                   "some.json", &run, error, sizeof error),
                         -1);
        if (strstr(error, cases[i].says) == NULL ||
            strstr(error, "some.json") == NULL)
            fail_msg("case %zu says: %s", i, error);
    }
}

static void
every_prefix_is_refused(void **state)
{
    char error[512], *directory = temporary_directory(), path[128];
    static char text[65536];
    struct run run;
    size_t length, i;
    FILE *file;

    (void)state;
    make_run(&run);
    assert_int_equal(run_write(&run, directory, error, sizeof error), 0);
    run_free(&run);
    snprintf(path, sizeof path, "%s/run.json", directory);
    file = fopen(path, "r");
    assert_non_null(file);
    length = fread(text, 1, sizeof text, file);
    fclose(file);
    for (i = 0; i + 2 < length; i++)
        assert_int_equal(run_parse(text, i, "cut", &run, error, sizeof error),
                         -1);
    assert_int_equal(run_parse(text, length, "whole", &run, error,
                               sizeof error), 0);
    run_free(&run);
    unlink(path);
    rmdir(directory);
    free(directory);
}

static void
unknown_keys_are_passed_over(void **state)
{
    const char *text = HEAD "\"colour\":{\"deep\":[1]}}";
    char error[512];
    struct run run;

    (void)state;
    assert_int_equal(run_parse(text, strlen(text), "x", &run, error,
                               sizeof error), 0);
    assert_int_equal(run.execs, 1);
    run_free(&run);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_missing_directory_is_named),
        cmocka_unit_test(damage_is_named_with_its_place),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(unknown_keys_are_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
