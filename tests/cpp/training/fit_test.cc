// fit, evaluate and predict against Keras 3 (recorded/make_fit.py), and the callbacks.
#include "tests/cpp/training/golden.h"

#include <weft/nn.h>

#include <filesystem>
#include <memory>
#include <unistd.h>

namespace {

using namespace weft;
namespace L = nn::losses;
namespace M = nn::metrics;

struct Recorded {
  Tensor x, y, weight;
  std::vector<Tensor> start;
  Tensor words, tags, each;
  std::vector<Tensor> begin;
  std::vector<std::pair<std::string, Tensor>> masked;
  struct Case {
    std::string name;
    std::vector<std::pair<std::string, Tensor>> series;
    std::vector<Tensor> weights;
    Tensor predictions;
    std::map<std::string, double> evaluated;
  };
  std::vector<Case> cases;
};

const Recorded& recorded() {
  static const Recorded r = [] {
    Recorded out;
    for (const std::string& line : golden::lines("tests/cpp/training/recorded/fit.txt")) {
      std::istringstream in(line);
      std::string word, name;
      in >> word;
      if (word == "x") out.x = golden::tensor(in);
      else if (word == "y") out.y = golden::tensor(in);
      else if (word == "weight") out.weight = golden::tensor(in);
      else if (word == "words") out.words = golden::tensor(in);
      else if (word == "tags") out.tags = golden::tensor(in);
      else if (word == "each") out.each = golden::tensor(in);
      else if (word == "begin") out.begin.push_back(golden::tensor(in));
      else if (word == "masked") {
        in >> name;
        out.masked.emplace_back(name, golden::tensor(in));
      } else if (word == "start") out.start.push_back(golden::tensor(in));
      else if (word == "case") {
        in >> name;
        out.cases.push_back({name, {}, {}, {}, {}});
      } else if (word == "series") {
        in >> name;
        out.cases.back().series.emplace_back(name, golden::tensor(in));
      } else if (word == "weights") {
        out.cases.back().weights.push_back(golden::tensor(in));
      } else if (word == "predictions") {
        out.cases.back().predictions = golden::tensor(in);
      } else if (word == "evaluate") {
        double v;
        in >> name >> v;
        out.cases.back().evaluated[name] = v;
      }
    }
    return out;
  }();
  return r;
}

Tensor rows(const Tensor& t, int64_t n) {
  auto shape = t.shape();
  shape[0] = n;
  return gather(t, range(Tensor(int32_t(0)), Tensor(int32_t(n)), Tensor(int32_t(1))));
}

nn::Sequential network(bool softmax = false) {
  nn::Sequential model(
      {nn::Dense(8, {.activation = "relu", .kernel_regularizer = nn::regularizers::l2(0.01)}), nn::Dense(3, softmax ? "softmax" : "linear")},
      {.input_shape = {4}});
  model.set_weights(recorded().start);
  return model;
}

nn::TrainerOptions compiled(nn::AnyOptimizer optimizer, bool softmax = false) {
  return {.optimizer = optimizer,
          .loss = L::SparseCategoricalCrossentropy({.from_logits = !softmax}),
          .metrics = {M::SparseCategoricalAccuracy("accuracy")},
          .weighted_metrics = {M::SparseCategoricalAccuracy("weighted_accuracy")}};
}

struct Scratch {
  Scratch() : folder((std::filesystem::temp_directory_path() / ("weft_fit_" + std::to_string(getpid()))).string()) {
    std::filesystem::create_directories(folder);
  }
  ~Scratch() { std::filesystem::remove_all(folder); }
  std::string operator()(const std::string& name) const { return folder + "/" + name; }
  std::string folder;
};

}  // namespace

