// Products on several threads: the bits of one thread, for every way to cut them.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/fused.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/matmul_epilogue.h"

using namespace weft_engine;
using namespace weft_engine::kernels;

namespace {

std::vector<float> floats(int64_t n, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = normal(rng);
  return v;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * 4) == 0;
}

struct Size {
  int64_t m, n, k;
};

}  // namespace

TEST_CASE("products have the same bits on any number of threads") {
  core::ThreadPool one(1);
  for (const Size& s : {Size{32, 512, 128},
                        {32, 128, 784},
                        {128, 512, 32},
                        {1024, 64, 64},
                        {64, 200, 300},
                        {33, 1000, 40},
                        {1, 3000, 500},
                        {3000, 1, 500},
                        {700, 300, 260}}) {
    const auto a = floats(s.m * s.k, 1), b = floats(s.k * s.n, 2);
    for (int form = 0; form < 4; ++form) {
      const bool ta = form & 1, tb = form & 2;
      CAPTURE(s.m);
      CAPTURE(s.n);
      CAPTURE(form);
      std::vector<float> want(size_t(s.m * s.n)), got(want.size());
      sgemm(ta, tb, s.m, s.n, s.k, a.data(), ta ? s.m : s.k, b.data(), tb ? s.k : s.n, want.data(), s.n, false, one);
      double exact = 0;  // the last element
      for (int64_t k = 0; k < s.k; ++k)
        exact += double(ta ? a[size_t(k * s.m + s.m - 1)] : a[size_t((s.m - 1) * s.k + k)]) *
                 double(tb ? b[size_t((s.n - 1) * s.k + k)] : b[size_t(k * s.n + s.n - 1)]);
      CHECK(std::fabs(double(want.back()) - exact) < 1e-3);
      for (int threads : {2, 3, 16}) {
        core::ThreadPool pool(threads);
        std::vector<std::atomic<int>> seen(want.size());
        const auto part = [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
          for (int64_t i = i0; i < i1; ++i) {
            for (int64_t j = j0; j < j1; ++j) seen[size_t(i * s.n + j)] += got[size_t(i * s.n + j)] == want[size_t(i * s.n + j)] ? 1 : 100;
          }
        };
        const core::FunctionRef<void(int64_t, int64_t, int64_t, int64_t)> done(part);
        sgemm(ta, tb, s.m, s.n, s.k, a.data(), ta ? s.m : s.k, b.data(), tb ? s.k : s.n, got.data(), s.n, false, pool, &done);
        CHECK(same(got, want));
        int wrong = 0;
        for (const auto& count : seen) wrong += count != 1;  // complete, and told once
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("a product is cut for all threads where there is enough of it, and not at all where there is little") {
  CHECK(gemm_grid(16, 32, 64, false, 4, 16).parts() == 1);
  CHECK(gemm_grid(1024, 256, 64, false, 4, 1).parts() == 1);
  CHECK(gemm_grid(32, 512, 128, false, 4, 8).parts() >= 6);     // a step of a recurrent network: few rows
  CHECK(gemm_grid(64, 64, 1024, false, 4, 16).parts() >= 8);    // the gradient of a small matrix
  CHECK(gemm_grid(1024, 192, 64, false, 4, 16).parts() % 16 == 0);
  CHECK(gemm_grid(1024, 192, 64, false, 4, 8).parts() % 8 == 0);
  for (const int64_t threads : {2, 5, 16}) {
    for (const Size& s : {Size{32, 128, 784}, {8, 100000, 3}, {100000, 8, 3}, {1, 1, 10000000}, {4096, 4096, 4096}}) {
      const GemmGrid g = gemm_grid(s.m, s.n, s.k, false, 4, threads);
      CHECK(g.parts() >= 1);
      CHECK(g.parts() <= 3 * threads);
      CHECK(g.rows <= s.m);
      CHECK(g.columns <= (s.n + 31) / 32);
    }
  }
}

TEST_CASE("an LSTM's cell has the same bits on any number of threads") {
  for (const auto& [rows, cells, inputs] : {std::array<int64_t, 3>{32, 128, 28}, {5, 40, 7}, {64, 100, 0}, {1, 300, 20}}) {
    const auto x = floats(rows * inputs, 1), w = floats(inputs * 4 * cells, 2), h = floats(rows * cells, 3), r = floats(cells * 4 * cells, 4),
               bias = floats(4 * cells, 5), c = floats(rows * cells, 6);
    std::vector<float> want;
    for (int threads : {1, 2, 16}) {
      CAPTURE(cells);
      CAPTURE(threads);
      core::ThreadPool pool(threads);
      const size_t n = size_t(rows * cells);
      std::vector<float> gates(4 * n), out(7 * n);
      LstmGates g{};
      g.bias = bias.data(), g.c = c.data(), g.gates = gates.data(), g.rows = rows, g.cells = cells;
      float** outputs[] = {&g.h, &g.c_out, &g.i, &g.f, &g.g, &g.o, &g.tanh_c};
      for (size_t i = 0; i < 7; ++i) *outputs[i] = out.data() + i * n;
      lstm_cell({inputs ? x.data() : nullptr, w.data(), h.data(), r.data(), inputs, g}, pool);
      if (threads == 1) want = out;
      CHECK(same(out, want));
    }
  }
}
