# SPDX-License-Identifier: GPL-3.0-or-later
"""Captures as lists of packets, and their ways into a file: links, tags,
tunnels, formats. Written from the RFCs and file format documents; nothing of
the program under test is used."""
import struct
from dataclasses import dataclass, replace

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


@dataclass(frozen=True)
class Packet:
    """One TCP segment or UDP datagram."""
    ns: int
    source: bytes
    destination: bytes
    sport: int
    dport: int
    payload: bytes
    udp: bool = False
    seq: int = 0
    ack: int = 0
    flags: int = ACK
    window: int = 500
    ip_id: int = 1
    ttl: int = 64
    options: bytes = b""


def read_pcap(path):
    """Packets of a little-endian Ethernet pcap with microseconds."""
    data = open(path, "rb").read()
    assert data[:4] == struct.pack("<I", 0xA1B2C3D4), path
    packets, at = [], 24
    while at < len(data):
        s, us, captured, length = struct.unpack_from("<IIII", data, at)
        assert captured == length, "the golden captures are whole"
        frame = data[at + 16:at + 16 + captured]
        at += 16 + captured
        assert frame[12:14] == b"\x08\x00" and frame[14] == 0x45
        total, ip_id = struct.unpack_from(">HH", frame, 16)
        l4 = frame[34:14 + total]
        base = dict(ns=s * 10**9 + us * 1000, source=frame[26:30],
                    destination=frame[30:34], ip_id=ip_id, ttl=frame[22])
        sport, dport = struct.unpack_from(">HH", l4)
        if frame[23] == 17:
            packets.append(Packet(sport=sport, dport=dport, udp=True,
                                  payload=l4[8:], **base))
            continue
        assert frame[23] == 6
        seq, ack, off, flags, window = struct.unpack_from(">IIBBH", l4, 4)
        head = (off >> 4) * 4
        packets.append(Packet(sport=sport, dport=dport, seq=seq, ack=ack,
                              flags=flags, window=window,
                              options=l4[20:head], payload=l4[head:], **base))
    return packets


# --- network layer -----------------------------------------------------------

