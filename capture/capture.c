/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * One engine and one matcher serve all inputs, so that a capture rotated
 * over several files is one capture. The inputs are read one after the
 * other. With threads, a mapped file goes through the engine in a thread of
 * its own (record_ahead), and other inputs are read and decompressed ahead
 * (byte_input). The matcher's thread is always the caller's.
 */
#include "capture/capture.h"

#include "capture/byte_input.h"
#include "capture/capture_filter.h"
#include "capture/frame.h"
#include "capture/packet_engine.h"
#include "capture/pcap_source.h"
#include "capture/record_ahead.h"
#include "capture/rpc_match.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRESS_PACKETS 16384
#define OPENED_FIRST 256 /* well below what a process may have open */
#define NOT_OPENED INT_MIN

struct reading {
    const struct capture_options *options;
    struct packet_engine *engine;
    struct rpc_match *match;
    struct record_ahead *ahead; /* NULL: one thread */
    struct capture_filter *filter;
    uint64_t bytes_before; /* in inputs that were read */
    uint64_t bytes_total;  /* 0: unknown */
    uint64_t passed;       /* packets that the filter let through */
};

void
capture_options_default(struct capture_options *options)
{
    memset(options, 0, sizeof *options);
    options->depth = RPC_DEPTH_COUNTS;
    options->max_pending = 65536;
    options->max_connections = 16384;
    options->max_reorder_bytes = (size_t)8 << 20;
    options->reply_timeout_ns = INT64_C(600) * 1000000000;
}

static void
learn_port(void *context, uint16_t port)
{
    struct reading *reading = context;
    packet_engine_add_port(reading->engine, port);
}

static void
learn_tls(void *context, struct rpc_connection *connection)
{
    struct reading *reading = context;
    packet_engine_set_tls(reading->engine, connection);
}

static void
progress(void *context, uint64_t consumed)
{
    const struct reading *reading = context;
    if (reading->options->progress != NULL) {
        reading->options->progress(reading->options->progress_context,
                                   reading->bytes_before + consumed,
                                   reading->bytes_total);
    }
}

/*
 * Opens the files before somebody gives up the right to open any.
 *
 * @return their descriptors, one per path; those beyond OPENED_FIRST and all
 *         when memory is short are NOT_OPENED.
 */
static int *
open_first(const char *const *paths, size_t count, bool *all)
{
    int *descriptors = calloc(count, sizeof *descriptors);
    *all = descriptors != NULL && count <= OPENED_FIRST;
    for (size_t i = 0; descriptors != NULL && i < count; i++) {
        descriptors[i] = i < OPENED_FIRST ? byte_input_descriptor(paths[i])
                                          : NOT_OPENED;
    }
    return descriptors;
}

static bool
open_input(const char *path, int descriptor, bool ahead,
           struct pcap_source **source, char *error, size_t error_size)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (descriptor == NOT_OPENED) {
        descriptor = byte_input_descriptor(path);
    }
    struct byte_input *input =
        byte_input_open_descriptor(descriptor, path, ahead, error, error_size);
    if (input == NULL) {
        return false;
    }
    *source = pcap_source_new(input, name, error, error_size);
    if (*source == NULL) {
        return false;
    }
    uint32_t link = pcap_source_link_type(*source);
    if (link != UINT32_MAX && !frame_link_known(link)) {
        snprintf(error, error_size,
                 "%s: link type %u is not decoded; capture on an Ethernet, "
                 "loopback, PPP or \"any\" interface",
                 name, link);
        pcap_source_free(*source);
        *source = NULL;
        return false;
    }
    return true;
}

/* With a limit no other thread helps: it would read, and wait for, what is
 * not wanted. */
static bool
has_help(const struct capture_options *options)
{
    return options->threads != 1 && options->packet_limit == 0;
}

static bool
limit_reached(const struct reading *reading)
{
    return reading->options->packet_limit != 0 &&
           reading->passed >= reading->options->packet_limit;
}

/* Packets one by one. */
static enum pcap_source_status
read_one_by_one(struct reading *reading, struct pcap_source *source,
                struct capture_input *input)
{
    struct packet packet;
    enum pcap_source_status status = PCAP_SOURCE_PACKET;
    while (!limit_reached(reading) &&
           (status = pcap_source_next(source, &packet)) == PCAP_SOURCE_PACKET) {
        if (reading->filter != NULL &&
            !capture_filter_match(reading->filter, &packet)) {
            packet_engine_filtered(reading->engine);
        } else {
            packet_engine_packet(reading->engine, &packet);
            reading->passed++;
        }
        if (++input->packets % PROGRESS_PACKETS == 0) {
            progress(reading, pcap_source_consumed(source));
        }
    }
    return status;
}

