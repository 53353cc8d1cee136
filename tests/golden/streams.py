# SPDX-License-Identifier: GPL-3.0-or-later
"""RPC messages out of golden captures, and packets made of them again in
other shapes: the same calls and replies, cut, merged, repeated, mixed up."""
import random
import struct
from dataclasses import dataclass, replace

from packets import ACK, FIN, PSH, SYN, Packet


@dataclass(frozen=True)
class Message:
    """A record or datagram; connection is (client, port, server, port)."""
    ns: int
    connection: tuple
    from_server: bool
    body: bytes


def u32(*values):
    return struct.pack(f">{len(values)}I", *values)


def opaque(data):
    return u32(len(data)) + data + bytes(-len(data) % 4)


def messages_of(packets):
    """In the order in which they were complete. The captures are whole and
    in order: every connection begins with a SYN or at a record."""
    streams, out = {}, []
    opened = {}
    for p in packets:
        key = (p.source, p.sport, p.destination, p.dport)
        back = (p.destination, p.dport, p.source, p.sport)
        if key not in opened and back not in opened:
            # In the middle of a connection: the server has the known port.
            server_first = p.sport in (2049, 111, 20048)
            opened[back if server_first else key] = True
        connection, from_server = ((key, False) if key in opened
                                   else (back, True))
        if p.udp:
            out.append(Message(p.ns, connection, from_server, p.payload))
            continue
        data = streams.get(key, b"") + p.payload
        while len(data) >= 4:
            mark = struct.unpack_from(">I", data)[0]
            assert mark >> 31, "one fragment each"
            length = mark & 0x7FFFFFFF
            if len(data) < 4 + length:
                break
            out.append(Message(p.ns, connection, from_server,
                               data[4:4 + length]))
            data = data[4 + length:]
        streams[key] = data
    assert not any(streams.values()), "the captures end at a record"
    return out


def mark(body, sizes=()):
    """The record with its marks; `sizes` of all fragments but the last."""
    out, at = b"", 0
    for size in sizes:
        if at + size >= len(body):
            break
        out += u32(size) + body[at:at + size]
        at += size
    return out + u32(0x80000000 | len(body) - at) + body[at:]


class Shape:
    """How messages become TCP segments."""
    initial = 1000          # sequence number of the first byte, less one
    handshake = True
    acknowledge = True

    def cut(self, record):  # marked record -> segments
        return [record]

    def record(self, body):
        return mark(body)

    def packets(self, messages):
        out, state = [], {}
        for m in messages:
            client, port, server, server_port = m.connection
            if m.connection not in state:
                state[m.connection] = [self.initial, self.initial + 5000000]
                if self.handshake:
                    out += self.opening(m, state[m.connection])
                state[m.connection][0] += 1
                state[m.connection][1] += 1
            for data in self.cut(self.record(m.body)):
                out.append(self.segment(m, state[m.connection], data, len(out)))
                if self.acknowledge:
                    out.append(self.segment(
                        replace(m, from_server=not m.from_server),
                        state[m.connection], b"", len(out)))
        return out

    def opening(self, m, state):
        at = replace(m, from_server=False)
        back = replace(m, from_server=True)
        syn = replace(self.segment(at, state, b"", 1), flags=SYN, ack=0)
        syn_ack = replace(self.segment(back, [state[0] + 1, state[1]], b"", 2),
                          flags=SYN | ACK)
        return [syn, syn_ack,
                self.segment(at, [state[0] + 1, state[1] + 1], b"", 3)]

    @staticmethod
    def segment(m, state, data, number):
        client, port, server, server_port = m.connection
        mine = int(m.from_server)
        p = Packet(ns=m.ns, payload=data, seq=state[mine] & 0xFFFFFFFF,
                   ack=state[1 - mine] & 0xFFFFFFFF,
                   flags=ACK | (PSH if data else 0),
                   ip_id=number % 65535 + 1,
                   source=server if mine else client,
                   destination=client if mine else server,
                   sport=server_port if mine else port,
                   dport=port if mine else server_port)
        state[mine] += len(data)
        return p


class Whole(Shape):
    pass


class MidStream(Shape):
    handshake = False


class NoAcks(Shape):
    acknowledge = False


class Wrap(Shape):
    initial = 0xFFFFFF00


class EverySize(Shape):
    """Segments of a fixed size."""
    def __init__(self, size):
        self.size = size
        self.acknowledge = size > 64

    def cut(self, record):
        return [record[i:i + self.size]
                for i in range(0, len(record), self.size)]


class RandomCuts(Shape):
    def __init__(self, seed):
        self.random = random.Random(seed)

    def cut(self, record):
        out, at = [], 0
        while at < len(record):
            size = self.random.choice([1, 2, 3, 4, 5, 10, 100, 1448])
            out.append(record[at:at + size])
            at += size
        return out


