# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# The virtual machine: what it is given, how it is started, watched and ended.
# Copyright (C) 2026 the nfs-atime-test authors
# shellcheck disable=SC2154

qemu="qemu-system-x86_64"

# Boots busybox alone with KVM: /dev/kvm may exist and yet hang a guest. The
# answer is kept until this machine boots again.
probe_kvm() {
    local answer root=$work/probe
    answer=$cache/kvm-$(cat /proc/sys/kernel/random/boot_id)
    if [[ ! -s $answer ]]; then
        rm -f "$cache"/kvm-*
        say "probing KVM"
        if [[ ! -w /dev/kvm ]]; then
            echo "no: /dev/kvm is missing or not writable" >"$answer"
        else
            mkdir -p "$root"/{bin,dev,proc}
            cp /bin/busybox "$root/bin/busybox"
            cat >"$root/init" <<'END'
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs devtmpfs /dev
echo probe-booted >/dev/ttyS0
/bin/busybox poweroff -f
END
            chmod 755 "$root/init"
            pack "$root" "$work/probe.cpio"
            find_kernel "${kernels[0]}"
            # An aborting emulator is an answer too, and no news.
            {
                timeout -k 1 10 "$qemu" -accel kvm -cpu host -m 256 \
                    -display none -nic none -no-reboot \
                    -kernel "$kernel_root/boot/vmlinuz-$kernel_release" \
                    -initrd "$work/probe.cpio" -append "quiet panic=-1" \
                    -serial "file:$work/probe.log" >"$work/probe.err" ||
                    true
            } 2>/dev/null
            if grep -qs probe-booted "$work/probe.log"; then
                echo yes >"$answer"
            else
                echo "no: a guest does not boot with it in 10 s" >"$answer"
            fi
        fi
    fi
    kvm_answer=$(cat "$answer")
    [[ $kvm_answer == yes ]]
}

# Sets accel, accel_options and clock.
choose_accel() {
    case $accel in
    auto) if probe_kvm; then accel=kvm; else accel=icount; fi ;;
    kvm) probe_kvm || die "KVM is not usable here ($kvm_answer)" ;;
    esac
    case $accel in
    kvm)
        accel_options=(-accel kvm -cpu host)
        clock="this machine's (KVM)"
        ;;
    tcg)
        accel_options=(-accel tcg -cpu "max,-la57")
        clock="this machine's, emulated (QEMU TCG)"
        ;;
    icount)
        # Four levels of page tables, as on most machines: with five each
        # exec is 35 us longer and each run a fourth.
        # shellcheck disable=SC2054
        accel_options=(-accel "tcg,thread=single" -cpu max,-la57
            -icount shift=0,sleep=off)
        # Times of day are among what the guest works on: the same in each
        # run, so that each takes the same instructions. The run's name has
        # the true time.
        date=${date:-$(date -u -d 2026-01-01 +%s)}
        clock="instructions (QEMU -icount), from"
        clock+=" $(date -u -d "@$date" +%Y-%m-%d)"
        ;;
    esac
}

quoted() {
    printf '%s' "${1@Q}"
}

