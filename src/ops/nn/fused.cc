// Ops of the engine's own, named _Weft...: what the graph optimiser puts in the place of several of TensorFlow's. They are in no list
// of ops, no file and no API; what each of them computes is in front of its entry in the table at the end.
#include "core/small_array.h"
#include "kernels/cpu/elementwise_program.h"
#include "kernels/cpu/fused.h"
#include "kernels/cpu/gemm.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// ---- _WeftFusedElementwise

struct FusedElementwise {
  static Result<FusedElementwise> make(const NodeInfo& node) {
    const auto& results = node.attr<std::vector<int64_t>>("results");
    if (int64_t(results.size()) != node.attr<int64_t>("M")) return invalid_argument("M must be the number of results, ", results.size());
    WEFT_ASSIGN(auto program,
                kernels::ElementwiseProgram::make(node.attr<DType>("T"), int(node.attr<int64_t>("N")), node.attr<std::vector<float>>("constants"),
                                                  node.attr<std::vector<std::string>>("steps"), results));
    return FusedElementwise{std::move(program)};
  }

  Status run(KernelContext& c) const {
    const int n = c.num_inputs(), m = c.num_outputs();
    int widest = 0;  // of inputs that are one number each, the one with the result's shape
    for (int i = 0; i < n && widest >= 0; ++i) {
      const Tensor& t = c.input(i);
      if (t.num_elements() != 1) widest = -1;
      else if (t.rank() > c.input(widest).rank()) widest = i;
    }
    if (widest >= 0 && program.has_numbers()) return run_numbers(c, c.input(widest).shape());
    core::SmallArray<const Shape*, kFew> shapes{size_t(n)};
    core::SmallArray<const void*, kFew> inputs{size_t(n)};
    for (int i = 0; i < n; ++i) {
      shapes[size_t(i)] = &c.input(i).shape();
      inputs[size_t(i)] = c.input(i).raw();
    }
    const std::span<const Shape* const> all_shapes(shapes.data(), shapes.size());
    const auto shape = kernels::ElementwiseProgram::output_shape(all_shapes);
    if (!shape) return invalid_argument("the inputs' shapes do not broadcast against each other");
    core::SmallArray<void*, kFew> outputs{size_t(m)};
    uint64_t taken = 0;  // inputs whose memory an output has
    for (int k = 0; k < m; ++k) {
      int reused = -1;
      for (int i = 0; i < std::min(n, 64) && reused < 0; ++i) {
        if (!(taken >> i & 1) && c.input_donated(i) && c.input(i).shape() == *shape && program.may_reuse(i, k)) reused = i;
      }
      if (reused >= 0) taken |= uint64_t(1) << reused;
      WEFT_ASSIGN(Tensor* out, reused >= 0 ? c.allocate_or_reuse(k, *shape, reused) : c.allocate(k, *shape));
      outputs[size_t(k)] = out->raw();
    }
    program.run(*shape, all_shapes, {inputs.data(), inputs.size()}, {outputs.data(), outputs.size()}, c.pool());
    return {};
  }

  // Every input is read before an output is written.
  Status run_numbers(KernelContext& c, const Shape& shape) const {
    const int n = c.num_inputs(), m = c.num_outputs();
    core::SmallArray<const void*, kFew> inputs{size_t(n)};
    core::SmallArray<void*, kFew> outputs{size_t(m)};
    for (int i = 0; i < n; ++i) inputs[size_t(i)] = c.input(i).raw();
    for (int k = 0; k < m; ++k) {
      WEFT_ASSIGN(Tensor* out, c.allocate(k, shape));
      outputs[size_t(k)] = out->raw();
    }
    program.run_numbers({inputs.data(), inputs.size()}, {outputs.data(), outputs.size()});
    return {};
  }

  static constexpr size_t kFew = 16;
  kernels::ElementwiseProgram program;
};

Status elementwise_shape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    WEFT_ASSIGN(shape, shapes::broadcast(shape, c.input(i)));
  }
  for (int k = 0; k < c.num_outputs(); ++k) c.output(k, shape);
  return {};
}

// ---- _WeftLayerNorm

Status check_vector(const Tensor& t, int64_t n, const char* name) {
  if (t.rank() == 1 && t.dim(0) == n) return {};
  return invalid_argument(name, " must have shape [", n, "], got ", t.shape());
}

