#!/bin/sh
# Siconos and Talus on FCLIB problems under exact Coulomb friction, in one process, by one clock.
#
#   bench/peers/siconos.sh [--save] [OPTION VALUE]... [FILE...]
#
#   --save          write bench/results/DATE-siconos.md as well
#   OPTION VALUE    handed on: --tol X (may be repeated), --solvers 'PROX;NSGS;NSN_AC;ADMM',
#                   --talus 'auto;...', --repeat K, --seconds S, --large N
#   FILE            problems; without any, all of ../shared/problems/problems
#
# Talus is taken from build/release (another: TALUS_BUILD=DIR). What is measured and how Siconos is set
# up: bench/peers/README.md.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd -P)
talus=${TALUS_BUILD:-$root/build/release}
prefix=$root/build/bench/prefix
bin=$root/build/peers

save=no
[ "${1:-}" = --save ] && save=yes && shift

say() { printf 'siconos: %s\n' "$*" >&2; }

[ -f "$talus/libtalus.a" ] || {
    say "no $talus/libtalus.a: build Talus first (./dev build)"
    exit 1
}
mkdir -p "$root/build/bench"
cmake --install "$talus" --prefix "$prefix" >/dev/null
cmake -S "$root/bench/peers" -B "$bin" -DCMAKE_PREFIX_PATH="$prefix" >"$root/build/bench/peers.log"
if grep -q 'no Siconos' "$root/build/bench/peers.log"; then
    say "Siconos was not found: apt-get install libsiconos-numerics-dev"
    exit 77
fi
cmake --build "$bin" --target siconos >>"$root/build/bench/peers.log"

# Problems are what ends the list of options.
files=no
skip=no
for word in "$@"; do
    if [ $skip = yes ]; then skip=no; else
        case $word in --*) skip=yes ;; *) files=yes ;; esac
    fi
done
if [ $files = no ]; then
    for file in "$root"/../shared/problems/problems/*.hdf5; do
        [ -f "$file" ] || {
            say "no problems in ../shared/problems/problems: name files"
            exit 1
        }
        set -- "$@" "$file"
    done
fi

# One thread for both: Siconos's BLAS would take all.
export OPENBLAS_NUM_THREADS=1
if [ $save = no ]; then
    exec "$bin/siconos" "$@"
fi
report=$root/bench/results/$(date +%Y-%m-%d)-siconos.md
{
    printf '# Siconos and Talus under exact Coulomb friction, %s\n\n' "$(date +%Y-%m-%d)"
    printf '%s, %s processors. bench/peers/README.md tells what is measured.\n\n```\n' \
        "$(uname -sm)" "$(nproc)"
    "$bin/siconos" "$@"
    printf '```\n'
} >"$report"
cat "$report"
