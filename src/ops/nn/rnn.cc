#include "kernels/cpu/rnn.h"

#include <cstring>

#include "op/emit.h"
#include "op/gradient.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/nn/window.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::LstmConstStep;
using kernels::LstmSizes;
using kernels::LstmStep;
using kernels::LstmWeights;

Status need_rank(const Tensor& t, std::string_view name, int rank) {
  if (t.rank() == rank) return {};
  return invalid_argument(name, " must be rank ", rank, " but is rank ", t.rank(), ".");
}

Status need_shape(const Tensor& t, std::string_view name, const Shape& shape) {
  if (t.shape() == shape) return {};
  return invalid_argument(name, " must have shape ", shape, " but has ", t.shape());
}

// Inputs x, cs_prev, h_prev, w, wci, wcf, wco, b from number `at` on. x: [batch, input] or, with
// steps, [steps, batch, input].
Status check_lstm(KernelContext& c, int at, bool with_steps, LstmSizes& s) {
  const Tensor &x = c.input(at), &cs_prev = c.input(at + 1), &h_prev = c.input(at + 2), &w = c.input(at + 3), &b = c.input(at + 7);
  WEFT_RETURN_IF_ERROR(need_rank(x, "x", with_steps ? 3 : 2));
  WEFT_RETURN_IF_ERROR(need_rank(cs_prev, "cs_prev_tensor", 2));
  WEFT_RETURN_IF_ERROR(need_rank(h_prev, "h_prev_tensor", 2));
  WEFT_RETURN_IF_ERROR(need_rank(w, "w_tensor", 2));
  WEFT_RETURN_IF_ERROR(need_rank(b, "b_tensor", 1));
  static constexpr const char* kPeephole[] = {"wci", "wcf", "wco"};
  s.batch = x.dim(with_steps ? 1 : 0);
  s.input = x.dim(with_steps ? 2 : 1);
  s.cells = cs_prev.dim(1);
  s.peephole = c.attr<bool>("use_peephole");
  if (cs_prev.dim(0) != s.batch) return invalid_argument("cs_prev.dims(0) != batch_size: ", cs_prev.dim(0), " vs. ", s.batch);
  if (h_prev.dim(0) != s.batch) return invalid_argument("h_prev.dims(0) != batch_size: ", h_prev.dim(0), " vs. ", s.batch);
  if (h_prev.dim(1) != s.cells) return invalid_argument("h_prev.dims(1) != cell_size: ", h_prev.dim(1), " vs. ", s.cells);
  // Sizes of empty tensors can be anything: beyond this, sums and products of them could overflow.
  constexpr int64_t kMost = int64_t(1) << 40;
  if (s.cells > kMost || s.input > kMost || s.batch > kMost)
    return invalid_argument("LSTM of ", s.cells, " cells and ", s.input, " inputs is too large");
  if (w.dim(0) != s.input + s.cells) return invalid_argument("w.dim_size(0) != input_size + cell_size: ", w.dim(0), " vs. ", s.input + s.cells);
  if (w.dim(1) != 4 * s.cells) return invalid_argument("w.dim_size(1) != cell_size * 4: ", w.dim(1), " vs. ", 4 * s.cells);
  if (b.dim(0) != 4 * s.cells) return invalid_argument("b.dim_size(0) != cell_size * 4: ", b.dim(0), " vs. ", 4 * s.cells);
  for (int i = 0; i < 3; ++i) {
    const Tensor& t = c.input(at + 4 + i);
    if (t.rank() != 1) return invalid_argument(kPeephole[i], "_tensor must be rank 1 but is rank ", t.rank(), ".");
    if (s.peephole && t.dim(0) != s.cells) return invalid_argument(kPeephole[i], ".dim_size(0) != cell_size: ", t.dim(0), " vs. ", s.cells);
  }
  return {};
}

// The inputs as floats.
Result<std::vector<Tensor>> floats(KernelContext& c, int begin, int end) {
  std::vector<Tensor> out;
  for (int i = begin; i < end; ++i) {
    WEFT_ASSIGN(Tensor t, stage(c, c.input(i), false));
    out.push_back(std::move(t));
  }
  return out;
}

Result<std::vector<StagedOutput>> outputs(KernelContext& c, int begin, std::span<const Shape> shapes) {
  std::vector<StagedOutput> out;
  for (size_t i = 0; i < shapes.size(); ++i) {
    WEFT_ASSIGN(StagedOutput o, StagedOutput::make(c, begin + int(i), shapes[i], false));
    out.push_back(std::move(o));
  }
  return out;
}