Status run_layer_norm(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.rank() < 1) return invalid_argument("x must have at least one dimension");
  const int64_t n = x.dim(x.rank() - 1);
  WEFT_RETURN_IF_ERROR(check_vector(c.input(1), n, "gamma"));
  WEFT_RETURN_IF_ERROR(check_vector(c.input(2), n, "beta"));
  Shape rows = x.shape();
  rows.set_dim(x.rank() - 1, 1);
  WEFT_ASSIGN(Tensor* y, c.allocate_or_reuse(0, x.shape(), 0));
  WEFT_ASSIGN(Tensor* mean, c.allocate(1, rows));
  WEFT_ASSIGN(Tensor* scale, c.allocate(2, rows));
  if (x.num_elements() == 0) return {};
  kernels::layer_norm({x.data<float>(), c.input(1).data<float>(), c.input(2).data<float>(), c.attr<float>("epsilon"), y->data<float>(),
                       mean->data<float>(), scale->data<float>(), rows.num_elements(), n},
                      c.pool());
  return {};
}

Status layer_norm_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape x, c.with_rank_at_least(0, 1));
  c.output(0, x);
  if (!x.has_rank()) return {};
  const PartialShape rows = x.slice(0, x.rank() - 1).concat(PartialShape::vector(1));
  c.output(1, rows);
  c.output(2, rows);
  return {};
}

// ---- recurrent cells

Status check_matrix(const Tensor& t, int64_t rows, int64_t columns, const char* name) {
  if (t.rank() == 2 && t.dim(0) == rows && t.dim(1) == columns) return {};
  return invalid_argument(name, " must have shape [", rows, ",", columns, "], got ", t.shape());
}

// out [batch, n] = x w, for sizes that were checked.
void multiply(KernelContext& c, const Tensor& x, const Tensor& w, float* out, bool add) {
  const int64_t n = w.dim(1), k = w.dim(0);
  kernels::sgemm(false, false, x.dim(0), n, k, x.data<float>(), k, w.data<float>(), n, out, n, add, c.pool());
}

// Output i: [batch, cells] if it is kept, otherwise nothing.
Result<float*> state_output(KernelContext& c, int i, const Shape& shape, bool kept) {
  WEFT_ASSIGN(Tensor* t, c.allocate(i, kept ? shape : Shape({0})));
  return kept ? t->data<float>() : nullptr;
}

Status run_lstm_cell(KernelContext& c) {
  const Tensor &x = c.input(0), &h = c.input(1), &state = c.input(2), &w = c.input(3), &r = c.input(4), &bias = c.input(5);
  if (x.rank() != 2 || h.rank() != 2) return invalid_argument("x and h must be matrices, got ", x.shape(), " and ", h.shape());
  const int64_t batch = x.dim(0), cells = h.dim(1);
  if (cells > (int64_t(1) << 40)) return invalid_argument("too many cells: ", cells);
  WEFT_RETURN_IF_ERROR(check_matrix(h, batch, cells, "h"));
  WEFT_RETURN_IF_ERROR(check_matrix(state, batch, cells, "c"));
  WEFT_RETURN_IF_ERROR(check_matrix(w, x.dim(1), 4 * cells, "w"));
  WEFT_RETURN_IF_ERROR(check_matrix(r, cells, 4 * cells, "r"));
  WEFT_RETURN_IF_ERROR(check_vector(bias, 4 * cells, "bias"));
  WEFT_ASSIGN(Tensor gates, c.temp(DType::kFloat, Shape({batch, 4 * cells})));
  const bool keep = c.attr<bool>("keep_gates");
  kernels::LstmGates g{};
  float** outputs[] = {&g.h, &g.c_out, &g.i, &g.f, &g.g, &g.o, &g.tanh_c};
  for (int i = 0; i < 7; ++i) {
    WEFT_ASSIGN(*outputs[i], state_output(c, i, h.shape(), i < 2 || keep));
  }
  if (h.num_elements() == 0) return {};
  g.gates = gates.data<float>(), g.bias = bias.data<float>(), g.c = state.data<float>();
  g.rows = batch, g.cells = cells;
  kernels::lstm_cell({x.data<float>(), w.data<float>(), h.data<float>(), r.data<float>(), x.dim(1), g}, c.pool());
  return {};
}

