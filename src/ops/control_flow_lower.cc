// What is left of version 1 control flow once loops and branches are While and If (compiler/lower_frames.cc).
#include "op/lower.h"
#include "op/registry.h"
#include "ops/lower_families.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

LoweredList lower_to_bool(LowerContext& l) {
  const ir::Value x = l.x();
  if (!x) return {};
  if (x->rank() == 0) return {l.b.convert(x, DType::kBool)};
  // A tensor is true if it has elements.
  return {l.b.compare(ir::Compare::kGt, l.b.sizes({x->type.elements()}, DType::kInt64, true), l.b.scalar_int(DType::kInt64, 0))};
}

LoweredList hand_on(LowerContext& l) {
  LoweredList out;
  for (int i = 0; i < l.num_inputs(); ++i) out.push_back(l.input(i));
  return out;
}

}  // namespace

void lower_control_flow(op::Registry& r) {
  r.lower("ToBool", lower_to_bool);
  r.lower("_ArrayToList", hand_on);
  r.lower("_ListToArray", hand_on);
}

}  // namespace weft::ops
