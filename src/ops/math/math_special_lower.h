// What the lowering rules of special functions share: they are computed in double and rounded once.
#pragma once

#include "op/lower.h"

namespace weft_engine::op {
class Registry;
}

namespace weft_engine::ops {

struct Doubles {
  ir::Builder& b;
  ir::Value k(double v) { return b.scalar(core::DType::kDouble, v); }
  ir::Value minus(double v, ir::Value x) { return b.sub(k(v), x); }
  ir::Value over(double v, ir::Value x) { return b.div(k(v), x); }
  ir::Value is(ir::Compare c, ir::Value x, double v) { return b.compare(c, x, k(v)); }
  ir::Value where(ir::Value condition, ir::Value x, ir::Value y) { return b.select(condition, x, y); }
};

template <ir::Value (*f)(Doubles, ir::Value)>
op::LoweredList in_double(op::LowerContext& l) {
  const ir::Value x = l.b.convert(l.x(), core::DType::kDouble);
  return {l.b.convert(x ? f({l.b}, x) : nullptr, l.out_type())};
}

ir::Value lowered_digamma(Doubles d, ir::Value x);
void lower_math_series(op::Registry& r);   // functions of one number, by polynomials
void lower_math_gamma(op::Registry& r);    // of the gamma and beta functions' family

}  // namespace weft_engine::ops
