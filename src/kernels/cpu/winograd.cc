#include "kernels/cpu/winograd.h"

#include <algorithm>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/scratch.h"

namespace weft_engine::kernels {

using core::ThreadPool;

namespace {

constexpr int64_t kPoints = 36;

// The distance of one point's numbers from the next's: not near a power of two, where all would fall into the same places of the cache.
int64_t plane(int64_t n) { return (n + 15) / 16 * 16 + 16; }

int64_t tiles_of(const ConvGeometry& g) { return g.batch * ((g.dim[1].out + 3) / 4) * ((g.dim[2].out + 3) / 4); }

// Tiles worked on at a time: so many that their transforms stay in the second cache, in whole tiles of the products; and all threads with the same number of them.
int64_t block_of(int64_t tiles, int64_t in, int64_t out, int64_t threads) {
  constexpr int64_t kBytes = 768 << 10, kRows = 14;
  const int64_t fits = kBytes / (kPoints * int64_t(sizeof(float)) * (in + out)) / kRows * kRows;
  const int64_t most = std::clamp<int64_t>(fits, kRows, 8 * kRows), rounds = (tiles + most * threads - 1) / (most * threads);
  return std::min(tiles, std::clamp<int64_t>((tiles + rounds * threads - 1) / (rounds * threads), kRows, most));
}

// A convolution of `in` channels to `out`; u holds the transformed filter [36, in, out].
void convolve(const TileGrid& from, const TileGrid& to, int64_t tiles, const float* x, const float* u, float* y, const float* bias, bool relu,
              ThreadPool& pool) {
  const int64_t in = from.channels, out = to.channels, block = block_of(tiles, in, out, pool.threads());
  pool.parallel_chunks((tiles + block - 1) / block, [&](int64_t i) {
    const int64_t first = i * block, count = std::min(block, tiles - first);
    const int64_t v_plane = plane(count * in), m_plane = plane(count * out);
    const Scratch scratch(kPoints * (v_plane + m_plane));
    float *v = scratch.get(), *m = v + kPoints * v_plane;
    WEFT_BEST_ISA(winograd_input)(from, x, first, count, v, v_plane);
    for (int64_t k = 0; k < kPoints; ++k)
      sgemm(false, false, count, out, in, v + k * v_plane, in, u + k * in * out, out, m + k * m_plane, out, false);
    WEFT_BEST_ISA(winograd_output)(to, m, m_plane, first, count, bias, relu, y);
  });
}

TileGrid grid(const WindowDim& h, const WindowDim& w, int64_t height, int64_t width, int64_t channels, int64_t top, int64_t left, bool of_input) {
  return {height, width, channels, top, left, ((of_input ? h.in : h.out) + 3) / 4, ((of_input ? w.in : w.out) + 3) / 4};
}

}  // namespace

bool winograd_serves(const ConvGeometry& g) {
  const WindowDim &d = g.dim[0], &h = g.dim[1], &w = g.dim[2];
  if (g.groups != 1 || d.window != 1 || d.in != 1 || d.out != 1 || d.before != 0) return false;
  for (const WindowDim* s : {&h, &w}) {
    if (s->window != 3 || s->stride != 1 || s->dilation != 1 || s->before < 0 || s->before > 2 || s->out < 1) return false;
  }
  // Few channels leave nothing to win behind the transforms; with very many the filter's transform is too large.
  if (g.in_channels < 16 || g.out_channels < 16 || g.in_channels * g.out_channels > 256 * 512) return false;
  // The filter's transform must pay, and the tiles not be mostly beyond the edge.
  return tiles_of(g) >= 8 && double(h.out * w.out) >= 0.55 * double((h.out + 3) / 4 * 4 * ((w.out + 3) / 4 * 4));
}

void winograd_forward(const ConvGeometry& g, const float* in, const float* filter, float* out, const float* bias, Epilogue e, float alpha,
                      ThreadPool& pool) {
  const WindowDim &h = g.dim[1], &w = g.dim[2];
  const Scratch u(kPoints * g.in_channels * g.out_channels);
  WEFT_BEST_ISA(winograd_filter)(filter, g.in_channels, g.out_channels, u.get());
  const bool relu = e == Epilogue::kRelu, later = !relu && e != Epilogue::kNone;
  convolve(grid(h, w, h.in, w.in, g.in_channels, h.before, w.before, false), grid(h, w, h.out, w.out, g.out_channels, 0, 0, false), tiles_of(g), in,
           u.get(), out, later ? nullptr : bias, relu, pool);
  if (later) apply_epilogue(e, alpha, bias, out, g.batch * g.out_positions(), g.out_channels, pool);
}

// The input's gradient is a convolution of the output's by the filter reversed, with what is missing to 2 as padding.
void winograd_backward_input(const ConvGeometry& g, const float* filter, const float* dout, float* din, ThreadPool& pool) {
  const WindowDim &h = g.dim[1], &w = g.dim[2];
  const int64_t in = g.in_channels, out = g.out_channels, size = in * out;
  const Scratch reversed(9 * size), u(kPoints * size);
  for (int64_t k = 0; k < 9; ++k) {
    const float* from = filter + (8 - k) * size;
    float* to = reversed.get() + k * size;
    for (int64_t c0 = 0; c0 < in; c0 += 16) {
      for (int64_t o = 0; o < out; ++o) {
        for (int64_t c = c0; c < std::min(in, c0 + 16); ++c) to[o * in + c] = from[c * out + o];
      }
    }
  }
  WEFT_BEST_ISA(winograd_filter)(reversed.get(), out, in, u.get());
  const int64_t tiles = g.batch * ((h.in + 3) / 4) * ((w.in + 3) / 4);
  convolve(grid(h, w, h.out, w.out, out, 2 - h.before, 2 - w.before, true), grid(h, w, h.in, w.in, in, 0, 0, true), tiles, dout, u.get(), din,
           nullptr, false, pool);
}

// Each part of the tiles sums products of its own; how many parts there are depends on shapes alone.
void winograd_backward_filter(const ConvGeometry& g, const float* in, const float* dout, float* dfilter, ThreadPool& pool) {
  const WindowDim &h = g.dim[1], &w = g.dim[2];
  const int64_t ic = g.in_channels, oc = g.out_channels, size = ic * oc, tiles = tiles_of(g);
  const TileGrid from = grid(h, w, h.in, w.in, ic, h.before, w.before, false), grads = grid(h, w, h.out, w.out, oc, 0, 0, false);
  constexpr int64_t kBytes = 1 << 20, kParts = 16;
  const int64_t fits = kBytes / (kPoints * int64_t(sizeof(float)) * (ic + oc));
  const int64_t block = std::min(tiles, std::clamp<int64_t>(std::min(fits, (tiles + kParts - 1) / kParts), 32, 256));
  const int64_t blocks = (tiles + block - 1) / block,
                parts = std::min<int64_t>({blocks, kParts, std::max<int64_t>(1, (int64_t(1) << 24) / (kPoints * size))});
  const Scratch sums(parts * kPoints * size);
  pool.parallel_chunks(parts, [&](int64_t part) {
    const Scratch scratch(kPoints * (plane(block * ic) + plane(block * oc)));
    float* sum = sums.get() + part * kPoints * size;
    const int64_t begin = blocks * part / parts, end = blocks * (part + 1) / parts;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b * block, count = std::min(block, tiles - first);
      const int64_t v_plane = plane(count * ic), d_plane = plane(count * oc);
      float *v = scratch.get(), *d = v + kPoints * v_plane;
      WEFT_BEST_ISA(winograd_input)(from, in, first, count, v, v_plane);
      WEFT_BEST_ISA(winograd_grad)(grads, dout, first, count, d, d_plane);
      for (int64_t k = 0; k < kPoints; ++k)
        sgemm(true, false, ic, oc, count, v + k * v_plane, ic, d + k * d_plane, oc, sum + k * size, oc, b > begin);
    }
  });
  float* total = sums.get();
  pool.parallel_for(kPoints * size, 0.15 * double(parts - 1), [&](int64_t begin, int64_t end) {
    for (int64_t part = 1; part < parts; ++part) {
      const float* __restrict more = sums.get() + part * kPoints * size;
      for (int64_t i = begin; i < end; ++i) total[i] += more[i];
    }
  });
  WEFT_BEST_ISA(winograd_filter_grad)(total, ic, oc, dfilter);
}

}  // namespace weft_engine::kernels
