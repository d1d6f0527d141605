#include "runtime/function_runtime.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <algorithm>

#include "core/call_depth.h"
#include "core/own_memory.h"
#include "core/remote_tensor.h"
#include "graph/node_traits.h"
#include "graph/passes/auto_jit.h"
#include "graph/rewriters.h"
#include "op/call_in_place.h"
#include "op/graph_version.h"
#include "op/op_traits.h"
#include "op/placed_kernel.h"
#include "op/step_trace.h"
#include "runtime/device_compiler.h"
#include "runtime/hot_plan.h"
#include "runtime/partition.h"
#include "runtime/placer.h"
#include "runtime/program.h"

namespace weft_engine::runtime {
namespace {

constexpr size_t kMaxSpecializations = 16;  // plans for particular shapes, per function
constexpr size_t kMaxDropped = 64;   // plans of functions that were removed or replaced, for others that still call them

std::string key_of(const FunctionAttr& f, const InstantiateOptions& o) {
  std::string key = f.name;
  if (f.attrs) {
    for (const auto& [k, v] : *f.attrs) key += cat("\x01", k, "\x02", v.to_string());
  }
  key += cat("\x03", o.target, "\x03", o.executor_type, "\x03", o.multi_device ? "1" : "0",
             o.must_compile  ? "c"
             : o.may_compile ? "m"
                             : "",
             "\x03", o.config_proto);
  if (!o.state_handle.empty()) key += cat("\x05", o.state_handle);
  for (const auto& d : o.output_devices) key += cat("\x03", d);
  for (const auto& d : o.input_devices) key += cat("\x04", d);
  return key;
}

// A plan is made of several copies of the graph. What a large one's leave to the allocator is more than all that is kept, and nothing may ever ask for it again.
void give_back_memory([[maybe_unused]] const graph::FunctionBody& body) {
#if defined(__GLIBC__)
  constexpr int kLarge = 20000;  // nodes
  if (body.graph->num_nodes() >= kLarge) malloc_trim(0);
#endif
}

std::atomic<ConfigReader> config_reader{nullptr};
std::atomic<GradientMaker> gradient_maker{nullptr};
std::atomic<FunctionCompiler> function_compiler{nullptr};
std::atomic<DeviceCompiler> device_compiler{nullptr};

bool is_plain(DType t) { return t != DType::kResource && t != DType::kVariant; }

Status call_anywhere(FunctionHandle& f, const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) {
  auto* instance = dynamic_cast<Instance*>(&f);
  if (!instance) return f.run(env, args, rets);
  WEFT_RETURN_IF_ERROR(instance->run_in_place(env, args, rets));
  return fetch_all(rets);
}

// Do all that read the node's results on the host take them from wherever they lie? Functions bring their arguments, results of a function are its
// caller's, and what goes into a variant is handed on.
bool read_from_anywhere(const graph::Node& node, int depth = 0) {
  constexpr int kMostDepth = 8;  // of nodes that hand on
  return std::all_of(node.uses().begin(), node.uses().end(), [&](const graph::Use& use) {
    const graph::Node& reader = *use.node;
    if (is_retval(reader) || role_of(reader) == op::Role::kCall) return true;
    if (graph::forwards_inputs(reader)) return depth < kMostDepth && read_from_anywhere(reader, depth + 1);
    return op::wraps_tensors(reader.spec());
  });
}

void leave_results_in_place(graph::FunctionBody& body) {
  for (graph::Node* n : body.graph->nodes()) {
    if (role_of(*n) == op::Role::kCall && read_from_anywhere(*n)) body.graph->set_attr(n, op::kResultsInPlace, true);
  }
}

bool is_disabled(const std::vector<std::string>& passes, std::string_view name) {
  return std::find(passes.begin(), passes.end(), name) != passes.end();
}

// The engine's plan as a Program; null where it is of another kind.
Program* program_of(Executable* plan) {
  if (auto* p = dynamic_cast<Program*>(plan)) return p;
  auto* hot = dynamic_cast<HotPlan*>(plan);
  return hot ? dynamic_cast<Program*>(&hot->engine_plan()) : nullptr;
}

bool flag(const AttrMap& attrs, std::string_view name) {
  const auto it = attrs.find(name);
  const bool* b = it == attrs.end() ? nullptr : it->second.get<bool>();
  return b && *b;
}

}  // namespace

void set_config_reader(ConfigReader reader) { config_reader.store(reader); }
void set_gradient_maker(GradientMaker maker) { gradient_maker.store(maker); }
void set_function_compiler(FunctionCompiler compiler) { function_compiler.store(compiler); }
void set_device_compiler(DeviceCompiler compiler) { device_compiler.store(compiler); }

// ---- Instance ------------------------------------------------------------------------------------------

Instance::Instance(FunctionLibraryRuntime& runtime, graph::FunctionBody body, InstantiateOptions options, std::shared_ptr<KernelCache> kernels,
                   std::vector<std::string> disabled_passes)
    : runtime_(runtime),
      body_(std::move(body)),
      options_(std::move(options)),
      disabled_passes_(std::move(disabled_passes)),
      kernels_(kernels ? std::move(kernels) : std::make_shared<KernelCache>()) {
  // Without a plain tensor among the arguments there are no shapes to specialize to.
  specializable_ = !options_.must_compile && !options_.may_compile && std::any_of(body_.arg_types.begin(), body_.arg_types.end(), is_plain);
}

Result<graph::FunctionBody> Instance::optimized(const std::vector<PartialShape>& arg_shapes,
                                                const std::function<Status(graph::FunctionBody&)>& change) const {
  graph::FunctionBody body = graph::clone(body_);
  if (change) WEFT_RETURN_IF_ERROR(change(body));
  graph::PassContext c;
  c.env = runtime_.env();
  Device* const preferred = runtime_.default_device(options_);
  c.env.device = dynamic_cast<RemoteTarget*>(preferred) ? runtime_.options().devices->host() : preferred;
  c.arg_shapes = arg_shapes;
  c.disabled = disabled_passes_;
  // A device that somebody brought has kernels for the ops of the graph, not for those that several are fused into.
  // Nor may a task of another program have them.
  if (core::is_mixed(*runtime_.options().devices) || has_remote_devices(*runtime_.options().devices)) c.disabled.push_back("remap");
  graph::run_rewriters(body, *runtime_.options().devices);
  WEFT_RETURN_IF_ERROR(graph::optimize(body, c));
  PlaceOptions p;
  p.devices = runtime_.options().devices;
  p.registry = runtime_.options().registry;
  p.by_priority = options_.target.empty();
  p.default_device = preferred;
  if (const auto* soft = runtime_.options().soft_placement) p.allow_soft_placement = soft->load();
  if (const auto* log = runtime_.options().log_device_placement) p.log = log->load();
  p.output_devices = options_.output_devices;
  for (const std::string& d : options_.input_devices) {
    auto name = DeviceName::parse(d);
    p.arg_devices.push_back(d.empty() || !name.ok() ? nullptr : p.devices->find(*name));
  }
  WEFT_RETURN_IF_ERROR(place(body, p));
  return body;
}

Result<std::unique_ptr<Executable>> Instance::make_plan(const std::vector<PartialShape>& arg_shapes) const {
  const RuntimeOptions& o = runtime_.options();
  PlanContext c{o.registry, runtime_.default_device(options_), o.pool, o.inter, kernels_.get()};
  auto engine_plan = [this, c, arg_shapes](const std::function<Status(graph::FunctionBody&)>& change) mutable -> Result<std::unique_ptr<Executable>> {
    const op::GraphVersion version(body_.graph->versions.producer);
    WEFT_ASSIGN(graph::FunctionBody body, optimized(arg_shapes, change));
    const DeviceSet& devices = *runtime_.options().devices;
    if (devices.all().size() > 1) {
      Device* only = single_device(body, devices);
      if (!only || dynamic_cast<RemoteTarget*>(only)) {
        WEFT_ASSIGN(std::unique_ptr<Executable> parts, plan_partitioned(body, devices, c));
        const DeviceCompiler on_device = device_compiler.load();
        Device* const device = on_device && !change && !only ? device_to_compile_for(body, devices) : nullptr;
        if (auto compiled = device ? on_device(body_, *device, parts) : nullptr) return std::unique_ptr<Executable>(std::move(compiled));
        return parts;
      }
      c.device = only;
    }
    if (core::is_mixed(devices)) leave_results_in_place(body);
    WEFT_ASSIGN(std::unique_ptr<Executable> program, plan_sequential(body, c));
    if (!program) {
      WEFT_ASSIGN(program, plan_dataflow(body, c));
    }
    if (const DeviceCompiler on_device = device_compiler.load(); on_device && c.device && !c.device->host_memory() && !change) {
      if (auto compiled = on_device(body_, *c.device, program)) return std::unique_ptr<Executable>(std::move(compiled));
    }
    // With the shapes of a call known, or none to know.
    if (!change && (!arg_shapes.empty() || std::none_of(body_.arg_types.begin(), body_.arg_types.end(), is_plain)) &&
        !is_disabled(disabled_passes_, graph::kAutoJit) && !core::is_mixed(devices) && !has_remote_devices(devices))
      return with_hot_plan(body_, c, std::move(program));
    return program;
  };
  const FunctionCompiler compile = function_compiler.load();
  if (options_.must_compile) {
    // Where the nodes go to a device that compiles for itself, as on a GPU, it does.
    if (core::is_mixed(*o.devices) && device_compiler.load()) {
      auto placed = engine_plan;
      auto made = placed(nullptr);
      if (made.ok() && dynamic_cast<CompiledPlan*>(made->get())) return made;
    }
    if (!compile) return unimplemented("function ", body_.name, " is to be compiled, and there is no compiler");
    return compile(graph::clone(body_), c, engine_plan, true);
  }
  if (options_.may_compile && compile) return compile(graph::clone(body_), c, engine_plan, false);
  return engine_plan(nullptr);
}

Result<Executable*> Instance::plan() {
  if (Executable* e = general_.load(std::memory_order_acquire)) return e;
  std::lock_guard lock(mutex_);
  if (Executable* e = general_.load(std::memory_order_acquire)) return e;
  if (!error_.ok()) return error_;
  auto made = make_plan({});
  give_back_memory(body_);
  if (!made.ok()) return error_ = made.status();
  general_owner_ = std::move(made).value();
  if (is_distributed(*general_owner_) || dynamic_cast<CompiledPlan*>(general_owner_.get()))
    specializable_ = false;  // tasks and compilers make plans for shapes themselves
  general_.store(general_owner_.get(), std::memory_order_release);
  return general_owner_.get();
}

bool Instance::matches(const Specialization& s, std::span<const Tensor> args) const {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!(args[i].shape() == s.shapes[i])) return false;
  }
  return true;
}

