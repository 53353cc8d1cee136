# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (C) 2026 the nfs-atime-test authors
# Completion of nfs-atime-test for bash.

# The mount points of a kind: nfs, or all others on a disk.
_nfs_atime_test_mounts() {
    local type place
    while read -r _ place type _; do
        case $1:$type in
        nfs:nfs | nfs:nfs4 | local:ext[234] | local:xfs | local:btrfs | \
            local:tmpfs | local:f2fs)
            printf '%b\n' "$place"
            ;;
        esac
    done </proc/self/mounts
}

_nfs_atime_test_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_nfs_atime_test() {
    local cur prev words cword command=
    local methods='noexec none setattr read open-read direct-read'
    _init_completion 2>/dev/null || {
        cur=${COMP_WORDS[COMP_CWORD]}
        prev=${COMP_WORDS[COMP_CWORD - 1]}
        words=("${COMP_WORDS[@]}")
        cword=$COMP_CWORD
    }
    ((cword > 1)) && command=${words[1]}

    case $prev in
    --mount | --dir)
        mapfile -t COMPREPLY < <(
            compgen -W "$(_nfs_atime_test_mounts nfs)" -- "$cur"
            compgen -d -- "$cur")
        return
        ;;
    --local)
        mapfile -t COMPREPLY < <(
            compgen -W "$(_nfs_atime_test_mounts local)" -- "$cur"
            compgen -d -- "$cur")
        return
        ;;
    --methods)
        local done=
        [[ $cur == *,* ]] && done=${cur%,*},
        mapfile -t COMPREPLY < <(compgen -P "$done" -W "$methods" -- \
            "${cur##*,}")
        compopt -o nospace 2>/dev/null
        return
        ;;
    --program)
        mapfile -t COMPREPLY < <(
            compgen -W 'static libc dynamic' -- "$cur"
            compgen -f -- "$cur")
        return
        ;;
    --spawn)
        _nfs_atime_test_words 'vfork fork posix_spawn'
        return
        ;;
    --as)
        mapfile -t COMPREPLY < <(compgen -u -- "$cur")
        return
        ;;
    --format)
        case $command in
        pcap | compare) _nfs_atime_test_words 'text json html' ;;
        *) _nfs_atime_test_words 'text time json csv markdown html' ;;
        esac
        return
        ;;
    --by)
        _nfs_atime_test_words 'client server file uid 1s 10s 1m'
        return
        ;;
    --expect-format)
        _nfs_atime_test_words 'tap junit'
        return
        ;;
    --expect)
        [[ $command == compare ]] && _nfs_atime_test_words none
        return
        ;;
    -i | --interface)
        mapfile -t COMPREPLY < <(
            cd /sys/class/net 2>/dev/null && compgen -G "$cur*")
        return
        ;;
    -o | --output | -w | --write | --baseline | --export-dir | \
        --run)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
        return
        ;;
    esac

    local options='--help --version'
    case $command in
    pcap)
        options+=' --read --format --by --top --transactions --run --filter
            --port --access-cache --max-pending --max-connections --max-reorder
            --threads --count --quiet --verbose'
        ;;
    report)
        options+=' --format --confidence --output --expect --baseline
            --tolerance --expect-format'
        ;;
    compare)
        options+=' --confidence --execs --expect --format --time'
        ;;
    probe)
        options+=' --mount --local --export-dir --quiet --verbose'
        ;;
    help)
        _nfs_atime_test_words 'pcap report compare probe bench'
        return
        ;;
    bench)
        if ((cword == 2)) && [[ $cur != -* ]]; then
            _nfs_atime_test_words 'self-exec header prefault'
            return
        fi
        options+=' --execs --accesses --race --sizes --cold --program --size
            --dir --runs --seed --no-capture --label --export-note --clock
            --id --format --quiet --verbose'
        ;;
    *)
        if ((cword == 1)) && [[ $cur != -* ]]; then
            _nfs_atime_test_words 'pcap report compare probe bench help'
            return
        fi
        options+=' --mount --local --execs --repetitions --methods --program
            --spawn --as --seed --interval --idle --warm-up --interface
            --filter --snaplen --buffer --no-capture --write --output
            --format --label --id --export-note --clock --export-dir --expect
            --baseline --tolerance --expect-format --quiet --verbose'
        ;;
    esac
    if [[ $cur == -* ]]; then
        _nfs_atime_test_words "$options"
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
    fi
}

complete -F _nfs_atime_test nfs-atime-test
