# Headers that are another name of one in include/tensorflow: files that TensorFlow moved and kept, or that some of its versions have in another place.
set(table ${CMAKE_CURRENT_LIST_DIR}/header_aliases.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
file(STRINGS ${table} lines REGEX "^[^#]")
foreach(line ${lines})
  string(REGEX MATCH "^([^ ]+) +([^ ]+)$" _ "${line}")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${CMAKE_MATCH_1} CONTENT "// Another name of what it includes.\n#pragma once\n#include \"${CMAKE_MATCH_2}\"  // IWYU pragma: export\n")
endforeach()
