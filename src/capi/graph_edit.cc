// Changing nodes of a finished graph, for bindings that build graphs in an order of their own.
#include "capi/graph_internal.h"
#include "graph/node_traits.h"
#include "io/attr_codec.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::graph::Endpoint;
using weft_engine::graph::Node;
using weft_engine::op::AttrValue;

namespace {

// Runs f on a node of the graph, under its lock, and notes the change.
template <class F>
void edit(TF_Graph* graph, TF_Operation* op, TF_Status* status, F&& f) noexcept {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    WEFT_NOT_NULL(op);
    std::lock_guard lock(graph->mutex);
    if (!holds(*graph, unwrap(op))) return invalid_argument("Node ", unwrap(op)->name(), " was not found in the graph");
    WEFT_RETURN_IF_ERROR(f(unwrap(op)));
    ++graph->edits;
    return {};
  });
}

// Shapes after a change that the rule may not like: TensorFlow does not ask it again.
void infer_again(TF_Graph& g, Node* node) {
  g.shapes.forget();
  if (g.shapes.node(node).ok()) return;
  node->shapes.assign(size_t(node->num_outputs()), {});
  node->handles.assign(size_t(node->num_outputs()), std::nullopt);
}

}  // namespace

// TensorFlow lets the types differ and fails when the graph runs; here the edge is refused with that text.
void TF_UpdateEdge(TF_Graph* graph, TF_Output new_src, TF_Input dst, TF_Status* status) {
  edit(graph, dst.oper, status, [&](Node* node) -> Status {
    WEFT_NOT_NULL(new_src.oper);
    Node* from = unwrap(new_src.oper);
    if (!holds(*graph, from)) return invalid_argument("Node ", from->name(), " was not found in the graph");
    if (new_src.index < 0 || new_src.index >= from->num_outputs())
      return out_of_range("Cannot update edge. Output index [", new_src.index, "] is greater than the number of total outputs [", from->num_outputs(),
                          "].");
    if (dst.index < 0 || dst.index >= node->num_inputs())
      return out_of_range("Cannot update edge. Input index [", dst.index, "] is greater than the number of total inputs [", node->num_inputs(), "].");
    const DType given = from->output_type(new_src.index), wanted = node->input_type(dst.index);
    if (base_type(given) != base_type(wanted) || (is_ref_type(wanted) && !is_ref_type(given)))
      return invalid_argument("Input ", dst.index, " of node ", node->name(), " was passed ", dtype_name(given), " from ", from->name(), ":",
                              new_src.index, " incompatible with expected ", dtype_name(wanted), ".");
    know_shapes(*graph);
    const PartialShape& shape = from->shapes[size_t(new_src.index)];
    if (const Endpoint& old = node->input(dst.index); old.node && !shape.compatible_with(old.node->shapes[size_t(old.index)]))
      return invalid_argument("Cannot update edge, incompatible shapes: ", shape, " and ", old.node->shapes[size_t(old.index)], ".");
    graph->graph.set_input(node, dst.index, unwrap(new_src));
    graph->shapes.forget();
    return {};
  });
}

void TF_AddOperationControlInput(TF_Graph* graph, TF_Operation* op, TF_Operation* input) {
  edit(graph, op, nullptr, [&](Node* node) -> Status {
    if (!holds(*graph, unwrap(input))) return invalid_argument("control input is not in the graph");
    graph->graph.add_control(unwrap(input), node);
    return {};
  });
}

void TF_RemoveAllControlInputs(TF_Graph* graph, TF_Operation* op) {
  edit(graph, op, nullptr, [&](Node* node) -> Status {
    while (!node->control_inputs().empty()) graph->graph.remove_control(node->control_inputs().back(), node);
    return {};
  });
}

void TF_SetRequestedDevice(TF_Graph* graph, TF_Operation* op, const char* device) {
  edit(graph, op, nullptr, [&](Node* node) -> Status {
    node->device = device ? device : "";
    return {};
  });
}

void TF_SetFullType(TF_Graph* graph, TF_Operation* op, const TF_Buffer* proto) {
  edit(graph, op, nullptr, [&](Node* node) -> Status {
    WEFT_NOT_NULL(proto);
    node->full_type.assign(static_cast<const char*>(proto->data), proto->data ? proto->length : 0);
    return {};
  });
}