const Instance::Specialization* Instance::find_specialization(std::span<const Tensor> args) {
  if (const Specialization* s = recent_.load(std::memory_order_acquire); s && matches(*s, args)) [[likely]]
    return s;
  if (!specializable_.load(std::memory_order_relaxed) || args.size() != body_.arg_types.size()) return nullptr;
  if (auto all = specializations_.load()) {
    for (const auto& s : *all) {
      if (!matches(*s, args)) continue;
      recent_.store(s.get(), std::memory_order_release);
      return s.get();
    }
  }
  // Shapes seen once run the general plan; a second time in a row they are worth one of their own.
  return specialize(args);
}

Result<Executable*> Instance::choose(std::span<const Tensor> args) {
  if (const Specialization* s = find_specialization(args)) return s->plan.get();
  return plan();
}

const Instance::Specialization* Instance::specialize(std::span<const Tensor> args) {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return nullptr;
  const bool again = missed_.size() == args.size() &&
                     std::equal(args.begin(), args.end(), missed_.begin(), [](const Tensor& t, const Shape& s) { return t.shape() == s; });
  missed_.clear();
  for (const Tensor& t : args) missed_.push_back(t.shape());
  auto all = specializations_.load();
  if ((!again && jit_mode() != JitMode::kTest) || (all && all->size() >= kMaxSpecializations)) return nullptr;
  std::vector<PartialShape> shapes;
  for (size_t i = 0; i < args.size(); ++i) shapes.push_back(PartialShape(args[i].shape()));
  auto made = make_plan(shapes);
  give_back_memory(body_);
  if (!made.ok()) {
    // The general plan reports what is wrong, at the node that fails.
    specializable_ = false;
    return nullptr;
  }
  auto specialization = std::make_shared<Specialization>();
  specialization->shapes = missed_;
  specialization->plan = std::move(made).value();
  auto more = all ? std::make_shared<Specializations>(*all) : std::make_shared<Specializations>();
  more->push_back(specialization);
  specializations_.store(more);
  recent_.store(specialization.get(), std::memory_order_release);
  return specialization.get();
}

