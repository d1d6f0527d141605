// Zeros, ties, signs and gaps, where a formula alone does not say what comes out. Numbers and texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using weft_engine::core::DType;

TEST_CASE("shapes of sums and segments") {
  const auto last = constant<int32_t>({-1});
  const auto five = weft_engine::core::Tensor::scalar<int32_t>(5);
  CHECK(shapes_of("Sum", {{DType::kFloat, {2, -1}}, {DType::kInt32, {1}}}, {{"keep_dims", true}}) == "[?,?]");
  CHECK(shapes_of("Sum", {{DType::kFloat, {2, -1, 3}}, {DType::kInt32, {1}, &last}}) == "[2,?]");
  CHECK(shapes_of("AddV2", {{DType::kFloat, {-1, 1, 3}}, {DType::kFloat, {4, -1}}}) == "[?,4,3]");
  CHECK(shapes_of("SegmentSum", {{DType::kFloat, {-1, 3}}, {DType::kInt32, {-1}}}) == "[?,3]");
  CHECK(shapes_of("UnsortedSegmentSum", {{DType::kFloat, {-1, 3}}, {DType::kInt32, {-1}}, {DType::kInt32, scalar(), &five}}) == "[5,3]");
}

TEST_CASE("mathematics refuses what has no result") {
  const Tensor x{1, 2};
  CHECK(says(error_of([&] { Call("FloorDiv").in(x).in(Tensor{1, 0}).one(); }), "Integer division by zero"));
  CHECK(says(error_of([&] { Call("FloorMod").in(x).in(Tensor{1, 0}).one(); }), "Integer division by zero"));
  CHECK(says(error_of([&] { Call("Pow").in(Tensor{2}).in(Tensor{-1}).one(); }), "Integers to negative integer powers are not allowed"));
  CHECK(says(error_of([&] { Call("Sum").in(Tensor{{1.f}}).in(Tensor{2}).one(); }), "Invalid reduction dimension (2 for input with 2 dimension(s)"));
  CHECK(says(error_of([&] { Call("AddV2").in(Tensor{{1, 2, 3}, {4, 5, 6}}).in(Tensor{1, 2, 3, 4}).one(); }), "Incompatible shapes: [2,3] vs. [4]"));
  CHECK(says(error_of([&] { Call("SegmentSum").in(Tensor{1.f, 2.f}).in(Tensor{1, 0}).one(); }), "segment ids are not increasing"));
}

TEST_CASE("signs of remainders, halves, the least integer, nothing") {
  const Tensor x{-7, 7, -7}, y{3, -3, -3};
  CHECK(list<int32_t>(Call("FloorMod").in(x).in(y).one()) == Ints{2, -2, -1});
  CHECK(list<int32_t>(Call("TruncateMod").in(x).in(y).one()) == Ints{-1, 1, -1});
  CHECK(list<float>(Call("Round").in(Tensor{0.5f, 1.5f, 2.5f, -0.5f}).one()) == Floats{0, 2, 2, -0.f});
  CHECK(list<int32_t>(Call("Abs").in(Tensor{INT32_MIN}).one()) == Ints{INT32_MIN});
  CHECK(list<float>(Call("Max").in(Tensor::of<float>({0, 2}, {})).in(Tensor{0}).one()) == Floats{-INFINITY, -INFINITY});
  CHECK(list<float>(Call("SegmentMean").in(Tensor{1.f, 3.f, 5.f}).in(Tensor{0, 0, 2}).one()) == Floats{2, 0, 5});
  CHECK(list<int32_t>(Call("Cumsum").in(Tensor{1, 2, 3, 4}).in(Tensor(0)).attr("exclusive", true).attr("reverse", true).one()) == Ints{9, 7, 4, 0});
}

TEST_CASE("gradients at zeros and ties") {
  const auto product = [](const Tensor& x) { return Call("Prod").in(x).in(Tensor{0}).one(); };
  CHECK(gradient(product, Tensor{2.f, 0.f, 3.f}, {1}) == Floats{0, 6, 0});
  CHECK(gradient(product, Tensor{2.f, 0.f, 0.f}, {1}) == Floats{0, 0, 0});
  const auto greatest = [](const Tensor& x) { return Call("Max").in(x).in(Tensor{0}).one(); };
  CHECK(gradient(greatest, Tensor{3.f, 1.f, 3.f}, {1}) == Floats{0.5f, 0, 0.5f});
  const auto by_zero = [](const Tensor& y) { return Call("DivNoNan").in(Tensor{1.f, 2.f}).in(y).one(); };
  CHECK(gradient(by_zero, Tensor{0.f, 4.f}, {1, 1}) == Floats{0, -0.125f});
  const auto power = [](const Tensor& y) { return Call("Pow").in(Tensor{0.f, 2.f}).in(y).one(); };
  const Floats found = gradient(power, Tensor{2.f, 3.f}, {1, 1});
  CHECK(found[0] == 0);
  CHECK(found[1] == doctest::Approx(5.545177459716797));
}
