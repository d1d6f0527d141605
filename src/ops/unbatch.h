// Unbatch and UnbatchGrad, part of the family of batch.cc.
#pragma once

#include "op/registry.h"

namespace weft::ops {

void unbatch(op::Registry& r);

}  // namespace weft::ops
