// Sizes in part known, boxes outside, grey pixels. Numbers and texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using weft_engine::core::DType;

TEST_CASE("shapes of images") {
  const auto size = constant<int32_t>({4, 5}), crop = constant<int32_t>({2, 2});
  CHECK(shapes_of("ResizeBilinear", {{DType::kFloat, {1, -1, -1, 3}}, {DType::kInt32, {2}, &size}}) == "[1,4,5,3]");
  CHECK(shapes_of("ResizeBilinear", {{DType::kFloat, {1, -1, -1, 3}}, {DType::kInt32, {2}}}) == "[1,?,?,3]");
  CHECK(shapes_of("CropAndResize", {{DType::kFloat, {-1, 8, 8, 3}}, {DType::kFloat, {-1, 4}}, {DType::kInt32, {6}}, {DType::kInt32, {2}, &crop}}) ==
        "[6,2,2,3]");
}

TEST_CASE("images refuse what does not fit") {
  const Tensor image = Tensor::of<float>({1, 2, 2, 1}, {0.f, 1.f, 2.f, 3.f});
  CHECK(says(error_of([&] { Call("ResizeNearestNeighbor").in(image).in(Tensor{0, 3}).one(); }), "output dimensions must be positive"));
  CHECK(says(error_of([&] { Call("CropAndResize").in(image).in(Tensor{{0.f, 0.f, 1.f, 1.f}}).in(Tensor{1}).in(Tensor{2, 2}).one(); }),
             "box_index has values outside [0, batch_size)"));
}

TEST_CASE("pixels without a hue, centres between pixels, boxes that overlap") {
  const Tensor hsv = Call("RGBToHSV").in(Tensor{{0.5f, 0.5f, 0.5f}, {0.f, 0.f, 0.f}, {1.f, 0.f, 0.5f}}).one();
  const Floats found = list<float>(hsv), want{0, 0, 0.5f, 0, 0, 0, 0.9166666865348816f, 1, 1};
  for (size_t i = 0; i < want.size(); ++i) CHECK(found[i] == doctest::Approx(want[i]).epsilon(1e-6));
  const Tensor image = Tensor::of<float>({1, 2, 2, 1}, {0.f, 1.f, 2.f, 3.f});
  const Tensor larger = Call("ResizeNearestNeighbor").in(image).in(Tensor{3, 3}).attr("half_pixel_centers", true).one();
  CHECK(list<float>(larger) == Floats{0, 1, 1, 2, 3, 3, 2, 3, 3});
  const Tensor boxes{{0.f, 0.f, 1.f, 1.f}, {0.f, 0.1f, 1.f, 1.1f}, {0.f, 2.f, 1.f, 3.f}};
  const Tensor kept = Call("NonMaxSuppressionV3").in(boxes).in(Tensor{0.9f, 0.8f, 0.7f}).in(Tensor(3)).in(Tensor(0.5f)).in(Tensor(0.f)).one();
  CHECK(list<int32_t>(kept) == Ints{0, 2});
}

TEST_CASE("a pixel's gradient is the sum over its copies") {
  const auto larger = [](const Tensor& x) { return Call("ResizeNearestNeighbor").in(x).in(Tensor{3, 3}).one(); };
  CHECK(gradient(larger, Tensor::of<float>({1, 2, 2, 1}, {0.f, 1.f, 2.f, 3.f}), Floats(9, 1)) == Floats{4, 2, 2, 1});
}
