// Which optimisations a ConfigProto switches off: GraphOptions.rewrite_options (by the names of
// RewriterConfig's fields, which the passes know) and OptimizerOptions.opt_level.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace weft_engine::io {

// Names of passes, as PassContext::disabled takes them; graph::kAutoJit where global_jit_level is OFF. InvalidArgument for bytes that are no ConfigProto.
core::Result<std::vector<std::string>> disabled_passes(std::string_view config_proto);
// Whether it asks for compiled clusters: global_jit_level is ON_1 or ON_2.
bool wants_jit(std::string_view config_proto);

}  // namespace weft_engine::io
