#include <cmath>

#include "kernels/cpu/fused.h"
#include "kernels/cpu/intrinsics.h"

#include "kernels/cpu/isa_begin.h"
#include "kernels/cpu/vector_math.h"

namespace {

struct Plus {
  Floats operator()(Floats a, Floats b) const { return a + b; }
};
inline float total(Floats v) { return across(v, Plus())[0]; }

// Register i of a row of n; the last may be incomplete.
inline Floats take(const float* p, int64_t i, int64_t n) { return i + kLanes <= n ? load(p + i) : load_part(p + i, n - i, 0.f); }
inline void put(float* p, Floats v, int64_t i, int64_t n) {
  if (i + kLanes <= n) store(p + i, v);
  else store_part(p + i, v, n - i);
}

struct RowStatistics {
  float mean, scale;
};

RowStatistics statistics(const float* x, int64_t n, float epsilon) {
  Floats a = {}, b = {};
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) a += load(x + i), b += load(x + i + kLanes);
  for (; i < n; i += kLanes) a += take(x, i, n);
  const float mean = total(a + b) / float(n);
  a = b = Floats{};
  for (i = 0; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const Floats p = load(x + i) - mean, q = load(x + i + kLanes) - mean;
    a += p * p, b += q * q;
  }
  for (; i < n; i += kLanes) {
    const Floats p = (i + kLanes <= n ? load(x + i) : load_part(x + i, n - i, mean)) - mean;
    a += p * p;
  }
  return {mean, 1.f / std::sqrt(total(a + b) / float(n) + epsilon)};
}

}  // namespace

void layer_norm_rows(const LayerNormArgs& g, int64_t begin, int64_t end) {
  const int64_t n = g.n;
  for (int64_t r = begin; r < end; ++r) {
    const float* x = g.x + r * n;
    float* y = g.y + r * n;
    const RowStatistics s = statistics(x, n, g.epsilon);
    if (g.mean) g.mean[r] = s.mean;
    if (g.scale) g.scale[r] = s.scale;
    for (int64_t i = 0; i < n; i += kLanes) {
      const Floats centred = take(x, i, n) - s.mean;
      put(y, centred * (s.scale * take(g.gamma, i, n)) + take(g.beta, i, n), i, n);
    }
  }
}

void softmax_gradient_rows(const float* p, float* t, float scale, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, p += n, t += n) {
    Floats sums{};
    for (int64_t j = 0; j < n; j += kLanes) sums += take(p, j, n) * take(t, j, n);
    const float sum = total(sums);
    for (int64_t j = 0; j < n; j += kLanes) put(t, (take(t, j, n) - sum) * take(p, j, n) * scale, j, n);
  }
}

void lstm_gate_rows(const LstmGates& g, int64_t begin, int64_t end, int64_t first, int64_t last) {
  const int64_t n = g.cells;
  for (int64_t r = begin; r < end; ++r) {
    const float *gates = g.gates + r * 4 * n, *bias = g.bias + r * g.bias_step;
    const int64_t row = r * n;
    for (int64_t j = first; j < last; j += kLanes) {
      const Floats i = vsigmoid(take(gates, j, last) + take(bias, j, last));
      const Floats f = vsigmoid(take(gates + n, j, last) + take(bias + n, j, last));
      const Floats c = vtanh(take(gates + 2 * n, j, last) + take(bias + 2 * n, j, last));
      const Floats o = vsigmoid(take(gates + 3 * n, j, last) + take(bias + 3 * n, j, last));
      const Floats state = f * take(g.c + row, j, last) + i * c, squashed = vtanh(state);
      put(g.c_out + row, state, j, last);
      put(g.h + row, o * squashed, j, last);
      if (g.i) put(g.i + row, i, j, last);
      if (g.f) put(g.f + row, f, j, last);
      if (g.g) put(g.g + row, c, j, last);
      if (g.o) put(g.o + row, o, j, last);
      if (g.tanh_c) put(g.tanh_c + row, squashed, j, last);
    }
  }
}

void lstm_gate_gradient_rows(const LstmGateGradients& g, int64_t begin, int64_t end) {
  const int64_t n = g.cells;
  for (int64_t r = begin; r < end; ++r) {
    float* dgates = g.dgates + r * 4 * n;
    const int64_t row = r * n;
    for (int64_t j = 0; j < n; j += kLanes) {
      const Floats i = take(g.i + row, j, n), f = take(g.f + row, j, n), c = take(g.g + row, j, n), o = take(g.o + row, j, n);
      const Floats squashed = take(g.tanh_c + row, j, n), dh = take(g.dh + row, j, n);
      Floats dc = dh * o * (1.f - squashed * squashed);
      if (g.dc_out) dc += take(g.dc_out + row, j, n);
      put(dgates, dc * c * i * (1.f - i), j, n);
      put(dgates + n, dc * take(g.c + row, j, n) * f * (1.f - f), j, n);
      put(dgates + 2 * n, dc * i * (1.f - c * c), j, n);
      put(dgates + 3 * n, dh * squashed * o * (1.f - o), j, n);
      put(g.dc_in + row, dc * f, j, n);
    }
  }
}

