// Products of 8-bit numbers against sums written out, for every form of the operands; few rows times half and bfloat16.
#include "kernels/cpu/int8_gemm.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "core/float_types.h"
#include "kernels/cpu/batch_matmul.h"

using namespace weft_engine;
using namespace weft_engine::kernels;

namespace {

std::vector<uint8_t> bytes(int64_t n, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<uint8_t> v(static_cast<size_t>(n));
  for (uint8_t& x : v) x = uint8_t(rng());
  return v;
}

// The extremes too: 255 * -128 four times over is more than 16 bits hold.
std::vector<uint8_t> extremes(int64_t n) {
  std::vector<uint8_t> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = i % 7 < 4 ? 255 : 128;
  return v;
}

int32_t number(uint8_t x, bool is_signed) { return is_signed ? int8_t(x) : x; }

struct Size {
  int64_t m, n, k;
};

}  // namespace

TEST_CASE("products of bytes are exact sums, whatever the signs, orders, zero points and threads") {
  for (const Size& s : {Size{1, 17, 5}, {3, 64, 64}, {33, 50, 131}, {2, 300, 7}, {14, 32, 8}, {5, 130, 1000}, {130, 96, 260}}) {
    for (int form = 0; form < 16; ++form) {
      const bool as = form & 1, bs = form & 2, ta = form & 4, tb = form & 8;
      CAPTURE(s.m);
      CAPTURE(s.n);
      CAPTURE(form);
      for (const bool most : {false, true}) {
        const auto a = most ? extremes(s.m * s.k) : bytes(s.m * s.k, 1), b = most ? extremes(s.k * s.n) : bytes(s.k * s.n, 2);
        const int32_t za = form % 3 ? 9 * form - 60 : 0, zb = form % 5 ? 0 : 11;
        std::vector<int32_t> want(size_t(s.m * s.n));
        for (int64_t i = 0; i < s.m; ++i) {
          for (int64_t j = 0; j < s.n; ++j) {
            int32_t sum = 0;
            for (int64_t l = 0; l < s.k; ++l)
              sum += (number(a[size_t(ta ? l * s.m + i : i * s.k + l)], as) - za) * (number(b[size_t(tb ? j * s.k + l : l * s.n + j)], bs) - zb);
            want[size_t(i * s.n + j)] = sum;
          }
        }
        for (int threads : {1, 3, 16}) {
          core::ThreadPool pool(threads);
          std::vector<int32_t> got(want.size(), -1);
          int8_matmul(s.m, s.n, s.k, {a.data(), as, ta, ta ? s.m : s.k}, {b.data(), bs, tb, tb ? s.k : s.n}, za, zb, got.data(), pool);
          CHECK(got == want);
        }
      }
    }
  }
}

TEST_CASE("convolutions of bytes see the zero point outside of the images") {
  core::ThreadPool pool(2);
  ConvGeometry g;
  g.batch = 2, g.in_channels = 5, g.out_channels = 18;
  g.dim[1] = {.in = 7, .window = 3, .out = 4, .stride = 2, .dilation = 1, .before = 1};
  g.dim[2] = {.in = 9, .window = 2, .out = 9, .stride = 1, .dilation = 2, .before = 1};
  const auto in = bytes(g.batch * g.in_positions() * g.in_channels, 3), filter = bytes(g.patch() * g.out_channels, 4);
  for (const bool is_signed : {false, true}) {
    const int32_t zero = is_signed ? -20 : 77;
    std::vector<int32_t> got(size_t(g.batch * g.out_positions() * g.out_channels), -1), want;
    int8_conv(g, {in.data(), is_signed}, {filter.data(), true}, zero, 0, got.data(), pool);
    for (int64_t b = 0; b < g.batch; ++b) {
      for (int64_t h = 0; h < g.dim[1].out; ++h) {
        for (int64_t w = 0; w < g.dim[2].out; ++w) {
          for (int64_t o = 0; o < g.out_channels; ++o) {
            int32_t sum = 0;
            for (int64_t i = 0; i < 3; ++i) {
              for (int64_t j = 0; j < 2; ++j) {
                const int64_t y = g.dim[1].start(h) + i, x = g.dim[2].start(w) + 2 * j;
                if (y < 0 || y >= 7 || x < 0 || x >= 9) continue;
                for (int64_t c = 0; c < 5; ++c)
                  sum +=
                      (number(in[size_t(((b * 7 + y) * 9 + x) * 5 + c)], is_signed) - zero) * int8_t(filter[size_t(((i * 2 + j) * 5 + c) * 18 + o)]);
              }
            }
            want.push_back(sum);
          }
        }
      }
    }
    CHECK(got == want);
  }
}

TEST_CASE("totals become floats and bytes as the single ops make them") {
  const int64_t n = 300;
  std::vector<int32_t> totals(static_cast<size_t>(n));
  std::vector<float> scale(totals.size()), bias(totals.size()), y(totals.size());
  for (size_t i = 0; i < totals.size(); ++i)
    totals[i] = int32_t(i * 977) - 140000, scale[i] = 0.0009765625f * float(1 + i % 5), bias[i] = float(i) * 0.25f - 30;
  Int8Finish f{scale.data(), bias.data(), Int8Activation::kRelu6};
  f.inverse = 32, f.zero = -100;
  std::vector<int8_t> q(totals.size());
  WEFT_BEST_ISA(int8_finish_float)(f, 0, totals.data(), n, 1, n, y.data(), n);
  WEFT_BEST_ISA(int8_finish_bytes)(f, 0, totals.data(), n, 1, n, q.data(), n);
  int wrong = 0;
  for (size_t i = 0; i < totals.size(); ++i) {
    const float v = std::min(std::max(float(totals[i]) * scale[i] + bias[i], 0.f), 6.f);  // exact: powers of two
    wrong += y[i] != v;
    wrong += q[i] != std::min(std::max(int(std::floor(v * 32 + 0.5f)) - 100, -128), 127);
  }
  CHECK(wrong == 0);
}

