#!/bin/sh
# "dissipation": true in a scene: one number from checkpoint, tables and exact frames, for any number of threads and ranks and
# after a resume; the sum of steps.csv; what talus measure makes of it; what is refused.
set -u
failures=0
rm -rf cli_dissipation.work
mkdir cli_dissipation.work
cd cli_dissipation.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(head -c 2000 "$1")"; }
# value FILE COLUMN: of the last row
value() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } { x = $at } END { print x }' "$1"; }
# column FILE COLUMN: of all rows
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' "$1"; }
# near A B TOLERANCE WHAT
near() {
    awk -v a="$1" -v b="$2" -v tol="$3" 'BEGIN { d = a - b; exit !(a != "" && b != "" && d <= tol && -d <= tol) }' ||
        fail "$4: $1, expected $2"
}
# settle DIR ARGS...
settle() {
    "$TALUS" run settle-box --set bodies=120 --set dissipation=true --every 0.1 --out "$@" >log 2>&1 || fail "run $*: $(cat log)"
}

settle one --until 0.4 --frames csv,exact --threads 1
for source in checkpoint tables frames; do
    "$TALUS" measure one --at 0.4 --source $source -o $source.csv >out 2>&1 || fail "$source: $(cat out)"
done
near "$(value tables.csv dissipated)" "$(value checkpoint.csv dissipated)" 0 "tables and checkpoint"
near "$(value frames.csv dissipated)" "$(value checkpoint.csv dissipated)" 0 "frames and checkpoint"
cmp tables.csv frames.csv || fail "tables and exact frames give other powers"

# the ledger; gravity's part of the last step is h M g v / 2
ledger=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { s -= $at["friction"] + $at["impact"] + $at["stabilisation"] + $at["gravity_error"]; n = NR - 1; t = $1 }
    END { printf "%.15g %.15g\n", s, t / n }' one/steps.csv)
expected=$(echo "$ledger $(value tables.csv mass) $(value tables.csv velocity_z)" |
    awk '{ printf "%.15g", $1 + 0.5 * $2 * $3 * 9.81 * $4 }')
near "$(value tables.csv dissipated)" "$expected" 1e-9 "the sum of steps.csv"

# powers: means since the state before; over the box they are those of the bodies
"$TALUS" measure one --every 0.1 -o rows.csv >out 2>&1 || fail "rows: $(cat out)"
near "$(column rows.csv dissipation | awk '{ s += 0.1 * $1 } END { printf "%.15g", s }')" "$(value rows.csv dissipated)" 1e-9 \
    "the sum of powers times intervals"
"$TALUS" measure one --at 0.4 --source frames -f dissipation --box=-3:3,-3:3,-3:5 --grid 2,1,3 -o field.csv >out 2>&1 ||
    fail "field: $(cat out)"
near "$(column field.csv dissipation | awk '{ s += 48 * $1 } END { printf "%.15g", s }')" "$(value frames.csv dissipation)" 1e-8 \
    "the integral of the field"

# Rounded frames have energies to seven digits: the power of a time is that of exact frames.
settle rounded --until 0.4 --threads 1
"$TALUS" measure rounded --every 0.1 -o rounded.csv >out 2>&1 || fail "rounded: $(cat out)"
near "$(value rounded.csv dissipated)" "$(value rows.csv dissipated)" 1e-4 "rounded energies"
for row in 2 3 4; do
    near "$(column rounded.csv dissipation | sed -n ${row}p)" "$(column rows.csv dissipation | sed -n ${row}p)" 1e-3 "powers of rounded frames"
done
"$TALUS" measure rounded --at 0.4 -f dissipation --box=-3:3,-3:3,-3:5 --grid 2,1,3 -o rounded.csv >out 2>&1 || fail "rounded field: $(cat out)"
near "$(column rounded.csv dissipation | awk '{ s += 48 * $1 } END { printf "%.15g", s }')" "$(value frames.csv dissipation)" 1e-3 \
    "the integral of the field of rounded frames"

