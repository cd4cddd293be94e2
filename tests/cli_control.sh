#!/bin/sh
# A run as others see it: paused, going on and stopped by words in its directory; two runs in one
# directory; a run that is killed; what `talus info` says of each.
set -u
failures=0
rm -rf cli_control.work
mkdir cli_control.work
cd cli_control.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# contains FILE TEXT
contains() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(cat "$1")"; }
hash_of() { sed -n 's/.*"hash": "\(.*\)".*/\1/p' "$1"; }

# The value of a key of DIR/run.json.
value() { sed -n "s/.*\"$2\": *\"\{0,1\}\([^\",}]*\).*/\1/p" "$1/run.json" 2>/dev/null; }

# wait_for COMMAND...: until it succeeds, a minute at most, while the run is alive and once after
wait_for() {
    for moment in $(seq 600); do
        "$@" && return 0
        kill -0 $process 2>/dev/null || break
        sleep 0.1
    done
    "$@" && return 0
    fail "in vain: $*"
    return 1
}

state_is() { [ "$(value "$1" state)" = "$2" ]; }
beyond() { [ "$(value "$1" step)" -gt "$2" ]; }
rows() { wc -l <"$1/steps.csv"; }
more_rows() { [ "$(rows "$1")" -gt "$2" ]; }
taken() { [ ! -e "$1/control" ]; }
checkpoint_in() { [ -f "$1/checkpoint-a.talus" ]; }

# say DIR WORD: as `talus view` does it
say() { echo "$2" >"$1/word.tmp" && mv "$1/word.tmp" "$1/control"; }

scene="hourglass --set bodies=100 --every 0.05 --threads 1"

# ---- pause, run, stop ----
mkdir live
say live stop # from before: not for this run
"$TALUS" run $scene --until 100000 --out live >live.out 2>live.err &
process=$!
wait_for state_is live running
wait_for more_rows live 3
"$TALUS" info live >said || fail "info of a live run: $(cat said)"
contains said "state             running at t = "
contains said "steps/s"
contains said "no: its writer has not finished"
say live pause
wait_for state_is live paused
taken live || fail "control is still there after the pause"
before=$(rows live)
[ "$(value live step)" -eq $((before - 1)) ] || fail "step $(value live step), $before lines"
[ "$(value live scene)" = hourglass ] || fail "scene: $(cat live/run.json)"
contains live.out " paused"

# ---- meanwhile: another run there, readers, a word that means nothing ----
"$TALUS" run $scene --until 0.1 --out live >said 2>err && fail "two runs in one directory"
contains err "talus: live: another run is writing there"
"$TALUS" run --resume live >said 2>err && fail "a live run was resumed"
contains err "talus: live: another run is writing there"
"$TALUS" info live >said || fail "info of a paused run: $(cat said)"
contains said "state             paused at t = "
say live dance
wait_for taken live
contains live.err "live/control: 'dance' is none of pause, run and stop"
state_is live paused || fail "state: $(value live state)"
[ "$(rows live)" -eq "$before" ] || fail "$(rows live) rows in a pause that began with $before"

say live run
wait_for state_is live running
wait_for beyond live "$before"
say live stop
wait_for state_is live stopped || kill -KILL $process
wait $process
code=$?
[ $code -eq 143 ] || fail "stop: exit code $code"
contains live.err "talus: stopped by talus view at t = "
contains live.err "; go on with: talus run --resume live"
contains live.out "  paused "
state_is live stopped || fail "state: $(value live state)"
contains live/run.json "stopped by talus view"
"$TALUS" info live >said || fail "info of a stopped run: $(cat said)"
contains said "state             stopped at t = "
grep -q "complete *yes" said || fail "frames of a stopped run: $(cat said)"
[ "$(rows live)" -gt "$before" ] || fail "no row after the pause"

# It goes on, and is then as one that nobody paused or stopped.
until=$(awk -v t="$(value live time)" 'BEGIN { printf "%.2f", t + 0.1 }')
"$TALUS" run --resume live --until "$until" --quiet --json >live.json || fail "resume"
state_is live finished || fail "state: $(value live state)"
"$TALUS" run $scene --until "$until" --out whole --quiet --json >whole.json || fail "whole"
[ "$(hash_of live.json)" = "$(hash_of whole.json)" ] || fail "another hash after pause and stop"
cmp live/frames.talus whole/frames.talus || fail "other frames after pause and stop"

