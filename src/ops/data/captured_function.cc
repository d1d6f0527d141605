#include "ops/data/captured_function.h"

#include "core/device_name.h"
#include "op/function_caller.h"
#include "op/held.h"
#include "ops/random/random_common.h"

namespace weft_engine::ops::data {

// Where a captured resource is, if that is another process.
static std::string home_elsewhere(const Tensor& t, const Device& here) {
  if (t.dtype() != DType::kResource || t.num_elements() != 1) return {};
  const auto* info = t.data<ResourceHandle>()->info();
  auto home = info && !info->device.empty() ? core::DeviceName::parse(info->device) : Result<core::DeviceName>(core::DeviceName());
  const core::DeviceName& own = here.parsed_name();
  return home.ok() && home->complete() && (home->job != own.job || home->task != own.task) ? info->device : std::string();
}

Result<FunctionPtr> CapturedFunction::make(const KernelContext& c, std::string_view attr, std::string_view captured) {
  return make(c, attr, inputs_of(c, captured));
}

Result<FunctionPtr> CapturedFunction::make(const KernelContext& c, std::string_view attr, Element captured) {
  return make(c, c.attr<FunctionAttr>(attr), std::move(captured));
}

Result<FunctionPtr> CapturedFunction::make(const KernelContext& c, const FunctionAttr& function, Element captured) {
  if (!c.env().functions) return internal_error(c.node().op(), " calls a function, but there is no function runtime here");
  auto f = std::make_shared<CapturedFunction>();
  // The handle with the one who runs it, which a dataset may outlive otherwise.
  struct Kept {
    std::shared_ptr<FunctionHandle> handle;
    std::shared_ptr<const void> caller;
  };
  auto kept = std::make_shared<Kept>();
  // Elements are made on the host, as in TensorFlow: nodes of the function that name no device run where the dataset does.
  InstantiateOptions options;
  options.target = c.device().name();
  WEFT_ASSIGN(kept->handle, c.env().functions->instantiate(function, options));
  // What uses a resource of another process runs there. The arguments end with what was captured.
  const auto types = kept->handle->arg_types();
  for (size_t i = 0; i < captured.size() && captured.size() <= types.size(); ++i) {
    std::string home = home_elsewhere(captured[i], c.device());
    const size_t at = types.size() - captured.size() + i;
    if (home.empty() || types[at] != DType::kResource) continue;
    options.input_devices.resize(types.size());
    options.input_devices[at] = std::move(home);
  }
  if (!options.input_devices.empty()) {
    WEFT_ASSIGN(kept->handle, c.env().functions->instantiate(function, options));
  }
  kept->caller = op::hold(*c.env().functions);
  f->handle_ = std::shared_ptr<FunctionHandle>(kept, kept->handle.get());
  f->captured_ = std::move(captured);
  f->caller_ = c.env().functions;
  return FunctionPtr(std::move(f));
}

size_t CapturedFunction::num_results() const { return handle_->ret_types().size(); }

Status CapturedFunction::call(IteratorContext& c, Element args, Element& rets) const {
  const auto& types = handle_->arg_types();
  // More may be captured than the function takes: resources that have to live as long as the dataset.
  const size_t taken = std::min(captured_.size(), types.size() > args.size() ? types.size() - args.size() : 0);
  args.insert(args.end(), captured_.begin(), captured_.begin() + ptrdiff_t(taken));
  if (args.size() != types.size()) return invalid_argument("The function of a dataset takes ", types.size(), " arguments, but gets ", args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].dtype() != base_type(types[i]))
      return invalid_argument("Argument ", i, " of the function of a dataset must be ", base_type(types[i]), ", but is ", args[i].dtype());
  }
  // What a call leaves behind for its step (TensorArrays) is freed with the call: an iterator outlives many.
  ResourceManager step(c.env.resources ? c.env.resources->default_container() : "localhost");
  KernelEnv env = c.env;
  env.step_resources = &step;
  env.rendezvous = nullptr;
  env.functions = caller_;
  rets.assign(handle_->ret_types().size(), Tensor());
  const WalkGenerators::Scope generators(c.generators);
  return handle_->run(env, args, rets);
}

Status CapturedFunction::call_predicate(IteratorContext& c, Element args, std::string_view error, bool& answer) const {
  Element rets;
  WEFT_RETURN_IF_ERROR(call(c, std::move(args), rets));
  if (rets.size() != 1 || rets[0].dtype() != DType::kBool || rets[0].num_elements() != 1) return invalid_argument(error);
  answer = rets[0].data<bool>()[0];
  return {};
}

Status CapturedFunction::call_number(IteratorContext& c, Element args, std::string_view error, int64_t& answer) const {
  Element rets;
  WEFT_RETURN_IF_ERROR(call(c, std::move(args), rets));
  if (rets.size() != 1 || rets[0].dtype() != DType::kInt64 || rets[0].num_elements() != 1) return invalid_argument(error);
  answer = rets[0].data<int64_t>()[0];
  return {};
}

}  // namespace weft_engine::ops::data
