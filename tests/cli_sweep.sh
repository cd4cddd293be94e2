#!/bin/sh
# talus sweep: grids, lists, pairs and what is refused; runs that are there are not computed again; the same bytes for any
# number of processes and after SIGKILL at any moment; a run that fails is a row; means and their intervals.
set -u
failures=0
rm -rf cli_sweep.work
mkdir cli_sweep.work
cd cli_sweep.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(head -c 2000 "$1")"; }
lacks() { grep -qF -- "$2" "$1" && fail "'$2' is in $1: $(head -c 2000 "$1")"; }

# good ARGS...: a sweep that succeeds
good() { "$TALUS" sweep "$@" >out 2>err || fail "sweep $*: $(cat err)"; }
# refused CODE TEXT ARGS...
refused() {
    code=$1 text=$2
    shift 2
    "$TALUS" sweep "$@" >out 2>err
    got=$?
    [ $got -eq "$code" ] || fail "sweep $*: exit code $got, expected $code: $(cat err)"
    [ -s out ] && fail "sweep $*: printed $(cat out)"
    contains err "$text"
}
# near A B TOLERANCE WHAT
near() {
    awk -v a="$1" -v b="$2" -v tol="$3" 'BEGIN { d = a - b; exit !(a != "" && b != "" && d <= tol && -d <= tol) }' ||
        fail "$4: $1, expected $2"
}
# cell FILE ROW COLUMN: rows count from 1, the first below the header
cell() {
    awk -F, -v row="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == row + 1 { print $at }' "$1"
}
same_results() {
    for file in runs.csv table.csv sweep.json; do
        cmp "$1/$file" "$2/$file" || fail "$1 and $2 differ in $file"
    done
}
# A number in 0..65535.
random() { od -An -N2 -tu2 /dev/urandom | tr -d ' \n'; }

