#!/bin/sh
# talus measure: figures of a run from its checkpoint, its tables and its frames; totals that agree with the run's own
# tables; the same bytes for any number of threads; what is refused, with what would help.
set -u
failures=0
rm -rf cli_measure.work
mkdir cli_measure.work
cd cli_measure.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(head -c 2000 "$1")"; }

# good ARGS...: a measurement that succeeds
good() { "$TALUS" measure "$@" >out 2>err || fail "measure $*: $(cat err)"; }
# refused CODE TEXT ARGS...
refused() {
    code=$1 text=$2
    shift 2
    "$TALUS" measure "$@" >out 2>err
    got=$?
    [ $got -eq "$code" ] || fail "measure $*: exit code $got, expected $code: $(cat err)"
    [ -s out ] && fail "measure $*: printed $(cat out)"
    contains err "$text"
}
# near A B TOLERANCE WHAT
near() {
    awk -v a="$1" -v b="$2" -v tol="$3" 'BEGIN { d = a - b; exit !(a != "" && b != "" && d <= tol && -d <= tol) }' ||
        fail "$4: $1, expected $2"
}
# value FILE COLUMN: of the last row
value() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } { x = $at } END { print x }' "$1"; }

"$TALUS" run box-stack --until 0.4 --every 0.1 --frames csv --out run >log 2>&1 || fail "run: $(cat log)"
"$TALUS" run settle-box --set bodies=80 --until 0.4 --every 0.1 --out plain >log 2>&1 || fail "run: $(cat log)"

# ---- bulk figures ----
good run
contains err 'run: 1 state from checkpoint, to t = 0.4 s; 10 bodies flow'
contains err exact
cp out checkpoint.csv
[ "$(wc -l <checkpoint.csv)" = 2 ] || fail "rows: $(cat checkpoint.csv)"
near "$(value checkpoint.csv mass)" 875 1e-9 mass
near "$(value checkpoint.csv volume)" 1.25 1e-12 volume
near "$(value checkpoint.csv coordination)" 1.9 0 "a tower of ten has 9 pairs and the floor"
near "$(value checkpoint.csv contacts)" 40 0 "four points a pair"
good run --every 0.1
contains err 'run: 5 states from tables, to t = 0.4 s'
[ "$(wc -l <out)" = 6 ] || fail "rows: $(cat out)"
tail -n 1 out >last
tail -n 1 checkpoint.csv | cmp - last || fail "tables and checkpoint differ: $(cat last)"
good run --at 0.25 -o at.csv
contains out 'run: 1 state from tables, to t = 0.2 s'
near "$(value at.csv time)" 0.2 1e-12 "--at 0.25"
good run --every 0.2 --from 0.1 -o some.csv
[ "$(wc -l <some.csv)" = 3 ] || fail "--every 0.2 --from 0.1: $(cat some.csv)"

# the energies of steps.csv
near "$(awk -v a="$(value checkpoint.csv translation)" -v b="$(value checkpoint.csv rotation)" 'BEGIN { printf "%.15g", a + b }')" \
    "$(value run/steps.csv kinetic)" 1e-14 "kinetic energy"

# ---- measured as a run goes on: the rows of its tables, also after a resume ----
"$TALUS" run box-stack --until 0.4 --every 0.1 --frames bulk --out live >log 2>&1 || fail "run: $(cat log)"
good run --every 0.1
cmp out live/bulk.csv || fail "bulk.csv: $(cat live/bulk.csv)"
"$TALUS" run box-stack --until 0.3 --every 0.1 --frames bulk --out halves >log 2>&1 || fail "run: $(cat log)"
"$TALUS" run --resume halves --until 0.4 >log 2>&1 || fail "resume: $(cat log)"
cmp halves/bulk.csv live/bulk.csv || fail "a resumed run's bulk.csv: $(cat halves/bulk.csv)"
"$TALUS" run box-stack --until 0.1 --out live >log 2>&1 || fail "run: $(cat log)"
[ -f live/bulk.csv ] && fail "a new run left bulk.csv"
"$TALUS" export run --to bulk -o bulk.work >out 2>err && fail "export --to bulk went through"
contains err 'talus measure makes this table'