Status finish(KernelContext& c, std::vector<StagedOutput>& outs) {
  for (StagedOutput& o : outs) WEFT_RETURN_IF_ERROR(o.finish(c));
  return {};
}

// From staged x, cs_prev, h_prev, w, wci, wcf, wco, b.
LstmWeights weights(const std::vector<Tensor>& in) {
  return {in[3].data<float>(), in[4].data<float>(), in[5].data<float>(), in[6].data<float>(), in[7].data<float>()};
}

void clear(Tensor& t) {
  if (t.num_elements() > 0) std::memset(t.raw(), 0, t.byte_size());
}

Status run_lstm_cell(KernelContext& c) {
  LstmSizes s;
  WEFT_RETURN_IF_ERROR(check_lstm(c, 0, false, s));
  s.forget_bias = c.attr<float>("forget_bias");
  s.clip = c.attr<float>("cell_clip");
  s.half = c.output_type(0) == DType::kHalf;
  WEFT_ASSIGN(std::vector<Tensor> in, floats(c, 0, 8));
  const std::vector<Shape> shapes(7, Shape({s.batch, s.cells}));
  WEFT_ASSIGN(std::vector<StagedOutput> out, outputs(c, 0, shapes));
  WEFT_ASSIGN(Tensor gates, c.temp(DType::kFloat, Shape({s.batch, 4 * s.cells})));
  auto p = [&](int i) { return out[size_t(i)].tensor().data<float>(); };
  const LstmWeights w = weights(in);
  kernels::lstm_input_gates(s, w, in[0].data<float>(), s.batch, gates.data<float>(), c.pool());
  kernels::lstm_forward(s, w, in[1].data<float>(), in[2].data<float>(), gates.data<float>(), LstmStep{p(0), p(1), p(2), p(3), p(4), p(5), p(6)},
                        c.pool());
  return finish(c, out);
}

Status run_lstm_cell_grad(KernelContext& c) {
  LstmSizes s;
  WEFT_RETURN_IF_ERROR(check_lstm(c, 0, false, s));
  const Shape state({s.batch, s.cells});
  static constexpr const char* kNames[] = {"i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"};
  for (int i = 0; i < 8; ++i) WEFT_RETURN_IF_ERROR(need_shape(c.input(8 + i), kNames[i], state));
  WEFT_ASSIGN(std::vector<Tensor> in, floats(c, 0, 16));
  const Shape shapes[] = {state, Shape({s.batch, 4 * s.cells}), c.input(4).shape(), c.input(5).shape(), c.input(6).shape()};
  WEFT_ASSIGN(std::vector<StagedOutput> out, outputs(c, 0, shapes));
  for (size_t i = 2; i < 5; ++i) clear(out[i].tensor());
  auto x = [&](int i) { return in[size_t(i)].data<float>(); };
  auto p = [&](int i) { return out[size_t(i)].tensor().data<float>(); };
  kernels::lstm_backward(s, weights(in), LstmConstStep{x(8), x(9), x(10), x(11), x(12), x(13)}, x(1), x(14), x(15), p(1), p(0), p(2), p(3), p(4),
                         c.pool());
  return finish(c, out);
}

// How many steps to run: the rest of the outputs is zero.
Result<int64_t> read_steps(const Tensor& t, int64_t steps) {
  if (t.rank() != 0) return invalid_argument("`seq_len_max_tensor` must be rank 0 but is rank ", t.rank());
  const int64_t n = t.data<int64_t>()[0];
  if (n < 0 || n > steps) return invalid_argument("seq_len_max must be in [0, ", steps, "], got ", n);
  return n;
}

