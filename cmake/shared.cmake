# Included by the root CMakeLists.txt: libtalus.so, linked from the objects of libtalus.a. Of its functions those of
# include/talus are exported (TALUS_API in talus/base.h), and tests/library_symbols.txt lists them.
#
# With a sanitizer all of them are: there the tests, which call inner functions too, link it in place of libtalus.a, which
# would be a second of linking and 45 MB in each of them.

file(STRINGS ${PROJECT_SOURCE_DIR}/include/talus/base.h talus_abi_line REGEX "^#define TALUS_ABI_VERSION [0-9]+$")
string(REGEX REPLACE ".* " "" talus_abi_version "${talus_abi_line}")

if(TALUS_CUDA)
  set(talus_linker_language CXX)
else()
  set(talus_linker_language C)
endif()
add_library(talus_shared SHARED $<TARGET_OBJECTS:talus_lib>)
add_library(talus::shared ALIAS talus_shared)
set_target_properties(talus_shared PROPERTIES
  OUTPUT_NAME talus
  EXPORT_NAME shared
  VERSION ${PROJECT_VERSION}
  SOVERSION ${talus_abi_version}
  INSTALL_RPATH_USE_LINK_PATH ON
  LINKER_LANGUAGE ${talus_linker_language}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(talus_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(talus_shared PRIVATE $<TARGET_PROPERTY:talus_lib,LINK_LIBRARIES>)
if(TALUS_SANITIZE)
  target_compile_definitions(talus_shared INTERFACE $<TARGET_PROPERTY:talus_lib,INTERFACE_COMPILE_DEFINITIONS>)
  target_link_libraries(talus_shared PUBLIC Threads::Threads m)
else()
  # The library calls its own functions, whatever the program that loads it has by the same names; what it is linked
  # with statically is its own affair; and nothing is left to be found at run time.
  target_link_options(talus_shared PRIVATE -Wl,-Bsymbolic-functions -Wl,--exclude-libs,ALL -Wl,-z,defs)
endif()
