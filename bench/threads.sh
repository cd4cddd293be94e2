#!/bin/sh
# Steps per second by number of threads, and the ratio to one thread: threads.sh [THREADS...]
#   THREADS   numbers of threads; 1 2 4 8 16 by default, as far as there are processors
#   BODIES    spheres of settle-box; 64000
#   UNTIL     simulated seconds; 1
#   SOLVERS   names or specs, `scene` for that of the scene; "scene gs apgd"
#   TALUS     the program; build/release/talus
# Fails if two numbers of threads end in different states.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
talus=${TALUS:-$root/build/release/talus}
[ $# -gt 0 ] || set -- $(for n in 1 2 4 8 16; do [ $n -le "$(nproc)" ] && echo $n; done)
printf '%-10s %8s %10s %8s  %s\n' solver threads steps/s ratio state
for solver in ${SOLVERS:-scene gs apgd}; do
    first= state=
    for threads; do
        option="--solver $solver"
        [ "$solver" = scene ] && option=
        report=$("$talus" run settle-box --set bodies="${BODIES:-64000}" --until "${UNTIL:-1}" --no-out $option \
            --threads "$threads")
        speed=$(echo "$report" | sed -n 's/.* \([0-9.]*\) steps\/s,.*/\1/p')
        hash=$(echo "$report" | sed -n 's/^hash //p')
        first=${first:-$speed} state=${state:-$hash}
        echo "$solver $threads $speed $first $hash" |
            awk '{ printf "%-10s %8d %10.2f %8.2f  %s\n", $1, $2, $3, $3 / $4, $5 }'
        [ "$hash" = "$state" ] || { echo "another state than with the first number of threads" >&2; exit 1; }
    done
done
