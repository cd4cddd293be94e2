#!/bin/sh
# A run ends when it is told to: its last steps are shortened where its end is no multiple of the step, and a run that
# is resumed with a later end is that which was never stopped.
set -u
failures=0
rm -rf cli_until.work
mkdir cli_until.work
cd cli_until.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

number() { sed -n "s/.*\"$2\": \"\{0,1\}\([^,\"}]*\).*/\1/p" "$1"; }

# shellcheck source=tests/support/run_files.sh
. "$TALUS_SOURCE_DIR/tests/support/run_files.sh"

cat >scene.json <<'END'
{
    "params": {"h": 0.05},
    "step": "=h", "until": 0.12, "every": 0.04,
    "bodies": [
        {"shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"name": "a", "radius": 0.1, "at": [0, 0, 0.11], "density": 1000},
        {"name": "b", "radius": 0.1, "at": [0.05, 0, 0.32], "density": 1000}
    ],
    "joints": [{"name": "pivot", "type": "ball", "bodies": ["b"], "at": [0.3, 0, 0.32]}],
    "emitters": [{"lo": [1, 1, 1], "hi": [2, 2, 2], "rate": 30, "count": 20, "radius": 0.05}],
    "probes": [{"name": "on a", "body": "a"}]
}
END

# ends TIME STEPS OPTIONS...
ends() {
    time=$1 steps=$2
    shift 2
    "$TALUS" run scene.json "$@" --quiet --json >end.json 2>err || fail "$*: $(cat err)"
    awk -v a="$(number end.json time)" -v b="$time" \
        'BEGIN { exit !(a - b <= 1e-15 && b - a <= 1e-15) }' ||
        fail "$*: ended at $(number end.json time), not at $time"
    [ "$(number end.json steps)" -eq "$steps" ] ||
        fail "$*: $(number end.json steps) steps, not $steps"
}
ends 0.12 3
ends 0.1 1 --set step=5 --until 0.1
ends 0.13 2 --set step=0.1 --until 0.13
# multiples of the step up to rounding have whole steps alone
ends 0.1 10 --set step=0.01 --until 0.1
ends 0.3 3 --set step=0.1 --until 0.3
ends 0.7 7 --set step=0.1 --until 0.7
ends 0.7 700 --set step=0.001 --until 0.7

# ---- the last row and the last frame are those of the end ----
"$TALUS" run scene.json --out short --quiet 2>err || fail "run: $(cat err)"
[ "$(tail -n 1 short/steps.csv | cut -d, -f1,2)" = "0.12,3" ] || fail "$(tail -n 1 short/steps.csv)"
"$TALUS" info short/frames.talus >said
grep -Eq 'frames  *4$' said || fail "frames: $(cat said)" # at 0, 0.05, 0.085 and 0.12

# A remainder of less than half a step is shared by the last two: 0.1 + 0.02 is 0.05 + 2 x 0.035.
[ "$(tail -n +2 short/steps.csv | cut -d, -f1 | awk '{ printf "%g ", $1 }')" = "0.05 0.085 0.12 " ] ||
    fail "times: $(cut -d, -f1 short/steps.csv)"

# ---- at rest, an end just after a step throws nothing about and measures nothing that was not there ----
cat >rest.json <<'END'
{
    "step": 0.005, "until": 4,
    "bodies": [
        {"name": "floor", "shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"radius": 0.05, "density": 2600, "lattice": {"lo": [-0.3, -0.3, 0], "cells": [5, 5, 3], "jitter": 0.5}},
        {"shape": {"kind": "plane"}, "at": [-0.35, 0, 0], "normal": [1, 0, 0]},
        {"shape": {"kind": "plane"}, "at": [0.35, 0, 0], "normal": [-1, 0, 0]},
        {"shape": {"kind": "plane"}, "at": [0, -0.35, 0], "normal": [0, 1, 0]},
        {"shape": {"kind": "plane"}, "at": [0, 0.35, 0], "normal": [0, -1, 0]}
    ],
    "probes": [{"name": "floor", "body": "floor"}]
}
END
# At rest impulses wander within the tolerance, and with them the kinetic energy: one value can be eight times the one
# before, but in 6,000 steps of such beds none was above 1.8 times the largest of the 100 before it; the load stayed
# within 1 % of its mean. So the end is held to the last 100 steps of the run without a remainder, not to its last one.
kinetic() { # largest of the last 100 steps, then the last one
    tail -n 100 "$1/steps.csv" | awk -F, -v k="$(head -n 1 "$1/steps.csv" | tr ',' '\n' | grep -n '^kinetic$' | cut -d: -f1)" \
        '{ most = $k > most ? $k : most } END { print most, $k }'
}
load() { # mean of the last 100 steps, then the last one
    tail -n 100 "$1/probes.csv" | awk -F, '{ sum += $6 } END { print sum / NR, $6 }'
}
for until in 4 4.0000001 4.00001 4.0003 4.002; do
    "$TALUS" run rest.json --until $until --out rest --quiet --threads 1 2>err || fail "rest: $(cat err)"
    [ $until = 4 ] && most=$(kinetic rest | cut -d' ' -f1) mean=$(load rest | cut -d' ' -f1)
    last=$(kinetic rest | cut -d' ' -f2)
    force=$(load rest | cut -d' ' -f2)
    awk -v a="$last" -v b="$most" -v f="$force" -v g="$mean" \
        'BEGIN { exit !(a > 0 && a < 2 * b && b < 1e-3 && f < 0.98 * g && f > 1.02 * g) }' ||
        fail "until $until: $last J and $force N, before $most J and $mean N"
done

# ---- to a later end: byte for byte the run that was not stopped ----
kinds="--frames vtp,csv,lammps"
for until in 0.12 0.151 0.26; do
    for every in 60 0; do # a checkpoint at the end alone, and after every step
        "$TALUS" run scene.json $kinds --until 0.3 --out whole --quiet --json >whole.json || fail whole
        "$TALUS" run scene.json $kinds --until $until --checkpoint-every $every --out parts --quiet \
            2>err || fail "until $until: $(cat err)"
        [ "$(fingerprint parts)" != "$(fingerprint whole)" ] || fail "$until is as 0.3"
        ended=$(fingerprint parts)
        "$TALUS" run --resume parts --quiet 2>err || fail "resume to the same end: $(cat err)"
        [ "$(fingerprint parts)" = "$ended" ] || fail "$until again: other files"
        "$TALUS" run --resume parts --until 0.3 --quiet --json >parts.json 2>err ||
            fail "resume to 0.3: $(cat err)"
        [ -s err ] && fail "resume to 0.3 said: $(cat err)"
        [ "$(number parts.json hash)" = "$(number whole.json hash)" ] || fail "$until, 0.3: other hash"
        [ "$(fingerprint parts)" = "$(fingerprint whole)" ] || fail "$until, 0.3: other files"
        rm -rf whole parts
    done
done

# ---- an end before the checkpoint is refused, within the same step too ----
"$TALUS" run scene.json --until 0.15 --out past --quiet || fail past
"$TALUS" run --resume past --until 0.12 >said 2>err && fail "resumed to before its checkpoint"
grep -q "its checkpoint is at t = 0.15 s, past the end at t = 0.12 s" err || fail "$(cat err)"

[ $failures -eq 0 ] && echo "cli_until: passed"
[ $failures -eq 0 ]
