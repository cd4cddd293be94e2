#!/bin/sh
# Under any limit of memory the program ends by itself: it succeeds, or says what it lacks. Libraries that wait for
# memory without end must not be there before they are needed (src/linalg/package.h).
set -u
failures=0
rm -rf cli_memory.work
mkdir cli_memory.work
cd cli_memory.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

if [ -n "$TALUS_SANITIZE" ]; then
    echo "a sanitizer reserves more address space than any limit here: skipped"
    exit 77
fi
if ! (ulimit -v 2000000) 2>/dev/null; then
    echo "this shell sets no limit of memory: skipped"
    exit 77
fi

# At most 20 s, far beyond what any of these takes; a signal that can be caught may not end it. 127: the loader refuses.
under() { # under KILOBYTES COMMAND ...
    limit=$1
    shift
    (ulimit -v "$limit" && exec timeout -s KILL 20 "$@") >out 2>err
    status=$?
    case $status in
    0) passed=$((passed + 1)) ;;
    1 | 127) [ -s err ] || [ -s out ] || fail "$limit kB: $*: ended with $status and no word" ;;
    137) fail "$limit kB: $*: did not end" ;;
    *) fail "$limit kB: $*: ended with $status: $(head -n 3 err)" ;;
    esac
}

limits="20000 30000 40000 50000 60000 65000 70000 75000 80000 85000 90000 95000 100000 110000 120000 140000 160000
    180000 200000 220000 240000 250000 260000 280000 300000 350000 400000 500000 700000 1000000 1500000 2000000"
sweep() {
    passed=0
    for limit in $limits; do
        under "$limit" "$@"
    done
    [ "$passed" -gt 0 ] || fail "$*: under no limit did it succeed: $(cat err)"
}

"$TALUS" extract settle-box --set bodies=100 --at 0.3 -o box.talus >out || fail "extract: $(cat out)"
sweep "$TALUS" list features
sweep "$TALUS" info box.talus
sweep "$TALUS" solve box.talus --solver gs
"$TALUS" list features >features
grep -A 1 '^  cholmod' features | grep -q 'not in this build' ||
    sweep "$TALUS" solve box.talus --section polygon:4 --solver ipm-chol:linear=cholmod
grep -A 1 '^  mumps' features | grep -q 'not in this build' ||
    sweep "$TALUS" solve box.talus --section polygon:4 --solver ipm-aug:linear=mumps

[ $failures -eq 0 ] && echo "cli_memory: passed"
[ $failures -eq 0 ]
