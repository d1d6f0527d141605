// SPDX-License-Identifier: Apache-2.0
//
// Tensor: a type, a shape and elements that copies share. A tensor that is asked for elements of another type, or as a matrix when it is none,
// throws; in a kernel that is an error of the op.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_H_

#include <array>
#include <initializer_list>
#include <string>
#include <utility>

#include "tensorflow/core/framework/resource_handle.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/tensor_types.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow/core/framework/variant_value.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/refcount.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {

class AllocationDescription;
class Allocator;

// Memory of the program's own for tensors: the last tensor of it gives its reference back. The elements begin at data().
class TensorBuffer : public core::RefCounted {
 public:
  explicit TensorBuffer(void* data) : data_(data) {}
  ~TensorBuffer() override = default;
  void* data() const { return data_; }
  virtual size_t size() const = 0;
  virtual TensorBuffer* root_buffer() = 0;
  virtual void FillAllocationDescription(AllocationDescription*) const = 0;
  virtual bool GetAllocatedBytes(size_t*) const { return false; }
  virtual bool OwnsMemory() const { return true; }
  template <class T>
  T* base() const {
    return static_cast<T*>(data_);
  }

 private:
  void* const data_;
};

class Tensor {
 public:
  Tensor() : Tensor(DT_FLOAT) {}
  // Without elements yet: shape [0].
  explicit Tensor(DataType type) : type_(type) {
    const int64 none = 0;
    shape_.assign_trusted({&none, 1}, 0);
  }
  // No memory is an exception; OpKernelContext::allocate_temp gives an error instead.
  Tensor(DataType type, const TensorShape& shape) {
    TF_Tensor* t = nullptr;
    TF_CHECK_OK(internal::FromC(weft_tensor_allocate(type, shape.c_dims(), &t)));
    Take(t);
  }
  // All memory is the engine's.
  Tensor(Allocator*, DataType type, const TensorShape& shape) : Tensor(type, shape) {}
  // In memory of the program's own, to which the tensor takes a reference. Memory that is too small, or null where there are elements, throws.
  Tensor(DataType type, const TensorShape& shape, TensorBuffer* memory) {
    CHECK(memory != nullptr) << "a tensor of no memory";
    memory->Ref();
    TF_Tensor* t = TF_NewTensor(
        static_cast<TF_DataType>(type), shape.c_dims().dims, shape.dims(), memory->data(), memory->size(),
        [](void*, size_t, void* of) { static_cast<TensorBuffer*>(of)->Unref(); }, memory);
    CHECK(t != nullptr) << "no tensor of " << DataTypeString(type) << " " << shape.DebugString() << " in " << memory->size() << " bytes";
    Take(t);
  }
  Tensor(DataType type, const TensorShape& shape, core::RefCountPtr<TensorBuffer> memory) : Tensor(type, shape, memory.get()) {}
  Tensor(float v) : Tensor(v, Value()) {}               // NOLINT: implicit as TensorFlow's
  Tensor(double v) : Tensor(v, Value()) {}              // NOLINT
  Tensor(int32 v) : Tensor(v, Value()) {}               // NOLINT
  Tensor(uint32 v) : Tensor(v, Value()) {}              // NOLINT
  Tensor(int64 v) : Tensor(v, Value()) {}               // NOLINT
  Tensor(bool v) : Tensor(v, Value()) {}                // NOLINT
  Tensor(tstring v) : Tensor(std::move(v), Value()) {}  // NOLINT
  Tensor(const char* v) : Tensor(tstring(v), Value()) {}  // NOLINT
  Tensor(ResourceHandle v) : Tensor(std::move(v), Value()) {}  // NOLINT
  Tensor(Variant v) : Tensor(std::move(v), Value()) {}         // NOLINT
  Tensor(uint8 v) : Tensor(v, Value()) {}                      // NOLINT
  Tensor(int8 v) : Tensor(v, Value()) {}                       // NOLINT
  Tensor(int16 v) : Tensor(v, Value()) {}                      // NOLINT
  Tensor(uint16 v) : Tensor(v, Value()) {}                     // NOLINT
  Tensor(uint64 v) : Tensor(v, Value()) {}                     // NOLINT
  Tensor(complex64 v) : Tensor(v, Value()) {}                  // NOLINT
  Tensor(complex128 v) : Tensor(v, Value()) {}                 // NOLINT
  template <class T, size_t N>
  explicit Tensor(const std::array<T, N>& values) : Tensor(DataTypeToEnum<T>::value, TensorShape({static_cast<int64>(N)})) {
    std::copy(values.begin(), values.end(), static_cast<T*>(data_));
  }
  explicit Tensor(std::initializer_list<float> v) : Tensor(DT_FLOAT, TensorShape({static_cast<int64>(v.size())})) {
    std::copy(v.begin(), v.end(), static_cast<float*>(data_));
  }
  Tensor(const Tensor& o) : shape_(o.shape_), data_(o.data_), type_(o.type_) {
    if (o.c_) c_ = weft_tensor_share(o.c_), owned_ = true;
  }
  Tensor(Tensor&& o) noexcept : Tensor() { *this = std::move(o); }
  Tensor& operator=(const Tensor& o) {
    if (this == &o) return *this;
    if (slot_) return Store(o);
    Tensor copy(o);
    return Swap(copy);
  }
  Tensor& operator=(Tensor&& o) noexcept {
    if (this == &o) return *this;
    if (!o.owned_ || slot_) return *this = static_cast<const Tensor&>(o);
    return Swap(o);
  }
  ~Tensor() { Release(); }