template <bool kV2>
Status run_block_lstm(KernelContext& c) {
  LstmSizes s;
  s.forget_second = kV2;
  WEFT_RETURN_IF_ERROR(check_lstm(c, 1, true, s));
  if (!kV2) s.forget_bias = c.attr<float>("forget_bias");
  s.clip = c.attr<float>("cell_clip");
  s.half = c.output_type(0) == DType::kHalf;
  const int64_t all = c.input(1).dim(0), size = s.batch * s.cells;
  WEFT_ASSIGN(int64_t steps, read_steps(c.input(0), all));
  WEFT_ASSIGN(std::vector<Tensor> in, floats(c, 1, 9));
  const std::vector<Shape> shapes(7, Shape({all, s.batch, s.cells}));
  WEFT_ASSIGN(std::vector<StagedOutput> out, outputs(c, 0, shapes));
  if (size == 0) return finish(c, out);  // then the count of steps costs no memory and may be anything
  WEFT_ASSIGN(Tensor gates, c.temp(DType::kFloat, Shape({steps, s.batch, 4 * s.cells})));
  const LstmWeights w = weights(in);
  kernels::lstm_input_gates(s, w, in[0].data<float>(), steps * s.batch, gates.data<float>(), c.pool());
  auto p = [&](int i, int64_t step) { return out[size_t(i)].tensor().data<float>() + step * size; };
  for (int64_t t = 0; t < steps; ++t) {
    const float* cs_prev = t == 0 ? in[1].data<float>() : p(1, t - 1);
    const float* h_prev = t == 0 ? in[2].data<float>() : p(6, t - 1);
    kernels::lstm_forward(s, w, cs_prev, h_prev, gates.data<float>() + 4 * t * size,
                          LstmStep{p(0, t), p(1, t), p(2, t), p(3, t), p(4, t), p(5, t), p(6, t)}, c.pool());
  }
  for (int i = 0; i < 7; ++i) std::fill(p(i, steps), p(i, all), 0.0f);
  return finish(c, out);
}

template <bool kV2>
Status run_block_lstm_grad(KernelContext& c) {
  LstmSizes s;
  s.forget_second = kV2;
  WEFT_RETURN_IF_ERROR(check_lstm(c, 1, true, s));
  const int64_t all = c.input(1).dim(0), size = s.batch * s.cells, n = 4 * s.cells;
  WEFT_ASSIGN(int64_t steps, read_steps(c.input(0), all));
  static constexpr const char* kNames[] = {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"};
  for (int i = 0; i < 9; ++i) WEFT_RETURN_IF_ERROR(need_shape(c.input(9 + i), kNames[i], Shape({all, s.batch, s.cells})));
  WEFT_ASSIGN(std::vector<Tensor> in, floats(c, 1, 18));
  std::vector<Shape> shapes;
  for (int i = 1; i < 9; ++i) shapes.push_back(c.input(i).shape());
  WEFT_ASSIGN(std::vector<StagedOutput> out, outputs(c, 0, shapes));
  for (StagedOutput& o : out) clear(o.tensor());
  if (size == 0) return finish(c, out);
  WEFT_ASSIGN(Tensor dgates, c.temp(DType::kFloat, Shape({steps, s.batch, n})));
  WEFT_ASSIGN(Tensor sum, c.temp(DType::kFloat, Shape({2, s.batch, s.cells})));
  auto x = [&](int i, int64_t step) { return in[size_t(i)].data<float>() + step * size; };
  auto p = [&](int i) { return out[size_t(i)].tensor().data<float>(); };
  float *dcs = sum.data<float>(), *dh = dcs + size;
  const LstmWeights w = weights(in);
  for (int64_t t = steps - 1; t >= 0; --t) {
    // Outputs 1 and 2 carry the gradients of the state from step to step.
    for (int64_t i = 0; i < size; ++i) dcs[i] = p(1)[i] + x(15, t)[i], dh[i] = p(2)[i] + x(16, t)[i];
    float* gate = dgates.data<float>() + t * s.batch * n;
    const float* cs_prev = t == 0 ? x(1, 0) : x(9, t - 1);
    kernels::lstm_backward(s, w, LstmConstStep{x(8, t), x(9, t), x(10, t), x(11, t), x(12, t), x(13, t)}, cs_prev, dcs, dh, gate, p(1), p(4), p(5),
                           p(6), c.pool());
    kernels::product(false, true, s.batch, s.cells, n, gate, n, w.w + s.input * n, n, p(2), s.cells, false, c.pool());
  }
  const float* gates = dgates.data<float>();
  const int64_t rows = steps * s.batch;
  kernels::product(false, true, rows, s.input, n, gates, n, w.w, n, p(0), s.input, false, c.pool());
  kernels::product(true, false, s.input, n, rows, in[0].data<float>(), s.input, gates, n, p(3), n, false, c.pool());
  if (steps > 0) {
    float* dw_h = p(3) + s.input * n;
    kernels::product(true, false, s.cells, n, s.batch, x(2, 0), s.cells, gates, n, dw_h, n, false, c.pool());
    kernels::product(true, false, s.cells, n, rows - s.batch, x(14, 0), s.cells, gates + s.batch * n, n, dw_h, n, true, c.pool());
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < n; ++j) p(7)[j] += gates[r * n + j];
  }
  return finish(c, out);
}

