#!/bin/sh
# Which cases of `talus validate` that model grains notice a planted error: friction 5 % low, gravity 2 % high, openings, silos,
# drums and columns 5 % too wide. Prints for each error and case the rows that turn red; an hour of one core.
#
#     bench/validate_planted.sh [TALUS [CASE...]]    default build/release/talus, all cases of grains
set -u
talus=${1:-build/release/talus}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- packing-mu0 packing-mu0.3 packing-mu1 packing-mu10 beverloo cone janssen incline drum column plane-shear repose crater

for error in friction=0.95 gravity=1.02 width=1.05; do
    for name in "$@"; do
        "$talus" validate "$name" --plant $error 2>/dev/null |
            awk -v error=$error -v name="$name" '
                /does not hold/ { red++; if (!seen[$0]++) lines = lines "    " $0 "\n" }
                / rows red$/ { total = $3 }
                END { printf "%s %s: %d of %d rows red\n%s", error, name, red, total, lines }'
    done
done
