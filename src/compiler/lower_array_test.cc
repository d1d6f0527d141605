// Shapes that graphs compute, with unknown sizes: what is known must reach the ops that need it.
#include <functional>

#include <doctest/doctest.h>

#include "engine/engine.h"
#include "op/lower.h"
#include "tests/compiler/arrays.h"

using namespace weft_engine;  // NOLINT
using core::DType;
using core::Tensor;
using ir::Dim;
using ir::Value;
using op::Lowered;
using op::LoweredList;

namespace {

// Applies rules one after the other, as the driver does.
struct Rules : op::LowerHost {
  ir::Module m;
  ir::Builder b{m};

  LoweredList call(const op::FunctionAttr&, LoweredList) override { return {}; }
  LoweredList while_loop(const op::FunctionAttr&, const op::FunctionAttr&, LoweredList) override { return {}; }
  LoweredList branch(Value, const std::vector<op::FunctionAttr>&, LoweredList) override { return {}; }
  Lowered variable(const op::NodeInfo& node) override { return named_state(node); }
  Lowered named_state(const op::NodeInfo&) override { return Lowered::state(0); }
  Lowered derived_state(int, std::string_view) override { return {}; }
  const Lowered* read(int) override { return &state; }
  bool has_value(int) const override { return state.tensor() != nullptr; }
  void write(int, Lowered v) override { state = v; }
  Lowered state;

  Value input(DType t, std::vector<Dim> dims) { return b.parameter({ir::Parameter::Kind::kInput, "x", {t, std::move(dims)}}); }
  Value ints(std::vector<int64_t> v) { return b.ints(v); }
  std::vector<Value> all(const char* op, std::vector<Value> in, op::AttrMap attrs = {}) {
    const auto* spec = engine::Engine::get().registry().find(op);
    REQUIRE(spec != nullptr);
    const bool has_rule = spec->lower != nullptr;
    REQUIRE_MESSAGE(has_rule, op);
    std::vector<DType> types;
    LoweredList inputs;
    for (Value v : in) {
      REQUIRE_MESSAGE(v, b.status().to_string());
      types.push_back(v->type.dtype);
      inputs.emplace_back(v);
    }
    auto node = op::NodeInfo::make(*spec, op, std::move(attrs), types);
    REQUIRE_MESSAGE(node.ok(), node.status().to_string());
    b.set_node(op);
    op::LowerContext l(b, *this, *node, inputs);
    std::vector<Value> out;
    for (const Lowered& v : spec->lower(l)) out.push_back(v.tensor());
    return out;
  }
  Value one(const char* op, std::vector<Value> in, op::AttrMap attrs = {}) {
    auto out = all(op, std::move(in), std::move(attrs));
    return out.empty() ? nullptr : out[0];
  }
  Value at(Value shape, int64_t i) { return one("StridedSlice", {shape, ints({i}), ints({i + 1}), ints({1})}, {{"shrink_axis_mask", int64_t(1)}}); }
};

const Dim kBatch = Dim::symbol(0), kTime = Dim::symbol(1);

}  // namespace

TEST_CASE("a shape that is taken apart and put together reshapes") {
  Rules r;
  const Value x = r.input(DType::kFloat, {kBatch, kTime, Dim(12)});
  const Value shape = r.one("Shape", {x});
  const Value heads = r.one("Pack", {r.at(shape, 0), r.at(shape, 1), r.b.scalar_int(DType::kInt32, 3), r.b.scalar_int(DType::kInt32, 4)});
  const Value y = r.one("Reshape", {x, heads});
  REQUIRE_MESSAGE(y, r.b.status().to_string());
  CHECK(y->type.to_string() == "float[s0, s1, 3, 4]");
  const Value flat = r.one("Reshape", {r.one("Transpose", {y, r.ints({0, 2, 1, 3})}), r.ints({-1, 4})});
  REQUIRE(flat);
  CHECK(flat->type.to_string() == "float[3*s0*s1, 4]");
  // The rows before and behind, as one over the batch sees them.
  const Value rows = r.one("Prod", {r.one("StridedSlice", {shape, r.ints({0}), r.ints({2}), r.ints({1})}), r.ints({0})}, {{"keep_dims", true}});
  const Value last = r.one("ConcatV2", {rows, r.ints({12}), r.b.scalar_int(DType::kInt32, 0)});
  CHECK(r.one("Reshape", {x, last})->type.to_string() == "float[s0*s1, 12]");
}

