#include <algorithm>
#include <unordered_map>

#include "autodiff/vectorize_call.h"

namespace weft::autodiff {
namespace {

class BatchedValue final : public ValueRep {
 public:
  BatchedValue(VectorEmitter& owner, Value inner) : owner_(owner), inner_(std::move(inner)) {}
  DType dtype() const override { return inner_.dtype(); }
  PartialShape shape() const override {
    const PartialShape s = inner_.shape();
    if (!s.has_rank() || dtype() == DType::kVariant) return s;
    return PartialShape(std::vector<int64_t>(s.dims().begin() + (s.rank() > 0), s.dims().end()));
  }
  const Tensor* constant() const override { return nullptr; }
  // Never null: no other emitter takes this for a value of its own.
  Emitter* owner() const override { return &owner_; }
  const Value& inner() const { return inner_; }

 private:
  VectorEmitter& owner_;
  Value inner_;
};

Value on(Emitter& e, const Value& v) { return Value(e, RefPtr<ValueRep>::share(v.rep())); }

}  // namespace

// ---- the emitter -----------------------------------------------------------------------------------------

Value VectorEmitter::batched(const Value& v) { return Value(*this, RefPtr<ValueRep>::adopt(new BatchedValue(*this, v))); }
bool VectorEmitter::has_rule(std::string_view op) { return VectorCall::rule_of(op) != nullptr; }
bool VectorEmitter::is_batched(const Value& v) { return dynamic_cast<BatchedValue*>(v.rep()) != nullptr; }

Value VectorEmitter::inner(const Value& v) const {
  if (auto* b = dynamic_cast<BatchedValue*>(v.rep())) return b->inner();
  return on(base_, v);
}

Value VectorEmitter::rows() const { return rows_ >= 0 ? base_.constant(Tensor::scalar<int32_t>(int32_t(rows_))) : on(base_, rows_value_); }

Value VectorEmitter::unbatched(const Value& v) {
  if (auto* b = dynamic_cast<BatchedValue*>(v.rep())) return b->inner();
  Value own = on(base_, v);
  if (own.dtype() == DType::kResource || own.dtype() == DType::kVariant) {
    fail(unimplemented("rows of a ", dtype_name(own.dtype())));
    return own;
  }
  Value front = base_.one("Reshape", {rows(), base_.constant(Tensor::vector(std::vector<int32_t>{1}))});
  return base_.one("BroadcastTo", {own, op::concat(std::vector<Value>{front, shape_of(own)}, 0)});
}

Outputs VectorEmitter::do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  const bool any = std::any_of(inputs.begin(), inputs.end(), is_batched);
  if (!any && !VectorCall::makes_rows(op)) return once(op, inputs, std::move(attrs));
  if (VectorCall::Rule rule = VectorCall::rule_of(op)) {
    auto out = VectorCall(*this, op, inputs, attrs).run(rule);
    if (Status s = base_.take_status(); !s.ok()) return s;
    if (out.ok() || out.status().code() != Code::kUnimplemented) return out;
  }
  return otherwise(op, inputs, std::move(attrs));
}

Outputs VectorEmitter::otherwise(std::string_view op, std::span<const Value>, AttrMap) {
  return unimplemented(op, " of several rows at once");
}

Outputs VectorEmitter::once(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  std::vector<Value> own;
  for (const Value& v : inputs) own.push_back(on(base_, v));
  auto out = base_.apply(op, own, std::move(attrs));
  WEFT_RETURN_IF_ERROR(base_.take_status());
  for (Value& v : out) v = on(*this, v);
  return out;
}

Result<Value> VectorEmitter::do_constant(Tensor value) {
  Value v = base_.constant(std::move(value));
  WEFT_RETURN_IF_ERROR(base_.take_status());
  return on(*this, v);
}

// ---- what rules share ------------------------------------------------------------------------------------

Outputs VectorCall::one(Value v) { return all({std::move(v)}); }
Outputs VectorCall::all(std::vector<Value> out) {
  WEFT_RETURN_IF_ERROR(base_.take_status());
  WEFT_RETURN_IF_ERROR(vector_.take_status());
  for (Value& v : out) v = vector_.batched(v);
  return out;
}
Outputs VectorCall::same(Value v) {
  WEFT_RETURN_IF_ERROR(base_.take_status());
  return std::vector<Value>{on(vector_, v)};
}

