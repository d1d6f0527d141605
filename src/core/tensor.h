// Tensor: a type, a shape and shared memory. Copying shares; writing is for whoever just allocated it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/buffer.h"
#include "core/shape.h"
#include "core/tstring.h"

namespace weft_engine::core {

class Tensor {
 public:
  Tensor() = default;  // type kInvalid, no memory
  Tensor(DType dtype, Shape shape, RefPtr<Buffer> buffer)
      : dtype_(dtype), shape_(std::move(shape)), buffer_(std::move(buffer)), data_(buffer_ ? buffer_->data() : nullptr) {}

  // Memory not initialised (strings, resources and variants are constructed empty).
  // InvalidArgument for a shape that is not valid, ResourceExhausted when memory is short.
  static Result<Tensor> allocate(DType dtype, const Shape& shape);
  static Result<Tensor> zeros(DType dtype, const Shape& shape);

  // For constants in rules and tests; memory is assumed to be there.
  template <class T>
  static Tensor scalar(T value) {
    Tensor t = must_allocate(dtype_of<T>, Shape());
    t.data<T>()[0] = std::move(value);
    return t;
  }
  static Tensor scalar(const char* s) { return scalar(tstring(s)); }
  template <class T>
  static Tensor vector(std::span<const T> values) {
    return of<T>({int64_t(values.size())}, values);
  }
  template <class T>
  static Tensor vector(const std::vector<T>& values) {
    return of<T>({int64_t(values.size())}, std::span<const T>(values));
  }
  template <class T>
  static Tensor of(const Shape& shape, std::span<const T> values) {
    Tensor t = must_allocate(dtype_of<T>, shape);
    for (size_t i = 0; i < values.size(); ++i) t.data<T>()[i] = values[i];
    return t;
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int i) const { return shape_.dim(i); }
  int64_t num_elements() const { return shape_.num_elements(); }
  size_t byte_size() const { return size_t(num_elements()) * dtype_size(dtype_); }
  bool valid() const { return dtype_ != DType::kInvalid; }

  // The elements. T must be the C++ type of dtype() or another of the same size (int8_t for bool ...).
  template <class T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  template <class T>
  T* data() {
    return static_cast<T*>(data_);
  }
  const void* raw() const { return data_; }
  void* raw() { return data_; }
  template <class T>
  std::span<const T> span() const {
    return {data<T>(), size_t(num_elements())};
  }
  template <class T>
  std::span<T> span() {
    return {data<T>(), size_t(num_elements())};
  }

  const RefPtr<Buffer>& buffer() const { return buffer_; }
  bool unique() const { return buffer_ && buffer_->unique() && buffer_->owns_elements(); }

  // The same memory seen otherwise. reshaped: equal element count; viewed_as: equal byte count.
  Tensor reshaped(Shape shape) const;
  Tensor viewed_as(DType dtype, Shape shape) const;
  // Takes the memory of a tensor that its owner gives away. `from` stays readable as long as this lives.
  void take_memory(Tensor& from, DType dtype) {
    dtype_ = dtype;
    shape_ = from.shape_;
    buffer_ = std::move(from.buffer_);
    data_ = from.data_;
  }
  // Back to nothing, without touching the shape.
  void drop() {
    dtype_ = DType::kInvalid;
    buffer_ = nullptr;
    data_ = nullptr;
  }
  // Rows [begin, end) of dimension 0, sharing memory.
  Tensor slice_rows(int64_t begin, int64_t end) const;
  Result<Tensor> copy() const;

  // "[1 2 3...]": at most `limit` elements, as TensorFlow's SummarizeValue.
  std::string summary(int64_t limit = 3) const;

 private:
  static Tensor must_allocate(DType dtype, const Shape& shape);
  DType dtype_ = DType::kInvalid;
  Shape shape_;
  RefPtr<Buffer> buffer_;
  void* data_ = nullptr;
};

// Copies elements [from, from + n) of a tensor into another of the same type, at `to`.
void copy_elements(const Tensor& source, int64_t from, Tensor& target, int64_t to, int64_t n);

}  // namespace weft_engine::core
