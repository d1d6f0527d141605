#include "tests/compiler/interpret.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "core/float_types.h"
#include "ir/compare.h"
#include "kernels/cpu/philox.h"

namespace weft_engine::testing {

using ir::DType;
using ir::Instr;
using ir::Op;

bool Array::real() const { return core::is_complex_type(dtype) || (core::is_floating_type(dtype) && !ir::is_float8(dtype)); }  // those are bytes here
size_t Array::size() const {
  size_t n = 1;
  for (int64_t d : dims) n *= size_t(d);
  return n;
}

namespace {

using Place = std::vector<int64_t>;

bool is_unsigned(DType t) { return t == DType::kUint8 || t == DType::kUint16 || t == DType::kUint32 || t == DType::kUint64 || t == DType::kBool; }

// The nearest number of an integer type; 0 for NaN.
int64_t saturated(DType t, double v) {
  const int bits = 8 * int(core::dtype_size(t));
  if (v != v) return 0;
  const bool no_sign = is_unsigned(t);
  const double low = no_sign ? 0 : -std::ldexp(1.0, bits - 1), high = std::ldexp(1.0, no_sign ? bits : bits - 1);
  if (v <= low) return no_sign ? 0 : int64_t(low);
  if (v >= high) return no_sign ? int64_t(bits == 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1) : int64_t((uint64_t(1) << (bits - 1)) - 1);
  return no_sign ? int64_t(uint64_t(v)) : int64_t(v);
}

int64_t wrapped(DType t, int64_t v) {
  switch (t) {
    case DType::kBool: return v & 1;
    case DType::kInt8: return int8_t(v);
    case DType::kUint8: return uint8_t(v);
    case DType::kInt16: return int16_t(v);
    case DType::kUint16: return uint16_t(v);
    case DType::kInt32: return int32_t(v);
    case DType::kUint32: return uint32_t(v);
    default: return v;
  }
}

struct Machine {
  const ir::Module& module;
  const std::vector<int64_t>& symbols;
  int error = 0;
  std::unordered_map<const Instr*, std::vector<Array>> values;

  void fail(int message) {
    if (message >= 0 && error == 0) error = message + 1;
  }
  int64_t size(const ir::Dim& d) { return d.evaluate(symbols); }
  Array make(const ir::Type& t) {
    Array a;
    a.dtype = t.dtype;
    for (const ir::Dim& d : t.dims) a.dims.push_back(size(d));
    if (a.real()) a.f.resize(a.size());
    else a.n.resize(a.size());
    if (core::is_complex_type(a.dtype)) a.im.resize(a.size());
    return a;
  }
  static size_t at(const Array& a, const Place& p) {
    size_t n = 0;
    for (size_t d = 0; d < p.size(); ++d) n = n * size_t(a.dims[d]) + size_t(p[d]);
    return n;
  }
  template <class F>
  static void each(const std::vector<int64_t>& dims, F f) {
    size_t n = 1;
    for (int64_t d : dims) n *= size_t(d);
    Place p(dims.size(), 0);
    for (size_t k = 0; k < n; ++k) {
      f(p, k);
      for (size_t d = dims.size(); d-- > 0;) {
        if (++p[d] < dims[d]) break;
        p[d] = 0;
      }
    }
  }
  static void copy(Array& to, size_t i, const Array& from, size_t j) {
    if (to.real()) to.f[i] = from.f[j];
    else to.n[i] = from.n[j];
    if (core::is_complex_type(to.dtype)) to.im[i] = from.im[j];
  }
  const Array& operand(const Instr& i, size_t k) { return values.at(i.operands[k])[0]; }
  int64_t scalar(const Array& a) { return a.n.at(0); }

