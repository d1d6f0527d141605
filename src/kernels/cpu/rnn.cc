#include "kernels/cpu/rnn.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/float_types.h"
#include "kernels/cpu/gemm.h"

namespace weft_engine::kernels {
namespace {

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

constexpr double kCellCost = 40;  // nanoseconds: five transcendental functions

void add_bias(const float* bias, int64_t n, int64_t rows, float* out) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < n; ++j) out[r * n + j] += bias[j];
  }
}

}  // namespace

void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc,
             bool accumulate, core::ThreadPool& pool) {
  if (m == 0 || n == 0) return;
  if (k > 0) return sgemm(ta, tb, m, n, k, a, lda, b, ldb, c, ldc, accumulate, pool);
  if (accumulate) return;
  for (int64_t i = 0; i < m; ++i) std::fill(c + i * ldc, c + i * ldc + n, 0.0f);
}

void lstm_input_gates(const LstmSizes& s, const LstmWeights& w, const float* x, int64_t rows, float* gates, core::ThreadPool& pool) {
  const int64_t n = 4 * s.cells;
  product(false, false, rows, n, s.input, x, s.input, w.w, n, gates, n, false, pool);
  pool.parallel_for(rows, double(n) * 0.2, [&](int64_t b, int64_t e) { add_bias(w.b, n, e - b, gates + b * n); });
}

void lstm_forward(const LstmSizes& s, const LstmWeights& w, const float* cs_prev, const float* h_prev, float* gates, const LstmStep& out,
                  core::ThreadPool& pool) {
  const int64_t cells = s.cells, n = 4 * cells;
  product(false, false, s.batch, n, cells, h_prev, cells, w.w + s.input * n, n, gates, n, true, pool);
  const int64_t at_ci = s.forget_second ? 2 * cells : cells, at_f = s.forget_second ? cells : 2 * cells;
  const auto cell = [&](auto round, int64_t b, int64_t j) {
    const float* gate = gates + b * n;
    const int64_t at = b * cells + j;
    const float before = cs_prev[at];
    const auto activated = [&](float sum, float state, const float* peephole) {
      sum = round(sum);
      return round(sigmoid(s.peephole ? round(sum + round(state * peephole[j])) : sum));
    };
    const float i = activated(gate[j], before, w.wci);
    const float f = activated(gate[at_f + j] + s.forget_bias, before, w.wcf);
    const float ci = round(std::tanh(round(gate[at_ci + j])));
    float cs = round(round(ci * i) + round(f * before));
    if (s.clip > 0) cs = std::min(std::max(cs, -s.clip), s.clip);
    const float co = round(std::tanh(cs));
    const float o = activated(gate[3 * cells + j], cs, w.wco);
    out.i[at] = i, out.f[at] = f, out.ci[at] = ci, out.cs[at] = cs, out.co[at] = co, out.o[at] = o, out.h[at] = round(o * co);
  };
  pool.parallel_for(s.batch, kCellCost * double(cells), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t j = 0; j < cells; ++j) {
        if (s.half) cell([](float x) { return float(core::half(x)); }, b, j);
        else cell([](float x) { return x; }, b, j);
      }
    }
  });
}

void lstm_backward(const LstmSizes& s, const LstmWeights& w, const LstmConstStep& t, const float* cs_prev, const float* dcs_in, const float* dh,
                   float* dgates, float* dcs_prev, float* dwci, float* dwcf, float* dwco, core::ThreadPool& pool) {
  const int64_t cells = s.cells, n = 4 * cells;
  const int64_t at_ci = s.forget_second ? 2 * cells : cells, at_f = s.forget_second ? cells : 2 * cells;
  pool.parallel_for(s.batch, 10 * double(cells), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      float* gate = dgates + b * n;
      for (int64_t j = 0; j < cells; ++j) {
        const int64_t at = b * cells + j;
        const float i = t.i[at], f = t.f[at], o = t.o[at], ci = t.ci[at], co = t.co[at];
        const float d_o = o * (1 - o) * dh[at] * co;
        float dcs = (1 - co * co) * dh[at] * o + dcs_in[at];
        if (s.peephole) dcs += d_o * w.wco[j];
        const float d_ci = (1 - ci * ci) * dcs * i, d_f = f * (1 - f) * dcs * cs_prev[at], d_i = i * (1 - i) * dcs * ci;
        gate[j] = d_i, gate[at_ci + j] = d_ci, gate[at_f + j] = d_f, gate[3 * cells + j] = d_o;
        dcs_prev[at] = dcs * f + (s.peephole ? d_i * w.wci[j] + d_f * w.wcf[j] : 0.0f);
      }
    }
  });
  if (!s.peephole) return;
  for (int64_t b = 0; b < s.batch; ++b) {
    const float* gate = dgates + b * n;
    for (int64_t j = 0; j < cells; ++j) {
      const int64_t at = b * cells + j;
      dwci[j] += gate[j] * cs_prev[at];
      dwcf[j] += gate[at_f + j] * cs_prev[at];
      dwco[j] += gate[3 * cells + j] * t.cs[at];
    }
  }
}

