#include "kernels/cpu/pool.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace weft_engine::kernels {
namespace {

// Nanoseconds for one output position, roughly.
double position_cost(const PoolGeometry& g) {
  double taps = 1;
  for (const WindowDim& d : g.dim) taps *= double(std::min(d.window, d.in));
  return taps * double(g.channels) * 0.15 + 5;
}

// Calls f(offset of the input's first channel) in reading order.
template <class Range, class F>
void for_each_input(const PoolGeometry& g, Range d, Range h, Range w, F&& f) {
  for (int64_t z = d.begin; z < d.end; ++z) {
    for (int64_t y = h.begin; y < h.end; ++y) {
      for (int64_t x = w.begin; x < w.end; ++x) f(((z * g.dim[1].in + y) * g.dim[2].in + x) * g.channels);
    }
  }
}

}  // namespace

template <class T>
void max_pool(const PoolGeometry& g, const T* in, T* out, core::ThreadPool& pool) {
  pool.parallel_for(g.batch * g.out_positions(), position_cost(g), [&](int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, float>) {
      WEFT_BEST_ISA(max_pool_float)(g, in, out, begin, end);
    } else {
      for_each_window(g, begin, end, [&](int64_t p, int64_t b, auto d, auto h, auto w) {
        T* to = out + p * g.channels;
        std::fill(to, to + g.channels, std::numeric_limits<T>::lowest());
        for_each_input(g, d, h, w, [&](int64_t at) {
          const T* from = in + b * g.in_size() + at;
          for (int64_t c = 0; c < g.channels; ++c) to[c] = from[c] > to[c] ? from[c] : to[c];
        });
      });
    }
  });
}

template <class T>
void max_pool_argmax(const PoolGeometry& g, const T* in, T* out, int64_t* argmax, core::ThreadPool& pool) {
  pool.parallel_for(g.batch * g.out_positions(), 2 * position_cost(g), [&](int64_t begin, int64_t end) {
    for_each_window(g, begin, end, [&](int64_t p, int64_t b, auto d, auto h, auto w) {
      const T* image = in + b * g.in_size();
      int64_t* best = argmax + p * g.channels;
      std::fill(best, best + g.channels, int64_t(-1));  // a window with no input at all keeps it
      for_each_input(g, d, h, w, [&](int64_t at) {
        for (int64_t c = 0; c < g.channels; ++c) {
          if (best[c] < 0 || image[best[c]] < image[at + c]) best[c] = at + c;
        }
      });
      if (!out) return;
      for (int64_t c = 0; c < g.channels; ++c) out[p * g.channels + c] = best[c] < 0 ? std::numeric_limits<T>::lowest() : image[best[c]];
    });
  });
}

template <class T>
void max_pool_grad_grad(const PoolGeometry& g, const T* in, const T* out, const T* grad, T* result, core::ThreadPool& pool) {
  pool.parallel_for(g.batch * g.out_positions(), 2 * position_cost(g), [&](int64_t begin, int64_t end) {
    for_each_window(g, begin, end, [&](int64_t p, int64_t b, auto d, auto h, auto w) {
      const int64_t image = b * g.in_size();
      for (int64_t c = 0; c < g.channels; ++c) {
        const T want = out[p * g.channels + c];
        int64_t found = -1;
        for_each_input(g, d, h, w, [&](int64_t at) {
          if (found < 0 && in[image + at + c] == want) found = image + at + c;
        });
        result[p * g.channels + c] = found < 0 ? T(0) : grad[found];
      }
    });
  });
}

namespace {

// Each input is in one window.
bool covers_once(const PoolGeometry& g) {
  return std::all_of(std::begin(g.dim), std::end(g.dim), [](const WindowDim& d) {
    return d.window == d.stride && d.start(0) <= 0 && d.out > 0 && d.start(d.out - 1) + d.window >= d.in;
  });
}

}  // namespace

void max_pool_grad(const PoolGeometry& g, const float* in, const float* dout, float* din, core::ThreadPool& pool) {
  const int64_t per_image = g.out_positions();
  if (covers_once(g)) {
    return pool.parallel_for(g.batch * per_image, 2 * position_cost(g),
                             [&](int64_t begin, int64_t end) { WEFT_BEST_ISA(max_pool_grad_float)(g, in, dout, din, begin, end, true); });
  }
  pool.parallel_for(g.batch, 2 * position_cost(g) * double(per_image), [&](int64_t first, int64_t last) {
    std::fill(din + first * g.in_size(), din + last * g.in_size(), 0.0f);
    WEFT_BEST_ISA(max_pool_grad_float)(g, in, dout, din, first * per_image, last * per_image, false);
  });
}

