#!/bin/sh
# The tables of talus_bench_ranks_sim (bench/ranks_sim.c), as kept in bench/results: ranks_sim.sh
#   SIM       the program; build/release/talus_bench_ranks_sim
#   SAMPLES   ranks whose halo is made; 8
# The largest bed needs 4 GiB and some minutes.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
sim=${SIM:-$root/build/release/talus_bench_ranks_sim} samples=${SAMPLES:-8}

series() { # series TITLE 'RANKS WIDTH HEIGHT MIX CELLS'...
    printf '\n## %s\n\n' "$1"
    shift
    "$sim"
    for case; do
        # shellcheck disable=SC2086 # five words
        "$sim" $case "$samples"
    done
}

series 'Ranks, some 1e5 bodies each' '100 9 6 1 21' '1000 10 7 1 21' '10000 11 8 1 21' '100000 12 9 1 21'
series 'Bodies a rank' '1000 8 5 1 21' '1000 9 6 1 21' '1000 10 7 1 21' '1000 11 8 1 21'
series 'Bodies that have changed places' '100 9 6 1 21' '100 9 6 8 21' '100 9 6 64 21' '100 9 6 512 21'
series 'Cells of the curve' '10000 11 8 1 7' '100000 12 9 1 7' '100000 12 9 1 9'
