#include "cuda/library_kernel.h"

#include "cuda/factorisation.h"
#include "cuda/fft.h"
#include "cuda/lowered_kernel.h"

namespace weft_engine::cuda {
namespace {

using namespace weft_engine::core;  // NOLINT: tensors and statuses throughout

class LibraryKernel final : public op::Kernel {
 public:
  LibraryKernel(const op::LibraryCall& call, const char* op, std::unique_ptr<op::Kernel> generated)
      : call_(call), op_(op), generated_(std::move(generated)) {}

  Status run(op::KernelContext& c) override {
    auto* device = dynamic_cast<CudaDevice*>(&c.device());
    if (!device) return internal_error("a kernel for GPUs on ", c.device().name());
    const AllocatingFor holder(op_);
    WEFT_ASSIGN(const bool done, call_.kind == op::LibraryCall::Kind::kFourier ? transform(*device, c, call_) : factorise(*device, c, call_));
    return done ? Status() : generated_->run(c);
  }

 private:
  const op::LibraryCall call_;
  const char* const op_;
  const std::unique_ptr<op::Kernel> generated_;
};

}  // namespace

std::unique_ptr<op::Kernel> make_library_kernel(const op::LibraryCall& call, const op::NodeInfo& node, std::unique_ptr<op::Kernel> generated) {
  return std::make_unique<LibraryKernel>(call, kept(node.op()), std::move(generated));
}

}  // namespace weft_engine::cuda
