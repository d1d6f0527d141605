#include "kernels/cpu/conv.h"

#include <cstring>

#include "kernels/cpu/accumulate.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/patches.h"
#include "kernels/cpu/scratch.h"

namespace weft_engine::kernels {
namespace {

void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
          bool accumulate, core::ThreadPool& pool) {
  sgemm(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, accumulate, pool);
}

void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda, const double* b, int64_t ldb, double* c, int64_t ldc,
          bool accumulate, core::ThreadPool& pool) {
  dgemm(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, accumulate, pool);
}

void gemm(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const uint32_t* a, int64_t lda, const uint32_t* b, int64_t ldb, uint32_t* c, int64_t ldc,
          bool accumulate, core::ThreadPool&) {
  for (int64_t i = 0; i < m; ++i) {
    uint32_t* row = c + i * ldc;
    if (!accumulate) std::fill(row, row + n, 0u);
    for (int64_t l = 0; l < k; ++l) {
      const uint32_t x = ta ? a[l * lda + i] : a[i * lda + l];
      if (x == 0) continue;
      for (int64_t j = 0; j < n; ++j) row[j] += x * (tb ? b[j * ldb + l] : b[l * ldb + j]);
    }
  }
}

// Output positions of one product: its patches fill about a megabyte, so that they are still in the
// cache when the product reads them.
int64_t block_rows(const ConvGeometry& g) { return std::clamp<int64_t>((int64_t(1) << 18) / std::max<int64_t>(g.patch(), 1), 8, 512); }

// Adds patches back to where they came from.
template <class T>
void scatter_patches(const ConvGeometry& g, const T* patches, int64_t begin, int64_t end, int64_t group, T* in) {
  const int64_t size = g.patch(), image = g.in_positions() * g.in_channels;
  PatchPosition p(g, begin);
  for (int64_t r = begin; r < end; ++r, p.next(g), patches += size) {
    T* base = in + p.image * image;
    for_each_run(g, p, group, [&](int64_t from, int64_t at, int64_t n) {
      const T* __restrict a = patches + from;
      T* __restrict b = base + at;
      for (int64_t i = 0; i < n; ++i) b[i] += a[i];
    });
  }
}

// The same for images of floats, with all that depends on a row of outputs found once; in the same order.
void scatter_rows(const ConvGeometry& g, const float* patches, int64_t begin, int64_t end, float* in) {
  const WindowDim &dh = g.dim[1], &dw = g.dim[2];
  const int64_t channels = g.in_channels, size = g.patch(), line = dw.window * channels, row = dw.in * channels, room = dw.in + dw.before - dw.window;
  PatchPosition p(g, begin);
  for (int64_t r = begin; r < end;) {
    const int64_t count = std::min(end - r, dw.out - p.w), last = p.w + count;
    const auto fh = dh.taps(dh.start(p.h));
    float* const base = in + p.image * g.in_positions() * channels + (dh.start(p.h) + fh.begin * dh.dilation) * row;
    const auto add = [&](int64_t w, int64_t n, int64_t first, int64_t length) {
      WEFT_BEST_ISA(add_float_runs)(base + (dw.start(w) * channels + first), dw.stride * channels, dh.dilation * row,
                                    patches + (w - p.w) * size + fh.begin * line + first, size, line, fh.size(), length, n);
    };
    const auto edge = [&](int64_t w) {
      const auto fw = dw.taps(dw.start(w));
      if (fw.size() > 0) add(w, 1, fw.begin * channels, fw.size() * channels);
    };
    const int64_t low = std::clamp<int64_t>(dw.before > 0 ? (dw.before + dw.stride - 1) / dw.stride : 0, p.w, last);
    const int64_t high = std::clamp<int64_t>(room < 0 ? 0 : room / dw.stride + 1, low, last);
    if (fh.size() > 0) {
      for (int64_t w = p.w; w < low; ++w) edge(w);
      if (low < high) add(low, high - low, 0, line);
      for (int64_t w = high; w < last; ++w) edge(w);
    }
    r += count, patches += count * size;
    p.w += count - 1;
    p.next(g);
  }
}

// From what the allocator keeps: the system would hand out fresh pages for every block.
template <class T>
class Patches {
 public:
  explicit Patches(int64_t n) : memory_((n * int64_t(sizeof(T)) + 3) / 4) {}
  T* get() const { return reinterpret_cast<T*>(memory_.get()); }

 private:
  Scratch memory_;
};

bool is_pointwise(const ConvGeometry& g) { return g.groups == 1 && g.dim[0].trivial() && g.dim[1].trivial() && g.dim[2].trivial(); }

}  // namespace