  DataType dtype() const { return type_; }
  const TensorShape& shape() const { return shape_; }
  int dims() const { return shape_.dims(); }
  int64 dim_size(int i) const { return shape_.dim_size(i); }
  int64 NumElements() const { return shape_.num_elements(); }
  bool IsSameSize(const Tensor& o) const { return shape_.IsSameSize(o.shape_); }
  bool IsInitialized() const { return c_ != nullptr; }
  bool IsAligned() const { return reinterpret_cast<uintptr_t>(data_) % internal::kViewAlignment == 0; }
  bool SharesBufferWith(const Tensor& o) const { return c_ && o.c_ && data_ == o.data_; }
  bool RefCountIsOne() const { return c_ && weft_tensor_unique(c_); }
  size_t TotalBytes() const { return c_ ? TF_TensorByteSize(c_) : 0; }
  size_t AllocatedBytes() const { return TotalBytes(); }
  void* data() const { return data_; }
  // The bytes; only of types without pointers.
  std::string_view tensor_data() const {
    return DataTypeCanUseMemcpy(type_) ? std::string_view(static_cast<const char*>(data_), TotalBytes()) : std::string_view();
  }
  // Brackets stand around rows, and around all with print_v2.
  std::string SummarizeValue(int64 max_entries, bool print_v2 = false) const {
    if (!c_) return "uninitialized Tensor of " + std::to_string(NumElements()) + " elements of type " + std::to_string(type_);
    TF_Buffer* text = weft_tensor_summary(c_, max_entries);
    std::string out(static_cast<const char*>(text->data), text->length);
    TF_DeleteBuffer(text);
    return dims() > 0 && !print_v2 ? out.substr(1, out.size() - 2) : out;
  }
  std::string DebugString(int num_values = 3) const {
    return "Tensor<type: " + DataTypeString(type_) + " shape: " + shape_.DebugString() + " values: " + SummarizeValue(num_values) + ">";
  }

  // From and to a TensorProto; false where that is none.
  template <class Proto>
  bool FromProto(const Proto& proto) {
    const std::string bytes = proto.SerializeAsString();
    TF_Tensor* t = nullptr;
    const Status s = internal::FromC(weft_tensor_from_proto(internal::Text(bytes), &t));
    if (s.ok()) Take(t);
    return s.ok();
  }
  template <class Proto>
  void AsProtoField(Proto* proto) const {
    ToProto(proto, 0);
  }
  template <class Proto>
  void AsProtoTensorContent(Proto* proto) const {
    ToProto(proto, 1);
  }

