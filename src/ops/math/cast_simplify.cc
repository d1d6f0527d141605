// Casts that change nothing, or that only undo another; casts of shapes.
#include <algorithm>

#include "graph/constant_values.h"
#include "graph/passes/simplify.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

// Does every value of type `a` survive the way to `b` and back?
bool survives(DType a, DType b) {
  auto bits = [](DType t) -> int {  // of the mantissa of a floating type, or of a signed integer
    switch (t) {
      case DType::kBfloat16: return 8;
      case DType::kHalf: return 11;
      case DType::kFloat: return 24;
      case DType::kDouble: return 53;
      case DType::kInt8: return 7;
      case DType::kUint8: return 8;
      case DType::kInt16: return 15;
      case DType::kUint16: return 16;
      case DType::kInt32: return 31;
      case DType::kUint32: return 32;
      case DType::kInt64: return 63;
      default: return 0;
    }
  };
  if (!bits(a) || !bits(b) || bits(b) < bits(a)) return false;
  const bool float_a = is_floating_type(a), float_b = is_floating_type(b);
  if (float_a) return float_b && !(a == DType::kBfloat16 && b == DType::kHalf);
  if (float_b) return b == DType::kFloat || b == DType::kDouble;
  const bool signed_a = a == DType::kInt8 || a == DType::kInt16 || a == DType::kInt32 || a == DType::kInt64;
  const bool signed_b = b == DType::kInt8 || b == DType::kInt16 || b == DType::kInt32 || b == DType::kInt64;
  return signed_b || !signed_a;
}

Result<bool> cast(SimplifyContext& c, Node* n) {
  const DType from = type_of(n->input(0)), to = n->output_type(0);
  if (from == to) return c.same(n, 0);
  const Node* inner = n->input(0).node;
  if (inner->op() != n->op()) return false;
  const Endpoint x = inner->input(0);
  if (type_of(x) != to || !survives(to, from) || n->attr<bool>("Truncate") || inner->attr<bool>("Truncate")) return false;
  return c.replace(n, x);
}

bool cast_shape(const PartialValues& v, PartialShape& out) {
  if (!v.has_sizes(0)) return false;
  if (v.rank() != 0) {
    out = v.as_shape(0);
  } else if (const auto one = v.integer(0)) {
    out = PartialShape({std::max(*one, kUnknownDim)});
  }
  return true;
}

Result<bool> conj(SimplifyContext& c, Node* n) {
  if (is_complex_type(n->output_type(0))) return false;
  return c.same(n, 0);
}

}  // namespace

void simplify_cast(Registry& r) {
  set_simplify(r, "Cast", cast);
  set_shape_value(r, "Cast", cast_shape);
  set_simplify(r, "Conj", conj);
}

}  // namespace weft_engine::ops
