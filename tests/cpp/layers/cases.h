// The layers of record.py's cases, by the names of the cases.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weft/nn.h"

namespace layer_cases {

struct Case {
  std::function<weft::nn::AnyLayer()> make;
  bool training = false;
  bool open_time = false;  // also played where the second dimension is not known
  std::function<std::vector<weft::Tensor>(const weft::nn::Layer&, const std::vector<weft::Tensor>&, const weft::nn::CallOptions&)> call = {};
};
Case find(const std::string& name);
// Of initializers, regularizers and constraints: what they give for x.
weft::Tensor value(const std::string& name, const weft::Tensor& x);

}  // namespace layer_cases
