// Graph optimizers from plug-ins: grappler.h. Each gets the graphs of functions and of sessions' runs as GraphDefs, before the engine's own passes,
// and may ask what must stay in them and which shapes are known. An answer that is no graph, or not one with the same arguments and results, counts as
// a failure.
#include <dlfcn.h>

#include "capi/internal.h"
#include "capi/pluggable_device.h"
#include "core/log.h"
#include "graph/import.h"
#include "graph/node_traits.h"
#include "graph/rewriters.h"
#include "graph/shape_inference.h"
#include "io/graph_def.h"
#include "tensorflow/c/experimental/grappler/grappler.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::graph::FunctionBody;
using weft_engine::graph::Node;

struct TF_GrapplerItem {
  const FunctionBody& body;
  std::vector<std::string> fetches, preserved;
};

struct TF_GraphProperties {
  FunctionBody body;
  bool inferred = false, input_values = false, output_values = false;
};

namespace weft_engine::capi {
namespace {

class PluginOptimizer {
 public:
  explicit PluginOptimizer(const TP_Optimizer& o) : o_(o) {}

  Result<FunctionBody> run(const FunctionBody& body) const {
    WEFT_ASSIGN(std::string bytes, io::encode_graph_def(*body.graph));
    TF_GrapplerItem item{body, {}, {}};
    for (const Node* n : body.rets) item.fetches.push_back(n->name());
    item.preserved = item.fetches;
    for (const auto* list : {&body.args, &body.control_rets}) {
      for (const Node* n : *list) item.preserved.push_back(n->name());
    }
    const TF_Buffer given{bytes.data(), bytes.size(), nullptr};
    const std::unique_ptr<TF_Buffer, void (*)(TF_Buffer*)> answer(TF_NewBuffer(), TF_DeleteBuffer);
    TF_Status status;
    void* optimizer = o_.create_func();
    o_.optimize_func(optimizer, &given, &item, answer.get(), &status);
    if (o_.destroy_func) o_.destroy_func(optimizer);
    WEFT_RETURN_IF_ERROR(status.status);
    if (answer->length && !answer->data) return invalid_argument("the answer has a length and no data");
    return read(body, {static_cast<const char*>(answer->data), answer->length});
  }

 private:
  static Result<FunctionBody> read(const FunctionBody& before, std::string_view bytes) {
    WEFT_ASSIGN(graph::GraphDef def, io::decode_graph_def(std::make_shared<const std::string>(bytes)));
    def.functions.clear();  // those of the library, which stays
    def.gradients.clear();
    FunctionBody out;
    out.name = before.name;
    out.arg_types = before.arg_types;
    out.ret_types = before.ret_types;
    out.graph = std::make_unique<graph::Graph>(before.graph->registry(), before.graph->library());
    out.graph->versions = before.graph->versions;
    WEFT_RETURN_IF_ERROR(graph::import_graph_def(*out.graph, std::move(def)).status());
    WEFT_RETURN_IF_ERROR(out.graph->topological_order().status());
    WEFT_ASSIGN(out.args, ends(*out.graph, op_of(weft_engine::op::Role::kArg), before.arg_types));
    WEFT_ASSIGN(out.rets, ends(*out.graph, op_of(weft_engine::op::Role::kRetval), before.ret_types));
    for (const Node* n : before.control_rets) {
      Node* now = out.graph->find(n->name());
      if (!now) return invalid_argument("node ", n->name(), ", which must run, is missing in the answer");
      out.control_rets.push_back(now);
    }
    return out;
  }

  // The arguments or results by number; each must be there once, with the type that it had.
  static Result<std::vector<Node*>> ends(graph::Graph& g, std::string_view op, const std::vector<DType>& types) {
    std::vector<Node*> out(types.size(), nullptr);
    for (Node* n : g.nodes()) {
      if (n->op() != op) continue;
      const int64_t i = n->attr<int64_t>("index");
      if (i < 0 || size_t(i) >= out.size() || out[size_t(i)]) return invalid_argument("the answer has another ", op, " of number ", i);
      if (n->attr<DType>("T") != types[size_t(i)]) return invalid_argument(op, " ", i, " of the answer has another type");
      out[size_t(i)] = n;
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (!out[i]) return invalid_argument(op, " ", i, " is missing in the answer");
    }
    return out;
  }

