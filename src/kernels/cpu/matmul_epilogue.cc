#include "kernels/cpu/matmul_epilogue.h"

#include "kernels/cpu/fused.h"

namespace weft::kernels {
std::optional<Epilogue> epilogue_of(std::string_view name) {
  constexpr std::pair<std::string_view, Epilogue> kNames[] = {
      {"Relu", Epilogue::kRelu}, {"Relu6", Epilogue::kRelu6}, {"Elu", Epilogue::kElu}, {"LeakyRelu", Epilogue::kLeakyRelu}, {"Tanh", Epilogue::kTanh},
      {"Sigmoid", Epilogue::kSigmoid}, {"GeluExact", Epilogue::kGeluExact}, {"GeluApproximate", Epilogue::kGeluApproximate}};
  for (const auto& [text, e] : kNames) {
    if (text == name) return e;
  }
  return std::nullopt;
}

void apply_epilogue(Epilogue e, float alpha, const float* bias, float* x, int64_t rows, int64_t columns, core::ThreadPool& pool) {
  if (e == Epilogue::kNone && !bias) return;
  const bool cheap = e == Epilogue::kNone || e == Epilogue::kRelu || e == Epilogue::kRelu6 || e == Epilogue::kLeakyRelu;
  pool.parallel_for(rows, (cheap ? 0.1 : 0.5) * double(columns) + 5, [&](int64_t begin, int64_t end) {
    WEFT_BEST_ISA(epilogue_rows)(e, alpha, bias, x + begin * columns, end - begin, columns, columns);
  });
}

}  // namespace weft::kernels
