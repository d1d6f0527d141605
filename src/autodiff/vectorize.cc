#include "autodiff/vectorize.h"

#include <algorithm>
#include <optional>

#include "op/emit.h"

namespace weft::autodiff {
namespace {

class BatchedValue final : public ValueRep {
 public:
  BatchedValue(VectorEmitter& owner, Value inner) : owner_(owner), inner_(std::move(inner)) {}
  DType dtype() const override { return inner_.dtype(); }
  PartialShape shape() const override {
    const PartialShape s = inner_.shape();
    if (!s.has_rank()) return s;
    return PartialShape(std::vector<int64_t>(s.dims().begin() + 1, s.dims().end()));
  }
  const Tensor* constant() const override { return nullptr; }
  // Never null: no other emitter takes this for a value of its own.
  Emitter* owner() const override { return &owner_; }
  const Value& inner() const { return inner_; }

 private:
  VectorEmitter& owner_;
  Value inner_;
};

bool any_of(std::string_view op, std::initializer_list<std::string_view> names) { return std::find(names.begin(), names.end(), op) != names.end(); }

bool is_unary(std::string_view op) {
  return any_of(op, {"Identity", "Neg", "Exp", "Log", "Log1p", "Expm1", "Sqrt", "Rsqrt", "Square", "Reciprocal", "Inv", "Abs", "Sign", "Sin", "Cos", "Tan", "Asin", "Acos",
                     "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Sigmoid", "Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "Erf", "Cast",
                     "ZerosLike", "OnesLike", "StopGradient", "Conj", "Real", "Imag", "Digamma", "Lgamma", "Floor", "Ceil", "Round", "Rint", "LogicalNot", "PreventGradient",
                     "Softmax", "LogSoftmax", "LeakyRelu", "CheckNumerics", "ComplexAbs", "Erfinv", "Ndtri"});
}
bool broadcasts(std::string_view op) {
  return any_of(op, {"Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "MulNoNan", "Maximum", "Minimum", "Pow", "SquaredDifference", "FloorDiv", "FloorMod",
                     "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "LogicalAnd", "LogicalOr", "Atan2", "Xlogy", "Xdivy", "Xlog1py", "Complex", "SelectV2"});
}
// Inputs of one shape.
bool same_shapes(std::string_view op) {
  return any_of(op, {"ReluGrad", "Relu6Grad", "EluGrad", "SeluGrad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad", "TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad",
                     "ReciprocalGrad", "InvGrad", "AddN"});
}

std::optional<std::vector<int64_t>> numbers(const Value& v) {
  const Tensor* t = v.constant();
  if (!t) return {};
  std::vector<int64_t> out;
  for (int64_t i = 0; i < t->num_elements(); ++i) {
    if (t->dtype() == DType::kInt32) out.push_back(t->data<int32_t>()[i]);
    else if (t->dtype() == DType::kInt64) out.push_back(t->data<int64_t>()[i]);
    else return {};
  }
  return out;
}

}  // namespace

Value VectorEmitter::batched(const Value& v) { return Value(*this, RefPtr<ValueRep>::adopt(new BatchedValue(*this, v))); }
bool VectorEmitter::is_batched(const Value& v) { return dynamic_cast<BatchedValue*>(v.rep()) != nullptr; }

// One op with a batched input.
class VectorEmitter::Call {
 public:
  Call(VectorEmitter& v, std::string_view op, std::span<const Value> inputs, AttrMap attrs)
      : vector_(v), base_(v.base_), op_(op), inputs_(inputs), attrs_(std::move(attrs)) {}

  Result<std::vector<Value>> run() {
    if (is_unary(op_)) return one(base_.one(op_, {inner(0)}, std::move(attrs_)));
    if (broadcasts(op_)) return broadcasting();
    if (same_shapes(op_)) return same_shaped();
    if (op_ == "MatMul") return matmul();
    if (op_ == "BatchMatMulV2" || op_ == "BatchMatMul") return batch_matmul();
    if (any_of(op_, {"Sum", "Mean", "Prod", "Max", "Min"})) return with_axes(1);
    if (op_ == "ExpandDims") return with_axes(1);
    if (op_ == "Reshape") return with_list({vector_.rows_});
    if (op_ == "Tile") return with_list({1});
    if (op_ == "Transpose") return transposed();
    if (op_ == "BroadcastTo") return broadcast_to();
    if (op_ == "Squeeze") return squeezed();
    if (op_ == "Slice") return sliced();
    if (op_ == "Pad") return padded();
    if (op_ == "ConcatV2") return concatenated();
    if (op_ == "Pack" || op_ == "Unpack") return packed();
    if (op_ == "StridedSliceGrad") return strided_slice_grad();
    if (op_ == "BiasAddGrad") return bias_add_grad();
    if (op_ == "Shape") return std::vector<Value>{shape(inputs_[0])};
    return refused();
  }

 private:
  Result<std::vector<Value>> one(Value v) {
    WEFT_RETURN_IF_ERROR(base_.take_status());
    return std::vector<Value>{vector_.batched(v)};
  }
  Status refused() const { return unimplemented(op_, " of several gradients at once"); }
  bool has_rows(size_t i) const { return is_batched(inputs_[i]); }
  // The value as the base knows it: with rows where there are any.
  Value inner(size_t i) const {
    if (auto* b = dynamic_cast<BatchedValue*>(inputs_[i].rep())) return b->inner();
    return Value(base_, RefPtr<ValueRep>::share(inputs_[i].rep()));
  }
  Value with_rows(size_t i) const { return has_rows(i) ? inner(i) : vector_.unbatched(inputs_[i]); }
  int rank(size_t i) const {
    const PartialShape s = inputs_[i].shape();
    return s.has_rank() ? s.rank() : -1;
  }
  // Without the rows, as int32; known where the shape is.
  Value shape(const Value& v) const {
    const PartialShape s = v.shape();
    DType type = DType::kInt32;
    if (auto it = attrs_.find("out_type"); it != attrs_.end() && it->second.get<DType>()) type = *it->second.get<DType>();
    if (s.fully_known()) {
      std::vector<int64_t> dims = s.dims();
      if (type == DType::kInt64) return Value(vector_, RefPtr<ValueRep>::share(base_.constant(Tensor::vector(dims)).rep()));
      return Value(vector_, RefPtr<ValueRep>::share(base_.constant(Tensor::vector(std::vector<int32_t>(dims.begin(), dims.end()))).rep()));
    }
    auto* b = dynamic_cast<BatchedValue*>(v.rep());
    AttrMap attrs;
    attrs["out_type"] = type;
    Value all = base_.one("Shape", {b->inner()}, std::move(attrs));
    Value rest = op::slice(all, list({1}), list({-1}));
    return Value(vector_, RefPtr<ValueRep>::share(rest.rep()));
  }
  Value list(std::vector<int64_t> v) const { return base_.constant(Tensor::vector(std::vector<int32_t>(v.begin(), v.end()))); }
  Value scalar(int64_t v) const { return base_.constant(Tensor::scalar<int32_t>(int32_t(v))); }

  // Rows in front, then ones, so that the rest has that rank.
  Result<Value> aligned(size_t i, int to) const {
    Value v = inner(i);
    if (!has_rows(i) || rank(i) == to) return v;
    const PartialShape s = inputs_[i].shape();
    if (!s.fully_known()) return refused();
    std::vector<int64_t> dims{vector_.rows_};
    dims.insert(dims.end(), size_t(to - s.rank()), 1);
    for (int64_t d : s.dims()) dims.push_back(d);
    return op::reshape(v, list(dims));
  }

  Result<std::vector<Value>> broadcasting() {
    int most = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (rank(i) < 0) return refused();
      most = std::max(most, rank(i));
    }
    std::vector<Value> in;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      WEFT_ASSIGN(Value v, aligned(i, most));
      in.push_back(std::move(v));
    }
    auto out = base_.apply(op_, in, std::move(attrs_));
    return one(out.empty() ? Value() : out[0]);
  }
  Result<std::vector<Value>> same_shaped() {
    std::vector<Value> in;
    for (size_t i = 0; i < inputs_.size(); ++i) in.push_back(with_rows(i));
    auto out = base_.apply(op_, in, std::move(attrs_));
    return one(out.empty() ? Value() : out[0]);
  }

