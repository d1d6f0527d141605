// The fast ways of a float convolution (Winograd, direct, oneDNN) against the plain one in double.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <random>

#include <weft/weft.h>

using weft::Call;
using weft::DType;
using weft::Tensor;
using Ints = std::vector<int64_t>;

namespace {

Tensor floats(Ints shape, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(size_t(std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>())));
  for (float& x : v) x = normal(rng);
  return Tensor::of<float>(shape, v);
}
Tensor wide(const Tensor& t) { return Call("Cast").in(t).attr("DstT", DType::float64).one(); }
Tensor sizes(const Ints& s) {
  std::vector<int32_t> v(s.begin(), s.end());
  return Tensor::of<int32_t>({int64_t(v.size())}, v);
}

// Rounding errors of sums of `terms` products of normal numbers.
void check(const Tensor& got, const Tensor& want, int64_t terms) {
  REQUIRE(got.shape() == want.shape());
  const auto a = got.data<float>();
  const auto b = want.data<double>();
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(double(a[i]) - b[i]));
  CHECK(worst <= 2e-5 * std::sqrt(double(terms)));
}

struct Case {
  Ints in, filter;
  int64_t stride = 1, dilation = 1;
  const char* padding = "SAME";
  Ints pads = {};
};

const Case kCases[] = {
    {{2, 16, 16, 16}, {3, 3, 16, 16}},
    {{1, 14, 14, 32}, {3, 3, 32, 64}},
    {{3, 9, 13, 17}, {3, 3, 17, 33}},
    {{2, 16, 12, 40}, {3, 3, 40, 24}, 1, 1, "VALID"},
    {{2, 15, 15, 16}, {3, 3, 16, 20}, 1, 1, "EXPLICIT", {0, 0, 2, 1, 0, 2, 0, 0}},
    {{4, 30, 31, 64}, {3, 3, 64, 48}},
    {{1, 28, 28, 1}, {3, 3, 1, 32}},
    {{2, 28, 28, 1}, {3, 3, 1, 10}},
    {{1, 32, 32, 3}, {3, 3, 3, 16}},
    {{2, 17, 19, 3}, {7, 7, 3, 64}, 2},
    {{1, 32, 32, 16}, {3, 3, 16, 32}, 2},
    {{2, 16, 16, 32}, {3, 3, 32, 64}, 2, 1, "VALID"},
    {{2, 11, 7, 5}, {5, 3, 5, 7}},
    {{2, 20, 20, 8}, {3, 3, 8, 40}, 1, 2},
    {{3, 8, 8, 20}, {1, 1, 20, 50}},
    {{3, 8, 8, 20}, {1, 1, 20, 50}, 2},
    {{2, 12, 12, 24}, {3, 3, 6, 32}},  // four groups
    {{1, 5, 5, 4}, {5, 5, 4, 100}, 1, 1, "VALID"},
    {{2, 1, 40, 6}, {1, 9, 6, 18}},
    {{2, 6, 5, 3}, {2, 2, 3, 4}, 3},
};

Call& with_attrs(Call& call, const Case& c) {
  return call.attr("strides", Ints{1, c.stride, c.stride, 1})
      .attr("dilations", Ints{1, c.dilation, c.dilation, 1})
      .attr("padding", c.padding)
      .attr("explicit_paddings", c.pads);
}

}  // namespace

TEST_CASE("convolutions and their gradients agree with the plain ones in double") {
  int number = 0;
  for (const Case& c : kCases) {
    CAPTURE(number++);
    const Tensor x = floats(c.in, 1), f = floats(c.filter, 2);
    Call exact("Conv2D");
    exact.in(wide(x)).in(wide(f));
    const Tensor want = with_attrs(exact, c).one();
    Call fast("Conv2D");
    fast.in(x).in(f);
    const int64_t patch = c.filter[0] * c.filter[1] * c.filter[2];
    check(with_attrs(fast, c).one(), want, patch);

    const Tensor dy = floats(want.shape(), 3);
    Call exact_input("Conv2DBackpropInput"), fast_input("Conv2DBackpropInput");
    exact_input.in(sizes(c.in)).in(wide(f)).in(wide(dy));
    fast_input.in(sizes(c.in)).in(f).in(dy);
    check(with_attrs(fast_input, c).one(), with_attrs(exact_input, c).one(), c.filter[0] * c.filter[1] * c.filter[3]);

    Call exact_filter("Conv2DBackpropFilter"), fast_filter("Conv2DBackpropFilter");
    exact_filter.in(wide(x)).in(sizes(c.filter)).in(wide(dy));
    fast_filter.in(x).in(sizes(c.filter)).in(dy);
    check(with_attrs(fast_filter, c).one(), with_attrs(exact_filter, c).one(), dy.size() / dy.shape().back());
  }
}

TEST_CASE("a fused convolution is the convolution, then the rest") {
  int number = 0;
  for (const Case& c : kCases) {
    CAPTURE(number++);
    const Tensor x = floats(c.in, 1), f = floats(c.filter, 2), bias = floats({c.filter[3]}, 3);
    Call exact("Conv2D");
    exact.in(wide(x)).in(wide(f));
    const Tensor plain = with_attrs(exact, c).one();
    auto fused = [&](std::vector<std::string> ops, const std::vector<Tensor>& args) {
      Call call("_FusedConv2D");
      call.in(x).in(f).in(args).in(std::vector<Tensor>{}).attr("num_args", int64_t(args.size())).attr("fused_ops", ops).attr("epsilon", 1e-3f);
      return with_attrs(call, c).one();
    };
    const int64_t patch = c.filter[0] * c.filter[1] * c.filter[2];
    const Tensor biased = Call("BiasAdd").in(plain).in(wide(bias)).one();
    check(fused({"BiasAdd"}, {bias}), biased, patch);
    check(fused({"BiasAdd", "Relu"}, {bias}), Call("Relu").in(biased).one(), patch);
    check(fused({"BiasAdd", "Elu"}, {bias}), Call("Elu").in(biased).one(), patch);
    // scale, offset, mean and variance; |x| keeps the variance positive
    const Tensor mean = floats({c.filter[3]}, 5), variance = Call("Square").in(floats({c.filter[3]}, 6)).one();
    const Tensor scale = Call("RealDiv").in(wide(bias)).in(Call("Sqrt").in(Call("AddV2").in(wide(variance)).in(Tensor(1e-3)).one()).one()).one();
    const Tensor centred = Call("Mul").in(Call("Sub").in(plain).in(wide(mean)).one()).in(scale).one();
    check(fused({"FusedBatchNorm", "Relu6"}, {bias, mean, mean, variance}), Call("Relu6").in(Call("AddV2").in(centred).in(wide(mean)).one()).one(),
          patch * 1000);
  }
}
