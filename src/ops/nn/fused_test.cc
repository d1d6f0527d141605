// The engine's own fused ops against the single ops that they stand for.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include <weft/weft.h>

#include "engine/engine.h"
#include "op/op_traits.h"
#include "op/registry.h"

using weft::Call;
using weft::Tensor;
using Shape = std::vector<int64_t>;

namespace {

Tensor floats(Shape shape, unsigned seed, float shift = 0) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(size_t(std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>())));
  for (float& x : v) x = shift ? std::fabs(normal(rng)) + shift : normal(rng);
  return Tensor::of<float>(shape, v);
}

std::string cat(const char* name, const char* operands) { return std::string(name) + operands; }
std::string cat(const char* name, int a, const char* b) { return name + std::to_string(a) + b; }

Tensor op(const char* name, const Tensor& a) { return Call(name).in(a).one(); }
Tensor op(const char* name, const Tensor& a, const Tensor& b) { return Call(name).in(a).in(b).one(); }

void check_same(const Tensor& got, const Tensor& want) {
  REQUIRE(got.shape() == want.shape());
  const auto a = got.data<float>(), b = want.data<float>();
  CHECK(std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}
void check_near(const Tensor& got, const Tensor& want, float tolerance = 2e-5f) {
  REQUIRE(got.shape() == want.shape());
  const auto a = got.data<float>(), b = want.data<float>();
  float worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]) / (1 + std::fabs(b[i])));
  CHECK(worst <= tolerance);
}

std::vector<Tensor> program(const std::vector<Tensor>& in, std::vector<std::string> steps, std::vector<int64_t> results,
                            std::vector<float> constants = {}) {
  return Call("_WeftFusedElementwise")
      .in(in)
      .attr("M", int64_t(results.size()))
      .attr("steps", steps)
      .attr("results", results)
      .attr("constants", constants)
      .run();
}

template <class F>
void check_refused(F f, weft::Code code) {
  try {
    f();
    FAIL("no error");
  } catch (const weft::Error& e) {
    CHECK(e.code() == code);
  }
}

}  // namespace

TEST_CASE("an elementwise program has the bits of its ops") {
  for (const Shape& shape : {Shape{7}, Shape{3, 5, 64}, Shape{40, 33, 17}, Shape{1, 1}, Shape{2, 700}, Shape{9000}}) {
    CAPTURE(shape.size());
    const int64_t last = shape.back();
    Shape column = shape;
    column.back() = 1;
    Shape row(shape.size(), 1);
    row.back() = last;
    const Tensor x = floats(shape, 1), y = floats(shape, 2, 0.5f), r = floats({last}, 3), r1 = floats(row, 4), c = floats(column, 5),
                 s = floats({}, 6);
    // Two results, one of them read by a later step; a row, a column, a scalar and a constant.
    const auto out =
        program({x, y, r, r1, c, s}, {"Mul 0 2", "Add 7 3", "Tanh 8", "SquaredDifference 9 4", "Div 10 1", "Sub 11 5", "Maximum 12 6", "Relu 9"},
                {13, 9, 14, 13}, {0.25f});
    const Tensor t = op("Tanh", op("AddV2", op("Mul", x, r), r1));
    const Tensor u = op("Maximum", op("Sub", op("RealDiv", op("SquaredDifference", t, c), y), s), Tensor(0.25f));
    check_same(out[0], u);
    check_same(out[1], t);
    check_same(out[2], op("Relu", t));
    check_same(out[3], u);
  }
}

