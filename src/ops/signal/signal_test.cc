// Transforms of other lengths than their inputs. Numbers and texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;
using weft_engine::core::DType;

using Complexes = std::vector<std::complex<float>>;

TEST_CASE("shapes of transforms") {
  const auto six = constant<int32_t>({6}), sizes = constant<int32_t>({4, 6});
  CHECK(shapes_of("RFFT", {{DType::kFloat, {-1, 8}}, {DType::kInt32, {1}, &six}}) == "[?,4]");
  CHECK(shapes_of("RFFT", {{DType::kFloat, {-1, 8}}, {DType::kInt32, {1}}}) == "[?,?]");
  CHECK(shapes_of("IRFFT", {{DType::kComplex64, {-1, -1}}, {DType::kInt32, {1}, &six}}) == "[?,6]");
  CHECK(shapes_of("RFFT2D", {{DType::kFloat, {-1, 8}}, {DType::kInt32, {2}, &sizes}}) == "[4,4]");
  CHECK(says(shapes_of("FFT2D", {{DType::kComplex64, {-1}}}), "Shape must be at least rank 2 but is rank 1"));
}

TEST_CASE("lengths that do not fit") {
  const auto message = [](Tensor length) { return error_of([&] { Call("RFFT").in(Tensor{1.f, 2.f, 3.f}).in(length).one(); }); };
  CHECK(says(message(Tensor{4}), "Input dimension 0 must have length of at least 4 but got: 3"));
  CHECK(says(message(Tensor{1, 2}), "fft_length must have shape [1]"));
  CHECK(says(message(Tensor{-1}), "fft_length[0] must >= 0, but got: -1"));
  CHECK(says(error_of([] { Call("AudioSpectrogram").in(Tensor::of<float>({1, 1}, {1.f})).attr("window_size", 1).attr("stride", 1).one(); }),
             "Spectrogram initialization failed for window size 1 and stride 1"));
}

TEST_CASE("impulses, odd lengths, nothing") {
  const Tensor cut = Call("RFFT").in(Tensor{1.f, 0.f, 0.f, 0.f, 5.f}).in(Tensor{4}).one();
  CHECK(list<std::complex<float>>(cut) == Complexes{1, 1, 1});
  const Tensor odd = Call("IRFFT").in(Tensor::of<std::complex<float>>({2}, {{3, 0}, {0, 0}})).in(Tensor{3}).one();
  CHECK(list<float>(odd) == Floats{1, 1, 1});
  const Tensor shifted = Call("FFT").in(Tensor::of<std::complex<float>>({4}, {{0, 0}, {1, 0}, {0, 0}, {0, 0}})).one();
  const Complexes found = list<std::complex<float>>(shifted), want{{1, 0}, {0, -1}, {-1, 0}, {0, 1}};
  for (size_t i = 0; i < want.size(); ++i) CHECK(std::abs(found[i] - want[i]) < 1e-6f);
  CHECK(Call("FFT").in(Tensor::of<std::complex<float>>({0, 4}, {})).one().shape() == Longs{0, 4});
}

TEST_CASE("the gradient of a real transform counts both halves of the spectrum") {
  const auto real_part = [](const Tensor& x) { return Call("Real").in(Call("RFFT").in(x).in(Tensor{4}).one()).one(); };
  const Floats found = gradient(real_part, Tensor{1.f, 2.f, 3.f, 4.f}, {1, 10, 100}), want{111, -99, 91, -99};
  for (size_t i = 0; i < want.size(); ++i) CHECK(found[i] == doctest::Approx(want[i]));
}
