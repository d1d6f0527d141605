// What the recorded cases do not show of the elementwise loops: accuracy over all floats, the same bits
// wherever an element is, broadcasts of many dimensions, floats that fit no integer.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/broadcast.h"
#include "kernels/cpu/cast.h"
#include "kernels/cpu/elementwise_simd.h"
#include "kernels/cpu/special_math.h"

using namespace weft_engine;           // NOLINT
using namespace weft_engine::kernels;  // NOLINT
using core::DType;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double softplus(double x) { return std::log1p(std::exp(-std::fabs(x))) + (x > 0 ? x : 0); }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

struct Function {
  const char* name;
  Unary op;
  double (*exact)(double);
  double most = 2;  // units in the last place
};
const Function kFunctions[] = {
    {"exp", Unary::kExp, std::exp},          {"expm1", Unary::kExpm1, std::expm1},     {"log", Unary::kLog, std::log},
    {"log1p", Unary::kLog1p, std::log1p},    {"tanh", Unary::kTanh, std::tanh, 7},     {"sigmoid", Unary::kSigmoid, sigmoid, 3},
    {"erf", Unary::kErf, std::erf, 7},       {"softplus", Unary::kSoftplus, softplus}, {"erfc", Unary::kErfc, std::erfc, 7},
    {"rsqrt", Unary::kRsqrt, rsqrt},         {"sin", Unary::kSin, std::sin},           {"cos", Unary::kCos, std::cos},
    {"tan", Unary::kTan, std::tan, 3},       {"asin", Unary::kAsin, std::asin, 3},     {"acos", Unary::kAcos, std::acos, 3},
    {"atan", Unary::kAtan, std::atan, 3},    {"sinh", Unary::kSinh, std::sinh, 3},     {"cosh", Unary::kCosh, std::cosh, 3},
    {"atanh", Unary::kAtanh, std::atanh, 4}, {"erfinv", Unary::kErfinv, erfinv, 6},    {"ndtri", Unary::kNdtri, ndtri, 6}};

double ulps(float got, double want) {
  const float rounded = float(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  if (got == rounded) return 0;
  if (std::isinf(rounded)) return 1e9;
  const float a = std::fabs(rounded);
  return std::fabs(double(got) - want) / double(std::nextafter(a, kInf) - a);
}

std::vector<std::pair<const char*, UnaryLoop (*)(Unary, DType)>> levels() {
  std::vector<std::pair<const char*, UnaryLoop (*)(Unary, DType)>> all = {{"generic", generic::unary_loop}};
  if (core::cpu_level() >= core::CpuLevel::kAvx2) all.push_back({"avx2", avx2::unary_loop});
  if (core::cpu_level() >= core::CpuLevel::kAvx512) all.push_back({"avx512", avx512::unary_loop});
  return all;
}

}  // namespace

TEST_CASE("float functions are within a few units in the last place of the exact value") {
  std::vector<float> x, y;
  for (uint64_t b = 0; b < uint64_t(1) << 32; b += 8191) x.push_back(std::bit_cast<float>(uint32_t(b)));
  for (float special : {0.f, -0.f, kInf, -kInf, kNan, 1.f, -1.f, 1e-45f, -1e-45f, 88.7f, -103.9f}) x.push_back(special);
  y.resize(x.size());
  for (auto [level, loop_of] : levels()) {
    for (const Function& f : kFunctions) {
      CAPTURE(level);
      CAPTURE(f.name);
      loop_of(f.op, DType::kFloat)(x.data(), y.data(), int64_t(x.size()));
      double worst = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = f.exact(double(x[i]));
        if (std::fabs(want) < 1.2e-38) worst = std::max(worst, std::fabs(double(y[i]) - want) > 3e-45 ? 1e9 : 0);
        else worst = std::max(worst, ulps(y[i], want));
      }
      CHECK(worst < f.most);
    }
  }
}

TEST_CASE("double functions are within a few units in the last place of the exact value") {
  std::vector<double> x, y;
  for (uint64_t b = 0; b < uint64_t(1) << 32; b += 49999) x.push_back(std::bit_cast<double>(b << 32 | b));
  for (int i = -3000; i < 3000; ++i) x.push_back(i * 0.01), x.push_back(1 + i * 1e-5);
  for (double special : {0.0, -0.0, double(kInf), -double(kInf), double(kNan), 1.0, -1.0, 5e-324, 2.3e-308, 1e-310}) x.push_back(special);
  y.resize(x.size());
  for (auto [level, loop_of] : levels()) {
    for (Unary op : {Unary::kLog, Unary::kTanh}) {
      CAPTURE(level);
      loop_of(op, DType::kDouble)(x.data(), y.data(), int64_t(x.size()));
      double worst = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const long double want = op == Unary::kLog ? std::log(static_cast<long double>(x[i])) : std::tanh(static_cast<long double>(x[i]));
        if (std::isnan(want) || std::isinf(want) || want == 0) {
          const double rounded = double(want);
          if (std::isnan(want) ? y[i] == y[i] : y[i] != rounded || std::signbit(y[i]) != std::signbit(rounded)) worst = 1e9;
          continue;
        }
        const double a = std::fabs(double(want)), unit = std::nextafter(a, double(kInf)) - a;
        worst = std::max(worst, double(std::fabs(static_cast<long double>(y[i]) - want)) / unit);
      }
      CHECK(worst < 4);
    }
  }
}

