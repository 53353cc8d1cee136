/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packets in, RPC records out: ties frames, fragments, connections and
 * streams together. Knows nothing of files.
 */
#ifndef NAT_CAPTURE_PACKET_ENGINE_H
#define NAT_CAPTURE_PACKET_ENGINE_H

#include "capture/capture.h"
#include "capture/pcap_source.h"
#include "capture/rpc_record.h"

#include <stdint.h>

struct packet_engine;

/*
 * Uses of the options: depth, ports, max_connections and max_reorder_bytes
 * (0: the defaults). The sink is copied. NULL when there is no memory.
 */
struct packet_engine *
packet_engine_new(const struct capture_options *options,
                  const struct rpc_record_sink *sink);
void
packet_engine_free(struct packet_engine *engine);

/* One packet, in the order of the capture. */
void
packet_engine_packet(struct packet_engine *engine, const struct packet *packet);

/* One that a filter left out: counted, nothing else. */
void
packet_engine_filtered(struct packet_engine *engine);

/*
 * From now on a connection lives on after the sink was told of its end, and
 * whoever was told ends its life (from any thread).
 */
void
packet_engine_keep_ended(struct packet_engine *engine, bool keep);
void
packet_engine_forget(struct rpc_connection *connection);

/* End of input: all connections end, in order of their serial. */
void
packet_engine_finish(struct packet_engine *engine);

/* Learned from the RPC half, also from inside a record callback. */
void
packet_engine_add_port(struct packet_engine *engine, uint16_t port);
void
packet_engine_set_tls(struct packet_engine *engine,
                      struct rpc_connection *connection);

/* Counters so far; `losses` may be added to by the caller. */
struct packet_losses *
packet_engine_losses(struct packet_engine *engine);

/* Fills in what capture_result says of packets. */
void
packet_engine_result(const struct packet_engine *engine,
                     struct capture_result *result);

#endif
