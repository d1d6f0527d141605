// Optimizer steps: each formula once, on whole tensors; the sparse forms apply it row by row, one after the other, since an index may
// come twice.
#include <cstring>

#include "op/lower.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using ir::Builder;
using ir::Value;

// s: the variable and its slots, replaced by their new values; k: the scalars in the order of the inputs.
struct Step {
  Builder& b;
  Value* s;
  Value g;
  const Value* k;
  bool flag;
  Value step;  // global_step, as a number of the variable's type

  Value rest(int i) const { return b.sub(b.scalar(k[i]->type.dtype, 1), k[i]); }
  // s[i] += (x - s[i]) * (1 - k[j])
  void towards(int i, Value x, int j) const { s[i] = b.add(s[i], b.mul(b.sub(x, s[i]), rest(j))); }
  void minus(Value x) const { s[0] = b.sub(s[0], x); }
  Value square() const { return b.mul(g, g); }
  Value sign(Value x) const { return b.unary(ir::Unary::kSign, x); }
  Value abs(Value x) const { return b.unary(ir::Unary::kAbs, x); }
  Value positive(Value x) const { return b.select(b.compare(ir::Compare::kGt, x, b.scalar(x->type.dtype, 0)), x, b.scalar(x->type.dtype, 0)); }
  // sign(w) * max(|w| - by, 0), where l1 is above 0.
  Value shrunk(Value w, Value by, Value l1) const {
    if (!w || !by || !l1) return nullptr;
    const Value less = b.mul(sign(w), positive(b.sub(abs(w), by)));
    return b.select(b.compare(ir::Compare::kGt, l1, b.scalar(l1->type.dtype, 0)), less, w);
  }
  Value adam_rate() const { return b.div(b.mul(k[2], b.sqrt(rest(1))), rest(0)); }
};
using Formula = void (*)(const Step&);

