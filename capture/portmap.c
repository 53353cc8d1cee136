/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Portmap version 2, rpcbind versions 3 and 4: RFC 1833. A port that a
 * client asked for is passed on, whatever the program, since RPC is spoken
 * there next; of a list of all, those of NFS and its helpers.
 */
#include "capture/rpc_decode.h"

enum portmap_procedure {
    PMAP_NULL,
    PMAP_SET,
    PMAP_UNSET,
    PMAP_GETPORT, /* rpcbind: GETADDR */
    PMAP_DUMP,
    RPCB_GETVERSADDR = 9,
};

/* RFC 5665 section 5.2.3: the longest universal address worth reading. */
#define UADDR_MAX 128

static bool
is_ours(uint32_t program)
{
    return program == SUNRPC_NFS || program == SUNRPC_MOUNT ||
           program == SUNRPC_NLM || program == SUNRPC_NSM ||
           program == SUNRPC_NFSACL;
}

static void
teach(struct rpc_decode *d, uint32_t port)
{
    if (!xdrc_ok(&d->x) || port == 0 || port > UINT16_MAX ||
        d->port_count == RPC_PORTS_TAUGHT) {
        return;
    }
    for (unsigned i = 0; i < d->port_count; i++) {
        if (d->ports[i] == port) {
            return;
        }
    }
    d->ports[d->port_count++] = (uint16_t)port;
}

/* RFC 5665 section 5.2.3.3: an address ends in ".high.low" of the port.
 * 0 when it does not. */
static uint32_t
port_of_address(const uint8_t *text, uint32_t length)
{
    uint32_t part[2] = {0, 0};
    uint32_t i = length;

    for (unsigned k = 0; k < 2; k++) {
        uint32_t unit = 1, digits = 0;

        for (; i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9' && digits < 3;
             i--, digits++) {
            part[k] += (uint32_t)(text[i - 1] - '0') * unit;
            unit *= 10;
        }
        if (digits == 0 || part[k] > 255 || i == 0 || text[i - 1] != '.') {
            return 0;
        }
        i--;
    }
    return part[1] << 8 | part[0];
}

static uint32_t
read_address(struct rpc_decode *d)
{
    uint32_t length;
    const uint8_t *text = xdrc_opaque(&d->x, UADDR_MAX, &length);

    return text != NULL ? port_of_address(text, length) : 0;
}

void
portmap_call(struct rpc_decode *d, uint32_t version, uint32_t procedure)
{
    rpc_decode_single(d, procedure)->flags |= RPC_OP_IN_CALL;
    if (procedure == PMAP_GETPORT ||
        (procedure == RPCB_GETVERSADDR && version == 4)) {
        xdrc_skip(&d->x, 8); /* program, version */
        if (version == 2) {
            xdrc_skip(&d->x, 8);
        } else {
            xdrc_skip_opaque(&d->x);
            xdrc_skip_opaque(&d->x);
            xdrc_skip_opaque(&d->x);
        }
        d->to_end = true;
    }
}

/* RFC 1833 section 2.1 and 3: pmaplist, rpcblist. */
static void
reply_dump(struct rpc_decode *d, uint32_t version)
{
    struct xdrc *x = &d->x;

    while (xdrc_bool(x)) {
        uint32_t program = xdrc_u32(x);
        uint32_t port;

        xdrc_skip(x, 4);
        if (version == 2) {
            xdrc_skip(x, 4);
            port = xdrc_u32(x);
        } else {
            xdrc_skip_opaque(x);
            port = read_address(d);
            xdrc_skip_opaque(x);
        }
        if (is_ours(program)) {
            teach(d, port);
        }
    }
}

void
portmap_reply(struct rpc_decode *d, uint32_t version, uint32_t procedure)
{
    uint32_t port;

    rpc_decode_single(d, procedure)->flags |= RPC_OP_IN_REPLY;
    if (procedure == PMAP_DUMP) {
        reply_dump(d, version);
        d->to_end = true;
    } else if (procedure == PMAP_GETPORT ||
               (procedure == RPCB_GETVERSADDR && version == 4)) {
        port = version == 2 ? xdrc_u32(&d->x) : read_address(d);
        teach(d, port);
        d->to_end = true;
    }
}