// --- GRU ---

Status check_gru(KernelContext& c, kernels::GruSizes& s) {
  const Tensor &x = c.input(0), &h_prev = c.input(1), &w_ru = c.input(2), &w_c = c.input(3), &b_ru = c.input(4), &b_c = c.input(5);
  WEFT_RETURN_IF_ERROR(need_rank(x, "x", 2));
  WEFT_RETURN_IF_ERROR(need_rank(h_prev, "h_prev", 2));
  WEFT_RETURN_IF_ERROR(need_rank(w_ru, "w_ru", 2));
  WEFT_RETURN_IF_ERROR(need_rank(w_c, "w_c", 2));
  WEFT_RETURN_IF_ERROR(need_rank(b_ru, "b_ru", 1));
  WEFT_RETURN_IF_ERROR(need_rank(b_c, "b_c", 1));
  s = {x.dim(0), x.dim(1), h_prev.dim(1)};
  constexpr int64_t kMost = int64_t(1) << 40;
  if (s.cells > kMost || s.input > kMost || s.batch > kMost)
    return invalid_argument("GRU of ", s.cells, " cells and ", s.input, " inputs is too large");
  if (h_prev.dim(0) != s.batch) return invalid_argument("h_prev.dims(0) != batch_size: ", h_prev.dim(0), " vs. ", s.batch);
  if (w_ru.dim(0) != s.input + s.cells)
    return invalid_argument("w_ru.dim_size(0) != input_size + cell_size: ", w_ru.dim(0), " vs. ", s.input + s.cells);
  if (w_ru.dim(1) != 2 * s.cells) return invalid_argument("w_ru.dim_size(1) != cell_size * 2: ", w_ru.dim(1), " vs. ", 2 * s.cells);
  if (w_c.dim(0) != s.input + s.cells) return invalid_argument("w_c.dim_size(0) != input_size + cell_size: ", w_c.dim(0), " vs. ", s.input + s.cells);
  if (w_c.dim(1) != s.cells) return invalid_argument("w_c.dim_size(1) != cell_size: ", w_c.dim(1), " vs. ", s.cells);
  if (b_ru.dim(0) != 2 * s.cells) return invalid_argument("b_ru.dim_size(0) != cell_size * 2: ", b_ru.dim(0), " vs. ", 2 * s.cells);
  if (b_c.dim(0) != s.cells) return invalid_argument("b_c.dim_size(0) != cell_size: ", b_c.dim(0), " vs. ", s.cells);
  return {};
}

Status run_gru(KernelContext& c) {
  kernels::GruSizes s;
  WEFT_RETURN_IF_ERROR(check_gru(c, s));
  float* p[4];
  for (int i = 0; i < 4; ++i) {
    WEFT_ASSIGN(Tensor* t, c.allocate(i, Shape({s.batch, s.cells})));
    p[i] = t->data<float>();
  }
  auto x = [&](int i) { return c.input(i).data<float>(); };
  kernels::gru_forward(s, x(0), x(1), x(2), x(3), x(4), x(5), p[0], p[1], p[2], p[3], c.pool());
  return {};
}

Status run_gru_grad(KernelContext& c) {
  kernels::GruSizes s;
  WEFT_RETURN_IF_ERROR(check_gru(c, s));
  const Shape state({s.batch, s.cells});
  static constexpr const char* kNames[] = {"r", "u", "c", "d_h"};
  for (int i = 0; i < 4; ++i) WEFT_RETURN_IF_ERROR(need_shape(c.input(6 + i), kNames[i], state));
  const Shape shapes[] = {c.input(0).shape(), state, state, Shape({s.batch, 2 * s.cells})};
  float* p[4];
  for (int i = 0; i < 4; ++i) {
    WEFT_ASSIGN(Tensor* t, c.allocate(i, shapes[i]));
    p[i] = t->data<float>();
  }
  auto x = [&](int i) { return c.input(i).data<float>(); };
  kernels::gru_backward(s, x(1), x(2), x(3), x(6), x(7), x(8), x(9), p[0], p[1], p[2], p[3], c.pool());
  return {};
}

// --- shapes ---

Status cell_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape x, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape state, c.with_rank(1, 2));
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, PartialShape::matrix(x.dim(0), state.dim(1)));
  return {};
}

