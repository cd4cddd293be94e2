#!/bin/sh
# The small study of docs/tutorial/repose.md runs as it stands and prints the table of the page; a second call computes
# nothing, a third one only what is new; the large study differs from it in numbers alone, and its table is that of the kept
# run. TALUS_REGENERATE=1 in the environment writes the table that comes out into the page.
set -u
page=$TALUS_SOURCE_DIR/docs/tutorial/repose.md
kept=$TALUS_SOURCE_DIR/bench/results/2026-11-19-repose.md
failures=0
rm -rf work && mkdir work && cd work || exit 1
mkdir build && ln -s "$TALUS_BUILD_DIR" build/release

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

sed -n 's/^    \(build\/release\/talus .*\)/\1/p' "$page" >commands
grep -- '--out out/small' commands >small
grep -- '--out out/repose' commands >large
[ "$(wc -l <small)" = 2 ] && [ "$(wc -l <large)" = 2 ] || fail "commands of the page: $(cat commands)"

# run N COUNT: the Nth command of the small study, which computes COUNT runs
run() {
    sed -n "$1p" small >command
    sh ./command >printed 2>err || fail "$(cat command): $(cat err)"
    grep -qF -- "$2 to compute" err || fail "$(cat command): expected $2 runs: $(cat err)"
}
run 1 6
grep "^  0" printed >rows
[ "$(wc -l <rows)" = 3 ] || fail "rows: $(cat printed)"
if [ "${TALUS_REGENERATE:-}" = 1 ]; then
    awk 'NR == FNR { row[$1] = "    " $0; next } /^      0/ && ($1 in row) { print row[$1]; next } { print }' rows "$page" >rewritten
    cat rewritten >"$page"
fi
while read -r row; do
    grep -qF -- "$row" "$page" || fail "the page lacks: $row"
done <rows
[ "$(grep -c '^      0' "$page")" = 3 ] || fail "rows of the page"
run 1 0
run 2 4
[ -s out/small/report.html ] || fail "no report"

# the large study: the same options, and values that the program takes
while read -r line; do
    sh -c "$line --dry-run" >plan 2>err || fail "$line: $(cat err)"
done <large
sh -c "$(head -n 1 large) --dry-run" >plan
grep -q '5 points, 3 seeds each: 15 runs' plan || fail "the study: $(cat plan)"
grep -qF "$(sed -n '1s/^build\/release\///p' large)" "$kept" || fail "the kept run is of another command"
grep '^| 0\.[0-9] |' "$page" >table
[ "$(wc -l <table)" = 5 ] || fail "table of the page: $(cat table)"
while read -r row; do
    grep -qxF -- "$row" "$kept" || fail "not in the kept run: $row"
done <table
[ $failures -eq 0 ] || exit 1
echo "ok       the small study of the page, and the table of the kept one"
