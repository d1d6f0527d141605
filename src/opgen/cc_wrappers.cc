// Classes as TensorFlow's own generator writes them: required attributes are arguments behind the inputs, the others are in Attrs, outputs are members.
#include "opgen/cc_wrappers.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "op/declarations.h"

using namespace weft_engine::op;  // NOLINT

namespace {

struct Header {
  const char *name, *classes;
};
const Header kHeaders[] = {
#include "opgen/cc_headers.inc"
};

// Arguments that TensorFlow's C++ names otherwise than the op does.
std::string argument_name(std::string_view op, std::string_view name) {
  static const std::set<std::string_view> kReductions = {"All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"};
  static const std::map<std::pair<std::string_view, std::string_view>, const char*> kNames = {
      {{"ExpandDims", "dim"}, "axis"},
      {{"Split", "split_dim"}, "axis"},
      {{"SplitV", "split_dim"}, "axis"},
      {{"Squeeze", "squeeze_dims"}, "axis"},
      {{"Where", "input"}, "condition"},
      {{"Select", "t"}, "x"},
      {{"Select", "e"}, "y"},
  };
  static const std::set<std::string_view> kKeywords = {
      "and",    "or",   "not",    "xor",    "default", "delete",   "new",    "template", "this",  "operator", "private", "public",    "union",
      "switch", "case", "bool",   "int",    "float",   "double",   "long",   "short",    "char",  "const",    "static",  "true",      "false",
      "if",     "else", "for",    "while",  "do",      "return",   "goto",   "try",      "catch", "throw",    "using",   "namespace", "class",
      "struct", "enum", "export", "friend", "inline",  "register", "signed", "unsigned", "void",  "volatile", "auto"};
  if (name == "reduction_indices" && kReductions.count(op)) return "axis";
  if (const auto it = kNames.find({op, name}); it != kNames.end()) return it->second;
  return std::string(name) + (kKeywords.count(name) ? "_" : "");
}
std::string camel(std::string_view name) {
  std::string out;
  bool upper = true;
  for (char c : name) {
    if (c != '_') out += upper ? char(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return out;
}

// The type of an attribute; as a member of Attrs without const and reference.
std::string cpp_type(std::string_view t, bool member) {
  static const std::map<std::string_view, std::string> kTypes = {{"int", "::tensorflow::int64"},
                                                                 {"float", "float"},
                                                                 {"bool", "bool"},
                                                                 {"string", "::tensorflow::StringPiece"},
                                                                 {"type", "::tensorflow::DataType"},
                                                                 {"shape", "::tensorflow::PartialTensorShape"},
                                                                 {"tensor", "::tensorflow::TensorProto"},
                                                                 {"func", "::tensorflow::NameAttrList"}};
  std::string out;
  if (t.substr(0, 5) == "list(") {
    const std::string_view of = t.substr(5, t.size() - 6);
    out = "::tensorflow::gtl::ArraySlice<" + (of == "int" ? "int" : of == "string" ? "::tensorflow::tstring" : kTypes.at(of)) + ">";
  } else {
    out = kTypes.at(t);
    if (t != "tensor" && t != "func") return out;
  }
  return member ? out : "const " + out + "&";
}

std::string in_quotes(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else out += c;
  }
  return out + "\"";
}

// What the member of Attrs is at first, and whether the attribute is set only if the member was changed: for values that have no plain form the op's own default
// stays.
struct Default {
  std::string text;
  bool only_if_changed = false;
};
Default default_of(const AttrSpec& a) {
  const auto& storage = a.default_value->storage();
  if (const auto* v = std::get_if<int64_t>(&storage)) return {*v == INT64_MIN ? "INT64_MIN" : cat(*v)};
  if (const auto* v = std::get_if<bool>(&storage)) return {*v ? "true" : "false"};
  if (const auto* v = std::get_if<std::string>(&storage)) return {in_quotes(*v)};
  if (const auto* v = std::get_if<DType>(&storage)) return {cat("static_cast<::tensorflow::DataType>(", int(*v), ")")};
  if (const auto* v = std::get_if<float>(&storage)) {
    if (std::isinf(*v)) return {*v > 0 ? "__builtin_huge_valf()" : "-__builtin_huge_valf()"};
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", double(*v));
    std::string s = text;
    if (s.find_first_of(".en") == std::string::npos) s += ".0";
    return {s + "f"};
  }
  if (const auto* v = std::get_if<PartialShape>(&storage)) return {v->has_rank() ? cat("{", join(v->dims()), "}") : "{}"};
  if (const auto* v = std::get_if<std::vector<int64_t>>(&storage); v && !v->empty())
    return {cat("::tensorflow::internal::DefaultList<int, ", join(*v), ">::kValues")};
  const bool empty = std::visit(
      [](const auto& v) {
        if constexpr (requires { v.empty(); }) return v.empty();
        else return false;
      },
      storage);
  return {"{}", !empty};
}

bool inferred(const Signature& sig, int attr) {
  for (const auto& in : sig.inputs) {
    if (in.type_attr == attr || in.number_attr == attr || in.type_list_attr == attr) return true;
  }
  return false;
}
bool is_list(const auto& arg) { return arg.number_attr >= 0 || arg.type_list_attr >= 0; }

std::string wrap(const std::string& name, const OpSpec& spec) {
  const Signature& sig = spec.signature();
  std::string parameters, build, setters, members, statics;
  for (const auto& in : sig.inputs) {
    const std::string arg = argument_name(spec.name, in.name);
    parameters += cat(", ", is_list(in) ? "const ::tensorflow::InputList& " : "const ::tensorflow::Input& ", arg);
    build += cat(build.empty() ? "    op" : "", ".In(", arg, ")");
  }
  if (!build.empty()) build += ";\n";
  for (size_t i = 0; i < sig.attrs.size(); ++i) {
    const AttrSpec& a = sig.attrs[i];
    if (inferred(sig, int(i))) continue;
    const std::string arg = argument_name(spec.name, a.name), attr = cat("    op.Attr(", in_quotes(a.name), ", ");
    if (!a.default_value.has_value()) {
      parameters += cat(", ", cpp_type(a.type, false), " ", arg);
      build += cat(attr, arg, ");\n");
      continue;
    }
    const auto [text, only_if_changed] = default_of(a);
    const std::string setter = camel(arg), member = arg + "_";
    setters += cat("    Attrs ", setter, "(", cpp_type(a.type, false), " x) const {\n      Attrs r = *this;\n      r.", member,
                   " = x;\n      return r;\n    }\n");
    members += cat("    ", cpp_type(a.type, true), " ", member, text == "{}" ? "" : cat(" = ", text), ";\n");
    if (setter != name) statics += cat("  static Attrs ", setter, "(", cpp_type(a.type, false), " x) { return Attrs().", setter, "(x); }\n");
    const bool list = a.type.substr(0, 5) == "list(";
    std::string condition;
    if (a.type == "func") condition = cat("if (!attrs.", member, ".name().empty()) ");
    else if (a.type == "tensor") condition = cat("if (attrs.", member, ".dtype() != 0) ");
    else if (only_if_changed && list) condition = cat("if (!attrs.", member, ".empty()) ");
    build += cat("    ", condition, "op.Attr(", in_quotes(a.name), ", attrs.", member, ");\n");
  }
  std::string out = cat("class ", name, " {\n public:\n");
  if (!members.empty()) {
    // A constructor of its own: the defaults of members are not known before the end of the class around it.
    out += cat("  struct Attrs {\n    Attrs() {}\n", setters, members, "  };\n", statics);
    parameters += ", const Attrs& attrs = Attrs()";
  }
  std::string results, outputs;
  for (const auto& o : sig.outputs) {
    const std::string member = argument_name(spec.name, o.name);
    results += cat("    ", member, " = op.", is_list(o) ? cat("OutList(", in_quotes(o.name), ")") : std::string("Out()"), ";\n");
    outputs += cat("  ::tensorflow::", is_list(o) ? "OutputList " : "Output ", member, ";\n");
  }
  out += cat("  explicit ", name, "(const ::tensorflow::Scope& scope", parameters, ") {\n    ::tensorflow::internal::OpWrapper op(scope, ",
             in_quotes(spec.name), ");\n", build, "    operation = op.Finish();\n", results, "  }\n");
  if (sig.outputs.empty()) out += "  operator ::tensorflow::Operation() const { return operation; }\n";
  if (sig.outputs.size() == 1) {
    const std::string member = argument_name(spec.name, sig.outputs[0].name);
    if (is_list(sig.outputs[0])) out += cat("  ::tensorflow::Output operator[](size_t index) const { return ", member, "[index]; }\n");
    else
      out += cat("  operator ::tensorflow::Output() const { return ", member, "; }\n  operator ::tensorflow::Input() const { return ", member,
                 "; }\n  ::tensorflow::Node* node() const { return ", member, ".node(); }\n");
  }
  return out + cat("\n  ::tensorflow::Operation operation;\n", outputs, "};\n");
}

std::string header(const std::string& name, const std::string& classes) {
  std::string guard = cat("TENSORFLOW_CC_OPS_", name, "_H_");
  for (char& c : guard) c = char(std::toupper(static_cast<unsigned char>(c)));
  const std::string space = name.ends_with("_internal") ? "tensorflow::ops::internal" : "tensorflow::ops";
  // Attributes that are messages need their classes.
  const bool messages =
      classes.find("::tensorflow::TensorProto") != std::string::npos || classes.find("::tensorflow::NameAttrList") != std::string::npos;
  return cat("// Written by opgen from the op registry.\n#ifndef ", guard, "\n#define ", guard,
             "\n\n#include \"tensorflow/cc/framework/op_wrapper.h\"\n", messages ? "#include \"tensorflow/core/framework/attr_value.pb.h\"\n" : "",
             "\nnamespace ", space, " {\n\n", classes, "}  // namespace ", space, "\n\n#endif  // ", guard, "\n");
}

}  // namespace

bool write_file(const std::string& path, const std::string& text) {
  std::ifstream in(path);
  if (in && std::string(std::istreambuf_iterator<char>(in), {}) == text) return true;
  std::ofstream out(path);
  out << text;
  return bool(out.flush());
}

bool write_cc_wrappers(const Registry& registry, const std::string& folder) {
  // Ops that have a class, and names of classes: of two ops with one name there (TopK, TopKV2) TensorFlow has the later one alone.
  std::set<std::string> placed = {"Const"};
  for (const Header& h : kHeaders) {
    std::istringstream words(h.classes);
    std::string classes;
    for (std::string word; words >> word;) {
      std::string aliases;
      for (size_t plus; (plus = word.rfind('+')) != std::string::npos; word.resize(plus)) aliases += cat(" ", word.substr(plus + 1));
      const size_t equal = word.find('=');
      const std::string name = word.substr(0, equal), op = equal == std::string::npos ? word : word.substr(equal + 1);
      placed.insert(op);
      if (!std::string_view(h.name).ends_with("_internal")) placed.insert(name);
      const OpSpec* spec = registry.find(op);
      if (!spec) continue;
      classes += wrap(name, *spec);
      std::istringstream others(aliases);
      for (std::string other; others >> other;) {
        classes += cat("using ", other, " = ", name, ";\n");
        placed.insert(other);
      }
      classes += "\n";
    }
    if (!write_file(cat(folder, "/", h.name, ".h"), header(h.name, classes))) return false;
  }
  std::string further;
  for (const OpSpec* spec : registry.all()) {
    const bool identifier =
        std::all_of(spec->name.begin(), spec->name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
    if (identifier && !is_declared_only(*spec) && !spec->name.starts_with("_") && placed.insert(std::string(spec->name)).second)
      further += wrap(std::string(spec->name), *spec) + "\n";
  }
  return write_file(folder + "/further_ops.h", header("further_ops", further));
}
