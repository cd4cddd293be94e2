# Included by the root CMakeLists.txt. One CTest test per file:
#   tests/test_NAME.c   an executable, linked with talus_lib and tests/support/
#   tests/NAME.sh       run with sh
# Each runs in an empty folder of its own, so tests may write files and run side by side, and sees
#   TALUS             the talus program            TALUS_SOURCE_DIR   the source tree
#   TALUS_SHARED      ../shared beside the source  TALUS_BUILD_DIR    the build tree
#   TALUS_CORE_ONLY   1 in a core-only build, else 0
#   TALUS_SANITIZE    the sanitizers built in, else empty
#   TALUS_LINK        what linking libtalus.a with cc takes beside -lm and -lpthread
#   TALUS_MPIEXEC     mpirun of the MPI that ranks use, or empty
# Exit code 77 means skipped. A name that contains slow_ gets the label slow, one that opens pages in a
# browser the label browser, any other quick.

file(GLOB talus_support_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.c)
if(talus_support_sources)
  add_library(talus_test_support STATIC ${talus_support_sources})
  target_include_directories(talus_test_support
    PUBLIC ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/tests/support
           ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(talus_test_support PUBLIC talus_verify)
endif()

# What tests link: libtalus.a, for they call inner functions too; with a sanitizer cmake/shared.cmake says why the other.
if(TALUS_SANITIZE)
  set(talus_of_tests talus_shared)
else()
  set(talus_of_tests talus_lib)
endif()
# The harness sees the library's headers; which library is linked, each test says.
target_include_directories(talus_test_support PRIVATE $<TARGET_PROPERTY:talus_lib,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(talus_test_support PRIVATE $<TARGET_PROPERTY:talus_lib,INTERFACE_COMPILE_DEFINITIONS>)

get_filename_component(talus_shared ${PROJECT_SOURCE_DIR}/../shared ABSOLUTE)
# On aarch64 the leak check of gcc 12 and clang 14 takes 4 s per process whatever it does
# (google/sanitizers#703). There only the harness looks for leaks, of the library's own memory.
if(TALUS_SANITIZE MATCHES "address" AND CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(talus_asan_options ASAN_OPTIONS=detect_leaks=0)
endif()
set(talus_link)
foreach(library IN LISTS CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
  if(library MATCHES "stdc\\+\\+|^c\\+\\+")
    string(APPEND talus_link " -l${library}")
  endif()
endforeach()
if(TARGET CUDA::cudart_static)
  string(APPEND talus_link " ${CUDA_cudart_static_LIBRARY} -ldl -lrt")
endif()
foreach(library IN LISTS talus_package_libraries)
  if(library MATCHES "/")
    string(APPEND talus_link " ${library}")
  else()
    string(APPEND talus_link " -l${library}")
  endif()
endforeach()
set(talus_mpiexec)
if(TALUS_HAVE_MPI AND TALUS_MPIEXEC)
  set(talus_mpiexec ${TALUS_MPIEXEC})
endif()
set(talus_test_environment
  TALUS=${PROJECT_BINARY_DIR}/talus
  TALUS_SOURCE_DIR=${PROJECT_SOURCE_DIR}
  TALUS_BUILD_DIR=${PROJECT_BINARY_DIR}
  TALUS_SHARED=${talus_shared}
  TALUS_CORE_ONLY=$<BOOL:${TALUS_CORE_ONLY}>
  TALUS_SANITIZE=${TALUS_SANITIZE}
  TALUS_LINK=${talus_link}
  TALUS_MPIEXEC=${talus_mpiexec}
  UBSAN_OPTIONS=print_stacktrace=1
  ${talus_asan_options}
  TSAN_OPTIONS=halt_on_error=1)

# Begun first, so that no core waits for them at the end; the rest are begun by their names.
set(talus_long_tests paraview slow_doc_course scene_hashes test_solvers test_solvers_limits test_solvers_repeat cli_resume cli_backend_bench cli_view
    cli_files cli_formats cli_solve slow_doc_tutorial slow_reproduce test_compliance test_id_order test_solvers_rounding test_draw
    test_draw_shapes test_world_step viewer_engine viewer_page report_page test_cuda_machines test_cuda_materials test_world_ratio)

# Which tests .ci/run has besides those of the last step, which runs all; each list is a label of its name.
#   packages        what optional packages change (files, factorisations, messages), and numbers where compilers differ
#   threads         start threads: all their cases run under ThreadSanitizer
#   thread-cases    start threads in few cases: there these alone run, by parts of their names (.ci/run)
#   long-sanitized  take longest under AddressSanitizer, while others run the same code there
set(talus_label_packages
    "cli_(control|export|fclib|formats|measure|packages|run|solve|usage|view)|scene_hashes"
    "test_(compliance|deflate|direct|fclib|fclib_bad|fclib_storage|formats|formats_vtkhdf|frames|frames_damage|frames_threads)"
    "test_(hull|jacobian|ldl|lemke_pivot|metrics|narrow|one_contact|output|page|physics|pointed|problem_file|qp|sets|states|status)"
    "test_(solvers|solvers_(auto|hsd|ipm|ipm_joints|newton|soc|tao)|target|world)")
set(talus_label_threads
    "cli_(control|view)|comm_mpi|test_(backend_blocks|comm|contexts|contexts_solve|draw_threads|frames_threads|groups|large_counts)"
    "test_(measure|part|ranks|ranks_(build|cell|deal|halo|load|sources)|sweep_chaotic)")
set(talus_label_thread-cases
    "test_(accelerate_single|backend_general|collide|colours|eliminate|eliminate_problem|joints|joints_hard|neighbours|overlap)"
    "test_(solvers_repeat|solvers_sweeps|sweep_single)"
    "test_(world|world_(driven|extract|friction|periodic|periodic_fast|save|sleep|step))")
set(talus_label_long-sanitized
    "cli_(backend_bench|bench|ranks|ranks_files|render|reproduce|servo|sweep|validate|verify)|paraview|rigid_files|scene_(hashes|silo)"
    "test_(compliance|dissipation|id_order|joint_project|machines|metrics|scene_from|validate|statics|world_ratio)"
    "test_solvers_(apgd|continuation|hsd|limits|newton_lcp|repeat|rounding|slots|table)")

function(talus_label name)
  foreach(label packages threads thread-cases long-sanitized)
    list(JOIN talus_label_${label} "|" pattern)
    if(name MATCHES "^(${pattern})$")
      set_property(TEST ${name} APPEND PROPERTY LABELS ${label})
    endif()
  endforeach()
endfunction()

function(talus_add_test name)
  set(work ${PROJECT_BINARY_DIR}/tests/work/${name})
  file(MAKE_DIRECTORY ${work})
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${work})
  if(name MATCHES "slow_")
    set(label slow)
    set(timeout 900)
  elseif(name MATCHES "^(viewer|report)_")
    set(label browser)
    set(timeout 600)
  else()
    set(label quick)
    set(timeout 300)
  endif()
  if(TALUS_SANITIZE) # 5 to 20 times as slow
    math(EXPR timeout "5 * ${timeout}")
  endif()
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "${talus_test_environment}"
    LABELS ${label}
    TIMEOUT ${timeout}
    SKIP_RETURN_CODE 77)
  talus_label(${name})
  if(name IN_LIST talus_long_tests)
    set_tests_properties(${name} PROPERTIES COST 10)
  endif()
  if(label STREQUAL "browser")
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK browser) # two would wait for each other
  endif()
endfunction()

# qhull has the last word on convex hulls; its test is skipped without (Debian: libqhull-dev).
if(NOT TALUS_CORE_ONLY)
  find_path(TALUS_QHULL_INCLUDE libqhull_r/libqhull_r.h)
  find_library(TALUS_QHULL_LIBRARY qhull_r)
  mark_as_advanced(TALUS_QHULL_INCLUDE TALUS_QHULL_LIBRARY)
endif()

# libccd is what distances of convex shapes are compared with (Debian: libccd-dev); only tests see it.
find_path(TALUS_CCD_INCLUDE ccd/ccd.h)
find_library(TALUS_CCD_LIBRARY ccd)
mark_as_advanced(TALUS_CCD_INCLUDE TALUS_CCD_LIBRARY)
function(talus_link_ccd target)
  if(TALUS_CCD_INCLUDE AND TALUS_CCD_LIBRARY)
    target_include_directories(${target} SYSTEM PRIVATE ${TALUS_CCD_INCLUDE})
    target_link_libraries(${target} PRIVATE ${TALUS_CCD_LIBRARY})
    target_compile_definitions(${target} PRIVATE TALUS_HAVE_CCD=1)
  endif()
endfunction()

file(GLOB talus_test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/test_*.c)
foreach(source IN LISTS talus_test_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE talus_test_support)
  if(TALUS_SANITIZE) # a test runs in the library, not in its own lines: to optimise these takes longer than it saves
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(name MATCHES "page|serve|steps")
    target_link_libraries(${name} PRIVATE talus_page)
  elseif(name MATCHES "test_lab|test_advise|test_validate|test_study") # parts of the program
    target_sources(${name} PRIVATE $<FILTER:$<TARGET_OBJECTS:talus>,EXCLUDE,/cli/main\\.c>)
    target_link_libraries(${name} PRIVATE $<TARGET_PROPERTY:talus,LINK_LIBRARIES>)
  else()
    target_link_libraries(${name} PRIVATE ${talus_of_tests})
  endif()
  if(TALUS_HAVE_HDF5 AND name MATCHES "test_fclib|test_formats_vtkhdf")
    target_link_libraries(${name} PRIVATE hdf5::hdf5)
    target_compile_definitions(${name} PRIVATE TALUS_HDF5=1)
  endif()
  if(name STREQUAL "test_hull_qhull" AND TALUS_QHULL_INCLUDE AND TALUS_QHULL_LIBRARY)
    target_include_directories(${name} SYSTEM PRIVATE ${TALUS_QHULL_INCLUDE})
    target_link_libraries(${name} PRIVATE ${TALUS_QHULL_LIBRARY})
    target_compile_definitions(${name} PRIVATE TALUS_HAVE_QHULL=1)
  endif()
  if(name STREQUAL "test_narrow_ccd")
    talus_link_ccd(${name})
  endif()
  talus_add_test(${name} $<TARGET_FILE:${name}>)
endforeach()

# Not among the tests: a million pairs for each two shapes.
add_executable(talus_bench_narrow EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/bench/narrow.c)
set_target_properties(talus_bench_narrow PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(talus_bench_narrow PRIVATE talus_test_support talus_lib)
talus_link_ccd(talus_bench_narrow)

include(cmake/view_client.cmake)

file(GLOB talus_test_scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*.sh)
foreach(script IN LISTS talus_test_scripts)
  get_filename_component(name ${script} NAME_WE)
  talus_add_test(${name} sh ${script})
endforeach()
