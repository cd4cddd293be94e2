#!/bin/sh
# talus reproduce --quick, all of it: every statement of the five papers has a verdict, but those that small problems cannot
# judge, and the page is there.
set -u
failures=0
rm -rf slow_reproduce.work
mkdir slow_reproduce.work
cd slow_reproduce.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

"$TALUS" list features >features || fail "list features"
for name in petsc cholmod mumps; do # without them statements on their methods are not judged, or on others in their place
    grep -A 1 "^  $name " features | grep -q 'not in this build' || continue
    echo "skipped: $name is not in this build, so statements on methods that need it would not be judged"
    exit 77
done

"$TALUS" reproduce --quick --out one >table 2>err || fail "exit code $?: $(cat err)"

# Statements that are not judged with --quick: pebbles do not come near rest.
cat >expected <<'END'
petra-sim  energies by all solvers differ by less than 1.5 % until rest
END

# a line per statement, "VERDICT  EXPERIMENT  STATEMENT", up to the first empty line; then their numbers by experiment
sed '/^$/,$d' table >statements
sed -n '/^Statements of the papers, by verdict$/,/^$/p' table | sed -e 1,2d -e '/^$/d' >numbers
grep -vE '^(holds|holds in part|does not hold|not judged)  ' statements && fail "statements without a verdict"
sed -n 's/^not judged *//p' statements | cmp -s - expected || fail "other statements are not judged than $(cat expected): $(grep '^not judged' statements)"
[ "$(wc -l <statements)" -eq "$(awk '{ n += $3 } END { print n }' numbers)" ] || fail "statements and their numbers differ: $(cat table)"
awk '$3 < 1 { exit 1 }' numbers || fail "experiments without statements: $(cat numbers)"
awk '$NF != 0 { print $2, $NF }' numbers >unjudged
awk '{ n[$1]++ } END { for (name in n) print name, n[name] }' expected | sort | cmp -s - unjudged || fail "other numbers of statements not judged: $(cat numbers)"
"$TALUS" help reproduce | grep -oE '[a-z]+-[0-9]{4}' | sort -u >papers
awk '{ print $1 }' numbers | sort -u | cmp -s - papers || fail "other papers than $(cat papers): $(cat numbers)"

# the page has every statement, and each experiment has its own
[ -s one/report.html ] || fail "no page"
sed -E 's/^[a-z ]+  [a-z0-9-]+ +//' statements | while IFS= read -r text; do
    grep -qF -- "$text" one/report.html || echo "$text"
done >lost
[ -s lost ] && fail "statements that are not on the page: $(cat lost)"
for name in $(awk '{ print $2 }' numbers); do [ -s "one/$name/report.html" ] || fail "no page of $name"; done

[ $failures -eq 0 ] && echo "slow_reproduce: passed, $(wc -l <statements) statements"
[ $failures -eq 0 ]
