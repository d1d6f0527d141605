// The main job: a network learns to read handwritten digits, and everything around it that one wants: a progress bar, event files for
// TensorBoard, a picture of the learning curves, checkpoints, a SavedModel, which is loaded back without this code and judged.
//
//   digits [DATA.npz [OUT_DIR [SEED]]]
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "weft/nn.h"
#include "weft/weft.h"

namespace nn = weft::nn;
using weft::Tensor;

namespace {

constexpr int kEpochs = 16, kBatch = 32;

// Two layers of convolutions; normalised batches make it learn fast, dropout keeps 1,400 pictures from being learnt by heart.
struct Digits : weft::Module {
  nn::Sequential net{nn::Rescaling(1.0 / 16),
                     nn::Conv2D(32, 3, {.padding = "same", .use_bias = false}),
                     nn::BatchNormalization(),
                     nn::ReLU(),
                     nn::Conv2D(64, 3, {.padding = "same", .use_bias = false}),
                     nn::BatchNormalization(),
                     nn::ReLU(),
                     nn::MaxPooling2D(2),
                     nn::Dropout(0.25),
                     nn::Flatten(),
                     nn::Dense(128, "relu"),
                     nn::Dropout(0.5),
                     nn::Dense(10)};
  nn::Adam adam{nn::AdamOptions{.learning_rate = nn::CosineDecay{.initial_learning_rate = 2e-3, .decay_steps = kEpochs * 45}}};
  nn::losses::SparseCategoricalCrossentropy loss{{.from_logits = true}};

  // One graph for any number of pictures, as it will be served.
  weft::TracedFunction<Tensor(Tensor)> predict =
      weft::function([this](Tensor images) { return weft::softmax(net(images, {.training = false})); },
                     {.name = "predict", .input_signature = {{"images", weft::DType::float32, {-1, 8, 8, 1}, ""}}});
  weft::TracedFunction<Tensor(Tensor, Tensor)> train = weft::function(
      [this](Tensor images, Tensor labels) {
        weft::GradientTape tape;
        const Tensor value = loss(labels, net(images, {.training = true}));
        const auto variables = net.trainable_variables();
        adam.apply(tape.gradient(value, variables), variables);
        return value;
      },
      {.name = "train"});

