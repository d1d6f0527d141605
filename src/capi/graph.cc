// TF_Graph: its life, its nodes by name and number, its shapes and its messages.
#include <cstdlib>
#include <cstring>

#include "capi/graph_internal.h"
#include "graph/constant_values.h"
#include "io/attr_codec.h"
#include "io/graph_def.h"
#include "io/op_def.h"
#include "tensorflow/c/c_api_experimental.h"
#include "wire/proto.h"
#include "wire/text_format.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::engine::Engine;
using weft_engine::graph::HandleData;
using weft_engine::graph::Node;
using weft_engine::op::AttrValue;

TF_Graph::TF_Graph() : graph(Engine::get().registry()) { graph.versions.producer = weft_engine::graph::kGraphDefVersion; }

namespace weft_engine::capi {

Status check_output(const TF_Graph& g, TF_Output output) {
  const graph::Node* n = unwrap(output.oper);
  if (!n) return invalid_argument("null argument: output.oper");
  if (!holds(g, n)) return invalid_argument("Node ", n->name(), " was not found in the graph");
  if (output.index < 0 || output.index >= n->num_outputs())
    return invalid_argument("output_port '", output.index, "' is out of range, node '", n->name(), "' has ", n->num_outputs(), " outputs");
  return {};
}

void attach_session(TF_Graph* graph, TF_Session* session) {
  std::lock_guard lock(graph->mutex);
  graph->sessions.insert(session);
}

void detach_session(TF_Graph* graph, TF_Session* session) {
  bool last;
  {
    std::lock_guard lock(graph->mutex);
    graph->sessions.erase(session);
    last = graph->delete_requested && graph->sessions.empty();
  }
  if (last) delete graph;
}

void know_shapes(TF_Graph& g) {
  const int n = g.graph.num_ids();
  if (g.inferred == n) return;
  auto infer = [&](Node* node) {
    if (node->id() < g.inferred || !node->shapes.empty() || node->num_outputs() == 0) return;
    if (g.shapes.node(node).ok()) return;
    node->shapes.assign(size_t(node->num_outputs()), {});
    node->handles.assign(size_t(node->num_outputs()), std::nullopt);
  };
  if (auto order = g.graph.topological_order(); order.ok()) {
    for (Node* node : *order) infer(node);
  } else {
    for (Node* node : g.graph.nodes()) infer(node);
  }
  g.inferred = n;
}

Status fill_empty_buffer(TF_Buffer* buffer, std::string_view bytes) {
  WEFT_NOT_NULL(buffer);
  if (buffer->data) return invalid_argument("Passing non-empty TF_Buffer is invalid.");
  fill_buffer(buffer, bytes);
  return {};
}

}  // namespace weft_engine::capi

TF_Graph* TF_NewGraph() {
  return guard_pointer<TF_Graph>([] { return new TF_Graph; });
}

void TF_DeleteGraph(TF_Graph* graph) {
  if (!graph) return;
  bool unused;
  {
    std::lock_guard lock(graph->mutex);
    graph->delete_requested = true;
    unused = graph->sessions.empty();
  }
  if (unused) delete graph;
}

TF_Operation* TF_GraphOperationByName(TF_Graph* graph, const char* name) {
  if (!graph || !name) return nullptr;
  std::lock_guard lock(graph->mutex);
  return wrap(graph->graph.find(name));
}

TF_Operation* TF_GraphNextOperation(TF_Graph* graph, size_t* pos) {
  if (!graph || !pos) return nullptr;
  std::lock_guard lock(graph->mutex);
  while (*pos < size_t(graph->graph.num_ids())) {
    if (Node* n = graph->graph.node(int((*pos)++))) return wrap(n);
  }
  return nullptr;
}

// ---- Shapes ----

void TF_GraphSetTensorShape(TF_Graph* graph, TF_Output output, const int64_t* dims, const int num_dims, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    if (num_dims > 0) WEFT_NOT_NULL(dims);
    std::lock_guard lock(graph->mutex);
    WEFT_RETURN_IF_ERROR(check_output(*graph, output));
    if (num_dims > kMaxRank) return invalid_argument("a shape has at most ", kMaxRank, " dimensions, got ", num_dims);
    know_shapes(*graph);
    PartialShape& known = unwrap(output.oper)->shapes[size_t(output.index)];
    WEFT_ASSIGN(PartialShape merged, known.merge_with(partial_shape_from(dims, num_dims)));
    known = std::move(merged);
    return {};
  });
}

int TF_GraphGetTensorNumDims(TF_Graph* graph, TF_Output output, TF_Status* status) {
  int rank = -1;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    std::lock_guard lock(graph->mutex);
    WEFT_RETURN_IF_ERROR(check_output(*graph, output));
    know_shapes(*graph);
    rank = unwrap(output.oper)->shapes[size_t(output.index)].rank();
    return {};
  });
  return rank;
}

void TF_GraphGetTensorShape(TF_Graph* graph, TF_Output output, int64_t* dims, int num_dims, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    std::lock_guard lock(graph->mutex);
    WEFT_RETURN_IF_ERROR(check_output(*graph, output));
    know_shapes(*graph);
    const PartialShape& s = unwrap(output.oper)->shapes[size_t(output.index)];
    if (num_dims != s.rank()) return invalid_argument("Expected rank is ", num_dims, " but actual rank is ", s.rank());
    if (num_dims > 0) WEFT_NOT_NULL(dims);
    for (int i = 0; i < num_dims; ++i) dims[i] = s.dim(i);
    return {};
  });
}