  static double unary(ir::Unary op, double x) {
    using U = ir::Unary;
    switch (op) {
      case U::kNeg: return -x;
      case U::kAbs: return std::fabs(x);
      case U::kSign: return x > 0 ? 1 : x < 0 ? -1 : x;
      case U::kExp: return std::exp(x);
      case U::kExpm1: return std::expm1(x);
      case U::kLog: return std::log(x);
      case U::kLog1p: return std::log1p(x);
      case U::kSqrt: return std::sqrt(x);
      case U::kRsqrt: return 1 / std::sqrt(x);
      case U::kSin: return std::sin(x);
      case U::kCos: return std::cos(x);
      case U::kTan: return std::tan(x);
      case U::kAsin: return std::asin(x);
      case U::kAcos: return std::acos(x);
      case U::kAtan: return std::atan(x);
      case U::kSinh: return std::sinh(x);
      case U::kCosh: return std::cosh(x);
      case U::kTanh: return std::tanh(x);
      case U::kAsinh: return std::asinh(x);
      case U::kAcosh: return std::acosh(x);
      case U::kAtanh: return std::atanh(x);
      case U::kLogistic: return 1 / (1 + std::exp(-x));
      case U::kErf: return std::erf(x);
      case U::kErfc: return std::erfc(x);
      case U::kLgamma: return std::lgamma(x);
      case U::kFloor: return std::floor(x);
      case U::kCeil: return std::ceil(x);
      case U::kRound: return std::nearbyint(x);
      case U::kTrunc: return std::trunc(x);
      default: return x;
    }
  }
  static double binary(ir::Binary op, double x, double y) {
    using B = ir::Binary;
    switch (op) {
      case B::kAdd: return x + y;
      case B::kSub: return x - y;
      case B::kMul: return x * y;
      case B::kDiv: return x / y;
      case B::kFloorDiv: return std::floor(x / y);
      case B::kMod: return std::fmod(x, y);
      case B::kFloorMod: {
        const double r = std::fmod(x, y);
        return r != 0 && (r < 0) != (y < 0) ? r + y : r;
      }
      case B::kPow: return std::pow(x, y);
      case B::kMax: return std::isnan(x) ? x : std::isnan(y) ? y : std::max(x, y);
      case B::kMin: return std::isnan(x) ? x : std::isnan(y) ? y : std::min(x, y);
      case B::kAtan2: return std::atan2(x, y);
      default: return 0;
    }
  }
  int64_t binary(const Instr& i, DType t, int64_t x, int64_t y) {
    using B = ir::Binary;
    const bool u = is_unsigned(t);
    switch (i.binary) {
      case B::kAdd: return t == DType::kBool ? x | y : int64_t(uint64_t(x) + uint64_t(y));
      case B::kSub: return int64_t(uint64_t(x) - uint64_t(y));
      case B::kMul: return int64_t(uint64_t(x) * uint64_t(y));
      case B::kDiv:
      case B::kFloorDiv:
      case B::kMod:
      case B::kFloorMod: {
        if (y == 0) {
          fail(i.message);
          return 0;
        }
        const bool rest = i.binary == B::kMod || i.binary == B::kFloorMod;
        if (u) return int64_t(rest ? uint64_t(x) % uint64_t(y) : uint64_t(x) / uint64_t(y));
        if (y == -1) return rest ? 0 : int64_t(-uint64_t(x));
        int64_t q = x / y, r = x % y;
        if ((i.binary == B::kFloorDiv || i.binary == B::kFloorMod) && r != 0 && (r < 0) != (y < 0)) {
          --q;
          r += y;
        }
        return rest ? r : q;
      }
      case B::kMax: return u ? int64_t(std::max(uint64_t(x), uint64_t(y))) : std::max(x, y);
      case B::kMin: return u ? int64_t(std::min(uint64_t(x), uint64_t(y))) : std::min(x, y);
      case B::kAnd: return x & y;
      case B::kOr: return x | y;
      case B::kXor: return x ^ y;
      case B::kShl:
      case B::kShr: {
        const uint64_t last = core::dtype_size(t) * 8 - 1, by = std::min(uint64_t(y), last);
        if (i.binary == B::kShl) return int64_t(uint64_t(x) << by);
        return u ? int64_t(uint64_t(x) >> by) : x >> by;
      }
      case B::kPow: {
        if (!u && y < 0) {
          fail(i.message);
          return 0;
        }
        uint64_t r = 1, s = uint64_t(x);
        for (uint64_t e = uint64_t(y); e; e >>= 1, s *= s) r *= e & 1 ? s : 1;
        return int64_t(r);
      }
      default: return 0;
    }
  }
  // a[i] with c[j], as a reduction does.
  void combine(ir::Reduce r, Array& a, size_t i, const Array& c, size_t j) {
    using R = ir::Reduce;
    if (a.real()) {
      double &x = a.f[i], y = c.f[j];
      switch (r) {
        case R::kSum: x += y; break;
        case R::kProd: x *= y; break;
        case R::kMax: x = binary(ir::Binary::kMax, x, y); break;
        case R::kMin: x = binary(ir::Binary::kMin, x, y); break;
        case R::kSub: x -= y; break;
        case R::kDiv: x /= y; break;
        default: copy(a, i, c, j);
      }
      return;
    }
    int64_t &x = a.n[i], y = c.n[j];
    const bool u = is_unsigned(a.dtype);
    switch (r) {
      case R::kSum: x = int64_t(uint64_t(x) + uint64_t(y)); break;
      case R::kProd: x = int64_t(uint64_t(x) * uint64_t(y)); break;
      case R::kMax: x = u ? int64_t(std::max(uint64_t(x), uint64_t(y))) : std::max(x, y); break;
      case R::kMin: x = u ? int64_t(std::min(uint64_t(x), uint64_t(y))) : std::min(x, y); break;
      case R::kAnd: x &= y; break;
      case R::kOr: x |= y; break;
      case R::kSub: x = int64_t(uint64_t(x) - uint64_t(y)); break;
      case R::kDiv: x = y == 0 ? 0 : u ? int64_t(uint64_t(x) / uint64_t(y)) : x / y; break;
      default: x = y;
    }
    x = wrapped(a.dtype, x);
  }
  void fill_identity(ir::Reduce r, Array& a) {
    using R = ir::Reduce;
    const double inf = std::numeric_limits<double>::infinity();
    std::fill(a.f.begin(), a.f.end(), r == R::kProd ? 1 : r == R::kMax ? -inf : r == R::kMin ? inf : 0);
    const int bits = a.dtype == DType::kBool ? 1 : int(core::dtype_size(a.dtype)) * 8;
    const int64_t ones = bits == 64 ? -1 : (int64_t(1) << bits) - 1, low = bits == 64 ? INT64_MIN : -(int64_t(1) << (bits - 1));
    const bool u = is_unsigned(a.dtype);
    int64_t v = 0;
    if (r == R::kProd) v = 1;
    if (r == R::kMax) v = u ? 0 : low;
    if (r == R::kMin) v = u ? ones : -(low + 1);
    if (r == R::kAnd) v = wrapped(a.dtype, -1);
    std::fill(a.n.begin(), a.n.end(), v);
  }

