// Losses, their gradients, and metrics against Keras 3 (recorded/make_losses.py), eagerly and in a traced function.
#include "tests/cpp/training/golden.h"

#include <memory>

namespace {

using namespace weft;
using golden::Options;
namespace L = nn::losses;
namespace M = nn::metrics;

L::Reduction reduction(const Options& o) {
  const std::string r = o.text("reduction", "sum_over_batch_size");
  if (r == "sum") return L::Reduction::sum;
  if (r == "none") return L::Reduction::none;
  if (r == "mean_with_sample_weight") return L::Reduction::mean_with_sample_weight;
  REQUIRE(r == "sum_over_batch_size");
  return L::Reduction::sum_over_batch_size;
}

L::Loss loss(const std::string& kind, const Options& o) {
  const auto r = reduction(o);
  const L::LossOptions plain{r, {}};
  const L::CrossentropyLossOptions entropy{o.flag("from_logits"), o.number("label_smoothing", 0), int(o.number("axis", -1)), r, {}};
  const L::FocalLossOptions focal{o.number("alpha", 0.25),
                                  o.number("gamma", 2),
                                  o.flag("apply_class_balancing"),
                                  o.flag("from_logits"),
                                  o.number("label_smoothing", 0),
                                  -1,
                                  r,
                                  {}};
  if (kind == "MeanSquaredError") return L::MeanSquaredError(plain);
  if (kind == "MeanAbsoluteError") return L::MeanAbsoluteError(plain);
  if (kind == "MeanAbsolutePercentageError") return L::MeanAbsolutePercentageError(plain);
  if (kind == "MeanSquaredLogarithmicError") return L::MeanSquaredLogarithmicError(plain);
  if (kind == "LogCosh") return L::LogCosh(plain);
  if (kind == "Hinge") return L::Hinge(plain);
  if (kind == "SquaredHinge") return L::SquaredHinge(plain);
  if (kind == "CategoricalHinge") return L::CategoricalHinge(plain);
  if (kind == "Huber") return L::Huber({o.number("delta", 1), r, {}});
  if (kind == "CosineSimilarity") return L::CosineSimilarity({int(o.number("axis", -1)), r, {}});
  if (kind == "Poisson") return L::Poisson(plain);
  if (kind == "KLDivergence") return L::KLDivergence(plain);
  if (kind == "BinaryCrossentropy") return L::BinaryCrossentropy(entropy);
  if (kind == "CategoricalCrossentropy") return L::CategoricalCrossentropy(entropy);
  if (kind == "BinaryFocalCrossentropy") return L::BinaryFocalCrossentropy(focal);
  if (kind == "CategoricalFocalCrossentropy") return L::CategoricalFocalCrossentropy(focal);
  if (kind == "Dice") return L::Dice(plain);
  if (kind == "Tversky") return L::Tversky({o.number("alpha", 0.5), o.number("beta", 0.5), r, {}});
  if (kind == "CTC") return L::CTC(plain);
  REQUIRE(kind == "SparseCategoricalCrossentropy");
  std::optional<int64_t> ignored;
  if (auto v = o.maybe("ignore_class")) ignored = int64_t(*v);
  return L::SparseCategoricalCrossentropy({o.flag("from_logits"), ignored, r, {}});
}

std::shared_ptr<M::Metric> metric(const std::string& kind, const Options& o) {
#define PLAIN(Class) \
  if (kind == #Class) return std::make_shared<M::Class>();
  PLAIN(Mean)
  PLAIN(Sum)
  PLAIN(MeanSquaredError)
  PLAIN(MeanAbsoluteError)
  PLAIN(MeanAbsolutePercentageError)
  PLAIN(MeanSquaredLogarithmicError)
  PLAIN(RootMeanSquaredError)
  PLAIN(CosineSimilarity)
  PLAIN(LogCoshError)
  PLAIN(Hinge)
  PLAIN(SquaredHinge)
  PLAIN(CategoricalHinge)
  PLAIN(KLDivergence)
  PLAIN(Poisson)
  PLAIN(Accuracy)
  PLAIN(CategoricalAccuracy)
  PLAIN(SparseCategoricalAccuracy)
#undef PLAIN
  const bool logits = o.flag("from_logits");
  if (kind == "BinaryCrossentropy") return std::make_shared<M::BinaryCrossentropy>("b", logits, o.number("label_smoothing", 0));
  if (kind == "CategoricalCrossentropy") return std::make_shared<M::CategoricalCrossentropy>("c", logits, o.number("label_smoothing", 0));
  if (kind == "SparseCategoricalCrossentropy") return std::make_shared<M::SparseCategoricalCrossentropy>("s", logits);
  if (kind == "BinaryAccuracy") return std::make_shared<M::BinaryAccuracy>("b", o.number("threshold", 0.5));
  if (kind == "TopKCategoricalAccuracy") return std::make_shared<M::TopKCategoricalAccuracy>(int(o.number("k", 5)));
  if (kind == "SparseTopKCategoricalAccuracy") return std::make_shared<M::SparseTopKCategoricalAccuracy>(int(o.number("k", 5)));
  M::ThresholdOptions t;
  t.thresholds = o.list("thresholds");
  if (auto k = o.maybe("top_k")) t.top_k = int(*k);
  if (auto k = o.maybe("class_id")) t.class_id = int(*k);
#define COUNT(Class) \
  if (kind == #Class) return std::make_shared<M::Class>(t);
  COUNT(TruePositives)
  COUNT(FalsePositives)
  COUNT(TrueNegatives)
  COUNT(FalseNegatives)
  COUNT(Precision)
  COUNT(Recall)
#undef COUNT
  const M::AtOptions at{int(o.number("num_thresholds", 200)), {}, {}};
  if (kind == "SensitivityAtSpecificity") return std::make_shared<M::SensitivityAtSpecificity>(o.number("specificity", 0), at);
  if (kind == "SpecificityAtSensitivity") return std::make_shared<M::SpecificityAtSensitivity>(o.number("sensitivity", 0), at);
  if (kind == "PrecisionAtRecall") return std::make_shared<M::PrecisionAtRecall>(o.number("recall", 0), at);
  if (kind == "RecallAtPrecision") return std::make_shared<M::RecallAtPrecision>(o.number("precision", 0), at);
  if (kind == "AUC") {
    M::AUCOptions a;
    a.num_thresholds = int(o.number("num_thresholds", 200));
    a.curve = o.text("curve", "ROC") == "ROC" ? M::Curve::roc : o.text("curve") == "PR" ? M::Curve::pr : M::Curve::pr_gain;
    const std::string method = o.text("summation_method", "interpolation");
    a.summation_method = method == "majoring" ? M::Summation::majoring : method == "minoring" ? M::Summation::minoring : M::Summation::interpolation;
    a.thresholds = t.thresholds;
    a.multi_label = o.flag("multi_label");
    a.label_weights = o.list("label_weights");
    a.from_logits = logits;
    return std::make_shared<M::AUC>(a);
  }
  M::IoUOptions iou;
  iou.num_classes = int(o.number("num_classes", 2));
  for (double id : o.list("target_class_ids")) iou.target_class_ids.push_back(int(id));
  if (auto c = o.maybe("ignore_class")) iou.ignore_class = int64_t(*c);
  if (kind == "MeanIoU") return std::make_shared<M::MeanIoU>(iou);
  if (kind == "IoU") return std::make_shared<M::IoU>(iou);
  if (kind == "BinaryIoU")
    return std::make_shared<M::BinaryIoU>(iou.target_class_ids.empty() ? std::vector<int>{0, 1} : iou.target_class_ids, o.number("threshold", 0.5));
  M::FBetaOptions f;
  const std::string average = o.text("average");
  f.average = average == "micro"      ? M::Average::micro
              : average == "macro"    ? M::Average::macro
              : average == "weighted" ? M::Average::weighted
                                      : M::Average::none;
  f.beta = o.number("beta", 1);
  f.threshold = o.maybe("threshold");
  if (kind == "F1Score") return std::make_shared<M::F1Score>(f);
  if (kind == "FBetaScore") return std::make_shared<M::FBetaScore>(f);
  REQUIRE(kind == "R2Score");
  const std::string aggregation = o.text("class_aggregation");
  return std::make_shared<M::R2Score>(aggregation == "None"              ? M::ClassAggregation::none
                                      : aggregation == "uniform_average" ? M::ClassAggregation::uniform_average
                                                                         : M::ClassAggregation::variance_weighted_average);
}

struct Batch {
  Tensor y, p, w, result, gradient;
};
struct Recorded {
  std::string line, kind;
  std::vector<Batch> batches;
  std::vector<Tensor> state;
};

std::vector<Recorded> recorded(const std::string& path) {
  std::vector<Recorded> out;
  for (const std::string& line : golden::lines(path)) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "loss" || word == "metric") {
      out.push_back({line, {}, {}, {}});
      in >> out.back().kind;
      continue;
    }
    Recorded& r = out.back();
    if (word == "true") r.batches.emplace_back();
    const Tensor t = golden::tensor(in);
    if (word == "true") r.batches.back().y = t;
    else if (word == "pred") r.batches.back().p = t;
    else if (word == "weight") r.batches.back().w = t;
    else if (word == "value" || word == "result") r.batches.back().result = t;
    else if (word == "gradient") r.batches.back().gradient = t;
    else r.state.push_back(t);
  }
  return out;
}

Options options_of(const Recorded& r) {
  std::istringstream in(r.line);
  std::string word;
  in >> word >> word;
  return Options(in);
}

}  // namespace

