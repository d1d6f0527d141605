// Writes the C++ wrappers of every op: raw/<area>.h with the declarations of a folder of src/ops, raw/<area>.cc with their code, raw.h, which includes all.
// Into CC_DIR the classes of TensorFlow's C++ clients (cc_wrappers.cc).
//   opgen OUTPUT_DIR CC_DIR
#include <cctype>
#include <cstdio>
#include <set>

#include "op/declarations.h"
#include "op/registry.h"
#include "opgen/cc_wrappers.h"
#include "ops/all.h"
#include "ops/declared.h"

using namespace weft_engine::op;  // NOLINT

namespace {

// Words that cannot name a parameter, and names of the wrappers' own types.
const std::set<std::string> kReserved = {"and",      "or",        "not",    "xor",      "default", "delete", "new",    "template", "this",
                                         "operator", "private",   "public", "union",    "switch",  "case",   "bool",   "int",      "float",
                                         "double",   "long",      "short",  "char",     "const",   "static", "true",   "false",    "if",
                                         "else",     "for",       "while",  "do",       "return",  "goto",   "try",    "catch",    "throw",
                                         "using",    "namespace", "class",  "struct",   "enum",    "export", "friend", "inline",   "register",
                                         "signed",   "unsigned",  "void",   "volatile", "auto",    "o",      "c",      "r",        "out"};
std::string safe(const std::string& name) { return kReserved.count(name) ? name + "_" : name; }

std::string cpp_type(std::string_view t) {
  if (t == "int") return "int64_t";
  if (t == "float") return "float";
  if (t == "bool") return "bool";
  if (t == "string" || t == "func") return "std::string";
  if (t == "type") return "DType";
  if (t == "shape") return "PartialShape";
  if (t == "tensor") return "Tensor";
  return "std::vector<" + cpp_type(t.substr(5, t.size() - 6)) + ">";
}
bool by_value(std::string_view t) { return t == "int" || t == "float" || t == "bool" || t == "type"; }

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

std::string literal(int64_t v) { return cat(v); }
std::string literal(float v) {
  if (std::isinf(v)) return v > 0 ? "INFINITY" : "-INFINITY";
  char buf[40];
  std::snprintf(buf, sizeof buf, "%.9g", double(v));
  std::string s = buf;
  if (s.find_first_of(".en") == std::string::npos) s += ".0";
  return s + "f";
}
std::string literal(bool v) { return v ? "true" : "false"; }
std::string literal(const std::string& v) { return in_quotes(v); }
std::string literal(DType v) { return cat("static_cast<DType>(", int(v), ")"); }
std::string literal(const PartialShape& v) {
  return v.has_rank() ? cat("PartialShape(std::vector<int64_t>{", join(v.dims()), "})") : "PartialShape()";
}
template <class T>
  requires(!std::is_same_v<T, Tensor> && !std::is_same_v<T, FunctionAttr>)
std::string literal(const std::vector<T>& list) {
  std::string out = "{";
  for (size_t i = 0; i < list.size(); ++i) {
    const T item = list[i];
    out += (i ? ", " : "") + literal(item);
  }
  return out + "}";
}

// The default as C++ text; empty for one that has no plain form.
std::string default_text(const AttrSpec& a) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, FunctionAttr>) return in_quotes(v.name);
        else if constexpr (requires { literal(v); }) return literal(v);
        else return {};
      },
      a.default_value->storage());
}

// Whether an option is not at its default, which then need not be set; empty: it is set always.
std::string differs(const AttrSpec& a, const std::string& value) {
  if (a.type == "shape") return std::get<PartialShape>(a.default_value->storage()).has_rank() ? "" : cat(value, ".known_rank");
  if (a.type.substr(0, 5) == "list(") return default_text(a) == "{}" ? cat("!", value, ".empty()") : "";
  if (a.type == "bool") return default_text(a) == "true" ? cat("!", value) : value;
  if (a.type == "int" || a.type == "float" || a.type == "type") return cat(value, " != ", default_text(a));
  if (a.type == "string") return default_text(a) == "\"\"" ? cat("!", value, ".empty()") : cat(value, " != ", default_text(a));
  return {};
}