  Array literal(const core::Tensor& t) {
    Array a;
    a.dtype = t.dtype();
    for (int d = 0; d < t.rank(); ++d) a.dims.push_back(t.dim(d));
    for (int64_t k = 0; k < t.num_elements(); ++k) {
      switch (t.dtype()) {
        case DType::kFloat: a.f.push_back(t.data<float>()[k]); break;
        case DType::kDouble: a.f.push_back(t.data<double>()[k]); break;
        case DType::kHalf: a.f.push_back(float(t.data<core::half>()[k])); break;
        case DType::kBfloat16: a.f.push_back(float(t.data<core::bfloat16>()[k])); break;
        case DType::kComplex64:
          a.f.push_back(t.data<float>()[2 * k]);
          a.im.push_back(t.data<float>()[2 * k + 1]);
          break;
        case DType::kComplex128:
          a.f.push_back(t.data<double>()[2 * k]);
          a.im.push_back(t.data<double>()[2 * k + 1]);
          break;
        case DType::kBool:
        case DType::kUint8: a.n.push_back(t.data<uint8_t>()[k]); break;
        case DType::kInt8: a.n.push_back(t.data<int8_t>()[k]); break;
        case DType::kInt16: a.n.push_back(t.data<int16_t>()[k]); break;
        case DType::kUint16: a.n.push_back(t.data<uint16_t>()[k]); break;
        case DType::kInt32: a.n.push_back(t.data<int32_t>()[k]); break;
        case DType::kUint32: a.n.push_back(t.data<uint32_t>()[k]); break;
        default: a.n.push_back(ir::is_float8(t.dtype()) ? t.data<uint8_t>()[k] : t.data<int64_t>()[k]);
      }
    }
    return a;
  }

