#include "kernels/cpu/bfloat_gemm.h"

#include <algorithm>
#include <vector>

#include "core/bfloat_features.h"
#include "core/log.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/scratch.h"

namespace weft_engine::kernels {
namespace {

using core::ThreadPool;

// Numbers as floats of scratch memory.
int64_t floats(int64_t numbers) { return (numbers + 1) / 2; }

// One product by tiles whose sums are small whole numbers: exact, or these tiles are not what we think.
bool amx_counts_right() {
  constexpr int64_t kM = 37, kN = 40, kK = 64;
  const auto bits = [](int64_t x) { return uint16_t(x == 0 ? 0 : x == 1 ? 0x3f80 : x == 2 ? 0x4000 : 0xbf80); };  // 0, 1, 2, -1
  const auto value = [](int64_t x) { return x == 3 ? -1. : double(x); };
  std::vector<uint16_t> a(kM * kK), b(kK * kN), packed(size_t((kN + 15) / 16 * 16 * kK));
  for (int64_t i = 0; i < kM * kK; ++i) a[size_t(i)] = bits(i * 7 % 11 % 4);
  for (int64_t i = 0; i < kK * kN; ++i) b[size_t(i)] = bits(i * 5 % 13 % 4);
  std::vector<float> c(kM * kN);
  const BfloatProduct p{false, false, true, kM, kN, kK, a.data(), b.data(), c.data()};
  for (int64_t j = 0; j < kN; j += kBfloatPanel)
    avx512_bfloat::bfloat_pack_panel(p, j, std::min(kBfloatPanel, kN - j), kK / 2, packed.data() + j * kK);
  amx_bfloat::bfloat_rows({true, kM, kN, kK / 2, a.data(), kK, packed.data(), c.data(), kN});
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < kK; ++k) sum += value((i * kK + k) * 7 % 11 % 4) * value((k * kN + j) * 5 % 13 % 4);
      if (double(c[size_t(i * kN + j)]) != sum) return false;
    }
  }
  return true;
}

bool has_amx() {
  static const bool has = [] {
    if (!core::cpu_has_bfloat_tiles()) return false;
    const bool right = amx_counts_right();
    if (!right) core::log(core::LogLevel::kWarning, "AMX tiles of this machine give wrong products; they are not used");
    return right;
  }();
  return has;
}

// A tile has 16 rows and takes as long with fewer.
bool by_tiles(int64_t m) { return m >= 16 && has_amx(); }

}  // namespace

bool bfloat_serves(int64_t m, int64_t n, int64_t k) {
  if (!core::cpu_has_bfloat_dots()) return false;
  // Below, packing takes longer than what is won.
  return m >= 8 && n >= 16 && k >= 16 && double(m) * double(n) * double(k) >= double(1 << 14);
}

void bfloat_matmul(const BfloatProduct& p, ThreadPool* pool) {
  if (p.m <= 0 || p.n <= 0) return;
  const bool tiles = by_tiles(p.m);
  const int64_t pairs = bfloat_pairs(p.k, tiles ? kAmxPairs : 1), panels = (p.n + kBfloatPanel - 1) / kBfloatPanel, panel = 2 * pairs * kBfloatPanel;
  // Rows whose distance is a multiple of 4 kB would fall into the same places of the first cache.
  const bool direct = !p.transa && p.k == 2 * pairs && p.k % 2048 != 0;
  const int64_t step = 2 * pairs + (pairs % 1024 ? 0 : 32);
  const Scratch packed_memory(floats(panels * panel));
  uint16_t* const packed = reinterpret_cast<uint16_t*>(packed_memory.get());
  const auto pack = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      avx512_bfloat::bfloat_pack_panel(p, i * kBfloatPanel, std::min(kBfloatPanel, p.n - i * kBfloatPanel), pairs, packed + i * panel);
  };
  if (pool) pool->parallel_for(panels, double(pairs) * 2, pack);
  else pack(0, panels);
  // Rows [i0, i1) and panels [p0, p1) of C; so many rows at a time that those of A stay in the second cache.
  const auto part = [&](int64_t i0, int64_t i1, int64_t p0, int64_t p1) {
    constexpr int64_t kBytes = 256 << 10, kMostRows = 224;
    const int64_t most = std::clamp<int64_t>(kBytes / (4 * pairs) / 32 * 32, 32, kMostRows), block = direct ? i1 - i0 : std::min(i1 - i0, most);
    const Scratch rows_memory(direct ? 0 : floats(block * step));
    uint16_t* const rows = reinterpret_cast<uint16_t*>(rows_memory.get());
    for (int64_t i = i0; i < i1; i += block) {
      BfloatTask t;
      t.wide = p.wide;
      t.rows = std::min(block, i1 - i), t.columns = std::min(p.n, p1 * kBfloatPanel) - p0 * kBfloatPanel, t.pairs = pairs;
      t.a = direct ? p.a + i * p.k : rows, t.a_step = direct ? p.k : step;
      t.b = packed + p0 * panel;
      const int64_t at = i * p.n + p0 * kBfloatPanel;
      t.c = p.wide ? static_cast<void*>(static_cast<float*>(p.c) + at) : static_cast<void*>(static_cast<uint16_t*>(p.c) + at);
      t.c_step = p.n;
      if (!direct) avx512_bfloat::bfloat_pack_rows(p, i, t.rows, pairs, rows, step);
      if (tiles) amx_bfloat::bfloat_rows(t);
      else avx512_bfloat::bfloat_rows(t);
    }
  };
  // Cut as a product of floats with a half (tiles: an eighth) of the multiplications.
  const GemmGrid grid =
      pool && !ThreadPool::inside() ? gemm_grid(p.m, p.n, tiles ? std::max<int64_t>(1, p.k / 4) : p.k, false, 2, pool->threads()) : GemmGrid();
  if (grid.parts() == 1) return part(0, p.m, 0, panels);
  // A block of rows begins with a whole tile.
  const int64_t units = (p.m + 15) / 16;
  pool->parallel_chunks(grid.parts(), [&](int64_t i) {
    const int64_t r = i / grid.columns, c = i % grid.columns;
    const int64_t i0 = units * r / grid.rows * 16, i1 = std::min(p.m, units * (r + 1) / grid.rows * 16);
    const int64_t p0 = panels * c / grid.columns, p1 = panels * (c + 1) / grid.columns;
    if (i0 < i1 && p0 < p1) part(i0, i1, p0, p1);
  });
}

}  // namespace weft_engine::kernels