  // Shares the elements of another tensor, in a shape of as many; false, and no change, where that is not so.
  bool CopyFrom(const Tensor& o, const TensorShape& shape) {
    if (o.NumElements() != shape.num_elements()) return false;
    if (!o.c_) return *this = Tensor(o.type_), shape_ = shape, true;
    return View(o, o.type_, shape).ok();
  }
  Status BitcastFrom(const Tensor& o, DataType type, const TensorShape& shape) { return View(o, type, shape); }
  void UnsafeCopyFromInternal(const Tensor& o, DataType type, const TensorShape& shape) { TF_CHECK_OK(View(o, type, shape)); }
  // Rows [begin, end) of dimension 0; row i without that dimension. They share the elements.
  Tensor Slice(int64 begin, int64 end) const {
    TF_Tensor* rows = c_ ? weft_tensor_rows(c_, begin, end) : nullptr;
    CHECK(rows != nullptr) << "no rows " << begin << " to " << end << " in a tensor of shape " << shape_;
    Tensor t(type_);
    t.Take(rows);
    return t;
  }
  Tensor SubSlice(int64 i) const {
    Tensor row = Slice(i, i + 1), out;
    TensorShape shape = row.shape_;
    shape.RemoveDim(0);
    out.UnsafeCopyFromInternal(row, type_, shape);
    return out;
  }

