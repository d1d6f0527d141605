#include "kernels/cpu/matmul_epilogue.h"

#include <cmath>

namespace weft::kernels {
namespace {

template <class F>
void each(const float* bias, float* x, int64_t rows, int64_t columns, double cost, core::ThreadPool& pool, F f) {
  pool.parallel_for(rows, cost * double(columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* __restrict row = x + i * columns;
      if (bias) {
        for (int64_t j = 0; j < columns; ++j) row[j] = f(row[j] + bias[j]);
      } else {
        for (int64_t j = 0; j < columns; ++j) row[j] = f(row[j]);
      }
    }
  });
}

}  // namespace

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
  auto run = [&](double cost, auto f) { each(bias, x, rows, columns, cost, pool, f); };
  switch (e) {
    case Epilogue::kNone:
      if (bias) run(0.2, [](float v) { return v; });
      return;
    case Epilogue::kRelu: return run(0.2, [](float v) { return v < 0 ? 0.f : v; });  // NaN stays
    case Epilogue::kRelu6: return run(0.2, [](float v) { return v < 0 ? 0.f : v > 6 ? 6.f : v; });
    case Epilogue::kElu: return run(5, [](float v) { return v < 0 ? std::expm1(v) : v; });
    case Epilogue::kLeakyRelu: return run(0.3, [alpha](float v) { return v > 0 ? v : v * alpha; });
    case Epilogue::kTanh: return run(8, [](float v) { return std::tanh(v); });
    case Epilogue::kSigmoid: return run(5, [](float v) { return 1 / (1 + std::exp(-v)); });
    case Epilogue::kGeluExact: return run(8, [](float v) { return 0.5f * v * (1 + std::erf(v * 0.70710678118654752f)); });
    case Epilogue::kGeluApproximate:
      return run(8, [](float v) { return 0.5f * v * (1 + std::tanh(0.79788456080286536f * (v + 0.044715f * v * v * v))); });
  }
}

}  // namespace weft::kernels
