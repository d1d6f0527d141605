#include "kernels/cpu/int8_gemm.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/patches.h"
#include "kernels/cpu/scratch.h"

namespace weft_engine::kernels {
namespace {

using core::ThreadPool;

void run_rows(const Int8Task& t) {
  const bool dots = core::cpu_has_dots();
  switch (core::cpu_level()) {
    case core::CpuLevel::kAvx512: return dots ? avx512_dots::int8_rows(t) : avx512::int8_rows(t);
    case core::CpuLevel::kAvx2: return dots ? avx2_dots::int8_rows(t) : avx2::int8_rows(t);
    default: return generic::int8_rows(t);
  }
}

// Bytes as floats of scratch memory, in whole lines.
int64_t lines(int64_t bytes) { return (bytes + 63) / 64 * 16; }

// A's rows: `direct` where they can be read as they are.
struct Rows {
  const uint8_t* direct = nullptr;
  int64_t step = 0;
};

void run(const Int8Product& p, const Rows& rows, Int8Fill fill, Int8Done done, ThreadPool& pool) {
  if (p.m <= 0 || p.n <= 0) return;
  const int64_t quads = int8_quads(p.k), panels = int8_panels(p.n), width = panels * kInt8Panel;
  // (a - za)(b - zb) = ab - za b - zb a + za zb: all but the third is known for a column.
  const Scratch start_memory(lines(width * 4));
  int32_t* const start = reinterpret_cast<int32_t*>(start_memory.get());
  const int32_t* const sums = int8_column_sums(p.packed, p.k, p.n);
  const uint32_t za = uint32_t(p.zero_a), zb = uint32_t(p.zero_b);
  for (int64_t j = 0; j < width; ++j) start[j] = int32_t(uint32_t(p.k) * za * zb - za * uint32_t(sums[j]));
  const GemmGrid grid = ThreadPool::inside() ? GemmGrid() : gemm_grid(p.m, p.n, p.k, false, 1, pool.threads());
  // So many rows at a time that those of A and C stay in the second cache.
  constexpr int64_t kBytes = 256 << 10, kMostRows = 112;
  pool.parallel_chunks(grid.parts(), [&](int64_t part) {
    const int64_t r = part / grid.columns, c = part % grid.columns;
    const int64_t i0 = p.m * r / grid.rows, i1 = p.m * (r + 1) / grid.rows, p0 = panels * c / grid.columns, p1 = panels * (c + 1) / grid.columns;
    if (i1 <= i0 || p1 <= p0) return;
    const int64_t columns = (p1 - p0) * kInt8Panel, j0 = p0 * kInt8Panel, j1 = std::min(p.n, p1 * kInt8Panel);
    const int64_t most = std::clamp<int64_t>(kBytes / (quads * 4 + columns * 4), 14, kMostRows);
    const int64_t blocks = (i1 - i0 + most - 1) / most, block = (i1 - i0 + blocks - 1) / blocks;
    const int64_t a_lines = rows.direct ? 0 : lines(block * quads * 4 + 64);
    const Scratch memory(a_lines + block * columns);
    uint8_t* const a = reinterpret_cast<uint8_t*>(memory.get());
    int32_t* const totals = reinterpret_cast<int32_t*>(memory.get() + a_lines);
    for (int64_t i = i0; i < i1; i += block) {
      const int64_t end = std::min(i1, i + block);
      if (!rows.direct) fill(i, end, a);
      Int8Task t;
      t.rows = end - i, t.panels = p1 - p0, t.quads = quads;
      t.a = rows.direct ? rows.direct + i * rows.step : a, t.a_step = rows.direct ? rows.step : quads * 4;
      t.b = static_cast<const int8_t*>(p.packed) + p0 * quads * 64;
      t.start = start + j0;
      t.c = totals, t.c_step = columns;
      run_rows(t);
      if (zb) {
        for (int64_t k = 0; k < t.rows; ++k) {
          uint32_t sum = 0;
          for (int64_t l = 0; l < p.k; ++l) sum += t.a[k * t.a_step + l];
          for (int64_t j = 0; j < columns; ++j) totals[k * columns + j] = int32_t(uint32_t(totals[k * columns + j]) - zb * sum);
        }
      }
      done(i, end, j0, j1, totals, columns);
    }
  });
}

// n bytes in whole vectors, the last of which may repeat some: a call of memcpy takes as long as copying a few hundred.
inline void copy_bytes(uint8_t* to, const uint8_t* from, int64_t n) {
  const auto ends = [&](size_t size) {  // the first and the last so many
    std::memcpy(to, from, size);
    std::memcpy(to + n - int64_t(size), from + n - int64_t(size), size);
  };
  if (n < 8) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
    return;
  }
  if (n <= 16) return ends(8);
  if (n <= 32) return ends(16);
  for (int64_t i = 0; i + 32 <= n; i += 32) std::memcpy(to + i, from + i, 32);
  std::memcpy(to + n - 32, from + n - 32, 32);
}

// gather_patches for bytes.
void gather_bytes(const ConvGeometry& g, const uint8_t* in, int64_t begin, int64_t end, uint8_t outside, uint8_t* to, int64_t step) {
  const int64_t size = g.patch(), image = g.in_positions() * g.in_channels;
  PatchPosition p(g, begin);
  for (int64_t r = begin; r < end; ++r, p.next(g), to += step) {
    int64_t inside = 1;
    const int64_t at[] = {p.d, p.h, p.w};
    for (int i = 0; i < 3; ++i) inside *= g.dim[i].taps(g.dim[i].start(at[i])).size();
    if (inside < g.taps()) std::fill(to, to + size, outside);
    const uint8_t* from = in + p.image * image;
    for_each_run(g, p, 0, [&](int64_t place, int64_t start, int64_t n) { copy_bytes(to + place, from + start, n); });
  }
}

// Totals as they are.
struct Store {
  int32_t* c;
  int64_t n;
  void operator()(int64_t i0, int64_t i1, int64_t j0, int64_t j1, const int32_t* totals, int64_t step) const {
    for (int64_t i = i0; i < i1; ++i) std::memcpy(c + i * n + j0, totals + (i - i0) * step, size_t(j1 - j0) * 4);
  }
};

}  // namespace

