# Included by the root CMakeLists.txt: linear algebra that others have written, used where it is there.
#   CHOLMOD   positive definite systems of ipm-chol. Its supernodal part is under the GPL;
#             -DTALUS_CHOLMOD_LIBRARY=OFF leaves it out
#   MUMPS     indefinite systems of ipm-aug and ipm-soc; the version without MPI
# Both stand on BLAS; OpenBLAS is the one to have. Nothing is linked with them: they are loaded when they are first
# used (src/linalg/package.h), under the name that linking would have entered.

# The SONAME of a shared library; empty where it is none.
function(talus_soname library out)
  set(name)
  if(library MATCHES "/" AND CMAKE_READELF)
    execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic ERROR_QUIET)
    if(dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
      set(name ${CMAKE_MATCH_1})
    endif()
  endif()
  set(${out} "${name}" PARENT_SCOPE)
endfunction()

set(TALUS_HAVE_CHOLMOD OFF)
set(TALUS_HAVE_MUMPS OFF)
if(NOT TALUS_CORE_ONLY)
  find_path(TALUS_CHOLMOD_INCLUDE cholmod.h PATH_SUFFIXES suitesparse)
  find_library(TALUS_CHOLMOD_LIBRARY cholmod)
  find_path(TALUS_MUMPS_INCLUDE dmumps_c.h PATH_SUFFIXES mumps_seq)
  find_library(TALUS_MUMPS_LIBRARY dmumps_seq)
  mark_as_advanced(TALUS_CHOLMOD_INCLUDE TALUS_CHOLMOD_LIBRARY TALUS_MUMPS_INCLUDE TALUS_MUMPS_LIBRARY)
  talus_soname("${TALUS_CHOLMOD_LIBRARY}" talus_cholmod_file)
  talus_soname("${TALUS_MUMPS_LIBRARY}" talus_mumps_file)
  if(TALUS_CHOLMOD_INCLUDE AND talus_cholmod_file)
    set(TALUS_HAVE_CHOLMOD ON)
  else()
    message(STATUS "CHOLMOD not found (Debian: libsuitesparse-dev): ipm-chol factorises by itself")
  endif()
  if(TALUS_MUMPS_INCLUDE AND talus_mumps_file)
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
      list(FILTER list EXCLUDE REGEX "/src/linalg/direct_${name}_none\\.c$")
    else()
      list(FILTER list EXCLUDE REGEX "/src/linalg/direct_${name}\\.c$")
    endif()
  endforeach()
  if(NOT TALUS_HAVE_CHOLMOD AND NOT TALUS_HAVE_MUMPS)
    list(FILTER list EXCLUDE REGEX "/src/linalg/(one_thread|package)\\.c$")
  endif()
  set(${sources} ${list} PARENT_SCOPE)
endfunction()

# What loading them needs; talus_package_libraries also goes to tests that link by hand.
set(talus_package_libraries)
function(talus_link_packages target)
  foreach(name cholmod mumps)
    string(TOUPPER ${name} upper)
    if(TALUS_HAVE_${upper})
      target_include_directories(${target} SYSTEM PRIVATE ${TALUS_${upper}_INCLUDE})
      set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/linalg/direct_${name}.c APPEND PROPERTY
        COMPILE_DEFINITIONS "TALUS_${upper}_FILE=\"${talus_${name}_file}\"")
      set(talus_package_libraries ${CMAKE_DL_LIBS})
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE ${talus_package_libraries})
  set(talus_package_libraries ${talus_package_libraries} PARENT_SCOPE)
endfunction()
