#include "ir/builder.h"

#include <algorithm>
#include <complex>

#include "ir/insert.h"
#include "ir/known.h"

namespace weft_engine::ir {
namespace {

using core::cat;
using core::invalid_argument;
using core::unimplemented;
using namespace known;  // NOLINT: what this file is about

bool tracks(DType t) { return t == DType::kInt32 || t == DType::kInt64; }

Tensor filled(DType dtype, double v, int64_t iv) {
  switch (dtype) {
    case DType::kFloat: return Tensor::scalar<float>(float(v));
    case DType::kDouble: return Tensor::scalar<double>(v);
    case DType::kHalf: return Tensor::scalar<core::half>(core::half(float(v)));
    case DType::kBfloat16: return Tensor::scalar<core::bfloat16>(core::bfloat16(float(v)));
    case DType::kFloat8E5m2: return Tensor::scalar(core::float8_e5m2(float(v)));
    case DType::kFloat8E4m3fn: return Tensor::scalar(core::float8_e4m3fn(float(v)));
    case DType::kFloat8E4m3fnuz: return Tensor::scalar(core::float8_e4m3fnuz(float(v)));
    case DType::kFloat8E4m3b11fnuz: return Tensor::scalar(core::float8_e4m3b11fnuz(float(v)));
    case DType::kFloat8E5m2fnuz: return Tensor::scalar(core::float8_e5m2fnuz(float(v)));
    case DType::kInt8: return Tensor::scalar<int8_t>(int8_t(iv));
    case DType::kInt16: return Tensor::scalar<int16_t>(int16_t(iv));
    case DType::kInt32: return Tensor::scalar<int32_t>(int32_t(iv));
    case DType::kInt64: return Tensor::scalar<int64_t>(iv);
    case DType::kUint8: return Tensor::scalar<uint8_t>(uint8_t(iv));
    case DType::kUint16: return Tensor::scalar<uint16_t>(uint16_t(iv));
    case DType::kUint32: return Tensor::scalar<uint32_t>(uint32_t(iv));
    case DType::kUint64: return Tensor::scalar<uint64_t>(uint64_t(iv));
    case DType::kBool: return Tensor::scalar<bool>(iv != 0);
    case DType::kComplex64: return Tensor::scalar(std::complex<float>(float(v)));
    case DType::kComplex128: return Tensor::scalar(std::complex<double>(v));
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
      if (b.is(0) || !a.nonnegative() || !b.nonnegative())
        return a.is_const() && b.is_const() && !b.is(0) ? std::optional<Dim>(a.value() / b.value()) : std::nullopt;
      return floor_div(a, b);
    case Binary::kFloorDiv: return b.is(0) ? std::nullopt : std::optional<Dim>(floor_div(a, b));
    case Binary::kMod:
      if (b.is(0) || !a.nonnegative() || !b.nonnegative())
        return a.is_const() && b.is_const() && !b.is(0) ? std::optional<Dim>(a.value() % b.value()) : std::nullopt;
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
  fail(unimplemented("the compiler cannot tell whether the sizes ", a.to_string(), " and ", b.to_string(), " at '", node_,
                     "' are equal; give more of the inputs' shapes"));
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

bool computes(Op op) {
  switch (op) {
    case Op::kUnary:
    case Op::kBinary:
    case Op::kCompare:
    case Op::kReduce:
    case Op::kArgReduce:
    case Op::kWindow:
    case Op::kMaxPoolGrad:
    case Op::kScan:
    case Op::kSort:
    case Op::kDot:
    case Op::kConv:
    case Op::kConvFilterGrad: return true;
    default: return false;
  }
}

namespace {

// How many sums, products and bounds a size is made of, counted up to `most`. Parts that it has several times count each time, as they do for whoever writes them down.
int parts_of(const Dim& d, int most) {
  int n = 1;
  for (const Dim::Term& t : d.terms()) {
    for (const Dim::Atom& a : t.atoms) {
      ++n;
      if (n >= most) return most;
      if (a.a) n += parts_of(*a.a, most - n);
      if (n >= most) return most;
      if (a.b) n += parts_of(*a.b, most - n);
      if (n >= most) return most;
    }
  }
  return n;
}
constexpr int kMostParts = 512;

}  // namespace

Instr* Builder::make(Op op, Type type, std::vector<Value> operands) {
  for (const Dim& d : type.dims) {
    if (parts_of(d, kMostParts) == kMostParts) fail(unimplemented("a size at '", node_, "' is too complicated to be left open"));
  }
  if (computes(op)) {
    for (Value v : operands) {
      if (v && (is_float8(v->type.dtype) || (core::is_complex_type(v->type.dtype) && op != Op::kUnary)))
        fail(unimplemented("the compiler does not compute in ", core::dtype_name(v->type.dtype), " ('", node_, "')"));
    }
  }
  region_->instrs.push_back(new_instr(module_, op, std::move(type), std::move(operands), node_, region_));
  return region_->instrs.back().get();
}

// ---- leaves ----------------------------------------------------------------------------------------------

Value Builder::parameter(Parameter p) {
  p.type.dtype = core::integer_type_of(p.type.dtype);  // what quantised numbers stand for is in the rules of their ops
  if (!supported(p.type.dtype))
    return fail(unimplemented("the compiler does not handle ", core::dtype_name(p.type.dtype), " tensors ('", p.name, "')"));
  Region* main = module_.main.get();
  auto i = new_instr(module_, Op::kParameter, p.type, {}, p.name, main);
  i->index = int(main->parameters.size());
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
  if (!tracks(dtype) || (is_scalar && v.size() != 1))
    return fail(
        core::internal_error(v.size(), " sizes as ", core::dtype_name(dtype), is_scalar ? " scalar" : " vector", " while lowering '", node_, "'"));
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
    fail(core::internal_error("operands of types ", core::dtype_name(a->type.dtype), " and ", core::dtype_name(b->type.dtype), " while lowering '",
                              node_, "'"));
    return {nullptr, nullptr};
  }
  const std::vector<Dim> dims = broadcast_dims(a->type.dims, b->type.dims);
  if (!status_.ok()) return {nullptr, nullptr};
  return {broadcast_to(a, dims), broadcast_to(b, dims)};
}

Value Builder::unary(Unary op, Value x) {
  if (!ok({x})) return nullptr;
  if (core::is_complex_type(x->type.dtype)) return complex_unary(op, x);
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
  if (core::is_complex_type(a->type.dtype)) return complex_binary(op, a, b);
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
  if (core::is_complex_type(a->type.dtype)) return complex_compare(op, a, b);
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
  if (is_float8(x->type.dtype)) return convert(from_float8(x), to);
  if (is_float8(to)) return to_float8(convert(x, DType::kFloat), to);
  if (core::is_complex_type(x->type.dtype) || core::is_complex_type(to)) return complex_convert(x, to);
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

// ---- control ---------------------------------------------------------------------------------------------

OpenRegion::OpenRegion(Builder& b) : builder_(b), outer_(b.region_), region_(std::make_unique<Region>()) { b.region_ = region_.get(); }

OpenRegion::~OpenRegion() {
  if (region_ && builder_.region_ == region_.get()) builder_.region_ = outer_;
}

std::unique_ptr<Region> OpenRegion::end(std::vector<Value> results) {
  if (!region_ || builder_.region_ != region_.get()) builder_.fail(core::internal_error("a region inside of '", builder_.node_, "' is still open"));
  builder_.region_ = outer_;
  for (Value v : results) {
    if (!v) builder_.fail(core::internal_error("a region of '", builder_.node_, "' lacks a result"));
  }
  if (region_) region_->results = std::move(results);
  return std::move(region_);
}

OpenRegion Builder::begin_region() { return OpenRegion(*this); }

Value Builder::region_parameter(Type t) {
  if (!status_.ok()) return nullptr;
  Instr* i = make(Op::kParameter, std::move(t), {});
  i->index = int(region_->parameters.size());
  region_->parameters.push_back(i);
  return i;
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
  for (const auto& r : regions) {
    if (r->results.size() == regions[0]->results.size()) continue;
    fail(core::internal_error("branches of '", node_, "' give different numbers of results"));
    return {};
  }
  Instr* i = make(Op::kIf, {}, {which});
  for (Value v : regions[0]->results) i->results.push_back(v->type);
  for (auto& r : regions) {
    r->owner = i;
    for (size_t k = 0; k < r->results.size(); ++k) {
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

}  // namespace weft_engine::ir
