#!/bin/sh
# talus run --ranks and under mpirun: frames, tables and hash are those of one rank, also after SIGTERM, or after a process
# has been killed, and a resume with another number.
set -u
failures=0
rm -rf cli_ranks.work
mkdir cli_ranks.work
cd cli_ranks.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

cat >heap.json <<'END'
{
    "step": 0.004, "until": 0.4, "every": 0.1,
    "solver": {"name": "apgd", "tolerance": 1e-3},
    "bodies": [
        {"shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"radius": 0.05, "density": 2000, "count": 700, "velocity": [0.3, 0, -1],
         "lattice": {"lo": [-0.5, -0.5, 0], "cells": [9, 9, 0], "spacing": 0.11, "jitter": 0.9}}
    ]
}
END

# run RANKS OUT ARGS...
run() {
    "$TALUS" run heap.json --ranks "$1" --threads 1 --out "$2" --quiet --json >"$2.json" 2>"$2.err" ||
        fail "$1 ranks: $(cat "$2.err")"
}

# hash FILE
hash_of() { sed -n 's/.*"hash": "\(.*\)".*/\1/p' "$1"; }

# same OUT: the files are those of one rank, but for measured seconds
same() {
    [ "$(hash_of "$1.json")" = "$(hash_of one.json)" ] || fail "$1: another hash"
    cmp -s "$1/frames.talus" one/frames.talus || fail "$1: other frames"
    cut -d, -f1-44 "$1/steps.csv" | cmp -s - one.steps || fail "$1: other steps"
}

# owned OUT RANKS: at each of its times ranks.csv gives the 701 bodies to ranks, each body to one; at the last time more than one
# of RANKS ranks have some, or the only one. (Bodies are dealt by measured seconds, in three blocks of 256 numbers, so that one
# of three ranks may have none.)
owned() {
    [ "$(head -n 1 "$1/ranks.csv")" = time,step,rank,first,last ] || fail "$1/ranks.csv: $(head -n 1 "$1/ranks.csv")"
    tail -n +2 "$1/ranks.csv" | awk -F, -v ranks="$2" '
        function finish() { if (NR > 1 && end < 701) bad = "only to " end " at " time }
        $1 != time { finish(); time = $1; end = 0; split("", seen) }
        $4 != end + 1 || $5 < $4 { bad = "a gap at " $0 }
        { end = $5; seen[$3] = 1 }
        END {
            finish()
            for (r in seen) owners++
            for (r in seen) if (r >= ranks) bad = "something of rank " r
            if (owners < (ranks > 1 ? 2 : 1)) bad = "all of one rank"
            if (NR == 0) bad = "no rows"
            if (bad) print bad
        }' >owned.said
    [ ! -s owned.said ] || fail "$1/ranks.csv: $(cat owned.said)"
}

run 1 one
[ ! -e one/ranks.csv ] || fail "one rank: a table of ranks"
cut -d, -f1-44 one/steps.csv >one.steps
[ "$(wc -l <one.steps)" -eq 101 ] || fail "one rank: rows are missing"
for ranks in 2 3 5; do
    run $ranks "ranks$ranks"
    same "ranks$ranks"
    owned "ranks$ranks" $ranks
    grep -q "\"ranks\": $ranks" "ranks$ranks.json" || fail "$ranks ranks are not reported"
    [ "$(grep -c '"hidden_seconds": [0-9]' "ranks$ranks.json")" -eq "$ranks" ] || fail "$ranks ranks: seconds behind the halo"
done

# Stopped on two ranks, resumed on three.
"$TALUS" run heap.json --ranks 2 --threads 1 --out stopped --quiet 2>stopped.err &
process=$!
sleep 0.5
kill "$process" 2>/dev/null
wait "$process"
"$TALUS" run --resume stopped --ranks 3 --quiet --json >stopped.json 2>>stopped.err ||
    fail "resume: $(cat stopped.err)"
same stopped
owned stopped 3
"$TALUS" run --resume stopped --until 0.5 --quiet --json >later.json || fail "resume on one rank"
owned stopped 1

