#include "engine/engine.h"
#include "trace/apply.h"
#include "trace/concrete_function.h"
#include "op/declarations.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "wire/proto.h"

#include "api/unwrap.h"
#include "weft/context.h"

namespace weft {
namespace api {

void check(const core::Status& status) {
  if (status.ok()) [[likely]]
    return;
  const core::Status::Origin& origin = status.origin();
  std::string text = status.message();
  if (origin.function.empty()) {
    if (!origin.op.empty()) text += core::cat(" (op ", origin.op, ")");
  } else {
    // The end of a dataset is news, not a fault to look for.
    const bool news = status.code() == core::Code::kOutOfRange;
    text += core::cat(" (function ", origin.function, news ? ")" : "; weft::run_functions_eagerly(true) runs it op by op)");
  }
  throw Error(static_cast<Code>(status.code()), text);
}

namespace {

struct Process {
  std::mutex mutex;
  eager::ContextOptions options;
  std::atomic<eager::Context*> context{nullptr};
};
Process& process() {
  static Process* p = new Process;  // outlives static destructors of the user
  return *p;
}

}  // namespace

eager::Context& context() {
  Process& p = process();
  if (auto* c = p.context.load(std::memory_order_acquire)) return *c;
  std::lock_guard lock(p.mutex);
  if (!p.context.load()) p.context.store(new eager::Context(engine::Engine::get().registry(), p.options), std::memory_order_release);
  return *p.context.load();
}

// The context that was stays for what was made in it: tensors, variables and functions.
void reset_context() {
  Process& p = process();
  std::lock_guard lock(p.mutex);
  p.context.store(nullptr);
  p.options = {};
}

bool has_context() { return process().context.load(std::memory_order_acquire) != nullptr; }

std::string& scoped_device() { return trace::scoped_device(); }

}  // namespace api

std::string version() { return WEFT_VERSION; }

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> list;
  for (const auto& d : api::context().devices().all()) list.push_back({d->name(), d->type(), d->memory_limit()});
  return list;
}

void configure(const Config& config) {
  auto& p = api::process();
  std::lock_guard lock(p.mutex);
  if (p.context.load()) throw Error(Code::kFailedPrecondition, "configure() must come before the first op");
  if (config.cpu_devices < 1 || config.cpu_devices > 1024) throw Error(Code::kInvalidArgument, "cpu_devices must be from 1 to 1024");
  p.options.cpu_devices = config.cpu_devices;
  p.options.intra_threads = config.intra_threads;
  p.options.inter_threads = config.inter_threads;
  p.options.soft_placement = config.soft_placement;
  p.options.log_device_placement = config.log_device_placement;
  p.options.disabled_passes = config.optimizer.disabled_passes;
  p.options.auto_compile = config.optimizer.jit_compile;
  engine::Engine::get().limit_dataset_threads(config.inter_threads);
}

void set_log_device_placement(bool on) { api::context().log_device_placement.store(on); }
void set_soft_placement(bool on) { api::context().soft_placement.store(on); }
void set_optimizer(const OptimizerOptions& options) { api::context().runtime().set_optimizer(options.disabled_passes, options.jit_compile); }

DeviceScope::DeviceScope(std::string_view device) : previous_(api::scoped_device()) {
  api::unwrap(api::context().devices().resolve(device, api::context().soft_placement.load()));
  api::scoped_device() = std::string(device);
  trace::eager_emitter(api::context()).set_device(api::scoped_device());  // gradients
}
DeviceScope::~DeviceScope() {
  api::scoped_device() = previous_;
  if (api::has_context()) trace::eager_emitter(api::context()).set_device(previous_);
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto* spec : engine::Engine::get().registry().all()) names.emplace_back(spec->name);
  return names;
}

namespace {

std::string kernel_text(const op::KernelDef& k) {
  std::string out = k.device_type;
  for (const auto& c : k.constraints) {
    std::vector<std::string> names;
    for (auto t : c.types) names.push_back(core::dtype_name(t));
    out += core::cat(" ", c.attr, "=", core::join(names, "|"));
  }
  return out;
}

// What the op does. Of some only the signature is known.
std::string_view summary(const op::OpSpec& spec) { return op::is_declared_only(spec) ? "signature only, no kernel" : spec.summary; }

std::string_view gradient_text(const op::OpSpec& spec) {
  switch (spec.traits().role) {
    case op::Role::kCall:
    case op::Role::kIf:
    case op::Role::kCase:
    case op::Role::kWhile: return "yes";  // of the functions it calls
    default: break;
  }
  return spec.grad ? "yes" : spec.no_gradient ? "none (not differentiable)" : "missing";
}

}  // namespace

std::string describe_op(std::string_view name) {
  auto& registry = engine::Engine::get().registry();
  const op::OpSpec* spec = api::unwrap(registry.get(name));
  std::string out = core::cat(spec->name, ": ", summary(*spec), "\n");
  for (auto d : spec->declared_inputs) out += core::cat("  input   ", d, "\n");
  for (auto d : spec->declared_outputs) out += core::cat("  output  ", d, "\n");
  for (auto d : spec->declared_attrs) out += core::cat("  attr    ", d, "\n");
  if (spec->stateful) out += "  stateful\n";
  if (spec->deprecated_since) out += core::cat("  deprecated since graph version ", spec->deprecated_since, ": ", spec->deprecation, "\n");
  const auto kernels = registry.kernels(*spec);
  for (const auto& k : kernels) out += core::cat("  kernel  ", kernel_text(k), "\n");
  if (kernels.empty()) out += "  no kernel in this version\n";
  out += core::cat("  gradient  ", gradient_text(*spec), "\n  lowering  ", spec->lower ? "yes" : "none (not compiled)", "\n");
  return out;
}

std::string op_table() {
  auto& registry = engine::Engine::get().registry();
  std::string out = "| op | what it does | kernels | gradient | lowering |\n|---|---|---|---|---|\n";
  for (const auto* spec : registry.all()) {
    std::vector<std::string> kernels;
    for (const auto& k : registry.kernels(*spec)) kernels.push_back(kernel_text(k));
    std::string text = core::join(kernels, "; ");
    for (size_t at = 0; (at = text.find('|', at)) != std::string::npos;) text[at] = ' ';
    out += core::cat("| ", spec->name, " | ", summary(*spec), " | ", text.empty() ? "none" : text, " | ", gradient_text(*spec),
                     spec->lower ? " | yes |\n" : " | none |\n");
  }
  return out;
}

std::vector<std::string> load_library(const std::string& path) {
  const auto library = api::unwrap(engine::Engine::get().load_library(path));
  std::vector<std::string> names;
  for (wire::ProtoReader ops(library.op_list); ops.next();) {
    if (ops.field() != 1) continue;
    for (wire::ProtoReader op = ops.message(); op.next();) {
      if (op.field() == 1) names.emplace_back(op.bytes());
    }
  }
  return names;
}

}  // namespace weft
