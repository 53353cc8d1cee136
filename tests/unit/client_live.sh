#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Live captures in a network namespace of its own.
# usage: client_live.sh TEST_PROGRAM
set -eu
program=$1

skip() {
    echo "skipped: $*"
    exit 77
}

if [[ ${2:-} != inside ]]; then
    ((EUID == 0)) || skip "network namespaces and captures need root"
    for command in ip unshare; do
        command -v "$command" >/dev/null || skip "there is no $command here"
    done
    unshare -n true 2>/dev/null || skip "no network namespaces here"
    exec unshare -n "$0" "$program" inside
fi

# pair NAME MAC: NAME0, whose other end NAME1 has no address and says nothing
pair() {
    ip link add "${1}0" address "$2" type veth peer name "${1}1" ||
        skip "no veth interfaces here"
    for end in "${1}0" "${1}1"; do
        echo 1 >"/proc/sys/net/ipv6/conf/$end/disable_ipv6"
        ip link set "$end" arp off up
    done
}

ip link set lo up
ip addr add 10.99.0.1/32 dev lo
pair v 02:00:00:00:01:01
echo 0 >/proc/sys/net/ipv6/conf/v0/disable_ipv6
ip addr add 10.9.1.1/24 dev v0
ip addr add fd00:9::1/64 dev v0 nodad
ip neigh add 10.9.1.2 lladdr 02:00:00:00:01:02 dev v0
ip neigh add fd00:9::2 lladdr 02:00:00:00:01:02 dev v0
# Behind a router, from an address that lo has.
pair w 02:00:00:00:02:01
ip addr add 10.9.2.1/24 dev w0
ip route add 10.77.0.0/16 via 10.9.2.2 dev w0 src 10.99.0.1
# Unnumbered: v0's address, too.
pair u 02:00:00:00:04:01
ip addr add 10.9.1.1/32 dev u0
ip route add 10.88.0.0/16 dev u0 src 10.9.1.1
# A bridge.
ip link add br0 type bridge || skip "no bridges here"
echo 1 >/proc/sys/net/ipv6/conf/br0/disable_ipv6
pair b 02:00:00:00:03:01
ip link set b0 master br0
ip link set br0 up
ip addr add 10.9.3.1/24 dev br0
ip neigh add 10.9.3.2 lladdr 02:00:00:00:03:02 dev br0
exec "$program"
