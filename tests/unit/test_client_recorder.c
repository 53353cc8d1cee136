/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorder on the loopback interface, with datagrams that we send. */
#define _GNU_SOURCE /* the process table below /proc, mount */
#include "capture/recorder.h"
#include "client/util.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include <cmocka.h>

#define PORT 20490
#define PREFIX "nfs-atime-test/"

static char file_path[64];

static void
send_text(const char *text, size_t padding)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(PORT),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char bytes[2048] = {0};
    size_t length = strlen(text);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    memcpy(bytes + padding, text, length);
    /* In XDR the uid follows the padded name. */
    assert_true(sendto(fd, bytes, padding + length + 4, 0,
                       (struct sockaddr *)&to, sizeof(to)) > 0);
    close(fd);
}

static struct recorder *
start(const char *filter, const char *path)
{
    const struct recorder_options options = {.interface = "lo",
                                             .filter = filter,
                                             .ring_kib = 1024,
                                             .path = path,
                                             .marker_prefix = PREFIX};
    struct recorder *recorder = NULL;
    char error[1024] = "";

    if (recorder_start(&recorder, &options, error, sizeof(error)) != 0) {
        if (strstr(error, "permission") != NULL)
            skip();
        fail_msg("%s", error);
    }
    return recorder;
}

/* Reads the file back by libpcap. */
static unsigned
packets_in_file(const char *path, bool *nanoseconds)
{
    char error[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *header;
    const u_char *bytes;
    unsigned count = 0;
    pcap_t *pcap = pcap_open_offline(path, error);
    uint32_t magic = 0;
    FILE *raw = fopen(path, "rb");

    assert_non_null(pcap);
    while (pcap_next_ex(pcap, &header, &bytes) == 1)
        count++;
    pcap_close(pcap);
    assert_int_equal(fread(&magic, sizeof(magic), 1, raw), 1);
    fclose(raw);
    *nanoseconds = magic == 0xa1b23c4d;
    return count;
}

static void
markers_are_seen_and_written(void **state)
{
    struct recorder *recorder = start("udp port 20490", file_path);
    struct recorder_stats stats;
    char error[1024] = "";
    bool nanoseconds;

    (void)state;
    send_text("something else", 40);
    send_text(PREFIX "12345678/r/o", 40);
    assert_int_equal(recorder_wait_marker(recorder, PREFIX "12345678/r/o",
                                          5000, -1, error, sizeof(error)),
                     RECORDER_OK);
    /* Known from before, and one that only begins alike. */
    assert_int_equal(recorder_wait_marker(recorder, PREFIX "12345678/r/o", 0,
                                          -1, error, sizeof(error)),
                     RECORDER_OK);
    assert_int_equal(recorder_wait_marker(recorder, PREFIX "12345678/r", 300,
                                          -1, error, sizeof(error)),
                     RECORDER_TIMEOUT);
    send_text("the last one", 0);
    assert_int_equal(recorder_stop(recorder, &stats, error, sizeof(error)),
                     RECORDER_OK);
    assert_true(stats.known);
    assert_int_equal(stats.kernel_drops, 0);
    assert_int_equal(stats.written, 3);
    assert_int_equal(packets_in_file(file_path, &nanoseconds), 3);
    assert_true(nanoseconds);
}

static void
wrong_filter_times_out(void **state)
{
    struct recorder *recorder = start("udp port 20491", file_path);
    struct recorder_stats stats;
    char error[1024] = "";

    (void)state;
    send_text(PREFIX "1/r/o", 0);
    assert_int_equal(recorder_wait_marker(recorder, PREFIX "1/r/o", 500, -1,
                                          error, sizeof(error)),
                     RECORDER_TIMEOUT);
    assert_int_equal(recorder_stop(recorder, &stats, error, sizeof(error)),
                     RECORDER_OK);
    assert_int_equal(stats.written, 0);
}

static void
many_packets_none_lost(void **state)
{
    struct recorder *recorder = start("udp port 20490", file_path);
    struct recorder_stats stats;
    char error[1024] = "";
    bool nanoseconds;

    (void)state;
    for (int i = 0; i < 2000; i++)
        send_text("packet", 0);
    send_text(PREFIX "2/e/c", 0);
    assert_int_equal(recorder_wait_marker(recorder, PREFIX "2/e/c", 5000, -1,
                                          error, sizeof(error)),
                     RECORDER_OK);
    assert_int_equal(
        recorder_get_stats(recorder, &stats, error, sizeof(error)),
        RECORDER_OK);
    assert_true(stats.known && stats.received >= 2001);
    assert_int_equal(recorder_stop(recorder, &stats, error, sizeof(error)),
                     RECORDER_OK);
    assert_int_equal(stats.written + stats.kernel_drops, 2001);
    assert_int_equal(packets_in_file(file_path, &nanoseconds), stats.written);
}

/* A limit on the file's size stands for a full disk. */
static void
full_disk_is_told(void **state)
{
    struct rlimit usual, small;
    struct recorder_stats stats;
    struct recorder *recorder;
    char error[1024] = "";

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &usual), 0);
    small = usual;
    small.rlim_cur = 65536;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    recorder = start("udp port 20490", file_path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
    for (int i = 0; i < 2000; i++)
        send_text("packet", 0);
    send_text(PREFIX "4/1/c", 0);
    assert_int_equal(recorder_wait_marker(recorder, PREFIX "4/1/c", 5000, -1,
                                          error, sizeof(error)),
                     RECORDER_DEAD);
    assert_non_null(strstr(error, file_path));
    assert_non_null(strstr(error, "File too large"));
    assert_int_equal(recorder_stop(recorder, &stats, error, sizeof(error)),
                     RECORDER_DEAD);
}

