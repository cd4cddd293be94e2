#!/bin/sh
# Probes of fields: a run measures as it goes on what `talus measure` measures of its states, also after a resume and on ranks;
# wrong keys are refused.
set -u
failures=0
rm -rf cli_field_probes.work
mkdir cli_field_probes.work
cd cli_field_probes.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
run() { "$TALUS" run bed.json --threads 1 --quiet "$@" 2>err || fail "run $*: $(cat err)"; }

# scene KEYS: bed.json with this in a probe
scene() {
    cat >bed.json <<END
{"step": 0.004, "until": 0.3, "period": {"x": [0, 1], "y": [-0.5, 0.5]},
 "bodies": [{"shape": {"kind": "plane"}, "at": [0, 0, 0], "name": "floor"},
            {"radius": {"mean": 0.07, "spread": 0.2}, "count": 60, "velocity": [1, 0, -2], "fill": {"lo": [0, -0.5, 0], "hi": [1, 0.5, 0.9]}}],
 "probes": [{"name": "floor", "body": "floor"}, {"name": "mid", $1}]}
END
}
region='"region": {"lo": [0, -0.5, 0.1], "hi": [1, 0.5, 0.5]}'

# ---- the numbers of talus measure ----
scene "$region, \"field\": [\"stress\", \"density\", \"velocity\"], \"grid\": [2, 1, 4], \"width\": 0.2, \"every\": 0.1},
    {\"name\": \"all\", \"region\": {\"lo\": [-1, -1, 0], \"hi\": [2, 1, 3]}, \"field\": [\"bulk\"], \"every\": 0.1},
    {\"name\": \"steps\", $region, \"field\": [\"solid\"], \"width\": 0.2"
run --every 0.1 --frames exact --out whole
"$TALUS" measure whole --source frames --from 0.05 -f stress -f density -f velocity --box=0:1,-0.5:0.5,0.1:0.5 \
    --grid 2,1,4 --width 0.2 -o mid.csv >out 2>&1 || fail "measure: $(cat out)"
cmp mid.csv whole/fields-mid.csv || fail "fields differ from talus measure"
"$TALUS" measure whole --source frames --from 0.05 --box=-1:2,-1:1,0:3 -o all.csv >out 2>&1 || fail "measure: $(cat out)"
cmp all.csv whole/fields-all.csv || fail "bulk figures differ from talus measure"
[ "$(wc -l <all.csv)" = 4 ] || fail "rows: $(cat all.csv)"
[ "$(wc -l <whole/fields-steps.csv)" = "$(wc -l <whole/steps.csv)" ] || fail "a row for each step: $(wc -l whole/*.csv)"
grep -q ',"floor",' whole/probes.csv || fail "the probe of forces is gone"
grep -q ',"mid",' whole/probes.csv && fail "a probe of fields is one of forces, too"

# ---- resume, ranks, and a new run in the same place ----
run --every 0.1 --out halves --until 0.17
"$TALUS" run --resume halves --until 0.3 --quiet 2>err || fail "resume: $(cat err)"
run --every 0.1 --ranks 2 --out ranks
for table in mid all steps; do
    cmp whole/fields-$table.csv halves/fields-$table.csv || fail "$table: a resumed run has other rows"
    cmp whole/fields-$table.csv ranks/fields-$table.csv || fail "$table: two ranks have other rows"
done
rm ranks/fields-mid.csv
"$TALUS" run --resume ranks --ranks 1 --until 0.32 --quiet 2>err && fail "a resume without a table"
grep -q 'fields-mid.csv (missing)' err || fail "a missing table: $(cat err)"
scene "$region"
run --out whole --until 0.02
ls whole/fields-* 2>/dev/null && fail "a new run left tables of fields"

# ---- refusals ----
# refused KEYS TEXT
refused() {
    scene "$1"
    "$TALUS" run bed.json --no-out --quiet 2>err && fail "accepted: $1"
    grep -qF -- "$2" err || fail "'$2' is not in: $(cat err)"
}
refused "$region, \"field\": [\"densty\"], \"width\": 0.2" "'densty' is no field"
refused "$region, \"field\": [\"solid\", \"solid\"], \"width\": 0.2" "'solid' is given twice"
refused "$region, \"field\": [\"solid\"]" "half width of their kernel"
refused "$region, \"every\": 0.1" 'expected the key `field` beside it'
refused '"body": "floor", "field": ["bulk"]' 'expected `region` in place of `body`'
refused "$region, \"field\": [\"bulk\"]}, {\"name\": \"a/b\", $region, \"field\": [\"bulk\"]" "letters, digits, - and _"

[ "$failures" = 0 ] || exit 1
