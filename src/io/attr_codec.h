// Attribute values in TensorFlow's AttrValue message.
#pragma once

#include <string>
#include <string_view>

#include "op/attr_value.h"

namespace weft_engine::io {

// InvalidArgument for malformed bytes. An empty message gives an empty value.
core::Result<op::AttrValue> decode_attr(std::string_view bytes);
core::Result<std::string> encode_attr(const op::AttrValue& value);

}  // namespace weft_engine::io