  bool flag(const char* name) const {
    auto it = attrs_.find(name);
    return it != attrs_.end() && it->second.get<bool>() && *it->second.get<bool>();
  }
  Result<std::vector<Value>> matmul() {
    const bool ta = flag("transpose_a"), tb = flag("transpose_b");
    const PartialShape a = inputs_[0].shape(), b = inputs_[1].shape();
    if (!a.fully_known() || !b.fully_known()) return refused();
    if (has_rows(0) && !has_rows(1) && !ta) {  // one large product
      Value flat = op::reshape(inner(0), list({vector_.rows_ * a.dim(0), a.dim(1)}));
      Value product = op::matmul(flat, inner(1), false, tb);
      return one(op::reshape(product, list({vector_.rows_, a.dim(0), tb ? b.dim(0) : b.dim(1)})));
    }
    const DType t = inputs_[0].dtype();
    if ((ta || tb) && (t == DType::kComplex64 || t == DType::kComplex128)) return refused();
    return one(op::batch_matmul(inner(0), inner(1), ta, tb));
  }
  Result<std::vector<Value>> batch_matmul() {
    const int most = std::max(rank(0), rank(1));
    if (rank(0) < 2 || rank(1) < 2) return refused();
    WEFT_ASSIGN(Value a, aligned(0, most));
    WEFT_ASSIGN(Value b, aligned(1, most));
    return one(op::batch_matmul(a, b, flag("adj_x"), flag("adj_y")));
  }
  // The second input names dimensions.
  Result<std::vector<Value>> with_axes(int64_t shift) {
    if (has_rows(1)) return refused();
    auto axes = numbers(inputs_[1]);
    if (!axes) return refused();
    for (int64_t& a : *axes) a += a >= 0 ? shift : 0;
    const bool is_scalar = inputs_[1].shape().has_rank() && inputs_[1].shape().rank() == 0;
    return one(base_.one(op_, {inner(0), is_scalar ? scalar((*axes)[0]) : list(*axes)}, typeless()));
  }
  // The axes that we give are int32, whatever they were.
  AttrMap typeless() {
    for (const char* name : {"Tidx", "Tshape", "Tmultiples", "Tperm", "Index", "Tpaddings", "Tdim"}) attrs_.erase(name);
    return std::move(attrs_);
  }
  // The second input says something of every dimension.
  Result<std::vector<Value>> with_list(std::vector<int64_t> front) {
    if (has_rows(1)) return refused();
    auto rest = numbers(inputs_[1]);
    if (!rest) return refused();
    front.insert(front.end(), rest->begin(), rest->end());
    return one(base_.one(op_, {inner(0), list(front)}, typeless()));
  }
  Result<std::vector<Value>> transposed() {
    if (has_rows(1)) return refused();
    auto perm = numbers(inputs_[1]);
    if (!perm) return refused();
    std::vector<int64_t> all{0};
    for (int64_t p : *perm) all.push_back(p + 1);
    return one(op::transpose(inner(0), list(all)));
  }
  Result<std::vector<Value>> broadcast_to() {
    auto dims = has_rows(1) ? std::nullopt : numbers(inputs_[1]);
    if (!dims || rank(0) < 0) return refused();
    WEFT_ASSIGN(Value v, aligned(0, int(dims->size())));
    dims->insert(dims->begin(), vector_.rows_);
    return one(base_.one("BroadcastTo", {v, list(*dims)}));
  }
  Result<std::vector<Value>> squeezed() {
    auto it = attrs_.find("squeeze_dims");
    std::vector<int64_t> dims;
    if (it != attrs_.end() && it->second.get<std::vector<int64_t>>()) dims = *it->second.get<std::vector<int64_t>>();
    const PartialShape s = inputs_[0].shape();
    if (!s.fully_known()) return refused();
    if (dims.empty()) {
      for (int i = 0; i < s.rank(); ++i) {
        if (s.dim(i) == 1) dims.push_back(i);
      }
    }
    for (int64_t& d : dims) d = (d < 0 ? d + s.rank() : d) + 1;
    if (dims.empty()) return one(inner(0));
    return one(op::squeeze(inner(0), dims));
  }
  Result<std::vector<Value>> sliced() {
    auto begin = has_rows(1) ? std::nullopt : numbers(inputs_[1]), size = has_rows(2) ? std::nullopt : numbers(inputs_[2]);
    if (!begin || !size) return refused();
    begin->insert(begin->begin(), 0);
    size->insert(size->begin(), vector_.rows_);
    return one(op::slice(inner(0), list(*begin), list(*size)));
  }
  Result<std::vector<Value>> padded() {
    auto pads = has_rows(1) ? std::nullopt : numbers(inputs_[1]);
    if (!pads) return refused();
    pads->insert(pads->begin(), {0, 0});
    const auto n = int64_t(pads->size()) / 2;
    return one(base_.one("Pad", {inner(0), op::reshape(list(*pads), list({n, 2}))}));
  }
  Result<std::vector<Value>> concatenated() {
    const size_t n = inputs_.size() - 1;
    auto axis = has_rows(n) ? std::nullopt : numbers(inputs_[n]);
    if (!axis || axis->size() != 1) return refused();
    std::vector<Value> in;
    for (size_t i = 0; i < n; ++i) in.push_back(with_rows(i));
    in.push_back(scalar((*axis)[0] + ((*axis)[0] >= 0 ? 1 : 0)));
    auto out = base_.apply("ConcatV2", in);
    return one(out.empty() ? Value() : out[0]);
  }
  Result<std::vector<Value>> packed() {
    auto it = attrs_.find("axis");
    const int64_t axis = it != attrs_.end() && it->second.get<int64_t>() ? *it->second.get<int64_t>() : 0;
    attrs_["axis"] = axis + (axis >= 0 ? 1 : 0);
    std::vector<Value> in;
    for (size_t i = 0; i < inputs_.size(); ++i) in.push_back(with_rows(i));
    auto out = base_.apply(op_, in, std::move(attrs_));
    WEFT_RETURN_IF_ERROR(base_.take_status());
    for (Value& v : out) v = vector_.batched(v);
    return out;
  }
  // Inputs: shape, begin, end, strides, dy. The whole of the first dimension, in front of what there was.
  Result<std::vector<Value>> strided_slice_grad() {
    for (size_t i = 0; i < 4; ++i) {
      if (has_rows(i)) return refused();
    }
    const int64_t front[4] = {vector_.rows_, 0, 0, 1};
    std::vector<Value> in;
    for (size_t i = 0; i < 4; ++i) {
      auto v = numbers(inputs_[i]);
      if (!v) return refused();
      v->insert(v->begin(), front[i]);
      in.push_back(list(*v));
    }
    in.push_back(inner(4));
    for (const char* mask : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
      auto it = attrs_.find(mask);
      const int64_t bits = it != attrs_.end() && it->second.get<int64_t>() ? *it->second.get<int64_t>() : 0;
      const bool whole = mask[0] == 'b' || std::string_view(mask) == "end_mask";
      attrs_[mask] = bits << 1 | int64_t(whole);
    }
    attrs_.erase("Index");
    auto out = base_.apply(op_, in, std::move(attrs_));
    return one(out.empty() ? Value() : out[0]);
  }
  Result<std::vector<Value>> bias_add_grad() {
    auto it = attrs_.find("data_format");
    if (rank(0) < 1 || (it != attrs_.end() && it->second.get<std::string>() && *it->second.get<std::string>() != "NHWC")) return refused();
    std::vector<int64_t> axes;
    for (int i = 1; i < rank(0); ++i) axes.push_back(i);
    return one(axes.empty() ? inner(0) : op::reduce("Sum", inner(0), list(axes)));
  }