TEST_CASE("few rows times half and bfloat16 numbers are summed in floats") {
  std::mt19937 rng(5);
  std::normal_distribution<float> normal;
  for (const core::DType type : {core::DType::kBfloat16, core::DType::kHalf}) {
    for (const Size& s : {Size{1, 700, 135}, {2, 129, 1024}, {7, 1030, 131}, {12, 2200, 130}, {12, 520, 129}, {1, 5, 3}, {30, 200, 100}}) {
      std::vector<float> a(size_t(s.m * s.k)), b(size_t(s.k * s.n));
      const auto fill = [&](std::vector<float>& v, std::vector<uint16_t>& narrow_v) {
        core::ThreadPool one(1);
        for (float& x : v) x = normal(rng);
        narrow_v.resize(v.size());
        narrow(type, v.data(), narrow_v.data(), int64_t(v.size()), one);
        widen(type, narrow_v.data(), v.data(), int64_t(v.size()), one);
      };
      std::vector<uint16_t> na, nb;
      fill(a, na), fill(b, nb);
      for (const bool tb : {false, true}) {
        std::vector<uint16_t> first;
        for (int threads : {1, 2, 16}) {
          core::ThreadPool pool(threads);
          std::vector<uint16_t> got(size_t(s.m * s.n));
          BatchMatMulArgs g{.transb = tb, .m = s.m, .n = s.n, .k = s.k};
          REQUIRE(batch_matmul(type, g, na.data(), nb.data(), got.data(), pool).ok());
          if (first.empty()) first = got;
          CHECK(got == first);  // the same bits on any number of threads
        }
        std::vector<float> wide(first.size());
        core::ThreadPool one(1);
        widen(type, first.data(), wide.data(), int64_t(first.size()), one);
        int wrong = 0;
        for (int64_t i = 0; i < s.m; ++i) {
          for (int64_t j = 0; j < s.n; ++j) {
            double sum = 0, size = 0;
            for (int64_t k = 0; k < s.k; ++k) {
              const double term = double(a[size_t(i * s.k + k)]) * double(b[size_t(tb ? j * s.k + k : k * s.n + j)]);
              sum += term, size += std::fabs(term);
            }
            // Half a digit of the result, and the roundings of float sums.
            const double digit = type == core::DType::kHalf ? 1.0 / 2048 : 1.0 / 256;
            wrong += std::fabs(double(wide[size_t(i * s.n + j)]) - sum) > std::fabs(sum) * digit + size * 1e-5 + 1e-7;
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("products of bfloat16 numbers are sums of floats in every form") {
  std::mt19937 rng(7);
  std::normal_distribution<float> normal;
  constexpr core::DType kType = core::DType::kBfloat16;
  core::ThreadPool one(1);
  for (const Size& s :
       {Size{8, 16, 16}, {33, 50, 37}, {256, 64, 96}, {16, 16, 4096}, {100, 130, 2048}, {47, 33, 31}, {64, 1000, 65}, {300, 17, 128}}) {
    std::vector<float> a(size_t(s.m * s.k)), b(size_t(s.k * s.n));
    std::vector<uint16_t> na(a.size()), nb(b.size());
    for (auto [wide, small] : {std::pair(&a, &na), std::pair(&b, &nb)}) {
      for (float& x : *wide) x = normal(rng);
      narrow(kType, wide->data(), small->data(), int64_t(wide->size()), one);
      widen(kType, small->data(), wide->data(), int64_t(wide->size()), one);
    }
    for (int form = 0; form < 4; ++form) {
      const bool ta = form & 1, tb = form & 2;
      CAPTURE(s.m);
      CAPTURE(s.n);
      CAPTURE(s.k);
      CAPTURE(form);
      std::vector<uint16_t> first;
      for (int threads : {1, 2, 16}) {
        core::ThreadPool pool(threads);
        std::vector<uint16_t> got(size_t(s.m * s.n));
        REQUIRE(batch_matmul(kType, {.transa = ta, .transb = tb, .m = s.m, .n = s.n, .k = s.k}, na.data(), nb.data(), got.data(), pool).ok());
        if (first.empty()) first = got;
        CHECK(got == first);  // the same bits on any number of threads
      }
      std::vector<float> wide(first.size());
      widen(kType, first.data(), wide.data(), int64_t(first.size()), one);
      int wrong = 0;
      for (int64_t i = 0; i < s.m; ++i) {
        for (int64_t j = 0; j < s.n; ++j) {
          double sum = 0, size = 0;
          for (int64_t k = 0; k < s.k; ++k) {
            const double term = double(a[size_t(ta ? k * s.m + i : i * s.k + k)]) * double(b[size_t(tb ? j * s.k + k : k * s.n + j)]);
            sum += term, size += std::fabs(term);
          }
          wrong += std::fabs(double(wide[size_t(i * s.n + j)]) - sum) > std::fabs(sum) / 256 + size * 1e-5 + 1e-7;
        }
      }
      CHECK(wrong == 0);
    }
  }
}
