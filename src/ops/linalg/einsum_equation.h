// The equation of Einsum: "ij,...jk->...ik" as lists of labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"
#include "core/status.h"

namespace weft_engine::ops {

inline constexpr int kEllipsis = -1;  // among the labels of one operand: any number of further dimensions

struct EinsumEquation {
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;
  // With TensorFlow's texts; one or two inputs.
  static core::Result<EinsumEquation> parse(std::string_view text);
};

// The label of every dimension of an operand. Dimensions under the ellipsis get labels of their own,
// counted from the right, so that they meet as broadcasting wants.
inline constexpr int kBroadcastLabel = 1000;
core::Result<std::vector<int>> label_dims(const std::vector<int>& labels, int rank, int operand);

}  // namespace weft_engine::ops
