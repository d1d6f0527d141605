// Compiled modules beside their meaning in double precision (interpret.h).
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "ir/builder.h"
#include "tests/compiler/random_module.h"
#include "tests/compiler/run_module.h"

namespace weft_engine::testing {
namespace {

using ir::Builder;
using ir::Dim;
using ir::DType;
using ir::Value;

#if defined(__x86_64__)
constexpr bool is_x86 = true;
#else
constexpr bool is_x86 = false;
#endif

// A module under construction.
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
  std::string differs(double tolerance = 1e-5, const Fill& fill = {}, std::vector<int64_t> symbols = {}) {
    return compare_with_interpreter(*m, symbols, 7, tolerance, fill);
  }
};

TEST_CASE("functions of one float, to the last bits") {
  using U = ir::Unary;
  struct Range {
    U op;
    double low, high, ulps;
  };
  const Range ranges[] = {{U::kExp, -110, 95, 2},      {U::kExp, -1, 1, 2},     {U::kExpm1, -25, 95, 3},  {U::kExpm1, -0.5, 0.5, 3},
                          {U::kLog, 0, 1e-37, 2},      {U::kLog, 0, 4, 2},      {U::kLog, 1, 1e38, 2},    {U::kLog1p, -0.99, 2, 3},
                          {U::kLog1p, -1e-3, 1e-3, 2}, {U::kTanh, -12, 12, 4},  {U::kTanh, -0.1, 0.1, 3}, {U::kLogistic, -80, 90, 4},
                          {U::kErf, -5, 5, 6},         {U::kErfc, -4, 1.5, 8},  {U::kErfc, 0.9, 9.3, 8},  {U::kRsqrt, 0, 100, 2},
                          {U::kSqrt, 0, 1e30, 1},      {U::kSin, -100, 100, 2}, {U::kCos, -1e6, 1e6, 2},  {U::kAtan, -10, 10, 2}};
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> special{0.f, -0.f, inf, -inf, std::nanf(""), 1e-42f, -1e-42f, 3e38f, -3e38f, 1.f, -1.f, 88.5f, 88.8f, -87.5f, -103.5f};
  BuiltModule g;
  const int64_t n = 3000;
  std::vector<Array> parameters;
  std::mt19937_64 random(3);
  for (const Range& r : ranges) {
    g.out(g.b.unary(r.op, g.in(DType::kFloat, {n})));
    Array a{DType::kFloat, {n}, {}, {}, {}};
    std::uniform_real_distribution<double> real(r.low, r.high);
    for (int64_t k = 0; k < n; ++k) a.f.push_back(size_t(k) < special.size() ? special[size_t(k)] : float(real(random)));
    parameters.push_back(a);
  }
  const auto got = run_compiled(*g.m, parameters, {});
  REQUIRE_MESSAGE(got.ok(), got.status().to_string());
  // The exact values, unrounded.
  for (size_t r = 0; r < std::size(ranges); ++r) {
    BuiltModule one;
    one.out(one.b.unary(ranges[r].op, one.in(DType::kDouble, {n})));
    std::vector<Array> wide{parameters[r]};
    wide[0].dtype = DType::kDouble;
    const Array want = interpret(*one.m, wide, {}).results[0];
    double worst = 0;
    float where = 0;
    for (size_t k = 0; k < size_t(n); ++k) {
      const float y = float(got->results[r].f[k]), w = float(want.f[k]);
      if (std::isnan(y) && std::isnan(w)) continue;
      double ulps = 0;
      if (y != w) {
        const double ulp = std::isfinite(w) ? std::max(std::fabs(std::nextafter(w, 3e38f) - double(w)), 1.5e-45) : 1e-300;
        ulps = std::fabs(double(y) - want.f[k]) / ulp;
        if (!std::isfinite(w) && std::fabs(want.f[k]) > 3.4e38 && std::fabs(y) >= 3.4e38f) ulps = 1;
      }
      if (!(ulps <= worst)) worst = ulps, where = float(parameters[r].f[k]);
    }
    INFO(ir::name_of(ranges[r].op), " at ", where);
    CHECK(worst <= ranges[r].ulps);
  }
}

TEST_CASE("arithmetic of all types") {
  using B = ir::Binary;
  for (DType t : {DType::kFloat, DType::kDouble, DType::kHalf, DType::kBfloat16}) {
    BuiltModule g;
    Value x = g.in(t, {5, 7}), y = g.in(t, {7});
    for (B op : {B::kAdd, B::kSub, B::kMul, B::kMax, B::kMin}) g.out(g.b.binary(op, x, y));
    const bool wide = t == DType::kFloat || t == DType::kDouble;
    if (wide) {
      for (B op : {B::kDiv, B::kFloorDiv, B::kMod, B::kFloorMod, B::kAtan2}) g.out(g.b.binary(op, x, y));
    }
    g.out(g.b.compare(ir::Compare::kLt, x, y));
    g.out(g.b.convert(x, DType::kInt32));
    g.out(g.b.select(g.b.compare(ir::Compare::kGe, x, y), x, g.b.neg(x)));
    INFO(core::dtype_name(t));
    CHECK(g.differs(t == DType::kBfloat16 ? 1e-2 : t == DType::kHalf ? 1e-3 : 1e-6, {3}) == "");
  }
  for (DType t : {DType::kInt8, DType::kUint8, DType::kInt16, DType::kUint16, DType::kInt32, DType::kUint32, DType::kInt64, DType::kUint64}) {
    BuiltModule g;
    Value x = g.in(t, {40}), y = g.in(t, {40});
    for (B op :
         {B::kAdd, B::kSub, B::kMul, B::kDiv, B::kFloorDiv, B::kMod, B::kFloorMod, B::kMax, B::kMin, B::kAnd, B::kOr, B::kXor, B::kShl, B::kShr})
      g.out(g.b.binary(op, x, y));
    for (ir::Compare c : {ir::Compare::kEq, ir::Compare::kLt, ir::Compare::kGe}) g.out(g.b.compare(c, x, y));
    for (ir::Unary u : {ir::Unary::kNeg, ir::Unary::kAbs, ir::Unary::kSign, ir::Unary::kNot}) g.out(g.b.unary(u, x));
    for (DType to : {DType::kFloat, DType::kDouble, DType::kInt8, DType::kUint16, DType::kInt64, DType::kBool}) g.out(g.b.convert(x, to));
    INFO(core::dtype_name(t));
    CHECK(g.differs(0) == "");
  }
}

TEST_CASE("movement") {
  for (const bool open : {false, true}) {
    const Dim n = open ? Dim::symbol(0) : Dim(6);
    BuiltModule g;
    if (open) g.m->symbols = {{"batch", 0, 0}};
    Value x = g.in(DType::kFloat, {n, 4, 5}), y = g.in(DType::kFloat, {5}), z = g.in(DType::kFloat, {n, 4, 3});
    Builder& b = g.b;
    g.out(b.transpose(x, {0, 2, 1}));
    g.out(b.transpose(x, {2, 0, 1}));
    g.out(b.add(b.transpose(b.exp(x), {1, 0, 2}), y));
    g.out(b.reshape(b.neg(x), {n * Dim(4), 5}));
    g.out(b.add(b.reshape(x, {n, 20}), b.reshape(b.transpose(x, {0, 2, 1}), {n, 20})));
    g.out(b.slice(x, {0, 1, 2}, {n, 3, 2}));
    g.out(b.slice(x, {0, 0, 0}, {n, 2, 3}, {1, 2, 2}));
    g.out(b.pad(x, b.scalar(DType::kFloat, 7), {1, 0, 2}, {0, 3, 1}));
    g.out(b.pad(b.exp(x), b.scalar(DType::kFloat, 7), {0, 1, 0}, {0, 0, 0}, {0, 1, 2}));
    g.out(b.concat({x, z, x}, 2));
    g.out(b.concat({x, b.neg(x)}, 0));
    g.out(b.neg(b.concat({x, b.neg(x)}, 1)));
    g.out(b.reverse(x, {0, 2}));
    g.out(b.mul(b.broadcast_in_dim(y, {5, n}, {0}), b.broadcast_in_dim(b.exp(y), {5, n}, {0})));
    g.out(b.add(b.iota(DType::kFloat, {n, 4}, 1), b.iota(DType::kFloat, {n, 4}, 0)));
    g.out(b.sizes({n, n * Dim(2) + Dim(1)}, DType::kInt32));
    CHECK(g.differs(1e-5, {}, {6}) == "");
    if (open) CHECK(g.differs(1e-5, {}, {1}) == "");
  }
}

TEST_CASE("reductions") {
  using R = ir::Reduce;
  const std::vector<std::vector<int>> axes{{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}};
  for (DType t : {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64, DType::kHalf}) {
    BuiltModule g;
    Value x = g.in(t, {9, 6, 37}), y = g.in(t, {37});
    for (const auto& a : axes) {
      for (R r : {R::kSum, R::kMax, R::kMin}) g.out(g.b.reduce(r, x, a));
      g.out(g.b.reduce(R::kSum, g.b.mul(g.b.sub(x, y), x), a, true));
    }
    g.out(g.b.reduce(R::kProd, x, {0}));
    g.out(g.b.arg_reduce(R::kMax, x, 2, DType::kInt64));
    g.out(g.b.arg_reduce(R::kMin, x, 1, DType::kInt32));
    g.out(g.b.scan(R::kSum, x, 1, false, false));
    g.out(g.b.scan(R::kSum, x, 2, true, true));
    g.out(g.b.scan(R::kSum, x, 0, true, false));
    g.out(g.b.scan(R::kMax, g.b.sub(x, y), 1, false, true));
    INFO(core::dtype_name(t));
    CHECK(g.differs(t == DType::kHalf ? 1e-2 : 2e-5, {1, -9, 9}) == "");
  }
  BuiltModule g;
  Value x = g.in(DType::kBool, {8, 19});
  g.out(g.b.reduce(R::kAnd, x, {1}));
  g.out(g.b.reduce(R::kOr, x, {0}));
  CHECK(g.differs() == "");
}

TEST_CASE("softmax and normalisation with an open batch") {
  BuiltModule g;
  g.m->symbols = {{"batch", 0, 0}};
  Value x = g.in(DType::kFloat, {Dim::symbol(0), 10});
  Builder& b = g.b;
  Value e = b.exp(b.sub(x, b.reduce(ir::Reduce::kMax, x, {1}, true)));
  g.out(b.div(e, b.sum(e, {1}, true)));
  Value d = b.sub(x, b.mean(x, {0}, true));
  g.out(b.mul(d, b.rsqrt(b.add(b.mean(b.square(d), {0}, true), 1e-3))));
  for (int64_t n : {1, 3, 32}) CHECK(g.differs(1e-5, {}, {n}) == "");
  CHECK(g.differs(1e-5, {}, {0}) == "");
}

TEST_CASE("gather, scatter, dynamic slices") {
  BuiltModule g;
  Builder& b = g.b;
  Value x = g.in(DType::kFloat, {12, 3, 4}), i = g.in(DType::kInt32, {5}), at = g.in(DType::kInt64, {});
  g.out(b.gather(x, i, 0, 0, "bad"));
  g.out(b.gather(x, b.binary(ir::Binary::kMin, i, b.scalar_int(DType::kInt32, 2)), 1, 0, "bad"));
  g.out(b.scatter(x, i, b.slice(b.neg(x), {0, 0, 0}, {5, 3, 4}), ir::Reduce::kSum, "bad"));
  g.out(b.scatter(x, b.add(i, b.ints({100})), b.slice(b.neg(x), {0, 0, 0}, {5, 3, 4}), ir::Reduce::kSet, ""));
  Value zero = b.scalar_int(DType::kInt64, 0);
  g.out(b.dynamic_slice(x, {at, zero, at}, {2, 3, 2}));
  g.out(b.dynamic_update(x, b.slice(b.exp(x), {0, 0, 0}, {2, 3, 2}), {at, zero, at}));
  CHECK(g.differs(1e-5, {1, 0, 11}) == "");
  // Outside: the error's number, and nothing foreign is touched.
  CHECK(g.differs(1e-5, {1, -3, 30}) == "");
  std::vector<Array> parameters = random_parameters(*g.m, {}, 1, {1, 12, 12});
  const auto r = run_compiled(*g.m, parameters, {});
  REQUIRE(r.ok());
  CHECK(r->error == 1);
}

TEST_CASE("a row that is written to a list of no rows") {
  // Nothing of it is written, not even behind the list: a list of known size, and one whose size is known when it runs.
  for (const Dim& rows : {Dim(0), Dim::symbol(0)}) {
    BuiltModule g;
    Builder& b = g.b;
    if (!rows.is_const()) g.m->symbols = {{"rows", 0, 0}};
    Value x = g.in(DType::kFloat, {rows, 3}), row = g.in(DType::kFloat, {1, 3}), at = g.in(DType::kInt64, {});
    Value zero = b.scalar_int(DType::kInt64, 0);
    g.out(b.dynamic_update(x, row, {at, zero}));
    if (rows.is_const()) g.out(b.dynamic_slice(x, {at, zero}, {1, 3}));
    CHECK(g.differs(0, {}, rows.is_const() ? std::vector<int64_t>{} : std::vector<int64_t>{0}) == "");
    if (!rows.is_const()) CHECK(g.differs(0, {}, {2}) == "");
  }
}

TEST_CASE("sort") {
  BuiltModule g;
  Value x = g.in(DType::kFloat, {7, 33}), y = g.in(DType::kInt32, {100});
  for (const bool down : {false, true}) {
    const auto [v, p] = g.b.sort(x, down);
    g.out(v);
    g.out(p);
    const auto [w, q] = g.b.sort(y, down);
    g.out(w);
    g.out(q);
  }
  CHECK(g.differs() == "");
}

TEST_CASE("Philox: the published numbers for zeros and ones") {
  for (const bool ones : {false, true}) {
    BuiltModule g;
    Value key = g.in(DType::kUint64, {}), counter = g.in(DType::kUint64, {2});
    g.out(g.b.philox(key, counter, 6));
    const int64_t v = ones ? -1 : 0;
    const auto r = run_compiled(*g.m, {Array{DType::kUint64, {}, {}, {}, {v}}, Array{DType::kUint64, {2}, {}, {}, {v, v}}}, {});
    REQUIRE_MESSAGE(r.ok(), r.status().to_string());
    const std::vector<int64_t> want = ones ? std::vector<int64_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}
                                           : std::vector<int64_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    for (size_t k = 0; k < want.size(); ++k) CHECK(r->results[0].n[k] == want[k]);
  }
}