const int32_t* int8_column_sums(const void* packed, int64_t k, int64_t n) {
  return reinterpret_cast<const int32_t*>(static_cast<const int8_t*>(packed) + int8_panels(n) * kInt8Panel * int8_quads(k) * 4);
}

void int8_shift(const void* from, void* to, int64_t n, ThreadPool& pool) {
  pool.parallel_for(
      n, 0.05, [&](int64_t b, int64_t e) { WEFT_BEST_ISA(int8_turn)(static_cast<const uint8_t*>(from) + b, static_cast<uint8_t*>(to) + b, e - b); });
}

void int8_pack(const Int8Matrix& b, int64_t k, int64_t n, void* packed, ThreadPool& pool) {
  const int64_t quads = int8_quads(k), panels = int8_panels(n);
  int8_t* const to = static_cast<int8_t*>(packed);
  int32_t* const sums = reinterpret_cast<int32_t*>(to + panels * kInt8Panel * quads * 4);
  pool.parallel_for(panels, double(quads) * 8, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      WEFT_BEST_ISA(int8_pack_panel)(b, k, p * kInt8Panel, std::min(kInt8Panel, n - p * kInt8Panel), to + p * quads * 64, sums + p * kInt8Panel);
  });
}

void int8_product(const Int8Product& p, Int8Fill fill, Int8Done done, ThreadPool& pool) { run(p, {}, fill, done, pool); }

void int8_matmul(const Int8Product& given, const Int8Matrix& a, Int8Done done, ThreadPool& pool) {
  Int8Product p = given;
  if (a.is_signed) p.zero_a = int32_t(uint32_t(p.zero_a) + 128);
  const uint8_t* from = static_cast<const uint8_t*>(a.data);
  const uint8_t turn = a.is_signed ? 0x80 : 0;
  const int64_t step = int8_quads(p.k) * 4;
  const auto fill = [&](int64_t i0, int64_t i1, uint8_t* to) {
    for (int64_t i = i0; i < i1; ++i, to += step) {
      if (a.transposed) {
        for (int64_t k = 0; k < p.k; ++k) to[k] = uint8_t(from[k * a.step + i] ^ turn);
      } else if (turn) {
        WEFT_BEST_ISA(int8_turn)(from + i * a.step, to, p.k);
      } else {
        std::memcpy(to, from + i * a.step, size_t(p.k));
      }
      std::fill(to + p.k, to + step, uint8_t(0));
    }
  };
  const bool direct = !a.is_signed && !a.transposed && p.k % 4 == 0;
  run(p, direct ? Rows{from, a.step} : Rows(), fill, done, pool);
}

void int8_matmul(int64_t m, int64_t n, int64_t k, const Int8Matrix& a, const Int8Matrix& b, int32_t zero_a, int32_t zero_b, int32_t* c,
                 ThreadPool& pool) {
  if (m <= 0 || n <= 0) return;
  const Scratch packed(lines(int8_packed_bytes(k, n)));
  int8_pack(b, k, n, packed.get(), pool);
  Int8Product p{m, n, k, packed.get(), zero_a, b.is_signed ? zero_b : int32_t(uint32_t(zero_b) - 128)};
  int8_matmul(p, a, Store{c, n}, pool);
}

Int8Product int8_conv_sizes(const ConvGeometry& g, const void* packed, int32_t zero_a, int32_t zero_b) {
  return {g.batch * g.out_positions(), g.out_channels, g.patch(), packed, zero_a, zero_b};
}

void int8_conv(const ConvGeometry& g, const Int8Product& p, const uint8_t* in, Int8Done done, ThreadPool& pool) {
  const bool pointwise = g.dim[0].trivial() && g.dim[1].trivial() && g.dim[2].trivial();
  const auto fill = [&](int64_t i0, int64_t i1, uint8_t* to) { gather_bytes(g, in, i0, i1, uint8_t(p.zero_a), to, int8_quads(p.k) * 4); };
  run(p, pointwise && p.k % 4 == 0 ? Rows{in, p.k} : Rows(), fill, done, pool);
}

void int8_conv(const ConvGeometry& g, const Int8Matrix& in, const Int8Matrix& filter, int32_t zero_in, int32_t zero_filter, int32_t* c,
               ThreadPool& pool) {
  const int64_t k = g.patch(), n = g.out_channels, size = g.batch * g.in_positions() * g.in_channels;
  const Scratch packed(lines(int8_packed_bytes(k, n))), shifted(in.is_signed ? lines(size) : 0);
  int8_pack({filter.data, filter.is_signed, false, n}, k, n, packed.get(), pool);
  const uint8_t* from = static_cast<const uint8_t*>(in.data);
  if (in.is_signed) {
    int8_shift(from, shifted.get(), size, pool);
    from = reinterpret_cast<const uint8_t*>(shifted.get());
  }
  const Int8Product p =
      int8_conv_sizes(g, packed.get(), in.is_signed ? zero_in + 128 : zero_in, filter.is_signed ? zero_filter : int32_t(uint32_t(zero_filter) - 128));
  int8_conv(g, p, from, Store{c, n}, pool);
}

}  // namespace weft_engine::kernels
