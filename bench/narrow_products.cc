// Products of bfloat16, half and 8-bit matrices beside those of floats, one thread, in turn: the best of many rounds, processor time.
//
//   ninja -C BUILD bench_narrow_products && BUILD/tests/bench_narrow_products
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

#include "kernels/cpu/batch_matmul.h"
#include "kernels/cpu/int8_gemm.h"

namespace {

using namespace weft_engine;
using namespace weft_engine::kernels;

double seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

double once(const std::function<void()>& f, int n) {
  const double t = seconds();
  for (int i = 0; i < n; ++i) f();
  return (seconds() - t) / n;
}

void compare(int64_t m, int64_t n, int64_t k) {
  core::ThreadPool one(1);
  std::vector<float> a(size_t(m * k), 1), b(size_t(k * n), 1), c(size_t(m * n));
  std::vector<uint16_t> na(a.size(), 0x3c00), nb(b.size(), 0x3c00), nc(c.size());
  std::vector<int8_t> qa(a.size(), 1), qb(b.size(), 1), packed(size_t(int8_packed_bytes(k, n)));
  std::vector<float> scale(size_t(n), 1.f);
  int8_pack({qb.data(), true, false, n}, k, n, packed.data(), one);
  const Int8Finish finish{scale.data(), scale.data(), Int8Activation::kRelu};
  const auto done = [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1, const int32_t* totals, int64_t step) {
    WEFT_BEST_ISA(int8_finish_float)(finish, j0, totals, step, i1 - i0, j1 - j0, c.data() + i0 * n + j0, n);
  };
  const BatchMatMulArgs args{.m = m, .n = n, .k = k};
  const std::array<std::function<void()>, 4> runs = {[&] { (void)batch_matmul(core::DType::kFloat, args, a.data(), b.data(), c.data(), one); },
                                                     [&] { (void)batch_matmul(core::DType::kBfloat16, args, na.data(), nb.data(), nc.data(), one); },
                                                     [&] { (void)batch_matmul(core::DType::kHalf, args, na.data(), nb.data(), nc.data(), one); },
                                                     [&] { int8_matmul({m, n, k, packed.data()}, {qa.data(), true, false, k}, done, one); }};
  std::array<double, 4> best = {1, 1, 1, 1};
  const int count = std::max(1, int(2e-3 / std::max(1e-7, once(runs[0], 1))));
  for (int round = 0; round < 25; ++round) {
    for (size_t i = 0; i < runs.size(); ++i) best[i] = std::min(best[i], once(runs[i], count));
  }
  std::printf("%5d x %4d x %4d: float %9.1f us; bfloat16 %5.2f, half %5.2f, 8 bits %5.2f times as fast\n", int(m), int(n), int(k), best[0] * 1e6,
              best[0] / best[1], best[0] / best[2], best[0] / best[3]);
}

}  // namespace

int main() {
  std::printf("%s%s\n", isa_name(), core::cpu_has_dots() ? " with dot products of bytes" : "");
  for (int64_t m : {1, 4, 12, 32, 256}) {
    for (int64_t size : {256, 1024, 4096}) compare(m, size, size);
  }
}
