#include "core/tensor.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "core/resource.h"
#include "core/variant.h"

namespace weft_engine::core {

Result<Tensor> Tensor::allocate(DType dtype, const Shape& shape) {
  if (!shape.valid()) [[unlikely]]
    return shape.check();
  auto buffer = Buffer::allocate(dtype, shape.num_elements());
  if (!buffer) [[unlikely]]
    return resource_exhausted("OOM when allocating tensor with shape", shape, " and type ", dtype_name(dtype),
                              " on /job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu");
  return Tensor(dtype, shape, std::move(buffer));
}

Result<Tensor> Tensor::zeros(DType dtype, const Shape& shape) {
  WEFT_ASSIGN(Tensor t, allocate(dtype, shape));
  if (is_simple(dtype) && t.byte_size()) std::memset(t.data_, 0, t.byte_size());
  return t;
}

Tensor Tensor::must_allocate(DType dtype, const Shape& shape) {
  auto t = allocate(dtype, shape);
  if (!t.ok()) throw std::bad_alloc();
  return std::move(t).value();
}

Tensor Tensor::reshaped(Shape shape) const {
  assert(shape.num_elements() == num_elements());
  Tensor t = *this;
  t.shape_ = std::move(shape);
  return t;
}

Tensor Tensor::viewed_as(DType dtype, Shape shape) const {
  Tensor t = *this;
  t.dtype_ = dtype;
  t.shape_ = std::move(shape);
  assert(t.byte_size() == byte_size());
  return t;
}

Tensor Tensor::slice_rows(int64_t begin, int64_t end) const {
  Tensor t = *this;
  const int64_t row = shape_.elements_in(1, rank());
  t.shape_.set_dim(0, end - begin);
  t.data_ = static_cast<char*>(data_) + size_t(begin * row) * dtype_size(dtype_);
  return t;
}

Result<Tensor> Tensor::copy() const {
  WEFT_ASSIGN(Tensor t, allocate(dtype_, shape_));
  copy_elements(*this, 0, t, 0, num_elements());
  return t;
}

void copy_elements(const Tensor& source, int64_t from, Tensor& target, int64_t to, int64_t n) {
  assert(source.dtype() == target.dtype());
  if (n <= 0) return;
  switch (source.dtype()) {
    case DType::kString: std::copy_n(source.data<tstring>() + from, n, target.data<tstring>() + to); break;
    case DType::kResource: std::copy_n(source.data<ResourceHandle>() + from, n, target.data<ResourceHandle>() + to); break;
    case DType::kVariant: std::copy_n(source.data<Variant>() + from, n, target.data<Variant>() + to); break;
    default: {
      const size_t size = dtype_size(source.dtype());
      std::memmove(target.data<char>() + size_t(to) * size, source.data<char>() + size_t(from) * size, size_t(n) * size);
    }
  }
}

namespace {

template <class T>
std::string show(const T& v) {
  if constexpr (std::is_same_v<T, tstring>) return cat("\"", v.view(), "\"");
  else if constexpr (std::is_same_v<T, bool>) return v ? "1" : "0";
  else if constexpr (is_complex<T>) return cat("(", double(v.real()), ",", double(v.imag()), ")");
  else if constexpr (is_floating<T>) return cat(double(float(v)));
  else if constexpr (std::is_same_v<T, ResourceHandle>) return "<resource>";
  else if constexpr (std::is_same_v<T, Variant>) return cat("<", v.type_name(), ">");
  else return cat(static_cast<int64_t>(v));
}

// Nested brackets for each dimension, as TensorFlow prints.
void show_dims(const Tensor& t, int d, int64_t& at, int64_t limit, std::string& out, std::string (*element)(const Tensor&, int64_t)) {
  for (int64_t i = 0; i < t.dim(d); ++i) {
    if (at >= limit) {
      if (d > 0 && d + 1 == t.rank()) out += "...";  // a row that is cut off
      return;
    }
    if (d + 1 == t.rank()) {
      if (i) out += " ";
      out += element(t, at++);
    } else {
      out += "[";
      show_dims(t, d + 1, at, limit, out, element);
      out += "]";
    }
  }
}

std::string element_text(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
#define WEFT_X(T, name) \
  case DType::name: return show(t.data<T>()[i]);
    WEFT_DTYPES(WEFT_X)
#undef WEFT_X
    default: return "?";
  }
}

}  // namespace

std::string Tensor::summary(int64_t limit) const {
  const int64_t n = num_elements();
  if (!data_ || n < 0) return "uninitialized Tensor of " + cat(n) + " elements of type " + dtype_name(dtype_);
  if (limit < 0) limit = n;
  if (rank() == 0) return element_text(*this, 0);
  std::string out = "[";
  int64_t at = 0;
  show_dims(*this, 0, at, std::min(limit, n), out, element_text);
  if (n > limit) out += "...";
  return out + "]";
}

}  // namespace weft_engine::core
