#!/bin/sh
# The tables of docs/papers are those of the kept results, and pages say which results are older than code: a figure that was changed in
# any page is found, and so is a wrong mark of age, before a commit and after it.
set -u
cd "$TALUS_SOURCE_DIR" || exit 1
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# papers: papers.sh of the copy; its output goes to $work/out
papers() { sh "$work/bench/papers.sh" "$@" >"$work/out" 2>&1; }

sh bench/papers.sh --check || fail "run bench/papers.sh"

# all else on a copy
mkdir -p "$work/bench/results" "$work/docs"
cp bench/papers.sh "$work/bench/"
cp -r bench/results/papers "$work/bench/results/"
cp -r docs/papers "$work/docs/"
papers --check || fail "the copy: $(cat "$work/out")"
grep -q "is not known here" "$work/out" || fail "without history the age is said to be checked: $(cat "$work/out")"

# a stale figure in the first row with a figure of each page that has tables
pages=0
for page in "$work"/docs/papers/*.md; do
    grep -q '^<!-- table: ' "$page" || continue
    pages=$((pages + 1))
    cp "$page" "$work/page"
    awk '/^<!-- table: / { inside = 1 }
        inside && /^\|.*[0-9]/ && !done { sub(/[0-9]/, "7777"); done = 1 }
        { print }' "$work/page" >"$page"
    papers --check && fail "a planted figure was not found in $page"
    grep -q '^-.*7777' "$work/out" || fail "the planted figure of $page is not shown: $(head -c 1000 "$work/out")"
    cp "$work/page" "$page"
done
[ $pages -ge 6 ] || fail "$pages pages have tables from results: one for each paper, and the statements, should"

# the age of results, in a repository whose only commit has made them
git --version >/dev/null 2>&1 || {
    echo "no git: marks of age are not tested"
    [ $failures -eq 0 ]
    exit
}
commit() {
    git -C "$work" add -A bench docs src
    git -C "$work" -c user.name=test -c user.email=test@example.org commit -q -m "$1" || fail "commit: $1"
}
mark="Older than code that they depend on"
mkdir -p "$work/src/world" "$work/results/mprgp"
echo 1 >"$work/src/world/step.c"
git -C "$work" init -q
commit "code"
for file in "$work"/bench/results/papers/*.md; do
    sed "1s/.*/commit $(git -C "$work" rev-parse --short=8 HEAD)/" "$file" >"$work/page" && cp "$work/page" "$file"
done
papers || fail "the pages: $(cat "$work/out")"
grep -q "$mark" "$work"/docs/papers/*.md && fail "new results are marked"
commit "results"
papers --check || fail "new results: $(cat "$work/out")"

# a mark that should not be there
cp "$work/docs/papers/pospisil-2015.md" "$work/page"
sed 's/^\(\[Results\].*\)$/\1 **Older than code that they depend on.**/' "$work/page" >"$work/docs/papers/pospisil-2015.md"
papers --check && fail "a mark on new results was not found"
cp "$work/page" "$work/docs/papers/pospisil-2015.md"

# changed code: the mark is missing at once; pages made now are right before their commit, in it and in the next
echo 2 >"$work/src/world/step.c"
papers --check && fail "a missing mark was not found"
grep -q "^+.*$mark" "$work/out" || fail "the missing mark is not shown: $(head -c 1000 "$work/out")"
papers keep "$work/results" && fail "results of code that is in no commit were kept"
grep -q "not committed" "$work/out" || fail "keep refuses without its reason: $(cat "$work/out")"
papers || fail "marks: $(cat "$work/out")"
papers --check || fail "marked, before the commit: $(cat "$work/out")"
commit "code and pages"
papers --check || fail "marked, after the commit: $(cat "$work/out")"
echo 3 >"$work/src/world/step.c"
commit "more code"
papers --check || fail "marked, one commit later: $(cat "$work/out")"

# results taken anew are of the present commit, and --commit says of which else
{ printf 'planted\n\n' && sed 1,4d "$work/bench/results/papers/mprgp.md"; } >"$work/results/mprgp/tables.md"
papers keep "$work/results" mprgp || fail "keep: $(cat "$work/out")"
grep -q "of commit $(git -C "$work" rev-parse --short=8 HEAD): planted\.\$" "$work/docs/papers/pospisil-2015.md" || fail "kept results: $(grep planted "$work"/docs/papers/*.md)"
papers keep --commit HEAD~1 "$work/results" mprgp || fail "keep --commit: $(cat "$work/out")"
grep -q "of commit $(git -C "$work" rev-parse --short=8 HEAD~1): planted\. .*$mark" "$work/docs/papers/pospisil-2015.md" || fail "results of an earlier commit: $(grep planted "$work"/docs/papers/*.md)"
papers keep --commit nothing "$work/results" && fail "a commit that is not there was accepted"

# a new file counts, and a commit that is not there leaves the page as it is
papers keep "$work/results" mprgp || fail "keep again: $(cat "$work/out")"
echo 1 >"$work/src/world/new.c"
papers --check && fail "a new file was not found"
rm "$work/src/world/new.c"
for name in mprgp negrut; do
    sed -i '1s/.*/commit 00000000/' "$work/bench/results/papers/$name.md"
    sed -i "s|\(papers/$name.md) of commit \)[0-9a-f]*|\100000000|" "$work"/docs/papers/*.md
done
papers --check || fail "results of unknown commits: $(cat "$work/out")"
[ "$(grep -c "00000000 is not known here" "$work/out")" -ge 2 ] || fail "results of unknown commits are said to be checked: $(cat "$work/out")"

[ $failures -eq 0 ] && echo "paper_tables: passed"
[ $failures -eq 0 ]