Status lstm_cell_grad_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape x, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape state, c.with_rank(1, 2));
  c.output(0, PartialShape::matrix(x.dim(0), state.dim(1)));
  c.output(1, PartialShape::matrix(x.dim(0), shapes::mul_dim(state.dim(1), 4)));
  for (int i = 0; i < 3; ++i) {
    WEFT_ASSIGN(PartialShape w, c.with_rank(4 + i, 1));
    c.output(2 + i, std::move(w));
  }
  return {};
}

Status block_lstm_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape x, c.with_rank(1, 3));
  WEFT_ASSIGN(PartialShape state, c.with_rank(2, 2));
  for (int i = 0; i < 7; ++i) c.output(i, PartialShape({x.dim(0), x.dim(1), state.dim(1)}));
  return {};
}

Status block_lstm_grad_shape(ShapeContext& c) {
  static constexpr int kRanks[] = {3, 2, 2, 2, 1, 1, 1, 1};
  for (int i = 0; i < 8; ++i) {
    WEFT_ASSIGN(PartialShape s, c.with_rank(1 + i, kRanks[i]));
    c.output(i, std::move(s));
  }
  return {};
}

Status gru_grad_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape x, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape h, c.with_rank(1, 2));
  c.output(0, x);
  c.output(1, PartialShape::matrix(x.dim(0), h.dim(1)));
  c.output(2, PartialShape::matrix(x.dim(0), h.dim(1)));
  c.output(3, PartialShape::matrix(x.dim(0), shapes::mul_dim(h.dim(1), 2)));
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// TensorFlow takes BlockLSTMGrad for both versions, though the gates of the second are in another order.
Grads block_lstm_grad(const GradContext& g) {
  std::vector<Value> in;
  for (int i = 0; i < 9; ++i) in.push_back(g.x(i));
  for (int i = 0; i < 7; ++i) in.push_back(g.y(i));
  in.push_back(g.dy(1));
  in.push_back(g.dy(6));
  Grads grads = g.apply("BlockLSTMGrad", in, g.attrs({"use_peephole"}));
  if (grads.size() != 8) return g.none();
  grads.insert(grads.begin(), Value());  // the length has none
  return grads;
}

}  // namespace

