#include "jit/compiled_function.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <shared_mutex>

#include "compiler/codegen.h"
#include "compiler/generator_state.h"
#include "compiler/lower.h"
#include "core/log.h"
#include "core/own_memory.h"
#include "graph/node_traits.h"
#include "jit/cluster.h"
#include "op/step_trace.h"
#include "op/variable.h"
#include "runtime/interruptible.h"

namespace weft_engine::jit {
namespace {

using namespace weft_engine::op;
using runtime::PlanContext;

constexpr size_t kMostVersions = 64;  // after that the oldest signature is compiled again when it comes again
constexpr int64_t kMostKeyElements = 64;  // integer arguments of at most this size may be fixed in the code

// The code for one signature.
struct Version {
  std::vector<Shape> arg_shapes, variable_shapes;
  std::vector<DType> variable_types;
  std::vector<std::pair<int, Tensor>> fixed;  // arguments whose values are in the code
  std::unique_ptr<ir::Module> module;
  compiler::Plan plan;
  std::unique_ptr<compiler::JitCode> code;
  compiler::Entry entry = nullptr;
  size_t arena_bytes = 0;
  bool loops = false;  // which nothing can end from outside
  struct Parameter {
    int argument = -1, variable = -1;
    void* own = nullptr;  // a state of the function itself
    bool written = false;
  };
  std::vector<Parameter> parameters;
  struct Result {
    int ret = -1;  // of the function; -1: a state
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  std::vector<Result> results;
  std::vector<const void*> constants;
  // Working memory of calls that are over.
  std::mutex mutex;
  std::vector<Tensor> spare;
};

bool has_loop(const ir::Region& region) {
  return std::any_of(region.instrs.begin(), region.instrs.end(), [](const auto& i) {
    return i->op == ir::Op::kWhile || std::any_of(i->regions.begin(), i->regions.end(), [](const auto& r) { return has_loop(*r); });
  });
}

bool equal_values(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && std::equal(a.data<char>(), a.data<char>() + a.byte_size(), b.data<char>());
}

class CompiledFunction final : public runtime::Executable {
 public:
  CompiledFunction(graph::FunctionBody body, const PlanContext& c, runtime::PlanMaker otherwise, bool must)
      : body_(std::move(body)), context_(c), otherwise_(std::move(otherwise)), must_(must) {
    for (size_t i = 0; i < body_.arg_types.size(); ++i) {
      if (body_.arg_types[i] == DType::kResource) sources_.push_back({int(i), nullptr});
    }
    for (const graph::Node* n : body_.graph->nodes()) {
      if (role_of(*n) == op::Role::kVarHandle) sources_.push_back({-1, n});
    }
  }

