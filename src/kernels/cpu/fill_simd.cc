#include "kernels/cpu/fill.h"

#include "kernels/cpu/isa_begin.h"

void fill_words(uint32_t value, uint32_t* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = value;
}

void reverse_words(const uint32_t* last, uint32_t* to, int64_t n) {
  typedef uint32_t V __attribute__((vector_size(32)));
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    V v;
    __builtin_memcpy(&v, last - i - 7, sizeof v);
    v = __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0);
    __builtin_memcpy(to + i, &v, sizeof v);
  }
  for (; i < n; ++i) to[i] = last[-i];
}

void count_words(uint32_t first, uint32_t step, uint32_t* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = first + uint32_t(i) * step;
}

void space_floats(float start, float step, int32_t first, float* to, int64_t n) {
#if defined(WEFT_ISA_AVX512)
  constexpr int kBytes = 64;
#elif defined(WEFT_ISA_AVX2)
  constexpr int kBytes = 32;
#else
  constexpr int kBytes = 16;
#endif
  typedef float Floats __attribute__((vector_size(kBytes)));
  typedef int32_t Ints __attribute__((vector_size(kBytes)));
  constexpr int64_t kLanes = kBytes / 4;
  Ints at;
  for (int l = 0; l < kLanes; ++l) at[l] = first + l;
  for (int64_t i = 0; i < n; i += kLanes, at += int32_t(kLanes)) {
    Floats product = __builtin_convertvector(at, Floats) * step;
#if defined(__x86_64__)
    asm("" : "+x"(product));  // not one multiply-add
#endif
    const Floats v = start + product;
    if (i + kLanes <= n) __builtin_memcpy(to + i, &v, sizeof v);
    else __builtin_memcpy(to + i, &v, decltype(sizeof 0)(n - i) * 4);
  }
}

void repeat_words(const uint32_t* from, int64_t run, int64_t skip, uint32_t* to, int64_t n) {
  typedef uint32_t V __attribute__((vector_size(64)));
  for (; n > 0; ++from, skip = 0) {
    const int64_t count = run - skip < n ? run - skip : n;
    const V v = V{} + *from;
    int64_t i = 0;
    // A whole vector over the beginning of the next run, which comes after it.
    for (; i < count && i + 16 <= n; i += 16) __builtin_memcpy(to + i, &v, sizeof v);
    for (; i < count; ++i) to[i] = *from;
    to += count, n -= count;
  }
}

#include "kernels/cpu/isa_end.h"
