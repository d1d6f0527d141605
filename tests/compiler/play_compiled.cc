// Plays recorded op calls through the compiler: one node lowered, planned, compiled and run, and compared with TensorFlow's answer.
//
//   play_compiled [--known FILE] [--fails] [--refused] [--open] [--ir] [--op NAME] [--most N] case.bin ...
//
// Ops without a rule and calls that a rule refuses (Unimplemented) are counted; a wrong answer fails, unless the known file has the op
// (op, wrong answers at most, reason). --open: the first size of every argument is known only when the code is called.
// --most: of each op no more than N calls. --ir: prints what a call became.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "compiler/codegen.h"
#include "compiler/lower.h"
#include "engine/engine.h"
#include "tests/support/cases.h"

using namespace weft;           // NOLINT
using namespace weft::testing;  // NOLINT

namespace {

enum class Outcome { kAgrees, kNoRule, kRefused, kWrong };

struct Options {
  bool open = false, print = false;
};

// What is known of the inputs when compiling: nothing, the integers, everything.
enum class Fixed { kNone, kIntegers, kAll };

bool is_fixed(const Tensor& t, Fixed f) { return f == Fixed::kAll || (f == Fixed::kIntegers && (t.dtype() == DType::kInt32 || t.dtype() == DType::kInt64)); }

Result<graph::FunctionBody> body_of(const OpCase& c, const op::Registry& registry) {
  graph::FunctionBody body;
  body.name = c.op;
  body.graph = std::make_unique<graph::Graph>(registry);
  std::vector<graph::Endpoint> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const DType t = c.inputs[i]->dtype();
    WEFT_ASSIGN(graph::Node * arg, body.graph->add(cat("x", i), "_Arg", {{"T", t}, {"index", int64_t(i)}}, {}));
    body.args.push_back(arg);
    body.arg_types.push_back(t);
    inputs.push_back({arg, 0});
  }
  WEFT_ASSIGN(graph::Node * node, body.graph->add("case", c.op, c.attrs, inputs));
  for (int i = 0; i < node->num_outputs(); ++i) {
    WEFT_ASSIGN(graph::Node * ret, body.graph->add(cat("y", i), "_Retval", {{"T", node->output_type(i)}, {"index", int64_t(i)}}, {{node, i}}));
    body.rets.push_back(ret);
    body.ret_types.push_back(node->output_type(i));
  }
  return body;
}

Result<std::vector<Tensor>> run(const OpCase& c, const ir::Module& m, Fixed fixed) {
  WEFT_ASSIGN(const compiler::Plan plan, compiler::make_plan(m));
  WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
  WEFT_ASSIGN(const auto code, api->jit(plan, {}));
  std::vector<Tensor> copies;  // exactly as long as the tensors: checkers see what lies beyond
  std::vector<void*> parameters, results;
  for (const auto& t : c.inputs) {
    if (!is_fixed(*t, fixed)) copies.push_back(*t);
  }
  for (Tensor& t : copies) parameters.push_back(t.raw());
  std::vector<int64_t> symbols;
  for (const ir::Symbol& s : m.symbols) symbols.push_back(copies[size_t(s.parameter)].dim(s.dim));
  for (const ir::Guard& g : m.guards) {
    if (g.a.evaluate(symbols) != g.b.evaluate(symbols)) return unimplemented("a guard does not hold: ", g.text);  // a broadcast that open sizes hide
  }
  std::vector<Tensor> out;
  for (const ir::Value v : m.main->results) {
    Shape shape;
    for (const ir::Dim& d : v->type.dims) shape.add_dim(d.evaluate(symbols));
    WEFT_RETURN_IF_ERROR(shape.check());
    WEFT_ASSIGN(Tensor t, Tensor::allocate(v->type.dtype, shape));
    out.push_back(t);
  }
  for (Tensor& t : out) results.push_back(t.raw());
  const size_t bytes = (size_t(plan.arena_bytes.evaluate(symbols)) + 127) / 64 * 64;
  const std::unique_ptr<void, void (*)(void*)> arena(std::aligned_alloc(64, bytes), &std::free);
  std::memset(arena.get(), 0x7f, bytes);  // what is read before it is written shows
  std::vector<const void*> constants;
  const int32_t error = code->entry()(parameters.data(), results.data(), constants.data(), symbols.data(), static_cast<char*>(arena.get()), nullptr);
  if (error) return internal_error("the call ends with: ", size_t(error) <= m.messages.size() ? m.messages[size_t(error) - 1] : cat(error));
  return out;
}

