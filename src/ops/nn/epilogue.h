// The activations that fused products and convolutions apply to their results, by their names in the attribute fused_ops.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "kernels/cpu/matmul_epilogue.h"

namespace weft_engine::ops {

inline std::optional<kernels::Epilogue> epilogue_of(std::string_view name) {
  using kernels::Epilogue;
  constexpr std::pair<std::string_view, Epilogue> kNames[] = {{"Relu", Epilogue::kRelu},
                                                              {"Relu6", Epilogue::kRelu6},
                                                              {"Elu", Epilogue::kElu},
                                                              {"LeakyRelu", Epilogue::kLeakyRelu},
                                                              {"Tanh", Epilogue::kTanh},
                                                              {"Sigmoid", Epilogue::kSigmoid},
                                                              {"GeluExact", Epilogue::kGeluExact},
                                                              {"GeluApproximate", Epilogue::kGeluApproximate}};
  for (const auto& [text, e] : kNames) {
    if (text == name) return e;
  }
  return std::nullopt;
}

}  // namespace weft_engine::ops
