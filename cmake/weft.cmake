# weft_library(NAME SOURCES a.cc ... DEPS core op ... [LINK re2 png ...] [PCH op/registry.h ...]): the sources of one layer.
# PCH names headers that most of them include; with WEFT_PCH they are parsed once. Off unless asked for: compiler caches
# then know a file only in the folder where it was built.
# DEPS is the layer's allowed list; tests/layers.cmake fails on an include of any other.
# All layers end up in libweft.so and in the archive weft_all, which tests link.
set_property(GLOBAL PROPERTY WEFT_LAYERS "")
option(WEFT_PCH "parse common headers once: faster from scratch, useless to compiler caches" OFF)
function(weft_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;SIMD;DEPS;LINK;PCH" ${ARGN})
  add_library(weft_${name} OBJECT ${ARG_SOURCES})
  if(WEFT_PCH AND ARG_PCH)
    list(TRANSFORM ARG_PCH PREPEND ${CMAKE_SOURCE_DIR}/src/)
    target_precompile_headers(weft_${name} PRIVATE <algorithm> <atomic> <cmath> <complex> <cstring> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span>
      <string> <string_view> <unordered_map> <variant> <vector> ${ARG_PCH})
  endif()
  target_include_directories(weft_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/generated)
  set_property(GLOBAL APPEND PROPERTY WEFT_LAYERS ${name})
  set_property(GLOBAL PROPERTY WEFT_DEPS_${name} "${ARG_DEPS}")
  set_property(GLOBAL APPEND PROPERTY WEFT_LINK ${ARG_LINK})
  foreach(source ${ARG_SIMD})
    weft_simd(${name} ${source})
  endforeach()
endfunction()

# Compiles one file of vector loops three times, for each level of core/cpu_features.h. The file raises
# the instruction set itself, behind its includes (kernels/cpu/isa_begin.h): compiling the whole file
# with -mavx512f would leak such code into inline functions of the standard library, and the linker
# might keep that copy for everyone.
function(weft_simd layer source)
  foreach(isa GENERIC AVX2 AVX512)
    get_filename_component(base ${source} NAME_WE)
    get_filename_component(dir ${source} DIRECTORY)
    string(REPLACE "/" "_" dir "${dir}")
    set(target weft_${layer}_${dir}_${base}_${isa})
    add_library(${target} OBJECT ${source})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_compile_definitions(${target} PRIVATE WEFT_ISA_${isa})
    target_compile_options(${target} PRIVATE -ffp-contract=fast)
    if(NOT WEFT_SANITIZE)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O3>)
    endif()
    set_property(GLOBAL APPEND PROPERTY WEFT_SIMD_TARGETS ${target})
  endforeach()
endfunction()

# weft_test(NAME SOURCES ... ): a doctest binary, linked with the whole engine, run from the source tree.
function(weft_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ARGS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${name} PRIVATE weft_test_main weft_all)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction()
