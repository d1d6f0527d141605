// Ranges that are nudged, values outside of them. Numbers and texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Floats = std::vector<float>;
using weft_engine::core::DType;

namespace {

void check_near(const Floats& found, const Floats& want) {
  REQUIRE(found.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) CHECK(found[i] == doctest::Approx(want[i]).epsilon(1e-6));
}

}  // namespace

TEST_CASE("shapes of quantized values") {
  CHECK(shapes_of("FakeQuantWithMinMaxVarsPerChannel", {{DType::kFloat, {-1, -1}}, {DType::kFloat, {3}}, {DType::kFloat, {3}}}) == "[?,?]");
  CHECK(shapes_of("FakeQuantWithMinMaxVarsPerChannelGradient",
                  {{DType::kFloat, {-1, -1}}, {DType::kFloat, {-1, 4}}, {DType::kFloat, {-1}}, {DType::kFloat, {-1}}}) == "[?,4] [4] [4]");
  CHECK(says(shapes_of("FakeQuantWithMinMaxVarsPerChannel", {{DType::kFloat, {-1, 4}}, {DType::kFloat, {3}}, {DType::kFloat, {3}}}),
             "Dimensions must be equal, but are 4 and 3"));
  CHECK(shapes_of("QuantizeV2", {{DType::kFloat, {-1, 3}}, {DType::kFloat, scalar()}, {DType::kFloat, scalar()}}, {{"T", DType::kQuint8}}) ==
        "[?,3] [] []");
}

TEST_CASE("a range that is none") {
  CHECK(says(error_of([] { Call("FakeQuantWithMinMaxArgs").in(Tensor{1.f}).attr("min", 6.f).attr("max", -6.f).one(); }),
             "min has to be smaller than max, was: 6 >= -6"));
  CHECK(says(error_of([] { Call("QuantizeAndDequantizeV2").in(Tensor{1.f}).in(Tensor(2.f)).in(Tensor(1.f)).attr("range_given", true).one(); }),
             "Invalid range: input_min 2 > input_max 1"));
}

TEST_CASE("zero is one of the levels, and what is outside is the nearest of them") {
  const Tensor fake =
      Call("FakeQuantWithMinMaxArgs").in(Tensor{-7.f, -5.9f, 0.f, 0.01f, 5.95f, 8.f}).attr("min", -6.f).attr("max", 6.f).attr("num_bits", 4).one();
  check_near(list<float>(fake), {-6.4f, -5.6f, 0, 0, 5.6f, 5.6f});
  const auto coded = Call("QuantizeV2").in(Tensor{-1.f, 0.f, 0.5f, 1.f, 2.f}).in(Tensor(0.f)).in(Tensor(1.f)).attr("T", weft::DType::quint8).run();
  check_near(list<float>(Call("Dequantize").in(coded[0]).in(coded[1]).in(coded[2]).one()), {0, 0, 0.501960813999176f, 1, 1});
  const Tensor few = Call("QuantizeAndDequantizeV2")
                         .in(Tensor{-1.f, -0.3f, 0.2f, 1.f})
                         .in(Tensor(-1.f))
                         .in(Tensor(1.f))
                         .attr("num_bits", 3)
                         .attr("range_given", true)
                         .one();
  check_near(list<float>(few), {-1, -0.3333333432674408f, 0.3333333432674408f, 1});
}

TEST_CASE("what is outside of the range has no gradient, its ends have it") {
  const auto fake = [](const Tensor& x) { return Call("FakeQuantWithMinMaxArgs").in(x).attr("min", -6.f).attr("max", 6.f).one(); };
  CHECK(gradient(fake, Tensor{-7.f, -5.f, 0.f, 6.1f}, {1, 1, 1, 1}) == Floats{0, 1, 1, 0});
  const Tensor x{-7.f, -5.f, 0.f, 7.f, 8.f};
  const auto by_least = [&](const Tensor& least) { return Call("FakeQuantWithMinMaxVars").in(x).in(least).in(Tensor(6.f)).one(); };
  CHECK(gradient(by_least, Tensor(-6.f), Floats(5, 1)) == Floats{1});
  const auto by_greatest = [&](const Tensor& greatest) { return Call("FakeQuantWithMinMaxVars").in(x).in(Tensor(-6.f)).in(greatest).one(); };
  CHECK(gradient(by_greatest, Tensor(6.f), Floats(5, 1)) == Floats{2});
}
