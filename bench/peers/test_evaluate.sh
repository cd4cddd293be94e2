#!/bin/sh
# test_evaluate.sh EVALUATE: the evaluator on a state whose answer is known by hand.
#
# Radius 0.1, box of half-width 1. Overlaps in radii: spheres 1 and 2 overlap by 0.02 (an offset of
# (2, 1, 2)/3 times 1.98 radii), sphere 3 sits 0.04 in the floor, sphere 4 0.06 in the wall at x = 1
# and 0.08 in the one at y = -1. Sphere 5 is far above everything, 6 through the floor, 7 not a number.
set -eu
evaluate=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/state" <<END
0 0 0.5
0.132 0.066 0.632
-0.5 -0.5 0.096
0.906 -0.908 0.3
0 0.5 1e6
0.5 0.5 -0.2
0 0 nan
END
{
    echo "talus-bed 1 n=7 radius=0.1 mass=1 mu=0.3 half_width=1 gravity=9.81 step=0.005 time=3"
    cat "$dir/state"
} >"$dir/bed"

expected='n=7 lost=2 overlaps=4 pen_mean=5.0000e-02 pen_max=8.0000e-02'
got=$("$evaluate" "$dir/bed" "$dir/state" --check)
case $got in
"$expected "*) ;;
*)
    printf 'expected %s ...\ngot      %s\n' "$expected" "$got" >&2
    exit 1
    ;;
esac

# A state with a sphere too few must be refused, not half read.
sed '$d' "$dir/state" >"$dir/short"
if "$evaluate" "$dir/bed" "$dir/short" 2>/dev/null; then
    echo "a state of 6 spheres was accepted for a bed of 7" >&2
    exit 1
fi
