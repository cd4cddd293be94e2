#!/bin/sh
# Rigid problems in files under exact Coulomb friction: `talus bench rigid` makes a sheared bed and a heap of rocks and
# solves both from zero impulses; the verifier recomputes the figures; the bed has several solutions, and --starts finds
# some of them; the relaxation has one.
set -eu
"$TALUS" bench rigid --quick --threads 1 --out rigid --quiet
verify() { # NAME TOLERANCE
    grep -q "^$1,.*,converged," rigid/table-1.csv
    "$TALUS" verify "rigid/$1.talus" "rigid/$1-solved.talus" --law coulomb --tol "$2" >verified
    if "$TALUS" verify "rigid/$1.talus" "rigid/$1.talus" --law coulomb --tol "$2" >verified 2>&1; then exit 1; fi
}
verify sheared-150 1e-6
verify rocks-1 1e-8
echo "ok       a sheared bed and rocks are solved from zero, and the verifier agrees"

# A kept bed: what follows is true of most beds, not of all.
bed=$TALUS_SOURCE_DIR/tests/problems/sheared-150.talus
"$TALUS" solve "$bed" --solver continuation,prox --tol 1e-8 --threads 1 --json >two.json 2>two.txt
test "$(grep -o '"converged"' two.json | wc -l)" -eq 2
"$TALUS" solve "$bed" --solver prox:rho=0.01 --starts 8 --tol 1e-8 --threads 1 >several
solutions=$(sed -n 's/.* starts converged, to \([0-9]*\) solutions*:.*/\1/p' several)
test "$solutions" -ge 2
echo "ok       several solutions are found and said"

"$TALUS" solve "$bed" --law ccp --solver prox --starts 4 --tol 1e-8 --threads 1 >one
grep -q "4 of 4 starts converged, to 1 solution:" one
echo "ok       the relaxation has one"

"$TALUS" solve "$bed" --solver apgd --max-iter 2000 --tol 1e-8 --threads 1 >missed
grep -q "the shift map repels there: [1-9][0-9]* eigenvalues* of its Jacobian with a real part above 1" missed
"$TALUS" solve rigid/rocks-1.talus --solver apgd --max-iter 20 --tol 1e-8 --threads 1 >missed
grep -q "the shift map does not repel there" missed
"$TALUS" solve "$bed" --solver apgd,prox --max-iter 2000 --tol 1e-8 --threads 1 >reached
if grep -q "shift map" reached; then exit 1; fi
echo "ok       a missed tolerance is explained by the shift map"

if "$TALUS" solve "$bed" --starts 1 2>refused; then exit 1; fi
grep -q "expected 2 or more" refused
echo "ok       one start is refused"


"$TALUS" bench rigid --quick --threads 1 --out stopped --quiet >/dev/null 2>&1 &
pid=$!
until [ -e stopped/sheared-150.talus ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -TERM $pid
code=0
wait $pid || code=$?
test $code -eq 143
test ! -e stopped/sheared-150-solved.talus
echo "ok       a signal ends a solve between two iterations"
