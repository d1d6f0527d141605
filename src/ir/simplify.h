// Passes over a module that leave its meaning as it is. Floats keep every bit that TensorFlow's own order of operations gives them.
#pragma once

#include <unordered_set>

#include "ir/ir.h"

namespace weft::ir {

// What results and checks depend on.
std::unordered_set<const Instr*> needed(const Module& m);

}  // namespace weft::ir