  template <class T>
  typename TTypes<T>::Flat flat() {
    return As<typename TTypes<T>::Flat, T>(FlatDims());
  }
  template <class T>
  typename TTypes<T>::ConstFlat flat() const {
    return As<typename TTypes<T>::ConstFlat, const T>(FlatDims());
  }
  template <class T>
  typename TTypes<T>::UnalignedFlat unaligned_flat() {
    return As<typename TTypes<T>::UnalignedFlat, T>(FlatDims());
  }
  template <class T>
  typename TTypes<T>::UnalignedConstFlat unaligned_flat() const {
    return As<typename TTypes<T>::UnalignedConstFlat, const T>(FlatDims());
  }
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::UnalignedTensor unaligned_shaped(gtl::ArraySlice<int64> sizes) {
    return As<typename TTypes<T, static_cast<int>(N)>::UnalignedTensor, T>(GivenDims<N>(sizes));
  }
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::UnalignedConstTensor unaligned_shaped(gtl::ArraySlice<int64> sizes) const {
    return As<typename TTypes<T, static_cast<int>(N)>::UnalignedConstTensor, const T>(GivenDims<N>(sizes));
  }
  // The elements as others of the same size, in other shapes of as many bytes.
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::Tensor bit_casted_tensor() {
    return Cast<typename TTypes<T, static_cast<int>(N)>::Tensor, T>(ExactDims<N>());
  }
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::ConstTensor bit_casted_tensor() const {
    return Cast<typename TTypes<T, static_cast<int>(N)>::ConstTensor, const T>(ExactDims<N>());
  }
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::Tensor bit_casted_shaped(gtl::ArraySlice<int64> sizes) {
    return Cast<typename TTypes<T, static_cast<int>(N)>::Tensor, T>(BytesDims<N>(sizes));
  }
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::ConstTensor bit_casted_shaped(gtl::ArraySlice<int64> sizes) const {
    return Cast<typename TTypes<T, static_cast<int>(N)>::ConstTensor, const T>(BytesDims<N>(sizes));
  }
  // The last dimension as one element of a type of as many bytes: N is one less than the number of dimensions.
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::Tensor reinterpret_last_dimension() {
    return Cast<typename TTypes<T, static_cast<int>(N)>::Tensor, T>(FirstDims<T, N>());
  }
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::ConstTensor reinterpret_last_dimension() const {
    return Cast<typename TTypes<T, static_cast<int>(N)>::ConstTensor, const T>(FirstDims<T, N>());
  }
  // N dimensions from `first_outer` on, those before and behind being one with them.
  template <class T, size_t N = 3>
  typename TTypes<T, static_cast<int>(N)>::Tensor flat_inner_outer_dims(int64 first_outer) {
    return As<typename TTypes<T, static_cast<int>(N)>::Tensor, T>(InnerOuterDims<N>(first_outer));
  }
  template <class T, size_t N = 3>
  typename TTypes<T, static_cast<int>(N)>::ConstTensor flat_inner_outer_dims(int64 first_outer) const {
    return As<typename TTypes<T, static_cast<int>(N)>::ConstTensor, const T>(InnerOuterDims<N>(first_outer));
  }
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::Tensor tensor() {
    return As<typename TTypes<T, static_cast<int>(N)>::Tensor, T>(ExactDims<N>());
  }
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::ConstTensor tensor() const {
    return As<typename TTypes<T, static_cast<int>(N)>::ConstTensor, const T>(ExactDims<N>());
  }
  template <class T>
  typename TTypes<T>::Vec vec() {
    return tensor<T, 1>();
  }
  template <class T>
  typename TTypes<T>::ConstVec vec() const {
    return tensor<T, 1>();
  }
  template <class T>
  typename TTypes<T>::Matrix matrix() {
    return tensor<T, 2>();
  }
  template <class T>
  typename TTypes<T>::ConstMatrix matrix() const {
    return tensor<T, 2>();
  }
  template <class T>
  typename TTypes<T>::Scalar scalar() {
    return As<typename TTypes<T>::Scalar, T>(ScalarDims());
  }
  template <class T>
  typename TTypes<T>::ConstScalar scalar() const {
    return As<typename TTypes<T>::ConstScalar, const T>(ScalarDims());
  }
  // Of any sizes whose product is the number of elements.
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::Tensor shaped(gtl::ArraySlice<int64> sizes) {
    return As<typename TTypes<T, static_cast<int>(N)>::Tensor, T>(GivenDims<N>(sizes));
  }
  template <class T, size_t N>
  typename TTypes<T, static_cast<int>(N)>::ConstTensor shaped(gtl::ArraySlice<int64> sizes) const {
    return As<typename TTypes<T, static_cast<int>(N)>::ConstTensor, const T>(GivenDims<N>(sizes));
  }
  // The last (or first) N - 1 dimensions, all others being one.
  template <class T, size_t N = 2>
  typename TTypes<T, static_cast<int>(N)>::Tensor flat_inner_dims() {
    return As<typename TTypes<T, static_cast<int>(N)>::Tensor, T>(InnerDims<N>());
  }
  template <class T, size_t N = 2>
  typename TTypes<T, static_cast<int>(N)>::ConstTensor flat_inner_dims() const {
    return As<typename TTypes<T, static_cast<int>(N)>::ConstTensor, const T>(InnerDims<N>());
  }
  template <class T, size_t N = 2>
  typename TTypes<T, static_cast<int>(N)>::Tensor flat_outer_dims() {
    return As<typename TTypes<T, static_cast<int>(N)>::Tensor, T>(OuterDims<N>());
  }
  template <class T, size_t N = 2>
  typename TTypes<T, static_cast<int>(N)>::ConstTensor flat_outer_dims() const {
    return As<typename TTypes<T, static_cast<int>(N)>::ConstTensor, const T>(OuterDims<N>());
  }

