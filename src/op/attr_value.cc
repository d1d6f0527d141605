#include "op/attr_value.h"

#include <cstdio>

namespace weft_engine::op {
namespace {

constexpr std::string_view kKinds[] = {
    "",     "int",       "float",       "bool",       "string",       "type",       "shape",       "tensor",       "func",      "placeholder",
    "list", "list(int)", "list(float)", "list(bool)", "list(string)", "list(type)", "list(shape)", "list(tensor)", "list(func)"};

std::string quote(std::string_view s) {
  std::string out = "\"";
  for (unsigned char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += char(c);
    } else if (c < 0x20 || c >= 0x7f) {
      char buf[8];
      std::snprintf(buf, sizeof buf, "\\%03o", c);
      out += buf;
    } else {
      out += char(c);
    }
  }
  return out + "\"";
}

std::string show(std::monostate) { return "<none>"; }
std::string show(int64_t v) { return cat(v); }
std::string show(float v) {
  char buf[40];
  std::snprintf(buf, sizeof buf, "%.9g", double(v));
  return buf;
}
std::string show(bool v) { return v ? "true" : "false"; }
std::string show(const std::string& v) { return quote(v); }
std::string show(DType v) { return dtype_enum_name(v); }
std::string show(const PartialShape& v) { return v.to_string(); }
std::string show(const Tensor& v) {
  return cat("Tensor<type: ", dtype_name(v.dtype()), " shape: ", v.shape(), " values: ", v.summary(v.num_elements()), ">");
}
std::string show(const FunctionAttr& v) {
  std::string out = v.name;
  if (v.attrs && !v.attrs->empty()) {
    out += "[";
    for (const auto& [k, a] : *v.attrs) out += cat(k, "=", a.to_string(), ", ");
    out += "]";
  }
  return out;
}
std::string show(const PlaceholderAttr& v) { return "$" + v.name; }
std::string show(EmptyList) { return "[]"; }
template <class T>
std::string show(const std::vector<T>& list) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i) out += ", ";
    const T item = list[i];
    out += show(item);
  }
  return out + "]";
}

}  // namespace

AttrValue::AttrValue() noexcept = default;
AttrValue::AttrValue(const AttrValue&) = default;
AttrValue::AttrValue(AttrValue&&) noexcept = default;
AttrValue& AttrValue::operator=(const AttrValue&) = default;
AttrValue& AttrValue::operator=(AttrValue&&) noexcept = default;
AttrValue::~AttrValue() = default;
AttrValue::AttrValue(int v) noexcept : v_(int64_t(v)) {}
AttrValue::AttrValue(const char* s) : v_(std::string(s)) {}
AttrValue::AttrValue(int64_t v) noexcept : v_(v) {}
AttrValue::AttrValue(bool v) noexcept : v_(v) {}
AttrValue::AttrValue(float v) noexcept : v_(v) {}
AttrValue::AttrValue(DType v) noexcept : v_(v) {}
AttrValue::AttrValue(EmptyList v) noexcept : v_(v) {}
AttrValue::AttrValue(std::string v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(PartialShape v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(Tensor v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(FunctionAttr v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(PlaceholderAttr v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<int64_t> v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<float> v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<bool> v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<std::string> v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<DType> v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<PartialShape> v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<Tensor> v) noexcept : v_(std::move(v)) {}
AttrValue::AttrValue(std::vector<FunctionAttr> v) noexcept : v_(std::move(v)) {}

std::string_view AttrValue::kind() const { return kKinds[v_.index()]; }

std::string AttrValue::to_string() const {
  return std::visit([](const auto& v) { return show(v); }, v_);
}

bool operator==(const AttrValue& a, const AttrValue& b) { return a.storage().index() == b.storage().index() && a.to_string() == b.to_string(); }

}  // namespace weft_engine::op
