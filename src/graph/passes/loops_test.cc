// Passes over loops: results before and after, and what is left.
#include "graph/passes/testing.h"

using namespace weft_engine::graph;           // NOLINT
using namespace weft_engine::graph::testing;  // NOLINT

namespace {

constexpr DType kF = DType::kFloat, kI = DType::kInt32, kV = DType::kVariant;

Endpoint empty_list(Maker& m, std::vector<int32_t> shape, DType t) {
  return m.op("EmptyTensorList", {m.ints(std::move(shape)), m.i(-1)}, {{"element_dtype", t}});
}
Node* pop(Maker& m, Endpoint list, DType t) {
  return m.node("TensorListPopBack", {list, m.constant(Tensor::scalar(int32_t(-1)))}, {{"element_dtype", t}});
}

Node* only(const Maker& m, std::string_view op, int which = 0) {
  for (Node* n : m.body.graph->nodes()) {
    if (n->op() == op && which-- == 0) return n;
  }
  return nullptr;
}

// A loop that pushes what changes, what does not and a shape; and one behind it that pops them, as a gradient does.
void push_and_pop(Maker& m) {
  Endpoint x = m.arg(kF), w = m.arg(kF), n = m.arg(kI);
  FunctionAttr cond = define(m, "cond", [](Maker& f) {
    Endpoint i = f.arg(kI), n = f.arg(kI);
    f.arg(kF), f.arg(kF), f.arg(kV), f.arg(kV), f.arg(kV);
    f.ret(f.op("Less", {i, n}));
  });
  FunctionAttr body = define(m, "body", [](Maker& f) {
    Endpoint i = f.arg(kI), n = f.arg(kI), x = f.arg(kF), w = f.arg(kF), values = f.arg(kV), weights = f.arg(kV), shapes = f.arg(kV);
    Endpoint y = f.op("Mul", {x, w});
    f.ret(f.op("AddV2", {i, f.i(1)}));
    f.ret(f.op("Identity", {n}));
    f.ret(y);
    f.ret(f.op("Identity", {w}));
    f.ret(f.op("TensorListPushBack", {values, x}));
    f.ret(f.op("TensorListPushBack", {weights, w}));
    f.ret(f.op("TensorListPushBack", {shapes, f.op("Shape", {y})}));
  });
  const std::vector<DType> types{kI, kI, kF, kF, kV, kV, kV};
  Node* loop = m.node("StatelessWhile", {m.i(0), n, x, w, empty_list(m, {-1}, kF), empty_list(m, {-1}, kF), empty_list(m, {1}, kI)},
                      {{"T", types}, {"cond", cond}, {"body", body}});
  FunctionAttr back_cond = define(m, "back_cond", [](Maker& f) {
    Endpoint i = f.arg(kI), n = f.arg(kI);
    f.arg(kF), f.arg(kV), f.arg(kV), f.arg(kV);
    f.ret(f.op("Less", {i, n}));
  });
  FunctionAttr back = define(m, "back", [](Maker& f) {
    Endpoint i = f.arg(kI), n = f.arg(kI), sum = f.arg(kF), values = f.arg(kV), weights = f.arg(kV), shapes = f.arg(kV);
    Node *v = pop(f, values, kF), *w = pop(f, weights, kF), *s = pop(f, shapes, kI);
    f.ret(f.op("AddV2", {i, f.i(1)}));
    f.ret(n);
    f.ret(f.op("AddV2", {sum, f.op("Reshape", {f.op("Mul", {f.op("Sin", {{v, 1}}), {w, 1}}), {s, 1}})}));
    f.ret({v, 0}), f.ret({w, 0}), f.ret({s, 0});
  });
  const std::vector<DType> back_types{kI, kI, kF, kV, kV, kV};
  Node* gradient =
      m.node("StatelessWhile", {m.i(0), n, x, {loop, 4}, {loop, 5}, {loop, 6}}, {{"T", back_types}, {"cond", back_cond}, {"body", back}});
  m.ret({loop, 2});
  m.ret({gradient, 2});
}

}  // namespace

TEST_CASE("loop lists: values that stay the same are not pushed, and shapes of the others are known") {
  for (int n : {0, 1, 5}) {
    const std::vector<Tensor> args{noise({3}), noise({3}, 2), Tensor::scalar(int32_t(n))};
    auto m = specialized(push_and_pop, args);
    REQUIRE(count(m, "StatelessWhile") == 2);
    CHECK(count(m, "EmptyTensorList") == 1);
    const Node *forward = only(m, "StatelessWhile", 0), *backward = only(m, "StatelessWhile", 1);
    CHECK(forward->num_inputs() == 5);   // i, n, x, w, values
    CHECK(backward->num_inputs() == 5);  // i, n, sum, values, w
    // Without shapes the lists stay, but for the weights.
    CHECK(count(optimized(push_and_pop, args), "EmptyTensorList") == 2);
  }
}

TEST_CASE("loop lists: names of functions do not grow with every pass") {
  Maker m;
  push_and_pop(m);
  PassContext c;
  c.arg_shapes = {PartialShape({3}), PartialShape({3}), PartialShape::scalar()};
  for (int i = 0; i < 5; ++i) must(optimize(m.body, c));
  for (const std::string& name : m.g().library()->names()) CHECK(name.size() < 40);
  CHECK(m.g().library()->size() < 20);
}
