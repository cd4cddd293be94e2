#!/bin/sh
# talus verify: agrees with what talus solve claims, on both kinds of files; refuses what it cannot.
set -eu
failed=0
fail() {
    echo "FAILED   $*"
    failed=1
}
# figure FILE KEY: the first number of that key in a JSON file.
figure() { sed -n "s/^ *\"$2\": *\([-+0-9.e]*\).*/\1/p" "$1" | head -n 1; }
# agrees A B: equal to 1e-8 of the larger.
agrees() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; m = a < 0 ? -a : a
    exit !(a != "" && b != "" && d <= 1e-8 * m + 1e-300) }'; }

"$TALUS" extract settle-box --set defaults=relaxed --at 0.1 -o box.talus >/dev/null
"$TALUS" verify box.talus box.talus --json >start.json
agrees "$(figure start.json contacts)" "$("$TALUS" info box.talus | awk '$1 == "blocks" {print $2}')" ||
    fail "number of contacts"
[ "$(grep -c . start.json)" -eq "$(wc -l <start.json)" ] || fail "a blank line in the JSON"

if "$TALUS" verify box.talus missing.talus 2>error; then fail "accepted a missing file"; fi
grep -q 'missing.talus: cannot open' error || fail "no word about the missing file"
if "$TALUS" verify box.talus 2>/dev/null; then fail "accepted one operand"; fi
if "$TALUS" verify box.talus box.talus --tol 1e-30 >/dev/null 2>error; then
    fail "a starting point passed as solved"
fi
grep -q 'more than 1e-30' error || fail "no word about the tolerance"

# One sphere in the air over a floor: no contact, and nothing to do is done.
echo '{"bodies": [{"radius": 1, "at": [0, 0, 9]}]}' >air.json
"$TALUS" extract air.json --at 0 -o air.talus >/dev/null
"$TALUS" verify air.talus air.talus --tol 1e-6 >/dev/null || fail "a problem without contacts"

# A ball between planes that stand too close: the proof is stored, and holds by other code; of another problem, where the
# ball fits, it proves nothing.
wedge() {
    cat >"$2.json" <<END
{"defaults": "relaxed", "step": 0.01, "recovery": 0, "materials": {"ice": {"friction": $3}}, "bodies": [
    {"name": "left", "shape": {"kind": "plane"}, "at": [-0.1, 0, 0], "normal": [1, 0, 0]},
    {"name": "right", "shape": {"kind": "plane"}, "at": [0.1, 0, 0], "normal": [-1, 0, 0]},
    {"name": "ball", "radius": $1, "at": [0, 0, 0.5], "velocity": [1, 0, 0]}]}
END
    "$TALUS" extract "$2.json" --at 0 -o "$2.talus" >/dev/null
}
for mu in 0 0.3; do
    wedge 0.11 tight $mu
    wedge 0.0995 loose $mu
    for solver in gpcg gpminres gpminres-p apgd gs lbfgs-fb auto prox; do
        case $mu,$solver in 0.3,gp*) continue ;; esac
        "$TALUS" solve tight.talus --solver $solver --tol 1e-6 --save proof.talus >claim 2>error || fail "$solver: $(cat error)"
        grep -q infeasible claim || fail "$solver, mu $mu: not infeasible: $(cat claim)"
        grep -q 'holds the proof' error || fail "$solver: no word about the proof: $(cat error)"
        "$TALUS" verify tight.talus proof.talus >found 2>error || fail "$solver: the proof is refused: $(cat error)"
        grep -q 'proves that the problem has no solution' found || fail "$solver: no word about the proof"
        if "$TALUS" verify tight.talus proof.talus --tol 1e-6 >/dev/null 2>&1; then fail "$solver: verified"; fi
    done
    if "$TALUS" verify loose.talus proof.talus >found 2>error; then fail "a proof of another problem"; fi
    grep -q 'certificate proves nothing' error || fail "no word about the false proof: $(cat error)"
done
if "$TALUS" verify box.talus proof.talus >found 2>error; then fail "a proof of another size"; fi

