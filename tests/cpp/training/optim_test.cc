// Optimisers and schedules against steps that Keras 3 made (recorded/make_optimizers.py), eagerly and in a traced function.
#include "tests/cpp/training/golden.h"

#include <memory>

namespace {

using namespace weft;
using golden::Options;

constexpr double kTolerance = 1.5e-6;  // of the largest number: one or two units in the last place of float32, behind up to 12 steps

nn::Schedule schedule(const std::string& kind, const Options& o) {
  const double initial = o.number("initial_learning_rate", 0);
  const int64_t steps = int64_t(o.number("decay_steps", 1));
  if (kind == "ExponentialDecay") return nn::ExponentialDecay{initial, steps, o.number("decay_rate", 0), o.flag("staircase")};
  if (kind == "InverseTimeDecay") return nn::InverseTimeDecay{initial, steps, o.number("decay_rate", 0), o.flag("staircase")};
  if (kind == "PolynomialDecay")
    return nn::PolynomialDecay{initial, steps, o.number("end_learning_rate", 0.0001), o.number("power", 1), o.flag("cycle")};
  if (kind == "CosineDecay")
    return nn::CosineDecay{initial, steps, o.number("alpha", 0), o.maybe("warmup_target"), int64_t(o.number("warmup_steps", 0))};
  if (kind == "CosineDecayRestarts")
    return nn::CosineDecayRestarts{initial, int64_t(o.number("first_decay_steps", 1)), o.number("t_mul", 2), o.number("m_mul", 1),
                                   o.number("alpha", 0)};
  REQUIRE(kind == "PiecewiseConstantDecay");
  nn::PiecewiseConstantDecay p;
  for (double b : o.list("boundaries")) p.boundaries.push_back(int64_t(b));
  p.values = o.list("values");
  return p;
}

std::vector<nn::Schedule> schedules() {
  std::vector<nn::Schedule> out;
  for (const std::string& line : golden::lines("tests/cpp/training/recorded/schedules.txt")) {
    if (!line.starts_with("schedule")) continue;
    std::istringstream in(line);
    std::string word, kind;
    in >> word >> kind;
    out.push_back(schedule(kind, Options(in)));
  }
  return out;
}

template <class O>
void common(O& out, const Options& o) {
  if (auto rate = o.maybe("learning_rate")) out.learning_rate = *rate;
  if (o.count("schedule")) out.learning_rate = schedules()[size_t(o.number("schedule", 0))];
  if (auto v = o.maybe("weight_decay")) out.weight_decay = v;
  out.clipnorm = o.maybe("clipnorm");
  out.clipvalue = o.maybe("clipvalue");
  out.global_clipnorm = o.maybe("global_clipnorm");
  out.use_ema = o.flag("use_ema");
  out.ema_momentum = o.number("ema_momentum", out.ema_momentum);
  out.ema_overwrite_frequency = int64_t(o.number("ema_overwrite_frequency", 0));
  out.loss_scale_factor = o.maybe("loss_scale_factor");
  out.gradient_accumulation_steps = int64_t(o.number("gradient_accumulation_steps", 0));
}

std::shared_ptr<nn::Optimizer> optimizer(const std::string& kind, const Options& o) {
  auto set = [&](double& field, const char* name) { field = o.number(name, field); };
  if (kind == "SGD") {
    nn::SGDOptions g;
    common(g, o);
    set(g.momentum, "momentum");
    g.nesterov = o.flag("nesterov");
    return std::make_shared<nn::SGD>(g);
  }
  if (kind == "Adam" || kind == "AdamW") {
    auto fill = [&](auto g) {
      common(g, o);
      set(g.beta_1, "beta_1");
      set(g.beta_2, "beta_2");
      g.amsgrad = o.flag("amsgrad");
      return g;
    };
    if (kind == "AdamW") return std::make_shared<nn::AdamW>(fill(nn::AdamWOptions{}));
    return std::make_shared<nn::Adam>(fill(nn::AdamOptions{}));
  }
  if (kind == "RMSprop") {
    nn::RMSpropOptions g;
    common(g, o);
    set(g.rho, "rho");
    set(g.momentum, "momentum");
    g.centered = o.flag("centered");
    return std::make_shared<nn::RMSprop>(g);
  }
  if (kind == "Adagrad") {
    nn::AdagradOptions g;
    common(g, o);
    set(g.initial_accumulator_value, "initial_accumulator_value");
    set(g.epsilon, "epsilon");
    return std::make_shared<nn::Adagrad>(g);
  }
  if (kind == "Adadelta") {
    nn::AdadeltaOptions g;
    common(g, o);
    set(g.rho, "rho");
    set(g.epsilon, "epsilon");
    return std::make_shared<nn::Adadelta>(g);
  }
  if (kind == "Ftrl") {
    nn::FtrlOptions g;
    common(g, o);
    set(g.learning_rate_power, "learning_rate_power");
    set(g.l1_regularization_strength, "l1_regularization_strength");
    set(g.l2_regularization_strength, "l2_regularization_strength");
    set(g.l2_shrinkage_regularization_strength, "l2_shrinkage_regularization_strength");
    set(g.beta, "beta");
    return std::make_shared<nn::Ftrl>(g);
  }
  auto plain = [&](auto g) {
    common(g, o);
    return g;
  };
  if (kind == "Adamax") return std::make_shared<nn::Adamax>(plain(nn::AdamaxOptions{}));
  if (kind == "Nadam") return std::make_shared<nn::Nadam>(plain(nn::NadamOptions{}));
  REQUIRE(kind == "Lion");
  return std::make_shared<nn::Lion>(plain(nn::LionOptions{}));
}

// One recorded case: options, variables, and steps.
struct Recorded {
  std::string line;
  std::vector<std::pair<std::string, Tensor>> variables;
  struct Step {
    std::vector<Gradient> gradients;
    std::vector<Tensor> after;
  };
  std::vector<Step> steps;
  std::vector<Tensor> state;
};

std::vector<Recorded> recorded() {
  std::vector<Recorded> out;
  for (const std::string& line : golden::lines("tests/cpp/training/recorded/optimizers.txt")) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "case") out.push_back({line, {}, {}, {}});
    Recorded& r = out.back();
    if (word == "variable") {
      std::string name;
      in >> name;
      r.variables.emplace_back(name, golden::tensor(in));
    } else if (word == "step") {
      r.steps.emplace_back();
    } else if (word == "none") {
      r.steps.back().gradients.emplace_back();
    } else if (word == "dense") {
      r.steps.back().gradients.emplace_back(golden::tensor(in));
    } else if (word == "slices") {
      Tensor values = golden::tensor(in), rows = golden::tensor(in);
      const auto shape = r.variables[r.steps.back().gradients.size()].second.shape();
      r.steps.back().gradients.emplace_back(IndexedSlices{
          values, rows, Tensor::of<int32_t>({int64_t(shape.size())}, std::span<const int32_t>(std::vector<int32_t>(shape.begin(), shape.end())))});
    } else if (word == "after") {
      r.steps.back().after.push_back(golden::tensor(in));
    } else if (word == "state") {
      r.state.push_back(golden::tensor(in));
    }
  }
  return out;
}