TEST_CASE("transpositions") {
  for (const bool open : {false, true}) {
    BuiltModule g;
    if (open) g.m->symbols = {{"batch", 0, 0}};
    const Dim n = open ? Dim::symbol(0) : Dim(11);
    Value x = g.in(DType::kFloat, {n, 19, 23}), y = g.in(DType::kInt32, {3, n, 2, 17}), z = g.in(DType::kDouble, {n, 20});
    for (const std::vector<int>& axes : {std::vector<int>{0, 2, 1}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}, {1, 0, 2}}) g.out(g.b.transpose(x, axes));
    for (const std::vector<int>& axes : {std::vector<int>{3, 2, 1, 0}, {0, 3, 1, 2}, {2, 3, 0, 1}, {0, 2, 3, 1}}) g.out(g.b.transpose(y, axes));
    g.out(g.b.transpose(z, {1, 0}));
    CHECK(g.differs(0, {}, {11}) == "");
    if (open) CHECK(g.differs(0, {}, {40}) == "");
  }
}

TEST_CASE("leaves in memory") {
  BuiltModule g;
  g.out(g.b.iota(DType::kInt32, {300}, 0));
  g.out(g.b.fill(DType::kFloat, {3, 50}, 2.5));
  g.out(g.b.sizes({1, 2, 3}, DType::kInt64));
  CHECK(g.differs() == "");
}