/* The process that has us as its parent. */
static pid_t
only_child(void)
{
    char path[64], line[256];
    FILE *file;
    long pid = -1;

    snprintf(path, sizeof(path), "/proc/self/task/%ld/children",
             (long)getpid());
    file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof(line), file) == NULL ||
        sscanf(line, "%ld", &pid) != 1)
        pid = -1;
    if (file != NULL)
        fclose(file);
    return (pid_t)pid;
}

static void
killed_recorder_is_told(void **state)
{
    struct recorder *recorder = start("udp port 20490", file_path);
    struct recorder_stats stats;
    char error[1024] = "";
    pid_t pid = only_child();

    (void)state;
    if (pid < 0) {
        recorder_stop(recorder, &stats, error, sizeof(error));
        skip();
    }
    kill(pid, SIGKILL);
    assert_int_equal(recorder_wait_marker(recorder, PREFIX "3/1/c", 5000, -1,
                                          error, sizeof(error)),
                     RECORDER_DEAD);
    assert_non_null(strstr(error, "signal 9"));
    assert_int_equal(recorder_check(recorder, error, sizeof(error)),
                     RECORDER_DEAD);
    assert_int_equal(
        recorder_get_stats(recorder, &stats, error, sizeof(error)),
        RECORDER_DEAD);
    assert_int_equal(recorder_stop(recorder, &stats, error, sizeof(error)),
                     RECORDER_DEAD);
    assert_non_null(strstr(error, "signal 9"));
}

static void
recorder_has_no_privilege(void **state)
{
    struct recorder *recorder = start("udp port 20490", file_path);
    struct recorder_stats stats;
    char path[64], error[1024] = "", *text;
    pid_t pid = only_child();

    (void)state;
    snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
    text = pid > 0 ? read_text_file(path, NULL) : NULL;
    recorder_stop(recorder, &stats, error, sizeof(error));
    if (text == NULL)
        skip();
    assert_non_null(strstr(text, "CapPrm:\t0000000000000000"));
    assert_non_null(strstr(text, "CapEff:\t0000000000000000"));
    assert_null(strstr(text, "Uid:\t0\t"));
    free(text);
}

static void
starting_errors(void **state)
{
    static const struct {
        const char *interface, *filter, *path, *expected;
    } cases[] = {
        {"none0", "port 1", NULL, "none0"},
        {"lo", "port nonsense(", NULL, "port nonsense("},
        {"lo", "port 1", "/nonexistent/x.pcap", "/nonexistent/x.pcap"},
        {"lo", "port 1", "/dev/full", "No space left"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct recorder_options options = {
            .interface = cases[i].interface,
            .filter = cases[i].filter,
            .path = cases[i].path != NULL ? cases[i].path : file_path,
            .ring_kib = 1024,
            .marker_prefix = PREFIX};
        struct recorder *recorder;
        char error[1024] = "";

        assert_int_equal(
            recorder_start(&recorder, &options, error, sizeof(error)), -1);
        if (strstr(error, "permission") != NULL)
            skip();
        if (strstr(error, cases[i].expected) == NULL)
            fail_msg("\"%s\" does not name %s", error, cases[i].expected);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markers_are_seen_and_written),
        cmocka_unit_test(wrong_filter_times_out),
        cmocka_unit_test(many_packets_none_lost),
        cmocka_unit_test(full_disk_is_told),
        cmocka_unit_test(killed_recorder_is_told),
        cmocka_unit_test(recorder_has_no_privilege),
        cmocka_unit_test(starting_errors),
    };
    int status;

    snprintf(file_path, sizeof(file_path), "/tmp/test-recorder-%ld.pcap",
             (long)getpid());
    status = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file_path);
    return status;
}
