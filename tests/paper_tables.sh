#!/bin/sh
# The tables of docs/papers are those of the kept results; a figure that was changed in a page is found.
set -u
cd "$TALUS_SOURCE_DIR" || exit 1
failures=0
sh bench/papers.sh --check || {
    echo "FAILED: run bench/papers.sh"
    failures=1
}

# on a copy: plant a stale figure in the first table row of a page that comes from results
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bench/results" "$work/docs"
cp bench/papers.sh "$work/bench/"
cp -r bench/results/papers "$work/bench/results/"
cp -r docs/papers "$work/docs/"
page=$(grep -l '^<!-- table: ' "$work"/docs/papers/*.md | head -1)
[ -n "$page" ] || {
    echo "FAILED: no page has a table from results"
    exit 1
}
sh "$work/bench/papers.sh" --check >"$work/out" 2>&1 || {
    echo "FAILED: the copy: $(cat "$work/out")"
    failures=1
}
awk '/^<!-- table: / { inside = 1 }
    inside && /^\|.*[0-9]/ && !done { sub(/[0-9]/, "7777"); done = 1 }
    { print }' "$page" >"$work/planted" && cp "$work/planted" "$page"
sh "$work/bench/papers.sh" --check >"$work/out" 2>&1 && {
    echo "FAILED: a planted figure was not found"
    failures=1
}
grep -q 7777 "$work/out" || {
    echo "FAILED: the planted figure is not shown: $(head -c 1000 "$work/out")"
    failures=1
}
[ $failures -eq 0 ] && echo "paper_tables: passed"
[ $failures -eq 0 ]