# A frame without energies, as of older versions, among others: neither it nor the next has a power. The third frame loses its
# exact part and its energies by names that readers skip.
cat >forget.py <<'END'
import struct, sys, zlib
path = sys.argv[1]
data, at, seen = bytearray(open(path, "rb").read()), 16, 0
while at + 40 <= len(data) and data[at:at + 4] == b"TCHK":
    kind, size = bytes(data[at + 4:at + 8]), struct.unpack_from("<Q", data, at + 8)[0]
    frames = seen
    seen += kind == b"FRAM"
    if frames == 2 and kind == b"EXAC":
        data[at + 4:at + 8] = b"NONE"
    if frames == 2 and kind == b"FRAM":
        arrays, head = struct.unpack_from("<I", data, at + 48)[0], at + 56
        for _ in range(arrays):
            if data[head] == 35:
                data[head] = 99
            head += 16 + (struct.unpack_from("<I", data, head + 12)[0] + 7) // 8 * 8
        payload = bytes(data[at + 40:at + 40 + size])
        struct.pack_into("<I", data, at + 36, zlib.crc32(payload, zlib.crc32(bytes(data[at:at + 36]))))
    at += 40 + (size + 7) // 8 * 8
open(path, "wb").write(data)
END
cp -r one mixed
if python3 forget.py mixed/frames.talus 2>/dev/null; then
    for from in 0.1 0.2; do
        "$TALUS" measure mixed --source frames --from $from -o mixed.csv >out 2>&1 || fail "mixed: $(cat out)"
        [ "$(column mixed.csv dissipation | tail -n 3 | head -n 2 | tr -d '\n')" = "" ] ||
            fail "powers after a frame without energies: $(column mixed.csv dissipation)"
        near "$(value mixed.csv dissipation)" "$(value rows.csv dissipation)" 0 "the power of two exact frames"
    done
    for options in "--at 0.3" "--at 0.2" "--from 0.2"; do
        # shellcheck disable=SC2086
        "$TALUS" measure mixed --source frames -f dissipation $options >out 2>err && fail "mixed frames have a field $options"
        contains err "dissipated energies, which lean frames and those of older versions lack"
    done
else
    echo "no python3: frames of older versions are not looked at"
fi

# the same bits
last=frames/bodies-000004.csv
settle two --until 0.4 --frames csv --threads 3
cmp one/$last two/$last || fail "three threads dissipate otherwise than one"
settle two --until 0.4 --frames csv --ranks 2 --threads 1
cmp one/$last two/$last || fail "two ranks dissipate otherwise than one"
settle two --until 0.2 --frames csv
"$TALUS" run --resume two --until 0.4 >log 2>&1 || fail "resume: $(cat log)"
cmp one/$last two/$last || fail "a resumed run dissipates otherwise"

# refused
"$TALUS" run settle-box --set bodies=20 --until 0.1 --every 0.1 --frames exact --out plain >log 2>&1 || fail "run: $(cat log)"
"$TALUS" measure plain -f dissipation >out 2>err && fail "a run that does not sum it was measured"
contains err '"dissipation": true in the scene'
"$TALUS" measure plain -o plain.csv >out 2>&1 || fail "plain: $(cat out)"
[ "$(value plain.csv dissipated)" = "" ] || fail "dissipated is $(value plain.csv dissipated) without being summed"
cat >probe.json <<'END'
{"step": 0.005, "until": 0.1, "dissipation": true, "bodies": [{"radius": 0.1, "at": [0, 0, 1]}],
 "probes": [{"name": "p", "region": {"lo": [-1, -1, 0], "hi": [1, 1, 2]}, "field": ["dissipation"], "width": 0.3}]}
END
"$TALUS" run probe.json --out probe >out 2>err && fail "a probe of dissipation went through"
contains err "a mean since the state before"
"$TALUS" run settle-box --set dissipation=true --set impacts=propagating --out impacts >out 2>err &&
    fail "impacts that propagate went through"
contains err "dissipation"

[ "$failures" = 0 ] || exit 1
echo "ok"
