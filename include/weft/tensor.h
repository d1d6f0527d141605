// weft::Tensor: an immutable n-dimensional array. Copying shares. Inside weft::function, while it is traced, a tensor
// stands for a value that comes later: it has a type and a shape (perhaps known in part), but no data. Every function
// here throws weft::Error when the engine reports a failure.
//
//   weft::Tensor x{{1.f, 2.f}, {3.f, 4.f}};
//   weft::Tensor row = x[0], column = x[{weft::_, -1}];  // weft/indexing.h
//   std::cout << x * 2.f << x.item<float>({1, 0});
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "weft/error.h"
#include "weft/types.h"

namespace weft {

class Index;
class TensorIterator;

namespace tensor_detail {

// The numbers in nested lists, and their shape. An empty list ends the shape with 0.
template <class T>
struct Element {
  using type = T;
};
template <class T>
struct Element<std::vector<T>> : Element<T> {};
template <class T>
using element_of = typename Element<T>::type;
template <class T>
concept is_element_list =
    (std::is_same_v<element_of<T>, std::string> && !std::is_same_v<T, std::string>) || requires { dtype_of<element_of<T>>::value; };

template <class List, class T>
void flatten(const List& list, size_t depth, std::vector<int64_t>& shape, std::vector<T>& out) {
  if (shape.size() == depth) shape.push_back(int64_t(list.size()));
  if (shape[depth] != int64_t(list.size())) throw Error(Code::kInvalidArgument, "rows of a tensor must be of equal length");
  for (const auto& item : list) {
    if constexpr (requires { out.push_back(item); }) out.push_back(item);
    else flatten(item, depth + 1, shape, out);
  }
}

}  // namespace tensor_detail

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

