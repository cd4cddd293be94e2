#!/bin/sh
# One hash for a scene, whatever the ranks and threads: ranks_hashes.sh TALUS [RANKS] [THREADS]
#
# Runs eight scenes (spheres, boxes, a rover, a driven drum, an emitter, periodic space, cohesion, rigid contacts under
# Coulomb's law) with each number of RANKS ("1 2 3 5 8"), which are threads of one process, times each of THREADS ("1 2"), and
# where there is mpirun with each number of RANKS above 1 as processes. Prints a row per scene: its hash, and how many runs
# had it; ends with 1 if two runs of a scene differ.
set -eu
talus=$1 ranks=${2:-1 2 3 5 8} threads=${3:-1 2}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/emitter.json" <<'END'
{"step": 0.005, "until": 0.5, "materials": {"grain": {"friction": 0.4}},
 "bodies": [{"shape": {"kind": "box", "half": [0.6, 0.6, 0.05]}, "at": [0, 0, -0.05], "fixed": true}],
 "emitters": [{"lo": [-0.5, -0.5, 0.3], "hi": [0.5, 0.5, 0.7], "rate": 3000, "count": 1200, "radius": {"min": 0.02, "max": 0.03},
               "velocity": [0, 0, -2]}],
 "sinks": [{"axis": "z", "below": -1}]}
END
cat >"$work/periodic.json" <<'END'
{"step": 0.005, "until": 0.4, "period": {"x": [0, 1], "y": [0, 1]}, "gravity": [2, 0, -9.81],
 "materials": {"grain": {"friction": 0.5}},
 "bodies": [{"shape": {"kind": "plane"}, "at": [0, 0, 0]},
            {"radius": {"mean": 0.04, "spread": 0.2}, "count": 1200,
             "lattice": {"lo": [0, 0, 0.01], "cells": [10, 10, 0], "spacing": 0.1, "jitter": 0.5}}]}
END

# run NAME OPTIONS...: the hash of a run
run() {
    "$talus" run "$@" --no-out --quiet --json 2>"$work/log" | sed -n 's/^ *"hash": *"\([^"]*\)".*/\1/p'
}

# processes N OPTIONS...
processes() {
    n=$1 && shift
    mpirun --allow-run-as-root --oversubscribe -n "$n" "$talus" run "$@" --no-out --quiet --json 2>"$work/log" |
        sed -n 's/^ *"hash": *"\([^"]*\)".*/\1/p'
}

status=0
# check NAME OPTIONS...: a row
check() {
    name=$1 && shift
    : >"$work/hashes"
    for r in $ranks; do
        for t in $threads; do run "$@" --ranks "$r" --threads "$t" >>"$work/hashes" || true; done
        if [ "$r" -gt 1 ] && command -v mpirun >/dev/null 2>&1; then processes "$r" "$@" --threads 1 >>"$work/hashes" || true; fi
    done
    if [ "$(sort -u "$work/hashes" | grep -c .)" -ne 1 ]; then
        echo "$name: DIFFERENT, or no run: $(sort "$work/hashes" | uniq -c | tr -s ' \n' ' ')$(tail -n 1 "$work/log")"
        status=1
        return
    fi
    printf '%-12s %s  %d runs\n' "$name" "$(head -n 1 "$work/hashes")" "$(grep -c . "$work/hashes")"
}

scenes=$root/scenes
check spheres "$scenes/settle-box.json" --until 0.4
check boxes "$scenes/box-stack.json" --until 0.4
check rover "$scenes/rover.json" --until 0.05
check drum "$scenes/tablet-drum.json" --until 0.1
check emitter "$work/emitter.json"
check periodic "$work/periodic.json"
check cohesion "$scenes/cohesive-column.json" --until 0.2
check coulomb "$scenes/settle-box.json" --until 0.2 --set compliance=0
exit $status
