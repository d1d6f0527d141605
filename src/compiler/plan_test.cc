// Plans of hand-made and random modules, followed by check_plan.
#include <doctest/doctest.h>

#include "compiler/plan.h"
#include "ir/builder.h"
#include "tests/compiler/plan_check.h"
#include "tests/compiler/random_module.h"

namespace weft_engine {
namespace {

using compiler::Plan;
using compiler::Step;
using ir::DType;
using ir::Value;

struct Made {
  ir::Module module;
  ir::Builder b{module};

  Value input(std::vector<ir::Dim> dims, DType t = DType::kFloat) { return b.parameter({ir::Parameter::Kind::kInput, "x", {t, std::move(dims)}}); }
  Value state(std::vector<ir::Dim> dims) { return b.parameter({ir::Parameter::Kind::kState, "w", {DType::kFloat, std::move(dims)}}); }
  void result(Value v, Value state = nullptr) {
    module.main->results.push_back(v);
    module.results.push_back({"r", state ? state->index : -1});
  }
  Plan plan() {
    REQUIRE(b.status().ok());
    REQUIRE(ir::verify(module).to_string() == "OK");
    auto p = compiler::make_plan(module);
    REQUIRE(p.ok());
    const std::string wrong = testing::check_plan(*p);
    INFO(ir::print(module), compiler::print(*p));
    REQUIRE(wrong == "");
    return *p;
  }
};

int count(const std::vector<Step>& steps, Step::Kind kind) {
  int n = 0;
  for (const Step& s : steps) {
    n += s.kind == kind;
    for (const auto& part : s.regions) n += count(part, kind);
  }
  return n;
}

}  // namespace

TEST_CASE("a chain of elementwise instructions is one loop and needs no memory") {
  Made m;
  Value x = m.input({8, 16});
  m.result(m.b.tanh(m.b.add(m.b.mul(x, 2.0), m.b.exp(x))));
  const Plan p = m.plan();
  CHECK(p.steps.size() == 1);
  CHECK(p.arena_bytes.is(0));
}

TEST_CASE("a reshape is a view, a result twice is a copy, a parameter as result is a copy") {
  Made m;
  Value x = m.input({8, 16});
  Value y = m.b.exp(x);
  m.result(m.b.reshape(y, {128}));
  m.result(y);
  m.result(x);
  const Plan p = m.plan();
  CHECK(count(p.steps, Step::Kind::kLoop) == 1);
  CHECK(count(p.steps, Step::Kind::kCopy) == 2);
}

TEST_CASE("a state is updated in place, after its last reader") {
  Made m;
  Value x = m.input({8, 8}), w = m.state({8, 8});
  Value y = m.b.dot(x, w);
  Value next = m.b.sub(w, m.b.mul(y, 0.1));
  Value again = m.b.dot(y, w);  // reads the old value, and is behind
  m.result(next, w);
  m.result(again);
  const Plan p = m.plan();
  CHECK(count(p.steps, Step::Kind::kCopy) == 0);
  CHECK(p.buffer_of(next) == p.buffer_of(w));
}

TEST_CASE("states that are exchanged") {
  Made m;
  Value a = m.state({4}), c = m.state({4}), d = m.state({4});
  m.result(c, a);
  m.result(d, c);
  m.result(a, d);
  m.result(m.b.neg(a));
  m.plan();
}

TEST_CASE("a loop that writes rows needs no copies") {
  Made m;
  Value x = m.input({10, 4});
  Value h0 = m.b.fill(DType::kFloat, {1, 4}, 0), out0 = m.b.fill(DType::kFloat, {10, 4}, 0);
  Value zero = m.b.scalar_int(DType::kInt64, 0);
  auto condition = m.b.begin_region();
  Value i = m.b.region_parameter(zero->type);
  m.b.region_parameter(h0->type);
  m.b.region_parameter(out0->type);
  auto condition_region = condition.end({m.b.compare(ir::Compare::kLt, i, m.b.scalar_int(DType::kInt64, 10))});
  auto body = m.b.begin_region();
  Value j = m.b.region_parameter(zero->type), h = m.b.region_parameter(h0->type), out = m.b.region_parameter(out0->type);
  Value row = m.b.dynamic_slice(x, {j, zero}, {1, 4});
  Value next = m.b.tanh(m.b.add(row, h));
  Value written = m.b.dynamic_update(out, next, {j, zero});
  auto body_region = body.end({m.b.add(j, m.b.scalar_int(DType::kInt64, 1)), next, written});
  auto results = m.b.while_loop({zero, h0, out0}, std::move(condition_region), std::move(body_region));
  m.result(results[2]);
  const Plan p = m.plan();
  CHECK(count(p.steps, Step::Kind::kCopy) == 3);  // the first values
  for (const Step& s : p.steps) {
    if (s.kind == Step::Kind::kWhile) CHECK(count(s.regions[1], Step::Kind::kCopy) == 0);
  }
}

TEST_CASE("an update of Adam is one loop") {
  Made m;
  Value g = m.input({100}), w = m.state({100}), first = m.state({100}), second = m.state({100});
  Value m1 = m.b.add(m.b.mul(first, 0.9), m.b.mul(g, 0.1));
  Value v1 = m.b.add(m.b.mul(second, 0.999), m.b.mul(m.b.square(g), 0.001));
  m.result(m1, first);
  m.result(v1, second);
  m.result(m.b.sub(w, m.b.div(m1, m.b.add(m.b.sqrt(v1), 1e-7))), w);
  const Plan p = m.plan();
  CHECK(p.steps.size() == 1);
  CHECK(p.arena_bytes.is(0));
}

TEST_CASE("the gates of a cell are one loop") {
  Made m;
  Value x = m.input({4, 8}), k = m.input({8, 32}), c = m.input({4, 8});
  Value z = m.b.dot(x, k);
  auto gate = [&](int n) { return m.b.slice_axis(z, 1, 8 * n, 8); };
  Value c1 = m.b.add(m.b.mul(m.b.logistic(gate(1)), c), m.b.mul(m.b.logistic(gate(0)), m.b.tanh(gate(2))));
  m.result(m.b.mul(m.b.logistic(gate(3)), m.b.tanh(c1)));
  m.result(c1);
  const Plan p = m.plan();
  CHECK(p.steps.size() == 2);
  CHECK(count(p.steps, Step::Kind::kLoop) == 1);
}

TEST_CASE("a thousand elementwise instructions are one loop") {
  Made m;
  Value x = m.input({64});
  Value y = x, z = x;
  for (int k = 0; k < 300; ++k) {
    y = k % 3 ? m.b.add(y, x) : m.b.tanh(y);
    z = m.b.mul(m.b.add(z, y), m.b.sub(z, x));  // z twice: a tree of them would not end
  }
  m.result(m.b.add(y, z));
  const Plan p = m.plan();
  CHECK(p.steps.size() == 1);
}

TEST_CASE("random modules") {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const auto m = testing::random_module(seed, {.instrs = 4 + int(seed % 30), .open = seed % 3 == 0, .control = seed % 4 != 0});
    const std::string verified = ir::verify(*m).to_string();
    REQUIRE(verified == "OK");
    auto p = compiler::make_plan(*m);
    REQUIRE(p.ok());
    const std::string wrong = testing::check_plan(*p);
    if (wrong.empty()) continue;
    INFO(seed, "\n", ir::print(*m), compiler::print(*p));
    REQUIRE(wrong == "");
  }
}

}  // namespace weft_engine
