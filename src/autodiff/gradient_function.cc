// Gradients that programs give as functions (REGISTER_OP_GRADIENT of TensorFlow's C++ API): the function's nodes are applied one by one on the emitter
// at hand, so that they run, are traced or are added to a graph.
#include <map>
#include <shared_mutex>

#include "autodiff/gradients.h"
#include "graph/node_traits.h"

namespace weft_engine::autodiff {
namespace {

struct GradientFunctions {
  std::shared_mutex mutex;
  std::map<std::string, GradientFunction, std::less<>> by_op;
};
GradientFunctions& gradient_functions() {
  static auto* all = new GradientFunctions;
  return *all;
}

}  // namespace

Status register_gradient_function(const std::string& op, GradientFunction make) {
  GradientFunctions& all = gradient_functions();
  const std::unique_lock lock(all.mutex);
  if (!all.by_op.emplace(op, std::move(make)).second) return already_exists("Duplicated gradient for ", op);
  return {};
}

GradientFunction gradient_function(std::string_view op) {
  GradientFunctions& all = gradient_functions();
  const std::shared_lock lock(all.mutex);
  const auto it = all.by_op.find(op);
  return it == all.by_op.end() ? nullptr : it->second;
}

Result<Grads> apply_gradient_function(const GradientFunction& make, const GradContext& context) {
  const NodeInfo& node = context.node();
  WEFT_ASSIGN(const FunctionBody body, make(node));
  if (!body.graph) return context.none();
  if (int(body.args.size()) != context.num_inputs() + context.num_outputs() || int(body.rets.size()) != context.num_inputs())
    return invalid_argument("the gradient of ", node.op(), ", function ", body.name, ", takes ", body.args.size(), " values and gives ",
                            body.rets.size(), "; it must take the op's ", context.num_inputs(), " inputs and the gradients of its ",
                            context.num_outputs(), " outputs, and give that of each input");
  std::vector<std::vector<Value>> values(size_t(body.graph->num_ids()));
  for (size_t i = 0; i < body.args.size(); ++i) {
    const int k = int(i) - context.num_inputs();
    values[size_t(body.args[i]->id())] = {k < 0 ? context.x(int(i)) : context.dy(k)};
  }
  WEFT_ASSIGN(const std::vector<Node*> order, body.graph->topological_order());
  for (const Node* n : order) {
    if (is_arg(*n) || is_retval(*n)) continue;
    std::vector<Value> inputs;
    for (const Endpoint& e : n->inputs()) inputs.push_back(values[size_t(e.node->id())][size_t(e.index)]);
    values[size_t(n->id())] = context.apply(n->op(), inputs, attrs_of(*n));
    WEFT_RETURN_IF_ERROR(context.emitter().take_status());
  }
  Grads out;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const Endpoint& e = body.rets[size_t(i)]->input(0);
    out.push_back(differentiable(node.input_types()[size_t(i)]) ? values[size_t(e.node->id())][size_t(e.index)] : Value());
  }
  return out;
}

}  // namespace weft_engine::autodiff
