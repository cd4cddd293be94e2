#!/bin/sh
# compute-sanitizer over the cuda tests, on a machine with a GPU: sanitize-gpu.sh [BUILD] [TOOL...].
#   BUILD   a build with TALUS_CUDA=ON, by default build/cuda
#   TOOL    memcheck and racecheck unless given; initcheck and synccheck are others
# Ends with 1 if a test fails or a tool finds something, with 77 where there is no GPU or no tool.
set -u

build=${1:-build/cuda}
if [ $# -gt 0 ]; then shift; fi
if [ $# -eq 0 ]; then set -- memcheck racecheck; fi

if ! command -v compute-sanitizer >/dev/null 2>&1; then
    echo "sanitize-gpu: no compute-sanitizer here; it comes with CUDA" >&2
    exit 77
fi
if ! nvidia-smi >/dev/null 2>&1; then
    echo "sanitize-gpu: no GPU here" >&2
    exit 77
fi
if ! [ -x "$build/talus" ]; then
    echo "sanitize-gpu: $build/talus is missing: cmake --preset cuda && cmake --build build/cuda" >&2
    exit 1
fi

build=$(cd "$build" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
for tool; do
    for test in "$build"/tests/test_cuda_*; do
        printf '%s %s: ' "$tool" "${test##*/}"
        # 99 is no test's own exit code; 77 is a test that was skipped
        compute-sanitizer --tool "$tool" --error-exitcode 99 "$test" >log 2>&1
        status=$?
        case $status in
        0) grep -m 1 -E 'ERROR SUMMARY|RACECHECK SUMMARY' log || echo "clean" ;;
        77) echo "skipped" ;;
        *)
            echo "failed ($status)"
            tail -n 40 log
            failures=$((failures + 1))
            ;;
        esac
    done
done
echo "sanitize-gpu: $failures failed"
[ $failures -eq 0 ]
