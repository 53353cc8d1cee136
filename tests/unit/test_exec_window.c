/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of one cell with three execs, its capture built by hand: which call
 * belongs to which exec is known by construction. */
#include "analysis/clock_steps.h"
#include "analysis/exec_window.h"
#include "analysis/figures.h"
#include "analysis/report.h"

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

/* --- a clock that is set, drops ---------------------------------------------- */

#define MS INT64_C(1000000)

/* A run of three cells of one exec each, one starting every 100 ms and 50 ms
 * long: at 100 ms, 200 ms, 300 ms of the monotonic clock. The wall clock is
 * moved by `by` at `at`. */
struct stepped {
    struct scene scene;
    struct run run;
    int64_t at, by;
    char nonces[3][2][32];
};

static int64_t
wall(const struct stepped *stepped, int64_t monotonic)
{
    return EPOCH + monotonic + (monotonic >= stepped->at ? stepped->by : 0);
}

static void
stepped_cell(struct stepped *stepped, size_t index)
{
    struct run_cell *cell = &stepped->run.cells[index];
    const int64_t start = (100 + 100 * (int64_t)index) * MS;
    const int64_t end = start + 50 * MS;

    cell->method = METHOD_SETATTR;
    cell->state = CELL_DONE;
    cell->repetition = (unsigned)index;
    cell->clock_before = (struct run_clock_pair){wall(stepped, start), start};
    cell->clock_after = (struct run_clock_pair){wall(stepped, end), end};
    cell->open_marker.nonce = strdup(stepped->nonces[index][0]);
    cell->open_marker.sent_monotonic_ns = start + MS;
    cell->open_marker.sent_realtime_ns = wall(stepped, start + MS);
    cell->close_marker.nonce = strdup(stepped->nonces[index][1]);
    cell->close_marker.sent_monotonic_ns = end - MS;
    cell->close_marker.sent_realtime_ns = wall(stepped, end - MS);
    cell->exec_count = 1;
    cell->execs = calloc(1, sizeof(*cell->execs));
    cell->execs[0].start_ns = cell->execs[0].exec_ns = start + 2 * MS;
    cell->execs[0].exit_ns = cell->execs[0].end_ns = end - 2 * MS;
}

/* A call of the kernel client, or of the test itself where there is a text:
 * stamped by the wall clock. */
static void
stepped_call(struct stepped *stepped, int64_t when, const char *text)
{
    struct scene *scene = &stepped->scene;

    scene->shift = stepped->scene.shift = wall(stepped, when) - EPOCH - when;
    if (text != NULL)
        marker(scene, when, text);
    else
        rpc(scene, when, GETATTR3, program_handle, 0);
}

/* Per cell index + 1 calls of its exec, and between the cells, where nothing
 * is an exec's, one. */
static void
make_stepped(struct stepped *stepped, int64_t at, int64_t by)
{
    struct run *run = &stepped->run;
    size_t i, j;

    memset(stepped, 0, sizeof *stepped);
    stepped->at = at;
    stepped->by = by;
    begin(&stepped->scene, 0, 0);
    make_run(&stepped->scene, run);
    for (i = 0; i < run->cell_count; i++) {
        free(run->cells[i].open_marker.nonce);
        free(run->cells[i].close_marker.nonce);
        free(run->cells[i].execs);
        run_counts_release(&run->cells[i].mountstats);
    }
    free(run->cells);
    run->cell_count = 3;
    run->cells = calloc(3, sizeof(*run->cells));
    for (i = 0; i < 3; i++) {
        const int64_t start = (100 + 100 * (int64_t)i) * MS;

        for (j = 0; j < 2; j++)
            snprintf(stepped->nonces[i][j], sizeof stepped->nonces[i][j],
                     "nfs-atime-test/a/%zu/%c", i, j == 0 ? 'o' : 'c');
        stepped_cell(stepped, i);
        stepped_call(stepped, start + MS, stepped->nonces[i][0]);
        for (j = 0; j <= i; j++)
            stepped_call(stepped, start + (5 + 15 * (int64_t)j) * MS, NULL);
        stepped_call(stepped, start + 49 * MS, stepped->nonces[i][1]);
        stepped_call(stepped, start + 75 * MS, NULL);
    }
    pcap_end(&stepped->scene.out);
    run->realtime_stepped =
        cell_clock_stepped(&run->cells[0]) ||
        clock_stepped_between(&run->cells[0].clock_before,
                              &run->cells[1].clock_after) ||
        clock_stepped_between(&run->cells[0].clock_before,
                              &run->cells[2].clock_after);
}

