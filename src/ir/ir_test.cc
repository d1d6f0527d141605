// Sizes, the verifier and the simplifier.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "ir/builder.h"
#include "ir/simplify.h"
#include "tests/compiler/interpret.h"
#include "tests/compiler/random_module.h"

namespace weft_engine {
namespace {

using ir::Builder;
using ir::Dim;
using ir::DType;
using ir::Module;
using ir::Value;
using testing::Array;

std::vector<Array> inputs(const Module& m, const std::vector<int64_t>& symbols, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Array> out;
  for (const auto& p : m.parameters) {
    Array n;
    n.dtype = p.type.dtype;
    int64_t count = 1;
    for (const Dim& d : p.type.dims) {
      n.dims.push_back(d.evaluate(symbols));
      count *= n.dims.back();
    }
    for (int64_t k = 0; k < count; ++k) n.f.push_back(double(float(int(random() % 64) - 32) / 8));
    out.push_back(std::move(n));
  }
  return out;
}

// Bit by bit; NaN equals NaN.
bool same(const testing::Interpreted& a, const testing::Interpreted& b) {
  if (a.results.size() != b.results.size()) return false;
  for (size_t k = 0; k < a.results.size(); ++k) {
    const Array &x = a.results[k], &y = b.results[k];
    if (x.dtype != y.dtype || x.dims != y.dims || x.n != y.n || x.f.size() != y.f.size()) return false;
    for (size_t e = 0; e < x.f.size(); ++e) {
      if (std::isnan(x.f[e]) ? !std::isnan(y.f[e]) : std::memcmp(&x.f[e], &y.f[e], sizeof(double)) != 0) return false;
    }
  }
  return true;
}

// Where sums are taken in another order.
bool close(const testing::Interpreted& a, const testing::Interpreted& b, double tolerance) {
  for (size_t k = 0; k < a.results.size(); ++k) {
    const Array &x = a.results[k], &y = b.results[k];
    if (x.dims != y.dims || x.n != y.n || x.f.size() != y.f.size()) return false;
    for (size_t e = 0; e < x.f.size(); ++e) {
      if (!(std::fabs(x.f[e] - y.f[e]) <= tolerance * std::max(1.0, std::fabs(x.f[e])))) return false;
    }
  }
  return a.results.size() == b.results.size();
}

int count(const ir::Region& r, ir::Op op) {
  int n = 0;
  for (const auto& i : r.instrs) {
    n += i->op == op;
    for (const auto& part : i->regions) n += count(*part, op);
  }
  return n;
}

struct Made {
  Module m;
  Builder b{m};
  Value input(std::vector<Dim> dims) { return b.parameter({ir::Parameter::Kind::kInput, "x", {DType::kFloat, std::move(dims)}}); }
  void result(Value v) {
    m.main->results.push_back(v);
    m.results.push_back({"r", -1});
  }
  // The module after simplify; its values are those from before.
  Module& simplified(double tolerance = 0) {
    REQUIRE(b.status().ok());
    REQUIRE(ir::verify(m).to_string() == "OK");
    const std::vector<int64_t> symbols{3, 2};
    const auto in = inputs(m, symbols, 1);
    const auto before = testing::interpret(m, in, symbols);
    ir::simplify(m);
    REQUIRE(ir::verify(m).to_string() == "OK");
    const auto after = testing::interpret(m, in, symbols);
    CHECK((tolerance > 0 ? close(before, after, tolerance) : same(before, after)));
    return m;
  }
};

}  // namespace

TEST_CASE("sizes") {
  const Dim a = Dim::symbol(0), b = Dim::symbol(1);
  CHECK(a * b + a == a * (b + Dim(1)));
  CHECK(floor_div(Dim(6) * a, Dim(3)) == Dim(2) * a);
  CHECK(floor_mod(Dim(6) * a, Dim(3)).is(0));
  CHECK(floor_div(a * b, b) == a);
  CHECK((a - a).is(0));
  CHECK(min(a, a + Dim(1)) == a);
  CHECK(max(a, a + Dim(1)) == a + Dim(1));
  const std::vector<int64_t> n{5, 7};
  CHECK(ceil_div(a * b + Dim(1), Dim(4)).evaluate(n) == 9);
  CHECK((Dim(3) * a - b).evaluate(n) == 8);
  CHECK(min(a, b).evaluate(n) == 5);
  CHECK(floor_div(a - b, Dim(2)).evaluate(n) == -1);
  CHECK(a.substitute([&](int) { return std::optional<Dim>(b + Dim(1)); }) == b + Dim(1));
  CHECK(!(a - b).nonnegative());
  CHECK((a + b).nonnegative());
}

TEST_CASE("the verifier names what is wrong") {
  Made m;
  Value x = m.input({2, 3});
  Value y = m.b.exp(x);
  m.result(y);
  CHECK(ir::verify(m.m).ok());
  y->type.dims[0] = 4;
  const auto s = ir::verify(m.m);
  CHECK(s.code() == core::Code::kInternal);
  CHECK(s.message().find("other sizes") != std::string::npos);
  y->type.dims[0] = 2;
  std::swap(m.m.main->instrs[0], m.m.main->instrs[1]);
  CHECK(ir::verify(m.m).message().find("not there yet") != std::string::npos);
}

TEST_CASE("equal instructions become one, what moves nothing goes") {
  Made m;
  Value x = m.input({2, 3});
  Value a = m.b.exp(m.b.mul(x, 2.0)), c = m.b.exp(m.b.mul(x, 2.0));
  Value t = m.b.transpose(m.b.transpose(a, {1, 0}), {1, 0});
  m.result(m.b.add(t, m.b.reshape(m.b.reshape(c, {6}), {2, 3})));
  m.simplified();
  CHECK(count(*m.m.main, ir::Op::kUnary) == 1);
  CHECK(count(*m.m.main, ir::Op::kTranspose) == 0);
  CHECK(count(*m.m.main, ir::Op::kReshape) == 0);
}

TEST_CASE("products take transposed operands as they are, numbers that change nothing go") {
  Made m;
  Value x = m.input({2, 3}), y = m.input({2, 3});
  Value d = m.b.dot(m.b.transpose(x, {1, 0}), y);
  m.result(m.b.sub(m.b.mul(m.b.div(d, 4.0), 1.0), 0.0));
  m.result(m.b.add(d, 0.0));  // -0 + 0 is 0: stays
  m.simplified();
  CHECK(count(*m.m.main, ir::Op::kTranspose) == 0);
  CHECK(count(*m.m.main, ir::Op::kBinary) == 2);
  const auto& instrs = m.m.main->instrs;
  CHECK(std::none_of(instrs.begin(), instrs.end(), [](const auto& i) { return i->op == ir::Op::kBinary && i->binary == ir::Binary::kDiv; }));
}

TEST_CASE("products of narrow floats stay narrow on GPUs") {
  const auto build = [](bool wide_result) {
    auto m = std::make_unique<Made>();
    const auto narrow = [&](Value v) { return m->b.convert(v, core::DType::kBfloat16); };
    Value x = narrow(m->input({4, 6})), y = narrow(m->input({6, 5}));
    const auto wide = [&](Value v) { return m->b.convert(v, core::DType::kFloat); };
    Value d = m->b.dot(wide(x), m->b.reshape(wide(y), {6, 5}));
    m->result(wide(narrow(m->b.reshape(d, {2, 2, 5}))));
    if (wide_result) m->result(d);
    return m;
  };
  const auto type_of_product = [](const Made& m) {
    for (const auto& i : m.m.main->instrs) {
      if (i->op == ir::Op::kDot) return i->type.dtype;
    }
    return core::DType::kInvalid;
  };
  auto m = build(false);
  ir::simplify(m->m, false, ir::Convolutions::kOutputChannelsFirst);
  CHECK(ir::verify(m->m).ok());
  CHECK(type_of_product(*m) == core::DType::kBfloat16);
  m = build(false);
  ir::simplify(m->m, false);
  CHECK(type_of_product(*m) == core::DType::kFloat);  // processors
  m = build(true);
  ir::simplify(m->m, false, ir::Convolutions::kOutputChannelsFirst);
  CHECK(type_of_product(*m) == core::DType::kFloat);  // somebody reads all bits
}

TEST_CASE("a row by its number is a slice, parts put together are the whole") {
  Made m;
  Value x = m.input({4, 6});
  m.result(m.b.gather(x, m.b.ints({2}), 0, 0, "outside"));
  m.result(m.b.concat({m.b.slice_axis(x, 1, 0, 2), m.b.slice_axis(x, 1, 2, 4)}, 1));
  Value y = m.b.exp(x);
  m.result(m.b.slice_axis(m.b.concat({x, y}, 0), 0, 5, 2));
  m.simplified();
  CHECK(count(*m.m.main, ir::Op::kGather) == 0);
  CHECK(count(*m.m.main, ir::Op::kConcat) == 0);
}

TEST_CASE("what a loop repeats moves out of it, variables that nobody reads go") {
  Made m;
  Value x = m.input({2, 2}), h = m.input({2, 2});
  Value zero = m.b.scalar_int(DType::kInt64, 0), other = m.b.fill(DType::kFloat, {2, 2}, 1);
  auto condition = m.b.begin_region();
  Value i = m.b.region_parameter(zero->type);
  for (int k = 0; k < 3; ++k) m.b.region_parameter(x->type);
  auto condition_region = condition.end({m.b.compare(ir::Compare::kLt, i, m.b.scalar_int(DType::kInt64, 4))});
  auto body = m.b.begin_region();
  Value j = m.b.region_parameter(zero->type), v = m.b.region_parameter(x->type), same = m.b.region_parameter(x->type),
        unread = m.b.region_parameter(x->type);
  Value fixed = m.b.exp(same);
  auto body_region = body.end({m.b.add(j, m.b.scalar_int(DType::kInt64, 1)), m.b.add(v, fixed), same, m.b.neg(unread)});
  auto out = m.b.while_loop({zero, h, x, other}, std::move(condition_region), std::move(body_region));
  m.result(out[1]);
  m.result(out[2]);
  m.simplified();
  const ir::Instr* loop = nullptr;
  for (const auto& p : m.m.main->instrs) {
    if (p->op == ir::Op::kWhile) loop = p.get();
  }
  REQUIRE(loop);
  CHECK(loop->operands.size() == 2);
  CHECK(count(*loop->regions[1], ir::Op::kUnary) == 0);
}

TEST_CASE("variables that always hold the same become one") {
  Made m;
  Value x = m.input({2, 2});
  Value zero = m.b.scalar_int(DType::kInt64, 0), h0 = m.b.fill(DType::kFloat, {2, 2}, 0), list0 = m.b.fill(DType::kFloat, {1, 2, 2}, 0), other0 = h0;
  auto condition = m.b.begin_region();
  Value i = m.b.region_parameter(zero->type), n = m.b.region_parameter(zero->type);
  for (Value v : {h0, list0, other0}) m.b.region_parameter(v->type);
  auto condition_region = condition.end({m.b.compare(ir::Compare::kLt, m.b.add(i, n), m.b.scalar_int(DType::kInt64, 7))});
  auto body = m.b.begin_region();
  Value j = m.b.region_parameter(zero->type), k = m.b.region_parameter(zero->type), h = m.b.region_parameter(h0->type);
  m.b.region_parameter(list0->type);
  Value other = m.b.region_parameter(h0->type);
  Value one = m.b.scalar_int(DType::kInt64, 1);
  Value next = m.b.tanh(m.b.add(x, h));
  auto body_region = body.end({m.b.add(j, one), m.b.add(k, one), next, m.b.reshape(next, {1, 2, 2}), m.b.tanh(m.b.sub(x, other))});
  const auto out = m.b.while_loop({zero, zero, h0, list0, other0}, std::move(condition_region), std::move(body_region));
  for (size_t r = 1; r < out.size(); ++r) m.result(out[r]);
  m.simplified();
  for (const auto& p : m.m.main->instrs) {
    if (p->op == ir::Op::kWhile) CHECK(p->operands.size() == 3);  // a counter, the state, the one that goes another way
  }
}

TEST_CASE("lists of a loop and of its gradient: originals instead of copies, one product instead of a sum") {
  Made m;
  const int64_t steps = 5;
  Value x = m.input({steps, 2, 3}), fixed = m.input({4, 3}), h0 = m.input({2, 4});
  Value zero = m.b.scalar_int(DType::kInt32, 0), one = m.b.scalar_int(DType::kInt32, 1), origin = m.b.scalar_int(DType::kInt64, 0);
  const std::vector<Value> first{zero, h0, m.b.fill(DType::kFloat, {steps, 2, 3}, 0), m.b.fill(DType::kFloat, {steps, 4, 3}, 0),
                                 m.b.fill(DType::kFloat, {steps, 2, 4}, 0)};
  auto condition = m.b.begin_region();
  std::vector<Value> p;
  for (Value v : first) p.push_back(m.b.region_parameter(v->type));
  auto condition_region = condition.end({m.b.compare(ir::Compare::kLt, p[0], m.b.scalar_int(DType::kInt32, 4))});  // one row is never written
  auto body = m.b.begin_region();
  p.clear();
  for (Value v : first) p.push_back(m.b.region_parameter(v->type));
  Value at = m.b.convert(p[0], DType::kInt64);
  Value row = m.b.dynamic_slice(x, {at, origin, origin}, {1, 2, 3});
  Value h = m.b.sub(m.b.dot(m.b.reshape(row, {2, 3}), fixed, false, true), p[1]);
  auto body_region = body.end({m.b.add(p[0], one), h, m.b.dynamic_update(p[2], row, {at, origin, origin}),
                               m.b.dynamic_update(p[3], m.b.reshape(fixed, {1, 4, 3}), {at, origin, origin}),
                               m.b.dynamic_update(p[4], m.b.reshape(h, {1, 2, 4}), {at, origin, origin})});
  const auto lists = m.b.while_loop(first, std::move(condition_region), std::move(body_region));
  const std::vector<Value> back{zero, m.b.fill(DType::kFloat, {2, 4}, 1), m.b.fill(DType::kFloat, {3, 4}, 2), m.b.fill(DType::kFloat, {4, 4}, 0),
                                lists[0]};
  auto turns = m.b.begin_region();
  p.clear();
  for (Value v : back) p.push_back(m.b.region_parameter(v->type));
  auto turns_region = turns.end({m.b.compare(ir::Compare::kLt, p[0], lists[0])});
  auto turn = m.b.begin_region();
  p.clear();
  for (Value v : back) p.push_back(m.b.region_parameter(v->type));
  Value left = m.b.sub(p[4], one);
  at = m.b.convert(left, DType::kInt64);
  auto pop = [&](Value list, std::vector<Dim> dims) {
    std::vector<Dim> sizes{1};
    sizes.insert(sizes.end(), dims.begin(), dims.end());
    return m.b.reshape(m.b.dynamic_slice(list, {at, origin, origin}, sizes), dims);
  };
  Value dz = m.b.sub(p[1], pop(lists[4], {2, 4}));
  Value dx = m.b.add(p[2], m.b.dot(pop(lists[2], {2, 3}), dz, true, false));
  Value dh = m.b.add(m.b.dot(pop(lists[4], {2, 4}), dz, true, false), p[3]);
  Value next = m.b.mul(m.b.dot(m.b.dot(dz, pop(lists[3], {4, 3})), fixed, false, true), 0.0078125);
  auto turn_region = turn.end({m.b.add(p[0], one), next, dx, dh, left});
  const auto out = m.b.while_loop(back, std::move(turns_region), std::move(turn_region));
  m.result(out[2]);
  m.result(out[3]);
  m.simplified(1e-5);
  int loops = 0;
  for (const auto& i : m.m.main->instrs) {
    if (i->op != ir::Op::kWhile) continue;
    ++loops;
    // Lists of states stay; those of rows and of what never changes go. The second loop keeps what is multiplied, and no sums.
    CHECK(count(*i->regions[1], ir::Op::kDynamicUpdate) == 1);
    if (loops == 2) CHECK(i->operands.size() == 4);
  }
  CHECK(loops == 2);
}

TEST_CASE("sums with what is mostly zero") {
  Made m;
  Value x = m.input({4, 6}), row = m.input({1, 6}), n = m.b.convert(m.b.sum(x, {0, 1}), DType::kInt64), zero = m.b.scalar_int(DType::kInt64, 0);
  m.result(m.b.add(x, m.b.dynamic_update(m.b.fill(DType::kFloat, {4, 6}, 0), row, {n, zero})));
  Value none = m.b.scalar(DType::kFloat, 0);
  Value a = m.b.exp(x), c = m.b.neg(x), d = m.b.tanh(x);
  Value s = m.b.add(m.b.pad(a, none, {0, 12}, {0, 0}), m.b.pad(c, none, {0, 0}, {0, 12}));
  m.result(m.b.add(s, m.b.pad(d, none, {0, 6}, {0, 6})));
  m.simplified();
  CHECK(m.m.main->results[0]->op == ir::Op::kDynamicUpdate);
  CHECK(m.m.main->results[1]->op == ir::Op::kConcat);
  CHECK(m.m.main->results[1]->operands.size() == 3);
}

TEST_CASE("products of rows that a loop takes are made before it") {
  Made m;
  Value x = m.input({5, 2, 3}), w = m.input({3, 4}), h0 = m.input({2, 4});
  Value zero = m.b.scalar_int(DType::kInt64, 0);
  auto condition = m.b.begin_region();
  Value i = m.b.region_parameter(zero->type);
  m.b.region_parameter(h0->type);
  auto condition_region = condition.end({m.b.compare(ir::Compare::kLt, i, m.b.scalar_int(DType::kInt64, 5))});
  auto body = m.b.begin_region();
  Value j = m.b.region_parameter(zero->type), h = m.b.region_parameter(h0->type);
  Value row = m.b.reshape(m.b.dynamic_slice(x, {j, zero, zero}, {1, 2, 3}), {2, 3});
  auto body_region = body.end({m.b.add(j, m.b.scalar_int(DType::kInt64, 1)), m.b.tanh(m.b.add(h, m.b.dot(row, w)))});
  m.result(m.b.while_loop({zero, h0}, std::move(condition_region), std::move(body_region))[1]);
  m.simplified();
  for (const auto& p : m.m.main->instrs) {
    if (p->op == ir::Op::kWhile) CHECK(count(*p->regions[1], ir::Op::kDot) == 0);
  }
  CHECK(count(*m.m.main, ir::Op::kDot) == 1);
}

TEST_CASE("convolutions and pooling run image by image, a bias waits for the pooling") {
  for (const Dim& rows : {Dim::symbol(0), Dim(40)}) {
    Made m;
    if (!rows.is_const()) m.m.symbols = {{"batch", 0, 0}};
    Value x = m.input({rows, 34, 34, 1}), f = m.input({3, 3, 1, 8}), bias = m.input({8}), g = m.input({3, 3, 8, 2});
    ir::Window w;
    w.stride = w.dilation = {1, 1};
    w.low = w.high = {0, 0};
    ir::Window pool = w;
    pool.size = pool.stride = {2, 2};
    Value y = m.b.max(m.b.add(m.b.conv(x, f, w), bias), 0.0);
    Value p = m.b.window(ir::Reduce::kMax, y, pool);
    m.result(m.b.sum(m.b.tanh(m.b.conv(p, g, w)), {1, 2}));
    m.simplified();
    const ir::Instr* loop = nullptr;
    for (const auto& i : m.m.main->instrs) {
      if (i->op == ir::Op::kWhile) loop = i.get();
      CHECK(i->op != ir::Op::kConv);
    }
    REQUIRE(loop);
    for (const auto& i : loop->regions[1]->instrs) {
      if (i->op == ir::Op::kWindow) CHECK(i->operand(0).op == ir::Op::kConv);
    }
  }
}

TEST_CASE("a branch that is known is taken") {
  Made m;
  Value x = m.input({2});
  auto no = m.b.begin_region();
  auto no_region = no.end({m.b.neg(x)});
  auto yes = m.b.begin_region();
  auto yes_region = yes.end({m.b.exp(x)});
  std::vector<std::unique_ptr<ir::Region>> regions;
  regions.push_back(std::move(no_region));
  regions.push_back(std::move(yes_region));
  m.result(m.b.branch(m.b.constant(ir::Tensor::scalar<bool>(false)), std::move(regions))[0]);
  m.simplified();
  CHECK(count(*m.m.main, ir::Op::kIf) == 0);
  CHECK(m.m.main->results[0]->unary == ir::Unary::kNeg);
}

TEST_CASE("random modules keep their values") {
  const std::vector<int64_t> symbols{3, 2};
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const auto m = testing::random_module(seed, {.instrs = 3 + int(seed % 25), .open = seed % 3 == 0, .control = seed % 4 != 0});
    const auto in = inputs(*m, symbols, seed);
    const std::string text = ir::print(*m);
    const auto before = testing::interpret(*m, in, symbols);
    ir::simplify(*m);
    const std::string verified = ir::verify(*m).to_string();
    const auto after = testing::interpret(*m, in, symbols);
    if (verified == "OK" && (same(before, after) || before.error != 0)) continue;
    INFO(seed, "\n", text, ir::print(*m));
    REQUIRE(verified == "OK");
    REQUIRE(same(before, after));
  }
}

TEST_CASE("a region that is given up leaves the builder where it was") {
  Made m;
  Value x = m.input({2});
  {
    auto outer = m.b.begin_region();
    auto inner = m.b.begin_region();
    m.b.neg(x);
  }
  m.result(m.b.exp(x));
  CHECK(m.b.status().ok());
  CHECK(count(*m.m.main, ir::Op::kUnary) == 1);
  CHECK(ir::verify(m.m).ok());
}

TEST_CASE("mistakes of a rule are errors of the builder") {
  {
    Made m;
    auto outer = m.b.begin_region();
    auto inner = m.b.begin_region();
    auto region = outer.end({});
    CHECK(m.b.status().code() == core::Code::kInternal);
  }
  {
    Made m;
    CHECK(m.b.sizes({ir::Dim(1), ir::Dim(2)}, DType::kInt32, true) == nullptr);
    CHECK(m.b.status().code() == core::Code::kInternal);
  }
  {
    Made m;
    CHECK(m.b.sizes({ir::Dim(1)}, DType::kFloat) == nullptr);
    CHECK(m.b.status().code() == core::Code::kInternal);
  }
}

}  // namespace weft_engine
