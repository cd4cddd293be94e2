# The client of tests/cli_view.sh and fuzz/http.sh: tests/view_client in the build folder.

include_guard(GLOBAL)
file(GLOB talus_view_client_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/view/*.c)
add_executable(talus_view_client ${talus_view_client_sources})
set_target_properties(talus_view_client PROPERTIES
  OUTPUT_NAME view_client
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
