// The seam through which a kernel calls a function: PartitionedCall, While, If, Map. Declared here,
// implemented by runtime/.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "op/attr_value.h"

namespace weft_engine::op {

struct KernelEnv;

// A function that is planned and ready to run, from any number of threads at once.
class FunctionHandle : public std::enable_shared_from_this<FunctionHandle> {
 public:
  virtual ~FunctionHandle() = default;
  virtual const std::vector<DType>& arg_types() const = 0;
  virtual const std::vector<DType>& ret_types() const = 0;
  // Calls it and waits, on this thread. Takes the arguments over: what is in `args` afterwards is of no
  // meaning, so a caller who keeps a tensor passes a copy. `env` is the caller's: its step, cancellation
  // and trace go on in the callee.
  virtual Status run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) = 0;
  // The same without waiting. `done` may be called before this returns.
  using Done = std::function<void(Status, std::vector<Tensor>)>;
  virtual void run_async(const KernelEnv& env, std::vector<Tensor> args, Done done) = 0;
  // vars = this(vars) as long as cond(vars) gives true.
  virtual Status loop(const KernelEnv& env, FunctionHandle& cond, std::span<Tensor> vars) = 0;
};

struct InstantiateOptions {
  std::string target;                       // a device for nodes that name none; empty: the default
  std::string config_proto, executor_type;  // of the call's attributes
  std::string state_handle;                 // another one, other kernels: those with state do not share it
  bool multi_device = true;                 // place and partition; else everything runs on the target
  std::vector<std::string> output_devices;  // where the results must be; empty: anywhere
  std::vector<std::string> input_devices;   // where resource arguments live; empty: not known
  bool must_compile = false;                // machine code or an error (jit_compile; the attribute _XlaMustCompile)
  bool may_compile = false;                 // machine code, or else the engine's plan (RuntimeOptions::auto_compile)
};

class FunctionCaller {
 public:
  virtual ~FunctionCaller() = default;
  // The same function, attributes and options give the same handle. It stays planned as long as the function is in the
  // caller's library, and the function stays there as long as somebody holds the handle. NotFound for an unknown name.
  virtual Result<std::shared_ptr<FunctionHandle>> instantiate(const FunctionAttr& function, const InstantiateOptions& options = {}) = 0;
};

}  // namespace weft_engine::op
