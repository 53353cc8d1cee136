/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The test's recorders: one for each interface that leads to a server.
 *
 * Theory of operation. Before anything is measured a marker is sent through
 * each capture and must come out of it: that proves interface, filter and that
 * the recorder writes. Within the cells, the closing marker is waited for
 * before the next cell begins, so that the recorder's work for one cell does
 * not fall into another. The end marker is the last packet that matters; when
 * it was seen, all before it is in the file.
 */
#include "client/test_run.h"

#include "client/interfaces.h"
#include "client/live_filter.h"
#include "client/progress.h"
#include "client/stop.h"
#include "client/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READY_TRIES 10
#define READY_WAIT_MS 1000
#define MARKER_WAIT_MS 5000

static struct run_capture *
run_capture_of(struct test *test, const struct live_capture *capture)
{
    return &test->run.captures[capture - test->captures];
}

/* The interface to a file system's server: as given, or by the route. */
static int
choose_interface(struct test *test, struct run_filesystem *filesystem)
{
    char name[64], all[512];

    if (test->options->interface != NULL)
        snprintf(name, sizeof(name), "%s", test->options->interface);
    else if (interface_to(filesystem->server_address, name, sizeof(name),
                          test->error, sizeof(test->error)) != 0)
        return -1;
    if (!interface_exists(name)) {
        interface_list(all, sizeof(all));
        return set_error(test->error, sizeof(test->error),
                         "%s: no such interface; there are: %s", name, all);
    }
    filesystem->interface = copy_text(name);
    return 0;
}

static void
join_capture(struct test *test, size_t index)
{
    const char *interface = test->run.filesystems[index].interface;
    size_t i;

    for (i = 0; i < test->capture_count; i++)
        if (strcmp(test->captures[i].interface, interface) == 0)
            break;
    if (i == test->capture_count) {
        test->captures[i].interface = copy_text(interface);
        test->capture_count++;
    }
    test->filesystems[index].capture = &test->captures[i];
}

/* Of the servers behind the interface. */
static void
make_filter(const struct test *test, const struct live_capture *capture,
            char **tagged, char **plain)
{
    unsigned *ports =
        need_memory(test->run.filesystem_count, sizeof(*ports));
    size_t count = 0;

    for (size_t i = 0; i < test->run.filesystem_count; i++)
        if (test->filesystems[i].capture == capture)
            ports[count++] = (unsigned)test->run.filesystems[i].port;
    live_filter(ports, count, tagged, plain);
    free(ports);
}

/* Where the capture goes, and how run.json calls it. */
static char *
capture_path(const struct test *test, const struct live_capture *capture,
             char **stored)
{
    const char *given = test->options->capture_file;

    if (given == NULL) {
        *stored = format_text("%s.pcap", capture->interface);
        return format_text("%s/%s", test->run.directory, *stored);
    }
    /* -w with more than one interface: one file each. */
    *stored = test->capture_count > 1
                  ? format_text("%s.%s", given, capture->interface)
                  : copy_text(given);
    if (**stored != '/') {
        char *here = getcwd(NULL, 0), *relative = *stored;

        *stored = format_text("%s/%s", here != NULL ? here : "", relative);
        free(relative);
        free(here);
    }
    return copy_text(*stored);
}

static int
start_capture(struct test *test, struct live_capture *capture)
{
    const struct test_options *options = test->options;
    struct run_capture *stored = run_capture_of(test, capture);
    char *plain, *tagged, *path;
    struct recorder_options recorder = {
        .interface = capture->interface,
        .snaplen = options->snaplen,
        .ring_kib = options->ring_kib,
        .marker_prefix = RUN_MARKER_PREFIX,
    };
    int result;

    make_filter(test, capture, &tagged, &plain);
    recorder.filter = options->filter != NULL ? options->filter : tagged;
    recorder.filter_instead = options->filter != NULL ? NULL : plain;
    recorder.path = path = capture_path(test, capture, &stored->path);
    result = recorder_start(&capture->recorder, &recorder, test->error,
                            sizeof(test->error));
    if (result == 0) {
        stored->interface = copy_text(capture->interface);
        stored->filter = copy_text(recorder_filter(capture->recorder));
        stored->snaplen = options->snaplen != 0 ? options->snaplen : 262144;
        for (size_t i = 0; i < test->run.filesystem_count; i++)
            if (test->filesystems[i].capture == capture)
                test->run.filesystems[i].capture = copy_text(stored->path);
    }
    free(path);
    free(plain);
    free(tagged);
    return result;
}

/* --- markers -------------------------------------------------------------- */

static struct test_filesystem *
filesystem_of(struct test *test, const struct live_capture *capture)
{
    for (size_t i = 0; i < test->run.filesystem_count; i++)
        if (test->filesystems[i].capture == capture)
            return &test->filesystems[i];
    return NULL;
}

/* Sends the run's ready or end marker and waits until it is seen, or until
 * wake_fd (or -1) is readable. */
static enum recorder_answer
send_and_see(struct test *test, struct live_capture *capture,
             const char *which, int wait_ms, int wake_fd)
{
    struct test_filesystem *filesystem = filesystem_of(test, capture);
    struct run_marker marker = {0};
    enum recorder_answer answer = RECORDER_TIMEOUT;
    char *nonce = format_text(RUN_MARKER_PREFIX "%s/%s", test->nonce, which);

    if (nfs_probe_marker(filesystem->probe, nonce, &marker, test->error,
                         sizeof(test->error)) == 0)
        answer = recorder_wait_marker(capture->recorder, nonce, wait_ms,
                                      wake_fd, test->error,
                                      sizeof(test->error));
    free(marker.nonce);
    free(nonce);
    return answer;
}

