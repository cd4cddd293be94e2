#!/bin/sh
# mu(I): friction and solid fraction of spheres in homogeneous simple shear, over two decades of the inertial number.
#
#     bench/mu_of_i.sh TALUS OUT [SIDE]
#
# runs scenes/simple-shear.json in folders below OUT and writes a table of means over the last part of each run: pressure over
# the one that is kept, mu by the stress across the shear, solid fraction, and work of the cell over the power of its stress.
# The standard error is that of four blocks.
set -e
talus=$1 out=$2 side=${3:-10}
scene=$(dirname "$0")/../scenes/simple-shear.json

# shear LABEL MU I STRAIN FROM: runs, unless it has been run, and prints a row of means from the strain FROM on
shear() {
    run=$out/$1
    [ -f "$run/done" ] || {
        nice "$talus" run "$scene" --out "$run" --threads 1 --set side="$side" --set mu="$2" --set I="$3" --set strain="$4" \
            --every 1e9 >"$run.log" 2>&1
        touch "$run/done"
    }
    awk -F, -v mu="$2" -v number="$3" -v from="$5" -v to="$4" -v side="$side" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["shear"] < from { time = $column["time"]; next }
        {
            h = $column["time"] - time; time = $column["time"]
            volume = $column["length_x"] * $column["length_y"] * $column["length_z"]
            p = -$column["contact_stress_yy"] - $column["kinetic_stress_yy"]
            t = $column["contact_stress_xy"] + $column["kinetic_stress_xy"]
            block = int(4 * ($column["shear"] - from) / (to - from + 1e-9))
            P[block] += p; T[block] += t; n++
            pressure += p; stress += t; inside += 1 / volume
            work += $column["work"]
            power += h * volume * (t * $column["rate_xy"] - p * $column["rate_yy"])
        }
        END {
            for (b = 0; b < 4; b++) { m = T[b] / P[b]; sum += m; square += m * m }
            error = sqrt((square / 4 - sum * sum / 16) / 3)
            # lattice of side^3 spheres, radii uniform within 10 %: mean of r^3 is 1.01 (d/2)^3
            solid = side ^ 3 * 3.14159265 / 6 * 1e-6 * 1.01 * inside / n
            printf "| %s | %s | %d | %.3f | %.4f | %.4f | %.3f | %.3f |\n", mu, number, n, pressure / n / 1000,
                   stress / pressure, error, solid, work / power
        }' "$run/cell.csv"
}

mkdir -p "$out"
echo "| mu_p | I | steps | p/p_0 | mu | error | solid fraction | work/power |"
echo "|---|---|---|---|---|---|---|---|"
shear f0003 0.5 0.003 2.6 1
shear f001 0.5 0.01 3.5 1
shear f003 0.5 0.03 6 2
shear f01 0.5 0.1 12 5
shear f03 0.5 0.3 25 15
shear s0003 0 0.003 2 1
shear s003 0 0.03 5 2
