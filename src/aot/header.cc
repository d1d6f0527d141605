// The class that stands for a compiled model, as text: self-contained C++17 over one C function per signature.
#include <algorithm>

#include "aot/aot.h"
#include "core/cat.h"

namespace weft_engine::aot {
namespace {

using core::cat;

const char* c_type(DType t) {
  switch (t) {
    case DType::kFloat: return "float";
    case DType::kDouble: return "double";
    case DType::kInt8: return "int8_t";
    case DType::kInt16: return "int16_t";
    case DType::kInt32: return "int32_t";
    case DType::kInt64: return "int64_t";
    case DType::kUint8: return "uint8_t";
    case DType::kUint16: return "uint16_t";
    case DType::kUint32: return "uint32_t";
    case DType::kUint64: return "uint64_t";
    case DType::kBool: return "bool";
    case DType::kHalf:
    case DType::kBfloat16: return "uint16_t";  // the bits
    default: return "unsigned char";
  }
}

std::string c_text(std::string_view s) {
  std::string out = "\"";
  static const char* const kHex = "0123456789abcdef";
  bool hex = false;
  for (unsigned char c : s) {
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (hex && digit) out += "\"\"";  // else the digit would join the escape
    hex = false;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += char(c);
    } else if (c < 0x20 || c >= 0x7f) {
      out += "\\x";
      out += kHex[c >> 4];
      out += kHex[c & 15];
      hex = true;
    } else {
      out += char(c);
    }
  }
  return out + "\"";
}

std::string comment_safe(std::string_view s) {
  std::string out;
  for (unsigned char c : s) out += c < 0x20 || c == '\\' ? ' ' : char(c);
  return out;
}

std::string shape_text(const ir::Type& t, const ir::Module& m) {
  std::string s = core::dtype_name(t.dtype) + "[";
  for (size_t i = 0; i < t.dims.size(); ++i) s += (i ? ", " : "") + expression(t.dims[i], m);
  return s + "]";
}

std::string class_of(const NetFunction& f) {
  std::string name;
  bool up = true;
  for (char c : f.identifier) {
    if (c == '_') {
      up = true;
      continue;
    }
    name += up && c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
    up = false;
  }
  return name + "Function";
}

std::string sizes_list(const ir::Module& m, bool types) {
  std::string s;
  for (size_t i = 0; i < m.symbols.size(); ++i) {
    if (!bound_to(m, i)) s += cat(s.empty() ? "" : ", ", types ? "int64_t " : "", m.symbols[i].name);
  }
  return s;
}

// The open sizes as local names.
std::string locals(const ir::Module& m) {
  std::string s;
  for (size_t i = 0; i < m.symbols.size(); ++i)
    s += cat("const int64_t ", m.symbols[i].name, " = symbols_[", int64_t(i), "]; (void)", m.symbols[i].name, "; ");
  return s;
}

std::string bytes_of(const ir::Type& t, const ir::Module& m) {
  return cat("(", expression(t.elements(), m), ") * ", int64_t(core::dtype_size(t.dtype)));
}

// Accessors of one tensor of a function.
void port_methods(std::string& out, const Port& p, const ir::Module& m, bool input) {
  const char* type = c_type(p.type.dtype);
  out += cat("    // ", comment_safe(p.name), ": ", shape_text(p.type, m),
             p.type.dtype == DType::kHalf       ? " (bits of IEEE half)"
             : p.type.dtype == DType::kBfloat16 ? " (bits)"
                                                : "",
             "\n");
  if (input) {
    out += cat("    ", type, "* ", p.identifier, "() noexcept { return static_cast<", type, "*>(", p.identifier, "_); }\n");
    out += cat("    // Reads from the caller's memory instead, which must stay until run() is over.\n    void set_", p.identifier, "(const ", type,
               "* from) noexcept { ", p.identifier, "_ = const_cast<", type, "*>(from); }\n");
  } else {
    out += cat("    const ", type, "* ", p.identifier, "() const noexcept { return static_cast<const ", type, "*>(", p.identifier, "_); }\n");
  }
  out += cat("    int64_t ", p.identifier, "_size() const noexcept { ", locals(m), "return ", expression(p.type.elements(), m), "; }\n");
  out += cat("    static constexpr int ", p.identifier, "_rank = ", p.type.rank(), ";\n");
  out += cat("    int64_t ", p.identifier, "_dim(int i) const noexcept {\n");
  if (!m.symbols.empty()) out += cat("      ", locals(m), "\n");
  if (p.type.rank() == 0) {
    out += "      (void)i;\n      return 0;\n    }\n";
  } else {
    out += "      switch (i) {\n";
    for (int d = 0; d < p.type.rank(); ++d) out += cat("        case ", d, ": return ", expression(p.type.dims[size_t(d)], m), ";\n");
    out += "        default: return 0;\n      }\n    }\n";
  }
}

void function_class(std::string& out, const Net& net, const NetFunction& f) {
  const ir::Module& m = *f.module;
  const std::string name = class_of(f);
  const bool open = !sizes_list(m, false).empty();
  const std::string params = sizes_list(m, true), args = sizes_list(m, false);
  out += cat("  // ", comment_safe(f.name), open ? cat(": call resize(", args, ") before run().") : std::string("."), "\n");
  out += cat("  class ", name, " {\n   public:\n");
  out += cat("    // Memory that one instance needs for inputs, outputs and working space.\n    static size_t bytes(", params,
             ") noexcept {\n      size_t n = 0;\n");
  for (const auto* ports : {&f.inputs, &f.outputs}) {
    for (const Port& p : *ports) out += cat("      n += detail::rounded(", bytes_of(p.type, m), ");\n");
  }
  out += "      return n + arena_bytes(" + args + ");\n    }\n";
  out += cat("    static size_t arena_bytes(", params, ") noexcept {");
  for (size_t i = 0; i < m.symbols.size(); ++i) {
    if (!bound_to(m, i)) out += cat(" (void)", m.symbols[i].name, ";");
  }
  out += cat(" return detail::rounded(", expression(f.plan.arena_bytes, m), "); }\n");
  if (open) {
    out += cat("    // Sets the sizes that the model leaves unknown. `memory`: bytes(", args,
               ") of them, 64-byte aligned, to be kept by the caller; null: taken from the heap, once for the largest size.\n");
    out += cat("    // False, and the old sizes stay, if there is no memory or a size is negative. What inputs held is lost.\n    bool resize(",
               params, ", void* memory = nullptr) noexcept {\n");
    for (size_t i = 0; i < m.symbols.size(); ++i) {
      if (!bound_to(m, i)) out += cat("      if (", m.symbols[i].name, " < 0) return false;\n");
    }
    out += cat("      if (!block_.reserve(bytes(", args, "), memory)) return false;\n");
    for (size_t i = 0; i < m.symbols.size(); ++i)
      out += cat("      symbols_[", int64_t(i), "] = ", bound_to(m, i) ? expression(*bound_to(m, i), m) : m.symbols[i].name, ";\n");
    out += "      lay_out();\n      return true;\n    }\n";
  }
  for (const Port& p : f.inputs) port_methods(out, p, m, true);
  for (const Port& p : f.outputs) port_methods(out, p, m, false);
  out += "    // False if the call failed: error() says why. Does not allocate and does not throw.\n    bool run() noexcept {\n";
  out += cat("      if (!block_.data()) {\n        error_ = ", c_text(open ? "call resize() with the unknown sizes first" : "there was no memory"),
             ";\n        return false;\n      }\n");
  out += cat("      void* parameters[] = {");
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const int p = f.parameters[i];
    out += cat(i ? ", " : "", p >= 0 ? f.inputs[size_t(p)].identifier + "_" : cat("state_ + ", net.variables[size_t(~p)].offset));
  }
  out += cat(f.parameters.empty() ? "nullptr" : "", "};\n      void* results[] = {");
  for (size_t i = 0; i < f.results.size(); ++i)
    out += cat(i ? ", " : "", f.results[i] >= 0 ? f.outputs[size_t(f.results[i])].identifier + "_" : std::string("nullptr"));
  out += cat(f.results.empty() ? "nullptr" : "", "};\n");
  out += cat("      const int32_t code = ", f.symbol,
             "(parameters, results, nullptr, symbols_, static_cast<char*>(arena_), pool_ && pool_->parallel_for ? pool_ : nullptr);\n");
  out += "      error_ = detail::message(code, kMessages, sizeof(kMessages) / sizeof(kMessages[0]));\n      return code == 0;\n    }\n";
  out += "    const char* error() const noexcept { return error_; }\n\n   private:\n";
  out += cat("    friend class ", net.class_name, ";\n");
  out += "    static constexpr const char* kMessages[] = {\"\"";
  for (const std::string& text : m.messages) out += ", " + c_text(text);
  out += "};\n";
  out += "    void lay_out() noexcept {\n      char* p = block_.data();\n";
  if (!m.symbols.empty()) out += cat("      ", locals(m), "\n");
  for (const auto* ports : {&f.inputs, &f.outputs}) {
    for (const Port& p : *ports) out += cat("      ", p.identifier, "_ = p;\n      p += detail::rounded(", bytes_of(p.type, m), ");\n");
  }
  out += "      arena_ = p;\n    }\n";
  for (const auto* ports : {&f.inputs, &f.outputs}) {
    for (const Port& p : *ports) out += cat("    void* ", p.identifier, "_ = nullptr;\n");
  }
  out +=
      cat("    void* arena_ = nullptr;\n    char* state_ = nullptr;\n    const Pool* pool_ = nullptr;\n    const char* error_ = \"\";\n    int64_t "
          "symbols_[",
          int64_t(std::max<size_t>(m.symbols.size(), 1)), "] = {};\n");
  out += "    detail::Block block_;\n  };\n\n";
}

