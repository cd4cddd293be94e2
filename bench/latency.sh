#!/bin/sh
# What the latency of messages adds to a product of two ranks, behind the work and in front of it: latency.sh [REPEAT]
#   SCALE     the program; build/release/talus_bench_scale
#   BED       width and height of the bed; '5 4', 16,384 spheres
# Lines `latency` of bench/scale.c, of each kind the one with the least seconds of REPEAT runs (10). The runs of all kinds
# take turns, so that other work on the machine meets them alike. Needs two processors.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
scale=${SCALE:-$root/build/release/talus_bench_scale}
bed=${BED:-5 4}

for _ in $(seq "${1:-10}"); do
    for latency in 0 200 500 1000 2000; do
        # shellcheck disable=SC2086 # two words
        for mode in behind blocking; do "$scale" 2 $bed single 16 $latency $mode; done
    done
done | awk '{ kind = $5 " " $2 " " $3 }
    !(kind in least) { order[++kinds] = kind }
    !(kind in least) || $8 < least[kind] { least[kind] = $8; line[kind] = $0 }
    END { for (k = 1; k <= kinds; k++) print line[order[k]] }'