Status Instance::run_in_place(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) {
  return core::call_deeper(body_.name, [&]() -> Status {
    if (has_references(args)) {
      WEFT_ASSIGN(Executable * general, plan());
      if (is_distributed(*general)) return general->run(env, args, rets);
      WEFT_RETURN_IF_ERROR(fetch_all(args));
    }
    WEFT_ASSIGN(Executable * e, choose(args));
    return e->run(env, args, rets);
  });
}

Status Instance::run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) {
  WEFT_RETURN_IF_ERROR(run_in_place(env, args, rets));
  WEFT_RETURN_IF_ERROR(fetch_all(rets));
  return core::all_to_host(rets);
}

void Instance::run_async(const KernelEnv& env, std::vector<Tensor> args, Done done) {
  // What it calls in turn runs on this thread or on those of the plan, which continue from this depth.
  if (core::call_depth() >= core::kMostCallDepth) return done(core::call_deeper(body_.name, [] { return Status(); }), {});
  const core::AdoptCallDepth deeper(core::call_depth() + 1);
  if (has_references(args)) {
    auto general = plan();
    if (!general.ok()) return done(general.status(), {});
    const bool plain = std::all_of(args.begin(), args.end(), [](const Tensor& t) {
      const auto value = core::referred(t);
      return !value || value->value_type() == DType::kResource;
    });
    if (!plain && !is_distributed(**general)) {
      return fetch_all(std::move(args), [this, self = shared_from_this(), env, done = std::move(done)](Status s, std::vector<Tensor> values) mutable {
        if (!s.ok()) return done(std::move(s), {});
        run_async(env, std::move(values), std::move(done));
      });
    }
  }
  auto e = has_references(args) ? plan() : choose(args);
  if (!e.ok()) return done(e.status(), {});
  (*e)->run_async(env, std::move(args), [done = std::move(done)](Status s, std::vector<Tensor> rets) mutable {
    if (s.ok() && has_references(rets)) {
      return fetch_all(std::move(rets), std::move(done));
    }
    if (s.ok()) s = core::all_to_host(rets);
    done(std::move(s), std::move(rets));
  });
}