static bool
has_call_at(const struct run_traffic *traffic, int64_t when)
{
    size_t i;

    for (i = 0; i < traffic->rpc_count; i++)
        if (traffic->rpcs[i].call_ns == when)
            return true;
    return false;
}

static void
counts_survive_a_clock_that_is_set(void **state)
{
    static const int64_t when[] = {
        175 * MS - 1, /* between cells, before the call there */
        180 * MS,     /* after it */
        212 * MS,     /* in a cell */
    };
    /* Less and more than a cell, than the run; forward and back. */
    static const int64_t by[] = {30, -30, 100, -100, 3600000, -3600000};
    size_t i, j, k;

    (void)state;
    for (i = 0; i < sizeof when / sizeof when[0]; i++)
        for (j = 0; j < sizeof by / sizeof by[0]; j++) {
            struct run_traffic traffic;
            struct stepped stepped;
            char error[512] = "";

            make_stepped(&stepped, when[i], by[j] * MS);
            assert_true(stepped.run.realtime_stepped);
            assert_int_equal(run_traffic_read(&stepped.run, NULL, 0, &traffic,
                                              error, sizeof error), 0);
            for (k = 0; k < 3; k++)
                if (traffic.cells[k].rpcs != k + 1)
                    fail_msg("set by %d ms at %d ms: cell %zu has %u RPCs",
                             (int)by[j], (int)(when[i] / MS), k,
                             (unsigned)traffic.cells[k].rpcs);
            assert_int_equal(traffic.background_calls, 3);
            assert_int_equal(traffic.own_calls, 6);
            /* Where one of the two offsets is impossible, the other is used. */
            if (llabs(by[j]) >= 100) {
                assert_true(has_call_at(&traffic, 205 * MS));
                assert_true(has_call_at(&traffic, 220 * MS));
                assert_true(has_call_at(&traffic, 275 * MS));
            }
            /* Within the cell that it was set in, only there. */
            for (k = 0; k < 3; k++)
                assert_int_equal(cell_clock_stepped(&stepped.run.cells[k]),
                                 k == 1 && i == 2);
            run_traffic_free(&traffic);
            run_free(&stepped.run);
            unlink(stepped.scene.path);
        }
}

static void
slewing_is_no_step(void **state)
{
    const struct run_clock_pair first = {EPOCH, 0};
    /* adjtimex(2): 500 ppm for an hour are 1.8 s. */
    const struct run_clock_pair slewed = {
        EPOCH + 3600000 * MS + 1800 * MS, 3600000 * MS};
    const struct run_clock_pair set = {EPOCH + 3600000 * MS - 4000 * MS,
                                       3600000 * MS};
    const struct run_clock_pair unknown = {RUN_UNKNOWN_NS, 5};

    (void)state;
    assert_false(clock_stepped_between(&first, &slewed));
    assert_true(clock_stepped_between(&first, &set));
    assert_false(clock_stepped_between(&first, &unknown));
}

/* Two marks at 100 and 200 of the monotonic clock, and 50 in between. */
static void
calls_stay_between_their_marks(void **state)
{
    struct clock_mark marks[] = {{5, 250, 50}, {1, 100, 0}};

    (void)state;
    clock_marks_sort(marks, 2);
    assert_int_equal(clock_marks_place(marks, 2, 0, 70), 70);
    assert_int_equal(clock_marks_place(marks, 2, 1, 100), 100);
    assert_int_equal(clock_marks_place(marks, 2, 3, 130), 130);
    assert_int_equal(clock_marks_place(marks, 2, 3, 240), 190);
    assert_int_equal(clock_marks_place(marks, 2, 3, 1000), 199);
    assert_int_equal(clock_marks_place(marks, 2, 3, 10), 101);
    assert_int_equal(clock_marks_place(marks, 2, 5, 250), 200);
    assert_int_equal(clock_marks_place(marks, 2, 6, 300), 250);
}

