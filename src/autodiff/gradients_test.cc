// Gradients of small programs whose values are not tensors alone: variables, lists, arrays, maps, branches, sparse matrices.
// The numbers they are held against are differences of the programs themselves.
#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "autodiff/gradients.h"
#include "engine/engine.h"
#include "graph/graph_emitter.h"
#include "graph/import.h"
#include "graph/while_loop.h"
#include "io/graph_def.h"
#include "op/emit.h"
#include "tests/support/differences.h"

using namespace weft_engine;           // NOLINT
using namespace weft_engine::testing;  // NOLINT
using graph::Endpoint;
using graph::GraphEmitter;
using op::AttrMap;
using op::Value;

namespace {

using Values = std::vector<Value>;

Tensor numbers(Shape shape, DType type = DType::kDouble) {
  Tensor t = *Tensor::zeros(type, shape);
  Numbers n = random_like(t, false);
  return *tensor_of(n, type, shape);
}

struct Program {
  GradGraph g{engine::Engine::get().registry()};
  GraphEmitter e{g.graph, g.shapes, "program"};
  Values x;
  std::string scope = "gradients";

  explicit Program(std::initializer_list<Tensor> inputs) {
    seed_random(7);
    for (const Tensor& t : inputs) {
      auto end = g.placeholder(cat("x", x.size()), t);
      REQUIRE(end.ok());
      x.push_back(e.wrap(*end));
    }
  }

  Value ints(const std::vector<int32_t>& v) { return op::ints(e, v); }
  Value number(int32_t i) { return op::scalar(e, DType::kInt32, i); }

  // The gradient of y by `by`, which stands for the values of the placeholders `moved`; and, where asked, its own.
  void check(const Values& ys, const Values& by, const Values& moved, bool second = true) {
    REQUIRE_MESSAGE(!e.failed(), e.take_status().to_string());
    std::vector<Endpoint> y, xs, feeds, dys;
    for (const Value& v : ys) y.push_back(GraphEmitter::unwrap(v));
    for (const Value& v : by) xs.push_back(GraphEmitter::unwrap(v));
    for (const Value& v : moved) feeds.push_back(GraphEmitter::unwrap(v));
    auto values = g.run(y);
    REQUIRE_MESSAGE(values.ok(), values.status().to_string());
    std::vector<Numbers> weights;
    for (size_t i = 0; i < y.size(); ++i) {
      weights.push_back(random_like((*values)[i], false));
      dys.push_back(*g.placeholder(cat("dy", i), *tensor_of(weights.back(), (*values)[i].dtype(), (*values)[i].shape())));
    }
    auto grads = autodiff::add_gradients(g.graph, g.shapes, y, xs, dys, {.scope = scope});
    REQUIRE_MESSAGE(grads.ok(), grads.status().to_string());
    Verdict v = check_differences(g, y, weights, feeds, *grads);
    CHECK_MESSAGE(v.outcome == Outcome::kAgrees, v.why);
    if (!second || v.outcome != Outcome::kAgrees) return;
    auto first = g.run(*grads);
    REQUIRE(first.ok());
    std::vector<Numbers> weights2;
    std::vector<Endpoint> ws;
    for (size_t i = 0; i < first->size(); ++i) {
      const Tensor& t = (*first)[i];
      weights2.push_back(random_like(t, false));
      ws.push_back(*g.placeholder(cat("w", i), *tensor_of(weights2.back(), t.dtype(), t.shape())));
    }
    xs.insert(xs.end(), dys.begin(), dys.end());
    feeds.insert(feeds.end(), dys.begin(), dys.end());
    auto grads2 = autodiff::add_gradients(g.graph, g.shapes, *grads, xs, ws, {.scope = "second", .unreachable_is_error = false});
    REQUIRE_MESSAGE(grads2.ok(), grads2.status().to_string());
    v = check_differences(g, *grads, weights2, feeds, *grads2);
    CHECK_MESSAGE(v.outcome == Outcome::kAgrees, "second order: ", v.why);
  }
  void check(const Value& y, bool second = true) { check({y}, x, x, second); }
};

// A variable that is set to a value before each read that follows.
Value variable(Program& p, const Value& value) {
  Value handle = p.e.one("VarHandleOp", {}, {{"dtype", value.dtype()}, {"shape", value.shape()}, {"shared_name", "v"}});
  p.e.apply("AssignVariableOp", {handle, value});
  p.e.set_controls({p.e.added().back()});
  return handle;
}

Value square(const Value& x) { return op::unary("Square", x); }

}  // namespace

