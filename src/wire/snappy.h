// Snappy's raw format (google/snappy, format_description.txt), reading only: blocks of tables may be
// compressed with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft::wire {

// Nothing if the input is malformed in any way.
std::optional<std::string> snappy_uncompress(std::string_view in);

}  // namespace weft::wire
