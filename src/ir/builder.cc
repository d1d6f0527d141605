#include "ir/builder.h"

#include <algorithm>
#include <cassert>

namespace weft::ir {
namespace {

using core::cat;
using core::invalid_argument;
using core::unimplemented;

constexpr size_t kMostKnown = 1024;  // elements of a tensor whose values are tracked

bool tracks(DType t) { return t == DType::kInt32 || t == DType::kInt64; }

std::optional<int64_t> count(const std::vector<Dim>& dims) {
  int64_t n = 1;
  for (const Dim& d : dims) {
    if (!d.is_const()) return std::nullopt;
    n *= d.value();
    if (n > int64_t(kMostKnown) || n < 0) return std::nullopt;
  }
  return n;
}

// Calls f(index, number) for each element of a small shape, in order.
template <class F>
void each(const std::vector<Dim>& dims, F f) {
  const auto n = count(dims);
  if (!n) return;
  std::vector<int64_t> index(dims.size(), 0);
  for (int64_t i = 0; i < *n; ++i) {
    f(index, size_t(i));
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d].value()) break;
      index[d] = 0;
    }
  }
}

size_t place(const std::vector<Dim>& dims, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d) at = at * dims[d].value() + index[d];
  return size_t(at);
}

// The elements of a movement: from(index of the result) is the index in the operand, or nullopt.
template <class F>
std::optional<std::vector<Dim>> moved(const Instr& x, const std::vector<Dim>& dims, F from) {
  if (!x.known || !count(dims) || !count(x.type.dims)) return std::nullopt;
  std::vector<Dim> out(size_t(*count(dims)));
  each(dims, [&](const std::vector<int64_t>& index, size_t i) { out[i] = (*x.known)[place(x.type.dims, from(index))]; });
  return out;
}

Tensor filled(DType dtype, double v, int64_t iv) {
  switch (dtype) {
    case DType::kFloat: return Tensor::scalar<float>(float(v));
    case DType::kDouble: return Tensor::scalar<double>(v);
    case DType::kHalf: return Tensor::scalar<core::half>(core::half(float(v)));
    case DType::kBfloat16: return Tensor::scalar<core::bfloat16>(core::bfloat16(float(v)));
    case DType::kInt8: return Tensor::scalar<int8_t>(int8_t(iv));
    case DType::kInt16: return Tensor::scalar<int16_t>(int16_t(iv));
    case DType::kInt32: return Tensor::scalar<int32_t>(int32_t(iv));
    case DType::kInt64: return Tensor::scalar<int64_t>(iv);
    case DType::kUint8: return Tensor::scalar<uint8_t>(uint8_t(iv));
    case DType::kUint16: return Tensor::scalar<uint16_t>(uint16_t(iv));
    case DType::kUint32: return Tensor::scalar<uint32_t>(uint32_t(iv));
    case DType::kUint64: return Tensor::scalar<uint64_t>(uint64_t(iv));
    case DType::kBool: return Tensor::scalar<bool>(iv != 0);
    default: return {};
  }
}

bool supported(DType t) { return filled(t, 0, 0).valid(); }

std::optional<Dim> known_binary(Binary op, const Dim& a, const Dim& b) {
  switch (op) {
    case Binary::kAdd: return a + b;
    case Binary::kSub: return a - b;
    case Binary::kMul: return a * b;
    case Binary::kMax: return max(a, b);
    case Binary::kMin: return min(a, b);
    case Binary::kDiv:
      if (b.is(0) || !a.nonnegative() || !b.nonnegative()) return a.is_const() && b.is_const() && !b.is(0) ? std::optional<Dim>(a.value() / b.value()) : std::nullopt;
      return floor_div(a, b);
    case Binary::kFloorDiv: return b.is(0) ? std::nullopt : std::optional<Dim>(floor_div(a, b));
    case Binary::kMod:
      if (b.is(0) || !a.nonnegative() || !b.nonnegative()) return a.is_const() && b.is_const() && !b.is(0) ? std::optional<Dim>(a.value() % b.value()) : std::nullopt;
      return floor_mod(a, b);
    case Binary::kFloorMod: return b.is(0) ? std::nullopt : std::optional<Dim>(floor_mod(a, b));
    default: return std::nullopt;
  }
}

// What a number is in 32 bits.
Dim fitted(DType t, Dim d) { return t == DType::kInt32 && d.is_const() ? Dim(int64_t(int32_t(d.value()))) : d; }

std::optional<bool> known_compare(Compare op, const Dim& a, const Dim& b) {
  const Dim d = a.is_const() && b.is_const() ? Dim(int64_t(a.value() > b.value()) - int64_t(a.value() < b.value())) : a - b;
  if (d.is_const()) {
    const int64_t v = d.value();
    switch (op) {
      case Compare::kEq: return v == 0;
      case Compare::kNe: return v != 0;
      case Compare::kLt: return v < 0;
      case Compare::kLe: return v <= 0;
      case Compare::kGt: return v > 0;
      case Compare::kGe: return v >= 0;
    }
  }
  if (d.nonnegative()) {  // a >= b
    if (op == Compare::kGe) return true;
    if (op == Compare::kLt) return false;
  }
  if ((Dim(0) - d).nonnegative()) {
    if (op == Compare::kLe) return true;
    if (op == Compare::kGt) return false;
  }
  return std::nullopt;
}

}  // namespace

