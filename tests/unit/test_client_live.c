/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Live captures on interfaces that client_live.sh has made: a bridge and veth
 * pairs whose other ends, x1, nobody listens to, so that what we send is all
 * there is. 10.9.N.2 and fd00:9::2 are neighbours that do not exist.
 */
#define _GNU_SOURCE /* sockaddr_ll */
#include "capture/capture.h"
#include "capture/recorder.h"
#include "client/interfaces.h"
#include "client/live_filter.h"
#include "client/test_run.h"
#include "client/util.h"

#include "tests/support/pcap_builder.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PREFIX "nfs-atime-test/"
#define IDLE_MS 1000 /* what stopping may take when nothing comes */

enum { GETATTR3 = 1, WRITE3 = 7, NFS_PORT = 2049 };

static char file_path[64];

/* --- sending ----------------------------------------------------------------- */

static void
make_call(struct bytes *call, uint32_t procedure, size_t data)
{
    static const uint8_t handle[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t zeros[8000];

    memset(call, 0, sizeof(*call));
    put_call(call, (uint32_t)data + 5, 100003, 3, procedure, "client", 0);
    put_opaque(call, handle, sizeof(handle));
    if (procedure == WRITE3) { /* RFC 1813 3.3.7 */
        put_u32(call, 0);
        put_u32(call, 0);
        put_u32(call, (uint32_t)data);
        put_u32(call, 2);
        put_opaque(call, zeros, data);
    }
}

/* By the kernel's own UDP, from port 700 on. */
static void
send_to(const char *address, unsigned port, const void *data, size_t length)
{
    struct sockaddr_storage to;
    socklen_t size;
    int fd;

    assert_int_equal(address_parse(address, port, &to, &size), 0);
    fd = socket(to.ss_family, SOCK_DGRAM, 0);
    assert_int_equal(sendto(fd, data, length, 0, (struct sockaddr *)&to, size),
                     length);
    close(fd);
}

/* A frame into the other end of a pair, as if it came from the wire. */
static void
inject(const char *interface, const struct bytes *frame)
{
    const struct sockaddr_ll to = {.sll_family = AF_PACKET,
                                   .sll_ifindex =
                                       (int)if_nametoindex(interface)};
    int fd = socket(AF_PACKET, SOCK_RAW, 0);

    assert_int_equal(sendto(fd, frame->data, frame->length, 0,
                            (const struct sockaddr *)&to, sizeof(to)),
                     frame->length);
    close(fd);
}

static void
put_half(struct bytes *bytes, unsigned value)
{
    bytes->data[bytes->length++] = (uint8_t)(value >> 8);
    bytes->data[bytes->length++] = (uint8_t)value;
}

/* Ethernet, IEEE 802.1Q with VLAN 7, IPv4 (RFC 791) and `length` bytes of a
 * datagram from `offset` on. */
static void
tagged_frame(struct bytes *frame, const struct bytes *datagram, size_t offset,
             size_t length)
{
    const bool more = offset + length < datagram->length;

    memset(frame, 0, sizeof(*frame));
    frame->length = 12; /* to and from 0 */
    frame->data[0] = frame->data[6] = 2;
    put_half(frame, 0x8100);
    put_half(frame, 7);
    put_half(frame, 0x0800);
    put_half(frame, 0x4500);
    put_half(frame, (unsigned)(20 + length));
    put_half(frame, 4711);
    put_half(frame, (more ? 0x2000u : 0u) | (unsigned)(offset / 8));
    put_half(frame, 0x4011);
    put_half(frame, 0);
    put_u32(frame, 0x0a090102);
    put_u32(frame, 0x0a090101);
    memcpy(frame->data + frame->length, datagram->data + offset, length);
    frame->length += length;
}

static void
udp_datagram(struct bytes *datagram, unsigned port, const struct bytes *data)
{
    memset(datagram, 0, sizeof(*datagram));
    put_half(datagram, 700);
    put_half(datagram, port);
    put_half(datagram, (unsigned)(8 + data->length));
    put_half(datagram, 0);
    memcpy(datagram->data + 8, data->data, data->length);
    datagram->length += data->length;
}

/* --- recording --------------------------------------------------------------- */

static struct recorder *
start(const char *interface, const char *filter, const char *instead)
{
    const struct recorder_options options = {.interface = interface,
                                             .filter = filter,
                                             .filter_instead = instead,
                                             .ring_kib = 1024,
                                             .path = file_path,
                                             .marker_prefix = PREFIX};
    struct recorder *recorder = NULL;
    char error[1024] = "";

    if (recorder_start(&recorder, &options, error, sizeof(error)) != 0)
        fail_msg("%s", error);
    return recorder;
}

static struct recorder_stats
stop(struct recorder *recorder)
{
    struct recorder_stats stats;
    char error[1024] = "";

    if (recorder_stop(recorder, &stats, error, sizeof(error)) != RECORDER_OK)
        fail_msg("%s", error);
    assert_true(stats.known);
    assert_int_equal(stats.kernel_drops, 0);
    return stats;
}

static void
ignore(void *context, const struct rpc_transaction *tx)
{
    (void)context;
    (void)tx;
}

/* What the program sees in the file. */
static struct capture_result
read_back(void)
{
    const char *const paths[] = {file_path};
    const struct rpc_transaction_sink sink = {NULL, ignore, NULL};
    struct capture_options options;
    struct capture_result result;
    char error[512] = "";

    capture_options_default(&options);
    assert_int_equal(capture_read(paths, 1, &options, &sink, &result, error,
                                  sizeof(error)), CAPTURE_OK);
    capture_result_free(&result);
    return result;
}

/* --- which interface --------------------------------------------------------- */

static void
the_route_decides(void **state)
{
    static const struct {
        const char *address, *interface;
    } cases[] = {
        {"127.0.0.1", "lo"},
        {"::1", "lo"},
        {"10.9.1.1", "lo"}, /* ours: never on the wire */
        {"fd00:9::1", "lo"},
        {"10.9.1.2", "v0"},
        {"fd00:9::2", "v0"},
        {"10.9.3.2", "br0"}, /* not the bridge's port */
        {"10.77.0.1", "w0"}, /* a router behind it; our address is lo's */
        {"10.88.0.1", "u0"}, /* our address is v0's as well */
        {"fe80::2%u0", "u0"},
    };
    char name[64], error[256];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        error[0] = '\0';
        if (interface_to(cases[i].address, name, sizeof(name), error,
                         sizeof(error)) != 0)
            fail_msg("%s: %s", cases[i].address, error);
        if (strcmp(name, cases[i].interface) != 0)
            fail_msg("%s: by %s, not %s", cases[i].address, name,
                     cases[i].interface);
    }
    assert_int_equal(interface_to("192.0.2.1", name, sizeof(name), error,
                                  sizeof(error)), -1);
    assert_non_null(strstr(error, "192.0.2.1"));
    assert_non_null(strstr(error, "-i"));
    assert_int_equal(interface_to("server", name, sizeof(name), error,
                                  sizeof(error)), -1);
}