void gradient_descent(const Step& t) { t.minus(t.b.mul(t.g, t.k[0])); }
void proximal(const Step& t, Value rate, Value l1, Value l2) {
  Builder& b = t.b;
  const Value w = b.sub(t.s[0], b.mul(t.g, rate));
  t.s[0] = b.div(t.shrunk(w, b.mul(rate, l1), l1), b.add(b.mul(l2, rate), 1));
}
void proximal_gradient_descent(const Step& t) { proximal(t, t.k[0], t.k[1], t.k[2]); }
void proximal_adagrad(const Step& t) {
  t.s[1] = t.b.add(t.s[1], t.square());
  proximal(t, t.b.div(t.k[0], t.b.sqrt(t.s[1])), t.k[1], t.k[2]);
}
void momentum(const Step& t) {
  Builder& b = t.b;
  t.s[1] = b.add(b.mul(t.s[1], t.k[1]), t.g);
  t.minus(t.flag ? b.add(b.mul(t.g, t.k[0]), b.mul(b.mul(t.s[1], t.k[1]), t.k[0])) : b.mul(t.s[1], t.k[0]));
}
void keras_momentum(const Step& t) {
  Builder& b = t.b;
  const Value step = b.mul(t.g, t.k[0]);
  t.s[1] = b.sub(b.mul(t.s[1], t.k[1]), step);
  t.s[0] = b.add(t.s[0], t.flag ? b.sub(b.mul(t.s[1], t.k[1]), step) : t.s[1]);
}
void adagrad(const Step& t) {
  if (t.flag) t.s[1] = t.b.add(t.s[1], t.square());
  t.minus(t.b.div(t.b.mul(t.g, t.k[0]), t.b.sqrt(t.s[1])));
}
void adagrad_v2(const Step& t) {
  if (t.flag) t.s[1] = t.b.add(t.s[1], t.square());
  t.minus(t.b.div(t.b.mul(t.g, t.k[0]), t.b.add(t.b.sqrt(t.s[1]), t.k[1])));
}
void adagrad_da(const Step& t) {
  Builder& b = t.b;
  t.s[1] = b.add(t.s[1], t.g);
  t.s[2] = b.add(t.s[2], t.square());
  const Value top = t.shrunk(t.s[1], b.mul(t.step, t.k[1]), t.k[1]);
  t.s[0] = b.div(b.mul(b.neg(t.k[0]), top), b.add(b.mul(t.k[2], b.mul(t.step, t.k[0])), b.sqrt(t.s[2])));
}
void adadelta(const Step& t) {
  Builder& b = t.b;
  t.s[1] = b.add(b.mul(t.s[1], t.k[1]), b.mul(t.square(), t.rest(1)));
  const Value update = b.mul(b.div(b.sqrt(b.add(t.s[2], t.k[2])), b.sqrt(b.add(t.s[1], t.k[2]))), t.g);
  t.minus(b.mul(update, t.k[0]));
  t.s[2] = b.add(b.mul(t.s[2], t.k[1]), b.mul(b.mul(update, update), t.rest(1)));
}
void rms_prop(const Step& t) {
  Builder& b = t.b;
  t.towards(1, t.square(), 1);
  t.s[2] = b.add(b.mul(t.s[2], t.k[2]), b.div(b.mul(t.g, t.k[0]), b.sqrt(b.add(t.s[1], t.k[3]))));
  t.minus(t.s[2]);
}
void centered_rms_prop(const Step& t) {
  Builder& b = t.b;
  t.towards(2, t.square(), 1);
  t.towards(1, t.g, 1);
  const Value variance = b.add(b.sub(t.s[2], b.mul(t.s[1], t.s[1])), t.k[3]);
  t.s[3] = b.add(b.mul(t.s[3], t.k[2]), b.div(b.mul(t.g, t.k[0]), b.sqrt(variance)));
  t.minus(t.s[3]);
}
void ftrl(const Step& t, Value shrinkage, Value power) {
  Builder& b = t.b;
  const DType type = t.g->type.dtype;
  const Value rate = t.k[0], l1 = t.flag ? b.mul(t.k[1], rate) : t.k[1];
  const Value l2 = t.flag ? b.mul(b.mul(t.k[2], 2), rate) : b.mul(t.k[2], 2);
  const Value exponent = b.neg(power);
  const auto raised = [&](Value x) { return b.binary(ir::Binary::kPow, x, exponent); };
  const Value sum = b.add(t.s[1], t.square());
  const Value gradient = shrinkage ? b.add(t.g, b.mul(b.mul(shrinkage, 2), t.s[0])) : t.g;
  const Value p = raised(sum), growth = b.sub(p, raised(t.s[1]));
  t.s[2] = b.add(t.s[2], t.flag ? b.sub(b.mul(gradient, rate), b.mul(growth, t.s[0])) : b.sub(gradient, b.mul(b.div(growth, rate), t.s[0])));
  const Value x = b.sub(b.mul(l1, t.sign(t.s[2])), t.s[2]), y = b.add(t.flag ? p : b.div(p, rate), l2);
  t.s[0] = b.select(b.compare(ir::Compare::kGt, t.abs(t.s[2]), l1), b.div(x, y), b.scalar(type, 0));
  t.s[1] = sum;
}
void ftrl_v1(const Step& t) { ftrl(t, nullptr, t.k[3]); }
void ftrl_v2(const Step& t) { ftrl(t, t.k[3], t.k[4]); }
void adam(const Step& t) {
  Builder& b = t.b;
  t.towards(1, t.g, 3);
  t.towards(2, t.square(), 4);
  const Value direction = t.flag ? b.add(b.mul(t.g, t.rest(3)), b.mul(t.k[3], t.s[1])) : t.s[1];
  t.minus(b.div(b.mul(direction, t.adam_rate()), b.add(b.sqrt(t.s[2]), t.k[5])));
}
void amsgrad(const Step& t) {
  Builder& b = t.b;
  t.towards(1, t.g, 3);
  t.towards(2, t.square(), 4);
  t.s[3] = b.select(b.compare(ir::Compare::kGt, t.s[2], t.s[3]), t.s[2], t.s[3]);
  t.minus(b.div(b.mul(t.s[1], t.adam_rate()), b.add(b.sqrt(t.s[3]), t.k[5])));
}
void adamax(const Step& t) {
  Builder& b = t.b;
  t.towards(1, t.g, 2);
  const Value decayed = b.mul(t.k[3], t.s[2]), now = t.abs(t.g);
  t.s[2] = b.select(b.compare(ir::Compare::kGt, now, decayed), now, decayed);
  t.minus(b.mul(b.div(t.k[1], t.rest(0)), b.div(t.s[1], b.add(t.s[2], t.k[4]))));
}
void mean_of(const Step& t) { t.s[1] = t.b.add(t.b.mul(t.s[1], t.k[3]), t.b.mul(t.g, t.rest(3))); }
void add_sign(const Step& t) {
  mean_of(t);
  Builder& b = t.b;
  t.minus(b.mul(b.mul(t.k[0], b.add(t.k[1], b.mul(t.k[2], b.mul(t.sign(t.g), t.sign(t.s[1]))))), t.g));
}
void power_sign(const Step& t) {
  mean_of(t);
  Builder& b = t.b;
  t.minus(b.mul(b.mul(t.k[0], b.exp(b.mul(b.mul(t.k[1], t.k[2]), b.mul(t.sign(t.g), t.sign(t.s[1]))))), t.g));
}
void scaled_adam(const Step& t) {
  Builder& b = t.b;
  t.s[1] = b.add(t.s[1], b.mul(b.sub(t.g, t.s[1]), t.k[1]));
  t.s[2] = b.add(t.s[2], b.mul(b.sub(t.square(), t.s[2]), t.k[2]));
  t.minus(b.div(b.mul(t.s[1], t.k[0]), b.add(b.sqrt(t.s[2]), t.k[3])));
}

