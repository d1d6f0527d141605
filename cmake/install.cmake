# The install tree: weft's own headers, TensorFlow's C headers under the names that clients include, the
# library with the names under which programs look for TensorFlow, and what build systems ask for.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_LIBDIR lib)

install(TARGETS weft EXPORT weftTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION include)
set_target_properties(weft PROPERTIES EXPORT_NAME weft)
target_include_directories(weft INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/generated>
  $<INSTALL_INTERFACE:include>)
target_compile_features(weft INTERFACE cxx_std_20)
foreach(alias libtensorflow.so libtensorflow.so.2 libtensorflow_framework.so.2 libtensorflow_cc.so libtensorflow_cc.so.2)
  install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} -E create_symlink libweft.so.${PROJECT_VERSION_MAJOR} \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/${alias})")
endforeach()

install(DIRECTORY include/ DESTINATION include FILES_MATCHING PATTERN "*.h")
install(DIRECTORY include/third_party DESTINATION include)  # Eigen's names have no suffix
foreach(folder weft tensorflow tsl xla)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/generated/${folder} DESTINATION include OPTIONAL FILES_MATCHING PATTERN "*.h")
endforeach()

file(WRITE ${CMAKE_BINARY_DIR}/weftConfig.cmake "include(\${CMAKE_CURRENT_LIST_DIR}/weftTargets.cmake)\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(FILES ${CMAKE_BINARY_DIR}/weftConfig.cmake ${CMAKE_BINARY_DIR}/weftConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

# The names under which CMake projects look for TensorFlow's C++ library; both have the variables that find modules set.
foreach(name TensorFlow TensorflowCC)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}Config.cmake @ONLY CONTENT [[
include(CMakeFindDependencyMacro)
find_dependency(weft PATHS ${CMAKE_CURRENT_LIST_DIR}/../weft NO_DEFAULT_PATH)
get_filename_component(@name@_prefix ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)
set(@name@_INCLUDE_DIRS ${@name@_prefix}/include ${@name@_prefix}/include/tensorflow/fallback)
set(@name@_LIBRARIES ${@name@_prefix}/lib/libtensorflow_cc.so.2)
foreach(target TensorFlow::TensorFlow TensorFlow::tensorflow_cc TensorflowCC::TensorflowCC tensorflow_cc)
  if(NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED)
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${@name@_prefix}/include INTERFACE_LINK_LIBRARIES ${@name@_LIBRARIES})
    set_target_properties(${target} PROPERTIES INTERFACE_COMPILE_OPTIONS -isystem${@name@_prefix}/include/tensorflow/fallback)
    target_compile_features(${target} INTERFACE cxx_std_17)
  endif()
endforeach()
]])
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/${name}ConfigVersion.cmake VERSION 2.21.0 COMPATIBILITY SameMajorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/${name}Config.cmake ${CMAKE_BINARY_DIR}/${name}ConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
endforeach()

foreach(name weft tensorflow tensorflow_cc)
  set(fallback "")
  if(name STREQUAL weft)
    set(about "TensorFlow 2's execution engine in modern C++")
    set(version ${PROJECT_VERSION})
  else()
    set(about "TensorFlow's C API, by weft")
    if(name STREQUAL tensorflow_cc)
      set(about "TensorFlow's C++ API, by weft")
      set(fallback " -isystem\${includedir}/tensorflow/fallback")  # abseil's names, so that nobody has to link abseil
    endif()
    set(version 2.21.0)
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.pc @ONLY CONTENT [[
prefix=${pcfiledir}/../..
libdir=${prefix}/lib
includedir=${prefix}/include

Name: @name@
Description: @about@
Version: @version@
Libs: -L${libdir} -l@name@
Cflags: -I${includedir}@fallback@
]])
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
