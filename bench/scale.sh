#!/bin/sh
# The runs of the cost model (docs/explanation/scale.md), lines `run` for bench/results: scale.sh
#   SCALE     the program; build/release/talus_bench_scale
#   REPEAT    times that runs of one and two ranks are made; 2
# The largest bed has a million bodies and needs 3 GiB; all takes some 20 minutes of two processors.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
scale=${SCALE:-$root/build/release/talus_bench_scale}
for _ in $(seq "${REPEAT:-2}"); do
    for bed in '5 4' '6 4' '7 4'; do
        for precision in single double; do
            # shellcheck disable=SC2086 # two words
            for ranks in 1 2; do "$scale" $ranks $bed $precision; done
        done
    done
done
for bed in '6 4' '7 4'; do
    # shellcheck disable=SC2086 # two words
    for ranks in 4 8 16; do "$scale" $ranks $bed single; done
done
for ranks in 1 2; do "$scale" $ranks 7 6 single; done
