// The parser of TensorFlow's signature notation.
#include <charconv>

#include "op/op_spec.h"

namespace weft_engine::op {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text), rest_(text) {}
  void spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  std::string_view word() {
    spaces();
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_')) ++n;
    auto w = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return w;
  }
  bool done() {
    spaces();
    return rest_.empty();
  }
  bool peek(char c) {
    spaces();
    return !rest_.empty() && rest_[0] == c;
  }
  std::string_view rest() {
    spaces();
    return rest_;
  }
  Status error(std::string_view what) const { return invalid_argument("cannot read '", text_, "': ", what); }

  // 'text' or "text", with backslash escapes.
  bool quoted(std::string& out) {
    spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return false;
    const char quote = rest_[0];
    for (size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == quote) {
        rest_.remove_prefix(i + 1);
        return true;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size()) {
        const char c = rest_[++i];
        if (c >= '0' && c <= '7' && i + 2 < rest_.size()) {
          out += char((c - '0') * 64 + (rest_[i + 1] - '0') * 8 + (rest_[i + 2] - '0'));
          i += 2;
        } else {
          out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
      } else {
        out += rest_[i];
      }
    }
    return false;
  }
  std::string_view number() {
    spaces();
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '.' || rest_[n] == '-' || rest_[n] == '+')) ++n;
    auto w = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return w;
  }

 private:
  std::string_view text_, rest_;
};

// A number, or nullopt.
std::optional<int64_t> read_number(Scanner& s) {
  const auto n = s.number();
  int64_t v;
  if (std::from_chars(n.data(), n.data() + n.size(), v).ec != std::errc()) return std::nullopt;
  return v;
}

// The text form of a TensorShapeProto, behind its brace: "dim { size: 2 } dim { size: -1 } }" or "unknown_rank: true }".
Status read_shape_message(Scanner& s, PartialShape& out) {
  std::vector<int64_t> dims;
  bool known = true;
  while (!s.take("}")) {
    if (s.take("unknown_rank")) {
      known = !(s.take(":") && s.take("true"));
    } else if (s.take("dim")) {
      s.take(":");
      if (!s.take("{")) return s.error("expected dim { size: ... }");
      dims.push_back(0);
      if (s.take("size")) {
        const auto size = s.take(":") ? read_number(s) : std::nullopt;
        if (!size) return s.error("expected the size of a dimension");
        dims.back() = *size;
      }
      if (!s.take("}")) return s.error("expected } behind a dimension");
    } else {
      return s.error("expected dim or unknown_rank in a shape");
    }
    if (!s.take(",")) s.take(";");
  }
  out = known ? PartialShape(std::move(dims)) : PartialShape::unknown();
  return {};
}

Status read_shape(Scanner& s, PartialShape& out) {
  if (s.take("<unknown>")) {
    out = PartialShape::unknown();
    return {};
  }
  if (s.take("{")) return read_shape_message(s, out);
  if (!s.take("[")) return s.error("expected a shape like [2,?]");
  std::vector<int64_t> dims;
  while (!s.take("]")) {
    if (s.take("?")) {
      dims.push_back(-1);
    } else {
      const auto v = read_number(s);
      if (!v) return s.error("expected a dimension");
      dims.push_back(*v);
    }
    s.take(",");
  }
  out = PartialShape(std::move(dims));
  return {};
}