// The input's part, x w + bias, was computed before, for all steps at once.
Status run_lstm_step(KernelContext& c) {
  const Tensor &projected = c.input(0), &h = c.input(1), &state = c.input(2), &r = c.input(3);
  if (h.rank() != 2) return invalid_argument("h must be a matrix, got ", h.shape());
  const int64_t batch = h.dim(0), cells = h.dim(1);
  if (cells > (int64_t(1) << 40)) return invalid_argument("too many cells: ", cells);
  WEFT_RETURN_IF_ERROR(check_matrix(projected, batch, 4 * cells, "projected"));
  WEFT_RETURN_IF_ERROR(check_matrix(state, batch, cells, "c"));
  WEFT_RETURN_IF_ERROR(check_matrix(r, cells, 4 * cells, "r"));
  WEFT_ASSIGN(Tensor gates, c.temp(DType::kFloat, Shape({batch, 4 * cells})));
  const bool keep = c.attr<bool>("keep_gates");
  kernels::LstmGates g{};
  float** outputs[] = {&g.h, &g.c_out, &g.i, &g.f, &g.g, &g.o, &g.tanh_c};
  for (int i = 0; i < 7; ++i) {
    WEFT_ASSIGN(*outputs[i], state_output(c, i, h.shape(), i < 2 || keep));
  }
  if (h.num_elements() == 0) return {};
  g.gates = gates.data<float>(), g.bias = projected.data<float>(), g.c = state.data<float>();
  g.rows = batch, g.cells = cells, g.bias_step = 4 * cells;
  kernels::lstm_cell({nullptr, nullptr, h.data<float>(), r.data<float>(), 0, g}, c.pool());
  return {};
}

Status run_lstm_gradient(KernelContext& c) {
  static constexpr const char* kNames[] = {"i", "f", "g", "o", "tanh_c", "c", "dh", "dc"};
  const Tensor& h = c.input(0);
  if (h.rank() != 2) return invalid_argument("i must be a matrix, got ", h.shape());
  if (c.num_inputs() > 8) return invalid_argument("there can be one dc only, got ", c.num_inputs() - 7);
  const int64_t batch = h.dim(0), cells = h.dim(1);
  if (cells > (int64_t(1) << 40)) return invalid_argument("too many cells: ", cells);
  for (int i = 1; i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(check_matrix(c.input(i), batch, cells, kNames[i]));
  kernels::LstmGateGradients g{};
  const float** inputs[] = {&g.i, &g.f, &g.g, &g.o, &g.tanh_c, &g.c, &g.dh, &g.dc_out};
  for (int i = 0; i < c.num_inputs(); ++i) *inputs[i] = c.input(i).data<float>();
  WEFT_ASSIGN(Tensor* dgates, c.allocate(0, Shape({batch, 4 * cells})));
  WEFT_ASSIGN(Tensor* dc_in, c.allocate_or_reuse(1, h.shape(), c.num_inputs() - 1));
  if (h.num_elements() == 0) return {};
  g.dgates = dgates->data<float>(), g.dc_in = dc_in->data<float>();
  g.rows = batch, g.cells = cells;
  kernels::lstm_gate_gradients(g, c.pool());
  return {};
}

Status run_gru_cell(KernelContext& c) {
  const Tensor &x = c.input(0), &h = c.input(1), &w = c.input(2), &r = c.input(3), &bias = c.input(4);
  if (x.rank() != 2 || h.rank() != 2) return invalid_argument("x and h must be matrices, got ", x.shape(), " and ", h.shape());
  const int64_t batch = x.dim(0), cells = h.dim(1);
  if (cells > (int64_t(1) << 40)) return invalid_argument("too many cells: ", cells);
  WEFT_RETURN_IF_ERROR(check_matrix(h, batch, cells, "h"));
  WEFT_RETURN_IF_ERROR(check_matrix(w, x.dim(1), 3 * cells, "w"));
  WEFT_RETURN_IF_ERROR(check_matrix(r, cells, 3 * cells, "r"));
  WEFT_RETURN_IF_ERROR(check_matrix(bias, 2, 3 * cells, "bias"));
  WEFT_ASSIGN(Tensor gates, c.temp(DType::kFloat, Shape({2, batch, 3 * cells})));
  const bool keep = c.attr<bool>("keep_gates");
  kernels::GruGates g{};
  float** outputs[] = {&g.h_out, &g.z, &g.s, &g.n, &g.rn};
  for (int i = 0; i < 5; ++i) {
    WEFT_ASSIGN(*outputs[i], state_output(c, i, h.shape(), i < 1 || keep));
  }
  if (h.num_elements() == 0) return {};
  float* from_h = gates.data<float>() + batch * 3 * cells;
  multiply(c, x, w, gates.data<float>(), false);
  multiply(c, h, r, from_h, false);
  g.x = gates.data<float>(), g.r = from_h, g.bias_x = bias.data<float>(), g.bias_r = bias.data<float>() + 3 * cells, g.h = h.data<float>();
  g.rows = batch, g.cells = cells;
  kernels::gru_gates(g, c.pool());
  return {};
}

// The first `always` outputs have the shape of h, the others too if they are kept.
Status cell_shape(ShapeContext& c, int always) {
  WEFT_ASSIGN(PartialShape x, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape h, c.with_rank(1, 2));
  WEFT_ASSIGN(int64_t batch, ShapeContext::merge_dim(x.has_rank() ? x.dim(0) : -1, h.has_rank() ? h.dim(0) : -1));
  const PartialShape state = PartialShape::matrix(batch, h.has_rank() ? h.dim(1) : -1);
  const bool keep = c.attr<bool>("keep_gates");
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, i < always || keep ? state : PartialShape::vector(0));
  return {};
}
Status lstm_shape(ShapeContext& c) { return cell_shape(c, 2); }
Status gru_shape(ShapeContext& c) { return cell_shape(c, 1); }
Status lstm_gradient_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape h, c.with_rank(0, 2));
  const int64_t batch = h.has_rank() ? h.dim(0) : -1, cells = h.has_rank() ? h.dim(1) : -1;
  c.output(0, PartialShape::matrix(batch, cells < 0 || cells > (int64_t(1) << 40) ? -1 : 4 * cells));
  c.output(1, PartialShape::matrix(batch, cells));
  return {};
}