TEST_CASE("variables: reads add up") {
  Program p({numbers({3})});
  Value v = variable(p, p.x[0]);
  const AttrMap type = {{"dtype", DType::kDouble}};
  Value y = square(p.e.one("ReadVariableOp", {v}, type)) + p.e.one("ReadVariableOp", {v}, type);
  p.check({y}, {v}, {p.x[0]});
}

TEST_CASE("variables: gathered rows, also twice, and beside a read") {
  for (bool read : {false, true}) {
    Program p({numbers({4, 2})});
    Value v = variable(p, p.x[0]);
    const AttrMap type = {{"dtype", DType::kDouble}};
    Value y = square(p.e.one("ResourceGather", {v, p.ints({2, 0, 2})}, type));
    if (read) y = y * op::reduce("Sum", p.e.one("ReadVariableOp", {v}, type), p.ints({0, 1}));
    p.check({y}, {v}, {p.x[0]});
  }
  Program p({numbers({4, 2})});
  Value v = variable(p, p.x[0]);
  Value at = op::reshape(p.ints({2, 1, 0, 0, 2, 1}), p.ints({3, 2}));
  Value y = square(p.e.one("ResourceGatherNd", {v, at}, {{"dtype", DType::kDouble}}));
  p.check({y}, {v}, {p.x[0]});
  Program q({numbers({4, 2})});
  v = variable(q, q.x[0]);
  y = square(q.e.one("ResourceGatherNd", {v, op::reshape(q.ints({2, 0, 2}), q.ints({3, 1}))}, {{"dtype", DType::kDouble}}));
  q.check({y}, {v}, {q.x[0]});
}

TEST_CASE("lists: pushed and stacked, popped and used") {
  Program p({numbers({2, 3}), numbers({2, 3})});
  const AttrMap type = {{"element_dtype", DType::kDouble}};
  Value list = p.e.one("EmptyTensorList", {p.ints({2, 3}), p.number(-1)}, type);
  list = p.e.one("TensorListPushBack", {list, p.x[0]});
  list = p.e.one("TensorListPushBack", {list, p.x[0] * p.x[1]});
  list = p.e.one("TensorListPushBack", {list, square(p.x[1])});
  auto popped = p.e.apply("TensorListPopBack", {list, p.ints({2, 3})}, type);
  Value stacked = p.e.one("TensorListStack", {popped[0], p.ints({2, 3})}, type);
  p.check(square(stacked) * popped[1]);
}