TEST_CASE("losses and their gradients are Keras'") {
  for (const Recorded& r : recorded("tests/cpp/training/recorded/losses.txt")) {
    INFO(r.line);
    const L::Loss made = loss(r.kind, options_of(r));
    const Batch& b = r.batches[0];
    auto both = [&](const Tensor& y, const Tensor& p, const std::vector<Tensor>& w) {
      GradientTape tape;
      tape.watch(p);
      const Tensor value = made(y, p, w.empty() ? Tensor() : w[0]);
      return std::pair(value, tape.gradient(value, p).dense());
    };
    const std::vector<Tensor> w = b.w.has_value() ? std::vector<Tensor>{b.w} : std::vector<Tensor>{};
    auto check = [&](const std::pair<Tensor, Tensor>& got) {
      CHECK(golden::close(got.first, b.result, 1.5e-6));
      CHECK(golden::close(got.second, b.gradient, r.kind == "CTC" ? 1e-5 : 2e-6));
    };
    check(both(b.y, b.p, w));
    check(function(std::function<std::pair<Tensor, Tensor>(Tensor, Tensor, std::vector<Tensor>)>(both))(b.y, b.p, w));
  }
}

TEST_CASE("metrics are Keras'") {
  for (bool traced : {false, true}) {
    for (const Recorded& r : recorded("tests/cpp/training/recorded/metrics.txt")) {
      INFO(r.line << (traced ? " traced" : ""));
      auto made = metric(r.kind, options_of(r));
      auto update = [&](const std::vector<Tensor>& given, bool has_pred) {
        const Tensor w = given.size() > (has_pred ? 2u : 1u) ? given.back() : Tensor();
        if (auto* mean = dynamic_cast<M::Mean*>(made.get()); mean && !has_pred) mean->update_state(given[0], w);
        else if (auto* sum = dynamic_cast<M::Sum*>(made.get())) sum->update_state(given[0], w);
        else made->update_state(given[0], given[1], w);
        return made->result();
      };
      auto graph = function(std::function<Tensor(std::vector<Tensor>, bool)>(update));
      auto play = [&] {
        for (const Batch& b : r.batches) {
          std::vector<Tensor> given{b.y};
          if (b.p.has_value()) given.push_back(b.p);
          if (b.w.has_value()) given.push_back(b.w);
          CHECK(golden::close(traced ? graph(given, b.p.has_value()) : update(given, b.p.has_value()), b.result, 2e-6));
        }
        const auto state = made->variables();
        REQUIRE(state.size() == r.state.size());
        for (size_t i = 0; i < state.size(); ++i) {
          INFO(state[i].name());
          CHECK(golden::close(state[i], r.state[i], 2e-6));
        }
      };
      play();
      made->reset_state();
      play();
    }
  }
}

