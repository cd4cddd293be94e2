#!/bin/sh
# The files of a run on several ranks are those of one rank byte for byte: frames, tables, saved states, final positions; also
# after a resume on another number, or from the older checkpoint if the newer is damaged. A full disk ends the run on all ranks and leaves the checkpoint before.
set -u
failures=0
rm -rf cli_ranks_files.work
mkdir cli_ranks_files.work
cd cli_ranks_files.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# ---- worlds ----

cat >heap.json <<'END'
{
    "step": 0.004, "until": 0.08, "every": 0.02,
    "solver": {"name": "apgd", "tolerance": 1e-3},
    "shapes": {"brick": {"kind": "box", "half": [0.06, 0.05, 0.04]}},
    "bodies": [
        {"shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"radius": 0.05, "density": 2000, "count": 900, "velocity": [0.3, 0, -2], "force": [0, 0.5, 0],
         "lattice": {"lo": [-0.6, -0.6, 0], "cells": [11, 11, 0], "spacing": 0.11, "jitter": 0.9}},
        {"shape": "brick", "density": 2000, "count": 300, "velocity": [0, 0, -3],
         "lattice": {"lo": [-0.7, -0.7, 0.95], "cells": [8, 8, 0], "spacing": 0.19}}
    ]
}
END
# Bodies come and go: slots are used again on one rank.
cat >stream.json <<'END'
{
    "step": 0.004, "until": 0.32, "every": 0.04,
    "solver": {"name": "apgd", "tolerance": 1e-3},
    "bodies": [
        {"radius": 0.05, "density": 2000, "count": 500, "velocity": [0.3, 0, -4],
         "lattice": {"lo": [-0.5, -0.5, 0.1], "cells": [9, 9, 0], "spacing": 0.11, "jitter": 0.9}},
        {"radius": 0.04, "density": 2000, "count": 300, "time": 0.1, "velocity": [0, 0, -4],
         "lattice": {"lo": [-0.5, -0.5, 2], "cells": [9, 9, 0], "spacing": 0.11}}
    ],
    "emitters": [{"lo": [-0.5, -0.5, 1.3], "hi": [0.5, 0.5, 1.7], "rate": 3000, "count": 700,
                  "radius": {"min": 0.02, "max": 0.04}, "density": 2000, "velocity": [0, 0, -3]}],
    "probes": [{"name": "disc", "plane": {"at": [0, 0, 0.4], "normal": [0, 0, -1], "radius": 0.4}}],
    "sinks": [{"below": 0}]
}
END
# Two layers fall asleep; a ball that arrives later wakes some of them.
cat >sleep.json <<'END'
{
    "step": 0.004, "until": 0.48, "every": 0.08,
    "solver": {"name": "apgd", "tolerance": 1e-3},
    "sleep": {"speed": 0.1, "steps": 20},
    "bodies": [
        {"shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"radius": 0.05, "density": 2000, "count": 600,
         "lattice": {"lo": [-1.5, -1, 0], "cells": [30, 20, 0], "spacing": 0.102}},
        {"radius": 0.1, "density": 2000, "time": 0.3, "at": [0.11, 0.1, 0.25], "velocity": [0, 0, -3]}
    ]
}
END
SCENES=$TALUS_SOURCE_DIR/scenes

# run RANKS OUT SCENE ARGS...
run() {
    ranks=$1 out=$2 scene=$3
    shift 3
    "$TALUS" run "$scene" --ranks "$ranks" --threads 1 --out "$out" --quiet --json --checkpoint-every 0 \
        --final-positions "$out.txt" "$@" >"$out.json" 2>"$out.err" || fail "$out: $(cat "$out.err")"
}

# number FILE OFFSET: a number of 64 bits in a checkpoint
number() { od -An -j"$2" -N8 -tu8 "$1" | tr -d ' '; }

# newest DIR: its last checkpoint
newest() {
    if [ "$(number "$1/checkpoint-a.talus" 16)" -gt "$(number "$1/checkpoint-b.talus" 16)" ]; then
        echo "$1/checkpoint-a.talus"
    else
        echo "$1/checkpoint-b.talus"
    fi
}

# state FILE: the saved world of a checkpoint, without note and list of files, which have measured seconds
state() { tail -c "$(number "$1" 56)" "$1"; }

# table FILE: without the measured seconds at the end of a row
table() {
    case $1 in
    */steps.csv) cut -d, -f1-44 "$1" ;;
    *) cat "$1" ;;
    esac
}


# same OUT ONE: the files are the same
same() {
    cmp "$1/frames.talus" "$2/frames.talus" || fail "$1: other frames"
    cmp "$1.txt" "$2.txt" || fail "$1: other final positions"
    for file in steps.csv probes.csv flows.csv joints.csv; do
        [ -e "$2/$file" ] || [ -e "$1/$file" ] || continue
        table "$1/$file" >a.csv
        table "$2/$file" | cmp a.csv - || fail "$1: other $file"
    done
    state "$(newest "$1")" >a.state
    state "$(newest "$2")" | cmp a.state - || fail "$1: another state"
}