template <class T>
void conv_forward(const ConvGeometry& g, const T* in, const T* filter, T* out, core::ThreadPool& pool) {
  const int64_t rows = g.batch * g.out_positions(), n = g.out_channels, k = g.patch();
  if (rows == 0 || n == 0) return;
  if (is_pointwise(g)) return gemm(false, false, rows, n, k, in, k, filter, n, out, n, false, pool);
  // Four blocks for each thread where there are rows enough.
  const int64_t block = std::min(block_rows(g), std::max<int64_t>(32, rows / (4 * pool.threads()))), per_group = n / g.groups;
  pool.parallel_chunks((rows + block - 1) / block, [&](int64_t b) {
    const int64_t begin = b * block, end = std::min(rows, begin + block);
    const Patches<T> patches((end - begin) * k);
    for (int64_t group = 0; group < g.groups; ++group) {
      gather_patches(g, in, begin, end, group, T(0), patches.get(), k);
      gemm(false, false, end - begin, per_group, k, patches.get(), k, filter + group * per_group, n, out + begin * n + group * per_group, n, false,
           pool);
    }
  });
}

template <class T>
void conv_backward_input(const ConvGeometry& g, const T* filter, const T* dout, T* din, core::ThreadPool& pool) {
  const int64_t positions = g.out_positions(), n = g.out_channels, k = g.patch(), image = g.in_positions() * g.in_channels;
  if (g.batch * image == 0) return;
  if (n == 0 || positions == 0 || k == 0) {
    std::fill(din, din + g.batch * image, T(0));
    return;
  }
  if (is_pointwise(g)) return gemm(false, true, g.batch * positions, k, n, dout, n, filter, n, din, k, false, pool);
  const int64_t block = block_rows(g), per_group = n / g.groups;
  // An image belongs to one task: patches overlap, and the order of their sums must not vary.
  pool.parallel_chunks(g.batch, [&](int64_t b) {
    std::fill(din + b * image, din + (b + 1) * image, T(0));
    const Patches<T> patches(std::min(block, positions) * k);
    for (int64_t begin = b * positions, last = begin + positions; begin < last; begin += block) {
      const int64_t end = std::min(last, begin + block);
      for (int64_t group = 0; group < g.groups; ++group) {
        gemm(false, true, end - begin, k, per_group, dout + begin * n + group * per_group, n, filter + group * per_group, n, patches.get(), k, false,
             pool);
        if constexpr (std::is_same_v<T, float>) {
          if (g.groups == 1 && g.dim[2].dilation == 1 && g.dim[0].trivial() && g.dim[0].in == 1) {
            scatter_rows(g, patches.get(), begin, end, din);
            continue;
          }
        }
        scatter_patches(g, patches.get(), begin, end, group, din);
      }
    }
  });
}

template <class T>
void conv_backward_filter(const ConvGeometry& g, const T* in, const T* dout, T* dfilter, core::ThreadPool& pool) {
  const int64_t rows = g.batch * g.out_positions(), n = g.out_channels, k = g.patch(), size = k * n;
  if (size == 0) return;
  if (rows == 0) {
    std::fill(dfilter, dfilter + size, T(0));
    return;
  }
  if (is_pointwise(g)) return gemm(true, false, k, n, rows, in, k, dout, n, dfilter, n, false, pool);
  const int64_t per_group = n / g.groups;
  // The rows are shared out between parts that sum on their own; how many depends on the shapes alone.
  // A part is worth at least half a million multiplications, and all parts together at most 64 MB.
  const double work = double(rows) * double(size);
  int64_t parts = std::clamp<int64_t>(int64_t(work / 5e5), 1, std::clamp<int64_t>(rows / 32, 1, 16));
  parts = std::max<int64_t>(1, std::min(parts, (int64_t(1) << 26) / int64_t(sizeof(T)) / size));
  const Patches<T> sums((parts - 1) * size);
  pool.parallel_chunks(parts, [&](int64_t part) {
    T* sum = part == 0 ? dfilter : sums.get() + (part - 1) * size;
    const int64_t first = rows * part / parts, last = rows * (part + 1) / parts, block = std::min(block_rows(g), last - first);
    const Patches<T> patches(block * k);
    for (int64_t begin = first; begin < last; begin += block) {
      const int64_t end = std::min(last, begin + block);
      for (int64_t group = 0; group < g.groups; ++group) {
        gather_patches(g, in, begin, end, group, T(0), patches.get(), k);
        gemm(true, false, k, per_group, end - begin, patches.get(), k, dout + begin * n + group * per_group, n, sum + group * per_group, n,
             begin > first, pool);
      }
    }
  });
  pool.parallel_for(size, 0.15 * double(parts - 1), [&](int64_t begin, int64_t end) {
    for (int64_t part = 1; part < parts; ++part) {
      const T* __restrict a = sums.get() + (part - 1) * size;
      for (int64_t i = begin; i < end; ++i) dfilter[i] += a[i];
    }
  });
}

#define WEFT_INSTANTIATE(T)                                                                             \
  template void conv_forward<T>(const ConvGeometry&, const T*, const T*, T*, core::ThreadPool&);        \
  template void conv_backward_input<T>(const ConvGeometry&, const T*, const T*, T*, core::ThreadPool&); \
  template void conv_backward_filter<T>(const ConvGeometry&, const T*, const T*, T*, core::ThreadPool&);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(double)
WEFT_INSTANTIATE(uint32_t)
#undef WEFT_INSTANTIATE

}  // namespace weft_engine::kernels