# ---- a signal ends a pause ----
"$TALUS" run $scene --until 100000 --out held --quiet >held.out 2>held.err &
process=$!
wait_for state_is held running
say held pause
wait_for state_is held paused
kill -TERM $process
wait_for state_is held stopped || kill -KILL $process
wait $process
code=$?
[ $code -eq 143 ] || fail "SIGTERM in a pause: exit code $code"
contains held.err "talus: stopped by SIGTERM at t = "
checkpoint_in held || fail "SIGTERM in a pause: no checkpoint"

# ---- killed: what was written stays readable, and the run can go on ----
"$TALUS" run $scene --until 100000 --out killed --checkpoint-every 0.1 --quiet >killed.out 2>&1 &
process=$!
wait_for checkpoint_in killed
wait_for more_rows killed 12
kill -KILL $process
wait $process
"$TALUS" info killed >said || fail "info of a killed run: $(cat said)"
contains said "state             died at t = "
grep -Eq "frames  *[1-9]" said || fail "frames of a killed run: $(cat said)"
contains said "no: its writer has not finished"
"$TALUS" info killed/frames.talus >said || fail "info of its frames: $(cat said)"
contains said "killed/frames.talus: frames"
grep -Eq "bytes  *[1-9][0-9]*, [1-9][0-9]* per frame" said || fail "bytes: $(cat said)"
until=$(awk -F, 'END { printf "%.2f", $1 + 0.1 }' killed/steps.csv)
"$TALUS" run --resume killed --until "$until" --quiet --json >killed.json || fail "after a kill"
"$TALUS" run $scene --until "$until" --out whole --quiet --json >whole.json || fail "whole, again"
[ "$(hash_of killed.json)" = "$(hash_of whole.json)" ] || fail "another hash after a kill"
cmp killed/frames.talus whole/frames.talus || fail "other frames after a kill"

# ---- a run that fails says so; where a step fails, its files are those of a run that has ended ----
"$TALUS" run box-stack --set 'bodies[1].at=[0,0,1]' --solver gpcg --until 1 --out late --quiet 2>err
[ $? -eq 1 ] || fail "a solver that does not take a later step: $(cat err)"
contains err "the state before that step is in late"
state_is late failed || fail "state: $(value late state)"
contains late/run.json "takes problems without friction"
"$TALUS" info late >said || fail "info of a failed run: $(cat said)"
grep -q "complete *yes" said || fail "frames of a failed run: $(cat said)"
if [ -z "${TALUS_SANITIZE:-}" ]; then # a sanitizer's own files could exceed the limit
    (
        trap '' XFSZ
        ulimit -f 16
        exec "$TALUS" run $scene --until 5 --out failed --quiet
    ) 2>err
    contains err "cannot write: File too large"
    state_is failed failed || fail "state: $(value failed state)"
    contains failed/run.json "cannot write: File too large"
fi

# ---- a resume that cannot begin changes nothing ----
find whole -type f -exec cksum {} + | sort >before
"$TALUS" run --resume whole --until 1e-9 >said 2>err && fail "an end before the checkpoint was taken"
contains err "whole: its checkpoint is at t = "
contains err "--until moves the end"
find whole -type f -exec cksum {} + | sort >after
cmp before after || fail "a refused resume changed the run"

# ---- run.json that is not there or not sound ----
rm whole/run.json
"$TALUS" info whole >said || fail "info without run.json: $(cat said)"
contains said "state             unknown"
contains said "whole/run.json: there is none"
for text in '{"version":1,"state":"runn' '[]' '{"version":2}' '{"version":1,"state":"odd"}' \
    '{"version":1,"state":"running","step":1e300,"time":null,"bodies":-5}'; do
    printf '%s' "$text" >whole/run.json
    "$TALUS" info whole >said || fail "info with $text: $(cat said)"
    grep -Eq "state  *(unknown|died)" said || fail "$text: $(cat said)"
done
mkdir other
"$TALUS" info other >said 2>err && fail "info of an empty directory succeeded"
contains err "other: holds neither frames.talus nor steps.csv of a run"
"$TALUS" run --resume other >said 2>err && fail "an empty directory was resumed"
[ -z "$(ls -A other)" ] || fail "resuming what is no run left $(ls -A other)"

[ $failures -eq 0 ] && echo "cli_control: passed"
[ $failures -eq 0 ]
