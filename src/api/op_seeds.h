// The seeds of random ops.
#pragma once

#include <cstdint>

namespace weft::random {

struct OpSeeds {
  int64_t first = 0, second = 0;
};
// By the argument of a function: -1 is none of its own. What set_seed said takes part.
OpSeeds op_seeds(int64_t seed);

}  // namespace weft::random
