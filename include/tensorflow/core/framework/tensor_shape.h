// SPDX-License-Identifier: Apache-2.0
//
// TensorShape, all of whose dimensions are known, PartialTensorShape, and questions about them.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_SHAPE_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_SHAPE_H_

#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "tensorflow/core/framework/numeric_types.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/span.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {

class PartialTensorShape;
class TensorShape;

struct TensorShapeDim {
  explicit TensorShapeDim(int64 s) : size(s) {}
  int64 size;
};

namespace internal {

// Up to six sizes without memory of their own.
class Dims {
 public:
  void assign(const int64* begin, const int64* end) {
    size_ = static_cast<size_t>(end - begin);
    switch (size_) {  // without a call for a few numbers
      case 6: small_[5] = begin[5]; [[fallthrough]];
      case 5: small_[4] = begin[4]; [[fallthrough]];
      case 4: small_[3] = begin[3]; [[fallthrough]];
      case 3: small_[2] = begin[2]; [[fallthrough]];
      case 2: small_[1] = begin[1]; [[fallthrough]];
      case 1: small_[0] = begin[0]; [[fallthrough]];
      case 0: break;
      default: large_.assign(begin, end);
    }
  }
  void push_back(int64 d) {
    std::vector<int64> all = vec();
    all.push_back(d);
    assign(all.data(), all.data() + all.size());
  }
  const int64* data() const { return size_ <= kSmall ? small_ : large_.data(); }
  int64* data() { return size_ <= kSmall ? small_ : large_.data(); }
  size_t size() const { return size_; }
  const int64* begin() const { return data(); }
  const int64* end() const { return data() + size_; }
  int64 operator[](size_t i) const { return data()[i]; }
  int64& operator[](size_t i) { return data()[i]; }
  std::vector<int64> vec() const { return std::vector<int64>(begin(), end()); }
  friend bool operator==(const Dims& a, const Dims& b) { return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin()); }

 private:
  static constexpr size_t kSmall = 6;
  size_t size_ = 0;
  int64 small_[kSmall];
  std::vector<int64> large_;
};

}  // namespace internal

// The dimensions of a shape, one after the other.
template <class Shape>
class TensorShapeIter {
 public:
  TensorShapeIter(const Shape* shape, int d) : shape_(shape), d_(d) {}
  bool operator==(const TensorShapeIter& o) const { return shape_ == o.shape_ && d_ == o.d_; }
  bool operator!=(const TensorShapeIter& o) const { return !(*this == o); }
  void operator++() { ++d_; }
  TensorShapeDim operator*() const { return TensorShapeDim(shape_->dim_size(d_)); }

 private:
  const Shape* shape_;
  int d_;
};

// What shapes with and without unknown dimensions have in common. Derived is the shape itself, for functions that return one.
template <class Derived>
class TensorShapeBase {
 public:
  static constexpr int MaxDimensions() { return 254; }
  int64 dim_size(int i) const { return dims_[static_cast<size_t>(i)]; }
  gtl::InlinedVector<int64, 4> dim_sizes() const { return dims_.vec(); }
  TensorShapeDim dim(int i) const { return TensorShapeDim(dim_size(i)); }
  TensorShapeIter<Derived> begin() const { return TensorShapeIter<Derived>(static_cast<const Derived*>(this), 0); }
  TensorShapeIter<Derived> end() const { return TensorShapeIter<Derived>(static_cast<const Derived*>(this), static_cast<int>(dims_.size())); }

 protected:
  static std::string Text(const internal::Dims& dims) {
    std::string s = "[";
    for (int64 d : dims) s += (s.size() > 1 ? "," : "") + (d < 0 ? "?" : std::to_string(d));
    return s + "]";
  }
  internal::Dims dims_;
};

