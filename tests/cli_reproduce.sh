#!/bin/sh
# talus reproduce: a verdict on every statement, one page, and what was done is not done again.
set -u
failures=0
rm -rf cli_reproduce.work
mkdir cli_reproduce.work
cd cli_reproduce.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(head -c 3000 "$1")"; }

"$TALUS" reproduce heyn-2013 2>err
[ $? -eq 2 ] || fail "heyn-2013 is not wrong usage"
contains err "talus: reproduce: no paper 'heyn-2013'; did you mean 'heyn-2012'?"

# worlds, on the host
"$TALUS" reproduce pospisil-2015 negrut-2009 --quick --backend cpu --out one >table 2>err || fail "$(cat err)"
contains err "talus: pospisil-2015, mprgp (2 of 2)"
contains table "the page is one/report.html"
contains one/report.html "Five papers, reproduced: quick"
for name in mprgp negrut; do
    [ -s one/$name/report.html ] || fail "no page of $name"
    [ "$(grep -cE "^(holds|holds in part|does not hold) +$name " table)" -ge 2 ] || fail "statements of $name: $(cat table)"
done
grep '^not judged' table && fail "statements without a verdict: $(cat table)"
for figure in "1: bodies and contacts" "2: iterations and products of a step" "3: state of the grains"; do
    contains one/results.json "mprgp: Fig. $figure"
done
for lemma in 2 3 4; do
    grep -qE "^(holds|holds in part) +mprgp .*Lemma $lemma\)" table || fail "no Lemma $lemma: $(cat table)"
done
contains one/results.json '"negrut: Penetration over time"'
contains one/results.json "negrut: Penetration over time: mean overlap over size in each tenth of the flow"
grep -qE '^\| method \| backend \| threads ' one/negrut/tables.md || fail "no threads: $(cat one/negrut/tables.md)"
for order in forward random; do
    [ "$(grep -cE "^\| $order \| .* (yes|no) \|$" one/negrut/tables.md)" -eq 4 ] || fail "values of omega: $(cat one/negrut/tables.md)"
done

# again: the same statements, from what is stored
grep -E '^(holds|does)' table >before
cp one/mprgp/results.json stored
"$TALUS" reproduce pospisil-2015 negrut-2009 --quick --backend cpu --out one >table 2>err || fail "again: $(cat err)"
grep -E '^(holds|does)' table | cmp -s - before || fail "other statements: $(cat table)"
cmp -s stored one/mprgp/results.json || fail "mprgp ran again"
contains one/results.json "mprgp: Fig. 1: bodies and contacts"

# runs that an experiment had finished before it was stopped are taken as they are, with their times
for name in mprgp negrut; do
    sed 1d one/$name/tables.md >$name.md # the first line has the date
    rm one/$name/results.json
done
"$TALUS" reproduce pospisil-2015 negrut-2009 --quick --backend cpu --out one >table 2>err || fail "stored runs: $(cat err)"
for name in mprgp negrut; do sed 1d one/$name/tables.md | cmp -s - $name.md || fail "$name: other figures of stored runs: $(diff $name.md one/$name/tables.md)"; done
# ... but not a damaged one, which is run anew
run=$(grep -l 'order=random on cpu' one/negrut/run-*.csv)
head -n 5 "$run" >cut
echo 1,2 >>cut
mv cut "$run"
rm one/negrut/results.json
"$TALUS" reproduce negrut-2009 --quick --backend cpu --out one >table 2>err || fail "a damaged run: $(cat err)"
[ "$(wc -l <"$run")" -gt 100 ] || fail "the damaged run was taken: $(cat "$run")"

# results of another backend are taken unless --backend asks for others
sed 's/"mprgp, cpu, quick"/"mprgp, cuda-mixed, quick"/' one/mprgp/results.json >changed
cmp -s changed one/mprgp/results.json && fail "results.json has another title: $(head -c 300 changed)"
cp changed one/mprgp/results.json
"$TALUS" reproduce pospisil-2015 --quick --out one >table 2>err || fail "of another backend: $(cat err)"
cmp -s changed one/mprgp/results.json || fail "results of another backend were not taken"
contains table "mprgp "
"$TALUS" reproduce pospisil-2015 --quick --backend cpu --out one >table 2>err || fail "of this backend: $(cat err)"
cmp -s changed one/mprgp/results.json && fail "results of another backend were taken with --backend cpu"

# a damaged store is named; --fresh replaces it, and the runs
before=$(ls one/mprgp/run-*.csv | wc -l)
echo '{' >one/mprgp/results.json
"$TALUS" reproduce pospisil-2015 --quick --backend cpu --out one >table 2>err
[ $? -eq 1 ] || fail "a damaged results.json was accepted"
contains err "--fresh starts anew"
"$TALUS" reproduce pospisil-2015 --quick --backend cpu --fresh --out one >table 2>err || fail "--fresh: $(cat err)"
[ "$(find one/mprgp -name 'run-*.csv' -newer one/negrut/results.json | wc -l)" -eq "$before" ] || fail "--fresh kept runs"

# problems: a stop keeps what was solved
timeout -s INT 1 "$TALUS" reproduce preclik-2009 --quick --out two >table 2>err
code=$?
if [ $code -ne 0 ]; then
    [ $code -eq 124 ] || fail "stopped with $code: $(cat err)"
    contains err "the same command goes on from what is in two"
    grep -q failed err && fail "a stop is no failure: $(cat err)"
fi
grep '"seconds"' two/preclik/results.json | head -1 >first
"$TALUS" reproduce preclik-2009 --quick --out two >table 2>err || fail "preclik: $(cat err)"
[ -s first ] && { grep -qF -- "$(cat first)" two/preclik/results.json || fail "solved again: $(cat first)"; }
[ "$(grep -cE ' preclik  ' table)" -ge 40 ] || fail "statements of preclik: $(cat table)"
grep '^not judged' table && fail "statements of preclik without a verdict: $(cat table)"
for figure in "2: residual by model" "2 with all solvers: box" "3: residual and velocity error on the box" "4: changes of the active set on the box"; do
    contains two/results.json "preclik: Fig. $figure"
done

[ $failures -eq 0 ] && echo "cli_reproduce: passed"
[ $failures -eq 0 ]
