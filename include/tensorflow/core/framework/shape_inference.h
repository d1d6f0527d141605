// SPDX-License-Identifier: Apache-2.0
//
// InferenceContext: what a shape function sees of a node. Handles of shapes and dimensions belong to the context and live as long as it.
#ifndef TENSORFLOW_CORE_FRAMEWORK_SHAPE_INFERENCE_H_
#define TENSORFLOW_CORE_FRAMEWORK_SHAPE_INFERENCE_H_

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace tensorflow {
namespace shape_inference {

class InferenceContext;

class Dimension {
 private:
  friend class InferenceContext;
  int64 value_ = -1;
  bool of_engine_ = false;
};
class DimensionHandle {
 public:
  DimensionHandle() = default;
  bool SameHandle(DimensionHandle d) const { return p_ == d.p_; }
  bool IsSet() const { return p_ != nullptr; }

 private:
  friend class InferenceContext;
  explicit DimensionHandle(const Dimension* p) : p_(p) {}
  const Dimension* p_ = nullptr;
};

class Shape {
 private:
  friend class InferenceContext;
  bool known_ = false, of_engine_ = false;
  std::vector<DimensionHandle> dims_;
};
class ShapeHandle {
 public:
  ShapeHandle() = default;
  bool SameHandle(ShapeHandle s) const { return p_ == s.p_; }
  bool IsSet() const { return p_ != nullptr; }

 private:
  friend class InferenceContext;
  explicit ShapeHandle(const Shape* p) : p_(p) {}
  const Shape* p_ = nullptr;
};

// A dimension, or its size: where either will do.
struct DimensionOrConstant {
  DimensionOrConstant(DimensionHandle d) : dim(d) {}  // NOLINT
  DimensionOrConstant(int64 v) : val(v) {}            // NOLINT
  DimensionOrConstant(int v) : val(v) {}              // NOLINT
  DimensionHandle dim;
  int64 val = -1;
};

struct ShapeAndType {
  ShapeAndType() = default;
  ShapeAndType(ShapeHandle s, DataType t) : shape(s), dtype(t) {}
  ShapeHandle shape;
  DataType dtype = DT_INVALID;
};

class InferenceContext {
 public:
  static constexpr int64 kUnknownDim = -1;
  static constexpr int32 kUnknownRank = -1;

  explicit InferenceContext(weft_shapes* c)
      : c_(c), node_(weft_shapes_node(c)), num_inputs_(weft_node_num_inputs(node_)), outputs_(static_cast<size_t>(weft_node_num_outputs(node_))) {
    inputs_.resize(static_cast<size_t>(num_inputs_));
    tensors_.resize(static_cast<size_t>(num_inputs_));
    for (int i = 0; i < num_inputs_; ++i) inputs_[static_cast<size_t>(i)] = FromDims(weft_shapes_input(c, i));
  }
  InferenceContext(const InferenceContext&) = delete;

  // ---- Inputs, outputs, attributes ----
  int num_inputs() const { return num_inputs_; }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  ShapeHandle input(int64 i) const { return inputs_[static_cast<size_t>(i)]; }
  ShapeHandle output(int64 i) const { return outputs_[static_cast<size_t>(i)]; }
  void set_output(int i, ShapeHandle s) { outputs_.at(static_cast<size_t>(i)) = s; }
  // More outputs, for who infers the shapes of a node with none of its own: the engine takes those that the node has.
  Status ExpandOutputs(int n) {
    if (n < num_outputs()) return errors::InvalidArgument("Trying to reduce number of outputs of op.");
    outputs_.resize(static_cast<size_t>(n));
    return OkStatus();
  }
  // What is said of the values of inputs is known from then on.
  void set_input_tensors(const std::vector<const Tensor*>& tensors) {
    for (size_t i = 0; i < tensors.size() && i < tensors_.size(); ++i) {
      if (!tensors[i]) continue;
      tensors_[i] = std::make_unique<Tensor>(*tensors[i]);
      given_.insert(static_cast<int>(i));
    }
  }
  void set_input_tensors_as_shapes(const std::vector<ShapeHandle>& shapes) { as_shapes_ = shapes; }
  const std::vector<ShapeHandle>& input_tensors_as_shapes() const { return as_shapes_; }
  Status input(std::string_view name, std::vector<ShapeHandle>* out) const {
    int begin = 0, end = 0;
    if (!weft_node_range(node_, 0, internal::Text(name), &begin, &end)) return errors::InvalidArgument("Unknown input name: ", name);
    out->assign(inputs_.begin() + begin, inputs_.begin() + end);
    return OkStatus();
  }
  // For these headers: the outputs as the rule of another op gives them.
  Status Apply(const char* op) {
    TF_RETURN_IF_ERROR(internal::FromC(weft_shapes_apply(c_, internal::Text(op))));
    TakeOutputs();
    return OkStatus();
  }
  // What a rule of the engine gave: sizes alone, which are told from handles that came from an input.
  void TakeOutputs() {
    for (size_t i = 0; i < outputs_.size(); ++i) outputs_[i] = FromDims(weft_shapes_output(c_, static_cast<int>(i)), true);
  }
  static bool OfEngine(ShapeHandle s) { return s.IsSet() && s.p_->of_engine_; }
  static bool OfEngine(DimensionHandle d) { return d.IsSet() && d.p_->of_engine_; }
  Status set_output(std::string_view name, const std::vector<ShapeHandle>& shapes) {
    int begin = 0, end = 0;
    if (!weft_node_range(node_, 1, internal::Text(name), &begin, &end)) return errors::InvalidArgument("Unknown output name: ", name);
    if (shapes.size() != static_cast<size_t>(end - begin))
      return errors::InvalidArgument("Must have exactly ", end - begin, " shapes for output ", name, ", got ", shapes.size());
    std::copy(shapes.begin(), shapes.end(), outputs_.begin() + begin);
    return OkStatus();
  }
  // The value of an input; null where it is not known while shapes are inferred.
  const Tensor* input_tensor(int i) {
    if (i < 0 || i >= num_inputs_) return nullptr;
    requested_.insert(i);
    auto& slot = tensors_[static_cast<size_t>(i)];
    if (slot) return slot.get();
    const TF_Tensor* t = weft_shapes_constant(c_, i);
    if (!t) return nullptr;
    if (!slot) slot = std::make_unique<Tensor>(Tensor::Received(weft_tensor_share(t)));
    return slot.get();
  }
  template <class T>
  Status GetAttr(std::string_view name, T* value) const {
    return internal::GetAttr(node_, name, value);
  }
  Status output(std::string_view name, std::vector<ShapeHandle>* out) const {
    int begin = 0, end = 0;
    if (!weft_node_range(node_, 1, internal::Text(name), &begin, &end)) return errors::InvalidArgument("Unknown output name: ", name);
    out->assign(outputs_.begin() + begin, outputs_.begin() + end);
    return OkStatus();
  }
  AttrSlice attrs() const { return AttrSlice(node_); }
  int graph_def_version() const { return weft_shapes_graph_version(c_); }
  // Whether the input is more exactly known by this; the shape of an input that others see stays.
  bool MergeInput(int i, ShapeHandle s) {
    ShapeHandle merged;
    if (!Merge(input(i), s, &merged).ok() || merged.SameHandle(input(i))) return false;
    inputs_[static_cast<size_t>(i)] = merged;
    return true;
  }
  std::string node_name() const { return std::string(internal::View(weft_node_name(node_))); }
  // What resources and variants hold.
  const std::vector<ShapeAndType>* input_handle_shapes_and_types(int i) {
    if (const auto given = given_handles_.find(i); given != given_handles_.end()) return &given->second;
    weft_dims d;
    const int type = weft_shapes_handle(c_, i, &d);
    if (!type) return nullptr;
    handles_.push_back({ShapeAndType(FromDims(d), static_cast<DataType>(type))});
    return &handles_.back();
  }
  void set_output_handle_shapes_and_types(int i, const std::vector<ShapeAndType>& held) {
    output_handles_[i] = held;
    if (held.empty()) return;
    const std::vector<int64> dims = Values(held[0].shape);
    weft_shapes_set_handle(c_, i, held[0].dtype, {dims.data(), Rank(held[0].shape)});
  }

  void set_input_handle_shapes_and_types(int i, const std::vector<ShapeAndType>& held) { given_handles_[i] = held; }
  const std::vector<ShapeAndType>* output_handle_shapes_and_types(int i) const {
    const auto at = output_handles_.find(i);
    return at == output_handles_.end() ? nullptr : &at->second;
  }
  // As MergeInput: whether anything is more exactly known now.
  bool MergeInputHandleShapesAndTypes(int i, const std::vector<ShapeAndType>& held) {
    const std::vector<ShapeAndType>* had = input_handle_shapes_and_types(i);
    if (had && !had->empty()) return false;
    given_handles_[i] = held;
    return true;
  }
  bool MergeOutputHandleShapesAndTypes(int i, const std::vector<ShapeAndType>& held) {
    if (output_handle_shapes_and_types(i)) return false;
    set_output_handle_shapes_and_types(i, held);
    return true;
  }
  void SetInput(int i, ShapeHandle s) { inputs_.at(static_cast<size_t>(i)) = s; }
  bool requested_input_tensor(int i) const { return requested_.count(i) != 0; }
  bool requested_input_tensor_as_partial_shape(int i) const { return requested_as_shape_.count(i) != 0; }
  Status construction_status() const { return OkStatus(); }
  template <class Proto>
  void ShapeHandleToProto(ShapeHandle s, Proto* proto) {
    proto->Clear();
    if (!RankKnown(s)) return proto->set_unknown_rank(true);
    for (const int64 d : Values(s)) proto->add_dim()->set_size(d);
  }

  // ---- Questions ----
  DimensionHandle DimKnownRank(ShapeHandle s, int64 i) {
    CHECK(RankKnown(s)) << "the rank is not known";
    return Dim(s, i);
  }
  static bool RankKnown(ShapeHandle s) { return s.IsSet() && s.p_->known_; }
  static int32 Rank(ShapeHandle s) { return RankKnown(s) ? static_cast<int32>(s.p_->dims_.size()) : kUnknownRank; }
  static bool ValueKnown(DimensionOrConstant d) { return Value(d) >= 0; }
  static int64 Value(DimensionOrConstant d) { return d.dim.IsSet() ? d.dim.p_->value_ : d.val; }
  // A negative i counts from the end.
  DimensionHandle Dim(ShapeHandle s, int64 i) {
    if (!RankKnown(s)) return UnknownDim();
    const int64 rank = Rank(s), at = i < 0 ? i + rank : i;
    CHECK(at >= 0 && at < rank) << "dimension " << i << " of a shape of rank " << rank;
    return s.p_->dims_[static_cast<size_t>(at)];
  }
  bool FullyDefined(ShapeHandle s) const {
    for (int64 d : Values(s)) {
      if (d < 0) return false;
    }
    return RankKnown(s);
  }
  DimensionHandle NumElements(ShapeHandle s) {
    if (!FullyDefined(s)) return UnknownDim();
    int64 n = 1;
    for (int64 d : Values(s)) n *= d;
    return MakeDim(n);
  }
  std::string DebugString(DimensionHandle d) const { return ValueKnown(d) ? std::to_string(Value(d)) : "?"; }
  std::string DebugString(ShapeHandle s) const {
    if (!RankKnown(s)) return "?";
    std::string out = "[";
    for (int64 d : Values(s)) out += (out.size() > 1 ? "," : "") + (d < 0 ? "?" : std::to_string(d));
    return out + "]";
  }

  // ---- Demands on shapes; *out has what was learned ----
  Status WithRank(ShapeHandle s, int64 rank, ShapeHandle* out) {
    if (!RankKnown(s)) return *out = UnknownShapeOfRank(rank), OkStatus();
    if (Rank(s) == rank) return *out = s, OkStatus();
    *out = ShapeHandle();
    return errors::InvalidArgument("Shape must be rank ", rank, " but is rank ", Rank(s));
  }
  Status WithRankAtLeast(ShapeHandle s, int64 rank, ShapeHandle* out) {
    if (!RankKnown(s) || Rank(s) >= rank) return *out = s, OkStatus();
    *out = ShapeHandle();
    return errors::InvalidArgument("Shape must be at least rank ", rank, " but is rank ", Rank(s));
  }
  Status WithRankAtMost(ShapeHandle s, int64 rank, ShapeHandle* out) {
    if (!RankKnown(s) || Rank(s) <= rank) return *out = s, OkStatus();
    *out = ShapeHandle();
    return errors::InvalidArgument("Shape must be at most rank ", rank, " but is rank ", Rank(s));
  }
  Status WithValue(DimensionHandle d, int64 value, DimensionHandle* out) {
    if (!ValueKnown(d)) return *out = MakeDim(value), OkStatus();
    if (Value(d) == value) return *out = d, OkStatus();
    *out = DimensionHandle();
    return errors::InvalidArgument("Dimension must be ", value, " but is ", Value(d));
  }
  Status Merge(DimensionHandle a, DimensionHandle b, DimensionHandle* out) {
    if (!ValueKnown(b) || a.SameHandle(b)) return *out = a, OkStatus();
    if (!ValueKnown(a) || Value(a) == Value(b)) return *out = b, OkStatus();
    *out = DimensionHandle();
    return errors::InvalidArgument("Dimensions must be equal, but are ", Value(a), " and ", Value(b));
  }
  Status Merge(ShapeHandle a, ShapeHandle b, ShapeHandle* out) {
    if (!RankKnown(b) || a.SameHandle(b)) return *out = a, OkStatus();
    if (!RankKnown(a)) return *out = b, OkStatus();
    if (Rank(a) != Rank(b)) {
      *out = ShapeHandle();
      return errors::InvalidArgument("Shapes must be equal rank, but are ", Rank(a), " and ", Rank(b));
    }
    std::vector<DimensionHandle> dims(a.p_->dims_.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      const Status s = Merge(a.p_->dims_[i], b.p_->dims_[i], &dims[i]);
      if (s.ok()) continue;
      *out = ShapeHandle();
      return errors::InvalidArgument("Dimension ", i, " in both shapes must be equal, but are ", Value(a.p_->dims_[i]), " and ",
                                     Value(b.p_->dims_[i]), ". Shapes are ", DebugString(a), " and ", DebugString(b), ".");
    }
    *out = MakeShape(dims);
    return OkStatus();
  }
  Status MergePrefix(ShapeHandle s, ShapeHandle prefix, ShapeHandle* s_out, ShapeHandle* prefix_out) {
    *s_out = s;
    *prefix_out = prefix;
    if (!RankKnown(s) || !RankKnown(prefix)) return OkStatus();
    ShapeHandle head, tail;
    TF_RETURN_IF_ERROR(WithRankAtLeast(s, Rank(prefix), &s));
    TF_RETURN_IF_ERROR(Subshape(s, 0, Rank(prefix), &head));
    TF_RETURN_IF_ERROR(Merge(head, prefix, prefix_out));
    TF_RETURN_IF_ERROR(Subshape(s, Rank(prefix), &tail));
    return Concatenate(*prefix_out, tail, s_out);
  }

  // ---- Making shapes ----
  ShapeHandle UnknownShape() { return ShapeHandle(&shapes_.emplace_back()); }
  ShapeHandle UnknownShapeOfRank(int64 rank) {
    std::vector<DimensionHandle> dims;
    for (int64 i = 0; i < rank; ++i) dims.push_back(UnknownDim());
    return MakeShape(dims);
  }
  ShapeHandle Scalar() { return MakeShape(std::vector<DimensionHandle>()); }
  ShapeHandle Vector(DimensionOrConstant d) { return MakeShape({d}); }
  ShapeHandle Matrix(DimensionOrConstant a, DimensionOrConstant b) { return MakeShape({a, b}); }
  ShapeHandle MakeShape(const std::vector<DimensionHandle>& dims) {
    Shape& s = shapes_.emplace_back();
    s.known_ = true;
    s.dims_ = dims;
    return ShapeHandle(&s);
  }
  ShapeHandle MakeShape(std::initializer_list<DimensionOrConstant> dims) {
    std::vector<DimensionHandle> all;
    for (const DimensionOrConstant& d : dims) all.push_back(MakeDim(d));
    return MakeShape(all);
  }
  DimensionHandle MakeDim(DimensionOrConstant d) {
    if (d.dim.IsSet()) return d.dim;
    Dimension& made = dims_.emplace_back();
    made.value_ = d.val < 0 ? kUnknownDim : d.val;
    return DimensionHandle(&made);
  }
  DimensionHandle UnknownDim() { return MakeDim(kUnknownDim); }
  Status Subshape(ShapeHandle s, int64 begin, ShapeHandle* out) { return Subshape(s, begin, std::numeric_limits<int64>::max(), out); }
  Status Subshape(ShapeHandle s, int64 begin, int64 end, ShapeHandle* out) { return Subshape(s, begin, end, 1, out); }
  // Negative numbers count from the end, as in Python.
  Status Subshape(ShapeHandle s, int64 begin, int64 end, int64 stride, ShapeHandle* out) {
    if (begin == 0 && stride == 1 && (end == std::numeric_limits<int64>::max() || (RankKnown(s) && end >= Rank(s)))) return *out = s, OkStatus();
    if (!RankKnown(s)) return *out = UnknownShape(), OkStatus();
    const int64 rank = Rank(s), first = begin, last = end;
    begin = std::min(begin, rank);
    end = std::min(end, rank);
    *out = ShapeHandle();
    if (begin < 0 && (begin += rank) < 0) return errors::InvalidArgument("Subshape start out of bounds: ", first, ", for shape with rank ", rank);
    if (end < 0 && (end += rank) < 0) return errors::InvalidArgument("Subshape end out of bounds: ", last, ", for shape with rank ", rank);
    if (stride == 0) return errors::InvalidArgument("Subshape must have a stride that is not 0");
    if (stride > 0 && begin > end)
      return errors::InvalidArgument("Subshape must have computed start <= end, but is ", begin, " and ", end, " (computed from start ", first,
                                     " and end ", last, " over shape with rank ", rank, ")");
    std::vector<DimensionHandle> dims;
    for (int64 i = begin; stride > 0 ? i < end : i > end; i += stride) {
      if (i < rank) dims.push_back(s.p_->dims_[static_cast<size_t>(i)]);
    }
    *out = MakeShape(dims);
    return OkStatus();
  }
  Status Concatenate(ShapeHandle a, ShapeHandle b, ShapeHandle* out) {
    if (!RankKnown(a) || !RankKnown(b)) return *out = UnknownShape(), OkStatus();
    std::vector<DimensionHandle> dims = a.p_->dims_;
    dims.insert(dims.end(), b.p_->dims_.begin(), b.p_->dims_.end());
    *out = MakeShape(dims);
    return OkStatus();
  }
  Status ReplaceDim(ShapeHandle s, int64 i, DimensionHandle d, ShapeHandle* out) {
    if (!RankKnown(s)) return *out = UnknownShape(), OkStatus();
    if (i < 0) i += Rank(s);
    if (i < 0 || i >= Rank(s)) {
      *out = ShapeHandle();
      return errors::InvalidArgument("Out of range dim_index ", i, " for shape with ", Rank(s), " dimensions");
    }
    std::vector<DimensionHandle> dims = s.p_->dims_;
    dims[static_cast<size_t>(i)] = d;
    *out = MakeShape(dims);
    return OkStatus();
  }
  // Input i read as a shape, as far as it is known.
  Status MakeShapeFromShapeTensor(int i, ShapeHandle* out) {
    ShapeHandle s;
    TF_RETURN_IF_ERROR(WithRankAtMost(input(i), 1, &s));
    requested_.insert(i);
    requested_as_shape_.insert(i);
    if (given_.count(i)) return MakeShapeFromTensor(tensors_[static_cast<size_t>(i)].get(), s, out);
    if (static_cast<size_t>(i) < as_shapes_.size() && as_shapes_[static_cast<size_t>(i)].IsSet())
      return *out = as_shapes_[static_cast<size_t>(i)], OkStatus();
    int64_t dims[254];
    const int rank = weft_shapes_constant_shape(c_, i, dims);
    if (rank == -2) return errors::InvalidArgument("input ", i, " is no shape");
    *out = FromDims({dims, rank});
    return OkStatus();
  }
  Status MakeShapeFromTensor(const Tensor* t, ShapeHandle of_tensor, ShapeHandle* out) {
    if (!t) {
      const bool length = RankKnown(of_tensor) && Rank(of_tensor) == 1 && ValueKnown(Dim(of_tensor, 0));
      *out = length ? UnknownShapeOfRank(Value(Dim(of_tensor, 0))) : UnknownShape();
      return OkStatus();
    }
    if (t->dims() != 1 || (t->dtype() != DT_INT32 && t->dtype() != DT_INT64))
      return errors::InvalidArgument("Input tensor must be int32 or int64, and have rank 1, but is ", DataTypeString(t->dtype()), " ",
                                     t->shape().DebugString());
    std::vector<DimensionHandle> dims;
    for (int64 i = 0; i < t->NumElements(); ++i) {
      const int64 d = t->dtype() == DT_INT32 ? t->flat<int32>()(i) : t->flat<int64>()(i);
      if (d < -1) return errors::InvalidArgument("Invalid value in tensor used for shape: ", d);
      dims.push_back(MakeDim(d));
    }
    *out = MakeShape(dims);
    return OkStatus();
  }
  // As above; the number -1 in place of a list stands for a shape of which nothing is known.
  Status MakeShapeFromShapeTensorTreatScalarAsUnknownShape(int i, ShapeHandle* out) {
    ShapeHandle s;
    TF_RETURN_IF_ERROR(WithRankAtMost(input(i), 1, &s));
    const Tensor* t = input_tensor(i);
    if (Rank(s) != 0) return MakeShapeFromShapeTensor(i, out);
    int64 value = -1;
    if (t) TF_RETURN_IF_ERROR(GetScalarFromTensor(t, &value));
    if (value != -1) return errors::InvalidArgument("Scalar must have value -1, but is ", value);
    return *out = UnknownShape(), OkStatus();
  }
  Status MakeShapeFromShapeProto(const TensorShapeProto& proto, ShapeHandle* out) {
    *out = ShapeHandle();
    TF_RETURN_IF_ERROR(PartialTensorShape::IsValidShape(proto));
    return MakeShapeFromPartialTensorShape(PartialTensorShape(proto), out);
  }
  Status MakeShapeFromPartialTensorShape(const PartialTensorShape& p, ShapeHandle* out) {
    const auto dims = p.dim_sizes();
    *out = FromDims({dims.data(), p.dims()});
    return OkStatus();
  }
  Status MakeShapeFromTensorShape(const TensorShape& s, ShapeHandle* out) { return MakeShapeFromPartialTensorShape(PartialTensorShape(s), out); }
  Status MakeDimForScalarInput(int i, DimensionHandle* out) {
    int64 value = -1;
    const Tensor* t = input_tensor(i);
    if (!t) return *out = UnknownDim(), OkStatus();
    TF_RETURN_IF_ERROR(GetScalarFromTensor(t, &value));
    if (value < 0) return errors::InvalidArgument("Dimension size, given by scalar input ", i, ", must be non-negative but is ", value);
    *out = MakeDim(value);
    return OkStatus();
  }
  // A negative number counts from the end of a dimension list of that rank.
  Status MakeDimForScalarInputWithNegativeIndexing(int i, int input_rank, DimensionHandle* out) {
    const Tensor* t = input_tensor(i);
    if (!t) return *out = UnknownDim(), OkStatus();
    int64 value = 0;
    TF_RETURN_IF_ERROR(GetScalarFromTensor(t, &value));
    if (value < 0 && input_rank < 0) return *out = UnknownDim(), OkStatus();
    if (value < 0 && value + input_rank < 0)
      return errors::InvalidArgument("Dimension size, given by scalar input ", value, " must be in range [-", input_rank, ", ", input_rank, ")");
    if (value < 0) value += input_rank;
    else if (input_rank >= 0 && value >= input_rank)
      return errors::InvalidArgument("Dimension size, given by scalar input ", value, " must be in range [-", input_rank, ", ", input_rank, ")");
    return *out = MakeDim(value), OkStatus();
  }
  // Element i of a vector.
  Status GetScalarFromTensor(const Tensor* t, int64 i, int64* value) {
    if (t->dims() != 1) return errors::InvalidArgument("Input must be 1D but has rank ", t->dims());
    if (i < 0 || i >= t->NumElements()) return errors::InvalidArgument("Invalid index ", i, " for Tensor of size ", t->NumElements());
    if (t->dtype() != DT_INT32 && t->dtype() != DT_INT64) return errors::InvalidArgument("Tensor input must be int32 or int64.");
    *value = t->dtype() == DT_INT32 ? t->flat<int32>()(i) : t->flat<int64>()(i);
    return OkStatus();
  }
  Status GetScalarFromTensor(const Tensor* t, int64* value) {
    if (t->dims() != 0) return errors::InvalidArgument("Input must be scalar but has rank ", t->dims());
    if (t->dtype() != DT_INT32 && t->dtype() != DT_INT64) return errors::InvalidArgument("Scalar input must be int32 or int64.");
    *value = t->dtype() == DT_INT32 ? t->scalar<int32>()() : t->scalar<int64>()();
    return OkStatus();
  }

  // ---- Arithmetic with what may be unknown ----
  Status Add(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    if (!ValueKnown(a) || !ValueKnown(b)) return *out = UnknownDim(), OkStatus();
    int64 n = 0;
    if (__builtin_add_overflow(Value(a), Value(b), &n))
      return errors::InvalidArgument("Dimension size overflow from adding ", Value(a), " and ", Value(b));
    return *out = MakeDim(n), OkStatus();
  }
  Status Subtract(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    if (!ValueKnown(a) || !ValueKnown(b)) return *out = UnknownDim(), OkStatus();
    if (Value(a) < Value(b)) return errors::InvalidArgument("Negative dimension size caused by subtracting ", Value(b), " from ", Value(a));
    return *out = MakeDim(Value(a) - Value(b)), OkStatus();
  }
  Status Multiply(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    if (!ValueKnown(a) || !ValueKnown(b)) return *out = UnknownDim(), OkStatus();
    int64 n = 0;
    if (__builtin_mul_overflow(Value(a), Value(b), &n))
      return errors::InvalidArgument("Negative dimension size caused by overflow when multiplying ", Value(a), " and ", Value(b));
    return *out = MakeDim(n), OkStatus();
  }
  // What both can be: where they differ, nothing is known.
  void Relax(DimensionHandle was, DimensionHandle now, DimensionHandle* out) {
    *out = was.SameHandle(now) || (ValueKnown(was) && ValueKnown(now) && Value(was) == Value(now)) ? was : UnknownDim();
  }
  void Relax(ShapeHandle was, ShapeHandle now, ShapeHandle* out) {
    if (was.SameHandle(now)) return void(*out = was);
    if (!RankKnown(was) || !RankKnown(now) || Rank(was) != Rank(now)) return void(*out = UnknownShape());
    std::vector<DimensionHandle> dims(was.p_->dims_.size());
    for (size_t i = 0; i < dims.size(); ++i) Relax(was.p_->dims_[i], now.p_->dims_[i], &dims[i]);
    *out = MakeShape(dims);
  }
  Status Divide(DimensionHandle a, DimensionOrConstant b, bool evenly, DimensionHandle* out) {
    if (ValueKnown(b) && Value(b) <= 0) return errors::InvalidArgument("Divisor must be positive but is ", Value(b));
    if (!ValueKnown(a) || !ValueKnown(b)) return *out = UnknownDim(), OkStatus();
    if (evenly && Value(a) % Value(b) != 0)
      return errors::InvalidArgument("Dimension size must be evenly divisible by ", Value(b), " but is ", Value(a));
    return *out = MakeDim(Value(a) / Value(b)), OkStatus();
  }
  Status Min(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    if (!ValueKnown(a) || !ValueKnown(b)) return *out = Value(a) == 0 || Value(b) == 0 ? MakeDim(0) : UnknownDim(), OkStatus();
    return *out = MakeDim(std::min(Value(a), Value(b))), OkStatus();
  }
  Status Max(DimensionHandle a, DimensionOrConstant b, DimensionHandle* out) {
    if (!ValueKnown(a) || !ValueKnown(b)) return *out = UnknownDim(), OkStatus();
    return *out = MakeDim(std::max(Value(a), Value(b))), OkStatus();
  }

  // For these headers: the node; hands the outputs to whoever infers.
  const weft_node* node() const { return node_; }
  Status Finish() {
    for (size_t i = 0; i < outputs_.size() && static_cast<int>(i) < weft_node_num_outputs(node_); ++i) {
      if (!outputs_[i].IsSet()) continue;
      const std::vector<int64> dims = Values(outputs_[i]);
      weft_shapes_set_output(c_, static_cast<int>(i), {dims.data(), Rank(outputs_[i])});
    }
    return OkStatus();
  }

 private:
  static std::vector<int64> Values(ShapeHandle s) {
    std::vector<int64> out;
    if (!RankKnown(s)) return out;
    for (DimensionHandle d : s.p_->dims_) out.push_back(Value(d));
    return out;
  }
  ShapeHandle FromDims(weft_dims d, bool of_engine = false) {
    Shape& s = shapes_.emplace_back();
    s.known_ = d.rank >= 0;
    s.of_engine_ = of_engine;
    for (int i = 0; i < d.rank; ++i) {
      s.dims_.push_back(MakeDim(d.dims[i]));
      dims_.back().of_engine_ = of_engine;
    }
    return ShapeHandle(&s);
  }
  weft_shapes* c_;
  const weft_node* node_;
  int num_inputs_;
  std::deque<Shape> shapes_;
  std::deque<Dimension> dims_;
  std::vector<ShapeHandle> inputs_, outputs_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::vector<ShapeHandle> as_shapes_;
  std::set<int> given_, requested_, requested_as_shape_;
  std::deque<std::vector<ShapeAndType>> handles_;
  std::map<int, std::vector<ShapeAndType>> given_handles_, output_handles_;
};

}  // namespace shape_inference

using OpShapeInferenceFn = std::function<Status(shape_inference::InferenceContext*)>;

namespace internal {
// A test's look at what a shape function of this thread gave, before its context goes.
inline thread_local const OpShapeInferenceFn* look_at_shapes = nullptr;
}  // namespace internal

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_SHAPE_INFERENCE_H_
