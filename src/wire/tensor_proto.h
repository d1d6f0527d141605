// Tensors and shapes in TensorFlow's TensorProto and TensorShapeProto.
#pragma once

#include <string>
#include <string_view>

#include "core/tensor.h"

namespace weft_engine::wire {

struct VariantCodec;

// Variants can be read only by a codec that knows their types.
core::Result<core::Tensor> decode_tensor(std::string_view bytes, const VariantCodec* variants = nullptr);
// Numbers as tensor_content, strings as string_val. Resources and variants cannot be written.
core::Result<std::string> encode_tensor(const core::Tensor& t);

// As encode_tensor, but strings, and variants by a codec, too go into tensor_content: the lengths of all, then the
// bytes of all.
core::Result<std::string> encode_tensor_content(const core::Tensor& t, const VariantCodec* variants = nullptr);

core::Result<core::PartialShape> decode_shape(std::string_view bytes);
std::string encode_shape(const core::PartialShape& s);

}  // namespace weft_engine::wire
