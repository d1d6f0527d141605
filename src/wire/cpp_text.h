// Messages as protobuf's C++ library prints them: other than TensorFlow's Python (text_format.h) it has 1 for a whole float, and in entries of maps
// key and value whatever they are.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace weft_engine::wire {

// InvalidArgument for an unknown message, DataLoss if the bytes are no such message.
core::Result<std::string> binary_to_cpp_text(std::string_view message, std::string_view bytes);

}  // namespace weft_engine::wire
