// The remap pass: patterns as Keras writes them, before and after.
#include "graph/passes/testing.h"

using namespace weft_engine::graph;           // NOLINT
using namespace weft_engine::graph::testing;  // NOLINT

namespace {

constexpr DType kF = DType::kFloat;
const AttrMap kKeep{{"keep_dims", true}};

struct Norm {
  Endpoint y, mean, root;
};
Norm layer_norm(Maker& m) {
  Endpoint x = m.arg(kF), gamma = m.arg(kF), beta = m.arg(kF);
  Endpoint mean = m.op("Mean", {x, m.ints({-1})}, kKeep);
  Endpoint variance = m.op("Mean", {m.op("SquaredDifference", {x, m.op("StopGradient", {mean})}), m.ints({-1})}, kKeep);
  Endpoint root = m.op("Rsqrt", {m.op("AddV2", {variance, m.f(1e-3f)})});
  Endpoint factor = m.op("Mul", {root, m.op("Reshape", {gamma, m.ints({1, 1, 4})})});
  Endpoint shift = m.op("AddV2", {m.op("Mul", {m.op("Neg", {mean}), factor}), m.op("Reshape", {beta, m.ints({1, 1, 4})})});
  return {m.op("AddV2", {m.op("Mul", {x, factor}), shift}), mean, root};
}

Endpoint einsum(Maker& m, const char* equation, Endpoint a, Endpoint b) { return m.op("Einsum", {a, b}, {{"equation", equation}}); }

}  // namespace

TEST_CASE("remap: layer normalisation") {
  Build serve = [](Maker& m) { m.ret(layer_norm(m).y); };
  const std::vector<Tensor> args{noise({2, 3, 4}), noise({4}, 2), noise({4}, 3)};
  auto m = specialized(serve, args);
  CHECK(count(m, "_WeftLayerNorm") == 1);
  CHECK(work(m) == 1);
  // The gradient reads the mean and the root.
  m = specialized(
      [](Maker& m) {
        Norm n = layer_norm(m);
        m.ret(n.y), m.ret(n.mean), m.ret(n.root);
      },
      args);
  CHECK(work(m) == 1);
  // Another axis is another thing.
  m = specialized(
      [](Maker& m) {
        Endpoint x = m.arg(kF), gamma = m.arg(kF), beta = m.arg(kF), mean = m.op("Mean", {x, m.ints({0})}, kKeep);
        Endpoint variance = m.op("Mean", {m.op("SquaredDifference", {x, mean}), m.ints({0})}, kKeep);
        Endpoint factor = m.op("Mul", {m.op("Rsqrt", {m.op("AddV2", {variance, m.f(1e-3f)})}), gamma});
        m.ret(m.op("AddV2", {m.op("Mul", {x, factor}), m.op("Sub", {beta, m.op("Mul", {mean, factor})})}));
      },
      {noise({4, 4}), noise({4}, 2), noise({4}, 3)});
  CHECK(count(m, "_WeftLayerNorm") == 0);
}

TEST_CASE("remap: attention with and without a mask, for serving and for training") {
  for (bool mask : {false, true}) {
    for (bool train : {false, true}) {
      auto m = specialized(
          [=](Maker& m) {
            Endpoint q = m.arg(kF), k = m.arg(kF), v = m.arg(kF);
            Endpoint scores = m.op("Mul", {einsum(m, "BTNH,BSNH->BNTS", q, k), m.f(0.5f)});
            Endpoint offset = m.arg(kF);
            if (mask) scores = m.op("AddV2", {scores, offset});
            Endpoint p = m.op("Softmax", {scores});
            m.ret(einsum(m, "BNTS,BSNH->BTNH", p, v));
            if (train) m.ret(m.op("Exp", {p}));
          },
          {noise({2, 3, 2, 4}), noise({2, 5, 2, 4}, 2), noise({2, 5, 2, 6}, 3), noise({2, 1, 3, 5}, 4)});
      CHECK(count(m, "_WeftAttention") == 1);
      CHECK(work(m) == (train ? 2 : 1));
    }
  }
  auto m = specialized(
      [](Maker& m) {
        Endpoint q = m.arg(kF), k = m.arg(kF), v = m.arg(kF);
        m.ret(m.op("BatchMatMulV2", {m.op("Softmax", {m.op("BatchMatMulV2", {q, k}, {{"adj_y", true}})}), v}));
        m.ret(einsum(m, "acbe,aecd->abcd", m.op("Softmax", {einsum(m, "aecd,abcd->acbe", k, q)}), v));
      },
      {noise({2, 3, 3, 4}), noise({2, 3, 3, 4}, 2), noise({2, 3, 3, 4}, 3)});
  CHECK(count(m, "_WeftAttention") == 2);
}

