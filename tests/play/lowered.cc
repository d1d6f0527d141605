// Plays recorded op calls through the lowering rules: each call becomes a module of the IR, which is followed step by step, or compiled,
// and compared with TensorFlow's answer. In three ways: shapes and integers known, all sizes open, and nothing known but shapes.
//
//   play lowered [--compiled] FILE...
//
// A rule may refuse (Unimplemented); what it gives must be right. The known file counts wrong answers of the three ways together.
#include <algorithm>
#include <map>

#include "engine/engine.h"
#include "op/lower.h"
#include "tests/compiler/arrays.h"
#include "tests/play/play.h"
#include "tests/support/cases.h"
#include "tests/support/report.h"

namespace weft_engine::testing {
namespace {

using ir::Dim;
using op::Lowered;
using op::LoweredList;

enum class Way { kKnown, kOpen, kData };
constexpr const char* kNames[] = {"known", "open", "data"};

// Without functions; the state of a node is a counter that is at zero.
class NoHost : public op::LowerHost {
 public:
  explicit NoHost(ir::Builder& b) : b_(b) {}
  LoweredList call(const op::FunctionAttr&, LoweredList) override { return refuse(); }
  LoweredList while_loop(const op::FunctionAttr&, const op::FunctionAttr&, LoweredList) override { return refuse(); }
  LoweredList branch(ir::Value, const std::vector<op::FunctionAttr>&, LoweredList) override { return refuse(); }
  Lowered variable(const op::NodeInfo& node) override { return named_state(node); }
  Lowered named_state(const op::NodeInfo&) override { return Lowered::state(0); }
  Lowered derived_state(int, std::string_view) override { return Lowered::state(0); }
  const Lowered* read(int) override {
    value_ = b_.constant(Tensor::vector(std::vector<uint64_t>{0, 0}));
    return &value_;
  }
  bool has_value(int) const override { return true; }
  void write(int, Lowered) override {}

