/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of one cell with three execs, its capture built by hand: which call
 * belongs to which exec is known by construction. */
#include "analysis/exec_window.h"
#include "analysis/figures.h"

#include "tests/support/pcap_builder.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define US INT64_C(1000)
#define EPOCH INT64_C(1700000000000000000) /* realtime of monotonic 0 */

enum { GETATTR3 = 1, SETATTR3 = 2, ACCESS3 = 4 };

static const uint8_t program_handle[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint8_t other_handle[8] = {9, 9, 9, 9, 9, 9, 9, 9};

struct scene {
    char path[64];
    struct pcap_out out;
    uint32_t xid;
    /* the capture's clock: capture = EPOCH + shift + (1 + drift) * monotonic */
    int64_t shift;
    double drift;
};

static int64_t
capture_time(const struct scene *scene, int64_t monotonic_ns)
{
    return EPOCH + scene->shift + monotonic_ns +
           (int64_t)(scene->drift * (double)monotonic_ns);
}

static void
begin(struct scene *scene, int64_t shift, double drift)
{
    memset(scene, 0, sizeof *scene);
    snprintf(scene->path, sizeof scene->path, "/tmp/nat-window-%d.pcap",
             (int)getpid());
    scene->shift = shift;
    scene->drift = drift;
    scene->xid = 77;
    pcap_begin(&scene->out, scene->path);
}

/* A call at `when` by the kernel client, answered 200 us later. */
static void
rpc(struct scene *scene, int64_t when, uint32_t procedure,
    const uint8_t *handle, uint32_t status)
{
    struct bytes call = {.length = 0}, reply = {.length = 0};

    scene->xid++;
    put_call(&call, scene->xid, 100003, 3, procedure, "client", 0);
    put_opaque(&call, handle, 8);
    if (procedure == ACCESS3)
        put_u32(&call, 0x21);
    if (procedure == SETATTR3) {
        uint32_t i;

        for (i = 0; i < 4; i++) /* mode, uid, gid, size not set */
            put_u32(&call, 0);
        put_u32(&call, 1); /* atime: SET_TO_SERVER_TIME */
        put_u32(&call, 0); /* mtime: DONT_CHANGE */
        put_u32(&call, 0); /* no guard */
    }
    put_reply(&reply, scene->xid);
    put_u32(&reply, status);
    if (procedure == GETATTR3 && status == 0) {
        put_fattr3(&reply, 5, 632, EPOCH, EPOCH, EPOCH);
    } else if (procedure == ACCESS3) {
        put_u32(&reply, 0);
        put_u32(&reply, 0x21);
    } else {
        put_u32(&reply, 0); /* wcc: no before */
        put_u32(&reply, 0); /* no after */
    }
    pcap_tcp(&scene->out, capture_time(scene, when), 0, 800, &call);
    pcap_tcp(&scene->out, capture_time(scene, when + 200 * US), 1, 800,
             &reply);
}

static void
marker(struct scene *scene, int64_t when, const char *text)
{
    struct bytes call = {.length = 0}, reply = {.length = 0};

    scene->xid++;
    put_call(&call, scene->xid, 100003, 3, 0, text, 0);
    put_reply(&reply, scene->xid);
    pcap_udp(&scene->out, capture_time(scene, when), 0, 900, &call);
    pcap_udp(&scene->out, capture_time(scene, when + 100 * US), 1, 900,
             &reply);
}

static void
traffic_of_three_execs(struct scene *scene)
{
    rpc(scene, 500 * US, GETATTR3, other_handle, 0); /* before the cell */
    marker(scene, 1000 * US, "nfs-atime-test/a/0/o");
    rpc(scene, 1400 * US, GETATTR3, other_handle, 0); /* before exec 0 */
    rpc(scene, 2000 * US, ACCESS3, program_handle, 0); /* at its very start */
    rpc(scene, 2300 * US, GETATTR3, program_handle, 0);
    rpc(scene, 3100 * US, GETATTR3, program_handle, 0);
    rpc(scene, 3500 * US, SETATTR3, program_handle, 13); /* NFS3ERR_ACCES */
    rpc(scene, 4100 * US, GETATTR3, program_handle, 0);
    rpc(scene, 4950 * US, SETATTR3, program_handle, 0); /* after its end */
    marker(scene, 6000 * US, "nfs-atime-test/a/0/c");
    rpc(scene, 7000 * US, GETATTR3, program_handle, 0); /* after the cell */
    pcap_end(&scene->out);
}

static void
make_run(const struct scene *scene, struct run *run)
{
    struct run_cell *cell;
    size_t i;

    memset(run, 0, sizeof *run);
    run->id = strdup("test");
    run->state = RUN_COMPLETE;
    run->execs = 3;
    run->repetitions = 1;
    run->directory = strdup("/tmp");
    run->filesystem_count = 1;
    run->filesystems = calloc(1, sizeof(*run->filesystems));
    run->filesystems[0].label = strdup("nfs3");
    run->filesystems[0].kind = FILESYSTEM_NFS;
    run->filesystems[0].version = strdup("3");
    run->filesystems[0].port = 2049;
    run->filesystems[0].wire_shows_all = true;
    run->filesystems[0].handle_hex = strdup("0102030405060708");
    run->filesystems[0].idle_start_realtime_ns = RUN_UNKNOWN_NS;
    run->filesystems[0].idle_end_realtime_ns = RUN_UNKNOWN_NS;
    run->capture_count = 1;
    run->captures = calloc(1, sizeof(*run->captures));
    run->captures[0].path = strdup(scene->path);
    run->captures[0].complete = true;
    run->cell_count = 1;
    run->cells = calloc(1, sizeof(*run->cells));
    cell = &run->cells[0];
    cell->method = METHOD_SETATTR;
    cell->state = CELL_DONE;
    cell->clock_before.monotonic_ns = 900 * US;
    cell->clock_before.realtime_ns = EPOCH + 900 * US;
    cell->clock_after.monotonic_ns = 6200 * US;
    cell->clock_after.realtime_ns = EPOCH + 6200 * US;
    cell->open_marker.nonce = strdup("nfs-atime-test/a/0/o");
    cell->open_marker.sent_monotonic_ns = 1000 * US;
    cell->close_marker.nonce = strdup("nfs-atime-test/a/0/c");
    cell->close_marker.sent_monotonic_ns = 6000 * US;
    cell->exec_count = 3;
    cell->execs = calloc(3, sizeof(*cell->execs));
    for (i = 0; i < 3; i++) {
        cell->execs[i].start_ns = (2000 + 1000 * (int64_t)i) * US;
        cell->execs[i].exec_ns = cell->execs[i].start_ns + 400 * US;
        cell->execs[i].exit_ns = cell->execs[i].start_ns + 450 * US;
        cell->execs[i].end_ns = cell->execs[i].start_ns + 900 * US;
    }
    run_counts_add(&cell->mountstats, "GETATTR", 4);
    run_counts_add(&cell->mountstats, "ACCESS", 1);
    run_counts_add(&cell->mountstats, "SETATTR", 2);
    run_counts_add(&cell->mountstats, "READ", 0);
    cell->mountstats_known = true;
}

static unsigned
calls_of_exec(const struct run_traffic *traffic, uint32_t exec,
              const char *name)
{
    unsigned count = 0;
    size_t i;

    for (i = 0; i < traffic->rpc_count; i++)
        count += traffic->rpcs[i].cell == 0 && traffic->rpcs[i].exec == exec &&
                 traffic->rpcs[i].owner == OWNER_EXEC &&
                 strcmp(window_rpc_name(&traffic->rpcs[i]), name) == 0;
    return count;
}

static void
check_windows(const struct run_traffic *traffic)
{
    const struct cell_traffic *cell = &traffic->cells[0];

    assert_int_equal(calls_of_exec(traffic, 0, "ACCESS"), 1);
    assert_int_equal(calls_of_exec(traffic, 0, "GETATTR"), 1);
    assert_int_equal(calls_of_exec(traffic, 0, "SETATTR"), 0);
    assert_int_equal(calls_of_exec(traffic, 1, "GETATTR"), 1);
    assert_int_equal(calls_of_exec(traffic, 1, "SETATTR"), 1);
    assert_int_equal(calls_of_exec(traffic, 2, "GETATTR"), 1);
    assert_int_equal(calls_of_exec(traffic, 2, "SETATTR"), 1);
    assert_int_equal(cell->rpcs, 7);
    assert_int_equal(run_counts_get(&cell->calls, "GETATTR"), 4);
    assert_int_equal(run_counts_get(&cell->errors, "SETATTR NFS3ERR_ACCES"),
                     1);
    assert_true(cell->marked);
    assert_false(cell->lossy);
    assert_int_equal(traffic->own_calls, 2);
    assert_int_equal(traffic->background_calls, 2);
}

static void
each_call_finds_its_exec(void **state)
{
    struct run_traffic traffic;
    struct scene scene;
    struct run run;
    char error[512] = "", text[256];
    size_t i, on_program = 0;

    (void)state;
    begin(&scene, 0, 0);
    traffic_of_three_execs(&scene);
    make_run(&scene, &run);
    assert_int_equal(run_traffic_read(&run, NULL, 0, &traffic, error,
                                      sizeof error), 0);
    check_windows(&traffic);
    for (i = 0; i < traffic.rpc_count; i++)
        on_program += traffic.rpcs[i].on_program;
    assert_int_equal(on_program, 7);
    assert_true(mountstats_agree(&run, &run.cells[0], &traffic.cells[0], text,
                                 sizeof text));
    run_counts_add(&run.cells[0].mountstats, "ACCESS", 3);
    assert_false(mountstats_agree(&run, &run.cells[0], &traffic.cells[0],
                                  text, sizeof text));
    assert_string_equal(text, "ACCESS wire 1, mountstats 4");
    run_traffic_free(&traffic);
    run_free(&run);
    unlink(scene.path);
}

/* 37 s ahead and 50 ppm fast, as from another machine. */
static void
a_foreign_clock_is_fitted_by_the_markers(void **state)
{
    struct run_traffic traffic;
    struct scene scene;
    struct run run;
    char error[512] = "";
    const char *paths[1];

    (void)state;
    begin(&scene, INT64_C(37000000000), 50e-6);
    traffic_of_three_execs(&scene);
    make_run(&scene, &run);
    paths[0] = scene.path;
    assert_int_equal(run_traffic_read(&run, paths, 1, &traffic, error,
                                      sizeof error), 0);
    check_windows(&traffic);
    assert_true(traffic.clock_from_markers);
    assert_true(traffic.clock_drift > 49e-6 && traffic.clock_drift < 51e-6);
    run_traffic_free(&traffic);
    run_free(&run);
    unlink(scene.path);
}

static void
a_capture_without_markers_is_refused(void **state)
{
    struct run_traffic traffic;
    struct scene scene;
    struct run run;
    char error[512] = "";
    const char *paths[1];

    (void)state;
    begin(&scene, 0, 0);
    rpc(&scene, 2000 * US, GETATTR3, program_handle, 0);
    pcap_end(&scene.out);
    make_run(&scene, &run);
    paths[0] = scene.path;
    assert_int_equal(run_traffic_read(&run, paths, 1, &traffic, error,
                                      sizeof error), -1);
    assert_non_null(strstr(error, "markers"));
    run_traffic_free(&traffic);
    run_free(&run);
    unlink(scene.path);
}

/* 3 execs in 2.9 ms, 2 SETATTR, 4 GETATTR: by hand. */
static void
figures_are_per_exec(void **state)
{
    struct run_traffic traffic;
    const struct group_figures *group;
    struct figures figures;
    struct scene scene;
    struct run run;
    char error[512] = "";

    (void)state;
    begin(&scene, 0, 0);
    traffic_of_three_execs(&scene);
    make_run(&scene, &run);
    assert_int_equal(run_traffic_read(&run, NULL, 0, &traffic, error,
                                      sizeof error), 0);
    assert_int_equal(figures_compute(&run, &traffic, 95.0, &figures), 0);
    group = figures_group(&figures, 0, METHOD_SETATTR);
    assert_non_null(group);
    assert_true(group->mean.value > 966.66 && group->mean.value < 966.67);
    assert_false(group->mean.has_half); /* one repetition has no interval */
    assert_true(group_per_exec(group, "SETATTR", false) == 2.0 / 3.0);
    assert_true(group_per_exec(group, "GETATTR", true) == 4.0 / 3.0);
    assert_int_equal(figures.cells_agree, 1);
    assert_null(figures_group(&figures, 0, METHOD_NONE));
    assert_int_equal(group->over_none.verdict, STAT_UNTESTABLE);
    figures_free(&figures);
    run_traffic_free(&traffic);
    run_free(&run);
    unlink(scene.path);
}

/* RFC 8881 16.2 numbers: SEQUENCE 53, PUTFH 22, OPEN 18, GETFH 10, ACCESS 3,
 * GETATTR 9, SETATTR 34. */
static void
a_compound_is_named_by_its_main_operation(void **state)
{
    static const struct {
        uint32_t numbers[8], count, want;
    } cases[] = {
        {{53, 22, 9}, 3, 9},
        {{53, 22, 34, 9}, 4, 34},
        {{53, 22, 18, 10, 3, 9}, 6, 18},
        {{53, 22, 3, 9}, 4, 3},
        {{53}, 1, 53},
        {{22, 9, 3}, 3, 3},
        {{53, 24, 10, 9}, 4, 9},
    };
    size_t i, j;

    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rpc_operation operations[8];

        memset(operations, 0, sizeof operations);
        for (j = 0; j < cases[i].count; j++)
            operations[j].number = cases[i].numbers[j];
        assert_int_equal(compound_main_operation(operations, cases[i].count),
                         cases[i].want);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_finds_its_exec),
        cmocka_unit_test(a_foreign_clock_is_fitted_by_the_markers),
        cmocka_unit_test(a_capture_without_markers_is_refused),
        cmocka_unit_test(figures_are_per_exec),
        cmocka_unit_test(a_compound_is_named_by_its_main_operation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
