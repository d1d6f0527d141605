// Kernels: their values on this processor (tests/compiler/gpu_machine.h) beside interpret(), and their PTX by CUDA's assembler where there is one.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "ir/builder.h"
#include "tests/compiler/plan_check.h"
#include "tests/compiler/random_module.h"
#include "tests/compiler/run_module.h"

namespace weft_engine::testing {
namespace {

using ir::Builder;
using ir::Dim;
using ir::DType;
using ir::Value;

struct BuiltModule {
  std::unique_ptr<ir::Module> m = std::make_unique<ir::Module>();
  Builder b{*m};
  Value in(DType t, std::vector<Dim> dims) {
    return b.parameter({ir::Parameter::Kind::kInput, "x" + std::to_string(m->parameters.size()), {t, std::move(dims)}});
  }
  void out(Value v) {
    REQUIRE_MESSAGE(b.status().ok(), b.status().to_string());
    m->main->results.push_back(v);
    m->results.push_back({"y", -1});
  }
};

// Empty, or what is wrong with the module's kernels: by value, or by the assembler.
std::string wrong(const ir::Module& m, double tolerance, std::vector<int64_t> symbols = {}, const Fill& fill = {}) {
  const std::vector<Array> parameters = random_parameters(m, symbols, 11, fill);
  const auto got = run_kernels(m, parameters, symbols);
  if (!got.ok()) return got.status().to_string();
  const std::string differs = difference(*got, interpret(m, parameters, symbols), tolerance);
  if (!differs.empty()) return differs;
  const auto plan = compiler::make_plan(m, 0);
  if (!plan.ok()) return plan.status().to_string();
  const auto api = compiler::codegen();
  if (!api.ok()) return api.status().to_string();
  const auto code = (*api)->gpu(*plan, {});
  if (!code.ok()) return code.status().to_string();
  if (const std::string missing = unresolved(code->ptx); !missing.empty()) return "calls a function that is not there: " + missing;
  return has_assembler() ? assemble(code->ptx, 75) : "";
}

TEST_CASE("the assembler") {
  if (!has_assembler()) MESSAGE("skipped: no ptxas on this machine, PTX is not assembled here");
  // Code for old chips and for new ones.
  BuiltModule g;
  g.out(g.b.unary(ir::Unary::kTanh, g.in(DType::kFloat, {Dim::symbol(0), 16})));
  g.m->symbols.push_back({"rows", 0, 0});
  const auto plan = compiler::make_plan(*g.m);
  REQUIRE(plan.ok());
  const auto api = compiler::codegen();
  REQUIRE(api.ok());
  for (const int sm : {70, 75, 80, 90}) {
    const auto code = (*api)->gpu(*plan, {sm, 70 + (sm == 90 ? 8 : 0)});
    REQUIRE_MESSAGE(code.ok(), code.status().to_string());
    CHECK(code->ptx.find(".entry weft_0_loop") != std::string::npos);
    if (has_assembler() && sm >= 75) CHECK(assemble(code->ptx, sm) == "");
  }
  CHECK(!(*api)->gpu(*plan, {12, 70}).ok());
  CHECK(!(*api)->gpu(*plan, {70, 3}).ok());
}

TEST_CASE("functions without libm") {
  using U = ir::Unary;
  struct Range {
    U op;
    double low, high, ulps;
  };
  const Range ranges[] = {{U::kExp, -745, 709, 2}, {U::kExpm1, -30, 700, 3},  {U::kExpm1, -1e-3, 1e-3, 3}, {U::kLog, 0, 1e-307, 2},
                          {U::kLog, 0.5, 2, 3},    {U::kLog, 0, 1e9, 2},      {U::kLog1p, -0.9, 5, 3},     {U::kLog1p, -1e-6, 1e-6, 3},
                          {U::kSin, -100, 100, 3}, {U::kSin, -1e15, 1e15, 3}, {U::kCos, -7, 7, 3},         {U::kCos, -1e300, 1e300, 3},
                          {U::kTan, -20, 20, 6},   {U::kAsin, -1, 1, 3},      {U::kAcos, -1, 1, 4},        {U::kAtan, -30, 30, 3},
                          {U::kSinh, -30, 30, 5},  {U::kSinh, -0.1, 0.1, 5},  {U::kCosh, -700, 700, 5},    {U::kTanh, -25, 25, 5},
                          {U::kAsinh, -50, 50, 5}, {U::kAcosh, 1, 100, 5},    {U::kAtanh, -0.99, 0.99, 5}, {U::kLogistic, -40, 40, 5},
                          {U::kErf, -6, 6, 4},     {U::kErf, -0.7, 0.7, 4},   {U::kErfc, -3, 26, 60},      {U::kErfc, -0.7, 0.7, 4}};
  const int64_t n = 1500;
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> special{0., -0., inf, -inf, std::nan(""), 1e-310, -1e-310, 1., -1., 0.5, -0.5, 2.};
  BuiltModule g;
  std::vector<Array> parameters;
  std::mt19937_64 random(5);
  for (const Range& r : ranges) {
    g.out(g.b.unary(r.op, g.in(DType::kDouble, {n})));
    Array a{DType::kDouble, {n}, {}, {}};
    std::uniform_real_distribution<double> real(r.low, r.high);
    for (int64_t k = 0; k < n; ++k) a.f.push_back(size_t(k) < special.size() ? special[size_t(k)] : real(random));
    parameters.push_back(a);
  }
  const auto got = run_kernels(*g.m, parameters, {});
  REQUIRE_MESSAGE(got.ok(), got.status().to_string());
  const Interpreted want = interpret(*g.m, parameters, {});
  for (size_t r = 0; r < std::size(ranges); ++r) {
    double worst = 0, where = 0;
    for (size_t k = 0; k < size_t(n); ++k) {
      const double y = got->results[r].f[k], w = want.results[r].f[k];
      if ((std::isnan(y) && std::isnan(w)) || y == w) continue;
      if (ranges[r].op == U::kErf && std::isnan(y)) continue;  // beyond 1e154: see math.cc
      const double ulp = std::isfinite(w) ? std::max(std::fabs(std::nextafter(w, inf) - w), 4.9e-324) : 1e-300;
      const double ulps = std::fabs(y - w) / ulp;
      if (!(ulps <= worst)) worst = ulps, where = parameters[r].f[k];
    }
    INFO(ir::name_of(ranges[r].op), " at ", where);
    CHECK(worst <= ranges[r].ulps);
  }
}

TEST_CASE("powers, angles and remainders of two numbers") {
  const std::vector<double> xs{0., -0., 1., -1., 0.5, -0.5, 2., -2., 3., 10., -7.25, 1e-300, 1e300, INFINITY, -INFINITY, NAN, 0.9999999, 5e-324};
  BuiltModule g;
  const int64_t n = int64_t(xs.size() * xs.size());
  Value x = g.in(DType::kDouble, {n}), y = g.in(DType::kDouble, {n});
  for (ir::Binary op : {ir::Binary::kPow, ir::Binary::kAtan2, ir::Binary::kMod}) g.out(g.b.binary(op, x, y));
  std::vector<Array> p(2, Array{DType::kDouble, {n}, {}, {}});
  for (double a : xs) {
    for (double c : xs) p[0].f.push_back(a), p[1].f.push_back(c);
  }
  const auto got = run_kernels(*g.m, p, {});
  REQUIRE_MESSAGE(got.ok(), got.status().to_string());
  for (size_t k = 0; k < size_t(n); ++k) {
    const double a = p[0].f[k], c = p[1].f[k];
    const double want[] = {std::pow(a, c), std::atan2(a, c), std::fmod(a, c)};
    for (size_t r = 0; r < 3; ++r) {
      const double v = got->results[r].f[k];
      INFO(r, ": ", a, ", ", c, " gives ", v, " instead of ", want[r]);
      const bool good = (std::isnan(v) && std::isnan(want[r])) || v == want[r] || std::fabs(v - want[r]) <= 2e-15 * std::fabs(want[r]);
      CHECK(good);
    }
  }
}

TEST_CASE("schedules of reductions") {
  struct Shape {
    std::vector<int64_t> dims;
    std::vector<int> axes;
  };
  // A thread, a warp, a block; columns; several blocks for one number.
  const Shape shapes[] = {{{7, 5}, {1}},
                          {{70, 100}, {1}},
                          {{3, 5000}, {1}},
                          {{2, 20000}, {1}},
                          {{30000}, {0}},
                          {{100, 7}, {0}},
                          {{700, 40}, {0}},
                          {{5, 60, 33}, {1}},
                          {{4, 9, 50, 6}, {1, 3}},
                          {{4, 9, 50, 6}, {0, 2}},
                          {{0, 5}, {0}},
                          {{5, 0}, {0}},
                          {{6, 1}, {1}},
                          // Several elements a thread: columns, few columns, rows, rows in several blocks.
                          {{700, 64}, {0}},
                          {{3000, 8}, {0}},
                          {{9, 512}, {1}},
                          {{3, 4, 256, 24}, {0, 1, 2}},
                          {{2, 40000}, {1}}};
  for (const Shape& s : shapes) {
    BuiltModule g;
    std::vector<Dim> dims(s.dims.begin(), s.dims.end());
    Value x = g.in(DType::kFloat, dims), n = g.in(DType::kInt32, dims);
    g.out(g.b.reduce(ir::Reduce::kSum, g.b.mul(x, x), s.axes));
    g.out(g.b.reduce(ir::Reduce::kMax, x, s.axes));
    g.out(g.b.reduce(ir::Reduce::kMin, n, s.axes));
    if (s.axes.size() == 1 && s.dims[size_t(s.axes[0])] > 0) g.out(g.b.arg_reduce(ir::Reduce::kMax, n, s.axes[0], DType::kInt64));
    INFO(g.m->main->results[0]->type.to_string(), " of ", x->type.to_string());
    CHECK(wrong(*g.m, 1e-4) == "");
  }
}

// Softmax and its gradient, a normalisation and its gradient, sums that are read by their own rows: each in one kernel.
TEST_CASE("rows are read once") {
  using Kinds = std::vector<compiler::Step::Kind>;
  const auto kinds = [](const ir::Module& m) {
    const auto plan = compiler::make_plan(m, 0);
    REQUIRE_MESSAGE(plan.ok(), plan.status().to_string());
    CHECK(check_plan(*plan) == "");
    Kinds out;
    for (const auto& s : plan->steps) out.push_back(s.kind);
    return out;
  };
  const Kinds one{compiler::Step::Kind::kRows};
  struct Shape {
    std::vector<int64_t> dims;
    DType type;
  };
  // One thread or some of a warp for a row, a warp, several warps; rows that do not fill a block; lengths that are no multiple of anything.
  const Shape shapes[] = {
      {{5, 2}, DType::kFloat},      {{130, 10}, DType::kFloat}, {{3, 9, 33}, DType::kFloat},   {{2, 3, 100, 64}, DType::kBfloat16},
      {{7, 512}, DType::kBfloat16}, {{16, 512}, DType::kFloat}, {{2, 3, 1000}, DType::kFloat}, {{9, 1024}, DType::kBfloat16},
      {{3, 4096}, DType::kHalf},    {{1, 5000}, DType::kFloat}, {{2, 8192}, DType::kBfloat16}, {{4, 1, 48}, DType::kDouble}};
  for (const Shape& s : shapes) {
    const std::vector<Dim> dims(s.dims.begin(), s.dims.end());
    const int last = int(dims.size()) - 1;
    const DType wide = s.type == DType::kDouble ? s.type : DType::kFloat;
    const double n = double(s.dims.back()), tolerance = s.type == wide ? 1e-4 : 2e-2;
    const auto softmax = [&](Builder& b, Value x) {
      Value e = b.exp(b.sub(x, b.reduce(ir::Reduce::kMax, x, {last}, true)));
      return b.div(e, b.sum(e, {last}, true));
    };
    INFO(core::dtype_name(s.type), " rows of ", s.dims.back());
    {
      BuiltModule g;
      g.out(g.b.convert(softmax(g.b, g.b.convert(g.in(s.type, dims), wide)), s.type));
      CHECK(kinds(*g.m) == one);
      CHECK(wrong(*g.m, tolerance) == "");
    }
    {
      BuiltModule g;
      Value y = softmax(g.b, g.b.convert(g.in(s.type, dims), wide)), dy = g.b.convert(g.in(s.type, dims), wide);
      g.out(g.b.convert(g.b.mul(g.b.sub(dy, g.b.sum(g.b.mul(dy, y), {last}, true)), y), s.type));
      CHECK(kinds(*g.m) == one);
      CHECK(wrong(*g.m, tolerance) == "");
    }
    {
      // With what is computed of the sums as results, too.
      BuiltModule g;
      Value x = g.b.convert(g.in(s.type, dims), wide), dy = g.b.convert(g.in(s.type, dims), wide);
      Value mean = g.b.mul(g.b.sum(x, {last}, true), 1 / n), d = g.b.sub(x, mean);
      Value scale = g.b.unary(ir::Unary::kRsqrt, g.b.add(g.b.mul(g.b.sum(g.b.mul(d, d), {last}, true), 1 / n), 1e-2)), y = g.b.mul(d, scale);
      Value a = g.b.mul(g.b.sum(dy, {last}, true), 1 / n), c = g.b.mul(g.b.sum(g.b.mul(dy, y), {last}, true), 1 / n);
      g.out(g.b.convert(y, s.type));
      g.out(g.b.mul(scale, g.b.sub(g.b.sub(dy, a), g.b.mul(y, c))));
      g.out(mean);
      g.out(scale);
      CHECK(kinds(*g.m) == one);
      CHECK(wrong(*g.m, tolerance) == "");
    }
  }
  {
    // By columns, or by other rows: not together.
    BuiltModule g;
    Value x = g.in(DType::kFloat, {64, 64}), sum = g.b.sum(x, {1}, false);
    g.out(g.b.mul(x, g.b.broadcast_in_dim(sum, {64, 64}, {1})));
    CHECK(kinds(*g.m).size() == 2);
    CHECK(wrong(*g.m, 1e-4) == "");
    BuiltModule h;
    Value y = h.in(DType::kFloat, {64, 64}), shifted = h.b.sub(y, h.b.sum(y, {1}, true));
    h.out(h.b.sum(shifted, {0}, false));
    h.out(shifted);
    CHECK(wrong(*h.m, 1e-4) == "");
  }
  {
    // Rows that are counted by other dimensions in each reader.
    BuiltModule g;
    Value x = g.in(DType::kFloat, {6, 5, 40}), flat = g.b.reshape(x, {30, 40});
    Value sum = g.b.sum(flat, {1}, true);
    g.out(g.b.mul(x, g.b.reshape(sum, {6, 5, 1})));
    g.out(g.b.sub(flat, sum));
    CHECK(wrong(*g.m, 1e-4) == "");
  }
}

TEST_CASE("kernels that do not depend on each other share a launch") {
  BuiltModule g;
  Value x = g.in(DType::kFloat, {40, 7}), y = g.in(DType::kFloat, {5}), n = g.in(DType::kInt32, {});
  g.out(g.b.mul(x, x));
  g.out(g.b.concat({y, g.b.mul(y, 2.0), y}, 0));
  g.out(g.b.add(n, 1));
  g.out(g.b.unary(ir::Unary::kExp, y));
  CHECK(wrong(*g.m, 1e-6) == "");
  const auto plan = compiler::make_plan(*g.m, 0);
  REQUIRE(plan.ok());
  const auto api = compiler::codegen();
  REQUIRE(api.ok());
  const auto code = (*api)->gpu(*plan, {});
  REQUIRE_MESSAGE(code.ok(), code.status().to_string());
  CHECK(code->launches.size() == 1);
  // One that reads what another writes waits for it.
  BuiltModule h;
  Value a = h.in(DType::kFloat, {6}), twice = h.b.mul(a, 2.0);
  h.out(twice);
  h.out(h.b.concat({twice, a}, 0));
  h.out(h.b.concat({a, a}, 0));
  CHECK(wrong(*h.m, 1e-6) == "");
}

TEST_CASE("values are computed again where memory would cost more") {
  BuiltModule g;
  Value x = g.in(DType::kBfloat16, {512, 64});
  Value wide = g.b.convert(x, DType::kFloat), shifted = g.b.mul(g.b.add(wide, 1.0), 3.0);  // two readers of what is twice the size of x
  g.out(g.b.reduce(ir::Reduce::kSum, shifted, {0}));
  g.out(g.b.reduce(ir::Reduce::kMax, shifted, {1}));
  const auto stored = [&](int threads) {
    const auto plan = compiler::make_plan(*g.m, threads);
    REQUIRE(plan.ok());
    return plan->buffer_of(shifted) >= 0;
  };
  CHECK(stored(1));
  CHECK(!stored(0));
}

TEST_CASE("movement, scans, sorts, products") {
  {
    BuiltModule g;
    Value x = g.in(DType::kFloat, {3, 70, 45});
    g.out(g.b.transpose(x, {0, 2, 1}));
    g.out(g.b.transpose(x, {2, 0, 1}));
    g.out(g.b.transpose(g.in(DType::kInt8, {40, 50}), {1, 0}));
    g.out(g.b.concat({x, g.in(DType::kFloat, {3, 2, 45})}, 1));
    g.out(g.b.reverse(x, {0, 2}));
    CHECK(wrong(*g.m, 0) == "");
  }
  for (const bool reverse : {false, true}) {
    BuiltModule g;
    Value x = g.in(DType::kInt32, {3, 700}), y = g.in(DType::kFloat, {20, 6, 9});
    g.out(g.b.scan(ir::Reduce::kSum, x, 1, reverse, !reverse));
    g.out(g.b.scan(ir::Reduce::kSum, x, 0, reverse, reverse));
    g.out(g.b.scan(ir::Reduce::kMax, y, 1, reverse, false));
    CHECK(wrong(*g.m, 1e-5) == "");
  }
  for (const int64_t n : {int64_t(1), int64_t(2), int64_t(37), int64_t(300)}) {
    BuiltModule g;
    Value x = g.in(DType::kInt32, {3, n}), y = g.in(DType::kFloat, {2, n});
    for (Value v : {x, y}) {
      const auto sorted = g.b.sort(v, v == x);
      g.out(sorted.first);
      g.out(sorted.second);
    }
    INFO(n);
    CHECK(wrong(*g.m, 0) == "");
  }
  for (const DType t : {DType::kFloat, DType::kHalf, DType::kInt32}) {
    BuiltModule g;
    g.out(g.b.dot(g.in(t, {70, 33}), g.in(t, {33, 90}), false, false));
    g.out(g.b.dot(g.in(t, {2, 33, 70}), g.in(t, {2, 90, 33}), true, true));
    g.out(g.b.dot(g.in(t, {1, 300}), g.in(t, {300, 20}), false, false));
    g.out(g.b.dot(g.in(t, {40, 300}), g.in(t, {2, 300}), false, true));
    INFO(core::dtype_name(t));
    CHECK(wrong(*g.m, t == DType::kHalf ? 2e-2 : 1e-4) == "");
  }
}

TEST_CASE("random modules") {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    RandomOptions o;
    o.open = seed % 3 == 0;
    const auto m = random_module(seed, o);
    ir::drop_dead(*m);  // the planner drops errors with what nobody reads
    const std::vector<int64_t> symbols{2, 3};
    INFO("seed ", seed);
    CHECK(wrong(*m, 1e-3, symbols) == "");
  }
}

}  // namespace
}  // namespace weft_engine::testing
