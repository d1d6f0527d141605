#include "weft/dlpack.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "api/unwrap.h"
#include "core/own_memory.h"

namespace weft {
namespace {

using dlpack::Array;
using dlpack::DataType;

constexpr int32_t kHost = 1;

struct TypePair {
  DType ours;
  DataType theirs;
};
constexpr TypePair kTypes[] = {
    {DType::float32, {dlpack::kFloat, 32, 1}},
    {DType::float64, {dlpack::kFloat, 64, 1}},
    {DType::float16, {dlpack::kFloat, 16, 1}},
    {DType::bfloat16, {dlpack::kBfloat, 16, 1}},
    {DType::int8, {dlpack::kInt, 8, 1}},
    {DType::int16, {dlpack::kInt, 16, 1}},
    {DType::int32, {dlpack::kInt, 32, 1}},
    {DType::int64, {dlpack::kInt, 64, 1}},
    {DType::uint8, {dlpack::kUint, 8, 1}},
    {DType::uint16, {dlpack::kUint, 16, 1}},
    {DType::uint32, {dlpack::kUint, 32, 1}},
    {DType::uint64, {dlpack::kUint, 64, 1}},
    {DType::boolean, {dlpack::kBool, 8, 1}},
    {DType::complex64, {dlpack::kComplex, 64, 1}},
    {DType::complex128, {dlpack::kComplex, 128, 1}},
    {DType::float8_e4m3b11fnuz, {dlpack::kFloat8E4m3b11fnuz, 8, 1}},
    {DType::float8_e4m3fn, {dlpack::kFloat8E4m3fn, 8, 1}},
    {DType::float8_e4m3fnuz, {dlpack::kFloat8E4m3fnuz, 8, 1}},
    {DType::float8_e5m2, {dlpack::kFloat8E5m2, 8, 1}},
    {DType::float8_e5m2fnuz, {dlpack::kFloat8E5m2fnuz, 8, 1}},
};

// What a capsule points to, with the tensor whose memory it shares.
template <class Managed>
struct Exported {
  core::Tensor tensor;
  std::vector<int64_t> shape, strides;
  Managed managed{};
};

template <class Managed>
Managed* export_as(const Tensor& t) {
  auto e = std::make_unique<Exported<Managed>>();
  e->tensor = api::value_of(t);
  if (const auto* d = core::memory_of(e->tensor))
    api::check(core::failed_precondition("the tensor is in the memory of ", d->name(), "; on(\"CPU:0\") brings it to the host"));
  const TypePair* type = nullptr;
  for (const TypePair& p : kTypes) {
    if (p.ours == t.dtype()) type = &p;
  }
  if (!type) api::check(core::invalid_argument("DLPack has no type for a tensor of ", to_string(t.dtype())));
  e->shape = e->tensor.shape().vec();
  e->strides.resize(e->shape.size());
  int64_t stride = 1;
  for (size_t i = e->shape.size(); i-- > 0;) {
    e->strides[i] = stride;
    stride *= std::max<int64_t>(e->shape[i], 1);
  }
  Array& a = e->managed.array;
  a.data = e->tensor.num_elements() ? e->tensor.raw() : nullptr;
  a.device = {kHost, 0};
  a.ndim = int32_t(e->shape.size());
  a.dtype = type->theirs;
  a.shape = e->shape.data();
  a.strides = e->strides.data();
  e->managed.context = e.get();
  e->managed.deleter = [](Managed* m) { std::unique_ptr<Exported<Managed>>(static_cast<Exported<Managed>*>(m->context)); };
  return &e.release()->managed;
}

DType type_of(const DataType& d) {
  for (const TypePair& p : kTypes) {
    if (p.theirs.code == d.code && p.theirs.bits == d.bits && d.lanes == 1) return p.ours;
  }
  api::check(
      core::unimplemented("there is no type for DLPack's type code ", int(d.code), " with ", int(d.bits), " bits and ", int(d.lanes), " lanes"));
  return DType::invalid;
}

// Whether rows follow each other without gaps. Strides of dimensions of size 1 mean nothing.
bool is_compact(const Array& a) {
  int64_t stride = 1;
  for (int32_t i = a.ndim; i-- > 0;) {
    if (a.shape[i] != 1 && a.strides[i] != stride) return false;
    stride *= a.shape[i];
  }
  return true;
}
void copy_strided(const Array& a, int32_t dim, const char* from, size_t size, char*& to) {
  if (dim == a.ndim) {
    std::memcpy(to, from, size);
    to += size;
    return;
  }
  for (int64_t i = 0; i < a.shape[dim]; ++i) copy_strided(a, dim + 1, from + i * a.strides[dim] * int64_t(size), size, to);
}

template <class Managed>
Tensor import_from(Managed* m) {
  if (!m) throw Error(Code::kInvalidArgument, "from_dlpack got no array");
  const Array& a = m->array;
  if (a.device.type != kHost)
    api::check(core::unimplemented("from_dlpack takes memory of the host (device type 1), not of device type ", a.device.type));
  const DType dtype = type_of(a.dtype);
  if (a.ndim < 0 || (a.ndim > 0 && !a.shape)) api::check(core::invalid_argument("a DLPack array with ", a.ndim, " dimensions has no shape"));
  const std::vector<int64_t> dims(a.shape, a.shape + a.ndim);
  const core::Shape shape = api::unwrap(core::Shape::make(dims));
  const int64_t count = shape.num_elements();
  const size_t size = core::dtype_size(api::inner_type(dtype));
  if (core::multiply_without_overflow(count, int64_t(size)) < 0)
    api::check(core::invalid_argument("a DLPack array of shape ", shape, " is too large"));
  if (count > 0 && !a.data) api::check(core::invalid_argument("a DLPack array of shape ", shape, " has no memory"));
  char* data = static_cast<char*>(a.data) + a.byte_offset;
  const bool aligned = reinterpret_cast<uintptr_t>(data) % std::min<size_t>(size, 8) == 0;
  const bool compact = !a.strides || is_compact(a);
  if (count > 0 && compact && aligned)
    return Tensor::borrow(
        dtype, dims, data, size_t(count) * size, [](void*, size_t, void* arg) { dlpack::Deleter()(static_cast<Managed*>(arg)); }, m);
  auto t = api::unwrap(core::Tensor::allocate(api::inner_type(dtype), shape));
  char* to = t.template data<char>();
  if (count > 0 && compact) std::memcpy(to, data, size_t(count) * size);
  else if (count > 0) copy_strided(a, 0, data, size, to);
  dlpack::Deleter()(m);
  return api::adopt(eager::TensorHandle::make(std::move(t), nullptr));
}

}  // namespace

dlpack::Capsule to_dlpack(const Tensor& t) { return dlpack::Capsule(export_as<dlpack::ManagedTensor>(t)); }
dlpack::VersionedCapsule to_dlpack_versioned(const Tensor& t) {
  auto* m = export_as<dlpack::ManagedTensorVersioned>(t);
  m->version = {1, 0};
  m->flags = dlpack::kReadOnly;
  return dlpack::VersionedCapsule(m);
}

Tensor from_dlpack(dlpack::ManagedTensor* array) { return import_from(array); }
Tensor from_dlpack(dlpack::ManagedTensorVersioned* array) {
  if (array && array->version.major != 1)
    api::check(core::unimplemented("from_dlpack knows version 1 of the standard, not version ", array->version.major));
  return import_from(array);
}

}  // namespace weft