TEST_CASE("an elementwise program of single numbers has the bits of its ops") {
  const Tensor one = floats({1, 1}, 1);
  for (const float v : {0.f, -0.f, 1.5f, -3e38f, 1e-40f, INFINITY, -INFINITY, NAN}) {
    const Tensor x(v), y = floats({}, 2);
    for (const std::pair<const char*, const char*>& f : {std::pair("Add", "AddV2"),
                                                         {"Sub", "Sub"},
                                                         {"Mul", "Mul"},
                                                         {"Div", "RealDiv"},
                                                         {"Maximum", "Maximum"},
                                                         {"Pow", "Pow"},
                                                         {"SquaredDifference", "SquaredDifference"},
                                                         {"TanhGrad", "TanhGrad"}}) {
      const auto [function, name] = f;
      CAPTURE(name);
      const auto out =
          program({x, y}, {cat(function, " 0 1"), cat(function, " 1 0"), cat(function, " 3 0"), cat(function, " 2 0")}, {3, 4, 5, 6}, {0.5f});
      check_same(out[0], op(name, x, y));
      check_same(out[1], op(name, y, x));
      check_same(out[2], op(name, op(name, x, y), x));
      check_same(out[3], op(name, Tensor(0.5f), x));
    }
    for (const char* name : {"Neg", "Square", "Abs", "Tanh", "Sigmoid", "Exp", "Relu", "Sqrt"}) {
      CAPTURE(name);
      check_same(program({x}, {cat(name, " 0")}, {1})[0], op(name, x));
    }
    // Shapes of one element: the result has the most dimensions.
    const auto out = program({x, one, floats({1}, 3)}, {"Add 0 2", "Mul 3 0"}, {4, 4, 3});
    CHECK(out[0].shape() == Shape{1, 1});
    CHECK(out[1].data<float>().size() == 1);
    CHECK(std::memcmp(out[0].data<float>().data(), out[1].data<float>().data(), sizeof(float)) == 0);
  }
  // More values than are near.
  std::vector<std::string> steps{"Add 0 0"};
  for (int i = 1; i < 3000; ++i) steps.push_back(cat("Add ", i, " 0"));
  CHECK(program({Tensor(1.f)}, steps, {3000})[0].data<float>()[0] == 3001);
}

TEST_CASE("every op with a scalar form has the bits of that function in a program") {
  const Tensor x = floats({5, 300}, 1, 0.5f), y = floats({5, 300}, 2, 0.5f), row = floats({300}, 3);
  int count = 0;
  for (const auto* spec : weft_engine::engine::Engine::get().registry().all()) {
    const auto& scalar = spec->traits().scalar;
    if (!scalar.operands) continue;
    const auto& signature = spec->signature();
    const auto& allowed = signature.attrs[size_t(signature.attr_index("T"))].allowed_types;
    if (std::find(allowed.begin(), allowed.end(), weft_engine::core::DType::kFloat) == allowed.end()) continue;
    const std::string name(spec->name), function(scalar.function);
    CAPTURE(name);
    const Tensor second = signature.attr_index("data_format") >= 0 ? row : y;
    Call call{name};
    if (signature.attr_index("N") >= 0) call.in(std::vector<Tensor>{x, second});
    else call.in(x);
    if (signature.inputs.size() == 2) call.in(second);
    const Tensor want = call.one();
    const auto got = scalar.operands == 1 ? program({x}, {function + " 0"}, {1}) : program({x, second}, {function + " 0 1"}, {2});
    check_same(got[0], want);
    ++count;
  }
  CHECK(count > 90);
}

TEST_CASE("an elementwise program of numbers alone fills its output") {
  const Tensor x = floats({3, 4}, 1);
  const auto out = program({x, Tensor(2.f)}, {"Mul 1 2", "Exp 3", "Add 0 4"}, {4, 5}, {0.5f});
  CHECK(out[0].shape() == Shape{3, 4});
  for (float v : out[0].data<float>()) CHECK(v == doctest::Approx(std::exp(1.f)));
  check_same(out[1], op("AddV2", x, op("Exp", Tensor(1.f))));
}

TEST_CASE("the middle dimension may be the repeated one") {
  const Tensor x = floats({4, 6, 50}, 1), m = floats({4, 1, 50}, 2), n = floats({6, 1}, 3);
  check_same(program({x, m, n}, {"Add 0 1", "Mul 3 2"}, {4})[0], op("Mul", op("AddV2", x, m), n));
}