TEST_CASE("reshapes between shapes that do not nest") {
  BuiltModule g;
  Builder& b = g.b;
  Value x = g.in(DType::kFloat, {2, 6, 4, 5}), y = g.in(DType::kFloat, {4, 5});
  g.out(b.reshape(b.transpose(x, {0, 2, 1, 3}), {2, 4, 30}));
  g.out(b.neg(b.reshape(b.transpose(b.exp(x), {0, 2, 1, 3}), {8, 30})));
  g.out(b.reshape(b.add(x, y), {12, 20}));
  g.out(b.reshape(b.add(b.transpose(x, {0, 1, 3, 2}), b.transpose(y, {1, 0})), {6, 40}));
  g.out(b.reshape(b.reshape(b.add(x, y), {10, 24}), {3, 80}));
  g.out(b.add(b.reshape(b.concat({x, b.neg(x)}, 3), {2, 6, 40}), b.reshape(b.concat({x, x}, 2), {2, 6, 40})));
  CHECK(g.differs() == "");
}

TEST_CASE("integer division by zero") {
  BuiltModule g;
  Value x = g.in(DType::kInt32, {20});
  Value y = g.b.div(x, g.b.sub(x, x));
  g.m->messages = {"Integer division by zero"};
  y->message = 0;
  g.out(y);
  const auto r = run_compiled(*g.m, random_parameters(*g.m, {}, 1), {});
  REQUIRE_MESSAGE(r.ok(), r.status().to_string());
  CHECK(r->error == 1);
}

