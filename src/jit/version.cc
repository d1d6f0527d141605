#include "jit/version.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <random>
#include <shared_mutex>

#include "compiler/generator_state.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/own_memory.h"
#include "core/small_array.h"
#include "core/threads.h"
#include "graph/node_traits.h"
#include "runtime/interruptible.h"

namespace weft_engine::jit {
namespace {

constexpr int64_t kMostKeyElements = 64;  // integer arguments of at most this size may be fixed in the code

bool any_instr(const ir::Region& region, core::FunctionRef<bool(const ir::Instr&)> is) {
  return std::any_of(region.instrs.begin(), region.instrs.end(), [&](const auto& i) {
    return is(*i) || std::any_of(i->regions.begin(), i->regions.end(), [&](const auto& r) { return any_instr(*r, is); });
  });
}

// An op that draws numbers from a seed or a generator's state, which come as inputs.
bool draws_numbers(const graph::Node& n) {
  const auto& inputs = n.spec().signature().inputs;
  return std::any_of(inputs.begin(), inputs.end(), [](const auto& i) { return i.name == "seed" || i.name == "counter" || i.name == "algorithm"; });
}

bool equal_values(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && std::equal(a.data<char>(), a.data<char>() + a.byte_size(), b.data<char>());
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

// What code asks of its call (compiler::Pool).
struct Calling {
  ThreadPool* pool;
  CancellationManager* cancellation;
  core::Interrupt* caller;  // null: not to be asked, since the program's own code would run while variables are locked

  static void parallel_for(void* self, int64_t n, void (*f)(void*, int64_t, int64_t), void* data) {
    static_cast<Calling*>(self)->pool->parallel_for(n, 1e5, [&](int64_t begin, int64_t end) { f(data, begin, end); });
  }
  static int32_t stopped(void* self) {
    const Calling& c = *static_cast<Calling*>(self);
    if (c.cancellation && c.cancellation->cancelled()) return 1;
    if (!c.caller || !core::time_to_look.load(std::memory_order_relaxed)) return 0;
    core::time_to_look.store(false, std::memory_order_relaxed);
    if (!c.caller->look()) return 0;
    core::time_to_look.store(true, std::memory_order_relaxed);  // all that follows is to end, too
    return 1;
  }
};

}  // namespace

// ---- variables

VariableSources::VariableSources(const graph::FunctionBody& body) : function_(body.name) {
  for (size_t i = 0; i < body.arg_types.size(); ++i) {
    if (body.arg_types[i] == DType::kResource) sources_.push_back({int(i), "", "", ""});
  }
  for (const graph::Node* n : body.graph->nodes()) {
    if (role_of(*n) != op::Role::kVarHandle) continue;
    const std::string& shared = n->attr<std::string>("shared_name");
    sources_.push_back({-1, n->name(), n->attr<std::string>("container"), shared.empty() ? n->name() : shared});
  }
}

Result<Variables> VariableSources::find(const KernelEnv& env, std::span<const Tensor> args) const {
  Variables out;
  out.all.reserve(sources_.size());
  for (const Source& s : sources_) {
    if (s.argument < 0) {
      WEFT_ASSIGN(auto v, env.resources->find<Variable>(s.container, s.name));
      out.all.push_back(std::move(v));
      continue;
    }
    const Tensor& t = args[size_t(s.argument)];
    if (t.dtype() != DType::kResource || t.num_elements() != 1)
      return invalid_argument("argument ", s.argument, " of ", function_, " must be the handle of a variable");
    WEFT_ASSIGN(auto v, env.resources->get<Variable>(t.data<ResourceHandle>()[0]));
    out.all.push_back(std::move(v));
  }
  out.sort();
  return out;
}

std::optional<int> VariableSources::of_argument(int argument) const {
  for (size_t k = 0; k < sources_.size(); ++k) {
    if (sources_[k].argument == argument) return int(k);
  }
  return std::nullopt;
}

std::optional<int> VariableSources::of_node(const std::string& node) const {
  for (size_t k = 0; k < sources_.size(); ++k) {
    if (sources_[k].argument < 0 && sources_[k].node == node) return int(k);
  }
  return std::nullopt;
}

Result<CallSignature> CallSignature::of(const std::string& function, std::span<const Tensor> args, const Variables& variables) {
  CallSignature s;
  for (const Tensor& t : args) {
    s.args.push_back(t.shape());
    Tensor copy;
    if ((t.dtype() == DType::kInt32 || t.dtype() == DType::kInt64) && t.num_elements() <= kMostKeyElements) {
      WEFT_ASSIGN(copy, t.copy());
    }
    s.integers.push_back(std::move(copy));
  }
  s.same = variables.same;
  for (const auto& v : variables.all) {
    std::shared_lock lock(v->mutex());
    if (!v->initialized()) return failed_precondition("a variable that function ", function, " uses has no value yet");
    s.variable_types.push_back(v->tensor().dtype());
    s.variable_shapes.push_back(v->tensor().shape());
  }
  return s;
}

// ---- compiling

Result<void*> Generators::state(const std::string& name) {
  std::lock_guard lock(mutex_);
  Tensor& t = states_[name];
  if (!t.valid()) {
    WEFT_ASSIGN(t, Tensor::zeros(DType::kUint64, {2}));
    if (name.ends_with(compiler::kUnseededGeneratorState)) t.data<uint64_t>()[1] = uint64_t(std::random_device()()) << 32;
  }
  return t.raw();
}

Result<std::shared_ptr<Version>> Version::compile(const graph::FunctionBody& body, const VariableSources& sources, const CallSignature& signature,
                                                  const CompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  if (!options.lists_may_grow && compiler::may_grow_lists(body)) return unimplemented("a list in function ", body.name, " may grow as it is written");
  auto v = std::make_shared<Version>();
  v->function_ = body.name;
  v->signature_ = signature;
  compiler::LowerOptions o;
  o.threads = options.threads;
  std::vector<PartialShape> shapes;
  std::vector<std::optional<ShapeContext::HandleData>> handles(signature.args.size());
  for (size_t i = 0; i < signature.variable_types.size(); ++i) {
    const DType t = signature.variable_types[i];
    const PartialShape shape(signature.variable_shapes[i]);
    o.variables.push_back({cat("variable_", i), t, shape, std::nullopt});
    if (const int a = sources.argument(i); a >= 0) handles[size_t(a)] = ShapeContext::HandleData{t, shape};
  }
  for (size_t i = 0; i < signature.args.size(); ++i) {
    const bool resource = body.arg_types[i] == DType::kResource;
    shapes.push_back(resource ? PartialShape::scalar() : PartialShape(signature.args[i]));
    compiler::ArgInfo a{cat("arg_", i), shapes.back(), std::nullopt, -1};
    if (resource) a.variable = first_of(signature.same, sources.of_argument(int(i)).value_or(-1));
    o.args.push_back(std::move(a));
  }
  o.variable_of = [&](const NodeInfo& node) -> std::optional<int> {
    const auto k = sources.of_node(node.name());
    return k ? std::optional<int>(first_of(signature.same, *k)) : std::nullopt;
  };
  auto attempt = [&]() -> Result<std::unique_ptr<ir::Module>> {
    graph::FunctionBody copy = graph::clone(body);
    WEFT_RETURN_IF_ERROR(compiler::prepare(copy, shapes, handles));
    for (const graph::Node* n : copy.graph->nodes()) v->random_ |= draws_numbers(*n);
    return compiler::lower(copy, o);
  };
  auto lowered = attempt();
  if (!lowered.ok() && lowered.status().code() == Code::kUnimplemented) {
    // Small integers may decide about shapes: then their values are part of the signature.
    for (size_t i = 0; i < signature.integers.size(); ++i) {
      if (!signature.integers[i].valid()) continue;
      o.args[i].constant = signature.integers[i];
      v->fixed_.emplace_back(int(i), signature.integers[i]);
    }
    if (!v->fixed_.empty()) {
      auto again = attempt();
      if (again.ok()) lowered = std::move(again);
    }
  }
  if (!lowered.ok()) return lowered.status();
  if (options.cancel_flag && options.cancel_flag->load()) return cancelled("the compiler was told to stop");
  v->module_ = std::move(lowered).value();
  WEFT_RETURN_IF_ERROR(v->bind(o, options, body.ret_types));
  WEFT_ASSIGN(v->plan_, compiler::make_plan(*v->module_, o.threads));
  for (const ir::Instr* c : v->plan_.constants) v->constants_.push_back(c->literal.raw());
  v->arena_bytes_ = size_t(v->plan_.arena_bytes.evaluate({}));
  WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
  compiler::CodegenOptions code;
  code.embed_constants = false;
  code.cpu = "native";
  code.stoppable = true;
  code.cancel_flag = options.cancel_flag;
  WEFT_ASSIGN(v->code_, api->jit(v->plan_, code));
  v->entry_ = v->code_->entry();
  v->loops_ = any_instr(*v->module_->main, [](const ir::Instr& i) { return i.op == ir::Op::kWhile; });
  v->random_ |= any_instr(*v->module_->main, [](const ir::Instr& i) { return i.op == ir::Op::kPhilox; });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  log(LogLevel::kInfo, cat("compiled ", body.name, " in ", int(seconds * 1e3), " ms"));
  return v;
}

// What of a call goes where.
Status Version::bind(const compiler::LowerOptions& o, const CompileOptions& options, std::span<const DType> results) {
  for (const ir::Parameter& p : module_->parameters) {
    Parameter to;
    for (size_t i = 0; i < o.args.size(); ++i) {
      if (p.kind == ir::Parameter::Kind::kInput && o.args[i].name == p.name) to.argument = int(i);
    }
    for (size_t i = 0; i < o.variables.size(); ++i) {
      if (p.kind == ir::Parameter::Kind::kState && o.variables[i].name == p.name) to.variable = int(i);
    }
    if (to.argument < 0 && to.variable < 0 && p.type.dtype == DType::kUint64 && options.generators) {
      WEFT_ASSIGN(to.own, options.generators->state(p.name));
      generators_ = options.generators;
    }
    if (to.argument < 0 && to.variable < 0 && !to.own) return unimplemented("state '", p.name, "' of function ", function_, " in compiled code");
    parameters_.push_back(to);
  }
  int ret = 0;
  for (size_t i = 0; i < module_->results.size(); ++i) {
    const ir::Result& r = module_->results[i];
    if (r.state >= 0) {
      parameters_[size_t(r.state)].written = true;
      writes_ |= parameters_[size_t(r.state)].variable >= 0;
      outputs_.push_back({});
      continue;
    }
    const ir::Type& t = module_->main->results[i]->type;
    std::vector<int64_t> dims;
    for (const ir::Dim& d : t.dims) dims.push_back(d.evaluate({}));
    // The body says which type integers of quantised numbers have.
    outputs_.push_back({ret, size_t(ret) < results.size() ? base_type(results[size_t(ret)]) : t.dtype, Shape(dims)});
    ++ret;
  }
  if (ret != int(results.size())) return internal_error("compiled ", function_, " gives ", ret, " results");
  return {};
}

// ---- calls

bool Version::fits(std::span<const Tensor> args, const Variables& variables) const {
  if (signature_.same != variables.same) return false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].dtype() != DType::kResource && !(args[i].shape() == signature_.args[i])) return false;
  }
  for (size_t i = 0; i < variables.all.size(); ++i) {
    Variable& x = *variables.all[i];
    std::shared_lock lock(x.mutex());
    if (!x.initialized() || !(x.tensor().shape() == signature_.variable_shapes[i])) return false;
  }
  return std::all_of(fixed_.begin(), fixed_.end(), [&](const auto& f) { return equal_values(f.second, args[size_t(f.first)]); });
}