TEST_CASE("what is no program is refused") {
  const Tensor x = floats({4}, 1);
  check_refused([&] { program({x}, {"Relu 1"}, {1}); }, weft::Code::kInvalidArgument);        // reads itself
  check_refused([&] { program({x}, {"Relu -1"}, {1}); }, weft::Code::kInvalidArgument);
  check_refused([&] { program({x}, {"Relu"}, {1}); }, weft::Code::kInvalidArgument);
  check_refused([&] { program({x}, {"Relu 0 0"}, {1}); }, weft::Code::kInvalidArgument);
  check_refused([&] { program({x}, {"Relu 0 "}, {1}); }, weft::Code::kInvalidArgument);
  check_refused([&] { program({x}, {"Relu 99999999999999999999"}, {1}); }, weft::Code::kInvalidArgument);
  check_refused([&] { program({x}, {"MatMul 0 0"}, {1}); }, weft::Code::kUnimplemented);
  check_refused([&] { program({x}, {"IsNan 0"}, {1}); }, weft::Code::kUnimplemented);  // the result has another type
  check_refused([&] { program({x}, {"Complex 0 0"}, {1}); }, weft::Code::kUnimplemented);
  check_refused([&] { program({x}, {"Relu 0"}, {0}); }, weft::Code::kInvalidArgument);         // not a step
  check_refused([&] { program({x}, {"Relu 0"}, {2}); }, weft::Code::kInvalidArgument);
  check_refused([&] { program({x}, {}, {1}); }, weft::Code::kInvalidArgument);
  check_refused([&] { program({x, floats({3}, 1)}, {"Add 0 1"}, {2}); }, weft::Code::kInvalidArgument);
  check_refused(
      [&] {
        Call("_WeftFusedElementwise")
            .in(std::vector<Tensor>{x})
            .attr("M", 3)
            .attr("steps", std::vector<std::string>{"Relu 0"})
            .attr("results", std::vector<int64_t>{1})
            .run();
      },
      weft::Code::kInvalidArgument);
}

TEST_CASE("layer normalisation") {
  for (int64_t n : {1, 10, 16, 64, 100, 1000}) {
    CAPTURE(n);
    const Tensor x = floats({3, 5, n}, 1), gamma = floats({n}, 2), beta = floats({n}, 3);
    const auto out = Call("_WeftLayerNorm").in(x).in(gamma).in(beta).attr("epsilon", 1e-3f).run();
    const Tensor axis{int32_t(2)};
    const Tensor mean = Call("Mean").in(x).in(axis).attr("keep_dims", true).one();
    const Tensor variance = Call("Mean").in(op("SquaredDifference", x, mean)).in(axis).attr("keep_dims", true).one();
    const Tensor scale = op("Rsqrt", op("AddV2", variance, Tensor(1e-3f)));
    check_near(out[0], op("AddV2", op("Mul", op("Mul", op("Sub", x, mean), scale), gamma), beta));
    check_near(out[1], mean);
    check_near(out[2], scale);
  }
  check_refused([] { Call("_WeftLayerNorm").in(floats({3, 4}, 1)).in(floats({3}, 1)).in(floats({4}, 1)).run(); }, weft::Code::kInvalidArgument);
}