namespace {

using BinaryLoopOf = BinaryLoop (*)(Binary, DType);
struct BinaryLevel {
  const char* name;
  BinaryLoopOf loop, math;
};
std::vector<BinaryLevel> binary_levels() {
  std::vector<BinaryLevel> all = {{"generic", generic::binary_loop, generic::binary_math_loop}};
  if (core::cpu_level() >= core::CpuLevel::kAvx2) all.push_back({"avx2", avx2::binary_loop, avx2::binary_math_loop});
  if (core::cpu_level() >= core::CpuLevel::kAvx512) all.push_back({"avx512", avx512::binary_loop, avx512::binary_math_loop});
  return all;
}

// Every pair of floats from the least to the greatest, and of such as lie close together.
void float_pairs(std::vector<float>& a, std::vector<float>& b) {
  std::vector<float> x = {0.f, -0.f, kInf, -kInf, kNan, 1.f, -1.f, 1e-45f, -1e-45f, 3.4e38f, -3.4e38f, 3.f, 0.1f, -7.5f};
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 11939137) x.push_back(std::bit_cast<float>(uint32_t(bits)));
  for (int i = -40; i < 40; ++i) x.push_back(0.37f * float(i));
  for (float p : x) {
    for (float q : x) a.push_back(p), b.push_back(q);
  }
}

}  // namespace

TEST_CASE("angles of pairs are within a few units in the last place") {
  std::vector<float> y, x;
  float_pairs(y, x);
  std::vector<float> out(x.size());
  for (const BinaryLevel& level : binary_levels()) {
    CAPTURE(level.name);
    level.math(Binary::kAtan2, DType::kFloat)(y.data(), x.data(), out.data(), int64_t(x.size()), 1, 1);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = std::atan2(double(y[i]), double(x[i]));
      if (std::fabs(want) < 1.2e-38) worst = std::max(worst, std::fabs(double(out[i]) - want) > 3e-45 ? 1e9 : 0);
      else worst = std::max(worst, ulps(out[i], want));
      if (want == want && std::signbit(want) != std::signbit(out[i])) worst = 1e9;
    }
    CHECK(worst < 3);
    const float zero = -0.f, left[] = {-1.f, 1.f};
    float angles[2];
    level.math(Binary::kAtan2, DType::kFloat)(&zero, left, angles, 2, 0, 1);  // the same for all: its sign counts too
    CHECK(angles[0] == -3.14159274f);
    CHECK(std::signbit(angles[1]));
  }
}

