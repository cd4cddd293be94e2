#!/bin/sh
# Puts the tables of the cost model, from the constants and runs in bench/results/2026-11-19-scale.md, into
# docs/explanation/scale.md:
#     scale_tables.sh            writes the page
#     scale_tables.sh --check    fails if the page has other tables
# TABLES names the program; default build/release/talus_bench_scale_tables.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
page=$root/docs/explanation/scale.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${TABLES:-$root/build/release/talus_bench_scale_tables}" "$root/bench/results/2026-11-19-scale.md" >"$work/tables.md"
awk -v tables="$work/tables.md" '
    /^<!-- tables: / { print; print ""; while ((getline line < tables) > 0) print line; print ""; skip = 1; next }
    /^<!-- end of tables -->/ { skip = 0 }
    !skip { print }' "$page" >"$work/page.md"
if [ "${1:-}" = --check ]; then
    diff -u "$page" "$work/page.md"
else
    cp "$work/page.md" "$page"
fi
