// The same for C: the functions themselves, with what a caller must hand them as constants and comments.
#include "aot/aot.h"
#include "core/cat.h"

namespace weft_engine::aot {
namespace {

using core::cat;

std::string upper(std::string s) {
  for (char& c : s) {
    if (c >= 'a' && c <= 'z') c = char(c - 'a' + 'A');
  }
  return s;
}

// detail:: is the C++ class's; C has macros.
std::string c_expression(const ir::Dim& d, const ir::Module& m, const std::string& prefix) {
  std::string s = expression(d, m);
  for (size_t at; (at = s.find("detail::")) != std::string::npos;) s.replace(at, 8, prefix);
  return s;
}

}  // namespace

std::string c_header(const Net& net, const std::string& file) {
  const std::string prefix = net.initial_symbol.substr(0, net.initial_symbol.size() - std::string("initial").size());
  std::string out = cat("/* ", net.class_name, " for C. Link with ", file,
                        ".o; needs nothing but libc and libm. Every function takes pointers to its parameters\n   and results in the order below, "
                        "the unknown sizes, and "
                        "working memory of ..._ARENA_BYTES, 64-byte aligned; it gives 0, or the number of\n   an error (..._error). It does not "
                        "allocate and may run on any thread with memory of its own. */\n#ifndef ",
                        upper(prefix), "H\n#define ", upper(prefix),
                        "H\n\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  out += cat("static inline int64_t ", prefix,
             "floor_div(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }\n");
  out += cat("static inline int64_t ", prefix, "floor_mod(int64_t a, int64_t b) { return a - ", prefix, "floor_div(a, b) * b; }\n");
  out += cat("static inline int64_t ", prefix, "least(int64_t a, int64_t b) { return a < b ? a : b; }\nstatic inline int64_t ", prefix,
             "most(int64_t a, int64_t b) { return a < b ? b : a; }\n");
  if (!net.initial.empty())
    out += cat("\n/* The first contents of the variables, ", int64_t(net.initial.size()),
               " bytes; all that follows in the state is zeros. */\nextern const unsigned char ", net.initial_symbol, "[];\n");
  out += cat("#define ", upper(prefix), "STATE_BYTES ", net.state_bytes, "\n#define ", upper(prefix), "INITIAL_BYTES ", int64_t(net.initial.size()),
             "\n");
  for (const NetVariable& v : net.variables)
    out += cat("#define ", upper(prefix + v.identifier), "_OFFSET ", v.offset, " /* ", v.type.to_string(), " */\n");
  for (const NetFunction& f : net.functions) {
    const ir::Module& m = *f.module;
    out += cat("\n/* ", f.identifier, "\n");
    for (size_t i = 0; i < f.parameters.size(); ++i) {
      const int p = f.parameters[i];
      out += cat("   parameters[", int64_t(i),
                 "]: ", p >= 0 ? f.inputs[size_t(p)].identifier : "the state + " + upper(prefix + net.variables[size_t(~p)].identifier) + "_OFFSET",
                 ", ", m.parameters[i].type.to_string(), "\n");
    }
    for (size_t i = 0; i < f.results.size(); ++i)
      out += cat("   results[", int64_t(i),
                 "]: ", f.results[i] >= 0 ? f.outputs[size_t(f.results[i])].identifier : std::string("NULL (written in place)"), ", ",
                 m.main->results[i]->type.to_string(), "\n");
    for (size_t i = 0; i < m.symbols.size(); ++i) out += cat("   symbols[", int64_t(i), "]: ", m.symbols[i].name, " (s", int64_t(i), " above)\n");
    out += "   constants, pool: NULL */\n";
    out += cat(
        "int32_t ", f.symbol,
        "(void* const* parameters, void* const* results, const void* const* constants, const int64_t* symbols, char* arena, const void* pool);\n");
    std::string params;
    for (size_t i = 0; i < m.symbols.size(); ++i) {
      if (!bound_to(m, i)) params += cat(params.empty() ? "" : ", ", "int64_t ", m.symbols[i].name);
    }
    out += cat("static inline size_t ", f.symbol, "_arena_bytes(", params.empty() ? "void" : params, ") {");
    for (size_t i = 0; i < m.symbols.size(); ++i) {
      if (!bound_to(m, i)) out += cat(" (void)", m.symbols[i].name, ";");
    }
    out += cat(" return (size_t)(", c_expression(f.plan.arena_bytes, m, prefix), ") + 64; }\n");
  }
  return out + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

std::string cmake_snippet(const Net& net, const std::string& file) {
  const std::string target = file + "_" + net.class_name;
  return cat("# include() this file, then target_link_libraries(your_program PRIVATE ", target, ").\nadd_library(", target,
             " INTERFACE)\ntarget_include_directories(", target, " INTERFACE ${CMAKE_CURRENT_LIST_DIR})\ntarget_sources(", target,
             " INTERFACE ${CMAKE_CURRENT_LIST_DIR}/", file, ".o)\ntarget_link_libraries(", target, " INTERFACE m)\n");
}

}  // namespace weft_engine::aot