std::string Type::to_string() const {
  std::string s = core::dtype_name(dtype) + "[";
  for (size_t d = 0; d < dims.size(); ++d) s += (d ? ", " : "") + dims[d].to_string();
  return s + "]";
}

// ---- errors ----------------------------------------------------------------------------------------------

Value Builder::fail(core::Status s) {
  if (status_.ok()) status_ = std::move(s);
  return nullptr;
}

bool Builder::ok(std::initializer_list<Value> values) {
  if (!status_.ok()) return false;
  for (Value v : values) {
    if (v) continue;
    fail(core::internal_error("a value is missing while lowering '", node_, "'"));
    return false;
  }
  return true;
}

Dim Builder::same(const Dim& a, const Dim& b) {
  if (a == b || !status_.ok()) return a;
  if (a.is_const() && b.is_const()) {
    fail(invalid_argument("Dimensions must be equal, but are ", a.value(), " and ", b.value(), " for '", node_, "'"));
    return a;
  }
  // The later symbol gives way to the earlier one, and both to numbers.
  const int sa = a.as_symbol(), sb = b.as_symbol();
  if (sb >= 0 && !a.uses(sb) && (sa < 0 || sa < sb)) {
    unify_.emplace(sb, a);
  } else if (sa >= 0 && !b.uses(sa)) {
    unify_.emplace(sa, b);
  } else if (sb >= 0 && !a.uses(sb)) {
    unify_.emplace(sb, a);
  }
  fail(unimplemented("the compiler cannot tell whether the sizes ", a.to_string(), " and ", b.to_string(), " at '", node_, "' are equal; give more of the inputs' shapes"));
  return a;
}

std::vector<Dim> Builder::broadcast_dims(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  std::vector<Dim> out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const bool has_a = i < a.size(), has_b = i < b.size();
    const Dim &x = has_a ? a[a.size() - 1 - i] : b[b.size() - 1 - i], &y = has_b ? b[b.size() - 1 - i] : x;
    Dim& d = out[out.size() - 1 - i];
    if (x == y || y.is(1)) {
      d = x;
    } else if (x.is(1)) {
      d = y;
    } else if (x.is_const() && y.is_const()) {
      auto text = [](const std::vector<Dim>& dims) {
        std::string s = "[";
        for (const Dim& q : dims) s += (s.size() > 1 ? "," : "") + q.to_string();
        return s + "]";
      };
      fail(invalid_argument("Incompatible shapes: ", text(a), " vs. ", text(b), " at '", node_, "'"));
      return {};
    } else {
      d = same(x, y);
    }
  }
  return out;
}

int Builder::message(std::string text) {
  if (text.empty()) return -1;
  auto& all = module_.messages;
  const auto it = std::find(all.begin(), all.end(), text);
  if (it != all.end()) return int(it - all.begin());
  all.push_back(std::move(text));
  return int(all.size()) - 1;
}

Instr* Builder::make(Op op, Type type, std::vector<Value> operands) {
  auto i = std::make_unique<Instr>();
  i->op = op;
  i->id = module_.next_id++;
  i->type = std::move(type);
  i->operands = std::move(operands);
  i->node = node_;
  i->parent = region_;
  region_->instrs.push_back(std::move(i));
  return region_->instrs.back().get();
}

// ---- leaves ----------------------------------------------------------------------------------------------

Value Builder::parameter(Parameter p) {
  if (!supported(p.type.dtype)) return fail(unimplemented("the compiler does not handle ", core::dtype_name(p.type.dtype), " tensors ('", p.name, "')"));
  Region* main = module_.main.get();
  auto i = std::make_unique<Instr>();
  i->op = Op::kParameter;
  i->id = module_.next_id++;
  i->type = p.type;
  i->index = int(main->parameters.size());
  i->node = p.name;
  i->parent = main;
  Value v = i.get();
  // In front of everything: states may be met late.
  main->instrs.insert(main->instrs.begin() + long(main->parameters.size()), std::move(i));
  main->parameters.push_back(v);
  module_.parameters.push_back(std::move(p));
  return v;
}

Value Builder::constant(Tensor t) {
  if (!status_.ok()) return nullptr;
  if (!supported(t.dtype())) return fail(unimplemented("the compiler does not handle ", core::dtype_name(t.dtype()), " tensors ('", node_, "')"));
  Type type{t.dtype(), {}};
  for (int64_t d : t.shape().dims()) type.dims.emplace_back(d);
  Instr* i = make(Op::kConstant, std::move(type), {});
  if (tracks(t.dtype()) && t.num_elements() <= int64_t(kMostKnown)) {
    std::vector<Dim> v;
    for (int64_t k = 0; k < t.num_elements(); ++k) v.emplace_back(t.dtype() == DType::kInt32 ? int64_t(t.data<int32_t>()[k]) : t.data<int64_t>()[k]);
    i->known = std::move(v);
  }
  i->literal = std::move(t);
  return i;
}

