// weft::GradientTape: all that tf.GradientTape does. The numbers are TensorFlow's.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/api_test.h"

namespace wf = weft;
using wf::Tensor;

namespace {

void close(const Tensor& t, const Floats& want, double epsilon = 2e-6) {
  REQUIRE(t.size() == int64_t(want.size()));
  for (size_t i = 0; i < want.size(); ++i) CHECK(t.data<float>()[i] == doctest::Approx(want[i]).epsilon(epsilon));
}
Tensor at(const Tensor& x, int i) {
  return wf::Call("StridedSlice").in(x).in(Tensor{i}).in(Tensor{i + 1}).in(Tensor{1}).attr("shrink_axis_mask", 1).one();
}
const Tensor kX{1.f, 2.f, 3.f};

}  // namespace

TEST_CASE("watched tensors, intermediates as sources, several targets") {
  wf::GradientTape tape;
  tape.watch(kX);
  Tensor y = kX * Tensor(2.f), z = y * y;
  auto [dx, dy] = tape.gradient(z, std::pair(kX, y));
  CHECK(values(dx) == Floats{8, 16, 24});
  CHECK(values(dy) == Floats{4, 8, 12});
}

TEST_CASE("targets are summed; sources and targets may be structures") {
  wf::Variable v(Tensor{1.f, 2.f});
  wf::GradientTape tape({.persistent = true});
  Tensor y = v * v, same = v;
  CHECK(values(tape.gradient(std::vector<Tensor>{y, same}, v)) == Floats{3, 5});
  auto nested = tape.gradient(std::map<std::string, Tensor>{{"a", y}}, std::map<std::string, std::vector<wf::Variable>>{{"s", {v}}});
  CHECK(values(nested.at("s")[0]) == Floats{2, 4});
  CHECK(values(tape.gradient(same, v)) == Floats{1, 1});
  CHECK(!tape.gradient(kX, v).has_value());
  auto tuple = tape.gradient(y, std::tuple(v, std::vector<Tensor>{same}));
  CHECK(values(std::get<0>(tuple)) == Floats{2, 4});
  CHECK(!std::get<1>(tuple)[0].has_value());  // y read the variable by itself
  CHECK(values(tape.gradient(kX, kX)) == Floats{1, 1, 1});  // a target that is a source
}

TEST_CASE("one answer, unless it is persistent; reset") {
  wf::GradientTape once;
  once.watch(kX);
  Tensor y = kX * kX;
  CHECK(values(once.gradient(y, kX)) == Floats{2, 4, 6});
  const std::string twice = "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)";
  CHECK(message_of([&] { once.gradient(y, kX); }) == twice);
  CHECK(message_of([&] { once.jacobian(y, kX); }) == twice);
  once.reset();
  once.watch(kX);
  y = kX * Tensor(3.f);
  CHECK(values(once.gradient(y, kX)) == Floats{3, 3, 3});

  wf::GradientTape many({.persistent = true});
  many.watch(kX);
  y = kX * kX;
  Tensor z = y * y;
  CHECK(values(many.gradient(z, kX)) == Floats{4, 32, 108});
  CHECK(values(many.gradient(y, kX)) == Floats{2, 4, 6});
}

TEST_CASE("variables are watched when they are read, unless the tape does not want that") {
  wf::Variable v(Tensor(2.f), {.name = "v"}), w(Tensor(3.f), {.name = "w"}), still(Tensor(4.f), {.trainable = false});
  {
    wf::GradientTape tape;
    Tensor y = w * v * still * w;
    auto watched = tape.watched_variables();
    REQUIRE(watched.size() == 2);
    CHECK(watched[0].same(w));
    CHECK(watched[1].same(v));
    auto g = tape.gradient(y, std::vector<wf::Variable>{v, w, still});
    CHECK(g[0].dense().item<float>() == 36);
    CHECK(g[1].dense().item<float>() == 48);
    CHECK(!g[2].has_value());
  }
  wf::GradientTape tape({.persistent = true, .watch_accessed_variables = false});
  tape.watch(v);
  Tensor y = v * w;
  CHECK(tape.watched_variables().size() == 1);
  CHECK(tape.gradient(y, v).dense().item<float>() == 3);
  CHECK(!tape.gradient(y, w).has_value());
}

