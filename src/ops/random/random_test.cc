// Shapes, the numbers of a seed, and what cannot be drawn from. Numbers and texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;
using weft_engine::core::DType;

TEST_CASE("shapes of random numbers") {
  const auto shape = constant<int32_t>({2, 3}), samples = constant<int32_t>({5});
  const auto seven = weft_engine::core::Tensor::scalar<int32_t>(7);
  CHECK(shapes_of("StatelessRandomUniform", {{DType::kInt32, {2}, &shape}, {DType::kInt32, {2}}}) == "[2,3]");
  CHECK(shapes_of("StatelessRandomUniform", {{DType::kInt32, {2}}, {DType::kInt32, {2}}}) == "[?,?]");
  CHECK(shapes_of("RandomUniform", {{DType::kInt32, {3}}}, {{"dtype", DType::kFloat}}) == "[?,?,?]");
  CHECK(shapes_of("Multinomial", {{DType::kFloat, {-1, 4}}, {DType::kInt32, scalar(), &seven}}) == "[?,7]");
  CHECK(shapes_of("RandomGamma", {{DType::kInt32, {1}, &samples}, {DType::kFloat, {-1, 2}}}) == "[5,?,2]");
}

TEST_CASE("a seed gives TensorFlow's numbers") {
  const Tensor seed{1, 2};
  const auto check = [](const Tensor& found, const Floats& want) {
    const Floats have = list<float>(found);
    REQUIRE(have.size() == want.size());
    for (size_t i = 0; i < want.size(); ++i) CHECK(have[i] == doctest::Approx(want[i]).epsilon(1e-6));
  };
  check(Call("StatelessRandomUniform").in(Tensor{3}).in(seed).one(), {0.8440604209899902f, 0.19204533100128174f, 0.9962232112884521f});
  check(Call("StatelessRandomNormal").in(Tensor{3}).in(seed).one(), {0.544110119342804f, 0.20738030970096588f, 0.0735643208026886f});
  CHECK(list<int32_t>(Call("StatelessRandomUniformInt").in(Tensor{4}).in(seed).in(Tensor(0)).in(Tensor(10)).one()) == Ints{0, 9, 4, 9});
  CHECK(Call("StatelessRandomUniform").in(Tensor{0, 3}).in(seed).one().shape() == Longs{0, 3});
  const Tensor certain = Call("StatelessMultinomial").in(Tensor{{-INFINITY, 0.f, -INFINITY}}).in(Tensor(4)).in(seed).one();
  CHECK(list<int64_t>(certain) == Longs{1, 1, 1, 1});
}

TEST_CASE("what nothing can be drawn from") {
  const Tensor seed{1, 2};
  CHECK(says(error_of([&] { Call("StatelessRandomUniformInt").in(Tensor{4}).in(seed).in(Tensor(5)).in(Tensor(5)).one(); }),
             "Need minval < maxval, got 5 >= 5"));
  CHECK(says(error_of([] { Call("RandomUniformInt").in(Tensor{4}).in(Tensor(5)).in(Tensor(5)).one(); }), "Need minval < maxval, got 5 >= 5"));
  CHECK(says(error_of([] { Call("StatelessRandomUniform").in(Tensor{4}).in(Tensor{1, 2, 3}).one(); }), "seed must have shape [2], not [3]"));
  CHECK(says(error_of([&] { Call("StatelessRandomUniform").in(Tensor{-1}).in(seed).one(); }), "Dimension -1 must be >= 0"));
  CHECK(says(error_of([] { Call("Multinomial").in(Tensor{1.f, 2.f}).in(Tensor(7)).one(); }), "logits should be a matrix, got shape [2]"));
}

TEST_CASE("the gradient of a gamma sample by its parameter") {
  const Floats found = list<float>(Call("RandomGammaGrad").in(Tensor{1.f, 2.f}).in(Tensor{0.5f, 3.f}).one());
  CHECK(found[0] == doctest::Approx(0.8069790601730347).epsilon(1e-5));
  CHECK(found[1] == doctest::Approx(1.32179856300354).epsilon(1e-5));
}
