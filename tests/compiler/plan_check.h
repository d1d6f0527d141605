// Runs a plan without numbers: every value is a hash of how it is computed, memory is what was last written where. A plan is right if
// the results and states hold the hashes that the module, followed instruction by instruction, gives.
#pragma once

#include <string>

#include "compiler/plan.h"

namespace weft_engine::testing {

// Empty, or what is wrong. Loops run three times; open sizes are small numbers.
std::string check_plan(const compiler::Plan& plan);

}  // namespace weft_engine::testing
