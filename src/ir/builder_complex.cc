// Complex numbers in compiled code: moved as they are, computed with by their parts.
#include <algorithm>

#include "ir/builder.h"

namespace weft_engine::ir {

DType part_type(DType complex) { return complex == DType::kComplex128 ? DType::kDouble : DType::kFloat; }
DType complex_type(DType part) { return part == DType::kDouble ? DType::kComplex128 : DType::kComplex64; }

Value Builder::real(Value x) {
  if (!ok({x})) return nullptr;
  if (x->op == Op::kBinary && x->binary == Binary::kComplex) return x->operands[0];
  Instr* i = make(Op::kUnary, {part_type(x->type.dtype), x->type.dims}, {x});
  i->unary = Unary::kReal;
  return i;
}

Value Builder::imag(Value x) {
  if (!ok({x})) return nullptr;
  if (x->op == Op::kBinary && x->binary == Binary::kComplex) return x->operands[1];
  Instr* i = make(Op::kUnary, {part_type(x->type.dtype), x->type.dims}, {x});
  i->unary = Unary::kImag;
  return i;
}

Value Builder::complex(Value re, Value im) {
  std::tie(re, im) = matched(re, im);
  if (!re || !im) return nullptr;
  Instr* i = make(Op::kBinary, {complex_type(re->type.dtype), re->type.dims}, {re, im});
  i->binary = Binary::kComplex;
  return i;
}

namespace {

struct Parts {
  Value re, im;
};

// Functions of complex numbers by those of real ones.
struct Complex {
  Builder& b;

  Value f(Unary op, Value x) { return b.unary(op, x); }
  Value zero(Value like) { return b.scalar(like->type.dtype, 0); }

