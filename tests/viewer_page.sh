#!/bin/sh
# The viewer's page in Chromium: exported pages from file:// and talus view, live runs included. With Node and
# apps/viewer/node_modules (./dev page) every check of tests/viewer; without them what --dump-dom shows of an
# exported page; without Chromium the test is skipped.
set -u

chromium=
for name in chromium chromium-browser google-chrome; do
    if command -v $name >/dev/null 2>&1; then
        chromium=$(command -v $name)
        break
    fi
done
if [ -z "$chromium" ]; then
    echo "skipped: no Chromium here to open the page with"
    exit 77
fi

rm -rf viewer_page.work
mkdir viewer_page.work
cd viewer_page.work || exit 1
"$TALUS" run hourglass --set bodies=200 --until 1 --every 0.1 --out run --quiet || {
    echo "FAILED: talus run"
    exit 1
}
"$TALUS" export run -o page.html >export.log 2>&1 || {
    echo "FAILED: talus export: $(cat export.log)"
    exit 1
}

tests=$TALUS_SOURCE_DIR/tests/viewer
if command -v node >/dev/null 2>&1 && [ -d "$TALUS_SOURCE_DIR/apps/viewer/node_modules/playwright-core" ]; then
    failed=0
    # The page is the same in every build; a sanitized server is worth another look.
    if [ -z "$TALUS_SANITIZE" ]; then
        node "$tests/browser.mjs" "$chromium" page.html 201 11 || failed=1
    fi
    "$TALUS" view run >view.log 2>&1 &
    view=$!
    sleep 1
    if kill $view 2>/dev/null; then
        wait $view
        node "$tests/served.mjs" "$chromium" "$TALUS" run || failed=1
    else
        echo "no talus view in this build, its page not looked at: $(cat view.log)"
    fi
    exit $failed
fi

echo "no Node or no apps/viewer/node_modules (./dev page): a few checks alone"
timeout 120 "$chromium" --headless --no-sandbox --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --use-angle=swiftshader --enable-unsafe-swiftshader \
    --virtual-time-budget=60000 --user-data-dir="$PWD/profile" --enable-logging=stderr --dump-dom \
    "file://$PWD/page.html" >dom 2>log || {
    echo "FAILED: chromium: $(tail -n 3 log)"
    exit 1
}
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
grep -q 'CONSOLE' log && fail "console: $(grep CONSOLE log)"
grep -q '<html[^>]* data-errors' dom && fail "the page reports errors"
# Whether a picture was drawn in time depends on the machine; that a frame was decoded and shown does not.
grep -q '200 bodies' dom || fail "the page does not say how many bodies there are"
[ $failures -eq 0 ] && echo "viewer page: all checks passed"
exit $((failures > 0))