static char *
text_report(const struct run *run, const struct run_traffic *traffic,
            struct figures *figures)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(figures_compute(run, traffic, 95.0, figures), 0);
    report_text(figures, out);
    fclose(out);
    return text;
}

static void
assert_says(const char *text, const char *words, bool wanted)
{
    if ((strstr(text, words) != NULL) != wanted)
        fail_msg("%s \"%s\":\n%s", wanted ? "no" : "there is", words, text);
}

static void
a_clock_that_is_set_is_told(void **state)
{
    static const int64_t when[] = {0, 180 * MS, 212 * MS};
    size_t i;

    (void)state;
    for (i = 0; i < 3; i++) {
        struct run_traffic traffic;
        struct stepped stepped;
        struct figures figures;
        char error[512], *text;

        make_stepped(&stepped, when[i], 500 * MS);
        assert_int_equal(run_traffic_read(&stepped.run, NULL, 0, &traffic,
                                          error, sizeof error), 0);
        text = text_report(&stepped.run, &traffic, &figures);
        assert_says(text, "the wall clock was set during the run", i > 0);
        assert_says(text, "set within nfs3 setattr, repetition 2", i == 2);
        assert_says(text, "set within nfs3 setattr, repetition 1", false);
        free(text);
        figures_free(&figures);
        run_traffic_free(&traffic);
        run_free(&stepped.run);
        unlink(stepped.scene.path);
    }
}

/* The kernel dropped packets in the second of three cells: what is counted
 * there is a lower bound, and the report says where; the others are not
 * touched. */
static void
drops_belong_to_their_cell(void **state)
{
    struct run_traffic traffic;
    struct stepped stepped;
    struct figures figures;
    char error[512], *text;
    size_t i;

    (void)state;
    make_stepped(&stepped, 0, 0);
    for (i = 0; i < 3; i++) {
        stepped.run.cells[i].drops.known = true;
        stepped.run.cells[i].drops.received = 20;
    }
    stepped.run.captures[0].interface = strdup("eth7");
    assert_int_equal(run_traffic_read(&stepped.run, NULL, 0, &traffic, error,
                                      sizeof error), 0);
    text = text_report(&stepped.run, &traffic, &figures);
    assert_int_equal(figures_group(&figures, 0, METHOD_SETATTR)->cells_lossy,
                     0);
    assert_true(figures.counts_complete);
    assert_says(text, ">=", false);
    assert_says(text, "eth7: 30 packets, 0 dropped, nothing lost", true);
    free(text);
    figures_free(&figures);
    run_traffic_free(&traffic);

    stepped.run.cells[1].drops.kernel = 15;
    stepped.run.captures[0].dropped = 15;
    stepped.run.captures[0].interface_dropped = 3;
    assert_int_equal(run_traffic_read(&stepped.run, NULL, 0, &traffic, error,
                                      sizeof error), 0);
    for (i = 0; i < 3; i++)
        assert_int_equal(traffic.cells[i].lossy, i == 1);
    text = text_report(&stepped.run, &traffic, &figures);
    assert_int_equal(figures_group(&figures, 0, METHOD_SETATTR)->cells_lossy,
                     1);
    assert_false(figures.counts_complete);
    assert_says(text, ">=2.000", true); /* 1 + 2 + 3 in 3 execs */
    assert_says(text,
                "nfs3 setattr, repetition 2: the kernel dropped 15 packets",
                true);
    assert_says(text, "setattr, repetition 1:", false);
    assert_says(text, "setattr, repetition 3:", false);
    assert_says(text, "15 dropped, 3 more by the interface, ", true);
    free(text);
    figures_free(&figures);
    run_traffic_free(&traffic);
    run_free(&stepped.run);
    unlink(stepped.scene.path);
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
        cmocka_unit_test(counts_survive_a_clock_that_is_set),
        cmocka_unit_test(slewing_is_no_step),
        cmocka_unit_test(calls_stay_between_their_marks),
        cmocka_unit_test(a_clock_that_is_set_is_told),
        cmocka_unit_test(drops_belong_to_their_cell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