def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def transport(p):
    pseudo = p.source + p.destination
    if p.udp:
        length = 8 + len(p.payload)
        head = struct.pack(">HHH", p.sport, p.dport, length & 0xFFFF)
        rest = p.payload
        sum_ = checksum(pseudo + struct.pack(">HH", 17, length & 0xFFFF) +
                        head + b"\0\0" + rest)
        return head + struct.pack(">H", sum_) + rest
    head = struct.pack(">HHIIBBH", p.sport, p.dport, p.seq & 0xFFFFFFFF,
                       p.ack & 0xFFFFFFFF,
                       (20 + len(p.options)) // 4 << 4, p.flags, p.window)
    rest = b"\0\0" + p.options + p.payload
    length = (len(head) + 2 + len(rest)) & 0xFFFF
    sum_ = checksum(pseudo + struct.pack(">HH", 6, length) + head + b"\0\0" +
                    rest)
    return head + struct.pack(">H", sum_) + rest


def ipv4_header(p, length, piece=0, protocol=None):
    head = struct.pack(">BBHHHBB", 0x45, 0, length, p.ip_id, piece or 0x4000,
                       p.ttl, protocol or (17 if p.udp else 6))
    sum_ = checksum(head + b"\0\0" + p.source + p.destination)
    return head + struct.pack(">H", sum_) + p.source + p.destination


def ipv4(p, zero_length=False):
    body = transport(p)
    return ipv4_header(p, 0 if zero_length else 20 + len(body)) + body


def ipv4_fragments(p, size=1480):
    """One packet as its fragments."""
    body = transport(p)
    if len(body) <= size:
        return [ipv4(p)]
    out = []
    for at in range(0, len(body), size):
        piece = body[at:at + size]
        more = 0x2000 if at + size < len(body) else 0
        out.append(ipv4_header(p, 20 + len(piece), at // 8 | more) + piece)
    return out


def six(address):
    return b"\xfd\x77" + bytes(10) + address


def ipv6(p, extra=b"", next_header=None):
    q = replace(p, source=six(p.source), destination=six(p.destination))
    body = extra + transport(q)
    return (struct.pack(">IHBB", 6 << 28, len(body),
                        next_header if extra else 17 if p.udp else 6,
                        p.ttl) +
            q.source + q.destination + body)


def ipv6_with_options(p):
    """Hop-by-hop and destination options before the transport header."""
    protocol = 17 if p.udp else 6
    pad = b"\1\4\0\0\0\0"  # PadN
    return ipv6(p, bytes([60, 0]) + pad + bytes([protocol, 0]) + pad, 0)


def ipv6_fragments(p, size=1448):
    q = replace(p, source=six(p.source), destination=six(p.destination))
    body, protocol = transport(q), 17 if p.udp else 6
    if len(body) <= size:
        return [ipv6(p)]
    out = []
    for at in range(0, len(body), size):
        piece = body[at:at + size]
        head = struct.pack(">BBHI", protocol, 0,
                           at | (at + size < len(body)), p.ip_id or 7)
        out.append(struct.pack(">IHBB", 6 << 28, 8 + len(piece), 44, p.ttl) +
                   q.source + q.destination + head + piece)
    return out


# --- link layer: IP packet -> frame ------------------------------------------

def ether_type(ip):
    return b"\x08\x00" if ip[0] >> 4 == 4 else b"\x86\xdd"


MACS = bytes.fromhex("020000770002020000770001")


def ethernet(ip):
    return MACS + ether_type(ip) + ip


def padded(ip):
    """The minimum of Ethernet, and a frame check sequence behind it."""
    frame = ethernet(ip)
    return frame + b"\xee" * max(0, 60 - len(frame)) + b"\xfc\xfc\xfc\xfc"


def tagged(*tpids):
    def link(ip):
        tags = b"".join(struct.pack(">HH", t, i + 1)
                        for i, t in enumerate(tpids))
        return MACS + tags + ether_type(ip) + ip
    return link


def snap(ip):
    body = b"\xaa\xaa\x03\0\0\0" + ether_type(ip) + ip
    return MACS + struct.pack(">H", len(body)) + body


def fddi(ip):
    return b"\x50" + MACS + b"\xaa\xaa\x03\0\0\0" + ether_type(ip) + ip


def sll(ip):
    return struct.pack(">HHH8s", 0, 1, 6, MACS) + ether_type(ip) + ip


def sll2(ip):
    return (ether_type(ip) + b"\0\0" + struct.pack(">IHBB8s", 3, 1, 0, 6,
                                                   MACS) + ip)


def null(order, six_is):
    def link(ip):
        return struct.pack(order + "I", 2 if ip[0] >> 4 == 4 else six_is) + ip
    return link


def ppp(ip):
    return b"\xff\x03" + (b"\0\x21" if ip[0] >> 4 == 4 else b"\0\x57") + ip


def raw(ip):
    return ip


def outer(protocol, body):
    return (struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 9, 0, 64,
                        protocol, 0) + b"\xc0\0\2\1" + b"\xc0\0\2\2" + body)


def udp_outer(port, body):
    return outer(17, struct.pack(">HHHH", 50000, port, 8 + len(body), 0) +
                 body)


def vxlan(ip):
    return ethernet(udp_outer(4789, b"\x08\0\0\0\0\0\x2a\0" + ethernet(ip)))


def geneve(ip):
    # With one option of 4 bytes behind its head of 4.
    return ethernet(udp_outer(6081, b"\x02\0\x65\x58\0\0\x2a\0" +
                              b"\1\2\3\1abcd" + ethernet(ip)))


def gre(ip):
    return ethernet(outer(47, b"\0\0" + ether_type(ip) + ip))


def gre_ethernet(ip):
    # With a key.
    return ethernet(outer(47, b"\x20\0\x65\x58\0\0\0\x2a" + ethernet(ip)))


LINKS = {
    "ethernet": (1, ethernet), "padded": (1, padded),
    "vlan": (1, tagged(0x8100)), "qinq": (1, tagged(0x88A8, 0x8100)),
    "vlan-9100": (1, tagged(0x9100)), "vlan-9200": (1, tagged(0x9200)),
    "three-tags": (1, tagged(0x88A8, 0x88A8, 0x8100)),
    "snap": (1, snap), "sll": (113, sll), "sll2": (276, sll2),
    "null-le": (0, null("<", 24)), "null-be": (0, null(">", 30)),
    "loop": (108, null(">", 28)), "raw": (101, raw), "raw-12": (12, raw),
    "ppp": (9, ppp), "fddi": (10, fddi), "vxlan": (1, vxlan),
    "geneve": (1, geneve),
    "gre": (1, gre), "gre-ethernet": (1, gre_ethernet),
}


# --- files: [(ns, frame, captured)] -> bytes ---------------------------------

def frames(packets, link="ethernet", network=ipv4, snaplen=262144):
    """(link type, [(ns, bytes at hand, length)])"""
    number, wrap = LINKS[link]
    out = []
    for p in packets:
        pieces = network(p)
        for ip in pieces if isinstance(pieces, list) else [pieces]:
            frame = wrap(ip)
            out.append((p.ns, frame[:snaplen], len(frame)))
    return number, out


def pcap(link_and_frames, order="<", nanoseconds=False, snaplen=262144):
    link, rows = link_and_frames
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link)]
    for ns, data, length in rows:
        fraction = ns % 10**9 // (1 if nanoseconds else 1000)
        out.append(struct.pack(order + "IIII", ns // 10**9, fraction,
                               len(data), length) + data)
    return b"".join(out)


def pcapng(link_and_frames, order="<", resolution=9, sections=1):
    """Unknown blocks and options in between; `sections` share the packets."""
    link, rows = link_and_frames

    def block(kind, body):
        body += bytes(-len(body) % 4)
        length = struct.pack(order + "I", 12 + len(body))
        return struct.pack(order + "I", kind) + length + body + length

    out, size = [], -(-len(rows) // sections)
    for first in range(0, len(rows), size or 1):
        out.append(block(0x0A0D0D0A,
                         struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)))
        out.append(block(1, struct.pack(order + "HHI", 147, 0, 0)))
        out.append(block(1, struct.pack(order + "HHI", link, 0, 0) +
                         struct.pack(order + "HHB3xHH", 9, 1, resolution, 0,
                                     0)))
        out.append(block(0x0BAD, b"not known to anyone"))
        for ns, data, length in rows[first:first + size]:
            if resolution & 0x80:
                ticks = ns * 2**(resolution & 0x7F) // 10**9
            else:
                ticks = ns * 10**resolution // 10**9
            out.append(block(6, struct.pack(order + "IIIII", 1, ticks >> 32,
                                            ticks & 0xFFFFFFFF, len(data),
                                            length) + data))
    return b"".join(out)
