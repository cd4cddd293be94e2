#!/bin/sh
# Makes a wheel of the Python package with libtalus.so in it: python/wheel.sh [BUILD [OUT]], by default build/release and
# out/wheel. Needs a Python 3 with cffi, setuptools and wheel, of Debian or another; PYTHON names it. Needs no network, and
# the tree is left as it is.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd -P)
build=$(cd "${1:-$source/build/release}" && pwd -P)
out=${2:-$source/out/wheel}
[ -e "$build/libtalus.so" ] || {
    echo "wheel.sh: there is no $build/libtalus.so; build it first: ./dev build release" >&2
    exit 1
}
for python in ${PYTHON:-python3 /usr/bin/python3}; do
    if "$python" -c 'import cffi, setuptools, wheel' 2>/dev/null; then break; fi
    python=
done
[ -n "$python" ] || {
    echo "wheel.sh: no Python with cffi, setuptools and wheel (Debian: python3-cffi python3-setuptools python3-wheel)" >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$source/python/." "$work"
mkdir -p "$out"
out=$(cd "$out" && pwd -P)
cd "$work"
TALUS_SOURCE_DIR=$source TALUS_BUILD_DIR=$build "$python" setup.py --quiet bdist_wheel --dist-dir "$out" >log 2>&1 || {
    cat log >&2
    exit 1
}
ls "$out"/talus-*.whl
