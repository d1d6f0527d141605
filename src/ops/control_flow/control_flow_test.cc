// Merged shapes, and the texts of checks. Texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Floats = std::vector<float>;
using weft_engine::core::DType;

TEST_CASE("Merge knows what its inputs have in common") {
  CHECK(shapes_of("Merge", {{DType::kFloat, {2, -1}}, {DType::kFloat, {2, 3}}}) == "[2,?] []");
  CHECK(shapes_of("Merge", {{DType::kFloat, {2}}, {DType::kFloat, {2, 3}}}) == "<unknown> []");
  CHECK(shapes_of("CheckNumerics", {{DType::kFloat, {-1, 3}}}, {{"message", std::string()}}) == "[?,3]");
}

TEST_CASE("Assert shows as much as it is asked to") {
  const auto failed = [](int summarize) {
    return error_of(
        [=] { Call("Assert").in(Tensor(false)).in(std::vector<Tensor>{Tensor{"x is"}, Tensor{1, 2, 3, 4}}).attr("summarize", summarize).run(); });
  };
  CHECK(says(failed(3), "assertion failed: [x is] [1 2 3...]"));
  CHECK(says(failed(-1), "assertion failed: [x is] [1 2 3 4]"));
  CHECK(error_of([] { Call("Assert").in(Tensor(true)).in(std::vector<Tensor>{Tensor{"x"}}).run(); }).empty());
}

TEST_CASE("checks of numbers say which are bad") {
  const float inf = INFINITY, nan = NAN;
  const auto message = [](const char* op, Tensor x) { return error_of([&] { Call(op).in(x).attr("message", "here").one(); }); };
  CHECK(says(message("CheckNumerics", Tensor{1.f, nan}), "here : Tensor had NaN values"));
  CHECK(says(message("CheckNumericsV2", Tensor{1.f, -inf}), "here : Tensor had -Inf values"));
  CHECK(says(message("CheckNumericsV2", Tensor{inf, -inf, nan}), "here : Tensor had -Inf, +Inf, and NaN values"));
  CHECK(message("CheckNumerics", Tensor{1.f, 2.f}).empty());
  const auto counts =
      Call("DebugNumericSummaryV2").in(Tensor{1.f, nan, inf, -inf, 0.f, -2.f}).attr("tensor_debug_mode", 3).attr("tensor_id", 7).one();
  CHECK(list<float>(counts) == Floats{7, 6, 1, 1, 1});
}

TEST_CASE("a gradient passes a check") {
  const auto checked = [](const Tensor& x) { return Call("CheckNumerics").in(Call("Mul").in(x).in(x).one()).attr("message", "").one(); };
  CHECK(gradient(checked, Tensor{3.f}, {1}) == Floats{6});
}
