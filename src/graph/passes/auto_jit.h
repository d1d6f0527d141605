// A name for lists of passes that are switched off (PassContext::disabled) which is no pass of the graph: compiling functions without being asked (runtime/hot_plan.h).
// ConfigProto's global_jit_level OFF puts it there.
#pragma once

namespace weft_engine::graph {

inline constexpr char kAutoJit[] = "auto_jit";

}  // namespace weft_engine::graph
