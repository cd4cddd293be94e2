#!/bin/sh
# `talus run --seed`: another sample of a scene, stored with the run and kept by --resume.
set -u
failures=0
rm -rf cli_seed.work
mkdir cli_seed.work
cd cli_seed.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

base="settle-box --set bodies=60 --threads 1"
small="$base --until 0.05"

# value KEY FILE: of a number or text in JSON
value() { sed -n "s/.*\"$1\": *\"\{0,1\}\([0-9a-f]*\).*/\1/p" "$2"; }

for seed in 0 1 2; do
    "$TALUS" run $small --seed $seed --no-out --quiet --json >seed$seed.json || fail "--seed $seed"
    [ "$(value seed seed$seed.json)" = $seed ] || fail "--json says seed $(value seed seed$seed.json)"
done
"$TALUS" run $small --no-out --quiet --json >none.json || fail "without --seed"
"$TALUS" run $small --set seed=1 --no-out --quiet --json >set.json || fail "--set seed=1"
[ "$(value hash none.json)" = "$(value hash seed0.json)" ] || fail "--seed 0 is another sample"
[ "$(value hash none.json)" != "$(value hash seed1.json)" ] || fail "--seed 1 changes nothing"
[ "$(value hash seed2.json)" != "$(value hash seed1.json)" ] || fail "--seed 2 is --seed 1"
[ "$(value hash set.json)" = "$(value hash seed1.json)" ] || fail "--seed 1 is not --set seed=1"

# stored with the run, and kept
"$TALUS" run $base --seed 1 --until 0.02 --out run --quiet || fail "run"
grep -q '"seed": 1' run/run.json || fail "run.json: $(cat run/run.json)"
grep -aq '^set .seed=1$' run/checkpoint-a.talus || fail "the checkpoint lacks the seed"
"$TALUS" run --resume run --until 0.05 --quiet --json >resumed.json || fail "--resume"
[ "$(value seed resumed.json)" = 1 ] || fail "--resume has seed $(value seed resumed.json)"
[ "$(value hash resumed.json)" = "$(value hash seed1.json)" ] || fail "--resume ends elsewhere"
grep -q '"seed": 1' run/run.json || fail "run.json after --resume: $(cat run/run.json)"

"$TALUS" run --resume run --seed 2 2>error && fail "--resume with --seed"
grep -q 'come from the checkpoint' error || fail "--resume with --seed: $(cat error)"
"$TALUS" run $small --no-out --seed -1 2>error && fail "--seed -1"
grep -q 'expected a whole number' error || fail "--seed -1: $(cat error)"

[ "$failures" = 0 ] || exit 1