TEST_CASE("LSTM cell") {
  for (auto [batch, input, cells] : {std::array<int64_t, 3>{1, 5, 7}, {32, 28, 128}, {3, 1, 1}, {0, 4, 4}}) {
    const Tensor x = floats({batch, input}, 1), h = floats({batch, cells}, 2), c = floats({batch, cells}, 3);
    const Tensor w = floats({input, 4 * cells}, 4), r = floats({cells, 4 * cells}, 5), b = floats({4 * cells}, 6);
    const auto out = Call("_WeftLstmCell").in(x).in(h).in(c).in(w).in(r).in(b).attr("keep_gates", true).run();
    const auto gates = Call("Split")
                           .in(Tensor(int32_t(1)))
                           .in(Call("BiasAdd").in(op("AddV2", op("MatMul", x, w), op("MatMul", h, r))).in(b).one())
                           .attr("num_split", 4)
                           .run();
    const Tensor i = op("Sigmoid", gates[0]), f = op("Sigmoid", gates[1]), g = op("Tanh", gates[2]), o = op("Sigmoid", gates[3]);
    const Tensor state = op("AddV2", op("Mul", f, c), op("Mul", i, g)), squashed = op("Tanh", state);
    const Tensor want[] = {op("Mul", o, squashed), state, i, f, g, o, squashed};
    for (int k = 0; k < 7; ++k) check_near(out[size_t(k)], want[k]);
    const auto less = Call("_WeftLstmCell").in(x).in(h).in(c).in(w).in(r).in(b).run();
    check_same(less[0], out[0]);
    check_same(less[1], out[1]);
    CHECK(less[2].shape() == Shape{0});
  }
  check_refused(
      [] {
        Call("_WeftLstmCell")
            .in(floats({2, 3}, 1))
            .in(floats({2, 4}, 1))
            .in(floats({2, 4}, 1))
            .in(floats({3, 12}, 1))
            .in(floats({4, 16}, 1))
            .in(floats({16}, 1))
            .run();
      },
      weft::Code::kInvalidArgument);
}

TEST_CASE("LSTM step over projected inputs, and the step back") {
  for (auto [batch, cells] : {std::array<int64_t, 2>{1, 7}, {32, 128}, {3, 1}, {0, 4}}) {
    const Tensor p = floats({batch, 4 * cells}, 1), h = floats({batch, cells}, 2), c = floats({batch, cells}, 3), r = floats({cells, 4 * cells}, 5);
    const auto out = Call("_WeftLstmStep").in(p).in(h).in(c).in(r).attr("keep_gates", true).run();
    const auto gates = Call("Split").in(Tensor(int32_t(1))).in(op("AddV2", p, op("MatMul", h, r))).attr("num_split", 4).run();
    const Tensor i = op("Sigmoid", gates[0]), f = op("Sigmoid", gates[1]), g = op("Tanh", gates[2]), o = op("Sigmoid", gates[3]);
    const Tensor state = op("AddV2", op("Mul", f, c), op("Mul", i, g)), squashed = op("Tanh", state);
    const Tensor want[] = {op("Mul", o, squashed), state, i, f, g, o, squashed};
    for (int k = 0; k < 7; ++k) check_near(out[size_t(k)], want[k]);
    CHECK(Call("_WeftLstmStep").in(p).in(h).in(c).in(r).run()[2].shape() == Shape{0});
    const Tensor dh = floats({batch, cells}, 7), dc = floats({batch, cells}, 8);
    for (bool last : {false, true}) {
      Call call("_WeftLstmGradient");
      call.in(i).in(f).in(g).in(o).in(squashed).in(c).in(dh);
      const auto back = call.in(last ? std::vector<Tensor>{} : std::vector<Tensor>{dc}).run();
      Tensor t = op("TanhGrad", squashed, op("Mul", dh, o));
      if (!last) t = op("AddV2", t, dc);
      const Tensor parts[] = {op("SigmoidGrad", i, op("Mul", t, g)), op("SigmoidGrad", f, op("Mul", t, c)), op("TanhGrad", g, op("Mul", t, i)),
                              op("SigmoidGrad", o, op("Mul", dh, squashed))};
      check_near(back[0], Call("ConcatV2").in(std::vector<Tensor>(std::begin(parts), std::end(parts))).in(Tensor(int32_t(1))).one());
      check_near(back[1], op("Mul", t, f));
    }
  }
  const Tensor a = floats({2, 4}, 1);
  check_refused([&] { Call("_WeftLstmStep").in(floats({2, 12}, 1)).in(a).in(a).in(floats({4, 16}, 1)).run(); }, weft::Code::kInvalidArgument);
  check_refused([&] { Call("_WeftLstmGradient").in(a).in(a).in(a).in(a).in(a).in(a).in(floats({2, 3}, 1)).in(std::vector<Tensor>{a}).run(); },
                weft::Code::kInvalidArgument);
  check_refused([&] { Call("_WeftLstmGradient").in(a).in(a).in(a).in(a).in(a).in(a).in(a).in(std::vector<Tensor>{a, a}).run(); },
                weft::Code::kInvalidArgument);
}

