# The install tree: weft's own headers, TensorFlow's C headers under the names that clients include, the
# library with the names under which programs look for TensorFlow, and what build systems ask for.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_LIBDIR lib)

install(TARGETS weft EXPORT weftTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION include)
set_target_properties(weft PROPERTIES EXPORT_NAME weft)
target_include_directories(weft INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_compile_features(weft INTERFACE cxx_std_20)
foreach(alias libtensorflow.so libtensorflow.so.2 libtensorflow_framework.so.2 libtensorflow_cc.so.2)
  install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} -E create_symlink libweft.so.${PROJECT_VERSION_MAJOR} \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/${alias})")
endforeach()

install(DIRECTORY include/ DESTINATION include FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${CMAKE_BINARY_DIR}/generated/weft DESTINATION include OPTIONAL FILES_MATCHING PATTERN "*.h")

file(WRITE ${CMAKE_BINARY_DIR}/weftConfig.cmake "include(\${CMAKE_CURRENT_LIST_DIR}/weftTargets.cmake)\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(FILES ${CMAKE_BINARY_DIR}/weftConfig.cmake ${CMAKE_BINARY_DIR}/weftConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

foreach(name weft tensorflow)
  if(name STREQUAL weft)
    set(about "TensorFlow 2's execution engine in modern C++")
    set(version ${PROJECT_VERSION})
  else()
    set(about "TensorFlow's C API, by weft")
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
Cflags: -I${includedir}
]])
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
