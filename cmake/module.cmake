# Included by the root CMakeLists.txt: modules, shared libraries of ours that libtalus loads when they are first used
# (src/base/module.h). talus_add_module(NAME LIBRARY...) builds talus_NAME.so from apps/plugins/NAME.c.

function(talus_add_module name)
  set(module talus_${name})
  string(TOUPPER ${name} upper)
  add_library(${module} MODULE ${PROJECT_SOURCE_DIR}/apps/plugins/${name}.c)
  set_target_properties(${module} PROPERTIES
    PREFIX "" SUFFIX ".so" C_VISIBILITY_PRESET hidden INSTALL_RPATH_USE_LINK_PATH ON
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(${module} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${module} PRIVATE ${ARGN})
  # Of all that a package's .pc names, what the file uses.
  target_link_options(${module} PRIVATE -Wl,--as-needed -Wl,-z,nodelete)
  file(RELATIVE_PATH from_program ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/talus)
  target_compile_definitions(talus_lib PRIVATE
    TALUS_HAVE_${upper}=1
    TALUS_BUILD_MODULE_DIR="${PROJECT_BINARY_DIR}"
    TALUS_INSTALL_MODULE_DIR="${CMAKE_INSTALL_FULL_LIBDIR}/talus"
    TALUS_MODULES_FROM_PROGRAM="${from_program}")
  target_link_libraries(talus_lib PUBLIC ${CMAKE_DL_LIBS})
  add_dependencies(talus_lib ${module}) # so that it is there, whichever program is built
  install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/talus)
endfunction()
