// CompiledBody: a function body, or one op as a body, as programs (launch.h) for the signatures that it is called with: shapes of arguments and variables, values
// of arguments that decide about shapes. Arguments and variables lie on the device, variables are written in place.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "compiler/lower.h"
#include "cuda/device.h"
#include "cuda/launch.h"
#include "op/resource_manager.h"
#include "op/variables_of_call.h"

namespace weft_engine::cuda {

class CompiledBody {
 public:
  struct Options {
    std::vector<bool> constant_args;  // whose values are part of the code; they are in host memory
    bool open_sizes = false;  // try code for all sizes of a rank first
    bool prepare = false;  // the body is a user's: calls to open, passes to run
    const graph::Node* one_node = nullptr;  // of the body, where it is all that there is
  };
  CompiledBody(graph::FunctionBody body, Options options);
  ~CompiledBody();

  struct Version;
  using Variables = op::VariablesOfCall;
  const graph::FunctionBody& body() const { return body_; }

  // The variables that the call uses.
  core::Status find_variables(const op::ResourceManager& resources, std::span<const core::Tensor* const> args, Variables& out) const;
  // The code for a call; compiled if it is not there. Unimplemented, or what lowering found wrong, where it cannot be.
  core::Result<std::shared_ptr<Version>> version(CudaDevice& device, std::span<const core::Tensor* const> args, const Variables& variables);
  // Arguments in host memory are brought to the device.
  core::Status call(CudaDevice& device, Version& v, std::span<const core::Tensor* const> args, const Variables& variables,
                    std::span<core::Tensor> rets, op::StepTrace* trace = nullptr);

 private:
  struct Source {
    int argument = -1;
    const graph::Node* node = nullptr;
  };
  core::Result<std::shared_ptr<Version>> compile(CudaDevice& device, std::span<const core::Tensor* const> args, const Variables& variables,
                                                 bool open);
  core::Result<std::shared_ptr<Version>> refusal(std::span<const core::Tensor* const> args, const Variables& variables, core::Status why) const;
  core::Status check_call(CudaDevice& device, std::span<const core::Tensor* const> args) const;
  static bool may_decide_shapes(const core::Tensor& tensor);
  core::Status bind(CudaDevice& device, Version& v, const compiler::LowerOptions& o);
  core::Result<DevicePtr> generator(CudaDevice& device, const std::string& name);

  const graph::FunctionBody body_;
  const Options options_;
  std::vector<Source> sources_;
  std::mutex generators_mutex_;
  std::map<std::string, core::Tensor> generators_;  // counters of random ops, on the device
  std::shared_mutex mutex_;
  std::vector<std::shared_ptr<Version>> versions_;
};

// The value of a variable on the device, and its own: so that it may be written. With the variable's lock held.
core::Status bring_variable(CudaDevice& device, op::Variable& variable, bool to_write);

}  // namespace weft_engine::cuda