TEST_CASE("fit sees what Keras sees") {
  const Recorded& r = recorded();
  const Tensor x20 = rows(r.x, 20), y20 = rows(r.y, 20), w20 = rows(r.weight, 20);
  for (bool eager : {false, true}) {
    for (const auto& c : r.cases) {
      INFO(c.name << (eager ? " eagerly" : ""));
      nn::FitOptions o{.epochs = 4, .batch_size = 16, .shuffle = false, .verbose = 0};
      nn::Samples samples(r.x, r.y);
      nn::AnyOptimizer optimizer;
      double tolerance = 2e-5;
      if (c.name == "plain" || c.name == "softmax") optimizer = nn::Adam({.learning_rate = 0.01});
      else if (c.name == "split") {
        optimizer = nn::SGD({.learning_rate = 0.1, .momentum = 0.9});
        o.validation_split = 0.3;
      } else if (c.name == "class_weight") {
        optimizer = nn::SGD({.learning_rate = 0.1});
        o.class_weight = {{0, 0.5}, {1, 2.0}, {2, 1.0}};
        o.validation_data = nn::Samples(x20, y20);
      } else if (c.name == "sample_weight") {
        optimizer = nn::RMSprop({.learning_rate = 0.01});
        samples.sample_weight = r.weight;
        o.validation_data = nn::Samples(x20, y20, w20);
      } else if (c.name == "plateau") {
        optimizer = nn::SGD({.learning_rate = 1.5, .momentum = 0.9});
        o.validation_split = 0.3;
        o.epochs = 12;
        o.callbacks = {nn::ReduceLROnPlateau({.factor = 0.5, .patience = 2, .min_lr = 0.01})};
        tolerance = 1e-2;  // it is thrown about
      } else if (c.name == "early") {
        optimizer = nn::SGD({.learning_rate = 2.0, .momentum = 0.9});
        o.validation_split = 0.3;
        o.epochs = 30;
        o.callbacks = {nn::EarlyStopping({.patience = 2, .restore_best_weights = true})};
      } else if (c.name == "scheduler") {
        optimizer = nn::SGD({.learning_rate = 0.1});
        o.callbacks = {nn::LearningRateScheduler([](int epoch, double lr) { return epoch ? lr * 0.5 : lr; })};
      } else {
        REQUIRE(c.name == "averages");
        optimizer = nn::Adam({.learning_rate = 0.05, .use_ema = true, .ema_momentum = 0.9});
      }
      nn::Sequential model = network(c.name == "softmax");
      nn::TrainerOptions to = compiled(optimizer, c.name == "softmax");
      to.run_eagerly = eager;
      nn::Trainer trainer(model, to);
      const nn::History h = trainer.fit(samples, o);
      CHECK(h.series.size() == c.series.size());
      for (const auto& [name, want] : c.series) {
        INFO(name);
        std::vector<float> got(h[name].begin(), h[name].end());
        CHECK(golden::close(Tensor::of<float>({int64_t(got.size())}, std::span<const float>(got)), want, tolerance));
      }
      const auto weights = model.get_weights();
      REQUIRE(weights.size() == c.weights.size());
      for (size_t i = 0; i < weights.size(); ++i) CHECK(golden::close(weights[i], c.weights[i], tolerance));
      CHECK(golden::close(trainer.predict(rows(r.x, 7), {.batch_size = 3}), c.predictions, tolerance));
      const nn::Logs e = trainer.evaluate(nn::Samples(r.x, r.y, r.weight));
      for (const auto& [name, want] : c.evaluated) CHECK(e.at(name) == doctest::Approx(want).epsilon(tolerance));
    }
  }
}

TEST_CASE("what a mask leaves out counts for nothing, as in Keras") {
  const Recorded& r = recorded();
  nn::Sequential model({nn::Embedding(6, 4, {.mask_zero = true}), nn::LSTM(5, {.return_sequences = true}), nn::Dense(3)},
                       {.input_shape = {7}, .dtype = DType::int32});
  model.set_weights(r.begin);
  nn::Trainer trainer(model, compiled(nn::Adam({.learning_rate = 0.05})));
  const nn::History h = trainer.fit(nn::Samples(r.words, r.tags, r.each), {.epochs = 3, .batch_size = 16, .shuffle = false, .verbose = 0});
  REQUIRE(r.masked.size() == 3);
  for (const auto& [name, want] : r.masked) {
    INFO(name);
    std::vector<float> got(h[name].begin(), h[name].end());
    CHECK(golden::close(Tensor::of<float>({int64_t(got.size())}, std::span<const float>(got)), want, 1e-4));
  }
}

TEST_CASE("any module that can be called can be trained") {
  struct Line : Module {
    Variable w{zeros({1, 1}), {.name = "w"}}, b{zeros({1}), {.name = "b"}};
    Line() : Module("line") {
      track("w", w);
      track("b", b);
    }
    Tensor operator()(const Tensor& x) const { return matmul(x, w) + b; }
  } line;
  const Tensor x = Tensor::of<float>({4, 1}, {0.f, 1.f, 2.f, 3.f}), y = Tensor::of<float>({4, 1}, {1.f, 3.f, 5.f, 7.f});
  nn::Trainer trainer(line, {.optimizer = nn::SGD({.learning_rate = 0.1}), .loss = L::MeanSquaredError(), .metrics = {M::MeanAbsoluteError("mae")}});
  trainer.fit(x, y, {.epochs = 300, .batch_size = 2, .seed = 3, .verbose = 0});
  CHECK(line.w.value().item<float>() == doctest::Approx(2).epsilon(1e-3));
  CHECK(line.b.value().item<float>() == doctest::Approx(1).epsilon(1e-3));
  CHECK(trainer.evaluate(x, y).at("mae") < 1e-2);
}

