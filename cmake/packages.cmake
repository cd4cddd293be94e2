# Included by the root CMakeLists.txt: linear algebra that others have written, used where it is there.
#   CHOLMOD   positive definite systems of ipm-chol. Its supernodal part is under the GPL;
#             -DTALUS_CHOLMOD_LIBRARY=OFF leaves it out
#   MUMPS     indefinite systems of ipm-aug and ipm-soc; the version without MPI
# Both stand on BLAS; OpenBLAS is the one to have.

set(TALUS_HAVE_CHOLMOD OFF)
set(TALUS_HAVE_MUMPS OFF)
if(NOT TALUS_CORE_ONLY)
  find_path(TALUS_CHOLMOD_INCLUDE cholmod.h PATH_SUFFIXES suitesparse)
  find_library(TALUS_CHOLMOD_LIBRARY cholmod)
  find_path(TALUS_MUMPS_INCLUDE dmumps_c.h PATH_SUFFIXES mumps_seq)
  find_library(TALUS_MUMPS_LIBRARY dmumps_seq)
  mark_as_advanced(TALUS_CHOLMOD_INCLUDE TALUS_CHOLMOD_LIBRARY TALUS_MUMPS_INCLUDE TALUS_MUMPS_LIBRARY)
  if(TALUS_CHOLMOD_INCLUDE AND TALUS_CHOLMOD_LIBRARY)
    set(TALUS_HAVE_CHOLMOD ON)
  else()
    message(STATUS "CHOLMOD not found (Debian: libsuitesparse-dev): ipm-chol factorises by itself")
  endif()
  if(TALUS_MUMPS_INCLUDE AND TALUS_MUMPS_LIBRARY)
    set(TALUS_HAVE_MUMPS ON)
  else()
    message(STATUS "MUMPS not found (Debian: libmumps-seq-dev): ipm-aug and ipm-soc factorise by themselves")
  endif()
endif()

# Sources that a build with or without these packages leaves out.
function(talus_filter_packages sources)
  set(list ${${sources}})
  foreach(name cholmod mumps)
    string(TOUPPER ${name} upper)
    if(TALUS_HAVE_${upper})
      list(FILTER list EXCLUDE REGEX "/src/problem/direct_${name}_none\\.c$")
    else()
      list(FILTER list EXCLUDE REGEX "/src/problem/direct_${name}\\.c$")
    endif()
  endforeach()
  if(NOT TALUS_HAVE_CHOLMOD AND NOT TALUS_HAVE_MUMPS)
    list(FILTER list EXCLUDE REGEX "/src/problem/one_thread\\.c$")
  endif()
  set(${sources} ${list} PARENT_SCOPE)
endfunction()

# Full paths, which an installed libtalus.a hands on to whoever links it; talus_package_libraries also goes
# to tests that link by hand.
set(talus_package_libraries)
function(talus_link_packages target)
  foreach(name CHOLMOD MUMPS)
    if(TALUS_HAVE_${name})
      target_include_directories(${target} SYSTEM PRIVATE ${TALUS_${name}_INCLUDE})
      list(APPEND talus_package_libraries ${TALUS_${name}_LIBRARY})
    endif()
  endforeach()
  if(talus_package_libraries)
    list(APPEND talus_package_libraries ${CMAKE_DL_LIBS}) # one_thread.c asks for symbols
  endif()
  target_link_libraries(${target} PRIVATE ${talus_package_libraries})
  set(talus_package_libraries ${talus_package_libraries} PARENT_SCOPE)
endfunction()