# ---- processes ----
if [ -n "$TALUS_MPIEXEC" ]; then
    # shellcheck source=tests/support/mpi_env.sh
    . "$TALUS_SOURCE_DIR/tests/support/mpi_env.sh"
    "$TALUS_MPIEXEC" -n 3 "$TALUS" run heap.json --threads 1 --out processes --quiet --json >processes.json \
        2>processes.err || fail "3 processes: $(cat processes.err)"
    same processes
    owned processes 3 # not the table of ranks3: bodies are dealt by measured seconds

    # Processes go on from the checkpoint of others, which rank 0 reads; damaged checkpoints end all of them.
    "$TALUS_MPIEXEC" -n 2 "$TALUS" run --resume processes --until 0.5 --quiet --json >processes.json 2>processes.err ||
        fail "resume with 2 processes: $(cat processes.err)"
    [ "$(hash_of processes.json)" = "$(hash_of later.json)" ] || fail "resume with 2 processes: another end"
    for checkpoint in processes/checkpoint-?.talus; do
        printf 'damaged' | dd of="$checkpoint" bs=1 seek=20000 conv=notrunc 2>/dev/null
    done
    timeout 120 "$TALUS_MPIEXEC" -n 3 "$TALUS" run --resume processes --quiet >processes.err 2>&1
    [ $? -eq 1 ] || fail "damaged checkpoints do not end three processes: $(cat processes.err)"
    [ "$(grep -c 'no usable checkpoint: ' processes.err)" -eq 1 ] || fail "damaged checkpoints: $(cat processes.err)"

    # One process is killed at a random moment after the first checkpoint; the others end, and say so, and another number of
    # ranks goes on to the same end. TALUS_KILLS: how often.
    "$TALUS" run heap.json --threads 1 --until 1.2 --no-out --quiet --json >long.json || fail "a longer run"
    kill_and_resume() {
        rm -rf killed
        "$TALUS_MPIEXEC" -n "$1" "$TALUS" run heap.json --threads 1 --until 1.2 --checkpoint-every 0.02 --out killed --quiet \
            >killed.out 2>&1 &
        process=$! waited=0
        while [ ! -e killed/checkpoint-a.talus ] && [ $waited -lt 600 ]; do
            sleep 0.05
            waited=$((waited + 1))
        done
        sleep "0.$(($(od -An -N2 -tu2 /dev/urandom) % 900 + 100))"
        victim=$(pgrep -P "$process" -f heap.json | tail -n 1)
        [ -n "$victim" ] && kill -9 "$victim"
        if wait "$process"; then
            echo "a run of $1 processes ended before it was killed"
        else
            [ -s killed.out ] || fail "nothing was said of the process that was killed"
        fi
        "$TALUS" run --resume killed --ranks "$2" --json --quiet >killed.json 2>killed.err ||
            fail "resume after a kill: $(cat killed.err)"
        [ "$(hash_of killed.json)" = "$(hash_of long.json)" ] || fail "killed, $1 then $2 ranks: another end"
    }
    # SIGTERM, which a batch system may send to every process, ends no rank but the first, which ends the run in order.
    rm -rf told
    "$TALUS_MPIEXEC" -n 2 "$TALUS" run heap.json --threads 1 --until 1.2 --checkpoint-every 0.02 --out told --quiet --json \
        >told.json 2>told.err &
    process=$! waited=0
    while [ ! -e told/checkpoint-a.talus ] && [ $waited -lt 600 ]; do
        sleep 0.05
        waited=$((waited + 1))
    done
    for other in $(pgrep -P "$process" -f heap.json); do
        tr '\0' '\n' <"/proc/$other/environ" | grep -Eq '^(OMPI_COMM_WORLD_RANK|PMI_RANK)=1$' && kill "$other"
    done
    wait "$process" || fail "a rank that was told to end has ended the run: $(cat told.err)"
    [ "$(hash_of told.json)" = "$(hash_of long.json)" ] || fail "a rank was told to end: another end"

    k=0
    while [ $k -lt "${TALUS_KILLS:-2}" ]; do
        kill_and_resume $((2 + k % 2)) $((1 + k % 3))
        k=$((k + 1))
    done
else
    echo "no mpirun: processes are left out"
fi

# An error that all ranks find is said once.
"$TALUS" run heap.json --ranks 3 --set step=0 --no-out 2>error.txt && fail "a wrong step was taken"
[ "$(grep -c '' error.txt)" -le 2 ] || fail "an error is repeated: $(cat error.txt)"

[ $failures -eq 0 ] && echo "ok"
exit $failures
