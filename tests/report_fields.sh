#!/bin/sh
# talus measure --report in Chromium: pages of profiles, maps, histograms and bulk figures draw themselves without an error.
set -u
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

chromium=
for name in chromium chromium-browser google-chrome; do
    command -v $name >/dev/null 2>&1 && chromium=$(command -v $name) && break
done
if [ -z "$chromium" ]; then
    echo "skipped: no Chromium here to open the pages with"
    exit 77
fi

rm -rf report_fields.work
mkdir report_fields.work
cd report_fields.work || exit 1
"$TALUS" run settle-box --set bodies=60 --until 0.3 --every 0.1 --frames exact --out run --quiet || exit 1

# page NAME ARGS...: measures, and writes the page after its script has run to NAME.dom
page() {
    name=$1
    shift
    "$TALUS" measure run --source frames --report "$name.html" "$@" >out 2>err || fail "$name: $(cat err)"
    "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --virtual-time-budget=4000 \
        --window-size=1200,900 --dump-dom "file://$PWD/$name.html" >"$name.dom" 2>/dev/null
    grep -q 'data-ready="1"' "$name.dom" || fail "$name: the page did not get ready"
    grep -q 'data-errors' "$name.dom" && fail "$name: errors on the page"
}
# count NAME TEXT NUMBER
count() {
    got=$(grep -o "$2" "$1.dom" | wc -l)
    [ "$got" -eq "$3" ] || fail "$1: $got times $2, expected $3"
}

page maps -f solid -f velocity --grid 5,1,8 --every 0.1
count maps '<figure class="map"' 4
count maps '<image x="[0-9]' 8 # a plane and its scale each
page forces --histogram force --at 0.3
count forces 'normal force over its mean' 2 # in the data and as the label
"$TALUS" measure run --source frames --every 0.1 --report bulk >out 2>err || fail "bulk: $(cat err)"
grep -q '"title": "coordination"' bulk/report.html || fail "bulk: no coordination"
[ -s out ] && fail "a table beside a report without -o"

[ "$failures" = 0 ] || exit 1