cat >drop.json <<'END'
{
    // balls fall into a box, from places that depend on the seed
    "title": "Drop",
    "params": {"bodies": 20, "mu": 0.3, "high": 0.6},
    "step": 0.005, "until": 0.2, "every": 0.05,
    "materials": {"ball": {"friction": "=mu"}},
    "bodies": [
        {"name": "floor", "shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"radius": 0.05, "count": "=bodies", "fill": {"lo": [-0.3, -0.3, 0], "hi": [0.3, 0.3, "=high"]}}
    ],
    "probes": [{"name": "floor, all", "body": "floor"}]
}
END

# ---- what is varied ----
plan() { good drop.json "$@" -m coordination --dry-run; }
plan --vary mu=0.1:0.9:9
contains out 'mu: 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9'
contains out '9 points, 1 seed each: 9 runs, of which 0 are there'
plan --vary mu=0.01:1:3:log --vary bodies=10,20 --seeds 5
contains out 'mu: 0.01, 0.1, 1'
contains out '6 points, 5 seeds each: 30 runs'
plan --vary mu=0.1,0.2 --vary bodies=10,20 --paired
contains out '2 points, 1 seed each: 2 runs'
plan --vary 'gravity=[0,0,-9],[0,0,-1]' --vary section=disc,polygon:8
contains out 'gravity: [0,0,-9], [0,0,-1]'
contains out '4 points'
[ -e out/drop-sweep ] && fail "--dry-run wrote something"

# ---- what is refused, before anything is run ----
refused 2 "no parameter or key 'mx'; did you mean 'mu'?" drop.json -m coordination --vary mx=1,2
refused 2 '--set mu=high: params.mu: expected a number' drop.json -m coordination --vary mu=0.1,high
refused 2 'expected FIRST:LAST:NUMBER' drop.json -m coordination --vary mu=1:2
refused 2 'from 2 to 100000' drop.json -m coordination --vary mu=1:2:1
refused 2 'expected KEY=VALUES' drop.json -m coordination --vary mu
refused 2 'a value is empty' drop.json -m coordination --vary mu=1,,2
refused 2 'are to be above 0' drop.json -m coordination --vary mu=0:2:3:log
refused 2 'the value 1.0 is given twice' drop.json -m coordination --vary mu=1,1.0
refused 2 'is varied twice' drop.json -m coordination --vary mu=1 --vary mu=2
refused 2 'gives the key one value' drop.json -m coordination --vary mu=1,2 --set mu=1
refused 2 'mu has 2 values, bodies has 3; expected equal' drop.json -m coordination --vary mu=1,2 --vary bodies=1,2,3 --paired
refused 2 'expected --measure FIGURE' drop.json --vary mu=1,2
refused 2 "no figure 'repos'; did you mean 'repose'?" drop.json -m repos
contains err 'there are bodies, mass, volume'
refused 2 "no column 'kinetik'; did you mean 'kinetic'?" drop.json -m steps:kinetik
refused 2 'measured by a clock' drop.json -m steps:solve_seconds
refused 2 "no probe 'roof'" drop.json -m probe:roof.force_z
contains err 'there is floor, all'
refused 2 "no plane or sink 'x'" drop.json -m flow:x.mass
refused 2 'no cell that deforms' drop.json -m cell:shear
refused 2 "no joint 'x'" drop.json -m joint:x.effort
refused 2 'expected a time behind the @' drop.json -m repose@end
refused 2 'runs end at t = 0.2 s' drop.json -m repose --from 3
refused 2 '--every 0.05 has' drop.json -m repose --every 0.06
refused 2 'the last of the frames every 0.15 s is at t = 0.15 s' drop.json -m repose@0.16 --every 0.15
refused 2 '--seeds: --set seed=9 gives seeds, too' drop.json -m repose --set seed=9 --seeds 2
refused 2 '--seed: --vary .seed=5,9 gives seeds, too' drop.json -m repose --vary .seed=5,9 --seed 2
refused 2 'the backend cpu, which has none' drop.json -m repose --devices 0,1
refused 2 'given twice' drop.json -m repose -m repose
refused 2 'no such backend' drop.json -m repose --backend gpu
refused 2 "no solver 'apg'" drop.json -m repose --solver apg
refused 2 'expected a number above 0' drop.json -m repose --seeds 0
refused 2 'more than 1000000 runs' drop.json -m repose --vary mu=0:1:100000 --seeds 11
refused 1 "no scene 'dropp'" dropp -m repose

# ---- names: servos are joints, hundreds of probes, long assignments ----
plan --vary seed=5,9 && contains out '2 points'
good triaxial -m joint:top.effort --dry-run
awk 'BEGIN {
    printf "{\"step\": 0.01, \"until\": 0.02, \"bodies\": [{\"radius\": 0.1, \"mass\": 1, \"at\": [0, 0, 0]}], \"probes\": ["
    for (i = 0; i < 300; i++) printf "%s{\"name\": \"p%d\", \"region\": {\"lo\": [-1, -1, -1], \"hi\": [1, 1, 1]}}", i ? ", " : "", i
    print "]}" }' >many.json
good many.json -m probe:p299.mass --set "bodies[0].at=[0,$(printf '%5000s' '') 0, 0.5]" --out many
contains many/runs.csv ',1,finished,'
refused 2 'and 236 more' many.json -m probe:q.mass
refused 2 "probes[1].name: probes[0] has this name already" many.json -m probe:p.mass \
    --set probes='[{"name":"p","body":"x"},{"name":"p","body":"x"}]' --set 'bodies[0].name=x'
# a sink and a plane may share a name
refused 2 "more than one plane or sink has the name 'out'" many.json -m flow:out.bodies --set sinks='[{"name":"out","axis":"z","below":-1}]' \
    --set probes='[{"name":"out","plane":{"at":[0,0,0],"normal":[0,0,1]}}]'

# copies of a scene have rows of their own
plan --set copies=2 -m 'probe:floor, all[1].force_z'
refused 2 'as in NAME[0]' drop.json --set copies=2 -m 'probe:floor, all.force_z'
refused 2 "no probe 'floor, all[2]'" drop.json --set copies=2 -m 'probe:floor, all[2].force_z'

# ---- a sweep, and what it writes ----
figures="-m coordination -m steps:kinetic"
base="drop.json --vary mu=0.1,0.5 --seeds 3"
set -- -m 'probe:floor, all.force_z@0.1'
good $base $figures "$@" --jobs 2 --out two
contains err '2 points, 6 runs: 0 there already, 6 to compute, 2 at a time'
contains out 'results in two'
[ "$(wc -l <two/runs.csv)" = 7 ] || fail "rows: $(cat two/runs.csv)"
head -n 1 two/runs.csv >head
contains head 'mu,seed,coordination,steps:kinetic,"probe:floor, all.force_z@0.1",state,reason,run'
good $base $figures "$@" --jobs 1 --out one
same_results one two

