#include "capi/run_metadata.h"

#include "graph/function_body.h"
#include "io/graph_def.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "wire/proto.h"

using namespace weft_engine::capi;  // NOLINT

namespace weft_engine::capi {

Status collect_graphs(TFE_Op* op) {
  auto& context = op->owner->context;
  CollectedGraphs& c = *op->owner->graphs;
  const std::string name(op->op.spec()->name);
  if (context.functions().find_spec(name) != op->op.spec()) return {};
  std::lock_guard lock(c.mutex);
  if (!c.seen.insert(name).second) return {};
  WEFT_ASSIGN(auto def, context.functions().find(name));
  auto attrs = std::make_shared<op::AttrMap>();
  for (const auto& [key, value] : op->op.attrs()) (*attrs)[key] = value;
  WEFT_ASSIGN(graph::FunctionBody body, graph::instantiate_function(*def, *attrs, context.registry(), context.runtime().library()));
  WEFT_ASSIGN(const std::string before, io::encode_graph_def(*body.graph, false));
  WEFT_ASSIGN(auto handle, context.runtime().instantiate({name, attrs}));
  auto* instance = dynamic_cast<runtime::Instance*>(handle.get());
  if (!instance) return {};
  WEFT_ASSIGN(graph::FunctionBody placed, instance->optimized({}));
  for (graph::Node* n : placed.graph->nodes()) n->device = n->assigned_device;
  WEFT_ASSIGN(const std::string after, io::encode_graph_def(*placed.graph, false));
  wire::ProtoWriter functions, w;
  functions.bytes(1, after);  // partition_graphs
  functions.bytes(2, before);
  functions.bytes(3, after);
  w.bytes(3, after);  // partition_graphs
  w.message(4, functions);
  c.message += w.str();
  return {};
}

}  // namespace weft_engine::capi

namespace {

void collect(TFE_Context* c, bool on) {
  if (!c) return;
  guard(nullptr, [&]() -> Status {
    c->graphs->on.store(on);
    return {};
  });
}

}  // namespace

// TensorFlow's run metadata of an eager context holds graphs alone, so that both pairs do the same.
void TFE_ContextEnableRunMetadata(TFE_Context* c) { collect(c, true); }
void TFE_ContextDisableRunMetadata(TFE_Context* c) { collect(c, false); }
void TFE_ContextEnableGraphCollection(TFE_Context* c) { collect(c, true); }
void TFE_ContextDisableGraphCollection(TFE_Context* c) { collect(c, false); }

void TFE_ContextExportRunMetadata(TFE_Context* c, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(buffer);
    WEFT_RETURN_IF_ERROR(c->context.sync_executors());
    std::lock_guard lock(c->graphs->mutex);
    fill_buffer(buffer, c->graphs->message);
    c->graphs->message.clear();
    return {};
  });
}

// Names are collected only in builds of TensorFlow's own; its library has none either.
void TFE_GetExecutedOpNames(TFE_Context* c, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(buffer);
    fill_buffer(buffer, {});
    return {};
  });
}
