#!/bin/sh
# The Python package: a wheel is made without network, installed without a compiler into a virtual environment, and passes its
# own tests there (python/tests, run by pytest): doctests, examples and the page docs/how-to/python.md among them.
set -u

skip() {
    echo "skip: $*"
    exit 77
}

if [ -n "$TALUS_SANITIZE" ]; then skip "Python would have to load the sanitizers first"; fi
[ -e "$TALUS_BUILD_DIR/libtalus.so" ] || skip "there is no libtalus.so"
for python in ${PYTHON:-python3 /usr/bin/python3}; do
    if "$python" -c 'import cffi, numpy' 2>/dev/null; then break; fi
    python=
done
[ -n "$python" ] || skip "no Python with cffi and numpy (Debian: python3-cffi python3-numpy)"
"$python" -c 'import pytest' 2>/dev/null || skip "$python has no pytest (Debian: python3-pytest)"
"$python" -c 'import setuptools, wheel' 2>/dev/null || skip "$python has no setuptools or wheel (Debian: python3-setuptools python3-wheel)"

rm -rf python.work
mkdir python.work
cd python.work || exit 1
PYTHON=$python sh "$TALUS_SOURCE_DIR/python/wheel.sh" "$TALUS_BUILD_DIR" . >log 2>&1 || {
    cat log
    echo "FAILED: python/wheel.sh"
    exit 1
}
wheel=$(ls talus-*-py3-none-*.whl) || {
    echo "FAILED: the wheel's name: $(cat log)"
    exit 1
}

# A virtual environment that sees the packages of this Python. Without pip of its own, which takes ten seconds to set up, it
# gets the wheel as pip installs it: unpacked. PATH has no compiler there.
"$python" -m venv --without-pip --system-site-packages environment 2>log || skip "no venv: $(cat log) (Debian: python3-venv)"
site=$(environment/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
environment/bin/python -m zipfile -e "$wheel" "$site" || {
    echo "FAILED: unpacking $wheel"
    exit 1
}
mkdir empty
PATH=$PWD/empty PYTHONDONTWRITEBYTECODE=1 environment/bin/python -c '
import talus
world = talus.World()
world.step()
assert "environment" in talus.__file__, talus.__file__' || {
    echo "FAILED: the wheel does not work without a compiler"
    exit 1
}

PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=$PWD/matplotlib environment/bin/python -m pytest -q -rs -p no:cacheprovider \
    --basetemp="$PWD/pytest" "$TALUS_SOURCE_DIR/python/tests" || {
    echo "FAILED: python/tests"
    exit 1
}
echo "python: passed"