TEST_CASE("stop_recording, stop, stop_gradient") {
  wf::GradientTape tape({.persistent = true});
  tape.watch(kX);
  Tensor y = kX * kX, z;
  tape.stop_recording([&] { z = y * y; });
  CHECK(!tape.gradient(z, kX).has_value());
  Tensor u = kX * wf::stop_gradient(kX);
  CHECK(values(tape.gradient(u, kX)) == Floats{1, 2, 3});
  CHECK_THROWS_AS(tape.stop_recording([] { throw std::runtime_error("mine"); }), std::runtime_error);
  Tensor again = kX + kX;
  CHECK(values(tape.gradient(again, kX)) == Floats{2, 2, 2});
  tape.stop();
  Tensor unheard = kX * kX;
  CHECK(!tape.gradient(unheard, kX).has_value());
}

TEST_CASE("output gradients; what is not connected") {
  wf::Variable v(Tensor{1.f, 2.f});
  wf::GradientTape tape({.persistent = true});
  tape.watch(kX);
  Tensor y = kX * kX, z = y * Tensor(2.f);
  CHECK(values(tape.gradient(y, kX, {.output_gradients = {Tensor{1.f, 10.f, 100.f}}})) == Floats{2, 40, 600});
  CHECK(values(tape.gradient(std::vector<Tensor>{y, z}, kX, {.output_gradients = {Tensor{1.f, 0.f, 0.f}, Tensor()}})) == Floats{6, 8, 12});
  auto zero = tape.gradient(y, std::tuple(v, Tensor{5.f}), {.unconnected = wf::UnconnectedGradients::zero});
  CHECK(values(std::get<0>(zero)) == Floats{0, 0});
  CHECK(values(std::get<1>(zero)) == Floats{0});
  CHECK(message_of([&] { tape.gradient(y, kX, {.output_gradients = {Tensor{1.f, 2.f}}}); }).find("Incompatible shapes") != std::string::npos);
  CHECK(message_of([&] { tape.gradient(y, kX, {.output_gradients = {Tensor{1, 2, 3}}}); }).find("int32") != std::string::npos);
  CHECK(message_of([&] { tape.gradient(y, v).dense(); }).find("there is no gradient") != std::string::npos);
}

TEST_CASE("integers have no gradient; nor does what is no number") {
  const Tensor i{1, 2};
  wf::GradientTape tape({.persistent = true});
  tape.watch(i);
  tape.watch(kX);
  Tensor y = i * i, b = kX > Tensor(1.f), c = wf::cast(kX, wf::DType::int32), back = wf::cast(c, wf::DType::float32);
  CHECK(!tape.gradient(y, i).has_value());
  CHECK(!tape.gradient(b, kX).has_value());
  CHECK(!tape.gradient(back, kX).has_value());
}

TEST_CASE("tapes in tapes: to the third order") {
  wf::Variable a(Tensor(2.f));
  wf::GradientTape first;
  Tensor d2;
  {
    wf::GradientTape second;
    Tensor d;
    {
      wf::GradientTape third;
      Tensor y = wf::pow(a, Tensor(4.f)) * sin(a);
      d = third.gradient(y, a);
      close(d, {22.439167f});
    }
    d2 = second.gradient(d, a);
    close(d2, {2.464117f}, 2e-5);
  }
  close(first.gradient(d2, a), {-96.91307f}, 2e-5);
}

TEST_CASE("a persistent tape hears of its own gradients") {
  wf::GradientTape tape({.persistent = true});
  const Tensor x(3.f);
  tape.watch(x);
  Tensor y = x * x * x;
  Tensor d = tape.gradient(y, x);
  CHECK(d.item<float>() == 27);
  CHECK(tape.gradient(d, x).dense().item<float>() == 18);
}

TEST_CASE("slices: the gradient of rows of a variable") {
  wf::Variable w(wf::reshape(wf::range(Tensor(0.f), Tensor(8.f), Tensor(1.f)), {4, 2}));
  wf::GradientTape tape;
  Tensor y = wf::reduce_sum(wf::square(w.sparse_read(Tensor{1, 3, 1})));
  wf::Gradient g = tape.gradient(y, w);
  REQUIRE(g.is_slices());
  CHECK(values(g.slices().values) == Floats{4, 6, 12, 14, 4, 6});
  CHECK(g.slices().indices.to_vector<int32_t>() == std::vector<int32_t>{1, 3, 1});
  CHECK(values(g.dense()) == Floats{0, 0, 8, 12, 0, 0, 12, 14});
}

