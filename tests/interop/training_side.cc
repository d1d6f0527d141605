// weft's side of interop_training.py: training_side write|read OPTIMIZER PREFIX. Trains a small network, five steps first and a checkpoint
// behind them ("write") or from a checkpoint on ("read"), then 20 steps, whose losses it prints; then the weights.
#include <weft/nn.h>
#include <weft/weft.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

using namespace weft;

static std::shared_ptr<nn::Optimizer> optimizer(const std::string& name) {
  if (name == "SGD") return std::make_shared<nn::SGD>(nn::SGDOptions{.learning_rate = 0.05, .momentum = 0.9, .nesterov = true});
  if (name == "Adam") return std::make_shared<nn::Adam>(nn::AdamOptions{.learning_rate = 0.02, .clipnorm = 1.0});
  if (name == "AdamW") return std::make_shared<nn::AdamW>(nn::AdamWOptions{.learning_rate = 0.02});
  if (name == "RMSprop")
    return std::make_shared<nn::RMSprop>(nn::RMSpropOptions{.learning_rate = 0.01, .momentum = 0.5, .epsilon = 1e-4, .centered = true});
  if (name == "Adagrad") return std::make_shared<nn::Adagrad>(nn::AdagradOptions{.learning_rate = 0.1});
  if (name == "Adadelta") return std::make_shared<nn::Adadelta>(nn::AdadeltaOptions{.learning_rate = 1.0});
  if (name == "Ftrl") return std::make_shared<nn::Ftrl>(nn::FtrlOptions{.learning_rate = 0.1});
  if (name == "Adamax") return std::make_shared<nn::Adamax>(nn::AdamaxOptions{.learning_rate = 0.02});
  if (name == "Nadam") return std::make_shared<nn::Nadam>(nn::NadamOptions{.learning_rate = 0.02});
  if (name == "Lion") return std::make_shared<nn::Lion>(nn::LionOptions{.learning_rate = 0.002});
  throw Error(Code::kInvalidArgument, "unknown optimizer " + name);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::vector<float> numbers;
  std::vector<int32_t> labels;
  for (int i = 0; i < 24; ++i) {
    for (int j = 0; j < 6; ++j) numbers.push_back(float(std::sin(i * 0.7 + j * 1.3)));
    labels.push_back(i % 3);
  }
  const Tensor x = Tensor::of<float>({24, 6}, std::span<const float>(numbers)), y = Tensor::of<int32_t>({24}, std::span<const int32_t>(labels));
  nn::Sequential model({nn::Dense(16, "relu"), nn::Dense(3)}, {.input_shape = {6}});
  const nn::losses::SparseCategoricalCrossentropy loss({.from_logits = true});
  auto made = optimizer(argv[2]);
  Checkpoint checkpoint({{"model", model}, {"optimizer", *made}});
  auto step = function([&](const Tensor& a, const Tensor& b) {
    return made->minimize([&] { return loss(b, model(a, {.training = true})); }, model.trainable_variables());
  });
  RestoreStatus status;
  if (std::strcmp(argv[1], "write") == 0) {
    for (int i = 0; i < 5; ++i) step(x, y);
    checkpoint.write(argv[3]);
  } else {
    status = checkpoint.read(argv[3]);
  }
  for (int i = 0; i < 20; ++i) std::printf("loss %.9g\n", double(step(x, y).item<float>()));
  if (std::strcmp(argv[1], "read") == 0) status.assert_consumed();
  for (const Tensor& w : model.get_weights()) {
    std::printf("weights");
    for (float f : w.to_vector<float>()) std::printf(" %.9g", double(f));
    std::printf("\n");
  }
}