bool VectorCall::has_rows_from(size_t i) const {
  for (; i < inputs_.size(); ++i) {
    if (has_rows(i)) return true;
  }
  return false;
}

Value VectorCall::apply1(std::string_view op, std::vector<Value> in, AttrMap attrs) {
  auto out = apply(op, std::move(in), std::move(attrs));
  return out.empty() ? Value() : out[0];
}

Value VectorCall::join(const std::vector<Value>& sizes) const {
  std::vector<int64_t> known;
  for (const Value& v : sizes) {
    const Tensor* t = v.constant();
    if (!t || t->dtype() != DType::kInt32) {
      std::vector<Value> parts;
      for (const Value& s : sizes) parts.push_back(op::cast(s, DType::kInt32));
      return parts.size() == 1 ? parts[0] : op::concat(parts, 0);
    }
    known.insert(known.end(), t->data<int32_t>(), t->data<int32_t>() + t->num_elements());
  }
  return list(known);
}

Value VectorCall::rows_list() const { return rows() >= 0 ? list({rows()}) : op::reshape(vector_.rows(), list({1})); }

Value VectorCall::dims(size_t i, int from, int to) const {
  const PartialShape s = shape(i);
  if (s.has_rank()) {
    std::vector<int64_t> d = s.dims();
    if (to < 0) to = int(d.size());
    d = std::vector<int64_t>(d.begin() + std::min<int64_t>(from, int64_t(d.size())), d.begin() + std::min<int64_t>(to, int64_t(d.size())));
    if (std::none_of(d.begin(), d.end(), [](int64_t n) { return n == kUnknownDim; })) return list(d);
  }
  const int skipped = has_rows(i) ? 1 : 0;
  return op::slice(op::shape_of(inner(i)), list({from + skipped}), list({to < 0 ? -1 : to - from}));
}

std::optional<std::vector<int64_t>> VectorCall::numbers(size_t i) const {
  const Tensor* t = has_rows(i) ? nullptr : inputs_[i].constant();
  if (!t) return {};
  std::vector<int64_t> out;
  for (int64_t k = 0; k < t->num_elements(); ++k) {
    if (t->dtype() == DType::kInt32) out.push_back(t->data<int32_t>()[k]);
    else if (t->dtype() == DType::kInt64) out.push_back(t->data<int64_t>()[k]);
    else return {};
  }
  return out;
}

Result<Value> VectorCall::aligned(size_t i, int to) const {
  Value v = inner(i);
  if (rank(i) < 0 || to < rank(i)) return refused();
  if (!has_rows(i) || rank(i) == to) return v;
  return op::reshape(v, join({rows_list(), list(std::vector<int64_t>(size_t(to - rank(i)), 1)), dims(i)}));
}

Value VectorCall::row_numbers(int dims_behind) const {
  Value n = base_.one("Range", {scalar(0), vector_.rows(), scalar(1)});
  return dims_behind ? op::reshape(n, join({rows_list(), list(std::vector<int64_t>(size_t(dims_behind), 1))})) : n;
}

Value VectorCall::to_front(const Value& v, int axis) const {
  std::vector<int64_t> perm{axis};
  for (int i = 0; i < v.shape().rank(); ++i) {
    if (i != axis) perm.push_back(i);
  }
  return axis == 0 ? v : op::transpose(v, list(perm));
}

Value VectorCall::shifted_axes(size_t i) const {
  if (auto axes = numbers(i)) {
    for (int64_t& a : *axes) a += a >= 0 ? 1 : 0;
    return rank(i) == 0 ? scalar((*axes)[0]) : list(*axes);
  }
  Value a = op::cast(inner(i), DType::kInt32);
  return a + op::cast(op::binary("GreaterEqual", a, scalar(0)), DType::kInt32);
}

