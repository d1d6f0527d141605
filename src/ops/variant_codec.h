// Variants as bytes and back, for checkpoints: the types whose encoding TensorFlow registers and that
// this engine has (TensorList, Optional).
#pragma once

#include "wire/tensor_bundle.h"

namespace weft::ops {

wire::VariantCodec variant_codec();

}  // namespace weft::ops
