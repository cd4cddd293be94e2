#!/bin/sh
# How the viewer reads frames, from a file and from a server, and its parts that need no browser, with Node alone; skipped without Node or without
# apps/viewer/node_modules (./dev page).
set -u
if ! command -v node >/dev/null 2>&1; then
    echo "skipped: no Node here"
    exit 77
fi
for test in data data_served parts; do
    node "$TALUS_SOURCE_DIR/tests/viewer/$test.mjs" || exit $?
done
