#!/bin/sh
# Install what is missing, and nothing else: setup.sh [run|test|bench|docs].
#   run     what building and running needs: a C compiler, CMake, Ninja; and, where they can be had, HDF5
#           (FCLIB files), zlib (small frames and pages), civetweb (talus view), CHOLMOD and MUMPS with
#           OpenBLAS (factorisations of the direct methods)
#   test    also what the test suite and CI use: clang, clang-format, a C++ compiler; and, where they can be had,
#           PETSc (solvers tao-*; 300 MB with what it needs), Open MPI (ranks as processes), libccd and qhull (which
#           distances and hulls are compared with), Python's cffi, numpy, pytest, setuptools, wheel and venv (the Python package),
#           markdown-it and Pygments (the site of the documentation) and Chromium, which opens the pages. Most checks of
#           the pages also need Node 20 and npm: not installed
#   bench   run, and what bench/ compares with: PETSc, ODE, Bullet, LAMMPS and, where they can be had, Siconos
#   docs    what building the site of the documentation needs: Python with markdown-it and Pygments
# Debian's apt-get, as root. Without root it prints the line to run. Repeatable: when nothing is
# missing it installs nothing and needs neither root nor network. Where an optional package cannot be
# installed this is said, and nothing fails.
set -eu

level=${1:-run}
missing=
optional=

have() { command -v "$1" >/dev/null 2>&1; }
need() { missing="$missing $*"; }
want() { optional="$optional $*"; }
has_header() { printf '#include <%s>\n' "$1" | "${CC:-cc}" -E - >/dev/null 2>&1; }
installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# A tool counts as present wherever it came from; a package name matters only where it is absent.
need_run() {
    if ! have "${CC:-cc}"; then
        need gcc libc6-dev
    elif ! has_header stdio.h; then
        need libc6-dev
    fi
    have cmake || need cmake
    have ninja || have make || need ninja-build
    have h5cc || want libhdf5-dev
    has_header zlib.h || want zlib1g-dev
    has_header civetweb.h || want libcivetweb-dev
    has_header suitesparse/cholmod.h || want libsuitesparse-dev
    has_header dmumps_c.h || want libmumps-seq-dev
    installed libopenblas-dev || want libopenblas-dev
}
want_petsc() {
    installed libpetsc-real-dev || want libpetsc-real-dev
    have pkg-config || want pkg-config
}
want_mpi() {
    installed libopenmpi-dev || installed libmpich-dev || want libopenmpi-dev
    have mpirun || have mpiexec || want openmpi-bin
    have pkg-config || want pkg-config
}
need_test() {
    need_run
    want_petsc
    want_mpi
    have clang || need clang
    have clang-format || need clang-format
    have g++ || need g++
    has_header ccd/ccd.h || want libccd-dev
    has_header libqhull_r/libqhull_r.h || want libqhull-dev
    want_python
    has_site_python || want python3-markdown-it python3-pygments
    have chromium || have google-chrome || want chromium
}
want_python() {
    for package in cffi numpy pytest setuptools wheel venv; do
        installed "python3-$package" || want "python3-$package"
    done
}
has_site_python() { sh "$(dirname "$0")/site/python.sh" >/dev/null 2>&1; }
need_docs() { has_site_python || need python3 python3-markdown-it python3-pygments; }
need_bench() {
    need_run
    want_petsc
    have g++ || need g++
    have pkg-config || need pkg-config
    installed libode-dev || need libode-dev
    installed libbullet-dev || need libbullet-dev
    have lmp || need lammps
    installed libsiconos-numerics-dev || want libsiconos-numerics-dev
}

case $level in
run) need_run ;;
test) need_test ;;
bench) need_bench ;;
docs) need_docs ;;
*)
    echo "setup: unknown level '$level'; use run, test, bench or docs" >&2
    exit 2
    ;;
esac

missing=${missing# }
optional=${optional# }
if [ -z "$missing$optional" ]; then
    echo "setup: everything for '$level' is installed" >&2
    exit 0
fi

# Packages that cannot be installed here: an end if one is needed, a word if all are optional.
by_hand() {
    packages=$missing${missing:+${optional:+ }}$optional
    if [ -z "$missing" ]; then
        echo "setup: going on without what is optional; Debian's packages for it: $packages" >&2
        exit 0
    fi
    if have apt-get; then
        echo "setup: '$level' needs packages, and this is not root. Please run:" >&2
        echo "sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends $packages'" >&2
    else
        echo "setup: no apt-get here; please install what Debian calls: $packages" >&2
    fi
    exit 1
}
if ! have apt-get || [ "$(id -u)" -ne 0 ]; then by_hand; fi

export DEBIAN_FRONTEND=noninteractive
install() {
    echo "setup: apt-get install --no-install-recommends $*"
    apt-get -qq -y -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 \
        install --no-install-recommends "$@"
}
{
    echo "setup: apt-get update"
    if ! apt-get -qq -o DPkg::Lock::Timeout=120 update; then
        if [ -n "$missing" ]; then exit 1; fi
        echo "setup: no package lists; trying those at hand"
    fi
    # shellcheck disable=SC2086 # lists of package names
    if [ -n "$missing" ]; then install $missing; fi
    # One by one where not all can be had.
    # shellcheck disable=SC2086
    if [ -n "$optional" ] && ! install $optional; then
        for package in $optional; do
            install "$package" || echo "setup: going on without $package, which is optional"
        done
    fi
    echo "setup: '$level' is ready"
} >&2
