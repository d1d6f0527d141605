#include "wire/variant_data.h"

#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

Result<EncodedVariant> EncodedVariant::parse(std::string_view bytes) {
  EncodedVariant v;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) v.type_name = r.string();
    if (r.field() == 2) v.metadata = r.string();
    if (r.field() == 3) {
      WEFT_ASSIGN(Tensor t, decode_tensor(r.bytes()));
      v.tensors.push_back(std::move(t));
    }
  }
  if (!r.ok()) return data_loss("Unable to parse VariantTensorDataProto from buffer of size ", bytes.size());
  return v;
}

Result<std::string> EncodedVariant::to_string() const {
  ProtoWriter w;
  w.bytes(1, type_name);
  if (!metadata.empty()) w.bytes(2, metadata);
  for (const Tensor& t : tensors) {
    WEFT_ASSIGN(std::string bytes, encode_tensor(t));
    w.bytes(3, bytes);
  }
  return w.take();
}

}  // namespace weft_engine::wire
