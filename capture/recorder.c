/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation. Parent and recorder are joined by a SEQPACKET pair of
 * struct message. The recorder's states are a straight line with no way back:
 *
 *   OPEN      interface and file are opened, with the caller's privileges
 *   CONFINED  no capability, no root: said by MESSAGE_READY
 *   RECORD    poll on ring and pair; packets to the file, markers to the pair
 *   DRAIN     after MESSAGE_STOP, or at the pair's end: what is in the ring
 *             is still written, until a ring timeout passes without a packet
 *
 * The kernel hands over a block of the ring when it is full or 100 ms after
 * its first packet. There is no immediate mode: on a machine with one
 * processor a wake-up per packet would be part of what is measured. For the
 * same reason the process is SCHED_BATCH. That a packet is in the ring but not
 * yet in the file is why the last thing sent is always a marker that is waited
 * for.
 *
 * The file is flushed after each batch, so that a full disk is noticed while
 * somebody can still be told, and a killed recorder leaves whole packets.
 */
#define _GNU_SOURCE /* memmem, SCHED_BATCH */
#include "capture/recorder.h"

#include <cap-ng.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pcap/pcap.h>

#define RING_TIMEOUT_MS 100
#define DEFAULT_SNAPLEN 262144
#define DEFAULT_RING_KIB 65536
#define MARKER_BYTES 256 /* an AUTH_SYS machine name and its end */
#define MARKERS_KEPT 64
#define STOP_PATIENCE_MS 10000
#define ANSWER_PATIENCE_MS 10000

enum message_kind {
    MESSAGE_READY,  /* text: the filter in force */
    MESSAGE_FAILED, /* text: one line */
    MESSAGE_MARKER, /* text: the marker */
    MESSAGE_STATS,  /* asked and answered */
    MESSAGE_STOP,
    MESSAGE_DONE,   /* with the final figures */
};

struct message {
    enum message_kind kind;
    struct recorder_stats stats;
    char text[1024];
};

struct recorder {
    pid_t pid;
    int socket;
    bool dead, done;
    char reason[1024];
    char filter[1024];
    struct recorder_stats stats;
    bool stats_fresh;
    char markers[MARKERS_KEPT][MARKER_BYTES];
    size_t marker_next;
};

/* --- the recorder's side -------------------------------------------------- */

struct recording {
    pcap_t *pcap;
    pcap_dumper_t *dumper;
    int socket;
    const char *path;
    const char *prefix;
    size_t prefix_length;
    uint64_t written;
};

static void
tell(struct recording *recording, const struct message *message)
{
    while (send(recording->socket, message, sizeof(*message), MSG_NOSIGNAL) <
           0)
        if (errno != EINTR)
            return; /* the parent is gone: the poll loop notices */
}

static _Noreturn void fail(struct recording *recording, const char *format,
                           ...) __attribute__((format(printf, 2, 3)));

static _Noreturn void
fail(struct recording *recording, const char *format, ...)
{
    struct message message = {.kind = MESSAGE_FAILED};
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message.text, sizeof(message.text), format, arguments);
    va_end(arguments);
    tell(recording, &message);
    _exit(1);
}

static _Noreturn void
cannot_write(struct recording *recording)
{
    fail(recording, "%s: %s after %llu packets", recording->path,
         strerror(errno), (unsigned long long)recording->written);
}

static struct recorder_stats
take_stats(struct recording *recording)
{
    struct recorder_stats stats = {.written = recording->written};
    struct pcap_stat counts;

    if (pcap_stats(recording->pcap, &counts) == 0) {
        stats.known = true;
        stats.received = counts.ps_recv;
        stats.kernel_drops = counts.ps_drop;
        stats.interface_drops = counts.ps_ifdrop;
    }
    return stats;
}

static void
look_for_marker(struct recording *recording, const u_char *bytes,
                size_t length)
{
    const u_char *found =
        memmem(bytes, length, recording->prefix, recording->prefix_length);
    struct message message = {.kind = MESSAGE_MARKER};
    size_t used = 0, rest;

    if (found == NULL)
        return;
    rest = length - (size_t)(found - bytes);
    /* A machine name is padded with NULs or followed by the uid's. */
    while (used < rest && used < MARKER_BYTES - 1 && found[used] > ' ' &&
           found[used] < 0x7f)
        used++;
    memcpy(message.text, found, used);
    tell(recording, &message);
}

static void
on_packet(u_char *context, const struct pcap_pkthdr *header,
          const u_char *bytes)
{
    struct recording *recording = (struct recording *)(void *)context;

    /* libpcap does not look at what fwrite says, and a later flush has
     * nothing left to fail on. */
    errno = 0;
    pcap_dump((u_char *)recording->dumper, header, bytes);
    if (ferror(pcap_dump_file(recording->dumper)))
        cannot_write(recording);
    recording->written++;
    look_for_marker(recording, bytes, header->caplen);
}