  void run(const ir::Region& region) {
    for (const auto& i : region.instrs) {
      if (i->op != Op::kParameter) one(*i);
    }
  }
  std::vector<Array> results(const ir::Region& region) {
    std::vector<Array> out;
    for (const Instr* r : region.results) out.push_back(values.at(r)[0]);
    return out;
  }

  void one(const Instr& i);
  Array compute(const Instr& i);
  Array compute_moved(const Instr& i);
  Array compute_reduced(const Instr& i);
};

void Machine::one(const Instr& i) {
  switch (i.op) {
    case Op::kCheck:
      if (!scalar(operand(i, 0))) fail(i.message);
      return;
    case Op::kGet: values[&i] = {values.at(i.operands[0])[size_t(i.index)]}; return;
    case Op::kWhile: {
      std::vector<Array> state;
      for (const Instr* o : i.operands) state.push_back(values.at(o)[0]);
      const ir::Region &condition = *i.regions[0], &body = *i.regions[1];
      for (int turns = 0; turns < 10000; ++turns) {
        for (size_t k = 0; k < state.size(); ++k) values[condition.parameters[k]] = {state[k]};
        run(condition);
        if (!scalar(results(condition)[0]) || (error && !module.messages.empty())) break;
        for (size_t k = 0; k < state.size(); ++k) values[body.parameters[k]] = {state[k]};
        run(body);
        state = results(body);
      }
      values[&i] = state;
      return;
    }
    case Op::kIf: {
      const Array& which = operand(i, 0);
      size_t n = 0;
      if (which.dtype == DType::kBool) n = which.n[0] ? 1 : 0;  // region 0 is "false"
      else n = which.n[0] < 0 || which.n[0] >= int64_t(i.regions.size()) ? i.regions.size() - 1 : size_t(which.n[0]);
      run(*i.regions[n]);
      values[&i] = results(*i.regions[n]);
      return;
    }
    case Op::kSort: {
      Array v = operand(i, 0), places = make(i.results[1]);
      const size_t n = size_t(v.dims.back());
      const Array x = v;
      for (size_t row = 0; n && row < v.size() / n; ++row) {
        std::vector<size_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t c) {
          const size_t p = row * n + a, q = row * n + c;
          if (x.real()) return i.reverse ? x.f[p] > x.f[q] : x.f[p] < x.f[q];
          return i.reverse ? x.n[p] > x.n[q] : x.n[p] < x.n[q];
        });
        for (size_t k = 0; k < n; ++k) {
          copy(v, row * n + k, x, row * n + order[k]);
          places.n[row * n + k] = int64_t(order[k]);
        }
      }
      values[&i] = {v, places};
      return;
    }
    default: {
      Array a = compute(i);
      for (int64_t& n : a.n) n = wrapped(a.dtype, n);
      if (a.dtype == DType::kFloat) {
        for (double& f : a.f) f = float(f);  // as values are kept between instructions
      }
      values[&i] = {std::move(a)};
    }
  }
}

