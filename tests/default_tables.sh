#!/bin/sh
# The tables of docs/explanation/default-law.md are those that `talus bench default tables` makes from the stored figures.
set -u
sh "$TALUS_SOURCE_DIR/bench/default_tables.sh" --check || {
    echo "FAILED: run bench/default_tables.sh"
    exit 1
}
echo "default_tables: passed"