TEST_CASE("losses and metrics where the batch is not known") {
  for (const Recorded& r : recorded("tests/cpp/training/recorded/losses.txt")) {
    INFO(r.line);
    const L::Loss made = loss(r.kind, options_of(r));
    const Batch& b = r.batches[0];
    auto open = [](const Tensor& t) {
      TensorSpec spec{"", t.dtype(), t.partial_shape(), ""};
      if (!spec.shape.dims.empty()) spec.shape.dims[0] = -1;
      return spec;
    };
    if (b.w.has_value()) {
      auto f = function([&](const Tensor& y, const Tensor& p, const Tensor& w) { return made(y, p, w); },
                        {.input_signature = {open(b.y), open(b.p), open(b.w)}});
      CHECK(golden::close(f(b.y, b.p, b.w), b.result, 1.5e-6));
    } else {
      auto f = function([&](const Tensor& y, const Tensor& p) { return made(y, p); }, {.input_signature = {open(b.y), open(b.p)}});
      CHECK(golden::close(f(b.y, b.p), b.result, 1.5e-6));
    }
  }
  for (const Recorded& r : recorded("tests/cpp/training/recorded/metrics.txt")) {
    INFO(r.line);
    const Batch& b = r.batches[0];
    if (!b.p.has_value() || b.w.has_value()) continue;
    auto made = metric(r.kind, options_of(r));
    TensorSpec y{"", b.y.dtype(), b.y.partial_shape(), ""}, p{"", b.p.dtype(), b.p.partial_shape(), ""};
    y.shape.dims[0] = p.shape.dims[0] = -1;
    auto f = function([&](const Tensor& y, const Tensor& p) { return (*made)(y, p); }, {.input_signature = {y, p}});
    CHECK(golden::close(f(b.y, b.p), b.result, 2e-6));
  }
}

TEST_CASE("probabilities that a Softmax or Sigmoid made are taken back to logits in a trace") {
  const Tensor logits = Tensor::of<float>({1, 3}, {-200.f, 0.f, 200.f}), label = Tensor::of<int32_t>({1}, {0});
  auto f = function([&](const Tensor& x, const Tensor& y) { return L::SparseCategoricalCrossentropy()(y, softmax(x)); });
  CHECK(f(logits, label).item<float>() == doctest::Approx(400));  // by way of probabilities it would end at 16
  auto g = function([&](const Tensor& x) { return L::BinaryCrossentropy()(zeros({1, 3}), sigmoid(x)); });
  CHECK(g(logits).item<float>() == doctest::Approx((200 + std::log(2.0)) / 3));
}
