// Tensors passed on and looked at.
#include <cstring>

#include "core/shape.h"
#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

using ir::Binary;

// A constant of equal elements needs no memory.
Value splat_or(ir::Builder& b, const Tensor& t) {
  constexpr int64_t kFew = 16;
  const size_t size = dtype_size(t.dtype());
  if (t.num_elements() <= kFew || size == 0) return b.constant(t);
  const char* p = static_cast<const char*>(t.raw());
  if (std::memcmp(p, p + size, t.byte_size() - size) != 0) return b.constant(t);
  auto one = Tensor::allocate(t.dtype(), Shape());
  if (!one.ok()) return b.constant(t);
  std::memcpy(one->raw(), p, size);
  return b.broadcast_to(b.constant(*one), Dims(t.shape().dims().begin(), t.shape().dims().end()));
}

// Strings and the like pass as nothing: a message of an assertion needs no code, and whoever reads them as tensors says so.
LoweredList constant(LowerContext& l) {
  const Tensor& value = l.attr<Tensor>("value");
  if (value.dtype() == DType::kString || value.dtype() == DType::kResource || value.dtype() == DType::kVariant) return {Lowered()};
  return {splat_or(l.b, value)};
}

LoweredList placeholder(LowerContext& l) {
  return l.fail(invalid_argument("You must feed a value for placeholder tensor '", l.node.name(), "' with dtype ", dtype_name(l.out_type())));
}

LoweredList ensure_shape(LowerContext& l) {
  const Value x = l.x();
  const PartialShape& want = l.attr<PartialShape>("shape");
  if (!x || !want.has_rank()) return {x};
  bool fits = want.rank() == x->rank();
  for (int i = 0; fits && i < x->rank(); ++i) fits = want.dim(i) < 0 || !x->dim(i).is_const() || x->dim(i).is(want.dim(i));
  if (!fits)
    return l.fail(invalid_argument("Shape of tensor input ", shape_text(l.b, x->type.dims), " is not compatible with expected shape ", want, "."));
  for (int i = 0; i < x->rank(); ++i) {
    if (want.dim(i) >= 0) l.b.same(x->dim(i), Dim(want.dim(i)));
  }
  return {x};
}

Value shape_value(LowerContext& l, int i) {
  const Value x = l.x(i);
  if (!x) return nullptr;
  const DType t = l.out_type(i);
  for (int d = 0; d < x->rank(); ++d) {
    if (t == DType::kInt32 && x->dim(d).is_const() && x->dim(d).value() > INT32_MAX)
      return l.b.fail(invalid_argument(l.node.op(), " output type is 32-bit but dim ", d, " is ", x->dim(d).value()));
  }
  return l.b.sizes(x->type.dims, t);
}

LoweredList shape_n(LowerContext& l) {
  LoweredList out;
  for (int i = 0; i < l.num_inputs(); ++i) out.push_back(shape_value(l, i));
  return out;
}

LoweredList size(LowerContext& l) {
  const Value x = l.x();
  return {x ? l.b.sizes({x->type.elements()}, l.out_type(), true) : nullptr};
}

// For numbers as the engine does: a size of 0 is left out of the products, so that the -1 can still be found.
std::optional<Dim> missing_size(LowerContext& l, const Dims& in, const Dims& want) {
  Dim given(1), have(1);
  bool zero = false;
  for (const Dim& d : want) {
    if (d.is(0)) zero = true;
    else if (!d.is(-1)) given = given * d;
  }
  bool skipped = false;
  for (const Dim& d : in) {
    if (zero && d.is(0)) skipped = true;
    else have = have * d;
  }
  if (!skipped && have.is_const() && given.is_const() && have.value() % given.value() != 0) {
    l.b.fail(invalid_argument("Input to reshape is a tensor with ", have.value(), " values, but the requested shape requires a multiple of ",
                              given.value()));
    return std::nullopt;
  }
  return floor_div(have, given);
}

LoweredList reshape(LowerContext& l) {
  const Value x = l.x();
  auto want = l.sizes(1);
  if (!x || !want) return {};
  int unknown = -1;
  for (size_t i = 0; i < want->size(); ++i) {
    const Dim& d = (*want)[i];
    if (d.is(-1)) {
      if (unknown >= 0) return l.fail(invalid_argument("Only one input size may be -1, not both ", unknown, " and ", i));
      unknown = int(i);
    } else if (d.is_const() && d.value() < 0) {
      return l.fail(invalid_argument("Size ", i, " must be non-negative, not ", d.value()));
    }
  }
  if (unknown >= 0) {
    const auto missing = missing_size(l, x->type.dims, *want);
    if (!missing) return {};
    (*want)[size_t(unknown)] = *missing;
  }
  const Dim have = x->type.elements(), need = ir::product(*want);
  if (have.is_const() && need.is_const() && !(have == need))
    return l.fail(invalid_argument("Input to reshape is a tensor with ", have.value(), " values, but the requested shape has ", need.value()));
  // 4 * batch = 32 says what the batch is.
  for (const auto& [open, number] : {std::pair(have, need), std::pair(need, have)}) {
    if (!number.is_const() || open.terms().size() != 1 || open.constant() != 0) continue;
    const auto& term = open.terms()[0];
    if (term.coefficient > 1 && term.atoms.size() == 1 && term.atoms[0].kind == Dim::Kind::kSymbol && number.value() % term.coefficient == 0)
      l.b.same(Dim::symbol(term.atoms[0].symbol), Dim(number.value() / term.coefficient));
  }
  return {l.b.reshape(x, std::move(*want))};
}

