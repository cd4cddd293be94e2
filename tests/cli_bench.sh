#!/bin/sh
# talus bench: the quick version of an experiment makes its tables, keeps its problems and results,
# and takes them up again.
set -u
failures=0
rm -rf cli_bench.work
mkdir cli_bench.work
cd cli_bench.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(head -c 3000 "$1")"; }

"$TALUS" bench heyn-9 2>err
[ $? -eq 2 ] || fail "heyn-9 is not wrong usage"
contains err "talus: bench: no experiment 'heyn-9'; did you mean 'heyn-1'?"
"$TALUS" list experiments >list || fail "list experiments"
for name in heyn-1 heyn-2 heyn-3 preclik petra-opt; do contains list "  $name "; done

"$TALUS" bench heyn-1 --quick --out one >table 2>err || fail "heyn-1: $(cat err)"
contains table "125 spheres in a box"
contains table "Table I"
contains err "talus: 125 spheres in a box: settled until"
contains table "The paper's figures are left out"
grep -q 'paper: \|in the paper' table && fail "figures of the paper beside a quick version"
contains table "What the paper states, and what is found here"
contains table "results in one"
for file in report.html results.json trace.csv table-1.csv; do
    [ -s one/$file ] || fail "one/$file is missing"
done
[ "$(ls one/*.talus | wc -l)" -eq 1 ] || fail "problems: $(ls one)"
# the name holds the whole hash of what defines the problem: half of it could be that of another
ls one | grep -qEx 'problem-1-[0-9a-f]{16}\.talus' || fail "the problem's name: $(ls one)"
# every run of the paper has its row, with jacobi's objective falling from one to the next
grep '^jacobi' one/table-1.csv | awk -F, '
    NR > 1 && !($3 <= last) { exit 1 } { last = $3; n++ } END { if (n != 4) exit 1 }' ||
    fail "Table I: $(cat one/table-1.csv)"
# methods with the paper's parameters have rows of their own, which statements are judged by
for row in "gpminres (paper) 100" "gpminres 100" "gpminres-p (paper) 10" "gpminres-p 10" "spg (paper) 100" "kucera (paper) 100"; do
    grep -qF "$row," one/table-1.csv || fail "no row '$row': $(cat one/table-1.csv)"
done
grep -q '"gpminres-p (paper, LDL.) 10",' one/table-1.csv || fail "no row of LDL': $(cat one/table-1.csv)"
contains table "(paper): with the paper's parameters"
contains table "Faces: |A w - b| / |b| and |w|"
[ "$(grep -c '(paper): .*; our parameters: ' table)" -eq 3 ] || fail "statements by both parameters: $(cat table)"
# the other solvers ran, too
# All that this build has: a line below the name says so of the others.
for solver in $("$TALUS" list solvers |
    awk '/^  [a-z]/ { print name; name = $1 } /^  *not in this build/ { name = "" } END { print name }' | grep -vx auto); do
    grep -q "^  $solver[ 0-9]" table || fail "$solver is not in the table"
done

cp one/results.json before
"$TALUS" bench heyn-1 --quick --out one --json >out.json 2>err2 || fail "again: $(cat err2)"
grep -q 'settled until' err2 && fail "settled again: $(cat err2)"
[ "$(grep -c '(kept)' err2)" -eq "$(grep -c 'iterations, residual' err)" ] ||
    fail "not everything was kept: $(cat err2)"
contains out.json '"experiment": "heyn-1"'
contains out.json '"title": "Table I"'
grep -v '"date"' before >a
grep -v '"date"' one/results.json | cmp -s - a || fail "results.json changed though all was kept"

# quick and full do not share a folder
"$TALUS" bench heyn-1 --out one >refused 2>err
[ $? -eq 1 ] || fail "the full version took the folder of the quick one"
contains err "one: holds the results of 'heyn-1, quick', not of 'heyn-1'"
grep -v '"date"' one/results.json | cmp -s - a || fail "a refused call changed results.json"
"$TALUS" bench heyn-1 --quick --quiet || fail "without --out"
[ -s out/heyn-1-quick/report.html ] || fail "out/heyn-1-quick: $(ls out)"

# heyn-3: a row for each mass with the paper's parameters and with ours; jacobi's are the same
"$TALUS" bench heyn-3 --quick --quiet --out heyn3 >table 2>err || fail "heyn-3: $(cat err)"
for row in jacobi "gpminres (paper)" gpminres "spg (paper)" spg "kucera (paper)" kucera; do
    [ "$(grep -cF "$row,\"1000 kg, quick\"," heyn3/table-*.csv | awk -F: '{ n += $2 } END { print n }')" -eq 2 ] ||
        fail "rows of $row: $(cat heyn3/table-*.csv)"
