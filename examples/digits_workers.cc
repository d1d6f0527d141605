// The digits again, by several processes that train together: each takes its part of every batch, and all take the same steps. Start it with
//
//   weft launch -n 2 digits_workers [DATA.npz [OUT_DIR]]
//
// or alone, which gives the same losses. `weft launch` tells each process by TF_CONFIG which worker it is; on a cluster its launcher does (docs/clusters.md).
#include <cstdio>
#include <string>

#include "weft/nn.h"
#include "weft/weft.h"

namespace nn = weft::nn;
using weft::Tensor;

namespace {

constexpr int kEpochs = 4, kBatch = 64;

struct Net : weft::Module {
  nn::Sequential layers{
      nn::Rescaling(1.0 / 16), nn::Conv2D(16, 3, {.activation = "relu"}), nn::MaxPooling2D(2), nn::Flatten(), nn::Dense(64, "relu"), nn::Dense(10)};
  Net() : Module("net") { track("layers", layers); }
};

}  // namespace

int main(int argc, char** argv) try {
  const std::string data = argc > 1 ? argv[1] : "examples/data/digits.npz", out = argc > 2 ? argv[2] : "";
  const weft::distribute::MultiWorkerStrategy workers;  // before the first op
  const int n = workers.num_replicas_in_sync();
  if (kBatch % n) throw weft::Error(weft::Code::kInvalidArgument, "a batch of 64 is not cut into equal parts by " + std::to_string(n) + " workers");
  nn::set_random_seed(7 + workers.id());  // each begins with weights of its own, and then takes the chief's

  const auto arrays = weft::data::read_npz(data);
  const Tensor images = weft::reshape(weft::cast(arrays.at("images"), weft::DType::float32), {-1, 8, 8, 1}), labels = arrays.at("labels");
  const int64_t steps = labels.size() / kBatch, part = kBatch / n;

  Net net;
  net.layers(images[{weft::slice(0, 1)}], {.training = false});
  workers.broadcast(net.variables());
  nn::Adam adam{nn::AdamOptions{.learning_rate = 2e-3}};
  const nn::losses::SparseCategoricalCrossentropy loss{{.from_logits = true}};
  const auto train = weft::function([&](Tensor x, Tensor y) {
    weft::GradientTape tape;
    const Tensor value = loss(y, net.layers(x, {.training = true}));
    const auto variables = net.trainable_variables();
    adam.apply(workers.all_reduce(weft::distribute::ReduceOp::mean, tape.gradient(value, variables)), variables);
    return workers.all_reduce(weft::distribute::ReduceOp::mean, value);
  });

  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    float last = 0;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t begin = step * kBatch + workers.id() * part;
      last = train(images[{weft::slice(begin, begin + part)}], labels[{weft::slice(begin, begin + part)}]).item<float>();
    }
    if (workers.is_chief()) std::printf("epoch %d, loss %.4f\n", epoch, last);
  }
  const Tensor right = weft::argmax(net.layers(images, {.training = false}), 1) == weft::cast(labels, weft::DType::int64);
  if (workers.is_chief()) {
    std::printf("%d workers read %.1f %% of the digits\n", n, 100 * weft::reduce_mean(weft::cast(right, weft::DType::float32)).item<float>());
    if (!out.empty()) weft::save(net, out);
  }
  workers.barrier();  // nobody leaves while others may still ask
  return 0;
} catch (const weft::Error& e) {
  std::fprintf(stderr, "digits_workers: %s\n", e.what());
  return 2;
}
