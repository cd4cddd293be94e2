#!/bin/sh
# `talus run SCENE --from DIR[@T]`: a run that starts with the bodies of another one, is stopped and resumed.
set -u
failures=0
rm -rf cli_from.work
mkdir -p cli_from.work/scenes
cd cli_from.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
hash_of() { sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p' "$1"; }

"$TALUS" run settle-box --set bodies=100 --until 0.3 --out bed --threads 1 --quiet || fail "the bed"
cat >scenes/next.json <<'END'
{"from": "../bed", "step": 0.004, "until": 0.1, "bodies": [{"radius": 0.1, "at": [0, 0, 4]}]}
END
cat >scenes/plain.json <<'END'
{"step": 0.004, "until": 0.1, "bodies": [{"radius": 0.1, "at": [0, 0, 4]}]}
END
run() { "$TALUS" run "$@" --threads 1 --quiet --json; }

run scenes/next.json --no-out >next.json || fail "key from"
grep -q '"bodies": 106' next.json || fail "bodies: $(cat next.json)"
run scenes/plain.json --from bed --no-out >option.json || fail "--from"
run scenes/plain.json --from bed@0.3 --out out --until 0.04 >/dev/null || fail "--from bed@0.3"
run --resume out --until 0.1 >resumed.json || fail "--resume"
[ -n "$(hash_of next.json)" ] || fail "no hash"
for found in option resumed; do
    [ "$(hash_of $found.json)" = "$(hash_of next.json)" ] || fail "$found: another state"
done

run scenes/plain.json --from bed@0.1 --no-out 2>error && fail "a time before the run's checkpoint"
grep -q 'no checkpoint at or before t = 0.1 s; there is t = 0.3 s' error || fail "$(cat error)"
run scenes/plain.json --from nowhere --no-out 2>error && fail "a run that is not there"
grep -q 'nowhere: there is no such directory' error || fail "$(cat error)"
mkdir empty
run scenes/plain.json --from empty --no-out 2>error && fail "a directory without a run"
grep -q 'empty: holds neither checkpoint-a' error || fail "$(cat error)"
run --resume out --from bed 2>error && fail "--resume with --from"
grep -q 'come from the checkpoint' error || fail "$(cat error)"

# ---- what is refused is said, not that the checkpoint were unusable ----
cat >scenes/refused.json <<'END'
{"from": "../bed", "step": 0.004, "until": 0.1, "dissipation": true, "impacts": "propagating", "bodies": []}
END
run scenes/refused.json --no-out 2>error && fail "impacts with dissipation"
grep -q 'from: dissipation: it is not summed with impacts that propagate' error || fail "$(cat error)"
grep -q checkpoint error && fail "the checkpoint is blamed: $(cat error)"
echo '{"step": 0.001, "until": 0.002, "impacts": "propagating", "bodies": [{"radius": 0.05, "at": [1, 1, 1]}]}' >struck.json
run struck.json --out struck >/dev/null || fail "a run with impacts that propagate"
run --resume struck --ranks 2 --until 0.01 2>error && fail "impacts that propagate on two ranks"
grep -q '^talus: impacts: several ranks have simultaneous impacts only' error || fail "$(cat error)"

cat >cell.json <<'END'
{"step": 0.001, "until": 0.01, "gravity": [0, 0, 0], "solver": {"reference_speed": 0.1},
 "period": {"x": [0, 1], "y": [0, 1], "z": [0, 1]}, "cell": {"rate": {"xx": 0.5}},
 "bodies": [{"radius": 0.05, "at": [0.5, 0.5, 0.5]}]}
END
run cell.json --out cell --until 0.005 --frames exact >/dev/null || fail "the cell"

# ---- other periods than the earlier run had, in the end longer along x by 0.25 % ----
# periods KEY START EXPECTED: starts there with this key; expects a warning with this text, or none
periods() {
    echo '{"step": 0.001, "until": 0.002, "gravity": [0, 0, 0], "solver": {"reference_speed": 0.1}, "bodies": [{"radius": 0.05, "at": [2, 2, 2]}]'"$1"'}' >periods.json
    run periods.json --from "$2" --no-out >/dev/null 2>error || fail "start with $1: $(cat error)"
    if [ -z "$3" ]; then
        [ ! -s error ] || fail "periods that are the same: $(cat error)"
    else
        [ "$(grep -c 'periods of the earlier state' error)" = 1 ] && grep -qF "$3" error || fail "start with $1: $(cat error)"
    fi
}
same='"x": [0, 1], "y": [0, 1], "z": [0, 1]'
periods ", \"period\": {$same}" cell@0 ""
periods "" cell@0 "z, 1 m) are not those of this world (x, none; y, none; z, none)"
periods "" cell@0 "as before: \"period\": {$same}"
periods ", \"period\": {$same}" cell "(x, 1.0025025 m) are not those of this world (x, 1 m)"
echo '{"step": 0.001, "until": 0.002, "bodies": [{"radius": 0.05, "at": [1, 1, 1]}]}' >single.json
run single.json --out single >/dev/null || fail "a run without periods"
periods ', "period": {"x": [-4, 4]}' single 'state (x, none) are not those of this world (x, 8 m)'

# ---- exact frames: any of their times, the same bits on any number of ranks ----
"$TALUS" run settle-box --set bodies=100 --until 0.3 --every 0.1 --frames exact --out exact --threads 1 --quiet || fail "exact frames"
run scenes/plain.json --from exact@0.1 --no-out >early.json || fail "--from exact@0.1: $(cat early.json)"
run scenes/plain.json --from exact@0.15 --ranks 2 --no-out >ranks.json || fail "--from on ranks"
[ "$(hash_of early.json)" = "$(hash_of ranks.json)" ] || fail "another state on two ranks"
[ "$(hash_of early.json)" = "$(hash_of next.json)" ] && fail "the state of 0.1 s is that of 0.3 s"
run scenes/plain.json --from exact@0.3 --no-out >late.json || fail "--from exact@0.3"
[ "$(hash_of late.json)" = "$(hash_of next.json)" ] || fail "at 0.3 s the checkpoint, with its impulses, comes first"
for n in 1 2; do
    "$TALUS" run settle-box --set bodies=100 --until 0.1 --every 0.1 --frames exact --ranks $n --out r$n --threads 1 --quiet || fail "$n ranks"
done
cmp r1/frames.talus r2/frames.talus || fail "exact frames of two ranks have other bytes"

[ "$failures" = 0 ] || exit 1