done
[ "$(grep -c 'our parameters' heyn3/table-*.csv | awk -F: '{ n += $2 } END { print n }')" -eq 5 ] ||
    fail "statements of heyn-3: $(cat heyn3/table-*.csv)"

# preclik: cases of one state share its problem; every model has its solvers, and the box an exact
# solution that Newton comes to
"$TALUS" bench preclik --quick --out two >table 2>err || fail "preclik: $(cat err)"
[ "$(ls two/*.talus | wc -l)" -eq 7 ] || fail "preclik's problems: $(ls two)"
for figure in "Fig. 2" "Fig. 3" "Fig. 4"; do contains table "$figure"; done
grep -q 'in the paper' table && fail "figures of the paper beside quick preclik"
for row in frictionless,cpg frictionless,pgs frictionless,ssn frictionless,gs-ssn frictionless,newton-al \
    frictionless,lemke frictionless,newton-pang frictionless,newton-path box,cpg box,pgs box,ssn box,gs-ssn pyramid,gs-ssn pyramid,cpg \
    pyramid,pgs pyramid,bgs-enum "circular cone,gs-disc" "convex pyramid,apgd" "convex cone,gs"; do
    grep -q "^$row," two/table-1.csv || fail "no row $row: $(cat two/table-1.csv)"
done
[ "$(sed -n 's/^pyramid,pgs,//p' two/table-1.csv | cut -d, -f1-3)" = \
    "$(sed -n 's/^pyramid,bgs-enum,//p' two/table-1.csv | cut -d, -f1-3)" ] ||
    fail "on spheres pgs and bgs-enum are the same: $(cat two/table-1.csv)"
grep '^"box, state [123], quick",ssn,' two/trace.csv | awk -F, '
    { last[$2] = $NF } END { for (s in last) { n++; if (!(last[s] < 1e-8)) exit 1 } exit n != 3 }' ||
    fail "Newton's velocity errors on boxes: $(grep '^"box.*",ssn,' two/trace.csv)"

# petra-opt: problems have the contacts that were asked for, and all solvers of the build come to one objective
"$TALUS" bench petra-opt --quick --out three >table 2>err || fail "petra-opt: $(cat err)"
[ "$(grep -c ': 500 contacts in an envelope of' err)" -eq 2 ] || fail "contacts of petra-opt: $(cat err)"
for title in "Table 4: 60 pebbles, h 0.01, 360 unknowns in the primal, 1500 in the dual" "Table 5"; do
    contains table "$title"
done
grep -q 'in the paper\|paper:' table && fail "figures of the paper beside quick petra-opt"
grep -q 'TRON: .*budget' table && fail "petra-opt: TRON ended by its rule: $(grep TRON: table)"
for solver in ipm-hsd ipm-soc; do
    grep -q "^disc,$solver,converged," three/table-3.csv || fail "discs: $(cat three/table-3.csv)"
done
grep -q '[0-9a-z)]  *not judged  ' table && ! grep -q 'not in this build' table && fail "petra-opt: $(grep 'not judged' table)"
for file in three/table-1.csv three/table-2.csv; do
    for solver in ipm-chol ipm-aug ipm-hsd apgd lbfgs-fb; do
        grep -q "^$solver,converged," $file || fail "no row $solver: $(cat $file)"
    done
    grep -q "^ipm-hsd:stop=mosek,by its rule," $file || fail "MOSEK's rule: $(cat $file)"
done
sed 's/^"60 pebbles, \(h 0.0[15]\)"/\1/' three/trace.csv | awk -F, '
    NR > 1 && $2 !~ /:/ { last[$1 FS $2] = $6 }
    END {
        for (run in last) {
            split(run, key, FS)
            n[key[1]]++
            if (!(key[1] in low) || last[run] < low[key[1]]) low[key[1]] = last[run]
            if (!(key[1] in high) || last[run] > high[key[1]]) high[key[1]] = last[run]
        }
        for (c in n) if (n[c] >= 5 && low[c] < 0 && high[c] - low[c] <= -1e-6 * low[c]) good++
        exit good != 2
    }' || fail "objectives of petra-opt: $(cut -d, -f2-8 three/trace.csv | tail)"

[ $failures -eq 0 ] && echo "cli_bench: passed"
[ $failures -eq 0 ]