Value Builder::scalar(DType dtype, double v) {
  if (!supported(dtype)) return fail(unimplemented("the compiler does not handle ", core::dtype_name(dtype), " tensors ('", node_, "')"));
  return constant(filled(dtype, v, int64_t(v)));
}

Value Builder::scalar_int(DType dtype, int64_t v) {
  if (!supported(dtype)) return fail(unimplemented("the compiler does not handle ", core::dtype_name(dtype), " tensors ('", node_, "')"));
  return constant(filled(dtype, double(v), v));
}

Value Builder::ints(const std::vector<int64_t>& v, DType dtype) {
  if (dtype == DType::kInt64) return constant(Tensor::vector(v));
  return constant(Tensor::vector(std::vector<int32_t>(v.begin(), v.end())));
}

Value Builder::fill(DType dtype, std::vector<Dim> dims, double v) { return broadcast_to(scalar(dtype, v), std::move(dims)); }

Value Builder::sizes(std::vector<Dim> v, DType dtype, bool is_scalar) {
  if (!status_.ok()) return nullptr;
  assert(tracks(dtype) && (!is_scalar || v.size() == 1));
  Type type{dtype, {}};
  if (!is_scalar) type.dims.emplace_back(int64_t(v.size()));
  Instr* i = make(Op::kSizes, std::move(type), {});
  i->known = std::move(v);
  return i;
}

Value Builder::iota(DType dtype, std::vector<Dim> dims, int axis) {
  if (!status_.ok()) return nullptr;
  Instr* i = make(Op::kIota, {dtype, std::move(dims)}, {});
  i->axes = {axis};
  if (tracks(dtype) && count(i->type.dims)) {
    std::vector<Dim> v(size_t(*count(i->type.dims)));
    each(i->type.dims, [&](const std::vector<int64_t>& index, size_t k) { v[k] = index[size_t(axis)]; });
    i->known = std::move(v);
  }
  return i;
}

// ---- elementwise -----------------------------------------------------------------------------------------

std::pair<Value, Value> Builder::matched(Value a, Value b) {
  if (!ok({a, b})) return {nullptr, nullptr};
  if (a->type.dtype != b->type.dtype) {
    fail(core::internal_error("operands of types ", core::dtype_name(a->type.dtype), " and ", core::dtype_name(b->type.dtype), " while lowering '", node_, "'"));
    return {nullptr, nullptr};
  }
  const std::vector<Dim> dims = broadcast_dims(a->type.dims, b->type.dims);
  if (!status_.ok()) return {nullptr, nullptr};
  return {broadcast_to(a, dims), broadcast_to(b, dims)};
}

Value Builder::unary(Unary op, Value x) {
  if (!ok({x})) return nullptr;
  const bool test = op == Unary::kIsNan || op == Unary::kIsInf || op == Unary::kIsFinite;
  Instr* i = make(Op::kUnary, {test ? DType::kBool : x->type.dtype, x->type.dims}, {x});
  i->unary = op;
  if (x->known && op == Unary::kNeg) {
    std::vector<Dim> v;
    for (const Dim& d : *x->known) v.push_back(fitted(x->type.dtype, Dim(0) - d));
    i->known = std::move(v);
  }
  return i;
}

Value Builder::binary(Binary op, Value a, Value b) {
  std::tie(a, b) = matched(a, b);
  if (!a || !b) return nullptr;
  Instr* i = make(Op::kBinary, a->type, {a, b});
  i->binary = op;
  const bool whole = core::is_integer_type(a->type.dtype);
  if (whole && (op == Binary::kDiv || op == Binary::kFloorDiv || op == Binary::kMod || op == Binary::kFloorMod)) {
    bool safe = b->known.has_value();
    if (safe) safe = std::all_of(b->known->begin(), b->known->end(), [](const Dim& d) { return d.is_const() && !d.is(0); });
    if (!safe) i->message = message("Integer division by zero");
  }
  if (a->known && b->known) {
    std::vector<Dim> v;
    for (size_t k = 0; k < a->known->size(); ++k) {
      const auto d = known_binary(op, (*a->known)[k], (*b->known)[k]);
      if (!d) return i;
      v.push_back(fitted(a->type.dtype, *d));
    }
    i->known = std::move(v);
  }
  return i;
}

