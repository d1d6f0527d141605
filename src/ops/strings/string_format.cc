// Ops between numbers and text.
#include <charconv>
#include <cstdio>

#include "kernels/cpu/text.h"
#include "op/batching.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/control_flow/summarize.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// The output is printf's, so the attributes become a printf format.
struct AsString {
  std::string flags, tail;  // "%" flags [length modifier] tail
  int plain_precision = -1;  // of numbers without a width, which need no printf: std::to_chars writes the same

  static Result<AsString> make(const NodeInfo& node) {
    const DType type = node.attr<DType>("T");
    const int64_t precision = node.attr<int64_t>("precision"), width = node.attr<int64_t>("width");
    const bool scientific = node.attr<bool>("scientific"), shortest = node.attr<bool>("shortest");
    const std::string& fill = node.attr<std::string>("fill");
    constexpr int64_t kMaxWidth = 1 << 24;
    if (precision > kMaxWidth || width > kMaxWidth) return invalid_argument("width and precision must not exceed ", kMaxWidth);
    const bool number = is_floating_type(type) || is_complex_type(type);
    if (!number && type != DType::kString && type != DType::kVariant) {
      if (scientific || shortest) return invalid_argument("scientific and shortest format not supported for datatype ", dtype_name(type));
      if (precision >= 0) return invalid_argument("precision not supported for datatype ", dtype_name(type));
    }
    if (fill.size() > 1) return invalid_argument("Fill string must be one or fewer characters");
    if (scientific && shortest) return invalid_argument("Cannot select both scientific and shortest notation");
    if (!fill.empty() && std::string_view(" +-0#").find(fill[0]) == std::string_view::npos)
      return invalid_argument("Fill argument not supported: \"", fill, "\"");
    AsString k;
    if (width > -1) k.flags = cat(fill, width);
    if (precision > -1 && number) k.flags += cat(".", precision);
    if (width < 0 && precision <= 32) k.plain_precision = precision < 0 ? 6 : int(precision);
    if (number) k.tail = std::string(1, shortest ? 'g' : scientific ? 'e' : 'f');
    return k;
  }

  template <class... Values>
  static std::string print(const std::string& format, Values... values) {
    char small[64];
    const int n = std::snprintf(small, sizeof small, format.c_str(), values...);
    if (n < int(sizeof small)) return std::string(small, size_t(std::max(n, 0)));
    std::string out(size_t(n) + 1, '\0');
    std::snprintf(out.data(), out.size(), format.c_str(), values...);
    out.pop_back();
    return out;
  }

  Status run(KernelContext& c) const {
    const Tensor& in = c.input(0);
    WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
    const int64_t n = in.num_elements();
    tstring* to = out->data<tstring>();
    if (in.dtype() == DType::kVariant) {
      for (int64_t i = 0; i < n; ++i) to[i] = print(cat("%", flags, "s"), in.data<Variant>()[i].type_name().c_str());
      return {};
    }
    return dispatch<WEFT_NUMBERS, bool, tstring>(in.dtype(), [&]<class T>(Tag<T>) {
      const T* from = in.data<T>();
      for (int64_t i = 0; i < n; ++i) {
        if (!write_plain(from[i], to[i])) to[i] = text(from[i]);
      }
      return Status();
    });
  }

  // False where printf is needed.
  template <class T>
  bool write_plain(const T& v, tstring& to) const {
    if constexpr (std::is_same_v<T, bool> || !(std::is_integral_v<T> || std::is_floating_point_v<T>)) {
      return false;
    } else {
      if (plain_precision < 0) return false;
      char digits[400];  // the greatest double has 309 before the point
      std::to_chars_result end;
      if constexpr (std::is_integral_v<T>) {
        end = std::to_chars(digits, digits + sizeof digits, v);
      } else {
        const auto format = tail == "g" ? std::chars_format::general : tail == "e" ? std::chars_format::scientific : std::chars_format::fixed;
        end = std::to_chars(digits, digits + sizeof digits, double(v), format, plain_precision);
      }
      to = std::string_view(digits, size_t(end.ptr - digits));
      return true;
    }
  }

