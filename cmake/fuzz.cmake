# Included by the root CMakeLists.txt with TALUS_FUZZ. One libFuzzer program per fuzz/NAME.c, built with
# clang: talus_fuzz_NAME. The library is instrumented too; fuzz/README.md says how they are run.

if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "TALUS_FUZZ needs clang: configure with CC=clang")
endif()
if(NOT TALUS_HAVE_HDF5)
  message(FATAL_ERROR "TALUS_FUZZ needs HDF5 (Debian: libhdf5-dev)")
endif()

file(GLOB talus_fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*.c)
foreach(source IN LISTS talus_fuzz_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(talus_fuzz_${name} ${source})
  set_target_properties(talus_fuzz_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  target_include_directories(talus_fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(talus_fuzz_${name} PRIVATE talus_page talus_lib)
  target_link_options(talus_fuzz_${name} PRIVATE -fsanitize=fuzzer)
endforeach()

# fuzz/http.sh throws requests at the program itself.
include(cmake/view_client.cmake)