class TensorShape : public TensorShapeBase<TensorShape> {
 public:
  TensorShape() = default;
  TensorShape(std::initializer_list<int64> dims) : TensorShape(gtl::ArraySlice<int64>(dims.begin(), dims.size())) {}
  // A dimension that is negative, or too many elements, is an exception: the op that runs fails. BuildTensorShape gives an error instead.
  explicit TensorShape(gtl::ArraySlice<int64> dims) { TF_CHECK_OK(Assign(dims)); }
  explicit TensorShape(const std::vector<int64>& dims) : TensorShape(gtl::ArraySlice<int64>(dims)) {}
  static Status BuildTensorShape(gtl::ArraySlice<int64> dims, TensorShape* out) { return out->Assign(dims); }
  // From and to a TensorShapeProto.
  template <class Proto, class = decltype(std::declval<const Proto&>().unknown_rank())>
  explicit TensorShape(const Proto& proto) {
    TF_CHECK_OK(BuildTensorShape(proto, this));
  }
  template <class Proto, class = decltype(std::declval<const Proto&>().unknown_rank())>
  static Status BuildTensorShape(const Proto& proto, TensorShape* out) {
    std::vector<int64> dims;
    for (const auto& d : proto.dim()) dims.push_back(d.size());
    if (proto.unknown_rank()) return errors::InvalidArgument("Shape ", "<unknown>", " is not fully defined");
    return out->Assign(dims);
  }
  template <class Proto>
  static bool IsValid(const Proto& proto) {
    TensorShape shape;
    return BuildTensorShape(proto, &shape).ok();
  }
  template <class Proto>
  void AsProto(Proto* proto) const {
    proto->Clear();
    for (const int64 d : dims_) proto->add_dim()->set_size(d);
  }
  static Status BuildTensorShapeBase(gtl::ArraySlice<int64> dims, TensorShape* out) { return out->Assign(dims); }

  int dims() const { return static_cast<int>(dims_.size()); }
  int64 num_elements() const { return num_elements_; }
  bool unknown_rank() const { return false; }
  bool IsFullyDefined() const { return true; }
  bool IsValid() const { return true; }

  void AddDim(int64 size) { TF_CHECK_OK(AddDimWithStatus(size)); }
  Status AddDimWithStatus(int64 size) { return InsertDimWithStatus(dims(), size); }
  void InsertDim(int at, int64 size) { TF_CHECK_OK(InsertDimWithStatus(at, size)); }
  Status InsertDimWithStatus(int at, int64 size) {
    if (at < 0 || at > dims()) return errors::InvalidArgument("no dimension ", at, " in ", DebugString());
    std::vector<int64> d = dims_.vec();
    d.insert(d.begin() + at, size);
    return Assign(d);
  }
  void AppendShape(const TensorShape& tail) { TF_CHECK_OK(AppendShapeWithStatus(tail)); }
  Status AppendShapeWithStatus(const TensorShape& tail) {
    std::vector<int64> d = dims_.vec();
    d.insert(d.end(), tail.dims_.begin(), tail.dims_.end());
    return Assign(d);
  }
  void set_dim(int i, int64 size) { TF_CHECK_OK(SetDimWithStatus(i, size)); }
  Status SetDimWithStatus(int i, int64 size) {
    if (i < 0 || i >= dims()) return errors::InvalidArgument("no dimension ", i, " in ", DebugString());
    std::vector<int64> d = dims_.vec();
    d[static_cast<size_t>(i)] = size;
    return Assign(d);
  }
  void RemoveDim(int i) { TF_CHECK_OK(RemoveDimWithStatus(i)); }
  Status RemoveDimWithStatus(int i) {
    if (i < 0) return errors::Internal("Expected dimension index to be non-negative, got ", i);
    return RemoveDimRangeWithStatus(i, i + 1);
  }
  void RemoveLastDims(int n) { TF_CHECK_OK(RemoveLastDimsWithStatus(n)); }
  void RemoveDimRange(int begin, int end) { TF_CHECK_OK(RemoveDimRangeWithStatus(begin, end)); }
  Status RemoveDimRangeWithStatus(int begin, int end) {
    if (begin < 0) begin += dims() + 1;
    if (end < 0) end += dims() + 1;
    if (begin < 0) return errors::Internal("Start index must be non-negative, got ", begin);
    if (begin > dims()) return errors::Internal("Start index must be less than ", dims(), ", got ", begin);
    if (end < 0) return errors::Internal("End index must be non-negative, got ", end);
    if (end > dims()) return errors::Internal("End index must be less than ", dims(), ", got ", end);
    if (begin >= end) return OkStatus();
    std::vector<int64> d = dims_.vec();
    d.erase(d.begin() + begin, d.begin() + end);
    return Assign(d);
  }
  Status RemoveLastDimsWithStatus(int64 n) {
    if (n > dims()) return errors::Internal("Expected dimension index to be at most ", dims(), " got ", n);
    return RemoveDimRangeWithStatus(dims() - static_cast<int>(n), dims());
  }
  void Clear() { *this = TensorShape(); }
#ifdef WEFT_WITH_EIGEN
  template <int N, class Index = Eigen::DenseIndex>
  Eigen::DSizes<Index, N> AsEigenDSizes() const {
    Eigen::DSizes<Index, N> sizes;
    TF_CHECK_OK((AsEigenDSizesWithStatus<N, Index>(&sizes)));
    return sizes;
  }
  template <int N, class Index = Eigen::DenseIndex>
  Status AsEigenDSizesWithStatus(Eigen::DSizes<Index, N>* out) const {
    if (dims() != N) return errors::Internal("Asking for tensor of ", N, " dimensions from a tensor of ", dims(), " dimensions");
    return AsEigenDSizesWithPaddingWithStatus<N, Index>(out);
  }
  // Dimensions that are not there are 1.
  template <int N, class Index = Eigen::DenseIndex>
  Eigen::DSizes<Index, N> AsEigenDSizesWithPadding() const {
    Eigen::DSizes<Index, N> sizes;
    TF_CHECK_OK((AsEigenDSizesWithPaddingWithStatus<N, Index>(&sizes)));
    return sizes;
  }
  template <int N, class Index = Eigen::DenseIndex>
  Status AsEigenDSizesWithPaddingWithStatus(Eigen::DSizes<Index, N>* out) const {
    if (dims() > N) return errors::Internal("Asking for tensor of at most ", N, " dimensions from a tensor of ", dims(), " dimensions");
    for (int i = 0; i < N; ++i) (*out)[i] = i < dims() ? static_cast<Index>(dim_size(i)) : 1;
    return OkStatus();
  }
#endif