Outcome play(const OpCase& c, const op::Registry& registry, const Options& o, std::string& why) {
  const op::OpSpec* spec = registry.find(c.op);
  if (!spec || !spec->lower) return Outcome::kNoRule;
  auto body = body_of(c, registry);
  if (!body.ok()) {
    why = body.status().to_string();
    return Outcome::kWrong;
  }
  for (const Fixed fixed : {Fixed::kNone, Fixed::kIntegers, Fixed::kAll}) {
    compiler::LowerOptions options;
    for (const auto& t : c.inputs) {
      compiler::ArgInfo a;
      a.shape = PartialShape(t->shape());
      if (is_fixed(*t, fixed)) a.constant = *t;
      else if (o.open && t->rank() > 0) a.shape.set_dim(0, -1);
      options.args.push_back(std::move(a));
    }
    auto m = compiler::lower(*body, options);
    if (!m.ok()) {
      if (fixed == Fixed::kNone || why.empty()) why = m.status().to_string();
      if (m.status().code() == Code::kUnimplemented) continue;
      if (o.open) continue;  // a size that was left open may be what an error is about
      why = m.status().to_string();
      return Outcome::kWrong;
    }
    if (o.print) std::printf("%s\n", ir::print(**m).c_str());
    auto result = run(c, **m, fixed);
    why = result.ok() ? difference(*result, c.outputs) : result.status().to_string();
    if (!result.ok() && result.status().code() == Code::kUnimplemented) return Outcome::kRefused;
    return why.empty() ? Outcome::kAgrees : Outcome::kWrong;
  }
  return Outcome::kRefused;
}

struct Tally {
  int agree = 0, wrong = 0, refused = 0, no_rule = 0, total = 0;
  std::string first_wrong, first_refused;
};

}  // namespace

int main(int argc, char** argv) {
  std::string known_path, only;
  bool show_fails = false, show_refused = false;
  int most = 1 << 30;
  Options options;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--known") known_path = argv[++i];
    else if (arg == "--op") only = argv[++i];
    else if (arg == "--most") most = std::atoi(argv[++i]);
    else if (arg == "--fails") show_fails = true;
    else if (arg == "--refused") show_refused = true;
    else if (arg == "--open") options.open = true;
    else if (arg == "--ir") options.print = true;
    else paths.push_back(arg);
  }
  const op::Registry& registry = engine::Engine::get().registry();
  std::map<std::string, Tally> tallies;
  const bool read = each_case(paths, only, [&](const OpCase& c, int number) {
    if (tallies[c.op].total >= most) return;
    Tally& t = tallies[c.op];
    ++t.total;
    std::string why;
    const Outcome outcome = play(c, registry, options, why);
    t.agree += outcome == Outcome::kAgrees;
    t.no_rule += outcome == Outcome::kNoRule;
    t.refused += outcome == Outcome::kRefused;
    t.wrong += outcome == Outcome::kWrong;
    if (outcome == Outcome::kWrong && t.first_wrong.empty()) t.first_wrong = why;
    if (outcome == Outcome::kRefused && t.first_refused.empty()) t.first_refused = why;
    if (show_fails && outcome == Outcome::kWrong) std::printf("%s #%d: %s\n", c.op.c_str(), number, why.c_str());
    std::fflush(stdout);
  });
  if (!read) return 2;
  const auto known = read_known_counts(known_path);
  Tally sum;
  int worse = 0, ops = 0, whole = 0;
  std::string none;
  for (const auto& [op, t] : tallies) {
    sum.agree += t.agree, sum.wrong += t.wrong, sum.refused += t.refused, sum.no_rule += t.no_rule, sum.total += t.total;
    if (t.no_rule) {
      none += " " + op;
      continue;
    }
    ++ops;
    whole += t.agree == t.total;
    if (t.refused && show_refused) std::printf("refused %-30s %3d of %3d  %s\n", op.c_str(), t.refused, t.total, t.first_refused.substr(0, 200).c_str());
    if (!t.wrong) continue;
    const auto it = known.find(op);
    const bool expected = it != known.end() && t.wrong <= it->second;
    worse += !expected;
    std::printf("%s %-30s %3d of %3d  %s\n", expected ? "known" : "WRONG", op.c_str(), t.wrong, t.total, t.first_wrong.substr(0, 200).c_str());
  }
  if (show_refused) std::printf("no rule:%s\n", none.c_str());
  std::printf("compiled cases: %d of %d agree, %d wrong, %d refused, %d without a rule; ops: %d of %d wholly\n", sum.agree, sum.total, sum.wrong, sum.refused, sum.no_rule, whole, ops);
  return worse || sum.agree == 0 ? 1 : 0;
}
