#!/bin/sh
# talus advise: trials of settings, what they show on scenes whose answer is known, and the recommendation.
set -u
failures=0
rm -rf cli_advise.work
mkdir cli_advise.work
cd cli_advise.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(cat "$1")"; }

# expect CODE TEXT ARGS...: the exit code, and TEXT on standard error
expect() {
    code=$1 text=$2
    shift 2
    "$TALUS" advise "$@" >out 2>err
    got=$?
    [ $got -eq "$code" ] || fail "talus advise $*: exit code $got, expected $code"
    contains err "$text"
    [ -s out ] && fail "talus advise $*: wrote to standard output"
}

# figure FILE LAW COMPLIANCE TOLERANCE STEP KEY: a figure of that trial
figure() {
    awk -v law="\"$2\"" -v compliance="$3" -v tolerance="$4" -v step="$5" -v key="\"$6\":" '
        function near(a, b) { return (a - b) ^ 2 <= 1e-20 }
        { sub(/[]},]+( \{)?$/, "") }
        $1 == "\"law\":" { l = $2 } $1 == "\"compliance\":" { c = $2 } $1 == "\"tolerance\":" { t = $2 }
        $1 == "\"step\":" { s = $2 } /"recommended"/ { exit }
        $1 == key && l == law && near(c, compliance) && near(t, tolerance) && near(s, step) { print $2 }' "$1"
}

# recommended FILE KEY
recommended() { sed -n '/^"recommended"/,$p' "$1" | sed -n "s/^\"$2\": \"*\\([^\",]*\\)\"*,*\$/\\1/p" | head -n 1; }

# holds CONDITION...: true if awk finds so
holds() { awk "BEGIN { exit !($*) }"; }

# ---- a box that slides: the relaxation throws it up, exact Coulomb does not ----
cat >slide.json <<'END'
{"title": "slide", "law": "ccp", "compliance": 0, "until": 1, "step": 0.002, "materials": {"m": {"friction": 0.5}},
 "shapes": {"floor": {"kind": "plane"}, "crate": {"kind": "box", "half": [0.1, 0.1, 0.1]}},
 "bodies": [{"shape": "floor", "at": [0, 0, 0], "material": "m"},
            {"shape": "crate", "at": [0, 0, 0.1], "velocity": [5, 0, 0], "material": "m"}]}
