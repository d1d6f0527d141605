// Snappy's raw format (google/snappy, format_description.txt): blocks of tables and TFRecord files may be
// compressed with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft_engine::wire {

// Nothing if the input is malformed in any way.
std::optional<std::string> snappy_uncompress(std::string_view in);
// For less than four gigabytes.
std::string snappy_compress(std::string_view in);

}  // namespace weft_engine::wire