  bool IsSameSize(const TensorShape& o) const { return dims_ == o.dims_; }
  friend bool operator==(const TensorShape& a, const TensorShape& b) { return a.dims_ == b.dims_; }
  friend bool operator!=(const TensorShape& a, const TensorShape& b) { return !(a == b); }
  std::string DebugString() const { return Text(dims_); }
  friend std::ostream& operator<<(std::ostream& out, const TensorShape& s) { return out << s.DebugString(); }

  // For these headers.
  weft_dims c_dims() const { return {dims_.data(), dims()}; }
  void assign_trusted(weft_dims d, int64 elements) {
    dims_.assign(d.dims, d.dims + d.rank);
    num_elements_ = elements;
  }

 private:
  Status Assign(gtl::ArraySlice<int64> d) {
    if (d.size() > static_cast<size_t>(MaxDimensions())) return errors::InvalidArgument("Too many dimensions in tensor");
    int64 n = 1;
    for (size_t i = 0; i < d.size(); ++i) {
      if (d[i] < 0) return errors::InvalidArgument("Expected a non-negative size, got ", d[i]);
      if (__builtin_mul_overflow(n, d[i], &n)) {
        return errors::InvalidArgument("Encountered overflow when multiplying ", Product(d, i), " with ", d[i], ", result: ", n);
      }
    }
    dims_.assign(d.begin(), d.end());
    num_elements_ = n;
    return OkStatus();
  }
  static int64 Product(gtl::ArraySlice<int64> d, size_t end) {
    int64 n = 1;
    for (size_t i = 0; i < end; ++i) n *= d[i];
    return n;
  }
  int64 num_elements_ = 1;
};

class PartialTensorShape : public TensorShapeBase<PartialTensorShape> {
 public:
  PartialTensorShape() = default;  // of unknown rank
  PartialTensorShape(std::initializer_list<int64> dims) : known_(true) { Assign({dims.begin(), dims.size()}); }
  explicit PartialTensorShape(gtl::ArraySlice<int64> dims) : known_(true) { Assign(dims); }
  template <class Proto, class = decltype(std::declval<const Proto&>().unknown_rank())>
  PartialTensorShape(const Proto& proto) : known_(!proto.unknown_rank()) {  // NOLINT
    std::vector<int64> dims;
    for (const auto& d : proto.dim()) dims.push_back(d.size());
    if (known_) Assign(dims);
  }
  template <class Proto>
  void AsProto(Proto* proto) const {
    proto->Clear();
    proto->set_unknown_rank(!known_);
    for (const int64 d : dims_) proto->add_dim()->set_size(d);
  }
  PartialTensorShape(const TensorShape& s) : known_(true) { Assign(s.dim_sizes()); }  // NOLINT

