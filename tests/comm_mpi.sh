#!/bin/sh
# Ranks as processes of mpirun (src/comm/mpi.c): the cases of test_comm on several numbers of them, parts of problems and
# worlds on three, which have the bits of one rank, and what becomes of the others when a process dies.
set -u
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

if [ -z "$TALUS_MPIEXEC" ]; then
    echo "skip: this build has no MPI, or no mpirun was found (Debian: libopenmpi-dev, openmpi-bin)"
    exit 77
fi
# shellcheck source=tests/support/mpi_env.sh
. "$TALUS_SOURCE_DIR/tests/support/mpi_env.sh"

# run N PROGRAM: on N processes; the output, of all ranks in any order, is in `out`
run() {
    "$TALUS_MPIEXEC" -n "$1" "$2" >out 2>&1
}

# passes N PROGRAM [CASES]: all ranks pass
passes() {
    TALUS_TEST=${3:-} run "$1" "$TALUS_BUILD_DIR/tests/$2" || fail "$2 on $1 processes: $(cat out)"
    [ "$(grep -c ' passed, 0 failed' out)" -eq "$1" ] || fail "$2 on $1 processes: not all ended: $(cat out)"
}

numbers="1 2 3 5"
[ -z "$TALUS_SANITIZE" ] || numbers=3 # each takes long there
for n in $numbers; do
    passes $n test_comm
done

passes 3 test_part spheres_on,solvers_that_need,inner_groups
passes 3 test_ranks a_heap_of_spheres
passes 3 test_ranks_cell spheres_in_shear,controlled_pressures

# PETSc in the same processes: Debian's is of Open MPI
case $TALUS_MPIEXEC in
*mpirun*) [ ! -f "$TALUS_BUILD_DIR/talus_tao.so" ] || passes 2 test_solvers_tao petsc_and_ranks ;;
esac

# The last of three processes dies while the others wait for it: none stays, and mpirun says so.
for how in kill 3 0; do
    TALUS_DIE=$how
    export TALUS_DIE
    run 3 "$TALUS_BUILD_DIR/tests/test_comm" && fail "a process died ($how), and mpirun saw nothing: $(cat out)"
    [ -s out ] || fail "a process died ($how), and no word was said"
done
unset TALUS_DIE
TALUS_LEAVE=1 run 3 "$TALUS_BUILD_DIR/tests/test_comm" && fail "a process exited, others ran again: $(cat out)"

[ $failures -eq 0 ]