/* --- each packet once --------------------------------------------------------- */

static void
loopback_shows_a_packet_once(void **state)
{
    static const char *const interfaces[] = {"lo", "any"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct recorder *recorder =
            start(interfaces[i], "udp port 2049", NULL);
        struct bytes call;

        for (size_t j = 0; j < 3; j++) {
            make_call(&call, GETATTR3, j);
            send_to("127.0.0.1", NFS_PORT, call.data, call.length);
        }
        assert_int_equal(stop(recorder).written, 3);
        assert_int_equal(read_back().rpc.calls, 3);
    }
}

/* Bridge, its port and that one's other end: three times, one call. */
static void
a_packet_seen_thrice_is_one_call(void **state)
{
    struct recorder *recorder = start("br0", "udp port 2049", NULL);
    struct capture_result result;
    struct bytes call;

    (void)state;
    make_call(&call, GETATTR3, 0);
    send_to("10.9.3.2", NFS_PORT, call.data, call.length);
    assert_int_equal(stop(recorder).written, 1);

    recorder = start("any", "udp port 2049", NULL);
    send_to("10.9.3.2", NFS_PORT, call.data, call.length);
    assert_int_equal(stop(recorder).written, 3);
    result = read_back();
    assert_int_equal(result.packets.capture_duplicates, 2);
    assert_int_equal(result.rpc.calls, 1);
    assert_int_equal(result.rpc.retransmissions, 0);
}

