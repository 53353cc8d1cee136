/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the packet half of this floor hands to the RPC half: connections and,
 * on them, records (RFC 5531 section 11, record marking) or UDP datagrams.
 *
 * Everything here is in capture time: signed nanoseconds since the epoch by
 * the capture's clock, whatever resolution the file had.
 */
#ifndef NAT_CAPTURE_RPC_RECORD_H
#define NAT_CAPTURE_RPC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One end of a connection. IPv4 addresses use the first 4 bytes. */
struct rpc_endpoint {
    uint8_t family;      /* 4 or 6 */
    uint8_t address[16]; /* network order */
    uint16_t port;       /* host order */
};

enum rpc_transport { RPC_TRANSPORT_UDP, RPC_TRANSPORT_TCP };

/*
 * A pair of endpoints. ends[0] is the side that sorts lower by (address,
 * port): stable whoever talks first. Direction d means "sent by ends[d]".
 * Who is the RPC client is the RPC half's to decide, by content.
 *
 * The RPC half keeps its own state in `match`; it is NULL on a new
 * connection. When a connection ends (reset, port reuse, idle eviction, end
 * of input) rpc_record_sink.connection_end is called once, and the structure
 * is gone after that.
 */
struct rpc_connection {
    uint64_t serial; /* 1, 2, ... in order of first packet */
    enum rpc_transport transport;
    struct rpc_endpoint ends[2];
    bool teaches; /* the packet half's: what is said here may concern it */
    void *match;
};

/*
 * The bytes of a record that are at hand, in order of offset. Pieces do not
 * overlap; what lies between them (or after the last up to record.length) is
 * a hole: either never captured (snaplen, lost segment) or payload that was
 * stepped over on purpose. Valid during the callback only.
 */
struct rpc_piece {
    uint32_t offset; /* in the record, record marks not counted */
    uint32_t length;
    const uint8_t *data;
};

enum rpc_record_flag {
    RPC_RECORD_SNAPPED = 1 << 0,  /* some bytes missing because of snaplen */
    RPC_RECORD_GAP = 1 << 1,      /* some bytes missing: lost packets */
    RPC_RECORD_SKIPPED = 1 << 2,  /* payload stepped over by choice */
    RPC_RECORD_CUT = 1 << 3,      /* stream ended inside the record */
    RPC_RECORD_DATAGRAM = 1 << 4, /* UDP: no record mark */
};

struct rpc_record {
    struct rpc_connection *connection;
    unsigned direction; /* 0 or 1: sent by ends[direction] */
    unsigned flags;     /* enum rpc_record_flag */
    uint32_t length;    /* the whole record's, holes counted */
    uint32_t fragments; /* record marking fragments; 0 for a datagram */
    const struct rpc_piece *pieces;
    unsigned piece_count;
    int64_t first_ns; /* time of the packet with the record's first byte */
    int64_t last_ns;  /* time of the last packet with a captured byte of it */
};

/* Losses and oddities that the packet half counts by name; all of them are
 * printed. */
struct packet_losses {
    uint64_t packets;            /* read from the capture */
    uint64_t truncated_packets;  /* caplen < length on the wire */
    uint64_t capture_duplicates; /* the same packet captured twice */
    uint64_t tcp_retransmissions; /* segments all of whose bytes were known */
    uint64_t keepalives;
    uint64_t gap_bytes;          /* stream bytes never seen, ACKed or given up */
    uint64_t gaps;
    uint64_t resync_bytes;       /* bytes passed over looking for a record */
    uint64_t malformed_records;  /* record mark impossible, or record < 8 B */
    uint64_t not_rpc_streams;    /* on a known port, but not RPC by content */
    uint64_t tls_streams;        /* RPC-over-TLS: payload not visible */
    uint64_t tls_bytes;
    uint64_t incomplete_datagrams; /* IP fragments that never completed */
    uint64_t fragment_overlaps;
    uint64_t malformed_packets;  /* headers that contradict themselves */
    uint64_t zero_length_ip;     /* IP length 0: offload, captured length used */
    uint64_t unsupported_packets; /* no IP inside, or a link not decoded */
    uint64_t filtered_packets;   /* left out by the -f filter */
    uint64_t time_reversals;     /* stamp earlier than the packet before */
    uint64_t reorder_overflows;  /* out-of-order data given up: limit reached */
    uint64_t connection_overflows; /* connections evicted: limit reached */
    uint64_t payload_bytes_on_port; /* TCP and UDP payload on a server port */
};

/*
 * Called by the packet half. `outstanding` is asked while it looks for the
 * start of a record after a gap: is this xid one whose reply is awaited in
 * that direction? (Never an error; false when in doubt.)
 */
struct rpc_record_sink {
    void *context;
    void (*record)(void *context, const struct rpc_record *record);
    bool (*outstanding)(void *context, const struct rpc_connection *connection,
                        unsigned direction, uint32_t xid);
    /* A hole of unknown content in a stream: records may be missing. */
    void (*gap)(void *context, struct rpc_connection *connection,
                unsigned direction, uint64_t bytes, int64_t when_ns);
    /* The RPC half saw AUTH_TLS answered with STARTTLS itself (it returns
     * that through rpc_stream_set_tls); no callback needed here. */
    void (*connection_end)(void *context, struct rpc_connection *connection,
                           int64_t when_ns);
};

#endif
