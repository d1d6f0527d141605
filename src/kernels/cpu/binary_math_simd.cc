// Functions of two floats that are more than a formula.
#include "kernels/cpu/intrinsics.h"

#include <cmath>

#include "kernels/cpu/elementwise_simd.h"

#include "kernels/cpu/isa_begin.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/vector_inverse.h"
namespace {

using core::DType;

// all() would make 0 of -0.
inline Floats repeated(float x) {
  float lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) lanes[i] = x;
  return load(lanes);
}

// The tail goes through a whole register too, as in map_floats.
template <Floats (*f)(Floats, Floats)>
bool map_pairs(const void* va, const void* vb, void* vo, int64_t n, int stride_a, int stride_b) {
  const float* a = static_cast<const float*>(va);
  const float* b = static_cast<const float*>(vb);
  float* o = static_cast<float*>(vo);
  const Floats first_a = repeated(*a), first_b = repeated(*b);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(o + i, f(stride_a ? load(a + i) : first_a, stride_b ? load(b + i) : first_b));
  if (i < n) store_part(o + i, f(stride_a ? load_part(a + i, n - i, 1.f) : first_a, stride_b ? load_part(b + i, n - i, 1.f) : first_b), n - i);
  return true;
}

inline Floats xlogy(Floats a, Floats b) { return a == 0.f ? all(0.f) : a * vlog(b); }
inline Floats xlog1py(Floats a, Floats b) { return a == 0.f ? all(0.f) : a * vlog1p(b); }
inline Floats softplus_grad(Floats a, Floats b) { return a / (vexp(-b) + 1.f); }

#if defined(WEFT_ISA_AVX512) || defined(WEFT_ISA_AVX2)
// As std::fmod, to the bit: what is left of a after its quotient by b, cut to an integer, is exact, since one rounding gives it. The quotient may have been rounded
// up to an integer, which the sign of the rest shows. Large quotients and what is not finite go to <cmath>.
inline Floats fmod_pairs(Floats a, Floats b) {
  const Floats q = a / b;
#if defined(WEFT_ISA_AVX512)
  const Floats whole = (Floats)_mm512_roundscale_ps((__m512)q, 3);
  Floats rest = (Floats)_mm512_fnmadd_ps((__m512)whole, (__m512)b, (__m512)a);
#else
  const Floats whole = (Floats)_mm256_round_ps((__m256)q, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  Floats rest = (Floats)_mm256_fnmadd_ps((__m256)whole, (__m256)b, (__m256)a);
#endif
  const Ints over = (rest != 0.f) & ((Ints)((Bits)rest ^ (Bits)a) < 0);
  rest = with_sign_of(over ? rest + with_sign_of(b, a) : rest, a);
  const Ints easy = (absolute(q) < 8388608.f) & (absolute(b) < __builtin_inff());
  int32_t lanes[kLanes], all_easy = -1;
  __builtin_memcpy(lanes, &easy, sizeof lanes);
  for (int i = 0; i < kLanes; ++i) all_easy &= lanes[i];
  if (!all_easy) [[unlikely]] {
    float x[kLanes], y[kLanes], r[kLanes];
    store(x, a);
    store(y, b);
    store(r, rest);
    for (int i = 0; i < kLanes; ++i) {
      if (!lanes[i]) r[i] = std::fmod(x[i], y[i]);
    }
    rest = load(r);
  }
  return rest;
}
inline Floats floor_mod(Floats a, Floats b) {
  const Floats m = fmod_pairs(a, b);
  return (m != 0.f) & ((m < 0.f) != (b < 0.f)) ? m + b : m;
}
#endif

}  // namespace

BinaryLoop binary_math_loop(Binary op, DType t) {
  if (t != DType::kFloat) return nullptr;
  switch (op) {
    case Binary::kAtan2: return &map_pairs<vatan2>;
    case Binary::kXlogy: return &map_pairs<xlogy>;
    case Binary::kXlog1py: return &map_pairs<xlog1py>;
    case Binary::kSoftplusGrad: return &map_pairs<softplus_grad>;
#if defined(WEFT_ISA_AVX512) || defined(WEFT_ISA_AVX2)
    case Binary::kTruncateMod: return &map_pairs<fmod_pairs>;
    case Binary::kFloorMod: return &map_pairs<floor_mod>;
#endif
    default: return nullptr;
  }
}

#include "kernels/cpu/isa_end.h"
