// Training steps written in the C++ API inside weft::function, beside the same networks saved by TensorFlow (golden models' `train`),
// both on this engine, interleaved: microseconds for one step of 32 rows, medians.
//
//   train_step MODELS_DIR [THREADS [NAME...]]      bench/train_step.py runs it with the peers
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "weft/nn.h"
#include "weft/raw.h"
#include "weft/weft.h"

namespace {

namespace nn = weft::nn;
using weft::Tensor;

double time_us(const std::function<void()>& f, int runs) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; ++i) f();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / runs;
}

struct Case {
  std::string name;
  std::vector<int64_t> shape;  // of a batch
  nn::AnyLayer net;
  std::shared_ptr<nn::Optimizer> optimizer;
};

// Two blocks of attention, each behind a normalisation, and a mean over time.
nn::Model transformer() {
  nn::KerasTensor in = nn::Input({32, 64}), x = in;
  for (int i = 0; i < 2; ++i) {
    nn::KerasTensor h = nn::LayerNormalization()(x);
    x = nn::Add()({x, nn::MultiHeadAttention(4, 16)({h, h})});
    h = nn::LayerNormalization()(x);
    x = nn::Add()({x, nn::Dense(64)(nn::Dense(256, "gelu")(h))});
  }
  return nn::Model(in, nn::Dense(10)(nn::GlobalAveragePooling1D()(x)));
}

std::vector<Case> cases() {
  auto adam = [] { return std::make_shared<nn::Adam>(nn::AdamOptions{.learning_rate = 1e-3}); };
  return {
      {"mlp", {32, 784}, nn::Sequential{nn::Dense(128, "relu"), nn::Dense(10)}, std::make_shared<nn::SGD>(nn::SGDOptions{.learning_rate = 0.1})},
      {"cnn",
       {32, 28, 28, 1},
       nn::Sequential{nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}), nn::MaxPooling2D(2),
                      nn::Conv2D(64, 3, {.padding = "same", .activation = "relu"}), nn::MaxPooling2D(2), nn::Flatten(), nn::Dense(128, "relu"),
                      nn::Dense(10)},
       adam()},
      {"lstm", {32, 28, 28}, nn::Sequential{nn::LSTM(128), nn::Dense(10)}, adam()},
      {"transformer", {32, 32, 64}, transformer(), adam()},
  };
}

Tensor random(const std::vector<int64_t>& shape) {
  return weft::raw::StatelessRandomNormal(Tensor::of<int64_t>({int64_t(shape.size())}, std::span<const int64_t>(shape)), Tensor{1, 2});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("usage: train_step MODELS_DIR [THREADS [NAME...]]"), 2;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  weft::configure({.intra_threads = threads});
  std::vector<int32_t> labels(32);
  for (int i = 0; i < 32; ++i) labels[size_t(i)] = i % 10;
  const Tensor y = Tensor::of<int32_t>({32}, std::span<const int32_t>(labels));
  for (Case& c : cases()) {
    if (argc > 3 && std::none_of(argv + 3, argv + argc, [&](const char* n) { return c.name == n; })) continue;
    const Tensor x = random(c.shape);
    const nn::Layer& net = *c.net;
    auto body = [&](const Tensor& x, const Tensor& y) {
      weft::GradientTape tape;
      const Tensor loss = weft::reduce_mean(weft::raw::SparseSoftmaxCrossEntropyWithLogits(net(x, {.training = true}), y).loss);
      const auto variables = net.trainable_variables();
      c.optimizer->apply(tape.gradient(loss, variables), variables);
      return loss;
    };
    auto step = weft::function(body, {.name = c.name});
    auto golden = weft::load(std::string(argv[1]) + "/" + c.name, {.intra_threads = threads, .inter_threads = threads});
    auto train = golden["train"];
    const std::function<void()> ways[] = {[&] { step(x, y); }, [&] { train({{"x", x}, {"y", y}}); }, [&] { body(x, y); }};
    const char* names[] = {"function", "golden", "eager"};
    std::vector<double> times[3];
    int runs[3];
    for (int w = 0; w < 3; ++w) {
      for (int i = 0; i < 5; ++i) ways[w]();
      runs[w] = std::max(1, int(20000 / time_us(ways[w], 3)));
    }
    for (int round = 0; round < 15; ++round) {
      for (int w = 0; w < 3; ++w) {
        ways[w]();  // the one before left its own data in the caches
        times[w].push_back(time_us(ways[w], runs[w]));
      }
    }
    for (int w = 0; w < 3; ++w) {
      std::sort(times[w].begin(), times[w].end());
      std::printf("%s/train32 weft-%s %.1f\n", c.name.c_str(), names[w], times[w][times[w].size() / 2]);
    }
    std::fflush(stdout);
  }
}
