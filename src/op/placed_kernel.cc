#include "op/placed_kernel.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <mutex>

#include "core/own_memory.h"

namespace weft_engine::op {
namespace {

using core::memory_of;
using core::to_device;
using core::to_host;

// A context like another one, with inputs of its own.
struct Around {
  explicit Around(KernelContext& c) : env(c.env()), inputs(size_t(c.num_inputs())) {
    for (int i = 0; i < c.num_inputs(); ++i) inputs[size_t(i)] = &c.input(i);
  }
  KernelContext make(KernelContext& c) {
    return KernelContext(c.node(), env, inputs, {c.num_outputs() ? &c.output(0) : nullptr, size_t(c.num_outputs())});
  }
  KernelEnv env;
  std::vector<const Tensor*> inputs;
  std::vector<Tensor> brought;
  std::unique_ptr<KernelContext> context;  // of an asynchronous run
};

class PlacedKernel final : public Kernel {
 public:
  PlacedKernel(std::unique_ptr<Kernel> kernel, HostArgs args) : kernel_(std::move(kernel)), args_(std::move(args)) {}
  bool is_async() const override { return kernel_->is_async(); }

  Status run(KernelContext& c) override {
    Around around(c);
    WEFT_RETURN_IF_ERROR(bring(c, around));
    KernelContext inner = around.make(c);
    return kernel_->run(inner);
  }

  void run_async(KernelContext& c, Done done) override {
    auto around = std::make_shared<Around>(c);
    if (Status s = bring(c, *around); !s.ok()) return done(std::move(s));
    around->context = std::make_unique<KernelContext>(around->make(c));
    kernel_->run_async(*around->context, [around, done = std::move(done)](Status s) { done(std::move(s)); });
  }

 private:
  Status bring(KernelContext& c, Around& around) const {
    const size_t n = around.inputs.size();
    around.brought.reserve(n);  // pointers into it stay
    for (size_t i = 0; i < n; ++i) {
      const Tensor& in = *around.inputs[i];
      core::OwnMemoryDevice* there = memory_of(in);
      const bool on_host = i < args_.inputs.size() && args_.inputs[i];
      if (on_host ? !there : there == &c.device() || in.byte_size() == 0) continue;
      WEFT_ASSIGN(Tensor t, on_host ? to_host(in) : to_device(in, c.device()));
      around.brought.push_back(std::move(t));
      around.inputs[i] = &around.brought.back();
    }
    return {};
  }

  const std::unique_ptr<Kernel> kernel_;
  const HostArgs args_;
};

// Looks like the device, and has host memory.
class HostView final : public Device {
 public:
  explicit HostView(const Device& of) : Device(of.parsed_name(), of.memory_limit(), of.description()) {}
  bool host_memory() const override { return true; }
  Result<Tensor> allocate(DType dtype, const Shape& shape) override { return Tensor::allocate(dtype, shape); }
  core::AllocatorStats stats() const override { return core::host_stats(); }
  void copy_from(Device&, const Tensor& tensor, CopyDone done) override { done(to_host(tensor)); }
  void synchronize(std::function<void(Status)> done) override { done({}); }
};

Device& host_view(Device& of) {
  static std::mutex mutex;
  static auto* views = new std::map<std::string, std::unique_ptr<HostView>>();
  const std::lock_guard lock(mutex);
  auto& view = (*views)[of.name()];
  if (!view) view = std::make_unique<HostView>(of);
  return *view;
}

class AnyDeviceKernel final : public Kernel {
 public:
  explicit AnyDeviceKernel(std::unique_ptr<Kernel> kernel) : kernel_(std::move(kernel)) {}
  Status run(KernelContext& c) override {
    Around around(c);
    around.env.device = &host_view(c.device());
    KernelContext inner = around.make(c);
    return kernel_->run(inner);
  }

 private:
  const std::unique_ptr<Kernel> kernel_;
};

}  // namespace

HostArgs HostArgs::of(const NodeInfo& node, const std::vector<std::string>& names) {
  HostArgs out;
  for (DType t : node.input_types()) out.inputs.push_back(!is_simple(base_type(t)));
  for (DType t : node.output_types()) out.outputs.push_back(!is_simple(base_type(t)));
  const Signature& s = node.spec().signature();
  for (const std::string& name : names) {
    for (size_t i = 0; i < s.inputs.size(); ++i) {
      if (s.inputs[i].name != name) continue;
      const auto r = node.input_range(int(i));
      for (int k = r.begin; k < r.end; ++k) out.inputs[size_t(k)] = true;
    }
    for (size_t i = 0; i < s.outputs.size(); ++i) {
      if (s.outputs[i].name != name) continue;
      const auto r = node.output_range(int(i));
      for (int k = r.begin; k < r.end; ++k) out.outputs[size_t(k)] = true;
    }
  }
  return out;
}

std::unique_ptr<Kernel> place_kernel(std::unique_ptr<Kernel> kernel, HostArgs args) {
  return std::make_unique<PlacedKernel>(std::move(kernel), std::move(args));
}

void any_device(Registry& registry, std::string_view op, std::vector<std::string> host_args) {
  const OpSpec* spec = registry.find(op);
  assert(spec && "an op that is not there");
  if (!spec) return;
  for (KernelDef def : registry.kernels(*spec)) {
    if (def.device_type != "CPU") continue;
    def.device_type = "DEFAULT";
    def.host_memory_args = host_args;
    def.make = [make = std::move(def.make)](const NodeInfo& node) -> Result<std::unique_ptr<Kernel>> {
      WEFT_ASSIGN(std::unique_ptr<Kernel> kernel, make(node));
      if (kernel->is_async()) return kernel;
      return std::unique_ptr<Kernel>(std::make_unique<AnyDeviceKernel>(std::move(kernel)));
    };
    (void)registry.add_kernel(op, std::move(def));
  }
}

bool wraps_tensors(const OpSpec& spec) {
  if (std::none_of(spec.kernels.begin(), spec.kernels.end(), [](const KernelDef& k) { return k.device_type == "DEFAULT"; })) return false;
  const auto is_variant = [](const ArgSpec& a) { return a.type == DType::kVariant; };
  const Signature& s = spec.signature();
  return std::any_of(s.inputs.begin(), s.inputs.end(), is_variant) || std::any_of(s.outputs.begin(), s.outputs.end(), is_variant);
}

}  // namespace weft_engine::op
