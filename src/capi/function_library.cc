// The functions of a GraphDef beside the ops of the engine, as graph optimizers look them up.
#include "capi/graph_internal.h"
#include "io/graph_def.h"
#include "io/op_def.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

using namespace weft_engine::capi;  // NOLINT

struct TF_FunctionLibraryDefinition {
  weft_engine::graph::FunctionLibrary functions;
};

TF_FunctionLibraryDefinition* TF_NewFunctionLibraryDefinition(const TF_Buffer* graph_buf, TF_Status* status) {
  TF_FunctionLibraryDefinition* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(graph_buf);
    if (graph_buf->length) WEFT_NOT_NULL(graph_buf->data);
    // Functions are decoded when they are asked for, so the library keeps the bytes.
    auto def = weft_engine::io::decode_graph_def(std::make_shared<const std::string>(static_cast<const char*>(graph_buf->data), graph_buf->length));
    if (!def.ok()) return invalid_argument("Unparseable proto: ", def.status().message());
    auto made = std::make_unique<TF_FunctionLibraryDefinition>();
    for (auto& [name, f] : def->functions) WEFT_RETURN_IF_ERROR(made->functions.add(name, f));
    for (auto& g : def->gradients) WEFT_RETURN_IF_ERROR(made->functions.add_gradient(g));
    out = made.release();
    return {};
  });
  return out;
}

void TF_DeleteFunctionLibraryDefinition(TF_FunctionLibraryDefinition* fn_lib) { delete fn_lib; }

void TF_LookUpOpDef(TF_FunctionLibraryDefinition* fn_lib, const char* name, TF_Buffer* buf, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(fn_lib);
    WEFT_NOT_NULL(name);
    const weft_engine::op::OpSpec* spec = fn_lib->functions.find_spec(name);
    if (!spec) {
      WEFT_ASSIGN(spec, weft_engine::engine::Engine::get().registry().get(name));
    }
    return fill_empty_buffer(buf, weft_engine::io::encode_op_def(*spec));
  });
}