Status Version::call(const KernelEnv& env, std::span<Tensor> args, const Variables& variables, std::span<Tensor> rets, bool& unchanged) {
  unchanged = true;
  if (signature_.same != variables.same) return failed_precondition("other arguments of compiled ", function_, " are the same variable");
  for (const auto& [i, value] : fixed_) {
    if (!equal_values(value, args[size_t(i)])) return failed_precondition("argument ", i, " of compiled ", function_, " has another value");
  }
  core::SmallArray<void*, 16> parameters(parameters_.size()), results(outputs_.size());
  std::vector<char> used(variables.all.size()), written(variables.all.size());
  for (const Parameter& p : parameters_) {
    if (p.variable < 0) continue;
    used[size_t(p.variable)] = true;
    written[size_t(p.variable)] = p.written;
  }
  std::unique_lock<std::mutex> generators;
  if (generators_) generators = std::unique_lock(generators_->calls);
  Locks locks;
  for (int i : variables.by_address) {
    if (used[size_t(i)]) WEFT_RETURN_IF_ERROR(locks.take(variables[i], written[size_t(i)]));
  }
  std::vector<Tensor> held;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& p = parameters_[i];
    if (p.argument >= 0) {
      parameters[i] = args[size_t(p.argument)].raw();
      continue;
    }
    if (p.own) {
      parameters[i] = p.own;
      continue;
    }
    Variable& x = variables[p.variable];
    if (!x.initialized() || x.tensor().dtype() != signature_.variable_types[size_t(p.variable)] ||
        !(x.tensor().shape() == signature_.variable_shapes[size_t(p.variable)]))
      return failed_precondition("a variable of function ", function_, " changed its shape while the function was called");
    parameters[i] = x.tensor().raw();
    if (!p.written) held.push_back(x.tensor());
  }
  locks.all_held();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Output& r = outputs_[i];
    results[i] = nullptr;
    if (r.ret < 0) continue;
    WEFT_ASSIGN(rets[size_t(r.ret)], Tensor::allocate(r.dtype, r.shape));
    results[i] = rets[size_t(r.ret)].raw();
  }
  Tensor arena;
  {
    std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      arena = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (!arena.valid()) {
    WEFT_ASSIGN(arena, Tensor::allocate(DType::kInt8, Shape{int64_t(arena_bytes_)}));
  }
  const bool locked = writes_ || generators_;
  if (loops_ && locked) runtime::note_uninterruptible_call();
  core::Interrupt* const caller = core::Interrupt::current();
  Calling calling{env.pool, env.cancellation, locked ? nullptr : caller};
  const compiler::Pool pool{env.pool && env.pool->threads() > 1 ? &Calling::parallel_for : nullptr, &calling, &Calling::stopped};
  int32_t error = 0;
  {
    const core::Uninterruptible undisturbed;  // an exception of the pool's loops could not pass through the code
    error = entry_(parameters.data(), results.data(), constants_.data(), nullptr, arena.data<char>(), &pool);
  }
  {
    std::lock_guard lock(mutex_);
    spare_.push_back(std::move(arena));
  }
  if (error == 0) return {};
  unchanged = !code_->fails_late();
  if (error == compiler::kStopped) return caller && caller->wanted() ? core::interrupted_call() : cancelled("Step was cancelled");
  return invalid_argument(module_->messages[size_t(error - 1)]);
}

}  // namespace weft_engine::jit
