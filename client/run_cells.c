/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cells, one after the other.
 *
 * Theory of operation. What surrounds a cell must neither count as an exec's
 * nor change what the execs find. From the outside in:
 *
 *   one exec that is not recorded, so that the pages are there
 *   server's attributes, exported file's stat
 *     launcher opens what the method keeps open, stat by way of the mount
 *       clocks, mountstats, marker "open"
 *         the execs
 *       settling, marker "close", mountstats, clocks
 *     launcher closes, stat by way of the mount
 *   server's attributes, exported file's stat
 *
 * Settling: an NFSv4 CLOSE is sent when the last reference to the open file
 * goes, which can be after the exec'd process was reaped. So we wait a few
 * round trips, and then until the kernel's counters stand still.
 */
#include "client/test_run.h"

#include "analysis/clock_steps.h"
#include "client/plan.h"
#include "client/programs/embedded.h"
#include "client/progress.h"
#include "client/stop.h"
#include "client/util.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SAVE_EVERY_NS 10000000000
#define SETTLE_LEAST_NS 30000000
#define SETTLE_STEP_NS 20000000
#define SETTLE_MOST_NS 2000000000
/* An exec slower than this is not of a warm mount (a server in grace). */
#define WARM_NS 500000000
#define WARM_TRIES 30
/* The wall clock against the monotonic one: more than slewing does. */

static struct test_filesystem *
own_filesystem(struct test *test, const struct run_cell *cell)
{
    return &test->filesystems[cell->filesystem];
}

/* --- what surrounds the execs --------------------------------------------- */

static void
ask_server(struct test *test, size_t index, struct run_attr *attr)
{
    struct test_filesystem *own = &test->filesystems[index];
    struct run_filesystem *filesystem = &test->run.filesystems[index];

    run_attr_unknown(attr);
    if (own->probe == NULL || nfs_probe_handle(own->probe) == NULL)
        return;
    if (nfs_probe_getattr(own->probe, attr, test->error,
                          sizeof(test->error)) == 0 ||
        own->probe_warned)
        return;
    /* Replaced on the server, perhaps: find it again, once. */
    if (nfs_probe_find(own->probe, filesystem->server_path, own->server_rest,
                       test->error, sizeof(test->error)) == 0 &&
        nfs_probe_getattr(own->probe, attr, test->error,
                          sizeof(test->error)) == 0)
        return;
    own->probe_warned = true;
    run_warn(&test->run, "%s: the server did not tell the access time: %s",
             filesystem->mount_point, test->error);
}

static int64_t
timespec_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void
look_at_file(const char *path, struct run_attr *attr)
{
    struct stat status;

    run_attr_unknown(attr);
    if (path == NULL || stat(path, &status) != 0)
        return;
    attr->atime_ns = timespec_ns(status.st_atim);
    attr->mtime_ns = timespec_ns(status.st_mtim);
    attr->ctime_ns = timespec_ns(status.st_ctim);
}

void
test_true_times(struct test *test, size_t index, struct run_attr *attr)
{
    const struct run_filesystem *filesystem = &test->run.filesystems[index];

    if (filesystem->kind == FILESYSTEM_NFS)
        ask_server(test, index, attr);
    else
        look_at_file(filesystem->program_path, attr);
}

static void
read_stats(const struct run_filesystem *filesystem, struct mount_stats *stats)
{
    memset(stats, 0, sizeof(*stats));
    if (filesystem->kind == FILESYSTEM_NFS)
        mount_stats_read(filesystem->mount_point, stats);
}

static int64_t
shortest_ping(const struct run_filesystem *filesystem)
{
    int64_t least = filesystem->ping_count > 0 ? filesystem->ping_ns[0] : 0;

    for (size_t i = 1; i < filesystem->ping_count; i++)
        if (filesystem->ping_ns[i] < least)
            least = filesystem->ping_ns[i];
    return least;
}

static void
settle(const struct run_filesystem *filesystem)
{
    int64_t wait = 4 * shortest_ping(filesystem);
    int64_t end = monotonic_ns() + SETTLE_MOST_NS;
    uint64_t before, after = 0;
    struct mount_stats stats;

    if (filesystem->kind != FILESYSTEM_NFS)
        return;
    sleep_ns(wait > SETTLE_LEAST_NS ? wait : SETTLE_LEAST_NS);
    read_stats(filesystem, &stats);
    after = stats.transmissions;
    do {
        before = after;
        mount_stats_free(&stats);
        sleep_ns(SETTLE_STEP_NS);
        read_stats(filesystem, &stats);
        after = stats.transmissions;
    } while (before != after && monotonic_ns() < end);
    mount_stats_free(&stats);
}

