// Checkpoints of Keras 3's optimisers, and of TensorFlow's older ones with slots (recorded/make_checkpoints.py), restored into ours.
#include "tests/cpp/training/golden.h"

#include <weft/nn.h>

#include <unistd.h>

#include <filesystem>
#include <memory>

namespace {

using namespace weft;

std::shared_ptr<nn::Optimizer> optimizer(const std::string& name) {
  // The learning rates come from the files.
  if (name == "SGD") return std::make_shared<nn::SGD>(nn::SGDOptions{.momentum = 0.9});
  if (name == "Adam") return std::make_shared<nn::Adam>(nn::AdamOptions{.amsgrad = true});
  if (name == "AdamW") return std::make_shared<nn::AdamW>();
  if (name == "RMSprop") return std::make_shared<nn::RMSprop>(nn::RMSpropOptions{.momentum = 0.5, .centered = true});
  if (name == "Adagrad") return std::make_shared<nn::Adagrad>();
  if (name == "Adadelta") return std::make_shared<nn::Adadelta>();
  if (name == "Ftrl") return std::make_shared<nn::Ftrl>();
  if (name == "Adamax") return std::make_shared<nn::Adamax>();
  if (name == "Nadam") return std::make_shared<nn::Nadam>(nn::NadamOptions{.use_ema = true});
  REQUIRE(name == "Lion");
  return std::make_shared<nn::Lion>();
}

Tensor floats(std::istream& in, size_t n, std::vector<int64_t> shape) {
  std::vector<float> v(n);
  for (float& f : v) in >> f;
  return Tensor::of<float>(std::move(shape), std::span<const float>(v));
}

}  // namespace

TEST_CASE("training goes on from checkpoints of Keras") {
  for (const std::string& line : golden::lines("tests/cpp/training/recorded/checkpoints.txt")) {
    std::istringstream in(line);
    std::string name;
    in >> name;
    if (name == "slots") continue;
    const Tensor kernel = floats(in, 6, {3, 2}), bias = floats(in, 2, {2});
    // Restored before its variables are made, and behind that; eagerly and in a trace, where they are made.
    for (int way = 0; way < 4; ++way) {
      INFO(name << " way " << way);
      nn::Sequential model({nn::Dense(2)}, {.input_shape = {3}});
      auto made = optimizer(name);
      const auto variables = model.trainable_variables();
      if (way & 1) made->build(variables);
      Checkpoint checkpoint({{"model", model}, {"optimizer", *made}});
      const RestoreStatus status = checkpoint.read("tests/cpp/training/recorded/checkpoints/keras_" + name);
      auto step = [&](const Tensor& dk, const Tensor& db) { made->apply(std::vector<Tensor>{dk, db}, variables); };
      auto traced = function(std::function<void(Tensor, Tensor)>(step));
      const Tensor dk = Tensor::of<float>({3, 2}, {.1f, .2f, .3f, .4f, .5f, .6f}), db{.5f, -.5f};
      for (int i = 0; i < 2; ++i) way & 2 ? traced(dk, db) : step(dk, db);
      status.assert_consumed();
      CHECK(golden::close(variables[0], kernel, 1.5e-6));
      CHECK(golden::close(variables[1], bias, 1.5e-6));
      CHECK(made->iterations().value().item<int64_t>() == 5);
    }
  }
}

TEST_CASE("slots of TensorFlow's older optimisers are found") {
  std::istringstream in(golden::lines("tests/cpp/training/recorded/checkpoints.txt").back());
  std::string name;
  in >> name;
  REQUIRE(name == "slots");
  const Tensor value = floats(in, 3, {3}), m = floats(in, 3, {3}), v = floats(in, 3, {3});
  for (bool before : {false, true}) {
    Variable x(zeros({3}), {.name = "v"});
    nn::Adam adam;
    if (before) adam.build({x});
    Checkpoint checkpoint({{"v", x}, {"optimizer", adam}});
    checkpoint.read("tests/cpp/training/recorded/checkpoints/slots_adam").expect_partial();
    if (!before) adam.build({x});
    CHECK(golden::close(x, value));
    CHECK(golden::close(adam.slot(x, "m"), m));
    CHECK(golden::close(adam.slot(x, "v"), v));
    CHECK_FALSE(adam.slot(x, "momentum_of_another").has_value());
    // Written as Keras 3 writes it: no slot is a child too.
    const auto folder = std::filesystem::temp_directory_path() / ("weft_slots_" + std::to_string(getpid()));
    CHECK_NOTHROW(checkpoint.write((folder / "ckpt").string()));
    std::filesystem::remove_all(folder);
  }
}
