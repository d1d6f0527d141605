// A training that is interrupted continues where it was. Run with a folder that holds checkpoints it takes up the last one; run without, it
// plays both lives itself: one that stops half way, one that comes after it, and compares them with a training that was never interrupted.
#include <cstdio>
#include <filesystem>
#include <string>

#include "weft/nn.h"
#include "weft/weft.h"

namespace nn = weft::nn;

struct Training {
  nn::Sequential net{nn::Dense(16, {.activation = "tanh", .kernel_initializer = nn::initializers::glorot_uniform({.seed = 3})}),
                     nn::Dense(1, {.kernel_initializer = nn::initializers::glorot_uniform({.seed = 4})})};
  nn::Adam adam{nn::AdamOptions{.learning_rate = 0.01}};
  weft::Variable steps{weft::Tensor(int64_t(0)), {.name = "steps", .trainable = false}};
  weft::Tensor x{{-1.f}, {-0.5f}, {0.f}, {0.5f}, {1.f}}, y{{1.f}, {0.25f}, {0.f}, {0.25f}, {1.f}};
  weft::Checkpoint checkpoint{{"net", net}, {"optimizer", adam}, {"steps", steps}};

  float step() {
    const auto loss = adam.minimize([&] { return weft::reduce_mean(weft::square(net(x) - y)); }, {});
    steps.assign_add(weft::Tensor(int64_t(1)));
    return loss.item<float>();
  }
};

// Trains until `last`; gives the loss there.
float train(const std::string& folder, int64_t last) {
  Training t;
  weft::CheckpointManager manager(t.checkpoint, folder, {.max_to_keep = 2});
  const std::string from = manager.restore_or_initialize();
  float loss = 0;
  if (!from.empty()) std::printf("goes on from %s\n", std::filesystem::path(from).filename().c_str());
  while (t.steps.value().item<int64_t>() < last) {
    loss = t.step();
    if (t.steps.value().item<int64_t>() % 50 == 0) manager.save(t.steps.value().item<int64_t>());
  }
  return loss;
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : (std::filesystem::temp_directory_path() / "weft_resume").string();
  if (argc > 1) return std::printf("loss %.6f\n", train(folder, 200)), 0;
  std::filesystem::remove_all(folder);
  train(folder, 100);
  const float resumed = train(folder, 200);
  std::filesystem::remove_all(folder);
  const float straight = train(folder, 200);
  std::filesystem::remove_all(folder);
  std::printf("loss after 200 steps: interrupted %.6f, not interrupted %.6f\n%s\n", resumed, straight,
              resumed == straight ? "the same" : "NOT the same");
  return resumed != straight;
}
