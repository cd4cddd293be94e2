# Included by the root CMakeLists.txt: talus_mpi.so, the module that carries ranks between processes, where Open MPI or
# MPICH is found. src/comm/mpi.c loads it when ranks of MPI are first asked for; nothing else is linked with MPI.

set(TALUS_MPI_NAMES "ompi-c;mpich" CACHE STRING "Names of MPI for pkg-config; the first that is found is taken")
mark_as_advanced(TALUS_MPI_NAMES)

set(TALUS_HAVE_MPI OFF)
if(NOT TALUS_CORE_ONLY AND NOT TALUS_FUZZ)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_search_module(TALUS_MPI QUIET IMPORTED_TARGET ${TALUS_MPI_NAMES})
  endif()
  if(TALUS_MPI_FOUND)
    set(TALUS_HAVE_MPI ON)
  else()
    message(STATUS "MPI not found (Debian: libopenmpi-dev, pkg-config): ranks are threads alone")
  endif()
endif()

# The MPI found, and the program that starts processes with it: what is in the search path may be of another MPI.
set(talus_mpi_package)
if(TALUS_HAVE_MPI)
  pkg_get_variable(talus_mpi_prefix ${TALUS_MPI_MODULE_NAME} prefix)
  if(TALUS_MPI_MODULE_NAME STREQUAL "mpich")
    set(talus_mpi_package "MPICH ${TALUS_MPI_VERSION}")
    set(talus_mpi_starters mpiexec.mpich mpiexec.hydra mpiexec)
  else()
    set(talus_mpi_package "Open MPI ${TALUS_MPI_VERSION}")
    set(talus_mpi_starters mpirun.openmpi mpirun)
  endif()
  find_program(TALUS_MPIEXEC NAMES ${talus_mpi_starters} HINTS ${talus_mpi_prefix}/bin)
  mark_as_advanced(TALUS_MPIEXEC)
  talus_add_module(mpi PkgConfig::TALUS_MPI)
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/comm/mpi.c APPEND PROPERTY
    COMPILE_DEFINITIONS "TALUS_MPI_PACKAGE=\"${talus_mpi_package}\"")
endif()