# ---- flux through a plane, against a plane that counts in the run; and through a period ----
cat >flow.json <<'END'
{"step": 0.005, "until": 1, "bodies": [{"radius": {"mean": 0.05, "spread": 0.2}, "count": 60, "seed": 1, "fill": {"lo": [-0.4, -0.4, 1], "hi": [0.4, 0.4, 2]}}],
 "probes": [{"name": "all", "plane": {"at": [0, 0, 0.5], "normal": [0, 0, 1]}},
            {"name": "part", "plane": {"at": [0, 0, 0.5], "normal": [0, 0, 1], "half": [0.2, 0.3, 1]}}]}
END
"$TALUS" run flow.json --every 0.1 --out flow >log 2>&1 || fail "run: $(cat log)"
total() { awk -F, -v name="$1" -v column="$2" '$3 == "\"" name "\"" { x = $column } END { print x }' flow/flows.csv; }
head -n 1 flow/flows.csv | grep -q '^time,step,flow,kind,bodies,mass,total_bodies,total_mass' || fail "flows.csv: $(head -n 1 flow/flows.csv)"
good flow --flux z=0.5 --every 0.1 -o flux.csv
[ "$(wc -l <flux.csv)" = 12 ] || fail "flux: $(cat flux.csv)"
near "$(value flux.csv total_bodies)" "$(total all 7)" 0 "bodies through the plane"
near "$(value flux.csv total_mass)" "$(total all 8)" 1e-9 "mass through the plane"
[ "$(value flux.csv total_bodies)" -lt -30 ] || fail "nothing falls: $(cat flux.csv)"
near "$(awk -F, 'NR > 2 { s += 0.1 * $6 } END { printf "%.15g", s }' flux.csv)" "$(value flux.csv total_mass)" 1e-9 "rates"
good flow --flux z=0.5 --every 0.1 --box=-0.2:0.2,-0.3:0.3,0:1 -o flux.csv
near "$(value flux.csv total_bodies)" "$(total part 7)" 0 "bodies through a part of the plane"
cat >ring.json <<'END'
{"step": 0.01, "until": 2, "gravity": [0, 0, 0], "solver": {"reference_speed": 0.05}, "period": {"x": [0, 1]},
 "bodies": [{"radius": 0.05, "at": [0.9, 0, 0], "velocity": [1, 0, 0], "density": 1000}, {"radius": 0.05, "at": [0.5, 1, 0], "velocity": [-1, 0, 0], "density": 3000}]}
END
"$TALUS" run ring.json --every 0.1 --out ring >log 2>&1 || fail "run: $(cat log)"
good ring --flux x=0.05 --every 0.1 -o flux.csv
near "$(value flux.csv total_bodies)" 0 0 "two rounds each way"
near "$(value flux.csv total_mass)" "$(awk 'BEGIN { printf "%.15g", -4000 * 4 / 3 * atan2(0, -1) * 0.05 ^ 3 }')" 1e-6 "the heavier one goes back"
refused 2 'compares several states' flow --flux z=0.5
refused 2 'expected AXIS=POS' flow --flux z0.5 --every 0.1
refused 2 'expected no --field beside it' flow --flux z=0.5 --every 0.1 -f density

# ---- fields: totals over a box that holds all ----
good run -f density -f boundary_force -f contact_stress --box=-2:2,-2:2,-2:8 -o total.csv
near "$(awk -v x="$(value total.csv density)" 'BEGIN { printf "%.15g", 160 * x }')" 875 1e-9 "total mass"
near "$(awk -v x="$(value total.csv boundary_force_z)" 'BEGIN { printf "%.15g", 160 * x }')" \
    "$(awk -F, '$3 ~ /floor/ { x = -$6 } END { printf "%.10g", x }' run/probes.csv)" 1e-4 "force of the floor"
good run -f density --box=-2:2,-2:2,-2:8 --grid 3,4,50 -o grid.csv
[ "$(wc -l <grid.csv)" = 601 ] || fail "rows of a grid: $(wc -l <grid.csv)"
near "$(awk -F, 'NR > 1 { sum += $5 } END { printf "%.15g", sum * 160 / 600 }' grid.csv)" 875 1e-9 "mass of a grid"
good run -f density -f velocity --mean --every 0.1 -o mean.csv
[ "$(wc -l <mean.csv)" = 2 ] || fail "--mean: $(cat mean.csv)"

# ---- histograms ----
good run --histogram force
[ "$(wc -l <out)" = 51 ] || fail "histogram: $(cat out)"
near "$(awk -F, 'NR > 1 { sum += $4 } END { print sum }' out)" 40 0 "contacts in a histogram"
near "$(awk -F, 'NR > 1 { sum += $5 * ($3 - $2) } END { printf "%.15g", sum }' out)" 1 1e-12 "a density"
good run --histogram gap --every 0.2 -o gaps.csv
[ "$(wc -l <gaps.csv)" = 101 ] || fail "gaps: $(wc -l <gaps.csv) rows" # none at the start