Value Builder::compare(Compare op, Value a, Value b) {
  std::tie(a, b) = matched(a, b);
  if (!a || !b) return nullptr;
  if (a->known && b->known) {
    // Decided already: branches on it vanish.
    std::vector<char> v;
    for (size_t k = 0; k < a->known->size(); ++k) {
      const auto r = known_compare(op, (*a->known)[k], (*b->known)[k]);
      if (!r) break;
      v.push_back(*r);
    }
    if (v.size() == a->known->size()) {
      std::vector<int64_t> dims;
      for (const Dim& d : a->type.dims) dims.push_back(d.value());
      auto t = Tensor::allocate(DType::kBool, core::Shape(dims));
      if (t.ok()) {
        std::copy(v.begin(), v.end(), t->data<int8_t>());
        return constant(*t);
      }
    }
  }
  Instr* i = make(Op::kCompare, {DType::kBool, a->type.dims}, {a, b});
  i->compare = op;
  return i;
}

Value Builder::select(Value c, Value a, Value b) {
  if (!ok({c})) return nullptr;
  std::tie(a, b) = matched(a, b);
  if (!a || !b) return nullptr;
  const std::vector<Dim> dims = broadcast_dims(c->type.dims, a->type.dims);
  if (!status_.ok()) return nullptr;
  c = broadcast_to(c, dims);
  a = broadcast_to(a, dims);
  b = broadcast_to(b, dims);
  if (!ok({c, a, b})) return nullptr;
  if (c->op == Op::kConstant && c->literal.num_elements() == 1) return c->literal.data<int8_t>()[0] ? a : b;
  Instr* i = make(Op::kSelect, a->type, {c, a, b});
  if (c->op == Op::kConstant && a->known && b->known) {
    std::vector<Dim> v;
    for (size_t k = 0; k < a->known->size(); ++k) v.push_back(c->literal.data<int8_t>()[k] ? (*a->known)[k] : (*b->known)[k]);
    i->known = std::move(v);
  }
  return i;
}

Value Builder::convert(Value x, DType to) {
  if (!ok({x})) return nullptr;
  if (x->type.dtype == to) return x;
  if (!supported(to)) return fail(unimplemented("the compiler does not handle ", core::dtype_name(to), " tensors ('", node_, "')"));
  if (x->op == Op::kSizes && tracks(to)) return sizes(*x->known, to, x->type.dims.empty());
  Instr* i = make(Op::kConvert, {to, x->type.dims}, {x});
  if (tracks(to)) i->known = x->known;
  if (i->known) {
    for (Dim& d : *i->known) d = fitted(to, d);
  }
  return i;
}

Value Builder::bitcast(Value x, DType to) {
  if (!ok({x})) return nullptr;
  if (x->type.dtype == to) return x;
  return make(Op::kBitcast, {to, x->type.dims}, {x});
}

// ---- movement --------------------------------------------------------------------------------------------

Value Builder::broadcast_in_dim(Value x, std::vector<Dim> dims, std::vector<int> axes) {
  if (!ok({x})) return nullptr;
  if (x->type.dims == dims) return x;
  Instr* i = make(Op::kBroadcast, {x->type.dtype, std::move(dims)}, {x});
  i->axes = std::move(axes);
  i->known = moved(*x, i->type.dims, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> from(x->type.dims.size());
    for (size_t d = 0; d < from.size(); ++d) from[d] = x->dim(int(d)).is(1) ? 0 : index[size_t(i->axes[d])];
    return from;
  });
  return i;
}

Value Builder::broadcast_to(Value x, std::vector<Dim> dims) {
  if (!ok({x})) return nullptr;
  const int grow = int(dims.size()) - x->rank();
  if (grow < 0) return fail(invalid_argument("cannot broadcast ", x->type.to_string(), " to fewer dimensions at '", node_, "'"));
  std::vector<int> axes;
  for (int d = 0; d < x->rank(); ++d) {
    axes.push_back(d + grow);
    if (!x->dim(d).is(1)) same(x->dim(d), dims[size_t(d + grow)]);
  }
  if (!status_.ok()) return nullptr;
  return broadcast_in_dim(x, std::move(dims), std::move(axes));
}

Value Builder::reshape(Value x, std::vector<Dim> dims) {
  if (!ok({x})) return nullptr;
  if (x->type.dims == dims) return x;
  same(x->type.elements(), product(dims));
  if (!status_.ok()) return nullptr;
  if (x->op == Op::kReshape && x->operand(0).type.dims == dims) return x->operands[0];
  Instr* i = make(Op::kReshape, {x->type.dtype, std::move(dims)}, {x->op == Op::kReshape ? x->operands[0] : x});
  i->known = x->known;
  return i;
}

Value Builder::expand_dims(Value x, int axis) {
  if (!ok({x})) return nullptr;
  std::vector<Dim> dims = x->type.dims;
  dims.insert(dims.begin() + axis, Dim(1));
  return reshape(x, std::move(dims));
}

Value Builder::transpose(Value x, std::vector<int> axes) {
  if (!ok({x})) return nullptr;
  bool same_order = true;
  std::vector<Dim> dims;
  for (size_t d = 0; d < axes.size(); ++d) {
    dims.push_back(x->dim(axes[d]));
    same_order = same_order && axes[d] == int(d);
  }
  if (same_order) return x;
  Instr* i = make(Op::kTranspose, {x->type.dtype, std::move(dims)}, {x});
  i->axes = std::move(axes);
  i->known = moved(*x, i->type.dims, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> from(index.size());
    for (size_t d = 0; d < index.size(); ++d) from[size_t(i->axes[d])] = index[d];
    return from;
  });
  return i;
}

