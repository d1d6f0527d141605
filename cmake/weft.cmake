# weft_library(NAME SOURCES a.cc ... SMALL b.cc ... DEPS core op ... [LINK re2 png ...] [COMPANION]): the sources of one layer.
# SOURCES are what runs for every op, call or element: -O2. SMALL is what runs once (loading, tracing, files, reports) or mostly waits:
# -Os, two thirds of the bytes and of the compiler's time; WEFT_SMALL_LAYERS are that as a whole.
# DEPS is the layer's allowed list; tests/source/layers.py fails on an include of any other.
# All layers end up in libweft.so and in the archive weft_all, which tests link; but COMPANION ones, which are a library of their own.
set_property(GLOBAL PROPERTY WEFT_LAYERS "")
set(WEFT_SMALL_LAYERS aot compiler engine graph io ir remote)
set(WEFT_CALL_PATH weft_core weft_eager weft_capi)
set(WEFT_LOOP_FLAGS -ffp-contract=fast)
# Processors without AVX2 are rare: what is not a product or a function is compiled for size there, half a megabyte less.
set(WEFT_GENERIC_FLAGS -ffp-contract=fast)
set(WEFT_GENERIC_FAST gemm_simd narrow_gemm_simd unary_simd softmax_simd fft_simd)
if(NOT WEFT_SANITIZE)
  set(WEFT_SMALL_FLAGS $<$<CONFIG:Release>:-Os>)
  list(APPEND WEFT_LOOP_FLAGS $<$<CONFIG:Release>:-O3>)
  list(APPEND WEFT_GENERIC_FLAGS $<$<CONFIG:Release>:-Os>)
endif()
function(weft_library name)
  cmake_parse_arguments(ARG "COMPANION" "" "SOURCES;SMALL;SIMD;SIMD_DOTS;SIMD_BFLOAT;SIMD_AMX;DEPS;LINK" ${ARGN})
  if(name IN_LIST WEFT_SMALL_LAYERS)
    weft_objects(weft_${name} SMALL "${ARG_SOURCES}" ${ARG_COMPANION})
    set_property(GLOBAL PROPERTY WEFT_SMALL_${name} weft_${name})
  else()
    weft_objects(weft_${name} FAST "${ARG_SOURCES}" ${ARG_COMPANION})
    set_property(GLOBAL PROPERTY WEFT_FAST_${name} weft_${name})
  endif()
  if(ARG_SMALL)
    weft_objects(weft_${name}_small SMALL "${ARG_SMALL}" ${ARG_COMPANION})
    set_property(GLOBAL PROPERTY WEFT_SMALL_${name} weft_${name}_small)
  endif()
  if(ARG_COMPANION)
    set_property(GLOBAL APPEND PROPERTY WEFT_COMPANION_LAYERS ${name})
  else()
    set_property(GLOBAL APPEND PROPERTY WEFT_LAYERS ${name})
  endif()
  set_property(GLOBAL PROPERTY WEFT_DEPS_${name} "${ARG_DEPS}")
  set_property(GLOBAL APPEND PROPERTY WEFT_LINK ${ARG_LINK})
  foreach(source ${ARG_SIMD} ${ARG_SIMD_DOTS})
    weft_simd(${name} ${source})
  endforeach()
  foreach(source ${ARG_SIMD_DOTS})
    weft_simd_dots(${name} ${source})
  endforeach()
  foreach(source ${ARG_SIMD_BFLOAT})  # kernels/cpu/isa_bfloat_begin.h
    weft_simd_level(${name} ${source} AVX512_BFLOAT WEFT_ISA_AVX512)
  endforeach()
  foreach(source ${ARG_SIMD_AMX})
    weft_simd_level(${name} ${source} AMX WEFT_ISA_AVX512 WEFT_ISA_AMX)
  endforeach()
endfunction()

