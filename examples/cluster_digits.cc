// Digits over two processes: weft launch -n 2 --chief cluster_digits
//
// Each worker has a copy of the weights and half of every batch; what they write is put together, so that the losses are those of one process with the whole batch.
#include <cmath>
#include <cstdio>
#include <functional>

#include "weft/raw.h"
#include "weft/weft.h"

struct Network {
  weft::Variable w1, b1, w2, b2;

  Network() {
    const weft::VariableOptions mean{.aggregation = weft::VariableAggregation::mean};
    const auto random = [](int rows, int columns, int seed) {
      return weft::raw::StatelessRandomNormal(weft::Tensor{rows, columns}, weft::Tensor{seed, 7}) * (1.f / std::sqrt(float(rows)));
    };
    w1 = weft::Variable(random(64, 48, 1), mean);
    b1 = weft::Variable(weft::zeros({48}), mean);
    w2 = weft::Variable(random(48, 10, 2), mean);
    b2 = weft::Variable(weft::zeros({10}), mean);
  }
  weft::Tensor operator()(const weft::Tensor& x) const { return weft::matmul(weft::relu(weft::matmul(x, w1) + b1), w2) + b2; }
  std::vector<weft::Variable> variables() const { return {w1, b1, w2, b2}; }
};

// The loss of a batch, and the step that makes it smaller.
class Training {
 public:
  explicit Training(const Network& net)
      : net_(net), gradients_([&net](weft::Tensor x, weft::Tensor label) {
          weft::GradientTape tape;
          const auto loss = weft::raw::SparseSoftmaxCrossEntropyWithLogits(net(x), label).loss;
          const weft::Tensor mean = weft::reduce_mean(loss);
          std::vector<weft::Tensor> out{mean};
          for (const auto& g : tape.gradient(mean, net.variables())) out.push_back(g.dense());
          return out;
        }) {}

  weft::Tensor step(const weft::Tensor& x, const weft::Tensor& label) {
    const std::vector<weft::Tensor> got = gradients_(x, label);  // runs as a whole where the device scope says
    std::vector<weft::Variable> variables = net_.variables();
    for (size_t i = 0; i < variables.size(); ++i) variables[i].assign_sub(got[i + 1] * 0.5f);
    return got[0];
  }

 private:
  const Network& net_;
  std::function<std::vector<weft::Tensor>(weft::Tensor, weft::Tensor)> gradients_;
};

int main(int argc, char** argv) {
  const weft::Cluster cluster = weft::Cluster::from_environment();
  if (cluster.job == "worker") {
    weft::Server(cluster).join();
    return 0;
  }
  weft::connect(cluster);
  weft::distribute::MirroredStrategy strategy({"/job:worker/task:0", "/job:worker/task:1"});

  const auto digits = weft::data::read_npz(argc > 1 ? argv[1] : "examples/data/digits.npz");
  const weft::Tensor images = weft::reshape(weft::cast(digits.at("images"), weft::DType::float32), {-1, 64}) * (1.f / 16);
  const weft::Tensor labels = weft::cast(digits.at("labels"), weft::DType::int64);
  const auto rows = [](const weft::Tensor& t, int64_t from, int64_t count) {
    std::vector<int64_t> begin(t.shape().size(), 0), size = t.shape();
    begin[0] = from;
    size[0] = count;
    return weft::raw::Slice(t, weft::Tensor(begin), weft::Tensor(size));
  };

  const Network alone;
  Training alone_training(alone);
  const Network net = [&] {
    const auto scope = strategy.scope();
    return Network();
  }();
  Training training(net);

  constexpr int kBatch = 64, kPart = kBatch / 2, kSteps = 150;
  bool same = true;
  for (int i = 0; i < kSteps; ++i) {
    const int64_t at = int64_t(i) * kBatch % (images.shape()[0] - kBatch);
    const auto losses = strategy.run(
        [&](int replica) { return training.step(rows(images, at + replica * kPart, kPart), rows(labels, at + replica * kPart, kPart)); });
    const float loss = strategy.reduce(weft::distribute::ReduceOp::mean, losses).item<float>();
    const float expected = alone_training.step(rows(images, at, kBatch), rows(labels, at, kBatch)).item<float>();
    same = same && std::abs(loss - expected) < 1e-5f;
    if (i % 50 == 0 || i + 1 == kSteps) std::printf("step %d: loss %.4f on two workers, %.4f in one process\n", i, loss, expected);
  }
  const weft::Tensor right = weft::raw::Equal(weft::argmax(net(images), 1), labels);
  std::printf("%.1f %% of all digits are read; %s\n", 100 * weft::reduce_mean(weft::cast(right, weft::DType::float32)).item<float>(),
              same ? "the losses are the same" : "THE LOSSES DIFFER");
  return same ? 0 : 1;
}
