#!/bin/sh
# talus bench gpu and its rows: the quick versions on the cpu; where the build has the cuda backend and
# there is a device, or kernels run on the host, those rows also there.
set -u
failures=0
rm -rf cli_backend_bench.work
mkdir cli_backend_bench.work
cd cli_backend_bench.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(head -c 3000 "$1")"; }
# refused TEXT ARGS...
refused() {
    text=$1
    shift
    "$TALUS" bench "$@" >said 2>err
    [ $? -eq 2 ] || fail "bench $* is not wrong usage"
    contains err "$text"
}

refused "no row 'millon'" gpu millon
refused "did you mean 'pospisil'?" pospisi
refused "--fresh: gpu always runs anew" gpu --fresh
refused "--backend, --repeat and --steps are for experiments that run worlds" heyn-1 --steps 3
refused "heyn-1 has no rows" heyn-1 heyn-2
"$TALUS" list experiments >list || fail "list experiments"
for name in gpu hourglass million ten-million hundred-million copies pospisil beverloo agreement shear packing \
    janssen petra-sim; do
    contains list "  $name "
done

# All rows take half a minute under a sanitizer, and are the same code that other tests run there.
all_rows() {
    "$TALUS" bench gpu --backend cpu --quick --threads 1 --out all >table 2>err || fail "gpu: $(cat err)"
    for title in "Hourglass: mu 0.2" "A million spheres settling" "Ten million spheres" \
        "A hundred million spheres" "Beds of 2,000 spheres" "pospisil: 32,810 grains" "Beverloo: grains per second" \
        "One problem, solved by each backend" "Settled beds" "Targets"; do
        contains table "$title"
    done
    for file in report.html results.json pospisil.csv table-1.csv table-10.csv; do
        [ -s all/$file ] || fail "all/$file is missing"
    done
    # what is small is not judged, and what was asked for was reached
    grep -q ' held$\| missed$' table && fail "a quick version was judged"
    awk -F, '/^"?ten million/ { n++; if (!($(NF - 1) <= 1e-3)) exit 1 } END { if (n != 3) exit 1 }' \
        all/table-10.csv || fail "ten million: $(cat all/table-10.csv)"
    # a row per step, bodies with the ball after it came, and products at least as many as iterations
    awk -F, 'NR > 1 { n++; bodies = $3; if ($6 < $5) exit 1 } END { if (n != 75 || bodies != 306) exit 1 }' \
        all/pospisil.csv || fail "pospisil.csv: $(tail -n 2 all/pospisil.csv)"
}
[ -n "${TALUS_SANITIZE:-}" ] || all_rows

# rows by name, alone and of gpu; tables of a call before are gone
"$TALUS" bench gpu hundred-million --backend cpu --quick --threads 1 --out all >one 2>err ||
    fail "one row: $(cat err)"
[ "$(ls all/table-*.csv | wc -l)" -eq 1 ] || fail "tables: $(ls all)"
"$TALUS" bench hourglass --quick --steps 3 --threads 1 --json >out.json 2>err || fail "hourglass: $(cat err)"
contains out.json '"experiment": "hourglass"'
contains err "jacobi"
grep -q "Targets" err && fail "a trial was judged"
[ -s out/hourglass-quick/results.json ] || fail "out/hourglass-quick: $(ls out)"

