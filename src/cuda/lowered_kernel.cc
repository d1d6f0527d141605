#include "cuda/lowered_kernel.h"

#include <set>

#include "core/log.h"
#include "core/own_memory.h"
#include "cuda/compiled.h"
#include "op/op_traits.h"
#include "op/placed_kernel.h"
#include "op/variable.h"

namespace weft_engine::cuda {

using namespace weft_engine::core;  // NOLINT: tensors and statuses throughout
using namespace weft_engine::op;    // NOLINT: nodes and kernels throughout

const char* kept(std::string_view text) {
  static std::mutex mutex;
  static auto* texts = new std::set<std::string>();
  const std::lock_guard lock(mutex);
  return texts->emplace(text).first->c_str();
}

namespace {

// Looks like the GPU, and has host memory: what kernels for CPUs make is there.
class HostSide final : public Device {
 public:
  explicit HostSide(const Device& of) : Device(of.parsed_name(), of.memory_limit(), of.description()) {}
  bool host_memory() const override { return true; }
  Result<Tensor> allocate(DType dtype, const Shape& shape) override { return Tensor::allocate(dtype, shape); }
  AllocatorStats stats() const override { return host_stats(); }
  void copy_from(Device&, const Tensor& tensor, CopyDone done) override { done(to_host(tensor)); }
  void synchronize(std::function<void(Status)> done) override { done({}); }
};

class HostKernel final : public Kernel {
 public:
  HostKernel(std::unique_ptr<Kernel> kernel, bool host_outputs) : kernel_(std::move(kernel)), host_outputs_(host_outputs) {}

  Status run(KernelContext& c) override {
    KernelEnv env = c.env();
    HostSide side(c.device());
    env.device = &side;
    std::vector<Tensor> brought;
    std::vector<const Tensor*> inputs;
    brought.reserve(size_t(c.num_inputs()));
    for (int i = 0; i < c.num_inputs(); ++i) {
      inputs.push_back(&c.input(i));
      if (c.input(i).dtype() == DType::kResource) WEFT_RETURN_IF_ERROR(bring_variables(c, c.input(i)));
      if (!memory_of(c.input(i))) continue;
      WEFT_ASSIGN(Tensor t, to_host(c.input(i)));
      brought.push_back(std::move(t));
      inputs.back() = &brought.back();
    }
    std::vector<Tensor> outputs(size_t(c.num_outputs()));
    KernelContext inner(c.node(), env, inputs, outputs);
    WEFT_RETURN_IF_ERROR(kernel_->run(inner));
    for (int i = 0; i < c.num_outputs(); ++i) {
      Tensor& t = outputs[size_t(i)];
      if (!host_outputs_ && t.valid()) {
        WEFT_ASSIGN(t, to_device(t, c.device()));
      }
      c.set_output(i, std::move(t));
    }
    return {};
  }

 private:
  // The next kernel on the GPU takes them back.
  static Status bring_variables(KernelContext& c, const Tensor& handles) {
    for (const ResourceHandle& h : handles.span<ResourceHandle>()) {
      auto v = c.resources().get<Variable>(h);
      if (!v.ok()) continue;  // of another kind, or not there: the kernel says so
      const std::unique_lock lock((*v)->mutex());
      if (!(*v)->initialized() || !memory_of((*v)->tensor())) continue;
      WEFT_ASSIGN((*v)->tensor(), to_host((*v)->tensor()));
    }
    return {};
  }

