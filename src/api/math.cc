#include "weft/math.h"

#include <algorithm>

#include "weft/call.h"

namespace weft {
namespace {

Tensor ints(const std::vector<int64_t>& v) { return Tensor::of<int64_t>({int64_t(v.size())}, std::span<const int64_t>(v)); }

Tensor unary(std::string_view op, const Tensor& x) { return Call(op).in(x).one(); }
Tensor binary(std::string_view op, const Tensor& x, const Tensor& y) { return Call(op).in(x).in(y).one(); }

// -1: not known while a function is traced.
int known_rank(const Tensor& x) {
  if (!x.is_symbolic()) return x.rank();
  const PartialShape s = x.partial_shape();
  return s.known_rank ? int(s.dims.size()) : -1;
}

Tensor reduce(std::string_view op, const Tensor& x, const ReduceOptions& o) {
  std::vector<int64_t> axes = o.axis;
  if (axes.empty()) {
    const int rank = known_rank(x);
    if (rank < 0) {
      const Tensor all = Call("Range").in(Tensor(int32_t(0))).in(unary("Rank", x)).in(Tensor(int32_t(1))).one();
      return Call(op).in(x).in(all).attr("keep_dims", o.keepdims).one();
    }
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  return Call(op).in(x).in(ints(axes)).attr("keep_dims", o.keepdims).one();
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& o) {
  if (known_rank(a) != 2 || known_rank(b) != 2) return Call("BatchMatMulV2").in(a).in(b).attr("adj_x", o.transpose_a).attr("adj_y", o.transpose_b).one();
  return Call("MatMul").in(a).in(b).attr("transpose_a", o.transpose_a).attr("transpose_b", o.transpose_b).one();
}
Tensor reduce_sum(const Tensor& x, const ReduceOptions& o) { return reduce("Sum", x, o); }
Tensor reduce_mean(const Tensor& x, const ReduceOptions& o) { return reduce("Mean", x, o); }
Tensor reduce_max(const Tensor& x, const ReduceOptions& o) { return reduce("Max", x, o); }
Tensor reduce_min(const Tensor& x, const ReduceOptions& o) { return reduce("Min", x, o); }
Tensor reduce_prod(const Tensor& x, const ReduceOptions& o) { return reduce("Prod", x, o); }
Tensor reduce_any(const Tensor& x, const ReduceOptions& o) { return reduce("Any", x, o); }
Tensor reduce_all(const Tensor& x, const ReduceOptions& o) { return reduce("All", x, o); }
Tensor reduce_logsumexp(const Tensor& x, const ReduceOptions& o) {
  // The largest taken out, so that nothing overflows; where it is no number, nothing is taken.
  const Tensor raw = reduce("Max", x, {.axis = o.axis, .keepdims = true});
  const Tensor top = unary("StopGradient", where(unary("IsFinite", raw), raw, zeros_like(raw)));
  const Tensor sums = log(reduce_sum(exp(x - top), {.axis = o.axis, .keepdims = true})) + top;
  if (o.keepdims) return sums;
  return o.axis.empty() ? reshape(sums, {}) : squeeze(sums, o.axis);
}
Tensor argmin(const Tensor& x, int64_t axis) { return binary("ArgMin", x, Tensor(axis)); }
Tensor argmax(const Tensor& x, int64_t axis) { return binary("ArgMax", x, Tensor(axis)); }
Tensor reshape(const Tensor& x, std::vector<int64_t> shape) { return binary("Reshape", x, ints(shape)); }
Tensor transpose(const Tensor& x, std::vector<int64_t> perm) {
  if (perm.empty()) {
    const int rank = known_rank(x);
    if (rank < 0) {
      const Tensor last = unary("Rank", x) - Tensor(int32_t(1));
      return binary("Transpose", x, Call("Range").in(last).in(Tensor(int32_t(-1))).in(Tensor(int32_t(-1))).one());
    }
    for (int i = rank; i-- > 0;) perm.push_back(i);
  }
  return binary("Transpose", x, ints(perm));
}
Tensor expand_dims(const Tensor& x, int64_t axis) { return binary("ExpandDims", x, Tensor(axis)); }
Tensor squeeze(const Tensor& x, std::vector<int64_t> axis) { return Call("Squeeze").in(x).attr("squeeze_dims", axis).one(); }
Tensor tile(const Tensor& x, std::vector<int64_t> multiples) { return binary("Tile", x, ints(multiples)); }
Tensor pad(const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& paddings, const Tensor& value) {
  std::vector<int64_t> flat;
  for (const auto& [before, after] : paddings) flat.insert(flat.end(), {before, after});
  const Tensor pads = Tensor::of<int64_t>({int64_t(paddings.size()), 2}, std::span<const int64_t>(flat));
  return value.has_value() ? Call("PadV2").in(x).in(pads).in(value).one() : binary("Pad", x, pads);
}
Tensor slice(const Tensor& x, std::vector<int64_t> begin, std::vector<int64_t> size) { return Call("Slice").in(x).in(ints(begin)).in(ints(size)).one(); }
std::vector<Tensor> split(const Tensor& x, int64_t parts, int64_t axis) { return Call("Split").in(Tensor(int32_t(axis))).in(x).attr("num_split", parts).run(); }
std::vector<Tensor> unstack(const Tensor& x, int64_t axis) {
  const PartialShape s = x.partial_shape();
  const int64_t rank = int64_t(s.dims.size()), at = axis < 0 ? axis + rank : axis;
  if (!s.known_rank || at < 0 || at >= rank || s.dims[size_t(at)] < 0)
    throw Error(Code::kInvalidArgument, "unstack needs a tensor whose size along the axis is known");
  return Call("Unpack").in(x).attr("num", s.dims[size_t(at)]).attr("axis", axis).run();
}
Tensor reverse(const Tensor& x, std::vector<int64_t> axis) { return binary("ReverseV2", x, ints(axis)); }
Tensor broadcast_to(const Tensor& x, std::vector<int64_t> shape) { return binary("BroadcastTo", x, ints(shape)); }
Tensor shape(const Tensor& x, DType dtype) { return Call("Shape").in(x).attr("out_type", dtype).one(); }
Tensor concat(const std::vector<Tensor>& values, int64_t axis) { return Call("ConcatV2").in(values).in(Tensor(axis)).one(); }
Tensor stack(const std::vector<Tensor>& values, int64_t axis) { return Call("Pack").in(values).attr("axis", axis).one(); }
Tensor cast(const Tensor& x, DType dtype) { return Call("Cast").in(x).attr("DstT", dtype).one(); }
Tensor zeros(std::vector<int64_t> shape, DType dtype) { return binary("Fill", ints(shape), cast(Tensor(0.f), dtype)); }
Tensor ones(std::vector<int64_t> shape, DType dtype) { return binary("Fill", ints(shape), cast(Tensor(1.f), dtype)); }
Tensor fill(std::vector<int64_t> shape, const Tensor& value) { return binary("Fill", ints(shape), value); }
Tensor zeros_like(const Tensor& x) { return unary("ZerosLike", x); }
Tensor ones_like(const Tensor& x) { return unary("OnesLike", x); }
Tensor eye(int64_t rows, int64_t columns, DType dtype) {
  if (columns < 0) columns = rows;
  return Call("MatrixSetDiag").in(zeros({rows, columns}, dtype)).in(ones({std::min(rows, columns)}, dtype)).one();
}
Tensor one_hot(const Tensor& indices, int64_t depth, int64_t axis, DType dtype) {
  return Call("OneHot").in(indices).in(Tensor(int32_t(depth))).in(cast(Tensor(1.f), dtype)).in(cast(Tensor(0.f), dtype)).attr("axis", axis).one();
}
Tensor einsum(const std::string& equation, const std::vector<Tensor>& inputs) { return Call("Einsum").in(inputs).attr("equation", equation).one(); }
Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta) { return Call("Range").in(start).in(limit).in(delta).one(); }
Tensor abs(const Tensor& x) { return unary(x.dtype() == DType::complex64 || x.dtype() == DType::complex128 ? "ComplexAbs" : "Abs", x); }
Tensor exp(const Tensor& x) { return unary("Exp", x); }
Tensor log(const Tensor& x) { return unary("Log", x); }
Tensor log1p(const Tensor& x) { return unary("Log1p", x); }
Tensor erf(const Tensor& x) { return unary("Erf", x); }
Tensor sin(const Tensor& x) { return unary("Sin", x); }
Tensor cos(const Tensor& x) { return unary("Cos", x); }
Tensor sign(const Tensor& x) { return unary("Sign", x); }
Tensor floor(const Tensor& x) { return unary("Floor", x); }
Tensor round(const Tensor& x) { return unary("Round", x); }
Tensor rsqrt(const Tensor& x) { return unary("Rsqrt", x); }
Tensor sqrt(const Tensor& x) { return unary("Sqrt", x); }
Tensor square(const Tensor& x) { return unary("Square", x); }
Tensor tanh(const Tensor& x) { return unary("Tanh", x); }
Tensor sigmoid(const Tensor& x) { return unary("Sigmoid", x); }
Tensor relu(const Tensor& x) { return unary("Relu", x); }
Tensor softmax(const Tensor& x) { return unary("Softmax", x); }
Tensor log_softmax(const Tensor& x) { return unary("LogSoftmax", x); }
Tensor softplus(const Tensor& x) { return unary("Softplus", x); }
Tensor clip_by_value(const Tensor& x, const Tensor& low, const Tensor& high) { return maximum(minimum(x, high), low); }
Tensor l2_normalize(const Tensor& x, const ReduceOptions& o, double epsilon) {
  const Tensor squares = reduce_sum(square(x), {.axis = o.axis, .keepdims = true});
  return x * rsqrt(maximum(squares, cast(Tensor(epsilon), x.dtype())));
}
Tensor pow(const Tensor& x, const Tensor& y) { return binary("Pow", x, y); }
Tensor maximum(const Tensor& x, const Tensor& y) { return binary("Maximum", x, y); }
Tensor minimum(const Tensor& x, const Tensor& y) { return binary("Minimum", x, y); }
Tensor logical_and(const Tensor& x, const Tensor& y) { return binary("LogicalAnd", x, y); }
Tensor logical_or(const Tensor& x, const Tensor& y) { return binary("LogicalOr", x, y); }
Tensor logical_not(const Tensor& x) { return unary("LogicalNot", x); }
Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) { return Call("SelectV2").in(condition).in(x).in(y).one(); }
Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis) { return Call("GatherV2").in(x).in(indices).in(Tensor(axis)).one(); }

}  // namespace weft