  bool unknown_rank() const { return !known_; }
  int dims() const { return known_ ? static_cast<int>(dims_.size()) : -1; }
  bool IsFullyDefined() const {
    for (int64 d : dims_) {
      if (d < 0) return false;
    }
    return known_;
  }
  int64 num_elements() const {
    if (!IsFullyDefined()) return -1;
    int64 n = 1;
    for (int64 d : dims_) n *= d;
    return n;
  }
  void AddDim(int64 size) {
    if (known_) dims_.push_back(size);
  }
  void set_dim(int i, int64 size) { dims_[static_cast<size_t>(i)] = size; }
  PartialTensorShape Concatenate(int64 size) const {
    PartialTensorShape out = *this;
    out.AddDim(size);
    return out;
  }
  PartialTensorShape Concatenate(const PartialTensorShape& o) const {
    if (!known_ || !o.known_) return PartialTensorShape();
    PartialTensorShape out = *this;
    for (int64 d : o.dims_) out.dims_.push_back(d);
    return out;
  }
  bool IsCompatibleWith(const PartialTensorShape& o) const {
    if (!known_ || !o.known_) return true;
    if (dims_.size() != o.dims_.size()) return false;
    for (size_t i = 0; i < dims_.size(); ++i) {
      if (dims_[i] >= 0 && o.dims_[i] >= 0 && dims_[i] != o.dims_[i]) return false;
    }
    return true;
  }
  Status MergeWith(const PartialTensorShape& o, PartialTensorShape* result) const {
    if (!IsCompatibleWith(o))
      return errors::InvalidArgument("PartialTensorShape: Incompatible shapes during merge: ", DebugString(), " vs. ", o.DebugString());
    PartialTensorShape merged = known_ ? *this : o;
    for (size_t i = 0; known_ && o.known_ && i < dims_.size(); ++i) {
      if (merged.dims_[i] < 0) merged.dims_[i] = o.dims_[i];
    }
    *result = std::move(merged);
    return OkStatus();
  }
  weft_dims c_dims() const { return {dims_.data(), dims()}; }
  bool AsTensorShape(TensorShape* out) const { return IsFullyDefined() && TensorShape::BuildTensorShape(dims_.vec(), out).ok(); }
  bool IsIdenticalTo(const PartialTensorShape& o) const { return known_ == o.known_ && dims_ == o.dims_; }
  friend bool operator==(const PartialTensorShape& a, const PartialTensorShape& b) { return a.IsIdenticalTo(b); }
  std::string DebugString() const { return known_ ? Text(dims_) : "<unknown>"; }
  friend std::ostream& operator<<(std::ostream& out, const PartialTensorShape& s) { return out << s.DebugString(); }
  static Status BuildPartialTensorShape(gtl::ArraySlice<int64> dims, PartialTensorShape* out) {
    *out = PartialTensorShape(dims);
    return OkStatus();
  }
  template <class Proto, class = decltype(std::declval<const Proto&>().unknown_rank())>
  static Status BuildPartialTensorShape(const Proto& proto, PartialTensorShape* out) {
    TF_RETURN_IF_ERROR(IsValidShape(proto));
    *out = PartialTensorShape(proto);
    return OkStatus();
  }
  template <class Proto>
  static Status IsValidShape(const Proto& proto) {
    if (proto.unknown_rank() && proto.dim_size() > 0) return errors::InvalidArgument("An unknown shape must not have any dimensions set.");
    for (const auto& d : proto.dim()) {
      if (d.size() < -1)
        return errors::InvalidArgument("Shape ", PartialTensorShape(proto).DebugString(),
                                       " has dimensions with values below -1 (where -1 means unknown)");
    }
    return OkStatus();
  }
  template <class Proto>
  static bool IsValid(const Proto& proto) {
    return IsValidShape(proto).ok();
  }
  template <class Int>
  static Status MakePartialShape(const Int* dims, int n, PartialTensorShape* out) {
    for (int i = 0; i < n; ++i) {
      if (dims[i] < -1) return errors::InvalidArgument("Dimension ", dims[i], " must be >= -1");
    }
    *out = PartialTensorShape(std::vector<int64>(dims, dims + n));
    return OkStatus();
  }

