# Included by the root CMakeLists.txt: what is installed for programs that use the library. Nothing of it names the
# prefix, so that the prefix may be moved.
#   headers, libtalus.a, libtalus.so    modules: cmake/module.cmake
#   lib/cmake/talus                     find_package(talus): talus::talus and talus::shared
#   lib/pkgconfig                       talus.pc and talus-static.pc
#   share/doc/talus                     licences and examples

install(TARGETS talus_lib EXPORT talus-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET talus_shared)
  install(TARGETS talus_shared EXPORT talus-shared-targets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/talus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")

# ---- CMake ----

set(talus_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/talus)
set(TALUS_NEEDS_CXX OFF) # its runtime, for what was compiled by nvcc or is emulated
set(TALUS_NEEDS_CUDATOOLKIT OFF)
if(TALUS_CUDA)
  set(TALUS_NEEDS_CXX ON)
endif()
if(TALUS_CUDA AND NOT TALUS_CUDA STREQUAL "EMULATED")
  set(TALUS_NEEDS_CUDATOOLKIT ON)
endif()
install(EXPORT talus-targets NAMESPACE talus:: DESTINATION ${talus_package_dir})
if(TARGET talus_shared)
  install(EXPORT talus-shared-targets NAMESPACE talus:: DESTINATION ${talus_package_dir})
endif()
configure_package_config_file(cmake/talus-config.cmake.in talus-config.cmake
                              INSTALL_DESTINATION ${talus_package_dir})
write_basic_package_version_file(talus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/talus-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/talus-config-version.cmake
        DESTINATION ${talus_package_dir})

# ---- pkg-config ----

# What a program links with libtalus.a.
set(TALUS_STATIC_LIBRARIES -lm ${CMAKE_THREAD_LIBS_INIT})
foreach(library IN LISTS CMAKE_DL_LIBS)
  list(APPEND TALUS_STATIC_LIBRARIES -l${library})
endforeach()
if(TALUS_HAVE_HDF5)
  set(libraries ${HDF5_C_LIBRARIES})
  list(FILTER libraries INCLUDE REGEX "hdf5[^/]*\\.so") # which brings the rest
  if(NOT libraries)
    set(libraries ${HDF5_C_LIBRARIES})
  endif()
  list(APPEND TALUS_STATIC_LIBRARIES ${libraries})
endif()
if(TALUS_HAVE_ZLIB)
  list(APPEND TALUS_STATIC_LIBRARIES ${ZLIB_LIBRARIES})
endif()
if(TARGET CUDA::cudart_static)
  list(APPEND TALUS_STATIC_LIBRARIES ${CUDA_cudart_static_LIBRARY} -lrt)
endif()
if(TALUS_CUDA)
  list(APPEND TALUS_STATIC_LIBRARIES -lstdc++)
endif()
list(JOIN TALUS_STATIC_LIBRARIES " " TALUS_STATIC_LIBRARIES)

set(talus_pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH TALUS_PREFIX_FROM_PC ${talus_pc_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" TALUS_PREFIX_FROM_PC "${TALUS_PREFIX_FROM_PC}")
file(RELATIVE_PATH TALUS_INCLUDEDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH TALUS_LIBDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
foreach(name talus talus-static)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  if(name STREQUAL "talus-static" OR TARGET talus_shared)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endforeach()

# ---- Licences and examples ----

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES apps/viewer/LICENSES/three.txt apps/viewer/LICENSES/uPlot.txt # are in the program's pages
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/licenses)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