static void
open_interface(struct recording *recording,
               const struct recorder_options *options)
{
    char error[PCAP_ERRBUF_SIZE] = "";
    const char *interface = options->interface;
    pcap_t *pcap = pcap_create(interface, error);
    int status;

    if (pcap == NULL)
        fail(recording, "%s: %s", interface, error);
    recording->pcap = pcap;
    pcap_set_snaplen(pcap, options->snaplen != 0 ? (int)options->snaplen
                                                 : DEFAULT_SNAPLEN);
    pcap_set_promisc(pcap, 0);
    pcap_set_timeout(pcap, RING_TIMEOUT_MS);
    pcap_set_buffer_size(pcap, (int)(options->ring_kib != 0
                                         ? options->ring_kib
                                         : DEFAULT_RING_KIB) * 1024);
    pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO);
    status = pcap_activate(pcap);
    if (status == PCAP_ERROR_PERM_DENIED ||
        status == PCAP_ERROR_PROMISC_PERM_DENIED)
        fail(recording, "%s: no permission to capture: run as root, or give "
             "the program CAP_NET_RAW (setcap cap_net_raw+ep FILE), or "
             "measure without the wire by --no-capture", interface);
    if (status == PCAP_ERROR_NO_SUCH_DEVICE)
        fail(recording, "%s: no such interface", interface);
    if (status == PCAP_ERROR_IFACE_NOT_UP)
        fail(recording, "%s: the interface is down", interface);
    if (status < 0)
        fail(recording, "%s: %s: %s", interface, pcap_statustostr(status),
             pcap_geterr(pcap));
    if (pcap_setnonblock(pcap, 1, error) != 0)
        fail(recording, "%s: %s", interface, error);
}

/* @return the filter that was set. */
static const char *
set_filter(struct recording *recording, const struct recorder_options *options)
{
    const char *filter = options->filter;
    struct bpf_program program;

    if (filter == NULL || *filter == '\0')
        return "";
    if (pcap_compile(recording->pcap, &program, filter, 1,
                     PCAP_NETMASK_UNKNOWN) != 0) {
        if (options->filter_instead == NULL)
            fail(recording, "filter \"%s\" on %s: %s", filter,
                 options->interface, pcap_geterr(recording->pcap));
        filter = options->filter_instead;
        if (pcap_compile(recording->pcap, &program, filter, 1,
                         PCAP_NETMASK_UNKNOWN) != 0)
            fail(recording, "filter \"%s\" on %s: %s", filter,
                 options->interface, pcap_geterr(recording->pcap));
    }
    if (pcap_setfilter(recording->pcap, &program) != 0)
        fail(recording, "filter \"%s\" on %s: %s", filter, options->interface,
             pcap_geterr(recording->pcap));
    pcap_freecode(&program);
    return filter;
}

/* Root becomes nobody; whoever has capabilities loses them. */
static void
confine(struct recording *recording)
{
    const struct passwd *nobody = getpwnam("nobody");
    uid_t uid = nobody != NULL ? nobody->pw_uid : 65534;
    gid_t gid = nobody != NULL ? nobody->pw_gid : 65534;
    int status;

    capng_clear(CAPNG_SELECT_BOTH);
    if (geteuid() == 0) {
        status = capng_change_id((int)uid, (int)gid,
                                 CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING);
        /* In a container root may have no CAP_SETUID; it then keeps the
         * number, and loses the capabilities below all the same. */
        if (status == 0)
            return;
        capng_clear(CAPNG_SELECT_BOTH);
    }
    if (capng_apply(CAPNG_SELECT_CAPS) != 0)
        fail(recording, "the recorder cannot give up its privileges");
}

static void
keep_quiet(void)
{
    struct sched_param none = {0};
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    /* A stop is told over the pair; Ctrl-C must not cut the file. */
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGHUP, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* EFBIG from write instead */
    if (sched_setscheduler(0, SCHED_BATCH, &none) != 0)
        setpriority(PRIO_PROCESS, 0, 10);
}

static void
flush(struct recording *recording)
{
    if (pcap_dump_flush(recording->dumper) != 0)
        cannot_write(recording);
}

static int
write_batch(struct recording *recording)
{
    int count = pcap_dispatch(recording->pcap, -1, on_packet,
                              (u_char *)(void *)recording);

    if (count == PCAP_ERROR)
        fail(recording, "capture: %s", pcap_geterr(recording->pcap));
    if (count > 0)
        flush(recording);
    return count;
}