# figures are those of the run's tables
run=two/$(sed -n '3s/.*,\(runs.*\)/\1/p' two/runs.csv)
"$TALUS" measure "$run" >measured 2>err || fail "measure: $(cat err)"
near "$(cell two/runs.csv 2 coordination)" "$(cell measured 1 coordination)" 0 "coordination at the end"
near "$(cell two/runs.csv 2 steps:kinetic)" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "kinetic") at = i } { x = $at } END { print x }' "$run/steps.csv")" 0 "kinetic"
near "$(awk -F, 'NR == 3 { print $5 }' two/runs.csv)" \
    "$(sed 's/"floor, all"/floor/' "$run/probes.csv" | awk -F, 'NR > 1 && $1 > 0.0999 { sum += $6; n++ } END { printf "%.15g", sum / n }')" \
    1e-9 "mean force"
contains "$run/run.json" '"seed": 2'

# means, deviations, intervals: t is 4.302653 for 2 degrees of freedom
awk -F, 'NR > 1 && NR < 5 { x[NR] = $4; sum += $4 } END {
    m = sum / 3; for (i = 2; i < 5; i++) d += (x[i] - m) ^ 2; d = sqrt(d / 2)
    printf "%.15g %.15g %.15g %.15g\n", m, d, d / sqrt(3), 4.30265272974946 * d / sqrt(3) }' two/runs.csv >sums
read -r mean deviation error interval <sums
near "$(cell two/table.csv 1 steps:kinetic_n)" 3 0 "number of runs"
near "$(cell two/table.csv 1 steps:kinetic_mean)" "$mean" 1e-9 "mean"
near "$(cell two/table.csv 1 steps:kinetic_deviation)" "$deviation" 1e-9 "deviation"
near "$(cell two/table.csv 1 steps:kinetic_error)" "$error" 1e-9 "error"
near "$(cell two/table.csv 1 steps:kinetic_interval)" "$interval" 1e-9 "interval"
contains two/report.html '"bar": ['
good $base $figures "$@" --out two --json --quiet
cmp out two/sweep.json || fail "--json is not sweep.json"
[ -s err ] && fail "--quiet: $(cat err)"

# ---- what is there is not computed again ----
good $base $figures "$@" --out two
contains err '6 there already, 0 to compute'
same_results one two
good drop.json --vary mu=0.1:0.5:3 --seeds 3 -m solid --out two
contains err '6 there already, 3 to compute'
near "$(cell two/table.csv 1 solid_n)" 0 0 "solid of a world without bounds is unknown"
sed 's/fall into/drop into/; s/"Drop"/"Fall"/' drop.json >named.json
good named.json --vary mu=0.1,0.5 --seeds 3 $figures --out two
contains err '6 there already'
sed 's/0.05, "count"/0.051, "count"/' drop.json >wider.json
good wider.json --vary mu=0.1 --seeds 1 $figures --out two
contains err '0 there already, 1 to compute'
good $base $figures --until 0.1 --out two
contains err '0 there already, 6 to compute'

# one that somebody has run on, and one that was damaged
good $base $figures "$@" --out two
first=two/$(sed -n '2s/.*,\(runs.*\)/\1/p' two/runs.csv)
"$TALUS" run --resume "$first" --until 0.3 --quiet || fail "resume"
sed -i 's/"finished"/"running"/' "$run/run.json"
good $base $figures "$@" --out two
contains err '4 there already, 2 to compute'
same_results one two

# ---- what crosses planes and falls into sinks ----
sed 's/"probes": \[/"sinks": [{"below": -9}, {"below": 0.1}], "probes": [{"name": "gate", "plane": {"at": [0, 0, 0.3], "normal": [0, 0, -1]}}, /' drop.json >flow.json
good flow.json -m 'flow:sink 1.total_bodies' -m flow:gate.total_mass --out flow
row=flow/$(sed -n '2s/.*,\(runs.*\)/\1/p' flow/runs.csv)
near "$(cell flow/runs.csv 1 'flow:sink 1.total_bodies')" "$(awk -F, '$3 == "\"sink 1\"" { x = $7 } END { print x }' "$row/flows.csv")" 0 "sink"
near "$(cell flow/runs.csv 1 flow:gate.total_mass)" "$(awk -F, '$3 == "\"gate\"" { x = $8 } END { print x }' "$row/flows.csv")" 1e-9 "plane"
[ "$(cell flow/runs.csv 1 flow:gate.total_mass)" != 0 ] || fail "nothing fell: $(cat flow/runs.csv)"
refused 2 "no probe 'gate'" flow.json -m probe:gate.force_z

