#include "kernels/cpu/intrinsics.h"
#include "kernels/cpu/winograd.h"

#include "kernels/cpu/isa_begin.h"
#include "kernels/cpu/vector_math.h"

namespace {

// One dimension of each transform, over n numbers `step` apart, the results `to_step` apart. With the points a = 0, 1, -1, 1/2, -2
// and f_i the product of a_i - a_j: data by the polynomials whose roots are the other points, filters by a_i^j / f_i, results by a_i^j.
inline void data_6(const Floats* d, int step, Floats* t, int to_step) {
  const Floats d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
  const Floats a = d3 - d1, b = d4 - d2;
  t[0] = (d0 - 2.f * d2 + d4) + 1.5f * a;
  t[to_step] = (d4 - d1) + (0.5f * d2 + 2.5f * d3);
  t[2 * to_step] = (d4 + d1) + (0.5f * d3 - 2.5f * d2);
  t[3 * to_step] = 2.f * a + b;
  t[4 * to_step] = b - 0.5f * a;
  t[5 * to_step] = (d1 - 2.f * d3 + d5) + 1.5f * b;
}

inline void filter_3(const Floats* g, int step, Floats* t, int to_step) {
  const Floats g0 = g[0], g1 = g[step], g2 = g[2 * step], even = g0 + g2;
  t[0] = g0;
  t[to_step] = (even + g1) * (1.f / 3);
  t[2 * to_step] = (g1 - even) * (1.f / 3);
  t[3 * to_step] = (g0 + 0.5f * g1 + 0.25f * g2) * (-16.f / 15);
  t[4 * to_step] = (g0 - 2.f * g1 + 4.f * g2) * (1.f / 15);
  t[5 * to_step] = g2;
}

inline void filter_4(const Floats* g, int step, Floats* t, int to_step) {
  const Floats g0 = g[0], g1 = g[step], g2 = g[2 * step], g3 = g[3 * step], even = g0 + g2, odd = g1 + g3;
  t[0] = g0;
  t[to_step] = (even + odd) * (1.f / 3);
  t[2 * to_step] = (odd - even) * (1.f / 3);
  t[3 * to_step] = ((g0 + 0.25f * g2) + (0.5f * g1 + 0.125f * g3)) * (-16.f / 15);
  t[4 * to_step] = ((g0 + 4.f * g2) - (2.f * g1 + 8.f * g3)) * (1.f / 15);
  t[5 * to_step] = g3;
}

inline void result_4(const Floats* m, int step, Floats* y, int to_step) {
  const Floats m1 = m[step], m2 = m[2 * step], m3 = m[3 * step], m4 = m[4 * step], sum = m1 + m2, difference = m1 - m2;
  y[0] = (m[0] + sum) + (m3 + m4);
  y[to_step] = difference + (0.5f * m3 - 2.f * m4);
  y[2 * to_step] = sum + (0.25f * m3 + 4.f * m4);
  y[3 * to_step] = (difference + m[5 * step]) + (0.125f * m3 - 8.f * m4);
}

inline void result_3(const Floats* m, int step, Floats* y, int to_step) {
  const Floats m1 = m[step], m2 = m[2 * step], m3 = m[3 * step], m4 = m[4 * step], sum = m1 + m2;
  y[0] = (m[0] + sum) + (m3 + m4);
  y[to_step] = (m1 - m2) + (0.5f * m3 - 2.f * m4);
  y[2 * to_step] = (sum + m[5 * step]) + (0.25f * m3 + 4.f * m4);
}

// in x in numbers to out x out ones, rows first.
template <int in, int out, void (*f)(const Floats*, int, Floats*, int)>
inline void both_ways(const Floats* from, Floats* to) {
  Floats half[out * in];
#pragma GCC unroll 6
  for (int i = 0; i < in; ++i) f(from + i, in, half + i, in);  // columns
#pragma GCC unroll 6
  for (int i = 0; i < out; ++i) f(half + i * in, 1, to + i * out, 1);
}

// A whole register, or its first n lanes.
template <bool whole>
inline Floats take(const float* p, int64_t n) {
  if constexpr (whole) return load(p);
  else return load_part(p, n, 0.f);
}
template <bool whole>
inline void put(float* p, Floats v, int64_t n) {
  if constexpr (whole) store(p, v);
  else store_part(p, v, n);
}

struct Tile {
  int64_t image, y, x;  // where it begins
  Tile(const TileGrid& g, int64_t i) : image(i / (g.rows * g.columns)), y(i / g.columns % g.rows * 4 - g.top), x(i % g.columns * 4 - g.left) {}
};

// size x size places of a register of channels (of its first n lanes); `at` is the tile's first place.
template <int size, bool whole>
inline void gather(const TileGrid& g, const float* at, const Tile& t, int64_t n, Floats* d) {
  const int64_t step = g.channels, row = g.width * step;
  if (t.y >= 0 && t.x >= 0 && t.y + size <= g.height && t.x + size <= g.width) {
#pragma GCC unroll 6
    for (int i = 0; i < size; ++i) {
      const float* p = at + i * row;
#pragma GCC unroll 6
      for (int j = 0; j < size; ++j) d[i * size + j] = take<whole>(p + j * step, n);
    }
    return;
  }
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      const int64_t y = t.y + i, x = t.x + j;
      d[i * size + j] = y >= 0 && y < g.height && x >= 0 && x < g.width ? take<whole>(at + i * row + j * step, n) : Floats{};
    }
  }
}

