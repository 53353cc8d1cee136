/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs the packet half in a thread of its own, ahead of the RPC half: the
 * thread reads a file, and what the engine hands to its sink comes out in the
 * caller's thread, in the same order and with the same content.
 */
#ifndef NAT_CAPTURE_RECORD_AHEAD_H
#define NAT_CAPTURE_RECORD_AHEAD_H

#include "capture/capture_filter.h"
#include "capture/packet_engine.h"
#include "capture/pcap_source.h"
#include "capture/rpc_record.h"

#include <stdbool.h>
#include <stdint.h>

struct record_ahead;

/* How much of the file the thread has read; called in the caller's thread. */
typedef void (*record_ahead_progress)(void *context, uint64_t bytes);

/*
 * @param sink who takes the records in the end; copied. NULL: no memory.
 */
struct record_ahead *
record_ahead_new(const struct rpc_record_sink *sink);
void
record_ahead_free(struct record_ahead *ahead);

/* The sink to give to the engine. While no file is being read it passes all
 * straight on. */
struct rpc_record_sink
record_ahead_sink(struct record_ahead *ahead);

/*
 * Reads all packets of `source` through `engine`, whose sink must be the one
 * above.
 *
 * @param filter or NULL; used by the other thread until the end.
 * @param packets packets read.
 * @param status how the source ended.
 * @return false when the source cannot be read that way (or there is no
 *         thread): nothing was read, read it packet by packet then.
 */
bool
record_ahead_read(struct record_ahead *ahead, struct pcap_source *source,
                  struct packet_engine *engine, struct capture_filter *filter,
                  record_ahead_progress progress, void *progress_context,
                  uint64_t *packets, enum pcap_source_status *status);

#endif
