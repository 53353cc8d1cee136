/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/pcap_builder.h"

#include <stdlib.h>
#include <string.h>

static void
need(int condition)
{
    if (!condition)
        abort();
}

static void
put(struct bytes *bytes, const void *data, size_t length)
{
    need(bytes->length + length <= sizeof bytes->data);
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

static void
put_u16(struct bytes *bytes, unsigned value)
{
    const uint8_t two[2] = {(uint8_t)(value >> 8), (uint8_t)value};

    put(bytes, two, 2);
}

void
put_u32(struct bytes *bytes, uint32_t value)
{
    put_u16(bytes, value >> 16);
    put_u16(bytes, value & 0xffff);
}

static void
put_u64(struct bytes *bytes, uint64_t value)
{
    put_u32(bytes, (uint32_t)(value >> 32));
    put_u32(bytes, (uint32_t)value);
}

void
put_opaque(struct bytes *bytes, const void *data, size_t length)
{
    static const uint8_t fill[3];

    put_u32(bytes, (uint32_t)length);
    put(bytes, data, length);
    put(bytes, fill, (4 - length % 4) % 4);
}

void
put_call(struct bytes *bytes, uint32_t xid, uint32_t program, uint32_t version,
         uint32_t procedure, const char *machine, uint32_t uid)
{
    struct bytes body = {.length = 0};

    put_u32(bytes, xid);
    put_u32(bytes, 0); /* CALL */
    put_u32(bytes, 2); /* RPC version */
    put_u32(bytes, program);
    put_u32(bytes, version);
    put_u32(bytes, procedure);
    if (machine != NULL) {
        put_u32(&body, 0x5eed); /* stamp */
        put_opaque(&body, machine, strlen(machine));
        put_u32(&body, uid);
        put_u32(&body, uid);
        put_u32(&body, 0); /* gids */
        put_u32(bytes, 1); /* AUTH_SYS */
        put_opaque(bytes, body.data, body.length);
    } else {
        put_u32(bytes, 0);
        put_u32(bytes, 0);
    }
    put_u32(bytes, 0); /* verifier: AUTH_NONE */
    put_u32(bytes, 0);
}

void
put_reply(struct bytes *bytes, uint32_t xid)
{
    put_u32(bytes, xid);
    put_u32(bytes, 1); /* REPLY */
    put_u32(bytes, 0); /* accepted */
    put_u32(bytes, 0); /* verifier: AUTH_NONE */
    put_u32(bytes, 0);
    put_u32(bytes, 0); /* SUCCESS */
}

static void
put_time(struct bytes *bytes, int64_t ns)
{
    put_u32(bytes, (uint32_t)(ns / 1000000000));
    put_u32(bytes, (uint32_t)(ns % 1000000000));
}

void
put_fattr3(struct bytes *bytes, uint64_t fileid, uint64_t size,
           int64_t atime_ns, int64_t mtime_ns, int64_t ctime_ns)
{
    put_u32(bytes, 1);    /* NF3REG */
    put_u32(bytes, 0755); /* mode */
    put_u32(bytes, 1);    /* nlink */
    put_u32(bytes, 0);    /* uid */
    put_u32(bytes, 0);    /* gid */
    put_u64(bytes, size);
    put_u64(bytes, size); /* used */
    put_u64(bytes, 0);    /* rdev */
    put_u64(bytes, 1);    /* fsid */
    put_u64(bytes, fileid);
    put_time(bytes, atime_ns);
    put_time(bytes, mtime_ns);
    put_time(bytes, ctime_ns);
}

static void
write_le32(FILE *file, uint32_t value)
{
    const uint8_t four[4] = {(uint8_t)value, (uint8_t)(value >> 8),
                             (uint8_t)(value >> 16), (uint8_t)(value >> 24)};

    need(fwrite(four, 1, 4, file) == 4);
}

void
pcap_begin(struct pcap_out *out, const char *path)
{
    memset(out, 0, sizeof *out);
    out->sequence[0] = 1000;
    out->sequence[1] = 500000;
    out->file = fopen(path, "wb");
    need(out->file != NULL);
    write_le32(out->file, 0xa1b23c4d);
    write_le32(out->file, 2 | 4 << 16);
    write_le32(out->file, 0);
    write_le32(out->file, 0);
    write_le32(out->file, 262144);
    write_le32(out->file, 1); /* Ethernet */
}

void
pcap_end(struct pcap_out *out)
{
    need(fclose(out->file) == 0);
}

static void
write_packet(struct pcap_out *out, int64_t when_ns, int from_server,
             unsigned protocol, const struct bytes *transport)
{
    static const uint8_t ethernet[14] = {2, 0, 0, 0, 0, 2, 2,
                                         0, 0, 0, 0, 1, 8, 0};
    struct bytes packet = {.length = 0};

    put(&packet, ethernet, sizeof ethernet);
    put_u16(&packet, 0x4500);
    put_u16(&packet, (unsigned)(20 + transport->length));
    put_u16(&packet, ++out->ip_id);
    put_u16(&packet, 0x4000);
    put_u16(&packet, 64 << 8 | protocol);
    put_u16(&packet, 0);
    put_u32(&packet, from_server ? 0x0a000002 : 0x0a000001);
    put_u32(&packet, from_server ? 0x0a000001 : 0x0a000002);
    put(&packet, transport->data, transport->length);
    write_le32(out->file, (uint32_t)(when_ns / 1000000000));
    write_le32(out->file, (uint32_t)(when_ns % 1000000000));
    write_le32(out->file, (uint32_t)packet.length);
    write_le32(out->file, (uint32_t)packet.length);
    need(fwrite(packet.data, 1, packet.length, out->file) == packet.length);
}

static void
put_ports(struct bytes *bytes, int from_server, uint16_t client_port)
{
    put_u16(bytes, from_server ? 2049 : client_port);
    put_u16(bytes, from_server ? client_port : 2049);
}

void
pcap_udp(struct pcap_out *out, int64_t when_ns, int from_server,
         uint16_t client_port, const struct bytes *message)
{
    struct bytes udp = {.length = 0};

    put_ports(&udp, from_server, client_port);
    put_u16(&udp, (unsigned)(8 + message->length));
    put_u16(&udp, 0);
    put(&udp, message->data, message->length);
    write_packet(out, when_ns, from_server, 17, &udp);
}

void
pcap_tcp(struct pcap_out *out, int64_t when_ns, int from_server,
         uint16_t client_port, const struct bytes *message)
{
    struct bytes tcp = {.length = 0};
    const int side = from_server != 0;

    put_ports(&tcp, from_server, client_port);
    put_u32(&tcp, out->sequence[side]);
    put_u32(&tcp, out->sequence[!side]);
    put_u16(&tcp, 0x5018); /* no options; PSH, ACK */
    put_u16(&tcp, 65535);
    put_u32(&tcp, 0);
    put_u32(&tcp, 0x80000000u | (uint32_t)message->length);
    put(&tcp, message->data, message->length);
    out->sequence[side] += 4 + (uint32_t)message->length;
    write_packet(out, when_ns, from_server, 6, &tcp);
}