bool VectorCall::flag(const char* name) const {
  auto it = attrs_.find(name);
  return it != attrs_.end() && it->second.get<bool>() && *it->second.get<bool>();
}
int64_t VectorCall::number(const char* name, int64_t otherwise) const {
  auto it = attrs_.find(name);
  return it != attrs_.end() && it->second.get<int64_t>() ? *it->second.get<int64_t>() : otherwise;
}
std::string VectorCall::text(const char* name) const {
  auto it = attrs_.find(name);
  return it != attrs_.end() && it->second.get<std::string>() ? *it->second.get<std::string>() : "";
}
AttrMap VectorCall::typeless() {
  for (const char* name : {"Tidx", "Tshape", "Tmultiples", "Tperm", "Index", "Tpaddings", "Tdim", "Taxis", "Tlen", "index_type", "Tshift"})
    attrs_.erase(name);
  return std::move(attrs_);
}

// ---- elementwise and products ------------------------------------------------------------------------------

template <int kWithRows>
Outputs VectorCall::leading() {
  const size_t n = kWithRows < 0 ? inputs_.size() : size_t(kWithRows);
  if (has_rows_from(n)) return refused();
  std::vector<Value> in;
  for (size_t i = 0; i < inputs_.size(); ++i) in.push_back(i < n ? with_rows(i) : inner(i));
  return all(apply(op_, in, std::move(attrs_)));
}

Outputs VectorCall::broadcasting() {
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
  return one(apply1(op_, in, std::move(attrs_)));
}

Outputs VectorCall::clip() {  // bounds are scalars or as large as x
  if (rank(0) < 0) return refused();
  WEFT_ASSIGN(Value low, aligned(1, rank(0)));
  WEFT_ASSIGN(Value high, aligned(2, rank(0)));
  return one(op::binary("Minimum", op::binary("Maximum", with_rows(0), low), high));
}

Outputs VectorCall::matmul() {
  const bool ta = flag("transpose_a"), tb = flag("transpose_b");
  const PartialShape a = shape(0), b = shape(1);
  if (!a.fully_known() || !b.fully_known() || rows() < 0) {
    if (rank(0) != 2 || rank(1) != 2) return refused();
  } else {
    const int64_t m = ta ? a.dim(1) : a.dim(0), k = ta ? a.dim(0) : a.dim(1), n = tb ? b.dim(0) : b.dim(1);
    if (!has_rows(1) && (!ta || m == 1)) {  // one large product
      Value product = op::matmul(op::reshape(inner(0), list({rows() * m, k})), inner(1), false, tb);
      return one(op::reshape(product, list({rows(), m, n})));
    }
    if (!has_rows(0) && n == 1) {  // columns: the same, the other way round
      Value product = op::matmul(op::reshape(inner(1), list({rows(), k})), inner(0), false, !ta);
      return one(op::reshape(product, list({rows(), m, 1})));
    }
  }
  // A transposed side of complex numbers is not conjugated here.
  const DType t = inputs_[0].dtype();
  const bool complex = t == DType::kComplex64 || t == DType::kComplex128;
  auto side = [&](size_t i, bool transposed) {
    return complex && transposed ? op::transpose(inner(i), has_rows(i) ? list({0, 2, 1}) : list({1, 0})) : inner(i);
  };
  return one(op::batch_matmul(side(0, ta), side(1, tb), ta && !complex, tb && !complex));
}

Outputs VectorCall::batch_matmul() {
  if (rank(0) < 2 || rank(1) < 2) return refused();
  const PartialShape a = shape(0), b = shape(1);
  if (!has_rows(1) && rank(1) == 2 && !flag("adj_x") && a.fully_known() && b.fully_known() && rows() >= 0) {
    int64_t m = rows();
    std::vector<int64_t> out{rows()};
    for (int i = 0; i + 1 < a.rank(); ++i) m *= a.dim(i), out.push_back(a.dim(i));
    out.push_back(b.dim(flag("adj_y") ? 0 : 1));
    Value product = op::batch_matmul(op::reshape(inner(0), list({m, a.dim(a.rank() - 1)})), inner(1), false, flag("adj_y"));
    return one(op::reshape(product, list(out)));
  }
  const int most = std::max(rank(0), rank(1));
  WEFT_ASSIGN(Value x, aligned(0, most));
  WEFT_ASSIGN(Value y, aligned(1, most));
  return one(op::batch_matmul(x, y, flag("adj_x"), flag("adj_y")));
}