void max_pool_grad_ties(const PoolGeometry& g, const float* in, const float* out, const float* dout, float* din, core::ThreadPool& pool) {
  pool.parallel_for(g.batch, 2 * position_cost(g) * double(g.out_positions()), [&](int64_t first, int64_t last) {
    std::fill(din + first * g.in_size(), din + last * g.in_size(), 0.0f);
    const int64_t per_image = g.out_positions();
    for_each_window(g, first * per_image, last * per_image, [&](int64_t p, int64_t b, auto d, auto h, auto w) {
      for_each_input(g, d, h, w, [&](int64_t at) {
        at += b * g.in_size();
        for (int64_t c = 0; c < g.channels; ++c) din[at + c] += in[at + c] == out[p * g.channels + c] ? dout[p * g.channels + c] : 0.0f;
      });
    });
  });
}

template <class T>
void avg_pool(const PoolGeometry& g, const T* in, T* out, core::ThreadPool& pool) {
  pool.parallel_for(g.batch * g.out_positions(), position_cost(g), [&](int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, float>) {
      WEFT_BEST_ISA(avg_pool_float)(g, in, out, begin, end);
    } else {
      for_each_window(g, begin, end, [&](int64_t p, int64_t b, auto d, auto h, auto w) {
        T* to = out + p * g.channels;
        std::fill(to, to + g.channels, T(0));
        for_each_input(g, d, h, w, [&](int64_t at) {
          const T* from = in + b * g.in_size() + at;
          for (int64_t c = 0; c < g.channels; ++c) to[c] += from[c];
        });
        const T count = T(d.size() * h.size() * w.size());
        for (int64_t c = 0; c < g.channels; ++c) to[c] /= count;
      });
    }
  });
}

template <class T>
void avg_pool_grad(const PoolGeometry& g, const T* dout, T* din, core::ThreadPool& pool) {
  const int64_t per_image = g.out_positions();
  if constexpr (std::is_same_v<T, float>) {
    if (covers_once(g)) {
      return pool.parallel_for(g.batch * per_image, position_cost(g),
                               [&](int64_t begin, int64_t end) { WEFT_BEST_ISA(avg_pool_grad_float)(g, dout, din, begin, end, true); });
    }
  }
  // Windows overlap: an image belongs to one thread.
  pool.parallel_for(g.batch, position_cost(g) * double(per_image), [&](int64_t first, int64_t last) {
    std::fill(din + first * g.in_size(), din + last * g.in_size(), T(0));
    if constexpr (std::is_same_v<T, float>) return WEFT_BEST_ISA(avg_pool_grad_float)(g, dout, din, first * per_image, last * per_image, false);
    for_each_window(g, first * per_image, last * per_image, [&](int64_t p, int64_t b, auto d, auto h, auto w) {
      const T scale = T(1) / T(std::max<int64_t>(1, d.size() * h.size() * w.size()));
      const T* __restrict from = dout + p * g.channels;
      for_each_input(g, d, h, w, [&](int64_t at) {
        T* __restrict to = din + b * g.in_size() + at;
        for (int64_t c = 0; c < g.channels; ++c) to[c] += from[c] * scale;
      });
    });
  });
}

#define WEFT_INSTANTIATE(T)                                                                         \
  template void max_pool<T>(const PoolGeometry&, const T*, T*, core::ThreadPool&);                  \
  template void max_pool_argmax<T>(const PoolGeometry&, const T*, T*, int64_t*, core::ThreadPool&); \
  template void max_pool_grad_grad<T>(const PoolGeometry&, const T*, const T*, const T*, T*, core::ThreadPool&);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(double)
WEFT_INSTANTIATE(int8_t)
WEFT_INSTANTIATE(int16_t)
WEFT_INSTANTIATE(int32_t)
WEFT_INSTANTIATE(int64_t)
WEFT_INSTANTIATE(uint8_t)
WEFT_INSTANTIATE(uint16_t)
WEFT_INSTANTIATE(uint32_t)
WEFT_INSTANTIATE(uint64_t)
#undef WEFT_INSTANTIATE
template void avg_pool<float>(const PoolGeometry&, const float*, float*, core::ThreadPool&);
template void avg_pool<double>(const PoolGeometry&, const double*, double*, core::ThreadPool&);
template void avg_pool_grad<float>(const PoolGeometry&, const float*, float*, core::ThreadPool&);
template void avg_pool_grad<double>(const PoolGeometry&, const double*, double*, core::ThreadPool&);

}  // namespace weft_engine::kernels