  // Without squares that overflow.
  Value size(Parts z) {
    const Value x = f(Unary::kAbs, z.re), y = f(Unary::kAbs, z.im), most = b.max(x, y), least = b.min(x, y);
    const Value ratio = b.div(least, most), length = b.mul(most, b.sqrt(b.add(b.square(ratio), 1.0)));
    const Value infinite = b.binary(Binary::kOr, f(Unary::kIsInf, x), f(Unary::kIsInf, y));
    const Value plain = b.select(b.compare(Compare::kEq, most, zero(most)), most, length);
    return infinite ? b.select(infinite, b.add(f(Unary::kAbs, b.select(f(Unary::kIsInf, x), x, y)), 0.0), plain) : nullptr;
  }
  Parts times(Parts x, Parts y) { return {b.sub(b.mul(x.re, y.re), b.mul(x.im, y.im)), b.add(b.mul(x.re, y.im), b.mul(x.im, y.re))}; }
  // Scaled by the larger part of the divisor, so that its square does not overflow.
  Parts over(Parts x, Parts y) {
    const Value most = b.max(f(Unary::kAbs, y.re), f(Unary::kAbs, y.im));
    const Value c = b.div(y.re, most), d = b.div(y.im, most), under = b.mul(b.add(b.square(c), b.square(d)), most);
    return {b.div(b.add(b.mul(x.re, c), b.mul(x.im, d)), under), b.div(b.sub(b.mul(x.im, c), b.mul(x.re, d)), under)};
  }
  Parts one_over(Parts z) {
    const Value one = b.scalar(z.re->type.dtype, 1);
    return over({one, zero(z.re)}, z);
  }
  Parts exp(Parts z) {
    const Value e = b.exp(z.re), still = b.compare(Compare::kEq, z.im, zero(z.im));
    return {b.mul(e, f(Unary::kCos, z.im)), b.select(still, z.im, b.mul(e, f(Unary::kSin, z.im)))};
  }
  Parts log(Parts z) { return {b.log(size(z)), b.binary(Binary::kAtan2, z.im, z.re)}; }
  Parts sqrt(Parts z) {
    const Value r = size(z), half = b.sqrt(b.mul(b.add(r, f(Unary::kAbs, z.re)), 0.5)), other = b.div(b.mul(z.im, 0.5), half);
    const Value right = b.compare(Compare::kGe, z.re, zero(r)), nothing = b.compare(Compare::kEq, r, zero(r));
    const Value down = b.compare(Compare::kLt, z.im, zero(r));
    const Value re = b.select(right, half, f(Unary::kAbs, other)), im = b.select(right, other, b.select(down, b.neg(half), half));
    const Value steep = f(Unary::kIsInf, z.im);  // infinite whatever the real part is
    return {b.select(steep, r, b.select(nothing, zero(r), re)), b.select(b.binary(Binary::kOr, steep, nothing), z.im, im)};
  }
  Parts power(Parts x, Parts y) {
    const Parts p = exp(times(y, log(x)));
    const auto is_zero = [&](Parts z) {
      return b.binary(Binary::kAnd, b.compare(Compare::kEq, z.re, zero(z.re)), b.compare(Compare::kEq, z.im, zero(z.im)));
    };
    const Value base = is_zero(x), exponent = is_zero(y), one = b.scalar(x.re->type.dtype, 1);
    return {b.select(exponent, one, b.select(base, zero(x.re), p.re)), b.select(b.binary(Binary::kOr, exponent, base), zero(x.re), p.im)};
  }
};

}  // namespace

Value Builder::complex_unary(Unary op, Value x) {
  Complex c{*this};
  const Parts z{real(x), imag(x)};
  if (!ok({z.re, z.im})) return nullptr;
  const auto whole = [&](Parts p) { return complex(p.re, p.im); };
  switch (op) {
    case Unary::kReal: return z.re;
    case Unary::kImag: return z.im;
    case Unary::kNeg: return whole({neg(z.re), neg(z.im)});
    case Unary::kAbs: return c.size(z);
    case Unary::kSign: {
      const Value r = c.size(z), none = compare(Compare::kEq, r, c.zero(r));
      return whole({select(none, r, div(z.re, r)), select(none, r, div(z.im, r))});
    }
    case Unary::kExp: return whole(c.exp(z));
    case Unary::kLog: return whole(c.log(z));
    case Unary::kSqrt: return whole(c.sqrt(z));
    case Unary::kLogistic: {
      const Parts e = c.exp({neg(z.re), neg(z.im)});
      return whole(c.one_over({add(e.re, 1.0), e.im}));
    }
    default: return fail(core::unimplemented("the compiler does not compute ", name_of(op), " of complex numbers ('", node_, "')"));
  }
}

Value Builder::complex_binary(Binary op, Value a, Value b) {
  Complex c{*this};
  const Parts x{real(a), imag(a)}, y{real(b), imag(b)};
  const auto whole = [&](Parts p) { return complex(p.re, p.im); };
  switch (op) {
    case Binary::kAdd: return whole({add(x.re, y.re), add(x.im, y.im)});
    case Binary::kSub: return whole({sub(x.re, y.re), sub(x.im, y.im)});
    case Binary::kMul: return whole(c.times(x, y));
    case Binary::kDiv: return whole(c.over(x, y));
    case Binary::kPow: return whole(c.power(x, y));
    default: return fail(core::unimplemented("the compiler does not compute ", name_of(op), " of complex numbers ('", node_, "')"));
  }
}

Value Builder::complex_compare(Compare op, Value a, Value b) {
  const Value re = compare(op, real(a), real(b)), im = compare(op, imag(a), imag(b));
  if (op == Compare::kEq) return binary(Binary::kAnd, re, im);
  if (op == Compare::kNe) return binary(Binary::kOr, re, im);
  return fail(core::unimplemented("complex numbers have no order ('", node_, "')"));
}

Value Builder::complex_convert(Value x, DType to) {
  if (core::is_complex_type(x->type.dtype)) {
    if (core::is_complex_type(to)) return complex(convert(real(x), part_type(to)), convert(imag(x), part_type(to)));
    if (to == DType::kBool) return compare(Compare::kNe, x, scalar(x->type.dtype, 0));
    return convert(real(x), to);
  }
  return complex(convert(x, part_type(to)), scalar(part_type(to), 0));
}

// By halves: the numbers of the reduced axes are brought into one that comes first.
Value Builder::complex_product(Value x, std::vector<int> axes, bool keep_dims) {
  std::vector<int> order = axes;
  std::vector<Dim> kept, rest{Dim(1)};
  for (int d = 0; d < x->rank(); ++d) {
    const bool gone = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (gone) rest[0] = rest[0] * x->dim(d);
    else order.push_back(d), rest.push_back(x->dim(d));
    kept.push_back(gone ? Dim(1) : x->dim(d));
  }
  if (!rest[0].is_const()) return fail(core::unimplemented("a product of an unknown number of complex numbers ('", node_, "')"));
  Value v = reshape(transpose(x, order), rest);
  int64_t n = rest[0].value();
  if (n == 0) return fill(x->type.dtype, keep_dims ? kept : std::vector<Dim>(rest.begin() + 1, rest.end()), 1);
  for (; v && n > 1; n = n - n / 2) {
    const int64_t half = n / 2;
    const Value both = mul(slice_axis(v, 0, 0, half), slice_axis(v, 0, half, half));
    v = n % 2 ? concat({both, slice_axis(v, 0, n - 1, 1)}, 0) : both;
  }
  return reshape(v, keep_dims ? kept : std::vector<Dim>(rest.begin() + 1, rest.end()));
}

// Every element with the one 1, 2, 4 ... before it.
Value Builder::complex_running_product(Value x, int axis, bool exclusive, bool reversed) {
  if (!x->dim(axis).is_const()) return fail(core::unimplemented("running products of an unknown number of complex numbers ('", node_, "')"));
  const int64_t n = x->dim(axis).value();
  const Value one = scalar(x->type.dtype, 1);
  const auto moved = [&](Value v, int64_t by) {
    std::vector<Dim> low(size_t(v->rank())), high(size_t(v -> rank()));
    low[size_t(axis)] = by;
    high[size_t(axis)] = -by;
    return pad(v, one, low, high);
  };
  Value v = reversed ? reverse(x, {axis}) : x;
  if (exclusive) v = moved(v, 1);
  for (int64_t step = 1; v && step < n; step *= 2) v = mul(v, moved(v, step));
  return reversed ? reverse(v, {axis}) : v;
}

}  // namespace weft_engine::ir
