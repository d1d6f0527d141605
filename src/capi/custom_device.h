// Custom devices: a program's own functions that hold tensors and run ops (TFE_RegisterCustomDevice). The engine knows nothing of them: ops and
// handles that concern one are sent to its callbacks here. A packed handle, one tensor for each of several devices, is kept in the same way.
#pragma once

#include <memory>
#include <string_view>

#include "capi/internal.h"
#include "tensorflow/c/eager/c_api_experimental.h"

namespace weft_engine::capi {

class CustomDevice;

// The device if the handle lives on a custom one; null otherwise.
CustomDevice* custom_device_of(TFE_TensorHandle* h);
bool is_packed(TFE_TensorHandle* h);
TFE_Context* custom_context_of(TFE_TensorHandle* h);  // where its device was registered; null: deleted

// The device of that full name; null if the context has none.
std::shared_ptr<CustomDevice> find_custom_device(TFE_Context* c, std::string_view name);

// What the callbacks of a tensor on a custom device say; also of a packed one, which has the shape of its first part.
Result<int> custom_num_dims(TFE_TensorHandle* h);
Result<int64_t> custom_dim(TFE_TensorHandle* h, int i);
void* custom_data(TFE_TensorHandle* h);

// A copy by the callbacks of the two devices; `to` is null for one of the engine's own, which `name` names.
Status custom_copy(TFE_Context* c, TFE_TensorHandle* h, CustomDevice* to, const char* name, TFE_TensorHandle** out);

// Runs an op that is placed on a custom device or reads a tensor of one, or of several devices. `taken` is false where the engine is to run it;
// its inputs are then tensors that the engine can read.
Status run_on_custom_device(TFE_Op* op, TFE_TensorHandle** outputs, int* num_outputs, bool* taken);

}  // namespace weft_engine::capi