TEST_CASE("datasets: whole epochs, and epochs of a number of steps") {
  const Recorded& r = recorded();
  auto batches = data::Dataset::from_tensor_slices({r.x, r.y}).batch(16);
  auto losses_with = [&](const nn::Samples& s, const nn::FitOptions& o) {
    nn::Sequential model = network();
    nn::Trainer trainer(model, compiled(nn::Adam({.learning_rate = 0.01})));
    return trainer.fit(s, o)["loss"];
  };
  const auto whole = losses_with(nn::Samples(r.x, r.y), {.epochs = 3, .batch_size = 16, .shuffle = false, .verbose = 0});
  CHECK(losses_with(batches, {.epochs = 3, .verbose = 0}) == whole);
  CHECK(losses_with(batches.repeat(), {.epochs = 3, .steps_per_epoch = 4, .verbose = 0}) == whole);
  CHECK_THROWS_AS(losses_with(batches.repeat(), {.verbose = 0}), Error);
  // The same seed, the same order.
  const nn::FitOptions shuffled{.epochs = 2, .batch_size = 7, .seed = 11, .verbose = 0};
  CHECK(losses_with(nn::Samples(r.x, r.y), shuffled) == losses_with(nn::Samples(r.x, r.y), shuffled));
}

TEST_CASE("callbacks: files and stops") {
  const Recorded& r = recorded();
  Scratch scratch;
  nn::Sequential model = network();
  nn::Adam adam({.learning_rate = 0.01});
  nn::Trainer trainer(model, compiled(adam));
  int epochs = 0;
  nn::LambdaCallback count;
  count.epoch_end = [&](nn::Trainer&, int, nn::Logs&) { ++epochs; };
  trainer.fit(
      r.x, r.y,
      {.epochs = 3,
       .validation_split = 0.2,
       .callbacks = {nn::CSVLogger(scratch("log.csv")), nn::ModelCheckpoint(scratch("ckpt-{epoch}")),
                     nn::TensorBoard(scratch("events"), {.histogram_freq = 1, .batches = true}), nn::LearningCurves(scratch("curves.svg")), count},
       .verbose = 0});
  CHECK(epochs == 3);
  CHECK(golden::lines(scratch("log.csv")).size() == 4);
  CHECK(golden::lines(scratch("log.csv"))[0] == "epoch,loss,accuracy,weighted_accuracy,val_loss,val_accuracy,val_weighted_accuracy");
  CHECK(std::filesystem::file_size(scratch("curves.svg")) > 500);
  int scalars = 0;
  for (const auto& e : read_events(scratch("events/validation"))) scalars += e.tag == "epoch_loss";
  CHECK(scalars == 3);
  // What was written is what there is now: weights, momentums, iterations.
  nn::Sequential other = network();
  nn::Adam fresh({.learning_rate = 0.5});
  Checkpoint restored({{"model", other}, {"optimizer", fresh}});
  const RestoreStatus status = restored.read(scratch("ckpt-3"));
  nn::Trainer again(other, compiled(fresh));
  CHECK(fresh.iterations().value().item<int64_t>() == adam.iterations().value().item<int64_t>());
  CHECK(fresh.learning_rate().item<float>() == 0.01f);
  const nn::FitOptions more{.epochs = 1, .batch_size = 16, .shuffle = false, .verbose = 0};
  CHECK(again.fit(r.x, r.y, more)["loss"] == trainer.fit(r.x, r.y, more)["loss"]);  // slots come when they are made
  status.assert_consumed();

  // NaN stops at once.
  nn::Sequential broken = network();
  nn::Trainer doomed(broken, compiled(nn::SGD({.learning_rate = 1e30})));
  const auto h = doomed.fit(r.x, r.y, {.epochs = 50, .callbacks = {nn::TerminateOnNaN()}, .verbose = 0});
  CHECK(h.epoch.size() < 5);
}

TEST_CASE("fit says what is wrong") {
  const Recorded& r = recorded();
  nn::Sequential model = network();
  nn::Trainer trainer(model, compiled(nn::Adam()));
  CHECK_THROWS_AS(trainer.fit(r.x, rows(r.y, 3), {.verbose = 0}), Error);
  CHECK_THROWS_AS(trainer.fit(r.x, r.y, {.batch_size = 0, .verbose = 0}), Error);
  CHECK_THROWS_AS(trainer.fit(r.x, r.y, {.validation_split = 1.5, .verbose = 0}), Error);
  CHECK_THROWS_AS(nn::Adam({.clipnorm = 1.0, .clipvalue = 1.0}), Error);
  nn::Adam adam;
  Variable a(Tensor{1.f, 2.f}), b(Tensor{1.f});
  CHECK_THROWS_AS(adam.apply(std::vector<Tensor>{Tensor{1.f}}, {a, b}), Error);
  CHECK_THROWS_AS(adam.apply(std::vector<Gradient>{Gradient()}, {a}), Error);
  adam.apply(std::vector<Tensor>{Tensor{1.f, 1.f}}, {a});
  CHECK_THROWS_AS(adam.apply(std::vector<Tensor>{Tensor{1.f}}, {b}), Error);
  CHECK_THROWS_AS(nn::SGD({.learning_rate = nn::ExponentialDecay{.initial_learning_rate = 0.1, .decay_steps = 10}}).set_learning_rate(0.1), Error);
}
