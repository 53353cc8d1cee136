/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The live capture: a process of its own that writes what an interface sees
 * into a pcap file with nanosecond times.
 *
 * Legal order: recorder_start(); then recorder_wait_marker() and
 * recorder_stats() as often as wanted; recorder_stop(). After an error the
 * recorder is dead: recorder_stop() is all that is left, and gives the
 * reason again.
 */
#ifndef NAT_CAPTURE_RECORDER_H
#define NAT_CAPTURE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorder;

struct recorder_options {
    const char *interface;
    const char *filter;         /* libpcap's language */
    const char *filter_instead; /* when the link type cannot have the first
                                   (no vlan on a tunnel), or NULL */
    unsigned snaplen;           /* 0: everything */
    unsigned ring_kib;          /* 0: 64 MiB */
    const char *path;           /* the file to write */
    const char *marker_prefix;  /* text that begins every marker */
};

struct recorder_stats { /* since the start, pcap_stats(3PCAP) */
    bool known;
    uint64_t received, kernel_drops, interface_drops;
    uint64_t written; /* packets in the file */
};

enum recorder_answer {
    RECORDER_OK,
    RECORDER_TIMEOUT,
    RECORDER_DEAD, /* killed, disk full, interface gone: see error */
};

/*
 * Forks the recorder, which opens interface and file, gives up its
 * privileges and starts to capture.
 * @return 0, or -1 with one line in error that says what is missing.
 */
int recorder_start(struct recorder **recorder,
                   const struct recorder_options *options, char *error,
                   size_t error_size);

/*
 * Waits until a packet with exactly this marker was seen and written. A
 * marker seen earlier (of the last 64) counts. Ends early, as a timeout, when
 * wake_fd (or -1) becomes readable.
 */
enum recorder_answer recorder_wait_marker(struct recorder *recorder,
                                          const char *marker, int timeout_ms,
                                          int wake_fd, char *error,
                                          size_t error_size);

enum recorder_answer recorder_get_stats(struct recorder *recorder,
                                        struct recorder_stats *stats,
                                        char *error, size_t error_size);

/* Is it alive? Takes what it reported, does not wait. */
enum recorder_answer recorder_check(struct recorder *recorder, char *error,
                                    size_t error_size);

/*
 * Drains what the ring still holds, closes the file, ends and frees the
 * recorder.
 * @return RECORDER_OK and the final figures, or RECORDER_DEAD: the file ends
 *         somewhere before, stats are the last known ones.
 */
enum recorder_answer recorder_stop(struct recorder *recorder,
                                   struct recorder_stats *stats, char *error,
                                   size_t error_size);

/* The filter in force; valid until recorder_stop(). */
const char *recorder_filter(const struct recorder *recorder);

#endif