TEST_CASE("remainders of floats have the bits of fmod") {
  std::vector<float> a, b;
  float_pairs(a, b);
  std::vector<float> cut(a.size()), floor(a.size());
  for (const BinaryLevel& level : binary_levels()) {
    CAPTURE(level.name);
    if (!level.math(Binary::kTruncateMod, DType::kFloat)) continue;
    level.math(Binary::kTruncateMod, DType::kFloat)(a.data(), b.data(), cut.data(), int64_t(a.size()), 1, 1);
    level.math(Binary::kFloorMod, DType::kFloat)(a.data(), b.data(), floor.data(), int64_t(a.size()), 1, 1);
    int64_t wrong = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const float m = std::fmod(a[i], b[i]), f = m != 0 && (m < 0) != (b[i] < 0) ? m + b[i] : m;
      auto same = [](float p, float q) { return p != p ? q != q : std::bit_cast<uint32_t>(p) == std::bit_cast<uint32_t>(q); };
      wrong += !same(m, cut[i]) || !same(f, floor[i]);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("quotients of int32 are those of 64 bits, and 0 is refused") {
  constexpr int32_t kLow = std::numeric_limits<int32_t>::min(), kHigh = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> some = {kLow, kLow + 1, kHigh, kHigh - 1, 1 << 30, -(1 << 30), 65537, 46341};
  for (int32_t i = -20; i <= 20; ++i) some.push_back(i);
  std::vector<int32_t> a, b;
  for (int32_t p : some) {
    for (int32_t q : some) {
      if (q) a.push_back(p), b.push_back(q);
    }
  }
  std::vector<int32_t> q(a.size()), r(a.size()), floor_q(a.size()), floor_r(a.size());
  const int64_t n = int64_t(a.size());
  for (const BinaryLevel& level : binary_levels()) {
    CAPTURE(level.name);
    CHECK(level.loop(Binary::kTruncateDiv, DType::kInt32)(a.data(), b.data(), q.data(), n, 1, 1));
    CHECK(level.loop(Binary::kTruncateMod, DType::kInt32)(a.data(), b.data(), r.data(), n, 1, 1));
    CHECK(level.loop(Binary::kFloorDiv, DType::kInt32)(a.data(), b.data(), floor_q.data(), n, 1, 1));
    CHECK(level.loop(Binary::kFloorMod, DType::kInt32)(a.data(), b.data(), floor_r.data(), n, 1, 1));
    int64_t wrong = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const int64_t x = a[i], y = b[i], m = x % y, f = x / y - (m != 0 && (m < 0) != (y < 0));
      wrong += q[i] != int32_t(uint32_t(x / y)) || r[i] != m || floor_q[i] != int32_t(uint32_t(f)) || floor_r[i] != x - f * y;
    }
    CHECK(wrong == 0);
    const int32_t zero = 0;
    CHECK_FALSE(level.loop(Binary::kFloorDiv, DType::kInt32)(a.data(), &zero, q.data(), n, 1, 0));
    CHECK_FALSE(level.loop(Binary::kTruncateMod, DType::kInt32)(a.data(), &zero, q.data(), n, 1, 0));
  }
}

TEST_CASE("bits of integers are counted and turned over") {
  for (uint32_t x : {0u, 1u, 0xffffffffu, 0x80000001u, 0x12345678u}) {
    uint8_t bits = 0;
    uint32_t inverse = 0;
    unary_loop(Unary::kPopulationCount, DType::kUint32)(&x, &bits, 1);
    unary_loop(Unary::kInvert, DType::kInt32)(&x, &inverse, 1);
    CHECK(bits == std::popcount(x));
    CHECK(inverse == ~x);
  }
}

TEST_CASE("an element gives the same bits wherever it stands") {
  std::vector<float> x(100), y(100);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.37f * float(i) - 17;
  for (Unary op : {Unary::kExp, Unary::kLog, Unary::kTanh, Unary::kSigmoid, Unary::kErf, Unary::kRsqrt, Unary::kSoftsign}) {
    const UnaryLoop loop = unary_loop(op, DType::kFloat);
    loop(x.data(), y.data(), 100);
    for (int64_t begin = 0; begin < 40; ++begin) {
      for (int64_t n : {1, 3, 8, 17}) {
        float part[17];
        loop(x.data() + begin, part, n);
        for (int64_t i = 0; i < n; ++i) CHECK(std::bit_cast<uint32_t>(part[i]) == std::bit_cast<uint32_t>(y[size_t(begin + i)]));
      }
    }
  }
}

TEST_CASE("a broadcast walk visits what indexing would") {
  const core::Shape a({3, 1, 2, 1, 4}), b({2, 1, 5, 1}), out({3, 2, 2, 5, 4});
  REQUIRE(*broadcast_shape(a, b) == out);
  const core::Shape* const shapes[] = {&a, &b};
  const Broadcast walk(out, shapes);
  for (int64_t begin : {0, 1, 37, 239}) {
    int64_t seen = begin;
    walk.for_runs(begin, 240, [&](const Broadcast::Offsets& from, int64_t to, int64_t n) {
      CHECK(to == seen);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = to + i, i4 = at % 4, i3 = at / 4 % 5, i2 = at / 20 % 2, i1 = at / 40 % 2, i0 = at / 80;
        CHECK(from.at[0] + i * walk.inner_stride(0) == (i0 * 2 + i2) * 4 + i4);
        CHECK(from.at[1] + i * walk.inner_stride(1) == i1 * 5 + i3);
      }
      seen += n;
    });
    CHECK(seen == 240);
  }
  CHECK(!broadcast_shape(core::Shape({2}), core::Shape({3})));
}

TEST_CASE("floats that fit no integer give what x86 gives") {
  const float x[] = {kNan, kInf, -kInf, 3e9f, -3e9f, 1e20f, 300.7f, -1.5f};
  int32_t i32[8];
  uint8_t u8[8];
  uint64_t u64[8];
  CastPlan::make(DType::kFloat, DType::kInt32, false)->run(x, i32, 8);
  CastPlan::make(DType::kFloat, DType::kUint8, false)->run(x, u8, 8);
  CastPlan::make(DType::kFloat, DType::kUint64, false)->run(x, u64, 8);
  for (int i = 0; i < 6; ++i) CHECK(i32[i] == std::numeric_limits<int32_t>::min());
  CHECK(i32[6] == 300);
  CHECK(u8[0] == 0);
  CHECK(u8[6] == 44);
  CHECK(u8[7] == 255);
  CHECK(u64[0] == uint64_t(1) << 63);
  CHECK(u64[3] == 3000000000u);
  CHECK(u64[7] == ~uint64_t(0));
}

TEST_CASE("every cast that is planned can be run") {
  std::vector<char> in(16 * 1000, 0x3f), out(16 * 1000);
  for (int from = 1; from < core::kNumDTypes; ++from) {
    for (int to = 1; to < core::kNumDTypes; ++to) {
      for (bool truncate : {false, true}) {
        auto plan = CastPlan::make(DType(from), DType(to), truncate);
        if (plan && !plan->same()) plan->run(in.data(), out.data(), 1000);
      }
    }
  }
}