# ---- files that a scene reads ----
printf '0 0 0.1\n' >bed.txt
sed 's/"fill".*hi.*}/"file": "bed.txt"}/' drop.json >bed.json
good bed.json --set bodies=1 -m steps:kinetic --out bed
good bed.json --set bodies=1 -m steps:kinetic --out bed
contains err '1 there already'
printf '0 0 0.2\n' >bed.txt
good bed.json --set bodies=1 -m steps:kinetic --out bed
contains err '0 there already, 1 to compute'
"$TALUS" run drop.json --until 0.05 --quiet --out start || fail "run"
echo '{"from": "start", "step": 0.005, "until": 0.05, "bodies": []}' >from.json
good from.json -m steps:kinetic --out from
good from.json -m steps:kinetic --out from
contains err '1 there already'
"$TALUS" run --resume start --until 0.1 --quiet || fail "run"
good from.json -m steps:kinetic --out from
contains err '0 there already, 1 to compute'

# ---- a run that fails is a row ----
"$TALUS" sweep drop.json --vary bodies=10,100000,20 -m steps:kinetic --out some >out 2>err
[ $? -eq 1 ] || fail "a run that fails: exit code 0"
contains err 'bodies=100000: '
contains err '1 of 3 runs failed'
contains some/runs.csv '100000,0,,failed,'
[ "$(grep -c ',finished,' some/runs.csv)" = 2 ] || fail "the others: $(cat some/runs.csv)"
[ "$(cell some/table.csv 2 steps:kinetic_n)" = 0 ] || fail "table: $(cat some/table.csv)"
contains some/report.html 'Runs that failed'