END
cksum slide.json >before
"$TALUS" advise slide.json --at 0 --span 0.2 --threads 1 --json >slide.out 2>err || fail "slide: $(cat err)"
# the first trial is the default's
soft=$(sed -n 's/^"compliance": \(.*\),$/\1/p' slide.out | head -n 1)
limit=$(sed -n 's/^"elastic_overlap": \(.*\),$/\1/p' slide.out | head -n 1)
contains err "talus: 1 of 10: coulomb, compliance $(echo "$soft" | awk '{ printf "%g", $1 }'), tolerance 0.01, step 0.002 s"
[ "$(echo "$soft" | awk '{ printf "%g", $1 }')" = 0.01 ] || fail "compliance of the default: $soft"
cksum slide.json | cmp -s - before || fail "the scene was changed"
[ "$(ls)" = "before
err
slide.json
slide.out" ] || fail "files appeared: $(ls)"
[ "$(grep -c '"own": true' slide.out)" -eq 1 ] || fail "own setting: $(grep own slide.out)"
[ "$(figure slide.out ccp 0 0.01 0.002 own)" = true ] || fail "the scene's own setting is not marked"
thrown=$(figure slide.out ccp 0 0.01 0.002 height_difference)
holds "$thrown > 0.1" || fail "ccp should throw the box up; height $thrown"
for compliance in 0 0.001 "$soft"; do
    height=$(figure slide.out coulomb "$compliance" 0.01 0.002 height_difference)
    holds "$height ^ 2 < 1e-8" || fail "compliance $compliance: height $height"
    [ "$(figure slide.out coulomb "$compliance" 0.01 0.002 agrees)" = true ] || fail "compliance $compliance does not agree"
    [ "$(figure slide.out coulomb "$compliance" 0.01 0.002 steps)" = 100 ] || fail "compliance $compliance: steps"
done
[ "$(figure slide.out coulomb "$soft" 0.01 0.004 steps)" = 50 ] || fail "2h: steps"
[ "$(figure slide.out coulomb "$soft" 0.01 0.001 steps)" = 200 ] || fail "h/2: steps"
[ "$(figure slide.out coulomb 0.001 0.001 0.001 height_difference)" = 0 ] || fail "the reference differs from itself"
[ "$(recommended slide.out law)" = coulomb ] || fail "recommended law: $(recommended slide.out law)"
contains slide.out "the relaxation's bulk figures are off (height +"
if command -v python3 >/dev/null 2>&1; then
    python3 -m json.tool slide.out >/dev/null || fail "python3 does not read the JSON"
fi

# ---- under ccp a contact that goes on sliding is open by mu v h; exact Coulomb closes it ----
cat >belt.json <<'END'
{"title": "belt", "until": 4, "step": 0.002, "gravity": [4.905, 0, -9.81], "materials": {"m": {"friction": 0.5}},
 "shapes": {"floor": {"kind": "plane"}, "crate": {"kind": "box", "half": [0.1, 0.1, 0.1]}},
 "bodies": [{"shape": "floor", "at": [0, 0, 0], "material": "m"},
            {"shape": "crate", "at": [0, 0, 0.1], "velocity": [1, 0, 0], "material": "m"}]}
END
"$TALUS" advise belt.json --at 0 --span 1 --threads 1 --json --quiet >belt.out 2>err || fail "belt: $(cat err)"
[ -s err ] && fail "--quiet: $(cat err)"
open=$(figure belt.out ccp 0 0.01 0.002 lift)
# mu v h = 1e-3 m; d, of the sphere with the volume of the box, is 0.248 m
holds "$open > 0.7 * 1e-3 / 0.248 && $open < 1.3 * 1e-3 / 0.248" || fail "lift of ccp: $open"
# a scene that says nothing has the default, which AUTO stands for: no trial of its own
[ "$(figure belt.out coulomb "$soft" 0.01 0.002 own)" = true ] || fail "the default is not the scene's own setting"
closed=$(figure belt.out coulomb "$soft" 0.01 0.002 lift)
holds "$closed < 1e-5" || fail "lift of coulomb: $closed"

# ---- a trial is what a run with that setting does ----
"$TALUS" run slide.json --set law=coulomb --set compliance="$soft" --set elastic_overlap="$limit" --until 0.2 --out run \
    --threads 2 --quiet || fail "run"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { n++; products += $at["products"] }
    $at["time"] > 0.1 + 1e-9 && $at["overlap_max"] > max { max = $at["overlap_max"] }
    END { printf "%.9g %.6g\n", products / n, max }' run/steps.csv >of_run
echo "$(figure slide.out coulomb "$soft" 0.01 0.002 products) $(figure slide.out coulomb "$soft" 0.01 0.002 overlap_max)" |
    awk '{ printf "%.9g %.6g\n", $1, $2 }' >of_trial
cmp -s of_run of_trial || fail "trial and run differ: $(cat of_trial), $(cat of_run)"

# ---- the same figures in every run, for any number of threads ----
# figures FILE: without seconds and what follows from them, such as the tenth trial, that of the recommendation
figures() { awk '/^"law":/ && ++n > 9 { exit } /"recommended"/ { exit } !/seconds|per_simulated_second|^"agrees"/' "$1"; }
bed="settle-box --set bodies=64 --at 0.6 --span 0.15 --json --quiet"
"$TALUS" advise $bed --threads 1 >one.out 2>err || fail "bed: $(cat err)"
"$TALUS" advise $bed --threads 3 >three.out 2>err || fail "bed: $(cat err)"
figures one.out >one
figures three.out >three
cmp -s one three || fail "threads matter: $(diff one three)"
[ "$(grep -c '"overlap_p99"' one)" -eq 9 ] || fail "expected nine trials: $(cat one)"
holds "$(figure one.out coulomb "$soft" 0.01 0.005 overlap_mean) > 1.5 * $(figure one.out coulomb 0.001 0.01 0.005 overlap_mean)" ||
    fail "softer contacts should overlap more"
holds "$(figure one.out coulomb "$soft" 0.001 0.005 residual) < 1e-3" || fail "residual at 1e-3"
holds "$(figure one.out coulomb "$soft" 0.1 0.005 products) < $(figure one.out coulomb "$soft" 0.001 0.005 products)" ||
    fail "a tighter tolerance should cost more products"

# ---- the rule for the step ----
"$TALUS" advise settle-box --set bodies=27 --set h=0.02 --at 1 --span 0.2 --json --quiet >coarse.out 2>err ||
    fail "coarse: $(cat err)"
[ "$(recommended coarse.out step)" = 0.0050000000000000001 ] || fail "step: $(recommended coarse.out step)"
contains coarse.out "at most 0.05 sqrt(d/g) = 0.0071 s of the thinnest body"

# ---- very uneven masses: the default is rigid, and so is all that is tried ----
"$TALUS" advise heavy-stack --set ratio=1e7 --set pairs=1 --at 0 --span 0.05 >table 2>err || fail "uneven: $(cat err)"
grep -q "compliance" err && fail "uneven masses: compliant contacts were tried: $(cat err)"
[ "$(sort err | uniq -d | wc -l)" -eq 0 ] || fail "uneven masses: a setting was tried twice: $(cat err)"
contains table "  compliance         0 "

# ---- a scene with a tight tolerance has stiffer contacts ----
"$TALUS" advise belt.json --set solver.tolerance=1e-4 --at 0 --span 0.02 >table 2>err || fail "tight: $(cat err)"
contains err "talus: 1 of 11: coulomb, compliance 0.001, tolerance 0.0001, step 0.002 s"

# ---- from a run, which stays as it is; the table as text; the time is kept ----
cksum run/* >before
"$TALUS" advise --from run --seconds 1 >table 2>err || fail "--from: $(cat err)"
cksum run/* | cmp -s - before || fail "the run was changed"
contains table "slide.json: 1 moving bodies, from t = 0.2 s"
contains table "recommended keys of the scene:"
# which law depends on what steps cost here, since both agree where the box rests; the command has the recommended one
law=$(sed -n 's/^  law  *\([a-z]*\) .*/\1/p' table)
case $law in coulomb | ccp) ;; *) fail "recommended law '$law'" ;; esac
contains table "talus run slide.json --set law=$law --set compliance="
contains table "  solver.tolerance "
grep -Eq "^ *\\*[=>]* +coulomb +$(echo "$soft" | awk '{ printf "%g", $1 }') +1e-02 +0.002 " table || fail "the run's own setting: $(cat table)"
[ "$(grep -Ec '^ *\*?=>? +(coulomb|ccp)' table)" -eq 1 ] || fail "marks: $(cat table)"

