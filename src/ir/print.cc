#include "core/cat.h"
#include "ir/attention.h"

namespace weft_engine::ir {
namespace {

constexpr std::string_view kOps[] = {"parameter",      "constant", "sizes",   "iota",    "unary",      "binary",
                                     "compare",        "select",   "convert", "bitcast", "broadcast",  "reshape",
                                     "transpose",      "slice",    "pad",     "concat",  "reverse",    "dynamic_slice",
                                     "dynamic_update", "gather",   "scatter", "reduce",  "arg_reduce", "window",
                                     "max_pool_grad",  "scan",     "sort",    "dot",     "conv",       "conv_filter_grad",
                                     "philox",         "while",    "if",      "get",     "check",      "attention",
                                     "attention_grad"};
constexpr std::string_view kUnaries[] = {"neg",   "abs",   "sign",  "exp",      "expm1",  "log",       "log1p",    "sqrt",  "rsqrt",
                                         "sin",   "cos",   "tan",   "asin",     "acos",   "atan",      "sinh",     "cosh",  "tanh",
                                         "asinh", "acosh", "atanh", "logistic", "erf",    "erfc",      "lgamma",   "floor", "ceil",
                                         "round", "trunc", "not",   "is_nan",   "is_inf", "is_finite", "popcount", "real",  "imag"};
constexpr std::string_view kBinaries[] = {"add", "sub",   "mul", "div", "floor_div", "mod", "floor_mod", "pow",    "max",
                                          "min", "atan2", "and", "or",  "xor",       "shl", "shr",       "complex"};
constexpr std::string_view kCompares[] = {"eq", "ne", "lt", "le", "gt", "ge"};
constexpr std::string_view kReduces[] = {"sum", "prod", "max", "min", "and", "or", "mean", "set", "sub", "div"};
static_assert(std::size(kOps) == size_t(Op::kAttentionGrad) + 1 && std::size(kUnaries) == size_t(Unary::kImag) + 1);
static_assert(std::size(kBinaries) == size_t(Binary::kComplex) + 1 && std::size(kReduces) == size_t(Reduce::kDiv) + 1);

template <size_t N, class E>
std::string_view at(const std::string_view (&names)[N], E e) {
  return size_t(e) < N ? names[size_t(e)] : "?";
}

template <class T>
std::string list(const std::vector<T>& v) {
  std::string s = "[";
  for (size_t k = 0; k < v.size(); ++k) {
    if (k) s += ", ";
    core::append(s, v[k]);
  }
  return s + "]";
}

class Printer {
 public:
  explicit Printer(const Module& m) : module_(m) {}

  std::string run() {
    out_ = core::cat("module ", module_.name.empty() ? "main" : module_.name, "\n");
    for (size_t k = 0; k < module_.symbols.size(); ++k) {
      const Symbol& s = module_.symbols[k];
      out_ += core::cat("  s", k, " = size ", s.dim, " of parameter ", s.parameter, " (", s.name, ")\n");
    }
    for (const Guard& g : module_.guards) out_ += core::cat("  guard ", g.a.to_string(), " == ", g.b.to_string(), "\n");
    region(*module_.main, 1);
    for (size_t k = 0; k < module_.results.size() && k < module_.main->results.size(); ++k) {
      const Result& r = module_.results[k];
      out_ += core::cat("  result ", k, " \"", r.name, "\" = %", module_.main->results[k]->id);
      if (r.state >= 0) out_ += core::cat(" -> parameter ", r.state);
      out_ += "\n";
    }
    return std::move(out_);
  }

 private:
  void region(const Region& r, int depth) {
    for (const auto& i : r.instrs) instr(*i, depth);
  }

  void window(const Window& w) {
    out_ += core::cat(" size=", list(w.size), " stride=", list(w.stride));
    auto all_ones = [](const std::vector<int64_t>& v) {
      for (int64_t x : v) {
        if (x != 1) return false;
      }
      return true;
    };
    if (!all_ones(w.dilation)) out_ += core::cat(" dilation=", list(w.dilation));
    if (!all_ones(w.base_dilation)) out_ += core::cat(" base_dilation=", list(w.base_dilation));
    out_ += core::cat(" low=", list(w.low), " high=", list(w.high));
    if (w.groups != 1) out_ += core::cat(" groups=", w.groups);
    if (w.winograd) out_ += " winograd";
  }