  const std::unique_ptr<Kernel> kernel_;
  const bool host_outputs_;
};

// The node between arguments and results.
Result<graph::FunctionBody> body_of(const Registry& registry, const NodeInfo& node) {
  graph::FunctionBody body;
  body.name = std::string(node.op());
  body.graph = std::make_unique<graph::Graph>(registry);
  graph::Graph& g = *body.graph;
  std::vector<graph::Endpoint> inputs;
  for (int i = 0; i < node.num_inputs(); ++i) {
    const DType t = base_type(node.input_types()[size_t(i)]);
    WEFT_ASSIGN(graph::Node* arg, g.add(cat("arg_", i), op_of(Role::kArg), {{"T", t}, {"index", int64_t(i)}}, {}));
    body.args.push_back(arg);
    body.arg_types.push_back(t);
    inputs.push_back({arg, 0});
  }
  AttrMap attrs;
  const auto& specs = node.spec().signature().attrs;
  for (size_t i = 0; i < specs.size(); ++i) attrs[specs[i].name] = node.attrs()[i];
  WEFT_ASSIGN(graph::Node* n, g.add("op", node.op(), std::move(attrs), std::move(inputs)));
  for (int i = 0; i < node.num_outputs(); ++i) {
    const DType t = base_type(node.output_types()[size_t(i)]);
    WEFT_ASSIGN(graph::Node* ret, g.add(cat("ret_", i), op_of(Role::kRetval), {{"T", t}, {"index", int64_t(i)}}, {{n, i}}));
    body.rets.push_back(ret);
    body.ret_types.push_back(t);
  }
  if (node.num_outputs() == 0) body.control_rets.push_back(n);
  return body;
}

class LoweredKernel final : public Kernel {
 public:
  LoweredKernel(graph::FunctionBody body, CompiledBody::Options options, std::unique_ptr<Kernel> host, const char* op)
      : body_(std::move(body), std::move(options)), host_(std::move(host)), op_(op) {}

  Status run(KernelContext& c) override {
    auto* device = dynamic_cast<CudaDevice*>(&c.device());
    if (!device) return internal_error("a kernel for GPUs on ", c.device().name());
    const AllocatingFor holder(op_);
    std::vector<const Tensor*> args(size_t(c.num_inputs()));
    for (int i = 0; i < c.num_inputs(); ++i) args[size_t(i)] = &c.input(i);
    CompiledBody::Variables variables;
    Status s = body_.find_variables(c.resources(), args, variables);
    if (s.ok()) {
      auto v = body_.version(*device, args, variables);
      if (v.ok())
        return body_.call(*device, **v, args, variables, {c.num_outputs() ? &c.output(0) : nullptr, size_t(c.num_outputs())}, c.env().trace);
      s = v.status();
    }
    if (s.code() == Code::kResourceExhausted || !host_) return s;
    const bool refused = s.code() == Code::kInternal;  // by the driver: not as it should be
    if ((refused || s.code() == Code::kUnimplemented) && !told_.exchange(true))
      log(refused ? LogLevel::kWarning : LogLevel::kInfo, cat(op_, " runs on the host: ", s.message()));
    return host_->run(c);
  }

 private:
  CompiledBody body_;
  const std::unique_ptr<Kernel> host_;
  const char* const op_;
  std::atomic<bool> told_{false};
};

}  // namespace

Result<std::unique_ptr<Kernel>> make_host_kernel(const Registry& registry, const NodeInfo& node, bool host_outputs) {
  WEFT_ASSIGN(std::unique_ptr<Kernel> kernel, op::make_kernel(registry, node, "CPU"));
  if (kernel->is_async()) return unimplemented(node.op(), " waits, and has no kernel on GPUs");
  return std::unique_ptr<Kernel>(std::make_unique<HostKernel>(std::move(kernel), host_outputs));
}

Result<std::unique_ptr<Kernel>> make_lowered_kernel(const Registry& registry, const NodeInfo& node, const std::vector<std::string>& host) {
  WEFT_ASSIGN(graph::FunctionBody body, body_of(registry, node));
  CompiledBody::Options options;
  options.constant_args = HostArgs::of(node, host).inputs;
  options.open_sizes = true;
  options.one_node = body.graph->find("op");
  auto on_host = make_host_kernel(registry, node, false);
  return std::unique_ptr<Kernel>(
      std::make_unique<LoweredKernel>(std::move(body), std::move(options), on_host.ok() ? std::move(on_host).value() : nullptr, kept(node.op())));
}

}  // namespace weft_engine::cuda
