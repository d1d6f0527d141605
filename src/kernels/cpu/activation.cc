#include "kernels/cpu/activation.h"

#include "kernels/cpu/elementwise_simd.h"

namespace weft_engine::kernels {

using core::DType;

namespace {

template <class T>
void relu_of(const void* vg, const void* vx, void* vy, int64_t n, float alpha) {
  using W = core::Wide<T>;
  const T* g = static_cast<const T*>(vg);
  const T* x = static_cast<const T*>(vx);
  T* y = static_cast<T*>(vy);
  for (int64_t i = 0; i < n; ++i) y[i] = T(W(x[i]) > 0 ? W(g[i]) : W(alpha) * W(g[i]));
}

}  // namespace

void leaky_relu(DType t, const void* x, void* y, int64_t n, float alpha) { leaky_relu_grad(t, x, x, y, n, alpha); }

void leaky_relu_grad(DType t, const void* g, const void* x, void* dx, int64_t n, float alpha) {
  switch (t) {
    case DType::kFloat:
      return WEFT_BEST_ISA(leaky_relu_floats)(static_cast<const float*>(g), static_cast<const float*>(x), static_cast<float*>(dx), n, alpha);
    case DType::kDouble: return relu_of<double>(g, x, dx, n, alpha);
    case DType::kHalf: return relu_of<core::half>(g, x, dx, n, alpha);
    default: return relu_of<core::bfloat16>(g, x, dx, n, alpha);
  }
}

}  // namespace weft_engine::kernels
