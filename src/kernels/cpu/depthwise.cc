#include "kernels/cpu/depthwise.h"

#include <memory>
#include <type_traits>

namespace weft_engine::kernels {
namespace {

// Rough nanoseconds for one row: a multiplication and addition in vectors is about a quarter of one.
double row_cost(const DepthwiseGeometry& g, int64_t width) {
  return 0.25 * double(width) * double(g.out_channels()) * double(g.h.window) * double(g.w.window);
}

}  // namespace

template <class T>
void depthwise_forward(const DepthwiseGeometry& g, const T* in, const T* filter, T* out, core::ThreadPool& pool) {
  std::unique_ptr<T[]> planes;
  if (g.in_planes(sizeof(T))) {
    const int64_t taps = g.h.window * g.w.window * g.channels, m = g.multiplier;
    planes = std::make_unique<T[]>(size_t(taps * m));
    for (int64_t t = 0; t < taps; ++t) {
      for (int64_t i = 0; i < m; ++i) planes[size_t(i * taps + t)] = filter[t * m + i];
    }
    filter = planes.get();
  }
  pool.parallel_for(g.batch * g.h.out, row_cost(g, g.w.out), [&](int64_t b, int64_t e) {
    if constexpr (std::is_same_v<T, float>) WEFT_BEST_ISA(depthwise_forward_float)(g, in, filter, out, b, e);
    else WEFT_BEST_ISA(depthwise_forward_double)(g, in, filter, out, b, e);
  });
}

template <class T>
void depthwise_backward_input(const DepthwiseGeometry& g, const T* filter, const T* dout, T* din, core::ThreadPool& pool) {
  pool.parallel_for(g.batch * g.h.in, row_cost(g, g.w.in), [&](int64_t b, int64_t e) {
    if constexpr (std::is_same_v<T, float>) WEFT_BEST_ISA(depthwise_input_float)(g, filter, dout, din, b, e);
    else WEFT_BEST_ISA(depthwise_input_double)(g, filter, dout, din, b, e);
  });
}

template <class T>
void depthwise_backward_filter(const DepthwiseGeometry& g, const T* in, const T* dout, T* dfilter, core::ThreadPool& pool) {
  const int64_t size = g.h.window * g.w.window * g.out_channels(), rows = g.batch * g.h.out;
  std::fill(dfilter, dfilter + size, T(0));
  if (size == 0 || rows == 0) return;
  // Parts with sums of their own, as many as the shapes say, so that the bits do not depend on threads.
  int64_t parts = std::clamp<int64_t>(int64_t(row_cost(g, g.w.out) * double(rows) / 1e5), 1, std::min<int64_t>(16, rows));
  parts = std::max<int64_t>(1, std::min(parts, (int64_t(1) << 26) / int64_t(sizeof(T)) / size));
  auto sums = std::make_unique<T[]>(size_t((parts - 1) * size));
  pool.parallel_chunks(parts, [&](int64_t part) {
    T* sum = part == 0 ? dfilter : sums.get() + (part - 1) * size;
    const int64_t b = part * rows / parts, e = (part + 1) * rows / parts;
    if constexpr (std::is_same_v<T, float>) WEFT_BEST_ISA(depthwise_filter_float)(g, in, dout, sum, b, e);
    else WEFT_BEST_ISA(depthwise_filter_double)(g, in, dout, sum, b, e);
  });
  for (int64_t part = 1; part < parts; ++part) {
    for (int64_t i = 0; i < size; ++i) dfilter[i] += sums[size_t((part - 1) * size + i)];
  }
}

#define WEFT_INSTANTIATE(T)                                                                                       \
  template void depthwise_forward<T>(const DepthwiseGeometry&, const T*, const T*, T*, core::ThreadPool&);        \
  template void depthwise_backward_input<T>(const DepthwiseGeometry&, const T*, const T*, T*, core::ThreadPool&); \
  template void depthwise_backward_filter<T>(const DepthwiseGeometry&, const T*, const T*, T*, core::ThreadPool&);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(double)
#undef WEFT_INSTANTIATE

}  // namespace weft_engine::kernels
