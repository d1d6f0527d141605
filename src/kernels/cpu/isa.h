// Calls the variant of a vector function that fits the machine:
//   WEFT_BEST_ISA(add_floats)(a, b, out, n);
// where add_floats exists in weft_engine::kernels::generic, ::avx2 and ::avx512, compiled from one file that is
// listed under SIMD in kernels/CMakeLists.txt and includes isa_begin.h and isa_end.h.
#pragma once

#include "core/cpu_features.h"

namespace weft_engine::kernels {

const char* isa_name();

template <class F>
F* best_isa(F* generic, F* avx2, F* avx512) {
  switch (core::cpu_level()) {
    case core::CpuLevel::kAvx512: return avx512;
    case core::CpuLevel::kAvx2: return avx2;
    default: return generic;
  }
}

#define WEFT_BEST_ISA(f) \
  ::weft_engine::kernels::best_isa(&::weft_engine::kernels::generic::f, &::weft_engine::kernels::avx2::f, &::weft_engine::kernels::avx512::f)
// Declares one function for all levels.
#define WEFT_DECLARE_ISA(signature) \
  namespace generic {               \
  signature;                        \
  }                                 \
  namespace avx2 {                  \
  signature;                        \
  }                                 \
  namespace avx512 {                \
  signature;                        \
  }

}  // namespace weft_engine::kernels