function(weft_objects target kind sources companion)
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/generated)
  if(kind STREQUAL SMALL)
    target_compile_options(${target} PRIVATE ${WEFT_SMALL_FLAGS})
  endif()
  if(companion)
    weft_companion(${target})
  endif()
  # What every op call runs through reads no files: there these two cost 9 % of the instructions of a small call, elsewhere nothing.
  if(WEFT_HARDENED AND target IN_LIST WEFT_CALL_PATH)
    target_compile_options(${target} PRIVATE -fno-stack-protector $<$<BOOL:${WEFT_LANDING_PADS}>:-fcf-protection=none>)
  endif()
  weft_batches(${target})
  if(companion)
    weft_precompiled(${target} companion)
  elseif(WEFT_HARDENED AND target IN_LIST WEFT_CALL_PATH)
    # other flags than the headers that are parsed once
  elseif(kind STREQUAL SMALL)
    weft_precompiled(${target} small)
  else()
    weft_precompiled(${target} fast)
  endif()
endfunction()

# What is in a library of its own that uses the engine (cmake/companion.py). Variables of the engine's headers are reached through the global offset table, where the
# library gets the addresses of the engine's.
function(weft_companion target)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET default)
  target_compile_options(${target} PRIVATE -fno-semantic-interposition $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
endfunction()

# With WEFT_BULK a whole build from nothing takes less time: the headers that most files include are parsed once for all files of the same flags,
# and a layer's files are compiled in batches of 3000 lines. Off unless asked for: an edit then compiles a whole batch, and compiler caches know a
# file only in the folder where it was built. Files then see headers that they do not include; other builds and tests/source/layers.py do not allow it.
option(WEFT_BULK "parse common headers once and compile files in batches: faster from scratch, useless for edits and compiler caches" OFF)
if(WEFT_BULK)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)  # a file's private types, where a batch includes the file
endif()
set(WEFT_STD_HEADERS <algorithm> <atomic> <cmath> <complex> <cstring> <functional> <limits> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view>
  <unordered_map> <variant> <vector>)
# Headers of ours that files of many layers include. To parse them takes seconds for each set of flags, and saves each call of the compiler three quarters of one.
set(WEFT_OWN_HEADERS "")
foreach(header op/registry.h op/emit.h op/gradient.h ops/all.h graph/graph.h graph/function_library.h runtime/function_runtime.h eager/context.h)
  list(APPEND WEFT_OWN_HEADERS ${CMAKE_SOURCE_DIR}/src/${header})
endforeach()
set(WEFT_SMALL_HEADERS ${WEFT_OWN_HEADERS})
foreach(header graph/shape_inference.h trace/variable.h io/graph_def.h wire/proto.h api/unwrap.h capi/internal.h)
  list(APPEND WEFT_SMALL_HEADERS ${CMAKE_SOURCE_DIR}/src/${header})
endforeach()
set(WEFT_PUBLIC_HEADERS <filesystem> <fstream> <random> <sstream> <thread> ${CMAKE_SOURCE_DIR}/include/weft/weft.h)

# The files of a target in batches (cmake/batches.py), which take their place in it.
function(weft_batches target)
  if(NOT WEFT_BULK)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(rest ${sources})
  list(FILTER sources EXCLUDE REGEX "^${CMAKE_BINARY_DIR}|\\$<|\\.c$")  # what the build itself writes is not there yet
  foreach(source ${sources})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(options)  # of its own
      list(REMOVE_ITEM sources ${source})
    endif()
  endforeach()
  list(LENGTH sources gathered)
  if(gathered LESS 2)
    return()
  endif()
  list(REMOVE_ITEM rest ${sources})
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/batches.py 3000 ${CMAKE_CURRENT_BINARY_DIR}/batches/${target} ${sources}
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE batches OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" batches "${batches}")
  list(APPEND batches ${rest})
  set_target_properties(${target} PROPERTIES SOURCES "${batches}")
endfunction()