Value Builder::slice(Value x, std::vector<Dim> starts, std::vector<Dim> sizes, std::vector<int64_t> steps) {
  if (!ok({x})) return nullptr;
  if (steps.empty()) steps.assign(starts.size(), 1);
  bool whole = x->type.dims == sizes;
  for (size_t d = 0; d < starts.size(); ++d) {
    whole = whole && starts[d].is(0) && steps[d] == 1;
    const Dim end = starts[d] + (sizes[d] - Dim(1)) * Dim(steps[d]);  // the last one
    if (end.is_const() && x->dim(int(d)).is_const() && !sizes[d].is(0) && (end.value() >= x->dim(int(d)).value() || (starts[d].is_const() && starts[d].value() < 0)))
      return fail(invalid_argument("slice of '", node_, "' goes beyond dimension ", d, " of ", x->type.to_string()));
    if (sizes[d].is_const() && sizes[d].value() < 0) return fail(invalid_argument("slice of '", node_, "' has a negative size"));
  }
  if (whole) return x;
  Instr* i = make(Op::kSlice, {x->type.dtype, std::move(sizes)}, {x});
  i->starts = std::move(starts);
  i->steps = std::move(steps);
  const bool numbers = std::all_of(i->starts.begin(), i->starts.end(), [](const Dim& d) { return d.is_const(); });
  if (numbers) {
    i->known = moved(*x, i->type.dims, [&](std::vector<int64_t> index) {
      for (size_t d = 0; d < index.size(); ++d) index[d] = i->starts[d].value() + index[d] * i->steps[d];
      return index;
    });
  }
  return i;
}

Value Builder::slice_axis(Value x, int axis, Dim start, Dim size) {
  if (!ok({x})) return nullptr;
  std::vector<Dim> starts(size_t(x->rank()), Dim(0)), dims = x->type.dims;
  starts[size_t(axis)] = std::move(start);
  dims[size_t(axis)] = std::move(size);
  return slice(x, std::move(starts), std::move(dims));
}

Value Builder::pad(Value x, Value value, std::vector<Dim> low, std::vector<Dim> high, std::vector<int64_t> interior) {
  if (!ok({x, value})) return nullptr;
  if (interior.empty()) interior.assign(low.size(), 0);
  bool nothing = true;
  std::vector<Dim> dims;
  for (size_t d = 0; d < low.size(); ++d) {
    const Dim& in = x->dim(int(d));
    const Dim spread = interior[d] == 0 ? in : ir::max(in + (in - Dim(1)) * Dim(interior[d]), Dim(0));
    dims.push_back(low[d] + spread + high[d]);
    nothing = nothing && low[d].is(0) && high[d].is(0) && interior[d] == 0;
    if (dims.back().is_const() && dims.back().value() < 0) return fail(invalid_argument("padding of '", node_, "' leaves a negative size"));
  }
  if (nothing) return x;
  Instr* i = make(Op::kPad, {x->type.dtype, std::move(dims)}, {x, value});
  i->low = std::move(low);
  i->high = std::move(high);
  i->interior = std::move(interior);
  return i;
}

Value Builder::concat(std::vector<Value> parts, int axis) {
  for (Value p : parts) {
    if (!ok({p})) return nullptr;
  }
  if (parts.empty()) return fail(core::internal_error("nothing to concatenate at '", node_, "'"));
  if (parts.size() == 1) return parts[0];
  Type type = parts[0]->type;
  Dim total(0);
  bool known = true;
  for (Value p : parts) {
    if (p->rank() != type.rank()) return fail(invalid_argument("ConcatOp : Ranks of all input tensors should match at '", node_, "'"));
    for (int d = 0; d < type.rank(); ++d) {
      if (d != axis) type.dims[size_t(d)] = same(type.dims[size_t(d)], p->dim(d));
    }
    total = total + p->dim(axis);
    known = known && p->known;
  }
  if (!status_.ok()) return nullptr;
  type.dims[size_t(axis)] = total;
  Instr* i = make(Op::kConcat, std::move(type), parts);
  i->axes = {axis};
  if (known && count(i->type.dims)) {
    std::vector<Dim> v(size_t(*count(i->type.dims)));
    each(i->type.dims, [&](std::vector<int64_t> index, size_t k) {
      for (Value p : parts) {
        const int64_t n = p->dim(axis).value();
        if (index[size_t(axis)] < n) {
          v[k] = (*p->known)[place(p->type.dims, index)];
          return;
        }
        index[size_t(axis)] -= n;
      }
    });
    i->known = std::move(v);
  }
  return i;
}

