#!/bin/sh
# The tables of talus_bench_ranks_sim (bench/ranks_sim.c), as kept in bench/results: ranks_sim.sh
#   SIM       the program; build/release/talus_bench_ranks_sim
# The largest bed needs 4 GiB; all takes some ten minutes of a processor.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
sim=${SIM:-$root/build/release/talus_bench_ranks_sim}

series() { # series TITLE 'RANKS WIDTH HEIGHT MIX CELLS SAMPLES'...
    printf '\n## %s\n\n' "$1"
    shift
    "$sim"
    # shellcheck disable=SC2086 # six words
    for case; do "$sim" $case; done
}

series 'Few ranks, all of them: the beds of bench/scale.sh' '2 5 4 1 21 2' '2 6 4 1 21 2' '2 7 4 1 21 2' '2 7 6 1 21 2' \
    '4 6 4 1 21 4' '8 6 4 1 21 8' '16 6 4 1 21 16' '4 7 4 1 21 4' '8 7 4 1 21 8' '16 7 4 1 21 16'
series 'Ranks, some 1e5 bodies each' '100 9 6 1 21 16' '1000 10 7 1 21 16' '10000 11 8 1 21 16' '100000 12 9 1 21 16'
series 'Bodies a rank' '1000 8 5 1 21 16' '1000 9 6 1 21 16' '1000 11 8 1 21 4'
series 'Bodies that have changed places' '100 9 6 8 21 4' '100 9 6 64 21 4' '100 9 6 512 21 4'