Status Instance::loop(const KernelEnv& env, FunctionHandle& cond, std::span<Tensor> vars) {
  return core::call_deeper(body_.name, [&]() -> Status {
    auto* c = dynamic_cast<Instance*>(&cond);
    bool done = false;
    if (const Specialization* bs = c ? find_specialization(vars) : nullptr) {
      const Specialization* cs = c->find_specialization(vars);
      Program* const bp = program_of(bs->plan.get());
      Program* const cp = cs ? program_of(cs->plan.get()) : nullptr;
      if (cp && bp) WEFT_RETURN_IF_ERROR(Program::loop(*cp, *bp, env, vars, bs->shapes, done));
      if (done) return core::all_to_host(vars);
    }
    if (c) {
      WEFT_ASSIGN(Executable * ce, c->plan());
      WEFT_ASSIGN(Executable * be, plan());
      Program* const cp = program_of(ce);
      Program* const bp = program_of(be);
      if (cp && bp) {
        WEFT_RETURN_IF_ERROR(Program::loop(*cp, *bp, env, vars, {}, done));
        return core::all_to_host(vars);
      }
    }
    for (;;) {
      std::vector<Tensor> args(vars.begin(), vars.end());
      Tensor go;
      WEFT_RETURN_IF_ERROR(cond.run(env, args, {&go, 1}));
      if (go.dtype() != DType::kBool || go.num_elements() != 1)
        return invalid_argument("The second input must be a scalar, but it has shape ", go.shape());
      if (!go.data<bool>()[0]) return {};
      std::vector<Tensor> rets(vars.size());
      WEFT_RETURN_IF_ERROR(run(env, vars, rets));
      std::move(rets.begin(), rets.end(), vars.begin());
    }
  });
}