Value Builder::reverse(Value x, std::vector<int> axes) {
  if (!ok({x})) return nullptr;
  if (axes.empty()) return x;
  Instr* i = make(Op::kReverse, x->type, {x});
  i->axes = std::move(axes);
  i->known = moved(*x, i->type.dims, [&](std::vector<int64_t> index) {
    for (int d : i->axes) index[size_t(d)] = x->dim(d).value() - 1 - index[size_t(d)];
    return index;
  });
  return i;
}

Value Builder::dynamic_slice(Value x, std::vector<Value> starts, std::vector<Dim> sizes) {
  if (!ok({x})) return nullptr;
  std::vector<Value> operands{x};
  bool fixed = true;
  std::vector<Dim> at;
  for (Value& s : starts) {
    s = convert(s, DType::kInt64);
    if (!ok({s})) return nullptr;
    operands.push_back(s);
    // A start that is known and fits needs no clamping.
    fixed = fixed && s->known && (*s->known)[0].nonnegative() && (x->dim(int(at.size())) - sizes[at.size()] - (*s->known)[0]).nonnegative();
    if (fixed) at.push_back((*s->known)[0]);
  }
  if (fixed) return slice(x, std::move(at), std::move(sizes));
  return make(Op::kDynamicSlice, {x->type.dtype, std::move(sizes)}, std::move(operands));
}

Value Builder::dynamic_update(Value x, Value update, std::vector<Value> starts) {
  if (!ok({x, update})) return nullptr;
  std::vector<Value> operands{x, update};
  for (Value s : starts) {
    operands.push_back(convert(s, DType::kInt64));
    if (!ok({operands.back()})) return nullptr;
  }
  return make(Op::kDynamicUpdate, x->type, std::move(operands));
}

Value Builder::gather(Value x, Value indices, int axis, int batch, std::string text) {
  if (!ok({x, indices})) return nullptr;
  std::vector<Dim> dims(x->type.dims.begin(), x->type.dims.begin() + axis);
  for (int d = 0; d < batch; ++d) dims[size_t(d)] = same(x->dim(d), indices->dim(d));
  dims.insert(dims.end(), indices->type.dims.begin() + batch, indices->type.dims.end());
  dims.insert(dims.end(), x->type.dims.begin() + axis + 1, x->type.dims.end());
  if (!status_.ok()) return nullptr;
  Instr* i = make(Op::kGather, {x->type.dtype, std::move(dims)}, {x, indices});
  i->axes = {axis};
  i->batch = batch;
  i->message = message(std::move(text));
  const Dim& most = x->dim(axis);
  const bool numbers = indices->known && most.is_const() && std::all_of(indices->known->begin(), indices->known->end(), [&](const Dim& d) {
    return d.is_const() && d.value() >= 0 && d.value() < most.value();
  });
  if (numbers) i->message = -1;
  if (numbers && batch == 0) {
    const size_t n = indices->type.dims.size();
    i->known = moved(*x, i->type.dims, [&](const std::vector<int64_t>& index) {
      const std::vector<int64_t> which(index.begin() + axis, index.begin() + axis + long(n));
      std::vector<int64_t> from(index.begin(), index.begin() + axis);
      from.push_back((*indices->known)[place(indices->type.dims, which)].value());
      from.insert(from.end(), index.begin() + axis + long(n), index.end());
      return from;
    });
  }
  return i;
}

Value Builder::scatter(Value x, Value indices, Value updates, Reduce reduce, std::string text) {
  if (!ok({x, indices, updates})) return nullptr;
  if (x->rank() < 1 || indices->rank() != 1 || updates->rank() != x->rank()) return fail(core::internal_error("scatter of wrong ranks at '", node_, "'"));
  same(indices->dim(0), updates->dim(0));
  for (int d = 1; d < x->rank(); ++d) same(x->dim(d), updates->dim(d));
  if (!status_.ok()) return nullptr;
  Instr* i = make(Op::kScatter, x->type, {x, indices, updates});
  i->reduce = reduce;
  i->message = message(std::move(text));
  return i;
}

// ---- reductions, windows, products -----------------------------------------------------------------------

Value Builder::reduce(Reduce r, Value x, std::vector<int> axes, bool keep_dims) {
  if (!ok({x})) return nullptr;
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  std::vector<Dim> dims, kept;
  bool ones = true;
  for (int d = 0; d < x->rank(); ++d) {
    const bool gone = std::binary_search(axes.begin(), axes.end(), d);
    if (!gone) dims.push_back(x->dim(d));
    kept.push_back(gone ? Dim(1) : x->dim(d));
    if (gone) ones = ones && x->dim(d).is(1);
  }
  Value v;
  if (axes.empty() || ones) {
    v = reshape(x, dims);
  } else {
    Instr* i = make(Op::kReduce, {x->type.dtype, dims}, {x});
    i->reduce = r;
    i->axes = axes;
    if (x->known && int(axes.size()) == x->rank()) {
      std::optional<Dim> all;
      for (const Dim& d : *x->known) {
        if (!all) {
          all = d;
          continue;
        }
        switch (r) {
          case Reduce::kSum: all = *all + d; break;
          case Reduce::kProd: all = *all * d; break;
          case Reduce::kMax: all = ir::max(*all, d); break;
          case Reduce::kMin: all = ir::min(*all, d); break;
          default: break;
        }
      }
      if (!all && r == Reduce::kSum) all = Dim(0);
      if (!all && r == Reduce::kProd) all = Dim(1);
      if (all) i->known = std::vector<Dim>{*all};
    }
    v = i;
  }
  return keep_dims ? reshape(v, kept) : v;
}

