#include "kernels/cpu/fused.h"

#include <algorithm>
#include <memory>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/softmax.h"

namespace weft_engine::kernels {

using core::ThreadPool;

void layer_norm(const LayerNormArgs& g, ThreadPool& pool) {
  pool.parallel_for(g.rows, double(g.n) * 0.3 + 10, [&](int64_t begin, int64_t end) { WEFT_BEST_ISA(layer_norm_rows)(g, begin, end); });
}

void lstm_cell(const LstmCellArgs& g, ThreadPool& pool) {
  const LstmGates& to = g.gates;
  const int64_t n = to.cells, wide = 4 * n;
  const auto products = [&](int64_t i0, int64_t rows, int64_t j0, int64_t columns) {
    float* const out = to.gates + i0 * wide + j0;
    if (g.x) sgemm(false, false, rows, columns, g.inputs, g.x + i0 * g.inputs, g.inputs, g.w + j0, wide, out, wide, false);
    sgemm(false, false, rows, columns, n, g.h_in + i0 * n, n, g.r + j0, wide, out, wide, g.x != nullptr);
  };
  // A gate's functions take as long as some hundred multiplications.
  const GemmGrid grid = gemm_grid(to.rows, n, 4 * (n + (g.x ? g.inputs : 0)) + 200, false, sizeof(float), ThreadPool::inside() ? 1 : pool.threads());
  if (grid.parts() == 1) {
    products(0, to.rows, 0, wide);
    return WEFT_BEST_ISA(lstm_gate_rows)(to, 0, to.rows, 0, n);
  }
  pool.parallel_chunks(grid.parts(), [&](int64_t part) {
    const int64_t r = part % grid.rows, c = part / grid.rows, panels = (n + 31) / 32;
    const int64_t i0 = to.rows * r / grid.rows, i1 = to.rows * (r + 1) / grid.rows;
    const int64_t j0 = panels * c / grid.columns * 32, j1 = std::min(n, panels * (c + 1) / grid.columns * 32);
    if (i1 <= i0 || j1 <= j0) return;
    for (int64_t gate = 0; gate < 4; ++gate) products(i0, i1 - i0, gate * n + j0, j1 - j0);
    WEFT_BEST_ISA(lstm_gate_rows)(to, i0, i1, j0, j1);
  });
}

void lstm_gate_gradients(const LstmGateGradients& g, ThreadPool& pool) {
  pool.parallel_for(g.rows, double(g.cells) * 2 + 10, [&](int64_t begin, int64_t end) { WEFT_BEST_ISA(lstm_gate_gradient_rows)(g, begin, end); });
}

void gru_gates(const GruGates& g, ThreadPool& pool) {
  pool.parallel_for(g.rows, double(g.cells) * 1.5 + 10, [&](int64_t begin, int64_t end) { WEFT_BEST_ISA(gru_gate_rows)(g, begin, end); });
}

void attention(const AttentionArgs& g, ThreadPool& pool) {
  const int64_t size = g.queries * g.keys;
  const double cost = double(size) * (double(g.depth + g.value_depth) / 30 + 1) + 100;
  pool.parallel_for(g.batch * g.heads, cost, [&](int64_t begin, int64_t end) {
    std::unique_ptr<float[]> own;
    if (!g.probabilities) own = std::make_unique_for_overwrite<float[]>(size_t(size));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / g.heads, head = i % g.heads;
      auto at = [&](auto* p, const AttentionArgs::Strides& s) { return p + b * s.batch + head * s.head; };
      float* scores = g.probabilities ? g.probabilities + i * size : own.get();
      sgemm(false, true, g.queries, g.keys, g.depth, at(g.q, g.q_stride), g.q_stride.step, at(g.k, g.k_stride), g.k_stride.step, scores, g.keys,
            false);
      const float* mask = g.mask ? g.mask + b * g.mask_stride[0] + head * g.mask_stride[1] : nullptr;
      for (int64_t t = 0; t < g.queries; ++t) {
        float* row = scores + t * g.keys;
        for (int64_t s = 0; s < g.keys; ++s) row[s] *= g.scale;
        if (!mask) continue;
        const float* more = mask + t * g.mask_stride[2];
        for (int64_t s = 0; s < g.keys; ++s) row[s] += more[s * g.mask_stride[3]];
      }
      WEFT_BEST_ISA(softmax_floats)(scores, scores, g.queries, g.keys);
      sgemm(false, false, g.queries, g.value_depth, g.keys, scores, g.keys, at(g.v, g.v_stride), g.v_stride.step, at(g.out, g.out_stride),
            g.out_stride.step, false);
    }
  });
}

void attention_gradient(const AttentionGradientArgs& g, ThreadPool& pool) {
  const int64_t size = g.queries * g.keys;
  const double cost = double(size) * (double(g.depth + g.value_depth) / 15 + 1) + 200;
  pool.parallel_for(g.batch * g.heads, cost, [&](int64_t begin, int64_t end) {
    const auto own = std::make_unique_for_overwrite<float[]>(size_t(size));
    float* const t = own.get();
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / g.heads, head = i % g.heads;
      auto at = [&](auto* p, const AttentionArgs::Strides& s) { return p + b * s.batch + head * s.head; };
      const float *p = g.probabilities + i * size, *d_out = at(g.d_out, g.out_stride);
      const int64_t q = g.q_stride.step, k = g.k_stride.step, v = g.v_stride.step, o = g.out_stride.step;
      sgemm(true, false, g.keys, g.value_depth, g.queries, p, g.keys, d_out, o, at(g.dv, g.v_stride), v, false);
      sgemm(false, true, g.queries, g.keys, g.value_depth, d_out, o, at(g.v, g.v_stride), v, t, g.keys, false);
      WEFT_BEST_ISA(softmax_gradient_rows)(p, t, g.scale, g.queries, g.keys);
      sgemm(false, false, g.queries, g.depth, g.keys, t, g.keys, at(g.k, g.k_stride), k, at(g.dq, g.q_stride), q, false);
      sgemm(true, false, g.keys, g.depth, g.queries, t, g.keys, at(g.q, g.q_stride), q, at(g.dk, g.k_stride), k, false);
    }
  });
}

}  // namespace weft_engine::kernels