Array Machine::compute(const Instr& i) {
  if (i.op == Op::kConstant) return literal(i.literal);
  Array out = make(i.type);
  const size_t n = out.size();
  switch (i.op) {
    case Op::kSizes:
      for (size_t k = 0; k < n; ++k) out.n[k] = size((*i.known)[k]);
      return out;
    case Op::kIota:
      each(out.dims, [&](const Place& p, size_t k) {
        const int64_t v = p[size_t(i.axes[0])];
        if (out.real()) out.f[k] = double(v);
        else out.n[k] = v;
      });
      return out;
    case Op::kPhilox: {
      const Array& counter = operand(i, 1);
      kernels::PhiloxStream stream(kernels::Philox(uint64_t(counter.n[0]), uint64_t(counter.n[1]), uint64_t(operand(i, 0).n[0])));
      for (int64_t& v : out.n) v = stream.next();
      return out;
    }
    case Op::kUnary: {
      const Array& x = operand(i, 0);
      using U = ir::Unary;
      for (size_t k = 0; k < n; ++k) {
        if (!out.real()) {
          if (x.real()) {
            out.n[k] = i.unary == U::kIsNan ? std::isnan(x.f[k]) : i.unary == U::kIsInf ? std::isinf(x.f[k]) : std::isfinite(x.f[k]);
            continue;
          }
          const int64_t v = x.n[k];
          switch (i.unary) {
            case U::kNeg: out.n[k] = int64_t(-uint64_t(v)); break;
            case U::kAbs: out.n[k] = v < 0 ? int64_t(-uint64_t(v)) : v; break;
            case U::kSign: out.n[k] = v > 0 ? 1 : v < 0 ? -1 : 0; break;
            case U::kNot: out.n[k] = x.dtype == DType::kBool ? !v : ~v; break;
            case U::kPopcount:
              out.n[k] =
                  std::popcount(core::dtype_size(x.dtype) == 8 ? uint64_t(v) : uint64_t(v) & ((uint64_t(1) << core::dtype_size(x.dtype) * 8) - 1));
              break;
            default: out.n[k] = v;
          }
        } else {
          out.f[k] = i.unary == U::kReal ? x.f[k] : i.unary == U::kImag ? x.im[k] : unary(i.unary, x.f[k]);
        }
      }
      return out;
    }
    case Op::kBinary: {
      const Array &x = operand(i, 0), &y = operand(i, 1);
      for (size_t k = 0; k < n; ++k) {
        if (i.binary == ir::Binary::kComplex) out.f[k] = x.f[k], out.im[k] = y.f[k];
        else if (out.real()) out.f[k] = binary(i.binary, x.f[k], y.f[k]);
        else out.n[k] = binary(i, out.dtype, x.n[k], y.n[k]);
      }
      return out;
    }
    case Op::kCompare: {
      const Array &x = operand(i, 0), &y = operand(i, 1);
      for (size_t k = 0; k < n; ++k) {
        if (x.real()) out.n[k] = ir::compared(i.compare, x.f[k], y.f[k]);
        else if (is_unsigned(x.dtype)) out.n[k] = ir::compared(i.compare, uint64_t(x.n[k]), uint64_t(y.n[k]));
        else out.n[k] = ir::compared(i.compare, x.n[k], y.n[k]);
      }
      return out;
    }
    case Op::kSelect:
      for (size_t k = 0; k < n; ++k) copy(out, k, operand(i, operand(i, 0).n[k] ? 1 : 2), k);
      return out;
    case Op::kConvert: {
      const Array& x = operand(i, 0);
      for (size_t k = 0; k < n; ++k) {
        if (out.real()) out.f[k] = x.real() ? x.f[k] : is_unsigned(x.dtype) ? double(uint64_t(x.n[k])) : double(x.n[k]);
        else if (out.dtype == DType::kBool) out.n[k] = x.real() ? x.f[k] != 0 : x.n[k] != 0;
        else out.n[k] = x.real() ? saturated(out.dtype, x.f[k]) : x.n[k];
      }
      return out;
    }
    case Op::kBitcast: {
      const Array& x = operand(i, 0);
      for (size_t k = 0; k < n; ++k) {
        int64_t bits = x.real() ? 0 : x.n[k];
        if (x.dtype == DType::kFloat) bits = std::bit_cast<int32_t>(float(x.f[k]));
        if (x.dtype == DType::kDouble) bits = std::bit_cast<int64_t>(x.f[k]);
        if (x.dtype == DType::kHalf) bits = std::bit_cast<uint16_t>(core::half(float(x.f[k])));
        if (x.dtype == DType::kBfloat16) bits = std::bit_cast<uint16_t>(core::bfloat16(float(x.f[k])));
        if (out.dtype == DType::kFloat) out.f[k] = std::bit_cast<float>(int32_t(bits));
        else if (out.dtype == DType::kDouble) out.f[k] = std::bit_cast<double>(bits);
        else if (out.dtype == DType::kHalf) out.f[k] = float(core::half::from_bits(uint16_t(bits)));
        else if (out.dtype == DType::kBfloat16) out.f[k] = float(core::bfloat16::from_bits(uint16_t(bits)));
        else out.n[k] = wrapped(out.dtype, bits);
      }
      return out;
    }
    case Op::kReduce:
    case Op::kArgReduce:
    case Op::kScan:
    case Op::kDot: return compute_reduced(i);
    default: return compute_moved(i);
  }
}

