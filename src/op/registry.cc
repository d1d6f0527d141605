#include "op/registry.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>

#include "core/error_notes.h"
#include "op/declarations.h"
#include "op/make_kernel.h"
#include "op/placed_kernel.h"

namespace weft_engine::op {

OpBuilder& OpBuilder::in(std::string_view s) {
  spec_.declared_inputs.push_back(s);
  return *this;
}
OpBuilder& OpBuilder::in(const char* s) { return in(std::string_view(s)); }
OpBuilder& OpBuilder::out(std::string_view s) {
  spec_.declared_outputs.push_back(s);
  return *this;
}
OpBuilder& OpBuilder::out(const char* s) { return out(std::string_view(s)); }
OpBuilder& OpBuilder::attr(std::string_view s) {
  spec_.declared_attrs.push_back(s);
  return *this;
}
OpBuilder& OpBuilder::attr(const char* s) { return attr(std::string_view(s)); }
OpBuilder& OpBuilder::full_type(std::string_view s) {
  spec_.full_types.emplace_back(int(spec_.declared_outputs.size()) - 1, s);
  return *this;
}
OpBuilder& OpBuilder::doc(std::string_view s) {
  spec_.summary = s;
  return *this;
}
OpBuilder& OpBuilder::doc(const char* s) { return doc(std::string_view(s)); }

OpBuilder& OpBuilder::kernel(const char* device, KernelFactory make, std::vector<TypeConstraint> constraints) {
  spec_.kernels.push_back(KernelDef{device, std::move(constraints), {}, 0, std::move(make)});
  return *this;
}
OpBuilder& OpBuilder::kernel(const char* device, KernelFactory make, TypeConstraints constraints) {
  return kernel(device, std::move(make), std::vector<TypeConstraint>(constraints));
}
OpBuilder& OpBuilder::made_kernel(MakeKernel make, TypeConstraints constraints) { return kernel("CPU", make, constraints); }
OpBuilder& OpBuilder::function_kernel(KernelFunction f, TypeConstraints constraints) {
  return kernel(
      "CPU", [f](const NodeInfo&) -> Result<std::unique_ptr<Kernel>> { return std::unique_ptr<Kernel>(new FunctionKernel(f)); }, constraints);
}

OpBuilder Registry::add(const char* name) { return add(std::string_view(name)); }

OpBuilder Registry::add(std::string_view name) {
  std::unique_lock lock(mutex_);
  auto& slot = ops_[name];
  assert(!slot && "an op is registered twice");
  slot = std::make_unique<OpSpec>();
  slot->name = name;
  return OpBuilder(*slot);
}

void Registry::lower(const char* name, LowerRule rule) { lower(std::string_view(name), rule); }

void Registry::lower(std::string_view name, LowerRule rule) {
  const auto it = ops_.find(name);
  assert(it != ops_.end() && "a lowering of an op that is not there");
  if (it != ops_.end()) it->second->lower = rule;
}

void Registry::batch(std::string_view name, BatchRule rule) {
  const auto it = ops_.find(name);
  assert(it != ops_.end() && "a batching rule of an op that is not there");
  if (it != ops_.end()) it->second->batch = rule;
}

void Registry::set_traits(std::string_view name, const OpTraits& traits) {
  const auto it = ops_.find(name);
  assert(it != ops_.end() && "traits of an op that is not there");
  if (it != ops_.end()) it->second->set_traits(traits);
}

void Registry::fuse(std::string_view into, FuseStage stage, FuseRule rule) {
  const auto it = ops_.find(into);
  assert(it != ops_.end() && "a fusion into an op that is not there");
  if (it == ops_.end()) return;
  const auto behind = std::upper_bound(fusions_.begin(), fusions_.end(), stage, [](FuseStage s, const Fusion& f) { return s < f.stage; });
  fusions_.insert(behind, {it->second.get(), stage, rule});
}

Status Registry::add_dynamic(std::unique_ptr<OpSpec> spec) {
  std::unique_lock lock(mutex_);
  const std::string_view name = spec->name;
  if (find_declared(*this, name) || !ops_.emplace(name, std::move(spec)).second) return already_exists("Op with name ", name);
  return {};
}

Status Registry::add_kernel(std::string_view op, KernelDef kernel) {
  std::unique_lock lock(mutex_);
  const auto it = ops_.find(op);
  OpSpec* spec = it != ops_.end() ? it->second.get() : find_declared(*this, op);
  if (!spec) return not_found("Op type not registered '", op, "'; register the op before its kernels");
  spec->kernels.push_back(std::move(kernel));
  return {};
}

std::string_view Registry::intern(std::string text) {
  std::unique_lock lock(mutex_);
  return texts_.emplace_back(std::move(text));
}

const OpSpec* Registry::find(std::string_view name) const {
  {
    std::shared_lock lock(mutex_);
    if (auto it = ops_.find(name); it != ops_.end()) return it->second.get();
  }
  return find_declared(*this, name);
}

Result<const OpSpec*> Registry::get(std::string_view name) const {
  if (const OpSpec* spec = find(name)) return spec;
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  return not_found("Op type not registered '", name, "' in binary running on ", host,
                   ". Make sure the Op and Kernel are registered in the binary running in this process. Note that "
                   "if you are loading a saved graph which used ops from tf.contrib (e.g. `tf.contrib.resampler`), accessing should be done before "
                   "importing the graph, as contrib ops are lazily registered when the module is first accessed.");
}

std::vector<const OpSpec*> Registry::all() const {
  std::vector<const OpSpec*> list;
  {
    std::shared_lock lock(mutex_);
    for (const auto& [name, spec] : ops_) {
      if (!name.starts_with("_Weft")) list.push_back(spec.get());  // those are between the optimiser and the kernels
    }
    for (uint32_t begin : declared_begins(*this)) {
      const std::string_view name = declared_name(begin);
      if (!ops_.contains(name)) list.push_back(find_declared(*this, name));
    }
  }
  std::sort(list.begin(), list.end(), [](const OpSpec* a, const OpSpec* b) { return a->name < b->name; });
  return list;
}

std::vector<KernelDef> Registry::kernels(const OpSpec& spec) const {
  std::shared_lock lock(mutex_);
  return spec.kernels;
}

namespace {

// Of the device's own kernels the one of the highest priority, else of those for all devices.
const KernelDef* best_kernel(const std::vector<KernelDef>& kernels, const NodeInfo& node, std::string_view device_type) {
  const KernelDef* best = nullptr;
  for (std::string_view type : {device_type, std::string_view("DEFAULT")}) {
    for (const auto& k : kernels) {
      if (k.device_type == type && k.matches(node) && (!best || k.priority > best->priority)) best = &k;
    }
    if (best) break;
  }
  return best;
}

std::string describe(const std::vector<KernelDef>& kernels) {
  if (kernels.empty()) return "  <no registered kernels>\n";
  std::string out;
  for (const auto& k : kernels) {
    out += cat("  device='", k.device_type, "'");
    for (const auto& c : k.constraints) {
      std::vector<std::string> names;
      for (DType t : c.types) names.push_back(dtype_enum_name(t));
      out += cat("; ", c.attr, " in [", join(names, ", "), "]");
    }
    out += "\n";
  }
  return out;
}

// On devices with memory of their own, with its inputs brought to where it expects them.
Result<std::unique_ptr<Kernel>> made(const KernelDef& def, const NodeInfo& node, std::string_view device_type) {
  if (device_type == "CPU") return def.make(node);
  WEFT_ASSIGN(std::unique_ptr<Kernel> kernel, def.make(node));
  return place_kernel(std::move(kernel), HostArgs::of(node, def.host_memory_args));
}

std::string node_name(const NodeInfo& node) { return node.name().empty() ? std::string(node.op()) : node.name(); }

}  // namespace

bool has_kernel(const Registry& registry, const NodeInfo& node, std::string_view device_type) {
  return best_kernel(registry.kernels(node.spec()), node, device_type) != nullptr;
}

Result<std::unique_ptr<Kernel>> make_kernel(const Registry& registry, const NodeInfo& node, std::string_view device_type) {
  const auto kernels = registry.kernels(node.spec());
  if (const KernelDef* best = best_kernel(kernels, node, device_type)) return made(*best, node, device_type);
  return core::names_node(not_found("Could not find device for node: {{node ", node_name(node), "}} = ", node.to_string(),
                                    "\nAll kernels registered for op ", node.op(), ":\n", describe(kernels)),
                          node_name(node));
}

Result<std::unique_ptr<Kernel>> make_graph_kernel(const Registry& registry, const NodeInfo& node, std::string_view device_type) {
  const auto kernels = registry.kernels(node.spec());
  if (const KernelDef* best = best_kernel(kernels, node, device_type)) return made(*best, node, device_type);
  std::string attrs = node.to_string();
  attrs.erase(0, node.op().size());
  return core::names_node(invalid_argument("No OpKernel was registered to support Op '", node.op(), "' used by {{node ", node_name(node),
                                           "}} with these attrs: ", attrs, "\nRegistered devices: [", device_type == "CPU" ? "" : "CPU, ",
                                           device_type, "]\nRegistered kernels:\n", describe(kernels), "\n\t [[", node_name(node), "]]"),
                          node_name(node));
}

}  // namespace weft_engine::op