void rnn(Registry& r) {
  r.add("BlockLSTM")
      .in("seq_len_max: int64")
      .in("x: T")
      .in("cs_prev: T")
      .in("h_prev: T")
      .in("w: T")
      .in("wci: T")
      .in("wcf: T")
      .in("wco: T")
      .in("b: T")
      .out("i: T")
      .out("cs: T")
      .out("f: T")
      .out("o: T")
      .out("ci: T")
      .out("co: T")
      .out("h: T")
      .attr("forget_bias: float = 1")
      .attr("cell_clip: float = 3")
      .attr("use_peephole: bool = false")
      .attr("T: {half, float}")
      .doc("An LSTM over all steps of a batch of sequences; gates in the order i, c, f, o.")
      .on_gpu(OnGpu::kByCpu)
      .shape(block_lstm_shape)
      .grad(block_lstm_grad)
      .cpu(run_block_lstm<false>);

  r.add("BlockLSTMGrad")
      .in("seq_len_max: int64")
      .in("x: T")
      .in("cs_prev: T")
      .in("h_prev: T")
      .in("w: T")
      .in("wci: T")
      .in("wcf: T")
      .in("wco: T")
      .in("b: T")
      .in("i: T")
      .in("cs: T")
      .in("f: T")
      .in("o: T")
      .in("ci: T")
      .in("co: T")
      .in("h: T")
      .in("cs_grad: T")
      .in("h_grad: T")
      .out("x_grad: T")
      .out("cs_prev_grad: T")
      .out("h_prev_grad: T")
      .out("w_grad: T")
      .out("wci_grad: T")
      .out("wcf_grad: T")
      .out("wco_grad: T")
      .out("b_grad: T")
      .attr("use_peephole: bool")
      .attr("T: {half, float}")
      .doc("Gradient of BlockLSTM.")
      .on_gpu(OnGpu::kByCpu)
      .shape(block_lstm_grad_shape)
      .cpu(run_block_lstm_grad<false>);

  r.add("BlockLSTMGradV2")
      .in("seq_len_max: int64")
      .in("x: T")
      .in("cs_prev: T")
      .in("h_prev: T")
      .in("w: T")
      .in("wci: T")
      .in("wcf: T")
      .in("wco: T")
      .in("b: T")
      .in("i: T")
      .in("cs: T")
      .in("f: T")
      .in("o: T")
      .in("ci: T")
      .in("co: T")
      .in("h: T")
      .in("cs_grad: T")
      .in("h_grad: T")
      .out("x_grad: T")
      .out("cs_prev_grad: T")
      .out("h_prev_grad: T")
      .out("w_grad: T")
      .out("wci_grad: T")
      .out("wcf_grad: T")
      .out("wco_grad: T")
      .out("b_grad: T")
      .attr("use_peephole: bool")
      .attr("T: {half, float}")
      .doc("Gradient of BlockLSTMV2.")
      .on_gpu(OnGpu::kByCpu)
      .shape(block_lstm_grad_shape)
      .cpu(run_block_lstm_grad<true>);

  r.add("BlockLSTMV2")
      .in("seq_len_max: int64")
      .in("x: T")
      .in("cs_prev: T")
      .in("h_prev: T")
      .in("w: T")
      .in("wci: T")
      .in("wcf: T")
      .in("wco: T")
      .in("b: T")
      .out("i: T")
      .out("cs: T")
      .out("f: T")
      .out("o: T")
      .out("ci: T")
      .out("co: T")
      .out("h: T")
      .attr("cell_clip: float = 0")
      .attr("use_peephole: bool = false")
      .attr("T: {half, float}")
      .doc("An LSTM over all steps of a batch of sequences; gates in the order i, f, c, o.")
      .on_gpu(OnGpu::kByCpu)
      .shape(block_lstm_shape)
      .grad(block_lstm_grad)
      .cpu(run_block_lstm<true>);

  r.add("GRUBlockCell")
      .in("x: T")
      .in("h_prev: T")
      .in("w_ru: T")
      .in("w_c: T")
      .in("b_ru: T")
      .in("b_c: T")
      .out("r: T")
      .out("u: T")
      .out("c: T")
      .out("h: T")
      .attr("T: {float}")
      .doc("One step of a gated recurrent unit.")
      .shape(cell_shape)
      .cpu(run_gru);

  r.add("GRUBlockCellGrad")
      .in("x: T")
      .in("h_prev: T")
      .in("w_ru: T")
      .in("w_c: T")
      .in("b_ru: T")
      .in("b_c: T")
      .in("r: T")
      .in("u: T")
      .in("c: T")
      .in("d_h: T")
      .out("d_x: T")
      .out("d_h_prev: T")
      .out("d_c_bar: T")
      .out("d_r_bar_u_bar: T")
      .attr("T: {float}")
      .doc("Gradient of GRUBlockCell.")
      .on_gpu(OnGpu::kByCpu)
      .shape(gru_grad_shape)
      .cpu(run_gru_grad);

  r.add("LSTMBlockCell")
      .in("x: T")
      .in("cs_prev: T")
      .in("h_prev: T")
      .in("w: T")
      .in("wci: T")
      .in("wcf: T")
      .in("wco: T")
      .in("b: T")
      .out("i: T")
      .out("cs: T")
      .out("f: T")
      .out("o: T")
      .out("ci: T")
      .out("co: T")
      .out("h: T")
      .attr("forget_bias: float = 1")
      .attr("cell_clip: float = 3")
      .attr("use_peephole: bool = false")
      .attr("T: {half, float}")
      .doc("One step of an LSTM.")
      .shape(cell_shape)
      .cpu(run_lstm_cell);

  r.add("LSTMBlockCellGrad")
      .in("x: T")
      .in("cs_prev: T")
      .in("h_prev: T")
      .in("w: T")
      .in("wci: T")
      .in("wcf: T")
      .in("wco: T")
      .in("b: T")
      .in("i: T")
      .in("cs: T")
      .in("f: T")
      .in("o: T")
      .in("ci: T")
      .in("co: T")
      .in("cs_grad: T")
      .in("h_grad: T")
      .out("cs_prev_grad: T")
      .out("dicfo: T")
      .out("wci_grad: T")
      .out("wcf_grad: T")
      .out("wco_grad: T")
      .attr("use_peephole: bool")
      .attr("T: {half, float}")
      .doc("Gradient of LSTMBlockCell.")
      .on_gpu(OnGpu::kByCpu)
      .shape(lstm_cell_grad_shape)
      .cpu(run_lstm_cell_grad);
}

}  // namespace weft_engine::ops