/* @return false: told to stop, or nobody is left to tell. */
static bool
obey(struct recording *recording)
{
    struct message message;
    ssize_t got = recv(recording->socket, &message, sizeof(message),
                       MSG_DONTWAIT);

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (got != (ssize_t)sizeof(message) || message.kind == MESSAGE_STOP)
        return false;
    if (message.kind == MESSAGE_STATS) {
        message.stats = take_stats(recording);
        tell(recording, &message);
    }
    return true;
}

static void
record(struct recording *recording)
{
    struct pollfd fds[2] = {
        {.fd = pcap_get_selectable_fd(recording->pcap), .events = POLLIN},
        {.fd = recording->socket, .events = POLLIN}};

    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            fail(recording, "poll: %s", strerror(errno));
        if (fds[0].revents != 0)
            write_batch(recording);
        if (fds[1].revents != 0 && !obey(recording))
            break;
    }
    do
        fds[0].revents = 0;
    while (poll(fds, 1, 2 * RING_TIMEOUT_MS) > 0 &&
           write_batch(recording) > 0);
}

static _Noreturn void
recorder_main(int socket, const struct recorder_options *options)
{
    static struct recording recording;
    struct message message = {.kind = MESSAGE_READY};
    const char *filter;

    recording.socket = socket;
    recording.path = options->path;
    recording.prefix = options->marker_prefix;
    recording.prefix_length = strlen(options->marker_prefix);
    keep_quiet();
    open_interface(&recording, options);
    filter = set_filter(&recording, options);
    recording.dumper = pcap_dump_open(recording.pcap, options->path);
    if (recording.dumper == NULL)
        fail(&recording, "%s", pcap_geterr(recording.pcap));
    flush(&recording);
    confine(&recording);
    snprintf(message.text, sizeof(message.text), "%s", filter);
    tell(&recording, &message);
    record(&recording);
    message.kind = MESSAGE_DONE;
    message.stats = take_stats(&recording);
    flush(&recording);
    tell(&recording, &message);
    pcap_dump_close(recording.dumper);
    _exit(0);
}

/* --- the parent's side ---------------------------------------------------- */

static int64_t
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The pair has ended: why? */
static void
bury(struct recorder *recorder)
{
    int status = 0;

    recorder->dead = true;
    if (recorder->pid > 0) {
        while (waitpid(recorder->pid, &status, 0) < 0 && errno == EINTR)
            continue;
        recorder->pid = -1;
    }
    if (recorder->reason[0] != '\0')
        return;
    if (WIFSIGNALED(status))
        snprintf(recorder->reason, sizeof(recorder->reason),
                 "the recorder was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(recorder->reason, sizeof(recorder->reason),
                 "the recorder ended with status %d", WEXITSTATUS(status));
}

static void
note_message(struct recorder *recorder, const struct message *message)
{
    switch (message->kind) {
    case MESSAGE_READY:
        snprintf(recorder->filter, sizeof(recorder->filter), "%s",
                 message->text);
        break;
    case MESSAGE_FAILED:
        snprintf(recorder->reason, sizeof(recorder->reason), "%s",
                 message->text);
        break;
    case MESSAGE_MARKER:
        snprintf(recorder->markers[recorder->marker_next % MARKERS_KEPT],
                 MARKER_BYTES, "%.*s", MARKER_BYTES - 1, message->text);
        recorder->marker_next++;
        break;
    case MESSAGE_DONE:
        recorder->done = true;
        recorder->stats = message->stats;
        recorder->stats_fresh = true;
        break;
    case MESSAGE_STATS:
        recorder->stats = message->stats;
        recorder->stats_fresh = true;
        break;
    case MESSAGE_STOP:
        break;
    }
}

/* Waits for one message until the deadline. */
static enum recorder_answer
take_message(struct recorder *recorder, int64_t deadline_ms, int wake_fd,
             struct message *message)
{
    struct pollfd fds[2] = {{.fd = recorder->socket, .events = POLLIN},
                            {.fd = wake_fd, .events = POLLIN}};

    while (!recorder->dead) {
        int64_t left = deadline_ms - now_ms();
        ssize_t got;
        int ready = poll(fds, 2, left > 0 ? (int)left : 0);

        if (ready < 0 && errno == EINTR && wake_fd < 0)
            continue;
        if (ready <= 0 || fds[0].revents == 0)
            return RECORDER_TIMEOUT;
        got = recv(recorder->socket, message, sizeof(*message), 0);
        if (got == (ssize_t)sizeof(*message)) {
            note_message(recorder, message);
            return RECORDER_OK;
        }
        if (got < 0 && errno == EINTR)
            continue;
        bury(recorder);
    }
    return RECORDER_DEAD;
}

