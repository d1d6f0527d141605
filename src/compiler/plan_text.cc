// Plans as text, for tests and for those who look.
#include "compiler/plan.h"

namespace weft_engine::compiler {
namespace {

using ir::Instr;

class Printer {
 public:
  explicit Printer(const Plan& p) : plan_(p) {}

  std::string run() {
    out_ = core::cat("arena ", plan_.arena_bytes.to_string(), " bytes\n");
    for (size_t k = 0; k < plan_.buffers.size(); ++k) {
      const Buffer& b = plan_.buffers[k];
      static const char* const kKinds[] = {"arena", "parameter", "result", "constant"};
      out_ += core::cat("  @", k, " ", kKinds[int(b.kind)], " ");
      out_ += b.kind == Buffer::Kind::kArena ? "+" + b.offset.to_string() : std::to_string(b.index);
      out_ += core::cat(", ", b.bytes.to_string(), " bytes\n");
    }
    steps(plan_.steps, 0);
    return std::move(out_);
  }

 private:
  void value(const Instr* i) {
    out_ += core::cat(" %", i->id);
    const int b = plan_.buffer_of(i);
    if (b >= 0) out_ += core::cat("@", b);
  }

  void steps(const std::vector<Step>& all, int depth) {
    for (const Step& s : all) {
      out_.append(size_t(depth) * 2, ' ');
      static const char* const kKinds[] = {"loop", "run", "rows", "while", "if", "copy"};
      out_ += kKinds[int(s.kind)];
      if (s.kind == Step::Kind::kCopy) {
        value(s.copy_from);
        if (s.copy_from_buffer >= 0) out_ += core::cat(" (now @", s.copy_from_buffer, ")");
        out_ += core::cat(" -> @", s.copy_to);
      }
      for (const Instr* i : s.instrs) {
        value(i);
        out_ += core::cat("=", i->op == ir::Op::kUnary ? name_of(i->unary) : i->op == ir::Op::kBinary ? name_of(i->binary) : name_of(i->op));
      }
      if (s.kind == Step::Kind::kLoop) out_ += " over " + s.instrs.back()->type.to_string();
      out_ += "\n";
      for (size_t k = 0; k < s.regions.size(); ++k) {
        if (k) out_ += std::string(size_t(depth) * 2, ' ') + "--\n";
        steps(s.regions[k], depth + 1);
      }
    }
  }

  const Plan& plan_;
  std::string out_;
};

}  // namespace

std::string print(const Plan& p) { return Printer(p).run(); }

}  // namespace weft_engine::compiler
