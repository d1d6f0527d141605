#include <cstdint>
#include <cstdlib>

#include "capi/internal.h"
#include "core/allocator.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_tstring.h"
#include "wire/tensor_proto.h"

using namespace weft_engine::capi;  // NOLINT

namespace weft_engine::capi {

void fill_buffer(TF_Buffer* buffer, std::string_view bytes) {
  if (buffer->data_deallocator) buffer->data_deallocator(const_cast<void*>(buffer->data), buffer->length);
  void* copy = std::malloc(bytes.size() ? bytes.size() : 1);
  if (!copy) throw std::bad_alloc();
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  *buffer = TF_Buffer{copy, bytes.size(), [](void* data, size_t) { std::free(data); }};
}

TF_Buffer* new_buffer(std::string_view bytes) {
  auto* b = new TF_Buffer{nullptr, 0, nullptr};
  fill_buffer(b, bytes);
  return b;
}

Result<Shape> shape_from(const int64_t* dims, int num_dims) {
  if (num_dims < 0 || (num_dims > 0 && !dims)) return invalid_argument("a shape needs its dimensions");
  return Shape::make(std::span<const int64_t>(dims, size_t(num_dims)));
}

PartialShape partial_shape_from(const int64_t* dims, int num_dims) {
  if (num_dims < 0 || (num_dims > 0 && !dims)) return PartialShape::unknown();
  std::vector<int64_t> v(dims, dims + num_dims);
  for (int64_t& d : v) d = d < 0 ? kUnknownDim : d;
  return PartialShape(std::move(v));
}

Result<DType> dtype_from(TF_DataType t) {
  if (!is_valid_dtype(int(t)) || is_ref_type(static_cast<DType>(t))) return invalid_argument("unknown data type ", int(t));
  return static_cast<DType>(t);
}

}  // namespace weft_engine::capi

// ---- Tensors ----

// Whatever comes of it, the memory is the library's from here on and goes back exactly once.
TF_Tensor* TF_NewTensor(TF_DataType type, const int64_t* dims, int num_dims, void* data, size_t len, void (*deallocator)(void*, size_t, void*),
                        void* arg) {
  return guard_pointer<TF_Tensor>([&]() -> TF_Tensor* {
    auto memory = Buffer::wrap(data, len, deallocator, arg);
    auto dtype = dtype_from(type);
    auto shape = shape_from(dims, num_dims);
    if (!dtype.ok() || !shape.ok()) return nullptr;
    const int64_t needed = multiply_without_overflow(shape->num_elements(), int64_t(dtype_size(*dtype)));
    if (needed < 0 || (!data && needed > 0) || size_t(needed) > len) return nullptr;
    // Memory that is not aligned for its elements is copied; all other is used in place.
    const size_t align = std::min<size_t>(dtype_size(*dtype), 8);
    if (is_simple(*dtype) && align && reinterpret_cast<uintptr_t>(data) % align != 0) {
      auto copy = Tensor::allocate(*dtype, *shape);
      if (!copy.ok()) return nullptr;
      if (needed) std::memcpy(copy->raw(), data, size_t(needed));
      return new TF_Tensor{std::move(copy).value()};
    }
    return new TF_Tensor{Tensor(*dtype, *shape, std::move(memory))};
  });
}

TF_Tensor* TF_AllocateTensor(TF_DataType type, const int64_t* dims, int num_dims, size_t len) {
  return guard_pointer<TF_Tensor>([&]() -> TF_Tensor* {
    auto dtype = dtype_from(type);
    auto shape = shape_from(dims, num_dims);
    if (!dtype.ok() || !shape.ok()) return nullptr;
    (void)len;  // follows from type and shape
    auto t = Tensor::allocate(*dtype, *shape);
    return t.ok() ? new TF_Tensor{std::move(t).value()} : nullptr;
  });
}

TF_Tensor* TF_TensorMaybeMove(TF_Tensor* t) {
  if (!t || !t->tensor.buffer() || !t->tensor.buffer()->unique()) return nullptr;
  return t;
}

