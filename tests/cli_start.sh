#!/bin/sh
# What is wrong or unusual about a scene is told before its first step: by run, which refuses what is surely wrong
# before it writes anything, and by info, which shows it.
set -u
failures=0
rm -rf cli_start.work
mkdir cli_start.work
cd cli_start.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

cat >deep.json <<'SCENE'
{
    "step": 0.5,
    "bodies": [
        {"name": "floor", "shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"name": "grains", "radius": {"min": 0.05, "max": 0.05}, "mass": 2, "at": [[0, 0, 0.05], [1, 1, -0.5]]}
    ]
}
SCENE
refusal='deep.json:5:9: bodies[1]: sphere "grains" 1 at (1, 1, -0.5) overlaps plane "floor" of bodies[0] by 0.55 m, 11 times the radius 0.05 m'

"$TALUS" run deep.json --until 1 --out out >run.log 2>&1
[ $? -eq 1 ] || fail "run of bodies below the floor: $(cat run.log)"
grep -qF "talus: $refusal; more than 0.5 is refused: move the bodies apart, or allow it with \"max_overlap\": 12" run.log ||
    fail "words of the refusal: $(cat run.log)"
[ ! -e out ] || fail "a refused run has written"

"$TALUS" run deep.json --set max_overlap=12 --until 1 >allowed.log 2>&1 || fail "run that is allowed: $(cat allowed.log)"
[ "$(grep -cF "warning: $refusal" allowed.log)" -eq 1 ] || fail "an overlap that is allowed is told once: $(cat allowed.log)"
[ "$(grep -c 'warning: .*step: h = 0.5 s is 4.95 times sqrt(d/g)' allowed.log)" -eq 1 ] ||
    fail "the step is told once: $(cat allowed.log)"

"$TALUS" extract deep.json --at 0 -o deep.talus >extract.log 2>&1 && fail "extract from bodies below the floor"

"$TALUS" info deep.json >info.log 2>info.err || fail "info: $(cat info.err)"
grep -qF "warning: $refusal; a run refuses more than 0.5" info.err || fail "info warns: $(cat info.err)"
expect() { grep -qF -- "$1" info.log || fail "info has no '$1': $(cat info.log)"; }
expect '  bounds            moving from (-0.05, -0.05, -0.55) to (1.05, 1.05, 0.1) m'
expect '                    fixed without end: 1 plane'
expect '  radii             0.05 m'
expect '  masses            2 kg, 4 kg in all'
expect '  fill              0.00133 of the box around what moves'
expect '  step              h is 4.95 of sqrt(d/g) = 0.101 s, d = 0.1 m being the least width; flows need at most 0.05: at 0.125 a hopper ran 8 % too slowly'
expect '  overlap           1 pair, at most 0.55 m, 11 of the smaller size'

# A run that is resumed is not judged again.
"$TALUS" run deep.json --set max_overlap=12 --until 1 --out out --quiet >first.log 2>&1 || fail "first: $(cat first.log)"
"$TALUS" run --resume out --until 1.5 --quiet >second.log 2>&1 || fail "resume: $(cat second.log)"
grep -q warning second.log && fail "a resumed run is judged again: $(cat second.log)"

[ "$failures" -eq 0 ]