TEST_CASE("A product added to a matrix") {
  for (auto [m, n, k] : {std::array<int64_t, 3>{128, 512, 32}, {5, 7, 300}, {1, 1, 1}, {3, 4, 0}}) {
    const Tensor c = floats({m, n}, 3);
    for (bool ta : {false, true}) {
      const Tensor a = floats(ta ? Shape{k, m} : Shape{m, k}, 1), b = floats({k, n}, 2);
      const Tensor product = Call("MatMul").in(a).in(b).attr("transpose_a", ta).one();
      check_near(Call("_WeftMatMulAdd").in(a).in(b).in(c).attr("transpose_a", ta).one(), op("AddV2", c, product));
    }
  }
  const Tensor a = floats({2, 4}, 1);
  check_refused([&] { Call("_WeftMatMulAdd").in(a).in(floats({4, 3}, 2)).in(floats({1, 3}, 3)).run(); }, weft::Code::kInvalidArgument);
}

TEST_CASE("GRU cell") {
  for (auto [batch, input, cells] : {std::array<int64_t, 3>{1, 5, 7}, {32, 32, 48}, {0, 4, 4}}) {
    const Tensor x = floats({batch, input}, 1), h = floats({batch, cells}, 2);
    const Tensor w = floats({input, 3 * cells}, 4), r = floats({cells, 3 * cells}, 5), b = floats({2, 3 * cells}, 6);
    const auto out = Call("_WeftGruCell").in(x).in(h).in(w).in(r).in(b).attr("keep_gates", true).run();
    const auto bias = Call("Split").in(Tensor(int32_t(0))).in(b).attr("num_split", 2).run();
    const auto a = Call("Split").in(Tensor(int32_t(1))).in(op("AddV2", op("MatMul", x, w), bias[0])).attr("num_split", 3).run();
    const auto d = Call("Split").in(Tensor(int32_t(1))).in(op("AddV2", op("MatMul", h, r), bias[1])).attr("num_split", 3).run();
    const Tensor z = op("Sigmoid", op("AddV2", a[0], d[0])), s = op("Sigmoid", op("AddV2", a[1], d[1])),
                 n = op("Tanh", op("AddV2", a[2], op("Mul", s, d[2])));
    const Tensor want[] = {op("AddV2", op("Mul", z, h), op("Mul", op("Sub", Tensor(1.f), z), n)), z, s, n, d[2]};
    for (int k = 0; k < 5; ++k) check_near(out[size_t(k)], want[k]);
    CHECK(Call("_WeftGruCell").in(x).in(h).in(w).in(r).in(b).run()[1].shape() == Shape{0});
  }
}

TEST_CASE("attention") {
  for (auto [batch, queries, keys, heads, depth] : {std::array<int64_t, 5>{2, 5, 7, 3, 4}, {3, 32, 32, 4, 16}, {1, 1, 1, 1, 1}, {2, 40, 70, 2, 33}}) {
    const Tensor q = floats({batch, queries, heads, depth}, 1), k = floats({batch, keys, heads, depth}, 2),
                 v = floats({batch, keys, heads, depth + 1}, 3);
    const Tensor mask = floats({batch, 1, queries, keys}, 4);
    auto einsum = [](const char* equation, const Tensor& a, const Tensor& b) {
      return Call("Einsum").in(std::vector<Tensor>{a, b}).attr("equation", equation).one();
    };
    const Tensor scores = op("AddV2", op("Mul", einsum("aecd,abcd->acbe", k, q), Tensor(0.5f)), mask), probabilities = op("Softmax", scores);
    const Tensor want = einsum("acbe,aecd->abcd", probabilities, v);
    const auto out =
        Call("_WeftAttention").in(q).in(k).in(v).in(std::vector<Tensor>{mask}).attr("scale", 0.5f).attr("keep_probabilities", true).run();
    check_near(out[0], want);
    check_near(out[1], probabilities);
    const Tensor order{int32_t(0), int32_t(2), int32_t(1), int32_t(3)};
    const auto transposed = Call("_WeftAttention")
                                .in(op("Transpose", q, order))
                                .in(op("Transpose", k, order))
                                .in(op("Transpose", v, order))
                                .in(std::vector<Tensor>{mask})
                                .attr("num_masks", 1)
                                .attr("scale", 0.5f)
                                .attr("layout", "BNTH")
                                .run();
    check_near(op("Transpose", transposed[0], order), want);
    CHECK(transposed[1].shape() == Shape{0});
  }
  const Tensor q = floats({2, 5, 3, 4}, 1);
  check_refused(
      [&] {
        Call("_WeftAttention")
            .in(q)
            .in(floats({2, 5, 2, 4}, 1))
            .in(q)
            .in(std::vector<Tensor>{})
            .attr("num_masks", 0)
            .attr("T", weft::DType::float32)
            .run();
      },
      weft::Code::kInvalidArgument);
  check_refused([&] { Call("_WeftAttention").in(q).in(q).in(q).in(std::vector<Tensor>{floats({2, 5}, 1)}).run(); }, weft::Code::kInvalidArgument);
}

