#!/bin/sh
# Puts the tables of the figures in bench/results/default/cases.csv into docs/explanation/default-law.md:
#     default_tables.sh            writes the page
#     default_tables.sh --check    fails if the page has other tables
# TALUS names the program; default build/release/talus.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd -P)
talus=${TALUS:-$root/build/release/talus}
page=$root/docs/explanation/default-law.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$root/bench/results/default/cases.csv" "$work/cases.csv"
"$talus" bench default tables --quiet --out "$work"
awk -v tables="$work/tables.md" '
    /^<!-- tables: / { print; print ""; while ((getline line < tables) > 0) print line; print ""; skip = 1; next }
    /^<!-- end of tables -->/ { skip = 0 }
    !skip { print }' "$page" >"$work/page.md"
if [ "${1:-}" = --check ]; then
    diff -u "$page" "$work/page.md"
else
    cp "$work/page.md" "$page"
fi
