// SymbolicGradient: one function of the arguments and the gradients of all results.
#include "autodiff/backward.h"
#include "graph/node_traits.h"
#include "op/emit.h"

namespace weft_engine::autodiff {

Result<FunctionAttr> symbolic_gradient(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f) {
  return symbolic_gradient(registry, library, f, nullptr);
}

Result<FunctionAttr> symbolic_gradient(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f,
                                       const Inside* inside) {
  constexpr int kMostGradients = 6;  // each is a few times as large as the one that it is the gradient of
  for (const Inside* i = inside; i; i = i->outer) {
    if (i->function == f.name)
      return invalid_argument("the gradient of function ", f.name, " depends on itself: the function calls its own gradient");
  }
  if (inside && inside->gradients >= kMostGradients)
    return unimplemented("SymbolicGradient of function ", f.name, " inside of more than ", kMostGradients,
                         " others, each of which is differentiated");
  const Inside here{"", inside, inside ? inside->depth + 1 : 1, inside ? inside->loops : std::make_shared<LoopPlans>(),
                    inside ? inside->gradients + 1 : 1};
  WEFT_ASSIGN(auto def, library->find(f.name));
  std::vector<DType> args, rets, grad_args, grads;
  WEFT_RETURN_IF_ERROR(function_types(*def, attrs_of(f), args, rets));
  std::vector<bool> want;
  std::vector<DType> dys;
  for (DType t : args) want.push_back(differentiable(t));
  for (DType t : rets) dys.push_back(differentiable(t) && t != DType::kResource ? t : DType::kInvalid);
  WEFT_ASSIGN(FunctionGradient g, gradient_of_function(registry, library, f, want, dys, &here));

  Graph graph(registry, library);
  ShapeInference shapes(graph);
  GraphEmitter e(graph, shapes);
  Interface io;
  std::vector<Value> inputs;
  std::vector<DType> types = args;
  types.insert(types.end(), rets.begin(), rets.end());
  for (size_t i = 0; i < types.size(); ++i) {
    WEFT_ASSIGN(Node* n, graph::add_arg(graph, cat("arg_", i), types[i], int64_t(i)));
    n->shapes.resize(1);
    n->handles.resize(1);
    io.inputs.push_back({n, 0});
    inputs.push_back(e.wrap({n, 0}));
  }
  std::vector<Value> out(args.size());
  if (!g.input_grads.empty()) {
    std::vector<DType> forward_types = rets;
    forward_types.insert(forward_types.end(), g.saved_types.begin(), g.saved_types.end());
    const FunctionAttr forward{g.forward, g.forward == f.name ? f.attrs : nullptr};
    auto y = e.apply(op_of(Role::kCall, g.stateful_forward), std::span(inputs).first(args.size()), {{"Tout", forward_types}, {"f", forward}});
    WEFT_RETURN_IF_ERROR(e.take_status());
    std::vector<Value> back;
    for (int i : g.output_grads) back.push_back(inputs[args.size() + size_t(i)]);
    for (int i : g.passed_inputs) back.push_back(inputs[size_t(i)]);
    for (int i : g.passed_outputs) back.push_back(y[size_t(i)]);
    back.insert(back.end(), y.begin() + g.num_outputs, y.end());
    WEFT_ASSIGN(auto backward, library->find(g.backward));
    WEFT_RETURN_IF_ERROR(function_types(*backward, {}, grad_args, grads));
    auto dx = e.apply(op_of(Role::kCall, g.stateful_backward), back, {{"Tout", grads}, {"f", FunctionAttr{g.backward, nullptr}}});
    WEFT_RETURN_IF_ERROR(e.take_status());
    for (size_t k = 0; k < g.input_grads.size(); ++k) out[size_t(g.input_grads[k])] = dx[k];
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].valid()) out[i] = zeros_like(inputs[i]);
    WEFT_RETURN_IF_ERROR(e.take_status());
    io.outputs.push_back(GraphEmitter::unwrap(out[i]));
  }
  io.body = nodes_of_body(graph);
  return define_function(graph, cat("__gradient_", f.name), io, f.name);
}

}  // namespace weft_engine::autodiff
