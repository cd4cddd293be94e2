#!/bin/sh
# Stopped by SIGTERM at a random moment and resumed, with 1, 2, 3 and 8 threads, on three scenes:
# the final state and all files equal those of one uninterrupted run.
set -u
failures=0
rm -rf cli_resume.work
mkdir cli_resume.work
cd cli_resume.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

hash_of() { sed -n 's/.*"hash": "\(.*\)".*/\1/p' "$1"; }
wall_of() { sed -n 's/.*"wall_seconds": \([^,]*\),/\1/p' "$1"; }

# A number in 0..65535.
random() { od -An -N2 -tu2 /dev/urandom | tr -d ' \n'; }

# shellcheck source=tests/support/run_files.sh
. "$TALUS_SOURCE_DIR/tests/support/run_files.sh"

# Those of measured seconds are four, and hold a number that is not negative in every row.
check_seconds() {
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /_seconds$/) at[++n] = i; width = NF; next }
        NF != width { exit 1 }
        { for (i = 1; i <= n; i++) if ($at[i] !~ /^[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?$/) exit 1 }
        END { if (n != 4 || NR < 2) exit 1 }' "$1" || fail "$1: seconds are missing or are no numbers"
}

# stop_and_resume NAME THREADS SECONDS ARGS...: stops within SECONDS, then goes on to the end
stop_and_resume() {
    dir=$1-$2 threads=$2
    moment=$(awk -v r="$(random)" -v w="$3" 'BEGIN { printf "%.3f", 0.9 * w * r / 65536 }')
    shift 3
    "$TALUS" run "$@" $kinds --threads "$threads" --out "$dir" --quiet --json >"$dir.json" \
        2>"$dir.err" &
    process=$!
    sleep "$moment"
    kill -TERM $process 2>/dev/null
    wait $process
    code=$?
    case $code in
    143) # its checkpoint, or death before it could catch the signal
        if [ -f "$dir/checkpoint-a.talus" ]; then
            grep -q "talus run --resume $dir" "$dir.err" || fail "$dir: no word on how to go on"
            "$TALUS" run --resume "$dir" --quiet --json >"$dir.json" || fail "$dir: resume"
            stops=$((stops + 1))
        else
            "$TALUS" run "$@" $kinds --threads "$threads" --out "$dir" --quiet --json >"$dir.json"
        fi
        ;;
    0) ;;
    *) fail "$dir: exit code $code when stopped at $moment s: $(cat "$dir.err")" ;;
    esac
    [ "$(hash_of "$dir.json")" = "$hash" ] || fail "$dir: another hash, stopped at $moment s"
    [ "$(fingerprint "$dir")" = "$files" ] || fail "$dir: other files, stopped at $moment s"
    check_seconds "$dir/steps.csv"
}

all_kinds="--frames vtp,csv,lammps"
"$TALUS" list features | grep -q 'not in this build.*libhdf5-dev' ||
    all_kinds=$all_kinds,vtkhdf

# check NAME ARGS...: with the kinds of frames in $kinds
kinds=
check() {
    name=$1
    stops=0
    shift
    "$TALUS" run "$@" $kinds --threads 1 --out "$name" --quiet --json >"$name.json" || fail "$name"
    hash=$(hash_of "$name.json")
    files=$(fingerprint "$name")
    for threads in 1 2 3 8; do
        "$TALUS" run "$@" --threads $threads --no-out --quiet --json >whole.json || fail "$name $threads"
        [ "$(hash_of whole.json)" = "$hash" ] || fail "$name: $threads threads give another hash"
        stop_and_resume "$name" $threads "$(wall_of "$name.json")" "$@"
    done
    echo "$name: hash $hash, stopped and resumed $stops times of 4"
}

if [ -z "${TALUS_SANITIZE:-}" ]; then
    check hourglass hourglass --set bodies=300 --until 0.6
    kinds=$all_kinds
    check box-stack box-stack --until 5
    check dominoes dominoes --until 0.6
else # ten times slower
    check hourglass hourglass --set bodies=100 --until 0.4
    kinds=$all_kinds
    check box-stack box-stack --until 1
    check dominoes dominoes --until 0.1
fi

# The kinds of frames are settings of the run.
"$TALUS" run --resume box-stack --frames csv >said 2>err
[ $? -eq 2 ] || fail "--resume with --frames: $(cat err)"
for file in bodies.pvd bodies.dump frames/bodies-000000.csv frames.talus; do
    [ -f "box-stack-1/$file" ] || fail "box-stack-1/$file is not there"
done

# The same signal twice at once, as timeout(1) sends it, is one request.
"$TALUS" run settle-box --until 100 --out twice --quiet >twice.out 2>twice.err &
process=$!
for wait in 1 2 3 4 5 6 7 8 9 10; do # until signals are caught: the table is there
    [ -s twice/steps.csv ] && break
    sleep 0.2
done
kill -TERM $process
sleep 0.05
kill -TERM $process 2>/dev/null
wait $process
code=$?
[ $code -eq 143 ] || fail "two signals: exit code $code"
[ -f twice/checkpoint-a.talus ] || fail "two signals: no checkpoint: $(cat twice.err)"

# A scene that ends where it begins can be carried on.
echo '{"until": 0, "bodies": [{"radius": 1, "at": [0, 0, 0]}]}' >start.json
"$TALUS" run start.json --out start --quiet 2>start.err || fail "until 0: $(cat start.err)"
"$TALUS" run --resume start --until 0.1 >start.out 2>start.err || fail "until 0: $(cat start.err)"
grep -q '^start.json: 1 bodies' start.out || fail "a scene without a title goes by its name"

# A resumed run keeps all settings, however many.
set --
for i in $(seq 300); do set -- "$@" --set mu=0.$i; done
"$TALUS" run box-stack --until 0.01 --out many --quiet "$@" 2>many.err || fail "many settings: $(cat many.err)"
"$TALUS" run --resume many --until 0.02 --quiet 2>many.err || fail "many settings, resumed: $(cat many.err)"
for file in many/checkpoint-*.talus; do
    [ "$(grep -ac '^set mu=' "$file")" -eq 300 ] || fail "$file: $(grep -ac '^set mu=' "$file") settings of 300"
done

[ $failures -eq 0 ] && echo "cli_resume: passed"
[ $failures -eq 0 ]