TEST_CASE("remap: attention between transposed heads, and the way back") {
  const std::vector<Tensor> args{noise({2, 3, 2, 4}), noise({2, 5, 2, 4}, 2), noise({2, 5, 2, 6}, 3), noise({2, 3, 2, 6}, 4)};
  // 0: serving; 1: training; 2: the same without transposing; 3: somebody reads the products of heads as they are; 4: a scale in between.
  for (int form = 0; form < 5; ++form) {
    CAPTURE(form);
    auto m = specialized(
        [=](Maker& m) {
          auto turn = [&](Endpoint e) { return form == 2 ? e : m.op("Transpose", {e, m.ints({0, 2, 1, 3})}); };
          auto product = [&](Endpoint a, Endpoint b, bool adj_x, bool adj_y) {
            return m.op("BatchMatMulV2", {a, b}, {{"adj_x", adj_x}, {"adj_y", adj_y}});
          };
          Endpoint q = turn(m.arg(kF)), k = turn(m.arg(kF)), v = turn(m.arg(kF)), d_out = turn(m.arg(kF));
          Endpoint scores = product(q, k, false, true);
          if (form == 4) scores = m.op("Mul", {scores, m.f(0.5f)});
          Endpoint p = m.op("Softmax", {scores}), out = product(p, v, false, false);
          m.ret(turn(out));
          if (form == 0) return;
          Endpoint t = product(d_out, v, false, true);
          Endpoint ds = m.op("Mul", {m.op("Sub", {t, m.op("Sum", {m.op("Mul", {t, p}), m.ints({-1})}, kKeep)}), p});
          if (form == 4) ds = m.op("Mul", {ds, m.f(0.5f)});
          Endpoint dv = product(p, d_out, true, false), dq = product(ds, k, false, false);
          m.ret(turn(dv)), m.ret(turn(dq)), m.ret(turn(product(ds, q, true, false)));
          if (form == 3) m.ret(m.op("Exp", {out})), m.ret(m.op("Exp", {dv}));
        },
        form == 2 ? std::vector<Tensor>{noise({2, 2, 3, 4}), noise({2, 2, 5, 4}, 2), noise({2, 2, 5, 6}, 3), noise({2, 2, 3, 6}, 4)} : args);
    CHECK(count(m, "_WeftAttention") == 1);
    CHECK(count(m, "_WeftAttentionGradient") == (form == 0 || form == 4 ? 0 : 1));
    if (form < 3) CHECK(work(m) == (form ? 2 : 1));
    if (form == 3) CHECK(count(m, "Transpose") == 2);
  }
}