TEST_CASE("Adam as Keras writes it") {
  auto variable = [](const char* name, const Tensor& value) {
    const Tensor handle = Call("VarHandleOp").attr("dtype", weft::DType::float32).attr("shape", weft::PartialShape()).attr("shared_name", name).one();
    Call("AssignVariableOp").in(handle).in(value).attr("dtype", weft::DType::float32).run();
    return handle;
  };
  auto read = [](const Tensor& handle) { return Call("ReadVariableOp").in(handle).attr("dtype", weft::DType::float32).one(); };
  const Tensor var = floats({5, 9}, 1), m = floats({5, 9}, 2), v = floats({5, 9}, 3, 0.1f), grad = floats({5, 9}, 4);
  const Tensor hv = variable("adam_var", var), hm = variable("adam_m", m), hs = variable("adam_v", v);
  Call("_WeftAdam").in(hv).in(hm).in(hs).in(Tensor(0.01f)).in(Tensor(0.1f)).in(Tensor(0.001f)).in(Tensor(1e-7f)).in(grad).run();
  const Tensor m2 = op("AddV2", m, op("Mul", op("Sub", grad, m), Tensor(0.1f)));
  const Tensor v2 = op("AddV2", v, op("Mul", op("Sub", op("Square", grad), v), Tensor(0.001f)));
  check_near(read(hm), m2, 1e-6f);
  check_near(read(hs), v2, 1e-6f);
  check_near(read(hv), op("Sub", var, op("RealDiv", op("Mul", m2, Tensor(0.01f)), op("AddV2", op("Sqrt", v2), Tensor(1e-7f)))), 1e-6f);
}

TEST_CASE("products with a bias and an activation") {
  struct {
    const char* name;
    Tensor (*f)(const Tensor&);
  } const kActivations[] = {
      {"Relu", [](const Tensor& x) { return op("Relu", x); }},
      {"Relu6", [](const Tensor& x) { return op("Relu6", x); }},
      {"Elu", [](const Tensor& x) { return op("Elu", x); }},
      {"Tanh", [](const Tensor& x) { return op("Tanh", x); }},
      {"Sigmoid", [](const Tensor& x) { return op("Sigmoid", x); }},
      {"LeakyRelu", [](const Tensor& x) { return Call("LeakyRelu").in(x).attr("alpha", 0.3f).one(); }},
      {"GeluExact", [](const Tensor& x) { return op("Mul", op("Mul", x, Tensor(0.5f)), op("Erfc", op("Mul", x, Tensor(-0.70710678f)))); }},
      {"GeluApproximate", [](const Tensor& x) {
         const Tensor cube = op("Mul", op("Mul", x, x), x);
         return op("Mul", op("Mul", x, Tensor(0.5f)),
                   op("AddV2", op("Tanh", op("Mul", op("AddV2", x, op("Mul", cube, Tensor(0.044715f))), Tensor(0.79788456f))), Tensor(1.f)));
       }}};
  for (auto [m, k, n] : {std::array<int64_t, 3>{1, 20, 10}, {32, 784, 128}, {64, 64, 64}, {5, 3, 33}, {100, 300, 200}}) {
    CAPTURE(m);
    const Tensor a = floats({m, k}, 1), b = floats({k, n}, 2), bias = floats({n}, 3);
    const Tensor plain = Call("BiasAdd").in(op("MatMul", a, b)).in(bias).one();
    check_near(Call("_FusedMatMul")
                   .in(a)
                   .in(b)
                   .in(std::vector<Tensor>{bias})
                   .attr("num_args", 1)
                   .attr("fused_ops", std::vector<std::string>{"BiasAdd"})
                   .one(),
               plain);
    for (const auto& f : kActivations) {
      CAPTURE(f.name);
      check_near(Call("_FusedMatMul")
                     .in(a)
                     .in(b)
                     .in(std::vector<Tensor>{bias})
                     .attr("num_args", 1)
                     .attr("leakyrelu_alpha", 0.3f)
                     .attr("fused_ops", std::vector<std::string>{"BiasAdd", f.name})
                     .one(),
                 f.f(plain));
    }
  }
}

