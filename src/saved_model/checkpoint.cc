#include "saved_model/checkpoint.h"

#include "core/own_memory.h"
#include "trace/variable.h"
#include "wire/tensor_bundle.h"

namespace weft_engine::saved_model {

Result<Tensor> variable_value(trace::VariableState& v) {
  WEFT_ASSIGN(op::Value value, v.read());
  eager::TensorHandle* handle = trace::eager_handle(value);
  if (!handle) return internal_error("the variable '", v.spec().name, "' was read in a trace");
  WEFT_RETURN_IF_ERROR(handle->wait());
  return core::to_host(handle->tensor());
}

Result<Snapshot> take_snapshot(const std::shared_ptr<TrackableState>& root, std::span<const TrackableState::Child> attached) {
  if (trace::FuncGraph::current())
    return unimplemented(
        "a checkpoint cannot be saved from inside of a traced function: saving reads variables and writes files at once, not as nodes");
  trace::Entered untraced(nullptr);  // no tape records these reads
  Snapshot out;
  WEFT_ASSIGN(out.objects, list_tracked(root, attached));
  for (const auto& node : out.objects.nodes) {
    trace::VariableState* v = node.state->as_variable();
    if (!v) continue;
    WEFT_ASSIGN(Tensor value, variable_value(*v));
    out.values.emplace_back(value_key(node.path), std::move(value));
  }
  out.values.emplace_back(kObjectGraphKey, Tensor::scalar(tstring(encode_trackables(trackables_of(out.objects)))));
  return out;
}

Status write_snapshot(std::string_view prefix, Snapshot& snapshot) {
  wire::BundleWriter writer(prefix, {}, {.durable = true});
  for (auto& [key, tensor] : snapshot.values) {
    WEFT_RETURN_IF_ERROR(writer.add(key, tensor));
    tensor = {};
  }
  return writer.finish();
}

Status write_values(std::string_view prefix, std::span<const std::pair<std::string, Tensor>> values) {
  wire::BundleWriter writer(prefix, {}, {.durable = true});
  for (const auto& [key, tensor] : values) WEFT_RETURN_IF_ERROR(writer.add(key, tensor));
  return writer.finish();
}

}  // namespace weft_engine::saved_model