// Goes into the class itself, so that several models can be included together.
constexpr const char* kDetail =
    R"(static int64_t floor_div(int64_t a, int64_t b) noexcept { return b == 0 ? 0 : a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
static int64_t floor_mod(int64_t a, int64_t b) noexcept { return a - floor_div(a, b) * b; }
static int64_t least(int64_t a, int64_t b) noexcept { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) noexcept { return a < b ? b : a; }
static size_t rounded(int64_t n) noexcept { return (static_cast<size_t>(n < 0 ? 0 : n) + 63) / 64 * 64; }
static const char* message(int32_t code, const char* const* texts, size_t n) noexcept {
  return code >= 0 && static_cast<size_t>(code) < n ? texts[code] : "unknown error";
}

// 64-byte aligned memory that only grows; or the caller's.
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { std::free(own_); }
  bool reserve(size_t bytes, void* given = nullptr) noexcept {
    if (given) {
      data_ = static_cast<char*>(given);
      return true;
    }
    if (!own_ || bytes > size_) {
      void* more = std::aligned_alloc(64, bytes + 64 - bytes % 64);
      if (!more) return false;
      std::free(own_);
      own_ = more;
      size_ = bytes;
    }
    data_ = static_cast<char*>(own_);
    return true;
  }
  char* data() const noexcept { return data_; }

 private:
  void* own_ = nullptr;
  char* data_ = nullptr;
  size_t size_ = 0;
};
)";

}  // namespace

