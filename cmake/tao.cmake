# Included by the root CMakeLists.txt: talus_tao.so, the module behind the tao-* solvers, where PETSc is found.
#
# PETSc drags in MPI, an HDF5 for MPI and about a hundred libraries more, so nothing else is linked with it:
# src/solvers/tao/tao_load.c loads the module when such a solver is first used. It is left out of builds with a
# sanitizer, whose runtime a library loaded with RTLD_DEEPBIND does not see.

set(TALUS_HAVE_TAO OFF)
if(NOT TALUS_CORE_ONLY AND NOT TALUS_SANITIZE AND NOT TALUS_FUZZ)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(TALUS_PETSC QUIET IMPORTED_TARGET PETSc>=3.17)
    if(TALUS_PETSC_FOUND)
      pkg_search_module(TALUS_PETSC_MPI QUIET IMPORTED_TARGET ompi-c mpich)
    endif()
  endif()
  if(TALUS_PETSC_FOUND AND TALUS_PETSC_MPI_FOUND)
    include(CheckCSourceCompiles)
    include(CMakePushCheckState)
    cmake_push_check_state(RESET)
    set(CMAKE_REQUIRED_INCLUDES ${TALUS_PETSC_INCLUDE_DIRS} ${TALUS_PETSC_MPI_INCLUDE_DIRS})
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # compiled, not linked
    check_c_source_compiles("
#include <petsctao.h>
#if defined(PETSC_USE_COMPLEX) || defined(PETSC_USE_64BIT_INDICES) || !defined(PETSC_USE_REAL_DOUBLE)
#error real doubles and indices of 32 bits are needed
#endif
int talus_probe(void) { return 0; }" TALUS_PETSC_FITS)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
    cmake_pop_check_state()
    set(TALUS_HAVE_TAO ${TALUS_PETSC_FITS})
  endif()
  if(NOT TALUS_HAVE_TAO)
    message(STATUS "PETSc 3.17 or later with real doubles not found (Debian: libpetsc-real-dev): no tao-* solvers")
  endif()
endif()

if(TALUS_HAVE_TAO)
  talus_add_module(tao PkgConfig::TALUS_PETSC PkgConfig::TALUS_PETSC_MPI)
endif()