TEST_CASE("remap: the cell of an LSTM") {
  for (bool train : {false, true}) {
    for (int batch : {1, 3}) {
      auto m = specialized(
          [=](Maker& m) {
            Endpoint x = m.arg(kF), h = m.arg(kF), c = m.arg(kF), w = m.arg(kF), r = m.arg(kF), b = m.arg(kF);
            Endpoint z = m.op("BiasAdd", {m.op("AddV2", {m.op("MatMul", {x, w}), m.op("MatMul", {h, r})}), b});
            Node* split = m.node("Split", {m.i(1), z}, {{"num_split", 4}});
            Endpoint i = m.op("Sigmoid", {{split, 0}}), f = m.op("Sigmoid", {{split, 1}});
            Endpoint fc = m.op("Mul", {f, c});
            Endpoint g = m.op("Tanh", {{split, 2}});
            Endpoint c_new = m.op("AddV2", {fc, m.op("Mul", {i, g})});
            Endpoint o = m.op("Sigmoid", {{split, 3}}), t = m.op("Tanh", {c_new});
            m.ret(m.op("Mul", {o, t}));
            m.ret(c_new);
            if (train) {
              for (Endpoint e : {i, f, g, o, t, fc}) m.ret(e);
            }
          },
          {noise({batch, 2}), noise({batch, 3}, 2), noise({batch, 3}, 3), noise({2, 12}, 4), noise({3, 12}, 5), noise({12}, 6)});
      CHECK(count(m, "_WeftLstmCell") == 1);
      CHECK(work(m) == (train ? 2 : 1));
    }
  }
}

TEST_CASE("remap: a step of an LSTM whose input's part is known, and the way back") {
  // The gradient of two steps, as it comes of the rules: the first has no gradient of its state in the end.
  for (bool both : {false, true}) {
    auto m = specialized(
        [=](Maker& m) {
          Endpoint p = m.arg(kF), h = m.arg(kF), c = m.arg(kF), r = m.arg(kF), dh = m.arg(kF), dc = m.arg(kF);
          Node* split = m.node("Split", {m.i(1), m.op("AddV2", {p, m.op("MatMul", {h, r})})}, {{"num_split", 4}});
          Endpoint i = m.op("Sigmoid", {{split, 0}}), f = m.op("Sigmoid", {{split, 1}}), g = m.op("Tanh", {{split, 2}}),
                   o = m.op("Sigmoid", {{split, 3}});
          Endpoint c_new = m.op("AddV2", {m.op("Mul", {f, c}), m.op("Mul", {i, g})}), t = m.op("Tanh", {c_new});
          m.ret(m.op("Mul", {o, t}));
          Endpoint back = m.op("TanhGrad", {t, m.op("Mul", {dh, o})});
          if (both) back = m.op("AddN", {back, dc}, {{"N", 2}});
          Endpoint di = m.op("SigmoidGrad", {i, m.op("Mul", {back, g})}), df = m.op("SigmoidGrad", {f, m.op("Mul", {back, c})});
          Endpoint dg = m.op("TanhGrad", {g, m.op("Mul", {i, back})}), d_o = m.op("SigmoidGrad", {o, m.op("Mul", {dh, t})});
          m.ret(m.op("ConcatV2", {di, df, dg, d_o, m.i(1)}, {{"N", 4}}));
          if (both) m.ret(m.op("Mul", {back, f}));
        },
        {noise({3, 20}), noise({3, 5}, 2), noise({3, 5}, 3), noise({5, 20}, 4), noise({3, 5}, 5), noise({3, 5}, 6)});
    CHECK(count(m, "_WeftLstmStep") == 1);
    CHECK(count(m, "_WeftLstmGradient") == 1);
    CHECK(work(m) == 2);
  }
  // A row is a bias, and gates in another order are another cell.
  auto m = specialized(
      [](Maker& m) {
        Endpoint p = m.arg(kF), h = m.arg(kF), c = m.arg(kF), r = m.arg(kF);
        Node* split = m.node("Split", {m.i(1), m.op("AddV2", {p, m.op("MatMul", {h, r})})}, {{"num_split", 4}});
        Endpoint i = m.op("Sigmoid", {{split, 0}}), f = m.op("Sigmoid", {{split, 1}}), g = m.op("Tanh", {{split, 2}}),
                 o = m.op("Sigmoid", {{split, 3}});
        m.ret(m.op("Mul", {o, m.op("Tanh", {m.op("AddV2", {m.op("Mul", {f, c}), m.op("Mul", {i, g})})})}));
      },
      {noise({1, 20}), noise({3, 5}, 2), noise({3, 5}, 3), noise({5, 20}, 4)});
  CHECK(count(m, "_WeftLstmStep") == 0);
  m = specialized(
      [](Maker& m) {
        Endpoint i = m.arg(kF), f = m.arg(kF), g = m.arg(kF), o = m.arg(kF), t = m.arg(kF), c = m.arg(kF), dh = m.arg(kF);
        Endpoint back = m.op("TanhGrad", {t, m.op("Mul", {dh, o})});
        Endpoint di = m.op("SigmoidGrad", {i, m.op("Mul", {back, g})}), df = m.op("SigmoidGrad", {f, m.op("Mul", {back, c})});
        Endpoint dg = m.op("TanhGrad", {g, m.op("Mul", {i, back})}), d_o = m.op("SigmoidGrad", {o, m.op("Mul", {dh, t})});
        m.ret(m.op("ConcatV2", {df, di, dg, d_o, m.i(1)}, {{"N", 4}}));
      },
      {noise({3, 5}), noise({3, 5}, 2), noise({3, 5}, 3), noise({3, 5}, 4), noise({3, 5}, 5), noise({3, 5}, 6), noise({3, 5}, 7)});
  CHECK(count(m, "_WeftLstmGradient") == 0);
}