  // For these headers. Borrowed: whose tensor it is keeps it as long as this lives.
  static Tensor Borrowed(TF_Tensor* t) {
    Tensor out{};
    out.Refer(t);
    return out;
  }
  static Tensor Borrowed(TF_Tensor* t, const weft_tensor_info& info) {
    Tensor out{};
    out.Refer(t, info);
    return out;
  }
  static Tensor Owning(TF_Tensor* t) {
    Tensor out{};
    out.Take(t);
    return out;
  }
  // Takes over what the engine or another kernel made. That may be rows of another tensor, which begin anywhere, and views are of aligned elements:
  // then it is a copy.
  static Tensor Received(TF_Tensor* t) {
    Tensor out = Owning(t);
    if (TF_PREDICT_FALSE(!out.IsAligned() && out.NumElements() > 0)) out.Take(AlignedCopy(t));
    return out;
  }
  // The same of a tensor that stays its owner's.
  static Tensor Seen(const TF_Tensor* t) {
    Tensor out = Borrowed(const_cast<TF_Tensor*>(t));
    if (TF_PREDICT_FALSE(!out.IsAligned() && out.NumElements() > 0)) out.Take(AlignedCopy(t));
    return out;
  }
  // What is in a slot that others read and write too, whose lock is held: changes of it are changes of the slot.
  static Tensor InSlot(TF_Tensor* slot) {
    Tensor out = Borrowed(slot);
    if (TF_PREDICT_FALSE(!out.IsAligned() && out.NumElements() > 0)) out.Realign(slot);
    return out;
  }
  TF_Tensor* c_tensor() const { return c_; }
  // What is assigned to a bound tensor is stored in `slot`: an output, a variable.
  void Bind(TF_Tensor* slot, DataType type) {
    Release();
    slot_ = slot;
    if (weft_tensor_valid(slot)) {
      Describe(slot);
      if (TF_PREDICT_FALSE(!IsAligned() && NumElements() > 0)) Realign(slot);
    } else {
      const int64 none = 0;
      shape_.assign_trusted({&none, 1}, 0);
      type_ = type;
    }
  }
  void Bind(TF_Tensor* slot, const weft_tensor_info& info) {
    Release();
    slot_ = slot;
    Describe(slot, info);
  }
  void Refer(TF_Tensor* t) {
    Release();
    Describe(t);
  }
  void Refer(TF_Tensor* t, const weft_tensor_info& info) {
    Release();
    Describe(t, info);
  }
  void Take(TF_Tensor* t) {
    Release();
    Describe(t);
    owned_ = true;
  }

