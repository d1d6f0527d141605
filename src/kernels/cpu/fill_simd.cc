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