class CutAt(Shape):
    """Two segments, the first of `at` bytes of the record with its mark."""
    def __init__(self, at):
        self.at = at

    def cut(self, record):
        return [part for part in (record[:self.at], record[self.at:]) if part]


class Fragments(Shape):
    """Record marking fragments of these sizes, the last takes the rest."""
    def __init__(self, *sizes):
        self.sizes = sizes

    def record(self, body):
        return mark(body, self.sizes)


class OneByteFragments(Shape):
    def record(self, body):
        return mark(body, [1] * (len(body) - 1))


class Merged(Shape):
    """Segments hold whatever was sent until `size` bytes, record borders or
    not: what a sender with more to say than the window does."""
    def __init__(self, size, together):
        self.size, self.together = size, together

    def packets(self, messages):
        out, state, waiting = [], {}, {}

        def flush(key, all_of_it):
            m, data = waiting[key]
            called = (key[0], False)
            if key[1] and called in waiting and (all_of_it or
                                                 len(data) >= self.size):
                flush(called, True)  # calls go before replies
            while len(data) >= self.size or (data and all_of_it):
                out.append(self.segment(replace(m, ns=now),
                                        state[m.connection],
                                        data[:self.size], len(out)))
                data = data[self.size:]
            waiting[key] = (m, data)

        for i, m in enumerate(messages):
            now = m.ns
            if m.connection not in state:
                state[m.connection] = [1001, 5001001]
            key = (m.connection, m.from_server)
            data = waiting[key][1] if key in waiting else b""
            waiting[key] = (m, data + mark(m.body))
            flush(key, False)
            if i % self.together == self.together - 1:
                for key in sorted(waiting, key=lambda k: k[1]):
                    flush(key, True)
        for key in sorted(waiting, key=lambda k: k[1]):
            flush(key, True)
        return out


def split(packets, size):
    """Segments of at most `size` bytes: no offload."""
    out = []
    for p in packets:
        parts = [p.payload[i:i + size]
                 for i in range(0, len(p.payload), size)] or [b""]
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            out.append(replace(p, payload=part, seq=p.seq + i * size,
                               flags=p.flags & ~(0 if last else FIN | PSH),
                               ip_id=(p.ip_id + i) % 65536))
    return out


class Udp(Shape):
    def packets(self, messages):
        out = []
        for i, m in enumerate(messages):
            p = self.segment(m, [0, 0], m.body, i)
            out.append(replace(p, udp=True))
        return out


# --- made-up traffic: 100 GETATTR, 100 ACCESS, 100 SETATTR of NFSv3 -----------

CLIENT, SERVER = b"\x0a\0\0\1", b"\x0a\0\0\2"
HANDLE = bytes(range(32))
SYS = u32(0) + opaque(b"client") + u32(1000, 100, 1, 100)


def attributes3():
    return (u32(1, 0o100644, 1, 0, 0) + bytes(16) + bytes(8) + bytes(8) +
            u32(0, 42) + u32(5, 6, 7, 8, 9, 10))


def nfs3(procedure):
    """(arguments, results) of GETATTR, SETATTR (atime to the server's), READ,
    ACCESS: RFC 1813 section 3.3."""
    handle = opaque(HANDLE)
    if procedure == 1:
        return handle, u32(0) + attributes3()
    if procedure == 2:
        return (handle + u32(0, 0, 0, 0, 1, 0, 0),
                u32(0, 0, 1) + attributes3())
    if procedure == 4:
        return handle + u32(0x21), u32(0, 1) + attributes3() + u32(0x21)
    return (handle + u32(0, 0, 4096),
            u32(0, 1) + attributes3() + u32(4096, 1) + opaque(bytes(4096)))


def call(xid, version, procedure, arguments, credential=(1, SYS),
         program=100003):
    return (u32(xid, 0, 2, program, version, procedure, credential[0]) +
            opaque(credential[1]) + u32(0, 0) + arguments)


def reply(xid, results):
    return u32(xid, 1, 0, 0, 0, 0) + results


def hundred(procedures=(1, 4, 2), count=100, first_xid=1, version=3,
            credential=(1, SYS), port=2049, client_port=700):
    """Messages: `count` calls of each procedure, each answered."""
    out = []
    connection = (CLIENT, client_port, SERVER, port)
    for i in range(count * len(procedures)):
        procedure = procedures[i % len(procedures)]
        ns = 10**18 + i * 1000000
        arguments, results = nfs3(procedure)
        xid = first_xid + i & 0xFFFFFFFF
        out.append(Message(ns, connection, False,
                           call(xid, version, procedure, arguments,
                                credential)))
        out.append(Message(ns + 200000, connection, True,
                           reply(xid, results)))
    return out