TEST_CASE("lists: from tensors, read, set, resized, gathered, scattered") {
  const AttrMap type = {{"element_dtype", DType::kDouble}};
  {
    Program p({numbers({4, 3}), numbers({3})});
    Value list = p.e.one("TensorListFromTensor", {p.x[0], p.ints({3})});
    list = p.e.one("TensorListSetItem", {list, p.number(2), p.x[1]});
    Value item = p.e.one("TensorListGetItem", {list, p.number(1), p.ints({3})}, type);
    Value same = p.e.one("TensorListGetItem", {list, p.number(2), p.ints({3})}, type);
    p.check(square(item) * same);
  }
  {
    Program p({numbers({4, 3}), numbers({3})});
    Value list = p.e.one("TensorListResize", {p.e.one("TensorListFromTensor", {p.x[0], p.ints({3})}), p.number(6)});
    list = p.e.one("TensorListSetItem", {list, p.number(5), p.x[1]});
    Value gathered = p.e.one("TensorListGather", {list, p.ints({5, 1, 0}), p.ints({3})}, type);
    p.check(square(gathered));
  }
  {
    Program p({numbers({4, 3}), numbers({3})});
    Value list = p.e.one("TensorListSetItem", {p.e.one("TensorListFromTensor", {p.x[0], p.ints({3})}), p.number(6), p.x[1]},
                         {{"resize_if_index_out_of_bounds", true}});
    p.check(square(p.e.one("TensorListGather", {list, p.ints({6, 1, 0}), p.ints({3})}, type)));
  }
  for (const char* op : {"TensorListScatter", "TensorListScatterV2"}) {
    Program p({numbers({3, 2})});
    Values in = {p.x[0], p.ints({2, 0, 1}), p.ints({2})};
    if (op == std::string_view("TensorListScatterV2")) in.push_back(p.number(4));
    Value list = p.e.apply(op, in)[0];
    p.check(square(p.e.one("TensorListGetItem", {list, p.number(2), p.ints({2})}, type)));
  }
  {
    Program p({numbers({4, 2}), numbers({2, 2})});
    Value list = p.e.one("TensorListFromTensor", {p.x[0], p.ints({2})});
    list = p.e.one("TensorListScatterIntoExistingList", {list, p.x[1], p.ints({3, 0})});
    p.check(square(p.e.one("TensorListStack", {list, p.ints({2})}, type)));
  }
}

TEST_CASE("lists: split and concatenated") {
  for (bool second_version : {false, true}) {
    Program p({numbers({5, 2})});
    const Value lengths = p.e.constant(Tensor::vector(std::vector<int64_t>{2, 3}));
    Value list = p.e.one("TensorListSplit", {square(p.x[0]), p.ints({-1, 2}), lengths});
    std::vector<Value> joined;
    if (second_version) joined = p.e.apply("TensorListConcatV2", {list, p.ints({-1, 2}), lengths}, {{"element_dtype", DType::kDouble}});
    else joined = p.e.apply("TensorListConcat", {list}, {{"element_dtype", DType::kDouble}, {"element_shape", PartialShape{kUnknownDim, 2}}});
    p.check(joined[0] * p.x[0]);
  }
}

TEST_CASE("arrays: written, read, gathered, scattered, joined, split") {
  const AttrMap type = {{"dtype", DType::kDouble}};
  auto array = [&](Program& p, int size) {
    return p.e.apply("TensorArrayV3", {p.number(size)}, {{"dtype", DType::kDouble}, {"clear_after_read", false}});
  };
  {
    Program p({numbers({3}), numbers({3})});
    auto a = array(p, 2);
    Value flow = p.e.one("TensorArrayWriteV3", {a[0], p.number(0), p.x[0], a[1]});
    flow = p.e.one("TensorArrayWriteV3", {a[0], p.number(1), p.x[0] * p.x[1], flow});
    Value first = p.e.one("TensorArrayReadV3", {a[0], p.number(0), flow}, type);
    Value both = p.e.one("TensorArrayGatherV3", {a[0], p.ints({1, 0}), flow}, type);
    p.check(square(both) * first, false);
  }
  {
    Program p({numbers({3, 2})});
    auto a = array(p, 3);
    Value flow = p.e.one("TensorArrayScatterV3", {a[0], p.ints({2, 0, 1}), p.x[0], a[1]});
    Value y = square(p.e.one("TensorArrayReadV3", {a[0], p.number(1), flow}, type)) * p.e.one("TensorArrayReadV3", {a[0], p.number(2), flow}, type) +
              op::reduce("Sum", p.e.one("TensorArrayReadV3", {a[0], p.number(0), flow}, type), p.ints({0}));
    p.check(y, false);
  }
  {
    Program p({numbers({5, 2})});
    auto a = array(p, 2);
    Value flow = p.e.one("TensorArraySplitV3", {a[0], p.x[0], p.e.constant(Tensor::vector(std::vector<int64_t>{2, 3})), a[1]});
    p.check(square(p.e.apply("TensorArrayConcatV3", {a[0], flow}, type)[0]), false);
  }
}