# Sets overlay_archive.
make_overlay() {
    local root=$work/overlay extra source target
    overlay_archive=$work/overlay.cpio
    rm -rf "$root"
    mkdir -p "$root"/{lab,job,usr/bin}
    cp "$library"/guest/{library.sh,setup.sh,default-job} "$root/lab"
    cp "$library/guest/init" "$root/init"
    chmod 755 "$root/init"
    if [[ -x $program ]]; then
        cp "$program" "$root/usr/bin/nfs-atime-test"
        add_libraries "$root" "$program"
    fi
    [[ ! $job ]] || cp "$job" "$root/job/job"
    for extra in "${extras[@]}"; do
        source=${extra%%:*}
        target=/job/${source##*/}
        [[ $extra != *:* ]] || target=${extra#*:}
        mkdir -p "$root${target%/*}"
        cp -rL "$source" "$root$target"
        [[ -d $source || ! -x $source ]] || add_libraries "$root" "$source"
    done
    {
        echo "VERSIONS=$(quoted "${versions//,/ }")"
        echo "RTTS=$(quoted "${round_trips//,/ }")"
        [[ $round_trips != *,* ]] || echo "RTT_LIST=yes"
        echo "BENCH=$bench"
        echo "EXECS=$execs"
        echo "REPETITIONS=$repetitions"
        echo "EXPORT_OPTIONS=rw,$export_mode,no_root_squash"
        echo "RUN_ID=$(date -u +%Y-%m-%dT%H:%M:%SZ)-lab"
        echo "DATE=@${date:-$(date +%s)}"
        echo "EXPORT_NOTE=$(quoted "$export_mode, ext4 strictatime")"
        echo "CLOCK=$(quoted "$clock")"
        echo "ARGUMENTS=$(quoted "${arguments[*]@Q}")"
    } >"$root/job/settings"
    pack "$root" "$overlay_archive"
}

stop_machine() {
    if [[ $machine ]]; then
        kill "$machine" 2>/dev/null || true
        wait "$machine" 2>/dev/null || true
        machine=
    fi
    if [[ $follower ]]; then
        kill "$follower" 2>/dev/null || true
        wait "$follower" 2>/dev/null || true
        follower=
    fi
}

# Has the job end as by Ctrl-C and the guest save what there is; a second
# signal, or half a minute, ends the wait.
end_job() {
    local until=$((SECONDS + 30))
    [[ $machine && ${job_state:-} == started ]] || return 0
    say "ending the test in the guest (again to end at once)"
    trap 'until=0' INT TERM HUP
    echo stop >"$work/control"
    while ((SECONDS < until)) && kill -0 "$machine" 2>/dev/null; do
        sleep 0.2
    done
    trap '' INT TERM HUP
}

# Takes what the guest has announced as complete off its disk.
collect_results() {
    # A trap can come while another value of IFS is in force.
    local word offset length IFS=$' \t\n'
    [[ -s $work/messages && -s $work/disk ]] || return 0
    while read -r _ word offset length; do
        [[ $word == saved && $offset =~ ^[0-9]+$ &&
            $length =~ ^[0-9]+$ ]] || continue
        # Read to the end: tar stops before it, and dd would complain.
        dd if="$work/disk" bs=1M iflag=skip_bytes,count_bytes \
            skip="$offset" count="$length" status=none |
            { tar -C "$destination" --no-same-owner -xf - && cat >/dev/null; } ||
            echo "lab: part of the results is unreadable" >&2
    done < <(grep -a '^@lab saved' "$work/messages")
    : >"$work/messages"
}

# What a terminal would show of a line that may rewrite itself.
visible_text() { # text: sets visible
    visible=${1%$'\r'}
    visible=${visible##*$'\r'}
    visible=${visible#$'\e[K'}
}

# One line of the guest's second serial port.
take_message() { # line
    visible_text "$1"
    set -- "$visible"
    case $1 in
    '@lab step '*)
        guest_step=${1#@lab step }
        guest_line=
        say "$kernel_release: $guest_step"
        ;;
    '@lab failed '*)
        clear_line
        echo "lab: ${1#@lab failed }" >&2
        ;;
    '@lab exit '*) guest_status=${1#@lab exit } ;;
    '@lab job '*) job_state=${1#@lab job } ;;
    '@lab saved '*) ;;
    '') [[ ! $job ]] || echo ;;
    *)
        if [[ $job ]]; then
            clear_line
            printf '%s\n' "$1"
        else
            clear_line
            printf '%s\n' "$1" | tee -a "$destination/messages.txt" >&2
        fi
        ;;
    esac
}

# Sets machine_status.
run_machine() {
    local append line deadline started=$SECONDS count control
    local pending='' visible
    local guest_step=starting guest_status='' guest_line='' read_status
    append="console=ttyS0 panic=-1 quiet mitigations=off nokaslr norandmaps"
    append+=" random.trust_cpu=on random.trust_bootloader=on nowatchdog"
    append+=" audit=0 net.ifnames=0 rdinit=/init"
    append+=" randomize_kstack_offset=off"
    [[ $accel != icount ]] ||
        append+=" tsc=reliable tsc_early_khz=1000000"
    count=$(wc -w <<<"${round_trips//,/ }")
    deadline=$((SECONDS + ${limit:-$((600 + count * ${execs:-100000} * ${repetitions:-3} *
        (1 + $(wc -w <<<"${versions//,/ }")) / 5))}))
    cat "$base_archive" "$overlay_archive" >"$work/initrd"
    rm -f "$work/disk" "$work/messages"
    truncate -s 16G "$work/disk"
    : >"$work/messages"
    mkfifo "$work/control" 2>/dev/null || true
    exec {control}<>"$work/control"
    say "$kernel_release: booting, clock: $clock"
    set -m
    "$qemu" "${accel_options[@]}" -smp 1 -m "$memory" -machine pc \
        -display none -monitor none -nic none -no-reboot -seed 1 \
        -rtc "base=2026-01-01T00:00:00,clock=vm" \
        -kernel "$kernel_root/boot/vmlinuz-$kernel_release" \
        -initrd "$work/initrd" -append "$append" \
        -serial "file:$destination/console.log" \
        -chardev stdio,id=messages,signal=off -serial chardev:messages \
        -drive "file=$work/disk,format=raw,if=virtio,cache=unsafe" \
        <&"$control" >"$work/messages" 2>"$work/qemu.log" &
    machine=$!
    set +m
    job_state=
    coproc FOLLOW { exec tail -c +1 -s 0.2 -f --pid="$machine" \
        "$work/messages"; }
    follower=$FOLLOW_PID
    machine_status=
    while :; do
        read_status=0
        IFS= read -r -t 1 line <&"${FOLLOW[0]}" || read_status=$?
        pending+=$line
        if ((read_status == 0)); then
            take_message "$pending"
            pending=
        elif ((read_status > 128)); then
            # The program's progress line has no end; show what is new.
            visible_text "$pending"
            guest_line=$visible
        else
            break
        fi
        if ((SECONDS >= deadline)); then
            machine_status=124
            break
        fi
        [[ ! -t 2 ]] || ((read_status == 0)) || progress "lab:" \
            "$kernel_release: ${guest_line:-$guest_step}," \
            "$((SECONDS - started)) s"
    done
    exec {control}>&-
    stop_machine
    collect_results
    report_end
}

report_end() {
    clear_line
    if [[ $machine_status == 124 ]]; then
        echo "lab: the time limit passed while the guest was at:" \
            "${guest_line:-$guest_step}; see $destination/console.log" >&2
    elif [[ $guest_status =~ ^[0-9]+$ ]]; then
        machine_status=$guest_status
    else
        machine_status=1
        echo "lab: the guest ended at \"$guest_step\" without a result; its" \
            "last words (all in $destination/console.log):" >&2
        tail -n 8 "$destination/console.log" >&2 || true
        [[ ! -s $work/qemu.log ]] || tail -n 4 "$work/qemu.log" >&2
    fi
}