  // A scalar: Tensor(1.5f).
  template <class T>
    requires requires { dtype_of<T>::value; }
  Tensor(T scalar) : Tensor(from_bytes(dtype_of<T>::value, {}, &scalar, sizeof scalar)) {}  // NOLINT: implicit on purpose
  // Nested lists, up to four deep: Tensor{1.f, 2.f}, Tensor{{1.f, 2.f}, {3.f, 4.f}}. Those beside each other must be of equal length.
  template <class T>
    requires requires { dtype_of<T>::value; }
  Tensor(std::initializer_list<T> values)
      : Tensor(from_bytes(dtype_of<T>::value, {int64_t(values.size())}, values.begin(), values.size() * sizeof(T))) {}
  template <class T>
    requires requires { dtype_of<T>::value; }
  Tensor(std::initializer_list<std::initializer_list<T>> rows) : Tensor(from_nested<T>(rows)) {}
  template <class T>
    requires requires { dtype_of<T>::value; }
  Tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks) : Tensor(from_nested<T>(blocks)) {}
  template <class T>
    requires requires { dtype_of<T>::value; }
  Tensor(std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>> blocks) : Tensor(from_nested<T>(blocks)) {}
  // Vectors, also nested ones: Tensor(std::vector<float>{1, 2}).
  template <class T>
    requires tensor_detail::is_element_list<T>
  explicit Tensor(const std::vector<T>& values) : Tensor(from_nested<tensor_detail::element_of<T>>(values)) {}
  // A copy of memory, one dimension.
  template <class T>
    requires requires { dtype_of<std::remove_const_t<T>>::value; }
  explicit Tensor(std::span<T> values)
      : Tensor(from_bytes(dtype_of<std::remove_const_t<T>>::value, {int64_t(values.size())}, values.data(), values.size_bytes())) {}
  // A string, and lists of them: Tensor("text"), Tensor{"a", "b"}.
  Tensor(const char* text);         // NOLINT
  Tensor(const std::string& text);  // NOLINT
  Tensor(std::initializer_list<const char*> texts);
  explicit Tensor(const std::vector<std::string>& texts);

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
  // Strings in row-major order.
  static Tensor of_strings(std::vector<int64_t> shape, const std::vector<std::string>& values);
  // Bytes of any plain type, copied; their number must fit the shape.
  static Tensor from_bytes(DType dtype, std::vector<int64_t> shape, const void* bytes, size_t size);
  // Memory of the caller, used in place until `deallocator` is called.
  static Tensor borrow(DType dtype, std::vector<int64_t> shape, void* data, size_t size, void (*deallocator)(void* data, size_t size, void* arg),
                       void* arg);

  // False for Tensor().
  bool has_value() const { return handle_ != nullptr; }
  // The type of the elements.
  DType dtype() const;
  // The sizes of all dimensions; throws where one is not known, inside a traced function.
  std::vector<int64_t> shape() const;
  // The shape as far as it is known.
  PartialShape partial_shape() const;
  // True for a value of a function that is being traced.
  bool is_symbolic() const;
  // The number of dimensions.
  int rank() const;
  // The number of elements.
  int64_t size() const;
  // Where the tensor is: "/job:localhost/replica:0/task:0/device:CPU:0".
  std::string device() const;
  // A copy on that device.
  Tensor on(std::string_view device) const;

  // The part that Python's brackets give: x[0], x[{0, _}], x[mask] (weft/indexing.h).
  Tensor operator[](std::initializer_list<Index> items) const;
  Tensor operator[](const Index& item) const;
  // The same, with items from a list.
  Tensor index(const std::vector<Index>& items) const;
  // The parts along the first dimension, in turn; its size must be known.
  TensorIterator begin() const;
  TensorIterator end() const;

  // The elements in place, row by row; T must be the type's own. Valid while the tensor lives.
  template <class T>
  std::span<const T> data() const {
    return {static_cast<const T*>(checked_data(dtype_of<T>::value)), size_t(size())};
  }
  // The element of a tensor that has one. T may be std::string.
  template <class T>
  T item() const {
    const auto all = [&] {
      if constexpr (std::is_same_v<T, std::string>) return strings();
      else return data<T>();
    }();
    if (all.size() != 1) throw Error(Code::kInvalidArgument, "item() needs a tensor with one element, this has " + std::to_string(all.size()));
    return all[0];
  }
  // The element at a place; numbers below 0 count from the end.
  template <class T>
  T item(const std::vector<int64_t>& at) const {
    const size_t i = offset_of(at);
    if constexpr (std::is_same_v<T, std::string>) return strings()[i];
    else return data<T>()[i];
  }
  // A copy of the elements, row by row. T may be std::string.
  template <class T>
  std::vector<T> to_vector() const {
    if constexpr (std::is_same_v<T, std::string>) {
      return strings();
    } else {
      auto d = data<T>();
      return {d.begin(), d.end()};
    }
  }
  // The elements of any plain type, as they lie in memory.
  std::span<const std::byte> bytes() const;
  // The elements of a string tensor.
  std::vector<std::string> strings() const;
  // The values as numpy prints them; inside a traced function what is known of the tensor.
  std::string to_string() const;

  // For the library itself.
  void* handle() const { return handle_; }
  static Tensor adopt(void* handle) {
    Tensor t;
    t.handle_ = handle;
    return t;
  }

 private:
  template <class T, class List>
  static Tensor from_nested(const List& list) {
    std::vector<int64_t> shape;
    std::vector<T> flat;
    tensor_detail::flatten(list, 0, shape, flat);
    if constexpr (std::is_same_v<T, std::string>) {
      return of_strings(std::move(shape), flat);
    } else if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no array
      const auto bytes = std::make_unique<bool[]>(flat.size());
      std::copy(flat.begin(), flat.end(), bytes.get());
      return from_bytes(DType::boolean, std::move(shape), bytes.get(), flat.size());
    } else {
      return from_bytes(dtype_of<T>::value, std::move(shape), flat.data(), flat.size() * sizeof(T));
    }
  }
  size_t offset_of(const std::vector<int64_t>& at) const;
  const void* checked_data(DType expected) const;
  void* handle_ = nullptr;
};

// Writes to_string().
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

#include "weft/indexing.h"  // IWYU pragma: export