// The default value of an attribute of a plain (not list) type.
Status read_plain(Scanner& s, std::string_view type, AttrValue& out) {
  if (type == "int") {
    auto n = s.number();
    int64_t v;
    if (std::from_chars(n.data(), n.data() + n.size(), v).ec != std::errc()) return s.error("expected an integer");
    out = AttrValue(v);
  } else if (type == "float") {
    out = AttrValue(std::strtof(std::string(s.number()).c_str(), nullptr));
  } else if (type == "bool") {
    auto w = s.word();
    if (w != "true" && w != "false") return s.error("expected true or false");
    out = AttrValue(w == "true");
  } else if (type == "string") {
    std::string text;
    if (!s.quoted(text)) return s.error("expected a quoted string");
    out = AttrValue(std::move(text));
  } else if (type == "type") {
    auto t = dtype_from_name(s.word());
    if (!t) return s.error("unknown type");
    out = AttrValue(*t);
  } else if (type == "shape") {
    PartialShape shape;
    WEFT_RETURN_IF_ERROR(read_shape(s, shape));
    out = AttrValue(std::move(shape));
  } else if (type == "func") {
    out = AttrValue(FunctionAttr{std::string(s.word()), nullptr});
  } else if (type == "tensor") {  // uint8[255, 0, 0, 255]; only bytes are needed so far
    std::vector<uint8_t> bytes;
    if (!s.take("uint8[")) return s.error("expected uint8[...]");
    while (!s.take("]")) {
      AttrValue item;
      WEFT_RETURN_IF_ERROR(read_plain(s, "int", item));
      bytes.push_back(uint8_t(*item.get<int64_t>()));
      s.take(",");
    }
    out = AttrValue(Tensor::vector(bytes));
  } else {
    return s.error("no default can be written for this type");
  }
  return {};
}

template <class T>
Status read_items(Scanner& s, std::string_view type, AttrValue& out) {
  std::vector<T> list;
  while (!s.take("]")) {
    AttrValue item;
    WEFT_RETURN_IF_ERROR(read_plain(s, type, item));
    list.push_back(*item.get<T>());
    s.take(",");
  }
  out = AttrValue(std::move(list));
  return {};
}

Status read_default(Scanner& s, std::string_view type, AttrValue& out) {
  if (!type.starts_with("list(")) return read_plain(s, type, out);
  if (!s.take("[")) return s.error("expected a list");
  const auto item = type.substr(5, type.size() - 6);
  if (item == "int") return read_items<int64_t>(s, item, out);
  if (item == "float") return read_items<float>(s, item, out);
  if (item == "bool") return read_items<bool>(s, item, out);
  if (item == "string") return read_items<std::string>(s, item, out);
  if (item == "type") return read_items<DType>(s, item, out);
  if (item == "shape") return read_items<PartialShape>(s, item, out);
  if (item == "func") return read_items<FunctionAttr>(s, item, out);
  return s.error("no default can be written for this list");
}

constexpr DType kNumberTypes[] = {DType::kFloat,      DType::kDouble,    DType::kInt32,  DType::kUint8,   DType::kInt16,
                                  DType::kInt8,       DType::kComplex64, DType::kInt64,  DType::kQint8,   DType::kQuint8,
                                  DType::kQint32,     DType::kBfloat16,  DType::kQint16, DType::kQuint16, DType::kUint16,
                                  DType::kComplex128, DType::kHalf,      DType::kUint32, DType::kUint64};

constexpr DType kRealNumberTypes[] = {DType::kFloat, DType::kDouble,   DType::kInt32,  DType::kUint8, DType::kInt16,  DType::kInt8,
                                      DType::kInt64, DType::kBfloat16, DType::kUint16, DType::kHalf,  DType::kUint32, DType::kUint64};
constexpr DType kQuantizedTypes[] = {DType::kQint8, DType::kQuint8, DType::kQint32, DType::kQint16, DType::kQuint16};

// The types that a word for several stands for; none for other words.
std::span<const DType> types_of(std::string_view word) {
  if (word == "numbertype") return kNumberTypes;
  if (word == "realnumbertype" || word == "realnumberttype") return kRealNumberTypes;  // TensorFlow reads the misspelt one too
  if (word == "quantizedtype") return kQuantizedTypes;
  return {};
}

// The type of an attribute that is one word.
Status read_attr_type(Scanner& s, AttrSpec& attr) {
  static constexpr std::string_view kTypes[] = {"string", "int", "float", "bool", "type", "shape", "tensor", "func", "placeholder"};
  const auto word = s.word();
  if (const auto types = types_of(word); !types.empty()) {
    attr.type = "type";
    attr.allowed_types.assign(types.begin(), types.end());
    return {};
  }
  if (std::find(std::begin(kTypes), std::end(kTypes), word) == std::end(kTypes)) return s.error(cat("unknown type of attribute '", word, "'"));
  attr.type = std::string(word);
  return {};
}

