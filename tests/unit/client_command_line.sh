#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program as a whole on local directories: exit statuses, one line per
# mistake, nothing left behind. usage: client_command_line.sh NFS-ATIME-TEST
set -u
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# expect STATUS PATTERN-IN-STDERR arguments...
expect() {
    local status=$1 pattern=$2 got
    shift 2
    "$program" "$@" >"$work/out" 2>"$work/err"
    got=$?
    ((got == status)) || fail "$*: status $got, not $status"
    [[ ! $pattern ]] || grep -q -- "$pattern" "$work/err" || {
        fail "$*: standard error lacks \"$pattern\":"
        cat "$work/err"
    }
    if ((status == 1 || status == 2)) && [[ $pattern ]]; then
        (($(wc -l <"$work/err") == 1)) || fail "$*: not one line"
    fi
}

cd "$work" || exit 1
mkdir local results-here
expect 2 'no directory'
expect 2 'no command "walk"' walk
expect 2 '-n 0' --local local -n 0
expect 1 'not on an NFS mount' --mount local
expect 1 'No such file' --mount /does/not/exist
expect 1 'not a directory' --local /etc/passwd
expect 1 '/nowhere' --local local --program /nowhere
expect 1 'no such user' --local local --as nobody-of-that-name
for command in '' pcap report compare 'bench header' probe; do
    # shellcheck disable=SC2086 # none, one or two words
    {
        expect 2 'unknown option --mont' $command --mont here
        expect 2 'unknown option -x' $command -x
        expect 2 '--help takes no value' $command --help=all
    }
done
expect 2 '--mount needs a value' --mount
expect 2 '-n needs a value' --local local -qn
expect 2 'unknown option -x' --no-capture -xq
expect 2 '--ex is short for more than one option' --ex
expect 2 '--format needs a value' report --format
expect 0 '' --help
(($(wc -l <out) <= 24)) || fail "--help is longer than a screen"
mv out help
expect 0 '' help
cmp -s out help || fail "help is not --help"
expect 0 '' help report
grep -q 'report \[options\] RUN' out || fail "help report"
expect 0 '' --version
grep -q '^nfs-atime-test [0-9]' out || fail "--version"
[[ ! -e results ]] || fail "mistakes leave results behind"

expect 0 '' --local local -n 5 -r 2 -o results-here
[[ -s results-here/run.json && -s results-here/report.txt ]] ||
    fail "no run.json or report.txt"
expect 0 '' --local local -n 5 -r 1 --program "$(type -P true)" -o results-2

# The way to a page of several runs is said, and leads there.
expect 2 'compare --format html results-here results-2 > both.html$' \
    report --format html -o both.html results-here results-2
expect 0 '' compare --format html results-here results-2
grep -q '^<!DOCTYPE html>' out || fail "no page of two runs"

# A program that is there is used there: nothing is written.
cp "$(type -P true)" local/given
before=$(stat -c %Z.%Y local)
expect 0 '' --local local -n 3 -r 1 --program local/given -o results-3
[[ $(stat -c %Z.%Y local) == "$before" ]] ||
    fail "something was written beside a program in place"
rm local/given

# Stopped: status, what was measured, nothing left.
for signal in INT TERM; do
    # A shell without job control makes what it starts by & ignore SIGINT.
    env --default-signal=INT "$program" --local local -n 100000 -r 3 \
        --methods none,noexec \
        -o "stopped-$signal" >out 2>err &
    pid=$!
    sleep 1
    kill -s "$signal" "$pid"
    wait "$pid"
    status=$?
    ((status == 128 + $(kill -l "$signal"))) ||
        fail "SIG$signal: status $status"
    [[ -s stopped-$signal/run.json ]] || fail "SIG$signal: nothing saved"
    grep -q '"state": *"interrupted"' "stopped-$signal/run.json" ||
        fail "SIG$signal: run not marked as interrupted"
done

# Raw runs say how many execs a run is, so that compare reads them as they
# are; what a stopped run has too little of is no run.
expect 0 '' --local "$PWD/local" --label "$PWD/local=a b#c" -n 7 -r 2 \
    --methods none,noexec -o labelled
expect 0 '' report --format time labelled
grep -q '^execs 7$' out || fail "raw runs do not say their execs"
grep -q '^a_b_c-static-static$' out || fail "no heading of raw runs"
mv out runs.time
expect 0 '' compare runs.time
expect 0 '' compare runs.time runs.time
mean=$("$program" compare runs.time | awk '$1 == "none" { print $3; exit }')
own=$("$program" report labelled | awk '$1 == "none" { print $2; exit }')
awk -v a="$mean" -v b="$own" \
    'BEGIN { exit !(a > 1 && a - b < 0.5 && b - a < 0.5) }' ||
    fail "$mean us an exec by compare, $own by report"
expect 4 '' report --format time stopped-INT
grep -q '^# left out: local ' out || fail "the stopped cell is not said"
(($(grep -c ' real ' out) < 6)) || fail "a stopped cell among the raw runs"

# No room for the run: said, and an incomplete result.
if ((EUID != 0)); then
    mkdir read-only && chmod 555 read-only
    expect 1 'read-only' --local local -n 1 -r 1 -o read-only/x
fi
[[ -z $(ls -A local) ]] || fail "left behind: $(ls -A local)"
((failures == 0)) && echo "all as expected"
exit $((failures != 0))