/* All packets of one input. */
static void
read_packets(struct reading *reading, struct pcap_source *source,
             struct capture_input *input)
{
    enum pcap_source_status status;
    if (reading->ahead == NULL ||
        !record_ahead_read(reading->ahead, source, reading->engine,
                           reading->filter, progress, reading,
                           &input->packets, &status)) {
        status = read_one_by_one(reading, source, input);
    }
    struct packet_losses *losses = packet_engine_losses(reading->engine);
    losses->malformed_packets += pcap_source_malformed(source);
    input->complete = status != PCAP_SOURCE_BROKEN;
    input->bytes = pcap_source_consumed(source);
    if (pcap_source_message(source) != NULL) {
        input->warning = strdup(pcap_source_message(source));
    }
    progress(reading, input->bytes);
    uint64_t size = pcap_source_size(source);
    reading->bytes_before += size > 0 ? size : input->bytes;
}

/* The sizes of all files, or 0 when one has none. */
static uint64_t
total_size(const char *const *paths, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat about;
        if (strcmp(paths[i], "-") == 0 || stat(paths[i], &about) != 0 ||
            !S_ISREG(about.st_mode)) {
            return 0;
        }
        total += (uint64_t)about.st_size;
    }
    return total;
}

/* Closes those of open_first() that nobody took. */
static void
close_rest(int *descriptors, size_t from, size_t count)
{
    for (size_t i = from; descriptors != NULL && i < count; i++) {
        if (descriptors[i] > STDERR_FILENO) {
            close(descriptors[i]);
        }
    }
    free(descriptors);
}

static bool
prepare(struct reading *reading, const struct rpc_transaction_sink *sink,
        char *error, size_t error_size)
{
    if (reading->options->filter != NULL) {
        reading->filter =
            capture_filter_new(reading->options->filter, error, error_size);
        if (reading->filter == NULL) {
            return false;
        }
    }
    reading->match = rpc_match_new(reading->options, sink);
    if (reading->match != NULL) {
        struct rpc_record_sink records = rpc_match_sink(reading->match);
        if (has_help(reading->options)) {
            reading->ahead = record_ahead_new(&records);
        }
        if (reading->ahead != NULL) {
            records = record_ahead_sink(reading->ahead);
        }
        reading->engine = packet_engine_new(reading->options, &records);
    }
    if (reading->engine == NULL) {
        snprintf(error, error_size, "no memory to decode captures");
        return false;
    }
    rpc_match_set_stream_hooks(reading->match, reading, learn_port, learn_tls);
    return true;
}

static void
release(struct reading *reading)
{
    packet_engine_free(reading->engine);
    record_ahead_free(reading->ahead);
    if (reading->match != NULL) {
        rpc_match_free(reading->match);
    }
    capture_filter_free(reading->filter);
}

enum capture_status
capture_read(const char *const *paths, size_t path_count,
             const struct capture_options *options,
             const struct rpc_transaction_sink *sink,
             struct capture_result *result, char *error, size_t error_size)
{
    struct reading reading = {.options = options};
    memset(result, 0, sizeof *result);
    if (error_size > 0) {
        error[0] = '\0';
    }
    result->inputs = calloc(path_count + 1, sizeof *result->inputs);
    if (result->inputs == NULL || !prepare(&reading, sink, error, error_size)) {
        release(&reading);
        return CAPTURE_FAILED;
    }
    reading.bytes_total = total_size(paths, path_count);
    int *descriptors = NULL;
    if (options->ready != NULL) {
        bool all_open;
        descriptors = open_first(paths, path_count, &all_open);
        options->ready(options->ready_context, all_open);
    }
    size_t opened = 0;
    bool incomplete = false;
    for (size_t i = 0; i < path_count && !limit_reached(&reading); i++) {
        struct capture_input *input = &result->inputs[result->input_count++];
        struct pcap_source *source;
        char why[512];
        input->path = strdup(paths[i]);
        if (open_input(paths[i],
                       descriptors != NULL ? descriptors[i] : NOT_OPENED,
                       has_help(options), &source, why, sizeof why)) {
            read_packets(&reading, source, input);
            pcap_source_free(source);
            opened++;
        } else {
            input->warning = strdup(why);
            if (error_size > 0 && error[0] == '\0') {
                snprintf(error, error_size, "%s", why);
            }
        }
        incomplete |= !input->complete;
    }
    close_rest(descriptors, result->input_count, path_count);
    result->limit_reached = limit_reached(&reading);
    packet_engine_finish(reading.engine);
    packet_engine_result(reading.engine, result);
    rpc_match_finish(reading.match, result->last_ns);
    result->rpc = *rpc_match_losses(reading.match);
    release(&reading);
    if (opened == 0) {
        return CAPTURE_FAILED;
    }
    if (error_size > 0) {
        error[0] = '\0';
    }
    return incomplete ? CAPTURE_INCOMPLETE : CAPTURE_OK;
}

void
capture_result_free(struct capture_result *result)
{
    for (size_t i = 0; i < result->input_count; i++) {
        free(result->inputs[i].path);
        free(result->inputs[i].warning);
    }
    free(result->inputs);
    result->inputs = NULL;
    result->input_count = 0;
}
