// The gradients of calls: the call becomes one of FORWARD, and BACKWARD is called beside it.
#include <algorithm>

#include "autodiff/backward.h"
#include "graph/node_traits.h"
#include "op/emit.h"

namespace weft_engine::autodiff {

bool calls_functions(const Node& n) { return is_call(n) || is_branch(n) || is_while(n) || role_of(n) == Role::kSymbolicGradient; }

namespace {

// How often the function calls itself is known when it runs: nothing of these calls can be saved. Their gradients are made when they are called, and
// compute the forward once more.
Result<Grads> recursive_gradient(Backward& b, const Flow& flow, const FunctionAttr& f) {
  Node* node = flow.node;
  GraphEmitter& e = b.emitter();
  if (node->spec().stateful)
    return unimplemented("the gradient of function ", f.name, ", which calls itself and has side effects: they would happen again");
  std::vector<Value> inputs;
  std::vector<DType> types;
  for (int i = 0; i < node->num_inputs(); ++i) {
    inputs.push_back(e.wrap(node->input(i)));
    types.push_back(inputs.back().dtype());
  }
  for (size_t i = 0; i < flow.dys.size(); ++i) inputs.push_back(flow.dys[i].valid() ? flow.dys[i].dense() : zeros_like(e.wrap({node, int(i)})));
  Grads grads = e.apply(op_of(Role::kSymbolicGradient), inputs, {{"Tin", types_of(inputs)}, {"Tout", types}, {"f", f}});
  WEFT_RETURN_IF_ERROR(e.take_status());
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!flow.wanted[i]) grads[i] = {};
  }
  return grads;
}

}  // namespace

Result<Grads> call_gradient(Backward& b, const Flow& flow) {
  Node* node = flow.node;
  Graph& graph = b.graph();
  const int n = node->num_inputs();
  const bool by_name = node->is_function_call();
  FunctionAttr f;
  if (by_name) {
    AttrMap attrs = attrs_of(*node);
    std::erase_if(attrs, [](const auto& a) { return a.first.starts_with("_"); });
    f = {std::string(node->op()), attrs.empty() ? nullptr : std::make_shared<const AttrMap>(std::move(attrs))};
  } else {
    f = node->attr<FunctionAttr>("f");
  }
  for (const Inside* i = b.inside(); i; i = i->outer) {
    if (i->function == f.name) return recursive_gradient(b, flow, f);
  }
  WEFT_ASSIGN(FunctionGradient g, gradient_of_function(graph.registry(), graph.library(), f, flow.wanted, flowing_types(flow), b.inside(), true));
  if (g.input_grads.empty()) return Grads(size_t(n));

  if (g.num_saved > 0) {
    AttrMap attrs = by_name ? node->info().extra_attrs() : attrs_of(*node);
    std::string_view op = by_name ? std::string_view(g.forward) : node->op();
    if (!by_name) {
      std::vector<DType> types = node->attr<std::vector<DType>>("Tout");
      types.insert(types.end(), g.saved_types.begin(), g.saved_types.end());
      attrs["Tout"] = std::move(types);
      attrs["f"] = FunctionAttr{g.forward, nullptr};
      if (g.stateful_forward) op = op_of(Role::kCall, true);
    }
    WEFT_RETURN_IF_ERROR(b.extend(node, op, std::move(attrs), node->inputs(), g.saved_shapes));
  }
  GraphEmitter& e = b.emitter();
  std::vector<Value> inputs;
  for (int i : g.output_grads) inputs.push_back(flow.dys[size_t(i)]);
  for (int i : g.passed_inputs) inputs.push_back(e.wrap(node->input(i)));
  for (int i : g.passed_outputs) inputs.push_back(e.wrap({node, i}));
  for (int i = 0; i < g.num_saved; ++i) inputs.push_back(e.wrap({node, g.num_outputs + i}));
  WEFT_ASSIGN(auto def, graph.library()->find(g.backward));
  std::vector<DType> args, rets;
  WEFT_RETURN_IF_ERROR(function_types(*def, {}, args, rets));
  auto out = e.apply(op_of(Role::kCall, g.stateful_backward), inputs, {{"Tout", rets}, {"f", FunctionAttr{g.backward, nullptr}}});
  WEFT_RETURN_IF_ERROR(e.take_status());
  return g.unpack(size_t(n), out);
}

