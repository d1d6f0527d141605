// Einsum as sums, transposes and one product.
#include <algorithm>
#include <map>

#include "op/registry.h"
#include "ops/linalg/einsum_equation.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using Dims = std::vector<ir::Dim>;
using Labels = std::vector<int>;
using V = ir::Value;

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }
Labels joined(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct Operand {
  V x = nullptr;
  Labels labels;
  int axis(int label) const { return int(std::find(labels.begin(), labels.end(), label) - labels.begin()); }
  ir::Dim size(int label) const { return has(labels, label) ? x->dim(axis(label)) : ir::Dim(1); }
  Dims sizes(const Labels& of) const {
    Dims out;
    for (int label : of) out.push_back(size(label));
    return out;
  }
};

// A label that is twice in one operand takes the diagonal.
void take_diagonals(ir::Builder& b, Operand& o) {
  for (size_t i = 0; i < o.labels.size(); ++i) {
    for (size_t j = o.labels.size() - 1; j > i; --j) {
      if (o.labels[j] != o.labels[i] || !o.x) continue;
      b.same(o.x->dim(int(i)), o.x->dim(int(j)));
      const V on = b.compare(ir::Compare::kEq, b.iota(DType::kInt32, o.x->type.dims, int(i)), b.iota(DType::kInt32, o.x->type.dims, int(j)));
      o.x = b.sum(b.select(on, o.x, b.scalar(o.x->type.dtype, 0)), {int(j)});
      o.labels.erase(o.labels.begin() + long(j));
    }
  }
}

// Labels that neither the result nor the other operand has are summed away.
void sum_others(ir::Builder& b, Operand& o, const Labels& needed) {
  std::vector<int> axes;
  Labels left;
  for (size_t i = 0; i < o.labels.size(); ++i) {
    if (has(needed, o.labels[i])) left.push_back(o.labels[i]);
    else axes.push_back(int(i));
  }
  if (!axes.empty()) o.x = b.sum(o.x, axes);
  o.labels = left;
}

// In the order of `order`; labels that the operand lacks become sizes of 1.
V arranged(ir::Builder& b, const Operand& o, const Labels& order) {
  std::vector<int> axes;
  for (int label : order) {
    if (has(o.labels, label)) axes.push_back(o.axis(label));
  }
  return b.reshape(b.transpose(o.x, axes), o.sizes(order));
}

// Merged into a stack of matrices [batch..., rows, columns].
V stack(ir::Builder& b, const Operand& o, const Labels& batch, const Labels& rows, const Labels& columns, const Dims& batch_sizes) {
  const V x = arranged(b, o, joined(joined(batch, rows), columns));
  Dims own = o.sizes(batch), wanted = batch_sizes;
  for (Dims* d : {&own, &wanted}) {
    d->push_back(product(o.sizes(rows)));
    d->push_back(product(o.sizes(columns)));
  }
  return b.broadcast_to(b.reshape(x, own), wanted);
}

// Is the operand already laid out as [batch, second, first]?
bool swapped(const Operand& o, const Labels& batch, const Labels& first, const Labels& second) {
  return !first.empty() && !second.empty() && o.labels == joined(joined(batch, second), first);
}

Operand multiplied(ir::Builder& b, Operand p, Operand q, const Labels& output) {
  Labels batch, inner, rows, columns;
  for (int label : output) {
    if (label >= kBroadcastLabel || (has(p.labels, label) && has(q.labels, label))) batch.push_back(label);
  }
  // The operand whose own labels come last in the result gives the columns.
  auto last = [&](const Operand& o) {
    int at = -1;
    for (size_t i = 0; i < output.size(); ++i) {
      if (!has(batch, output[i]) && has(o.labels, output[i])) at = int(i);
    }
    return at;
  };
  if (last(p) > last(q)) std::swap(p, q);
  for (int label : output) {
    if (has(batch, label)) continue;
    (has(p.labels, label) ? rows : columns).push_back(label);
  }
  for (int label : p.labels) {
    if (!has(batch, label) && has(q.labels, label)) inner.push_back(label);
  }
  for (int label : inner) b.same(p.size(label), q.size(label));
  const Dims sizes = b.broadcast_dims(p.sizes(batch), q.sizes(batch));
  if (!b.status().ok()) return {};
  const Labels result = joined(joined(batch, rows), columns);
  if (inner.empty()) return {b.mul(arranged(b, p, result), arranged(b, q, result)), result};
  const bool ta = swapped(p, batch, rows, inner), tb = swapped(q, batch, inner, columns);
  const V x = ta ? stack(b, p, batch, inner, rows, sizes) : stack(b, p, batch, rows, inner, sizes);
  const V y = tb ? stack(b, q, batch, columns, inner, sizes) : stack(b, q, batch, inner, columns, sizes);
  Dims dims = sizes;
  for (const ir::Dim& d : p.sizes(rows)) dims.push_back(d);
  for (const ir::Dim& d : q.sizes(columns)) dims.push_back(d);
  return {b.reshape(b.dot(x, y, ta, tb), dims), result};
}

LoweredList einsum(LowerContext& l) {
  ir::Builder& b = l.b;
  auto equation = EinsumEquation::parse(l.attr<std::string>("equation"));
  if (!equation.ok()) return l.fail(equation.status());
  if (int(equation->inputs.size()) != l.num_inputs())
    return l.fail(invalid_argument("Expected ", equation->inputs.size(), " inputs but got: ", l.num_inputs()));
  std::vector<Operand> operands;
  int most_dots = 0;
  for (int i = 0; i < l.num_inputs(); ++i) {
    const V x = widened(l, l.x(i));
    if (!x) return {};
    auto labels = label_dims(equation->inputs[size_t(i)], x->rank(), i);
    if (!labels.ok()) return l.fail(labels.status());
    for (int label : *labels) most_dots = std::max(most_dots, label - kBroadcastLabel);
    operands.push_back({x, *labels});
    take_diagonals(b, operands.back());
    if (!l.ok()) return {};
  }
  Labels output;
  for (int label : equation->output) {
    if (label == kEllipsis) {
      for (int left = most_dots; left > 0; --left) output.push_back(kBroadcastLabel + left);
    } else if (has(output, label)) {
      return l.unsupported("a label that is repeated in the result");
    } else {
      output.push_back(label);
    }
  }
  for (size_t i = 0; i < operands.size(); ++i) sum_others(b, operands[i], operands.size() > 1 ? joined(output, operands[1 - i].labels) : output);
  if (!l.ok()) return {};
  const Operand result = operands.size() > 1 ? multiplied(b, operands[0], operands[1], output) : operands[0];
  if (!l.ok() || !result.x) return {};
  for (int label : output) {
    if (!has(result.labels, label))
      return l.fail(invalid_argument("Expected output label '", std::string(1, char(label)), "' to be among the inputs"));
  }
  return {b.convert(arranged(b, result, output), l.out_type())};
}

}  // namespace

void lower_einsum(Registry& r) {
  r.lower("Einsum", einsum);
  r.lower("XlaEinsum", einsum);
}

}  // namespace weft_engine::ops
