#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using V = ir::Value;

// A float that does not fit an integer gives the nearest one that does, as in TensorFlow's compiled code; its kernels do as the processor does.
LoweredList cast(LowerContext& l) {
  V x = l.x();
  if (!x) return {};
  const DType from = x->type.dtype, to = base_type(l.out_type());
  if (from == to) return {x};
  if (l.attr<bool>("Truncate") && is_floating_type(from) && is_floating_type(to) && dtype_size(to) < dtype_size(from))
    return l.unsupported("rounding towards zero");
  return {l.b.convert(x, to)};
}

DType unsigned_of(DType t) {
  switch (dtype_size(t)) {
    case 1: return DType::kUint8;
    case 2: return DType::kUint16;
    case 4: return DType::kUint32;
    default: return DType::kUint64;
  }
}

// A change of size takes the last dimension apart, or makes one of it; the first part has the lowest bits.
LoweredList bitcast(LowerContext& l) {
  ir::Builder& b = l.b;
  const V x = l.x();
  if (!x) return {};
  const DType from = x->type.dtype, to = l.out_type();
  if (from == to) return {x};
  if (is_complex_type(from) || is_complex_type(to)) return l.unsupported("complex numbers");
  const size_t in = dtype_size(from), out = dtype_size(to);
  if (in == out) return {b.bitcast(x, to)};
  const DType plain_in = unsigned_of(from), plain_out = unsigned_of(to), wide = in > out ? plain_in : plain_out;
  const int64_t parts = int64_t(in > out ? in / out : out / in);
  std::vector<ir::Dim> dims = x->type.dims;
  if (in < out && (dims.empty() || !dims.back().is(parts))) return l.fail(invalid_argument("Cannot bitcast from ", int(from), " to ", int(to)));
  if (in > out) dims.emplace_back(parts);
  const int last = int(dims.size()) - 1;
  const V shift = b.mul(b.iota(wide, dims, last), b.scalar_int(wide, int64_t(8 * std::min(in, out))));
  if (in > out) {
    const V spread = b.broadcast_in_dim(b.bitcast(x, plain_in), dims, all_axes(last));
    return {b.bitcast(b.convert(b.binary(ir::Binary::kShr, spread, shift), plain_out), to)};
  }
  const V moved = b.binary(ir::Binary::kShl, b.convert(b.bitcast(x, plain_in), plain_out), shift);
  return {b.bitcast(b.reduce(ir::Reduce::kSum, moved, {last}), to)};
}

// ---- complex numbers and their parts

LoweredList angle(LowerContext& l) { return {l.b.binary(ir::Binary::kAtan2, l.b.imag(l.x()), l.b.real(l.x()))}; }
LoweredList complex(LowerContext& l) { return {l.b.complex(l.x(0), l.x(1))}; }
LoweredList complex_abs(LowerContext& l) { return {l.b.unary(ir::Unary::kAbs, l.x())}; }
LoweredList imag(LowerContext& l) { return {l.b.imag(l.x())}; }
LoweredList real(LowerContext& l) { return {l.b.real(l.x())}; }
LoweredList conj(LowerContext& l) { return {conjugate(l.b, l.x())}; }

}  // namespace

void lower_cast(Registry& r) {
  r.lower("Angle", angle);
  r.lower("Complex", complex);
  r.lower("ComplexAbs", complex_abs);
  r.lower("Conj", conj);
  r.lower("Imag", imag);
  r.lower("Real", real);
  r.lower("Bitcast", bitcast);
  r.lower("Cast", cast);
}

}  // namespace weft_engine::ops
