#include "ir/rewrite.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ir/insert.h"

namespace weft_engine::ir {
namespace {

std::optional<double> number(const Tensor& t) {
  if (t.num_elements() != 1) return std::nullopt;
  switch (t.dtype()) {
    case DType::kFloat: return t.data<float>()[0];
    case DType::kDouble: return t.data<double>()[0];
    case DType::kHalf: return float(t.data<core::half>()[0]);
    case DType::kBfloat16: return float(t.data<core::bfloat16>()[0]);
    case DType::kInt8: return t.data<int8_t>()[0];
    case DType::kInt16: return t.data<int16_t>()[0];
    case DType::kInt32: return t.data<int32_t>()[0];
    case DType::kInt64:
      return std::abs(t.data<int64_t>()[0]) < (int64_t(1) << 52) ? std::optional<double>(double(t.data<int64_t>()[0])) : std::nullopt;
    case DType::kUint8: return t.data<uint8_t>()[0];
    case DType::kBool: return t.data<int8_t>()[0] != 0;
    default: return std::nullopt;
  }
}

// A tensor of one element.
std::optional<Tensor> single(DType t, const std::vector<int64_t>& dims, double v) {
  auto out = Tensor::allocate(t, core::Shape(dims));
  if (!out.ok()) return std::nullopt;
  switch (t) {
    case DType::kFloat: out->data<float>()[0] = float(v); break;
    case DType::kDouble: out->data<double>()[0] = v; break;
    case DType::kInt32: out->data<int32_t>()[0] = int32_t(v); break;
    case DType::kInt64: out->data<int64_t>()[0] = int64_t(v); break;
    default: return std::nullopt;
  }
  return *out;
}

// Dimensions of size 1 left out.
std::vector<int> large(const Type& t) {
  std::vector<int> out;
  for (int d = 0; d < t.rank(); ++d) {
    if (!t.dims[size_t(d)].is(1)) out.push_back(d);
  }
  return out;
}

bool only_ones_differ(const Type& a, const Type& b) {
  const std::vector<int> x = large(a), y = large(b);
  if (x.size() != y.size()) return false;
  for (size_t k = 0; k < x.size(); ++k) {
    if (!(a.dims[size_t(x[k])] == b.dims[size_t(y[k])])) return false;
  }
  return true;
}

bool exact_reciprocal(double c) {
  int exponent = 0;
  return std::abs(std::frexp(c, &exponent)) == 0.5 && std::abs(exponent) < 100;
}

}  // namespace

std::optional<double> scalar_of(const Instr* v) {
  for (int depth = 0; depth < 32; ++depth) {
    if (v->op == Op::kConstant) return number(v->literal);
    if (v->known && v->known->size() == 1 && (*v->known)[0].is_const()) return double((*v->known)[0].value());
    if (v->op != Op::kBroadcast && v->op != Op::kReshape) return std::nullopt;
    v = v->operands[0];
  }
  return std::nullopt;
}

// Arithmetic on numbers that are known, where one rounding gives what the code would.
bool Rewriter::folded(Instr* i) {
  if (!i->type.elements().is(1)) return false;
  std::vector<double> v;
  for (const Instr* o : i->operands) {
    const auto c = scalar_of(o);
    if (!c) return false;
    v.push_back(*c);
  }
  const DType to = i->type.dtype, from = i->operand(0).type.dtype;
  std::optional<double> r;
  if (i->op == Op::kConvert && to == DType::kFloat && (from == DType::kInt32 || from == DType::kInt64) && std::abs(v[0]) < (1 << 24)) r = v[0];
  if (i->op == Op::kBinary && to == DType::kFloat) {
    // In double, then rounded: the same as rounding once, for these four.
    switch (i->binary) {
      case Binary::kAdd: r = v[0] + v[1]; break;
      case Binary::kSub: r = v[0] - v[1]; break;
      case Binary::kMul: r = v[0] * v[1]; break;
      case Binary::kDiv: r = v[0] / v[1]; break;
      default: break;
    }
  }
  if (!r) return false;
  auto t = single(to, std::vector<int64_t>(i->type.dims.size(), 1), *r);
  if (!t) return false;
  i->literal = *t;
  become(i, Op::kConstant, {});
  return true;
}

Instr* Rewriter::become(Instr* i, Op op, std::vector<Instr*> operands) {
  i->op = op;
  i->operands = std::move(operands);
  i->axes.clear();
  i->starts.clear();
  i->low.clear();
  i->high.clear();
  i->steps.clear();
  i->interior.clear();
  i->message = -1;
  i->batch = 0;
  changed_ = true;
  return i;
}

Instr* Rewriter::add(const Instr* like, Op op, Type type, std::vector<Instr*> operands, std::vector<std::unique_ptr<Instr>>& before) {
  before.push_back(new_instr(module_, op, std::move(type), std::move(operands), like->node, like->parent));
  changed_ = true;
  return before.back().get();
}

Instr* Rewriter::simplify(Instr* i, std::vector<std::unique_ptr<Instr>>& before) {
  if (i->known) known(i);
  if ((i->op == Op::kConvert || i->op == Op::kBinary) && folded(i)) return i;
  switch (i->op) {
    case Op::kReshape: return reshape(i);
    case Op::kBroadcast: return broadcast(i);
    case Op::kTranspose: return transpose(i);
    case Op::kSlice: return slice(i);
    case Op::kConcat: return concat(i);
    case Op::kGather: return gather(i, before);
    case Op::kUnary: return unary(i);
    case Op::kBinary: return binary(i, before);
    case Op::kSelect: return select(i);
    case Op::kDot: return dot(i);
    case Op::kWindow: return window(i, before);
    case Op::kConvert: {
      const Instr& x = i->operand(0);
      if (x.type.dtype == i->type.dtype) return i->operands[0];
      // There and back through a wider integer.
      if (x.op == Op::kConvert && x.type.dtype == DType::kInt64 && i->type.dtype == DType::kInt32 && x.operand(0).type.dtype == DType::kInt32)
        return x.operands[0];
      return i;
    }
    case Op::kDynamicSlice: return i->operand(0).type.dims == i->type.dims ? i->operands[0] : i;  // starts are clamped to 0
    case Op::kDynamicUpdate: return i->operand(1).type == i->type ? i->operands[1] : i;
    case Op::kReverse: {
      std::erase_if(i->axes, [&](int a) { return i->dim(a).is(1); });
      if (i->axes.empty()) return i->operands[0];
      const Instr& x = i->operand(0);
      return x.op == Op::kReverse && x.axes == i->axes ? x.operands[0] : i;
    }
    default: return i;
  }
}

// Numbers that are known while compiling, or follow from the sizes of the call.
Instr* Rewriter::known(Instr* i) {
  if (i->op == Op::kConstant || i->op == Op::kSizes || i->op == Op::kParameter || i->op == Op::kIota || i->op == Op::kGet) return i;
  const auto& v = *i->known;
  if (i->type.dtype != DType::kInt32 && i->type.dtype != DType::kInt64) return i;
  if (!i->type.elements().is(int64_t(v.size()))) return i;
  if (std::all_of(v.begin(), v.end(), [](const Dim& d) { return d.is_const(); })) {
    std::vector<int64_t> dims;
    for (const Dim& d : i->type.dims) dims.push_back(d.value());
    auto t = Tensor::allocate(i->type.dtype, core::Shape(dims));
    if (!t.ok()) return i;
    for (size_t k = 0; k < v.size(); ++k) {
      if (i->type.dtype == DType::kInt32) t->data<int32_t>()[k] = int32_t(v[k].value());
      else t->data<int64_t>()[k] = v[k].value();
    }
    i->literal = *t;
    return become(i, Op::kConstant, {});
  }
  return i->rank() <= 1 ? become(i, Op::kSizes, {}) : i;
}

Instr* Rewriter::reshape(Instr* i) {
  Instr* x = i->operands[0];
  if (x->op == Op::kReshape) {
    i->operands[0] = x = x->operands[0];
    changed_ = true;
  }
  if (x->type.dims == i->type.dims) return x;
  // A number repeated is repeated in any shape.
  if (x->op == Op::kBroadcast && x->operand(0).rank() == 0) return become(i, Op::kBroadcast, {x->operands[0]});
  if (x->op == Op::kConstant && x->literal.num_elements() != 1) {
    std::vector<int64_t> dims;
    for (const Dim& d : i->type.dims) {
      if (!d.is_const()) return i;
      dims.push_back(d.value());
    }
    i->literal = x->literal.reshaped(core::Shape(dims));
    return become(i, Op::kConstant, {});
  }
  return i;
}

Instr* Rewriter::broadcast(Instr* i) {
  Instr* x = i->operands[0];
  if (x->type.dims == i->type.dims) return x;
  if (x->op == Op::kBroadcast) {
    std::vector<int> axes;
    for (int a : x->axes) axes.push_back(i->axes[size_t(a)]);
    // Where the first repeats a size of 1 up to another 1, or to the last size, the second need not know.
    i->axes = std::move(axes);
    i->operands[0] = x = x->operands[0];
    changed_ = true;
  }
  if (x->op == Op::kReshape && only_ones_differ(x->type, x->operand(0).type)) {
    // From the value without its added dimensions.
    const Instr& y = x->operand(0);
    const std::vector<int> from = large(y.type), to = large(x->type);
    if (y.rank() == int(from.size())) {
      std::vector<int> axes;
      for (int d : to) axes.push_back(i->axes[size_t(d)]);
      i->axes = std::move(axes);
      i->operands[0] = x = x->operands[0];
      changed_ = true;
    }
  }
  if (x->type.dims == i->type.dims) return x;
  if (only_ones_differ(x->type, i->type)) return become(i, Op::kReshape, {x});
  return i;
}

Instr* Rewriter::transpose(Instr* i) {
  Instr* x = i->operands[0];
  if (x->op == Op::kTranspose) {
    std::vector<int> axes;
    for (int a : i->axes) axes.push_back(x->axes[size_t(a)]);
    i->axes = std::move(axes);
    i->operands[0] = x = x->operands[0];
    changed_ = true;
  }
  int last = -1;
  bool ordered = true;
  for (int a : i->axes) {
    if (x->dim(a).is(1)) continue;
    ordered = ordered && a > last;
    last = a;
  }
  if (!ordered) return i;
  return x->type.dims == i->type.dims ? x : become(i, Op::kReshape, {x});
}

Instr* Rewriter::slice(Instr* i) {
  Instr* x = i->operands[0];
  if (x->op == Op::kSlice) {
    for (size_t d = 0; d < i->starts.size(); ++d) {
      i->starts[d] = x->starts[d] + i->starts[d] * Dim(x->steps[d]);
      i->steps[d] *= x->steps[d];
    }
    i->operands[0] = x = x->operands[0];
    changed_ = true;
  }
  bool whole = x->type.dims == i->type.dims;
  for (size_t d = 0; d < i->starts.size(); ++d) whole = whole && i->starts[d].is(0) && i->steps[d] == 1;
  if (whole) return x;
  if (x->op == Op::kBroadcast && x->operand(0).rank() == 0) return become(i, Op::kBroadcast, {x->operands[0]});
  if (x->op != Op::kConcat) return i;
  // Out of one part of several.
  const size_t axis = size_t(x->axes[0]);
  Dim at(0);
  for (Instr* part : x->operands) {
    const Dim end = at + part->dim(int(axis));
    const Dim last = i->starts[axis] + (i->dim(int(axis)) - Dim(1)) * Dim(i->steps[axis]);
    if ((i->starts[axis] - at).nonnegative() && (end - Dim(1) - last).nonnegative()) {
      i->starts[axis] = i->starts[axis] - at;
      i->operands[0] = part;
      changed_ = true;
      return slice(i);
    }
    at = end;
  }
  return i;
}

Instr* Rewriter::concat(Instr* i) {
  const size_t axis = size_t(i->axes[0]);
  if (i->operands.size() > 1) {
    const size_t n = i->operands.size();
    std::vector<Instr*> parts;
    for (Instr* o : i->operands) {
      if (!o->dim(int(axis)).is(0)) parts.push_back(o);
    }
    if (!parts.empty() && parts.size() < n) {
      i->operands = std::move(parts);
      changed_ = true;
    }
  }
  if (i->operands.size() == 1) return i->operands[0];
  // All parts of one value, put together again.
  Instr* whole = nullptr;
  Dim at(0);
  for (const Instr* o : i->operands) {
    if (o->op != Op::kSlice || (whole && o->operands[0] != whole)) return i;
    whole = o->operands[0];
    for (size_t d = 0; d < o->starts.size(); ++d) {
      if (o->steps[d] != 1 || !(o->starts[d] == (d == axis ? at : Dim(0)))) return i;
    }
    at = at + o->dim(int(axis));
  }
  return whole->type.dims == i->type.dims ? whole : i;
}

Instr* Rewriter::gather(Instr* i, std::vector<std::unique_ptr<Instr>>& before) {
  Instr *x = i->operands[0], *n = i->operands[1];
  if (!n->known || i->batch != 0 || n->known->empty()) return i;
  const size_t axis = size_t(i->axes[0]);
  const Dim& size = x->dim(int(axis));
  if (!size.is_const()) return i;
  const auto& v = *n->known;
  for (const Dim& d : v) {
    if (!d.is_const() || d.value() < 0 || d.value() >= size.value()) return i;
  }
  const int64_t first = v[0].value(), step = v.size() > 1 ? v[1].value() - first : 1;
  if (step < 1) return i;
  for (size_t k = 0; k < v.size(); ++k) {
    if (v[k].value() != first + int64_t(k) * step) return i;
  }
  Type type = x->type;
  type.dims[axis] = Dim(int64_t(v.size()));
  const std::vector<Dim> dims = i->type.dims;
  Instr* s = type.dims == dims ? become(i, Op::kSlice, {x}) : add(i, Op::kSlice, type, {x}, before);
  s->starts.assign(type.dims.size(), Dim(0));
  s->steps.assign(type.dims.size(), 1);
  s->starts[axis] = first;
  s->steps[axis] = step;
  return s == i ? slice(i) : become(i, Op::kReshape, {s});
}

Instr* Rewriter::unary(Instr* i) {
  const Instr& x = i->operand(0);
  if (x.op == Op::kBinary && x.binary == Binary::kComplex && i->unary == Unary::kReal) return x.operands[0];
  if (x.op == Op::kBinary && x.binary == Binary::kComplex && i->unary == Unary::kImag) return x.operands[1];
  const bool back = i->unary == Unary::kNeg || i->unary == Unary::kNot;
  if (back && x.op == Op::kUnary && x.unary == i->unary) return x.operands[0];
  const bool again =
      i->unary == Unary::kAbs || i->unary == Unary::kFloor || i->unary == Unary::kCeil || i->unary == Unary::kRound || i->unary == Unary::kTrunc;
  return again && x.op == Op::kUnary && x.unary == i->unary ? i->operands[0] : i;
}

// Only what is exact for every number, infinities, NaN and both zeros among them.
Instr* Rewriter::binary(Instr* i, std::vector<std::unique_ptr<Instr>>& before) {
  Instr *a = i->operands[0], *b = i->operands[1];
  const bool whole = core::is_integer_type(i->type.dtype), logical = i->type.dtype == DType::kBool;
  const auto ca = scalar_of(a), cb = scalar_of(b);
  auto is = [](const std::optional<double>& c, double v) { return c && *c == v && (v != 0 || !std::signbit(*c)); };
  auto is_minus_zero = [](const std::optional<double>& c) { return c && *c == 0 && std::signbit(*c); };
  switch (i->binary) {
    case Binary::kAdd:
      if ((whole && is(cb, 0)) || (!whole && is_minus_zero(cb))) return a;
      if ((whole && is(ca, 0)) || (!whole && is_minus_zero(ca))) return b;
      return sum(i, before);
    case Binary::kSub: return is(cb, 0) ? a : i;
    case Binary::kMul:
      if (is(cb, 1)) return a;
      if (is(ca, 1)) return b;
      if (whole && is(cb, 0)) return b;
      if (whole && is(ca, 0)) return a;
      return i;
    case Binary::kDiv:
      if (is(cb, 1)) return a;
      if (i->type.dtype == DType::kFloat && cb && b->op == Op::kBroadcast && exact_reciprocal(*cb)) {
        // By a power of two: the same as times its reciprocal.
        Instr* c = add(i, Op::kConstant, {DType::kFloat, {}}, {}, before);
        c->literal = Tensor::scalar<float>(float(1 / *cb));
        Instr* many = add(i, Op::kBroadcast, i->type, {c}, before);
        i->binary = Binary::kMul;
        i->operands[1] = many;
      }
      return i;
    case Binary::kPow:
      if (is(cb, 1)) return a;
      if (is(cb, 2)) {
        i->binary = Binary::kMul;
        i->operands[1] = a;
        changed_ = true;
      }
      return i;
    case Binary::kMax:
    case Binary::kMin: return a == b ? a : i;
    case Binary::kAnd:
      if (a == b || (logical && is(cb, 1))) return a;
      if (logical && is(ca, 1)) return b;
      if (is(cb, 0)) return b;
      return is(ca, 0) ? a : i;
    case Binary::kOr:
      if (a == b || is(cb, 0)) return a;
      if (is(ca, 0)) return b;
      if (logical && is(cb, 1)) return b;
      return logical && is(ca, 1) ? a : i;
    default: return i;
  }
}

bool Rewriter::read_once(const Instr* v) const {
  if (!uses_) return false;
  const auto n = uses_->find(v);
  return n != uses_->end() && n->second == 1;
}

namespace {

// A value that is zero but for parts along one axis; null operands stand for zeros.
struct Parts {
  int axis = -1;
  std::vector<std::pair<int64_t, Instr*>> parts;  // by where they begin
};

std::optional<Parts> parts_of(Instr* v) {
  Parts out;
  if (v->op == Op::kPad) {
    if (!scalar_of(v->operands[1]) || *scalar_of(v->operands[1]) != 0) return std::nullopt;
    for (int d = 0; d < v->rank(); ++d) {
      const Dim &low = v->low[size_t(d)], &high = v->high[size_t(d)];
      if (v->interior[size_t(d)] != 0) return std::nullopt;
      if (low.is(0) && high.is(0)) continue;
      if (out.axis >= 0 || !low.is_const() || low.value() < 0 || !high.is_const() || high.value() < 0) return std::nullopt;
      out.axis = d;
      out.parts.emplace_back(low.value(), v->operands[0]);
    }
  } else if (v->op == Op::kConcat) {
    int64_t at = 0;
    bool zeros = false;
    out.axis = v->axes[0];
    for (Instr* o : v->operands) {
      const Dim& n = o->dim(out.axis);
      if (!n.is_const()) return std::nullopt;
      const bool zero = scalar_of(o) && *scalar_of(o) == 0;
      zeros = zeros || zero;
      if (!zero) out.parts.emplace_back(at, o);
      at += n.value();
    }
    if (!zeros) return std::nullopt;
  }
  return out.axis < 0 || !v->dim(out.axis).is_const() ? std::nullopt : std::optional<Parts>(out);
}

}  // namespace

// Sums with something that is mostly zero: only the rest is added. Gradients of slices and of lists are such sums.
Instr* Rewriter::sum(Instr* i, std::vector<std::unique_ptr<Instr>>& before) {
  for (size_t k = 0; k < 2; ++k) {
    Instr *u = i->operands[k], *x = i->operands[1 - k];
    if (u->op != Op::kDynamicUpdate || !read_once(u)) continue;
    const auto c = scalar_of(u->operands[0]);
    if (!c || *c != 0) continue;
    std::vector<Instr*> from{x}, to;
    from.insert(from.end(), u->operands.begin() + 2, u->operands.end());
    Instr* part = add(i, Op::kDynamicSlice, u->operand(1).type, from, before);
    Instr* more = add(i, Op::kBinary, part->type, {part, u->operands[1]}, before);
    more->binary = Binary::kAdd;
    to = {x, more};
    to.insert(to.end(), u->operands.begin() + 2, u->operands.end());
    return become(i, Op::kDynamicUpdate, std::move(to));
  }
  // Parts that are beside each other.
  Instr *a = i->operands[0], *b = i->operands[1];
  if (!read_once(a) || !read_once(b) || (a->op != Op::kPad && b->op != Op::kPad)) return i;
  auto p = parts_of(a), q = parts_of(b);
  if (!p || !q || p->axis != q->axis) return i;
  p->parts.insert(p->parts.end(), q->parts.begin(), q->parts.end());
  std::sort(p->parts.begin(), p->parts.end(), [](const auto& s, const auto& t) { return s.first < t.first; });
  std::vector<std::pair<int64_t, Instr*>> all;  // size, value
  int64_t at = 0;
  for (const auto& [start, v] : p->parts) {
    if (start < at || !v->dim(p->axis).is_const()) return i;
    if (start > at) all.emplace_back(start - at, nullptr);
    all.emplace_back(v->dim(p->axis).value(), v);
    at = start + v->dim(p->axis).value();
  }
  if (at < i->dim(p->axis).value()) all.emplace_back(i->dim(p->axis).value() - at, nullptr);
  std::vector<Instr*> operands;
  Instr* zero = nullptr;
  for (auto& [n, v] : all) {
    if (!v) {
      Type t = i->type;
      t.dims[size_t(p->axis)] = Dim(n);
      if (!zero) {
        zero = add(i, Op::kConstant, {i->type.dtype, {}}, {}, before);
        zero->literal = *Tensor::zeros(i->type.dtype, core::Shape());
      }
      v = add(i, Op::kBroadcast, std::move(t), {zero}, before);
    }
    operands.push_back(v);
  }
  become(i, Op::kConcat, std::move(operands));
  i->axes = {p->axis};
  return i;
}

Instr* Rewriter::select(Instr* i) {
  if (i->operands[1] == i->operands[2]) return i->operands[1];
  const auto c = scalar_of(i->operands[0]);
  if (c) return i->operands[*c != 0 ? 1 : 2];
  // The opposite condition.
  const Instr& condition = i->operand(0);
  if (condition.op == Op::kUnary && condition.unary == Unary::kNot) {
    i->operands = {condition.operands[0], i->operands[2], i->operands[1]};
    changed_ = true;
  }
  return i;
}

Instr* Rewriter::dot(Instr* i) {
  auto transposed = [&](Instr* x) {
    if (x->op != Op::kTranspose) return false;
    const int n = x->rank();
    for (int d = 0; d < n; ++d) {
      const int want = d == n - 2 ? n - 1 : d == n - 1 ? n - 2 : d;
      if (x->axes[size_t(d)] != want) return false;
    }
    return true;
  };
  if (transposed(i->operands[0])) {
    i->operands[0] = i->operands[0]->operands[0];
    i->transpose_a = !i->transpose_a;
    changed_ = true;
  }
  if (transposed(i->operands[1])) {
    i->operands[1] = i->operands[1]->operands[0];
    i->transpose_b = !i->transpose_b;
    changed_ = true;
  }
  return i;
}

// The largest of sums with one number is the sum of the largest: rounding keeps the order. So a bias, and what is cut off at a
// number, can wait until pooling has left fewer elements.
Instr* Rewriter::window(Instr* i, std::vector<std::unique_ptr<Instr>>& before) {
  Instr* x = i->operands[0];
  if (i->reduce != Reduce::kMax || x->op != Op::kBinary || !core::is_floating_type(x->type.dtype)) return i;
  if (!read_once(x)) return i;
  const bool either = x->binary == Binary::kAdd || x->binary == Binary::kMax || x->binary == Binary::kMin;
  if (!either && x->binary != Binary::kSub) return i;
  // Equal for all elements of a window: no dimension but the last.
  auto steady = [&](const Instr* c) {
    if (c->op != Op::kBroadcast) return false;
    for (size_t d = 0; d < c->axes.size(); ++d) {
      if (!c->operand(0).dim(int(d)).is(1) && c->axes[d] != c->rank() - 1) return false;
    }
    return true;
  };
  size_t which = 1;
  if (!steady(x->operands[1])) which = 0;
  if (which == 0 && (!either || !steady(x->operands[0]))) return i;
  const Instr* c = x->operands[which];
  Instr* largest = add(i, Op::kWindow, i->type, {x->operands[1 - which]}, before);
  largest->reduce = Reduce::kMax;
  largest->window = i->window;
  Instr* many = add(i, Op::kBroadcast, i->type, {c->operands[0]}, before);
  many->axes = c->axes;
  i->binary = x->binary;
  return become(i, Op::kBinary, which == 1 ? std::vector<Instr*>{largest, many} : std::vector<Instr*>{many, largest});
}

}  // namespace weft_engine::ir