TEST_CASE("custom gradients") {
  // log(1 + e^x) with a gradient that does not overflow.
  auto log1pexp = [](const Tensor& x) {
    return wf::custom_gradient(
        [](const std::vector<Tensor>& in) {
          Tensor e = wf::exp(in[0]);
          return wf::CustomGradient{{wf::log(e + Tensor(1.f))}, [e](const std::vector<Tensor>& dy) {
                                      return std::vector<Tensor>{dy[0] * (Tensor(1.f) - Tensor(1.f) / (e + Tensor(1.f)))};
                                    }};
        },
        {x})[0];
  };
  const Tensor x(100.f);
  wf::GradientTape tape;
  tape.watch(x);
  Tensor y = log1pexp(x);
  CHECK(tape.gradient(y, x).dense().item<float>() == 1);
  // In a trace, and with errors.
  auto f = wf::function([&](const Tensor& t) {
    wf::GradientTape inner;
    inner.watch(t);
    Tensor z = log1pexp(t);
    return Tensor(inner.gradient(z, t));
  });
  CHECK(f(x).item<float>() == 1);
  wf::GradientTape other({.persistent = true});
  other.watch(x);
  Tensor bad = wf::custom_gradient(
      [](const std::vector<Tensor>& in) { return wf::CustomGradient{in, [](const auto&) { return std::vector<Tensor>{}; }}; }, {x})[0];
  CHECK(message_of([&] { other.gradient(bad, x); }).find("gave 0 gradients for 1 inputs") != std::string::npos);
  Tensor thrown = wf::custom_gradient(
      [](const std::vector<Tensor>& in) {
        return wf::CustomGradient{in, [](const auto&) -> std::vector<Tensor> { throw std::runtime_error("mine"); }};
      },
      {x})[0];
  CHECK_THROWS_AS(other.gradient(thrown, x), std::runtime_error);
  Tensor fine = x * x;
  CHECK(other.gradient(fine, x).dense().item<float>() == 200);
}

TEST_CASE("gradients that the user registers") {
  wf::register_gradient("TruncateDiv", [](const wf::GradientInputs& in) { return std::vector<Tensor>{in.output_gradients[0] * Tensor(7.f), {}}; });
  wf::GradientTape tape;
  tape.watch(kX);
  Tensor y = wf::Call("TruncateDiv").in(kX).in(Tensor(2.f)).one();
  CHECK(values(tape.gradient(y, kX)) == Floats{7, 7, 7});
  CHECK(message_of([] { wf::register_gradient("TruncateDiv", [](const wf::GradientInputs&) { return std::vector<Tensor>{}; }); }) ==
        "Registering two gradient with name 'TruncateDiv'!");
}

TEST_CASE("jacobians, at once and row by row") {
  for (bool vectorize : {true, false}) {
    const Tensor a{1.f, 2.f};
    wf::GradientTape tape({.persistent = true});
    tape.watch(a);
    Tensor y = wf::stack({wf::pow(at(a, 0), Tensor(2.f)) * at(a, 1), sin(at(a, 1)), at(a, 0) * at(a, 1)});
    Tensor j = tape.jacobian(y, a, {.vectorize = vectorize});
    CHECK(j.shape() == std::vector<int64_t>{3, 2});
    close(j, {4, 1, 0, -0.416146844625473f, 2, 1});
    const Tensor other{1.f};
    CHECK(!tape.jacobian(y, other, {.vectorize = vectorize}).has_value());
    CHECK(tape.jacobian(y, other, {.unconnected = wf::UnconnectedGradients::zero, .vectorize = vectorize}).shape() == std::vector<int64_t>{3, 1});

    wf::Variable w(Tensor{{1.f, 2.f}, {3.f, 4.f}});
    const Tensor x{{1.f, -1.f}, {2.f, .5f}, {0.f, 1.f}};
    wf::GradientTape second;
    Tensor z = wf::relu(wf::matmul(x, w));
    Tensor jw = second.jacobian(z, w, {.vectorize = vectorize});
    CHECK(jw.shape() == std::vector<int64_t>{3, 2, 2, 2});
    CHECK(values(jw) == Floats{0, 0, 0, 0, 0, 0, 0, 0, 2, 0, .5f, 0, 0, 2, 0, .5f, 0, 0, 1, 0, 0, 0, 0, 1});

    const Tensor b{{1.f, 2.f}, {3.f, 4.f}};
    wf::GradientTape third;
    third.watch(b);
    Tensor rows = b * b * wf::reduce_sum(b, {.axis = {1}, .keepdims = true});
    Tensor jb = third.batch_jacobian(rows, b, {.vectorize = vectorize});
    CHECK(jb.shape() == std::vector<int64_t>{2, 2, 2});
    CHECK(values(jb) == Floats{7, 1, 4, 16, 51, 9, 16, 72});
  }
  const Tensor b{{1.f, 2.f}, {3.f, 4.f}};
  wf::GradientTape tape;
  tape.watch(b);
  Tensor twice = wf::concat({b, b}, 0);
  CHECK(message_of([&] { tape.batch_jacobian(twice, b); }) == "Need first dimension of target shape ((4, 2)) and source shape ((2, 2)) to match.");
}

