/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ports on which RPC servers are expected: given by the user, well known, or
 * learned from portmap and rpcbind replies. A hint only: content decides.
 */
#ifndef NAT_CAPTURE_RPC_PORTS_H
#define NAT_CAPTURE_RPC_PORTS_H

#include <stdbool.h>
#include <stdint.h>

struct rpc_ports {
    uint64_t bits[65536 / 64];
};

static inline void
rpc_ports_add(struct rpc_ports *ports, uint16_t port)
{
    ports->bits[port / 64] |= UINT64_C(1) << port % 64;
}

static inline bool
rpc_ports_has(const struct rpc_ports *ports, uint16_t port)
{
    return (ports->bits[port / 64] >> port % 64 & 1) != 0;
}

#endif
