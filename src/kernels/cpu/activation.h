// Activations with a parameter.
#pragma once

#include <cstdint>

#include "core/float_types.h"

namespace weft::kernels {

// y = x > 0 ? x : alpha x. In place is fine.
template <class T>
void leaky_relu(const T* x, T* y, int64_t n, float alpha) {
  using W = core::Wide<T>;
  const W a = W(alpha);
  for (int64_t i = 0; i < n; ++i) {
    const W v = W(x[i]);
    y[i] = T(v > 0 ? v : a * v);
  }
}

// dx = x > 0 ? g : alpha g.
template <class T>
void leaky_relu_grad(const T* g, const T* x, T* dx, int64_t n, float alpha) {
  using W = core::Wide<T>;
  const W a = W(alpha);
  for (int64_t i = 0; i < n; ++i) dx[i] = T(W(x[i]) > 0 ? W(g[i]) : a * W(g[i]));
}

}  // namespace weft::kernels
