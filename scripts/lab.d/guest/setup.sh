# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2154
# What the guest needs before the first job.
# Copyright (C) 2026 the nfs-atime-test authors

prepare_kernel() {
    # Sizes in KiB: the export and the local file system. Allocated as used.
    modprobe brd rd_nr=2 rd_size=262144 || return 1
    for module in nfs nfsv3 nfsv4 nfsd veth; do
        modprobe "$module" || return 1
    done
    for module in crc32c_generic sch_netem loop tcp_diag inet_diag; do
        modprobe "$module" 2>/dev/null
    done
    # A client that finds its server in the same kernel may go round the wire.
    for switch in /sys/module/nfs*/parameters/localio_enabled; do
        [ ! -w "$switch" ] || echo N >"$switch"
    done
    hostname client
    # Nothing on the machine wakes up by itself more than it must.
    echo 0 >/proc/sys/kernel/randomize_va_space
    echo 0 >/proc/sys/kernel/numa_balancing 2>/dev/null
    return 0
}

prepare_users() {
    cat >/etc/passwd <<END
root:x:0:0:root:/root:/bin/sh
_rpc:x:110:65534::/run/rpcbind:/bin/false
statd:x:111:65534::/var/lib/nfs:/bin/false
tcpdump:x:112:112::/:/bin/false
tester:x:1000:1000::/tmp:/bin/sh
other:x:1001:1001::/tmp:/bin/sh
nobody:x:65534:65534::/:/bin/false
END
    cat >/etc/group <<END
root:x:0:
tcpdump:x:112:
tester:x:1000:
other:x:1001:
nogroup:x:65534:
END
    cat >/etc/nsswitch.conf <<END
passwd: files
group: files
hosts: files
services: files
protocols: files
rpc: files
END
    cat >/etc/hosts <<END
127.0.0.1 localhost
::1 localhost
$CLIENT_ADDRESS client
$SERVER_ADDRESS server
$CLIENT_ADDRESS6 client
$SERVER_ADDRESS6 server
END
}

# One namespace: name, interface, MAC address, IPv4, IPv6.
prepare_namespace() {
    /usr/bin/ip link set "$2" netns "$1" address "$3" &&
        in_namespace "$1" sh -c "
            echo 0 >/proc/sys/net/ipv6/conf/$2/accept_ra
            echo 0 >/proc/sys/net/ipv6/conf/$2/router_solicitations
            echo 0 >/proc/sys/net/ipv6/conf/$2/accept_dad
            ip=/usr/bin/ip
            \$ip link set lo up &&
            \$ip address add $4/24 dev $2 &&
            \$ip address add $5/64 dev $2 nodad &&
            \$ip link set $2 up"
}

prepare_network() {
    mkdir -p /run/netns
    /usr/bin/ip link set lo up
    /usr/bin/ip netns add client && /usr/bin/ip netns add server &&
        /usr/bin/ip link add c0 type veth peer name s0 &&
        prepare_namespace client c0 "$CLIENT_MAC" "$CLIENT_ADDRESS" \
            "$CLIENT_ADDRESS6" &&
        prepare_namespace server s0 "$SERVER_MAC" "$SERVER_ADDRESS" \
            "$SERVER_ADDRESS6" || return 1
    # No ARP or neighbour discovery in the middle of a measurement.
    in_client /usr/bin/ip neighbour replace "$SERVER_ADDRESS" \
        lladdr "$SERVER_MAC" nud permanent dev c0
    in_server /usr/bin/ip neighbour replace "$CLIENT_ADDRESS" \
        lladdr "$CLIENT_MAC" nud permanent dev s0
    in_client /usr/bin/ip -6 neighbour replace "$SERVER_ADDRESS6" \
        lladdr "$SERVER_MAC" nud permanent dev c0
    in_server /usr/bin/ip -6 neighbour replace "$CLIENT_ADDRESS6" \
        lladdr "$CLIENT_MAC" nud permanent dev s0
    # /sys shows the interfaces of the namespace it was mounted in.
    in_client mount -t sysfs sysfs /sys
}

# ext4 on a RAM disk; its identifiers are fixed so that runs repeat, and no
# thread initialises it later in the background.
make_ext4() { # device number directory
    /usr/sbin/mke2fs -q -t ext4 -b 4096 -U "00000000-0000-4000-8000-00000000000$2" \
        -E "hash_seed=00000000-0000-4000-8000-00000000001$2" \
        -E lazy_itable_init=0,lazy_journal_init=0,nodiscard \
        -J size=4 -m 0 "$1" </dev/null >/dev/null || return 1
    mkdir -p "$3"
    mount -t ext4 -o strictatime "$1" "$3" && rmdir "$3/lost+found"
}

# A SETATTR on a fresh export was seen to be 7 to 15 us longer, up to about the
# transaction at which its journal had been written once (4096 blocks, three to
# a transaction: number 1360); the likely reason is that the journal's buffers
# are made then. So twice round a journal of 1024 blocks before anything is
# measured, and runs after one another stay alike.
go_round_journal() { # directory
    for _transaction in $(seq 800); do
        echo >>"$1/journal" && sync "$1/journal" || return 1
    done
    rm "$1/journal"
}

prepare_file_systems() {
    make_ext4 /dev/ram0 1 "$EXPORT_DIRECTORY" &&
        make_ext4 /dev/ram1 2 /mnt/local &&
        go_round_journal "$EXPORT_DIRECTORY"
}
