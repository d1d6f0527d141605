// Large tensors in messages that came in many pieces: their bytes go from the pieces straight into the tensors' memory; the rest is put together and decoded as usual.
#pragma once

#include "core/tensor.h"
#include "remote/transport.h"

namespace weft_engine::remote {

// A message without the contents of its large tensors, which stand beside it.
struct Unpacked {
  Message rest;
  std::string_view bytes;  // of `rest`
  std::vector<Tensor> large;

  // A TensorProto of the message.
  Result<Tensor> tensor(std::string_view proto) const;
};

// Where a message has TensorProtos.
enum class TensorsIn { kEnqueueRequest, kEnqueueResponse, kRecvTensorResponse, kRunComponentRequest, kRunComponentResponse };
Result<Unpacked> unpack(Message message, TensorsIn kind);
// Of bytes that are in one piece.
inline Unpacked whole(std::string_view bytes) { return {{}, bytes, {}}; }

}  // namespace weft_engine::remote
