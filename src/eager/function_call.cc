#include "eager/function_call.h"

#include "core/remote_tensor.h"
#include "core/small_array.h"
#include "graph/graph.h"
#include "op/step_resources.h"
#include "runtime/partition.h"

namespace weft_engine::eager {
namespace {

class FunctionKernel final : public op::Kernel {
 public:
  FunctionKernel(Context& context, std::shared_ptr<runtime::Instance> f, op::FunctionAttr function, op::InstantiateOptions options)
      : context_(context), f_(std::move(f)), function_(std::move(function)), options_(std::move(options)) {}

  Status run(op::KernelContext& c) override {
    op::KernelEnv env = context_.runtime().step_env();
    env.device = c.env().device;
    env.cancellation = c.env().cancellation;
    env.trace = context_.trace.load(std::memory_order_relaxed);
    const size_t n = size_t(c.num_inputs());
    std::span<Tensor> rets(c.num_outputs() ? &c.output(0) : nullptr, size_t(c.num_outputs()));
    core::SmallArray<Tensor, 8> args(n);
    for (size_t i = 0; i < n; ++i) args[i] = c.input(int(i));
    if (runtime::has_remote_devices(context_.devices())) [[unlikely]] {
      WEFT_ASSIGN(auto placed, placed_for(std::span<Tensor>(args)));
      return end(env, placed->run_in_place(env, args, rets));
    }
    return end(env, f_->run_in_place(env, args, rets));
  }

 private:
  Status end(const op::KernelEnv& env, Status s) {
    if (!s.ok() || op::steps_have_resources()) context_.runtime().step_failed(env.step_id);
    return s;
  }
  // In a cluster the plan depends on where the resources are.
  Result<std::shared_ptr<runtime::Instance>> placed_for(std::span<const Tensor> args) {
    op::InstantiateOptions options = options_;
    bool any = false;
    for (const Tensor& t : args) {
      std::string& device = options.input_devices.emplace_back();
      if (t.dtype() != DType::kResource) continue;
      const auto there = core::referred(t);
      if (there && there->value_type() != DType::kResource) continue;
      device = there ? there->home()->name() : context_.host()->name();
      any = true;
    }
    if (!any) return f_;
    return context_.runtime().instance(function_, options);
  }

  Context& context_;
  std::shared_ptr<runtime::Instance> f_;
  const op::FunctionAttr function_;
  const op::InstantiateOptions options_;
};

}  // namespace

Result<std::unique_ptr<op::Kernel>> make_function_kernel(Context& context, const op::NodeInfo& node, Device* device) {
  auto attrs = std::make_shared<op::AttrMap>();
  const auto& specs = node.spec().signature().attrs;
  for (size_t i = 0; i < specs.size(); ++i) (*attrs)[specs[i].name] = node.attrs()[i];
  op::InstantiateOptions options;
  if (device != context.host()) options.target = device->name();
  if (const op::AttrValue* config = node.find_attr("_config_proto")) {
    if (const auto* bytes = config->get<std::string>()) options.config_proto = *bytes;
  }
  options.may_compile = context.runtime().auto_compile();
  if (const op::AttrValue* must = node.find_attr("_XlaMustCompile")) options.must_compile = must->get<bool>() && *must->get<bool>();
  op::FunctionAttr function{std::string(node.op()), std::move(attrs)};
  WEFT_ASSIGN(auto f, context.runtime().instance(function, options));
  return std::unique_ptr<op::Kernel>(new FunctionKernel(context, std::move(f), std::move(function), std::move(options)));
}

}  // namespace weft_engine::eager
