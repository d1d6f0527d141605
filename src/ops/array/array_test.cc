// Shapes in part known, ties, places outside: what the recorded calls of these ops show one at a time. Numbers and texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;
using weft_engine::core::DType;
using weft_engine::core::PartialShape;

TEST_CASE("shapes of arrays that are known in part") {
  const auto rows = constant<int32_t>({-1, 2}), columns = constant<int32_t>({2, -1});
  CHECK(shapes_of("Reshape", {{DType::kFloat, {-1, 4}}, {DType::kInt32, {2}, &rows}}) == "[?,2]");
  CHECK(shapes_of("Reshape", {{DType::kFloat, {3, 4}}, {DType::kInt32, {2}, &columns}}) == "[2,6]");
  CHECK(shapes_of("Reshape", {{DType::kFloat, {3, 4}}, {DType::kInt32, {2}}}) == "[?,?]");
  const auto axis = weft_engine::core::Tensor::scalar<int32_t>(0);
  CHECK(shapes_of("ConcatV2", {{DType::kFloat, {-1, 2}}, {DType::kFloat, {3, -1}}, {DType::kInt32, scalar(), &axis}}) == "[?,2]");
  CHECK(shapes_of("Pack", {{DType::kFloat, {-1, 2}}, {DType::kFloat, {3, -1}}}, {{"axis", int64_t(1)}}) == "[3,2,2]");
  const auto differ = [&](std::vector<PartialShape> in, int32_t along) {
    const auto value = weft_engine::core::Tensor::scalar<int32_t>(along);
    std::vector<Given> given;
    for (auto& shape : in) given.push_back({DType::kFloat, shape});
    given.push_back({DType::kInt32, scalar(), &value});
    return shapes_of("ConcatV2", given);
  };
  CHECK(differ({{-1, 2}, {3, 4}}, 0) == "Dimension 0 in both shapes must be equal, but are 2 and 4. Shapes are [2] and [4].");
  CHECK(differ({{-1, 2, 1}, {3, 4, 1}}, 2) == "Dimension 1 in both shapes must be equal, but are 2 and 4. Shapes are [?,2] and [3,4].");
  CHECK(differ({{-1, 2, 1}, {3, -1, 1}, {4, 2, 7}}, -1) == "Dimension 0 in both shapes must be equal, but are 3 and 4. Shapes are [3,?] and [4,2].");
  CHECK(differ({{-1, 2, 1}, PartialShape(), {4, -1, 7}}, -1) == "[4,2,?]");
}

TEST_CASE("arrays refuse what does not fit") {
  const Tensor six{1.f, 2.f, 3.f, 4.f, 5.f, 6.f};
  CHECK(says(error_of([&] { Call("Reshape").in(six).in(Tensor{4}).one(); }),
             "Input to reshape is a tensor with 6 values, but the requested shape has 4"));
  CHECK(says(error_of([&] { Call("GatherV2").in(Tensor{1.f, 2.f, 3.f}).in(Tensor{5}).in(Tensor(0)).one(); }), "indices[0] = 5 is not in [0, 3)"));
  CHECK(says(error_of([&] { Call("SplitV").in(six).in(Tensor{2, 3}).in(Tensor(0)).attr("num_split", 2).run(); }),
             "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the size of the input "
             "along split_dim if not fully specified.  Got: 5"));
}

TEST_CASE("of equal elements TopK takes the first, Unique keeps the order") {
  const auto top = Call("TopKV2").in(Tensor{{1.f, 3.f, 3.f, 2.f}}).in(Tensor(3)).run();
  CHECK(list<float>(top[0]) == Floats{3, 3, 2});
  CHECK(list<int32_t>(top[1]) == Ints{1, 2, 3});
  const auto unique = Call("UniqueWithCounts").in(Tensor{4, 1, 4, 4, 1, 9}).run();
  CHECK(list<int32_t>(unique[0]) == Ints{4, 1, 9});
  CHECK(list<int32_t>(unique[1]) == Ints{0, 1, 0, 0, 1, 2});
  CHECK(list<int32_t>(unique[2]) == Ints{3, 2, 1});
  CHECK(Call("Tile").in(Tensor{{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}).in(Tensor{0, 2}).one().shape() == Longs{0, 6});
}

TEST_CASE("gradients of elements that are taken more than once") {
  const auto gather = [](const Tensor& x) { return Call("GatherV2").in(x).in(Tensor{2, 0, 2}).in(Tensor(0)).one(); };
  CHECK(gradient(gather, Tensor{1.f, 2.f, 3.f}, {1, 10, 100}) == Floats{10, 0, 101});
  const auto mirror = [](const Tensor& x) { return Call("MirrorPad").in(x).in(Tensor{{2, 1}}).attr("mode", "REFLECT").one(); };
  CHECK(gradient(mirror, Tensor{5.f, 6.f, 7.f}, {1, 2, 4, 8, 16, 32}) == Floats{4, 42, 17});
}