TEST_CASE("attention backwards") {
  for (bool heads_first : {true, false}) {
    const auto shape = [&](int64_t steps, int64_t depth) { return heads_first ? Shape{2, 3, steps, depth} : Shape{2, steps, 3, depth}; };
    const Tensor perm{0, 2, 1, 3};
    const auto transposed = [&](const Tensor& t) { return heads_first ? t : op("Transpose", t, perm); };
    const auto product = [](const Tensor& a, const Tensor& b, bool adj_x, bool adj_y) {
      return Call("BatchMatMulV2").in(a).in(b).attr("adj_x", adj_x).attr("adj_y", adj_y).one();
    };
    for (int64_t keys : {1, 7, 32}) {
      const Tensor q = floats(shape(5, 16), 1), k = floats(shape(keys, 16), 2), v = floats(shape(keys, 10), 3), d_out = floats(shape(5, 10), 4);
      const Tensor p = op("Softmax", product(transposed(q), transposed(k), false, true));
      const auto out =
          Call("_WeftAttentionGradient").in(q).in(k).in(v).in(p).in(d_out).attr("scale", 0.5f).attr("layout", heads_first ? "BNTH" : "BTNH").run();
      const Tensor t = product(transposed(d_out), transposed(v), false, true);
      const Tensor sum = Call("Sum").in(op("Mul", t, p)).in(Tensor(int32_t(-1))).attr("keep_dims", true).one();
      const Tensor ds = op("Mul", op("Mul", op("Sub", t, sum), p), Tensor(0.5f));
      check_near(out[0], transposed(product(ds, transposed(k), false, false)));
      check_near(out[1], transposed(product(ds, transposed(q), true, false)));
      check_near(out[2], transposed(product(p, transposed(d_out), true, false)));
    }
  }
  const Tensor a = floats({1, 2, 3, 4}, 1), p = floats({1, 3, 2, 2}, 2);
  CHECK(Call("_WeftAttentionGradient").in(a).in(a).in(a).in(p).in(a).run()[0].shape() == Shape{1, 2, 3, 4});
  check_refused([&] { Call("_WeftAttentionGradient").in(a).in(a).in(a).in(a).in(a).run(); }, weft::Code::kInvalidArgument);
  check_refused([&] { Call("_WeftAttentionGradient").in(a).in(a).in(a).in(p).in(p).run(); }, weft::Code::kInvalidArgument);
  check_refused([&] { Call("_WeftAttentionGradient").in(a).in(p).in(a).in(p).in(a).run(); }, weft::Code::kInvalidArgument);
  // No rows, or no keys.
  const Tensor none = floats({1, 0, 3, 4}, 1);
  CHECK(Call("_WeftAttentionGradient").in(none).in(a).in(a).in(floats({1, 3, 0, 2}, 1)).in(none).run()[1].data<float>()[0] == 0);
}