TEST_CASE("gradients of broadcasts with open sizes") {
  Rules r;
  const Value x = r.one("Shape", {r.input(DType::kFloat, {kBatch, Dim(10)})}), y = r.ints({10});
  const auto sums = r.all("BroadcastGradientArgs", {x, y});
  REQUIRE(sums.size() == 2);
  CHECK(sums[0]->known->empty());
  REQUIRE(sums[1]->known->size() == 1);
  CHECK((*sums[1]->known)[0].is(0));
  const Value one = r.one("Shape", {r.input(DType::kFloat, {Dim(1), Dim(10)})});
  CHECK(r.all("BroadcastGradientArgs", {x, one})[1]->known->size() == 1);
  // Two open sizes that must be equal are asked to be one.
  const Value z = r.one("Shape", {r.input(DType::kFloat, {kTime, Dim(10)})});
  r.all("BroadcastGradientArgs", {x, z});
  CHECK(!r.b.status().ok());
  REQUIRE(r.b.unify());
  CHECK(r.b.unify()->first == 1);
}

TEST_CASE("slices of open dimensions have sizes that fit each other") {
  Rules r;
  const Value x = r.input(DType::kFloat, {kBatch, Dim(4)});
  auto slice = [&](int64_t begin, int64_t end, int64_t stride, int64_t begin_mask, int64_t end_mask) {
    return r.one("StridedSlice", {x, r.ints({begin}), r.ints({end}), r.ints({stride})}, {{"begin_mask", begin_mask}, {"end_mask", end_mask}});
  };
  // x[1:] - x[:-1]
  CHECK(slice(1, 0, 1, 0, 1)->dim(0) == slice(0, -1, 1, 1, 0)->dim(0));
  CHECK(slice(-3, 0, 1, 0, 1)->dim(0) == min(kBatch, Dim(3)));
  CHECK(slice(0, 0, -1, 1, 1)->dim(0) == kBatch);
  CHECK(slice(0, 0, 2, 1, 1)->dim(0) == ceil_div(kBatch, Dim(2)));
  // x[i] by data: a start that moves.
  const Value i = r.input(DType::kInt32, {});
  const Value at = r.one("Pack", {i}), next = r.one("Pack", {r.b.add(i, 1)});
  const Value row = r.one("StridedSlice", {x, at, next, r.ints({1})}, {{"shrink_axis_mask", int64_t(1)}});
  REQUIRE_MESSAGE(row, r.b.status().to_string());
  CHECK(row->type.to_string() == "float[4]");
  CHECK(r.one("StridedSlice", {x, at, next, r.ints({1})})->type.to_string() == "float[1, 4]");
  r.one("StridedSlice", {x, at, r.ints({3}), r.ints({1})});
  CHECK(r.b.status().message().find("depends on data") != std::string::npos);
}

TEST_CASE("the index of a row is checked when the code runs") {
  Rules r;
  const Value x = r.input(DType::kFloat, {kBatch}), i = r.input(DType::kInt32, {});
  const Value y = r.one("StridedSlice", {x, r.one("Pack", {i}), r.one("Pack", {r.b.add(i, 1)}), r.ints({1})}, {{"shrink_axis_mask", int64_t(1)}});
  REQUIRE(y);
  r.m.main->results = {y};
  r.m.results = {{"y", -1}};
  const Tensor data = Tensor::vector(std::vector<float>{5, 6, 7});
  auto run = [&](int at) { return testing::run(r.m, {data, Tensor::scalar<int32_t>(at)}, {3}, false); };
  CHECK(run(2)->at(0).data<float>()[0] == 7);
  CHECK(run(-3)->at(0).data<float>()[0] == 5);
  CHECK(run(3).status().message() == "slice index of dimension 0 out of bounds.");
}

TEST_CASE("a generator with seeds goes on from call to call with the engine's numbers") {
  Rules r;
  r.state = r.b.parameter({ir::Parameter::Kind::kState, "counter", {DType::kUint64, {Dim(2)}}});
  const Value y = r.one("RandomUniform", {r.ints({3})}, {{"seed", int64_t(7)}, {"seed2", int64_t(9)}, {"dtype", DType::kFloat}});
  REQUIRE_MESSAGE(y, r.b.status().to_string());
  r.m.main->results = {y, r.state.tensor()};
  r.m.results = {{"y", -1}, {"counter", -1}};
  Tensor counter = Tensor::vector(std::vector<uint64_t>{0, 0});
  // tf.raw_ops.RandomUniform(shape=[3], seed=7, seed2=9, dtype=tf.float32), twice by one kernel
  const float want[2][3] = {{0.536344886f, 0.473236561f, 0.463888884f}, {0.0779434443f, 0.329510927f, 0.394480109f}};
  for (const auto& numbers : want) {
    auto out = testing::run(r.m, {counter}, {}, false);
    REQUIRE(out.ok());
    for (int k = 0; k < 3; ++k) CHECK(out->at(0).data<float>()[k] == numbers[k]);
    counter = out->at(1);
  }
}
