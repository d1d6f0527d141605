// TF_Function: functions made of graphs, read from and written to messages, and the library of a graph.
#include "capi/graph_internal.h"
#include "graph/to_function.h"
#include "io/attr_codec.h"
#include "io/graph_def.h"
#include "tensorflow/c/c_api_experimental.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::graph::FunctionDef;
using weft_engine::graph::FunctionOptions;

namespace {

Result<FunctionDef> convert(const TF_Graph* graph, const char* name, bool hash, int num_opers, const TF_Operation* const* opers, int ninputs,
                            const TF_Output* inputs, int noutputs, const TF_Output* outputs, const char* const* output_names, int ncontrols,
                            const TF_Operation* const* controls, const char* const* control_names, const char* description) {
  WEFT_NOT_NULL(graph);
  WEFT_NOT_NULL(name);
  if (num_opers < -1 || ninputs < 0 || noutputs < 0 || ncontrols < 0)
    return invalid_argument("a negative number of nodes, inputs, outputs or control outputs");
  if (num_opers > 0) WEFT_NOT_NULL(opers);
  if (ninputs > 0) WEFT_NOT_NULL(inputs);
  if (noutputs > 0) WEFT_NOT_NULL(outputs);
  if (ncontrols > 0) WEFT_NOT_NULL(controls);
  FunctionOptions o;
  o.name = name;
  o.append_hash = hash;
  if (description) o.description = description;
  for (int i = 0; i < ninputs; ++i) o.inputs.push_back(unwrap(inputs[i]));
  for (int i = 0; i < noutputs; ++i) o.outputs.push_back(unwrap(outputs[i]));
  for (int i = 0; output_names && i < noutputs; ++i) {
    WEFT_NOT_NULL(output_names[i]);
    o.output_names.emplace_back(output_names[i]);
  }
  for (int i = 0; i < ncontrols; ++i) o.control_outputs.push_back(unwrap(controls[i]));
  for (int i = 0; control_names && i < ncontrols; ++i) {
    WEFT_NOT_NULL(control_names[i]);
    o.control_output_names.emplace_back(control_names[i]);
  }
  if (num_opers >= 0) {
    o.body.emplace();
    for (int i = 0; i < num_opers; ++i) o.body->push_back(unwrap(opers[i]));
  }
  std::lock_guard lock(const_cast<TF_Graph*>(graph)->mutex);
  return weft_engine::graph::to_function(graph->graph, o);
}

}  // namespace

TF_Function* TF_GraphToFunctionWithControlOutputs(const TF_Graph* graph, const char* name, unsigned char append_hash, int num_opers,
                                                  const TF_Operation* const* opers, int ninputs, const TF_Output* inputs, int noutputs,
                                                  const TF_Output* outputs, const char* const* output_names, int ncontrols,
                                                  const TF_Operation* const* controls, const char* const* control_names, const TF_FunctionOptions*,
                                                  const char* description, TF_Status* status) {
  TF_Function* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(FunctionDef def, convert(graph, name, append_hash, num_opers, opers, ninputs, inputs, noutputs, outputs, output_names,
                                         ncontrols, controls, control_names, description));
    out = new TF_Function{std::move(def)};
    return {};
  });
  return out;
}

TF_Function* TF_GraphToFunction(const TF_Graph* graph, const char* name, unsigned char append_hash, int num_opers, const TF_Operation* const* opers,
                                int ninputs, const TF_Output* inputs, int noutputs, const TF_Output* outputs, const char* const* output_names,
                                const TF_FunctionOptions* options, const char* description, TF_Status* status) {
  return TF_GraphToFunctionWithControlOutputs(graph, name, append_hash, num_opers, opers, ninputs, inputs, noutputs, outputs, output_names, 0,
                                              nullptr, nullptr, options, description, status);
}

const char* TF_FunctionName(TF_Function* f) { return f ? f->def.name.c_str() : nullptr; }
void TF_DeleteFunction(TF_Function* f) { delete f; }

void TF_FunctionToFunctionDef(TF_Function* f, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(f);
    WEFT_ASSIGN(std::string bytes, weft_engine::io::encode_function_def(f->def));
    return fill_empty_buffer(buffer, bytes);
  });
}

TF_Function* TF_FunctionImportFunctionDef(const void* proto, size_t length, TF_Status* status) {
  TF_Function* out = nullptr;
  guard(status, [&]() -> Status {
    if (length) WEFT_NOT_NULL(proto);
    auto def = weft_engine::io::decode_function_def({static_cast<const char*>(proto), length});
    if (!def.ok()) return invalid_argument("Invalid FunctionDef given to TF_FunctionImportFunctionDef");
    out = new TF_Function{std::move(def).value()};
    return {};
  });
  return out;
}

void TF_FunctionSetAttrValueProto(TF_Function* f, const char* name, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(f);
    WEFT_NOT_NULL(name);
    if (length) WEFT_NOT_NULL(proto);
    auto value = weft_engine::io::decode_attr({static_cast<const char*>(proto), length});
    if (!value.ok()) return invalid_argument("Unparseable AttrValue proto passed to TF_FunctionSetAttrValueProto");
    f->def.attrs.insert_or_assign(std::string(name), std::move(value).value());
    return {};
  });
}

void TF_FunctionGetAttrValueProto(TF_Function* f, const char* name, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(f);
    WEFT_NOT_NULL(name);
    auto it = f->def.attrs.find(name);
    if (it == f->def.attrs.end()) return invalid_argument("Function '", f->def.name, "' has no attr named '", name, "'.");
    WEFT_ASSIGN(std::string bytes, weft_engine::io::encode_attr(it->second));
    return fill_empty_buffer(buffer, bytes);
  });
}

// ---- The library of a graph ----

void TF_GraphCopyFunction(TF_Graph* graph, const TF_Function* func, const TF_Function* grad, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    if (!func) return invalid_argument("'func' argument to TF_GraphCopyFunction cannot be null");
    std::lock_guard lock(graph->mutex);
    auto& library = *graph->graph.library();
    WEFT_RETURN_IF_ERROR(library.add(func->def));
    if (!grad) return {};
    WEFT_RETURN_IF_ERROR(library.add(grad->def));
    return library.add_gradient({func->def.name, grad->def.name});
  });
}

int TF_GraphNumFunctions(TF_Graph* graph) {
  if (!graph) return 0;
  return graph->graph.library()->size();
}

int TF_GraphGetFunctions(TF_Graph* graph, TF_Function** functions, int max, TF_Status* status) {
  int count = 0;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    if (max > 0) WEFT_NOT_NULL(functions);
    std::vector<FunctionDef> found;
    for (const auto& name : graph->graph.library()->names()) {
      if (int(found.size()) >= max) break;
      WEFT_ASSIGN(auto def, graph->graph.library()->find(name));
      found.push_back(*def);
    }
    for (auto& def : found) functions[count++] = new TF_Function{std::move(def)};
    return {};
  });
  return count;
}

void TF_GraphRemoveFunction(TF_Graph* graph, const char* name, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph);
    WEFT_NOT_NULL(name);
    std::lock_guard lock(graph->mutex);
    WEFT_RETURN_IF_ERROR(graph->graph.library()->remove(name));
    graph->shapes.forget();
    return {};
  });
}
