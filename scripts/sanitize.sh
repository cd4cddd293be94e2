#!/bin/sh
# All tests under the sanitizers, an hour or more of two processors: sanitize.sh [asan|tsan]... (default: both).
#   asan   AddressSanitizer and UndefinedBehaviorSanitizer, the cuda backend's kernels on the host (preset emulated)
#   tsan   ThreadSanitizer
# .ci/run has a part of them (labels in cmake/tests.cmake). Without those that are slow or need a
# browser. Goes on after a failure; ends with 1 if there was one.
set -u

cd "$(dirname "$0")/.." || exit 1
if [ $# -eq 0 ]; then set -- asan tsan; fi
failed=0
for kind; do
    case $kind in
    asan) preset=emulated ;;
    tsan) preset=tsan ;;
    *)
        echo "sanitize: '$kind' is not asan or tsan" >&2
        exit 2
        ;;
    esac
    ./dev build "$preset" -DTALUS_WERROR=ON || exit 1
    ctest --test-dir "build/$preset" --no-tests=error -LE 'slow|browser' --output-on-failure -j "$(nproc)" ||
        failed=1
done
exit $failed
