// Empty rows, rows that are cut, splits that are none. Numbers and texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;
using weft_engine::core::DType;

namespace {

Tensor splits(std::vector<int64_t> v) { return Tensor::of<int64_t>({int64_t(v.size())}, std::span<const int64_t>(v)); }
std::vector<Tensor> to_sparse(const Tensor& row_splits, const Tensor& values) {
  return Call("RaggedTensorToSparse").in(std::vector<Tensor>{row_splits}).in(values).run();
}
Tensor to_tensor(const Tensor& shape, const Tensor& values, float rest) {
  return Call("RaggedTensorToTensor")
      .in(shape)
      .in(values)
      .in(Tensor(rest))
      .in(std::vector<Tensor>{splits({0, 2, 2, 3})})
      .attr("row_partition_types", std::vector<std::string>{"ROW_SPLITS"})
      .one();
}

}  // namespace

TEST_CASE("shapes of ragged values") {
  const auto shape = constant<int64_t>({-1, 5});
  CHECK(shapes_of("RaggedRange", {{DType::kInt32, {-1}}, {DType::kInt32, {4}}, {DType::kInt32, scalar()}}) == "[5] [?]");
  CHECK(shapes_of("RaggedRange", {{DType::kInt32, scalar()}, {DType::kInt32, scalar()}, {DType::kInt32, scalar()}}) == "[2] [?]");
  CHECK(shapes_of("RaggedTensorToTensor", {{DType::kInt64, {2}, &shape}, {DType::kFloat, {-1}}, {DType::kFloat, scalar()}, {DType::kInt64, {4}}},
                  {{"row_partition_types", std::vector<std::string>{"ROW_SPLITS"}}}) == "[?,5]");
  CHECK(shapes_of("RaggedTensorToSparse", {{DType::kInt64, {4}}, {DType::kFloat, {-1}}}) == "[?,2] [?] [2]");
}

TEST_CASE("ragged values refuse what does not fit") {
  const Tensor values{7.f, 8.f};
  CHECK(says(error_of([&] { to_sparse(splits({0, 2, 1}), values); }), "Ragged splits should be non decreasing, but we got 2 followed by 1"));
  CHECK(says(error_of([&] { to_sparse(splits({1, 2}), values); }), "First value of ragged splits must be 0."));
  CHECK(says(error_of([] { Call("RaggedRange").in(Tensor{1}).in(Tensor{2}).in(Tensor(0)).run(); }), "Requires delta != 0"));
  CHECK(says(error_of([] { Call("RaggedRange").in(Tensor{1, 2}).in(Tensor{2, 3, 4}).in(Tensor(1)).run(); }),
             "starts, limits, and deltas must have the same shape"));
  CHECK(says(error_of([] {
               Call("RaggedGather")
                   .in(std::vector<Tensor>{splits({0, 2, 2, 3})})
                   .in(Tensor{7.f, 8.f, 9.f})
                   .in(Tensor{3})
                   .attr("OUTPUT_RAGGED_RANK", 1)
                   .run();
             }),
             "indices[0] = 3 is not in [0, 3)"));
}

TEST_CASE("empty rows, steps back, rows that are cut") {
  const auto up = Call("RaggedRange").in(Tensor{2, 5, 8}).in(Tensor{3, 5, 12}).in(Tensor(1)).run();
  CHECK(list<int64_t>(up[0]) == Longs{0, 1, 1, 5});
  CHECK(list<int32_t>(up[1]) == Ints{2, 8, 9, 10, 11});
  CHECK(list<int32_t>(Call("RaggedRange").in(Tensor{5}).in(Tensor{0}).in(Tensor(-2)).run()[1]) == Ints{5, 3, 1});
  const auto sparse = to_sparse(splits({0, 2, 2, 3}), Tensor{7.f, 8.f, 9.f});
  CHECK(list<int64_t>(sparse[0]) == Longs{0, 0, 0, 1, 2, 0});
  CHECK(list<int64_t>(sparse[2]) == Longs{3, 2});
  const Tensor values{1.f, 2.f, 3.f};
  CHECK(list<float>(to_tensor(Tensor{-1, -1}, values, 0)) == Floats{1, 2, 0, 0, 3, 0});
  CHECK(list<float>(to_tensor(Tensor{2, 1}, values, -1)) == Floats{1, -1});
}

TEST_CASE("values that are cut off have no gradient") {
  const Tensor values{1.f, 2.f, 3.f};
  CHECK(gradient([](const Tensor& v) { return to_tensor(Tensor{2, 1}, v, 0); }, values, {3, 5}) == Floats{3, 0, 0});
  CHECK(gradient([](const Tensor& v) { return to_tensor(Tensor{-1, -1}, v, 0); }, values, {1, 2, 3, 4, 5, 6}) == Floats{1, 2, 5});
  CHECK(gradient([](const Tensor& v) { return to_sparse(splits({0, 2, 2, 3}), v)[1]; }, values, {1, 10, 100}) == Floats{1, 10, 100});
}