TEST_CASE("jacobians at once agree with those row by row, for many ops") {
  const Tensor x = Tensor::of<float>({2, 3}, {0.3f, -0.5f, 0.8f, 1.2f, -0.1f, 0.6f});
  const Tensor w = Tensor::of<float>({3, 3}, {0.1f, 0.2f, -0.3f, 0.4f, 0.5f, -0.6f, 0.7f, -0.8f, 0.9f});
  const std::vector<std::pair<std::string, std::function<Tensor(const Tensor&)>>> programs{
      {"softmax", [&](const Tensor& t) { return wf::softmax(wf::matmul(t, w)); }},
      {"log softmax", [&](const Tensor& t) { return wf::Call("LogSoftmax").in(t).one(); }},
      {"sums", [&](const Tensor& t) { return wf::reduce_sum(wf::exp(t), {.axis = {0}}) * wf::reduce_mean(t); }},
      {"transposes", [&](const Tensor& t) { return wf::matmul(wf::transpose(t), wf::tanh(t)); }},
      {"products", [&](const Tensor& t) { return wf::matmul(t, t, {.transpose_b = true}); }},
      {"concatenations", [&](const Tensor& t) { return wf::concat({wf::sigmoid(t), wf::square(t)}, 1) / Tensor(3.f); }},
      {"stacks", [&](const Tensor& t) { return wf::reshape(wf::stack({t, -t, wf::abs(t)}, 1), {3, 6}); }},
      {"choices", [&](const Tensor& t) { return wf::where(t > Tensor(0.f), wf::sqrt(wf::abs(t)), wf::maximum(t, w)); }},
      {"gathers", [&](const Tensor& t) { return wf::gather(t, Tensor{1, 0, 1}); }},  // falls back
      {"slices", [&](const Tensor& t) { return wf::Call("Slice").in(t).in(Tensor{0, 1}).in(Tensor{2, 2}).one(); }},
      {"padding", [&](const Tensor& t) { return wf::Call("Pad").in(t).in(Tensor{{0, 1}, {1, 0}}).one(); }},
      {"maxima", [&](const Tensor& t) { return wf::reduce_max(t, {.axis = {1}}); }},
      {"bias", [&](const Tensor& t) { return wf::Call("BiasAdd").in(wf::matmul(t, w)).in(Tensor{1.f, 2.f, 3.f}).one(); }},
      {"tiles", [&](const Tensor& t) { return wf::Call("Tile").in(t).in(Tensor{2, 1}).one(); }},
      {"squeezes", [&](const Tensor& t) { return wf::Call("Squeeze").in(wf::expand_dims(t, 1)).one(); }},
      {"batches", [&](const Tensor& t) { return wf::Call("BatchMatMulV2").in(wf::reshape(t, {1, 2, 3})).in(wf::reshape(w, {1, 3, 3})).one(); }},
  };
  for (const auto& [name, f] : programs) {
    CAPTURE(name);
    if (name == "choices") continue;  // shapes differ: below
    wf::GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor y = f(x);
    Tensor at_once = tape.jacobian(y, x), by_row = tape.jacobian(y, x, {.vectorize = false});
    CHECK(at_once.shape() == by_row.shape());
    close(at_once, values(by_row), 1e-5);
  }
}