TEST_CASE("arrays: two walks back over one array do not mix") {
  Program p({numbers({3})});
  auto a = p.e.apply("TensorArrayV3", {p.number(1)}, {{"dtype", DType::kDouble}, {"clear_after_read", false}});
  Value flow = p.e.one("TensorArrayWriteV3", {a[0], p.number(0), p.x[0], a[1]});
  const Endpoint y = GraphEmitter::unwrap(square(p.e.one("TensorArrayReadV3", {a[0], p.number(0), flow}, {{"dtype", DType::kDouble}})));
  const Endpoint x = GraphEmitter::unwrap(p.x[0]);
  auto one = autodiff::add_gradients(p.g.graph, p.g.shapes, {y}, {x}, {}, {.scope = "one"});
  auto two = autodiff::add_gradients(p.g.graph, p.g.shapes, {y}, {x}, {}, {.scope = "two"});
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  auto got = p.g.run(std::vector<Endpoint>{(*one)[0], (*two)[0]});
  REQUIRE_MESSAGE(got.ok(), got.status().to_string());
  for (int64_t i = 0; i < 3; ++i) {
    for (const Tensor& t : *got) CHECK(t.data<double>()[i] == doctest::Approx(2 * p.g.values[0].data<double>()[i]));
  }
}

TEST_CASE("optionals and maps") {
  {
    Program p({numbers({3}), numbers({2})});
    Value some = p.e.apply("OptionalFromValue", std::vector<Value>{square(p.x[0]), p.x[1]})[0];
    auto out = p.e.apply("OptionalGetValue", {some},
                         {{"output_types", std::vector<DType>{DType::kDouble, DType::kDouble}},
                          {"output_shapes", std::vector<PartialShape>{PartialShape{3}, PartialShape{2}}}});
    p.check({square(out[0]), square(out[1])}, p.x, p.x);
  }
  {
    Program p({numbers({3}), numbers({3})});
    Value map = p.e.one("TensorMapInsert", {p.e.one("EmptyTensorMap", {}), p.number(1), p.x[0]});
    map = p.e.one("TensorMapInsert", {map, p.number(2), p.x[0] * p.x[1]});
    map = p.e.one("TensorMapInsert", {map, p.number(1), square(p.x[1])});
    const AttrMap type = {{"value_dtype", DType::kDouble}};
    Value less = p.e.one("TensorMapErase", {map, p.number(1)}, type);
    p.check(p.e.one("TensorMapLookup", {map, p.number(1)}, type) * p.e.one("TensorMapLookup", {less, p.number(2)}, type), false);
  }
}

TEST_CASE("eigenvalues of any matrix, and what does not depend on the length of eigenvectors") {
  Program p({numbers({3, 3})});
  auto eig = p.e.apply("Eig", {p.x[0]}, {{"Tout", DType::kComplex128}, {"compute_v", true}});
  p.check({square(eig[0])}, p.x, p.x);
  Program q({numbers({3, 3})});
  eig = q.e.apply("Eig", {q.x[0]}, {{"Tout", DType::kComplex128}, {"compute_v", true}});
  const Value inverse = op::unary("MatrixInverse", eig[1]), scaled = eig[1] * op::expand_dims(op::unary("Exp", eig[0]), -2);
  q.check({op::batch_matmul(scaled, inverse)}, q.x, q.x, false);
}

TEST_CASE("the greatest of rows, in the old form") {
  Program p({numbers({4})});
  p.check(p.e.apply("TopK", {square(p.x[0])}, {{"k", int64_t(2)}})[0]);
}

TEST_CASE("branches: the side that was taken") {
  for (bool taken : {false, true}) {
    Program p({numbers({3}), numbers({3})});
    const Value condition = *[&]() -> Result<Value> {
      WEFT_ASSIGN(Endpoint end, p.g.placeholder("condition", Tensor::scalar<bool>(taken)));
      return p.e.wrap(end);
    }();
    auto a = p.e.apply("Switch", {p.x[0], condition}), b = p.e.apply("Switch", {p.x[1], condition});
    Value y = p.e.apply("Merge", {square(a[0]) * b[0], op::unary("Exp", a[1])})[0];
    p.check(y * p.x[0]);
  }
}