TEST_CASE("remap: a fused node repeats what was repeated for it") {
  // 0: as it is; 1: somebody else reads the repeated value; 2: no operand has the whole shape.
  for (int form = 0; form < 3; ++form) {
    CAPTURE(form);
    auto m = specialized(
        [=](Maker& m) {
          Endpoint x = m.arg(kF), y = m.arg(kF), row = m.op("BroadcastTo", {m.arg(kF), m.ints({4, 5})});
          Endpoint other = form == 2 ? m.op("BroadcastTo", {m.arg(kF), m.ints({4, 5})}) : m.arg(kF);
          if (form == 2) x = y = other;
          m.ret(m.op("Tanh", {m.op("AddN", {x, row, m.op("Mul", {y, other})}, {{"N", 3}})}));
          if (form == 1) m.ret(m.op("Reshape", {row, m.ints({5, 4})}));
        },
        {noise({4, 5}), noise({4, 5}, 2), noise({1, 5}, 3), form == 2 ? noise({1, 1}, 4) : noise({4, 5}, 4)});
    if (form < 2) CHECK(count(m, "_WeftFusedElementwise") == 1);
    if (form == 0) CHECK(count(m, "BroadcastTo") == 0);
    if (form == 1) CHECK(count(m, "BroadcastTo") == 1);
  }
}

TEST_CASE("remap: a product that is added to what is carried on") {
  // 0: as it is; 1: the other way round; 2: somebody reads the product; 3: c is a row; 4: c is read elsewhere; 5: too deep for the same bits.
  for (int form = 0; form < 6; ++form) {
    CAPTURE(form);
    const int64_t depth = form == 5 ? 300 : 7;
    auto m = specialized(
        [=](Maker& m) {
          Endpoint a = m.arg(kF), b = m.arg(kF), c = m.arg(kF);
          Endpoint product = m.op("MatMul", {a, b}, {{"transpose_a", true}});
          m.ret(form == 1 ? m.op("AddV2", {product, c}) : m.op("AddV2", {c, product}));
          if (form == 2) m.ret(m.op("Exp", {product}));
          if (form == 4) m.ret(m.op("Exp", {c}));
        },
        {noise({depth, 5}), noise({depth, 6}, 2), form == 3 ? noise({1, 6}, 3) : noise({5, 6}, 3)});
    CHECK(count(m, "_WeftMatMulAdd") == (form < 2 ? 1 : 0));
  }
}

