// Variants as bytes and back, for checkpoints and saved datasets: the types whose encoding TensorFlow registers
// and that this engine has (TensorList, Optional, ragged tensors, compressed elements, tensors).
#pragma once

#include "wire/variant_data.h"

namespace weft_engine::ops {

wire::VariantCodec variant_codec();

}  // namespace weft_engine::ops
