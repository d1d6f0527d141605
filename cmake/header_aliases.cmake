# Headers that are another name of one in include/tensorflow: files that TensorFlow moved and kept, or that some of its versions have in another place. Those of abseil
# (tensorflow/fallback) give way to an abseil that is installed where a program asks for it (WEFT_WITH_ABSEIL).
set(table ${CMAKE_CURRENT_LIST_DIR}/header_aliases.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
file(STRINGS ${table} lines REGEX "^[^#]")
foreach(line ${lines})
  string(REGEX MATCH "^([^ ]+) +([^ ]+)$" _ "${line}")
  set(name ${CMAKE_MATCH_1})
  set(include "#include \"${CMAKE_MATCH_2}\"  // IWYU pragma: export\n")
  if(name MATCHES "^tensorflow/fallback/(.*)$")
    set(include "#ifdef WEFT_WITH_ABSEIL\n#include_next <${CMAKE_MATCH_1}>\n#else\n${include}#endif\n")
  endif()
  set(names ${name})
  if(name MATCHES "^tsl/")  # where TensorFlow 2.10 to 2.12 have them
    list(APPEND names tensorflow/${name})
  endif()
  foreach(one ${names})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${one} CONTENT "// Another name of what it includes.\n#pragma once\n${include}")
  endforeach()
endforeach()
# Every header of abseil includes this one: so that one of which there is no form here says what to do.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/tensorflow/fallback/absl/base/config.h CONTENT [[
#pragma once
#ifdef WEFT_WITH_ABSEIL
#include_next <absl/base/config.h>
#else
#error "weft has no form of its own of this header of abseil: compile with -DWEFT_WITH_ABSEIL, and link abseil"
#endif
]])