# weft_pch(NAME LIBRARY|EXECUTABLE [HEADERS ...] [OPTIONS ...]): what targets with these options take by weft_precompiled.
function(weft_pch name kind)
  cmake_parse_arguments(ARG "" "" "HEADERS;OPTIONS" ${ARGN})
  if(NOT WEFT_BULK)
    return()
  endif()
  if(NOT EXISTS ${CMAKE_BINARY_DIR}/generated/pch.cc)
    file(WRITE ${CMAKE_BINARY_DIR}/generated/pch.cc "int main() { return 0; }\n")
  endif()
  if(kind STREQUAL LIBRARY)
    add_library(weft_pch_${name} OBJECT ${CMAKE_BINARY_DIR}/generated/pch.cc)
  else()
    add_executable(weft_pch_${name} ${CMAKE_BINARY_DIR}/generated/pch.cc)
    target_link_options(weft_pch_${name} PRIVATE -Wl,--unresolved-symbols=ignore-all)  # of what the headers declare; it is never run
  endif()
  target_compile_options(weft_pch_${name} PRIVATE ${ARG_OPTIONS})
  target_include_directories(weft_pch_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/generated)
  target_precompile_headers(weft_pch_${name} PRIVATE ${WEFT_STD_HEADERS} ${ARG_HEADERS})
endfunction()

function(weft_precompiled target pch)
  if(WEFT_BULK)
    target_precompile_headers(${target} REUSE_FROM weft_pch_${pch})
  endif()
endfunction()

weft_pch(fast LIBRARY HEADERS ${WEFT_OWN_HEADERS})
weft_pch(small LIBRARY HEADERS ${WEFT_SMALL_HEADERS} OPTIONS ${WEFT_SMALL_FLAGS})
weft_pch(companion LIBRARY HEADERS ${WEFT_OWN_HEADERS} ${CMAKE_SOURCE_DIR}/src/op/data_service.h ${CMAKE_SOURCE_DIR}/src/wire/proto.h OPTIONS ${WEFT_SMALL_FLAGS})
if(WEFT_BULK)
  weft_companion(weft_pch_companion)
endif()
weft_pch(loops LIBRARY OPTIONS ${WEFT_LOOP_FLAGS})
weft_pch(generic LIBRARY OPTIONS ${WEFT_GENERIC_FLAGS})
weft_pch(programs EXECUTABLE HEADERS ${WEFT_PUBLIC_HEADERS} OPTIONS -O0 -U_FORTIFY_SOURCE)  # examples, and tests on the shared library
weft_pch(tests EXECUTABLE HEADERS ${WEFT_PUBLIC_HEADERS} <doctest/doctest.h> ${CMAKE_SOURCE_DIR}/src/eager/op.h ${CMAKE_SOURCE_DIR}/src/engine/engine.h OPTIONS -O0 -U_FORTIFY_SOURCE)

# A program that writes sources while the library is built: it runs once, for a moment.
function(weft_build_tool name)
  target_compile_options(${name} PRIVATE -O0 -U_FORTIFY_SOURCE)
  weft_precompiled(${name} programs)
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
    if(layer STREQUAL "engine")
      list(APPEND fast weft_engine_table)
    endif()
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
    weft_simd_level(${layer} ${source} ${isa} WEFT_ISA_${isa})
  endforeach()
endfunction()
# Beside them, with the dot products of bytes (VNNI) that some processors of the two upper levels have (kernels/cpu/isa_dots_begin.h).
function(weft_simd_dots layer source)
  foreach(isa AVX2 AVX512)
    weft_simd_level(${layer} ${source} ${isa}_DOTS WEFT_ISA_${isa} WEFT_ISA_DOTS)
  endforeach()
endfunction()
function(weft_simd_level layer source level)
  get_filename_component(base ${source} NAME_WE)
  get_filename_component(dir ${source} DIRECTORY)
  string(REPLACE "/" "_" dir "${dir}")
  set(target weft_${layer}_${dir}_${base}_${level})
  add_library(${target} OBJECT ${source})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE ${ARGN})
  if(level STREQUAL GENERIC AND NOT base IN_LIST WEFT_GENERIC_FAST)
    target_compile_options(${target} PRIVATE ${WEFT_GENERIC_FLAGS})
    weft_precompiled(${target} generic)
  else()
    target_compile_options(${target} PRIVATE ${WEFT_LOOP_FLAGS})
    weft_precompiled(${target} loops)
  endif()
  set_property(GLOBAL APPEND PROPERTY WEFT_SIMD_TARGETS ${target})
