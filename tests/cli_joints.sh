#!/bin/sh
# A scene with joints: joints.csv holds what they did, and is the same where the run was stopped and resumed.
set -u
failures=0
rm -rf cli_joints.work
mkdir cli_joints.work
cd cli_joints.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

cat >cart.json <<'SCENE'
{
    "title": "a cart with a pendulum, pulled along a rail",
    "step": 0.005, "until": 0.4, "solver": {"tolerance": 1e-6},
    "bodies": [
        {"name": "cart", "shape": {"kind": "box", "half": [0.5, 0.2, 0.1]}, "mass": 20, "at": [0, 0, 1]},
        {"name": "wheel", "radius": 0.2, "mass": 2, "at": [0.4, 0.5, 1]},
        {"name": "bob", "radius": 0.1, "mass": 1, "at": [0.5, 0, 0.5]}
    ],
    "joints": [
        {"name": "rail", "type": "prismatic", "bodies": ["cart"], "at": [0, 0, 1], "axis": [1, 0, 0], "upper": 0.05,
         "motor": {"type": "position", "target": 0.1, "stiffness": 4000, "damping": 100, "max_effort": 60}},
        {"name": "axle, \"front\"", "type": "revolute", "bodies": ["wheel", "cart"], "at": [0.4, 0.5, 1], "axis": [0, 1, 0],
         "motor": {"type": "speed", "target": 5, "rate": 1}},
        {"name": "rope", "type": "distance", "bodies": ["bob", "cart"], "at": [0.5, 0, 0.5], "to": [0, 0, 1], "upper": 1.0}
    ]
}
SCENE

"$TALUS" run cart.json --out whole --quiet >whole.log 2>&1 || fail "run: $(cat whole.log)"
"$TALUS" run cart.json --until 0.2 --out parts --quiet >parts.log 2>&1 || fail "first part: $(cat parts.log)"
"$TALUS" run --resume parts --until 0.4 --threads 2 --quiet >>parts.log 2>&1 || fail "resume: $(cat parts.log)"
cmp -s whole/joints.csv parts/joints.csv || fail "joints.csv differs after a resume"

[ "$(wc -l <whole/joints.csv)" -eq 241 ] || fail "joints.csv has $(wc -l <whole/joints.csv) lines, expected 241"
head -n 1 whole/joints.csv | grep -q '^time,step,joint,coordinate,speed,force_x,' || fail "header of joints.csv"
grep -q ',"axle, ""front""",' whole/joints.csv || fail "a name with commas and quotes"
# the rail's motor is at its bound or less, its stop holds, and nothing drifts apart
grep ',"rail",' whole/joints.csv | awk -F, '
    $12 > 60.0001 || $4 > 0.05 + 1e-4 || $13 > 1e-6 { bad = 1 }
    END { exit bad || !($4 > 0.049) }' || fail "the rail"
# 5 rad/s, and 1 rad/s more every second
tail -n 2 whole/joints.csv | head -n 1 | awk -F, '{ exit !($6 > 5.399 && $6 < 5.401) }' || fail "the speed of the wheel"

# the problem of a step: solved, verified, and not for FCLIB
"$TALUS" extract cart.json --at 0.2 -o cart.talus >extract.log 2>&1 || fail "extract: $(cat extract.log)"
grep -q 'blocks of joints of 3 rows each' extract.log || fail "extract says $(cat extract.log)"
"$TALUS" solve cart.talus --solver auto --tol 1e-9 --save solved.talus >solve.log 2>&1 || fail "solve: $(cat solve.log)"
"$TALUS" verify cart.talus solved.talus >verify.log 2>&1 || fail "verify: $(cat verify.log)"
awk '$1 == "natural_relative" { found = $2 <= 1e-9 } END { exit !found }' verify.log || fail "verify: $(cat verify.log)"
"$TALUS" extract cart.json --at 0 -o cart.hdf5 >fclib.log 2>&1 && fail "a joint in an FCLIB file"
grep -q 'is a joint; FCLIB has contacts alone; `-o file.talus` keeps it' fclib.log || grep -q 'no HDF5' fclib.log ||
    fail "a joint in an FCLIB file: $(cat fclib.log)"

[ $failures -eq 0 ] && echo "ok"
exit $((failures > 0))
