# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034
# What a job in the lab's guest can call.
# Copyright (C) 2026 the nfs-atime-test authors
#
# The job runs in the client's network namespace, as root, in /, with the file
# system of the guest shared by client and server: $EXPORT_DIRECTORY is what
# the server exports, seen without NFS. Also set: $RESULTS (what is put there
# comes back to the host), $RTT, $VERSIONS, $EXECS, $REPETITIONS, $CLOCK.
#
#   in_client COMMAND...        run in the client's network namespace
#   in_server COMMAND...        run in the server's
#   as_user NAME COMMAND...     run as tester (uid 1000), other (1001), nobody
#   mount_nfs VERS DIR [OPTIONS [SERVER]]   mount the export
#   warm_up DIR                 use a mount until it answers without delay
#   re_export OPTIONS           such as rw,sync,root_squash
#   stop_server, start_server, restart_server
#   set_rtt TIME                such as 256us; "none" takes netem away
#   measure_rtt                 prints the least of 10 pings, such as 256us
#   step TEXT                   the progress line on the host

CLIENT_ADDRESS=10.77.0.1
SERVER_ADDRESS=10.77.0.2
CLIENT_ADDRESS6=fd77::1
SERVER_ADDRESS6=fd77::2
CLIENT_MAC=02:00:00:77:00:01
SERVER_MAC=02:00:00:77:00:02
EXPORT_DIRECTORY=/srv/nfs

in_namespace() { # namespace command...
    _namespace=$1
    shift
    nsenter "-n/run/netns/$_namespace" "$@"
}

in_client() {
    in_namespace client "$@"
}

in_server() {
    in_namespace server "$@"
}

as_user() {
    _user=$1
    shift
    /usr/bin/setpriv --reuid "$_user" --regid "$_user" --clear-groups "$@"
}

# Descriptor 3 is the port to the host. Opened anew by the leader of a session
# it would become its terminal, and hang up with it.
step() {
    echo "@lab step $*" >&3
}

mount_nfs() {
    _server=${4:-$SERVER_ADDRESS}
    case $1 in
    3) _options=vers=3,nolock,proto=tcp ;;
    *) _options=vers=$1,proto=tcp ;;
    esac
    case $_server in
    *:*)
        _server="[$_server]"
        _options=${_options}6
        ;;
    esac
    mkdir -p "$2"
    in_client mount.nfs "$_server:$EXPORT_DIRECTORY" "$2" \
        -o "$_options${3:+,$3}"
}

uptime_ms() {
    awk '{print int($1 * 1000)}' /proc/uptime
}

warm_up() {
    for _pass in 1 2 3 4 5 6; do
        _start=$(uptime_ms)
        cp /bin/busybox "$1/busybox.warm-up" && chmod 755 "$1/busybox.warm-up" &&
            "$1/busybox.warm-up" true && cat "$1/busybox.warm-up" >/dev/null &&
            rm "$1/busybox.warm-up" || return 1
        [ $(($(uptime_ms) - _start)) -gt 1000 ] || return 0
    done
    return 1
}

re_export() {
    mkdir -p /etc/exports.d /var/lib/nfs
    : >/etc/exports
    for _client in "${CLIENT_ADDRESS%.*}.0/24" "${CLIENT_ADDRESS6%1}/64"; do
        echo "$EXPORT_DIRECTORY $_client($1,no_subtree_check)" >>/etc/exports
    done
    in_server exportfs -ra && in_server exportfs -f
}

# The file that ends grace answers EBUSY until the server can; ask it whether
# grace is over rather than trust the write.
end_grace() {
    for _try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        [ "$(cat /proc/fs/nfsd/v4_end_grace)" != Y ] || return 0
        echo Y 2>/dev/null >/proc/fs/nfsd/v4_end_grace
        [ "$(cat /proc/fs/nfsd/v4_end_grace)" != Y ] || return 0
        sleep 1
    done
    echo "the server's grace period does not end"
    return 1
}

start_server() {
    mkdir -p /var/lib/nfs/rpc_pipefs /var/lib/nfs/nfsdcld /run/rpcbind
    touch /var/lib/nfs/etab /var/lib/nfs/rmtab
    if ! grep -q ' /proc/fs/nfsd ' /proc/mounts; then
        in_server mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs &&
            in_server mount -t nfsd nfsd /proc/fs/nfsd || return 1
        in_server rpcbind || return 1
        # With it the server knows that no client has anything to reclaim.
        in_server nfsdcld
        echo 10 >/proc/fs/nfsd/nfsv4gracetime
    fi
    re_export "${EXPORT_OPTIONS:-rw,sync,no_root_squash}" || return 1
    pidof rpc.mountd >/dev/null || in_server rpc.mountd || return 1
    in_server rpc.nfsd 8 && end_grace
}

stop_server() {
    in_server rpc.nfsd 0
}

restart_server() {
    stop_server
    start_server
}

microseconds() { # time such as 34us, 0.3ms, 1s
    case $1 in
    *us) echo "${1%us}" ;;
    *ms) awk "BEGIN{print ${1%ms} * 1000}" ;;
    *s) awk "BEGIN{print ${1%s} * 1000000}" ;;
    *) return 1 ;;
    esac
}

least_ping() { # prints microseconds
    in_client ping -q -c 10 -i 0.1 "$SERVER_ADDRESS" |
        sed -n 's/^round-trip min[^=]*= \([0-9.]*\).*/\1/p' |
        awk '{printf "%d\n", $1 * 1000 + 0.5}'
}

measure_rtt() {
    echo "$(least_ping)us"
}

# All of it at the server's end: a capture on c0 comes after that interface's
# queue, so that a delay there would pass before the call is seen.
set_netem() { # delay of a round trip in microseconds
    in_server /usr/sbin/tc qdisc replace dev s0 root netem limit 10000 \
        delay "${1}us"
}

# Netem itself, the ping and the stack take time too: set, measure, correct.
set_rtt() {
    in_server /usr/sbin/tc qdisc del dev s0 root 2>/dev/null
    [ "$1" != none ] || return 0
    _target=$(microseconds "$1") || return 1
    _base=$(least_ping)
    _delay=$((_target - _base))
    # As near as a round trip without netem is; less is impossible.
    [ "$_delay" -gt 2 ] || return 0
    for _pass in 1 2 3; do
        set_netem "$_delay" || return 1
        _error=$((_target - $(least_ping)))
        [ "$_error" -gt 1 ] || [ "$_error" -lt -1 ] || break
        _delay=$((_delay + _error))
        [ "$_delay" -gt 0 ] || _delay=0
    done
    return 0
}

# Appends a directory of /results to the disk and tells the host where it is.
# The disk is not touched before: when its answers come depends on the host.
save_results() { # directory under /results
    modprobe virtio_pci && modprobe virtio_blk
    for _try in 1 2 3 4 5 6 7 8 9 10; do
        [ ! -b /dev/vda ] || break
        sleep 1
    done
    _block=65536
    _offset=$(cat /run/saved-blocks 2>/dev/null || echo 0)
    _written=$(tar -C /results -cf - "./$1" |
        dd of=/dev/vda obs=$_block seek="$_offset" conv=fsync 2>&1 |
        sed -n 's/^\([0-9]*\)+\([0-9]*\) records out.*/\1 \2/p')
    _count=$((${_written% *} + ${_written#* }))
    echo $((_offset + _count)) >/run/saved-blocks
    echo "@lab saved $((_offset * _block)) $((_count * _block))" >&3
}
