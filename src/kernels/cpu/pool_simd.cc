#include <limits>

#include "kernels/cpu/intrinsics.h"
#include "kernels/cpu/pool.h"

#include "kernels/cpu/isa_begin.h"
#include "kernels/cpu/vector_math.h"

namespace {

// The inputs of one window: where its first channel is, and how far the next row and column are.
struct Window {
  const float* in;
  float* din;
  int64_t depth, height, width;        // inputs inside the image
  int64_t slice_step, row_step, step;  // in elements
};

// V vectors of channels: their greatest inputs, or the mean.
template <bool kMax, int V>
inline void pool_block(const Window& w, float* out) {
  Floats acc[V];
  for (int v = 0; v < V; ++v) acc[v] = all(kMax ? std::numeric_limits<float>::lowest() : 0.0f);
  for (int64_t z = 0; z < w.depth; ++z) {
    for (int64_t y = 0; y < w.height; ++y) {
      const float* x = w.in + z * w.slice_step + y * w.row_step;
      for (int64_t i = 0; i < w.width; ++i, x += w.step) {
        for (int v = 0; v < V; ++v) {
          const Floats now = load(x + v * kLanes);
          acc[v] = kMax ? (now > acc[v] ? now : acc[v]) : acc[v] + now;
        }
      }
    }
  }
  const float count = float(w.depth * w.height * w.width);
  for (int v = 0; v < V; ++v) store(out + v * kLanes, kMax ? acc[v] : acc[v] / count);
}

// A function of its own: g++ forgets the instruction set in lambdas.
template <bool kMax>
void pool_window(Window w, float* out, int64_t n) {
  auto step = [&](int64_t c) { w.in += c, out += c, n -= c; };
  for (; n >= 8 * kLanes; step(8 * kLanes)) pool_block<kMax, 8>(w, out);
  for (; n >= 2 * kLanes; step(2 * kLanes)) pool_block<kMax, 2>(w, out);
  for (; n >= kLanes; step(kLanes)) pool_block<kMax, 1>(w, out);
  for (; n > 0; step(1)) {
    float acc = kMax ? std::numeric_limits<float>::lowest() : 0.0f;
    for (int64_t z = 0; z < w.depth; ++z) {
      for (int64_t y = 0; y < w.height; ++y) {
        const float* x = w.in + z * w.slice_step + y * w.row_step;
        for (int64_t i = 0; i < w.width; ++i, x += w.step) acc = kMax ? (*x > acc ? *x : acc) : acc + *x;
      }
    }
    *out = kMax ? acc : acc / float(w.depth * w.height * w.width);
  }
}

template <bool kMax>
void run(const PoolGeometry& g, const float* in, float* out, int64_t begin, int64_t end) {
  const int64_t n = g.channels, row = g.dim[2].in * n;
  for_each_window(g, begin, end, [&](int64_t p, int64_t b, auto d, auto h, auto w) {
    const int64_t at = b * g.in_size() + (d.begin * g.dim[1].in + h.begin) * row + w.begin * n;
    pool_window<kMax>({in + at, nullptr, d.size(), h.size(), w.size(), g.dim[1].in * row, row, n}, out + p * n, n);
  });
}

// V vectors of channels. With `fresh`, nobody else writes these inputs.
template <int V, bool fresh>
inline void grad_block(const Window& w, const float* dy) {
  Floats best[V];
  Ints where[V];
  for (int v = 0; v < V; ++v) best[v] = load(w.in + v * kLanes), where[v] = Ints{};
  int32_t tap = 0;
  for (int64_t z = 0; z < w.depth; ++z) {
    for (int64_t y = 0; y < w.height; ++y) {
      const float* x = w.in + z * w.slice_step + y * w.row_step;
      for (int64_t i = 0; i < w.width; ++i, x += w.step, ++tap) {
        for (int v = 0; v < V; ++v) {
          const Floats now = load(x + v * kLanes);
          const Ints wins = now > best[v];
          best[v] = wins ? now : best[v];
          where[v] = wins ? Ints{} + tap : where[v];
        }
      }
    }
  }
  tap = 0;
  Floats grad[V];
  for (int v = 0; v < V; ++v) grad[v] = load(dy + v * kLanes);
  for (int64_t z = 0; z < w.depth; ++z) {
    for (int64_t y = 0; y < w.height; ++y) {
      float* x = w.din + z * w.slice_step + y * w.row_step;
      for (int64_t i = 0; i < w.width; ++i, x += w.step, ++tap) {
        for (int v = 0; v < V; ++v) {
          const Floats share = where[v] == tap ? grad[v] : Floats{};
          store(x + v * kLanes, fresh ? share : load(x + v * kLanes) + share);
        }
      }
    }
  }
}

template <bool fresh>
void grad_rest(const Window& w, const float* dy, int64_t channels) {
  for (int64_t c = 0; c < channels; ++c) {
    int64_t best = -1;
    for (int64_t z = 0; z < w.depth; ++z) {
      for (int64_t y = 0; y < w.height; ++y) {
        for (int64_t i = 0; i < w.width; ++i) {
          const int64_t at = z * w.slice_step + y * w.row_step + i * w.step + c;
          if (best < 0 || w.in[best] < w.in[at]) best = at;
          if (fresh) w.din[at] = 0;
        }
      }
    }
    if (best >= 0) w.din[best] += dy[c];
  }
}

template <bool fresh>
void grad_window(Window w, const float* dy, int64_t n) {
  auto step = [&](int64_t c) { w.in += c, w.din += c, dy += c, n -= c; };
  for (; n >= 4 * kLanes; step(4 * kLanes)) grad_block<4, fresh>(w, dy);
  for (; n >= 2 * kLanes; step(2 * kLanes)) grad_block<2, fresh>(w, dy);
  for (; n >= kLanes; step(kLanes)) grad_block<1, fresh>(w, dy);
  if (n > 0) grad_rest<fresh>(w, dy, n);
}

template <bool fresh>
void max_grad(const PoolGeometry& g, const float* in, const float* dout, float* din, int64_t begin, int64_t end) {
  const int64_t n = g.channels, row = g.dim[2].in * n;
  for_each_window(g, begin, end, [&](int64_t p, int64_t b, auto d, auto h, auto w) {
    if (d.size() == 0 || h.size() == 0 || w.size() == 0) return;
    const int64_t at = b * g.in_size() + (d.begin * g.dim[1].in + h.begin) * row + w.begin * n;
    grad_window<fresh>({in + at, din + at, d.size(), h.size(), w.size(), g.dim[1].in * row, row, n}, dout + p * n, n);
  });
}

template <bool fresh>
void avg_grad(const PoolGeometry& g, const float* dout, float* din, int64_t begin, int64_t end) {
  const int64_t n = g.channels, row = g.dim[2].in * n;
  for_each_window(g, begin, end, [&](int64_t p, int64_t b, auto d, auto h, auto w) {
    const int64_t count = d.size() * h.size() * w.size();
    if (count == 0) return;
    const float scale = 1.0f / float(count);
    const float* __restrict from = dout + p * n;
    for (int64_t z = d.begin; z < d.end; ++z) {
      for (int64_t y = h.begin; y < h.end; ++y) {
        float* __restrict to = din + b * g.in_size() + (z * g.dim[1].in + y) * row + w.begin * n;
        for (int64_t x = 0; x < w.size(); ++x, to += n) {
          for (int64_t c = 0; c < n; ++c) to[c] = fresh ? from[c] * scale : to[c] + from[c] * scale;
        }
      }
    }
  });
}

}  // namespace

void avg_pool_grad_float(const PoolGeometry& g, const float* dout, float* din, int64_t begin, int64_t end, bool fresh) {
  fresh ? avg_grad<true>(g, dout, din, begin, end) : avg_grad<false>(g, dout, din, begin, end);
}

void max_pool_grad_float(const PoolGeometry& g, const float* in, const float* dout, float* din, int64_t begin, int64_t end, bool fresh) {
  fresh ? max_grad<true>(g, in, dout, din, begin, end) : max_grad<false>(g, in, dout, din, begin, end);
}

void max_pool_float(const PoolGeometry& g, const float* in, float* out, int64_t begin, int64_t end) { run<true>(g, in, out, begin, end); }
void avg_pool_float(const PoolGeometry& g, const float* in, float* out, int64_t begin, int64_t end) { run<false>(g, in, out, begin, end); }

#include "kernels/cpu/isa_end.h"