// CppShapeInferenceResult.HandleData: is_set 1, shape_and_type 2 { shape 1, dtype 2, type 4 }.
TF_Buffer* TF_GetHandleShapeAndType(TF_Graph* graph, TF_Output output) {
  if (!graph) return nullptr;
  return guard_pointer<TF_Buffer>([&]() -> TF_Buffer* {
    std::lock_guard lock(graph->mutex);
    if (!check_output(*graph, output).ok()) return nullptr;
    know_shapes(*graph);
    const Node& n = *unwrap(output.oper);
    if (size_t(output.index) >= n.handles.size() || !n.handles[size_t(output.index)]) return nullptr;
    const HandleData& h = *n.handles[size_t(output.index)];
    auto shape = weft_engine::io::encode_attr(AttrValue(h.shape));
    if (!shape.ok()) return nullptr;
    weft_engine::wire::ProtoWriter item, all;
    weft_engine::wire::ProtoReader r(*shape);
    while (r.next()) {
      if (r.field() == 7) item.bytes(1, r.bytes());
    }
    item.int64(2, int64_t(h.dtype));
    item.bytes(4, "");
    all.boolean(1, true);
    all.message(2, item);
    return new_buffer(all.str());
  });
}

void TF_SetHandleShapeAndType(TF_Graph* graph, TF_Output output, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    if (length) WEFT_NOT_NULL(proto);
    std::lock_guard lock(graph->mutex);
    WEFT_RETURN_IF_ERROR(check_output(*graph, output));
    know_shapes(*graph);
    const auto bad = [] { return invalid_argument("Couldn't deserialize HandleData proto"); };
    std::optional<HandleData> first;
    weft_engine::wire::ProtoReader r({static_cast<const char*>(proto), length});
    while (r.next()) {
      if (r.field() != 2) continue;
      HandleData h;
      weft_engine::wire::ProtoReader item = r.message();
      while (item.next()) {
        if (item.field() == 2) h.dtype = static_cast<DType>(item.int32());
        if (item.field() != 1) continue;
        weft_engine::wire::ProtoWriter attr;
        attr.bytes(7, item.bytes());
        auto shape = weft_engine::io::decode_attr(attr.str());
        if (!shape.ok() || !shape->get<PartialShape>()) return bad();
        h.shape = *shape->get<PartialShape>();
      }
      if (!item.ok() || !is_valid_dtype(int(h.dtype))) return bad();
      if (!first) first = std::move(h);
    }
    if (!r.ok()) return bad();
    Node& n = *unwrap(output.oper);
    n.handles.resize(size_t(n.num_outputs()));
    n.handles[size_t(output.index)] = std::move(first);
    return {};
  });
}

unsigned char TF_TryEvaluateConstant(TF_Graph* graph, TF_Output output, TF_Tensor** result, TF_Status* status) {
  unsigned char found = 0;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    WEFT_NOT_NULL(result);
    *result = nullptr;
    std::lock_guard lock(graph->mutex);
    WEFT_RETURN_IF_ERROR(check_output(*graph, output));
    know_shapes(*graph);
    constexpr int64_t kMostElements = int64_t(1) << 28;
    auto value = weft_engine::graph::ConstantValues(graph->graph, kMostElements).value(unwrap(output));
    if (!value) return {};
    WEFT_ASSIGN(Tensor copy, value->copy());  // the caller may write into it
    *result = new TF_Tensor{std::move(copy)};
    found = 1;
    return {};
  });
  return found;
}

// ---- Messages ----

void TF_GraphToGraphDef(TF_Graph* graph, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    std::lock_guard lock(graph->mutex);
    WEFT_ASSIGN(std::string bytes, weft_engine::io::encode_graph_def(graph->graph));
    return fill_empty_buffer(buffer, bytes);
  });
}

void TF_GraphGetOpDef(TF_Graph* graph, const char* name, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    WEFT_NOT_NULL(name);
    std::lock_guard lock(graph->mutex);
    WEFT_ASSIGN(const weft_engine::op::OpSpec* spec, graph->graph.find_spec(name));
    return fill_empty_buffer(buffer, weft_engine::io::encode_op_def(*spec));
  });
}

void TF_GraphVersions(TF_Graph* graph, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    std::lock_guard lock(graph->mutex);
    return fill_empty_buffer(buffer, weft_engine::io::encode_versions(graph->graph.versions));
  });
}

namespace {

// For the client to free().
char* copy_text(const Result<std::string>& bytes, const char* message, size_t* length) {
  if (!bytes.ok()) return nullptr;
  auto text = weft_engine::wire::binary_to_text(message, *bytes);
  if (!text.ok()) return nullptr;
  char* out = static_cast<char*>(std::malloc(text->size() + 1));
  if (!out) return nullptr;
  std::memcpy(out, text->c_str(), text->size() + 1);
  if (length) *length = text->size();
  return out;
}

}  // namespace

const char* TF_GraphDebugString(TF_Graph* graph, size_t* length) {
  if (!graph) return nullptr;
  return guard_pointer<char>([&] {
    std::lock_guard lock(graph->mutex);
    return copy_text(weft_engine::io::encode_graph_def(graph->graph), "tensorflow.GraphDef", length);
  });
}

char* TF_FunctionDebugString(TF_Function* function, size_t* length) {
  if (!function) return nullptr;
  return guard_pointer<char>([&] { return copy_text(weft_engine::io::encode_function_def(function->def), "tensorflow.FunctionDef", length); });
}