  const TP_Optimizer o_;
};

Status check_size(size_t size, const char* type, const char* macro) {
  return size ? Status() : failed_precondition("struct_size field in ", type, " must be set to ", macro, ".");
}

}  // namespace

Status load_graph_optimizer(void* library) {
  const auto init = reinterpret_cast<void (*)(TP_OptimizerRegistrationParams*, TF_Status*)>(dlsym(library, "TF_InitGraph"));
  if (!init) return {};
  TP_OptimizerRegistrationParams params{};
  TP_OptimizerConfigs configs{};
  TP_Optimizer optimizer{};
  params.struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params.major_version = GO_MAJOR;
  params.minor_version = GO_MINOR;
  params.patch_version = GO_PATCH;
  configs.struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  optimizer.struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params.optimizer_configs = &configs;
  params.optimizer = &optimizer;
  TF_Status status;
  init(&params, &status);
  WEFT_RETURN_IF_ERROR(status.status);
  WEFT_RETURN_IF_ERROR(check_size(params.struct_size, "TP_OptimizerRegistrationParams", "TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE"));
  if (!params.device_type) return failed_precondition("'device_type' field in TP_OptimizerRegistrationParams must be set.");
  WEFT_RETURN_IF_ERROR(check_size(optimizer.struct_size, "TP_Optimizer", "TP_OPTIMIZER_STRUCT_SIZE"));
  if (!optimizer.create_func) return failed_precondition("'create_func' field in TP_Optimizer must be set.");
  if (!optimizer.optimize_func) return failed_precondition("'optimize_func' field in TP_Optimizer must be set.");
  WEFT_RETURN_IF_ERROR(check_size(configs.struct_size, "TP_OptimizerConfigs", "TP_OPTIMIZER_CONFIGS_STRUCT_SIZE"));
  auto made = std::make_shared<const PluginOptimizer>(optimizer);
  graph::add_rewriter(cat("for ", params.device_type), params.device_type, [made](const FunctionBody& body) { return made->run(body); });
  return {};
}

}  // namespace weft_engine::capi

// ---- What an optimizer may ask ----

namespace {

Status list_size(const std::vector<std::string>& list, int* num_values, size_t* storage_size) {
  WEFT_NOT_NULL(num_values);
  WEFT_NOT_NULL(storage_size);
  *num_values = int(list.size());
  *storage_size = 0;
  for (const std::string& s : list) *storage_size += s.size();
  return {};
}

Status copy_list(const std::vector<std::string>& list, char** values, size_t* lengths, int num_values, void* storage, size_t storage_size) {
  char* at = static_cast<char*>(storage);
  size_t left = storage_size;
  for (int i = 0; i < num_values && size_t(i) < list.size(); ++i) {
    const std::string& s = list[size_t(i)];
    WEFT_NOT_NULL(values);
    WEFT_NOT_NULL(lengths);
    if (s.size() > left || !at) return invalid_argument("Not enough storage to hold the requested list of nodes");
    values[i] = at;
    lengths[i] = s.size();
    s.copy(at, s.size());
    at += s.size();
    left -= s.size();
  }
  return {};
}

}  // namespace

void TF_GetNodesToPreserveListSize(const TF_GrapplerItem* item, int* num_values, size_t* storage_size, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(item);
    return list_size(item->preserved, num_values, storage_size);
  });
}
void TF_GetNodesToPreserveList(const TF_GrapplerItem* item, char** values, size_t* lengths, int num_values, void* storage, size_t storage_size,
                               TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(item);
    return copy_list(item->preserved, values, lengths, num_values, storage, storage_size);
  });
}
void TF_GetFetchNodesListSize(const TF_GrapplerItem* item, int* num_values, size_t* storage_size, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(item);
    return list_size(item->fetches, num_values, storage_size);
  });
}
void TF_GetFetchNodesList(const TF_GrapplerItem* item, char** values, size_t* lengths, int num_values, void* storage, size_t storage_size,
                          TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(item);
    return copy_list(item->fetches, values, lengths, num_values, storage, storage_size);
  });
}