static void
send_marker(struct test *test, struct run_cell *cell, char which,
            struct run_marker *marker)
{
    struct test_filesystem *own = own_filesystem(test, cell);
    char *nonce;

    if (own->probe == NULL)
        return;
    nonce = format_text(RUN_MARKER_PREFIX "%s/%zu/%c", test->nonce,
                        (size_t)(cell - test->run.cells), which);
    if (nfs_probe_marker(own->probe, nonce, marker, test->error,
                         sizeof(test->error)) != 0) {
        run_warn(&test->run, "marker %s: %s", nonce, test->error);
        test->incomplete = true;
    }
    free(nonce);
}

/* --- one cell ------------------------------------------------------------- */

static void
fill_order(const struct test *test, const struct run_cell *cell,
           struct launch_order *order)
{
    memset(order, 0, sizeof(*order));
    order->method = cell->method;
    order->spawn = test->options->spawn;
    order->execs = test->options->execs;
    order->interval_ns = test->options->interval_ns;
    order->program = test->run.filesystems[cell->filesystem].program_path;
    order->arguments = test->options->program_arguments;
    order->empty_environment =
        embedded_program(test->options->program) != NULL;
}

static void
keep_records(struct test *test, struct run_cell *cell,
             const struct launch_result *result)
{
    cell->user_ns = result->user_ns;
    cell->system_ns = result->system_ns;
    cell->minor_faults = result->minor_faults;
    cell->major_faults = result->major_faults;
    cell->exec_count = result->exec_count;
    cell->execs = need_memory(result->exec_count, sizeof(*cell->execs));
    memcpy(cell->execs, launcher_records(test->launcher),
           result->exec_count * sizeof(*cell->execs));
    for (size_t i = 0; i < cell->exec_count; i++) {
        const struct run_exec *exec = &cell->execs[i];

        if (exec->exec_errno != 0) {
            run_counts_add(&cell->exec_errors, errno_name(exec->exec_errno),
                           1);
            test->incomplete = true;
        }
        if (exec->method_errno != 0)
            run_counts_add(&cell->method_errors,
                           errno_name(exec->method_errno), 1);
    }
    cell->state = result->interrupted ? CELL_INTERRUPTED : CELL_DONE;
}

/* Between the markers. @return 0 or -1 with test->error. */
static int
run_execs(struct test *test, struct run_cell *cell)
{
    const struct run_filesystem *filesystem =
        &test->run.filesystems[cell->filesystem];
    struct mount_stats before, after;
    struct launch_result result;
    int status;

    read_stats(filesystem, &before);
    cell->clock_before = clock_pair();
    send_marker(test, cell, 'o', &cell->open_marker);
    cell->state = CELL_DONE;
    status = test->hooks != NULL
                 ? test->hooks->measure(test, cell)
                 : launcher_run(test->launcher, &result, test->error,
                                sizeof(test->error));
    if (status == 0) {
        settle(filesystem);
        send_marker(test, cell, 'c', &cell->close_marker);
        cell->clock_after = clock_pair();
        read_stats(filesystem, &after);
        cell->mountstats_known = before.known && after.known;
        if (cell->mountstats_known)
            mount_stats_difference(&before, &after, &cell->mountstats,
                                   &cell->mountstats_reset);
        if (cell->mountstats_known && !cell->mountstats_reset)
            mount_stats_bytes(&before, &after, &cell->mountstats_sent,
                              &cell->mountstats_received);
        mount_stats_free(&after);
        if (test->hooks == NULL)
            keep_records(test, cell, &result);
    }
    mount_stats_free(&before);
    return status;
}

static int
fail_cell(struct test *test, struct run_cell *cell)
{
    cell->state = stop_signal() != 0 ? CELL_INTERRUPTED : CELL_FAILED;
    free(cell->error);
    cell->error = copy_text(test->error);
    return -1;
}

