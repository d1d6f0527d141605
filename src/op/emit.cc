#include "op/emit.h"

#include <algorithm>

#include "op/gradient.h"
#include "op/op_traits.h"

namespace weft_engine::op {
namespace {

template <class T>
Tensor filled(double v) {
  return Tensor::scalar<T>(T(float(v)));
}

std::optional<Tensor> number(DType t, double v) {
  switch (t) {
    case DType::kFloat: return Tensor::scalar<float>(float(v));
    case DType::kDouble: return Tensor::scalar<double>(v);
    case DType::kHalf: return filled<half>(v);
    case DType::kBfloat16: return filled<bfloat16>(v);
    case DType::kInt32: return Tensor::scalar<int32_t>(int32_t(v));
    case DType::kInt64: return Tensor::scalar<int64_t>(int64_t(v));
    case DType::kInt16: return Tensor::scalar<int16_t>(int16_t(v));
    case DType::kInt8: return Tensor::scalar<int8_t>(int8_t(v));
    case DType::kUint8: return Tensor::scalar<uint8_t>(uint8_t(v));
    case DType::kUint16: return Tensor::scalar<uint16_t>(uint16_t(v));
    case DType::kUint32: return Tensor::scalar<uint32_t>(uint32_t(v));
    case DType::kUint64: return Tensor::scalar<uint64_t>(uint64_t(v));
    case DType::kComplex64: return Tensor::scalar<complex64>(complex64(float(v), 0));
    case DType::kComplex128: return Tensor::scalar<complex128>(complex128(v, 0));
    default: return std::nullopt;
  }
}

AttrMap with(std::string name, AttrValue v) {
  AttrMap m;
  m[std::move(name)] = std::move(v);
  return m;
}

bool is_complex(DType t) { return t == DType::kComplex64 || t == DType::kComplex128; }

std::vector<int32_t> first_ints(int n) {
  std::vector<int32_t> v;
  for (int i = 0; i < n; ++i) v.push_back(i);
  return v;
}

// The axes over which a value of shape `from` was repeated to get `to`; none if either is not known well enough.
std::optional<std::vector<int32_t>> repeated_axes(const PartialShape& from, const PartialShape& to) {
  if (!from.has_rank() || !to.has_rank() || from.rank() > to.rank()) return std::nullopt;
  std::vector<int32_t> axes = first_ints(to.rank() - from.rank());
  const int offset = int(axes.size());
  for (int i = 0; i < from.rank(); ++i) {
    const int64_t a = from.dim(i), b = to.dim(i + offset);
    if (a == b && a != kUnknownDim) continue;
    if (a != 1) return std::nullopt;  // not known to be equal
    if (b == kUnknownDim) return std::nullopt;
    axes.push_back(i + offset);
  }
  return axes;
}

}  // namespace

Value binary(std::string_view op, const Value& a, const Value& b) {
  if (!a.valid() || !b.valid()) return {};
  return a.emitter().one(op, {a, b});
}
Value unary(std::string_view op, const Value& x) {
  if (!x.valid()) return {};
  return x.emitter().one(op, {x});
}

Value operator+(const Value& a, const Value& b) { return binary(op_of(Symbol::kPlus), a, b); }
Value operator-(const Value& a, const Value& b) { return binary(op_of(Symbol::kMinus), a, b); }
Value operator*(const Value& a, const Value& b) { return binary(op_of(Symbol::kTimes), a, b); }
Value operator/(const Value& a, const Value& b) { return binary(op_of(Symbol::kDivide), a, b); }
Value operator-(const Value& a) { return unary(op_of(Symbol::kNegate), a); }
Value logical_and(const Value& a, const Value& b) { return binary(op_of(Symbol::kAnd), a, b); }
Value logical_or(const Value& a, const Value& b) { return binary(op_of(Symbol::kOr), a, b); }
Value logical_not(const Value& a) { return unary(op_of(Symbol::kNot), a); }
Value less(const Value& a, const Value& b) { return binary(op_of(Symbol::kLess), a, b); }
Value equal(const Value& a, const Value& b) { return binary(op_of(Symbol::kEqual), a, b); }
Value greater(const Value& a, const Value& b) { return binary(op_of(Symbol::kGreater), a, b); }
Value greater_equal(const Value& a, const Value& b) { return binary(op_of(Symbol::kGreaterEqual), a, b); }
Value operator+(const Value& a, double b) { return a.valid() ? a + scalar(a.emitter(), a.dtype(), b) : a; }
Value operator-(const Value& a, double b) { return a.valid() ? a - scalar(a.emitter(), a.dtype(), b) : a; }
Value operator*(const Value& a, double b) { return a.valid() ? a * scalar(a.emitter(), a.dtype(), b) : a; }
Value operator/(const Value& a, double b) { return a.valid() ? a / scalar(a.emitter(), a.dtype(), b) : a; }
Value operator+(double a, const Value& b) { return b.valid() ? scalar(b.emitter(), b.dtype(), a) + b : b; }
Value operator-(double a, const Value& b) { return b.valid() ? scalar(b.emitter(), b.dtype(), a) - b : b; }
Value operator*(double a, const Value& b) { return b.valid() ? scalar(b.emitter(), b.dtype(), a) * b : b; }
Value operator/(double a, const Value& b) { return b.valid() ? scalar(b.emitter(), b.dtype(), a) / b : b; }

Value scalar(Emitter& e, DType dtype, double value) {
  auto t = number(base_type(dtype), value);
  if (!t) {
    e.fail(invalid_argument("there is no number of type ", dtype_name(dtype)));
    return {};
  }
  return e.constant(std::move(*t));
}

Value ints(Emitter& e, const std::vector<int32_t>& values) { return e.constant(Tensor::vector(values)); }
Value zeros_like(const Value& x) { return unary("ZerosLike", x); }
Value ones_like(const Value& x) { return unary("OnesLike", x); }
Value conj(const Value& x) { return x.valid() && is_complex(x.dtype()) ? unary("Conj", x) : x; }
Value identity(const Value& x) { return unary(op_of(Role::kIdentity), x); }

Value cast(const Value& x, DType to) {
  if (!x.valid() || x.dtype() == to) return x;
  return x.emitter().one("Cast", {x}, with("DstT", to));
}

Value shape_of(const Value& x, DType out) {
  if (!x.valid()) return {};
  if (auto known = x.shape().concrete()) {
    if (out == DType::kInt64) return x.emitter().constant(Tensor::vector(known->vec()));
    std::vector<int32_t> dims;
    for (int64_t d : known->dims()) dims.push_back(int32_t(d));
    return ints(x.emitter(), dims);
  }
  return x.emitter().one("Shape", {x}, with("out_type", out));
}

Value size_of(const Value& x, DType out) {
  if (!x.valid()) return {};
  if (auto n = x.shape().num_elements()) return scalar(x.emitter(), out, double(*n));
  return x.emitter().one("Size", {x}, with("out_type", out));
}

Value rank_of(const Value& x) {
  if (!x.valid()) return {};
  if (x.shape().has_rank()) return scalar(x.emitter(), DType::kInt32, x.shape().rank());
  return unary("Rank", x);
}

Value range(const Value& begin, const Value& end) {
  if (!begin.valid() || !end.valid()) return {};
  return begin.emitter().one("Range", {begin, end, scalar(begin.emitter(), begin.dtype(), 1)});
}

Value broadcast_to(const Value& x, const Value& shape) { return binary("BroadcastTo", x, shape); }
Value reshape(const Value& x, const Value& shape) { return binary("Reshape", x, shape); }

Value reshape_like(const Value& x, const Value& like) {
  if (!x.valid() || !like.valid()) return {};
  if (x.shape().fully_known() && x.shape() == like.shape()) return x;
  return reshape(x, shape_of(like));
}

Value transpose(const Value& x, const Value& permutation) { return binary("Transpose", x, permutation); }
Value expand_dims(const Value& x, int axis) { return x.valid() ? x.emitter().one("ExpandDims", {x, scalar(x.emitter(), DType::kInt32, axis)}) : x; }
Value squeeze(const Value& x, const std::vector<int64_t>& axes) {
  return x.valid() ? x.emitter().one("Squeeze", {x}, with("squeeze_dims", axes)) : x;
}

Value reduce(std::string_view op, const Value& x, const Value& axes, bool keep_dims) {
  if (!x.valid() || !axes.valid()) return {};
  return x.emitter().one(op, {x, axes}, with("keep_dims", keep_dims));
}

Value matmul(const Value& a, const Value& b, bool transpose_a, bool transpose_b) {
  if (!a.valid() || !b.valid()) return {};
  AttrMap m = with("transpose_a", transpose_a);
  m["transpose_b"] = transpose_b;
  return a.emitter().one(op_of(Symbol::kMatMul), {a, b}, std::move(m));
}

Value batch_matmul(const Value& a, const Value& b, bool adj_x, bool adj_y) {
  if (!a.valid() || !b.valid()) return {};
  AttrMap m = with("adj_x", adj_x);
  m["adj_y"] = adj_y;
  return a.emitter().one("BatchMatMulV2", {a, b}, std::move(m));
}

Value adjoint(const Value& x) {
  if (!x.valid()) return {};
  Emitter& e = x.emitter();
  const char* op = is_complex(x.dtype()) ? "ConjugateTranspose" : "Transpose";
  if (x.shape().has_rank()) {
    std::vector<int32_t> order = first_ints(x.shape().rank());
    if (order.size() < 2) {
      e.fail(invalid_argument("the adjoint of a tensor of rank ", order.size()));
      return {};
    }
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return e.one(op, {x, ints(e, order)});
  }
  Value rank = rank_of(x);
  Value lead = range(scalar(e, DType::kInt32, 0), rank - 2);
  const Value tail[] = {expand_dims(rank - 1, 0), expand_dims(rank - 2, 0)};
  const Value parts[] = {lead, tail[0], tail[1]};
  return e.one(op, {x, concat(parts, 0)});
}

Value where(const Value& condition, const Value& a, const Value& b) {
  if (!condition.valid() || !a.valid() || !b.valid()) return {};
  return condition.emitter().one("SelectV2", {condition, a, b});
}

Value fill(const Value& shape, const Value& value) { return binary("Fill", shape, value); }

Value concat(std::span<const Value> parts, int axis) {
  if (parts.empty() || !parts[0].valid()) return {};
  Emitter& e = parts[0].emitter();
  std::vector<Value> in(parts.begin(), parts.end());
  in.push_back(scalar(e, DType::kInt32, axis));
  auto out = e.apply("ConcatV2", in);
  return out.empty() ? Value() : out[0];
}

Value gather(const Value& x, const Value& indices, int axis) {
  if (!x.valid() || !indices.valid()) return {};
  return x.emitter().one("GatherV2", {x, indices, scalar(x.emitter(), DType::kInt32, axis)});
}

Value slice(const Value& x, const Value& begin, const Value& size) {
  if (!x.valid()) return {};
  return x.emitter().one("Slice", {x, begin, size});
}

Value pack(std::span<const Value> parts, int axis) {
  if (parts.empty() || !parts[0].valid()) return {};
  auto out = parts[0].emitter().apply("Pack", parts, with("axis", int64_t(axis)));
  return out.empty() ? Value() : out[0];
}

Value element(const Value& vector, int index) {
  if (!vector.valid()) return {};
  Emitter& e = vector.emitter();
  // The end of the last element, counted from behind, is open.
  AttrMap attrs = with("shrink_axis_mask", int64_t(1));
  return e.one("StridedSlice", {vector, ints(e, {index}), ints(e, {index + 1 == 0 ? INT32_MAX : index + 1}), ints(e, {1})}, std::move(attrs));
}

Value add_n(std::span<const Value> values) {
  if (values.empty()) return {};
  if (values.size() == 1) return values[0];
  // Slices of one tensor stay slices.
  if (std::all_of(values.begin(), values.end(), [](const Value& v) { return v.is_slices(); })) {
    std::vector<Value> rows, indices;
    for (const Value& v : values) {
      rows.push_back(v.slice_values());
      indices.push_back(cast(v.slice_indices(), DType::kInt64));
    }
    return Value::slices(concat(rows, 0), concat(indices, 0), values[0].slice_dense_shape());
  }
  auto out = values[0].emitter().apply("AddN", values);
  return out.empty() ? Value() : out[0];
}

Value sum_to(const Value& grad, const Value& x) {
  if (!grad.valid() || !x.valid()) return {};
  Emitter& e = grad.emitter();
  const PartialShape from = x.shape(), to = grad.shape();
  if (from.fully_known() && from == to) return grad;
  if (auto axes = repeated_axes(from, to)) {
    if (axes->empty()) return grad;
    return reshape(reduce("Sum", grad, ints(e, *axes)), shape_of(x));
  }
  auto axes = e.apply("BroadcastGradientArgs", {shape_of(x), shape_of(grad)});
  if (axes.empty()) return {};
  return reshape(reduce("Sum", grad, axes[0]), shape_of(x));
}

void sum_to_both(Value& a, const Value& x, Value& b, const Value& y) {
  if (!x.valid() || !y.valid()) return;
  Emitter& e = x.emitter();
  if (x.shape().fully_known() && y.shape().fully_known()) {
    if (a.valid()) a = sum_to(a, x);
    if (b.valid()) b = sum_to(b, y);
    return;
  }
  Value sx = shape_of(x), sy = shape_of(y);
  auto axes = e.apply("BroadcastGradientArgs", {sx, sy});
  if (axes.size() < 2) return;
  if (a.valid()) a = reshape(reduce("Sum", a, axes[0]), sx);
  if (b.valid()) b = reshape(reduce("Sum", b, axes[1]), sy);
}

AttrMap GradContext::attrs(std::initializer_list<std::string_view> names) const {
  AttrMap m;
  for (std::string_view name : names) {
    if (const AttrValue* v = node_.find_attr(name)) m[std::string(name)] = *v;
  }
  return m;
}

Value GradContext::dy(int i) const {
  const Value& v = output_grads_[size_t(i)];
  return v.valid() ? v.dense() : zeros_like(outputs_[size_t(i)]);
}

}  // namespace weft_engine::op
