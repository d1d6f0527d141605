// Errors that cross processes. Weft's tell by notes (core/error_notes.h) what they are; TensorFlow's by their text alone, which is read where an error
// arrives and nowhere else.
#pragma once

#include <string>
#include <string_view>

#include "core/error_notes.h"

namespace weft_engine::remote {

// The error as it arrived, with notes of what its text says.
core::Status with_notes_of_text(core::Status s);

// The error of a call to a task, with its name, as TensorFlow words it.
core::Status error_of_target(const core::Status& s, const std::string& task);
core::Status error_of_task(const std::string& task, std::string_view method, const core::Status& s);

}  // namespace weft_engine::remote
