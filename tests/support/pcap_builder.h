/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Captures for tests, byte by byte from the RFCs: an RPC message, a UDP
 * datagram or TCP segment around it, a pcap file of those. Nothing here uses
 * the code under test.
 */
#ifndef NAT_TESTS_PCAP_BUILDER_H
#define NAT_TESTS_PCAP_BUILDER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct bytes {
    uint8_t data[8192];
    size_t length;
};

void put_u32(struct bytes *bytes, uint32_t value);
/* XDR opaque: length, data, fill to a multiple of 4 (RFC 4506 4.10). */
void put_opaque(struct bytes *bytes, const void *data, size_t length);

/* RFC 5531 section 9: a call with AUTH_SYS (appendix A) of that machine name,
 * uid and gid, or AUTH_NONE when machine is NULL. */
void put_call(struct bytes *bytes, uint32_t xid, uint32_t program,
              uint32_t version, uint32_t procedure, const char *machine,
              uint32_t uid);
/* An accepted, successful reply up to its results. */
void put_reply(struct bytes *bytes, uint32_t xid);

/* RFC 1813 fattr3 of a regular file (84 bytes). Times in ns. */
void put_fattr3(struct bytes *bytes, uint64_t fileid, uint64_t size,
                int64_t atime_ns, int64_t mtime_ns, int64_t ctime_ns);

struct pcap_out {
    FILE *file;
    uint32_t sequence[2]; /* TCP, client and server */
    uint16_t ip_id;
};

/* A little-endian nanosecond pcap, Ethernet. Fails the test when it cannot. */
void pcap_begin(struct pcap_out *out, const char *path);
void pcap_end(struct pcap_out *out);

/* One UDP datagram between client 10.0.0.1:client_port and server
 * 10.0.0.2:2049. */
void pcap_udp(struct pcap_out *out, int64_t when_ns, int from_server,
              uint16_t client_port, const struct bytes *message);
/* The message in one TCP segment with its record mark (RFC 5531 11). */
void pcap_tcp(struct pcap_out *out, int64_t when_ns, int from_server,
              uint16_t client_port, const struct bytes *message);

#endif