TEST_CASE("loops and branches") {
  BuiltModule g;
  Builder& b = g.b;
  Value x = g.in(DType::kFloat, {4, 6}), n = g.in(DType::kInt32, {});
  const auto less = [&](Value i) { return b.compare(ir::Compare::kLt, i, b.scalar_int(DType::kInt32, 5)); };
  auto condition = b.begin_region();
  Value i = b.region_parameter({DType::kInt32, {}});
  b.region_parameter(x->type);
  auto condition_region = condition.end({less(i)});
  auto body = b.begin_region();
  i = b.region_parameter({DType::kInt32, {}});
  Value v = b.region_parameter(x->type);
  auto body_region = body.end({b.add(i, b.scalar_int(DType::kInt32, 1)), b.add(b.tanh(v), x)});
  const auto out = b.while_loop({b.scalar_int(DType::kInt32, 0), x}, std::move(condition_region), std::move(body_region));
  g.out(out[0]);
  g.out(out[1]);
  std::vector<std::unique_ptr<ir::Region>> regions;
  for (int k = 0; k < 3; ++k) {
    auto r = b.begin_region();
    auto r_region = r.end({b.mul(out[1], k + 0.5)});
    regions.push_back(std::move(r_region));
  }
  g.out(b.branch(n, std::move(regions))[0]);
  for (int64_t k : {-1, 0, 1, 2, 9}) CHECK(g.differs(1e-5, {1, k, k}) == "");
}

