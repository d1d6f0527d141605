#include "kernels/cpu/cast.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/cpu/cast_simd.h"
#include "kernels/cpu/narrow.h"

namespace weft_engine::kernels {

using core::DType;

namespace {

constexpr int64_t kBlock = 512;

template <class A, class B>
void plain(const void* vin, void* vout, int64_t n) {
  const A* in = static_cast<const A*>(vin);
  B* out = static_cast<B*>(vout);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<B>(in[i]);
}

template <class C, class T>
void real_part(const void* vin, void* vout, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(vout)[i] = static_cast<const C*>(vin)[i].real();
}

void int64_to_bool(const void* vin, void* vout, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<bool*>(vout)[i] = static_cast<const int64_t*>(vin)[i] != 0;
}
template <class T>
void int64_to_int4(const void* vin, void* vout, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(vout)[i] = T(int(static_cast<const int64_t*>(vin)[i] & 15));
}
// Whatever the upper half of a byte holds: some writers extend the sign, some do not.
template <class T>
void int4_to_int64(const void* vin, void* vout, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<int64_t*>(vout)[i] = T::wrap(static_cast<const int8_t*>(vin)[i]);
}

// To a float that rounds to an 8-bit float as the double itself would: the last bit remembers whether
// anything was cut off (rounding to odd), so that no second rounding happens.
void double_to_sticky_float(const void* vin, void* vout, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double x = static_cast<const double*>(vin)[i];
    float f = float(x);
    uint32_t bits = std::bit_cast<uint32_t>(f);
    if (double(f) != x && x == x && !(bits & 1)) {
      if (f != 0 && (f > x) == (x > 0)) --bits;  // it was rounded away from zero
      f = std::bit_cast<float>(bits | 1);
    }
    static_cast<float*>(vout)[i] = f;
  }
}

template <WidenLoop (*of)(DType), DType t>
void widen(const void* in, void* out, int64_t n) {
  of(t)(static_cast<const uint16_t*>(in), static_cast<float*>(out), n);
}
template <NarrowLoop (*of)(DType), DType t>
void narrow(const void* in, void* out, int64_t n) {
  of(t)(static_cast<const float*>(in), static_cast<uint16_t*>(out), n);
}

bool is_int4(DType t) { return t == DType::kInt4 || t == DType::kUint4; }
bool is_float8(DType t) { return t == DType::kFloat8E5m2 || t == DType::kFloat8E4m3fn; }
bool is_common(DType t) {
  return t == DType::kBool || core::is_complex_type(t) || (core::is_integer_type(t) && core::dtype_size(t) > 0 && int(t) <= int(DType::kUint64)) ||
         t == DType::kFloat || t == DType::kDouble || t == DType::kHalf || t == DType::kBfloat16;
}

bool supported(DType from, DType to) {
  if (from == to) return true;
  if (is_int4(from) || is_int4(to)) {
    const auto fits = [](DType t) { return is_int4(t) || (is_common(t) && core::is_integer_type(t)); };
    return fits(from) && fits(to);
  }
  if (is_float8(to)) return is_float8(from) || (is_common(from) && core::is_floating_type(from));
  return (is_common(from) || is_float8(from)) && is_common(to);
}

// The type through which a type is reached from the others.
DType hub(DType t) {
  if (t == DType::kUint64 || t == DType::kDouble || core::is_complex_type(t)) return t;
  if (core::is_floating_type(t)) return DType::kFloat;
  return DType::kInt64;
}

CastLoop to_hub(DType from) {
  switch (from) {
    case DType::kHalf: return &widen<widen_loop, DType::kHalf>;
    case DType::kBfloat16: return &widen<widen_loop, DType::kBfloat16>;
    case DType::kFloat8E5m2: return &plain<core::float8_e5m2, float>;
    case DType::kFloat8E4m3fn: return &plain<core::float8_e4m3fn, float>;
    case DType::kInt4: return &int4_to_int64<core::int4>;
    case DType::kUint4: return &int4_to_int64<core::uint4>;
    default: return WEFT_BEST_ISA(cast_loop)(from, DType::kInt64);
  }
}

CastLoop from_hub(DType to) {
  switch (to) {
    case DType::kHalf: return &narrow<narrow_loop, DType::kHalf>;
    case DType::kBfloat16: return &narrow<narrow_loop, DType::kBfloat16>;
    case DType::kFloat8E5m2: return &plain<float, core::float8_e5m2>;
    case DType::kFloat8E4m3fn: return &plain<float, core::float8_e4m3fn>;
    case DType::kInt4: return &int64_to_int4<core::int4>;
    case DType::kUint4: return &int64_to_int4<core::uint4>;
    case DType::kBool: return &int64_to_bool;
    default: break;
  }
  switch (core::dtype_size(to)) {
    case 1: return &plain<uint64_t, uint8_t>;
    case 2: return &plain<uint64_t, uint16_t>;
    default: return &plain<uint64_t, uint32_t>;
  }
}

int digits(DType t) {
  switch (t) {
    case DType::kFloat8E5m2: return 3;
    case DType::kFloat8E4m3fn: return 4;
    case DType::kBfloat16: return 8;
    case DType::kHalf: return 11;
    case DType::kFloat:
    case DType::kComplex64: return 24;
    default: return 53;
  }
}

// The pairs for which TensorFlow heeds the attribute.
bool truncates(DType from, DType to) {
  switch (from) {
    case DType::kHalf:
    case DType::kBfloat16: return is_float8(to);
    case DType::kFloat: return to == DType::kHalf || to == DType::kBfloat16 || is_float8(to);
    case DType::kDouble: return to == DType::kHalf || to == DType::kFloat || is_float8(to);
    case DType::kComplex64: return to == DType::kHalf;
    case DType::kComplex128: return to == DType::kHalf || to == DType::kFloat || to == DType::kComplex64;
    case DType::kFloat8E4m3fn: return to == DType::kFloat8E5m2;
    default: return false;
  }
}

template <class B>
void clear_bits(const void* in, void* out, int64_t n, B mask) {
  for (int64_t i = 0; i < n; ++i) {
    const B b = static_cast<const B*>(in)[i];
    // The NaN of the 8-bit type is all ones and must stay so.
    static_cast<B*>(out)[i] = sizeof(B) == 1 && (b & 0x7f) == 0x7f ? b : B(b & mask);
  }
}

void clear_bits(const void* in, void* out, int64_t n, int size, uint64_t mask) {
  switch (size) {
    case 1: return clear_bits(in, out, n, uint8_t(mask));
    case 2: return clear_bits(in, out, n, uint16_t(mask));
    case 4: return clear_bits(in, out, n, uint32_t(mask));
    default: return clear_bits(in, out, n, mask);
  }
}

}  // namespace

