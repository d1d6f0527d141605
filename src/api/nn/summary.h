// The table that Keras prints of a model.
#pragma once

#include <string>
#include <vector>

#include "weft/nn/layer.h"

namespace weft::nn::detail {

struct SummaryRow {
  std::string layer, shape, params, connected;
};
SummaryRow row_of(const Layer& layer);
std::string print_summary(const std::string& kind, const Layer& model, const std::vector<SummaryRow>& rows);

}  // namespace weft::nn::detail