// ---- _WeftAttention

Status check_rank(const Tensor& t, const char* name) {
  if (t.rank() == 4) return {};
  return invalid_argument(name, " must have 4 dimensions, got ", t.shape());
}

kernels::AttentionArgs::Strides strides(const Tensor& t, bool heads_first) {
  const int64_t depth = t.dim(3);
  if (heads_first) return {t.dim(1) * t.dim(2) * depth, depth, t.dim(2) * depth};
  return {t.dim(1) * t.dim(2) * depth, t.dim(2) * depth, depth};
}

Status run_attention(KernelContext& c) {
  const Tensor &q = c.input(0), &k = c.input(1), &v = c.input(2);
  WEFT_RETURN_IF_ERROR(check_rank(q, "query"));
  WEFT_RETURN_IF_ERROR(check_rank(k, "key"));
  WEFT_RETURN_IF_ERROR(check_rank(v, "value"));
  const bool heads_first = c.attr<std::string>("layout") == "BNTH";
  const int head = heads_first ? 1 : 2, step = heads_first ? 2 : 1;
  kernels::AttentionArgs g{
      .batch = q.dim(0), .heads = q.dim(head), .queries = q.dim(step), .keys = k.dim(step), .depth = q.dim(3), .value_depth = v.dim(3)};
  for (const Tensor* t : {&k, &v}) {
    if (t->dim(0) != g.batch || t->dim(head) != g.heads || t->dim(step) != g.keys)
      return invalid_argument("query, key and value do not fit: ", q.shape(), ", ", k.shape(), ", ", v.shape());
  }
  if (k.dim(3) != g.depth) return invalid_argument("query and key must have one depth, got ", g.depth, " and ", k.dim(3));
  const Shape scores({g.batch, g.heads, g.queries, g.keys});
  if (c.num_inputs() > 4) return invalid_argument("there can be one mask only, got ", c.num_inputs() - 3);
  if (c.num_inputs() == 4) {
    const Tensor& mask = c.input(3);
    if (mask.rank() > 4) return invalid_argument("mask has shape ", mask.shape(), ", which does not broadcast to ", scores);
    int64_t stride = 1;
    for (int d = 3; d >= 0; --d) {
      const int at = d - (4 - mask.rank());
      if (at < 0) break;
      if (mask.dim(at) != 1 && mask.dim(at) != scores.dim(d))
        return invalid_argument("mask has shape ", mask.shape(), ", which does not broadcast to ", scores);
      g.mask_stride[d] = mask.dim(at) == 1 ? 0 : stride;
      stride *= mask.dim(at);
    }
    g.mask = mask.data<float>();
  }
  g.scale = c.attr<float>("scale");
  Shape shape = q.shape();
  shape.set_dim(3, g.value_depth);
  const bool keep = c.attr<bool>("keep_probabilities");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  WEFT_ASSIGN(Tensor* probabilities, c.allocate(1, keep ? scores : Shape({0})));
  if (keep) g.probabilities = probabilities->data<float>();
  if (g.keys == 0) std::fill_n(out->data<float>(), out->num_elements(), 0.f);
  if (scores.num_elements() == 0) return {};
  g.q = q.data<float>(), g.k = k.data<float>(), g.v = v.data<float>(), g.out = out->data<float>();
  g.q_stride = strides(q, heads_first), g.k_stride = strides(k, heads_first), g.v_stride = strides(v, heads_first),
  g.out_stride = strides(*out, heads_first);
  kernels::attention(g, c.pool());
  return {};
}

