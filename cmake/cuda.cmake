# Included by the root CMakeLists.txt where TALUS_CUDA is ON or EMULATED.

target_compile_definitions(talus_lib PUBLIC TALUS_HAVE_CUDA=1)
if(TALUS_CUDA STREQUAL "EMULATED")
  target_compile_definitions(talus_lib PRIVATE TALUS_EMULATED=1)
  set_source_files_properties(${talus_cuda_sources} PROPERTIES LANGUAGE CXX)
  # Kernels look at threadIdx all the time, which is a variable of the thread: in a shared library (cmake/tests.cmake) each
  # look would be a call.
  target_compile_options(talus_lib PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-x c++ -Wno-unused-function -ftls-model=initial-exec>")
else()
  # -fmad=false: the IEEE operations of the host, so that contacts and states agree bit for bit. The
  # iterations of iterate*.cu are free to contract; their results are measured by code that is not.
  target_compile_options(talus_lib PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo;-Xcompiler=-Wall;-Xcompiler=-ffp-contract=off;-Xcudafe=--diag_suppress=177>")
  if(TALUS_WERROR)
    target_compile_options(talus_lib PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>")
  endif()
  foreach(source IN LISTS talus_cuda_sources)
    if(NOT source MATCHES "/iterate[^/]*\\.cu$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-fmad=false")
    endif()
  endforeach()
  find_package(CUDAToolkit REQUIRED)
  target_link_libraries(talus_lib PUBLIC CUDA::cudart_static)

  # The iterations by themselves: cmake --build BUILD --target talus_bench_gpu_kernels
  add_executable(talus_bench_gpu_kernels EXCLUDE_FROM_ALL bench/gpu_kernels.cu)
  set_target_properties(talus_bench_gpu_kernels PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(talus_bench_gpu_kernels PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(talus_bench_gpu_kernels PRIVATE talus_lib)
endif()
