#include "ops/declared.h"

namespace weft::ops {
namespace {

#include "ops/declared_ops.inc"

}  // namespace

op::Declarations declared() { return {{kText, sizeof kText - 1}, kBegins}; }

}  // namespace weft::ops