Status run_attention_gradient(KernelContext& c) {
  const Tensor &q = c.input(0), &k = c.input(1), &v = c.input(2), &p = c.input(3), &d_out = c.input(4);
  static constexpr const char* kNames[] = {"query", "key", "value", "probabilities", "d_out"};
  for (int i = 0; i < 5; ++i) WEFT_RETURN_IF_ERROR(check_rank(c.input(i), kNames[i]));
  const bool heads_first = c.attr<std::string>("layout") == "BNTH";
  const int head = heads_first ? 1 : 2, step = heads_first ? 2 : 1;
  kernels::AttentionGradientArgs g{
      .batch = q.dim(0), .heads = q.dim(head), .queries = q.dim(step), .keys = k.dim(step), .depth = q.dim(3), .value_depth = v.dim(3)};
  for (const Tensor* t : {&k, &v}) {
    if (t->dim(0) != g.batch || t->dim(head) != g.heads || t->dim(step) != g.keys)
      return invalid_argument("query, key and value do not fit: ", q.shape(), ", ", k.shape(), ", ", v.shape());
  }
  if (k.dim(3) != g.depth) return invalid_argument("query and key must have one depth, got ", g.depth, " and ", k.dim(3));
  const Shape scores({g.batch, g.heads, g.queries, g.keys});
  if (p.shape() != scores) return invalid_argument("probabilities must have shape ", scores, ", got ", p.shape());
  Shape out = q.shape();
  out.set_dim(3, g.value_depth);
  if (d_out.shape() != out) return invalid_argument("d_out must have shape ", out, ", got ", d_out.shape());
  WEFT_ASSIGN(Tensor* dq, c.allocate(0, q.shape()));
  WEFT_ASSIGN(Tensor* dk, c.allocate(1, k.shape()));
  WEFT_ASSIGN(Tensor* dv, c.allocate(2, v.shape()));
  if (scores.num_elements() == 0) {
    for (Tensor* t : {dq, dk, dv}) std::fill_n(t->data<float>(), t->num_elements(), 0.f);
    return {};
  }
  g.scale = c.attr<float>("scale");
  g.q = q.data<float>(), g.k = k.data<float>(), g.v = v.data<float>(), g.probabilities = p.data<float>(), g.d_out = d_out.data<float>();
  g.dq = dq->data<float>(), g.dk = dk->data<float>(), g.dv = dv->data<float>();
  g.q_stride = strides(q, heads_first), g.k_stride = strides(k, heads_first), g.v_stride = strides(v, heads_first),
  g.out_stride = strides(d_out, heads_first);
  kernels::attention_gradient(g, c.pool());
  return {};
}

Status attention_gradient_shape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) {
    WEFT_ASSIGN(PartialShape s, c.with_rank(i, 4));
    c.output(i, s);
  }
  return {};
}

