# Included by the root CMakeLists.txt: talus_page, the writer of JSON and of the report page with the
# template of apps/report in it. A library of its own, so that tests can link it.

set(talus_page_sources
  ${PROJECT_SOURCE_DIR}/apps/cli/json_out.c
  ${PROJECT_SOURCE_DIR}/apps/cli/page.c)
set(talus_page_template ${PROJECT_SOURCE_DIR}/apps/report/dist/report.html)

add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/page_template.c
  COMMAND ${CMAKE_COMMAND} -DPAGE=${talus_page_template}
          -DOUTPUT=${PROJECT_BINARY_DIR}/page_template.c
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  DEPENDS ${talus_page_template} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  COMMENT "Embedding the report page"
  VERBATIM)

add_library(talus_page STATIC ${talus_page_sources} ${PROJECT_BINARY_DIR}/page_template.c)
target_include_directories(talus_page
  PUBLIC ${PROJECT_SOURCE_DIR}/apps/cli
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(talus_page PUBLIC talus_lib)
