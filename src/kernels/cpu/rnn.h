// Steps of LSTM and GRU cells and their gradients, as TensorFlow's block ops define them. All arrays are
// row-major floats; a matrix product runs on the pool, the rest in parallel over the batch.
#pragma once

#include <cstdint>

#include "core/thread_pool.h"

namespace weft_engine::kernels {

// i, f, o: gates; ci: input candidate; cs: cell state; co: its tanh; h: output. Gates of one cell stand
// in the order i, ci, f, o (or i, f, ci, o) in the columns of weights.
struct LstmSizes {
  int64_t batch = 0, input = 0, cells = 0;
  bool forget_second = false;  // i, f, ci, o
  bool peephole = false;
  float forget_bias = 0, clip = 0;  // the cell state is clipped where clip > 0
  bool half = false;  // every result is rounded to half, as by ops of that type one after the other
};

struct LstmWeights {
  const float *w, *wci, *wcf, *wco, *b;  // w: [input + cells, 4 cells]; wci, wcf, wco: read with peephole only
};

struct LstmStep {
  float *i, *cs, *f, *o, *ci, *co, *h;  // [batch, cells] each
};

struct LstmConstStep {
  const float *i, *cs, *f, *o, *ci, *co;
};

// gates[rows, 4 cells] = x w_x + b, for as many rows as wanted (all steps at once).
void lstm_input_gates(const LstmSizes& s, const LstmWeights& w, const float* x, int64_t rows, float* gates, core::ThreadPool& pool);
// One step from gates that hold the input's part; they are overwritten.
void lstm_forward(const LstmSizes& s, const LstmWeights& w, const float* cs_prev, const float* h_prev, float* gates, const LstmStep& out,
                  core::ThreadPool& pool);
// One step back: dgates and dcs_prev from the gradients of cs and h (dcs_prev may be dcs). The peephole
// gradients are added to.
void lstm_backward(const LstmSizes& s, const LstmWeights& w, const LstmConstStep& step, const float* cs_prev, const float* dcs, const float* dh,
                   float* dgates, float* dcs_prev, float* dwci, float* dwcf, float* dwco, core::ThreadPool& pool);

struct GruSizes {
  int64_t batch = 0, input = 0, cells = 0;
};
void gru_forward(const GruSizes& s, const float* x, const float* h_prev, const float* w_ru, const float* w_c, const float* b_ru, const float* b_c,
                 float* r, float* u, float* c, float* h, core::ThreadPool& pool);
void gru_backward(const GruSizes& s, const float* h_prev, const float* w_ru, const float* w_c, const float* r, const float* u, const float* c,
                  const float* dh, float* dx, float* dh_prev, float* dc_bar, float* dr_u_bar, core::ThreadPool& pool);

// sgemm that also accepts an empty product.
void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
             bool accumulate, core::ThreadPool& pool);

}  // namespace weft_engine::kernels
