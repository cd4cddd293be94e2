#!/bin/sh
# talus solve: lists of solvers, refusals, traces, keeping and resuming, saving and comparing. What
# its JSON holds is looked at by test_cli_json.c.
set -u
failures=0
rm -rf cli_solve.work
mkdir cli_solve.work
cd cli_solve.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(head -c 3000 "$1")"; }

# expect CODE TEXT ARGS...: the exit code, and TEXT on standard error
expect() {
    code=$1 text=$2
    shift 2
    "$TALUS" solve "$@" >out 2>err
    got=$?
    [ $got -eq "$code" ] || fail "talus solve $*: exit code $got, expected $code"
    contains err "$text"
    [ -s out ] && fail "talus solve $*: wrote to standard output"
}

extract() { "$TALUS" extract "$@" --set defaults=relaxed >/dev/null || fail "extract $*"; }
extract settle-box --set bodies=27 --at 0.4 -o box.talus
extract settle-cylinder --set bodies=60 --set vat=0.6 --at 0.4 -o smooth.talus

# ---- lists: a comma starts a solver unless key=value follows it ----
# names LIST: the solvers that ran, one per line
names() {
    "$TALUS" solve box.talus --max-iter 3 --quiet --json --solver "$1" |
        sed -n 's/.*"solver": "\([^"]*\)".*/\1/p'
}
names 'gs:omega=1.5,order=random,jacobi,apgd,jacobi:omega=0.2,lambda=0.9' >found
cat >expected <<'END'
gs:omega=1.5,order=random
jacobi
apgd
jacobi:omega=0.2,lambda=0.9
END
cmp -s found expected || fail "list of solvers: $(diff found expected)"
"$TALUS" list solvers |
    awk '/^  [a-z]/ { print name; name = $1 } /^  *not in this build/ { name = "" } END { print name }' |
    grep -v '^auto$\|^$' >expected
names all >found
cmp -s found expected || fail "all: $(diff found expected)"
names jacobi,all >found
(echo jacobi && grep -vx jacobi expected) | cmp -s found - || fail "jacobi,all: $(cat found)"
names gs,gs:omega=1.2,gs >found
printf 'gs\ngs:omega=1.2\n' | cmp -s found - || fail "a solver named twice: $(cat found)"


# ---- several starts: the solutions are in the JSON, however many searches there are ----
copies=""
for i in $(seq 25); do
    cp box.talus "copy$i.talus"
    copies="$copies copy$i.talus"
done
"$TALUS" solve $copies --solver apgd --starts 2 --threads 1 --json >out 2>err || fail "--starts: $(tail -n 3 err)"
[ "$(grep -c '^"searches": \[' out)" -eq 25 ] || fail "searches: $(grep -c searches out) of 25"
[ "$(grep -c '^"converged": 2,$' out)" -eq 25 ] || fail "--starts: $(head -c 2000 out)"
[ "$(grep -c '^"first_start": 0,$' out)" -eq 25 ] || fail "ccp has one velocity: $(grep -c first_start out)"
contains err "2 of 2 starts converged, to 1 solution:"
# and so for misses that are explained
"$TALUS" solve $copies --law coulomb --solver gs --max-iter 2 --threads 1 >out 2>err || fail "25 misses: $(tail -n 3 err)"
[ "$(grep -c 'shift map where gs ended' out)" -eq 25 ] || fail "25 misses: $(grep -c 'shift map' out)"
"$TALUS" solve box.talus --solver apgd --starts 2 --threads 1 --report several --quiet || fail "--starts --report"
contains several/results.json "box: solutions by apgd"
"$TALUS" solve box.talus --solver apgd --json --quiet >out || fail "without --starts"
grep -q searches out && fail "searches without --starts"
echo '{"step": 0.01, "bodies": [{"radius": 0.1, "at": [0, 0, 9]}]}' >air.json
"$TALUS" extract air.json --at 0 -o air.talus >/dev/null 2>&1 || fail "extract air.json"
"$TALUS" solve air.talus --starts 3 >out 2>err || fail "no contacts: $(cat err)"
contains out "3 of 3 starts converged, to 1 solution:"