Array Machine::compute_moved(const Instr& i) {
  Array out = make(i.type);
  const Array x = operand(i, 0);
  switch (i.op) {
    case Op::kBroadcast:
      each(out.dims, [&](const Place& p, size_t k) {
        Place q(x.dims.size());
        for (size_t d = 0; d < q.size(); ++d) q[d] = x.dims[d] == 1 ? 0 : p[size_t(i.axes[d])];
        copy(out, k, x, at(x, q));
      });
      break;
    case Op::kReshape:
      for (size_t k = 0; k < out.size(); ++k) copy(out, k, x, k);
      break;
    case Op::kTranspose:
      each(out.dims, [&](const Place& p, size_t k) {
        Place q(p.size());
        for (size_t d = 0; d < p.size(); ++d) q[size_t(i.axes[d])] = p[d];
        copy(out, k, x, at(x, q));
      });
      break;
    case Op::kSlice:
      each(out.dims, [&](const Place& p, size_t k) {
        Place q = p;
        for (size_t d = 0; d < p.size(); ++d) q[d] = size(i.starts[d]) + p[d] * (i.steps.empty() ? 1 : i.steps[d]);
        copy(out, k, x, at(x, q));
      });
      break;
    case Op::kPad:
      each(out.dims, [&](const Place& p, size_t k) {
        Place q = p;
        bool inside = true;
        for (size_t d = 0; d < p.size(); ++d) {
          const int64_t step = 1 + (i.interior.empty() ? 0 : i.interior[d]), v = p[d] - size(i.low[d]);
          inside = inside && v >= 0 && v % step == 0 && v / step < x.dims[d];
          q[d] = v / step;
        }
        if (inside) copy(out, k, x, at(x, q));
        else copy(out, k, operand(i, 1), 0);
      });
      break;
    case Op::kConcat:
      each(out.dims, [&](const Place& p, size_t k) {
        Place q = p;
        size_t part = 0;
        int64_t& v = q[size_t(i.axes[0])];
        while (v >= operand(i, part).dims[size_t(i.axes[0])]) v -= operand(i, part++).dims[size_t(i.axes[0])];
        copy(out, k, operand(i, part), at(operand(i, part), q));
      });
      break;
    case Op::kReverse:
      each(out.dims, [&](const Place& p, size_t k) {
        Place q = p;
        for (int a : i.axes) q[size_t(a)] = out.dims[size_t(a)] - 1 - p[size_t(a)];
        copy(out, k, x, at(x, q));
      });
      break;
    case Op::kDynamicSlice:
      each(out.dims, [&](const Place& p, size_t k) {
        Place q = p;
        for (size_t d = 0; d < p.size(); ++d) q[d] += std::clamp<int64_t>(scalar(operand(i, d + 1)), 0, x.dims[d] - out.dims[d]);
        copy(out, k, x, at(x, q));
      });
      break;
    case Op::kDynamicUpdate: {
      out = x;
      const Array& u = operand(i, 1);
      if (!std::equal(u.dims.begin(), u.dims.end(), x.dims.begin(), std::less_equal<>())) break;  // a row, and a list of no rows
      each(u.dims, [&](const Place& p, size_t k) {
        Place q = p;
        for (size_t d = 0; d < p.size(); ++d) q[d] += std::clamp<int64_t>(scalar(operand(i, d + 2)), 0, x.dims[d] - u.dims[d]);
        copy(out, at(out, q), u, k);
      });
      break;
    }
    case Op::kGather: {
      const Array& n = operand(i, 1);
      const size_t axis = size_t(i.axes[0]), batch = size_t(i.batch), extra = n.dims.size() - batch;
      each(out.dims, [&](const Place& p, size_t k) {
        Place of(n.dims.size()), q(x.dims.size());
        for (size_t d = 0; d < of.size(); ++d) of[d] = d < batch ? p[d] : p[axis + d - batch];
        const int64_t v = n.n[at(n, of)];
        if (v < 0 || v >= x.dims[axis]) return fail(i.message);
        for (size_t d = 0; d < q.size(); ++d) q[d] = d < axis ? p[d] : d == axis ? v : p[d + extra - 1];
        copy(out, k, x, at(x, q));
      });
      break;
    }
    case Op::kScatter: {
      out = x;
      const Array &n = operand(i, 1), &u = operand(i, 2);
      const size_t row = x.dims[0] ? x.size() / size_t(x.dims[0]) : 0;
      for (size_t k = 0; k < n.size(); ++k) {
        if (n.n[k] < 0 || n.n[k] >= x.dims[0]) {
          fail(i.message);
          continue;
        }
        for (size_t j = 0; j < row; ++j) combine(i.reduce, out, size_t(n.n[k]) * row + j, u, k * row + j);
      }
      break;
    }
    default: break;
  }
  return out;
}