 private:
  LoweredList refuse() {
    b_.fail(unimplemented("no functions here"));
    return {};
  }
  ir::Builder& b_;
  Lowered value_;
};

struct Outcome {
  Status refused;
  std::string wrong;
};

bool is_size(DType t) { return t == DType::kInt32 || t == DType::kInt64; }
bool is_text(DType t) { return t == DType::kString || t == DType::kVariant || t == DType::kResource; }

// What interpret() leaves out.
bool has_windows(const ir::Module& m) {
  return std::any_of(m.main->instrs.begin(), m.main->instrs.end(), [](const auto& i) {
    return i->op == ir::Op::kWindow || i->op == ir::Op::kMaxPoolGrad || i->op == ir::Op::kConv || i->op == ir::Op::kConvFilterGrad;
  });
}

Outcome play(const op::OpSpec& spec, const OpCase& c, Way way, bool compiled) {
  std::vector<DType> types;
  for (const auto& t : c.inputs) types.push_back(t->dtype());
  auto node = op::NodeInfo::make(spec, "node", c.attrs, types);
  if (!node.ok()) return {node.status(), {}};
  std::map<int, Dim> replaced;
  for (int attempt = 0; attempt < 30; ++attempt) {
    ir::Module m;
    ir::Builder b(m);
    b.set_node("node");
    NoHost host(b);
    LoweredList in;
    std::vector<Tensor> parameters;
    std::vector<int64_t> symbols;
    for (const auto& t : c.inputs) {
      if (is_text(t->dtype())) {
        in.emplace_back();
        continue;
      }
      const bool constant = is_size(t->dtype()) && (way == Way::kKnown || (way == Way::kOpen && t->rank() < 2 && t->num_elements() < 16));
      if (constant) {
        in.emplace_back(b.constant(*t));
        continue;
      }
      ir::Type type{plain_type(t->dtype()), {}};
      for (int d = 0; d < t->rank(); ++d) {
        if (way != Way::kOpen || t->dim(d) == 1) {
          type.dims.emplace_back(t->dim(d));
          continue;
        }
        const int id = int(symbols.size());
        symbols.push_back(t->dim(d));
        m.symbols.push_back({cat("s", id), int(parameters.size()), d});
        const auto it = replaced.find(id);
        type.dims.push_back(it == replaced.end() ? Dim::symbol(id) : it->second);
      }
      parameters.push_back(plain(*t));
      in.emplace_back(b.parameter({ir::Parameter::Kind::kInput, cat("x", in.size()), std::move(type)}));
    }
    op::LowerContext l(b, host, *node, in);
    LoweredList out;
    if (b.status().ok()) out = spec.lower(l);
    if (!b.status().ok() && b.unify()) {
      const auto [symbol, with] = *b.unify();
      for (auto& [id, d] : replaced) d = d.substitute([&](int s) { return s == symbol ? std::optional(with) : std::nullopt; });
      replaced.insert_or_assign(symbol, with);
      continue;
    }
    if (!b.status().ok()) return {b.status(), {}};
    for (const auto& [id, d] : replaced) {
      if (d.evaluate(symbols) != symbols[size_t(id)])
        return {unimplemented("s", id, " is taken to be ", d.to_string()), {}};  // a guard says no to the call
    }
    for (const auto& g : m.guards) {
      if (g.a.evaluate(symbols) != g.b.evaluate(symbols)) return {unimplemented("guard does not hold: ", g.text), {}};
    }
    if (out.size() != c.outputs.size()) return {{}, cat("gives ", out.size(), " values")};
    for (const Lowered& v : out) {
      if (!v.tensor()) return {unimplemented("gives no tensor"), {}};
      m.main->results.push_back(v.tensor());
      m.results.push_back({"y", -1});
    }
    if (Status s = ir::verify(m); !s.ok()) return {{}, s.to_string()};
    ir::drop_dead(m);
    if (!compiled && has_windows(m)) return {unimplemented("no windows here"), {}};
    auto got = run(m, parameters, symbols, compiled);
    if (!got.ok()) return got.status().code() == Code::kUnimplemented ? Outcome{got.status(), {}} : Outcome{{}, got.status().to_string()};
    for (size_t k = 0; k < out.size(); ++k) {  // what is known must be true
      const auto& known = out[k].tensor()->known;
      for (size_t e = 0; known && e < known->size(); ++e) {
        const Tensor& t = (*got)[k];
        const int64_t v = t.dtype() == DType::kInt32 ? t.data<int32_t>()[e] : t.data<int64_t>()[e];
        if ((*known)[e].evaluate(symbols) != v) return {{}, cat("known to be ", (*known)[e].to_string(), " but is ", v)};
      }
    }
    return {{}, difference(in_recorded_types(*got, c.outputs), c.outputs)};
  }
  return {unimplemented("sizes without end"), {}};
}

}  // namespace

int play_lowered(const Words& words) {
  bool compiled = false;
  Arguments a;
  if (!a.usual().flag("--compiled", &compiled).parse(words)) return 2;
  Report report(a.known, a.fails);
  const bool read = each_case(a.files, a.only, [&](const OpCase& c, int number) {
    const auto* spec = engine::Engine::get().registry().find(c.op);
    if (!spec || !spec->lower) return;
    // In no order: any will do.
    if (const auto it = c.attrs.find("sorted"); it != c.attrs.end() && it->second.get<bool>() && !*it->second.get<bool>()) return;
    for (const Way way : {Way::kKnown, Way::kOpen, Way::kData}) {
      const Outcome o = play(*spec, c, way, compiled);
      const std::string where = cat("#", number, " ", kNames[int(way)]);
      if (!o.refused.ok()) report.refused(c.op, where, o.refused.to_string());
      else report.add(c.op, where, o.wrong);
    }
  });
  return read ? report.finish("lowered, three ways") : 2;
}

}  // namespace weft_engine::testing