Result<Grads> user_gradient(Backward& b, const Flow& flow, const std::string& function) {
  Node* node = flow.node;
  GraphEmitter& e = b.emitter();
  WEFT_ASSIGN(auto def, b.graph().library()->find(function));
  std::vector<DType> args, rets;
  const AttrMap attrs = attrs_of(*node);
  WEFT_RETURN_IF_ERROR(function_types(*def, attrs, args, rets));
  const size_t n = size_t(node->num_inputs()), m = size_t(node->num_outputs());
  if ((args.size() != m && args.size() != n + m) || rets.size() > n)
    return invalid_argument("function ", function, ", the gradient of ", node->op(), ", takes ", args.size(), " values and gives ", rets.size(),
                            "; expected the gradients of ", m, " outputs, perhaps behind ", n, " inputs");
  std::vector<Value> inputs;
  for (size_t i = 0; args.size() == n + m && i < n; ++i) inputs.push_back(e.wrap(node->input(int(i))));
  for (size_t i = 0; i < m; ++i) inputs.push_back(flow.dys[i].valid() ? flow.dys[i] : zeros_like(e.wrap({node, int(i)})));
  FunctionAttr f{function, def->signature_attrs.empty() ? nullptr : std::make_shared<const AttrMap>(attrs)};
  auto out = e.apply(op_of(Role::kCall, def->stateful), inputs, {{"Tout", rets}, {"f", std::move(f)}});
  WEFT_RETURN_IF_ERROR(e.take_status());
  Grads grads(n);
  for (size_t i = 0; i < out.size(); ++i) {
    if (flow.wanted[i]) grads[i] = out[i];
  }
  return grads;
}

Result<Grads> custom_gradient(Backward& b, const Flow& flow, const std::string& function, const std::vector<int64_t>& layout) {
  Node* node = flow.node;
  GraphEmitter& e = b.emitter();
  const int64_t n = node->num_inputs();
  if (layout.size() < 2 || layout[0] < 0 || layout[0] > layout[1] || layout[1] > n ||
      std::any_of(layout.begin() + 2, layout.end(), [&](int64_t i) { return i < 0 || i >= layout[1]; }))
    return invalid_argument("the attribute _gradient_layout of node '", node->name(), "' does not fit its inputs");
  WEFT_ASSIGN(auto def, b.graph().library()->find(function));
  std::vector<DType> args, rets;
  WEFT_RETURN_IF_ERROR(function_types(*def, {}, args, rets));
  std::vector<Value> inputs;
  for (int i = 0; i < layout[0]; ++i) inputs.push_back(flow.dys[size_t(i)].valid() ? flow.dys[size_t(i)].dense() : zeros_like(e.wrap({node, i})));
  for (int i = int(layout[1]); i < n; ++i) inputs.push_back(e.wrap(node->input(i)));
  if (args.size() != inputs.size() || rets.size() != layout.size() - 2)
    return invalid_argument("function ", function, ", the gradient of node '", node->name(), "', takes ", args.size(), " values and gives ",
                            rets.size(), "; expected ", inputs.size(), " and ", layout.size() - 2);
  Grads grads{size_t(n)};
  if (rets.empty()) return grads;
  auto out = e.apply(op_of(Role::kCall, def->stateful), inputs, {{"Tout", rets}, {"f", FunctionAttr{function, nullptr}}});
  WEFT_RETURN_IF_ERROR(e.take_status());
  for (size_t k = 0; k < out.size(); ++k) {
    if (const auto i = size_t(layout[k + 2]); flow.wanted[i]) grads[i] = out[k];
  }
  return grads;
}

}  // namespace weft_engine::autodiff