static enum recorder_answer
give(enum recorder_answer answer, const struct recorder *recorder,
     char *error, size_t error_size)
{
    if (answer == RECORDER_DEAD && error_size > 0)
        snprintf(error, error_size, "%s", recorder->reason);
    return answer;
}

static void
let_go(struct recorder *recorder)
{
    close(recorder->socket);
    free(recorder);
}

int
recorder_start(struct recorder **out, const struct recorder_options *options,
               char *error, size_t error_size)
{
    struct recorder *recorder = calloc(1, sizeof(*recorder));
    struct message message;
    enum recorder_answer answer;
    int pair[2];

    if (recorder == NULL ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 ||
        (recorder->pid = fork()) < 0) {
        snprintf(error, error_size, "cannot start the recorder: %s",
                 strerror(errno));
        free(recorder);
        return -1;
    }
    if (recorder->pid == 0) {
        close(pair[0]);
        recorder_main(pair[1], options);
    }
    close(pair[1]);
    recorder->socket = pair[0];
    do
        answer = take_message(recorder, now_ms() + ANSWER_PATIENCE_MS, -1,
                              &message);
    while (answer == RECORDER_OK && message.kind == MESSAGE_FAILED);
    if (answer == RECORDER_OK) {
        *out = recorder;
        return 0;
    }
    if (answer == RECORDER_TIMEOUT) {
        snprintf(error, error_size, "%s: the recorder does not start",
                 options->interface);
        kill(recorder->pid, SIGKILL);
        bury(recorder);
    } else {
        snprintf(error, error_size, "%s", recorder->reason);
    }
    let_go(recorder);
    return -1;
}

static bool
marker_known(const struct recorder *recorder, const char *marker)
{
    for (size_t i = 0; i < MARKERS_KEPT; i++)
        if (strcmp(recorder->markers[i], marker) == 0)
            return true;
    return false;
}

enum recorder_answer
recorder_wait_marker(struct recorder *recorder, const char *marker,
                     int timeout_ms, int wake_fd, char *error,
                     size_t error_size)
{
    int64_t deadline = now_ms() + timeout_ms;
    enum recorder_answer answer = RECORDER_OK;
    struct message message;

    while (answer == RECORDER_OK && !marker_known(recorder, marker))
        answer = take_message(recorder, deadline, wake_fd, &message);
    return give(answer, recorder, error, error_size);
}

static enum recorder_answer
ask(struct recorder *recorder, enum message_kind kind)
{
    struct message message = {.kind = kind};

    if (!recorder->dead && send(recorder->socket, &message, sizeof(message),
                                MSG_NOSIGNAL) < 0) {
        /* What it had to say may still be there to read. */
        while (take_message(recorder, now_ms() + ANSWER_PATIENCE_MS, -1,
                            &message) == RECORDER_OK)
            continue;
    }
    return recorder->dead ? RECORDER_DEAD : RECORDER_OK;
}

enum recorder_answer
recorder_get_stats(struct recorder *recorder, struct recorder_stats *stats,
                   char *error, size_t error_size)
{
    enum recorder_answer answer;
    struct message message;

    recorder->stats_fresh = false;
    answer = ask(recorder, MESSAGE_STATS);
    while (answer == RECORDER_OK && !recorder->stats_fresh)
        answer = take_message(recorder, now_ms() + ANSWER_PATIENCE_MS, -1,
                              &message);
    *stats = recorder->stats;
    return give(answer, recorder, error, error_size);
}

enum recorder_answer
recorder_check(struct recorder *recorder, char *error, size_t error_size)
{
    enum recorder_answer answer;
    struct message message;

    do
        answer = take_message(recorder, now_ms(), -1, &message);
    while (answer == RECORDER_OK);
    return give(answer == RECORDER_TIMEOUT ? RECORDER_OK : answer, recorder,
                error, error_size);
}

enum recorder_answer
recorder_stop(struct recorder *recorder, struct recorder_stats *stats,
              char *error, size_t error_size)
{
    enum recorder_answer answer = ask(recorder, MESSAGE_STOP);
    struct message message;

    while (answer == RECORDER_OK && !recorder->done)
        answer = take_message(recorder, now_ms() + STOP_PATIENCE_MS, -1,
                              &message);
    *stats = recorder->stats;
    if (answer == RECORDER_TIMEOUT && recorder->pid > 0)
        kill(recorder->pid, SIGKILL);
    if (!recorder->dead)
        bury(recorder);
    answer = recorder->done ? RECORDER_OK : RECORDER_DEAD;
    give(answer, recorder, error, error_size);
    let_go(recorder);
    return answer;
}

const char *
recorder_filter(const struct recorder *recorder)
{
    return recorder->filter;
}
