// Several steps of a network in one pass over rows of floats: layer normalisation, the gates of recurrent cells, attention.
#pragma once

#include <cstdint>

#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/matmul_epilogue.h"

namespace weft_engine::kernels {

// y = (x - mean) * scale * gamma + beta, row by row, scale being 1 / sqrt(variance + epsilon); mean and scale may be null.
struct LayerNormArgs {
  const float *x, *gamma, *beta;
  float epsilon;
  float *y, *mean, *scale;
  int64_t rows, n;
};
void layer_norm(const LayerNormArgs& g, core::ThreadPool& pool);

// gates [rows, 4 cells] in the order input, forget, candidate, output:
//   i, f, o = sigmoid(gate + bias), g = tanh(gate + bias); c_out = f c + i g; h = o tanh(c_out)
// i, f, g, o and tanh_c are written where they are not null. bias_step is 0 where all rows have one bias, else 4 cells.
struct LstmGates {
  const float *bias, *c;
  float *gates, *h, *c_out, *i, *f, *g, *o, *tanh_c;
  int64_t rows, cells, bias_step;
};
// gates = x w + h_in r, then as above: one loop, whose parts are some rows of some cells with all of their gates. x [rows, inputs] may be null.
struct LstmCellArgs {
  const float *x, *w, *h_in, *r;
  int64_t inputs;
  LstmGates gates;
};
void lstm_cell(const LstmCellArgs& g, core::ThreadPool& pool);

// The same step backwards: dgates [rows, 4 cells], of the gates in front of their activations, and dc_in, of c, from dh and
// dc_out (may be null), of the results. dc_in may be dc_out or dh.
struct LstmGateGradients {
  const float *i, *f, *g, *o, *tanh_c, *c, *dh, *dc_out;
  float *dgates, *dc_in;
  int64_t rows, cells;
};
void lstm_gate_gradients(const LstmGateGradients& g, core::ThreadPool& pool);

// x and r [rows, 3 cells] in the order update, reset, candidate:
//   z = sigmoid(x_z + bx_z + (r_z + br_z)), s = sigmoid(x_s + bx_s + (r_s + br_s)),
//   n = tanh(x_n + bx_n + s (r_n + br_n)); h_out = z h + (1 - z) n
// z, s, n and rn = r_n + br_n are written where they are not null.
struct GruGates {
  const float *x, *r, *bias_x, *bias_r, *h;
  float *h_out, *z, *s, *n, *rn;
  int64_t rows, cells;
};
void gru_gates(const GruGates& g, core::ThreadPool& pool);

// out = softmax(scale q k^T + mask) v for every batch and head. Element (b, t, n, h) of q lies at
// b * q_batch + t * q_step + n * q_head + h, likewise k, v and out. probabilities [batch, heads, queries, keys] may be null.
// mask, if not null, is added; its strides are 0 where it is repeated.
struct AttentionArgs {
  int64_t batch, heads, queries, keys, depth, value_depth;
  float scale;
  const float *q, *k, *v, *mask;
  float *out, *probabilities;
  struct Strides {
    int64_t batch, step, head;
  } q_stride, k_stride, v_stride, out_stride;
  int64_t mask_stride[4];  // batch, head, query, key
};
void attention(const AttentionArgs& g, core::ThreadPool& pool);

// Backwards, from d_out and the probabilities p that were kept:
//   dv = p^T d_out;  t = d_out v^T;  ds = scale (t - rowsum(t p)) p;  dq = ds k;  dk = ds^T q
// dq lies as q does, likewise dk and dv.
struct AttentionGradientArgs {
  int64_t batch, heads, queries, keys, depth, value_depth;
  float scale;
  const float *q, *k, *v, *probabilities, *d_out;
  float *dq, *dk, *dv;
  AttentionArgs::Strides q_stride, k_stride, v_stride, out_stride;
};
void attention_gradient(const AttentionGradientArgs& g, core::ThreadPool& pool);

// t = scale (t - rowsum(t p)) p, rows of n.
WEFT_DECLARE_ISA(void softmax_gradient_rows(const float* p, float* t, float scale, int64_t rows, int64_t n))
WEFT_DECLARE_ISA(void layer_norm_rows(const LayerNormArgs& g, int64_t begin, int64_t end))
WEFT_DECLARE_ISA(void lstm_gate_rows(const LstmGates& g, int64_t begin, int64_t end, int64_t first, int64_t last))
WEFT_DECLARE_ISA(void lstm_gate_gradient_rows(const LstmGateGradients& g, int64_t begin, int64_t end))
WEFT_DECLARE_ISA(void gru_gate_rows(const GruGates& g, int64_t begin, int64_t end))
// x[i, j] = f(x[i, j] + bias[j]); rows lie ld elements apart; bias may be null.
WEFT_DECLARE_ISA(void epilogue_rows(Epilogue e, float alpha, const float* bias, float* x, int64_t rows, int64_t n, int64_t ld))

}  // namespace weft_engine::kernels
