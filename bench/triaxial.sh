#!/bin/sh
# A triaxial test of 16^3 = 4,096 spheres, dense and loose: triaxial.sh [SIDE [DIRECTORY]]. About half an hour of one core;
# SIDE 8 takes two minutes. TALUS names the program, default build/release/talus. The kept result is
# bench/results/2026-11-19-triaxial.md.
#
# Spheres of diameter 8 to 12 mm, uniform by number, between six smooth plates, without gravity, friction 0.5 between the
# spheres. Isotropic compression to 100 kPa, then axial strain at 0.6 1/s to 20 % at a lateral stress of 100 kPa. Inertial
# number: rate d sqrt(density / stress) = 0.6 0.01 sqrt(2500 / 1e5) = 9.5e-4. The dense sample is compressed without friction
# and gets its friction before the shear (`--from`, the key `earlier`); the loose one has its friction all the time, and is one scene.
#
# Stated before the first run of this size:
#   isotropic stress   100 kPa within 1 %, on each plate and by coarse-graining
#   two measures       stress from plates and from coarse-graining within 2 %
#   residual           the angle of friction, sin phi = (s1 - s3) / (s1 + s3), between 18 and 25 degrees
#   peak of the dense  between 30 and 40 degrees; the loose has none
# Spheres of this friction that may rotate have these in simulations of the literature: Thornton, Geotechnique 50 (2000)
# 43-53, periodic cells; Suiker and Fleck, J. Appl. Mech. 71 (2004) 350-358; Cui and O'Sullivan, Geotechnique 56 (2006)
# 455-468, direct shear. The bands are our reading of them, wide enough for other gradings, and not numbers of one table.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
talus=${TALUS:-$root/build/release/talus}
side=${1:-16}
work=${2:-$(mktemp -d)}
rest=${REST:-0.3} diameter=0.01
mkdir -p "$work"

# last RUN JOINT: travel of a plate at the end of a run, m
last() { grep ",\"$2\"," "$work/$1/joints.csv" | tail -n 1 | cut -d, -f4; }
# less A B: A - B
less() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.17g", a - b }'; }

run() { # run NAME SCENE SETTINGS...
    name=$1
    shift
    "$talus" run "$@" --threads 1 --frames csv --out "$work/$name" --quiet >"$work/$name.log" 2>&1 ||
        { cat "$work/$name.log" >&2 && exit 1; }
    "$talus" measure "$work/$name" --tag 0 -f contact_stress --box=-9:9,-9:9,-9:9 --every 0.01 -o "$work/$name.stress.csv" 2>/dev/null
}

