// The family of docs/adding_an_op.md, compiled as it is printed and added to the engine's ops: all that the page says of it must hold.
#include <doctest/doctest.h>
#include <weft/weft.h>

#include <cmath>
#include <functional>

#include "docs/adding_an_op.inc"
#include "engine/engine.h"

using weft::Call;
using weft::GradientTape;
using weft::Tensor;

namespace {

const weft_engine::op::OpSpec& spec(const char* name) {
  auto& registry = weft_engine::engine::Engine::get().registry();
  if (!registry.find(name)) weft_engine::ops::first_family(registry);
  return *registry.find(name);
}

Tensor apply(const char* name, const Tensor& x) { return Call(name).in(x).one(); }

const std::vector<double> kNumbers{0.5, -1.25, 3, 0, 2, -0.75};
Tensor numbers(const std::vector<double>& v = kNumbers) { return Tensor::of<double>({2, 3}, v); }
std::vector<double> values(const Tensor& t) { return {t.data<double>().begin(), t.data<double>().end()}; }

std::vector<double> want(const std::string& name, const std::vector<double>& x) {
  std::vector<double> y = x;
  if (name == "SquarePlus") {
    for (double& v : y) v = (v + std::sqrt(v * v + 4)) / 2;
    return y;
  }
  for (size_t row = 0; row < 6; row += 3) {
    const double mean = (x[row] + x[row + 1] + x[row + 2]) / 3;
    for (size_t i = row; i < row + 3; ++i) y[i] -= mean;
  }
  return y;
}

void check_near(const std::vector<double>& got, const std::vector<double>& expected, double tolerance = 1e-12) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(expected[i]).epsilon(tolerance).scale(1));
}

// d y[k] / d x[i], by central differences.
std::vector<double> differences(const std::string& name) {
  constexpr double kStep = 1e-5;
  std::vector<double> out(36);
  for (size_t i = 0; i < 6; ++i) {
    std::vector<double> above = kNumbers, below = kNumbers;
    above[i] += kStep, below[i] -= kStep;
    above = want(name, above), below = want(name, below);
    for (size_t k = 0; k < 6; ++k) out[k * 6 + i] = (above[k] - below[k]) / (2 * kStep);
  }
  return out;
}

}  // namespace

TEST_CASE("the ops of the page compute, infer shapes, refuse") {
  for (const char* name : {"CenterRows", "SquarePlus"}) {
    CAPTURE(name);
    const auto& s = spec(name);
    REQUIRE_MESSAGE(s.check().ok(), s.check().message());
    CHECK(!s.summary.empty());
    check_near(values(apply(name, numbers())), want(name, kNumbers));
    CHECK(apply(name, Tensor::of<float>({2, 0}, {})).shape() == std::vector<int64_t>{2, 0});
    const weft_engine::op::DType types[] = {weft_engine::op::DType::kFloat};
    auto node = weft_engine::op::NodeInfo::make(s, "n", {}, types);
    REQUIRE(node.ok());
    weft_engine::op::ShapeContext shapes(*node, {weft_engine::op::PartialShape::matrix(-1, 3)});
    REQUIRE(s.infer_shapes(shapes).ok());
    CHECK((shapes.outputs()[0] == weft_engine::op::PartialShape::matrix(-1, 3)));
  }
  CHECK_THROWS_WITH_AS(apply("CenterRows", Tensor(1.0)), doctest::Contains("at least one dimension"), weft::Error);
}

TEST_CASE("the gradients of the page's ops are those of differences") {
  for (const char* name : {"CenterRows", "SquarePlus"}) {
    CAPTURE(name);
    spec(name);
    const std::vector<double> weights{1, -2, 0.5, 3, 0.25, -1}, slopes = differences(name);
    std::vector<double> expected(6);
    for (size_t i = 0; i < 6; ++i) {
      for (size_t k = 0; k < 6; ++k) expected[i] += weights[k] * slopes[k * 6 + i];
    }
    const Tensor x = numbers();
    GradientTape tape;
    tape.watch(x);
    const Tensor loss = weft::reduce_sum(apply(name, x) * numbers(weights));
    check_near(values(tape.gradient(loss, x)), expected, 1e-8);
  }
}

// A jacobian runs the backward pass once with a row for each result. CenterRows is part of its own gradient.
TEST_CASE("the page's ops are batched by a rule or a trait") {
  for (const char* name : {"CenterRows", "SquarePlus"}) {
    CAPTURE(name);
    CHECK(bool(weft_engine::op::batch_rule(spec(name))));
    const Tensor x = numbers();
    GradientTape tape;
    tape.watch(x);
    check_near(values(tape.jacobian(apply(name, x), x)), differences(name), 1e-8);
  }
}

TEST_CASE("the page's ops and their gradients compile") {
  for (const char* name : {"CenterRows", "SquarePlus"}) {
    CAPTURE(name);
    CHECK(bool(spec(name).lower));
    const auto step = [&](const Tensor& x) {
      GradientTape tape;
      tape.watch(x);
      const Tensor y = apply(name, x);
      return std::vector<Tensor>{y, tape.gradient(weft::reduce_sum(y * y), x)};
    };
    const auto compiled = weft::function(step, {.jit_compile = true});
    const auto got = compiled(numbers()), expected = step(numbers());
    check_near(values(got[0]), want(name, kNumbers));
    check_near(values(got[1]), values(expected[1]));
  }
}