// ---- FunctionLibraryRuntime ----------------------------------------------------------------------------

namespace {

bool compiles_all(bool asked, const std::vector<std::string>& disabled_passes) {
  return asked || (jit_mode() == JitMode::kOn && !is_disabled(disabled_passes, graph::kAutoJit));
}

}  // namespace

FunctionLibraryRuntime::FunctionLibraryRuntime(RuntimeOptions options, std::shared_ptr<graph::FunctionLibrary> library)
    : options_(std::move(options)),
      library_(std::move(library)),
      auto_compile_(compiles_all(options_.auto_compile, options_.disabled_passes)),
      disabled_passes_(options_.disabled_passes) {
  op::call_in_place.store(&call_anywhere, std::memory_order_relaxed);
}

void FunctionLibraryRuntime::set_optimizer(std::vector<std::string> disabled_passes, bool auto_compile) {
  std::unique_lock lock(mutex_);
  auto_compile_.store(compiles_all(auto_compile, disabled_passes));
  disabled_passes_ = std::move(disabled_passes);
  ++settings_;
}

FunctionLibraryRuntime::~FunctionLibraryRuntime() = default;

Device* FunctionLibraryRuntime::default_device(const InstantiateOptions& o) const {
  if (!o.target.empty()) {
    if (auto name = DeviceName::parse(o.target); name.ok()) {
      if (Device* d = options_.devices->find(*name)) return d;
    }
  }
  return options_.devices->host();
}

KernelEnv FunctionLibraryRuntime::env() const {
  KernelEnv e;
  e.device = options_.devices->host();
  e.pool = options_.pool;
  e.resources = options_.resources;
  e.step_resources = options_.resources;
  e.functions = const_cast<FunctionLibraryRuntime*>(this);
  e.rendezvous = options_.rendezvous;
  return e;
}

Result<std::shared_ptr<FunctionHandle>> FunctionLibraryRuntime::instantiate(const FunctionAttr& function, const InstantiateOptions& options) {
  auto owner = library_->owner(function.name);
  WEFT_ASSIGN(std::shared_ptr<Instance> made, instance(function, options));
  if (!owner) return std::shared_ptr<FunctionHandle>(std::move(made));
  struct Held {
    std::shared_ptr<const void> owner;
    std::shared_ptr<Instance> instance;  // goes first
  };
  FunctionHandle* handle = made.get();
  return std::shared_ptr<FunctionHandle>(std::make_shared<Held>(std::move(owner), std::move(made)), handle);
}

