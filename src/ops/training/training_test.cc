// Steps of optimizers beside their numbers, and updates that do not fit. Numbers and texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;

namespace {

void check_value(const weft::Variable& v, const Floats& want) {
  const Floats found = list<float>(v.value());
  REQUIRE(found.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) CHECK(found[i] == doctest::Approx(want[i]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("updates that do not fit") {
  const weft::Variable v(Tensor{1.f, 2.f});
  const auto descend = [&](Tensor rate, Tensor delta) {
    return error_of([&] { Call("ResourceApplyGradientDescent").in(v.handle()).in(rate).in(delta).run(); });
  };
  CHECK(says(descend(Tensor(0.1f), Tensor{1.f, 2.f, 3.f}), "var and delta do not have the same shape[2] [3]"));
  CHECK(says(descend(Tensor{0.1f}, Tensor{1.f, 2.f}), "alpha is not a scalar: [1]"));
  const weft::Variable rows(Tensor{{1.f}, {2.f}}), sums(Tensor{{1.f}, {1.f}});
  CHECK(says(error_of([&] {
               Call("ResourceSparseApplyAdagrad").in(rows.handle()).in(sums.handle()).in(Tensor(0.1f)).in(Tensor{{1.f}}).in(Tensor{2}).run();
             }),
             "Index 2 at offset 0 in indices is out of range"));
}

TEST_CASE("a step of Adam, of momentum that looks ahead, of proximal descent") {
  const weft::Variable v(Tensor{1.f, 2.f}), m(Tensor{0.f, 0.f}), n(Tensor{0.f, 0.f});
  Call("ResourceApplyAdam")
      .in(v.handle())
      .in(m.handle())
      .in(n.handle())
      .in(Tensor(0.9f))
      .in(Tensor(0.999f))
      .in(Tensor(0.1f))
      .in(Tensor(0.9f))
      .in(Tensor(0.999f))
      .in(Tensor(1e-7f))
      .in(Tensor{1.f, -2.f})
      .run();
  check_value(v, {0.9000003337860107f, 2.0999999046325684f});
  check_value(m, {0.10000002384185791f, -0.20000004768371582f});
  check_value(n, {0.0009999871253967285f, 0.003999948501586914f});
  const weft::Variable w(Tensor{1.f, 2.f}), speed(Tensor{0.f, 0.f});
  Call("ResourceApplyMomentum")
      .in(w.handle())
      .in(speed.handle())
      .in(Tensor(0.1f))
      .in(Tensor{1.f, 2.f})
      .in(Tensor(0.9f))
      .attr("use_nesterov", true)
      .run();
  check_value(w, {0.81f, 1.62f});
  check_value(speed, {1, 2});
  const weft::Variable p(Tensor{1.f, 2.f});
  Call("ResourceApplyProximalGradientDescent").in(p.handle()).in(Tensor(0.5f)).in(Tensor(1.f)).in(Tensor(1.f)).in(Tensor{1.f, 0.f}).run();
  check_value(p, {0, 1});
}

TEST_CASE("a row that is updated twice") {
  const weft::Variable rows(Tensor{{1.f}, {2.f}}), sums(Tensor{{1.f}, {1.f}});
  Call("ResourceSparseApplyAdagrad").in(rows.handle()).in(sums.handle()).in(Tensor(0.1f)).in(Tensor{{1.f}, {2.f}}).in(Tensor{1, 1}).run();
  check_value(rows, {1, 1.8476396799087524f});
  check_value(sums, {1, 6});
}

TEST_CASE("the nearest of centres") {
  const Tensor centres{{0.f, 1.f}, {4.f, 5.f}, {9.f, 9.f}};
  const auto near = Call("NearestNeighbors").in(Tensor{{0.f, 0.f}, {5.f, 5.f}}).in(centres).in(Tensor(int64_t(2))).run();
  CHECK(list<int64_t>(near[0]) == Longs{0, 1, 1, 2});
  CHECK(list<float>(near[1]) == Floats{1, 41, 1, 32});
  CHECK(says(error_of([] { Call("NearestNeighbors").in(Tensor{{0.f, 0.f}}).in(Tensor{{0.f, 1.f, 2.f}}).in(Tensor(int64_t(1))).run(); }),
             "Expected point_dimensions == center_dimensions: 2 vs 3."));
}