/* --- what the filter lets through -------------------------------------------- */

/* A WRITE of 7000 bytes leaves by an MTU of 1500 in `fragments` packets. */
static void
fragments_come_to(const char *address, const char *filter,
                  const char *instead, size_t fragments, bool complete)
{
    struct recorder *recorder = start("v0", filter, instead);
    struct capture_result result;
    struct bytes call;

    make_call(&call, WRITE3, 7000);
    send_to(address, NFS_PORT, call.data, call.length);
    send_to(address, 99, call.data, 100); /* somebody else's */
    assert_int_equal(stop(recorder).written, fragments);
    result = read_back();
    assert_int_equal(result.rpc.calls, 1);
    assert_int_equal(result.packets.incomplete_datagrams, !complete);
}

static void
fragments_are_let_through(void **state)
{
    const unsigned ports[] = {NFS_PORT, NFS_PORT};
    char *tagged, *plain;

    (void)state;
    live_filter(ports, 2, &tagged, &plain);
    /* 8 + 7116 bytes by 1480: RFC 791; by 1448: RFC 8200 4.5. */
    fragments_come_to("10.9.1.2", tagged, plain, 5, true);
    fragments_come_to("10.9.1.2", plain, NULL, 5, true);
    fragments_come_to("fd00:9::2", tagged, plain, 5, true);
    fragments_come_to("fd00:9::2", plain, NULL, 5, true);
    /* What it is good for: without, only the first one comes. */
    fragments_come_to("10.9.1.2", "port 2049", NULL, 1, false);
    free(tagged);
    free(plain);
}

/* From the wire the kernel has taken the tag out of the frame, on the way to
 * it the tag is still inside: @param end either end of the pair. */
static void
tagged_frames_come_from(const char *end)
{
    const unsigned ports[] = {NFS_PORT};
    struct bytes call, datagram, frame;
    struct recorder *recorder;
    struct capture_result result;
    char *tagged, *plain;

    live_filter(ports, 1, &tagged, &plain);
    recorder = start("v0", tagged, plain);
    assert_string_equal(recorder_filter(recorder), tagged);
    make_call(&call, GETATTR3, 0);
    udp_datagram(&datagram, NFS_PORT, &call);
    tagged_frame(&frame, &datagram, 0, datagram.length);
    inject(end, &frame);
    make_call(&call, WRITE3, 1000);
    udp_datagram(&datagram, NFS_PORT, &call);
    tagged_frame(&frame, &datagram, 0, 800);
    inject(end, &frame);
    tagged_frame(&frame, &datagram, 800, datagram.length - 800);
    inject(end, &frame);
    udp_datagram(&datagram, 99, &call); /* somebody else's */
    tagged_frame(&frame, &datagram, 0, 800);
    inject(end, &frame);
    assert_int_equal(stop(recorder).written, 3);
    result = read_back();
    assert_int_equal(result.rpc.calls, 2);
    assert_int_equal(result.packets.incomplete_datagrams, 0);
    free(tagged);
    free(plain);
}

static void
tagged_frames_are_let_through(void **state)
{
    (void)state;
    tagged_frames_come_from("v1");
    tagged_frames_come_from("v0");
}

/* --- when nothing comes ------------------------------------------------------- */

static void
an_idle_link_does_not_hold_it(void **state)
{
    const unsigned ports[] = {NFS_PORT};
    char *tagged, *plain, error[256];
    const char *filters[2];

    (void)state;
    live_filter(ports, 1, &tagged, &plain);
    filters[0] = "";
    filters[1] = tagged;
    for (size_t i = 0; i < 2; i++) {
        struct recorder *recorder = start("w0", filters[i], plain);
        struct recorder_stats stats;
        struct capture_result result;
        int64_t started = monotonic_ns();

        assert_int_equal(recorder_wait_marker(recorder, PREFIX "1/e/c", 300,
                                              -1, error, sizeof(error)),
                         RECORDER_TIMEOUT);
        assert_true(monotonic_ns() - started < IDLE_MS * INT64_C(1000000));
        started = monotonic_ns();
        stats = stop(recorder);
        assert_true(monotonic_ns() - started < IDLE_MS * INT64_C(1000000));
        assert_int_equal(stats.received, 0);
        assert_int_equal(stats.written, 0);
        result = read_back();
        assert_int_equal(result.packets.packets, 0);
    }
    free(tagged);
    free(plain);
}

