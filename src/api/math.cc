#include "weft/math.h"

#include "weft/call.h"

namespace weft {
namespace {

Tensor ints(const std::vector<int64_t>& v) { return Tensor::of<int64_t>({int64_t(v.size())}, std::span<const int64_t>(v)); }

Tensor unary(std::string_view op, const Tensor& x) { return Call(op).in(x).one(); }
Tensor binary(std::string_view op, const Tensor& x, const Tensor& y) { return Call(op).in(x).in(y).one(); }

Tensor reduce(std::string_view op, const Tensor& x, const ReduceOptions& o) {
  std::vector<int64_t> axes = o.axis;
  if (axes.empty()) {
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  }
  return Call(op).in(x).in(ints(axes)).attr("keep_dims", o.keepdims).one();
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& o) {
  if (a.rank() > 2 || b.rank() > 2) return Call("BatchMatMulV2").in(a).in(b).attr("adj_x", o.transpose_a).attr("adj_y", o.transpose_b).one();
  return Call("MatMul").in(a).in(b).attr("transpose_a", o.transpose_a).attr("transpose_b", o.transpose_b).one();
}
Tensor reduce_sum(const Tensor& x, const ReduceOptions& o) { return reduce("Sum", x, o); }
Tensor reduce_mean(const Tensor& x, const ReduceOptions& o) { return reduce("Mean", x, o); }
Tensor reduce_max(const Tensor& x, const ReduceOptions& o) { return reduce("Max", x, o); }
Tensor reduce_min(const Tensor& x, const ReduceOptions& o) { return reduce("Min", x, o); }
Tensor argmax(const Tensor& x, int64_t axis) { return binary("ArgMax", x, Tensor(axis)); }
Tensor reshape(const Tensor& x, std::vector<int64_t> shape) { return binary("Reshape", x, ints(shape)); }
Tensor transpose(const Tensor& x, std::vector<int64_t> perm) {
  if (perm.empty()) {
    for (int i = x.rank(); i-- > 0;) perm.push_back(i);
  }
  return binary("Transpose", x, ints(perm));
}
Tensor expand_dims(const Tensor& x, int64_t axis) { return binary("ExpandDims", x, Tensor(axis)); }
Tensor concat(const std::vector<Tensor>& values, int64_t axis) { return Call("ConcatV2").in(values).in(Tensor(axis)).one(); }
Tensor stack(const std::vector<Tensor>& values, int64_t axis) { return Call("Pack").in(values).attr("axis", axis).one(); }
Tensor cast(const Tensor& x, DType dtype) { return Call("Cast").in(x).attr("DstT", dtype).one(); }
Tensor zeros(std::vector<int64_t> shape, DType dtype) { return binary("Fill", ints(shape), cast(Tensor(0.f), dtype)); }
Tensor ones(std::vector<int64_t> shape, DType dtype) { return binary("Fill", ints(shape), cast(Tensor(1.f), dtype)); }
Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta) { return Call("Range").in(start).in(limit).in(delta).one(); }
Tensor abs(const Tensor& x) { return unary(x.dtype() == DType::complex64 || x.dtype() == DType::complex128 ? "ComplexAbs" : "Abs", x); }
Tensor exp(const Tensor& x) { return unary("Exp", x); }
Tensor log(const Tensor& x) { return unary("Log", x); }
Tensor sqrt(const Tensor& x) { return unary("Sqrt", x); }
Tensor square(const Tensor& x) { return unary("Square", x); }
Tensor tanh(const Tensor& x) { return unary("Tanh", x); }
Tensor sigmoid(const Tensor& x) { return unary("Sigmoid", x); }
Tensor relu(const Tensor& x) { return unary("Relu", x); }
Tensor softmax(const Tensor& x) { return unary("Softmax", x); }
Tensor pow(const Tensor& x, const Tensor& y) { return binary("Pow", x, y); }
Tensor maximum(const Tensor& x, const Tensor& y) { return binary("Maximum", x, y); }
Tensor minimum(const Tensor& x, const Tensor& y) { return binary("Minimum", x, y); }
Tensor logical_and(const Tensor& x, const Tensor& y) { return binary("LogicalAnd", x, y); }
Tensor logical_or(const Tensor& x, const Tensor& y) { return binary("LogicalOr", x, y); }
Tensor logical_not(const Tensor& x) { return unary("LogicalNot", x); }
Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) { return Call("SelectV2").in(condition).in(x).in(y).one(); }
Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis) { return Call("GatherV2").in(x).in(indices).in(Tensor(axis)).one(); }

}  // namespace weft
