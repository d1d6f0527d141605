#include "ops/declared.h"

namespace weft_engine::ops {
namespace {

#include "ops/declared_ops.inc"

}  // namespace

op::Declarations declared() { return {{kText, sizeof kText - 1}, kBegins}; }

}  // namespace weft_engine::ops
