// TF_GraphImportGraphDef and its options and results.
#include "capi/graph_internal.h"
#include "io/graph_def.h"
#include "tensorflow/c/c_api_experimental.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::graph::Endpoint;
using weft_engine::graph::ImportOptions;
using weft_engine::graph::ImportResults;
using weft_engine::graph::Node;

namespace weft_engine::capi {
namespace {

Status check_colocations(const TF_Graph& g, const std::vector<graph::Node*>& added) {
  for (const graph::Node* n : added) {
    const op::AttrValue* v = n->find_attr("_class");
    const auto* list = v ? v->get<std::vector<std::string>>() : nullptr;
    if (!list) continue;
    for (std::string_view s : *list) {
      if (s.starts_with("loc:@") && !g.graph.find(s.substr(5)))
        return invalid_argument("Node '", n->name(), "' expects to be colocated with unknown node '", s.substr(5), "'");
    }
  }
  return {};
}

Status check_options(const TF_Graph& g, const graph::ImportOptions& o) {
  for (const auto& [key, e] : o.input_map) {
    if (!holds(g, e.node)) return invalid_argument("Mapped input of '", key.first, ":", key.second, "' is not in the graph");
  }
  for (const graph::Node* n : o.control_dependencies) {
    if (!holds(g, n)) return invalid_argument("a control dependency is not in the graph");
  }
  return {};
}

}  // namespace

Result<graph::ImportResults> import_locked(TF_Graph& g, graph::GraphDef def, const graph::ImportOptions& options, bool infer) {
  WEFT_RETURN_IF_ERROR(check_options(g, options));
  if (infer) know_shapes(g);
  WEFT_ASSIGN(graph::ImportResults results, graph::import_graph_def(g.graph, std::move(def), options));
  if (!infer) return results;
  Status s = graph::infer_imported(g.graph, g.shapes, results.added);
  if (!s.ok()) graph::remove_imported(g.graph, results.added);
  g.inferred = g.graph.num_ids();
  if (!s.ok()) return s;
  return results;
}

}  // namespace weft_engine::capi

namespace {

Result<ImportResults> import(TF_Graph* graph, const TF_Buffer* buffer, const TF_ImportGraphDefOptions* options) {
  WEFT_NOT_NULL(graph);
  WEFT_NOT_NULL(buffer);
  WEFT_NOT_NULL(options);
  auto bytes = std::make_shared<const std::string>(static_cast<const char*>(buffer->data), buffer->data ? buffer->length : 0);
  auto def = weft_engine::io::decode_graph_def(std::move(bytes));
  if (!def.ok()) return invalid_argument("Invalid GraphDef");
  std::lock_guard lock(graph->mutex);
  WEFT_ASSIGN(ImportResults results, import_locked(*graph, std::move(def).value(), options->options));
  if (!options->validate_colocation) return results;
  if (Status s = check_colocations(*graph, results.added); !s.ok()) {
    weft_engine::graph::remove_imported(graph->graph, results.added);
    return s;
  }
  return results;
}

}  // namespace

void TF_GraphImportGraphDef(TF_Graph* graph, const TF_Buffer* def, const TF_ImportGraphDefOptions* options, TF_Status* status) {
  guard(status, [&]() -> Status { return import(graph, def, options).status(); });
}

void TF_GraphImportGraphDefWithReturnOutputs(TF_Graph* graph, const TF_Buffer* def, const TF_ImportGraphDefOptions* options, TF_Output* outputs,
                                             int n, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(options);
    const auto wanted = options->options.return_outputs.size();
    if (n < 0 || size_t(n) != wanted) return invalid_argument("Expected 'num_return_outputs' to be ", wanted, ", got ", n);
    if (n > 0 && !outputs) return invalid_argument("'return_outputs' must be preallocated to length ", n);
    WEFT_ASSIGN(ImportResults results, import(graph, def, options));
    for (int i = 0; i < n; ++i) outputs[i] = wrap(results.return_outputs[size_t(i)]);
    return {};
  });
}

TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResults(TF_Graph* graph, const TF_Buffer* def, const TF_ImportGraphDefOptions* options,
                                                            TF_Status* status) {
  TF_ImportGraphDefResults* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(ImportResults results, import(graph, def, options));
    auto r = std::make_unique<TF_ImportGraphDefResults>();
    for (const Endpoint& e : results.return_outputs) r->outputs.push_back(wrap(e));
    for (Node* node : results.return_nodes) r->operations.push_back(wrap(node));
    for (auto& [name, index] : results.missing_unused_input_map_keys) {
      r->missing_names.push_back(name);
      r->missing_indexes.push_back(index);
    }
    for (const auto& name : r->missing_names) r->missing_name_pointers.push_back(name.c_str());
    out = r.release();
    return {};
  });
  return out;
}

// A GraphDef object of another library cannot be read.
TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResultsNoSerialization(TF_Graph*, const TF_Buffer*, const TF_ImportGraphDefOptions*,
                                                                           TF_Status* status) {
  guard(status, [] { return unimplemented("TF_GraphImportGraphDefWithResultsNoSerialization: pass the bytes of the GraphDef instead"); });
  return nullptr;
}

// ---- Results ----

void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults* r, int* n, TF_Output** outputs) {
  if (n) *n = r ? int(r->outputs.size()) : 0;
  if (outputs) *outputs = r ? r->outputs.data() : nullptr;
}
void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults* r, int* n, TF_Operation*** operations) {
  if (n) *n = r ? int(r->operations.size()) : 0;
  if (operations) *operations = r ? r->operations.data() : nullptr;
}
void TF_ImportGraphDefResultsMissingUnusedInputMappings(TF_ImportGraphDefResults* r, int* n, const char*** names, int** indexes) {
  if (n) *n = r ? int(r->missing_names.size()) : 0;
  if (names) *names = r ? r->missing_name_pointers.data() : nullptr;
  if (indexes) *indexes = r ? r->missing_indexes.data() : nullptr;
}
void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults* r) { delete r; }

// ---- Options ----

TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions() {
  return guard_pointer<TF_ImportGraphDefOptions>([] { return new TF_ImportGraphDefOptions; });
}
void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions* o) { delete o; }

namespace {

template <class F>
void set(TF_ImportGraphDefOptions* o, F&& f) noexcept {
  if (!o) return;
  guard(nullptr, [&]() -> Status {
    f(o->options);
    return {};
  });
}

}  // namespace

void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions* o, const char* prefix) {
  set(o, [&](ImportOptions& i) { i.prefix = prefix ? prefix : ""; });
}
void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions* o, const char* device) {
  set(o, [&](ImportOptions& i) { i.default_device = device ? device : ""; });
}
void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions* o, unsigned char v) {
  set(o, [&](ImportOptions& i) { i.uniquify_names = v; });
}
void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions* o, unsigned char v) {
  set(o, [&](ImportOptions& i) { i.uniquify_prefix = v; });
}
void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions* o, const char* name, int index, TF_Output dst) {
  if (!name) return;
  set(o, [&](ImportOptions& i) { i.input_map[{name, index}] = unwrap(dst); });
}
void TF_ImportGraphDefOptionsRemapControlDependency(TF_ImportGraphDefOptions* o, const char* name, TF_Operation* dst) {
  if (!name) return;
  set(o, [&](ImportOptions& i) { i.input_map[{name, -1}] = {unwrap(dst), -1}; });
}
void TF_ImportGraphDefOptionsAddControlDependency(TF_ImportGraphDefOptions* o, TF_Operation* oper) {
  set(o, [&](ImportOptions& i) { i.control_dependencies.push_back(unwrap(oper)); });
}
void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions* o, const char* name, int index) {
  if (!name) return;
  set(o, [&](ImportOptions& i) { i.return_outputs.emplace_back(name, index); });
}
int TF_ImportGraphDefOptionsNumReturnOutputs(const TF_ImportGraphDefOptions* o) { return o ? int(o->options.return_outputs.size()) : 0; }
void TF_ImportGraphDefOptionsAddReturnOperation(TF_ImportGraphDefOptions* o, const char* name) {
  if (!name) return;
  set(o, [&](ImportOptions& i) { i.return_nodes.emplace_back(name); });
}
int TF_ImportGraphDefOptionsNumReturnOperations(const TF_ImportGraphDefOptions* o) { return o ? int(o->options.return_nodes.size()) : 0; }
void TF_ImportGraphDefOptionsSetValidateColocationConstraints(TF_ImportGraphDefOptions* o, unsigned char enable) {
  if (o) o->validate_colocation = enable;
}
