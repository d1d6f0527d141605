#include "op/lower.h"
#include "op/registry.h"
#include "ops/lower_families.h"

namespace weft::ops {

void lower_bias(op::Registry&) {}

}  // namespace weft::ops