TEST_CASE("what only looks at a value passes its gradient on") {
  Program p({numbers({3})});
  Value y = p.e.one("CheckNumerics", {p.x[0]}, {{"message", "x"}});
  y = p.e.one("CheckNumericsV2", {y}, {{"message", "x"}});
  p.check(square(y));
}

TEST_CASE("sparse matrices") {
  for (DType type : {DType::kDouble, DType::kComplex128}) {
    const AttrMap t = {{"type", type}};
    auto at = [](Program& p, const std::vector<int64_t>& v) {
      return op::reshape(p.e.constant(Tensor::vector(v)), p.ints({int32_t(v.size() / 2), 2}));
    };
    auto shape = [](Program& p, const std::vector<int64_t>& v) { return p.e.constant(Tensor::vector(v)); };
    // Dense and back, transposed, added.
    {
      Program p({numbers({3, 4}, type), numbers({3}, type)});
      Value a = p.e.one("DenseToCSRSparseMatrix", {p.x[0], at(p, {0, 1, 1, 0, 1, 3, 2, 2})});
      Value b = p.e.one("SparseTensorToCSRSparseMatrix", {at(p, {0, 1, 1, 2, 2, 2}), p.x[1], shape(p, {3, 4})});
      Value sum = p.e.one("SparseMatrixAdd", {a, b, op::scalar(p.e, type, 2), op::scalar(p.e, type, -3)});
      Value dense = p.e.one("CSRSparseMatrixToDense", {p.e.one("SparseMatrixTranspose", {sum}, {{"type", type}, {"conjugate", true}})}, t);
      p.check(square(dense), false);
    }
    {
      Program p({numbers({3, 4}, type)});
      Value a = p.e.one("DenseToCSRSparseMatrix", {p.x[0], at(p, {0, 1, 1, 0, 1, 3, 2, 2})});
      p.check(square(p.e.apply("CSRSparseMatrixToSparseTensor", {a}, t)[1]), false);
    }
    // One that is used twice.
    {
      Program p({numbers({3, 4}, type), numbers({4, 2}, type)});
      Value a = p.e.one("DenseToCSRSparseMatrix", {p.x[0], at(p, {0, 1, 1, 0, 1, 3, 2, 2})});
      Value product = p.e.one("SparseMatrixMatMul", {a, p.x[1]});
      p.check({square(product), p.e.one("CSRSparseMatrixToDense", {a}, t)}, p.x, p.x, false);
    }
    // Every way to multiply.
    for (int turns = 0; turns < 9; ++turns) {
      const int ta = turns % 3, tb = turns / 3;
      CAPTURE(ta);
      CAPTURE(tb);
      const AttrMap flags = {{"transpose_a", ta == 1}, {"adjoint_a", ta == 2}, {"transpose_b", tb == 1}, {"adjoint_b", tb == 2}};
      for (int output = 0; output < 4; ++output) {
        Program p({numbers({5}, type), numbers(tb ? Shape({2, ta ? 3 : 4}) : Shape({ta ? 3 : 4, 2}), type)});
        Value a = p.e.one("SparseTensorToCSRSparseMatrix", {at(p, {0, 1, 0, 3, 1, 0, 2, 1, 2, 2}), p.x[0], shape(p, {3, 4})});
        AttrMap all = flags;
        all["transpose_output"] = (output & 1) != 0;
        all["conjugate_output"] = (output & 2) != 0;
        p.check(square(p.e.one("SparseMatrixMatMul", {a, p.x[1]}, all)), false);
      }
      Program p({numbers({5}, type), numbers({4}, type)});
      Value a = p.e.one("SparseTensorToCSRSparseMatrix", {at(p, {0, 1, 0, 3, 1, 0, 2, 1, 2, 2}), p.x[0], shape(p, {3, 4})});
      const int64_t inner = ta ? 3 : 4;
      Value b = p.e.one("SparseTensorToCSRSparseMatrix", {at(p, {0, 1, 1, 0, 1, 1, 2, 2}), p.x[1], shape(p, {tb ? 3 : inner, tb ? inner : 3})});
      AttrMap all = flags;
      all["type"] = type;
      Value c = p.e.one("SparseMatrixSparseMatMul", {a, b}, all);
      p.check(square(p.e.one("CSRSparseMatrixToDense", {c}, t)), false);
    }
  }
  Program p({numbers({5})});
  const Value at = op::reshape(p.e.constant(Tensor::vector(std::vector<int64_t>{0, 1, 0, 3, 1, 0, 2, 1, 2, 2})), p.ints({5, 2}));
  Value a = p.e.one("SparseTensorToCSRSparseMatrix", {at, p.x[0], p.e.constant(Tensor::vector(std::vector<int64_t>{3, 4}))});
  Value soft = p.e.one("SparseMatrixSoftmax", {a}, {{"type", DType::kDouble}});
  p.check(square(p.e.one("CSRSparseMatrixToDense", {soft}, {{"type", DType::kDouble}})), false);
}

