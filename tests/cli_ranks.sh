#!/bin/sh
# talus run --ranks: frames, tables and hash are those of one rank, also after SIGTERM and a resume with another number.
set -u
failures=0
rm -rf cli_ranks.work
mkdir cli_ranks.work
cd cli_ranks.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

cat >heap.json <<'END'
{
    "step": 0.004, "until": 0.4, "every": 0.1,
    "solver": {"name": "apgd", "tolerance": 1e-3},
    "bodies": [
        {"shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"radius": 0.05, "density": 2000, "count": 700, "velocity": [0.3, 0, -1],
         "lattice": {"lo": [-0.5, -0.5, 0], "cells": [9, 9, 0], "spacing": 0.11, "jitter": 0.9}}
    ]
}
END

# run RANKS OUT ARGS...
run() {
    "$TALUS" run heap.json --ranks "$1" --threads 1 --out "$2" --quiet --json >"$2.json" 2>"$2.err" ||
        fail "$1 ranks: $(cat "$2.err")"
}

# hash FILE
hash_of() { sed -n 's/.*"hash": "\(.*\)".*/\1/p' "$1"; }

# same OUT: the files are those of one rank, but for measured seconds
same() {
    [ "$(hash_of "$1.json")" = "$(hash_of one.json)" ] || fail "$1: another hash"
    cmp -s "$1/frames.talus" one/frames.talus || fail "$1: other frames"
    cut -d, -f1-44 "$1/steps.csv" | cmp -s - one.steps || fail "$1: other steps"
}

run 1 one
cut -d, -f1-44 one/steps.csv >one.steps
[ "$(wc -l <one.steps)" -eq 101 ] || fail "one rank: rows are missing"
for ranks in 2 3 5; do
    run $ranks "ranks$ranks"
    same "ranks$ranks"
    grep -q "\"ranks\": $ranks" "ranks$ranks.json" || fail "$ranks ranks are not reported"
done

# Stopped on two ranks, resumed on three.
"$TALUS" run heap.json --ranks 2 --threads 1 --out stopped --quiet 2>stopped.err &
process=$!
sleep 0.5
kill "$process" 2>/dev/null
wait "$process"
"$TALUS" run --resume stopped --ranks 3 --quiet --json >stopped.json 2>>stopped.err ||
    fail "resume: $(cat stopped.err)"
same stopped

# An error that all ranks find is said once.
"$TALUS" run heap.json --ranks 3 --set step=0 --no-out 2>error.txt && fail "a wrong step was taken"
[ "$(grep -c '' error.txt)" -le 2 ] || fail "an error is repeated: $(cat error.txt)"

[ $failures -eq 0 ] && echo "ok"
exit $failures
