#!/bin/sh
# What optional packages change: each is named with the way to get it where a build lacks it, what needs it is
# refused with that sentence, and all other solvers work either way. README.md's line links examples/embed.c.
set -u
failures=0
rm -rf cli_packages.work
mkdir cli_packages.work
cd cli_packages.work || exit 1

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

"$TALUS" list features >features || fail "list features"
"$TALUS" list solvers >solvers || fail "list solvers"
"$TALUS" extract settle-box --set bodies=27 --at 0.3 -o bed.talus >out 2>err || fail "extract: $(cat err)"

# solve SPEC: with friction by a polygon, to six digits
solve() {
    "$TALUS" solve bed.talus --section polygon:4 --solver "$1" --tol 1e-6 --json --quiet >out 2>err
}

# has FEATURE: whether this build does; if not, the line after it says which of Debian's packages is wanted
has() {
    line=$(sed -n "/^  $1 /{n;p;}" features)
    case $line in
    *"not in this build: install $2"*) return 1 ;;
    *"not in this build"*) fail "list features, $1: '$line' does not name $2" && return 1 ;;
    esac
}

# package FEATURE DEBIAN TEXT SPEC...: solvers that need it work, or are refused, as `list solvers` says with TEXT
package() {
    feature=$1 debian=$2 text=$3
    shift 3
    grep -q "^  $feature " features || fail "list features: no $feature"
    if has "$feature" "$debian"; then
        grep -q "$text: .*$debian" solvers && fail "list solvers: $feature is there and called missing"
        for spec; do
            solve "$spec" || fail "$spec: $(cat err)"
            grep -q '"outcome": "converged"' out || fail "$spec: $(cat out)"
        done
    else
        echo "without $feature"
        grep -q "$text: .*$debian" solvers || fail "list solvers does not say that $feature is missing"
        for spec; do
            solve "$spec" && fail "$spec: solved without $feature"
            grep -q "not in this build: install $debian" err || fail "$spec: said '$(cat err)'"
        done
    fi
}

package cholmod libsuitesparse-dev 'not in this build: linear=cholmod.*' ipm-chol:linear=cholmod
package mumps libmumps-seq-dev 'not in this build: linear=mumps.*' ipm-aug:linear=mumps
package petsc libpetsc-real-dev 'not in this build' tao-blmvm tao-tron tao-gpcg tao-bqpip

has mpi libopenmpi-dev || echo "without mpi"
grep -q '^  mpi ' features || fail "list features: no mpi"
if [ -n "$TALUS_MPIEXEC" ]; then
    grep -Eq '^  mpi .*\((Open MPI|MPICH) [0-9.]*\)$' features || fail "list features does not name MPI: $(cat features)"
fi

for spec in ipm-chol ipm-chol:linear=ldl ipm-aug ipm-aug:linear=ldl lemke; do
    solve $spec || fail "$spec: $(cat err)"
    grep -q '"outcome": "converged"' out || fail "$spec: $(cat out)"
done
if [ "$TALUS_CORE_ONLY" = 1 ] && [ "$(grep -c '^  .*not in this build: install' features)" -lt 7 ]; then
    fail "core-only, and something is there: $(cat features)"
fi

# README.md's line, with what this build is to be linked with; a sanitizer wants its own runtime
if [ -z "$TALUS_SANITIZE" ]; then
    line=$(sed -n 's/^    \(cc .*libtalus\.a\) \(-lm .*\) && .*/\1 LINK \2/p' "$TALUS_SOURCE_DIR/README.md")
    [ -n "$line" ] || fail "README.md: no line that compiles examples/embed.c"
    cd "$TALUS_SOURCE_DIR" || exit 1
    work=$OLDPWD
    # shellcheck disable=SC2046 # words
    eval $(echo "$line" | sed "s|build/release|'$TALUS_BUILD_DIR'|; s|LINK|$TALUS_LINK|; s|-o embed|-o '$work/embed'|") ||
        fail "README.md: $line"
    cd "$work" || exit 1
    ./embed >out || fail "embed: $(cat out)"
    grep -q '^t = 2 s, ' out || fail "embed: $(cat out)"
fi

[ $failures -eq 0 ]