TEST_CASE("random modules") {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomOptions o;
    o.open = seed % 2 == 0;
    o.instrs = 12;
    const auto m = random_module(seed, o);
    ir::drop_dead(*m);  // the planner drops errors with what nobody reads
    INFO("seed ", seed, "\n", ir::print(*m));
    compiler::CodegenOptions code;
    // Processors that this one can stand for, old ones without fused products too.
    if (seed % 4 == 1) code.cpu = "x86-64-v3";
    if (seed % 4 == 2) code.cpu = "x86-64";
    if (!is_x86) code.cpu = "";
    code.embed_constants = seed % 3 != 0;
    CHECK(compare_with_interpreter(*m, {2, 3}, seed, 1e-3, {}, code) == "");
  }
}

TEST_CASE("places cost nothing: one loop over all dimensions, in vectors, without a division") {
  if (!is_x86) return;
  const auto api = compiler::codegen();
  REQUIRE_MESSAGE(api.ok(), api.status().to_string());
  for (const bool open : {false, true}) {
    BuiltModule g;
    if (open) g.m->symbols = {{"batch", 0, 0}};
    const Dim n = open ? Dim::symbol(0) : Dim(9);
    Value x = g.in(DType::kFloat, {n, 28, 28, 32}), y = g.in(DType::kFloat, {n, 28, 28, 32}), z = g.in(DType::kFloat, {32});
    Value positive = g.b.compare(ir::Compare::kGt, g.b.add(x, z), g.b.fill(DType::kFloat, x->type.dims, 0));
    g.out(g.b.mul(g.b.convert(positive, DType::kFloat), y));
    g.out(g.b.reshape(g.b.transpose(g.b.neg(g.b.reshape(x, {n, 784, 4, 8})), {0, 2, 1, 3}), {n, 4 * 784, 8}));
    const auto plan = compiler::make_plan(*g.m);
    REQUIRE(plan.ok());
    const compiler::CodeUnit unit{&*plan, "f"};
    compiler::CodegenOptions o;
    o.cpu = "x86-64-v3";
    o.emit = compiler::CodegenOptions::Emit::kAssembly;
    const auto text = (*api)->emit({&unit, 1}, {}, o);
    REQUIRE_MESSAGE(text.ok(), text.status().to_string());
    CHECK(text->find("ymm") != std::string::npos);
    CHECK(text->find("mulxq") == std::string::npos);
    CHECK(text->find("divq") == std::string::npos);
    CHECK(g.differs(0, {}, {3}) == "");
  }
}

