// Functions of an eager context: what TFE_NewOp and calls by name find beside the ops.
#include "capi/graph_internal.h"
#include "io/graph_def.h"
#include "tensorflow/c/eager/c_api_experimental.h"
#include "wire/text_format.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::graph::FunctionDef;

namespace {

std::string as_text(const FunctionDef& def) {
  auto bytes = weft_engine::io::encode_function_def(def);
  if (!bytes.ok()) return def.name;
  auto text = weft_engine::wire::binary_to_text("tensorflow.FunctionDef", *bytes);
  return text.ok() ? std::move(text).value() : def.name;
}

// As in TensorFlow, a function that is added n times is there until it has been removed n times.
Status add(TFE_Context* context, const FunctionDef& def) {
  std::lock_guard lock(context->functions_mutex);
  auto& library = context->context.functions();
  if (auto old = library.find(def.name); old.ok()) {
    if (!same_function(**old, def))
      return invalid_argument("Attempting to add a duplicate function with name: ", def.name,
                              " where the previous and current definitions differ. Previous definition: ", as_text(**old),
                              " and current definition: ", as_text(def));
  } else {
    WEFT_RETURN_IF_ERROR(library.add(def));
  }
  ++context->function_counts[def.name];
  return {};
}

Result<std::shared_ptr<const FunctionDef>> find(TFE_Context* context, const char* name, const char* what) {
  WEFT_NOT_NULL(context);
  WEFT_NOT_NULL(name);
  if (!context->context.functions().contains(name)) return not_found("Unable to find ", what, " with name: ", name);
  return context->context.functions().find(name);
}

}  // namespace

void TFE_ContextAddFunction(TFE_Context* context, TF_Function* function, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(context);
    WEFT_NOT_NULL(function);
    return add(context, function->def);
  });
}

void TFE_ContextAddFunctionDef(TFE_Context* context, const char* bytes, size_t size, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(context);
    if (size) WEFT_NOT_NULL(bytes);
    auto def = weft_engine::io::decode_function_def({bytes, size});
    if (!def.ok()) return invalid_argument("Invalid FunctionDef proto");
    return add(context, *def);
  });
}

void TFE_ContextRemoveFunction(TFE_Context* context, const char* name, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(context);
    WEFT_NOT_NULL(name);
    std::lock_guard lock(context->functions_mutex);
    auto it = context->function_counts.find(name);
    if (it != context->function_counts.end() && --it->second > 0) return {};
    if (it != context->function_counts.end()) context->function_counts.erase(it);
    return context->context.remove_function(name);
  });
}

unsigned char TFE_ContextHasFunction(TFE_Context* context, const char* name) {
  return context && name && context->context.functions().contains(name);
}

void TFE_ContextGetFunctionDef(TFE_Context* context, const char* name, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(buffer);
    WEFT_ASSIGN(auto def, find(context, name, "FunctionDef"));
    WEFT_ASSIGN(std::string bytes, weft_engine::io::encode_function_def(*def));
    fill_buffer(buffer, bytes);
    return {};
  });
}

TF_Function* TFE_ContextGetFunction(TFE_Context* context, const char* name, TF_Status* status) {
  TF_Function* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(auto def, find(context, name, "Function"));
    out = new TF_Function{*def};
    return {};
  });
  return out;
}

// Functions here carry no stack traces: the message is empty.
void TFE_ContextGetGraphDebugInfo(TFE_Context* context, const char* name, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(buffer);
    WEFT_RETURN_IF_ERROR(find(context, name, "FunctionDef").status());
    fill_buffer(buffer, "");
    return {};
  });
}
