# shellcheck shell=sh
# Sourced by tests that start mpirun: the settings of MPI and of sanitizers.
#
# Open MPI: as root, with more processes than processors, by shared memory. Other MPIs do not read these.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl=self,vader

# Of sanitizers' reports those of MPI itself are left out; see the files.
support=$TALUS_SOURCE_DIR/tests/support
export LSAN_OPTIONS="suppressions=$support/mpi.lsan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:fast_unwind_on_malloc=0"
export TSAN_OPTIONS="${TSAN_OPTIONS:-}:suppressions=$support/mpi.tsan"
