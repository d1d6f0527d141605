// OpCall: one call of an op by user code, the same for C++, Python and gradients. It is put together (op, inputs, attributes, device), then run: eagerly, and
// the tapes of this thread hear of it, or as a node of the trace that the thread is in. Front ends convert values and print errors, nothing else.
//
// The fast form is run_one(): eager, one output, no list on the way. What runs an op without tapes and traces (TFE_Execute) uses eager::Op itself.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/apply.h"

namespace weft_engine::trace {

class FuncGraph;

// How most callers wait for a kernel: see OpCall::run_eager.
struct RunHere {
  template <class F>
  Status operator()(F execute) const {
    return execute();
  }
};

class OpCall {
 public:
  // `graph`: the trace that gets a node; null: the op runs at once.
  explicit OpCall(eager::Context& context, FuncGraph* graph = nullptr);
  // Gives up the inputs; what was allocated waits for the next call of this thread.
  ~OpCall();
  OpCall(const OpCall&) = delete;

  // Comes first. NotFound for an unknown op; InvalidArgument for a bad device name.
  Status reset(std::string_view op, std::string_view device = {}) { return with_device(op_->reset(op, device), device); }
  Status reset(const OpSpec& op, std::string_view device = {}) { return with_device(op_->reset(op, device), device); }
  Status set_device(std::string_view device) { return with_device(op_->set_device(device), device); }
  // InvalidArgument for a value of a graph in an eager call.
  Status add_input(const Value& v);
  void add_input(RefPtr<eager::TensorHandle> input) { op_->add_input(std::move(input)); }  // eager
  Status set_attr(std::string_view name, AttrValue value) { return op_->set_attr(name, std::move(value)); }

  FuncGraph* graph() const { return graph_; }
  const OpSpec& spec() const { return *op_->spec(); }
  const eager::Op& op() const { return *op_; }  // what was put together, but for the inputs of a node

  // Runs the op and tells the tapes, or adds the node.
  Result<std::vector<Value>> run();
  // `around` runs what it gets, which waits for the kernel, and gives its status; tapes are told outside of it.
  template <class Around = RunHere>
  Status run_eager(std::vector<RefPtr<eager::TensorHandle>>& outputs, Around around = {}) {
    const bool recorded = begin();
    Status s = around([&] { return op_->execute(outputs); });
    if (recorded && s.ok()) record(outputs);
    return s;
  }
  template <class Around = RunHere>
  Status run_one(RefPtr<eager::TensorHandle>& output, Around around = {}) {
    const bool recorded = begin();
    Status s = around([&] {
      eager::TensorHandle* made = nullptr;
      int count = 0;
      Status executed = op_->execute(&made, 1, &count);
      output = RefPtr<eager::TensorHandle>::adopt(made);
      return executed;
    });
    if (recorded && s.ok()) record(std::span(&output, 1));
    return s;
  }
  // The node, with attributes as they are, known to the op or not.
  Result<std::vector<Value>> add_node(AttrMap attrs);

 private:
  Status with_device(Status s, std::string_view device) {
    if (graph_) [[unlikely]]
      device_ = device;
    return s;
  }
  // Whether tapes listen. They need the node that the kernel was made for.
  bool begin() {
    const bool recording = TapeStack::current().recording();
    if (recording) [[unlikely]]
      op_->keep_kernel(true);
    return recording;
  }
  void record(std::span<const RefPtr<eager::TensorHandle>> outputs);

  std::unique_ptr<eager::Op> op_;
  FuncGraph* const graph_;
  std::vector<Value> inputs_;
  std::string device_;
};

}  // namespace weft_engine::trace