Value Builder::mean(Value x, std::vector<int> axes, bool keep_dims) {
  if (!ok({x})) return nullptr;
  Dim n(1);
  for (int d : axes) n = n * x->dim(d);
  Value s = sum(x, std::move(axes), keep_dims);
  if (!s) return nullptr;
  return div(s, convert(sizes({n}, DType::kInt64, true), s->type.dtype));
}

Value Builder::arg_reduce(Reduce r, Value x, int axis, DType out) {
  if (!ok({x})) return nullptr;
  std::vector<Dim> dims = x->type.dims;
  dims.erase(dims.begin() + axis);
  Instr* i = make(Op::kArgReduce, {out, std::move(dims)}, {x});
  i->reduce = r;
  i->axes = {axis};
  return i;
}

Dim Builder::window_out(const Dim& in, int64_t size, int64_t stride, int64_t dilation, const Dim& low, const Dim& high) {
  const Dim span((size - 1) * dilation + 1);
  return ir::max(floor_div(in + low + high - span, Dim(stride)) + Dim(1), Dim(0));
}

void Builder::same_padding(const Dim& in, int64_t size, int64_t stride, int64_t dilation, Dim& low, Dim& high) {
  const Dim out = ceil_div(in, Dim(stride));
  const Dim total = ir::max((out - Dim(1)) * Dim(stride) + Dim((size - 1) * dilation + 1) - in, Dim(0));
  low = floor_div(total, Dim(2));
  high = total - low;
}

Value Builder::window(Reduce r, Value x, Window w) {
  if (!ok({x})) return nullptr;
  std::vector<Dim> dims = x->type.dims;
  for (size_t d = 0; d < w.size.size(); ++d) {
    dims[d + 1] = window_out(x->dim(int(d) + 1), w.size[d], w.stride[d], w.dilation.empty() ? 1 : w.dilation[d], w.low[d], w.high[d]);
  }
  Instr* i = make(Op::kWindow, {x->type.dtype, std::move(dims)}, {x});
  i->reduce = r;
  i->window = std::move(w);
  return i;
}

Value Builder::max_pool_grad(Value x, Value dy, Window w) {
  if (!ok({x, dy})) return nullptr;
  Instr* i = make(Op::kMaxPoolGrad, x->type, {x, dy});
  i->window = std::move(w);
  return i;
}

Value Builder::scan(Reduce r, Value x, int axis, bool exclusive, bool reverse) {
  if (!ok({x})) return nullptr;
  Instr* i = make(Op::kScan, x->type, {x});
  i->reduce = r;
  i->axes = {axis};
  i->exclusive = exclusive;
  i->reverse = reverse;
  return i;
}

std::pair<Value, Value> Builder::sort(Value x, bool descending) {
  if (!ok({x})) return {nullptr, nullptr};
  Instr* i = make(Op::kSort, {}, {x});
  i->reverse = descending;
  i->results = {x->type, {DType::kInt32, x->type.dims}};
  Instr* a = make(Op::kGet, i->results[0], {i});
  Instr* b = make(Op::kGet, i->results[1], {i});
  b->index = 1;
  return {a, b};
}

Value Builder::dot(Value a, Value b, bool transpose_a, bool transpose_b) {
  if (!ok({a, b})) return nullptr;
  const int n = a->rank();
  if (n < 2 || b->rank() != n || a->type.dtype != b->type.dtype) return fail(core::internal_error("product of ", a->type.to_string(), " and ", b->type.to_string(), " at '", node_, "'"));
  std::vector<Dim> dims;
  for (int d = 0; d < n - 2; ++d) dims.push_back(same(a->dim(d), b->dim(d)));
  const Dim &ka = a->dim(transpose_a ? n - 2 : n - 1), &kb = b->dim(transpose_b ? n - 1 : n - 2);
  if (ka.is_const() && kb.is_const() && !(ka == kb))
    return fail(invalid_argument("Matrix size-incompatible: In[0]: ", a->type.to_string(), ", In[1]: ", b->type.to_string(), " at '", node_, "'"));
  same(ka, kb);
  if (!status_.ok()) return nullptr;
  dims.push_back(a->dim(transpose_a ? n - 1 : n - 2));
  dims.push_back(b->dim(transpose_b ? n - 2 : n - 1));
  Instr* i = make(Op::kDot, {a->type.dtype, std::move(dims)}, {a, b});
  i->transpose_a = transpose_a;
  i->transpose_b = transpose_b;
  return i;
}

