#include "op/lower.h"

namespace weft_engine::op {

ir::Value LowerContext::x(int i) {
  if (!ok() || i >= num_inputs()) return nullptr;
  const Lowered& v = input(i);
  if (v.kind() == Lowered::Kind::kTensor) return v.tensor();
  if (v.kind() == Lowered::Kind::kState) return read(i);
  return b.fail(internal_error("input ", i, " of ", node.op(), " '", node.name(), "' is not a tensor to the compiler"));
}

const ir::Type& LowerContext::type(int i) {
  static const auto& kNone = *new ir::Type;
  const ir::Value v = x(i);
  return v ? v->type : kNone;
}

std::optional<std::vector<ir::Dim>> LowerContext::sizes(int i) {
  const ir::Value v = x(i);
  if (!v) return std::nullopt;
  if (v->known) return v->known;
  b.fail(unimplemented("the shape that ", node.op(), " '", node.name(), "' makes depends on data (its input ", i,
                       "), which compiled code cannot have; make that input a constant, or run this node in the engine"));
  return std::nullopt;
}

std::optional<std::vector<int64_t>> LowerContext::ints(int i) {
  const auto dims = sizes(i);
  if (!dims) return std::nullopt;
  std::vector<int64_t> out;
  for (const ir::Dim& d : *dims) {
    if (!d.is_const()) {
      b.fail(unimplemented("input ", i, " of ", node.op(), " '", node.name(), "' must be known when compiling; it depends on an unknown dimension"));
      return std::nullopt;
    }
    out.push_back(d.value());
  }
  return out;
}

std::optional<int64_t> LowerContext::integer(int i) {
  const auto all = ints(i);
  if (!all) return std::nullopt;
  if (all->size() == 1) return (*all)[0];
  b.fail(invalid_argument("input ", i, " of ", node.op(), " '", node.name(), "' must be one number, not ", all->size()));
  return std::nullopt;
}

const Tensor* LowerContext::constant(int i) {
  const ir::Value v = x(i);
  return v && v->op == ir::Op::kConstant ? &v->literal : nullptr;
}

std::optional<int> LowerContext::axis(int64_t a, int of) {
  if (a >= -of && a < of) return int(a < 0 ? a + of : a);
  b.fail(invalid_argument("axis ", a, " of ", node.op(), " '", node.name(), "' is outside [", -of, ", ", of, ")"));
  return std::nullopt;
}

ir::Value LowerContext::read(int i) {
  if (!ok() || i >= num_inputs()) return nullptr;
  if (input(i).kind() != Lowered::Kind::kState)
    return b.fail(internal_error("input ", i, " of ", node.op(), " '", node.name(), "' is not a variable to the compiler"));
  const Lowered* v = host.read(input(i).state());
  return v ? v->tensor() : nullptr;
}

void LowerContext::assign(int i, ir::Value v) {
  if (!v || !ok() || i >= num_inputs()) return;
  if (input(i).kind() != Lowered::Kind::kState) {
    b.fail(internal_error("input ", i, " of ", node.op(), " '", node.name(), "' is not a variable to the compiler"));
    return;
  }
  host.write(input(i).state(), v);
}

LoweredList LowerContext::fail(Status s) {
  b.fail(std::move(s));
  return {};
}

LoweredList LowerContext::unsupported(std::string_view what) {
  return fail(unimplemented("the compiler cannot lower ", what, " of ", node.op(), " '", node.name(), "'"));
}

LoweredList forward_inputs(LowerContext& l) {
  LoweredList out;
  for (int i = 0; i < l.num_inputs(); ++i) out.push_back(l.input(i));
  return out;
}

LoweredList lower_to_nothing(LowerContext& l) { return LoweredList(l.node.output_types().size()); }

LoweredList shape_from_data(LowerContext& l) { return l.unsupported("the shape, which depends on data,"); }

}  // namespace weft_engine::op
