// Calls and structured control flow: the host does the work.
#include "op/lower.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

LoweredList inputs_from(LowerContext& l, int first) {
  LoweredList out;
  for (int i = first; i < l.num_inputs(); ++i) out.push_back(l.input(i));
  return out;
}

LoweredList lower_call(LowerContext& l) { return l.host.call(l.attr<FunctionAttr>("f"), inputs_from(l, 0)); }
LoweredList lower_while(LowerContext& l) { return l.host.while_loop(l.attr<FunctionAttr>("cond"), l.attr<FunctionAttr>("body"), inputs_from(l, 0)); }
LoweredList lower_if(LowerContext& l) {
  const ir::Value which = l.x(0);
  if (!which) return {};
  // Any number: not zero is true.
  return l.host.branch(l.b.convert(which, DType::kBool), {l.attr<FunctionAttr>("else_branch"), l.attr<FunctionAttr>("then_branch")},
                       inputs_from(l, 1));
}
LoweredList lower_case(LowerContext& l) { return l.host.branch(l.x(0), l.attr<std::vector<FunctionAttr>>("branches"), inputs_from(l, 1)); }
// Stands for a result that its branch does not have; the code that joins the branches gives it a value.
LoweredList lower_fake_param(LowerContext& l) {
  const auto shape = l.attr<core::PartialShape>("shape").concrete();
  if (!shape || l.attr<DType>("dtype") == DType::kVariant) return LoweredList(1);
  return {l.b.fill(l.attr<DType>("dtype"), std::vector<ir::Dim>(shape->dims().begin(), shape->dims().end()), 0)};
}
// Which of these devices this is.
LoweredList lower_device_index(LowerContext& l) {
  const auto& names = l.attr<std::vector<std::string>>("device_names");
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "CPU") return {l.b.scalar_int(DType::kInt32, int64_t(i))};
  }
  return {l.b.scalar_int(DType::kInt32, int64_t(names.size()))};
}

}  // namespace

void lower_function(op::Registry& r) {
  r.lower("PartitionedCall", lower_call);
  r.lower("StatefulPartitionedCall", lower_call);
  r.lower("While", lower_while);
  r.lower("StatelessWhile", lower_while);
  r.lower("If", lower_if);
  r.lower("StatelessIf", lower_if);
  r.lower("Case", lower_case);
  r.lower("StatelessCase", lower_case);
  r.lower("FakeParam", lower_fake_param);
  r.lower("DeviceIndex", lower_device_index);
}

}  // namespace weft_engine::ops
