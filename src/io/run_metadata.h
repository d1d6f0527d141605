// What ran when, in TensorFlow's RunMetadata message (StepStats).
#pragma once

#include <string>
#include <vector>

#include "op/step_trace.h"

namespace weft_engine::io {

std::string encode_run_metadata(const std::vector<op::StepTrace::Event>& events);

}  // namespace weft_engine::io
