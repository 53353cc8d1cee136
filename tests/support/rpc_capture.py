# SPDX-License-Identifier: GPL-3.0-or-later
"""RPC messages and captures of them, byte by byte from the RFCs."""
import struct

EPOCH = 1_796_033_700 * 10**9


def u32(*values):
    return struct.pack(">%dI" % len(values), *values)


def u64(value):
    return struct.pack(">Q", value)


def opaque(data):
    return u32(len(data)) + data + bytes(-len(data) % 4)


def handle(number):
    return bytes([1, 0, 7, 1]) + struct.pack(">I", number) + bytes(24)


FATTR3 = u32(1, 0o644, 1, 0, 0) + u64(6) + u64(8) + u32(0, 0) + u64(7) + \
    u64(42) + u32(1, 0, 2, 0, 3, 0)  # RFC 1813 section 2.6
POST_OP = u32(1) + FATTR3
WCC = u32(0, 0)


def credential(uid=0, gid=0, machine=b"client"):
    """AUTH_SYS, RFC 5531 appendix A; uid None: AUTH_NONE."""
    if uid is None:
        return u32(0, 0)
    return u32(1) + opaque(u32(0) + opaque(machine) + u32(uid, gid, 0))


def call(xid, procedure, body=b"", program=100003, version=3, cred=None):
    return u32(xid, 0, 2, program, version, procedure) + \
        (credential() if cred is None else cred) + u32(0, 0) + body


def reply(xid, body=b"", accept=0):
    return u32(xid, 1, 0, 0, 0, accept) + body


class Capture:
    """A nanosecond pcap of Ethernet frames."""

    def __init__(self, when=EPOCH):
        self.when = when
        self.frames = []
        self.sequence = {}
        self.xid = 0

    def frame(self, protocol, client, server, from_server, payload, step=1000):
        a, b = (server, client) if from_server else (client, server)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload),
                         len(self.frames) & 0xFFFF, 0, 64, protocol, 0,
                         bytes(a), bytes(b))
        self.frames.append((self.when, bytes(12) + b"\x08\x00" + ip + payload))
        self.when += step

    def udp(self, message, from_server=False, client=(10, 0, 0, 1),
            server=(10, 0, 0, 2), port=700, server_port=2049, step=1000):
        source, target = (server_port, port) if from_server else \
            (port, server_port)
        self.frame(17, client, server, from_server,
                   struct.pack(">HHHH", source, target, 8 + len(message), 0) +
                   message, step)

    def tcp(self, data, from_server=False, client=(10, 0, 0, 1),
            server=(10, 0, 0, 2), port=700, server_port=2049, flags=0x18,
            step=1000):
        key = (client, port, server_port, from_server)
        other = key[:3] + (not from_server,)
        at = self.sequence.setdefault(key, 1000)
        source, target = (server_port, port) if from_server else \
            (port, server_port)
        self.frame(6, client, server, from_server,
                   struct.pack(">HHIIBBHHH", source, target,
                               at & 0xFFFFFFFF,
                               self.sequence.setdefault(other, 1000) &
                               0xFFFFFFFF, 0x50, flags, 65535, 0, 0) + data,
                   step)
        self.sequence[key] = at + len(data)

    def rpc(self, procedure, arguments=b"", results=b"", latency=100_000,
            program=100003, version=3, cred=None, transport="udp", **where):
        """A call and, unless results is None, its reply."""
        self.xid += 1
        started = self.when
        messages = [(call(self.xid, procedure, arguments, program, version,
                          cred), False)]
        if results is not None:
            messages.append((reply(self.xid, results), True))
        for message, from_server in messages:
            if from_server:
                self.when = started + latency
            if transport == "udp":
                self.udp(message, from_server, **where)
            else:
                self.tcp(u32(0x80000000 | len(message)) + message,
                         from_server, **where)

    def write(self, path, snap=262144):
        with open(path, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snap, 1))
            for when, frame in self.frames:
                kept = frame[:snap]
                out.write(struct.pack("<IIII", when // 10**9, when % 10**9,
                                      len(kept), len(frame)))
                out.write(kept)
        return path