  Status run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) override {
    if (args.size() != body_.arg_types.size())
      return invalid_argument("function ", body_.name, " takes ", body_.arg_types.size(), " arguments, got ", args.size());
    if (runtime::Executable* e = fallback_.load(std::memory_order_acquire)) return e->run(env, args, rets);
    std::vector<std::shared_ptr<Variable>> variables;
    Status s = find_variables(env, args, variables);
    std::shared_ptr<Version> v;
    if (s.ok()) {
      auto found = version(args, variables);
      if (found.ok()) v = std::move(found).value();
      else s = found.status();
    }
    if (!v) {
      if (must_ && !in_parts(s)) return s;
      WEFT_ASSIGN(runtime::Executable* e, fall_back(s));
      return e->run(env, args, rets);
    }
    if (v->loops) runtime::note_blind_call();
    const int64_t start = env.trace ? StepTrace::now() : 0;
    s = call(*v, env, args, variables, rets);
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
  Status find_variables(const KernelEnv& env, std::span<const Tensor> args, std::vector<std::shared_ptr<Variable>>& out) {
    for (const Source& s : sources_) {
      if (s.node) {
        const std::string &container = s.node->attr<std::string>("container"), &shared = s.node->attr<std::string>("shared_name");
        WEFT_ASSIGN(auto v, env.resources->find<Variable>(container, shared.empty() ? s.node->name() : shared));
        out.push_back(std::move(v));
        continue;
      }
      const Tensor& t = args[size_t(s.argument)];
      if (t.dtype() != DType::kResource || t.num_elements() != 1)
        return invalid_argument("argument ", s.argument, " of ", body_.name, " must be the handle of a variable");
      WEFT_ASSIGN(auto v, env.resources->get<Variable>(t.data<ResourceHandle>()[0]));
      out.push_back(std::move(v));
    }
    return {};
  }

  // The variables of one call. All are locked in the order of their addresses before the first value is taken: those that are written for this call
  // alone, until it ends; the others until their values are held. A device that uses one of them takes it back only afterwards.
  class Locks {
   public:
    Status take(Variable& x, bool to_write) {
      if (!to_write) {
        std::shared_lock lock(x.mutex());
        if (!core::lies_elsewhere(x.tensor())) {
          read_.push_back(std::move(lock));
          return {};
        }
      }
      std::unique_lock lock(x.mutex());
      if (x.initialized()) {
        WEFT_ASSIGN(x.tensor(), core::to_host(x.tensor()));
        if (to_write) WEFT_RETURN_IF_ERROR(x.make_writable());
      }
      (to_write ? written_ : moved_).push_back(std::move(lock));
      return {};
    }
    void all_held() {
      read_.clear();
      moved_.clear();
    }

   private:
    std::vector<std::shared_lock<std::shared_mutex>> read_;
    std::vector<std::unique_lock<std::shared_mutex>> written_, moved_;
  };

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

  static bool fits(const Version& v, std::span<const Tensor> args, const std::vector<std::shared_ptr<Variable>>& variables) {
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].dtype() != DType::kResource && !(args[i].shape() == v.arg_shapes[i])) return false;
    }
    for (size_t i = 0; i < variables.size(); ++i) {
      std::shared_lock lock(variables[i]->mutex());
      if (!variables[i]->initialized() || !(variables[i]->tensor().shape() == v.variable_shapes[i])) return false;
    }
    return std::all_of(v.fixed.begin(), v.fixed.end(), [&](const auto& f) { return equal_values(f.second, args[size_t(f.first)]); });
  }

  Result<std::shared_ptr<Version>> version(std::span<const Tensor> args, const std::vector<std::shared_ptr<Variable>>& variables) {
    {
      std::shared_lock lock(mutex_);
      for (const auto& v : versions_) {
        if (fits(*v, args, variables)) return v;
      }
    }
    std::unique_lock lock(mutex_);
    for (const auto& v : versions_) {
      if (fits(*v, args, variables)) return v;
    }
    WEFT_ASSIGN(std::shared_ptr<Version> made, compile(args, variables));
    if (versions_.size() >= kMostVersions) versions_.erase(versions_.begin());
    versions_.push_back(made);
    return made;
  }