"$TALUS" advise settle-box --set bodies=27 --set law=ccp --set 'gravity[2]=-5' --at 1 --span 0.1 --quiet >table ||
    fail "--set"
contains table "talus run settle-box --set bodies=27 --set 'gravity[2]=-5' --set law="

# the command can be pasted into a shell
cp slide.json "it's a slide.json"
"$TALUS" advise "it's a slide.json" --at 0 --span 0.05 --quiet >table || fail "a name with spaces"
contains table "talus run 'it'\\''s a slide.json' --set law="

# ---- nothing to judge by ----
sed 's/0, 0, 0.1\], "velocity": \[5/0, 0, 9], "velocity": [0/' slide.json >fall.json
"$TALUS" advise fall.json --at 0 --span 0.05 --quiet >table || fail "fall"
contains table "no recommendation: no contact bears load; start later (--at T) or from a run (--from DIR)"
"$TALUS" advise fall.json --at 0 --span 0.05 --quiet --json >fall.out || fail "fall --json"
contains fall.out '"recommended": null'
sed 's/{"shape": "crate", /{"shape": "crate", "fixed": true, /; s/"velocity": \[5, 0, 0\], //' slide.json >still.json
expect 1 "still.json: no body moves, so there is nothing to try" still.json --quiet

# ---- wrong usage ----
expect 2 "expected SCENE or --from DIR"
expect 2 "SCENE, --set and --at do not go with it" slide.json --from run
expect 2 "SCENE, --set and --at do not go with it" --from run --at 1
expect 2 "--seconds 0: expected a number above 0" slide.json --seconds 0
expect 2 "--span 0: expected a number above 0" slide.json --span 0
expect 2 "no such backend" slide.json --backend abacus
expect 1 "no scene 'slid'" slid
expect 1 "holds neither checkpoint-a.talus nor checkpoint-b.talus" --from .
echo '{"step": -1, "bodies": []}' >bad.json
expect 1 "bad.json:1" bad.json

# ---- Ctrl-C: what is known so far ----
"$TALUS" advise settle-box --set bodies=200 --seconds 25 --at 0.5 --threads 1 >table 2>err &
process=$!
for _ in $(seq 300); do
    grep -q "2 of " err && break
    sleep 0.1
done
kill -INT $process
wait $process
code=$?
[ $code -eq 130 ] || fail "after SIGINT: exit code $code: $(cat err)"
contains table "stopped before the end: this is what is known so far"
grep -Eq '^ +=?\*?=? *(coulomb|ccp) ' table || fail "after SIGINT the table has no row: $(cat table)"

# before any trial
"$TALUS" advise settle-box --set bodies=200 --at 50 --threads 1 >table 2>err &
process=$!
sleep 1
kill -INT $process
wait $process
code=$?
[ $code -eq 130 ] || fail "SIGINT before the trials: exit code $code: $(cat err)"
contains table "stopped before the end: this is what is known so far"
contains table "no recommendation: too few settings were tried"
[ -s err ] && fail "SIGINT before the trials: $(cat err)"

# ---- a setting that the world refuses is a failed trial, not the end ----
"$TALUS" advise simple-shear --set side=4 --seconds 3 --threads 1 --quiet >cell.txt 2>cell.err || fail "cell: $(cat cell.err)"
grep -q 'failed: world: a cell with a controlled pressure' cell.txt || fail "cell: $(cat cell.txt)"
grep -q '^recommended keys' cell.txt || fail "cell: $(cat cell.txt)"

[ $failures -eq 0 ]