TEST_CASE("remap: the cell of a GRU") {
  for (bool train : {false, true}) {
    auto m = specialized(
        [=](Maker& m) {
          Endpoint x = m.arg(kF), h = m.arg(kF), w = m.arg(kF), r = m.arg(kF), bias = m.arg(kF);
          Node* biases = m.node("Split", {m.i(0), bias}, {{"num_split", 2}});
          AttrMap first{{"squeeze_dims", std::vector<int64_t>{0}}};
          Endpoint b0 = m.op("Squeeze", {{biases, 0}}, first), b1 = m.op("Squeeze", {{biases, 1}}, first);
          Node* a = m.node("Split", {m.i(1), m.op("BiasAdd", {m.op("MatMul", {x, w}), b0})}, {{"num_split", 3}});
          Endpoint inner = m.op("AddV2", {m.op("MatMul", {h, r}), b1});
          auto part = [&](int k, int begin_mask, int end_mask) {
            return m.op("StridedSlice", {inner, m.ints({0, 3 * k}), m.ints({0, 3 * k + 3}), m.ints({1, 1})},
                        {{"begin_mask", begin_mask}, {"end_mask", end_mask}});
          };
          Endpoint z = m.op("Sigmoid", {m.op("AddV2", {{a, 0}, part(0, 3, 1)})}), s = m.op("Sigmoid", {m.op("AddV2", {{a, 1}, part(1, 1, 1)})});
          Endpoint bn = part(2, 1, 3);
          Endpoint n = m.op("Tanh", {m.op("AddV2", {{a, 2}, m.op("Mul", {s, bn})})});
          m.ret(m.op("AddV2", {m.op("Mul", {z, h}), m.op("Mul", {m.op("Sub", {m.f(1), z}), n})}));
          if (train) {
            for (Endpoint e : {z, s, n, bn}) m.ret(e);
          }
        },
        {noise({2, 2}), noise({2, 3}, 2), noise({2, 9}, 4), noise({3, 9}, 5), noise({2, 9}, 6)});
    CHECK(count(m, "_WeftGruCell") == 1);
    CHECK(work(m) == 1);
  }
}

TEST_CASE("remap: elementwise nodes go over memory once") {
  auto m = specialized(
      [](Maker& m) {
        Endpoint x = m.arg(kF), a = m.arg(kF), b = m.arg(kF);
        Endpoint y = m.op("AddV2", {m.op("Mul", {x, a}), b});
        Endpoint z = m.op("Relu", {m.op("Sub", {y, m.f(0.25f)})});
        m.ret(m.op("AddN", {z, y, m.op("Exp", {z})}, {{"N", 3}}));
        m.ret(y);
      },
      {noise({4, 3}), noise({3}, 2), noise({4, 1}, 3)});
  CHECK(count(m, "_WeftFusedElementwise") == 1);
  CHECK(work(m) == 1);
}

TEST_CASE("remap: numbers join in large groups") {
  auto chain = specialized(
      [](Maker& m) {
        Endpoint x = m.arg(kF), y = x;
        for (int i = 0; i < 1000; ++i) y = m.op(i % 3 ? "AddV2" : "Mul", {y, i % 7 ? x : m.op("Tanh", {y})});
        m.ret(y);
      },
      {noise({})});
  CHECK(count(chain, "_WeftFusedElementwise") == 1);
  CHECK(work(chain) == 1);
  auto wide = specialized(
      [](Maker& m) {
        Endpoint x = m.arg(kF);
        std::vector<Endpoint> all;
        for (int i = 0; i < 1000; ++i) all.push_back(m.op("AddV2", {m.f(float(i)), x}));
        m.ret(m.op("AddN", all, {{"N", 1000}}));
        m.ret(all[500]);
      },
      {noise({1, 1})});
  CHECK(count(wide, "_WeftFusedElementwise") == 1);
  CHECK(work(wide) == 1);
}

TEST_CASE("remap: a group is left alone where a way leads out of it and back") {
  auto m = specialized(
      [](Maker& m) {
        Endpoint x = m.arg(kF);
        Endpoint y = m.op("Exp", {x});
        Endpoint sum = m.op("Sum", {y, m.ints({0})}, kKeep);
        m.ret(m.op("RealDiv", {m.op("Neg", {y}), sum}));
      },
      {noise({4, 3})});
  CHECK(count(m, "Exp") == 1);
  CHECK(work(m) == 3);
}