void CastPlan::add(DType from, DType to, CastLoop loop) { steps_[count_++] = {loop, 0, int(core::dtype_size(from)), int(core::dtype_size(to))}; }

void CastPlan::add_mask(DType t, int digits_lost) {
  const int size = int(core::dtype_size(t));
  steps_[count_++] = {nullptr, ~uint64_t(0) << digits_lost, size, size};
}

std::optional<CastPlan> CastPlan::make(DType from, DType to, bool truncate) {
  from = core::integer_type_of(from);
  to = core::integer_type_of(to);
  if (!supported(from, to)) return std::nullopt;
  CastPlan plan;
  if (from == to) {
    plan.same_ = true;
    return plan;
  }
  if (truncate && truncates(from, to)) plan.add_mask(from, digits(from) - digits(to));
  DType at = from;
  const auto step = [&](DType next, CastLoop loop) {
    plan.add(at, next, loop);
    at = next;
  };
  // Complex to real takes the real part; both parts stay together otherwise.
  if (from == DType::kComplex64 && to == DType::kComplex128) step(to, &plain<core::complex64, core::complex128>);
  else if (from == DType::kComplex128 && to == DType::kComplex64) step(to, &plain<core::complex128, core::complex64>);
  else if (from == DType::kComplex64) step(DType::kFloat, &real_part<core::complex64, float>);
  else if (from == DType::kComplex128) step(DType::kDouble, &real_part<core::complex128, double>);
  if (at == to) return plan;
  const DType real = to == DType::kComplex64 ? DType::kFloat : to == DType::kComplex128 ? DType::kDouble : to;
  const auto direct = [&](DType next) { return WEFT_BEST_ISA(cast_loop)(at, next); };
  if (at != real && direct(real)) step(real, direct(real));
  if (at == real) {
    // there already
  } else if (real == DType::kUint64 && hub(at) == DType::kInt64) {
    step(real, at == DType::kInt64 ? &plain<int64_t, uint64_t> : to_hub(at));  // the same 64 bits
  } else {
    if (hub(at) != at) step(hub(at), to_hub(at));
    // Floats meet the integers and each other directly; integers of all kinds meet as 64 bits.
    const bool int64_bits = at == DType::kUint64 && hub(real) == DType::kInt64;
    if (is_float8(real) && at == DType::kDouble) step(DType::kFloat, &double_to_sticky_float);
    else if (at != real && direct(real)) step(real, direct(real));
    else if (at != hub(real) && !int64_bits) step(hub(real), direct(hub(real)));
    if (at != real) step(real, from_hub(real));
  }
  if (to == DType::kComplex64) step(to, &plain<float, core::complex64>);
  if (to == DType::kComplex128) step(to, &plain<double, core::complex128>);
  return plan;
}

void CastPlan::run(const void* in, void* out, int64_t n) const {
  if (count_ == 1 && steps_[0].loop) return steps_[0].loop(in, out, n);
  alignas(64) char buffers[2][kBlock * 16];
  const Step& first = steps_[0];
  const Step& last = steps_[count_ - 1];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t m = std::min(kBlock, n - i);
    const void* from = static_cast<const char*>(in) + i * first.from_size;
    for (int k = 0; k < count_; ++k) {
      const Step& s = steps_[k];
      void* to = k == count_ - 1 ? static_cast<void*>(static_cast<char*>(out) + i * last.to_size) : buffers[k & 1];
      if (s.loop) s.loop(from, to, m);
      else if (s.from_size == 16) clear_bits(from, to, m * 2, 8, s.mask);
      else clear_bits(from, to, m, s.from_size, s.mask);
      from = to;
    }
  }
}

}  // namespace weft_engine::kernels
