#include <cmath>
#include <limits>

#include "kernels/cpu/random_fill.h"
#include "ops/math/math_lower.h"
#include "ops/random/random_lower.h"

namespace weft_engine::ops {

using ir::Binary;
using ir::Builder;
using ir::Compare;
using ir::Unary;

Value words(Builder& b, std::vector<Value> scalars) {
  for (Value& v : scalars) v = v ? b.reshape(v, {Dim(1)}) : nullptr;
  return b.concat(std::move(scalars), 0);
}

Value word(Builder& b, Value vector, int64_t i) { return as_scalar(b, b.slice_axis(vector, 0, Dim(i), 1)); }

Value skip(Builder& b, Value counter, Value blocks) {
  const Value low = b.add(word(b, counter, 0), blocks);
  const Value carry = b.convert(b.compare(Compare::kLt, low, blocks), DType::kUint64);
  return words(b, {low, b.add(word(b, counter, 1), carry)});
}

Value reserved(Builder& b, const Dim& elements) {
  return b.convert(b.sizes({elements * Dim(int64_t(kernels::kReservedBlocks))}, DType::kInt64, true), DType::kUint64);
}

namespace {

Value u32(Builder& b, uint32_t v) { return b.constant(Tensor::scalar<uint32_t>(v)); }
Value u64(Builder& b, uint64_t v) { return b.constant(Tensor::scalar<uint64_t>(v)); }
Value and_(Builder& b, Value x, Value y) { return b.binary(Binary::kAnd, x, y); }
Value or_(Builder& b, Value x, Value y) { return b.binary(Binary::kOr, x, y); }

// Column i of [n, columns] as [n].
Value column(Builder& b, Value x, int64_t i) {
  if (!x) return nullptr;
  return b.reshape(b.slice_axis(x, 1, Dim(i), 1), {x->dim(0)});
}

// Two numbers of 32 bits as one of 64.
Value joined(Builder& b, Value low, Value high) {
  return or_(b, b.convert(low, DType::kUint64), b.binary(Binary::kShl, b.convert(high, DType::kUint64), u64(b, 32)));
}

Value bits(LowerContext& l, const Generator& g, const Dim& n, bool wide) {
  if (!wide) return l.b.philox(g.key, g.counter, n);
  const Value pairs = l.b.reshape(l.b.philox(g.key, g.counter, n * Dim(2)), {n, Dim(2)});
  return joined(l.b, column(l.b, pairs, 0), column(l.b, pairs, 1));
}

// Random bits as the mantissa of a number in [1, 2), less 1.
Value uniform_float(Builder& b, Value x) { return b.sub(b.bitcast(or_(b, and_(b, x, u32(b, 0x7fffff)), u32(b, 0x3f800000)), DType::kFloat), 1); }
Value uniform_double(Builder& b, Value high, Value low) {
  const Value mantissa = joined(b, low, and_(b, high, u32(b, 0xfffff)));
  return b.sub(b.bitcast(or_(b, mantissa, u64(b, 0x3ff0000000000000u)), DType::kDouble), 1);
}

Value uniform(LowerContext& l, const Generator& g, DType dtype, const Dim& n) {
  Builder& b = l.b;
  if (dtype == DType::kDouble) {
    const Value pairs = b.reshape(b.philox(g.key, g.counter, n * Dim(2)), {n, Dim(2)});
    return uniform_double(b, column(b, pairs, 0), column(b, pairs, 1));
  }
  const Value x = b.philox(g.key, g.counter, n);
  if (dtype == DType::kFloat) return uniform_float(b, x);
  const bool half = dtype == DType::kHalf;
  if (!half && dtype != DType::kBfloat16) return b.fail(unimplemented("random numbers of type ", dtype_name(dtype), " at '", l.node.name(), "'"));
  const Value narrow = b.convert(or_(b, and_(b, x, u32(b, half ? 0x3ff : 0x7f)), u32(b, half ? 0x3c00 : 0x3f80)), DType::kUint16);
  return b.sub(b.bitcast(narrow, dtype), 1);
}

// Box and Muller: two uniform numbers to two normal ones.
Value box_muller(Builder& b, Value first, Value second) {
  if (!first || !second) return nullptr;
  const DType t = first->type.dtype;
  const Value u = b.max(first, b.scalar(t, 1.0e-7));
  const Value angle = b.convert(b.mul(b.convert(second, DType::kDouble), 2 * 3.14159265358979323846), t);
  const Value radius = b.sqrt(b.mul(b.log(u), -2));
  const Value sine = b.mul(b.unary(Unary::kSin, angle), radius), cosine = b.mul(b.unary(Unary::kCos, angle), radius);
  return b.concat({b.expand_dims(sine, 1), b.expand_dims(cosine, 1)}, 1);
}

// Blocks [n, 4] as normal numbers: 4 floats or 2 doubles each.
Value normals(Builder& b, Value blocks, bool wide) {
  if (!blocks) return nullptr;
  const Dim& n = blocks->dim(0);
  if (wide)
    return box_muller(b, uniform_double(b, column(b, blocks, 0), column(b, blocks, 1)),
                      uniform_double(b, column(b, blocks, 2), column(b, blocks, 3)));
  const Value pairs = b.reshape(uniform_float(b, blocks), {n * Dim(2), Dim(2)});
  return b.reshape(box_muller(b, column(b, pairs, 0), column(b, pairs, 1)), {n, Dim(4)});
}

// Block number at[i] of the generator, for each i: [n, 4].
Value blocks_at(Builder& b, const Generator& g, Value at) {
  Value low = b.add(word(b, g.counter, 0), at);
  const Value high = b.add(word(b, g.counter, 1), b.convert(b.compare(Compare::kLt, low, at), DType::kUint64));
  auto part = [&](Value x, uint64_t shift) { return b.convert(b.binary(Binary::kShr, x, u64(b, shift)), DType::kUint32); };
  auto xor_ = [&](Value x, Value y) { return b.binary(Binary::kXor, x, y); };
  auto product = [&](Value x, uint64_t by) { return b.mul(b.convert(x, DType::kUint64), u64(b, by)); };
  Value c[4] = {part(low, 0), part(low, 32), part(high, 0), part(high, 32)};
  Value k0 = part(g.key, 0), k1 = part(g.key, 32);
  for (int round = 0; round < 10; ++round) {
    const Value p0 = product(c[0], 0xD2511F53u), p1 = product(c[2], 0xCD9E8D57u);
    const Value next[4] = {xor_(xor_(part(p1, 32), c[1]), k0), part(p1, 0), xor_(xor_(part(p0, 32), c[3]), k1), part(p0, 0)};
    std::copy(next, next + 4, c);
    k0 = b.add(k0, u32(b, 0x9E3779B9u));
    k1 = b.add(k1, u32(b, 0xBB67AE85u));
  }
  std::vector<Value> columns;
  for (Value v : c) columns.push_back(b.expand_dims(v, 1));
  return b.concat(std::move(columns), 1);
}

// Each group of elements draws from a stretch of blocks of its own until it is full of numbers within two deviations: one block a
// turn of the loop, for all groups at once.
Value truncated_normals(LowerContext& l, const Generator& g, bool wide, const Dim& n) {
  Builder& b = l.b;
  const DType t = wide ? DType::kDouble : DType::kFloat;
  const int64_t size = wide ? 2 : 4;
  const Dim groups = ceil_div(n, Dim(size));
  const uint64_t stretch = uint64_t(size) * kernels::kReservedBlocks / 4;
  const Value starts = b.mul(b.convert(b.iota(DType::kInt64, {groups}, 0), DType::kUint64), u64(b, stretch));
  const std::vector<Value> init{b.constant(Tensor::scalar<uint64_t>(0)), b.fill(DType::kInt32, {groups}, 0), b.fill(t, {groups, Dim(size)}, 0)};
  if (!l.ok()) return nullptr;
  auto parameters = [&] {
    std::vector<Value> p;
    for (Value v : init) p.push_back(b.region_parameter(v->type));
    return p;
  };
  std::unique_ptr<ir::Region> condition, body;
  {
    ir::OpenRegion region = b.begin_region();
    const auto p = parameters();
    condition = region.end({b.reduce(ir::Reduce::kOr, b.compare(Compare::kLt, p[1], b.scalar_int(DType::kInt32, size)), {0})});
  }
  {
    ir::OpenRegion region = b.begin_region();
    const auto p = parameters();
    const Value drawn = normals(b, blocks_at(b, g, b.add(starts, p[0])), wide), places = b.iota(DType::kInt32, {groups, Dim(size)}, 1);
    Value filled = p[1], out = p[2];
    for (int64_t i = 0; i < size && l.ok(); ++i) {
      const Value z = column(b, drawn, i);
      const Value take = b.compare(Compare::kLt, b.unary(Unary::kAbs, z), b.scalar(t, 2));
      const Value here = b.compare(Compare::kEq, places, b.expand_dims(filled, 1));
      out = b.select(and_(b, here, b.expand_dims(take, 1)), b.expand_dims(z, 1), out);
      filled = b.add(filled, b.convert(take, DType::kInt32));
    }
    body = region.end({b.add(p[0], u64(b, 1)), filled, out});
  }
  const auto done = b.while_loop(init, std::move(condition), std::move(body));
  return done.size() == 3 ? b.slice_axis(b.reshape(done[2], {groups * Dim(size)}), 0, Dim(0), n) : nullptr;
}

}  // namespace

Value random_tensor(LowerContext& l, const Generator& g, RandomKind kind, DType dtype, const Dims& dims) {
  if (!g.key || !g.counter) return nullptr;
  Builder& b = l.b;
  for (const Dim& d : dims) {
    if (d.is_const() && d.value() < 0) return b.fail(invalid_argument("Dimension ", d.value(), " must be >= 0"));
  }
  const Dim n = ir::product(dims);
  if (n.is(0)) return b.fill(dtype, dims, 0);
  const bool wide = dtype_size(dtype) == 8;
  Value flat = nullptr;
  switch (kind) {
    case RandomKind::kBits: flat = b.bitcast(bits(l, g, n, wide), dtype); break;
    case RandomKind::kUniform: flat = uniform(l, g, dtype, n); break;
    case RandomKind::kNormal: {
      const int64_t size = wide ? 2 : 4;
      const Dim groups = ceil_div(n, Dim(size));
      const Value all = normals(b, b.reshape(b.philox(g.key, g.counter, groups * Dim(4)), {groups, Dim(4)}), wide);
      flat = b.convert(b.slice_axis(b.reshape(all, {groups * Dim(size)}), 0, Dim(0), n), dtype);
      break;
    }
    case RandomKind::kTruncatedNormal: flat = b.convert(truncated_normals(l, g, wide, n), dtype); break;
  }
  return b.reshape(flat, dims);
}

Value random_ints(LowerContext& l, const Generator& g, Value low, Value high, const Dims& dims) {
  low = as_scalar(l.b, low);
  high = as_scalar(l.b, high);
  if (!low || !high || !g.key || !g.counter) return nullptr;
  const DType t = low->type.dtype;
  const auto *a = l.b.known(low), *z = l.b.known(high);
  const bool numbers = a && z && (*a)[0].is_const() && (*z)[0].is_const();
  const std::string text = numbers ? cat("Need minval < maxval, got ", (*a)[0].value(), " >= ", (*z)[0].value()) : "Need minval < maxval";
  if (numbers && (*a)[0].value() >= (*z)[0].value()) return l.b.fail(Status(Code::kInvalidArgument, text));
  l.b.check(l.b.compare(Compare::kLt, low, high), text);
  const bool wide = dtype_size(t) == 8;
  const DType unsigned_type = wide ? DType::kUint64 : DType::kUint32;
  const Value from = l.b.bitcast(low, unsigned_type), range = l.b.sub(l.b.bitcast(high, unsigned_type), from);
  const Value flat = l.b.add(l.b.binary(Binary::kMod, bits(l, g, ir::product(dims), wide), range), from);
  return l.b.reshape(l.b.bitcast(flat, t), dims);
}

namespace {

// The two seeds of input i: one block of Philox makes weak seeds strong.
Generator seeded(LowerContext& l, int i) {
  Builder& b = l.b;
  const Value seed = l.x(i);
  if (!seed) return {};
  if (seed->rank() != 1 || !seed->dim(0).is(2))
    return b.fail(invalid_argument("seed must have shape [2], not ", shape_text(b, seed->type.dims))), Generator();
  const Value counter = b.bitcast(b.convert(seed, DType::kInt64), DType::kUint64);
  const Value mix = b.philox(u64(b, 0x02461e293ec8f720u), counter, Dim(4));
  auto pair = [&](int64_t k) { return joined(b, word(b, mix, k), word(b, mix, k + 1)); };
  return {pair(0), words(b, {u64(b, 0), pair(2)})};
}

// Key, counter and algorithm in inputs i, i + 1, i + 2.
Generator keyed(LowerContext& l, int i) {
  Builder& b = l.b;
  const Value key = l.x(i), counter = l.x(i + 1);
  const auto algorithm = l.integer(i + 2);
  if (!key || !counter || !algorithm) return {};
  if (*algorithm != 1 && *algorithm != 3) return b.fail(invalid_argument("Unsupported algorithm id: ", *algorithm)), Generator();
  if (key->rank() != 1 || !key->dim(0).is(1) || counter->rank() != 1 || !counter->dim(0).is_const() || counter->dim(0).value() < 1)
    return b.fail(invalid_argument("key must have shape [1], not ", shape_text(b, key->type.dims), ", and counter be a vector, not ",
                                   shape_text(b, counter->type.dims))),
           Generator();
  const Value high = counter->dim(0).value() > 1 ? word(b, counter, 1) : u64(b, 0);
  return {as_scalar(b, key), words(b, {word(b, counter, 0), high})};
}

template <RandomKind kKind>
LoweredList stateless(LowerContext& l) {
  const auto dims = l.sizes(0);
  return {dims ? random_tensor(l, seeded(l, 1), kKind, l.out_type(), *dims) : nullptr};
}

template <RandomKind kKind>
LoweredList stateless_v2(LowerContext& l) {
  const auto dims = l.sizes(0);
  return {dims ? random_tensor(l, keyed(l, 1), kKind, l.out_type(), *dims) : nullptr};
}

// One number each, by the inverse of the distribution, as XLA does it; the kernel draws and rejects, so its numbers are others. An interval above the mean
// is mirrored: the distribution keeps its digits below it alone.
LoweredList parameterized_truncated_normal(LowerContext& l) {
  Builder& b = l.b;
  const auto dims = l.sizes(0);
  const Generator g = seeded(l, 1);
  if (!dims || !g.key) return {};
  const DType t = DType::kDouble;
  auto parameter = [&](int i) { return b.broadcast_to(b.convert(l.x(i), t), *dims); };
  const Value mean = parameter(2), deviation = parameter(3), low = parameter(4), high = parameter(5);
  if (!l.ok()) return {};
  auto scaled = [&](Value x) { return b.div(b.sub(x, mean), deviation); };
  const Value from = scaled(low), to = scaled(high), above = b.compare(Compare::kGt, from, b.scalar(t, 0));
  auto below = [&](Value x) { return b.mul(b.unary(Unary::kErfc, b.mul(x, -M_SQRT1_2)), 0.5); };
  const Value first = below(b.select(above, b.neg(to), from)), last = below(b.select(above, b.neg(from), to));
  const Value u = b.max(b.reshape(uniform(l, g, t, ir::product(*dims)), *dims), std::numeric_limits<double>::epsilon() / 2);
  const Value z = lowered_normal_quantile(b, b.add(first, b.mul(b.sub(last, first), u)));
  if (!l.ok()) return {};
  const Value inside = b.max(b.min(b.select(above, b.neg(z), z), to), from);
  const Value fits = and_(b, b.compare(Compare::kGt, deviation, b.scalar(t, 0)), b.compare(Compare::kLt, low, high));
  const Value all = b.select(fits, b.add(mean, b.mul(deviation, inside)), b.fill(t, *dims, std::numeric_limits<double>::quiet_NaN()));
  return {b.convert(all, l.out_type())};
}

LoweredList key_counter(LowerContext& l) {
  const Generator g = seeded(l, 0);
  if (!g.key) return {};
  LoweredList out{l.b.reshape(g.key, {Dim(1)}), g.counter};
  if (l.node.num_outputs() == 3) out.push_back(l.b.scalar_int(DType::kInt32, 1));
  return out;
}

}  // namespace

void lower_random_stateless(Registry& r) {
  r.lower("StatelessRandomGetAlg", [](LowerContext& l) -> LoweredList { return {l.b.scalar_int(DType::kInt32, 1)}; });
  r.lower("StatelessRandomGetKeyCounter", key_counter);
  r.lower("StatelessRandomGetKeyCounterAlg", key_counter);
  r.lower("StatelessRandomNormal", stateless<RandomKind::kNormal>);
  r.lower("StatelessRandomNormalV2", stateless_v2<RandomKind::kNormal>);
  r.lower("StatelessRandomUniform", stateless<RandomKind::kUniform>);
  r.lower("StatelessRandomUniformV2", stateless_v2<RandomKind::kUniform>);
  r.lower("StatelessRandomUniformFullInt", stateless<RandomKind::kBits>);
  r.lower("StatelessRandomUniformFullIntV2", stateless_v2<RandomKind::kBits>);
  r.lower("StatelessTruncatedNormal", stateless<RandomKind::kTruncatedNormal>);
  r.lower("StatelessTruncatedNormalV2", stateless_v2<RandomKind::kTruncatedNormal>);
  r.lower("StatelessParameterizedTruncatedNormal", parameterized_truncated_normal);
  r.lower("StatelessRandomUniformInt", [](LowerContext& l) -> LoweredList {
    const auto dims = l.sizes(0);
    return {dims ? random_ints(l, seeded(l, 1), l.x(2), l.x(3), *dims) : nullptr};
  });
  r.lower("StatelessRandomUniformIntV2", [](LowerContext& l) -> LoweredList {
    const auto dims = l.sizes(0);
    return {dims ? random_ints(l, keyed(l, 1), l.x(4), l.x(5), *dims) : nullptr};
  });
}

}  // namespace weft_engine::ops