Result<std::shared_ptr<Instance>> FunctionLibraryRuntime::instance(const FunctionAttr& function, const InstantiateOptions& given) {
  if (function.name == op_of(op::Role::kSymbolicGradient) && function.attrs && !library_->contains(function.name)) {
    auto of = function.attrs->find("f");
    const FunctionAttr* f = of == function.attrs->end() ? nullptr : of->second.get<FunctionAttr>();
    const GradientMaker make = gradient_maker.load();
    if (!f || !make) return invalid_argument("SymbolicGradient without a function");
    WEFT_ASSIGN(FunctionAttr gradient, make(*options_.registry, library_, *f));
    return instance(gradient, given);
  }
  InstantiateOptions options = given;
  if (options_.devices->all().size() == 1) options.input_devices.clear();
  WEFT_ASSIGN(auto def, library_->find(function.name));
  if (!options.target.empty()) {
    auto name = DeviceName::parse(options.target);
    if (!name.ok()) return invalid_argument("Malformed device specification '", options.target, "' for function ", function.name);
    if (!options_.devices->find(*name))
      return invalid_argument("function ", function.name, " is to run on ", options.target, ", which is not a device of this process");
  }
  options.must_compile = options.must_compile || flag(def->attrs, "_XlaMustCompile");
  std::string key = key_of(function, options);
  std::vector<std::string> disabled;
  {
    std::shared_lock lock(mutex_);
    if (settings_) key += cat("\x03", settings_);
    disabled = disabled_passes_;
    if (auto of = instances_.find(function.name); of != instances_.end()) {
      if (auto it = of->second.find(key); it != of->second.end() && it->second.def == def) return it->second.instance;
    }
  }
  static const AttrMap& kNone = *new AttrMap;
  WEFT_ASSIGN(graph::FunctionBody body, graph::instantiate_function(*def, function.attrs ? *function.attrs : kNone, *options_.registry, library_));
  if (const ConfigReader read = config_reader.load(); read && !options.config_proto.empty()) {
    auto passes = read(options.config_proto);
    if (!passes.ok()) return passes.status();
    disabled.insert(disabled.end(), passes->begin(), passes->end());
  }
  auto made = std::make_shared<Instance>(*this, std::move(body), options, nullptr, std::move(disabled));
  std::vector<std::shared_ptr<Instance>> dead;  // freed when the lock is, too
  std::unique_lock lock(mutex_);
  auto& slot = instances_[function.name][key];
  if (slot.def == def && slot.instance) return slot.instance;
  if (slot.instance) drop(std::move(slot.instance), dead);
  slot = {std::move(def), std::move(made)};
  auto out = slot.instance;
  lock.unlock();
  return out;
}

void FunctionLibraryRuntime::drop(std::shared_ptr<Instance> instance, std::vector<std::shared_ptr<Instance>>& dead) {
  dropped_.push_back(std::move(instance));
  if (dropped_.size() <= kMaxDropped) return;
  dead.push_back(std::move(dropped_.front()));
  dropped_.pop_front();
}

void FunctionLibraryRuntime::forget(std::span<const std::string> names, bool owned) {
  std::vector<std::shared_ptr<Instance>> dead;  // freed when the lock is, too: kernels may release further functions
  std::unique_lock lock(mutex_);
  for (const std::string& name : names) {
    auto it = instances_.find(name);
    if (it == instances_.end()) continue;
    for (auto& [key, cached] : it->second) {
      if (owned) dead.push_back(std::move(cached.instance));
      else drop(std::move(cached.instance), dead);
    }
    instances_.erase(it);
  }
  lock.unlock();
}

std::shared_ptr<Instance> FunctionLibraryRuntime::instantiate(graph::FunctionBody body, std::shared_ptr<KernelCache> kernels, bool must_compile) {
  InstantiateOptions options;
  options.must_compile = must_compile;
  options.may_compile = !must_compile && auto_compile();
  std::shared_lock lock(mutex_);
  return std::make_shared<Instance>(*this, std::move(body), std::move(options), std::move(kernels), disabled_passes_);
}

void FunctionLibraryRuntime::step_failed(int64_t step_id) {
  if (options_.resources) options_.resources->clear_container(step_container(step_id));
}

}  // namespace weft_engine::runtime
