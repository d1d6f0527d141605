#include "ops/all.h"

#include "ops/batch_families.h"

namespace weft_engine::ops {

void all(op::Registry& r) {
#include "ops/families.inc"
}

}  // namespace weft_engine::ops
