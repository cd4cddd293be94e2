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

# shellcheck source=bench/peers/in_process.sh
. "$(dirname "$0")/in_process.sh"

save=no
[ "${1:-}" = --save ] && save=yes && shift

in_process siconos 'no Siconos' libsiconos-numerics-dev

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
