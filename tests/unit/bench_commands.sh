#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The bench command from outside, on a local directory: bench_commands.sh
# PROGRAM
program=$1
directory=$(mktemp -d) || exit 1
failed=0
trap 'rm -rf "$directory"' EXIT

bad() {
    echo "not as expected: $*"
    failed=1
}

# run STATUS PATTERN arguments...: the pattern is looked for in all output
run() {
    wanted=$1 pattern=$2
    shift 2
    "$program" "$@" >"$directory/out" 2>&1 </dev/null
    status=$?
    [ "$status" -eq "$wanted" ] || bad "status $status, not $wanted: $*"
    grep -q -- "$pattern" "$directory/out" || {
        bad "no \"$pattern\": $*"
        cat "$directory/out"
    }
}

nothing_left() {
    left=$(find "$directory/d" -mindepth 1)
    [ -z "$left" ] || bad "left behind: $left"
}

mkdir "$directory/d"
run 2 'which one' bench
run 2 'no bench "exec"' bench exec
run 2 '-n 0: not a whole number from 1' bench self-exec -n 0
run 2 '--sizes is not of bench self-exec' bench self-exec --sizes 4
run 2 '-n is not of bench prefault' bench prefault -n 4
run 2 '--sizes 4,4: 4 twice' bench header --sizes 4,4
run 2 '--size 1T: not a whole number' bench prefault --size 1T
run 2 '--race 0: not a time' bench self-exec --race 0
run 2 '--label x=y: that is none' bench self-exec --label x=y
run 2 'left: unexpected' bench self-exec left
run 1 '/nonexistent: No such file' bench self-exec --dir /nonexistent \
    -o "$directory/none"
run 1 'more than the program has' bench header --program static \
    --dir "$directory/d" -o "$directory/short"
run 0 'Usage' bench --help
[ "$("$program" bench --help | wc -l)" -le 24 ] || bad "help is not one screen"

run 0 'run 2' bench self-exec -n 200 --runs 2 --dir "$directory/d" \
    -o "$directory/self"
run 0 'nothing went wrong' bench self-exec --race 300ms --dir "$directory/d" \
    -o "$directory/race"
run 0 '4096:' bench header --runs 2 -n 50 --cold 2 --dir "$directory/d" \
    -o "$directory/header"
run 0 '4096:' bench header --runs 6 -n 5 --cold 1 --dir "$directory/d" \
    -o "$directory/header6"
run 0 'touched' bench prefault --runs 2 --size 100K --dir "$directory/d" \
    -o "$directory/prefault"
nothing_left
run 0 '"schema": "nfs-atime-test.bench/1"' report --format json \
    "$directory/self"
run 0 'elapsed,200,' report --format csv "$directory/self"
run 0 '<td>.* (.*-.*)</td>' report --format html "$directory/header6"
run 0 '```' report --format markdown "$directory/prefault"
run 1 'no raw runs' report --format time "$directory/self"
run 1 'expect is for runs of the test' report --expect 'local none time < 9' \
    "$directory/self"
run 0 'none proven' compare "$directory/prefault" "$directory/prefault"
run 1 'nothing\|in common' compare "$directory/self" "$directory/header"

# Ctrl-C: status, what was done, and nothing left.
"$program" bench self-exec -n 100000000 --dir "$directory/d" \
    -o "$directory/cut" >"$directory/out" 2>&1 </dev/null &
sleep 1
kill -TERM $!
wait $!
status=$?
[ "$status" -eq 143 ] || bad "status $status after SIGTERM"
grep -q 'cut short after' "$directory/out" || {
    bad "no partial result"
    cat "$directory/out"
}
nothing_left
exit $failed