endfunction()

# weft_test(NAME SOURCES ... ): a doctest binary, linked with the whole engine, run from the source tree.
function(weft_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ARGS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  weft_test_program(${name})
  weft_batches(${name})
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endfunction()
function(weft_test_program name)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${name} PRIVATE weft_test_support)
endfunction()

# What is in front of a Python interpreter that loads the package: with a sanitizer its library has to be loaded before all else, since the
# interpreter is built without. What Python keeps to the end is not a leak, and libraries that were built without are not judged.
set(WEFT_PYTHON_PREFIX "")
if(WEFT_SANITIZE)
  set(runtime libasan.so)
  if(WEFT_SANITIZE MATCHES "thread")
    set(runtime libtsan.so)
  endif()
  foreach(library ${runtime} libstdc++.so.6)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library} OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND WEFT_PYTHON_PREFIX ${file})
  endforeach()
  list(JOIN WEFT_PYTHON_PREFIX ":" WEFT_PYTHON_PREFIX)
  # Options of every test. Without the heap for frames that g++ 12 and 13 align too loosely for vectors of 64 bytes (bug 110027).
  # The sanitizers of g++ 12 take some thread-local memory of loaded libraries for that of glibc 2.19, and die of the size that they read there
  # (google/sanitizers issue 1322). Without that guess such memory is any other.
  set(WEFT_ASAN_OPTIONS detect_stack_use_after_return=0:intercept_tls_get_addr=0)
  # Of libraries that were built without the thread sanitizer (gRPC, protobuf's upb) nothing is known but their calls: no reports from inside them.
  set(WEFT_TSAN_OPTIONS die_after_fork=0:intercept_tls_get_addr=0:ignore_noninstrumented_modules=1:suppressions=${CMAKE_SOURCE_DIR}/tests/support/tsan.supp)
  set(WEFT_PYTHON_PREFIX ${CMAKE_COMMAND} -E env LD_PRELOAD=${WEFT_PYTHON_PREFIX} ASAN_OPTIONS=${WEFT_ASAN_OPTIONS}:detect_leaks=0:allocator_may_return_null=1
    TSAN_OPTIONS=${WEFT_TSAN_OPTIONS}:report_signal_unsafe=0 PYTHONMALLOC=malloc)
  # For tests that measure the growth of the process: what is freed may be used again at once, instead of after 256 MB more.
  set(WEFT_PYTHON_PREFIX_WITHOUT_QUARANTINE ${WEFT_PYTHON_PREFIX})
  list(TRANSFORM WEFT_PYTHON_PREFIX_WITHOUT_QUARANTINE REPLACE "^ASAN_OPTIONS=" "ASAN_OPTIONS=quarantine_size_mb=0:thread_local_quarantine_size_kb=0:")
endif()

# Takes the place of CMake's own command, so that no test can be added without: each runs in folders of its own (tests/support/sandbox.sh). A test with a
# WORKING_DIRECTORY names files by their path there and gets links to them.
function(add_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;WORKING_DIRECTORY" "COMMAND")
  list(POP_FRONT ARG_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  set(links "")
  if(ARG_WORKING_DIRECTORY)
    set(links --links ${ARG_WORKING_DIRECTORY})
  endif()
  set(options "")
  if(WEFT_SANITIZE)
    set(options ${CMAKE_COMMAND} -E env ASAN_OPTIONS=${WEFT_ASAN_OPTIONS} LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0
      TSAN_OPTIONS=${WEFT_TSAN_OPTIONS})
  endif()
  _add_test(NAME ${ARG_NAME} COMMAND ${options} ${CMAKE_SOURCE_DIR}/tests/support/sandbox.sh ${CMAKE_BINARY_DIR}/sandboxes/${ARG_NAME} ${links} -- ${program} ${ARG_COMMAND})
endfunction()