# compare NAME SCENE ARGS...
compare() {
    name=$1
    shift
    run 1 "$name-1" "$@"
    for ranks in 2 3 5; do
        run $ranks "$name-$ranks" "$@"
        same "$name-$ranks" "$name-1"
    done
}

compare heap heap.json
compare stream stream.json
compare sleep sleep.json
compare joints "$SCENES/chain-bridge.json" --until 0.02 --every 0.005
compare driven "$SCENES/tablet-drum.json" --set bodies=300 --until 0.02 --every 0.01
compare cohesion "$SCENES/cohesive-column.json" --set bodies=400 --until 0.01 --every 0.002

# The worlds are what they are meant to be.
[ "$(sed -n '$p' stream-1/steps.csv | cut -d, -f3)" -lt 1300 ] || fail "no sink has taken bodies"
[ "$(awk -F, '$3 ~ /disc/ { n = $7 } END { print n }' stream-1/flows.csv)" -gt 50 ] || fail "nothing crosses the disc"
awk -F, 'NR > 1 { mass[$3] += $6; if (mass[$3] != $8) exit 1 }' stream-1/flows.csv || fail "totals are not the sums of the steps"
# asleep FILE: the column of sleeping bodies
asleep() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "asleep") c = i; next } { print $c }' "$1"; }
most=$(asleep sleep-1/steps.csv | sort -n | tail -n 1)
[ "$most" -gt 300 ] || fail "bodies do not fall asleep"
[ "$(asleep sleep-1/steps.csv | tail -n 1)" -lt "$most" ] || fail "bodies do not wake"
[ -s joints-1/joints.csv ] || fail "there are no joints"

# ---- resumed on another number ----

# resume NAME STOP END
resume() {
    run 3 "$1-r" "$1.json" --until "$2"
    "$TALUS" run --resume "$1-r" --ranks 2 --until "$3" --checkpoint-every 0 --quiet --final-positions "$1-r.txt" \
        2>>"$1-r.err" || fail "resume of $1: $(cat "$1-r.err")"
    same "$1-r" "$1-1"
}

resume heap 0.04 0.08
resume stream 0.16 0.32
resume sleep 0.4 0.48

# ---- damaged checkpoints: all ranks go on from the other one, or end with a word ----

damage() { printf 'damaged' | dd of="$1" bs=1 seek=20000 conv=notrunc 2>/dev/null; }

cp -r heap-3 damaged
damage "$(newest damaged)"
"$TALUS" run --resume damaged --ranks 3 --checkpoint-every 0 --quiet --final-positions damaged.txt 2>damaged.err ||
    fail "a damaged checkpoint: $(cat damaged.err)"
[ "$(grep -c 'damaged: the content does not match its checksum; the other one is used' damaged.err)" -eq 1 ] ||
    fail "a damaged checkpoint: $(cat damaged.err)"
same damaged heap-1
damage damaged/checkpoint-a.talus
damage damaged/checkpoint-b.talus
"$TALUS" run --resume damaged --ranks 3 --quiet 2>damaged.err && fail "damaged checkpoints were taken"
[ "$(grep -c '' damaged.err)" -eq 1 ] && grep -q 'no usable checkpoint: .*; ' damaged.err ||
    fail "damaged checkpoints: $(cat damaged.err)"

# ---- a full disk: files may not exceed a limit (a sanitizer's own files could) ----

# The first checkpoints fit, those of a heap that has come down do not.
if [ -z "${TALUS_SANITIZE:-}" ]; then
    run 3 short heap.json --until 0.004
    small=$(wc -c <short/checkpoint-a.talus) large=$(wc -c <heap-1/checkpoint-a.talus)
    [ "$large" -gt $((small + 50000)) ] || fail "checkpoints do not grow: $small, $large bytes"
    (
        trap '' XFSZ
        ulimit -f $(((small + large) / 1024))
        exec "$TALUS" run heap.json --ranks 3 --threads 1 --out full --quiet --checkpoint-every 0
    ) 2>full.err
    [ $? -eq 1 ] || fail "a full disk was not noticed"
    grep -q "checkpoint-.\.talus: cannot write: File too large" full.err || fail "a full disk: $(cat full.err)"
    grep -q "the last good checkpoint is at .*: talus run --resume full" full.err || fail "a full disk: $(cat full.err)"
    [ ! -e full/checkpoint-a.talus.tmp ] && [ ! -e full/checkpoint-b.talus.tmp ] || fail "a full disk: a part is left"
    "$TALUS" run --resume full --ranks 2 --quiet --checkpoint-every 0 --final-positions full.txt 2>full.err ||
        fail "after a full disk: $(cat full.err)"
    same full heap-1
fi

[ $failures -eq 0 ] && echo "ok"
exit $failures