/* The recorder's process: our only child, or -1. */
static pid_t
only_child(void)
{
    char *path = format_text("/proc/self/task/%ld/children", (long)getpid());
    char *text = read_text_file(path, NULL);
    pid_t pid = text != NULL ? (pid_t)strtol(text, NULL, 10) : -1;

    free(path);
    free(text);
    return pid > 0 ? pid : -1;
}

/* The test ends without a word: so does its recorder. */
static void
an_idle_recorder_ends_with_its_parent(void **state)
{
    struct pollfd end = {.events = POLLIN};
    int pair[2];
    pid_t parent, recorder = -1;

    (void)state;
    assert_int_equal(pipe(pair), 0);
    parent = fork();
    if (parent == 0) {
        close(pair[0]);
        start("w0", "", NULL);
        recorder = only_child();
        if (write(pair[1], &recorder, sizeof(recorder)) !=
            (ssize_t)sizeof(recorder))
            _exit(1);
        _exit(0);
    }
    close(pair[1]);
    assert_int_equal(read(pair[0], &recorder, sizeof(recorder)),
                     sizeof(recorder));
    waitpid(parent, NULL, 0);
    assert_true(recorder > 0);
    /* The pipe's other end is open as long as the recorder lives. */
    end.fd = pair[0];
    if (poll(&end, 1, IDLE_MS) != 1) {
        kill(recorder, SIGKILL);
        fail_msg("the recorder did not end");
    }
    close(pair[0]);
}

/* --- drops of each cell --------------------------------------------------------- */

static void
flood(unsigned packets)
{
    static const char bytes[1000];

    for (unsigned i = 0; i < packets; i++)
        send_to("10.9.1.2", NFS_PORT, bytes, sizeof(bytes));
}

/* A ring of 1 MiB, 8 MB while nobody empties it: in the second of three cells
 * packets are dropped, and in no other. */
static void
drops_are_known_per_cell(void **state)
{
    struct live_capture capture = {.recorder =
                                       start("v0", "udp port 2049", NULL)};
    struct test_filesystem filesystem = {.capture = &capture};
    struct run_drops drops[3];
    struct recorder_stats stats;
    struct test test;
    char error[1024];
    const pid_t pid = only_child();

    (void)state;
    memset(&test, 0, sizeof(test));
    if (pid < 0)
        skip();
    for (size_t i = 0; i < 3; i++) {
        if (i == 1)
            kill(pid, SIGSTOP);
        flood(i == 1 ? 8000 : 10);
        if (i == 1)
            kill(pid, SIGCONT);
        capture_take_drops(&test, &filesystem, &drops[i]);
        assert_true(drops[i].known);
        assert_int_equal(test.incomplete, i > 0);
    }
    assert_int_equal(drops[0].received, 10);
    assert_int_equal(drops[0].kernel, 0);
    assert_int_equal(drops[1].received, 8000);
    assert_true(drops[1].kernel > 4000 && drops[1].kernel < 8000);
    assert_int_equal(drops[2].received, 10);
    assert_int_equal(drops[2].kernel, 0);
    assert_int_equal(recorder_stop(capture.recorder, &stats, error,
                                   sizeof(error)), RECORDER_OK);
    assert_int_equal(stats.kernel_drops, drops[1].kernel);
    assert_int_equal(stats.written, 8020 - drops[1].kernel);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_route_decides),
        cmocka_unit_test(loopback_shows_a_packet_once),
        cmocka_unit_test(a_packet_seen_thrice_is_one_call),
        cmocka_unit_test(fragments_are_let_through),
        cmocka_unit_test(tagged_frames_are_let_through),
        cmocka_unit_test(an_idle_link_does_not_hold_it),
        cmocka_unit_test(an_idle_recorder_ends_with_its_parent),
        cmocka_unit_test(drops_are_known_per_cell),
    };
    int status;

    snprintf(file_path, sizeof(file_path), "/tmp/test-live-%ld.pcap",
             (long)getpid());
    status = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file_path);
    return status;
}