void TF_SetAttr(TF_Graph* graph, TF_Operation* op, const char* name, TF_Buffer* proto, TF_Status* status) {
  edit(graph, op, status, [&](Node* node) -> Status {
    WEFT_NOT_NULL(name);
    WEFT_NOT_NULL(proto);
    auto value = weft_engine::io::decode_attr({static_cast<const char*>(proto->data), proto->data ? proto->length : 0});
    if (!value.ok()) return invalid_argument("Invalid AttrValue proto");
    if (node->spec().signature().attr_index(name) < 0) {
      graph->graph.set_attr(node, name, std::move(value).value());
      return {};
    }
    // A declared one may change the types of inputs and outputs: the node is checked again.
    auto attrs = weft_engine::graph::attrs_of(*node);
    attrs.insert_or_assign(std::string(name), std::move(value).value());
    std::vector<Endpoint> inputs = node->inputs();
    if (auto it = graph->further_inputs.find(node); it != graph->further_inputs.end())
      inputs.insert(inputs.end(), it->second.begin(), it->second.end());
    for (const Endpoint& e : inputs) {
      if (!e.node) return failed_precondition("Node ", node->name(), " has an input that is not connected");
    }
    WEFT_RETURN_IF_ERROR(graph->graph.rewrite(node, node->op(), std::move(attrs), std::move(inputs)));
    graph->further_inputs.erase(node);
    infer_again(*graph, node);
    return {};
  });
}

void TF_ClearAttr(TF_Graph* graph, TF_Operation* op, const char* name, TF_Status* status) {
  edit(graph, op, status, [&](Node* node) -> Status {
    WEFT_NOT_NULL(name);
    if (node->spec().signature().attr_index(name) >= 0)
      return invalid_argument("attr '", name, "' belongs to the signature of op ", node->op(), " and cannot be cleared");
    graph->graph.clear_attr(node, name);
    return {};
  });
}

void TF_SetRequireShapeInferenceFns(TF_Graph* graph, bool require) {
  if (!graph) return;
  std::lock_guard lock(graph->mutex);
  graph->require_shape_rules = require;
}

// The input is connected when TF_SetAttr has given the node a "T" that is long enough.
void TF_AddWhileInputHack(TF_Graph* graph, TF_Output new_src, TF_Operation* dst, TF_Status* status) {
  edit(graph, dst, status, [&](Node* node) -> Status {
    WEFT_RETURN_IF_ERROR(check_output(*graph, new_src));
    if (!is_while(*node)) return internal_error("dst argument to AddWhileInputHack should be a While op, got: ", node->op());
    graph->further_inputs[node].push_back(unwrap(new_src));
    return {};
  });
}

void weft_graph_open_loop(TF_Graph* graph, TF_Operation* merge, TF_Status* status) {
  edit(graph, merge, status, [&](Node* node) -> Status {
    if (!is_merge(*node) || node->num_inputs() != 2) return invalid_argument("a loop begins with a Merge of two inputs, not with ", node->op());
    know_shapes(*graph);
    graph->graph.set_input(node, 1, {});
    // The next rounds may have other shapes.
    node->shapes.assign(size_t(node->num_outputs()), {});
    node->handles.assign(size_t(node->num_outputs()), std::nullopt);
    graph->shapes.forget();
    return {};
  });
}

void weft_graph_close_loop(TF_Graph* graph, TF_Operation* merge, TF_Output next, TF_Status* status) {
  edit(graph, merge, status, [&](Node* node) -> Status {
    WEFT_RETURN_IF_ERROR(check_output(*graph, next));
    if (!is_merge(*node) || node->num_inputs() != 2 || node->input(1).node) return invalid_argument("Node ", node->name(), " is not an open loop");
    const DType type = unwrap(next.oper)->output_type(next.index);
    if (base_type(type) != node->input_type(1))
      return invalid_argument("Input 1 of node ", node->name(), " was passed ", dtype_name(type), " from ", unwrap(next.oper)->name(), ":",
                              next.index, " incompatible with expected ", dtype_name(node->input_type(1)), ".");
    know_shapes(*graph);
    graph->graph.set_input(node, 1, unwrap(next));
    graph->shapes.forget();
    return {};
  });
}
