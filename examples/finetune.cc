// Trains on, in C++, a model that Python made and saved: its variables and functions come as objects, the loss and the optimiser are ours.
#include <cstdio>

#include "weft/nn.h"
#include "weft/weft.h"

int main(int argc, char** argv) {
  weft::LoadedModule model = weft::load_module(argc > 1 ? argv[1] : "examples/data/xor");
  for (const auto& [path, v] : model.variables_by_path())
    std::printf("%s: %s %s\n", path.c_str(), v.name().c_str(), to_string(v.partial_shape()).c_str());

  const weft::Tensor x{{0.f, 0.f}, {0.f, 1.f}, {1.f, 0.f}, {1.f, 1.f}}, y{{0.f}, {1.f}, {1.f}, {0.f}};
  weft::nn::Adam adam({.learning_rate = 0.05});
  weft::nn::losses::BinaryCrossentropy loss({.from_logits = true});
  auto step = weft::function([&] {
    weft::GradientTape tape;
    const weft::Tensor value = loss(y, model.call("logits", {x})[0]);
    const auto variables = model.trainable_variables();
    adam.apply(tape.gradient(value, variables), variables);
    return value;
  });
  for (int i = 0; i <= 200; ++i) {
    const float value = step().item<float>();
    if (i % 100 == 0) std::printf("step %d, loss %.4f\n", i, value);
  }
  const weft::Tensor p = model.signature("serving_default", {{"x", x}}).at("p");
  const auto values = p.data<float>();
  std::printf("xor: %.0f %.0f %.0f %.0f\n", values[0], values[1], values[2], values[3]);
}
