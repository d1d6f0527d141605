// Tensors as text.
#pragma once

#include <string>

#include "core/tensor.h"

namespace weft::api {

// What Python prints for the tensor's numpy array (numpy 2.4 with its default settings): columns aligned, at most 75 characters a line,
// the middle of more than 1000 elements left out.
std::string array_text(const weft_engine::core::Tensor& t);

}  // namespace weft::api