  void details(const Instr& i) {
    switch (i.op) {
      case Op::kParameter:
        out_ += core::cat(" ", i.index);
        if (i.parent == module_.main.get() && size_t(i.index) < module_.parameters.size()) {
          const Parameter& p = module_.parameters[size_t(i.index)];
          out_ += core::cat(p.kind == Parameter::Kind::kState ? " state" : " input", " \"", p.name, "\"");
        }
        break;
      case Op::kConstant: out_ += " " + i.literal.summary(8); break;
      case Op::kSizes:
        if (i.known) out_ += " " + list(*i.known);
        break;
      case Op::kReduce:
      case Op::kArgReduce:
      case Op::kWindow:
      case Op::kScan:
      case Op::kScatter: out_ += core::cat(" ", name_of(i.reduce)); break;
      case Op::kGet: out_ += core::cat(" ", i.index); break;
      default: break;
    }
    if (!i.axes.empty()) out_ += core::cat(" axes=", list(i.axes));
    if (i.op == Op::kSlice) out_ += core::cat(" starts=", list(i.starts), " steps=", list(i.steps));
    if (i.op == Op::kPad) out_ += core::cat(" low=", list(i.low), " high=", list(i.high), " interior=", list(i.interior));
    if (i.op == Op::kGather && i.batch) out_ += core::cat(" batch=", i.batch);
    if (i.transpose_a) out_ += " transpose_a";
    if (i.transpose_b) out_ += " transpose_b";
    if (i.reverse) out_ += " reverse";
    if (i.exclusive) out_ += " exclusive";
    if (i.op == Op::kWindow || i.op == Op::kMaxPoolGrad || i.op == Op::kConv || i.op == Op::kConvFilterGrad) window(i.window);
    if (i.op == Op::kConv || i.op == Op::kConvFilterGrad) {
      if (filter_form(i) == FilterForm::kOutputChannelsFirst) out_ += " output_channels_first";
      if (filter_form(i) == FilterForm::kOfForward) out_ += " of_forward";
    }
    if (i.message >= 0) out_ += core::cat(" message=", i.message);
  }

  void instr(const Instr& i, int depth) {
    out_.append(size_t(depth) * 2, ' ');
    if (i.op != Op::kCheck) out_ += core::cat("%", i.id, " = ");
    switch (i.op) {
      case Op::kUnary: out_ += name_of(i.unary); break;
      case Op::kBinary: out_ += name_of(i.binary); break;
      case Op::kCompare: out_ += core::cat("compare.", name_of(i.compare)); break;
      default: out_ += name_of(i.op); break;
    }
    for (size_t k = 0; k < i.operands.size(); ++k) out_ += core::cat(k ? ", %" : " %", i.operands[k]->id);
    details(i);
    if (i.results.empty() && i.op != Op::kCheck) out_ += ": " + i.type.to_string();
    for (size_t k = 0; k < i.results.size(); ++k) out_ += (k ? ", " : ": ") + i.results[k].to_string();
    if (!i.node.empty() && i.op != Op::kParameter) out_ += "  # " + i.node;
    out_ += "\n";
    for (size_t k = 0; k < i.regions.size(); ++k) {
      const bool loop = i.op == Op::kWhile;
      out_.append(size_t(depth) * 2, ' ');
      out_ += loop ? (k == 0 ? "while {\n" : "do {\n") : core::cat("case ", k, " {\n");
      region(*i.regions[k], depth + 1);
      out_.append(size_t(depth) * 2, ' ');
      out_ += "}";
      for (const Instr* v : i.regions[k]->results) out_ += core::cat(" %", v->id);
      out_ += "\n";
    }
  }

  const Module& module_;
  std::string out_;
};

}  // namespace

bool is_elementwise(Op op) {
  return op == Op::kUnary || op == Op::kBinary || op == Op::kCompare || op == Op::kSelect || op == Op::kConvert || op == Op::kBitcast;
}

std::string_view name_of(Op op) { return at(kOps, op); }
std::string_view name_of(Unary op) { return at(kUnaries, op); }
std::string_view name_of(Binary op) { return at(kBinaries, op); }
std::string_view name_of(Compare op) { return at(kCompares, op); }
std::string_view name_of(Reduce op) { return at(kReduces, op); }

std::string print(const Module& m) { return Printer(m).run(); }

}  // namespace weft_engine::ir
