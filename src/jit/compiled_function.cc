#include "jit/compiled_function.h"

#include <mutex>
#include <shared_mutex>

#include "compiler/lower.h"
#include "core/log.h"
#include "jit/cluster.h"
#include "jit/version.h"
#include "op/step_trace.h"

namespace weft_engine::jit {
namespace {

using runtime::PlanContext;

constexpr size_t kMostVersions = 64;  // after that the oldest signature is compiled again when it comes again

class CompiledFunction final : public runtime::Executable {
 public:
  CompiledFunction(graph::FunctionBody body, const PlanContext& c, runtime::PlanMaker otherwise, bool must)
      : body_(std::move(body)), context_(c), otherwise_(std::move(otherwise)), must_(must), sources_(body_) {}

  Status run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) override {
    if (args.size() != body_.arg_types.size())
      return invalid_argument("function ", body_.name, " takes ", body_.arg_types.size(), " arguments, got ", args.size());
    if (runtime::Executable* e = fallback_.load(std::memory_order_acquire)) return e->run(env, args, rets);
    std::shared_ptr<Version> v;
    auto variables = sources_.find(env, args);
    Status s = variables.status();
    if (s.ok()) {
      auto found = version(args, *variables);
      if (found.ok()) v = std::move(found).value();
      else s = found.status();
    }
    if (!v) {
      if (must_ && !in_parts(s)) return s;
      WEFT_ASSIGN(runtime::Executable* e, fall_back(s));
      return e->run(env, args, rets);
    }
    const int64_t start = env.trace ? StepTrace::now() : 0;
    bool unchanged = false;
    s = v->call(env, args, *variables, rets, unchanged);
    if (env.trace) {
      StepTrace::Event e{body_.name, "_Compiled", context_.device ? context_.device->name() : "", start, StepTrace::now(), StepTrace::thread_number(),
                         {}};
      for (const Tensor& t : rets) e.outputs.emplace_back(t.dtype(), t.shape());
      env.trace->add(std::move(e));
    }
    return s;
  }

  void run_async(const KernelEnv& env, std::vector<Tensor> args, FunctionHandle::Done done) override {
    if (runtime::Executable* e = fallback_.load(std::memory_order_acquire)) return e->run_async(env, std::move(args), std::move(done));
    std::vector<Tensor> rets(body_.ret_types.size());
    Status s = run(env, args, rets);
    done(std::move(s), std::move(rets));
  }

 private:
  // A function that must be compiled may have results whose shapes depend on data: the parts around them are compiled.
  bool in_parts(const Status& why) {
    graph::FunctionBody body = graph::clone(body_);
    return why.code() == Code::kUnimplemented && compiler::prepare(body, {}, {}).ok() && compiler::only_shapes_from_data(body);
  }

  // For good: what could not be compiled once will not be later.
  Result<runtime::Executable*> fall_back(const Status& why) {
    std::unique_lock lock(mutex_);
    if (runtime::Executable* e = fallback_.load(std::memory_order_acquire)) return e;
    // Variables that have no values yet are no fault: their initialisation runs once.
    if (must_) log(LogLevel::kInfo, cat(body_.name, " is compiled in parts: ", why.message()));
    else log(why.code() == Code::kUnimplemented ? LogLevel::kWarning : LogLevel::kInfo, cat(body_.name, " is not compiled: ", why.message()));
    const bool parts = why.code() == Code::kUnimplemented && !body_.name.starts_with("__cluster_");
    auto made = otherwise_(parts ? [](graph::FunctionBody& body) { return cluster(body).status(); } : std::function<Status(graph::FunctionBody&)>());
    if (!made.ok() && parts) made = otherwise_(nullptr);
    if (!made.ok()) return made.status();
    fallback_owner_ = std::move(made).value();
    fallback_.store(fallback_owner_.get(), std::memory_order_release);
    return fallback_owner_.get();
  }

  Result<std::shared_ptr<Version>> version(std::span<const Tensor> args, const Variables& variables) {
    {
      std::shared_lock lock(mutex_);
      for (const auto& v : versions_) {
        if (v->fits(args, variables)) return v;
      }
    }
    std::unique_lock lock(mutex_);
    for (const auto& v : versions_) {
      if (v->fits(args, variables)) return v;
    }
    WEFT_ASSIGN(const CallSignature signature, CallSignature::of(body_.name, args, variables));
    CompileOptions options;
    options.threads = context_.pool ? context_.pool->threads() : 1;
    options.lists_may_grow = must_;
    options.generators = &generators_;
    auto made = Version::compile(body_, sources_, signature, options);
    if (!made.ok()) return made.status().with_suffix(cat(" (function ", body_.name, " must be compiled)"));
    if (versions_.size() >= kMostVersions) versions_.erase(versions_.begin());
    versions_.push_back(*made);
    return std::move(made).value();
  }

  const graph::FunctionBody body_;
  const PlanContext context_;
  const runtime::PlanMaker otherwise_;
  const bool must_;
  std::atomic<runtime::Executable*> fallback_{nullptr};
  std::unique_ptr<runtime::Executable> fallback_owner_;
  const VariableSources sources_;
  Generators generators_;  // outlive the versions
  std::shared_mutex mutex_;
  std::vector<std::shared_ptr<Version>> versions_;
};

}  // namespace

Result<std::unique_ptr<runtime::Executable>> compile_function(graph::FunctionBody body, const PlanContext& c, runtime::PlanMaker otherwise,
                                                              bool must) {
  return std::unique_ptr<runtime::Executable>(new CompiledFunction(std::move(body), c, std::move(otherwise), must));
}

}  // namespace weft_engine::jit
