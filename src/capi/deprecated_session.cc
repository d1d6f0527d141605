// Sessions of programs older than TF_Graph: the session owns its graph, which grows by GraphDefs, and ops
// are called by name. Everything is said in terms of the functions that came after.
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "capi/checked.h"
#include "capi/session_internal.h"

using namespace weft_engine::capi;  // NOLINT

struct TF_DeprecatedSession {
  TF_Graph* graph = nullptr;
  TF_Session* session = nullptr;
};

namespace {

// An output by "name:1", or by "name", which is its first.
Result<TF_Output> find_output(TF_Graph* graph, std::string_view given) {
  std::string_view text = given;
  const size_t colon = text.rfind(':');
  int index = 0;
  if (colon != std::string_view::npos) {
    const char *begin = text.data() + colon + 1, *end = text.data() + text.size();
    const auto parsed = std::from_chars(begin, end, index);
    if (parsed.ec == std::errc() && parsed.ptr == end && index >= 0) text = text.substr(0, colon);
  }
  TF_Operation* node = TF_GraphOperationByName(graph, std::string(text).c_str());
  if (!node) return invalid_argument("Tensor ", given, ", specified in either feed_devices or fetch_devices was not found in the Graph");
  if (index >= TF_OperationNumOutputs(node))
    return out_of_range("Node '", text, "' (type: '", TF_OperationOpType(node), "', num of outputs: ", TF_OperationNumOutputs(node),
                        ") does not have output ", index);
  return TF_Output{node, index};
}

// What a run names, as ops of the graph.
struct Names {
  std::vector<TF_Output> inputs, outputs;
  std::vector<const TF_Operation*> targets;

  Status find(TF_Graph* graph, const char** in, int num_in, const char** out, int num_out, const char** run, int num_run) {
    if (num_in < 0 || num_out < 0 || num_run < 0) return invalid_argument("negative number of names");
    for (int i = 0; i < num_in; ++i) {
      WEFT_NOT_NULL(in && in[i]);
      WEFT_ASSIGN(TF_Output found, find_output(graph, in[i]));
      inputs.push_back(found);
    }
    for (int i = 0; i < num_out; ++i) {
      WEFT_NOT_NULL(out && out[i]);
      WEFT_ASSIGN(TF_Output found, find_output(graph, out[i]));
      outputs.push_back(found);
    }
    for (int i = 0; i < num_run; ++i) {
      WEFT_NOT_NULL(run && run[i]);
      targets.push_back(TF_GraphOperationByName(graph, run[i]));
      if (!targets.back()) return not_found("PruneForTargets: Some target nodes not found: ", run[i]);
    }
    return {};
  }
};

// Nodes of a later GraphDef may take inputs from those that came before.
void map_known_nodes(TF_Graph* graph, TF_ImportGraphDefOptions* options) {
  size_t at = 0;
  while (TF_Operation* node = TF_GraphNextOperation(graph, &at)) {
    const char* name = TF_OperationName(node);
    for (int i = 0; i < TF_OperationNumOutputs(node); ++i) TF_ImportGraphDefOptionsAddInputMapping(options, name, i, {node, i});
    TF_ImportGraphDefOptionsRemapControlDependency(options, name, node);
  }
}

}  // namespace

extern "C" {

TF_DeprecatedSession* TF_NewDeprecatedSession(const TF_SessionOptions* options, TF_Status* status) {
  TF_DeprecatedSession* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(options);
    TF_Graph* graph = TF_NewGraph();
    if (!graph) return resource_exhausted("out of memory");
    TF_Session* session = nullptr;
    Status s = checked([&](TF_Status* inner) { session = TF_NewSession(graph, options, inner); });
    if (!s.ok()) {
      TF_DeleteGraph(graph);
      return s;
    }
    out = new TF_DeprecatedSession{graph, session};
    return {};
  });
  return out;
}

void TF_CloseDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(session);
    return checked([&](TF_Status* s) { TF_CloseSession(session->session, s); });
  });
}