TEST_CASE("remap: shapes that differ do not join") {
  auto m = specialized(
      [](Maker& m) {
        Endpoint x = m.arg(kF), y = m.arg(kF);
        m.ret(m.op("Mul", {m.op("Exp", {x}), m.op("Neg", {y})}));
      },
      {noise({4, 1}), noise({4, 3}, 2)});
  CHECK(count(m, "Exp") == 1);
  CHECK(count(m, "_WeftFusedElementwise") == 1);
}

TEST_CASE("remap: Adam's update, and what waits for parts of it") {
  Maker m;
  Endpoint var = m.arg(DType::kResource), mh = m.arg(DType::kResource), vh = m.arg(DType::kResource), g = m.arg(kF), rate = m.arg(kF);
  AttrMap type{{"dtype", kF}};
  Node* old_value = m.node("ReadVariableOp", {var}, type);
  Node* m0 = m.node("ReadVariableOp", {mh}, type);
  Node* add_m = m.node("AssignAddVariableOp", {mh, m.op("Mul", {m.op("Sub", {g, {m0, 0}}), m.f(0.1f)})}, type, {m0});
  Node* v0 = m.node("ReadVariableOp", {vh}, type);
  Node* add_v = m.node("AssignAddVariableOp", {vh, m.op("Mul", {m.op("Sub", {m.op("Square", {g}), {v0, 0}}), m.f(0.001f)})}, type, {v0});
  Node* m1 = m.node("ReadVariableOp", {mh}, type, {add_m});
  Node* v1 = m.node("ReadVariableOp", {vh}, type, {add_v});
  Endpoint step = m.op("RealDiv", {m.op("Mul", {{m1, 0}, rate}), m.op("AddV2", {m.op("Sqrt", {{v1, 0}}), m.f(1e-7f)})});
  Node* sub = m.node("AssignSubVariableOp", {var, step}, type, {old_value});
  Node* later = m.node("ReadVariableOp", {mh}, type, {add_m});
  m.node("AssignVariableOp", {mh, m.op("Neg", {{later, 0}})}, type, {m1});
  m.ret({old_value, 0});
  m.body.control_rets = {sub, add_m, add_v};
  PassContext c;
  const HandleData held{kF, PartialShape({3})};
  c.arg_shapes = {PartialShape::scalar(), PartialShape::scalar(), PartialShape::scalar(), PartialShape({3}), PartialShape::scalar()};
  c.arg_handles = {held, held, held};
  must(optimize(m.body, c));
  // The second read of m was merged with the update's own: then the update stays as it is.
  CHECK(count(m, "_WeftAdam") == 0);

  for (bool wait : {false, true}) {
    Maker k;
    Endpoint var = k.arg(DType::kResource), mh = k.arg(DType::kResource), vh = k.arg(DType::kResource), g = k.arg(kF), rate = k.arg(kF);
    Node* old_value = k.node("ReadVariableOp", {var}, type);
    Node* m0 = k.node("ReadVariableOp", {mh}, type);
    Node* add_m = k.node("AssignAddVariableOp", {mh, k.op("Mul", {k.op("Sub", {g, {m0, 0}}), k.f(0.1f)})}, type, {m0});
    Node* v0 = k.node("ReadVariableOp", {vh}, type);
    Node* add_v = k.node("AssignAddVariableOp", {vh, k.op("Mul", {k.op("Sub", {k.op("Square", {g}), {v0, 0}}), k.f(0.001f)})}, type, {v0});
    Node* m1 = k.node("ReadVariableOp", {mh}, type, {add_m});
    Node* v1 = k.node("ReadVariableOp", {vh}, type, {add_v});
    Endpoint step = k.op("RealDiv", {k.op("Mul", {{m1, 0}, rate}), k.op("AddV2", {k.op("Sqrt", {{v1, 0}}), k.f(1e-7f)})});
    std::vector<Node*> before{old_value};
    // Somebody waits for the first part, and the last part waits for them.
    if (wait) before.push_back(k.node("AssignVariableOp", {k.arg(DType::kResource), g}, type, {add_m}));
    Node* sub = k.node("AssignSubVariableOp", {var, step}, type, before);
    k.ret({k.node("ReadVariableOp", {var}, type, {sub}), 0});
    k.ret({old_value, 0});
    k.body.control_rets = {sub, add_m, add_v};
    PassContext d;
    d.arg_shapes = c.arg_shapes;
    d.arg_handles = c.arg_handles;
    must(optimize(k.body, d));
    CHECK(count(k, "_WeftAdam") == (wait ? 0 : 1));
    if (wait) continue;
    CHECK(count(k, "AssignAddVariableOp") == 0);
    Node* adam = k.body.control_rets.at(0);
    REQUIRE(adam->op() == "_WeftAdam");
    CHECK(adam->control_inputs() == std::vector<Node*>{old_value});
    CHECK(adam->control_outputs().size() == 1);
  }
}

