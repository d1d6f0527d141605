// Functions of two tensors, element by element, with broadcasting; sums of many.
#include <limits>

#include "op/lower.h"
#include "op/lower_list.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using F = ir::Binary;
using V = ir::Value;

struct Row {
  std::string_view op;
  F f;
};
constexpr Row kRows[] = {
    {"Atan2", F::kAtan2},       {"BitwiseAnd", F::kAnd}, {"BitwiseOr", F::kOr}, {"BitwiseXor", F::kXor}, {"Div", F::kDiv},
    {"FloorMod", F::kFloorMod}, {"LogicalAnd", F::kAnd}, {"LogicalOr", F::kOr}, {"Maximum", F::kMax},    {"Minimum", F::kMin},
    {"Mod", F::kMod},           {"Mul", F::kMul},        {"RealDiv", F::kDiv},  {"Sub", F::kSub},        {"TruncateMod", F::kMod},
};

LoweredList by_table(LowerContext& l) {
  for (const Row& row : kRows) {
    if (row.op == l.node.op()) return {l.b.binary(row.f, l.x(0), l.x(1))};
  }
  return l.unsupported("this function");
}

bool of_floats(LowerContext& l) { return is_floating_type(l.type().dtype); }

// Floats are divided and the quotient is rounded to its type, then to a whole number.
LoweredList floor_div(LowerContext& l) {
  if (of_floats(l)) return {l.b.unary(ir::Unary::kFloor, l.b.div(l.x(0), l.x(1)))};
  return {l.b.binary(F::kFloorDiv, l.x(0), l.x(1))};
}
LoweredList truncate_div(LowerContext& l) {
  const V q = l.b.div(l.x(0), l.x(1));
  return {of_floats(l) ? l.b.unary(ir::Unary::kTrunc, q) : q};
}

// A count below 0 shifts by nothing.
LoweredList shift(LowerContext& l, F f) {
  const V n = l.x(1);
  if (!n) return {};
  return {l.b.binary(f, l.x(0), l.b.max(n, l.b.scalar_int(n->type.dtype, 0)))};
}
LoweredList left_shift(LowerContext& l) { return shift(l, F::kShl); }
LoweredList right_shift(LowerContext& l) { return shift(l, F::kShr); }

// x^n by squaring; with a constant n the code generator is left with a few products.
V integer_power(ir::Builder& b, V x, V n) {
  const DType t = x->type.dtype;
  V result = b.scalar_int(t, 1), base = x;
  const int bits = int(dtype_size(t)) * 8 - 1;
  for (int i = 0; i < bits; ++i) {
    const V bit = b.binary(F::kAnd, b.binary(F::kShr, n, b.scalar_int(t, i)), b.scalar_int(t, 1));
    result = b.select(b.compare(ir::Compare::kNe, bit, b.scalar_int(t, 0)), b.mul(result, base), result);
    if (i + 1 < bits) base = b.square(base);
  }
  return result;
}

std::optional<double> one_number(LowerContext& l, int i) {
  const Tensor* t = l.constant(i);
  if (!t || t->num_elements() != 1) return std::nullopt;
  switch (t->dtype()) {
    case DType::kFloat: return double(t->data<float>()[0]);
    case DType::kDouble: return t->data<double>()[0];
    case DType::kInt32: return double(t->data<int32_t>()[0]);
    case DType::kInt64: return double(t->data<int64_t>()[0]);
    default: return std::nullopt;
  }
}

LoweredList pow(LowerContext& l) {
  ir::Builder& b = l.b;
  const V x = l.x(0), y = l.x(1);
  if (!x || !y) return {};
  if (const auto n = one_number(l, 1); n && y->rank() == 0) {
    if (*n == 1) return {x};
    if (*n == 2) return {b.square(x)};
    if (*n == 3) return {b.mul(b.square(x), x)};
    if (*n == -1 && of_floats(l)) return {b.div(b.scalar(x->type.dtype, 1), x)};
  }
  if (of_floats(l)) return {b.binary(F::kPow, x, y)};
  std::vector<int> all;
  for (int i = 0; i < y->rank(); ++i) all.push_back(i);
  b.check(b.reduce(ir::Reduce::kAnd, b.compare(ir::Compare::kGe, y, b.scalar_int(y->type.dtype, 0)), all),
          "Integers to negative integer powers are not allowed");
  return {integer_power(b, x, y)};
}

// `otherwise` but 0 where v is 0.
V unless_zero(ir::Builder& b, V v, V otherwise) {
  if (!v || !otherwise) return nullptr;
  const V zero = b.scalar(v->type.dtype, 0);
  return b.select(b.compare(ir::Compare::kEq, v, zero), zero, otherwise);
}

LoweredList div_no_nan(LowerContext& l) { return {unless_zero(l.b, l.x(1), l.b.div(l.x(0), l.x(1)))}; }
LoweredList mul_no_nan(LowerContext& l) { return {unless_zero(l.b, l.x(1), l.b.mul(l.x(0), l.x(1)))}; }
LoweredList xdivy(LowerContext& l) { return {unless_zero(l.b, l.x(0), l.b.div(l.x(0), l.x(1)))}; }
LoweredList xlogy(LowerContext& l) { return {unless_zero(l.b, l.x(0), l.b.mul(l.x(0), l.b.log(l.x(1))))}; }
LoweredList xlog1py(LowerContext& l) { return {unless_zero(l.b, l.x(0), l.b.mul(l.x(0), l.b.unary(ir::Unary::kLog1p, l.x(1))))}; }
LoweredList squared_difference(LowerContext& l) {
  const V d = l.b.sub(l.x(0), l.x(1));
  return {l.b.mul(conjugate(l.b, d), d)};
}

// Sums of lists are lists of sums.
LoweredList add_lists(LowerContext& l) {
  Lowered::List sum;
  for (int i = 0; i < l.num_inputs(); ++i) {
    if (l.input(i).kind() == Lowered::Kind::kList) sum = sum.length ? lists::add(l.b, sum, l.input(i).list()) : l.input(i).list();
  }
  return {Lowered::list(std::move(sum))};
}

LoweredList add_all(LowerContext& l) {
  for (int i = 0; i < l.num_inputs(); ++i) {
    if (l.input(i).kind() == Lowered::Kind::kList) return add_lists(l);
  }
  V sum = l.x(0);
  for (int i = 1; i < l.num_inputs(); ++i) sum = l.b.add(sum, l.x(i));
  return {sum};
}

}  // namespace

void lower_math_binary(Registry& r) {
  for (const Row& row : kRows) r.lower(row.op, by_table);
  r.lower("AccumulateNV2", add_all);
  for (const char* op : {"Add", "AddN", "AddV2"}) r.lower(op, add_all);
  r.lower("DivNoNan", div_no_nan);
  r.lower("FloorDiv", floor_div);
  r.lower("LeftShift", left_shift);
  r.lower("MulNoNan", mul_no_nan);
  r.lower("Pow", pow);
  r.lower("RightShift", right_shift);
  r.lower("SquaredDifference", squared_difference);
  r.lower("TruncateDiv", truncate_div);
  r.lower("Xdivy", xdivy);
  r.lower("Xlog1py", xlog1py);
  r.lower("Xlogy", xlogy);
}

}  // namespace weft_engine::ops