LoweredList expand_dims(LowerContext& l) {
  const Value x = l.x();
  const auto given = l.integer(1);
  if (!x || !given) return {};
  if (*given < -1 - x->rank() || *given > x->rank())
    return l.fail(invalid_argument("Tried to expand dim index ", *given, " for tensor with ", x->rank(), " dimensions."));
  return {l.b.expand_dims(x, int(*given < 0 ? *given + x->rank() + 1 : *given))};
}

LoweredList squeeze(LowerContext& l) {
  const Value x = l.x();
  if (!x) return {};
  const auto& given = l.attr<std::vector<int64_t>>("squeeze_dims");
  std::vector<bool> gone(size_t(x->rank()), false);
  for (int64_t d : given) {
    if (d < -x->rank() || d >= x->rank())
      return l.fail(invalid_argument("Tried to squeeze dim index ", d, " for tensor with ", x->rank(), " dimensions."));
    gone[size_t(d < 0 ? d + x->rank() : d)] = true;
  }
  Dims left;
  for (int i = 0; i < x->rank(); ++i) {
    const Dim& d = x->dim(i);
    if (given.empty() ? !d.is(1) : !gone[size_t(i)]) {
      if (given.empty() && !d.is_const()) return l.unsupported("unknown dimensions without squeeze_dims");
      left.push_back(d);
    } else if (d.is_const() && !d.is(1)) {
      return l.fail(invalid_argument("Can not squeeze dim[", i, "], expected a dimension of 1, got ", d.value()));
    } else {
      l.b.same(d, Dim(1));
    }
  }
  return {l.b.reshape(x, std::move(left))};
}

// The unsigned type of that many bytes.
DType bits_type(size_t bytes) { return bytes == 1 ? DType::kUint8 : bytes == 2 ? DType::kUint16 : bytes == 4 ? DType::kUint32 : DType::kUint64; }

// Elements of another width: the last dimension holds the pieces of one, the lowest first.
LoweredList bitcast(LowerContext& l) {
  const Value x = l.x();
  if (!x) return {};
  const DType from = x->type.dtype, to = l.out_type();
  const size_t a = dtype_size(from), z = dtype_size(to);
  if (is_complex_type(from) || is_complex_type(to)) return l.unsupported("complex numbers");
  if (a == z) return {l.b.bitcast(x, to)};
  Dims dims = x->type.dims;
  const int rank = x->rank();
  const Value bits = l.b.bitcast(x, bits_type(a));
  if (a > z) {
    dims.emplace_back(int64_t(a / z));
    const Value shift = l.b.mul(l.b.iota(bits_type(a), {Dim(int64_t(a / z))}, 0), double(8 * z));
    const Value pieces = l.b.binary(Binary::kShr, l.b.broadcast_in_dim(bits, dims, axes_from(0, rank)), shift);
    return {l.b.bitcast(l.b.convert(pieces, bits_type(z)), to)};
  }
  const int64_t n = int64_t(z / a);
  if (rank == 0 || !dims.back().is(n))
    return l.fail(invalid_argument("Cannot bitcast from ", dtype_name(from), " to ", dtype_name(to), ": the last dimension must be ", n, " at '",
                                   l.node.name(), "'"));
  const Value shift = l.b.mul(l.b.iota(bits_type(z), {Dim(n)}, 0), double(8 * a));
  const Value wide = l.b.binary(Binary::kShl, l.b.convert(bits, bits_type(z)), shift);
  return {l.b.bitcast(l.b.sum(wide, {rank - 1}), to)};
}

}  // namespace

void lower_array(Registry& r) {
  for (const char* op : {"Copy", "CopyHost", "DeepCopy", "GuaranteeConst", "Identity", "IdentityN", "PlaceholderWithDefault", "PreventGradient",
                         "Snapshot", "StopGradient"})
    r.lower(op, forward_inputs);
  r.lower("Const", constant);
  r.lower("HostConst", constant);
  r.lower("_EagerConst", forward_inputs);
  r.lower("Placeholder", placeholder);
  r.lower("PlaceholderV2", placeholder);
  r.lower("EnsureShape", ensure_shape);
  r.lower("Shape", shape_n);
  r.lower("ShapeN", shape_n);
  r.lower("Size", size);
  r.lower("Rank", [](LowerContext& l) -> LoweredList { return {l.x() ? l.b.scalar_int(DType::kInt32, l.rank()) : nullptr}; });
  r.lower("Reshape", reshape);
  r.lower("ExpandDims", expand_dims);
  r.lower("Squeeze", squeeze);
  r.lower("Bitcast", bitcast);
}

}  // namespace weft_engine::ops
