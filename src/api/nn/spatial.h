// Sizes in each spatial dimension, as convolutions and pooling share them.
#pragma once

#include <string>
#include <vector>

#include "weft/nn/convolution.h"

namespace weft::nn::detail {

// One size for each dimension, all positive.
std::vector<int64_t> spread(const Extent& e, int rank, const std::string& who, const char* what);
// "SAME" or "VALID"; causal padding is done before, so that "VALID" is left.
std::string padding_attr(const std::string& padding, bool causal, const std::string& who);
// {h, w} becomes {1, h, w, 1}, as ops take strides and windows.
std::vector<int64_t> with_batch(std::vector<int64_t> d);

}  // namespace weft::nn::detail