void play(const Recorded& r, bool traced) {
  std::istringstream in(r.line);
  std::string word, kind;
  in >> word >> kind;
  const Options o(in);
  auto made = optimizer(kind, o);
  std::vector<Variable> variables;
  for (const auto& [name, value] : r.variables) {
    VariableOptions vo{.name = name};
    if (o.count("constraint")) vo.constraint = [](const Tensor& w) { return w * cast(w >= Tensor(0.f), w.dtype()); };
    variables.emplace_back(value, vo);
  }
  if (o.count("exclude")) made->exclude_from_weight_decay({}, {o.text("exclude")});
  // Gradients by form: tensors, and for slices rows beside them.
  std::vector<int> form;
  for (const Gradient& g : r.steps[0].gradients) form.push_back(!g.has_value() ? 0 : g.is_slices() ? 2 : 1);
  auto step = [&](const std::vector<Tensor>& flat) {
    std::vector<Gradient> gradients;
    size_t at = 0;
    for (size_t i = 0; i < form.size(); ++i) {
      if (form[i] == 0) gradients.emplace_back();
      else if (form[i] == 1) gradients.emplace_back(flat[at++]);
      else {
        gradients.emplace_back(IndexedSlices{flat[at], flat[at + 1], flat[at + 2]});
        at += 3;
      }
    }
    made->apply(gradients, variables);
  };
  auto traced_step = function(std::function<void(std::vector<Tensor>)>(step));
  for (size_t n = 0; n < r.steps.size(); ++n) {
    std::vector<Tensor> flat;
    for (const Gradient& g : r.steps[n].gradients) {
      if (g.is_slices()) flat.insert(flat.end(), {g.slices().values, g.slices().indices, g.slices().dense_shape});
      else if (g.has_value()) flat.push_back(g.dense());
    }
    if (traced) traced_step(flat);
    else step(flat);
    for (size_t i = 0; i < variables.size(); ++i) {
      INFO("step " << n << " variable " << i);
      CHECK(golden::close(variables[i], r.steps[n].after[i], kTolerance));
    }
  }
  const auto state = made->variables();
  REQUIRE(state.size() == r.state.size());
  for (size_t i = 0; i < state.size(); ++i) {
    INFO("state " << i << " " << state[i].name());
    CHECK(golden::close(state[i], r.state[i], kTolerance));
  }
}

}  // namespace

TEST_CASE("schedules give Keras' rates") {
  nn::Schedule now;
  std::string kind;
  for (const std::string& line : golden::lines("tests/cpp/training/recorded/schedules.txt")) {
    std::istringstream in(line);
    if (line.starts_with("schedule")) {
      std::string word;
      in >> word >> kind;
      now = schedule(kind, Options(in));
      continue;
    }
    int64_t step;
    double want;
    in >> step >> want;
    INFO(kind << " at " << step);
    CHECK(golden::close(now(Tensor(step)), Tensor(float(want)), 2e-6));
    auto traced = function([&](const Tensor& s) { return now(s); });
    CHECK(golden::close(traced(Tensor(step)), Tensor(float(want)), 2e-6));
  }
}

TEST_CASE("optimisers take Keras' steps, eagerly") {
  for (const Recorded& r : recorded()) {
    INFO(r.line);
    play(r, false);
  }
}

TEST_CASE("optimisers take Keras' steps, traced") {
  for (const Recorded& r : recorded()) {
    INFO(r.line);
    play(r, true);
  }
}