// A letter of its own in front of every operand with rows and of the result.
Outputs VectorCall::einsum() {
  std::string equation = text("equation"), out;
  char row = 'a';
  while (row <= 'z' && equation.find(row) != std::string::npos) ++row;
  const size_t arrow = equation.find("->");
  if (row > 'z' || arrow == std::string::npos) return refused();
  size_t operand = 0;
  bool start = true;
  for (size_t i = 0; i < arrow; ++i) {
    if (start && operand < inputs_.size() && has_rows(operand)) out += row;
    start = equation[i] == ',';
    operand += start;
    out += equation[i];
  }
  if (start && operand < inputs_.size() && has_rows(operand)) out += row;  // an operand that is a scalar
  attrs_["equation"] = out + "->" + row + equation.substr(arrow + 2);
  std::vector<Value> in;
  for (size_t i = 0; i < inputs_.size(); ++i) in.push_back(inner(i));
  return one(apply1(op_, in, std::move(attrs_)));
}

Outputs VectorCall::reduced() {
  if (has_rows(1)) return refused();
  return one(apply1(op_, {inner(0), shifted_axes(1)}, typeless()));
}

Outputs VectorCall::rolled() {
  if (has_rows_from(1)) return refused();
  attrs_.erase("Taxis");
  return one(apply1(op_, {inner(0), inner(1), shifted_axes(2)}, std::move(attrs_)));
}

template Outputs VectorCall::leading<1>();

// ---- the table ---------------------------------------------------------------------------------------------

bool VectorCall::makes_rows(std::string_view op) {
  return op == "TensorListReserve" || op == "EmptyTensorList" || op == "RandomUniform" || op == "RandomUniformInt" ||
         op == "RandomStandardNormal" || op == "TruncatedNormal" || op == "RandomGamma" || op == "RandomPoissonV2" || op == "Multinomial";
}

