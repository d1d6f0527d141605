// The values of a tensor as text, the way TensorFlow prints them in assertions, logs and StringFormat.
#pragma once

#include <string>

#include "core/tensor.h"

namespace weft_engine::ops {

// "1 2 3...": the first `limit` elements, all if it is -1. No outer brackets.
std::string summarize(const core::Tensor& t, int64_t limit);

// "[0 1 2 ... 7 8 9]": `edge` elements from both ends of every dimension, with line breaks; -1: all.
std::string summarize_edges(const core::Tensor& t, int64_t edge);

}  // namespace weft_engine::ops
