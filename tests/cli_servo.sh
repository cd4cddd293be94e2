#!/bin/sh
# The scene triaxial: its servo plates reach their stress, as their probes and coarse-grained contact forces show, and a run
# that was stopped and resumed has the same files.
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

"$TALUS" run triaxial --threads 1 --out whole --quiet >whole.log 2>&1 || fail "run: $(cat whole.log)"
"$TALUS" run triaxial --threads 1 --until 0.1 --out parts --quiet >parts.log 2>&1 || fail "first part: $(cat parts.log)"
"$TALUS" run --resume parts --until 0.3 --threads 2 --quiet >>parts.log 2>&1 || fail "resume: $(cat parts.log)"
for file in joints.csv probes.csv; do
    cmp -s whole/$file parts/$file || fail "$file differs after a resume"
done

"$TALUS" measure whole --tag 0 -f contact_stress --box=-0.1:0.1,-0.1:0.1,-0.1:0.1 >stress.csv 2>measure.log ||
    fail "measure: $(cat measure.log)"
tail -n 1 stress.csv | tr , ' ' >stress.txt

# the widths of the cell: 0.072 m at the start, less the travels
awk -v x="$(column whole/joints.csv east 4)" -v y="$(column whole/joints.csv north 4)" \
    -v z="$(column whole/joints.csv top 4)" -v fx="$(column whole/probes.csv east 4)" \
    -v fy="$(column whole/probes.csv north 5)" -v fz="$(column whole/probes.csv top 6)" '
    function near(value, share) {
        print value
        if (!(value > 1e5 * (1 - share) && value < 1e5 * (1 + share))) bad = 1
    }
    {
        x = 0.072 - x; y = 0.072 - y; z = 0.072 - z
        near(fx / (y * z), 0.01); near(fy / (x * z), 0.01); near(fz / (x * y), 0.01)
        for (k = 5; k <= 13; k += 4) near(-$k * 0.008 / (x * y * z), 0.02)
    }
    END { exit bad }' stress.txt || fail "the stress is not 100 kPa"

[ $failures -eq 0 ] && echo "ok"
exit $((failures > 0))