Array Machine::compute_reduced(const Instr& i) {
  Array out = make(i.type);
  const Array& x = operand(i, 0);
  if (i.op == Op::kDot) {
    const Array& y = operand(i, 1);
    const size_t r = x.dims.size();
    const int64_t inner = x.dims[i.transpose_a ? r - 2 : r - 1];
    each(out.dims, [&](const Place& p, size_t k) {
      for (int64_t c = 0; c < inner; ++c) {
        Place a = p, b = p;
        a[r - 2] = i.transpose_a ? c : p[r - 2];
        a[r - 1] = i.transpose_a ? p[r - 2] : c;
        b[r - 2] = i.transpose_b ? p[r - 1] : c;
        b[r - 1] = i.transpose_b ? c : p[r - 1];
        if (out.real()) out.f[k] += x.f[at(x, a)] * y.f[at(y, b)];
        else out.n[k] += x.n[at(x, a)] * y.n[at(y, b)];
      }
    });
    return out;
  }
  const auto is_axis = [&](size_t d) { return std::find(i.axes.begin(), i.axes.end(), int(d)) != i.axes.end(); };
  if (i.op == Op::kReduce) {
    fill_identity(i.reduce, out);
    each(x.dims, [&](const Place& p, size_t k) {
      Place q;
      for (size_t d = 0; d < p.size(); ++d) {
        if (!is_axis(d)) q.push_back(p[d]);
      }
      combine(i.reduce, out, at(out, q), x, k);
    });
    return out;
  }
  const size_t axis = size_t(i.axes[0]);
  std::vector<int64_t> others = x.dims;
  others[axis] = 1;
  each(others, [&](const Place& p, size_t) {
    Place q = p;
    if (i.op == Op::kArgReduce) {
      int64_t best = 0;
      for (q[axis] = 1; q[axis] < x.dims[axis]; ++q[axis]) {
        Place o = p;
        o[axis] = best;
        const size_t a = at(x, q), c = at(x, o);
        const bool max = i.reduce == ir::Reduce::kMax;
        if (x.real() ? (max ? x.f[a] > x.f[c] : x.f[a] < x.f[c]) : (max ? x.n[a] > x.n[c] : x.n[a] < x.n[c])) best = q[axis];
      }
      Place o;
      for (size_t d = 0; d < p.size(); ++d) {
        if (d != axis) o.push_back(p[d]);
      }
      out.n[at(out, o)] = best;
      return;
    }
    Array sum = make({i.type.dtype, {}});
    fill_identity(i.reduce, sum);
    for (int64_t k = 0; k < x.dims[axis]; ++k) {
      q[axis] = i.reverse ? x.dims[axis] - 1 - k : k;
      const size_t place = at(x, q);
      if (i.exclusive) copy(out, place, sum, 0);
      combine(i.reduce, sum, 0, x, place);
      if (!i.exclusive) copy(out, place, sum, 0);
    }
  });
  return out;
}

}  // namespace

Interpreted interpret(const ir::Module& m, const std::vector<Array>& parameters, const std::vector<int64_t>& symbols) {
  Machine machine{m, symbols, 0, {}};
  for (size_t k = 0; k < m.main->parameters.size(); ++k) machine.values[m.main->parameters[k]] = {parameters[k]};
  machine.run(*m.main);
  return {machine.results(*m.main), machine.error};
}

}  // namespace weft_engine::testing