# ---- threads ----
for threads in 1 3; do
    good plain -f stress -f fabric -f temperature --grid 4,5,7 --threads $threads -o t$threads.csv
done
cmp t1.csv t3.csv || fail "threads change the bits"

# ---- images ----
good run -f velocity -f solid --grid 2,3,4 -o one.vti
contains one.vti 'WholeExtent="0 2 0 3 0 4"'
bytes=$(awk '/Name="velocity"/ { getline; print }' one.vti | base64 -d | wc -c | tr -d ' ')
[ "$bytes" = $((8 + 24 * 3 * 8)) ] || fail "velocity has $bytes bytes"
good run -f solid --every 0.2 -o series.vti
contains series.pvd 'file="series-000002.vti"'
[ -f series-000000.vti ] || fail "no first image"

# ---- frames: what they have ----
good plain --every 0.2
contains err 'plain: 3 states from frames, to t = 0.4 s; 80 bodies flow'
contains err 'velocities to 0.2 %'
contains err 'figures of contacts are empty'
near "$(value out mass)" 502.4 1e-9 "masses are those of the checkpoint"
[ "$(value out coordination)" = "" ] || fail "coordination of frames: $(value out coordination)"
refused 1 "the field 'stress' needs all contacts" plain -f stress --at 0.2
contains err '--frames exact'
refused 1 "the histogram 'gap' needs all contacts" plain --histogram gap --at 0.2
refused 1 "the field 'spin' needs spins" plain -f spin --at 0.2

# ---- exact frames: the last digit of everything, at each of their times ----
cat >bed.json <<'END'
{"step": 0.004, "until": 0.3, "period": {"x": [0, 1], "y": [-0.5, 0.5]},
 "bodies": [{"shape": {"kind": "plane"}, "at": [0, 0, 0]},
            {"radius": {"mean": 0.07, "spread": 0.2}, "count": 60, "velocity": [1, 0, -2], "fill": {"lo": [0, -0.5, 0], "hi": [1, 0.5, 0.9]}}]}
END
"$TALUS" run bed.json --every 0.1 --frames csv,exact --out exact --quiet || fail "run --frames exact"
good exact --source frames --every 0.1
contains err 'states are exact, not rounded'
cp out stored.csv
good exact --source tables --every 0.1
cmp out stored.csv || fail "frames and tables differ"
for field in stress agitation fabric spin boundary_force; do
    good exact --source frames -f $field --grid 2,2,5 --at 0.3
    cp out stored.csv
    good exact --source checkpoint -f $field --grid 2,2,5
    cmp out stored.csv || fail "$field of frames and of the checkpoint differ"
done

# a cell that deforms: its periods, with their tilt, are those of each frame
"$TALUS" run simple-shear --set side=4 --set strain=0.2 --frames exact --out cell --quiet || fail "a cell with --frames exact"
good cell --source frames -f stress --grid 1,3,1 --at 9
cp out stored.csv
good cell --source checkpoint -f stress --grid 1,3,1
cmp out stored.csv || fail "frames and checkpoint of a cell differ"

# ---- the stress of a table of contacts: force times branch vector, of bodies that flow ----
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    FILENAME ~ /bodies/ { flows[$at["body_id"]] = $at["fixed"] == 0; next }
    {
        for (i = 1; i <= 3; i++)
            for (j = 1; j <= 3; j++) {
                f = $at["force_" substr("xyz", i, 1)]
                s[i, j] += f * (flows[$at["id2"]] * $at["branch2_" substr("xyz", j, 1)] - flows[$at["id1"]] * $at["branch1_" substr("xyz", j, 1)])
            }
    }
    END { for (i = 1; i <= 3; i++) for (j = 1; j <= 3; j++) printf "%.12g\n", s[i, j] / 4 }' \
    exact/frames/bodies-000003.csv exact/frames/contacts-000003.csv >by-hand