VectorCall::Rule VectorCall::rule_of(std::string_view op) {
  using C = VectorCall;
  static const auto* table = [] {
    auto* t = new std::unordered_map<std::string_view, Rule>();
    auto add = [t](Rule rule, std::string_view ops) {
      for (size_t end; !ops.empty(); ops.remove_prefix(std::min(end, ops.size() - 1) + 1)) {
        end = ops.find(' ');
        (*t)[ops.substr(0, end)] = rule;
      }
    };
    add(&C::leading<1>,
        "Identity Neg Exp Log Log1p Expm1 Sqrt Rsqrt Square Reciprocal Inv Abs Sign Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh "
        "Atanh Sigmoid Relu Relu6 Elu Selu Softplus Softsign Erf Erfc Cast ZerosLike OnesLike StopGradient Conj Real Imag Angle Digamma "
        "Lgamma Floor Ceil Round Rint LogicalNot PreventGradient LeakyRelu CheckNumerics ComplexAbs Erfinv Ndtri Invert PopulationCount "
        "IsFinite IsInf IsNan Snapshot BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e "
        "BesselY0 BesselY1 Dawsn Expint FresnelCos FresnelSin Spence Bucketize AsString StringLower StringUpper StringStrip StringLength "
        "StringToNumber StringToHashBucketFast EncodeBase64 DecodeBase64 RegexFullMatch StaticRegexReplace");
    // Ops on the last dimensions, whatever stands in front.
    add(&C::leading<1>,
        "Softmax LogSoftmax Cholesky MatrixInverse MatrixDeterminant LogMatrixDeterminant Qr Svd SelfAdjointEigV2 Eig Lu MatrixDiag "
        "MatrixDiagPart MatrixDiagV2 MatrixDiagV3 MatrixDiagPartV2 MatrixDiagPartV3 MatrixBandPart MatrixLogarithm MatrixSquareRoot TopK "
        "TopKV2 FFT FFT2D FFT3D IFFT IFFT2D IFFT3D RFFT RFFT2D RFFT3D IRFFT IRFFT2D IRFFT3D AdjustContrastv2 AdjustHue AdjustSaturation "
        "RGBToHSV HSVToRGB");
    add(&C::leading<2>, "MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MatrixSolve CholeskyGrad");
    add(&C::leading<-1>,
        "ReluGrad Relu6Grad EluGrad SeluGrad LeakyReluGrad SoftplusGrad SoftsignGrad TanhGrad SigmoidGrad SqrtGrad RsqrtGrad "
        "ReciprocalGrad "
        "InvGrad AddN AccumulateNV2 Cross Betainc ApproximateEqual");
    add(&C::broadcasting,
        "Add AddV2 Sub Mul Div RealDiv DivNoNan MulNoNan Maximum Minimum Pow SquaredDifference FloorDiv FloorMod Mod TruncateDiv "
        "TruncateMod Equal NotEqual Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr Atan2 Xlogy Xdivy Xlog1py Complex SelectV2 "
        "BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift Igamma Igammac IgammaGradA Polygamma Zeta NextAfter MatrixTriangularSolve");
    add(&C::reduced, "Sum Mean Prod Max Min All Any EuclideanNorm ArgMax ArgMin Cumsum Cumprod CumulativeLogsumexp ReverseV2");
    add(&C::batch_matmul, "BatchMatMul BatchMatMulV2");
    add(&C::padded, "Pad PadV2 MirrorPad");
    add(&C::transposed, "Transpose ConjugateTranspose");
    add(&C::packed, "Pack Unpack");
    add(&C::scattered_into, "TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMax TensorScatterMin");
    add(&C::segments, "UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd");
    add(&C::folded<1>,
        "MaxPool MaxPoolV2 AvgPool MaxPool3D AvgPool3D DepthwiseConv2dNative Conv3D LRN SpaceToDepth DepthToSpace ResizeBilinear "
        "ResizeNearestNeighbor ResizeBicubic ResizeArea ExtractImagePatches Dilation2D Multinomial");
    add(&C::folded<2>, "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits LowerBound UpperBound ResizeBilinearGrad InTopKV2");
    add(&C::folded<3>, "MaxPoolGrad MaxPoolGradV2 MaxPool3DGrad");
    add(&C::pool_gradient, "AvgPoolGrad AvgPool3DGrad");
    add(&C::conv_input_gradient, "Conv2DBackpropInput DepthwiseConv2dNativeBackpropInput Conv3DBackpropInputV2");
    add(&C::random, "RandomUniform RandomUniformInt RandomStandardNormal TruncatedNormal RandomGamma RandomPoissonV2");
    add(&C::list_reserve, "TensorListReserve EmptyTensorList");
    add(&C::formatted, "StringFormat");
    add(&C::clip, "ClipByValue");
    add(&C::matmul, "MatMul");
    add(&C::einsum, "Einsum");
    add(&C::rolled, "Roll");
    add(&C::reshaped, "Reshape");
    add(&C::tiled, "Tile");
    add(&C::broadcast_to, "BroadcastTo");
    add(&C::filled, "Fill");
    add(&C::squeezed, "Squeeze");
    add(&C::expanded, "ExpandDims");
    add(&C::sliced, "Slice");
    add(&C::strided_slice, "StridedSlice");
    add(&C::strided_slice_grad, "StridedSliceGrad");
    add(&C::concatenated, "ConcatV2");
    add(&C::split, "Split");
    add(&C::split_v, "SplitV");
    add(&C::one_hot, "OneHot");
    add(&C::selected, "Select");
    add(&C::diag, "Diag");
    add(&C::diag_part, "DiagPart");
    add(&C::shape_of_value, "Shape");
    add(&C::shapes_of_values, "ShapeN");
    add(&C::rank_of_value, "Rank");
    add(&C::size_of_value, "Size");
    add(&C::ensured, "EnsureShape");
    add(&C::each, "IdentityN");
    add(&C::gathered, "GatherV2");
    add(&C::gathered_nd, "GatherNd");
    add(&C::gathered_variable, "ResourceGather");
    add(&C::scattered, "ScatterNd");
    add(&C::conv2d, "Conv2D");
    add(&C::conv_filter_gradient, "Conv2DBackpropFilter");
    add(&C::bias_add, "BiasAdd");
    add(&C::bias_add_grad, "BiasAddGrad");
    add(&C::batch_norm, "FusedBatchNormV3");
    add(&C::assertion, "Assert");
    add(&C::list_from_tensor, "TensorListFromTensor");
    add(&C::list_stack, "TensorListStack");
    add(&C::list_get, "TensorListGetItem");
    add(&C::list_set, "TensorListSetItem");
    add(&C::list_push, "TensorListPushBack");
    add(&C::list_pop, "TensorListPopBack");
    add(&C::list_length, "TensorListLength");
    return t;
  }();
  auto it = table->find(op);
  return it == table->end() ? nullptr : it->second;
}

}  // namespace weft::autodiff