/* The execs with what the launcher does before and after them. */
static int
run_order(struct test *test, struct run_cell *cell)
{
    struct launch_order order;

    if (test->hooks != NULL)
        return run_execs(test, cell);
    fill_order(test, cell, &order);
    if (launcher_prepare(test->launcher, &order, test->error,
                         sizeof(test->error)) != 0 ||
        launcher_stat(test->launcher, &cell->client_before, test->error,
                      sizeof(test->error)) != 0 ||
        run_execs(test, cell) != 0 ||
        launcher_finish(test->launcher, test->error, sizeof(test->error)) !=
            0 ||
        launcher_stat(test->launcher, &cell->client_after, test->error,
                      sizeof(test->error)) != 0)
        return -1;
    return 0;
}

/*
 * One exec that is not recorded, so that no cell pays for the one before it: a
 * SETATTR there changed the file's ctime, and the next exec reads the program
 * again, which moves the access time, too.
 */
static int
freshen(struct test *test, const struct run_cell *cell)
{
    struct run_cell none = {.filesystem = cell->filesystem,
                            .method = METHOD_NONE};
    struct launch_order order;
    struct launch_result result;

    if (test->hooks != NULL || test->options->warmup == 0)
        return 0;
    fill_order(test, &none, &order);
    order.execs = 1;
    order.interval_ns = 0;
    if (launcher_prepare(test->launcher, &order, test->error,
                         sizeof(test->error)) != 0 ||
        launcher_run(test->launcher, &result, test->error,
                     sizeof(test->error)) != 0 ||
        launcher_finish(test->launcher, test->error, sizeof(test->error)) != 0)
        return -1;
    settle(&test->run.filesystems[cell->filesystem]);
    return 0;
}

static int
run_cell(struct test *test, struct run_cell *cell)
{
    struct test_filesystem *own = own_filesystem(test, cell);

    if (freshen(test, cell) != 0)
        return fail_cell(test, cell);
    ask_server(test, cell->filesystem, &cell->server_before);
    look_at_file(own->export_program, &cell->export_before);
    if (run_order(test, cell) != 0)
        return fail_cell(test, cell);
    ask_server(test, cell->filesystem, &cell->server_after);
    look_at_file(own->export_program, &cell->export_after);
    if (capture_confirm(test, own, &cell->open_marker) != 0 ||
        capture_confirm(test, own, &cell->close_marker) != 0) {
        cell->error = copy_text(test->error);
        return -1;
    }
    capture_take_drops(test, own, &cell->drops);
    return 0;
}

/* --- before the cells ----------------------------------------------------- */

/* Why the first exec failed, in words that help. */
static int
cannot_exec(struct test *test, const struct run_filesystem *filesystem,
            int number)
{
    return set_error(test->error, sizeof(test->error), "%s: exec failed: %s%s",
                     filesystem->program_path, strerror(number),
                     number == ENOENT
                         ? " (or its interpreter is missing: a dynamic program "
                           "needs its loader)"
                     : number == EACCES
                         ? " (noexec, or no permission to execute)"
                         : "");
}

/* Execs that are not recorded, until they are quick; the first one of a mount
 * may wait for a server's grace period to end. */
static int
warm_up(struct test *test, size_t index)
{
    const struct run_filesystem *filesystem = &test->run.filesystems[index];
    struct run_cell cell = {.filesystem = (unsigned)index,
                            .method = METHOD_NONE};
    struct launch_order order;
    struct launch_result result;

    if (test->options->warmup == 0)
        return 0;
    fill_order(test, &cell, &order);
    order.execs = test->options->warmup;
    order.interval_ns = 0;
    for (int i = 0; i < WARM_TRIES && stop_signal() == 0; i++) {
        const struct run_exec *last;

        progress_show("%s: warming up", filesystem->label);
        if (launcher_prepare(test->launcher, &order, test->error,
                             sizeof(test->error)) != 0 ||
            launcher_run(test->launcher, &result, test->error,
                         sizeof(test->error)) != 0 ||
            launcher_finish(test->launcher, test->error,
                            sizeof(test->error)) != 0)
            return -1;
        if (result.exec_count == 0)
            break;
        last = launcher_records(test->launcher) + result.exec_count - 1;
        /* With --as, a refusal is what is being measured. */
        if (last->exec_errno != 0)
            return test->options->as_user != NULL
                       ? 0
                       : cannot_exec(test, filesystem, last->exec_errno);
        if (last->exit_ns - last->start_ns < WARM_NS)
            break;
    }
    settle(filesystem);
    return 0;
}

static int
warm_up_filesystem(struct test *test, size_t index)
{
    if (test->hooks == NULL || test->hooks->execs)
        return warm_up(test, index);
    if (test->hooks->warm_up != NULL && test->hooks->warm_up(test, index) != 0)
        return -1;
    settle(&test->run.filesystems[index]);
    return 0;
}

