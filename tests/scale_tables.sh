#!/bin/sh
# The tables of docs/explanation/scale.md are those that the cost model makes from the kept constants and runs.
set -u
TABLES=$TALUS_BUILD_DIR/talus_bench_scale_tables
[ -x "$TABLES" ] || {
    echo "skipped: no $TABLES"
    exit 77
}
export TABLES
sh "$TALUS_SOURCE_DIR/bench/scale_tables.sh" --check || {
    echo "FAILED: run bench/scale_tables.sh"
    exit 1
}
echo "scale_tables: passed"
