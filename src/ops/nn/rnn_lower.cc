// Single steps of recurrent networks.
#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using V = ir::Value;

// [x, h] w + bias
V gates(ir::Builder& b, V x, V h, V w, V bias) {
  if (!x || !h || !w) return nullptr;
  if (x->rank() != 2 || h->rank() != 2 || w->rank() != 2) return b.fail(invalid_argument("x, h_prev and w must be matrices at '", b.node(), "'"));
  return b.add(b.dot(b.concat({x, h}, 1), w), bias);
}

V gate(ir::Builder& b, V all, int number, const ir::Dim& cells) { return b.slice_axis(all, 1, ir::Dim(number) * cells, cells); }

// Inputs: x, cs_prev, h_prev, w, wci, wcf, wco, b. Gates are in the order input, cell, forget, output.
LoweredList lstm_cell(LowerContext& l) {
  ir::Builder& b = l.b;
  V in[8];
  for (int i = 0; i < 8; ++i) in[i] = widened(l, l.x(i));
  const V before = in[1], all = gates(b, in[0], in[2], in[3], in[7]);
  if (!before || !all) return {};
  const ir::Dim cells = before->dim(before->rank() - 1);
  const bool peephole = l.attr<bool>("use_peephole");
  auto with_peephole = [&](V g, V cell, V weights) { return peephole ? b.add(g, b.mul(cell, weights)) : g; };
  const V i = b.logistic(with_peephole(gate(b, all, 0, cells), before, in[4]));
  const V f = b.logistic(with_peephole(b.add(gate(b, all, 2, cells), double(l.attr<float>("forget_bias"))), before, in[5]));
  const V ci = b.tanh(gate(b, all, 1, cells));
  V cs = b.add(b.mul(ci, i), b.mul(f, before));
  const double clip = double(l.attr<float>("cell_clip"));
  if (clip > 0) cs = b.min(b.max(cs, -clip), clip);
  const V co = b.tanh(cs), o = b.logistic(with_peephole(gate(b, all, 3, cells), cs, in[6]));
  LoweredList out;
  for (V v : {i, cs, f, o, ci, co, b.mul(o, co)}) out.emplace_back(b.convert(v, l.out_type()));
  return out;
}

// Inputs: x, h_prev, w_ru, w_c, b_ru, b_c.
LoweredList gru_cell(LowerContext& l) {
  ir::Builder& b = l.b;
  const V x = l.x(0), before = l.x(1), both = b.logistic(gates(b, x, before, l.x(2), l.x(4)));
  if (!both) return {};
  const ir::Dim& cells = before->dim(1);
  const V r = gate(b, both, 0, cells), u = gate(b, both, 1, cells);
  const V c = b.tanh(gates(b, x, b.mul(before, r), l.x(3), l.x(5)));
  return {r, u, c, b.add(b.mul(u, before), b.mul(b.sub(b.scalar(DType::kFloat, 1), u), c))};
}

}  // namespace

void lower_rnn(Registry& r) {
  r.lower("GRUBlockCell", gru_cell);
  r.lower("LSTMBlockCell", lstm_cell);
}

}  // namespace weft_engine::ops