# Under other laws and sections: asked for, or the file's own.
for model in "coulomb disc" "coulomb polygon:5" "ccp square"; do
    law=${model% *} section=${model#* }
    "$TALUS" solve box.talus --law $law --section $section --solver apgd --tol 1e-3 --max-iter 300 \
        --save law.talus --json >claim.json 2>/dev/null
    "$TALUS" verify box.talus law.talus --law $law --section $section --json >found.json
    "$TALUS" verify law.talus law.talus --json >own.json
    for key in natural natural_max natural_relative complementarity_max siconos dilation; do
        for found in found.json own.json; do
            agrees "$(figure claim.json $key)" "$(figure $found $key)" ||
                fail "$model, $found: $key $(figure claim.json $key), found $(figure $found $key)"
        done
    done
done
if "$TALUS" verify box.talus law.talus --section polygon 2>error; then fail "a polygon without sides"; fi
grep -q '3 to 64' error || fail "no word about the polygon's sides: $(cat error)"

if "$TALUS" list features | grep -q 'not in this build.*libhdf5-dev'; then
    echo "skipped  FCLIB files: this build has no HDF5"
    exit $failed
fi
"$TALUS" extract settle-box --set defaults=relaxed --at 0.1 -o box.hdf5 >/dev/null
"$TALUS" solve box.hdf5 --law ccp --solver apgd --tol 1e-9 --save reference.hdf5 --quiet
for solver in apgd gs:omega=1.3 jacobi; do
    "$TALUS" solve box.hdf5 --law ccp --solver $solver --tol 1e-3 --max-iter 300 --save solved.hdf5 --json \
        --reference reference.hdf5 >claim.json 2>/dev/null
    "$TALUS" verify box.hdf5 solved.hdf5 --law ccp --reference reference.hdf5 --json >found.json
    agrees "$(figure claim.json velocity_error)" "$(figure found.json velocity_error)" ||
        fail "$solver: velocity error $(figure claim.json velocity_error), found $(figure found.json velocity_error)"
    for problem in box.hdf5 box.talus; do
        "$TALUS" verify $problem solved.hdf5 --law ccp --json >found.json
        for key in objective projected_gradient natural natural_max natural_relative \
            complementarity_max primal_infeasibility siconos siconos_over_q; do
            agrees "$(figure claim.json $key)" "$(figure found.json $key)" ||
                fail "$solver, $problem: $key $(figure claim.json $key), found $(figure found.json $key)"
        done
    done
    "$TALUS" verify box.hdf5 solved.hdf5 --law ccp --tol 1 >/dev/null || fail "$solver: tolerance 1 missed"
done
"$TALUS" verify box.hdf5 solved.hdf5 --law ccp --json >found.json
awk -v e="$(figure found.json stored_velocity_error)" 'BEGIN { exit !(e != "" && e < 1e-12) }' ||
    fail "stored velocities"
if "$TALUS" verify box.talus solved.hdf5 --reference reference.hdf5 2>error >/dev/null; then
    fail "ignored a reference"
fi
# FCLIB has no moments of rolling and spinning: a problem that has them gets zeros, which add nothing to the objective.
for rolling in 0 0.2; do
    cat >rolling.json <<END
{"defaults": "relaxed", "step": 0.01, "materials": {"sand": {"friction": 0.3, "rolling": $rolling}}, "bodies": [
    {"name": "floor", "shape": {"kind": "plane"}, "at": [0, 0, 0]},
    {"name": "ball", "radius": 0.1, "at": [0, 0, 0.1], "velocity": [1, 0, 0]},
    {"name": "other", "radius": 0.1, "at": [1, 0, 0.1], "velocity": [1, 0, 0]}]}
END
    "$TALUS" extract rolling.json --at 0 -o rolling$rolling.talus >/dev/null
    if [ $rolling = 0 ]; then "$TALUS" extract rolling.json --at 0 -o rolling0.hdf5 >/dev/null; fi
done
"$TALUS" solve rolling0.hdf5 --law ccp --solver apgd --tol 1e-3 --save moments.hdf5 --quiet
"$TALUS" verify rolling0.talus moments.hdf5 --json >three.json
"$TALUS" verify rolling0.2.talus moments.hdf5 --json >six.json
[ "$(figure three.json rows) $(figure six.json rows)" = "3 6" ] || fail "rows of the columns"
agrees "$(figure three.json objective)" "$(figure six.json objective)" ||
    fail "moments from FCLIB: objective $(figure three.json objective), $(figure six.json objective)"
"$TALUS" solve box.hdf5 --law ccp --solver apgd --tol 1e-5 --save own.talus --quiet
"$TALUS" verify box.hdf5 own.talus --law ccp --tol 1e-5 >/dev/null || fail "our own solution of an FCLIB problem"
# FCLIB stores no law: it is Coulomb's where none is named
"$TALUS" solve box.hdf5 --tol 1e-6 --save exact.hdf5 --json --quiet >claim.json || fail "no --law"
grep -q '"law": "coulomb"' claim.json || fail "law of an FCLIB file: $(cat claim.json)"
"$TALUS" verify box.hdf5 exact.hdf5 --tol 1e-6 >/dev/null || fail "verify without --law"
if "$TALUS" verify box.hdf5 exact.hdf5 --law ccp --tol 1e-6 >/dev/null 2>&1; then fail "the laws have one solution"; fi
if "$TALUS" verify box.hdf5 own.talus --group solution 2>error; then fail "ignored --group"; fi
if "$TALUS" verify box.hdf5 box.hdf5 2>error; then fail "accepted a file without a solution"; fi
grep -q '/solution' error || fail "no word about the missing solution"

# A file with both: /solution unless --group says otherwise, and not in silence; a reference is the
# other way round, and its own error is told.
problems=${TALUS_SHARED:-}/problems
if [ ! -d "$problems/reference" ]; then
    echo "skipped  files with two solutions: no shared problems"
    exit $failed
fi
rover=$problems/problems/Rover9770.hdf5 both=$problems/reference/Rover9770.ref.hdf5
"$TALUS" verify "$rover" "$both" --json >found.json 2>error || fail "two solutions: $(cat error)"
grep -q '/solution; the file also has /ccp_solution: --group ccp_solution' error ||
    fail "no word about the other solution: $(cat error)"
"$TALUS" verify "$rover" "$both" --group ccp_solution --json >ccp.json 2>error ||
    fail "--group: $(cat error)"
if [ -s error ]; then fail "a word though --group was given: $(cat error)"; fi
agrees "$(figure found.json natural)" "$(figure ccp.json natural)" && fail "both groups are one"
for file in found ccp; do # each is right under its own law, without --law
    awk -v r="$(figure $file.json natural_relative)" 'BEGIN { exit !(r < 1e-6) }' ||
        fail "$file: relative residual $(figure $file.json natural_relative)"
done
for command in "solve box.hdf5 --law ccp --solver apgd" "verify box.hdf5 solved.hdf5 --law ccp"; do
    if "$TALUS" $command --reference "$both" >/dev/null 2>error; then fail "$command: a wrong reference"; fi
    grep -q '/ccp_solution/u' error || fail "$command: not the error of /ccp_solution: $(cat error)"
done
exit $failed
