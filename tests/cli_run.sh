#!/bin/sh
# A run's outputs: JSON, tables, positions, problem files, checkpoints, a full disk.
set -u
failures=0
rm -rf cli_run.work
mkdir cli_run.work
cd cli_run.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(cat "$1")"; }

small="hourglass --set bodies=100 --until 0.2 --every 0.05 --threads 1"

# ---- --json: one object with these keys and nothing else ----
keys="scene seed backend ranks threads steps time bodies contacts wall_seconds cpu_seconds penetration mean \
max overlap loaded mean p99 max kappa kinetic_energy iterations residual residual_max missed_steps projection_fallbacks \
peak_memory_bytes hash"
"$TALUS" run $small --no-out --json >run.json 2>table || fail "run --json: $(cat table)"
sed -n 's/^ *"\([a-z0-9_]*\)":.*/\1/p' run.json >found
for key in $keys; do echo "$key"; done | sort >expected
sort found | cmp -s - expected || fail "keys: $(sort found | diff - expected)"
grep -Eq '"hash": "[0-9a-f]{16}"' run.json || fail "hash: $(cat run.json)"
contains run.json '"scene": "hourglass"'
contains run.json '"steps": 20'
contains table "detect"
contains table "steps/s"
if command -v python3 >/dev/null 2>&1; then
    python3 -m json.tool run.json >/dev/null || fail "python3 does not read run.json"
elif command -v node >/dev/null 2>&1; then
    node -e 'JSON.parse(require("fs").readFileSync("run.json"))' ||
        fail "node does not read run.json"
fi
"$TALUS" run "$TALUS_SOURCE_DIR/scenes/hourglass.json" --set bodies=100 --until 0.2 --no-out --quiet \
    --json >path.json 2>err || fail "run PATH"
[ -s err ] && fail "--quiet --json wrote: $(cat err)"
contains path.json '"scene": "hourglass"'
[ "$(grep hash run.json)" = "$(grep hash path.json)" ] || fail "name and path give different hashes"

# ---- --profile: a table of loops and one of memory; in JSON, too ----
"$TALUS" run $small --no-out --profile >profile || fail "--profile: $(cat profile)"
contains profile "Time of the steps, by loop"
grep -Eq '^  solve .*[a-z]:[a-z_]* +[0-9]+ +[0-9.]+ +[0-9.]+' profile || fail "no loop of the solve: $(cat profile)"
contains profile "outside loops"
contains profile "all names together, at their common peak"
hash=$(sed -n 's/^hash //p' profile)
"$TALUS" run $small --no-out --json --profile --quiet >profile.json 2>err || fail "--profile --json: $(cat err)"
contains profile.json '"copy_bytes_per_second": '
contains profile.json '"stage": "detect"'
contains profile.json '"name": "bodies"'
contains profile.json "\"hash\": \"$hash\""
contains run.json "\"hash\": \"$hash\"" # a profile changes no result
"$TALUS" run $small --out profiled --profile --quiet >/dev/null 2>err || fail "--profile --out: $(cat err)"
contains profiled/profile.html '"title": "Profile of hourglass"'
contains profiled/profile.html '"Time of the steps, by loop"'
contains profiled/profile.html '"Time of a step, by stage"'
"$TALUS" run $small --out profiled --quiet >/dev/null 2>&1 || fail "over a profiled run"
[ ! -e profiled/profile.html ] || fail "the page of a profile outlives its run"

# ---- without --out a run goes to out/NAME and says so first; that a run is replaced is said under --quiet, too ----
mkdir bare && (
    cd bare && "$TALUS" run $small >said 2>&1 && "$TALUS" run $small --quiet >again 2>&1 &&
        cp "$TALUS_SOURCE_DIR/scenes/hourglass.json" .dunes.json &&
        "$TALUS" run ./.dunes.json --set bodies=10 --until 0.05 --json --quiet >one.json 2>hidden
) || fail "without --out: $(cat bare/*)"
[ "$(head -n 1 bare/said)" = "talus: writes to out/hourglass; --out DIR chooses another place, --no-out none" ] ||
    fail "without --out it said first: $(head -n 1 bare/said)"
