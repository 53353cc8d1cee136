#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# nfs-ganesha in namespaces of its own, and our client against it.
# usage: client_probe.sh TEST_PROGRAM MINOR_VERSIONS
set -u
program=$1 minors=$2

skip() {
    echo "skipped: $*"
    exit 77
}

if [[ ${3:-} != inside ]]; then
    ((EUID == 0)) || skip "namespaces and port 2049 need root"
    for command in ganesha.nfsd rpcbind ip unshare; do
        command -v "$command" >/dev/null || skip "there is no $command here"
    done
    unshare -n -m -p true 2>/dev/null || skip "no namespaces here"
    exec unshare -n -m -p -f --kill-child --mount-proc \
        "$0" "$program" "$minors" inside
fi

mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /mnt
ip link set lo up
mkdir -p /run/rpcbind /run/ganesha /mnt/recovery "/mnt/export/a directory"
printf program >"/mnt/export/a directory/program"
# Known to the nanosecond, and no time that a file gets by itself.
touch -a -d '2001-02-03 04:05:06.123456789 UTC' \
    "/mnt/export/a directory/program"
touch -m -d '2002-03-04 05:06:07.987654321 UTC' \
    "/mnt/export/a directory/program"
cat >/mnt/ganesha.conf <<END
NFS_CORE_PARAM {
    NFS_Port = 2049;
    MNT_Port = 20048;
    Enable_NLM = false;
    Enable_RQUOTA = false;
    Protocols = 3, 4;
}
NFSv4 {
    Minor_Versions = $minors;
    Graceless = true;
    RecoveryBackend = fs;
    RecoveryRoot = "/mnt/recovery";
}
EXPORT {
    Export_Id = 1;
    Path = /mnt/export;
    Pseudo = /mnt/export;
    Access_Type = RW;
    Squash = No_Root_Squash;
    SecType = sys;
    Protocols = 3, 4;
    Transports = TCP;
    FSAL { Name = VFS; }
}
END
rpcbind || skip "rpcbind does not start"
ganesha.nfsd -F -f /mnt/ganesha.conf -L /mnt/log -p /mnt/pid &
for ((i = 0; i < 100; i++)); do
    : 2>/dev/null </dev/tcp/127.0.0.1/2049 && break
    sleep 0.1
done
((i < 100)) || {
    tail -n 5 /mnt/log
    skip "ganesha.nfsd does not start"
}
PROBE_MINORS=$minors "$program"
