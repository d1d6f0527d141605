// weft::Tensor: an immutable n-dimensional array. Copying shares. Inside weft::function, while it is traced, a tensor
// stands for a value that comes later: it has a type and a shape (perhaps known in part), but no data. Every function
// here throws weft::Error when the engine reports a failure.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/error.h"
#include "weft/types.h"

namespace weft {

class WEFT_API Tensor {
 public:
  Tensor() = default;  // no value; using it is an error
  Tensor(const Tensor& o);
  Tensor(Tensor&& o) noexcept : handle_(o.handle_) { o.handle_ = nullptr; }
  Tensor& operator=(Tensor o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~Tensor();

  // Scalars and flat lists: Tensor(1.5f), Tensor{1.f, 2.f}; strings: Tensor("text").
  template <class T>
    requires requires { dtype_of<T>::value; }
  Tensor(T scalar) : Tensor(from_bytes(dtype_of<T>::value, {}, &scalar, sizeof scalar)) {}  // NOLINT: implicit on purpose
  template <class T>
    requires requires { dtype_of<T>::value; }
  Tensor(std::initializer_list<T> values)
      : Tensor(from_bytes(dtype_of<T>::value, {int64_t(values.size())}, values.begin(), values.size() * sizeof(T))) {}
  // Rows: Tensor{{1.f, 2.f}, {3.f, 4.f}}; they must be of equal length.
  template <class T>
    requires requires { dtype_of<T>::value; }
  Tensor(std::initializer_list<std::initializer_list<T>> rows) : Tensor(from_rows(rows)) {}
  Tensor(const char* text);         // NOLINT
  Tensor(const std::string& text);  // NOLINT

  // Numbers in row-major order, copied.
  template <class T>
    requires requires { dtype_of<T>::value; }
  static Tensor of(std::vector<int64_t> shape, std::span<const T> values) {
    return from_bytes(dtype_of<T>::value, std::move(shape), values.data(), values.size_bytes());
  }
  template <class T>
    requires requires { dtype_of<T>::value; }
  static Tensor of(std::vector<int64_t> shape, std::initializer_list<T> values) {
    return of<T>(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  static Tensor of_strings(std::vector<int64_t> shape, const std::vector<std::string>& values);
  // Bytes of any plain type, copied; their number must fit the shape.
  static Tensor from_bytes(DType dtype, std::vector<int64_t> shape, const void* bytes, size_t size);
  // Memory of the caller, used in place until `deallocator` is called.
  static Tensor borrow(DType dtype, std::vector<int64_t> shape, void* data, size_t size, void (*deallocator)(void* data, size_t size, void* arg),
                       void* arg);

  bool has_value() const { return handle_ != nullptr; }
  DType dtype() const;
  std::vector<int64_t> shape() const;  // throws where it is not known, inside a traced function
  PartialShape partial_shape() const;  // as far as it is known
  bool is_symbolic() const;            // stands for a value of a function that is being traced
  int rank() const;
  int64_t size() const;        // number of elements
  std::string device() const;  // "/job:localhost/replica:0/task:0/device:CPU:0"
  Tensor on(std::string_view device) const;  // a copy on that device

  // The elements; T must be the type's own. Valid while the tensor lives.
  template <class T>
  std::span<const T> data() const {
    return {static_cast<const T*>(checked_data(dtype_of<T>::value)), size_t(size())};
  }
  template <class T>
  T item() const {  // of a tensor with one element
    auto d = data<T>();
    if (d.size() != 1) throw Error(Code::kInvalidArgument, "item() needs a tensor with one element, this has " + std::to_string(d.size()));
    return d[0];
  }
  template <class T>
  std::vector<T> to_vector() const {
    auto d = data<T>();
    return {d.begin(), d.end()};
  }
  std::span<const std::byte> bytes() const;  // the elements of any plain type, as they lie in memory
  std::vector<std::string> strings() const;  // the elements of a string tensor
  std::string to_string() const;             // values, shape and type for people

  // For the library itself.
  void* handle() const { return handle_; }
  static Tensor adopt(void* handle) {
    Tensor t;
    t.handle_ = handle;
    return t;
  }

 private:
  template <class T>
  static Tensor from_rows(std::initializer_list<std::initializer_list<T>> rows) {
    std::vector<T> flat;
    const size_t width = rows.size() ? rows.begin()->size() : 0;
    for (const auto& r : rows) {
      if (r.size() != width) throw Error(Code::kInvalidArgument, "rows of a tensor must be of equal length");
      flat.insert(flat.end(), r.begin(), r.end());
    }
    return from_bytes(dtype_of<T>::value, {int64_t(rows.size()), int64_t(width)}, flat.data(), flat.size() * sizeof(T));
  }
  const void* checked_data(DType expected) const;
  void* handle_ = nullptr;
};

WEFT_API std::ostream& operator<<(std::ostream& out, const Tensor& t);

// Elementwise, with broadcasting.
WEFT_API Tensor operator+(const Tensor& a, const Tensor& b);
WEFT_API Tensor operator-(const Tensor& a, const Tensor& b);
WEFT_API Tensor operator*(const Tensor& a, const Tensor& b);
WEFT_API Tensor operator/(const Tensor& a, const Tensor& b);
WEFT_API Tensor operator%(const Tensor& a, const Tensor& b);
WEFT_API Tensor operator-(const Tensor& a);
WEFT_API Tensor operator==(const Tensor& a, const Tensor& b);
WEFT_API Tensor operator!=(const Tensor& a, const Tensor& b);
WEFT_API Tensor operator<(const Tensor& a, const Tensor& b);
WEFT_API Tensor operator<=(const Tensor& a, const Tensor& b);
WEFT_API Tensor operator>(const Tensor& a, const Tensor& b);
WEFT_API Tensor operator>=(const Tensor& a, const Tensor& b);

}  // namespace weft
