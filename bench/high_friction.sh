#!/bin/sh
# Beds with high friction under exact Coulomb friction, the default, and under ccp: high_friction.sh [SPHERES [SEED]]. Half a
# minute of one core. TALUS names the program, default build/release/talus. The kept result is
# bench/results/2026-11-19-high-friction.md.
#
# The scene settle-box to 0.8 s, 160 steps. Prints steps that miss their tolerance, the largest overlap at the end, in radii,
# and seconds of the processor.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
talus=${TALUS:-$root/build/release/talus}
spheres=${1:-500} seed=${2:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# value KEY: the last number of this key in the report
value() { sed -n "s/.*\"$1\": *\"\{0,1\}\([0-9a-f.e+-]*\).*/\1/p" "$work/report" | tail -n 1; }

echo "$spheres spheres, seed $seed"
echo
echo "| law | mu | steps that miss | largest overlap | seconds |"
echo "|---|---|---|---|---|"
for law in coulomb ccp; do
    for mu in 0.5 1 2 3 10; do
        set -- --set "bodies=$spheres" --set "mu=$mu" --seed "$seed" --until 0.8 --threads 1 --no-out --quiet --json
        if [ $law = ccp ]; then set -- "$@" --set law=ccp --set compliance=0.01; fi
        "$talus" run settle-box "$@" >"$work/report" 2>/dev/null
        printf '| %s | %s | %s | %.1e | %.1f |\n' "$law" "$mu" "$(value missed_steps)" "$(value max)" "$(value cpu_seconds)"
    done
done
