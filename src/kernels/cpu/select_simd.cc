#include "kernels/cpu/isa.h"
#include "kernels/cpu/select.h"

namespace weft_engine::kernels {
WEFT_DECLARE_ISA(SelectLoop select_loop(size_t element_size))
}

#include "kernels/cpu/isa_begin.h"
namespace {

#if defined(__clang__)
#define WEFT_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_IVDEP _Pragma("GCC ivdep")
#endif

struct Bytes16 {
  uint64_t low, high;
};

template <class T>
void loop(const uint8_t* c, const void* vt, const void* ve, void* vo, int64_t n, SelectStrides s) {
  const T* t = static_cast<const T*>(vt);
  const T* e = static_cast<const T*>(ve);
  T* o = static_cast<T*>(vo);
  if (s.cond && s.t && s.e) {
    WEFT_IVDEP
    for (int64_t i = 0; i < n; ++i) {
      const T x = t[i], y = e[i];
      o[i] = c[i] ? x : y;
    }
  } else if (s.cond && s.t) {
    const T y = *e;
    WEFT_IVDEP
    for (int64_t i = 0; i < n; ++i) {
      const T x = t[i];
      o[i] = c[i] ? x : y;
    }
  } else if (s.cond && s.e) {
    const T x = *t;
    WEFT_IVDEP
    for (int64_t i = 0; i < n; ++i) {
      const T y = e[i];
      o[i] = c[i] ? x : y;
    }
  } else {
    for (int64_t i = 0; i < n; ++i) o[i] = c[i * s.cond] ? t[i * s.t] : e[i * s.e];
  }
}

}  // namespace

SelectLoop select_loop(size_t element_size) {
  switch (element_size) {
    case 1: return &loop<uint8_t>;
    case 2: return &loop<uint16_t>;
    case 4: return &loop<uint32_t>;
    case 8: return &loop<uint64_t>;
    case 16: return &loop<Bytes16>;
    default: return nullptr;
  }
}

#include "kernels/cpu/isa_end.h"

#if !defined(WEFT_ISA_AVX2) && !defined(WEFT_ISA_AVX512)
namespace weft_engine::kernels {
SelectLoop select_loop(size_t element_size) { return WEFT_BEST_ISA(select_loop)(element_size); }
}  // namespace weft_engine::kernels
#endif
