// Writes the C++ wrappers of every op: raw.h with declarations, raw_<i>.cc with the code.
//   opgen OUTPUT_DIR PARTS
#include <cctype>
#include <cstdio>
#include <fstream>
#include <set>

#include "op/registry.h"
#include "ops/all.h"

using namespace weft::op;  // NOLINT

namespace {

// Words that cannot name a parameter, and names of the wrappers' own types.
const std::set<std::string> kReserved = {"and", "or", "not", "xor", "default", "delete", "new", "template", "this", "operator", "private", "public",
                                         "union", "switch", "case", "bool", "int", "float", "double", "long", "short", "char", "const", "static",
                                         "true", "false", "if", "else", "for", "while", "do", "return", "goto", "try", "catch", "throw", "using",
                                         "namespace", "class", "struct", "enum", "export", "friend", "inline", "register", "signed", "unsigned",
                                         "void", "volatile", "auto", "o", "c", "r", "out"};
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

std::string quoted(std::string_view s) {
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
std::string literal(const std::string& v) { return quoted(v); }
std::string literal(DType v) { return cat("static_cast<DType>(", int(v), ")"); }
std::string literal(const PartialShape& v) { return v.has_rank() ? cat("PartialShape(std::vector<int64_t>{", join(v.dims()), "})") : "PartialShape()"; }
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
        if constexpr (std::is_same_v<T, FunctionAttr>) return quoted(v.name);
        else if constexpr (requires { literal(v); }) return literal(v);
        else return {};
      },
      a.default_value->storage());
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
  std::string parameters, calls, options, structs;
  for (const auto& in : sig.inputs) {
    const bool list = in.number_attr >= 0 || in.type_list_attr >= 0;
    parameters += cat(parameters.empty() ? "" : ", ", list ? "const std::vector<Tensor>& " : "const Tensor& ", safe(in.name));
    calls += cat("  c.in(", safe(in.name), ");\n");
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
    const char* setter = a.type == "func" ? "function" : a.type == "list(func)" ? "functions" : "attr";
    if (optional) {
      const std::string text = default_text(a);
      if (text.empty()) continue;  // keeps its default
      options += cat("  ", cpp_type(a.type), " ", name, " = ", text, ";\n");
    } else {
      parameters += cat(parameters.empty() ? "" : ", ", by_value(a.type) ? cpp_type(a.type) + " " : "const " + cpp_type(a.type) + "& ", name);
    }
    calls += cat("  c.", setter, "(", quoted(a.name), ", ", value, ");\n");
  }
  if (!options.empty()) structs += cat("struct ", spec.name, "Options {\n", options, "};\n");
  const std::string result = result_type(spec, sig);
  std::string fetch;
  if (result == "void") {
    fetch = "  c.run();\n";
  } else if (result == "Tensor") {
    fetch = "  return c.one();\n";
  } else if (result == "std::vector<Tensor>") {
    fetch = "  return c.run();\n";
  } else {
    // Lists among several outputs: only one may be of unknown length; it takes what the others leave.
    structs += cat("struct ", result, " {\n");
    fetch = "  auto out = c.run();\n  size_t at = 0;\n  (void)at;\n  ";
    fetch += cat(result, " r;\n");
    size_t singles = 0, lists = 0;
    for (const auto& o : sig.outputs) (o.number_attr >= 0 || o.type_list_attr >= 0 ? lists : singles) += 1;
    for (const auto& o : sig.outputs) {
      const bool list = o.number_attr >= 0 || o.type_list_attr >= 0;
      structs += cat("  ", list ? "std::vector<Tensor> " : "Tensor ", safe(o.name), ";\n");
      if (list) fetch += cat("  for (size_t n = (out.size() - ", singles, ") / ", lists, "; n > 0; --n) r.", safe(o.name), ".push_back(out.at(at++));\n");
      else fetch += cat("  r.", safe(o.name), " = out.at(at++);\n");
    }
    structs += "};\n";
    fetch += "  return r;\n";
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
  w.definition = cat(result, " ", defined, ") {\n  Call c(", quoted(spec.name), ");\n", calls, fetch, "}\n\n");
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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string dir = argv[1];
  const size_t parts = size_t(std::atoi(argv[2]));
  Registry registry;
  weft::ops::all(registry);
  std::vector<Wrapper> wrappers;
  for (const auto* spec : registry.all()) {
    if (auto s = spec->check(); !s.ok()) {
      std::fprintf(stderr, "%s\n", s.to_string().c_str());
      return 1;
    }
    if (eager_op(*spec)) wrappers.push_back(wrap(*spec));
  }
  std::ofstream header(dir + "/raw.h");
  header << "// Written by opgen from the op registry: one function for every op, as tf.raw_ops in Python.\n#pragma once\n\n#include <cmath>\n"
            "#include <string>\n#include <vector>\n\n#include \"weft/call.h\"\n\nnamespace weft::raw {\n\n";
  for (const auto& w : wrappers) header << w.declaration;
  header << "}  // namespace weft::raw\n";
  for (size_t p = 0; p < parts; ++p) {
    std::ofstream part(cat(dir, "/raw_", p, ".cc"));
    part << "// Written by opgen.\n#include \"weft/raw.h\"\n\nnamespace weft::raw {\n\n";
    for (size_t i = p * wrappers.size() / parts; i < (p + 1) * wrappers.size() / parts; ++i) part << wrappers[i].definition;
    part << "}  // namespace weft::raw\n";
  }
  return header ? 0 : 1;
}
