#!/bin/sh
# A sweep of 45 runs that is killed again and again at random moments, all its processes at once, ends with the tables of a
# sweep that was not, byte for byte:
#
#     bench/sweep_kill.sh TALUS DIR [LONGEST]
#
# DIR is made anew. LONGEST, 3 by default, is the longest time in seconds between start and kill. Prints how often the sweep was
# killed, how many runs went on from checkpoints, and whether the tables agree; exit status 1 if they do not.
set -u
scene=$(cd "$(dirname "$0")/.." && pwd -P)/scenes/heap.json
talus=$1 dir=$2 longest=${3:-3}
rm -rf "$dir" && mkdir -p "$dir" && cd "$dir" || exit 1

sweep() {
    out=$1
    shift
    exec "$@" "$talus" sweep "$scene" --set bodies=300 --set 'disc==12*radius' --set settle=0.6 --vary mu=0.1:0.9:9 --seeds 5 \
        --measure repose --measure coordination --measure steps:kinetic --measure steps:iterations@0.5 \
        --checkpoint-every 0.1 --quiet --out "$out"
}
# A number in 0..65535.
random() { od -An -N2 -tu2 /dev/urandom | tr -d ' \n'; }
# The number of runs that have begun and are not whole: those that the next sweep takes up.
begun() { ls -d killed/runs/*/ 2>/dev/null | while read -r run; do [ -e "$run/sweep.key" ] || ls "$run"/checkpoint-* 2>/dev/null | head -n 1; done | wc -l; }

(sweep whole env) || exit 1
killed=0 resumed=0
until [ -e killed/runs.csv ]; do
    sweep killed setsid &
    process=$!
    sleep "$(awk -v r="$(random)" -v w="$longest" 'BEGIN { printf "%.3f", w * r / 65536 }')"
    if kill -KILL "-$process" 2>/dev/null; then killed=$((killed + 1)); fi
    wait $process 2>/dev/null
    resumed=$((resumed + $(begun)))
done
echo "killed $killed times, $resumed runs taken up from a checkpoint"
for file in runs.csv table.csv sweep.json; do
    cmp "whole/$file" "killed/$file" || exit 1
    echo "$file: $(wc -c <"whole/$file") bytes, the same"
done
