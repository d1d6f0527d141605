// Brackets of tensors and variables. The values of reads are numpy's for the same brackets on np.arange(24, dtype=np.float32).reshape(2, 3, 4),
// those of gradients and assignments are TensorFlow's.
#include <doctest/doctest.h>

#include "tests/support/api_test.h"

using namespace weft;  // NOLINT

namespace {

bool is(const Tensor& t, const std::vector<int64_t>& shape, const Floats& want) {
  if (t.shape() == shape && values(t) == want) return true;
  MESSAGE(to_string(PartialShape(t.shape())), " ", t.to_string());
  return false;
}
Tensor sample() { return reshape(cast(range(Tensor(24)), DType::float32), {2, 3, 4}); }

}  // namespace

TEST_CASE("brackets read what numpy reads") {
  const Tensor x = sample();
  CHECK(is(x[0], {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  CHECK(is(x[-1], {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}));
  CHECK(is(x[{0, _}], {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  CHECK(is(x[{_, 1}], {2, 4}, {4, 5, 6, 7, 16, 17, 18, 19}));
  CHECK(is(x[{1, 2, 3}], {}, {23}));
  CHECK(is(x[{-1, -1, -1}], {}, {23}));
  CHECK(is(x[{_, slice(1, 3)}], {2, 2, 4}, {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23}));
  CHECK(is(x[{_, slice(1, _)}], {2, 2, 4}, {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23}));
  CHECK(is(x[{_, slice(_, -1)}], {2, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19}));
  CHECK(is(x[{ellipsis, slice(0, 4, 2)}], {2, 3, 2}, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}));
  CHECK(is(x[{ellipsis, slice(_, _, -1)}], {2, 3, 4}, {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 19, 18, 17, 16, 23, 22, 21, 20}));
  CHECK(is(x[{0, slice(2, 0, -1), slice(-3, -1)}], {2, 2}, {9, 10, 5, 6}));
  CHECK(is(x[{ellipsis, 1}], {2, 3}, {1, 5, 9, 13, 17, 21}));
  CHECK(is(x[{1, ellipsis, 0}], {3}, {12, 16, 20}));
  CHECK(is(x[{newaxis, 0, _, newaxis, 3}], {1, 3, 1}, {3, 7, 11}));
  CHECK(is(x[{ellipsis, newaxis}], {2, 3, 4, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}));
  CHECK(is(x[{slice(5, 9)}], {0, 3, 4}, {}));
  CHECK(is(x[{_, slice(2, 2)}], {2, 0, 4}, {}));
  CHECK(is(x[Tensor{1, 0, 1}], {3, 3, 4},
           {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}));
  CHECK(is(x[{_, Tensor{2, -1, 0}}], {2, 3, 4}, {8, 9, 10, 11, 8, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23, 20, 21, 22, 23, 12, 13, 14, 15}));
  CHECK(is(x[{_, _, Tensor{{0, 1}, {3, -1}}}], {2, 3, 2, 2}, {0, 1, 3, 3, 4, 5, 7, 7, 8, 9, 11, 11, 12, 13, 15, 15, 16, 17, 19, 19, 20, 21, 23, 23}));
  CHECK(is(x[{Tensor{0, 1}, Tensor{2, 0}}], {2, 4}, {8, 9, 10, 11, 12, 13, 14, 15}));
  CHECK(is(x[{Tensor{0, 1}, _, Tensor{3, 1}}], {2, 3}, {3, 7, 11, 13, 17, 21}));
  CHECK(is(x[{_, Tensor{0, 2}, Tensor{3, 1}}], {2, 2}, {3, 9, 15, 21}));
  CHECK(is(x[{0, _, Tensor{3, 1}}], {2, 3}, {3, 7, 11, 1, 5, 9}));
  CHECK(is(x[{_, 0, Tensor{3, 1}}], {2, 2}, {3, 1, 15, 13}));
  CHECK(is(x[{ellipsis, Tensor{-1}}], {2, 3, 1}, {3, 7, 11, 15, 19, 23}));
  CHECK(is(x[{newaxis, _, Tensor{1}}], {1, 2, 1, 4}, {4, 5, 6, 7, 16, 17, 18, 19}));
  CHECK(is(x[{Tensor{{0}, {1}}, Tensor{0, 2}}], {2, 2, 4}, {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23}));
  CHECK(is(x[{slice(1, _), Tensor{0, 2}}], {1, 2, 4}, {12, 13, 14, 15, 20, 21, 22, 23}));
  CHECK(is(x[x > 20.f], {3}, {21, 22, 23}));
  CHECK(is(x[Tensor{false, true}], {1, 3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}));
  CHECK(is(x[Tensor{{true, false, true}, {false, false, true}}], {3, 4}, {0, 1, 2, 3, 8, 9, 10, 11, 20, 21, 22, 23}));
  CHECK(is(x[{_, Tensor{true, false, true}}], {2, 2, 4}, {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23}));
  CHECK(is(x[{0, Tensor{true, false, true}, slice(0, 2)}], {2, 2}, {0, 1, 8, 9}));
  CHECK(is(x[{ellipsis, Tensor{false, false, true, true}}], {2, 3, 2}, {2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23}));
  CHECK(is(x[x > 100.f], {0}, {}));
  CHECK(is(x[{Tensor(1), Tensor(int64_t(-1))}], {4}, {20, 21, 22, 23}));
  CHECK(is(x[{_, slice(Tensor(1), Tensor(int64_t(3)))}], {2, 2, 4}, {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23}));
}

TEST_CASE("wrong brackets throw") {
  const Tensor x = sample();
  CHECK(has(message_of([&] { x[2]; }), "slice index 2 of dimension 0 out of bounds"));
  CHECK(has(message_of([&] { x[{0, 0, 0, 0}]; }), "Index out of range using input dim 3; input has only 3 dims"));
  CHECK(has(message_of([&] { x[{ellipsis, 0, ellipsis}]; }), "only one ellipsis"));
  CHECK(has(message_of([&] { x[{ellipsis, Tensor{0}, ellipsis}]; }), "only one ellipsis"));
  CHECK(has(message_of([&] { x[{slice(0, 2, 0)}]; }), "strides[0] must be non-zero"));
  CHECK(has(message_of([&] { x[Tensor(1.5f)]; }), "only integers, slices"));
  CHECK(has(message_of([&] { x[Tensor{0, 5}]; }), "indices[1] = 5 is not in [0, 2)"));
  CHECK(has(message_of([&] { x[Tensor{0, -5}]; }), "is not in [0, 2)"));
  CHECK(has(message_of([&] { x[Tensor{true, false, true}]; }), "a mask of size 3 does not fit dimension 0 of size 2"));
  CHECK(has(message_of([&] { x[{_, Tensor{true, false}}]; }), "a mask of size 2 does not fit a dimension of size 3"));
  CHECK(has(message_of([&] { x[{Tensor{0}, 0, 0, 0}]; }), "too many indices"));
  CHECK(has(message_of([&] { Tensor()[0]; }), "without a value"));
}

TEST_CASE("brackets in a traced function, also of unknown size") {
  auto f = function(
      [](Tensor x) {
        return x[{slice(_, _, -1), newaxis, 1}] + x[Tensor{-1, 0}][{_, newaxis, 0}] + x[{_, Tensor{true, false, true}}][{ellipsis, 0}][{_, newaxis}];
      },
      {.input_signature = {{"x", DType::float32, {-1, 3}}}});
  // x = np.arange(6).reshape(2, 3): x[::-1, None, 1] + x[[-1, 0]][:, None, 0] + x[:, [True, False, True]][..., 0][:, None]
  CHECK(is(f(Tensor{{0.f, 1.f, 2.f}, {3.f, 4.f, 5.f}}), {2, 1}, {7, 4}));
  auto masked = function([](Tensor x) { return x[x > 2.f]; }, {.input_signature = {{"x", DType::float32, {-1, -1}}}});
  CHECK(is(masked(Tensor{{0.f, 3.f}, {5.f, 1.f}}), {2}, {3, 5}));
  auto dynamic = function([](Tensor x, Tensor from) { return x[{slice(from, _)}]; });
  CHECK(is(dynamic(Tensor{1.f, 2.f, 3.f}, Tensor(1)), {2}, {2, 3}));
}

TEST_CASE("gradients flow through brackets") {
  Variable v(sample());
  const auto gradient = [&](const std::function<Tensor()>& f) {
    GradientTape tape;
    const Tensor y = f();
    return Tensor(tape.gradient(y, v));
  };
  // tape.gradient(tf.reduce_sum(v[0, ::2, 1] * [2., 3.]), v)
  Floats want(24, 0.f);
  want[1] = 2, want[9] = 3;
  CHECK(is(gradient([&] { return reduce_sum(v[{0, slice(_, _, 2), 1}] * Tensor{2.f, 3.f}); }), {2, 3, 4}, want));
  // tf.gather(v, [1, 1], axis=0): rows are counted twice
  Floats twice(24, 0.f);
  for (size_t i = 12; i < 24; ++i) twice[i] = 2;
  CHECK(is(gradient([&] { return reduce_sum(v.value()[Tensor{1, -1}]); }), {2, 3, 4}, twice));
  // tf.boolean_mask(v, v > 21) ** 2
  Floats large(24, 0.f);
  large[22] = 44, large[23] = 46;
  CHECK(is(gradient([&] { return reduce_sum(square(v.value()[v > Tensor(21.f)])); }), {2, 3, 4}, large));
  auto traced = function([&](Tensor x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = reduce_sum(square(x[{1, _}]) + x[{Tensor{0, 0}, Tensor{1, 2}}][0]);
    return Tensor(tape.gradient(y, x));
  });
  // x = [[1, 2, 3], [4, 5, 6]]: 2 * x[1], and three times one at x[0, 1]
  CHECK(is(traced(Tensor{{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}), {2, 3}, {0, 3, 0, 8, 10, 12}));
}

TEST_CASE("parts of variables are assigned") {
  Variable v(Tensor{{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  v[{0, _}].assign(Tensor{7.f, 8.f, 9.f});
  CHECK(values(v) == Floats{7, 8, 9, 4, 5, 6});
  v[{_, slice(_, _, 2)}].assign(Tensor{{0.f, 1.f}, {2.f, 3.f}});
  CHECK(values(v) == Floats{0, 8, 1, 2, 5, 3});
  v[{1, -1}] += Tensor(10.f);
  v[0] -= Tensor{1.f, 1.f, 1.f};
  v[{_, 1}] *= Tensor(2.f);
  CHECK(values(v) == Floats{-1, 14, 0, 2, 10, 13});
  v[{1, slice(0, 2)}].assign_add(Tensor{1.f, 1.f}).assign_add(ones({2, 3}));
  CHECK(values(v) == Floats{0, 15, 1, 4, 12, 14});
  v[Tensor{-1}].assign(Tensor{{1.f, 2.f, 3.f}});
  CHECK(values(v) == Floats{0, 15, 1, 1, 2, 3});
  v[v > Tensor(2.f)].assign(Tensor(-1.f));  // a scalar for all of them
  CHECK(values(v) == Floats{0, -1, 1, 1, 2, -1});
  v[{_, Tensor{2, 0}}] /= Tensor(2.f);
  CHECK(values(v) == Floats{0, -1, 0.5f, 0.5f, 2, -0.5f});
  CHECK(values(Tensor(v[{1, _}]) + 1.f) == Floats{1.5f, 3, 0.5f});
  CHECK(has(message_of([&] { v[{0, _}].assign(Tensor{1.f, 2.f}); }), "shape"));
  CHECK(has(message_of([&] { v[5].assign(Tensor{1.f, 2.f, 3.f}); }), "out of bounds"));
  auto step = function([&](Tensor x) {
    v[{0, slice(0, 2)}].assign(x);
    v[1] += Tensor{1.f, 1.f, 1.f};
    return v.value();
  });
  CHECK(values(step(Tensor{4.f, 5.f})) == Floats{4, 5, 0.5f, 1.5f, 3, 0.5f});
  CHECK(values(step(Tensor{6.f, 7.f})) == Floats{6, 7, 0.5f, 2.5f, 4, 1.5f});
}

TEST_CASE("rows in turn") {
  Floats sums;
  for (const Tensor& row : Tensor{{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}) sums.push_back(reduce_sum(row).item<float>());
  CHECK(sums == Floats{3, 7, 11});
  auto f = function([](Tensor x) {
    Tensor total = zeros({2});
    for (Tensor row : x) total = total * 2.f + row;
    return total;
  });
  CHECK(values(f(Tensor{{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}})) == Floats{15, 22});
  CHECK(has(message_of([] {
              for (Tensor t : Tensor(1.f)) (void)t;
            }),
            "iteration over a tensor without dimensions"));
}
