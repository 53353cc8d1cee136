/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/capture_report.h"

#include <inttypes.h>

size_t
capture_losses(const struct capture_result *result, struct named_loss *losses,
               size_t most)
{
    const struct packet_losses *p = &result->packets;
    const struct rpc_losses *r = &result->rpc;
    const struct named_loss all[] = {
        {"truncated_packets", "packets cut by the snaplen",
         p->truncated_packets, false},
        {"capture_duplicates", "packets captured twice",
         p->capture_duplicates, false},
        {"tcp_retransmissions", "TCP retransmissions", p->tcp_retransmissions,
         false},
        {"keepalives", "TCP keepalives", p->keepalives, false},
        {"gaps", "gaps in TCP streams", p->gaps, true},
        {"gap_bytes", "bytes missing in TCP streams", p->gap_bytes, true},
        {"resync_bytes", "bytes passed over to find a record",
         p->resync_bytes, true},
        {"malformed_records", "malformed records", p->malformed_records, true},
        {"not_rpc_streams", "streams on a server's port that are not RPC",
         p->not_rpc_streams, false},
        {"tls_streams", "streams in TLS: payload not visible", p->tls_streams,
         true},
        {"tls_bytes", "bytes in TLS", p->tls_bytes, true},
        {"incomplete_datagrams", "IP datagrams with fragments missing",
         p->incomplete_datagrams, true},
        {"fragment_overlaps", "overlapping IP fragments",
         p->fragment_overlaps, false},
        {"malformed_packets", "malformed packets", p->malformed_packets, true},
        {"zero_length_ip", "packets with IP length 0 (offload)",
         p->zero_length_ip, false},
        {"unsupported_packets", "packets that are not IP",
         p->unsupported_packets, false},
        {"filtered_packets", "packets left out by the filter",
         p->filtered_packets, false},
        {"time_reversals", "packets stamped earlier than the one before",
         p->time_reversals, false},
        {"reorder_overflows", "times that out-of-order data was given up",
         p->reorder_overflows, true},
        {"connection_overflows", "connections forgotten: limit reached",
         p->connection_overflows, true},
        {"retransmissions", "RPC retransmissions", r->retransmissions, false},
        {"duplicate_replies", "duplicate replies", r->duplicate_replies,
         false},
        {"orphan_replies", "replies without a call", r->orphan_replies, true},
        {"unanswered_calls", "calls without a reply", r->unanswered_calls,
         false},
        {"malformed_calls", "malformed calls", r->malformed_calls, true},
        {"malformed_replies", "malformed replies", r->malformed_replies, true},
        {"partly_decoded", "messages decoded in part", r->partly_decoded,
         false},
        {"unattributed_compounds", "COMPOUNDs with operations not visible",
         r->unattributed_compounds, true},
        {"encrypted_calls", "encrypted calls: operations not visible",
         r->encrypted_calls, true},
        {"negative_latencies", "replies stamped before their call",
         r->negative_latencies, false},
        {"pending_overflows", "outstanding calls given up: limit reached",
         r->pending_overflows, true},
        {"unknown_program_calls", "calls of unknown programs",
         r->unknown_program_calls, false},
        {"trailing_bytes", "bytes after the end of a message",
         r->trailing_bytes, false},
    };
    const size_t count = sizeof all / sizeof all[0];
    size_t i;

    for (i = 0; i < count && i < most; i++)
        losses[i] = all[i];
    return count;
}

bool
capture_limit_text(const struct capture_result *result, char *text,
                   size_t size)
{
    const struct packet_losses *p = &result->packets;

    if (!result->limit_reached)
        return false;
    snprintf(text, size, "Stopped after %" PRIu64 " packets, the limit of -c: "
             "what may come later was not looked at, and a call whose reply "
             "comes later is counted as unanswered.",
             p->packets - p->filtered_packets);
    return true;
}

void
capture_report_nothing(const struct capture_report *report, FILE *out)
{
    const struct packet_losses *p = &report->result->packets;
    const struct capture_result *result = report->result;

    if (result->rpc.calls > 0 || result->rpc.replies > 0)
        return;
    fputs("No RPC was found in this capture:\n", out);
    if (p->packets == 0)
        fputs("  - it holds no packet at all.\n", out);
    if (report->filter != NULL && p->filtered_packets > 0)
        fprintf(out, "  - the filter left out %" PRIu64 " of %" PRIu64
                " packets; try without -f.\n", p->filtered_packets,
                p->packets);
    if (p->tls_streams > 0)
        fprintf(out, "  - %" PRIu64 " streams are RPC-over-TLS: %" PRIu64
                " bytes whose calls cannot be seen; capture on the server "
                "after decryption, or use mountstats.\n", p->tls_streams,
                p->tls_bytes);
    if (result->saw_rdma)
        fputs("  - there is RDMA traffic: NFS over RDMA does not show its "
              "calls to a capture; use mountstats.\n", out);
    if (p->not_rpc_streams > 0)
        fprintf(out, "  - %" PRIu64 " streams on a server's port are "
                "something other than RPC.\n", p->not_rpc_streams);
    if (p->payload_bytes_on_port > 0 && p->resync_bytes > 0)
        fprintf(out, "  - %" PRIu64 " bytes of payload on a server's port "
                "hold no start of a record: the capture begins in the middle "
                "of a long one, or packets are missing.\n",
                p->payload_bytes_on_port);
    if (p->payload_bytes_on_port == 0 && !result->saw_rdma &&
        result->tcp_payload_packets + result->udp_payload_packets > 0)
        fprintf(out, "  - nothing on ports 2049, 20049 or 111; the busiest "
                "port is %u: if NFS is there, say --port %u.\n",
                result->busiest_port, result->busiest_port);
    if (p->packets > 0 && p->unsupported_packets == p->packets)
        fputs("  - none of its packets is IP.\n", out);
    if (p->packets > 0 && p->unsupported_packets < p->packets &&
        result->tcp_payload_packets + result->udp_payload_packets == 0)
        fputs("  - no packet carries payload: the snaplen is too short, or "
              "only empty acknowledgements were captured.\n", out);
}
