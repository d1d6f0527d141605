// Executable: a function body planned for running. Three kinds: a sequential program (program.h), a
// dataflow program for what waits, loops with frames or runs wide (dataflow.h), and parts on several
// devices (partition.h). All are immutable and run from any number of threads at once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/function_body.h"
#include "op/function_caller.h"
#include "op/kernel.h"

namespace weft_engine::runtime {

using namespace weft_engine::op;

class KernelCache;

class Executable {
 public:
  virtual ~Executable() = default;
  // As FunctionHandle::run and run_async. `env.device` is replaced by the planned one.
  virtual Status run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) = 0;
  virtual void run_async(const KernelEnv& env, std::vector<Tensor> args, FunctionHandle::Done done) = 0;
};

// What planning needs to know of its surroundings.
struct PlanContext {
  const Registry* registry = nullptr;
  Device* device = nullptr;      // where the nodes run
  ThreadPool* pool = nullptr;    // for work inside an op
  ThreadPool* inter = nullptr;   // for running nodes side by side
  KernelCache* kernels = nullptr;
  // The kernel of a node; shared with other plans where it has state.
  Result<std::shared_ptr<Kernel>> kernel(const NodeInfo& node, const std::string& device_type) const;
};

// Straight-line code in a valid order; null where the body waits or loops with frames and needs dataflow.
Result<std::unique_ptr<Executable>> plan_sequential(const graph::FunctionBody& body, const PlanContext& c);
// Any body: asynchronous kernels, TensorFlow 1's control flow (Switch, Merge, Enter, ...: dead tensors and frames).
Result<std::unique_ptr<Executable>> plan_dataflow(const graph::FunctionBody& body, const PlanContext& c);
// Does it hold asynchronous kernels or version 1 control flow?
bool needs_dataflow(const graph::FunctionBody& body);

// The seam to the compiler (jit/): a plan that turns the body into machine code at its first call, for the shapes that it then sees. The body is as
// it was written, before any pass. What cannot be compiled runs by the plan that `otherwise` makes, with a line in the log; where it `must` be,
// that is an error, unless only shapes that depend on data are in the way: then the parts around them are compiled.
// Set by engine/.
// `change` sees the body before any pass; null: as it is.
using PlanMaker = std::function<Result<std::unique_ptr<Executable>>(const std::function<Status(graph::FunctionBody&)>& change)>;
using FunctionCompiler = Result<std::unique_ptr<Executable>> (*)(graph::FunctionBody body, const PlanContext& c, PlanMaker otherwise, bool must);
void set_function_compiler(FunctionCompiler compiler);

// Kernels are run through this: an exception becomes a status, an error gets the node's name.
Status run_kernel(Kernel& kernel, KernelContext& c);
Status with_node(Status s, const NodeInfo& node);

}  // namespace weft_engine::runtime