Status attention_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape q, c.with_rank(0, 4));
  WEFT_ASSIGN(PartialShape k, c.with_rank(1, 4));
  WEFT_ASSIGN(PartialShape v, c.with_rank(2, 4));
  const bool heads_first = c.attr<std::string>("layout") == "BNTH";
  const int head = heads_first ? 1 : 2, step = heads_first ? 2 : 1;
  auto dim = [](const PartialShape& s, int i) { return s.has_rank() ? s.dim(i) : -1; };
  c.output(0, PartialShape(std::vector<int64_t>{dim(q, 0), dim(q, 1), dim(q, 2), dim(v, 3)}));
  if (c.attr<bool>("keep_probabilities")) c.output(1, PartialShape(std::vector<int64_t>{dim(q, 0), dim(q, head), dim(q, step), dim(k, step)}));
  else c.output(1, PartialShape::vector(0));
  return {};
}

}  // namespace

void fused(Registry& r) {
  // A chain, or any graph without cycles, of elementwise ops in one pass. Values are numbered: the N inputs, then the constants, then
  // the result of each step. A step is the name of a scalar function (kernels/cpu/scalar_functions.inc; OpTraits::scalar of the single
  // op) and the numbers of its operands, "Add 0 1" or "Relu 2". `results` are the numbers of the values (of steps) to give out, one
  // for each output.
  // The inputs are broadcast against each other, and EVERY output has the shape that comes of this, even if it depends on some of them
  // only. The bits are those of the single ops. Example: relu(x * a + b) with inputs x, a, b:
  //   N = 3, M = 1, steps = ["Mul 0 1", "Add 3 2", "Relu 4"], results = [5]; and x * 0.5: constants = [0.5], steps = ["Mul 0 1"], results = [2].
  r.add("_WeftFusedElementwise")
      .in("inputs: N * T")
      .out("outputs: M * T")
      .attr("N: int >= 1")
      .attr("M: int >= 1 = 1")
      .attr("T: {float, double}")
      .attr("steps: list(string)")
      .attr("constants: list(float) = []")
      .attr("results: list(int)")
      .doc("Several elementwise ops in one pass.")
      .shape(elementwise_shape)
      .cpu<FusedElementwise>();

  // y = (x - mean) * scale * gamma + beta over the last dimension, scale = rsqrt(variance + epsilon), variance = mean((x - mean)^2).
  // x [..., n], gamma and beta [n]; mean and scale [..., 1] for the gradient. The input's memory is reused where it may be.
  r.add("_WeftLayerNorm")
      .in("x: T")
      .in("gamma: T")
      .in("beta: T")
      .out("y: T")
      .out("mean: T")
      .out("scale: T")
      .attr("T: {float}")
      .attr("epsilon: float = 0.001")
      .doc("Normalises over the last dimension.")
      .shape(layer_norm_shape)
      .cpu(run_layer_norm);

  // One step of Keras' LSTM (tanh, sigmoid): gates = x w + h r + bias, four times [batch, cells] in the order input i, forget f,
  // candidate g, output o;  c_out = f * c + i * g, h_out = o * tanh(c_out). x [batch, input], h and c [batch, cells],
  // w [input, 4 cells], r [cells, 4 cells], bias [4 cells]. With keep_gates the gates behind their activations and tanh_c =
  // tanh(c_out) are given out, for the gradient; otherwise these outputs are empty, [0].
  r.add("_WeftLstmCell")
      .in("x: T")
      .in("h: T")
      .in("c: T")
      .in("w: T")
      .in("r: T")
      .in("bias: T")
      .out("h_out: T")
      .out("c_out: T")
      .out("i: T")
      .out("f: T")
      .out("g: T")
      .out("o: T")
      .out("tanh_c: T")
      .attr("T: {float}")
      .attr("keep_gates: bool = false")
      .doc("One step of an LSTM.")
      .shape(lstm_shape)
      .cpu(run_lstm_cell);

  // The same step where projected [batch, 4 cells] = x w + bias was computed before.
  r.add("_WeftLstmStep")
      .in("projected: T")
      .in("h: T")
      .in("c: T")
      .in("r: T")
      .out("h_out: T")
      .out("c_out: T")
      .out("i: T")
      .out("f: T")
      .out("g: T")
      .out("o: T")
      .out("tanh_c: T")
      .attr("T: {float}")
      .attr("keep_gates: bool = false")
      .doc("One step of an LSTM over projected inputs.")
      .shape(lstm_shape)
      .cpu(run_lstm_step);

  // The step backwards, from the gates and tanh_c that it kept, the c that it read and the gradients of h_out and c_out (none or one dc)
  // to those of c and of the gates in front of their activations, [batch, 4 cells]:  t = dh * o * (1 - tanh_c^2) + dc,  dc_in = t * f,
  // dgates = t * g * i (1 - i), t * c * f (1 - f), t * i * (1 - g^2), dh * tanh_c * o (1 - o). The last input's memory is reused where
  // it may be.
  r.add("_WeftLstmGradient")
      .in("i: T")
      .in("f: T")
      .in("g: T")
      .in("o: T")
      .in("tanh_c: T")
      .in("c: T")
      .in("dh: T")
      .in("dc: num_dc * T")
      .out("dgates: T")
      .out("dc_in: T")
      .attr("T: {float}")
      .attr("num_dc: int >= 0 = 1")
      .doc("One step of an LSTM backwards.")
      .shape(lstm_gradient_shape)
      .cpu(run_lstm_gradient);

  // One step of Keras' GRU with reset_after (tanh, sigmoid): a = x w + bias[0], b = h r + bias[1], each three times [batch, cells] in
  // the order update z, reset s, candidate n;  z = sigmoid(a_z + b_z), s = sigmoid(a_s + b_s), n = tanh(a_n + s * b_n),
  // h_out = z * h + (1 - z) * n. w [input, 3 cells], r [cells, 3 cells], bias [2, 3 cells]. With keep_gates also z, s, n and rn = b_n;
  // otherwise these outputs are empty, [0].
  r.add("_WeftGruCell")
      .in("x: T")
      .in("h: T")
      .in("w: T")
      .in("r: T")
      .in("bias: T")
      .out("h_out: T")
      .out("z: T")
      .out("s: T")
      .out("n: T")
      .out("rn: T")
      .attr("T: {float}")
      .attr("keep_gates: bool = false")
      .doc("One step of a GRU.")
      .shape(gru_shape)
      .cpu(run_gru_cell);

  // out = softmax(scale * query key^T + mask) value, for every batch and head. Layout BTNH (Keras' MultiHeadAttention): query
  // [batch, queries, heads, depth], key [batch, keys, heads, depth], value [batch, keys, heads, value_depth], out as query with
  // value_depth; that is Einsum "aecd,abcd->acbe"(key, query), Mul by scale, Softmax, Einsum "acbe,aecd->abcd"(., value). Layout BNTH
  // has the heads before the steps. mask (none or one) is added before the softmax and broadcast to [batch, heads, queries, keys].
  // With keep_probabilities the softmax is given out in that shape, for the gradient; otherwise that output is empty, [0].
  r.add("_WeftAttention")
      .in("query: T")
      .in("key: T")
      .in("value: T")
      .in("mask: num_masks * T")
      .out("out: T")
      .out("probabilities: T")
      .attr("T: {float}")
      .attr("num_masks: int >= 0 = 0")
      .attr("scale: float = 1.0")
      .attr("layout: {'BTNH', 'BNTH'} = 'BTNH'")
      .attr("keep_probabilities: bool = false")
      .doc("Attention: a softmax of products, times values.")
      .shape(attention_shape)
      .cpu(run_attention);

  // _WeftAttention backwards, from its inputs, the probabilities that it kept and the gradient of out, which is laid out as query is:
  // dvalue = p^T d_out, t = d_out value^T, ds = scale * (t - sum over keys of t p) * p, dquery = ds key, dkey = ds^T query.
  r.add("_WeftAttentionGradient")
      .in("query: T")
      .in("key: T")
      .in("value: T")
      .in("probabilities: T")
      .in("d_out: T")
      .out("dquery: T")
      .out("dkey: T")
      .out("dvalue: T")
      .attr("T: {float}")
      .attr("scale: float = 1.0")
      .attr("layout: {'BTNH', 'BNTH'} = 'BTNH'")
      .doc("The gradient of attention.")
      .shape(attention_gradient_shape)
      .cpu(run_attention_gradient);
}

}  // namespace weft_engine::ops
