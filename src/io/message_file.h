// Messages in files, binary or text: saved_model.pb, graph.pbtxt, "checkpoint". What comes out is always binary.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace weft_engine::io {

// The whole file. NotFound, PermissionDenied ... with the path and the system's words; ResourceExhausted above 2 GiB.
core::Result<std::string> read_file(const std::string& path);

// The bytes of a message (full name, from proto/) in a file. Text by its name (.pbtxt, .textproto, .prototxt, .txt) or
// if it is no binary message but reads as text. DataLoss if it is neither, with the place of the first mistake in a text.
core::Result<std::string> read_message(std::string_view message, const std::string& path);

}  // namespace weft_engine::io