static int
wait_until_ready(struct test *test, struct live_capture *capture)
{
    char all[512];

    for (int try = 0; try < READY_TRIES && stop_signal() == 0; try++) {
        enum recorder_answer answer =
            send_and_see(test, capture, "r/o", READY_WAIT_MS, stop_fd());

        if (answer == RECORDER_OK)
            return 0;
        if (answer == RECORDER_DEAD)
            return -1;
        progress_show("%s: waiting to see our own packets",
                      capture->interface);
    }
    if (stop_signal() != 0)
        return set_error(test->error, sizeof(test->error), "stopped");
    interface_list(all, sizeof(all));
    return set_error(
        test->error, sizeof(test->error),
        "%s: a call to the server did not show up in the capture: the "
        "interface or the filter \"%s\" is wrong; interfaces here: %s (name "
        "one by -i, or measure without the wire by --no-capture)",
        capture->interface, run_capture_of(test, capture)->filter, all);
}

int
captures_start(struct test *test)
{
    size_t count = test->run.filesystem_count;

    if (test->options->no_capture)
        return 0;
    test->captures = need_memory(count, sizeof(*test->captures));
    for (size_t i = 0; i < count; i++) {
        if (test->run.filesystems[i].kind != FILESYSTEM_NFS)
            continue;
        if (choose_interface(test, &test->run.filesystems[i]) != 0)
            return -1;
        join_capture(test, i);
    }
    test->run.captures =
        need_memory(test->capture_count, sizeof(*test->run.captures));
    for (size_t i = 0; i < test->capture_count; i++) {
        test->run.capture_count = i + 1;
        if (start_capture(test, &test->captures[i]) != 0 ||
            wait_until_ready(test, &test->captures[i]) != 0)
            return -1;
    }
    return 0;
}

int
capture_confirm(struct test *test, struct test_filesystem *filesystem,
                struct run_marker *marker)
{
    struct live_capture *capture = filesystem->capture;

    if (capture == NULL || marker->nonce == NULL)
        return 0;
    switch (recorder_wait_marker(capture->recorder, marker->nonce,
                                 MARKER_WAIT_MS, -1, test->error,
                                 sizeof(test->error))) {
    case RECORDER_OK:
        marker->seen = true;
        return 0;
    case RECORDER_TIMEOUT:
        run_warn(&test->run, "%s: marker %s was not seen in the capture",
                 capture->interface, marker->nonce);
        test->incomplete = true;
        return 0;
    case RECORDER_DEAD:
        break;
    }
    return -1;
}

void
capture_take_drops(struct test *test, struct test_filesystem *filesystem,
                   struct run_drops *drops)
{
    struct live_capture *capture = filesystem->capture;
    struct recorder_stats now;

    memset(drops, 0, sizeof(*drops));
    if (capture == NULL ||
        recorder_get_stats(capture->recorder, &now, test->error,
                           sizeof(test->error)) != RECORDER_OK ||
        !now.known)
        return;
    drops->known = true;
    drops->received = now.received - capture->last.received;
    drops->kernel = now.kernel_drops - capture->last.kernel_drops;
    drops->interface = now.interface_drops - capture->last.interface_drops;
    if (drops->kernel != 0)
        test->incomplete = true;
    capture->last = now;
}

static void
stop_capture(struct test *test, struct live_capture *capture)
{
    struct run_capture *stored = run_capture_of(test, capture);
    struct recorder_stats stats;
    enum recorder_answer answer =
        filesystem_of(test, capture)->probe == NULL
            ? RECORDER_TIMEOUT
            : send_and_see(test, capture, "e/c", MARKER_WAIT_MS, -1);

    if (answer == RECORDER_TIMEOUT)
        stored->warning = copy_text("the end marker was not seen: the last "
                                    "packets may be missing");
    stored->complete = answer == RECORDER_OK;
    answer = recorder_stop(capture->recorder, &stats, test->error,
                           sizeof(test->error));
    capture->recorder = NULL;
    if (answer == RECORDER_DEAD) {
        free(stored->warning);
        stored->warning = copy_text(test->error);
        stored->complete = false;
    }
    stored->stats_known = stats.known;
    stored->received = stats.received;
    stored->dropped = stats.kernel_drops;
    stored->interface_dropped = stats.interface_drops;
    if (!stored->complete || stored->dropped != 0)
        test->incomplete = true;
}

void
captures_give_up(struct test *test)
{
    struct run *run = &test->run;

    for (size_t i = 0; i < test->capture_count; i++) {
        struct run_capture *stored =
            i < run->capture_count ? &run->captures[i] : NULL;

        if (test->captures[i].recorder != NULL)
            recorder_stop(test->captures[i].recorder, &test->captures[i].last,
                          test->error, sizeof(test->error));
        free(test->captures[i].interface);
        if (stored == NULL)
            continue;
        free(stored->path);
        free(stored->interface);
        free(stored->filter);
        memset(stored, 0, sizeof(*stored));
    }
    for (size_t i = 0; i < run->filesystem_count; i++) {
        test->filesystems[i].capture = NULL;
        free(run->filesystems[i].capture);
        run->filesystems[i].capture = NULL;
    }
    run->capture_count = 0;
    test->capture_count = 0;
}

void
captures_stop(struct test *test)
{
    for (size_t i = 0; i < test->capture_count; i++)
        if (test->captures[i].recorder != NULL)
            stop_capture(test, &test->captures[i]);
}
