#!/bin/sh
# The scene triaxial: its servo plates reach their stress, as their probes and coarse-grained contact forces show, then shear;
# a run that was stopped and resumed has the same files. Its plates go on as those of another scene, by their tags.
set -u
failures=0
rm -rf cli_servo.work
mkdir cli_servo.work
cd cli_servo.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# column FILE NAME N: the N-th number of the last row whose name is NAME
column() { grep ",\"$2\"," "$1" | tail -n 1 | cut -d, -f"$3"; }

# isotropic up to 0.12 s; then the top goes down, from 0.14 s on at a steady speed
size='--set side=5 --set rest=0.12'
# shellcheck disable=SC2086 # size is words
"$TALUS" run triaxial $size --threads 1 --until 0.15 --out whole --quiet >whole.log 2>&1 || fail "run: $(cat whole.log)"
# shellcheck disable=SC2086
"$TALUS" run triaxial $size --threads 1 --until 0.12 --out parts --quiet >parts.log 2>&1 || fail "first part: $(cat parts.log)"
cp -r parts rest
for end in 0.125 0.15; do
    "$TALUS" run --resume parts --until $end --threads 2 --quiet >>parts.log 2>&1 || fail "resume: $(cat parts.log)"
done
for file in joints.csv probes.csv; do
    cmp -s whole/$file parts/$file || fail "$file differs after a resume"
done
[ "$(column whole/joints.csv top 5)" = 0.024 ] || fail "speed of the top: $(column whole/joints.csv top 5)"

"$TALUS" measure rest --tag 0 -f contact_stress --box=-0.1:0.1,-0.1:0.1,-0.1:0.1 >stress.csv 2>measure.log ||
    fail "measure: $(cat measure.log)"
tail -n 1 stress.csv | tr , ' ' >stress.txt

# the widths of the cell: 0.06 m at the start, less the travels
awk -v x="$(column rest/joints.csv east 4)" -v y="$(column rest/joints.csv north 4)" \
    -v z="$(column rest/joints.csv top 4)" -v fx="$(column rest/probes.csv east 4)" \
    -v fy="$(column rest/probes.csv north 5)" -v fz="$(column rest/probes.csv top 6)" '
    function near(value, share) {
        print value
        if (!(value > 1e5 * (1 - share) && value < 1e5 * (1 + share))) bad = 1
    }
    {
        x = 0.06 - x; y = 0.06 - y; z = 0.06 - z
        near(fx / (y * z), 0.01); near(fy / (x * z), 0.01); near(fz / (x * y), 0.01)
        for (k = 5; k <= 13; k += 4) near(-$k * 0.008 / (x * y * z), 0.02)
    }
    END { exit bad }' stress.txt || fail "the stress is not 100 kPa"

# the compressed sample in another scene: its plates keep their stress, and the top goes down
cat >next.json <<'END'
{
    "step": 0.0005, "until": 0.05, "gravity": [0, 0, 0], "solver": {"reference_speed": 0.005},
    "materials": {"glass": {"friction": 0.3}, "smooth": {"friction": 0}},
    "apart": [{"between": ["cell", "cell"]}],
    "bodies": [
        {"name": "west", "earlier": 1, "group": "cell"}, {"name": "south", "earlier": 3, "group": "cell"},
        {"name": "bottom", "earlier": 5, "group": "cell"},
        {"name": "east", "earlier": 2, "group": "cell",
         "servo": {"axis": [-1, 0, 0], "stress": 1e5, "speed": 0.2, "between": [["south", "north"], ["bottom", "top"]]}},
        {"name": "north", "earlier": 4, "group": "cell",
         "servo": {"axis": [0, -1, 0], "stress": 1e5, "speed": 0.2, "between": [["west", "east"], ["bottom", "top"]]}},
        {"name": "top", "earlier": 6, "group": "cell",
         "servo": {"axis": [0, 0, -1], "speed": 0.2,
                   "phases": [{"force": 200, "until": 0.03}, {"velocity": 0.02, "ramp": 0.01}]}}
    ],
    "probes": [{"name": "top", "body": "top"}]
}
END
for ranks in 1 2; do
    "$TALUS" run next.json --from rest --threads 1 --ranks $ranks --out next$ranks --quiet >next.log 2>&1 ||
        fail "next on $ranks: $(cat next.log)"
done
cmp -s next1/joints.csv next2/joints.csv || fail "the bodies of an earlier run differ on two ranks"
[ "$(column next1/joints.csv top 5)" = 0.02 ] || fail "speed of the top: $(column next1/joints.csv top 5)"
grep '^0.029[0-9]*,[0-9]*,"top",' next1/joints.csv | cut -d, -f12 | awk '{ if ($1 != 200) bad = 1 } END { exit bad || NR == 0 }' ||
    fail "the force of the top is not 200 N"

[ $failures -eq 0 ] && echo "ok"
exit $((failures > 0))