  template <class T>
  std::string text(const T& v) const {
    if constexpr (std::is_same_v<T, bool>) {
      return v ? "true" : "false";
    } else if constexpr (std::is_same_v<T, tstring>) {
      return flags.empty() ? v.str() : print(cat("%", flags, "s"), v.str().c_str());
    } else if constexpr (is_complex<T>) {
      const std::string format = cat("%", flags, tail);
      return print(cat("(", format, ",", format, ")"), double(v.real()), double(v.imag()));
    } else if constexpr (is_floating<T>) {
      return print(cat("%", flags, tail), double(Wide<T>(v)));
    } else if constexpr (std::is_signed_v<T>) {
      return print(cat("%", flags, "lld"), static_cast<long long>(v));
    } else {
      return print(cat("%", flags, "llu"), static_cast<unsigned long long>(v));
    }
  }
};

// The text between placeholders; an empty placeholder is between all bytes.
std::vector<std::string> split_template(const std::string& text, const std::string& placeholder) {
  std::vector<std::string> parts;
  if (placeholder.empty()) {
    for (char c : text) parts.emplace_back(1, c);
    if (parts.empty()) parts.emplace_back();
    return parts;
  }
  size_t begin = 0;
  for (size_t end; (end = text.find(placeholder, begin)) != text.npos; begin = end + placeholder.size())
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

Result<std::vector<std::string>> checked_template(const NodeInfo& node) {
  auto parts = split_template(node.attr<std::string>("template"), node.attr<std::string>("placeholder"));
  if (int(parts.size()) - 1 != node.num_inputs())
    return invalid_argument("num placeholders in template and num inputs must match: ", parts.size() - 1, " vs. ", node.num_inputs());
  return parts;
}

Status run_format(KernelContext& c) {
  WEFT_ASSIGN(auto parts, checked_template(c.node()));
  const int64_t edge = c.attr<int64_t>("summarize");
  std::string text = parts[0];
  for (int i = 0; i < c.num_inputs(); ++i) text += summarize_edges(c.input(i), edge) + parts[size_t(i) + 1];
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
  out->data<tstring>()[0] = text;
  return {};
}

Status format_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(checked_template(c.node()).status());
  return shapes::scalar(c);
}

Status run_to_number(KernelContext& c) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  return dispatch<float, double, int32_t, int64_t, uint32_t, uint64_t>(out->dtype(), [&]<class T>(Tag<T>) -> Status {
    const tstring* from = in.data<tstring>();
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      if (!kernels::parse_number(from[i].view(), out->data<T>()[i]))
        return invalid_argument("StringToNumberOp could not correctly convert string: ", from[i].view());
    }
    return {};
  });
}

}  // namespace

void string_format(Registry& r) {
  r.add("AsString")
      .doc("Prints each number.")
      .in("input: T")
      .out("output: string")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
          "uint64, complex64, complex128, bool, variant, string}")
      .attr("precision: int = -1")
      .attr("scientific: bool = false")
      .attr("shortest: bool = false")
      .attr("width: int = -1")
      .attr("fill: string = ''")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .no_grad()
      .cpu<AsString>();

  r.add("StringFormat")
      .doc("Puts the printed form of tensors into a template.")
      .in("inputs: T")
      .out("output: string")
      .attr("T: list(type) >= 0")
      .attr("template: string = '%s'")
      .attr("placeholder: string = '%s'")
      .attr("summarize: int = 3")
      .shape(format_shape)
      .batch([](BatchContext& c) { return c.same(c.itself1(c.inner_all())); })
      .cpu(run_format);

  r.add("StringToNumber")
      .doc("Reads a number from each string.")
      .in("string_tensor: string")
      .out("output: out_type")
      .attr("out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .no_grad()
      .cpu(run_to_number);
}

}  // namespace weft_engine::ops