# tell NAME X Y Z START HEIGHT: a table of a run from time START on, of a cell that has the widths X Y Z at time 0; angles
# and stresses are means over 1 % of strain
tell() {
    awk -F, -v x0="$2" -v y0="$3" -v z0="$4" -v start="$5" '
        function abs(a) { return a < 0 ? -a : a }
        FNR == 1 { file++; next }
        { gsub("\"", "", $3) }
        file == 1 { travel[$2, $3] = $4 }
        file == 2 {
            if ($3 == "west") time[n = $2] = $1
            force[$2, $3] = $3 ~ /st$/ ? $4 : $3 ~ /th$/ ? $5 : $6
        }
        file == 3 { grains[sprintf("%.4f", $1)] = (-$5 * 5832) "," (-$9 * 5832) "," (-$13 * 5832) }
        END {
            for (i = 1; i <= n; i++) {
                x[i] = x0 - travel[i, "east"]; y[i] = y0 - travel[i, "north"]; z[i] = z0 - travel[i, "top"]
                sx[i] = (force[i, "east"] - force[i, "west"]) / (2 * y[i] * z[i])
                sy[i] = (force[i, "north"] - force[i, "south"]) / (2 * x[i] * z[i])
                sz[i] = (force[i, "top"] - force[i, "bottom"]) / (2 * x[i] * y[i])
                if (time[i] <= start + 1e-9) s = i
            }
            printf "at the start of shear: plates %.0f %.0f %.0f Pa, grains", sx[s], sy[s], sz[s]
            split(grains[sprintf("%.4f", time[s])], g, ",")
            for (k = 1; k <= 3; k++) printf " %.0f", g[k] / (x[s] * y[s] * z[s])
            volume = x[s] * y[s] * z[s]; height = z[s]
            printf " Pa; height %.5f m, volume %.4e m3\n\n", height, volume
            print "| strain % | volume % | s1 kPa | s2 kPa | s3 kPa | angle deg | s1, s2, s3 of grains over plates |"
            print "|---|---|---|---|---|---|---|"
            h = time[2] - time[1]
            for (i = s; i <= n; i++) {
                strain[i] = (height - z[i]) / height
                a = b = c = m = 0
                for (j = i; j > s && (height - z[j]) / height > strain[i] - 0.01; j--) { a += sx[j]; b += sy[j]; c += sz[j]; m++ }
                if (m == 0) continue
                a /= m; b /= m; c /= m; t = (c - (a + b) / 2) / (c + (a + b) / 2)
                angle[i] = atan2(t, sqrt(1 - t * t)) * 57.29577951308232
                if (strain[i] > 0.01 && strain[i] <= 0.2 && angle[i] > peak) { peak = angle[i]; at = strain[i] }
                if (strain[i] > 0.15 && strain[i] <= 0.2) { late += angle[i]; lates++ }
                key = sprintf("%.4f", time[i])
                if (!(key in grains) || grains[key] == "") continue
                split(grains[key], g, ",")
                volume_now = x[i] * y[i] * z[i]
                ratio1 = g[3] / volume_now / sz[i]; ratio2 = g[1] / volume_now / sx[i]; ratio3 = g[2] / volume_now / sy[i]
                worst = abs(ratio1 - 1) > worst ? abs(ratio1 - 1) : worst
                worst = abs(ratio2 - 1) > worst ? abs(ratio2 - 1) : worst
                worst = abs(ratio3 - 1) > worst ? abs(ratio3 - 1) : worst
                far += (ratio1 - 1)^2 + (ratio2 - 1)^2 + (ratio3 - 1)^2; fars += 3
                if (strain[i] >= next_row) {
                    next_row += 0.01
                    printf "| %.1f | %.2f | %.1f | %.1f | %.1f | %.1f | %.4f %.4f %.4f |\n", 100 * strain[i],
                        100 * (volume_now / volume - 1), c / 1e3, a / 1e3, b / 1e3, angle[i], ratio1, ratio2, ratio3
                }
            }
            printf "\npeak %.1f degrees at %.1f %% of strain; residual (15 %% to 20 %%) %.1f degrees\n", peak, 100 * at, late / lates
            printf "grains over plates at %d states: root mean square of the difference %.2f %%, largest %.2f %%\n", fars / 3, 100 * sqrt(far / fars), 100 * worst
        }' "$work/$1/joints.csv" "$work/$1/probes.csv" "$work/$1.stress.csv"
}

width=$(awk -v s="$side" -v d="$diameter" 'BEGIN { printf "%.17g", 1.2 * s * d }')
settings="--set side=$side --set step=0.00025 --set solver.tolerance=0.02"
# shellcheck disable=SC2086 # settings are words
run pack "$root/scenes/triaxial.json" $settings --set mu=0 --set rest="$rest" --until "$rest"
x=$(less "$width" "$(last pack east)") y=$(less "$width" "$(last pack north)") z=$(less "$width" "$(last pack top)")
run dense "$root/bench/triaxial-shear.json" --from "$work/pack" --set height="$z" --set strain=0.205
echo "Dense, $((side * side * side)) spheres"
tell dense "$x" "$y" "$z" 0.02
# shellcheck disable=SC2086
run loose "$root/scenes/triaxial.json" $settings --set rest="$rest" --set rate=0.6 --set strain=0.22
echo
echo "Loose, $((side * side * side)) spheres"
tell loose "$width" "$width" "$width" "$rest"
grep -h "processor time" "$work"/*.log || true
