// The adding problem: rows of numbers, two of which are marked; an LSTM reads them one by one and tells the sum of the two.
#include <cstdio>
#include <random>

#include "weft/nn.h"
#include "weft/weft.h"

namespace nn = weft::nn;
using weft::Tensor;

constexpr int64_t kBatch = 64, kSteps = 12;

std::pair<Tensor, Tensor> batch(std::mt19937& random) {
  std::uniform_real_distribution<float> value(0, 1);
  std::vector<float> x(kBatch * kSteps * 2, 0.f), y(kBatch);
  for (int64_t b = 0; b < kBatch; ++b) {
    const int64_t first = int64_t(random() % (kSteps / 2)), second = kSteps / 2 + int64_t(random() % (kSteps / 2));
    for (int64_t t = 0; t < kSteps; ++t) {
      float* at = &x[size_t((b * kSteps + t) * 2)];
      at[0] = value(random);
      at[1] = t == first || t == second;
      if (at[1] > 0) y[size_t(b)] += at[0];
    }
  }
  return {Tensor::of<float>({kBatch, kSteps, 2}, std::span<const float>(x)), Tensor::of<float>({kBatch, 1}, std::span<const float>(y))};
}

int main() {
  nn::set_random_seed(1);
  std::mt19937 random(1);
  nn::Sequential net{nn::LSTM(32), nn::Dense(1)};
  nn::Adam adam({.learning_rate = 1e-2, .clipnorm = 1.0});
  auto error = [&](const Tensor& x, const Tensor& y) { return weft::reduce_mean(weft::square(net(x) - y)); };
  auto step = weft::function([&](const Tensor& x, const Tensor& y) { return adam.minimize([&] { return error(x, y); }); });
  for (int i = 0; i <= 1000; ++i) {
    auto [x, y] = batch(random);
    const float loss = step(x, y).item<float>();
    if (i % 200 == 0) std::printf("step %4d: error %.4f\n", i, loss);
  }
  auto [x, y] = batch(random);
  const float last = error(x, y).item<float>();
  std::printf("%s\nafter training: error %.4f, %s\n", net.summary().c_str(), last, last < 0.005f ? "it can add" : "it cannot add");
}