void gru_forward(const GruSizes& s, const float* x, const float* h_prev, const float* w_ru, const float* w_c, const float* b_ru, const float* b_c,
                 float* r, float* u, float* c, float* h, core::ThreadPool& pool) {
  const int64_t cells = s.cells, count = s.batch * cells;
  auto ru = std::make_unique<float[]>(size_t(2 * count));
  product(false, false, s.batch, 2 * cells, s.input, x, s.input, w_ru, 2 * cells, ru.get(), 2 * cells, false, pool);
  product(false, false, s.batch, 2 * cells, cells, h_prev, cells, w_ru + s.input * 2 * cells, 2 * cells, ru.get(), 2 * cells, true, pool);
  auto hr = std::make_unique<float[]>(size_t(count));
  pool.parallel_for(s.batch, 20 * double(cells), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t j = 0; j < cells; ++j) {
        const int64_t at = b * cells + j;
        r[at] = sigmoid(ru[size_t(2 * b * cells + j)] + b_ru[j]);
        u[at] = sigmoid(ru[size_t((2 * b + 1) * cells + j)] + b_ru[cells + j]);
        hr[size_t(at)] = h_prev[at] * r[at];
      }
    }
  });
  product(false, false, s.batch, cells, s.input, x, s.input, w_c, cells, c, cells, false, pool);
  product(false, false, s.batch, cells, cells, hr.get(), cells, w_c + s.input * cells, cells, c, cells, true, pool);
  pool.parallel_for(s.batch, 15 * double(cells), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t j = 0; j < cells; ++j) {
        const int64_t at = b * cells + j;
        c[at] = std::tanh(c[at] + b_c[j]);
        h[at] = u[at] * h_prev[at] + (1 - u[at]) * c[at];
      }
    }
  });
}

void gru_backward(const GruSizes& s, const float* h_prev, const float* w_ru, const float* w_c, const float* r, const float* u, const float* c,
                  const float* dh, float* dx, float* dh_prev, float* dc_bar, float* dr_u_bar, core::ThreadPool& pool) {
  const int64_t cells = s.cells, count = s.batch * cells;
  auto dhr = std::make_unique<float[]>(size_t(count));
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t j = 0; j < cells; ++j) {
      const int64_t at = b * cells + j;
      dc_bar[at] = dh[at] * (1 - u[at]) * (1 - c[at] * c[at]);
      dr_u_bar[(2 * b + 1) * cells + j] = dh[at] * (h_prev[at] - c[at]) * u[at] * (1 - u[at]);
    }
  }
  product(false, true, s.batch, s.input, cells, dc_bar, cells, w_c, cells, dx, s.input, false, pool);
  product(false, true, s.batch, cells, cells, dc_bar, cells, w_c + s.input * cells, cells, dhr.get(), cells, false, pool);
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t j = 0; j < cells; ++j) {
      const int64_t at = b * cells + j;
      dr_u_bar[2 * b * cells + j] = dhr[size_t(at)] * h_prev[at] * r[at] * (1 - r[at]);
      dh_prev[at] = dhr[size_t(at)] * r[at] + dh[at] * u[at];
    }
  }
  product(false, true, s.batch, s.input, 2 * cells, dr_u_bar, 2 * cells, w_ru, 2 * cells, dx, s.input, true, pool);
  product(false, true, s.batch, cells, 2 * cells, dr_u_bar, 2 * cells, w_ru + s.input * 2 * cells, 2 * cells, dh_prev, cells, true, pool);
}

}  // namespace weft_engine::kernels