void TF_DeleteDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status) {
  guard(status, [&]() -> Status {
    if (!session) return {};
    Status s = checked([&](TF_Status* inner) { TF_DeleteSession(session->session, inner); });
    TF_DeleteGraph(session->graph);
    delete session;
    return s;
  });
}

void TF_ExtendGraph(TF_DeprecatedSession* session, const void* proto, size_t proto_len, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(session);
    if (proto_len) WEFT_NOT_NULL(proto);
    std::unique_ptr<TF_ImportGraphDefOptions, void (*)(TF_ImportGraphDefOptions*)> options(TF_NewImportGraphDefOptions(),
                                                                                           TF_DeleteImportGraphDefOptions);
    map_known_nodes(session->graph, options.get());
    TF_Buffer def{};
    def.data = proto;
    def.length = proto_len;
    return checked([&](TF_Status* s) { TF_GraphImportGraphDef(session->graph, &def, options.get(), s); });
  });
}

// Sessions look at their graph before every run.
void TF_ExtendSession(TF_Session* session, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(session);
    return {};
  });
}

void TF_Run(TF_DeprecatedSession* session, const TF_Buffer* run_options, const char** input_names, TF_Tensor** inputs, int ninputs,
            const char** output_names, TF_Tensor** outputs, int noutputs, const char** target_oper_names, int ntargets, TF_Buffer* run_metadata,
            TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(session);
    if (ninputs > 0) WEFT_NOT_NULL(inputs);
    if (noutputs > 0) WEFT_NOT_NULL(outputs);
    for (int i = 0; i < noutputs; ++i) outputs[i] = nullptr;
    Names n;
    WEFT_RETURN_IF_ERROR(n.find(session->graph, input_names, ninputs, output_names, noutputs, target_oper_names, ntargets));
    return checked([&](TF_Status* s) {
      TF_SessionRun(session->session, run_options, n.inputs.data(), inputs, ninputs, n.outputs.data(), outputs, noutputs, n.targets.data(), ntargets,
                    run_metadata, s);
    });
  });
}

void TF_PRunSetup(TF_DeprecatedSession* session, const char** input_names, int ninputs, const char** output_names, int noutputs,
                  const char** target_oper_names, int ntargets, const char** handle, TF_Status* status) {
  if (handle) *handle = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(session);
    WEFT_NOT_NULL(handle);
    Names n;
    WEFT_RETURN_IF_ERROR(n.find(session->graph, input_names, ninputs, output_names, noutputs, target_oper_names, ntargets));
    return checked([&](TF_Status* s) {
      TF_SessionPRunSetup(session->session, n.inputs.data(), ninputs, n.outputs.data(), noutputs, n.targets.data(), ntargets, handle, s);
    });
  });
}

void TF_PRun(TF_DeprecatedSession* session, const char* handle, const char** input_names, TF_Tensor** inputs, int ninputs, const char** output_names,
             TF_Tensor** outputs, int noutputs, const char** target_oper_names, int ntargets, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(session);
    if (ninputs > 0) WEFT_NOT_NULL(inputs);
    if (noutputs > 0) WEFT_NOT_NULL(outputs);
    for (int i = 0; i < noutputs; ++i) outputs[i] = nullptr;
    Names n;
    WEFT_RETURN_IF_ERROR(n.find(session->graph, input_names, ninputs, output_names, noutputs, target_oper_names, ntargets));
    return checked([&](TF_Status* s) {
      TF_SessionPRun(session->session, handle, n.inputs.data(), inputs, ninputs, n.outputs.data(), outputs, noutputs, n.targets.data(), ntargets, s);
    });
  });
}

TF_DeviceList* TF_DeprecatedSessionListDevices(TF_DeprecatedSession* session, TF_Status* status) {
  TF_DeviceList* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(session);
    return checked([&](TF_Status* s) { out = TF_SessionListDevices(session->session, s); });
  });
  return out;
}

}  // extern "C"