TF_GraphProperties* TF_NewGraphProperties(const TF_GrapplerItem* item) {
  return guard_pointer<TF_GraphProperties>(
      [&]() -> TF_GraphProperties* { return item ? new TF_GraphProperties{weft_engine::graph::clone(item->body)} : nullptr; });
}
void TF_DeleteGraphProperties(TF_GraphProperties* properties) { delete properties; }

void TF_InferStatically(TF_GraphProperties* properties, TF_Bool, TF_Bool, TF_Bool include_input_values, TF_Bool include_output_values,
                        TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(properties);
    WEFT_RETURN_IF_ERROR(weft_engine::graph::infer_all(*properties->body.graph));
    properties->input_values = include_input_values;
    properties->output_values = include_output_values;
    properties->inferred = true;
    return {};
  });
}

namespace {

// OpInfo.TensorProperties: dtype, shape, and the value of a constant.
Result<std::string> properties_of(const Node& node, int output, bool with_value) {
  weft_engine::wire::ProtoWriter w;
  w.varint(1, uint64_t(node.output_type(output)));
  const bool known = size_t(output) < node.shapes.size();
  w.bytes(2, weft_engine::wire::encode_shape(known ? node.shapes[size_t(output)] : PartialShape::unknown()));
  if (with_value && is_const(node)) {
    WEFT_ASSIGN(std::string value, weft_engine::wire::encode_tensor(node.attr<Tensor>("value")));
    w.bytes(3, value);
  }
  return w.take();
}

// None for a node that is not there, as in TensorFlow.
Result<std::vector<std::string>> list_properties(TF_GraphProperties* p, const char* name, bool inputs) {
  WEFT_NOT_NULL(p);
  WEFT_NOT_NULL(name);
  std::vector<std::string> out;
  const Node* n = p->inferred ? p->body.graph->find(name) : nullptr;
  if (!n) return out;
  for (int i = 0; i < (inputs ? n->num_inputs() : n->num_outputs()); ++i) {
    if (inputs && !n->input(i).node) return out;
    WEFT_ASSIGN(std::string one,
                inputs ? properties_of(*n->input(i).node, n->input(i).index, p->input_values) : properties_of(*n, i, p->output_values));
    out.push_back(std::move(one));
  }
  return out;
}

void count_properties(TF_GraphProperties* p, const char* name, bool inputs, int* num_values, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(num_values);
    WEFT_ASSIGN(std::vector<std::string> all, list_properties(p, name, inputs));
    *num_values = int(all.size());
    return {};
  });
}

void fill_properties(TF_GraphProperties* p, const char* name, bool inputs, TF_Buffer** properties, int num_values, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(std::vector<std::string> all, list_properties(p, name, inputs));
    for (int i = 0; i < num_values && size_t(i) < all.size(); ++i) {
      WEFT_NOT_NULL(properties);
      WEFT_NOT_NULL(properties[i]);
      if (properties[i]->data) return invalid_argument("Passing non-empty output buffer is invalid.");
      fill_buffer(properties[i], all[size_t(i)]);
    }
    return {};
  });
}

}  // namespace

void TF_GetInputPropertiesListSize(TF_GraphProperties* p, const char* name, int* num_values, TF_Status* status) {
  count_properties(p, name, true, num_values, status);
}
void TF_GetInputPropertiesList(TF_GraphProperties* p, const char* name, TF_Buffer** properties, int num_values, TF_Status* status) {
  fill_properties(p, name, true, properties, num_values, status);
}
void TF_GetOutputPropertiesListSize(TF_GraphProperties* p, const char* name, int* num_values, TF_Status* status) {
  count_properties(p, name, false, num_values, status);
}
void TF_GetOutputPropertiesList(TF_GraphProperties* p, const char* name, TF_Buffer** properties, int num_values, TF_Status* status) {
  fill_properties(p, name, false, properties, num_values, status);
}