template <int size, void (*f)(const Floats*, int, Floats*, int), bool whole>
inline void forward_one(const TileGrid& g, const float* at, const Tile& t, int64_t n, float* v, int64_t plane) {
  Floats d[size * size], u[36];
  gather<size, whole>(g, at, t, n, d);
  both_ways<size, 6, f>(d, u);
#pragma GCC unroll 36
  for (int k = 0; k < 36; ++k) put<whole>(v + k * plane, u[k], n);
}

template <int size, void (*f)(const Floats*, int, Floats*, int)>
void forward(const TileGrid& g, const float* x, int64_t first, int64_t count, float* v, int64_t plane) {
  const int64_t n = g.channels;
  for (int64_t i = 0; i < count; ++i, v += n) {
    const Tile t(g, first + i);
    const float* at = x + ((t.image * g.height + t.y) * g.width + t.x) * n;
    int64_t c = 0;
    for (; c + kLanes <= n; c += kLanes) forward_one<size, f, true>(g, at + c, t, kLanes, v + c, plane);
    if (c < n) forward_one<size, f, false>(g, at + c, t, n - c, v + c, plane);
  }
}

// What there is of a 4x4 tile, with bias and activation.
struct Finish {
  int64_t rows, columns, row, step;  // row, step: elements to the next
  bool relu;
};

template <bool whole>
inline void output_one(const float* m, int64_t plane, int64_t n, const float* bias, const Finish& f, float* y) {
  Floats d[36], r[16];
#pragma GCC unroll 36
  for (int k = 0; k < 36; ++k) d[k] = take<whole>(m + k * plane, n);
  both_ways<6, 4, result_4>(d, r);
  const Floats more = bias ? take<whole>(bias, n) : Floats{};
  if (f.rows == 4 && f.columns == 4) {
#pragma GCC unroll 16
    for (int k = 0; k < 16; ++k) {
      Floats v = r[k] + more;
      if (f.relu) v = v < 0.f ? Floats{} : v;
      put<whole>(y + k / 4 * f.row + k % 4 * f.step, v, n);
    }
    return;
  }
  for (int64_t p = 0; p < f.rows; ++p) {
    for (int64_t q = 0; q < f.columns; ++q) {
      Floats v = r[p * 4 + q] + more;
      if (f.relu) v = v < 0.f ? Floats{} : v;
      put<whole>(y + p * f.row + q * f.step, v, n);
    }
  }
}

// in x in numbers to out x out ones, for all of [0, n).
template <int in, int out, void (*f)(const Floats*, int, Floats*, int), bool whole>
inline void planes_one(const float* from, float* to, int64_t plane, int64_t n) {
  Floats g[in * in], t[out * out];
#pragma GCC unroll 36
  for (int k = 0; k < in * in; ++k) g[k] = take<whole>(from + k * plane, n);
  both_ways<in, out, f>(g, t);
#pragma GCC unroll 36
  for (int k = 0; k < out * out; ++k) put<whole>(to + k * plane, t[k], n);
}
template <int in, int out, void (*f)(const Floats*, int, Floats*, int)>
void planes(const float* from, float* to, int64_t n) {
  int64_t c = 0;
  for (; c + kLanes <= n; c += kLanes) planes_one<in, out, f, true>(from + c, to + c, n, kLanes);
  if (c < n) planes_one<in, out, f, false>(from + c, to + c, n, n - c);
}

}  // namespace

void winograd_filter(const float* w, int64_t in, int64_t out, float* u) { planes<3, 6, filter_3>(w, u, in * out); }
void winograd_filter_grad(const float* m, int64_t in, int64_t out, float* dw) { planes<6, 3, result_3>(m, dw, in * out); }

void winograd_input(const TileGrid& g, const float* x, int64_t first, int64_t count, float* v, int64_t plane) {
  forward<6, data_6>(g, x, first, count, v, plane);
}
void winograd_grad(const TileGrid& g, const float* dy, int64_t first, int64_t count, float* v, int64_t plane) {
  forward<4, filter_4>(g, dy, first, count, v, plane);
}

void winograd_output(const TileGrid& g, const float* m, int64_t plane, int64_t first, int64_t count, const float* bias, bool relu, float* y) {
  const int64_t n = g.channels;
  for (int64_t i = 0; i < count; ++i, m += n) {
    const Tile t(g, first + i);
    const Finish f = {g.height - t.y < 4 ? g.height - t.y : 4, g.width - t.x < 4 ? g.width - t.x : 4, g.width * n, n, relu};
    float* at = y + ((t.image * g.height + t.y) * g.width + t.x) * n;
    int64_t c = 0;
    for (; c + kLanes <= n; c += kLanes) output_one<true>(m + c, plane, kLanes, bias ? bias + c : nullptr, f, at + c);
    if (c < n) output_one<false>(m + c, plane, n - c, bias ? bias + c : nullptr, f, at + c);
  }
}

#include "kernels/cpu/isa_end.h"