contains bare/said "results in out/hourglass; look at it"
[ "$(wc -l <bare/out/hourglass/steps.csv)" -eq 21 ] || fail "out/hourglass: $(ls bare/out)"
[ "$(cat bare/again)" = "talus: out/hourglass: replaces a run of 20 steps" ] || fail "again: $(cat bare/again)"
[ -f bare/out/scene.dunes/checkpoint-a.talus ] && [ ! -s bare/hidden ] ||
    fail "a scene whose name begins with a dot: $(ls -A bare/out) $(cat bare/hidden)"
(cd bare && "$TALUS" run --resume out/hourglass --until 0.25 --quiet) || fail "resume out/hourglass"
(cd bare && rm -r out && echo precious >out && "$TALUS" run $small >said 2>err) && fail "a file for out/ went through"
contains bare/err "out: cannot create the directory: Not a directory"
[ "$(cat bare/out)" = precious ] || fail "a file for out/ was replaced"

# ---- with --no-out nothing is written; with --out, frames at every multiple ----
mkdir empty && (cd empty && "$TALUS" run $small --no-out --quiet) || fail "run in empty/"
[ -z "$(ls -A empty)" ] || fail "with --no-out, files appeared: $(ls -A empty)"
"$TALUS" run $small --out out >table 2>err || fail "run --out: $(cat err)"
contains table "tolerance"
contains table "results in out"
"$TALUS" info out/frames.talus >said || fail "info out/frames.talus"
grep -Eq "frames  *5$" said || fail "frames: $(cat said)"
grep -Eq "complete  *yes$" said || fail "frames: $(cat said)"
[ "$(ls out)" = "checkpoint-a.talus
frames.talus
probes.csv
run.json
run.lock
steps.csv" ] || fail "files: $(ls out)"
[ "$(wc -l <out/steps.csv)" -eq 21 ] || fail "steps.csv has $(wc -l <out/steps.csv) lines"
awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' out/steps.csv || fail "steps.csv is ragged"

# ---- overlaps of loaded contacts: ordered, and kappa follows from the mean; run.json has the last row's ----
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { mean = $at["overlap_mean"]; p99 = $at["overlap_p99"]; max = $at["overlap_max"]; kappa = $at["kappa"] }
    mean < 0 || mean > max || p99 > max || $at["loaded"] > $at["contacts"] { exit 1 }
    max > $at["penetration_max"] * (1 + 1e-8) { exit 2 }
    mean == 0 && kappa != "inf" { exit 3 }
    mean > 0 && (kappa * mean - 2) ^ 2 > 1e-12 { exit 4 }
    mean > 0 { n++; last = kappa }
    END { if (!n) exit 5; printf "%.5g\n", last }' out/steps.csv >kappa || fail "overlaps of steps.csv: $?"
[ "$(sed -n 's/^"kappa": \(.*\),$/\1/p' out/run.json | awk '{ printf "%.5g\n", $1 }')" = "$(cat kappa)" ] ||
    fail "kappa $(cat kappa) is not in run.json: $(cat out/run.json)"
"$TALUS" info out >about && contains about "largest"

# column DIR NAME: the sum of a column of steps.csv
column() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
        NR > 1 { sum += $at } END { print at ? sum : "missing" }' "$1/steps.csv"
}
"$TALUS" run $small --solver prox --out newton --quiet 2>err || fail "run --solver prox: $(cat err)"
[ "$(column newton factorisations)" -gt 0 ] || fail "factorisations: $(column newton factorisations)"

# ---- joints that no impulse closes are counted in the table, told once and told again at the end ----
"$TALUS" run chain-bridge --set h=0.004 --set fall=0.15 --set heavy=100 --until 0.4 --out bridge \
    >said 2>err || fail "run chain-bridge: $(cat err)"
fallbacks=$(column bridge projection_fallbacks)
[ "$fallbacks" -gt 0 ] || fail "projection_fallbacks: $fallbacks"
[ "$(grep -c "no impulse closes the joints" err)" -eq 1 ] || fail "fallbacks: $(cat err)"
contains said "no impulse closed the joints of $fallbacks machines"

# ---- frames of other kinds; a new run removes those of every kind and nothing else ----
"$TALUS" run $small --out kinds --frames vtp,view,csv,lammps --quiet >said 2>err ||
    fail "run --frames: $(cat err)"
