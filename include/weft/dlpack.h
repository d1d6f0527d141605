// Tensors to and from other libraries without a copy, by the DLPack standard (github.com/dmlc/dlpack, version 1): C structs that say where an
// array is, and a function that frees it. The structs here have the standard's layout; a pointer to one of another library's header may be cast.
//
//   weft::dlpack::Capsule c = weft::to_dlpack(x);          // another library takes c.release()
//   weft::Tensor y = weft::from_dlpack(c.release());
#pragma once

#include <cstdint>
#include <memory>

#include "weft/tensor.h"

namespace weft {

namespace dlpack {

struct Version {
  uint32_t major, minor;
};
// type: 1 is the CPU, 2 CUDA, ...
struct Device {
  int32_t type, id;
};
enum Code : uint8_t {
  kInt = 0,
  kUint = 1,
  kFloat = 2,
  kHandle = 3,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6,
  kFloat8E4m3b11fnuz = 9,
  kFloat8E4m3fn = 10,
  kFloat8E4m3fnuz = 11,
  kFloat8E5m2 = 12,
  kFloat8E5m2fnuz = 13,
};
struct DataType {
  uint8_t code, bits;
  uint16_t lanes;  // numbers in one element; 1 but for vector types
};
// The elements begin byte_offset behind data. Strides count elements; none: row by row without gaps.
struct Array {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
// The first form of the standard, which most libraries take.
struct ManagedTensor {
  Array array;
  void* context;
  void (*deleter)(ManagedTensor* self);
};
// The form since version 1.
struct ManagedTensorVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned* self);
  uint64_t flags;
  Array array;
};
constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

struct Deleter {
  template <class T>
  void operator()(T* m) const {
    if (m->deleter) m->deleter(m);
  }
};
// An owner; release() hands the pointer to who takes it over.
using Capsule = std::unique_ptr<ManagedTensor, Deleter>;
using VersionedCapsule = std::unique_ptr<ManagedTensorVersioned, Deleter>;

}  // namespace dlpack

// The memory of a tensor, which it shares: the receiver must not write to it. Throws for types that DLPack does not have (strings, quantized types).
WEFT_API dlpack::Capsule to_dlpack(const Tensor& t);
// The same in the newer form, marked as read-only.
WEFT_API dlpack::VersionedCapsule to_dlpack_versioned(const Tensor& t);
// A tensor on another library's memory, which is freed with the tensor and must not be written to while it lives. Memory with gaps, or that is not
// aligned for its type, is copied and freed at once. Throws for memory that is not the host's and for types that weft does not have; it then still
// belongs to the caller.
WEFT_API Tensor from_dlpack(dlpack::ManagedTensor* array);
WEFT_API Tensor from_dlpack(dlpack::ManagedTensorVersioned* array);

}  // namespace weft