 private:
  template <class Proto>
  void ToProto(Proto* proto, int content) const {
    proto->Clear();
    if (!c_) {
      proto->set_dtype(type_);
      return shape_.AsProto(proto->mutable_tensor_shape());
    }
    if (!content) {
      const auto put = [&](auto zero, auto add) {
        const auto* values = static_cast<const decltype(zero)*>(data_);
        for (int64 i = 0; i < NumElements(); ++i) add(values[i]);
      };
      proto->set_dtype(type_);
      shape_.AsProto(proto->mutable_tensor_shape());
      switch (type_) {
        case DT_FLOAT: return put(float(), [&](float v) { proto->add_float_val(v); });
        case DT_DOUBLE: return put(double(), [&](double v) { proto->add_double_val(v); });
        case DT_INT32: return put(int32(), [&](int32 v) { proto->add_int_val(v); });
        case DT_INT16: return put(int16(), [&](int16 v) { proto->add_int_val(v); });
        case DT_INT8: return put(int8(), [&](int8 v) { proto->add_int_val(v); });
        case DT_UINT8: return put(uint8(), [&](uint8 v) { proto->add_int_val(v); });
        case DT_UINT16: return put(uint16(), [&](uint16 v) { proto->add_int_val(v); });
        case DT_INT64: return put(int64(), [&](int64 v) { proto->add_int64_val(v); });
        case DT_UINT32: return put(uint32(), [&](uint32 v) { proto->add_uint32_val(v); });
        case DT_UINT64: return put(uint64(), [&](uint64 v) { proto->add_uint64_val(v); });
        case DT_BOOL: return put(bool(), [&](bool v) { proto->add_bool_val(v); });
        case DT_STRING: return put(tstring(), [&](const tstring& v) { proto->add_string_val(v.data(), v.size()); });
        case DT_HALF:
        case DT_BFLOAT16: return put(uint16(), [&](uint16 bits) { proto->add_half_val(bits); });
        default: break;
      }
    }
    TF_Buffer* bytes = weft_tensor_to_proto(c_);
    proto->ParseFromArray(bytes->data, static_cast<int>(bytes->length));
    TF_DeleteBuffer(bytes);
  }
  struct Value {};
  template <class T>
  Tensor(T v, Value) : Tensor(DataTypeToEnum<T>::value, TensorShape()) {
    *static_cast<T*>(data_) = std::move(v);
  }
  TF_ATTRIBUTE_NOINLINE static TF_Tensor* AlignedCopy(const TF_Tensor* t) {
    TF_Tensor* copy = nullptr;
    TF_CHECK_OK(internal::FromC(weft_tensor_copy(t, &copy)));
    return copy;
  }
  // What others put there may be rows of another tensor: views are of aligned elements.
  TF_ATTRIBUTE_NOINLINE void Realign(TF_Tensor* slot) {
    TF_Tensor* copy = AlignedCopy(slot);
    weft_tensor_assign(slot, copy);
    TF_DeleteTensor(copy);
    Describe(slot);
  }
  Tensor& Store(const Tensor& o) {
    const Tensor keep(o);
    TF_Tensor* slot = slot_;
    CHECK(weft_tensor_assign(slot, keep.c_)) << "a tensor of " << DataTypeString(keep.type_) << " where one of " << DataTypeString(type_)
                                             << " is kept";
    Bind(slot, keep.type_);
    return *this;
  }
  void Describe(TF_Tensor* t) {
    weft_tensor_info info;
    weft_tensor_describe(t, &info);
    Describe(t, info);
  }
  void Describe(TF_Tensor* t, const weft_tensor_info& info) {
    c_ = t;
    data_ = info.data;
    type_ = static_cast<DataType>(info.dtype);
    shape_.assign_trusted(info.shape, info.elements);
  }
  void Release() {
    if (owned_ && c_) TF_DeleteTensor(c_);
    c_ = nullptr;
    data_ = nullptr;
    slot_ = nullptr;
    owned_ = false;
  }
  Tensor& Swap(Tensor& o) {
    std::swap(shape_, o.shape_);
    std::swap(c_, o.c_);
    std::swap(data_, o.data_);
    std::swap(type_, o.type_);
    std::swap(owned_, o.owned_);
    return *this;
  }
  Status View(const Tensor& o, DataType type, const TensorShape& shape) {
    TF_Tensor* t = o.c_ ? weft_tensor_view(o.c_, type, shape.c_dims()) : nullptr;
    if (!t)
      return errors::InvalidArgument("cannot see a tensor of ", DataTypeString(o.type_), " ", o.shape_.DebugString(), " as ", DataTypeString(type),
                                     " ", shape.DebugString());
    Tensor out = Owning(t);
    *this = std::move(out);
    return OkStatus();
  }

