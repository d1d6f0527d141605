// For kernels that call functions: the handle is looked up once per kernel.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "op/function_caller.h"
#include "op/kernel.h"

namespace weft_engine::op {
class Registry;
}

namespace weft_engine::ops {

// One function attribute of a node and, after the first call, its handle. It is not held: a function may call itself. Whoever
// runs the node's function keeps those that it calls in the library, and with them their plans.
class Callee {
 public:
  explicit Callee(op::FunctionAttr f, op::InstantiateOptions options = {}) : f_(std::move(f)), options_(std::move(options)) {}
  Callee(const Callee&) = delete;

  // FailedPrecondition outside functions and sessions. The function's arguments are the kernel's inputs from `first` on; where
  // resources among them live at the first call is where the function uses them.
  core::Result<std::shared_ptr<op::FunctionHandle>> get(const op::KernelContext& c, int first = 0);

 private:
  const op::FunctionAttr f_;
  const op::InstantiateOptions options_;
  struct Known {
    op::FunctionCaller* caller;
    std::weak_ptr<op::FunctionHandle> handle;
  };
  std::atomic<const Known*> known_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<const Known>> all_;  // one for each caller; more only where a function was replaced
};

// Input i to pass on: moved where the caller of the kernel gives it away, so that the callee may write in place.
core::Tensor take_input(op::KernelContext& c, int i);

}  // namespace weft_engine::ops
