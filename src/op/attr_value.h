// AttrValue: the value of one attribute of a node: a number, text, type, shape, tensor, function or a
// list of these. Plain data; the wire form is read and written in io/.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tensor.h"

namespace weft_engine::op {

using namespace weft_engine::core;  // NOLINT: the engine speaks core's types everywhere

class AttrValue;
using AttrMap = std::map<std::string, AttrValue, std::less<>>;

// A function by name, with attributes of its own.
struct FunctionAttr {
  std::string name;
  std::shared_ptr<const AttrMap> attrs;
};

// Inside a function body: "take the value of the enclosing function's attribute of this name".
struct PlaceholderAttr {
  std::string name;
};

// A list that came without elements, so that its element type is not known yet.
struct EmptyList {};

class AttrValue {
 public:
  using Storage = std::variant<std::monostate, int64_t, float, bool, std::string, DType, PartialShape, Tensor, FunctionAttr, PlaceholderAttr,
                               EmptyList, std::vector<int64_t>, std::vector<float>, std::vector<bool>, std::vector<std::string>, std::vector<DType>,
                               std::vector<PartialShape>, std::vector<Tensor>, std::vector<FunctionAttr>>;
  // Nothing of the variant's construction, copies and destruction is inline: they are two hundred functions, which every file that sees an attribute would compile again.
  AttrValue() noexcept;
  AttrValue(const AttrValue& other);
  AttrValue(AttrValue&& other) noexcept;
  AttrValue& operator=(const AttrValue& other);
  AttrValue& operator=(AttrValue&& other) noexcept;
  ~AttrValue();
  AttrValue(int64_t v) noexcept;  // NOLINT
  AttrValue(int v) noexcept;  // NOLINT
  AttrValue(bool v) noexcept;  // NOLINT
  AttrValue(float v) noexcept;  // NOLINT
  AttrValue(const char* s);  // NOLINT
  AttrValue(std::string v) noexcept;  // NOLINT
  AttrValue(DType v) noexcept;  // NOLINT
  AttrValue(PartialShape v) noexcept;  // NOLINT
  AttrValue(Tensor v) noexcept;  // NOLINT
  AttrValue(FunctionAttr v) noexcept;  // NOLINT
  AttrValue(PlaceholderAttr v) noexcept;  // NOLINT
  AttrValue(EmptyList v) noexcept;  // NOLINT
  AttrValue(std::vector<int64_t> v) noexcept;  // NOLINT
  AttrValue(std::vector<float> v) noexcept;  // NOLINT
  AttrValue(std::vector<bool> v) noexcept;  // NOLINT
  AttrValue(std::vector<std::string> v) noexcept;  // NOLINT
  AttrValue(std::vector<DType> v) noexcept;  // NOLINT
  AttrValue(std::vector<PartialShape> v) noexcept;  // NOLINT
  AttrValue(std::vector<Tensor> v) noexcept;  // NOLINT
  AttrValue(std::vector<FunctionAttr> v) noexcept;  // NOLINT
  AttrValue(const Shape& v) : AttrValue(PartialShape(v)) {}  // NOLINT

  bool empty() const { return v_.index() == 0; }
  template <class T>
  const T* get() const {
    return std::get_if<T>(&v_);
  }
  const Storage& storage() const { return v_; }
  // "int", "list(type)", "shape" ...: the attribute type this value can stand for.
  std::string_view kind() const;
  bool is_list() const { return v_.index() >= 10; }
  // A form in which equal values are equal texts; for cache keys, messages and docs.
  std::string to_string() const;

 private:
  Storage v_;
};

bool operator==(const AttrValue& a, const AttrValue& b);

}  // namespace weft_engine::op