struct Wrapper {
  std::string declaration, definition;
};

// Attributes that follow from the inputs are not asked for.
bool inferred(const Signature& sig, int attr) {
  for (const auto& in : sig.inputs) {
    if (in.type_attr == attr || in.number_attr == attr || in.type_list_attr == attr) return true;
  }
  return false;
}

std::string result_type(const OpSpec& spec, const Signature& sig) {
  if (sig.outputs.empty()) return "void";
  if (sig.outputs.size() > 1) return cat(spec.name, "Result");
  const auto& o = sig.outputs[0];
  return o.number_attr >= 0 || o.type_list_attr >= 0 ? "std::vector<Tensor>" : "Tensor";
}

Wrapper wrap(const OpSpec& spec) {
  const Signature& sig = spec.signature();
  std::string parameters, arguments, options, structs;
  const auto add_argument = [&](const auto&... parts) { arguments += cat(arguments.empty() ? "" : ", ", parts...); };
  size_t lists = 0;
  for (const auto& in : sig.inputs) lists += in.number_attr >= 0 || in.type_list_attr >= 0;
  std::set<int> counted;
  for (const auto& in : sig.inputs) {
    const bool list = in.number_attr >= 0 || in.type_list_attr >= 0;
    parameters += cat(parameters.empty() ? "" : ", ", list ? "const std::vector<Tensor>& " : "const Tensor& ", safe(in.name));
    add_argument(safe(in.name));
    // Where one list ends and the next begins.
    if (lists > 1 && in.number_attr >= 0 && counted.insert(in.number_attr).second)
      add_argument("{", in_quotes(sig.attrs[size_t(in.number_attr)].name), ", int64_t(", safe(in.name), ".size())}");
  }
  std::set<std::string> taken;
  for (const auto& in : sig.inputs) taken.insert(safe(in.name));
  for (size_t i = 0; i < sig.attrs.size(); ++i) {
    const AttrSpec& a = sig.attrs[i];
    if (inferred(sig, int(i))) continue;
    const bool optional = a.default_value.has_value();
    std::string name = safe(a.name);
    if (!optional && taken.count(name)) name += "_attr";
    const std::string value = optional ? cat("o.", name) : name;
    if (optional) {
      const std::string text = default_text(a);
      if (text.empty()) continue;  // keeps its default
      options += cat("  ", cpp_type(a.type), " ", name, " = ", text, ";\n");
    } else {
      parameters += cat(parameters.empty() ? "" : ", ", by_value(a.type) ? cpp_type(a.type) + " " : "const " + cpp_type(a.type) + "& ", name);
    }
    const std::string condition = optional ? differs(a, value) : "";
    if (a.type == "func" || a.type == "list(func)")
      add_argument("api::RawArgument::", a.type == "func" ? "function(" : "functions(", in_quotes(a.name), ", ", value, ")");
    else add_argument("{", in_quotes(a.name), ", ", value, condition.empty() ? "" : ", ", condition, "}");
  }
  if (!options.empty()) structs += cat("struct ", spec.name, "Options {\n", options, "};\n");
  const std::string result = result_type(spec, sig), call = cat(in_quotes(spec.name), ", {", arguments, "});\n");
  std::string body;
  if (result == "void") {
    body = "  api::call_for_all(" + call;
  } else if (result == "Tensor") {
    body = "  return api::call_for_one(" + call;
  } else if (result == "std::vector<Tensor>") {
    body = "  return api::call_for_all(" + call;
  } else {
    // Lists among several outputs: only one may be of unknown length; it takes what the others leave.
    structs += cat("struct ", result, " {\n");
    size_t singles = 0, lists_out = 0;
    std::string places, taken_in_turn;
    for (const auto& o : sig.outputs) (o.number_attr >= 0 || o.type_list_attr >= 0 ? lists_out : singles) += 1;
    for (const auto& o : sig.outputs) {
      const bool list = o.number_attr >= 0 || o.type_list_attr >= 0;
      structs += cat("  ", list ? "std::vector<Tensor> " : "Tensor ", safe(o.name), ";\n");
      places += cat(places.empty() ? "" : ", ", "&r.", safe(o.name));
      if (list)
        taken_in_turn +=
            cat("  for (size_t n = (out.size() - ", singles, ") / ", lists_out, "; n > 0; --n) r.", safe(o.name), ".push_back(out.at(at++));\n");
      else taken_in_turn += cat("  r.", safe(o.name), " = out.at(at++);\n");
    }
    structs += "};\n";
    body = cat("  ", result, " r;\n");
    if (lists_out) body += cat("  auto out = api::call_for_all(", call, "  size_t at = 0;\n", taken_in_turn);
    else body += cat("  api::call_into({", places, "}, ", call);
    body += "  return r;\n";
  }
  std::string signature = cat(spec.name, "(", parameters);
  std::string declared = signature, defined = signature;
  if (!options.empty()) {
    const char* comma = parameters.empty() ? "" : ", ";
    declared += cat(comma, "const ", spec.name, "Options& o = {}");
    defined += cat(comma, "const ", spec.name, "Options& o");
  }
  Wrapper w;
  w.declaration = cat(structs, "// ", spec.summary, "\nWEFT_API ", result, " ", declared, ");\n\n");
  w.definition = cat(result, " ", defined, ") {\n", body, "}\n\n");
  return w;
}

