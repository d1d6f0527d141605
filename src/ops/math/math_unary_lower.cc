// Functions of one tensor, element by element.
#include "op/lower.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using F = ir::Unary;
using V = ir::Value;

struct Row {
  std::string_view op;
  F f;
};
constexpr Row kRows[] = {
    {"Abs", F::kAbs},     {"Acos", F::kAcos},     {"Acosh", F::kAcosh},      {"Asin", F::kAsin},   {"Asinh", F::kAsinh},       {"Atan", F::kAtan},
    {"Atanh", F::kAtanh}, {"Ceil", F::kCeil},     {"Cos", F::kCos},          {"Cosh", F::kCosh},   {"Erf", F::kErf},           {"Erfc", F::kErfc},
    {"Exp", F::kExp},     {"Expm1", F::kExpm1},   {"Floor", F::kFloor},      {"Invert", F::kNot},  {"IsFinite", F::kIsFinite}, {"IsInf", F::kIsInf},
    {"IsNan", F::kIsNan}, {"Lgamma", F::kLgamma}, {"Log", F::kLog},          {"Log1p", F::kLog1p}, {"LogicalNot", F::kNot},    {"Neg", F::kNeg},
    {"Rint", F::kRound},  {"Rsqrt", F::kRsqrt},   {"Sigmoid", F::kLogistic}, {"Sign", F::kSign},   {"Sin", F::kSin},           {"Sinh", F::kSinh},
    {"Sqrt", F::kSqrt},   {"Tan", F::kTan},       {"Tanh", F::kTanh},
};

LoweredList by_table(LowerContext& l) {
  for (const Row& row : kRows) {
    if (row.op == l.node.op()) return {l.b.unary(row.f, l.x())};
  }
  return l.unsupported("this function");
}

V one_over(LowerContext& l, V x) { return x ? l.b.div(l.b.scalar(x->type.dtype, 1), x) : nullptr; }

LoweredList reciprocal(LowerContext& l) { return {one_over(l, l.x())}; }
LoweredList square(LowerContext& l) { return {l.b.square(l.x())}; }
LoweredList population_count(LowerContext& l) { return {l.b.convert(l.b.unary(F::kPopcount, l.x()), l.out_type())}; }

// TensorFlow rounds every integer to 0; tf.round never asks it to.
LoweredList round(LowerContext& l) {
  const V x = l.x();
  if (x && is_integer_type(x->type.dtype)) return {l.b.fill(x->type.dtype, x->type.dims, 0)};
  return {l.b.unary(F::kRound, x)};
}

// ---- gradients from the result y: (y, dy)

V result(LowerContext& l) { return conjugate(l.b, l.x(0)); }
LoweredList reciprocal_grad(LowerContext& l) { return {l.b.mul(l.b.neg(l.x(1)), l.b.square(result(l)))}; }
LoweredList sqrt_grad(LowerContext& l) { return {l.b.div(l.b.mul(l.x(1), 0.5), result(l))}; }
LoweredList rsqrt_grad(LowerContext& l) { return {l.b.mul(l.b.mul(l.x(1), -0.5), l.b.mul(l.b.square(result(l)), result(l)))}; }

}  // namespace

void lower_math_unary(Registry& r) {
  for (const Row& row : kRows) r.lower(row.op, by_table);
  r.lower("Inv", reciprocal);
  r.lower("InvGrad", reciprocal_grad);
  r.lower("PopulationCount", population_count);
  r.lower("Reciprocal", reciprocal);
  r.lower("ReciprocalGrad", reciprocal_grad);
  r.lower("Round", round);
  r.lower("RsqrtGrad", rsqrt_grad);
  r.lower("SqrtGrad", sqrt_grad);
  r.lower("Square", square);
}

}  // namespace weft_engine::ops
