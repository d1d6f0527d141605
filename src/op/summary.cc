#include "op/summary.h"

#include <cstdio>
#include <cstdlib>

namespace weft_engine::op {
namespace {

// Lists from this length on show their ends only.
constexpr size_t kLongList = 50;

std::string show_item(float v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", double(v));
  if (std::strtof(text, nullptr) != v) std::snprintf(text, sizeof text, "%.9g", double(v));
  return text;
}
std::string show_item(const std::string& v) {
  std::string text = AttrValue(v).to_string();  // escaped and quoted
  constexpr size_t kMost = 80;
  if (text.size() < kMost + 2) return text;
  return cat(text.substr(0, 11), "...", text.substr(text.size() - 11));
}
std::string show_item(const Tensor& v) {
  return cat("Tensor<type: ", dtype_name(v.dtype()), " shape: ", v.shape(), " values: ", summarize_values(v, 3), ">");
}
template <class T>
std::string show_item(const T& v) {
  return AttrValue(v).to_string();
}

std::string show_arg(const ArgSpec& arg, const Signature& sig) {
  std::string text = cat(arg.name, ":");
  if (arg.is_ref) text += "Ref(";
  if (arg.number_attr >= 0) text += cat(sig.attrs[size_t(arg.number_attr)].name, "*");
  if (arg.type_attr >= 0) text += sig.attrs[size_t(arg.type_attr)].name;
  else if (arg.type_list_attr < 0) text += dtype_name(arg.type);  // a list's attribute is not shown
  if (arg.is_ref) text += ")";
  return text;
}

std::string show_args(const std::vector<ArgSpec>& args, const Signature& sig) {
  std::vector<std::string> texts;
  for (const ArgSpec& a : args) texts.push_back(show_arg(a, sig));
  return join(texts, ", ");
}

}  // namespace

std::string summarize_values(const Tensor& value, int64_t limit) {
  std::string text = value.summary(limit);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);  // the outer pair is not shown
  return text;
}

std::string summarize_attr(const AttrValue& value) {
  return std::visit(
      [&](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::string> || std::is_same_v<T, Tensor>) {
          return show_item(v);
        } else if constexpr (requires {
                               typename T::value_type;
                               v.size();
                             }) {
          std::vector<std::string> pieces;
          for (size_t i = 0; i < v.size(); ++i) {
            if (v.size() >= kLongList && i == 5) {
              pieces.push_back("...");
              i = v.size() - 5;
            }
            pieces.push_back(show_item(typename T::value_type(v[i])));
          }
          return cat("[", join(pieces, ", "), "]");
        } else {
          return value.to_string();
        }
      },
      value.storage());
}

std::string summarize_op(const OpSpec& spec) {
  const Signature& sig = spec.signature();
  std::string out = cat("Op<name=", spec.name, "; signature=", show_args(sig.inputs, sig), " -> ", show_args(sig.outputs, sig));
  for (const AttrSpec& a : sig.attrs) {
    out += cat("; attr=", a.name, ":", a.type);
    if (a.default_value) out += cat(",default=", summarize_attr(*a.default_value));
    if (a.minimum) out += cat(",min=", *a.minimum);
    if (!a.allowed_types.empty()) out += cat(",allowed=", summarize_attr(AttrValue(a.allowed_types)));
    if (!a.allowed_strings.empty()) out += cat(",allowed=", summarize_attr(AttrValue(a.allowed_strings)));
  }
  if (spec.commutative) out += "; is_commutative=true";
  if (spec.aggregate) out += "; is_aggregate=true";
  if (spec.stateful) out += "; is_stateful=true";
  if (spec.allows_uninitialized_input) out += "; allows_uninitialized_input=true";
  return out + ">";
}

}  // namespace weft_engine::op