TEST_CASE("ragged tensors as variants") {
  Program p({numbers({5, 2})});
  const Value splits = p.e.constant(Tensor::vector(std::vector<int64_t>{0, 2, 2, 5}));
  Value rows =
      p.e.apply("RaggedTensorToVariant", std::vector<Value>{splits, square(p.x[0])}, {{"RAGGED_RANK", int64_t(1)}, {"batched_input", true}})[0];
  auto back = p.e.apply("RaggedTensorFromVariant", {rows},
                        {{"input_ragged_rank", int64_t(0)}, {"output_ragged_rank", int64_t(1)}, {"Tvalues", DType::kDouble}});
  REQUIRE(!back.empty());
  p.check(back.back() * p.x[0], false);
}

namespace {

// A loop of frames by hand: `body` gives the next values of the variables; the first is the counter, which goes to `limit`.
struct FrameLoop {
  Program& p;
  std::string name;

  Value enter(const Value& x, bool constant) { return p.e.one("Enter", {x}, {{"frame_name", name}, {"is_constant", constant}}); }

  Values run(const Values& start, const Value& limit, const std::function<Values(const Values&)>& body) {
    std::vector<graph::Node*> merges;
    Values merged, inside, next, out;
    for (const Value& x : start) {
      const Value in = enter(x, false);
      merged.push_back(p.e.apply("Merge", {in, in})[0]);
      merges.push_back(GraphEmitter::unwrap(merged.back()).node);
    }
    const Value go = p.e.one("LoopCond", {p.e.one("Less", {merged[0], limit})});
    for (const Value& m : merged) {
      auto sides = p.e.apply("Switch", {m, go});
      out.push_back(p.e.one("Exit", {sides[0]}));
      inside.push_back(p.e.one("Identity", {sides[1]}));
    }
    next = body(inside);
    for (size_t i = 0; i < start.size(); ++i) {
      p.g.graph.set_input(merges[i], 1, GraphEmitter::unwrap(p.e.one("NextIteration", {next[i]})));
    }
    return out;
  }
  // A number inside the loop waits for it.
  Value number(const Value& inside, int32_t i) {
    p.e.set_controls({GraphEmitter::unwrap(inside).node});
    Value v = p.number(i);
    p.e.set_controls({});
    return v;
  }
};

}  // namespace

