// Completion scripts: commands, flags, and op names asked of `weft ops --names`.
#pragma once

#include <string>
#include <string_view>

namespace weft::cli {

std::string completion_script(std::string_view shell);

}  // namespace weft::cli
