// Functions for the C++ clients of TensorFlow (tensorflow/core/weft_abi.h): tensors as messages, checkpoints.
#include "capi/cc_internal.h"
#include "wire/tensor_proto.h"

using namespace weft_engine::capi;  // NOLINT
namespace wire = weft_engine::wire;

TF_Buffer* weft_tensor_to_proto(const TF_Tensor* t) {
  auto bytes = wire::encode_tensor(t->tensor);
  return new_buffer(bytes.ok() ? *bytes : std::string());
}
TF_Status* weft_tensor_from_proto(weft_text bytes, TF_Tensor** out) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(Tensor t, wire::decode_tensor(view_of(bytes)));
    *out = new TF_Tensor{std::move(t)};
    return {};
  }));
}
