#include "cuda/function.h"

#include <atomic>

#include "core/log.h"
#include "cuda/compiled.h"
#include "op/step_trace.h"

namespace weft_engine::cuda {
namespace {

using namespace weft_engine::core;  // NOLINT: tensors and statuses throughout
using op::KernelEnv;

class GpuFunction final : public runtime::CompiledPlan {
 public:
  GpuFunction(graph::FunctionBody body, CudaDevice& device, std::unique_ptr<runtime::Executable> otherwise)
      : body_(std::move(body), {{}, false, true}), device_(device), otherwise_(std::move(otherwise)) {}

  Status run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) override {
    if (given_up_.load(std::memory_order_acquire)) return otherwise_->run(env, args, rets);
    const AllocatingFor holder("functions");
    std::vector<const Tensor*> pointers;
    for (const Tensor& t : args) pointers.push_back(&t);
    CompiledBody::Variables variables;
    Status s = args.size() == body_.body().arg_types.size()
                   ? body_.find_variables(*env.resources, pointers, variables)
                   : invalid_argument("function ", body_.body().name, " takes ", body_.body().arg_types.size(), " arguments, got ", args.size());
    if (s.ok()) {
      auto v = body_.version(device_, pointers, variables);
      if (v.ok()) {
        const int64_t start = env.trace ? op::StepTrace::now() : 0;
        s = body_.call(device_, **v, pointers, variables, rets, env.trace);
        if (env.trace)
          env.trace->add({body_.body().name, "_Compiled", device_.name(), start, op::StepTrace::now(), op::StepTrace::thread_number(), {}});
        return s;
      }
      s = v.status();
    }
    if (s.code() == Code::kResourceExhausted) return s;
    // Variables without values, shapes that do not fit: the kernels say so, and a later call may be better. Other reasons stay.
    const bool refused = s.code() == Code::kInternal;  // by the driver: not as it should be
    if ((refused || s.code() == Code::kUnimplemented) && !given_up_.exchange(true))
      log(refused ? LogLevel::kWarning : LogLevel::kInfo, cat(body_.body().name, " runs op by op: ", s.message()));
    return otherwise_->run(env, args, rets);
  }

  void run_async(const KernelEnv& env, std::vector<Tensor> args, op::FunctionHandle::Done done) override {
    if (given_up_.load(std::memory_order_acquire)) return otherwise_->run_async(env, std::move(args), std::move(done));
    std::vector<Tensor> rets(body_.body().ret_types.size());
    Status s = run(env, args, rets);
    done(std::move(s), std::move(rets));
  }

 private:
  CompiledBody body_;
  CudaDevice& device_;
  const std::unique_ptr<runtime::Executable> otherwise_;
  std::atomic<bool> given_up_{false};
};

}  // namespace

std::unique_ptr<runtime::CompiledPlan> compile_function(const graph::FunctionBody& body, Device& device,
                                                        std::unique_ptr<runtime::Executable>& otherwise) {
  auto* gpu = dynamic_cast<CudaDevice*>(&device);
  if (!gpu || !compiler::without_lowering(body).empty() || compiler::may_grow_lists(body)) return nullptr;
  return std::make_unique<GpuFunction>(graph::clone(body), *gpu, std::move(otherwise));
}

}  // namespace weft_engine::cuda