[ "$(grep -c '<DataSet ' kinds/bodies.pvd)" -eq 5 ] || fail "bodies.pvd: $(cat kinds/bodies.pvd)"
[ "$(ls kinds/frames/bodies-*.vtp | wc -l)" -eq 5 ] || fail "vtp: $(ls kinds/frames)"
[ "$(ls kinds/frames/bodies-*.csv | wc -l)" -eq 5 ] || fail "csv: $(ls kinds/frames)"
[ "$(grep -c 'ITEM: TIMESTEP' kinds/bodies.dump)" -eq 5 ] || fail "lammps: $(ls kinds)"
cmp kinds/frames.talus out/frames.talus || fail "other kinds change frames.talus"
echo mine >kinds/notes.txt
echo mine >kinds/frames/notes.txt
"$TALUS" run $small --out kinds --quiet || fail "a new run in kinds/"
[ "$(ls kinds)" = "checkpoint-a.talus
frames
frames.talus
notes.txt
probes.csv
run.json
run.lock
steps.csv" ] || fail "files after a new run: $(ls kinds)"
[ "$(ls kinds/frames)" = notes.txt ] || fail "frames after a new run: $(ls kinds/frames)"
for list in vpt csv,vpt; do
    "$TALUS" run $small --out kinds --frames $list 2>err && fail "--frames $list went through"
    contains err "--frames vpt: no such kind of frames; did you mean 'vtp'?"
done
"$TALUS" run $small --out kinds --frames banana 2>err
[ $? -eq 2 ] || fail "--frames banana: not wrong usage"
contains err "there are view, exact, vtp, vtkhdf, lammps, csv, bulk"
"$TALUS" run $small --out kinds --frames csv,csv 2>err && fail "--frames csv,csv went through"
contains err "'csv' is named twice"
"$TALUS" run $small --out kinds --frames , 2>err && fail "--frames , went through"
contains err "expected kinds of frames"
"$TALUS" run $small --no-out --frames csv 2>err && fail "--frames with --no-out went through"
contains err "--no-out: keeps nothing, and does not go with --frames"
if [ "$TALUS_CORE_ONLY" = 1 ]; then
    "$TALUS" run $small --out kinds --frames vtkhdf 2>err && fail "--frames vtkhdf without HDF5"
    contains err "--frames vtkhdf: is not in this build, which lacks HDF5 (Debian: libhdf5-dev)"
fi

# ---- positions ----
"$TALUS" run $small --no-out --quiet --final-positions positions || fail "--final-positions"
[ "$(grep -Ec '^[-+.0-9e]+ [-+.0-9e]+ [-+.0-9e]+$' positions)" -eq 100 ] ||
    fail "positions: $(wc -l positions)"

# ---- friction ----
"$TALUS" run settle-box --set bodies=8 --set law=coulomb --set section=polygon:5 --until 0.01 --no-out >said || fail "law=coulomb"
contains said "h = 0.005 s, coulomb on polygon:5, "
"$TALUS" run settle-box --set materials.sphere.rolling=1 --no-out >said 2>err && fail "materials.sphere was taken"
contains err "materials has no key 'sphere'; there is grain"

# the compliance of a resumed run that still follows the arrival of a heavy body says where it goes
cat >heavy.json <<'END'
{"shapes": {"floor": {"kind": "plane"}}, "step": 0.005, "bodies": [{"shape": "floor", "at": [0, 0, 0]}, {"radius": 1, "mass": 1, "at": [0, 0, 1]},
 {"radius": 1, "mass": 1e7, "at": [9, 0, 1], "time": 0.02}]}
END
"$TALUS" run heavy.json --until 0.1 --out heavy >said || fail "run heavy.json"
contains said ", coulomb, compliance 0.01, "
"$TALUS" run --resume heavy --until 0.2 >said || fail "resume heavy"
grep -q ', coulomb, compliance 0\.008[0-9]* (moving to 0), ' said || fail "resume heavy: $(head -n 1 said)"

# ---- info and extract ----
"$TALUS" extract hourglass --set bodies=100 --at 0.2 -o step.problem >said || fail "extract"
contains said "step.problem: "
"$TALUS" info step.problem >said || fail "info step.problem"
contains said "contact problem, sound"
contains said "friction cone     pointed (section polygon:16)"
cat >jam.json <<'END'
{"shapes": {"wall": {"kind": "plane"}}, "bodies": [{"radius": 1, "at": [0, 0, 0]},
 {"shape": "wall", "at": [-1, 0, 0], "normal": [1, 0, 0]}, {"shape": "wall", "at": [1, 0, 0], "normal": [-1, 0, 0]}]}
END
"$TALUS" extract jam.json --at 0 -o jam.problem >said || fail "extract jam.json"
"$TALUS" info jam.problem >said || fail "info jam.problem"
contains said "friction cone     not pointed (section polygon:16): 2 contacts can jam"
"$TALUS" info out >said || fail "info out"
contains said "out/checkpoint-a.talus: checkpoint, sound"
contains said "state             finished at t = 0.2 s, step 20, to t = 0.2 s"
"$TALUS" info hourglass >said || fail "info hourglass"
contains said "friction          law coulomb, section disc"
contains said "contacts          compliance 0.01, overlap at most 0.02 of the size"
"$TALUS" info arch >said || fail "info arch"
contains said "contacts          compliance 0.0001, overlap at most 0.02 of the size"
for rigid in "heavy-stack --set ratio=1e7" "hourglass --set defaults=relaxed" "hourglass --set compliance=0"; do
    # shellcheck disable=SC2086 # words
    "$TALUS" run $rigid --until 0.01 --no-out >said 2>/dev/null || fail "run $rigid"
    grep -q ', rigid, ' said || fail "run $rigid: $(head -n 1 said)"
done
"$TALUS" info hourglass >said || fail "info hourglass"
contains said "sphere"
printf 'no scene' >junk
"$TALUS" info junk >said 2>err && fail "info junk succeeded"
contains err "junk:1:"

# ---- a damaged checkpoint ----
"$TALUS" run --resume out --until 0.3 --quiet || fail "resume to 0.3"
printf 'X' | dd of=out/checkpoint-b.talus bs=1 seek=500 conv=notrunc 2>/dev/null
"$TALUS" run --resume out --until 0.3 --quiet 2>err || fail "resume from the other one"
contains err "out/checkpoint-b.talus: damaged: the content does not match its checksum"
"$TALUS" run $small --no-out --until=0.3 2>err && fail "--until twice went through"
[ "$(wc -l <out/steps.csv)" -eq 31 ] || fail "after resume: $(wc -l <out/steps.csv) lines"
truncate -s 100 out/checkpoint-a.talus 2>/dev/null || printf 'TALUSCKP' >out/checkpoint-a.talus
printf 'X' | dd of=out/checkpoint-b.talus bs=1 seek=500 conv=notrunc 2>/dev/null
"$TALUS" run --resume out >said 2>err && fail "two bad checkpoints were resumed"
contains err "talus: no usable checkpoint: "
contains err "truncated"
contains err "damaged"

# ---- a full disk: files may not exceed a limit (a sanitizer's own files could) ----
if [ -z "${TALUS_SANITIZE:-}" ]; then
    (
        trap '' XFSZ
        ulimit -f 256
        exec "$TALUS" run hourglass --set bodies=100 --until 5 --out full --quiet \
            --checkpoint-every 0
    ) 2>err
    [ $? -eq 1 ] || fail "a full disk was not noticed"
    contains err "cannot write: File too large"
    contains err "talus run --resume full"
    "$TALUS" run --resume full --until 4 --quiet --json >resumed.json || fail "resume, full disk"
    "$TALUS" run hourglass --set bodies=100 --until 4 --no-out --quiet --json >whole.json
    [ "$(grep hash resumed.json)" = "$(grep hash whole.json)" ] || fail "hash after a full disk"
fi
"$TALUS" run $small --out junk/dir >said 2>err && fail "--out under a file succeeded"
contains err "junk: cannot create the directory: Not a directory"
if [ -w /dev/full ]; then
    "$TALUS" run $small --no-out --quiet --json >/dev/full 2>err && fail "a full standard output was ignored"
    contains err "standard output: cannot write"
fi

[ $failures -eq 0 ] && echo "cli_run: passed"
[ $failures -eq 0 ]
