// TF_NewWhile: condition and body are built by the client in graphs of their own and copied when the loop is
// finished.
#include "graph/while_loop.h"

#include <cstring>

#include "capi/graph_internal.h"
#include "graph/function_library.h"
#include "op/op_traits.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::graph::Endpoint;
using weft_engine::graph::Node;

namespace {

// Placeholders for the loop's variables.
Status add_inputs(TF_Graph& part, const char* prefix, const TF_Output* inputs, int n, TF_Output* out) {
  for (int i = 0; i < n; ++i) {
    const Node* from = unwrap(inputs[i].oper);
    weft_engine::op::AttrMap attrs;
    attrs["dtype"] = base_type(from->output_type(inputs[i].index));
    WEFT_ASSIGN(Node* node, part.graph.add(cat(prefix, i), op_of(weft_engine::op::Role::kPlaceholder), std::move(attrs), {}));
    WEFT_RETURN_IF_ERROR(part.shapes.node(node));
    // What a resource holds is the same in every round.
    if (size_t(inputs[i].index) < from->handles.size()) node->handles[0] = from->handles[size_t(inputs[i].index)];
    out[i] = wrap(Endpoint{node, 0});
  }
  part.inferred = part.graph.num_ids();
  return {};
}

std::unique_ptr<TF_Graph> new_part(TF_Graph* parent, const TF_Output* inputs, int n) {
  auto part = std::make_unique<TF_Graph>();
  part->parent = parent;
  for (int i = 0; i < n; ++i) part->parent_inputs.push_back(unwrap(inputs[i]));
  (void)part->graph.library()->add_all(*parent->graph.library());
  return part;
}

// The struct is the client's; with its pointers cleared, a second end is an error and not a crash.
void free_params(const TF_WhileParams* p) {
  if (p->cond_graph) TF_DeleteGraph(p->cond_graph);
  if (p->body_graph) TF_DeleteGraph(p->body_graph);
  delete[] p->cond_inputs;
  delete[] p->body_inputs;
  delete[] p->body_outputs;
  std::memset(static_cast<void*>(const_cast<TF_WhileParams*>(p)), 0, sizeof *p);
}

Status check(const TF_WhileParams& p) {
  if (!p.cond_graph || !p.body_graph || !p.cond_graph->parent || p.cond_graph->parent != p.body_graph->parent ||
      p.cond_graph->parent_inputs != p.body_graph->parent_inputs || p.ninputs <= 0 || size_t(p.ninputs) != p.cond_graph->parent_inputs.size() ||
      !p.cond_inputs || !p.body_inputs || !p.body_outputs)
    return invalid_argument("TF_WhileParams must be created by successful TF_NewWhile() call");
  return {};
}

Status check_end(const TF_Graph& part, TF_Output end) {
  const Node* n = unwrap(end.oper);
  if (n && !holds(part, n)) return invalid_argument("Requested return tensor '", n->name(), ":", end.index, "' not found in graph def");
  return check_output(part, end);
}

Status check_set(const TF_WhileParams& p) {
  if (!p.cond_output.oper) return invalid_argument("TF_WhileParams `cond_output` field isn't set");
  for (int i = 0; i < p.ninputs; ++i) {
    if (!p.body_outputs[i].oper) return invalid_argument("TF_WhileParams `body_outputs[", i, "]` field isn't set");
  }
  if (!p.name) return invalid_argument("TF_WhileParams `name` field is null");
  // Each end is one of its own graph: the client may have mixed them.
  WEFT_RETURN_IF_ERROR(check_end(*p.cond_graph, p.cond_output));
  for (int i = 0; i < p.ninputs; ++i) {
    WEFT_RETURN_IF_ERROR(check_end(*p.cond_graph, p.cond_inputs[i]));
    WEFT_RETURN_IF_ERROR(check_end(*p.body_graph, p.body_inputs[i]));
    WEFT_RETURN_IF_ERROR(check_end(*p.body_graph, p.body_outputs[i]));
  }
  return {};
}

Status finish(const TF_WhileParams& p, TF_Output* outputs) {
  WEFT_RETURN_IF_ERROR(check_set(p));
  WEFT_NOT_NULL(outputs);
  weft_engine::graph::WhileLoop loop;
  loop.name = p.name;
  loop.inputs = p.cond_graph->parent_inputs;
  loop.cond.graph = &p.cond_graph->graph;
  loop.body.graph = &p.body_graph->graph;
  for (int i = 0; i < p.ninputs; ++i) {
    loop.cond.inputs.push_back(unwrap(p.cond_inputs[i]));
    loop.body.inputs.push_back(unwrap(p.body_inputs[i]));
    loop.body.outputs.push_back(unwrap(p.body_outputs[i]));
  }
  loop.cond.outputs.push_back(unwrap(p.cond_output));
  TF_Graph& g = *p.cond_graph->parent;
  std::lock_guard lock(g.mutex);
  know_shapes(g);
  WEFT_RETURN_IF_ERROR(g.graph.library()->add_all(*p.cond_graph->graph.library()));
  WEFT_RETURN_IF_ERROR(g.graph.library()->add_all(*p.body_graph->graph.library()));
  WEFT_ASSIGN(weft_engine::graph::WhileLoopResult made, build_while_loop(g.graph, loop));
  know_shapes(g);
  for (int i = 0; i < p.ninputs; ++i) outputs[i] = wrap(made.outputs[size_t(i)]);
  return {};
}

}  // namespace

