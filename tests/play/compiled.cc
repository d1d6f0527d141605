// Plays recorded op calls through the compiler: one node lowered, planned, compiled and run, and compared with TensorFlow's answer.
//
//   play compiled [--open] [--gpu [--save FOLDER]] [--ptx] [--most N] [--ir] FILE...
//
// Calls that a rule refuses (Unimplemented) are counted, ops without a rule left out. --open: the first size of every argument is known only when the code
// is called. --gpu: by the kernels of GPUs, on this processor (--save: and into files, for
// a machine that has one, see kernels.h). --ptx: their PTX is made and, where
// CUDA's assembler is, assembled, and nothing is run. --most: of each op no more than N calls. --ir: prints what a call became.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "compiler/codegen.h"
#include "compiler/lower.h"
#include "engine/engine.h"
#include "tests/compiler/gpu_machine.h"
#include "tests/play/kernels.h"
#include "tests/play/play.h"
#include "tests/support/cases.h"
#include "tests/support/report.h"

namespace weft_engine::testing {
namespace {

enum class Outcome { kAgrees, kNoRule, kRefused, kWrong };

struct Options {
  bool open = false, print = false, gpu = false, ptx = false;
  std::unique_ptr<KernelFiles> save;
};

// What is known of the inputs when compiling: nothing, the integers, everything.
enum class Fixed { kNone, kIntegers, kAll };

bool is_fixed(const Tensor& t, Fixed f) {
  return f == Fixed::kAll || (f == Fixed::kIntegers && (t.dtype() == DType::kInt32 || t.dtype() == DType::kInt64));
}

Result<graph::FunctionBody> body_of(const OpCase& c, const op::Registry& registry) {
  graph::FunctionBody body;
  body.name = c.op;
  body.graph = std::make_unique<graph::Graph>(registry);
  std::vector<graph::Endpoint> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const DType t = c.inputs[i]->dtype();
    WEFT_ASSIGN(graph::Node* arg, body.graph->add(cat("x", i), "_Arg", {{"T", t}, {"index", int64_t(i)}}, {}));
    body.args.push_back(arg);
    body.arg_types.push_back(t);
    inputs.push_back({arg, 0});
  }
  WEFT_ASSIGN(graph::Node* node, body.graph->add("case", c.op, c.attrs, inputs));
  for (int i = 0; i < node->num_outputs(); ++i) {
    WEFT_ASSIGN(graph::Node* ret, body.graph->add(cat("y", i), "_Retval", {{"T", node->output_type(i)}, {"index", int64_t(i)}}, {{node, i}}));
    body.rets.push_back(ret);
    body.ret_types.push_back(node->output_type(i));
  }
  return body;
}

// The PTX of a module: empty, or what is wrong with it.
Result<std::string> check_ptx(const ir::Module& m) {
  WEFT_ASSIGN(const compiler::Plan plan, compiler::make_plan(m, 0));
  WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
  WEFT_ASSIGN(const compiler::GpuCode code, api->gpu(plan, {}));
  const std::string missing = unresolved(code.ptx);
  if (!missing.empty()) return cat("a call of what is not there: ", missing);
  return has_assembler() ? assemble(code.ptx, 90) : std::string();
}

Result<std::vector<Tensor>> run(const OpCase& c, const ir::Module& m, Fixed fixed, bool gpu) {
  WEFT_ASSIGN(const compiler::Plan plan, compiler::make_plan(m, gpu ? 0 : 1));
  WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
  std::vector<Tensor> copies;  // exactly as long as the tensors: checkers see what is beyond
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
  const auto message = [&](int32_t error) {
    return internal_error("the call ends with: ", size_t(error) <= m.messages.size() ? m.messages[size_t(error) - 1] : cat(error));
  };
  if (gpu) {
    WEFT_ASSIGN(const auto code, api->gpu_on_host(plan));
    WEFT_ASSIGN(const int32_t error, run_on_gpu_machine(plan, *code, {parameters, results, symbols}));
    if (error) return message(error);
    return out;
  }
  WEFT_ASSIGN(const auto code, api->jit(plan, {}));
  const size_t bytes = (size_t(plan.arena_bytes.evaluate(symbols)) + 127) / 64 * 64;
  const std::unique_ptr<void, void (*)(void*)> arena(std::aligned_alloc(64, bytes), &std::free);
  std::memset(arena.get(), 0x7f, bytes);  // what is read before it is written shows
  std::vector<const void*> constants;
  const int32_t error = code->entry()(parameters.data(), results.data(), constants.data(), symbols.data(), static_cast<char*>(arena.get()), nullptr);
  if (error) return message(error);
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
    if (o.ptx) {
      const auto problem = check_ptx(**m);
      why = problem.ok() ? *problem : problem.status().to_string();
      if (!problem.ok() && problem.status().code() == Code::kUnimplemented) return Outcome::kRefused;
      return why.empty() ? Outcome::kAgrees : Outcome::kWrong;
    }
    auto result = run(c, **m, fixed, o.gpu);
    why = result.ok() ? difference(in_recorded_types(*result, c.outputs), c.outputs) : result.status().to_string();
    if (result.ok() && why.empty() && o.save) {
      std::vector<Tensor> parameters;
      for (const auto& t : c.inputs) {
        if (!is_fixed(*t, fixed)) parameters.push_back(*t);
      }
      const Status saved = o.save->add(c.op, **m, parameters, *result);
      if (!saved.ok()) why = saved.to_string();
    }
    if (!result.ok() && result.status().code() == Code::kUnimplemented) return Outcome::kRefused;
    return why.empty() ? Outcome::kAgrees : Outcome::kWrong;
  }
  return Outcome::kRefused;
}

}  // namespace

int play_compiled(const Words& words) {
  int most = kAnyNumber;
  Options options;
  std::string save;
  Arguments a;
  if (!a.usual()
           .flag("--open", &options.open)
           .flag("--gpu", &options.gpu)
           .value("--save", &save)
           .flag("--ptx", &options.ptx)
           .flag("--ir", &options.print)
           .value("--most", &most)
           .parse(words))
    return 2;
  if (options.ptx && !has_assembler()) std::printf("skipped: no ptxas on this machine, PTX is made but not assembled\n");
  if (!save.empty()) options.save = std::make_unique<KernelFiles>(save);
  const op::Registry& registry = engine::Engine::get().registry();
  Report report(a.known, a.fails);
  std::map<std::string, int> without_rule;
  int left_out = 0;
  const bool read = each_case(a.files, a.only, [&](const OpCase& c, int number) {
    if (report.cases(c.op) + without_rule[c.op] >= most) return;
    std::string why;
    const std::string where = cat("#", number);
    switch (play(c, registry, options, why)) {
      case Outcome::kAgrees: report.agrees(c.op); break;
      case Outcome::kRefused: report.refused(c.op, where, why); break;
      case Outcome::kWrong: report.differs(c.op, where, why); break;
      case Outcome::kNoRule: ++without_rule[c.op], ++left_out; break;
    }
    std::fflush(stdout);
  });
  return read ? report.finish(cat("compiled cases (", left_out, " of ops without a rule)")) : 2;
}

}  // namespace weft_engine::testing
