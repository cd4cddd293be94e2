#!/bin/sh
# What the viewer draws, in Chromium with WebGL in software; skipped without Chromium, Node or
# apps/viewer/node_modules (./dev page).
set -u
chromium=
for name in chromium chromium-browser google-chrome; do
    if command -v $name >/dev/null 2>&1; then
        chromium=$(command -v $name)
        break
    fi
done
if [ -z "$chromium" ] || ! command -v node >/dev/null 2>&1; then
    echo "skipped: no Chromium or no Node here"
    exit 77
fi
exec node "$TALUS_SOURCE_DIR/tests/viewer/engine.mjs" "$chromium"
