// ConcreteFunction: a trace that has ended, as a function of the library: called eagerly, or from another trace, and
// differentiated by tapes in both.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/function_body.h"
#include "op/function_caller.h"
#include "trace/func_graph.h"

namespace weft_engine::trace {

struct FunctionPair;  // forward and backward, for calls that a tape hears of

class ConcreteFunction : public std::enable_shared_from_this<ConcreteFunction> {
 public:
  // Ends the trace: `outputs` are its results (imported if they are values of elsewhere).
  static Result<std::shared_ptr<ConcreteFunction>> make(std::shared_ptr<FuncGraph> graph, std::span<const Value> outputs);
  // A function that is in the context's library already (a loaded model's), with values for its last arguments.
  static Result<std::shared_ptr<ConcreteFunction>> of_library(eager::Context& context, std::string name, std::vector<Value> captures);
  ~ConcreteFunction();

  const std::string& name() const { return name_; }  // in the library
  eager::Context& context() const { return context_; }
  int num_arguments() const { return int(arg_types_.size() - captures_.size()); }
  const std::vector<DType>& arg_types() const { return arg_types_; }  // captures included, behind the others
  const std::vector<DType>& ret_types() const { return ret_types_; }
  const std::vector<PartialShape>& ret_shapes() const { return ret_shapes_; }
  const std::vector<Value>& captures() const { return captures_; }
  // Other values for them, of the same types. Calls on other threads must not be under way.
  Status set_captures(std::vector<Value> values);
  bool stateful() const { return stateful_; }
  // Variables among the captures, which tapes watch when the function is called.
  void use_variable(const std::shared_ptr<VariableState>& v) { variables_.push_back(v); }
  const std::vector<std::weak_ptr<VariableState>>& variables() const { return variables_; }
  const std::shared_ptr<FuncGraph>& func_graph() const { return graph_; }  // null for one of the library

  // Without captures, which are added here.
  Result<std::vector<Value>> call(std::span<const Value> arguments);
  // Outside of traces and where no tape listens: `args` has the `count` arguments, of the right types, and room for the captures.
  Status run(std::span<Tensor> args, size_t count, std::span<Tensor> rets);

 private:
  explicit ConcreteFunction(eager::Context& context) : context_(context) {}
  Result<std::vector<Value>> call_recorded(Emitter& emitter, std::span<const Value> all);
  void record(Tape& tape, const std::shared_ptr<const FunctionPair>& pair, std::span<const Value> all, std::span<const Value> out);
  // `saved`: this is the forward of another, whose saved values have gradients, too.
  Result<std::shared_ptr<const FunctionPair>> pair_for(const std::vector<bool>& wanted, bool saved);

  eager::Context& context_;
  std::string name_;
  std::vector<DType> arg_types_, ret_types_;
  std::vector<PartialShape> ret_shapes_;
  std::vector<Value> captures_;
  std::vector<std::weak_ptr<VariableState>> variables_;
  std::vector<std::pair<Value, std::shared_ptr<void>>> graph_variables_;
  bool stateful_ = false;
  std::shared_ptr<FuncGraph> graph_;
  std::shared_ptr<const void> owner_;  // of the function in the library; null for one that stays there
  std::shared_ptr<FunctionHandle> handle_;
  std::mutex mutex_;
  std::vector<std::pair<std::vector<bool>, std::shared_ptr<const FunctionPair>>> pairs_;  // by the inputs that need gradients
};

// Calls a function of the library with all its arguments, on that emitter: runs it, or adds a call node.
Result<std::vector<Value>> call_function(Emitter& emitter, eager::Context& context, const std::string& name, bool stateful,
                                         std::span<const Value> arguments, const std::vector<DType>& ret_types, FunctionHandle* handle = nullptr);

// The device scope of this thread; empty: none. A function that is called in the scope of another process's device runs there.
std::string& scoped_device();

// The emitter of this thread for a context: that of the trace it is in, else the eager one.
Emitter& emitter_here(eager::Context& context);

}  // namespace weft_engine::trace
