// SPDX-License-Identifier: Apache-2.0
//
// REGISTER_GRADIENT_OP("Name", function): what AddSymbolicGradients adds to a graph for nodes of an op. The engine's own ops have their gradients without.
#ifndef TENSORFLOW_CC_FRAMEWORK_GRAD_OP_REGISTRY_H_
#define TENSORFLOW_CC_FRAMEWORK_GRAD_OP_REGISTRY_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tensorflow/cc/framework/ops.h"
#include "tensorflow/cc/framework/scope.h"

namespace tensorflow {
namespace internal {
struct ScopeOfGraph {
  static Scope Make(TF_Graph* graph, std::string_view name) { return Scope(graph, std::string(name)); }
};
}  // namespace internal

namespace ops {

// Gives an output for each input of the op; grad_inputs are the gradients of its outputs. One without a node stands for none.
using GradFunc = Status (*)(const Scope& scope, const Operation& op, const std::vector<Output>& grad_inputs, std::vector<Output>* grad_outputs);

// All gradients of this kind in the process.
class GradOpRegistry {
 public:
  static GradOpRegistry* Global() {
    static auto* const registry = new GradOpRegistry;
    return registry;
  }
  // Null: nothing flows back. A second one for an op is an error of the library that brings it.
  bool Register(const std::string& op, GradFunc f) {
    weft_register_graph_gradient(::tensorflow::internal::Text(op), f ? &Call : nullptr, reinterpret_cast<void*>(f));
    const std::lock_guard<std::mutex> lock(mu_);
    return all_.emplace(op, f).second;
  }
  Status Lookup(const std::string& op, GradFunc* f) const {
    const std::lock_guard<std::mutex> lock(mu_);
    const auto it = all_.find(op);
    if (it == all_.end()) return errors::NotFound("No gradient defined for op: ", op);
    *f = it->second;
    return OkStatus();
  }

 private:
  static TF_Status* Call(void* f, TF_Graph* graph, TF_Operation* op, weft_text name, const TF_Output* dy, TF_Output* dx) {
    const Scope scope = ::tensorflow::internal::ScopeOfGraph::Make(graph, ::tensorflow::internal::View(name));
    std::vector<Output> grad_inputs, grad_outputs;
    for (int i = 0; i < TF_OperationNumOutputs(op); ++i)
      grad_inputs.push_back(dy[i].oper ? Output(Node::Of(dy[i].oper), dy[i].index) : Output(nullptr, -1));
    Status s = reinterpret_cast<GradFunc>(f)(scope, Operation(Node::Of(op)), grad_inputs, &grad_outputs);
    if (s.ok()) s = scope.status();
    const int n = TF_OperationNumInputs(op);
    if (s.ok() && static_cast<int>(grad_outputs.size()) != n)
      s = errors::InvalidArgument("the gradient of ", TF_OperationOpType(op), " gave ", grad_outputs.size(), " outputs for ", n, " inputs");
    for (int i = 0; s.ok() && i < n; ++i) {
      const Output& o = grad_outputs[static_cast<size_t>(i)];
      dx[i] = o.node() ? TF_Output{o.node()->c(), o.index()} : TF_Output{nullptr, 0};
    }
    return ::tensorflow::internal::ToC(s);
  }

  mutable std::mutex mu_;
  std::map<std::string, GradFunc> all_;
};

}  // namespace ops
}  // namespace tensorflow

#define REGISTER_GRADIENT_OP(op, f) WEFT_REGISTER_GRADIENT_OP(__COUNTER__, op, f)
// Nothing flows back through the op.
#define REGISTER_NO_GRADIENT_OP(op) WEFT_REGISTER_GRADIENT_OP(__COUNTER__, op, nullptr)
#define WEFT_REGISTER_GRADIENT_OP(counter, op, f) WEFT_REGISTER_GRADIENT_OP_(counter, op, f)
#define WEFT_REGISTER_GRADIENT_OP_(counter, op, f) \
  static const bool weft_gradient_op_##counter [[maybe_unused]] = ::tensorflow::ops::GradOpRegistry::Global()->Register(op, f)

#endif  // TENSORFLOW_CC_FRAMEWORK_GRAD_OP_REGISTRY_H_