enum Forms { kRef = 1, kResource = 2, kSparseRef = 4, kSparseResource = 8, kEvery = 15, kDense = 3 };
struct Spec {
  const char* name;
  Formula formula;
  int slots, before, after;
  int forms = kEvery;
  bool has_step = false;
  const char* flag = nullptr;
};
constexpr Spec kSpecs[] = {
    {"AdaMax", adamax, 2, 5, 0, kDense},
    {"Adadelta", adadelta, 2, 3, 0},
    {"Adagrad", adagrad, 1, 1, 0, kEvery, false, "update_slots"},
    {"AdagradDA", adagrad_da, 2, 0, 3, kEvery, true},
    {"AdagradV2", adagrad_v2, 1, 2, 0, kEvery, false, "update_slots"},
    {"Adam", adam, 2, 6, 0, kDense, false, "use_nesterov"},
    {"AdamWithAmsgrad", amsgrad, 3, 6, 0, kResource},
    {"AddSign", add_sign, 1, 4, 0, kDense},
    {"CenteredRMSProp", centered_rms_prop, 3, 4, 0},
    {"Ftrl", ftrl_v1, 2, 0, 4, kEvery, false, "multiply_linear_by_lr"},
    {"FtrlV2", ftrl_v2, 2, 0, 5, kEvery, false, "multiply_linear_by_lr"},
    {"GradientDescent", gradient_descent, 0, 1, 0, kDense},
    {"KerasMomentum", keras_momentum, 1, 1, 1, kResource | kSparseResource, false, "use_nesterov"},
    {"Momentum", momentum, 1, 1, 1, kEvery, false, "use_nesterov"},
    {"PowerSign", power_sign, 1, 4, 0, kDense},
    {"ProximalAdagrad", proximal_adagrad, 1, 3, 0},
    {"ProximalGradientDescent", proximal_gradient_descent, 0, 3, 0},
    {"RMSProp", rms_prop, 2, 4, 0},
};
constexpr Spec kWeftAdam = {"_WeftAdam", scaled_adam, 2, 4, 0, kResource};

// Row by row: the loop carries the variable and its slots.
std::vector<Value> by_rows(Builder& b, const Spec& spec, std::vector<Value> all, Value grad, Value indices, const Value* k, bool flag, Value step) {
  const size_t n = all.size();
  if (!grad || !indices || all[0]->rank() < 1 || indices->rank() != 1 || grad->rank() != all[0]->rank()) {
    b.fail(invalid_argument("indices must be one-dimensional, and grad must have the same number of dimensions as var, at '", b.node(), "'"));
    return {};
  }
  const ir::Dim count = b.same(indices->dim(0), grad->dim(0));
  std::vector<Value> init{b.scalar_int(DType::kInt64, 0)};
  init.insert(init.end(), all.begin(), all.end());
  ir::OpenRegion cond = b.begin_region();
  std::vector<Value> p;
  for (Value v : init) p.push_back(v ? b.region_parameter(v->type) : nullptr);
  auto cond_region = cond.end({b.compare(ir::Compare::kLt, p[0], b.sizes({count}, DType::kInt64, true))});
  ir::OpenRegion body = b.begin_region();
  p.clear();
  for (Value v : init) p.push_back(v ? b.region_parameter(v->type) : nullptr);
  const auto row_of = [&](Value x, Value at) {
    std::vector<ir::Dim> dims = x->type.dims;
    dims[0] = ir::Dim(1);
    std::vector<Value> starts(size_t(x->rank()), b.scalar_int(DType::kInt64, 0));
    starts[0] = at;
    return b.dynamic_slice(x, starts, dims);
  };
  const Value index = b.reshape(b.convert(b.dynamic_slice(indices, {p[0]}, {ir::Dim(1)}), DType::kInt64), {});
  const std::string message = "an index in indices is out of range";
  b.check(b.compare(ir::Compare::kGe, index, b.scalar_int(DType::kInt64, 0)), message);
  b.check(b.compare(ir::Compare::kLt, index, b.sizes({all[0]->dim(0)}, DType::kInt64, true)), message);
  Value s[4] = {};
  for (size_t i = 0; i < n && b.status().ok(); ++i) s[i] = row_of(p[i + 1], index);
  const Value g = b.status().ok() ? row_of(grad, p[0]) : nullptr;
  std::vector<Value> results{b.add(p[0], 1)};
  if (b.status().ok()) spec.formula(Step{b, s, g, k, flag, step});
  for (size_t i = 0; i < n && b.status().ok(); ++i) {
    std::vector<Value> starts(size_t(p[i + 1]->rank()), b.scalar_int(DType::kInt64, 0));
    starts[0] = index;
    results.push_back(b.dynamic_update(p[i + 1], s[i], starts));
  }
  auto body_region = body.end(results);
  if (!b.status().ok()) return {};
  std::vector<Value> out = b.while_loop(init, std::move(cond_region), std::move(body_region));
  if (!out.empty()) out.erase(out.begin());
  return out;
}

