# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# The job in the lab's guest that the golden captures come from: see make.
# Each capture starts before its mount and ends after its umount, but for the
# two of a single exec, which start in the middle of a connection.

begin() { # name
    step "capture $1"
    in_client tcpdump -Z root --immediate-mode -U -B 4096 -i c0 -s 0 \
        -w "$RESULTS/$1.pcap" "tcp or udp" 2>"$RESULTS/$1.tcpdump" &
    sleep 1
}

end() {
    sleep 1
    kill "$(pidof tcpdump)"
    wait
}

# Everything a shell can ask of a file system.
commands() { # directory
    mkdir "$1/d"
    echo hello >"$1/d/file"
    cat "$1/d/file" >/dev/null
    ln -s file "$1/d/symlink"
    readlink "$1/d/symlink" >/dev/null
    ln "$1/d/file" "$1/d/link"
    mkfifo "$1/d/pipe"
    mknod "$1/d/null" c 1 3
    mv "$1/d/link" "$1/d/moved"
    ls "$1/d" >/dev/null
    ls -ln "$1/d" >/dev/null
    cat "$1/d/missing" 2>/dev/null
    df "$1" >/dev/null
    touch "$1/d/file"
    touch -d "2001-02-03 04:05:06" "$1/d/file"
    chmod 600 "$1/d/file"
    as_user nobody cat "$1/d/file" 2>/dev/null
    as_user nobody touch "$1/d/file" 2>/dev/null
    : >"$1/d/file"
    sync
    /job/operations "$1/d"
    rm -r "$1/d"
}

# One exec, and one whose atime is set: the program is there already.
executions() { # program
    "$1"
    touch -a "$1"
    "$1"
}

counters() { # directory: the kernel's own, without its times
    awk -v want="$1" '$1 == "device" { on = $5 == want }
        on && $1 ~ /^[A-Z_0-9]*:$/ && $2 > 0 { print $1, $2 }' \
        /proc/self/mountstats
}

awk '$3 ~ /^nfs4?$/ { print $2 }' /proc/mounts | while read -r mounted; do
    umount "$mounted"
done
cp /job/tiny "$EXPORT_DIRECTORY/tiny"

for version in 3 4.0 4.1 4.2; do
    dir=/mnt/gold
    begin "nfs$version"
    mount_nfs "$version" "$dir" || exit 1
    commands "$dir" >"$RESULTS/nfs$version.operations" 2>&1
    if [ "$version" != 3 ]; then
        # The server takes back what it delegated: a call to the client.
        cat "$dir/tiny" >/dev/null
        echo >>"$EXPORT_DIRECTORY/tiny"
        cp /job/tiny "$EXPORT_DIRECTORY/tiny"
    fi
    executions "$dir/tiny"
    counters "$dir" >"$RESULTS/nfs$version.counters"
    umount "$dir"
    end
done

begin nconnect
mount_nfs 3 /mnt/gold nconnect=4,rsize=1024,wsize=4096 || exit 1
cp /job/data /mnt/gold/data
for _ in 1 2 3; do
    cat /mnt/gold/data >/dev/null
    touch /mnt/gold/data
    executions /mnt/gold/tiny
done
rm /mnt/gold/data
counters /mnt/gold >"$RESULTS/nconnect.counters"
umount /mnt/gold
end

for version in 3 4.1; do
    mount_nfs "$version" /mnt/gold || exit 1
    executions /mnt/gold/tiny
    begin "exec$version"
    executions /mnt/gold/tiny
    end
    umount /mnt/gold
done

begin test
mount_nfs 3 /mnt/nfs3 && mount_nfs 4.2 /mnt/nfs4.2 || exit 1
in_client nfs-atime-test --mount /mnt/nfs3 --mount /mnt/nfs4.2 -n 1 -r 1 \
    -q -o "$RESULTS/run" >"$RESULTS/test.output" 2>&1 || exit 1
umount /mnt/nfs3
umount /mnt/nfs4.2
end
