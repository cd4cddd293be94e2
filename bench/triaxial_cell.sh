#!/bin/sh
# The triaxial test of bench/triaxial.sh without walls, in a periodic cell: triaxial_cell.sh [DIRECTORY]. Two minutes of one
# core. TALUS names the program, default build/release/talus. The kept result is in bench/results/2026-11-19-triaxial.md.
#
# 1,000 spheres are compressed to 100 kPa by the scene compression with friction FRICTION, then compressed along z with
# friction 0.5 at an inertial number I, at a lateral pressure of 100 kPa: three samples. Prints solid fraction, peak (the largest
# mean over 0.25 % of strain) and residual (15 % to 20 %) of the angle of friction.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
talus=${TALUS:-$root/build/release/talus}
work=${1:-$(mktemp -d)}
side=10 diameter=0.01
mkdir -p "$work"

quietly() { "$talus" run "$@" --threads 1 --quiet >"$work/log" 2>&1 || { cat "$work/log" >&2 && exit 1; }; }
# side NAME COLUMN: a side of the cell at the end of a run, m
side_of() { tail -n 1 "$work/$1/cell.csv" | cut -d, -f"$2"; }

echo "| friction of the compression | I | solid fraction | peak, degrees | at strain | residual, degrees |"
echo "|---|---|---|---|---|---|"
while read -r friction inertial; do
    made=$work/made-$friction
    [ -d "$made" ] || quietly "$root/scenes/compression.json" --set side=$side --set mu="$friction" --set pressure=1e5 --until 0.32 --out "$made"
    name=shear-$friction-$inertial
    centre=$(awk -v n=$side -v d=$diameter 'BEGIN { print 0.5 * 1.15 * n * d }')
    quietly "$root/bench/triaxial-cell.json" --from "$made" --set x="$(side_of "made-$friction" 3)" \
        --set y="$(side_of "made-$friction" 4)" --set z="$(side_of "made-$friction" 5)" --set centre="$centre" \
        --set I="$inertial" --out "$work/$name"
    volume=$("$talus" measure "$made" 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at["volume"] }')
    awk -F, -v friction="$friction" -v inertial="$inertial" -v grains="$volume" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        function pressure(k) { return -$at["contact_stress_" k] - $at["kinetic_stress_" k] }
        function angle(axial, lateral, s) { s = (axial - lateral) / (axial + lateral); return atan2(s, sqrt(1 - s * s)) * 57.29577951308232 }
        NR == 2 { solid = grains / ($at["length_x"] * $at["length_y"] * $at["length_z"]) }
        {
            strain = -$at["strain_z"]; bin = int(strain / 0.0025); lateral = (pressure("xx") + pressure("yy")) / 2
            a[bin] += pressure("zz"); l[bin] += lateral; n[bin]++
            if (strain >= 0.15 && strain <= 0.2) { ra += pressure("zz"); rl += lateral }
        }
        END {
            for (b in n) if (angle(a[b], l[b]) > peak) { peak = angle(a[b], l[b]); where = (b + 0.5) * 0.25 }
            printf "| %s | %s | %.3f | %.1f | %.1f %% | %.1f |\n", friction, inertial, solid, peak, where, angle(ra, rl)
        }' "$work/$name/cell.csv"
done <<'END'
0 0.001
0 0.0005
0.5 0.001
END