Value Builder::conv(Value x, Value filter, Window w) {
  if (!ok({x, filter})) return nullptr;
  const int spatial = x->rank() - 2;
  w.size.clear();
  std::vector<Dim> dims{x->dim(0)};
  for (int d = 0; d < spatial; ++d) {
    if (!filter->dim(d).is_const()) return fail(unimplemented("a convolution whose filter has open sizes ('", node_, "')"));
    w.size.push_back(filter->dim(d).value());
    const int64_t holes = w.base_dilation.empty() ? 1 : w.base_dilation[size_t(d)];
    const Dim& in = x->dim(d + 1);
    const Dim spread = holes == 1 ? in : ir::max((in - Dim(1)) * Dim(holes) + Dim(1), Dim(0));
    dims.push_back(window_out(spread, w.size.back(), w.stride[size_t(d)], w.dilation[size_t(d)], w.low[size_t(d)], w.high[size_t(d)]));
  }
  if (w.base_dilation.empty()) w.base_dilation.assign(size_t(spatial), 1);
  same(x->dim(spatial + 1), filter->dim(spatial) * Dim(w.groups));
  if (!status_.ok()) return nullptr;
  dims.push_back(filter->dim(spatial + 1));
  Instr* i = make(Op::kConv, {x->type.dtype, std::move(dims)}, {x, filter});
  i->window = std::move(w);
  return i;
}

Value Builder::conv_filter_grad(Value x, Value dy, Window w) {
  if (!ok({x, dy})) return nullptr;
  const int spatial = x->rank() - 2;
  if (w.base_dilation.empty()) w.base_dilation.assign(size_t(spatial), 1);
  std::vector<Dim> dims(w.size.begin(), w.size.end());
  dims.push_back(floor_div(x->dim(spatial + 1), Dim(w.groups)));
  dims.push_back(dy->dim(spatial + 1));
  Instr* i = make(Op::kConvFilterGrad, {x->type.dtype, std::move(dims)}, {x, dy});
  i->window = std::move(w);
  return i;
}

Value Builder::philox(Value key, Value counter, Dim n) {
  if (!ok({key, counter})) return nullptr;
  return make(Op::kPhilox, {DType::kUint32, {std::move(n)}}, {key, counter});
}

// ---- control ---------------------------------------------------------------------------------------------

std::unique_ptr<Region> Builder::begin_region() {
  auto r = std::make_unique<Region>();
  outer_.push_back(region_);
  region_ = r.get();
  return r;
}

Value Builder::region_parameter(Type t) {
  if (!status_.ok()) return nullptr;
  Instr* i = make(Op::kParameter, std::move(t), {});
  i->index = int(region_->parameters.size());
  region_->parameters.push_back(i);
  return i;
}

void Builder::end_region(Region& r, std::vector<Value> results) {
  assert(region_ == &r);
  r.results = std::move(results);
  for (Value v : r.results) {
    if (!v) fail(core::internal_error("a region of '", node_, "' lacks a result"));
  }
  region_ = outer_.back();
  outer_.pop_back();
}

std::vector<Value> Builder::while_loop(std::vector<Value> init, std::unique_ptr<Region> condition, std::unique_ptr<Region> body) {
  for (Value v : init) {
    if (!ok({v})) return {};
  }
  if (!status_.ok()) return {};
  std::vector<Type> types;
  for (Value v : init) types.push_back(v->type);
  Instr* i = make(Op::kWhile, {}, std::move(init));
  i->results = types;
  condition->owner = body->owner = i;
  i->regions.push_back(std::move(condition));
  i->regions.push_back(std::move(body));
  std::vector<Value> out;
  for (size_t k = 0; k < types.size(); ++k) {
    Instr* g = make(Op::kGet, types[k], {i});
    g->index = int(k);
    out.push_back(g);
  }
  return out;
}

std::vector<Value> Builder::branch(Value which, std::vector<std::unique_ptr<Region>> regions) {
  if (!ok({which})) return {};
  Instr* i = make(Op::kIf, {}, {which});
  for (Value v : regions[0]->results) i->results.push_back(v->type);
  for (auto& r : regions) {
    r->owner = i;
    for (size_t k = 0; k < r->results.size() && k < i->results.size(); ++k) {
      if (!(r->results[k]->type == i->results[k])) {
        fail(unimplemented("branches of '", node_, "' give different types: ", r->results[k]->type.to_string(), " and ", i->results[k].to_string()));
        return {};
      }
    }
    i->regions.push_back(std::move(r));
  }
  std::vector<Value> out;
  for (size_t k = 0; k < i->results.size(); ++k) {
    Instr* g = make(Op::kGet, i->results[k], {i});
    g->index = int(k);
    out.push_back(g);
  }
  return out;
}

void Builder::check(Value condition, std::string text) {
  if (!ok({condition})) return;
  if (condition->op == Op::kConstant && condition->literal.num_elements() == 1 && condition->literal.data<int8_t>()[0]) return;
  Instr* i = make(Op::kCheck, {}, {condition});
  i->message = message(std::move(text));
}

}  // namespace weft::ir
