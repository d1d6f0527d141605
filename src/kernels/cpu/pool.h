// Pools over windows of [batch, depth, height, width, channel] arrays and their gradients.
#pragma once

#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/window.h"

namespace weft_engine::kernels {

struct PoolGeometry {
  int64_t batch = 0, channels = 0;
  WindowDim dim[3];
  int64_t in_size() const { return dim[0].in * dim[1].in * dim[2].in * channels; }  // of one image
  int64_t out_positions() const { return dim[0].out * dim[1].out * dim[2].out; }
  int64_t out_size() const { return out_positions() * channels; }
};

// T: float, double and the integers. A NaN never wins over a number in max_pool.
template <class T>
void max_pool(const PoolGeometry& g, const T* in, T* out, core::ThreadPool& pool);
// Also where in its image the (first) maximum lies; out may be null.
template <class T>
void max_pool_argmax(const PoolGeometry& g, const T* in, T* out, int64_t* argmax, core::ThreadPool& pool);
// For each output, the element of `grad` (shaped as the input) at the first input equal to it; 0 if none.
template <class T>
void max_pool_grad_grad(const PoolGeometry& g, const T* in, const T* out, const T* grad, T* result, core::ThreadPool& pool);
// The gradient of max_pool: the first maximum of a window gets the output's gradient, the others nothing.
void max_pool_grad(const PoolGeometry& g, const float* in, const float* dout, float* din, core::ThreadPool& pool);
// Every input equal to its window's output gets the output's gradient.
void max_pool_grad_ties(const PoolGeometry& g, const float* in, const float* out, const float* dout, float* din, core::ThreadPool& pool);
// float, double.
template <class T>
void avg_pool(const PoolGeometry& g, const T* in, T* out, core::ThreadPool& pool);
template <class T>
void avg_pool_grad(const PoolGeometry& g, const T* dout, T* din, core::ThreadPool& pool);

// Output positions [begin, end) of the whole batch.
WEFT_DECLARE_ISA(void max_pool_float(const PoolGeometry& g, const float* in, float* out, int64_t begin, int64_t end))
// fresh: the windows cover each input exactly once, so that din is written, not added to.
WEFT_DECLARE_ISA(void max_pool_grad_float(const PoolGeometry& g, const float* in, const float* dout, float* din, int64_t begin, int64_t end,
                                          bool fresh))
WEFT_DECLARE_ISA(void avg_pool_float(const PoolGeometry& g, const float* in, float* out, int64_t begin, int64_t end))

WEFT_DECLARE_ISA(void avg_pool_grad_float(const PoolGeometry& g, const float* dout, float* din, int64_t begin, int64_t end, bool fresh))

// Calls f(output position in its image, d, h, w ranges of inputs) for positions [begin, end) of the batch.
template <class F>
void for_each_window(const PoolGeometry& g, int64_t begin, int64_t end, F&& f) {
  if (begin >= end) return;
  const int64_t per_image = g.out_positions();
  int64_t b = begin / per_image, at = begin % per_image;  // counted on from there: divisions take longer than small windows
  int64_t x = at % g.dim[2].out, y = at / g.dim[2].out % g.dim[1].out, z = at / g.dim[2].out / g.dim[1].out;
  auto d = g.dim[0].inputs(z), h = g.dim[1].inputs(y);
  for (int64_t p = begin; p < end; ++p) {
    f(p, b, d, h, g.dim[2].inputs(x));
    if (++x < g.dim[2].out) continue;
    x = 0;
    if (++y == g.dim[1].out) {
      y = 0;
      if (++z == g.dim[0].out) z = 0, ++b;
      d = g.dim[0].inputs(z);
    }
    h = g.dim[1].inputs(y);
  }
}

}  // namespace weft_engine::kernels