# rows that `gpu` leaves out
other_rows() {
    for name in shear packing janssen petra-sim; do
        "$TALUS" bench $name --quick --threads 1 --out $name >$name.txt 2>err || fail "$name: $(cat err)"
        grep -q '[0-9-] *held$\|[0-9-] *missed$' $name.txt && fail "$name: a quick version was judged"
        contains $name.txt "Targets"
    done
    grep -q "sheared bed\|frictionless packing\|Janssen" table 2>/dev/null && fail "gpu ran a row that is not its own"
    contains shear.txt "the same problems under both laws"
    # both laws reached the tolerance of every solve
    awk -F, 'NR > 1 { n++; if ($NF != 0) exit 1 } END { if (n != 8) exit 1 }' shear/table-1.csv ||
        fail "shear: $(cat shear/table-1.csv)"
    # every verdict has the residual over g h, at most its tolerance
    awk -F, 'NR > 1 { n++; if (!($(NF - 1) > 0 && $(NF - 1) <= 1e-2)) exit 1 } END { if (n != 12) exit 1 }' \
        shear/table-3.csv || fail "verdicts of shear: $(cat shear/table-3.csv)"
    # bottom and wall bear the weight, within a tenth
    awk -F, 'NR > 1 { n++; off = $5 + $8 - $3; if (off > 0.1 * $3 || off < -0.1 * $3) exit 1 }
        END { if (n != 4) exit 1 }' janssen/table-1.csv || fail "janssen: $(cat janssen/table-1.csv)"
    # energies of all solvers agree while there is no chaos yet, and every step of every run has its row
    awk -F, 'NR > 1 { n++; if (!($(NF - 3) < 0.1)) exit 1 } END { if (n < 10) exit 1 }' petra-sim/table-5.csv ||
        fail "petra-sim: $(cat petra-sim/table-5.csv)"
    awk -F, '{ n[$2]++ } END { exit n["\"ipm-chol\""] != 90 || n["\"lbfgs-fb\""] < 120 }' \
        petra-sim/petra-sim.csv || fail "petra-sim.csv: $(tail -n 2 petra-sim/petra-sim.csv)"
    # MOSEK's algorithm has its rows, and where the build has all methods every statement is judged, but that on pebbles at rest
    contains petra-sim/table-1.csv "ipm-hsd, MOSEK's rule"
    contains petra-sim/table-2.csv "ipm-hsd, MOSEK's rule"
    grep -q "ipm-hsd, MOSEK's rule" petra-sim/table-3.csv && fail "petra-sim: MOSEK with the most pebbles"
    for statement in "TRON, MOSEK" "MOSEK crashes" "TRON crashes" "600,000 pebbles" "time by BLMVM"; do
        contains petra-sim.txt "$statement"
    done
    grep -q 'not in this build' petra-sim.txt || ! grep '[0-9a-z)]  *not judged  ' petra-sim.txt | grep -v 'until rest  *not judged' ||
        fail "petra-sim: statements without a verdict"
    awk -F, 'NR == 2 { n = $3 > 0.55 && $3 < 0.66 } END { exit !n }' packing/table-1.csv ||
        fail "packing: $(cat packing/table-1.csv)"
}
[ -n "${TALUS_SANITIZE:-}" ] || other_rows

# petra-sim with more steps than its own limit of 1,200: stopped after the first run, it reports that one
"$TALUS" bench petra-sim --quick --steps 1300 --threads 1 --out long >table 2>err &
pid=$!
for second in $(seq 120); do
    grep -q ' 20 pebbles, .*: t = 65.00 s' err || ! kill -0 $pid 2>/dev/null && break
    sleep 1
done
kill $pid 2>/dev/null
wait $pid
[ $? -eq 143 ] || fail "petra-sim with 1,300 steps: $(cat err)"
[ "$(grep -c '^20,"[^"]*",0,' long/petra-sim.csv)" -ge 1300 ] || fail "long runs of petra-sim: $(tail -n 2 long/petra-sim.csv)"

# janssen with a scene of the current folder: a copy of the program has no scenes beside it
# lone_grain PROBE: a grain on the plate; PROBE names the probe of the other body
lone_grain() {
    mkdir -p own/scenes own/bin
    cp "$TALUS" own/bin/talus
    cat >own/scenes/silo.json <<END
{
    "params": {"batch": 0, "silo": 0, "pause": 0},
    "step": 0.005,
    "materials": {"grain": {"friction": 0.5}},
    "bodies": [
        {"name": "plate", "shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"name": "wall", "shape": {"kind": "plane"}, "at": [0, 0, -5]},
        {"name": "grain", "radius": 0.1, "mass": 6.28, "at": [0, 0, 0.1]}
    ],
    "probes": [{"name": "plate", "body": "plate"}, {"name": "$1", "body": "wall"}]
}
END
}
# however deep the plate has sunk, a grain on it is a column as high as the grain: 0.2 m over R = 0.35 m
lone_grain wall
(cd own && ./bin/talus bench janssen --quick --threads 1 --out out) >table 2>err || fail "lone grain: $(cat err)"
awk -F, 'NR > 1 { n++; if ($2 != "0.57") exit 1 } END { if (n != 4) exit 1 }' own/out/table-1.csv ||
    fail "height of a lone grain: $(cat own/out/table-1.csv)"
lone_grain barrier
(cd own && ./bin/talus bench janssen --quick --threads 1 --out out) >table 2>err
[ $? -eq 1 ] || fail "janssen without the probe of the wall: $(cat table)"
contains err "janssen: the scene has no probe 'wall'"

# the device, or a sentence
if "$TALUS" list backends | grep -A 1 '^  cuda ' | grep -q 'not '; then
    "$TALUS" bench gpu --quick >said 2>err
    [ $? -eq 1 ] || fail "gpu without a GPU: $(cat said)"
    contains err "\`talus bench gpu --backend cpu --quick\` runs everywhere"
elif "$TALUS" list backends | grep -q '^  cuda '; then
    "$TALUS" bench gpu hourglass million hundred-million agreement --quick --threads 1 --out dev >table 2>err ||
        fail "gpu: $(cat err)"
    contains table "Backend cuda-mixed: "
    contains table "agreement, apgd on cuda: velocities"
fi

[ $failures -eq 0 ] && echo "cli_backend_bench: passed"
[ $failures -eq 0 ]