  Result<std::shared_ptr<Version>> compile(std::span<const Tensor> args, const std::vector<std::shared_ptr<Variable>>& variables) {
    const auto start = std::chrono::steady_clock::now();
    if (!must_ && compiler::may_grow_lists(body_)) return unimplemented("a list in function ", body_.name, " may grow as it is written");
    auto v = std::make_shared<Version>();
    for (const Tensor& t : args) v->arg_shapes.push_back(t.shape());
    compiler::LowerOptions o;
    o.threads = context_.pool ? context_.pool->threads() : 1;
    std::vector<PartialShape> shapes;
    std::vector<std::optional<ShapeContext::HandleData>> handles(args.size());
    for (size_t i = 0; i < variables.size(); ++i) {
      std::shared_lock lock(variables[i]->mutex());
      if (!variables[i]->initialized()) return failed_precondition("a variable that function ", body_.name, " uses has no value yet");
      const Tensor& t = variables[i]->tensor();
      v->variable_shapes.push_back(t.shape());
      v->variable_types.push_back(t.dtype());
      o.variables.push_back({cat("variable_", i), t.dtype(), PartialShape(t.shape()), std::nullopt});
      if (!sources_[i].node) handles[size_t(sources_[i].argument)] = ShapeContext::HandleData{t.dtype(), PartialShape(t.shape())};
    }
    for (size_t i = 0; i < args.size(); ++i) {
      const bool resource = body_.arg_types[i] == DType::kResource;
      shapes.push_back(resource ? PartialShape::scalar() : PartialShape(args[i].shape()));
      compiler::ArgInfo a{cat("arg_", i), shapes.back(), std::nullopt, -1};
      for (size_t k = 0; k < sources_.size() && resource; ++k) {
        if (sources_[k].argument == int(i)) a.variable = int(k);
      }
      o.args.push_back(std::move(a));
    }
    o.variable_of = [&](const NodeInfo& node) -> std::optional<int> {
      for (size_t k = 0; k < sources_.size(); ++k) {
        if (sources_[k].node && sources_[k].node->name() == node.name()) return int(k);
      }
      return std::nullopt;
    };
    auto attempt = [&]() -> Result<std::unique_ptr<ir::Module>> {
      graph::FunctionBody body = graph::clone(body_);
      WEFT_RETURN_IF_ERROR(compiler::prepare(body, shapes, handles));
      return compiler::lower(body, o);
    };
    auto lowered = attempt();
    if (!lowered.ok() && lowered.status().code() == Code::kUnimplemented) {
      // Small integers may decide about shapes: then their values are part of the signature.
      for (size_t i = 0; i < args.size(); ++i) {
        if ((args[i].dtype() != DType::kInt32 && args[i].dtype() != DType::kInt64) || args[i].num_elements() > kMostKeyElements) continue;
        WEFT_ASSIGN(Tensor own, args[i].copy());
        o.args[i].constant = own;
        v->fixed.emplace_back(int(i), std::move(own));
      }
      if (!v->fixed.empty()) {
        auto again = attempt();
        if (again.ok()) lowered = std::move(again);
      }
    }
    if (!lowered.ok()) return lowered.status().with_suffix(cat(" (function ", body_.name, " must be compiled)"));
    v->module = std::move(lowered).value();
    WEFT_ASSIGN(v->plan, compiler::make_plan(*v->module, o.threads));
    WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
    compiler::CodegenOptions code;
    code.embed_constants = false;
    code.cpu = "native";
    WEFT_ASSIGN(v->code, api->jit(v->plan, code));
    v->entry = v->code->entry();
    v->loops = has_loop(*v->module->main);
    WEFT_RETURN_IF_ERROR(bind(*v, o));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    log(LogLevel::kInfo, cat("compiled ", body_.name, " in ", int(seconds * 1e3), " ms"));
    return v;
  }

  // What of a call goes where.
  Status bind(Version& v, const compiler::LowerOptions& o) {
    for (const ir::Parameter& p : v.module->parameters) {
      Version::Parameter to;
      for (size_t i = 0; i < o.args.size(); ++i) {
        if (p.kind == ir::Parameter::Kind::kInput && o.args[i].name == p.name) to.argument = int(i);
      }
      for (size_t i = 0; i < o.variables.size(); ++i) {
        if (p.kind == ir::Parameter::Kind::kState && o.variables[i].name == p.name) to.variable = int(i);
      }
      if (to.argument < 0 && to.variable < 0 && p.type.dtype == DType::kUint64) {
        WEFT_ASSIGN(to.own, generator(p.name));
      }
      if (to.argument < 0 && to.variable < 0 && !to.own) return unimplemented("state '", p.name, "' of function ", body_.name, " in compiled code");
      v.parameters.push_back(to);
    }
    int ret = 0;
    for (size_t i = 0; i < v.module->results.size(); ++i) {
      const ir::Result& r = v.module->results[i];
      if (r.state >= 0) {
        v.parameters[size_t(r.state)].written = true;
        v.results.push_back({});
        continue;
      }
      const ir::Type& t = v.module->main->results[i]->type;
      std::vector<int64_t> dims;
      for (const ir::Dim& d : t.dims) dims.push_back(d.evaluate({}));
      v.results.push_back({ret++, t.dtype, Shape(dims)});
    }
    if (ret != int(body_.ret_types.size())) return internal_error("compiled ", body_.name, " gives ", ret, " results");
    for (const ir::Instr* c : v.plan.constants) v.constants.push_back(c->literal.raw());
    v.arena_bytes = size_t(v.plan.arena_bytes.evaluate({}));
    return {};
  }