 private:
  void Assign(gtl::ArraySlice<int64> dims) { dims_.assign(dims.begin(), dims.end()); }
  bool known_ = false;
};

// Where element `flat` is: "[1,0,2]".
inline std::string SliceDebugString(const TensorShape& shape, const int64 flat) {
  const int rank = shape.dims();
  if (rank == 0) return "";
  if (rank == 1) return "[" + std::to_string(flat) + "]";
  std::string out;
  int64 rest = flat;
  for (int i = rank - 1; i >= 0; --i) {
    out = std::to_string(rest % shape.dim_size(i)) + (out.empty() ? "" : "," + out);
    rest /= shape.dim_size(i);
  }
  return "[" + out + "]";
}

class TensorShapeUtils {
 public:
  static bool IsScalar(const TensorShape& s) { return s.dims() == 0; }
  static bool IsVector(const TensorShape& s) { return s.dims() == 1; }
  static bool IsVectorOrHigher(const TensorShape& s) { return s.dims() >= 1; }
  static bool IsScalarOrVector(const TensorShape& s) { return s.dims() <= 1; }
  static bool IsMatrix(const TensorShape& s) { return s.dims() == 2; }
  static bool IsSquareMatrix(const TensorShape& s) { return s.dims() == 2 && s.dim_size(0) == s.dim_size(1); }
  static bool IsMatrixOrHigher(const TensorShape& s) { return s.dims() >= 2; }
  static bool IsSingleElement(const TensorShape& s) { return s.dims() == 0 || (s.dims() == 1 && s.dim_size(0) == 1); }
  static bool StartsWith(const TensorShape& s, const TensorShape& head) {
    for (int i = 0; i < head.dims(); ++i) {
      if (i >= s.dims() || s.dim_size(i) != head.dim_size(i)) return false;
    }
    return true;
  }
  static bool EndsWith(const TensorShape& s, const TensorShape& tail) {
    for (int i = 1; i <= tail.dims(); ++i) {
      if (i > s.dims() || s.dim_size(s.dims() - i) != tail.dim_size(tail.dims() - i)) return false;
    }
    return true;
  }
  template <class Int>
  static Status MakeShape(const Int* dims, int64 n, TensorShape* out) {
    for (int64 i = 0; i < n; ++i) {
      if (dims[i] < 0) return errors::InvalidArgument("Dimension ", dims[i], " must be >= 0");
    }
    return TensorShape::BuildTensorShape(std::vector<int64>(dims, dims + n), out);
  }
  template <class Int>
  static Status MakeShape(gtl::ArraySlice<Int> dims, TensorShape* out) {
    return MakeShape(dims.data(), static_cast<int64>(dims.size()), out);
  }
  template <class View, class = decltype(std::declval<const View&>().dimension(0))>
  static Status MakeShape(const View& dims, TensorShape* out) {
    return MakeShape(dims.data(), static_cast<int64>(dims.size()), out);
  }
  template <class Int>
  static Status MakeShape(const Int* dims, int64 n, PartialTensorShape* out) {
    return PartialTensorShape::MakePartialShape(dims, static_cast<int>(n), out);
  }
  template <class Int>
  static Status MakeShape(gtl::ArraySlice<Int> dims, PartialTensorShape* out) {
    return PartialTensorShape::MakePartialShape(dims.data(), static_cast<int>(dims.size()), out);
  }
  static Status NumElements(gtl::ArraySlice<int64> dims, int64* n) {
    TensorShape shape;
    TF_RETURN_IF_ERROR(TensorShape::BuildTensorShape(dims, &shape));
    *n = shape.num_elements();
    return OkStatus();
  }
  static std::string ShapeListString(const gtl::ArraySlice<TensorShape>& shapes) {
    std::string s = "[";
    for (const TensorShape& shape : shapes) s += (s.size() > 1 ? ", " : "") + shape.DebugString();
    return s + "]";
  }
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_TENSOR_SHAPE_H_