# ---- stopped by a signal ----
long="settle-box --set bodies=150 --until 1.5 --vary mu=0.2,0.4 --seeds 2 -m coordination -m steps:kinetic --checkpoint-every 0.05"
"$TALUS" sweep $long --out whole --quiet || fail "whole"
"$TALUS" sweep $long --out stopped --quiet 2>err &
process=$!
until [ -e stopped/runs ] && ls stopped/runs/*/steps.csv >files 2>&1; do sleep 0.02; done
kill -TERM $process
wait $process
code=$?
[ $code -eq 143 ] || fail "SIGTERM: exit code $code: $(cat err)"
contains err 'the same command goes on'
[ -e stopped/runs.csv ] && fail "a sweep that was stopped wrote tables"
good $long --out stopped
same_results whole stopped

# ---- regions and groups, by probes of fields; maps where two keys vary ----
cat >groups.json <<'END'
{
    "params": {"bodies": 20, "mu": 0.3, "heavy": 2500}, "step": 0.005, "until": 0.2, "every": 0.05,
    "materials": {"ball": {"friction": "=mu"}},
    "bodies": [
        {"name": "floor", "shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"radius": 0.05, "count": "=bodies", "fill": {"lo": [-0.3, -0.3, 0], "hi": [0.3, 0.3, 0.6]}},
        {"radius": 0.05, "count": 8, "tag": 1, "density": "=heavy", "fill": {"lo": [-0.3, -0.3, 0.7], "hi": [0.3, 0.3, 1]}}
    ],
    "probes": [
        {"name": "low", "region": {"lo": [-1, -1, 0], "hi": [1, 1, 0.3]}, "field": ["bulk"], "every": 0.05},
        {"name": "heavy", "region": {"lo": [-1, -1, 0], "hi": [1, 1, 2]}, "field": ["density", "momentum"], "width": 0.2, "tag": 1, "every": 0.1},
        {"name": "cells", "region": {"lo": [-1, -1, 0], "hi": [1, 1, 2]}, "field": ["density"], "grid": [1, 1, 4], "width": 0.2},
        {"name": "late", "region": {"lo": [-1, -1, 0], "hi": [1, 1, 2]}, "field": ["bulk"], "every": 0.03}
    ]
}
END
refused 2 "no probe of fields 'lo'; did you mean 'low'?" groups.json -m field:lo.mass
refused 2 "no column 'masss'; did you mean 'mass'?" groups.json -m field:low.masss
refused 2 "did you mean 'momentum_z'" groups.json -m field:heavy.momentum_zz
refused 2 '1 x 1 x 4 cells; expected bulk figures, or a grid of one cell' groups.json -m field:cells.density
refused 2 'has a row every 0.03 s, none at t = 0.2 s' groups.json -m field:late.mass
refused 2 "no probe of fields 'low'" drop.json -m field:low.mass
good groups.json --vary bodies=20,30,40 --vary mu=0.1,0.5 --vary heavy=2500,5000 --out groups --quiet \
    -m field:low.mass -m field:heavy.density -m field:heavy.momentum_z@0.1 -m field:late.mass@0.1
for row in 1 12; do
    dir=$(cell groups/runs.csv $row run)
    "$TALUS" measure "groups/$dir" --box=-1:1,-1:1,0:0.3 -o low.csv >log 2>&1 || fail "measure: $(cat log)"
    near "$(cell groups/runs.csv $row field:low.mass)" "$(cell low.csv 1 mass)" 1e-12 "mass of the region in run $row"
    "$TALUS" measure "groups/$dir" --tag 1 -f density --width 0.2 --box=-1:1,-1:1,0:2 -o heavy.csv >log 2>&1 || fail "measure: $(cat log)"
    near "$(cell groups/runs.csv $row field:heavy.density)" "$(cell heavy.csv 1 density)" 1e-12 "density of the group in run $row"
done
# The maps in the page: cells around the values of bodies; mu has two values, so any are even; a picture for each density.
tr -d '\n' <groups/report.html | sed 's/.*"maps": \[//; s/  */ /g' >maps
for text in '"title": "field:low.mass"' '"x": "bodies"' '"y": "mu"' '"x_range": [15, 45]' '"y_range": [-0.1' '"columns": 3' '"rows": 2' \
    '"name": "heavy=2500"' '"name": "heavy=5000"'; do contains maps "$text"; done
values=$(sed 's/"title": "field:heavy.density".*//; s/.*"name": "heavy=5000","values": \[//; s/\].*//' maps)
near "$(echo "$values" | cut -d, -f2)" "$(awk -F, '$1 == 30 && $2 == 0.1 && $3 == 5000 { print $5 }' groups/runs.csv)" 1e-12 "a map has x first"
near "$(echo "$values" | cut -d, -f6)" "$(awk -F, '$1 == 40 && $2 == 0.5 && $3 == 5000 { print $5 }' groups/runs.csv)" 1e-12 "the last cell of a map"

# ---- runs whose solver differs after 500 characters are two runs ----
long_solver=gs:omega=1.5
while [ ${#long_solver} -lt 600 ]; do long_solver=$long_solver,omega=1.5; done
for last in 1.4 1.3; do
    good settle-box --set bodies=20 --until 0.02 --every 0.01 --vary mu=0.3 -m coordination --solver "$long_solver,omega=$last" --out solvers
done
[ "$(ls solvers/runs | wc -l)" = 2 ] || fail "one run for two solvers"

# ---- SIGKILL of all its processes at random moments ----
killed=0
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12; do
    setsid "$TALUS" sweep $long --out killed --quiet 2>err &
    process=$!
    sleep "$(awk -v r="$(random)" 'BEGIN { printf "%.3f", 0.05 + 0.4 * r / 65536 }')"
    kill -KILL "-$process" 2>err && killed=$((killed + 1))
    wait $process 2>err
    [ -e killed/runs.csv ] && break
done
[ $killed -gt 0 ] || fail "no sweep was killed"
good $long --out killed
same_results whole killed
echo "killed $killed times"

# only the sweep: its processes end by themselves
rm -rf killed
"$TALUS" sweep $long --out killed --quiet 2>err &
process=$!
until [ -e killed/runs ] && ls killed/runs/*/steps.csv >files 2>&1; do sleep 0.02; done
kill -KILL $process
wait $process 2>err
good $long --out killed
same_results whole killed

[ $failures -eq 0 ] || exit 1