void gru_gate_rows(const GruGates& g, int64_t begin, int64_t end) {
  const int64_t n = g.cells;
  for (int64_t row = begin; row < end; ++row) {
    const float *x = g.x + row * 3 * n, *r = g.r + row * 3 * n;
    const int64_t at = row * n;
    for (int64_t j = 0; j < n; j += kLanes) {
      const Floats z = vsigmoid(take(x, j, n) + take(g.bias_x, j, n) + (take(r, j, n) + take(g.bias_r, j, n)));
      const Floats s = vsigmoid(take(x + n, j, n) + take(g.bias_x + n, j, n) + (take(r + n, j, n) + take(g.bias_r + n, j, n)));
      const Floats recurrent = take(r + 2 * n, j, n) + take(g.bias_r + 2 * n, j, n);
      const Floats candidate = vtanh(take(x + 2 * n, j, n) + take(g.bias_x + 2 * n, j, n) + s * recurrent);
      put(g.h_out + at, z * take(g.h + at, j, n) + (1.f - z) * candidate, j, n);
      if (g.z) put(g.z + at, z, j, n);
      if (g.s) put(g.s + at, s, j, n);
      if (g.n) put(g.n + at, candidate, j, n);
      if (g.rn) put(g.rn + at, recurrent, j, n);
    }
  }
}

namespace {

inline Floats identity(Floats x) { return x; }
inline Floats relu(Floats x) { return x < 0.f ? Floats{} : x; }  // NaN stays
inline Floats relu6(Floats x) { return x < 0.f ? Floats{} : x > 6.f ? all(6.f) : x; }
inline Floats elu(Floats x) { return x < 0.f ? vexpm1(x) : x; }
inline Floats gelu(Floats x) { return 0.5f * x * (1.f + verf(x * 0.70710678f)); }
inline Floats gelu_tanh(Floats x) { return 0.5f * x * (1.f + vtanh(0.79788456f * (x + 0.044715f * x * x * x))); }

template <Floats (*f)(Floats)>
void each(const float* bias, float* x, int64_t rows, int64_t n, int64_t ld) {
  for (int64_t r = 0; r < rows; ++r, x += ld) {
    int64_t j = 0;
    if (bias) {
      for (; j + kLanes <= n; j += kLanes) store(x + j, f(load(x + j) + load(bias + j)));
      if (j < n) store_part(x + j, f(load_part(x + j, n - j, 0.f) + load_part(bias + j, n - j, 0.f)), n - j);
    } else {
      for (; j + kLanes <= n; j += kLanes) store(x + j, f(load(x + j)));
      if (j < n) store_part(x + j, f(load_part(x + j, n - j, 0.f)), n - j);
    }
  }
}

void leaky(float alpha, const float* bias, float* x, int64_t rows, int64_t n, int64_t ld) {
  for (int64_t r = 0; r < rows; ++r, x += ld) {
    for (int64_t j = 0; j < n; j += kLanes) {
      const Floats v = bias ? take(x, j, n) + take(bias, j, n) : take(x, j, n);
      put(x, v > 0.f ? v : v * alpha, j, n);
    }
  }
}

}  // namespace

void epilogue_rows(Epilogue e, float alpha, const float* bias, float* x, int64_t rows, int64_t n, int64_t ld) {
  switch (e) {
    case Epilogue::kNone:
      if (bias) each<identity>(bias, x, rows, n, ld);
      return;
    case Epilogue::kRelu: return each<relu>(bias, x, rows, n, ld);
    case Epilogue::kRelu6: return each<relu6>(bias, x, rows, n, ld);
    case Epilogue::kElu: return each<elu>(bias, x, rows, n, ld);
    case Epilogue::kLeakyRelu: return leaky(alpha, bias, x, rows, n, ld);
    case Epilogue::kTanh: return each<vtanh>(bias, x, rows, n, ld);
    case Epilogue::kSigmoid: return each<vsigmoid>(bias, x, rows, n, ld);
    case Epilogue::kGeluExact: return each<gelu>(bias, x, rows, n, ld);
    case Epilogue::kGeluApproximate: return each<gelu_tanh>(bias, x, rows, n, ld);
  }
}

#include "kernels/cpu/isa_end.h"