static void
listen_to_background(struct test *test)
{
    int64_t start, wait = test->options->idle_ns;

    if (test->capture_count == 0 || wait == 0 || stop_signal() != 0)
        return;
    progress_show("listening to the background");
    start = realtime_ns();
    stop_sleep_ms((int)(wait / 1000000));
    for (size_t i = 0; i < test->run.filesystem_count; i++) {
        if (test->filesystems[i].capture == NULL)
            continue;
        test->run.filesystems[i].idle_start_realtime_ns = start;
        test->run.filesystems[i].idle_end_realtime_ns = realtime_ns();
    }
}

/* --- all ------------------------------------------------------------------ */

static void
note_own_ports(struct test *test)
{
    for (size_t i = 0; i < test->run.filesystem_count; i++) {
        struct run_filesystem *filesystem = &test->run.filesystems[i];
        struct run_counts ports = {0};

        if (test->filesystems[i].probe == NULL)
            continue;
        nfs_probe_own_ports(test->filesystems[i].probe, &ports);
        for (size_t j = 0; j < filesystem->own_port_count; j++)
            free(filesystem->own_ports[j].name);
        free(filesystem->own_ports);
        filesystem->own_ports = ports.items;
        filesystem->own_port_count = ports.length;
    }
}

static void
compare_clocks(struct run *run, const struct run_cell *cell)
{
    if (cell_clock_stepped(cell) ||
        clock_stepped_between(&run->cells[0].clock_before, &cell->clock_after))
        run->realtime_stepped = true;
}

static void
give_reason(struct test *test, enum run_state state, const char *text)
{
    test->run.state = state;
    free(test->run.state_reason);
    test->run.state_reason = copy_text(text);
}

static void
stopped_by_signal(struct test *test)
{
    char text[64];

    snprintf(text, sizeof(text), "signal %d (%s)", stop_signal(),
             strsignal(stop_signal()));
    give_reason(test, RUN_INTERRUPTED, text);
}

static int
prepare_mounts(struct test *test)
{
    for (size_t i = 0; i < test->run.filesystem_count; i++)
        if (warm_up_filesystem(test, i) != 0)
            return -1;
    listen_to_background(test);
    return 0;
}

static void
show_cell(const struct test *test, const struct run_cell *cell, size_t number,
          int64_t started_ns)
{
    const struct run *run = &test->run;
    int64_t left = number == 0 ? 0
                               : (monotonic_ns() - started_ns) /
                                     (int64_t)number *
                                     (int64_t)(run->cell_count - number);

    progress_show("cell %zu of %zu: %s %s, run %u of %u, %llds to go",
                  number + 1, run->cell_count,
                  run->filesystems[cell->filesystem].label,
                  cell->variant != NULL ? cell->variant
                                        : run_method_name(cell->method),
                  cell->repetition + 1,
                  run->repetitions, (long long)(left / 1000000000));
}

static int
run_all(struct test *test)
{
    struct run *run = &test->run;
    int64_t started_ns = monotonic_ns();

    for (size_t i = 0; i < run->cell_count; i++) {
        int status;

        if (stop_signal() != 0)
            return -1;
        show_cell(test, &run->cells[i], i, started_ns);
        status = run_cell(test, &run->cells[i]);
        note_own_ports(test);
        if (run->cells[i].state == CELL_DONE)
            compare_clocks(run, &run->cells[i]);
        if (status != 0 || run->cells[i].state != CELL_DONE)
            return -1;
        if (monotonic_ns() - test->saved_ns > SAVE_EVERY_NS)
            test_save(test);
    }
    return 0;
}

int
test_run_cells(struct test *test)
{
    struct run *run = &test->run;

    if (test->hooks != NULL)
        test->hooks->plan(test);
    else
        plan_cells(run, test->options->methods, test->options->method_count);
    test->saved_ns = monotonic_ns();
    note_own_ports(test);
    if (prepare_mounts(test) == 0 && run_all(test) == 0 &&
        stop_signal() == 0) {
        run->state = RUN_COMPLETE;
        return 0;
    }
    if (stop_signal() != 0) {
        stopped_by_signal(test);
    } else {
        /* A recorder or launcher that died: what is measured is kept. */
        give_reason(test, RUN_FAILED, test->error);
        test->incomplete = true;
    }
    return -1;
}