  VectorEmitter& vector_;
  Emitter& base_;
  const std::string_view op_;
  const std::span<const Value> inputs_;
  AttrMap attrs_;
};

Value VectorEmitter::unbatched(const Value& v) {
  if (auto* b = dynamic_cast<BatchedValue*>(v.rep())) return b->inner();
  Value own(base_, RefPtr<ValueRep>::share(v.rep()));
  Value front = base_.constant(Tensor::vector(std::vector<int32_t>{int32_t(rows_)}));
  return base_.one("BroadcastTo", {own, op::concat(std::vector<Value>{front, shape_of(own)}, 0)});
}

Result<std::vector<Value>> VectorEmitter::do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  if (std::any_of(inputs.begin(), inputs.end(), is_batched)) {
    auto out = Call(*this, op, inputs, std::move(attrs)).run();
    WEFT_RETURN_IF_ERROR(base_.take_status());
    return out;
  }
  std::vector<Value> own;
  for (const Value& v : inputs) own.emplace_back(base_, RefPtr<ValueRep>::share(v.rep()));
  auto out = base_.apply(op, own, std::move(attrs));
  WEFT_RETURN_IF_ERROR(base_.take_status());
  for (Value& v : out) v = Value(*this, RefPtr<ValueRep>::share(v.rep()));
  return out;
}

Result<Value> VectorEmitter::do_constant(Tensor value) {
  Value v = base_.constant(std::move(value));
  WEFT_RETURN_IF_ERROR(base_.take_status());
  return Value(*this, RefPtr<ValueRep>::share(v.rep()));
}

}  // namespace weft::autodiff