TEST_CASE("targets that are none") {
  BuiltModule g;
  g.out(g.b.neg(g.in(DType::kFloat, {300})));
  const auto plan = compiler::make_plan(*g.m);
  REQUIRE(plan.ok());
  const auto api = compiler::codegen();
  REQUIRE_MESSAGE(api.ok(), api.status().to_string());
  const compiler::CodeUnit unit{&*plan, "f"};
  if (!is_x86) return;
  const auto emit = [&](const char* triple, const char* cpu, const char* features,
                        compiler::CodegenOptions::Emit what = compiler::CodegenOptions::Emit::kObject) {
    compiler::CodegenOptions o;
    o.triple = triple;
    o.cpu = cpu;
    o.features = features;
    o.emit = what;
    return (*api)->emit({&unit, 1}, {}, o);
  };
  CHECK(emit("", "no-such-cpu", "").status().message().find("known: native") != std::string::npos);
  CHECK(emit("nowhere-at-all", "", "").status().code() == core::Code::kInvalidArgument);
  CHECK(emit("", "x86-64-v3", "+nonsense").status().message().find("+nonsense") != std::string::npos);
  CHECK(emit("", "x86-64-v3", "", compiler::CodegenOptions::Emit::kAssembly)->find("ymm") != std::string::npos);
  CHECK(emit("aarch64-linux-gnu", "", "").ok());
  CHECK(emit("", "", "", compiler::CodegenOptions::Emit::kLlvm)->find("i32 @f(") != std::string::npos);
}

}  // namespace
}  // namespace weft_engine::testing