LoweredList apply_one(LowerContext& l, const Spec& spec, bool sparse) {
  const size_t n = size_t(spec.slots) + 1;
  std::vector<Value> all;
  for (size_t i = 0; i < n; ++i) all.push_back(l.read(int(i)));
  Value k[8] = {};
  int at = int(n), count = 0;
  for (int i = 0; i < spec.before; ++i) k[count++] = l.x(at++);
  const Value grad = l.x(at++);
  const Value indices = sparse ? l.x(at++) : nullptr;
  for (int i = 0; i < spec.after; ++i) k[count++] = l.x(at++);
  Value step = spec.has_step ? l.x(at++) : nullptr;
  if (!l.ok() || !grad) return {};
  for (int i = 0; i < count; ++i) {
    if (k[i]->rank() != 0)
      return l.fail(invalid_argument(l.node.op(), " '", l.node.name(), "' has a hyperparameter that is not a scalar: ", k[i]->type.to_string()));
  }
  if (step) step = l.b.convert(l.b.convert(step, DType::kFloat), grad->type.dtype);
  const bool flag = spec.flag && l.attr<bool>(spec.flag);
  if (sparse) {
    all = by_rows(l.b, spec, all, grad, indices, k, flag, step);
  } else {
    for (int d = 0; d < grad->rank() && grad->rank() == all[0]->rank(); ++d) l.b.same(all[0]->dim(d), grad->dim(d));
    if (grad->rank() != all[0]->rank())
      return l.fail(invalid_argument("var and grad do not have the same shape: ", all[0]->type.to_string(), " ", grad->type.to_string(), " ('",
                                     l.node.name(), "')"));
    spec.formula(Step{l.b, all.data(), grad, k, flag, step});
  }
  if (!l.ok() || all.size() != n) return {};
  for (size_t i = 0; i < n; ++i) l.assign(int(i), all[i]);
  if (l.node.num_outputs() == 0) return {};
  return {l.input(0)};  // the reference
}

LoweredList apply(LowerContext& l) {
  std::string_view name = l.node.op();
  if (name == "_WeftAdam") return apply_one(l, kWeftAdam, false);
  if (name.starts_with("Resource")) name.remove_prefix(std::strlen("Resource"));
  const bool sparse = name.starts_with("Sparse");
  if (sparse) name.remove_prefix(std::strlen("Sparse"));
  name.remove_prefix(std::strlen("Apply"));
  for (const Spec& s : kSpecs) {
    if (name == s.name) return apply_one(l, s, sparse);
  }
  return l.unsupported("this optimizer");
}

}  // namespace

void lower_optimizer(op::Registry& r) {
  for (const Spec& s : kSpecs) {
    if (s.forms & kRef) r.lower(cat("Apply", s.name), apply);
    if (s.forms & kResource) r.lower(cat("ResourceApply", s.name), apply);
    if (s.forms & kSparseRef) r.lower(cat("SparseApply", s.name), apply);
    if (s.forms & kSparseResource) r.lower(cat("ResourceSparseApply", s.name), apply);
  }
  r.lower("_WeftAdam", apply);
}

}  // namespace weft_engine::ops
