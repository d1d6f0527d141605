#include "cuda/ir_kernel.h"

#include <map>
#include <memory>
#include <mutex>

#include "compiler/plan.h"
#include "core/cat.h"
#include "cuda/launch.h"
#include "ir/simplify.h"

namespace weft_engine::cuda {
namespace {

using core::cat;
using core::Result;
using core::Status;

struct Compiled {
  ir::Module module;
  compiler::Plan plan;
  std::unique_ptr<Program> program;
};

std::vector<ir::Symbol> symbols_of(std::span<const IrArgument> arguments) {
  std::vector<ir::Symbol> out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    for (size_t d = 0; d < arguments[i].dims.size(); ++d) {
      if (arguments[i].dims[d] > 1 && arguments[i].like < 0) out.push_back({cat("s", out.size()), int(i), int(d)});
    }
  }
  return out;
}

Result<std::unique_ptr<Compiled>> compile(Gpu& gpu, const std::string& name, std::span<const IrArgument> arguments, const BuildIr& build) {
  auto c = std::make_unique<Compiled>();
  ir::Module& m = c->module;
  m.name = name;
  m.symbols = symbols_of(arguments);
  ir::Builder b(m);
  std::vector<ir::Value> parameters;
  int symbol = 0;
  for (const IrArgument& a : arguments) {
    ir::Parameter p;
    p.name = cat("x", parameters.size());
    p.type.dtype = a.dtype;
    for (size_t d = 0; d < a.dims.size(); ++d) {
      const int64_t n = a.dims[d];
      p.type.dims.push_back(a.like >= 0 ? parameters[size_t(a.like)]->dim(int(d)) : n > 1 ? ir::Dim::symbol(symbol++) : ir::Dim(n));
    }
    parameters.push_back(b.parameter(std::move(p)));
  }
  std::vector<ir::Value> results = build(b, parameters);
  WEFT_RETURN_IF_ERROR(b.status());
  for (size_t i = 0; i < results.size(); ++i) {
    m.main->results.push_back(results[i]);
    m.results.push_back({cat("y", i), -1});
  }
  WEFT_RETURN_IF_ERROR(ir::verify(m));
  ir::simplify(m, false, ir::Convolutions::kOutputChannelsFirst);
  WEFT_RETURN_IF_ERROR(ir::verify(m));
  WEFT_ASSIGN(c->plan, compiler::make_plan(m, 0));
  WEFT_ASSIGN(c->program, Program::make(gpu, c->plan));
  return c;
}

// For as long as the process lives: there are few names.
struct Kept {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Compiled>> all;
};

}  // namespace

Status run_ir(Gpu& gpu, const std::string& name, std::span<const IrArgument> arguments, std::span<const DevicePtr> results, const BuildIr& build) {
  static auto* kept = new Kept();
  std::string key = cat(name, " ", gpu.number());
  Program::Call call;
  for (const IrArgument& a : arguments) {
    key += cat(" ", int(a.dtype));
    for (int64_t n : a.dims) {
      if (n < 1) return {};  // nothing in it, and so nothing to do
      key += n > 1 ? 'n' : '1';
      if (n > 1 && a.like < 0) call.symbols.push_back(n);
    }
    call.parameters.push_back(a.at);
  }
  call.results.assign(results.begin(), results.end());
  Compiled* found = nullptr;
  {
    const std::lock_guard lock(kept->mutex);
    auto& slot = kept->all[key];
    if (!slot) {
      WEFT_ASSIGN(slot, compile(gpu, name, arguments, build));
    }
    found = slot.get();
  }
  return found->program->run(call);
}

}  // namespace weft_engine::cuda