good exact -f contact_stress --box=0:1,-0.5:0.5,-1:3
awk -F, 'NR == 2 { for (i = 5; i <= 13; i++) printf "%.12g\n", $i }' out >measured
awk 'FNR == NR { a[FNR] = $1; n = FNR; if ($1 < 0 ? -$1 > top : $1 > top) top = $1 < 0 ? -$1 : $1; next }
    { d = a[FNR] - $1; if (d > 1e-9 * top || -d > 1e-9 * top) bad = 1 }
    END { exit bad || n != 9 || FNR != 9 || !(top > 1) }' by-hand measured ||
    fail "stress of a table: $(paste by-hand measured)"

# ---- sleep ----
"$TALUS" run box-stack --set sleep=1 --until 0.1 --out sleepy >log 2>&1 || fail "run: $(cat log)"
good sleepy
contains err 'bodies may sleep in this run'
good run
grep -q sleep err && fail "no body sleeps in this run: $(cat err)"

# ---- selections ----
good run --box=-0.1:0.1,-0.1:0.1,0.1:0.4 -o inside.csv
near "$(value inside.csv bodies)" 1 0 "one centre in the box"
near "$(value inside.csv solid)" 1 1e-12 "a box within a box"
good run --box=-3:3,-3:3,0:5 --cylinder z -o round.csv
near "$(value round.csv solid)" "$(awk 'BEGIN { printf "%.15g", 1.25 / (atan2(0, -1) * 9 * 5) }')" 1e-3 "solid in a cylinder"
good run --tag 7 -o none.csv
near "$(value none.csv bodies)" 0 0 "no body has tag 7"
refused 1 'no body flows' run --tag 7 -f density

# ---- refusals ----
refused 1 'expected the directory of a run' .
refused 1 'no state is at these times' run --from 9
refused 2 "did you mean 'density'?" run -f densty
refused 2 'given twice' run -f density -f density
refused 2 'expected X0:X1,Y0:Y1,Z0:Z1' run --box 1:0,0:1,0:1
refused 2 'expected NX,NY,NZ' run -f density --grid 1,0,1
refused 2 'is for fields' run --grid 1,1,1
refused 2 'expected --field' run --width 0.1
refused 2 'is for bulk figures' run -f density --rattlers 4
refused 2 'is for bulk figures' run --histogram force --rattlers 4
refused 2 'expected x, y or z' run --box 0:1,0:1,0:1 --cylinder w
refused 2 'cells are boxes' run --box 0:1,0:1,0:1 --cylinder z -f density
refused 2 'expected --box' run --cylinder z
refused 2 'expected force or gap' run --histogram size
refused 2 'expected no --field' run --histogram gap -f density
refused 2 'expected checkpoint, tables or frames' run --source best
refused 2 'chooses one state' run --at 1 --every 1
refused 1 'frames.csv' plain --source tables

# ---- the help names every field ----
"$TALUS" help measure >help 2>&1
for field in density solid momentum velocity spin temperature velocity_gradient agitation kinetic_stress contact_stress \
    stress pressure divergence contact_force boundary_force contacts fabric; do
    grep -qw "$field" help || fail "help does not name $field"
    good run -f $field -o field.csv
done

# ---- a damaged checkpoint ----
cp -r plain worn
for file in worn/checkpoint-*.talus; do printf 'TALUSCKPx' >"$file"; done
good worn --at 0.2
contains err 'its checkpoint is not read'
contains err '80 masses are not known'
refused 1 'checkpoint' worn

# ---- a table of fields beside a run is of that run: a new one in the folder removes it ----
"$TALUS" run box-stack --until 0.01 --out anew >log 2>&1 || fail "run: $(cat log)"
"$TALUS" measure anew -f solid -o anew/fields.csv >log 2>&1 && [ -s anew/fields.csv ] || fail "fields: $(cat log)"
"$TALUS" run --resume anew --until 0.02 >log 2>&1 && [ -s anew/fields.csv ] || fail "a resumed run: $(cat log)"
"$TALUS" run box-stack --until 0.01 --out anew >log 2>&1 || fail "run: $(cat log)"
[ -e anew/fields.csv ] && fail "a new run leaves fields of the earlier one"

# ---- a damaged table ----
cp -r run bad
sed 's/velocity_y/veloxity_y/' run/frames/bodies-000001.csv >bad/frames/bodies-000001.csv
refused 1 "expected a column 'velocity_y'" bad --at 0.1
awk 'NR == 2 { sub(/,.*/, "") } { print }' run/frames/contacts-000002.csv >bad/frames/contacts-000002.csv
refused 1 'contacts-000002.csv:2' bad --at 0.2

[ $failures -eq 0 ] || exit 1
