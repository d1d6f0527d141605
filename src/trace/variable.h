// A variable as user code holds it: a resource of the eager context, with the facts that are saved beside its value. In a
// trace its handle is a capture.
#pragma once

#include <memory>
#include <string>

#include "trace/func_graph.h"
#include "trace/trackable.h"

namespace weft_engine::trace {

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
  // Copies on other devices, by replica, of which this is the first. Reads and writes mean that of the replica whose code runs; outside
  // of replicas, all of them, as the modes of the variable say.
  void set_copies(std::vector<std::shared_ptr<VariableState>> others);
  const std::vector<std::weak_ptr<VariableState>>& copies() const { return copies_; }
  // Gives it a value outside any trace; one that was computed in the trace is computed outside of it, once.
  Status initialize(const Value& value);

 private:
  VariableState(eager::Context& context, VariableSpec spec) : TrackableState("variable"), context_(context), spec_(std::move(spec)) {}
  Status check_value(const Value& value) const;
  Status assign_own(std::string_view op, const Value& value);
  Status assign_copies(std::string_view op, const Value& value);
  Status assign_together(std::string_view op, const Value& value);
  Result<Value> read_own();
  Result<Value> aggregated(std::span<const Value> values) const;
  // Itself, or the copy of the replica whose code runs.
  VariableState& here();

  eager::Context& context_;
  VariableSpec spec_;
  RefPtr<eager::TensorHandle> handle_;
  std::vector<std::weak_ptr<VariableState>> copies_;          // empty: one for all
  std::vector<std::shared_ptr<VariableState>> owned_copies_;  // but the first
};

// Computes a value of a trace outside of it. InvalidArgument where it depends on the arguments of the function, unless values are given for them.
Result<Value> lift(FuncGraph& graph, const Value& v, std::span<const Value> given = {});

}  // namespace weft_engine::trace