TEST_CASE("remap: a sum of products is one product") {
  // Rows may differ in number; a product that somebody else reads, or one of another form, keeps the sum.
  for (int odd : {0, 1, 2}) {
    auto m = specialized(
        [=](Maker& m) {
          std::vector<Endpoint> parts;
          for (int i = 0; i < 4; ++i) {
            Endpoint a = m.arg(kF), b = m.arg(kF);
            parts.push_back(m.op("MatMul", {a, b}, {{"transpose_a", !(odd == 2 && i == 3)}}));
          }
          m.ret(m.op("AddN", parts));
          if (odd == 1) m.ret(m.op("Exp", {parts[1]}));
        },
        {noise({2, 3}), noise({2, 5}, 2), noise({4, 3}, 3), noise({4, 5}, 4), noise({2, 3}, 5), noise({2, 5}, 6),
         odd == 2 ? noise({3, 2}, 7) : noise({2, 3}, 7), noise({2, 5}, 8)});
    CHECK(count(m, "AddN") == (odd ? 1 : 0));
    CHECK(count(m, "MatMul") == (odd ? 4 : 1));
  }
}

TEST_CASE("remap: a sum of products reads a stack that is there") {
  for (bool same : {true, false}) {
    auto m = specialized(
        [=](Maker& m) {
          std::vector<Endpoint> parts, stacked;
          for (int i = 0; i < 4; ++i) {
            Endpoint a = m.arg(kF), b = m.arg(kF);
            parts.push_back(m.op("MatMul", {a, b}, {{"transpose_a", true}}));
            stacked.insert(stacked.begin(), same || i < 3 ? b : stacked[0]);
          }
          m.ret(m.op("AddN", parts));
          m.ret(m.op("Pack", stacked));
        },
        {noise({2, 3}), noise({2, 5}, 2), noise({2, 3}, 3), noise({2, 5}, 4), noise({2, 3}, 5), noise({2, 5}, 6), noise({2, 3}, 7),
         noise({2, 5}, 8)});
    CHECK(count(m, "MatMul") == 1);
    CHECK(count(m, "ConcatV2") == (same ? 1 : 2));
  }
}

TEST_CASE("remap: weights that many products read transposed are transposed once") {
  for (int products : {3, 4}) {
    auto m = specialized(
        [=](Maker& m) {
          Endpoint w = m.arg(kF);
          for (int i = 0; i < products; ++i) m.ret(m.op("MatMul", {m.arg(kF), w}, {{"transpose_b", true}}));
        },
        std::vector<Tensor>{noise({5, 3}), noise({2, 3}, 2), noise({4, 3}, 3), noise({2, 3}, 4), noise({2, 3}, 5)});
    CHECK(count(m, "Transpose") == (products == 4 ? 1 : 0));
    CHECK(count(m, "MatMul") == products);
  }
}
