// Variants as bytes: a VariantTensorDataProto has the name of a type, bytes that are the type's own affair, and tensors.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"
#include "core/variant.h"

namespace weft_engine::wire {

struct EncodedVariant {
  std::string type_name, metadata;
  std::vector<core::Tensor> tensors;

  // DataLoss for what is no such message.
  static core::Result<EncodedVariant> parse(std::string_view bytes);
  core::Result<std::string> to_string() const;
};

// How variants become bytes. Only upper layers know their types.
struct VariantCodec {
  std::function<core::Result<core::Variant>(EncodedVariant)> decode;
  std::function<core::Result<EncodedVariant>(const core::Variant&)> encode;
};

}  // namespace weft_engine::wire