  Status call(Version& v, const KernelEnv& env, std::span<Tensor> args, const std::vector<std::shared_ptr<Variable>>& variables,
              std::span<Tensor> rets) {
    std::vector<void*> parameters(v.parameters.size()), results(v.results.size());
    std::map<Variable*, bool, std::less<>> used;  // whether it is written
    std::unique_lock generators(generators_mutex_, std::defer_lock);  // whose calls go one after the other
    for (const auto& p : v.parameters) {
      if (p.variable >= 0) {
        const auto [it, fresh] = used.emplace(variables[size_t(p.variable)].get(), p.written);
        if (!fresh && (it->second || p.written))
          return unimplemented("function ", body_.name,
                               " gets a variable that it writes as two of its arguments, which compiled code takes for two variables");
      }
      if (p.own && !generators.owns_lock()) generators.lock();
    }
    Locks locks;
    for (const auto& [x, written] : used) WEFT_RETURN_IF_ERROR(locks.take(*x, written));
    std::vector<Tensor> held;
    for (size_t i = 0; i < v.parameters.size(); ++i) {
      const auto& p = v.parameters[i];
      if (p.argument >= 0) {
        parameters[i] = args[size_t(p.argument)].raw();
        continue;
      }
      if (p.own) {
        parameters[i] = p.own;
        continue;
      }
      Variable& x = *variables[size_t(p.variable)];
      if (!x.initialized() || !(x.tensor().shape() == v.variable_shapes[size_t(p.variable)]))
        return failed_precondition("a variable of function ", body_.name, " changed its shape while the function was called");
      parameters[i] = x.tensor().raw();
      if (!used[&x]) held.push_back(x.tensor());
    }
    locks.all_held();
    for (size_t i = 0; i < v.results.size(); ++i) {
      const auto& r = v.results[i];
      if (r.ret < 0) continue;
      WEFT_ASSIGN(rets[size_t(r.ret)], Tensor::allocate(r.dtype, r.shape));
      results[i] = rets[size_t(r.ret)].raw();
    }
    Tensor arena;
    {
      std::lock_guard lock(v.mutex);
      if (!v.spare.empty()) {
        arena = std::move(v.spare.back());
        v.spare.pop_back();
      }
    }
    if (!arena.valid()) {
      WEFT_ASSIGN(arena, Tensor::allocate(DType::kInt8, Shape{int64_t(v.arena_bytes)}));
    }
    compiler::Pool pool{[](void* p, int64_t n, void (*f)(void*, int64_t, int64_t), void* data) {
                          static_cast<ThreadPool*>(p)->parallel_for(n, 1e5, [&](int64_t begin, int64_t end) { f(data, begin, end); });
                        },
                        env.pool};
    const int32_t error = v.entry(parameters.data(), results.data(), v.constants.data(), nullptr, arena.data<char>(),
                                  env.pool && env.pool->threads() > 1 ? &pool : nullptr);
    {
      std::lock_guard lock(v.mutex);
      v.spare.push_back(std::move(arena));
    }
    if (error != 0) return invalid_argument(v.module->messages[size_t(error - 1)]);
    return {};
  }

  // The counter of a random op, which all versions share.
  Result<void*> generator(const std::string& name) {
    std::lock_guard lock(generators_mutex_);
    Tensor& t = generators_[name];
    if (!t.valid()) {
      WEFT_ASSIGN(t, Tensor::zeros(DType::kUint64, {2}));
      if (name.ends_with(compiler::kUnseededGeneratorState)) t.data<uint64_t>()[1] = uint64_t(std::random_device()()) << 32;
    }
    return t.raw();
  }

  const graph::FunctionBody body_;
  const PlanContext context_;
  const runtime::PlanMaker otherwise_;
  const bool must_;
  std::atomic<runtime::Executable*> fallback_{nullptr};
  std::unique_ptr<runtime::Executable> fallback_owner_;
  // Variables: arguments that are handles, and nodes that make one.
  struct Source {
    int argument = -1;
    const graph::Node* node = nullptr;
  };
  std::vector<Source> sources_;
  std::mutex generators_mutex_;
  std::map<std::string, Tensor> generators_;
  std::shared_mutex mutex_;
  std::vector<std::shared_ptr<Version>> versions_;
};

}  // namespace

Result<std::unique_ptr<runtime::Executable>> compile_function(graph::FunctionBody body, const PlanContext& c, runtime::PlanMaker otherwise,
                                                              bool must) {
  return std::unique_ptr<runtime::Executable>(new CompiledFunction(std::move(body), c, std::move(otherwise), must));
}

}  // namespace weft_engine::jit
