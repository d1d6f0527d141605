// Shapes of products, matrices without an inverse or without elements. Numbers and texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using weft_engine::core::DType;

TEST_CASE("shapes of products and decompositions") {
  CHECK(shapes_of("MatMul", {{DType::kFloat, {3, -1}}, {DType::kFloat, {3, 5}}}, {{"transpose_a", true}}) == "[?,5]");
  CHECK(says(shapes_of("MatMul", {{DType::kFloat, {-1, 3}}, {DType::kFloat, {4, 5}}}), "Dimensions must be equal, but are 3 and 4"));
  CHECK(shapes_of("BatchMatMulV2", {{DType::kFloat, {-1, 1, 2, 3}}, {DType::kFloat, {7, 3, -1}}}) == "[?,7,2,?]");
  CHECK(shapes_of("Svd", {{DType::kFloat, {-1, 4, 3}}}) == "[?,3] [?,4,3] [?,3,3]");
}

TEST_CASE("matrices that do not fit, or have no inverse") {
  const Tensor m{{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}};
  CHECK(says(error_of([&] { Call("MatMul").in(m).in(m).one(); }), "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"));
  CHECK(says(error_of([] { Call("MatrixInverse").in(Tensor{{1.f, 2.f}, {2.f, 4.f}}).one(); }), "Input is not invertible."));
}

TEST_CASE("matrices without elements, bands, traces") {
  CHECK(list<float>(Call("MatrixDeterminant").in(Tensor::of<float>({2, 0, 0}, {})).one()) == Floats{1, 1});
  const Tensor band = Call("MatrixBandPart").in(Tensor{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}).in(Tensor(0)).in(Tensor(-1)).one();
  CHECK(list<int32_t>(band) == Ints{1, 2, 3, 0, 5, 6, 0, 0, 9});
  const Tensor trace = Call("Einsum").in(std::vector<Tensor>{Tensor{{1.f, 2.f}, {3.f, 4.f}}}).attr("equation", "ii->").one();
  CHECK(list<float>(trace) == Floats{5});
}

TEST_CASE("gradients of an inverse and a determinant") {
  const auto near = [](const Floats& a, const Floats& b) {
    REQUIRE(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-5));
  };
  const auto inverse = [](const Tensor& x) { return Call("MatrixInverse").in(x).one(); };
  near(gradient(inverse, Tensor{{2.f, 0.f}, {1.f, 4.f}}, {1, 1, 1, 1}), {-0.1875f, -0.046875f, -0.125f, -0.03125f});
  const auto determinant = [](const Tensor& x) { return Call("MatrixDeterminant").in(x).one(); };
  near(gradient(determinant, Tensor{{1.f, 2.f}, {3.f, 4.f}}, {1}), {4, -3, -2, 1});
}
