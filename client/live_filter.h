/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef NAT_CLIENT_LIVE_FILTER_H
#define NAT_CLIENT_LIVE_FILTER_H

#include <stddef.h>

/*
 * What a live capture of servers on these ports has to let through, as a
 * filter of pcap-filter(7): the ports; later fragments, which have no port,
 * of IPv4 (RFC 791) and IPv6 (RFC 8200 4.5); and all of it again behind a
 * VLAN tag.
 *
 * @param plain the same without VLAN tags, for interfaces whose link type
 *        has none
 * Both are the caller's, by malloc.
 */
void live_filter(const unsigned *ports, size_t count, char **tagged,
                 char **plain);

#endif
