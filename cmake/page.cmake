# Included by the root CMakeLists.txt: talus_page, the parts of the program that tests and fuzz targets
# link too: the writer of JSON, the two pages with their templates, and what the viewer's server knows
# of requests and files.

set(talus_page_sources
  ${PROJECT_SOURCE_DIR}/apps/cli/run/dir.c
  ${PROJECT_SOURCE_DIR}/apps/cli/json_out.c
  ${PROJECT_SOURCE_DIR}/apps/cli/page.c
  ${PROJECT_SOURCE_DIR}/apps/cli/serve/serve_files.c
  ${PROJECT_SOURCE_DIR}/apps/cli/serve/serve_request.c
  ${PROJECT_SOURCE_DIR}/apps/cli/run/steps.c
  ${PROJECT_SOURCE_DIR}/apps/cli/serve/viewer_page.c)

# talus_embed_page(NAME TEMPLATE MARKS): ${PROJECT_BINARY_DIR}/page_NAME.c
function(talus_embed_page name template marks)
  if(NOT EXISTS ${template})
    message(FATAL_ERROR "${template} is missing. It is kept in the repository, so that a build needs no "
                        "Node; `./dev page` builds it anew from its sources")
  endif()
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/page_${name}.c
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DPAGE=${template} -DMARKS=${marks}
            -DOUTPUT=${PROJECT_BINARY_DIR}/page_${name}.c
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${template} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    COMMENT "Embedding the page ${name}"
    VERBATIM)
endfunction()

talus_embed_page(report ${PROJECT_SOURCE_DIR}/apps/report/dist/report.html TALUS_DATA)
talus_embed_page(viewer ${PROJECT_SOURCE_DIR}/apps/viewer/dist/viewer.html TALUS_RUN,TALUS_FRAMES)

add_library(talus_page STATIC ${talus_page_sources}
  ${PROJECT_BINARY_DIR}/page_report.c ${PROJECT_BINARY_DIR}/page_viewer.c)
target_include_directories(talus_page
  PUBLIC ${PROJECT_SOURCE_DIR}/apps
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(talus_page PUBLIC talus_lib)