  template <class Kind, class T, size_t N>
  Kind As(const std::array<ptrdiff_t, N>& dims) const {
    constexpr DataType want = DataTypeToEnum<std::remove_const_t<T>>::value;
    if (TF_PREDICT_FALSE(want != type_)) WrongType(want);
    return Aligned<Kind>(), MakeView<Kind>(static_cast<internal::StoredType<T>*>(data_), dims);
  }
  template <class Kind, class T, size_t N>
  Kind Cast(const std::array<ptrdiff_t, N>& dims) const {
    CHECK(DataTypeCanUseMemcpy(type_)) << DataTypeString(type_) << " cannot be seen as bytes";
    size_t bytes = sizeof(T);
    for (const ptrdiff_t d : dims) bytes *= static_cast<size_t>(d);
    CHECK_EQ(bytes, TotalBytes());
    return Aligned<Kind>(), MakeView<Kind>(static_cast<T*>(data_), dims);
  }
  template <class Kind>
  void Aligned() const {
    if constexpr (internal::NeedsAlignment<Kind>::value) {
      if (TF_PREDICT_FALSE(reinterpret_cast<uintptr_t>(data_) % internal::kViewAlignment != 0 && NumElements() > 0)) NotAligned();
    }
  }
  TF_ATTRIBUTE_NOINLINE void NotAligned() const { CHECK(IsAligned()) << "the elements are not aligned: see them as unaligned"; }
  TF_ATTRIBUTE_NOINLINE void WrongType(DataType want) const {
    CHECK_EQ(DataType_Name(type_), DataType_Name(want)) << DataTypeString(want) << " expected, got " << DataTypeString(type_);
  }
  std::array<ptrdiff_t, 1> FlatDims() const { return {static_cast<ptrdiff_t>(NumElements())}; }
  std::array<ptrdiff_t, 0> ScalarDims() const {
    CHECK_EQ(1, NumElements()) << "Must have a one element tensor";
    return {};
  }
  template <size_t N>
  std::array<ptrdiff_t, N> ExactDims() const {
    CHECK_EQ(static_cast<int>(N), dims()) << "Asking for tensor of " << N << " dimensions from a tensor of " << dims() << " dimensions";
    std::array<ptrdiff_t, N> out{};
    for (size_t i = 0; i < N; ++i) out[i] = dim_size(static_cast<int>(i));
    return out;
  }
  template <size_t N>
  std::array<ptrdiff_t, N> GivenDims(gtl::ArraySlice<int64> sizes) const {
    CHECK_EQ(N, sizes.size());
    std::array<ptrdiff_t, N> out{};
    int64 n = 1;
    for (size_t i = 0; i < N; ++i) n *= sizes[i], out[i] = sizes[i];
    CHECK_EQ(n, NumElements());
    return out;
  }
  template <size_t N>
  std::array<ptrdiff_t, N> BytesDims(gtl::ArraySlice<int64> sizes) const {
    CHECK_EQ(N, sizes.size());
    std::array<ptrdiff_t, N> out{};
    for (size_t i = 0; i < N; ++i) out[i] = sizes[i];
    return out;
  }
  template <class T, size_t N>
  std::array<ptrdiff_t, N> FirstDims() const {
    CHECK_EQ(static_cast<int>(N) + 1, dims()) << "Asking for " << N << " dimensions and an element from a tensor of " << dims() << " dimensions";
    CHECK_EQ(static_cast<int64>(sizeof(T)), dim_size(static_cast<int>(N)) * DataTypeSize(type_));
    std::array<ptrdiff_t, N> out{};
    for (size_t i = 0; i < N; ++i) out[i] = dim_size(static_cast<int>(i));
    return out;
  }
  template <size_t N>
  std::array<ptrdiff_t, N> InnerOuterDims(int64 first) const {
    std::array<ptrdiff_t, N> out;
    out.fill(1);
    const int64 last = static_cast<int64>(N) - 1;
    for (int64 i = 0; i < dims(); ++i) out[static_cast<size_t>(std::clamp<int64>(i - first, 0, last))] *= dim_size(static_cast<int>(i));
    return out;
  }
  template <size_t N>
  std::array<ptrdiff_t, N> InnerDims() const {
    std::array<ptrdiff_t, N> out;
    out.fill(1);
    for (int i = 0; i < dims(); ++i) out[static_cast<size_t>(std::max(0, i - dims() + static_cast<int>(N)))] *= dim_size(i);
    return out;
  }
  template <size_t N>
  std::array<ptrdiff_t, N> OuterDims() const {
    std::array<ptrdiff_t, N> out;
    out.fill(1);
    for (int i = 0; i < dims(); ++i) out[static_cast<size_t>(std::min(i, static_cast<int>(N) - 1))] *= dim_size(i);
    return out;
  }

  TensorShape shape_;
  TF_Tensor* c_ = nullptr;
  void* data_ = nullptr;
  TF_Tensor* slot_ = nullptr;  // where assignments go; not copied
  DataType type_ = DT_FLOAT;
  bool owned_ = false;
};

// A tensor that an op of the engine put into a variant is seen as a tensor of ours from then on.
inline Tensor* Variant::OwnTensor() {
  if (void* own = weft_variant_own(words_, internal::VariantFunctions<Tensor>::Type())) return static_cast<Tensor*>(own);
  const TF_Tensor* t = weft_variant_tensor(words_);
  if (!t) return nullptr;
  *this = Tensor::Received(weft_tensor_share(t));
  return static_cast<Tensor*>(weft_variant_own(words_, internal::VariantFunctions<Tensor>::Type()));
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_TENSOR_H_
