// Fractional pooling, part of the family `pool`.
#pragma once

#include "op/registry.h"

namespace weft::ops {

void fractional_pool(op::Registry& r);

}  // namespace weft::ops
