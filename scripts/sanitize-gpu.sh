#!/bin/sh
# compute-sanitizer over the cuda tests, on a machine with a GPU: sanitize-gpu.sh [BUILD] [TOOL...].
#   BUILD   a build with TALUS_CUDA=ON, by default build/cuda
#   TOOL    memcheck and racecheck unless given; initcheck and synccheck are others
# The tests of a tool run side by side, each for at most TALUS_LIMIT seconds (70). Only memcheck runs the
# longest ones whole. Ends with 1 if a test fails, does not end, or a tool finds something, with 77 where
# there is no GPU or no tool.
set -u

build=${1:-build/cuda}
if [ $# -gt 0 ]; then shift; fi
if [ $# -eq 0 ]; then set -- memcheck racecheck; fi
limit=${TALUS_LIMIT:-70}

if ! command -v compute-sanitizer >/dev/null 2>&1; then
    echo "sanitize-gpu: no compute-sanitizer here; it comes with CUDA" >&2
    exit 77
fi
if ! nvidia-smi >/dev/null 2>&1; then
    echo "sanitize-gpu: no GPU here" >&2
    exit 77
fi
set -- "$build" "$@"
build=$(cd "$build" 2>/dev/null && pwd)
if ! [ -x "$build/tests/test_cuda_backend" ]; then
    echo "sanitize-gpu: no tests in $1: cmake --preset cuda && cmake --build build/cuda" >&2
    exit 1
fi
shift

TALUS=$build/talus
TALUS_BUILD_DIR=$build
TALUS_SOURCE_DIR=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
TALUS_SHARED=$TALUS_SOURCE_DIR/../shared
export TALUS TALUS_BUILD_DIR TALUS_SOURCE_DIR TALUS_SHARED
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# cases TOOL TEST: those of a test that start tens of thousands of kernels; they start every kind of
# kernel in fewer cases too.
cases() {
    case $1-$2 in
    memcheck-*) ;;
    *_face) echo iterates_are,norms_are,runs_end ;;
    *_iterate) echo iterates_are,pieces_make,mixed_iterates,stops_at ;;
    *_solve) echo a_lent_problem,iterates_are_shown,an_empty_problem ;;
    *_world) echo looking_and_building ;;
    *_world_step) echo a_struck_body,arrivals,a_failed_step ;;
    esac
}

# check TOOL TEST: in a folder of its own; the log and the exit status are left there.
check() {
    only=$(cases "$1" "${2##*/}")
    if [ -n "$only" ]; then
        TALUS_TEST=$only
        export TALUS_TEST
    fi
    # 99 is no test's own exit code
    timeout -k 5 "$limit" compute-sanitizer --tool "$1" --error-exitcode 99 "$2" >log 2>&1
    echo $? >status
}

failures=0
for tool; do
    start=$(date +%s)
    for test in "$build"/tests/test_cuda_*; do
        mkdir -p "$work/$tool/${test##*/}"
        (cd "$work/$tool/${test##*/}" && check "$tool" "$test") &
    done
    wait
    clean=0
    for test in "$work/$tool"/*; do
        status=$(cat "$test/status")
        summary=$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$test/log" | sed 's/^=* *//')
        case $status in
        0) clean=$((clean + 1)) ;;
        77) summary="skipped" ;;
        124 | 137) summary="stopped after $limit s" ;;
        *) summary="failed ($status) ${summary:-}" ;;
        esac
        echo "$tool ${test##*/}: $(grep -E '^[0-9]+ passed' "$test/log") ${summary:-}"
        case $status in
        0 | 77) ;;
        *)
            tail -n 40 "$test/log"
            failures=$((failures + 1))
            ;;
        esac
    done
    if [ $clean -eq 0 ]; then failures=$((failures + 1)); fi
    echo "$tool: $clean tests clean, in $(($(date +%s) - start)) s"
done
if [ $failures -gt 0 ]; then
    echo "sanitize-gpu: $failures failed" >&2
    exit 1
fi
