#!/bin/sh
# The report page in Chromium. With Node and apps/report/node_modules (./dev page) every check of
# tests/report/browser.mjs; without them what --dump-dom shows of the pages that test_page writes;
# without Chromium the test is skipped.
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

rm -rf report_page.work
mkdir report_page.work
cd report_page.work || exit 1
"$TALUS_BUILD_DIR/tests/test_page" >test_page.log 2>&1 || {
    cat test_page.log
    echo "FAILED: test_page"
    exit 1
}

if command -v node >/dev/null 2>&1 && [ -d "$TALUS_SOURCE_DIR/apps/report/node_modules/playwright-core" ]; then
    exec node "$TALUS_SOURCE_DIR/tests/report/browser.mjs" "$chromium" .
fi

echo "no Node or no apps/report/node_modules (./dev page): a few checks alone"
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# dom DIR: the page after its script has run, in dom; what it said on the console, in log
dom() {
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir="$PWD/profile-$1" --enable-logging=stderr --dump-dom \
        "file://$PWD/$1/report.html" >dom 2>log || fail "$1: chromium: $(tail -n 3 log)"
    grep -q 'CONSOLE' log && fail "$1: console: $(grep CONSOLE log)"
    grep -q '<html[^>]* data-ready="1"' dom || fail "$1: not ready"
    grep -q '<html[^>]* data-errors' dom && fail "$1: the page reports errors"
}

# The page's own part of dom, without the script and the data that follow it.
count() { sed '/id="licences"/,$d' dom | grep -o "$1" | wc -l; }

dom page-empty
dom page-hostile
[ "$(count '<tr class="')" -eq 3 ] || fail "page-hostile: $(count '<tr class="') runs, expected 3"
[ "$(count '<canvas')" -eq 1 ] || fail "page-hostile: $(count '<canvas') plots, expected 1"
[ "$(count '<b>x')" -eq 0 ] || fail "page-hostile: markup from the data"
[ $failures -eq 0 ] && echo "report page: all checks passed"
exit $((failures > 0))