bool eager_op(const OpSpec& spec) {
  if (spec.name.starts_with("_")) return false;
  const Signature& sig = spec.signature();
  for (const auto* args : {&sig.inputs, &sig.outputs}) {
    size_t lists = 0;
    for (const auto& a : *args) {
      if (a.is_ref) return false;
      lists += a.number_attr >= 0 || a.type_list_attr >= 0;
    }
    // Two output lists of different lengths cannot be told apart from outside.
    if (args == &sig.outputs && lists > 1) {
      std::set<int> counts;
      for (const auto& a : *args) counts.insert(a.number_attr >= 0 ? a.number_attr : 1000 + a.type_list_attr);
      if (counts.size() > 2) return false;
    }
  }
  return true;
}

// The families of one folder of src/ops.
struct Area {
  const char* name;
  void (*add)(Registry& r);
};
const Area kAreas[] = {
#include "ops/areas.inc"
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string dir = argv[1];
  Registry registry;
  std::set<std::string_view> known;
  std::string all = "// Written by opgen from the op registry: one function for every op, as tf.raw_ops in Python.\n#pragma once\n\n";
  for (const Area& area : kAreas) {
    area.add(registry);
    const std::string include = cat("weft/raw/", area.name, ".h");
    std::string header = cat("// Written by opgen from the op registry: the ops of src/ops/", area.name,
                             ", one function each.\n#pragma once\n\n#include <cmath>\n#include <string>\n#include <vector>\n\n#include "
                             "\"weft/call.h\"\n\nnamespace weft::raw {\n\n");
    std::string code = cat("// Written by opgen.\n#include \"", include, "\"\n\n#include \"api/raw_call.h\"\n\nnamespace weft::raw {\n\n");
    for (const OpSpec* spec : registry.all()) {
      if (!known.insert(spec->name).second) continue;
      if (auto s = spec->check(); !s.ok()) {
        std::fprintf(stderr, "%s\n", s.to_string().c_str());
        return 1;
      }
      if (!eager_op(*spec)) continue;
      const Wrapper w = wrap(*spec);
      header += w.declaration;
      code += w.definition;
    }
    const std::string end = "}  // namespace weft::raw\n";
    if (!write_file(cat(dir, "/raw/", area.name, ".h"), header + end) || !write_file(cat(dir, "/raw/", area.name, ".cc"), code + end)) return 1;
    all += cat("#include \"", include, "\"\n");
  }
  weft_engine::op::declare(registry, weft_engine::ops::declared());  // TensorFlow's headers have classes for some of these too
  return write_file(dir + "/raw.h", all) && write_cc_wrappers(registry, argv[2]) ? 0 : 1;
}
