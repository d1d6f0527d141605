// Lets kernels ask what a function computes (op/function_text.h).
#pragma once

namespace weft_engine::runtime {

// Called once, before there are runtimes.
void describe_functions();

}  // namespace weft_engine::runtime