// What is between the braces: types or quoted strings.
Status read_choices(Scanner& s, AttrSpec& attr) {
  if (s.peek('"') || s.peek('\'')) {
    attr.type = "string";
    while (!s.take("}")) {
      std::string text;
      if (!s.quoted(text)) return s.error("expected a quoted choice");
      attr.allowed_strings.push_back(std::move(text));
      s.take(",");
    }
    return {};
  }
  attr.type = "type";
  while (!s.take("}")) {
    const auto w = s.word();
    if (const auto types = types_of(w); !types.empty()) {
      attr.allowed_types.insert(attr.allowed_types.end(), types.begin(), types.end());
    } else {
      auto t = dtype_from_name(w);
      if (!t) return s.error(cat("unknown type ", w));
      attr.allowed_types.push_back(*t);
    }
    s.take(",");
  }
  return {};
}

Result<AttrSpec> parse_attr(std::string_view text) {
  Scanner s(text);
  AttrSpec attr;
  attr.name = std::string(s.word());
  if (attr.name.empty() || !s.take(":")) return s.error("expected 'name: type'");
  if (s.take("list(")) {
    if (s.take("{")) {
      WEFT_RETURN_IF_ERROR(read_choices(s, attr));
    } else {
      WEFT_RETURN_IF_ERROR(read_attr_type(s, attr));
    }
    if (!s.take(")")) return s.error("expected )");
    attr.type = cat("list(", attr.type, ")");
  } else if (s.take("{")) {
    WEFT_RETURN_IF_ERROR(read_choices(s, attr));
  } else {
    WEFT_RETURN_IF_ERROR(read_attr_type(s, attr));
  }
  if (s.take(">=")) {
    auto n = s.number();
    int64_t v;
    if (std::from_chars(n.data(), n.data() + n.size(), v).ec != std::errc()) return s.error("expected a minimum");
    attr.minimum = v;
  }
  if (s.take("=")) {
    AttrValue value;
    WEFT_RETURN_IF_ERROR(read_default(s, attr.type, value));
    attr.default_value = std::move(value);
  }
  if (!s.done()) return s.error("text after the end");
  return attr;
}

Result<ArgSpec> parse_arg(std::string_view text, const Signature& signature) {
  Scanner s(text);
  ArgSpec arg;
  arg.name = std::string(s.word());
  if (arg.name.empty() || !s.take(":")) return s.error("expected 'name: type'");
  if (s.take("Ref(")) arg.is_ref = true;
  std::string_view word = s.word();
  if (s.take("*")) {
    arg.number_attr = signature.attr_index(word);
    if (arg.number_attr < 0) return s.error("no such attribute for the count");
    word = s.word();
  }
  if (arg.is_ref && !s.take(")")) return s.error("expected )");
  const int attr = signature.attr_index(word);
  if (attr >= 0) {
    if (signature.attrs[size_t(attr)].type == "list(type)") arg.type_list_attr = attr;
    else arg.type_attr = attr;
  } else {
    auto t = dtype_from_name(word);
    if (!t) return s.error(cat("unknown type ", word));
    arg.type = *t;
  }
  if (!s.done()) return s.error("text after the end");
  return arg;
}

}  // namespace

Result<Signature> parse_signature(std::span<const std::string_view> inputs, std::span<const std::string_view> outputs,
                                  std::span<const std::string_view> attrs) {
  Signature signature;
  for (auto text : attrs) {
    WEFT_ASSIGN(AttrSpec attr, parse_attr(text));
    signature.attrs.push_back(std::move(attr));
  }
  for (auto text : inputs) {
    WEFT_ASSIGN(ArgSpec arg, parse_arg(text, signature));
    signature.inputs.push_back(std::move(arg));
  }
  for (auto text : outputs) {
    WEFT_ASSIGN(ArgSpec arg, parse_arg(text, signature));
    signature.outputs.push_back(std::move(arg));
  }
  return signature;
}

}  // namespace weft_engine::op