# ---- shifts are damped where they go round in circles: without, these end at 5e-6 of the start after any number ----
circles=$TALUS_SOURCE_DIR/tests/problems/circles.talus # settle-box, 44 spheres, mu 0.6, at 0.33 s
for case in "disc ipm-soc" "disc ipm-hsd" "polygon:8 ipm-hsd" "polygon:8 ipm-chol" "polygon:8 ipm-aug" "polygon:8 tao-gpcg" "polygon:8 tao-tron"; do
    section=${case% *} solver=${case#* }
    if "$TALUS" list solvers | grep -A3 "^  $solver " | grep -q 'not in this build'; then continue; fi
    "$TALUS" solve "$circles" --law coulomb --section $section --solver $solver --tol 1e-8 --max-iter 1500 --json \
        >out 2>err || fail "$case: $(cat err)"
    contains out '"outcome": "converged"'
done

# ---- "auto" tells what ran, "named twice" is told once ----
"$TALUS" solve box.talus --solver auto,apgd,apgd --report auto --json >out 2>err || fail "auto: $(cat err)"
contains out '"ran": "lbfgs-fb"'
[ "$(grep -c '"ran"' out)" -eq 1 ] || fail "what ran is told of apgd, too"
contains err "auto (lbfgs-fb)"
[ "$(grep -c 'apgd is named twice' err)" -eq 1 ] || fail "named twice: $(cat err)"
"$TALUS" solve box.talus --solver auto,apgd --report auto >out 2>err || fail "auto again: $(cat err)"
contains out "auto (lbfgs-fb)"
contains err "auto on box: kept from an earlier call"
"$TALUS" solve box.talus >out 2>err || fail "without --solver: $(cat err)"
contains out "auto (lbfgs-fb)"
"$TALUS" solve box.talus --solver jacobi,all --max-iter 3 2>&1 | grep -q 'named twice' &&
    fail "all is not a second naming"
"$TALUS" info auto >out 2>err || fail "info of a report: $(cat err)"
contains out "auto: report of \`talus solve\`"
contains out "  problems          box"
contains out "  runs              2;"

# ---- refusals come before any work ----
expect 2 "talus: solve: expected PROBLEM..." --solver gs
expect 2 "an empty name" box.talus --solver gs,,jacobi
expect 2 "an empty name" box.talus --solver ''
expect 2 "did you mean 'gs'?" box.talus --solver jacobi,gss
expect 2 "did you mean 'omega'?" box.talus --solver gs:omaga=1,jacobi
expect 2 "no solver 'omega=1'" box.talus --solver omega=1
expect 2 "--max-iter 0: expected more than 0" box.talus --solver gs --max-iter 0
expect 2 "--tol 0 runs the whole budget" box.talus --solver gs --tol 0
expect 2 "--save goes with one PROBLEM, not with 2" box.talus smooth.talus --solver gs --save f
expect 1 "no/such/trace.csv: cannot write there" box.talus --solver gs --trace no/such/trace.csv
expect 1 "missing.talus: cannot open" missing.talus --solver gs
printf 'no problem at all' >junk
expect 1 "junk: is not a Talus problem file" junk --solver gs
expect 1 "/dev/zero: is not a regular file" /dev/zero --solver gs
expect 1 "junk: cannot create the directory" box.talus --solver gs --report junk
grep -q -- --fresh err && fail "--fresh is no help against: $(cat err)"

expect 1 "takes problems without friction, this one has it; these can: apgd, lbfgs-fb, " \
    box.talus --solver gpcg,gpminres

# ---- the table: converged ones first; a solver that does not take the problem says why ----
"$TALUS" solve box.talus --solver jacobi:omega=1e-6,apgd,gpcg --max-iter 2000 >out 2>err ||
    fail "a solver that misses the tolerance is no failure: $(cat err)"
grep -n 'converged\|budget' out | sed 's/^\([0-9]*\): *\([^ ]*\) *\([^ ]*\).*/\2 \3/' >found
printf 'apgd converged\njacobi:omega=1e-6 budget\n' | cmp -s found - || fail "table: $(cat out)"
contains out "gpcg: unsupported: takes problems without friction, this one has it"

# ---- the trace: first and last iterates, and quotes around commas ----
"$TALUS" solve smooth.talus box.talus --solver apgd,gs:omega=1.2,order=random --quiet \
    --trace trace.csv --tol 1e-5 || fail "--trace"
head -1 trace.csv | grep -q '^problem,solver,iteration,applies,seconds,objective,natural,' ||
    fail "head of the trace: $(head -1 trace.csv)"
contains trace.csv 'smooth,apgd,0,0,'
contains trace.csv 'box,"gs:omega=1.2,order=random",0,0,'
sed 's/"[^"]*"/x/' trace.csv | awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' ||
    fail "trace.csv is ragged"
# relative residual: 1 at the start, at most the tolerance at the end
grep '^smooth,apgd' trace.csv | awk -F, '
    NR == 1 && ($8 < 1 - 1e-12 || $8 > 1 + 1e-12) { bad = 1 } { last = $8; active = $13 }
    END { exit bad || !(last <= 1e-5) || !(active > 0) }' || fail "course of the trace"
# contacts change from the start, and near the end no more
grep '^smooth,apgd' trace.csv | awk -F, '{ n += $14; last = $14 } END { exit !(n > 0 && last < 3) }' ||
    fail "changes of contacts"

# ---- two problems of one name go by their paths; without references there is no error of u ----
mkdir -p twin
cp smooth.talus twin/box.talus
"$TALUS" solve box.talus twin/box.talus --solver gs --max-iter 9 --trace twin.csv >out 2>err ||
    fail "two of one name: $(cat err)"
cut -d, -f1 twin.csv | sort -u >found
printf 'box.talus\nproblem\ntwin/box.talus\n' | LC_ALL=C sort | cmp -s found - || fail "two of one name: $(cat found)"
sed -n '/^All problems/,$p' out | grep -Eq '^  gs .* -$' || fail "error without reference: $(cat out)"

# ---- a report is kept, and taken up only for what is the same ----
report() { "$TALUS" solve box.talus --report rep --solver "$@" >out 2>err || fail "report: $(cat err)"; }
report apgd,gs --tol 1e-4
for file in report.html results.json trace.csv; do [ -s rep/$file ] || fail "rep/$file is missing"; done
grep -q 'kept' err && fail "a first call kept something: $(cat err)"
cp out first
report apgd,gs --tol 1e-4
[ "$(grep -c 'kept from an earlier call' err)" -eq 2 ] || fail "not kept: $(cat err)"
cmp -s out first || fail "the kept table differs: $(diff first out)"
report apgd,jacobi,gs --tol 1e-4
[ "$(grep -c 'kept from an earlier call' err)" -eq 2 ] || fail "with one more: $(cat err)"
# the terms of the runs: above the table, in the file, and again after a file that has none
contains out "to 1e-4 of the residual at zero impulses, at most 10000 iterations, from zero,"
grep -v '^"\(tolerance\|max_iterations\|max_seconds\|start\|threads\)"' rep/results.json >older
cmp -s older rep/results.json && fail "results.json has no terms"
cp older rep/results.json
report apgd,jacobi,gs --tol 1e-4
[ "$(grep -c 'kept from an earlier call' err)" -eq 3 ] || fail "an older file: $(cat err)"
[ "$(grep -c '^"max_iterations": 10000' rep/results.json)" -eq 3 ] || fail "terms are lost"
"$TALUS" solve box.talus --solver gs --tol 0 --max-iter 7 --budget 60 --threads 1 >out 2>err
contains out "7 iterations or 60 s, from zero, 1 thread"
report apgd --tol 1e-3
grep -q 'kept' err && fail "kept in spite of another tolerance"
report apgd --tol 1e-3 --fresh
grep -q 'kept' err && fail "--fresh kept something"
cp smooth.talus box2.talus && cp box.talus keep.talus && cp smooth.talus box.talus
report apgd --tol 1e-3
grep -q 'kept' err && fail "kept in spite of another problem"
cp keep.talus box.talus
echo '[1, 2]' >rep/results.json
expect 1 "rep/results.json: holds no results of Talus" box.talus --solver gs --report rep
contains err "--fresh starts anew"

# ---- friction: law, section, outer loop and measure ----
expect 2 "did you mean 'coulomb'?" box.talus --solver gs --law coulom
expect 2 "'polygon:2' needs its number of sides, 3 to 64" box.talus --solver gs --section polygon:2
expect 2 "--outer trasca: expected shift, tresca or auto" box.talus --solver gs --outer trasca
expect 2 "did you mean 'every'?" box.talus --solver gs --outer tresca:evry=3
expect 2 "--measure x: expected natural or siconos" box.talus --solver gs --measure x
expect 1 "is under another law: expected --law coulomb" box.talus --solver gs --measure siconos
expect 1 "of exact Coulomb friction on the disc, and box.talus has section square: expected --section disc" box.talus --solver gs \
    --measure siconos --law coulomb --section square
# what an option has nothing to do with is no silence
expect 1 "--outer shift is how solvers reach exact Coulomb friction, and box.talus is under another law" box.talus \
    --solver gs --outer shift
expect 1 "refresh is of bounds, and box.talus has none: expected --law fixed" box.talus --solver gs --law coulomb \
    --outer auto:refresh=2
expect 1 "the bounds that box.talus stores are all zero" box.talus --solver gs --law fixed --outer auto:refresh=-1
expect 1 "no solver named takes any of the problems; prox: " box.talus --solver prox --law coulomb \
    --outer tresca --quiet
# compliance is a part of the matrix that Siconos would have, so its error vanishes at a solution with it
extract settle-box --set bodies=27 --set materials.grain.stiffness=1e4 --at 0.4 -o soft.talus
"$TALUS" solve soft.talus --solver apgd --law coulomb --measure siconos --tol 1e-7 >out 2>err || fail "soft: $(cat err)"
grep -q '^  apgd *converged' out || fail "Siconos's measure with compliance: $(cat out)"
law() { "$TALUS" solve box.talus --solver lbfgs-fb --report laws "$@" >out 2>err || fail "$*: $(cat err)"; }
law --law coulomb --outer shift:every=50
grep -q 'kept' err && fail "a first call kept something: $(cat err)"
contains out "law coulomb on disc, outer loop shift:every=50"
grep -Eq '^  solver .* updates +Siconos$' out || fail "columns of law coulomb: $(cat out)"
contains laws/results.json '"law": "coulomb"'
law --law coulomb --outer shift:every=50
contains err "lbfgs-fb on box: kept from an earlier call"
contains out "law coulomb on disc, outer loop shift:every=50"
# what differs in any of these is another run
for words in "--law coulomb" "--law coulomb --section square" "--law fixed" "--section polygon:5" \
    "--law coulomb --measure siconos"; do
    law $words
    grep -q 'kept' err && fail "kept in spite of $words"
done
contains out "to 1e-6 in Siconos's measure, at most"
awk '$1 == "lbfgs-fb" && $2 == "converged" && $NF <= 1e-6 { found = 1 } END { exit !found }' out ||
    fail "Siconos's measure: $(cat out)"
"$TALUS" solve box.talus --solver apgd --section none --json --quiet >out 2>err || fail "none: $(cat err)"
rows=$(sed -n 's/^"rows": \([0-9]*\).*/\1/p' out) contacts=$(sed -n 's/^"contacts": \([0-9]*\).*/\1/p' out)
[ -n "$rows" ] && [ "$rows" = "$contacts" ] || fail "rows of section none: $(cat out)"
# a scene's law comes with the problem
"$TALUS" extract settle-box --set bodies=27 --at 0.1 -o own.talus --set section=polygon:5 --set law=fixed \
    >out 2>err || fail "extract with a law: $(cat err)"
"$TALUS" info own.talus >out 2>err || fail "info: $(cat err)"
contains out "law fixed, section polygon:5"
# what is saved has the bounds of the best result, not those of the last: the verifier finds it solved
"$TALUS" solve own.talus --solver gs,gs:omega=0.01 --tol 1e-7 --max-iter 3000 --save bounds.talus >out 2>err ||
    fail "--save under fixed: $(cat err)"
"$TALUS" verify own.talus bounds.talus --tol 2e-7 >out 2>err || fail "bounds that are saved: $(cat err)"
# what is saved has the law and the impulses: a start from there ends at once
"$TALUS" solve box.talus --solver apgd --law coulomb --section square --tol 1e-9 --max-iter 20000 --save law.talus \
    >out 2>err || fail "--save: $(cat err)"
"$TALUS" info law.talus >out 2>err || fail "info: $(cat err)"
contains out "law coulomb, section square"
"$TALUS" solve law.talus --solver apgd --warm --tol 1e-8 --max-iter 3 >out 2>err || fail "warm: $(cat err)"
contains out "law coulomb on square"
grep -Eq '^  apgd +converged' out || fail "warm start from what was saved: $(cat out)"
"$TALUS" solve law.talus --law coulomb --section square --solver apgd --warm --tol 1e-8 --max-iter 3 >out 2>err
grep -Eq '^  apgd +converged' out || fail "warm start with a law: $(cat out)"

# ---- stopped: what was reached is reported; the same call goes on ----
# An omega this small would take days.
stop_it() {
    "$TALUS" solve box.talus --solver apgd,jacobi:omega=1e-6 --tol 1e-6 --max-iter 1000000000 \
        --report stopped --json >out 2>err &
    pid=$!
    tries=0
    until grep -q "$1" stopped/results.json err 2>/dev/null || [ $tries -gt 200 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    sleep 0.2
    kill -TERM $pid
    wait $pid
    code=$?
    [ $code -eq 143 ] || fail "stopped: exit code $code, $(cat err)"
    contains err "stopped by SIGTERM; the same command goes on"
}
stop_it '"solver": "apgd"'
contains out '"interrupted": true'
contains out '"outcome": "converged"'
stop_it 'apgd on box: kept from an earlier call'
grep -q 'jacobi.*kept' err && fail "an interrupted result was kept"
[ "$(grep -c '"interrupted": true' stopped/results.json)" -eq 1 ] ||
    fail "interrupted results pile up: $(grep -c interrupted stopped/results.json)"

# ---- saving and comparing ----
# In our own layout without HDF5, too: the problem's impulses are the solution.
for problem in box smooth; do
    "$TALUS" solve $problem.talus --solver jacobi,apgd --tol 1e-8 --max-iter 20000 \
        --save $problem.solved.talus >out 2>err || fail "--save: $(cat err)"
    contains err "$problem.solved.talus: the result of "
    "$TALUS" verify $problem.talus $problem.solved.talus --tol 1e-8 >out 2>err ||
        fail "verify of our own: $(cat err)"
done
contains out "contacts of 1 row each"
# a reference that is found first
"$TALUS" solve box.talus smooth.talus --solver apgd --tol 1e-8 --max-iter 50000 --json --quiet --reference exact \
    >out 2>err || fail "--reference exact: $(cat err)"
sed -n 's/.*"velocity_error": \([^,}]*\).*/\1/p' out |
    awk '{ n++; bad += !($1 > 0 && $1 < 1e-6) } END { exit !(n == 2 && !bad) }' ||
    fail "errors against the exact solution: $(cat out)"
"$TALUS" solve box.talus --section square --solver apgd --tol 1e-8 --max-iter 50000 --json --quiet --reference exact \
    >out 2>err || fail "--reference exact of a square: $(cat err)"
grep -q '"velocity_error": [0-9.]*e-' out || fail "error against the exact solution on the square: $(cat out)"
if "$TALUS" list features | grep -q 'not in this build.*libhdf5-dev'; then
    expect 1 "FCLIB files are not in this build" box.talus --solver apgd --save saved.hdf5
    [ -e saved.hdf5 ] && fail "saved.hdf5 exists"
else
    for problem in box smooth; do
        "$TALUS" solve $problem.talus --solver jacobi,apgd --tol 1e-9 --max-iter 20000 \
            --save $problem.hdf5 >out 2>err || fail "--save: $(cat err)"
        contains err "which has the smallest residual"
        "$TALUS" solve $problem.hdf5 --law ccp --solver gs --tol 1e-7 --max-iter 50000 --json --quiet \
            --reference $problem.hdf5 >out 2>err || fail "--reference: $(cat err)"
        sed -n 's/.*"velocity_error": \([^,}]*\).*/\1/p' out | head -1 |
            awk '{ exit !($1 > 0 && $1 < 1e-5) }' || fail "velocity error: $(cat out)"
    done
    expect 1 "smooth.hdf5" box.talus --solver gs --reference smooth.hdf5
    # /solution is that of the law it is compared under
    "$TALUS" solve box.talus --law coulomb --solver apgd --tol 1e-10 --max-iter 50000 --save exact.hdf5 \
        >out 2>err || fail "--save: $(cat err)"
    for law in ccp coulomb; do
        "$TALUS" solve box.talus --law $law --solver apgd --tol 1e-8 --max-iter 50000 --json --quiet \
            --reference exact.hdf5 >out 2>err || fail "--reference: $(cat err)"
        sed -n 's/.*"velocity_error": \([^,}]*\).*/\1/p' out >$law.error
    done
    awk 'NR == 1 { ccp = $1 } NR == 2 { exit !(ccp > 1e-4 && $1 < 1e-6) }' ccp.error coulomb.error ||
        fail "velocity errors by law: $(cat ccp.error coulomb.error)"
    # a reference with both solutions gives that of the law
    problem=${TALUS_SHARED:-none}/problems/problems/OneObject-i100000-499.hdf5
    for law in ccp coulomb; do
        [ -f "$problem" ] || break
        "$TALUS" solve "$problem" --law $law --solver prox --tol 1e-10 --json --quiet \
            --reference "$TALUS_SHARED/problems/reference" >out 2>err || fail "references: $(cat err)"
        sed -n 's/.*"velocity_error": \([^,}]*\).*/\1/p' out | awk '{ exit !($1 < 1e-6) }' ||
            fail "velocity error under $law: $(cat out)"
    done
    "$TALUS" extract settle-box --set defaults=relaxed --set bodies=27 --at 0.1 -o square.hdf5 --set section=square >out 2>err &&
        fail "FCLIB with a square section"
    contains err "has the section square; FCLIB has no place for another than disc"

    # Several problems: a folder of references, one row per solver at the end.
    expect 2 "is a folder" box.talus smooth.talus --solver gs --reference box.hdf5
    mkdir references
    cp box.hdf5 references/box.ref.hdf5
    "$TALUS" solve box.talus smooth.talus --solver apgd,cpg --tol 1e-7 --reference references \
        >out 2>err || fail "two problems: $(cat err)"
    contains out "All problems"
    contains err "talus: smooth: no references/smooth.ref.hdf5, so no velocity error"
    grep -q 'box.ref.hdf5' err && fail "a reference that is there is missed: $(cat err)"
    sed -n '/^All problems/,$p' out | grep -Eq '^  apgd +2 +0 +0 +0 +0 ' || fail "summary: $(cat out)"
    sed -n '/^All problems/,$p' out | grep -Eq '^  cpg +1 +0 +0 +0 +1 ' || fail "summary: $(cat out)"
    # who never converged has no cost
    "$TALUS" solve box.talus smooth.talus --solver jacobi:omega=1e-6 --max-iter 9 >out 2>err ||
        fail "two problems: $(cat err)"
    sed -n '/^All problems/,$p' out | grep -Eq '^  jacobi:omega=1e-6 +0 +2 +0 +0 +0 +0 +- +- +-$' ||
        fail "cost of a solver that never converged: $(cat out)"
fi

[ $failures -eq 0 ] && echo "cli_solve: passed"
[ $failures -eq 0 ]
