#!/bin/sh
# The runs of the cost model (docs/explanation/scale.md), lines `run` and `instructions` for bench/results: scale.sh
#   SCALE     the program; build/release/talus_bench_scale
#   REPEAT    times that runs of one and two ranks are made; 2
# The largest bed has a million bodies and needs 3 GiB; all takes some 20 minutes of two processors. Instructions are
# counted where there is valgrind.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
scale=${SCALE:-$root/build/release/talus_bench_scale}

# count ITERATIONS: products, contacts and instructions of steps on one rank.
count() {
    # shellcheck disable=SC2086 # two words
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$scale" 1 $bed $precision "$1" 2>&1 |
        sed -n 's/^steps \([0-9]*\) products \([0-9]*\) contacts \([0-9]*\)$/\1 \2 \3/p; s/.*Collected : //p' | tr '\n' ' '
}

count_instructions() { # count_instructions FEW MANY
    echo "$precision $bed $(count "$1")$(count "$2")" |
        awk '{ print "instructions", $1, 2 ^ (2 * $2 + $3), $4, $5, $9, $10, $7, $11 }'
}

if command -v valgrind >/dev/null; then
    for bed in '5 4' '6 4'; do
        precision=single && count_instructions 4 16
        precision=double && count_instructions 24 64
    done
fi
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
