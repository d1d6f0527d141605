# weft_library(NAME SOURCES a.cc ... SMALL b.cc ... DEPS core op ... [LINK re2 png ...] [PCH op/registry.h ...]): the sources of one layer.
# SOURCES are what runs for every op, call or element: -O2. SMALL is what runs once (loading, tracing, files, reports) or mostly waits:
# -Os, two thirds of the bytes and of the compiler's time; WEFT_SMALL_LAYERS are that as a whole.
# PCH names headers that most of them include; with WEFT_PCH they are parsed once. Off unless asked for: compiler caches
# then know a file only in the folder where it was built.
# DEPS is the layer's allowed list; tests/layers.cmake fails on an include of any other.
# All layers end up in libweft.so and in the archive weft_all, which tests link.
set_property(GLOBAL PROPERTY WEFT_LAYERS "")
set(WEFT_SMALL_LAYERS aot compiler engine graph io ir)
option(WEFT_PCH "parse common headers once: faster from scratch, useless to compiler caches" OFF)
function(weft_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;SMALL;SIMD;DEPS;LINK;PCH" ${ARGN})
  list(TRANSFORM ARG_PCH PREPEND ${CMAKE_SOURCE_DIR}/src/)
  if(name IN_LIST WEFT_SMALL_LAYERS)
    weft_objects(weft_${name} SMALL "${ARG_SOURCES}" "${ARG_PCH}")
    set_property(GLOBAL PROPERTY WEFT_SMALL_${name} weft_${name})
  else()
    weft_objects(weft_${name} FAST "${ARG_SOURCES}" "${ARG_PCH}")
    set_property(GLOBAL PROPERTY WEFT_FAST_${name} weft_${name})
  endif()
  if(ARG_SMALL)
    weft_objects(weft_${name}_small SMALL "${ARG_SMALL}" "${ARG_PCH}")
    set_property(GLOBAL PROPERTY WEFT_SMALL_${name} weft_${name}_small)
  endif()
  set_property(GLOBAL APPEND PROPERTY WEFT_LAYERS ${name})
  set_property(GLOBAL PROPERTY WEFT_DEPS_${name} "${ARG_DEPS}")
  set_property(GLOBAL APPEND PROPERTY WEFT_LINK ${ARG_LINK})
  foreach(source ${ARG_SIMD})
    weft_simd(${name} ${source})
  endforeach()
endfunction()

function(weft_objects target kind sources pch)
  add_library(${target} OBJECT ${sources})
  if(kind STREQUAL SMALL AND NOT WEFT_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/generated)
  list(LENGTH sources count)
  if(WEFT_PCH AND pch AND count GREATER 2)
    target_precompile_headers(${target} PRIVATE <algorithm> <atomic> <cmath> <complex> <cstring> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span>
      <string> <string_view> <unordered_map> <variant> <vector> ${pch})
  endif()
endfunction()

# The targets of the given layers. Those at -Os come last: of an inline function that several files hold, the linker keeps the first.
function(weft_layer_targets out)
  set(fast "")
  set(small "")
  foreach(layer ${ARGN})
    get_property(target GLOBAL PROPERTY WEFT_FAST_${layer})
    list(APPEND fast ${target})
    get_property(target GLOBAL PROPERTY WEFT_SMALL_${layer})
    list(APPEND small ${target})
    if(layer STREQUAL "kernels")
      get_property(simd GLOBAL PROPERTY WEFT_SIMD_TARGETS)
      list(APPEND fast ${simd})
    endif()
  endforeach()
  set(${out} ${fast} ${small} PARENT_SCOPE)
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
