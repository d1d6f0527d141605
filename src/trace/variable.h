// A variable as user code holds it: a resource of the eager context, with the facts that are saved beside its value. In a
// trace its handle is a capture.
#pragma once

#include <memory>
#include <string>

#include "trace/func_graph.h"
#include "trace/trackable.h"

namespace weft::trace {

// The numbers are those of TensorFlow's messages.
enum class Synchronization : int { kAuto = 0, kNone = 1, kOnWrite = 2, kOnRead = 3 };
enum class Aggregation : int { kNone = 0, kSum = 1, kMean = 2, kOnlyFirstReplica = 3 };

struct VariableSpec {
  std::string name;
  DType dtype = DType::kInvalid;
  PartialShape shape;
  bool trainable = true;
  Synchronization synchronization = Synchronization::kAuto;
  Aggregation aggregation = Aggregation::kNone;
  std::string device;  // empty: the scope's
};

class VariableState final : public TrackableState {
 public:
  // Makes the resource, without a value. In a trace that may not make variables this is TensorFlow's error.
  static Result<std::shared_ptr<VariableState>> make(eager::Context& context, VariableSpec spec);
  ~VariableState() override;
  VariableState* as_variable() override { return this; }

  const VariableSpec& spec() const { return spec_; }
  void set_trainable(bool on) { spec_.trainable = on; }
  eager::Context& context() const { return context_; }
  const RefPtr<eager::TensorHandle>& eager_handle() const { return handle_; }
  // The handle as the code that runs now can use it.
  Result<Value> handle();
  // Tells the tapes of this thread, which watch trainable variables by themselves.
  Status accessed();
  // The value, read here and now (or in the graph).
  Result<Value> read();
  // "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp".
  Status assign(std::string_view op, const Value& value);
  // Gives it a value outside any trace; one that was computed in the trace is computed outside of it, once.
  Status initialize(const Value& value);

 private:
  VariableState(eager::Context& context, VariableSpec spec) : TrackableState("variable"), context_(context), spec_(std::move(spec)) {}
  eager::Context& context_;
  VariableSpec spec_;
  RefPtr<eager::TensorHandle> handle_;
};

// Computes a value of a trace outside of it. InvalidArgument where it depends on the arguments of the function.
Result<Value> lift(FuncGraph& graph, const Value& v);

}  // namespace weft::trace
