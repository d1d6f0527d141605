// Large tensors in messages that came in many pieces: their bytes go from the pieces straight into the tensors' memory; the rest is put together and decoded as usual.
#pragma once

#include "core/tensor.h"
#include "remote/transport.h"
#include "wire/variant_data.h"

namespace weft_engine::remote {

// A message without the contents of its large tensors, which stand beside it.
struct Unpacked {
  Message rest;
  std::string_view bytes;  // of `rest`
  std::vector<Tensor> large;

  // A TensorProto of the message.
  Result<Tensor> tensor(std::string_view proto) const;
};

// How variants become bytes: only upper layers know their types. Set by engine/, at its start.
void set_variant_codec(wire::VariantCodec codec);
const wire::VariantCodec* variant_codec();

// Where a message has TensorProtos.
enum class TensorsIn { kEnqueueRequest, kEnqueueResponse, kRecvTensorResponse, kRunComponentRequest, kRunComponentResponse };
Result<Unpacked> unpack(Message message, TensorsIn kind);
// Of bytes that are in one piece.
inline Unpacked whole(std::string_view bytes) { return {{}, bytes, {}}; }

}  // namespace weft_engine::remote