const ir::Dim* bound_to(const ir::Module& m, size_t symbol) {
  for (const ir::Guard& g : m.guards) {
    if (g.a.as_symbol() == int(symbol)) return &g.b;
  }
  return nullptr;
}

std::string expression(const ir::Dim& d, const ir::Module& m) {
  std::string out;
  for (const ir::Dim::Term& t : d.terms()) {
    if (!out.empty()) out += " + ";
    std::string term = t.coefficient == 1 ? "" : std::to_string(t.coefficient);
    for (const ir::Dim::Atom& a : t.atoms) {
      if (!term.empty()) term += " * ";
      if (a.kind == ir::Dim::Kind::kSymbol) {
        term += size_t(a.symbol) < m.symbols.size() ? m.symbols[size_t(a.symbol)].name : "0";
        continue;
      }
      static const char* const kNames[] = {"", "detail::floor_div", "detail::floor_mod", "detail::least", "detail::most"};
      term += cat(kNames[int(a.kind)], "(", expression(*a.a, m), ", ", expression(*a.b, m), ")");
    }
    out += term;
  }
  if (out.empty() || d.constant() != 0) out += cat(out.empty() ? "" : " + ", d.constant());
  return out;
}

std::string cpp_header(const Net& net, const std::string& file) {
  std::string out =
      cat("// ", net.class_name, ": compiled by weft from ", comment_safe(net.source.substr(net.source.find_last_of('/') + 1)), ". Link with ", file,
          ".o; needs nothing but libc and libm.\n// An instance is used by one thread at a time; any number of instances run side by side.\n#pragma "
          "once\n\n#include <cstddef>\n#include "
          "<cstdint>\n#include <cstdlib>\n#include <cstring>\n\n");
  out += "extern \"C\" {\n";
  for (const NetFunction& f : net.functions)
    out += cat(
        "int32_t ", f.symbol,
        "(void* const* parameters, void* const* results, const void* const* constants, const int64_t* symbols, char* arena, const void* pool);\n");
  if (!net.initial.empty()) out += cat("extern const unsigned char ", net.initial_symbol, "[];\n");
  out += "}\n\n";
  std::string space;
  for (const std::string& n : net.namespaces) space += (space.empty() ? "" : "::") + n;
  if (!space.empty()) out += cat("namespace ", space, " {\n\n");
  out += cat("class ", net.class_name, " {\n");
  out +=
      " public:\n  // Threads for the code to use: f(data, begin, end) over [0, n), perhaps in parts at once.\n  struct Pool {\n    void "
      "(*parallel_for)(void* pool, int64_t n, void (*f)(void* data, "
      "int64_t begin, int64_t end), void* data) = nullptr;\n    void* pool = nullptr;\n  };\n\n private:\n  struct detail {\n";
  std::string detail = kDetail;
  for (size_t begin = 0; begin < detail.size();) {
    const size_t end = std::min(detail.find('\n', begin), detail.size());
    const std::string line = detail.substr(begin, end - begin);
    out += line.empty() ? "\n" : "    " + line + "\n";
    begin = end + 1;
  }
  out += "  };\n\n public:\n";
  for (const NetFunction& f : net.functions) function_class(out, net, f);
  out += cat("  ", net.class_name, "() noexcept {\n");
  if (!net.variables.empty()) out += cat("    if (state_.reserve(", net.state_bytes, ")) reset();\n");
  for (const NetFunction& f : net.functions) {
    if (!net.variables.empty()) out += cat("    ", f.identifier, ".state_ = state_.data();\n");
    out += cat("    ", f.identifier, ".pool_ = &pool_;\n");
    if (sizes_list(*f.module, false).empty())
      out += cat("    if (", net.variables.empty() ? "" : "state_.data() && ", f.identifier, ".block_.reserve(", class_of(f), "::bytes())) ",
                 f.identifier, ".lay_out();\n");
  }
  out += cat("  }\n  ", net.class_name, "(const ", net.class_name, "&) = delete;\n  ", net.class_name, "& operator=(const ", net.class_name,
             "&) = delete;\n");
  out += "  void set_pool(const Pool& pool) noexcept { pool_ = pool; }\n\n";
  for (const NetFunction& f : net.functions) out += cat("  ", class_of(f), " ", f.identifier, ";\n");
  if (!net.variables.empty()) {
    out += "\n  // Variables: state of this instance, at first as they were in the model.\n  void reset() noexcept {\n";
    if (!net.initial.empty()) out += cat("    std::memcpy(state_.data(), ", net.initial_symbol, ", ", int64_t(net.initial.size()), ");\n");
    if (net.state_bytes > int64_t(net.initial.size()))
      out += cat("    std::memset(state_.data() + ", int64_t(net.initial.size()), ", 0, ", net.state_bytes - int64_t(net.initial.size()), ");\n");
    out += "  }\n";
    const ir::Module none;
    for (const NetVariable& v : net.variables) {
      out += cat("  ", c_type(v.type.dtype), "* ", v.identifier, "() noexcept { return reinterpret_cast<", c_type(v.type.dtype),
                 "*>(state_.data() + ", v.offset, "); }  // ", comment_safe(v.name), ": ", shape_text(v.type, none), "\n");
    }
  }
  // Tables for programs that go by name.
  out +=
      "\n  struct Variable {\n    const char *name, *checkpoint_key;\n    int dtype;  // TensorFlow's number\n    int rank;\n    const int64_t* "
      "dims;\n    size_t offset, bytes;  // in the state\n  };\n";
  out += cat("  static constexpr int kVariables = ", int64_t(net.variables.size()), ";\n");
  out += "  static const Variable& variable(int i) noexcept {\n";
  if (net.variables.empty()) {
    out += "    (void)i;\n    static constexpr Variable kNone{\"\", \"\", 0, 0, nullptr, 0, 0};\n    return kNone;\n  }\n";
  } else {
    std::string dims;
    std::vector<size_t> begin;
    size_t count = 0;
    for (const NetVariable& v : net.variables) {
      begin.push_back(count);
      for (const ir::Dim& d : v.type.dims) {
        dims += cat(count ? ", " : "", d.value());
        ++count;
      }
    }
    out += cat("    static constexpr int64_t kDims[] = {", dims.empty() ? "0" : dims, "};\n    static constexpr Variable kAll[] = {\n");
    for (size_t i = 0; i < net.variables.size(); ++i) {
      const NetVariable& v = net.variables[i];
      out += cat("        {", c_text(v.name), ", ", c_text(v.checkpoint_key), ", ", int(v.type.dtype), ", ", v.type.rank(), ", kDims + ",
                 int64_t(begin[i]), ", ", v.offset, ", ", int64_t(v.initial.byte_size()), "},\n");
    }
    out += "    };\n    return kAll[i];\n  }\n";
    out += "  void* variable_data(int i) noexcept { return state_.data() + variable(i).offset; }\n";
  }
  out +=
      "  // Names as the model has them, beside the identifiers made of them.\n  struct Name {\n    const char *identifier, *name;\n  };\n  static "
      "const Name* names(int& count) noexcept {\n    static constexpr Name kAll[] = {\n";
  for (const NetFunction& f : net.functions) {
    out += cat("        {", c_text(f.identifier), ", ", c_text(f.name), "},\n");
    for (const auto* ports : {&f.inputs, &f.outputs}) {
      for (const Port& p : *ports) out += cat("        {", c_text(f.identifier + "." + p.identifier), ", ", c_text(p.name), "},\n");
    }
  }
  for (const NetVariable& v : net.variables) out += cat("        {", c_text(v.identifier), ", ", c_text(v.name), "},\n");
  out += "    };\n    count = static_cast<int>(sizeof(kAll) / sizeof(kAll[0]));\n    return kAll;\n  }\n";
  out += "\n private:\n";
  if (!net.variables.empty()) out += "  detail::Block state_;\n";
  out += "  Pool pool_;\n};\n";
  if (!space.empty()) out += cat("\n}  // namespace ", space, "\n");
  return out;
}

}  // namespace weft_engine::aot
