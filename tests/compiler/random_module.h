// Modules of random instructions, for the planner's and the simplifier's tests.
#pragma once

#include <cstdint>
#include <memory>

#include "ir/ir.h"

namespace weft_engine::testing {

struct RandomOptions {
  int instrs = 20;
  bool open = false;     // sizes with symbols
  bool control = true;   // loops and branches
};

std::unique_ptr<ir::Module> random_module(uint64_t seed, const RandomOptions& options = {});

}  // namespace weft_engine::testing