  Digits() : Module("digits") { track("net", net), track("adam", adam), track("predict", predict), track("train", train); }
  // Dropout's random numbers belong to the step of training: what is saved with it must be tracked, too.
  void track_seeds() {
    std::vector<weft::Variable> seeds;
    for (const auto& v : net.variables()) {
      if (v.name().find("seed_generator") != std::string::npos) seeds.push_back(v);
    }
    track("seeds", seeds);
  }
};

double accuracy(const Tensor& probabilities, const Tensor& labels) {
  const Tensor right = weft::argmax(probabilities, 1) == weft::cast(labels, weft::DType::int64);
  return weft::reduce_mean(weft::cast(right, weft::DType::float32)).item<float>();
}

struct Split {
  Tensor images, labels;
};

// Every fifth picture is kept for the test.
std::pair<Split, Split> read(const std::string& path) {
  const auto arrays = weft::data::read_npz(path);
  const Tensor pixels = arrays.at("images"), labels = arrays.at("labels");
  std::vector<float> images[2];
  std::vector<int32_t> numbers[2];
  for (int64_t i = 0; i < labels.size(); ++i) {
    const int which = i % 5 == 4;
    for (int k = 0; k < 64; ++k) images[which].push_back(pixels.data<uint8_t>()[size_t(i * 64 + k)]);
    numbers[which].push_back(labels.data<int32_t>()[size_t(i)]);
  }
  auto split = [&](int w) {
    const auto n = int64_t(numbers[w].size());
    return Split{Tensor::of<float>({n, 8, 8, 1}, std::span<const float>(images[w])), Tensor::of<int32_t>({n}, std::span<const int32_t>(numbers[w]))};
  };
  return {split(0), split(1)};
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string data = argc > 1 ? argv[1] : "examples/data/digits.npz", out = argc > 2 ? argv[2] : "build/digits";
  std::filesystem::create_directories(out);
  nn::set_random_seed(argc > 3 ? std::atoi(argv[3]) : 7);
  auto [train, test] = read(data);
  std::printf("%lld pictures to learn from, %lld to be judged by\n", static_cast<long long>(train.labels.size()),
              static_cast<long long>(test.labels.size()));

  Digits model;
  weft::Checkpoint checkpoint({{"model", model}, {"optimizer", model.adam}});
  weft::CheckpointManager manager(checkpoint, out + "/checkpoints", {.max_to_keep = 3});
  weft::SummaryWriter events(out + "/events");
  auto batches = weft::data::Dataset::from_tensor_slices({train.images, train.labels}).shuffle(0, 7).batch(kBatch).prefetch();
  std::vector<double> losses, train_accuracies, test_accuracies;

  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    weft::Progress bar((train.labels.size() + kBatch - 1) / kBatch, {.label = "epoch " + std::to_string(epoch) + "/" + std::to_string(kEpochs)});
    double sum = 0;
    int steps = 0;
    for (const auto& batch : batches) {
      sum += model.train(batch[0], batch[1]).item<float>();
      bar.step({{"loss", sum / ++steps}});
    }
    losses.push_back(sum / steps);
    train_accuracies.push_back(accuracy(model.predict(train.images), train.labels));
    test_accuracies.push_back(accuracy(model.predict(test.images), test.labels));
    bar.finish({{"loss", losses.back()}, {"accuracy", train_accuracies.back()}, {"val_accuracy", test_accuracies.back()}});
    events.scalar("loss", losses.back(), epoch);
    events.scalar("accuracy/train", train_accuracies.back(), epoch);
    events.scalar("accuracy/test", test_accuracies.back(), epoch);
    manager.save(epoch);
  }
  events.flush();
  weft::plot::write_curves(out + "/curves.svg", {{"loss", losses}, {"accuracy", train_accuracies}, {"val_accuracy", test_accuracies}},
                           {.title = "Handwritten digits"});
  // The step of training goes with it: `weft compile` makes both part of a program.
  model.track_seeds();
  const auto step = model.train.concrete_function({{"images", weft::DType::float32, {-1, 8, 8, 1}, ""}, {"labels", weft::DType::int32, {-1}, ""}});
  weft::save(model, out + "/model", {{"serving_default", model.predict.concrete_function(), {"probabilities"}}, {"train", step, {"loss"}}});

  // The test's pictures as plain numbers, for examples/embedded.cc, which has no weft to read them with.
  std::ofstream(out + "/images.f32", std::ios::binary)
      .write(reinterpret_cast<const char*>(test.images.data<float>().data()), long(test.images.size() * 4));
  std::ofstream(out + "/labels.i32", std::ios::binary)
      .write(reinterpret_cast<const char*>(test.labels.data<int32_t>().data()), long(test.labels.size() * 4));

  // From here on as any other program would: nothing but the files.
  auto served = weft::load(out + "/model");
  const double judged = accuracy(served["serving_default"]({{"images", test.images}})["probabilities"], test.labels);
  std::printf("\nthe saved model reads %.2f %% of the test's digits\n", 100 * judged);
  std::printf("  SavedModel      %s/model           try: weft show %s/model\n", out.c_str(), out.c_str());
  std::printf("  checkpoints     %s\n", manager.latest_checkpoint().c_str());
  std::printf("  event files     %s/events          try: tensorboard --logdir %s/events\n", out.c_str(), out.c_str());
  std::printf("  learning curves %s/curves.svg\n", out.c_str());
  return judged >= 0.98 ? 0 : 1;
} catch (const weft::Error& e) {
  std::fprintf(stderr, "digits: %s\n", e.what());
  return 2;
}