TEST_CASE("loops of frames") {
  {
    Program p({numbers({3}), numbers({3})});
    FrameLoop loop{p, "outer/while"};
    const Value limit = loop.enter(p.number(4), true), factor = loop.enter(p.x[1], true);
    Values out =
        loop.run({p.number(0), p.x[0]}, limit, [&](const Values& v) { return Values{v[0] + loop.number(v[0], 1), op::unary("Sin", v[1]) * factor}; });
    p.check(square(out[1]));
    // The loop still gives what it gave.
    auto now = p.g.run(std::vector<Endpoint>{GraphEmitter::unwrap(out[0])});
    REQUIRE(now.ok());
    CHECK((*now)[0].data<int32_t>()[0] == 4);
  }
  {
    Program p({numbers({2}), numbers({2})});
    FrameLoop outer{p, "outer"}, inner{p, "inner"};
    const Value limit = outer.enter(p.number(2), true), factor = outer.enter(p.x[1], true);
    Values out = outer.run({p.number(0), p.x[0]}, limit, [&](const Values& v) {
      const Value inner_limit = inner.enter(outer.number(v[0], 3), true), inner_factor = inner.enter(factor, true);
      Values in = inner.run({outer.number(v[0], 0), v[1]}, inner_limit,
                            [&](const Values& w) { return Values{w[0] + inner.number(w[0], 1), square(w[1]) * inner_factor}; });
      return Values{v[0] + outer.number(v[0], 1), in[1] + factor};
    });
    p.check(out[1]);
  }
  // As recurrent networks of version 1 are: inputs from an array, results into another.
  for (const char* scope : {"gradients", "other"}) {
    const AttrMap type = {{"dtype", DType::kDouble}};
    Program p({numbers({4, 3}), numbers({3})});
    p.scope = scope;
    auto array = [&] {
      return p.e.apply("TensorArrayV3", {p.number(4)}, {{"dtype", DType::kDouble}, {"clear_after_read", false}, {"element_shape", PartialShape{3}}});
    };
    auto steps = array(), results = array();
    const Value flow = p.e.one("TensorArrayScatterV3", {steps[0], p.ints({0, 1, 2, 3}), p.x[0], steps[1]});
    FrameLoop loop{p, "rnn"};
    const Value limit = loop.enter(p.number(4), true), from = loop.enter(steps[0], true), from_flow = loop.enter(flow, true),
                to = loop.enter(results[0], true);
    Values out = loop.run({p.number(0), p.x[1], results[1]}, limit, [&](const Values& v) {
      const Value state = op::unary("Tanh", v[1] * p.e.one("TensorArrayReadV3", {from, v[0], from_flow}, type));
      return Values{v[0] + loop.number(v[0], 1), state, p.e.one("TensorArrayWriteV3", {to, v[0], state, v[2]})};
    });
    p.check(square(p.e.one("TensorArrayGatherV3", {results[0], p.ints({0, 1, 2, 3}), out[2]}, type)), false);
  }
}

TEST_CASE("where the gradient of a loop fails, the loop is as it was") {
  Program p({numbers({3})});
  FrameLoop loop{p, "loop"};
  const Value limit = loop.enter(p.number(2), true);
  Values out = loop.run({p.number(0), p.x[0]}, limit,
                        [&](const Values& v) { return Values{v[0] + loop.number(v[0], 1), op::binary("IgammaGradA", v[1], v[1])}; });
  const Endpoint y = GraphEmitter::unwrap(out[1]), x = GraphEmitter::unwrap(p.x[0]);
  const int before = p.g.graph.num_ids();
  auto grads = autodiff::add_gradients(p.g.graph, p.g.shapes, {y}, {x}, {});
  CHECK(grads.status().code() == Code::kNotFound);
  CHECK(y.node->op() == "Exit");
  CHECK(y.node->input(0).node->op() == "Switch");
  for (int id = p.g.graph.num_ids() - 1; id >= before; --id) {
    if (auto* n = p.g.graph.node(id)) p.g.graph.remove(n);
  }
  auto got = p.g.run(std::vector<Endpoint>{GraphEmitter::unwrap(out[0])});
  REQUIRE_MESSAGE(got.ok(), got.status().to_string());
  CHECK((*got)[0].data<int32_t>()[0] == 2);
}

