#!/bin/sh
# LAMMPS granular (Hertz-Mindlin springs, explicit steps) on a bed, single-threaded and without MPI.
#
#   lammps_box.sh --bed FILE --out FILE [--modulus E] [--rayleigh F] [--work DIR]
#
# E is Young's modulus in Pa (Poisson's ratio 0.3), the knob that sets penetration and, through the
# step, cost. The step is F (default 0.15) of the Rayleigh time; 0.3 is as stable here and costs half.
#
# gran/hertz/history is cheaper per step than granular hertz/material and gives the same bed.
# Restitution 0 would need a heavily damped contact, which did not stand a step of 0.3; the damping
# here is 0.35 of critical (restitution about 0.3) for an impact at 1 m/s, and the bed comes to rest
# all the same.
#
# CPU time is that of the stepping alone: the process minus the same process with no steps.
# PEERS_BIN says where the tool `measure` is (default: build/peers of this repository).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
bin=${PEERS_BIN:-$here/../../build/peers}
bed='' out='' modulus=5e9 rayleigh=0.15 work=''

usage() {
    echo "usage: lammps_box.sh --bed FILE --out FILE [--modulus E] [--rayleigh F] [--work DIR]" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || usage
    case $1 in
    --bed) bed=$2 ;;
    --out) out=$2 ;;
    --modulus) modulus=$2 ;;
    --rayleigh) rayleigh=$2 ;;
    --work) work=$2 ;;
    *) usage ;;
    esac
    shift 2
done
if [ -z "$bed" ] || [ -z "$out" ]; then usage; fi
for number in "$modulus" "$rayleigh"; do
    awk -v x="$number" 'BEGIN { exit !(x + 0 > 0) }' || usage
done
command -v lmp >/dev/null || { echo "lammps_box.sh: no lmp (Debian: lammps)" >&2; exit 1; }

# All in one directory of its own, so that runs side by side do not meet.
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"

value() { # value KEY FILE: of the first KEY=VALUE in the file's first line
    sed -n 1p "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

read_header() {
    bed_n=$(value n "$bed")
    bed_radius=$(value radius "$bed")
    bed_mass=$(value mass "$bed")
    bed_mu=$(value mu "$bed")
    bed_half_width=$(value half_width "$bed")
    bed_gravity=$(value gravity "$bed")
    bed_time=$(value time "$bed")
    if [ -z "$bed_n" ] || [ -z "$bed_time" ]; then
        echo "lammps_box.sh: $bed: not a talus-bed of version 1" >&2
        exit 1
    fi
}

# Prints dt, steps, K_n, K_t and gamma_n.
# Rayleigh time: pi r sqrt(rho/G) / (0.1631 nu + 0.8766). LAMMPS's constants for equal spheres:
# K_n = 4 G / (3 (1 - nu)), K_t = 4 G / (2 - nu) (its manual); forces are sqrt(d R) times
# (K_n d - m gamma_n v) with R = r/2 and m half a sphere, so that the share z of critical damping at
# overlap d is gamma_n = 2 z sqrt(1.5 K_n / m) / (d R)^(1/4), and an impact at speed v reaches
# d = (1.25 m v^2 / (K_n sqrt(R)))^(2/5).
contact_constants() {
    awk -v E="$modulus" -v f="$rayleigh" -v r="$bed_radius" -v mass="$bed_mass" -v t="$bed_time" '
    BEGIN {
        pi = atan2(0, -1); nu = 0.3; z = 0.35; v = 1
        G = E / (2 * (1 + nu)); rho = mass / (4 / 3 * pi * r^3)
        rayleigh = pi * r * sqrt(rho / G) / (0.1631 * nu + 0.8766)
        steps = int(t / (f * rayleigh)) + 1
        kn = 4 * G / (3 * (1 - nu)); kt = 4 * G / (2 - nu)
        m = mass / 2; R = r / 2
        d = (1.25 * m * v^2 / (kn * sqrt(R)))^0.4
        gamma = 2 * z * sqrt(1.5 * kn / m) / (d * R)^0.25
        printf "%.17g %d %.17g %.17g %.17g\n", t / steps, steps, kn, kt, gamma
    }'
}

write_data() {
    awk -v n="$bed_n" -v r="$bed_radius" -v mass="$bed_mass" -v w="$bed_half_width" '
    NR > 1 { line[NR - 1] = $0; if ($3 > top) top = $3 }
    END {
        density = mass / (4 / 3 * atan2(0, -1) * r^3)
        printf "settle-box\n\n%d atoms\n1 atom types\n\n", n
        printf "%.17g %.17g xlo xhi\n%.17g %.17g ylo yhi\n", -w - r, w + r, -w - r, w + r
        printf "%.17g %.17g zlo zhi\n\nAtoms # sphere\n\n", -r, top + 4 * r
        for (i = 1; i <= n; i++) printf "%d 1 %.17g %.17g %s\n", i, 2 * r, density, line[i]
    }' "$bed"
}

# The number of steps is a variable, so that a run without any uses the same file.
write_input() {
    dt=$1 law="$3 $4 $5 NULL $bed_mu 1" w=$bed_half_width
    skin=$(awk -v r="$bed_radius" 'BEGIN { print 0.1 * r }')
    cat <<END
units si
atom_style sphere
boundary f f f
comm_modify vel yes
read_data $work/data
pair_style gran/hertz/history $law
pair_coeff * *
neighbor $skin bin
neigh_modify delay 0 every 1 check yes
fix motion all nve/sphere
fix weight all gravity $bed_gravity vector 0 0 -1
fix x all wall/gran hertz/history $law xplane -$w $w
fix y all wall/gran hertz/history $law yplane -$w $w
fix floor all wall/gran hertz/history $law zplane 0 NULL
timestep $dt
run \${steps}
write_dump all custom $work/dump x y z modify sort id format float %.17g
END
}

# run_lammps STEPS COST_FILE
run_lammps() {
    OMP_NUM_THREADS=1 "$bin/measure" "$2" lmp -in "$work/input" -var steps "$1" \
        -log "$work/log" -screen "$work/screen" || {
        tail -n 3 "$work/screen" >&2
        exit 1
    }
}

read_header
# shellcheck disable=SC2046 # five words wanted
set -- $(contact_constants)
write_data >"$work/data"
write_input "$@" >"$work/input"
run_lammps 0 "$work/cost.setup"
run_lammps "$2" "$work/cost"
sed '1,9d' "$work/dump" >"$out"
cpu=$(awk -v a="$(value cpu_s "$work/cost")" -v b="$(value cpu_s "$work/cost.setup")" \
    'BEGIN { printf "%.4f", a - b }')
echo "engine=lammps n=$bed_n knob=E=$modulus,dt=${rayleigh}TR cpu_s=$cpu steps=$2" \
    "sim_s=$bed_time rss_mb=$(value rss_mb "$work/cost")"