TF_WhileParams TF_NewWhile(TF_Graph* graph, TF_Output* inputs, int n, TF_Status* status) {
  std::unique_ptr<TF_Graph> cond, body;
  std::unique_ptr<TF_Output[]> cond_inputs, body_inputs, body_outputs;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    if (n <= 0) return invalid_argument("TF_NewWhile() must be passed at least one input");
    WEFT_NOT_NULL(inputs);
    std::lock_guard lock(graph->mutex);
    for (int i = 0; i < n; ++i) WEFT_RETURN_IF_ERROR(check_output(*graph, inputs[i]));
    know_shapes(*graph);
    auto c = new_part(graph, inputs, n), b = new_part(graph, inputs, n);
    cond_inputs = std::make_unique<TF_Output[]>(size_t(n));
    body_inputs = std::make_unique<TF_Output[]>(size_t(n));
    body_outputs = std::make_unique<TF_Output[]>(size_t(n));
    WEFT_RETURN_IF_ERROR(add_inputs(*c, "cond_input", inputs, n, cond_inputs.get()));
    WEFT_RETURN_IF_ERROR(add_inputs(*b, "body_input", inputs, n, body_inputs.get()));
    for (int i = 0; i < n; ++i) body_outputs[size_t(i)] = {nullptr, -1};
    cond = std::move(c);
    body = std::move(b);
    return {};
  });
  if (!body) return {0, nullptr, nullptr, {nullptr, -1}, nullptr, nullptr, nullptr, nullptr};
  return {n, cond.release(), cond_inputs.release(), {nullptr, -1}, body.release(), body_inputs.release(), body_outputs.release(), nullptr};
}

// What the client built is freed whether the loop could be made or not.
void TF_FinishWhile(const TF_WhileParams* params, TF_Status* status, TF_Output* outputs) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(params);
    WEFT_RETURN_IF_ERROR(check(*params));
    Status s = finish(*params, outputs);
    free_params(params);
    return s;
  });
}

// TensorFlow exports this part of TF_FinishWhile under a name of its own, which no header declares.
extern "C" TF_CAPI_EXPORT void TF_FinishWhileHelper(const TF_WhileParams* params, TF_Status* status, TF_Output* outputs) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(params);
    WEFT_RETURN_IF_ERROR(check(*params));
    return finish(*params, outputs);
  });
}

void TF_AbortWhile(const TF_WhileParams* params) {
  if (params && params->cond_graph) free_params(params);
}