TEST_CASE("loops as TF_FinishWhile builds them") {
  Program p({numbers({3})});
  Program cond({Tensor::scalar<int32_t>(0), numbers({3})}), body({Tensor::scalar<int32_t>(0), numbers({3})});
  const Value go = cond.e.one("Less", {cond.x[0], cond.number(3)});
  const Value next = op::unary("Sin", body.x[1]) * op::scalar(body.e, DType::kDouble, 1.5), count = body.x[0] + body.number(1);
  auto ends = [](const Values& v) {
    std::vector<Endpoint> out;
    for (const Value& x : v) out.push_back(GraphEmitter::unwrap(x));
    return out;
  };
  graph::WhileLoop loop{
      "loop", ends({p.number(0), p.x[0]}), {&cond.g.graph, ends(cond.x), ends({go})}, {&body.g.graph, ends(body.x), ends({count, next})}};
  auto built = graph::build_while_loop(p.g.graph, loop);
  REQUIRE_MESSAGE(built.ok(), built.status().to_string());
  REQUIRE(p.g.shapes.all({}).ok());
  p.check(p.e.wrap(built->outputs[1]));
}

TEST_CASE("loops that TensorFlow wrote have TensorFlow's gradients") {
  for (const char* name : {"power", "nested", "until", "rnn", "branch", "branches_inside", "rnn_lengths"}) {
    CAPTURE(name);
    const std::string path = cat("tests/graphs/frame_loops/", name);
    std::ifstream file(path + ".pb", std::ios::binary);
    auto bytes = std::make_shared<std::string>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    auto def = io::decode_graph_def(std::shared_ptr<const std::string>(bytes));
    REQUIRE(def.ok());
    GradGraph g(engine::Engine::get().registry());
    auto imported = graph::import_graph_def(g.graph, std::move(*def));
    REQUIRE_MESSAGE(imported.ok(), imported.status().to_string());
    REQUIRE(g.shapes.all({}).ok());
    std::vector<Endpoint> ys, xs;
    std::vector<std::vector<double>> want;
    std::ifstream lines(path + ".txt");
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string what, node, word;
      fields >> what >> node;
      const Endpoint end{g.graph.find(node), 0};
      REQUIRE(end.node);
      std::vector<int64_t> dims;
      while (fields >> word && word != ":") dims.push_back(std::stoll(word));
      std::vector<double> numbers;
      for (double v; fields >> v;) numbers.push_back(v);
      if (what == "y") ys.push_back(end);
      if (what == "feed") {
        g.feeds.push_back(end);
        g.values.push_back(*tensor_of(Numbers(numbers.begin(), numbers.end()), DType::kFloat, Shape(dims)));
      }
      if (what == "grad") {
        xs.push_back(end);
        want.push_back(numbers);
      }
    }
    auto grads = autodiff::add_gradients(g.graph, g.shapes, ys, xs, {});
    REQUIRE_MESSAGE(grads.ok(), grads.status().to_string());
    auto got = g.run(*grads);
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    for (size_t i = 0; i < want.size(); ++i) {
      REQUIRE((*got)[i].num_elements() == int64_t(want[i].size()));
      for (size_t k = 0; k < want[i].size(); ++k) CHECK((*got)[i].data<float>()[k] == doctest::Approx(want[i][k]).epsilon(1e-5));
    }
  }
}

TEST_CASE("gradients inside a loop of frames, and loops without a shape, are refused by name") {
  Program p({numbers({3})});
  Value inside = p.e.one("Enter", {p.x[0]}, {{"frame_name", "loop"}});
  const Endpoint y = GraphEmitter::unwrap(p.e.one("Exit", {inside})), x = GraphEmitter::unwrap(p.x[0]);
  auto grads = autodiff::add_gradients(p.g.graph, p.g.shapes, {y}, {x}, {});
  REQUIRE(!grads.ok());
  CHECK(grads.status().code() == Code::kUnimplemented);
  CHECK(grads.status().message().find("loop 'loop', which is made of frames") != std::string_view::npos);
  grads = autodiff::add_gradients(p.g.graph, p.g.shapes, {y}, {GraphEmitter::unwrap(inside)}, {});
  REQUIRE(!grads.ok());
  CHECK(grads.status().message().find("inside loop 'loop'") != std::string_view::npos);
}
