#include "ops/linalg/einsum_equation.h"

#include <algorithm>

namespace weft_engine::ops {

using core::cat;
using core::invalid_argument;
using core::Result;

namespace {

Result<std::vector<int>> parse_labels(std::string_view text) {
  std::vector<int> out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '.') {
      out.push_back(static_cast<unsigned char>(text[i]));
      continue;
    }
    if (text.substr(i, 3) != "...") return invalid_argument("Invalid einsum subscript, expected an ellipsis (...): ", text);
    if (std::count(out.begin(), out.end(), kEllipsis)) return invalid_argument("Subscript contains more than one ellipsis (...): ", text);
    out.push_back(kEllipsis);
    i += 2;
  }
  return out;
}

}  // namespace

Result<EinsumEquation> EinsumEquation::parse(std::string_view text) {
  const size_t arrow = text.find("->");
  if (arrow == std::string_view::npos || text.find("->", arrow + 2) != std::string_view::npos) {
    return invalid_argument("Expecting exactly one '->' in einsum equation: ", text);
  }
  EinsumEquation e;
  std::string_view rest = text.substr(0, arrow);
  for (;;) {
    const size_t comma = rest.find(',');
    WEFT_ASSIGN(std::vector<int> labels, parse_labels(rest.substr(0, comma)));
    e.inputs.push_back(std::move(labels));
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  if (e.inputs.size() > 2) {
    return invalid_argument("Expecting 1 or 2 input subscripts in equation '", text, "' but got: ", e.inputs.size());
  }
  WEFT_ASSIGN(e.output, parse_labels(text.substr(arrow + 2)));
  return e;
}

Result<std::vector<int>> label_dims(const std::vector<int>& labels, int rank, int operand) {
  const bool ellipsis = std::count(labels.begin(), labels.end(), kEllipsis) > 0;
  const int named = int(labels.size()) - (ellipsis ? 1 : 0);
  if (!ellipsis && rank != named) return invalid_argument("Expected input ", operand, " to have rank ", named, " but got: ", rank);
  if (rank < named) return invalid_argument("Expected input ", operand, " to have rank at least ", named, " but got: ", rank);
  std::vector<int> out;
  for (int label : labels) {
    if (label != kEllipsis) {
      out.push_back(label);
    } else {
      for (int left = rank - named; left > 0; --left) out.push_back(kBroadcastLabel + left);
    }
  }
  return out;
}

}  // namespace weft_engine::ops
