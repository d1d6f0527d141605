// out[i] = cond[i] ? t[i] : e[i] for elements of any size.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft_engine::kernels {

struct SelectStrides {
  int cond, t, e;  // 0 or 1
};
using SelectLoop = void (*)(const uint8_t* cond, const void* t, const void* e, void* out, int64_t n, SelectStrides strides);
// For 1, 2, 4, 8 and 16 bytes; null otherwise. `out` may be t or e where its stride is 1.
SelectLoop select_loop(size_t element_size);

}  // namespace weft_engine::kernels