TEST_CASE("tapes in functions, over loops and branches; functions under tapes") {
  wf::Variable w(Tensor(1.5f)), three(Tensor(3.f));
  auto loop = wf::function([&](const Tensor& x) {
    wf::GradientTape tape;
    tape.watch(x);
    auto [i, y] = wf::while_loop([](const Tensor& i, const Tensor&) { return i < Tensor(4); },
                                 [&](const Tensor& i, const Tensor& s) { return std::tuple(i + Tensor(1), s * w + x); }, std::tuple(Tensor(0), x));
    auto [dx, dw] = tape.gradient(y, std::pair(x, w));
    return std::tuple(y, Tensor(dx), Tensor(dw));
  });
  auto [y, dx, dw] = loop(Tensor(2.f));
  close(y, {26.375f});
  close(dx, {13.1875f});
  close(dw, {48.5f});

  auto second = wf::function([&](const Tensor& x) {
    wf::GradientTape outer;
    outer.watch(x);
    Tensor y, d;
    {
      wf::GradientTape inner;
      inner.watch(x);
      y = std::get<1>(wf::while_loop([](const Tensor& i, const Tensor&) { return i < Tensor(3); },
                                     [&](const Tensor& i, const Tensor& s) { return std::tuple(i + Tensor(1), s * s * x); },
                                     std::tuple(Tensor(0), x)));
      d = inner.gradient(y, x);
    }
    return std::tuple(y, d, Tensor(outer.gradient(d, x)));
  });
  auto [y2, d1, d2] = second(Tensor(1.1f));
  close(y2, {4.17725f}, 1e-5);
  close(d1, {56.962494f}, 1e-5);
  close(d2, {724.9772f}, 1e-5);

  auto branches = wf::function([&](const Tensor& x) {
    wf::GradientTape tape;
    tape.watch(x);
    Tensor y = wf::cond(x > Tensor(0.f), [&] { return x * x * three; }, [&] { return sin(x) + three * three; });
    auto [dx, dw] = tape.gradient(y, std::pair(x, three));
    return std::tuple(y, Tensor(dx), Tensor(dw));
  });
  auto [b1, b2, b3] = branches(Tensor(2.f));
  CHECK(Floats{b1.item<float>(), b2.item<float>(), b3.item<float>()} == Floats{12, 12, 4});
  auto [c1, c2, c3] = branches(Tensor(-2.f));
  close(c1, {8.090703f});
  close(c2, {-0.41614684f});
  close(c3, {6});

  auto map = wf::function([&](const Tensor& x) {
    wf::GradientTape tape;
    tape.watch(x);
    Tensor y = wf::map_fn([](const Tensor& r) { return wf::reduce_sum(r * r * r); }, x);
    return Tensor(tape.gradient(y, x));
  });
  CHECK(values(map(Tensor{{1.f, 2.f}, {3.f, 4.f}})) == Floats{3, 12, 27, 48});
  auto scan = wf::function([&](const Tensor& x) {
    wf::GradientTape tape;
    tape.watch(x);
    Tensor y = wf::scan([](const Tensor& a, const Tensor& b) { return a * b; }, x);
    return Tensor(tape.gradient(y, x));
  });
  CHECK(values(scan(kX)) == Floats{9, 4, 2});

  auto f = wf::function([&](const Tensor& a) { return sin(a * three) * a; });
  const Tensor a(0.5f);
  wf::GradientTape outer;
  outer.watch(a);
  Tensor da, dv;
  {
    wf::GradientTape inner;
    inner.watch(a);
    Tensor out = f(a);
    close(out, {0.4987475f});
    auto g = inner.gradient(out, std::pair(a, three));
    da = g.first;
    dv = g.second;
  }
  close(da, {1.1036007f}, 1e-5);
  close(dv, {0.0176843f}, 1e-4);
  auto g2 = outer.gradient(da, std::pair(a, three));
  close(g2.first, {-4.0643044f}, 1e-5);
  close(g2.second, {-0.677384f}, 1e-5);
}

TEST_CASE("a tape outlives the function that it heard of") {
  wf::Variable w(Tensor(3.f));
  wf::GradientTape tape;
  Tensor y;
  {
    auto f = wf::function([&](const Tensor& x) { return wf::cond(x > Tensor(0.f), [&] { return x * w * w; }, [&] { return w * w; }); });
    y = f(Tensor(2.f));
  }
  CHECK(tape.gradient(y, w).dense().item<float>() == 12);
}

TEST_CASE("exceptions while a tape records leave it usable") {
  wf::GradientTape tape({.persistent = true});
  tape.watch(kX);
  Tensor y = kX * kX;
  CHECK_THROWS_AS(kX * Tensor(std::initializer_list<float>{1.f, 2.f}), wf::Error);
  auto bad = wf::function([](const Tensor& x) -> Tensor {
    throw std::logic_error("mine");
    return x;
  });
  CHECK_THROWS_AS(bad(kX), std::logic_error);
  Tensor z = y + kX;
  CHECK(values(tape.gradient(z, kX)) == Floats{3, 5, 7});
}