void TF_DeleteTensor(TF_Tensor* t) { delete t; }
size_t TF_TensorDefaultAlignment() { return kAlignment; }
TF_DataType TF_TensorType(const TF_Tensor* t) { return static_cast<TF_DataType>(t ? t->tensor.dtype() : DType::kInvalid); }
int TF_NumDims(const TF_Tensor* t) { return t ? t->tensor.rank() : -1; }
int64_t TF_Dim(const TF_Tensor* t, int i) { return t && i >= 0 && i < t->tensor.rank() ? t->tensor.dim(i) : -1; }
size_t TF_TensorByteSize(const TF_Tensor* t) { return t ? t->tensor.byte_size() : 0; }
void* TF_TensorData(const TF_Tensor* t) { return t ? const_cast<void*>(t->tensor.raw()) : nullptr; }
int64_t TF_TensorElementCount(const TF_Tensor* t) { return t ? t->tensor.num_elements() : 0; }
bool TF_TensorIsAligned(const TF_Tensor* t) { return t && reinterpret_cast<uintptr_t>(t->tensor.raw()) % kAlignment == 0; }

void TF_SetShape(TF_Tensor* t, const int64_t* dims, int num_dims) {
  if (!t) return;
  auto shape = shape_from(dims, num_dims);
  if (shape.ok() && shape->num_elements() == t->tensor.num_elements()) t->tensor = t->tensor.reshaped(std::move(shape).value());
}

void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type, TF_Tensor* to, const int64_t* dims, int num_dims, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(from);
    WEFT_NOT_NULL(to);
    WEFT_ASSIGN(DType dtype, dtype_from(type));
    WEFT_ASSIGN(Shape shape, shape_from(dims, num_dims));
    const int64_t bytes = multiply_without_overflow(shape.num_elements(), int64_t(dtype_size(dtype)));
    if (!is_simple(dtype) || !is_simple(from->tensor.dtype()) || bytes < 0 || size_t(bytes) != from->tensor.byte_size())
      return invalid_argument("cannot bitcast a ", dtype_name(from->tensor.dtype()), " tensor of shape ", from->tensor.shape(), " to ",
                              dtype_name(dtype), " ", shape);
    to->tensor = from->tensor.viewed_as(dtype, std::move(shape));
    return {};
  });
}

void TF_TensorFromProto(const TF_Buffer* from, TF_Tensor* to, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(from);
    WEFT_NOT_NULL(to);
    if (from->length) WEFT_NOT_NULL(from->data);
    auto t = weft_engine::wire::decode_tensor({static_cast<const char*>(from->data), from->length});
    if (!t.ok()) return invalid_argument("Unparseable tensor proto: ", t.status().message());
    to->tensor = std::move(t).value();
    return {};
  });
}

size_t TF_DataTypeSize(TF_DataType t) { return is_valid_dtype(int(t)) ? dtype_c_size(static_cast<DType>(t)) : 0; }

// ---- Buffers ----

TF_Buffer* TF_NewBufferFromString(const void* proto, size_t length) {
  return guard_pointer<TF_Buffer>([&] { return proto || !length ? new_buffer({static_cast<const char*>(proto), length}) : nullptr; });
}
TF_Buffer* TF_NewBuffer() {
  return guard_pointer<TF_Buffer>([] { return new TF_Buffer{nullptr, 0, nullptr}; });
}
void TF_DeleteBuffer(TF_Buffer* b) {
  if (!b) return;
  if (b->data_deallocator) b->data_deallocator(const_cast<void*>(b->data), b->length);
  delete b;
}
TF_Buffer TF_GetBuffer(TF_Buffer* b) { return b ? *b : TF_Buffer{nullptr, 0, nullptr}; }

// ---- Strings ----

void TF_StringInit(TF_TString* t) {
  if (t) TF_TString_Init(t);
}
void TF_StringCopy(TF_TString* to, const char* from, size_t size) {
  if (to && (from || !size)) TF_TString_Copy(to, from ? from : "", size);
}
void TF_StringAssignView(TF_TString* to, const char* from, size_t size) {
  if (to && (from || !size)) TF_TString_AssignView(to, from, size);
}
const char* TF_StringGetDataPointer(const TF_TString* t) { return t ? TF_TString_GetDataPointer(t) : nullptr; }
TF_TString_Type TF_StringGetType(const TF_TString* t) { return t ? TF_TString_GetType(t) : TF_TSTR_SMALL; }
size_t TF_StringGetSize(const TF_TString* t) { return t ? TF_TString_GetSize(t) : 0; }
size_t TF_StringGetCapacity(const TF_TString* t) { return t ? TF_TString_GetCapacity(t) : 0; }
void TF_StringDealloc(TF_TString* t) {
  if (t) TF_TString_Dealloc(t);
}
