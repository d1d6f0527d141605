// The filters of PNG's rows, https://www.w3.org/TR/png: each byte less a guess from the pixel to the left, above, and left above.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// Undoes filter 1 to 4 of one row of n bytes in place; `up` is the row above, or zeros. Both have kPngSlack bytes more that may be read.
constexpr size_t kPngSlack = 8;
WEFT_DECLARE_ISA(void png_unfilter(int filter, uint8_t* row, const uint8_t* up, size_t n, size_t bytes_per_pixel))
// The row as filter 0 to 4 leaves it, and its sum of absolute values as signed bytes.
WEFT_DECLARE_ISA(uint64_t png_filter(int filter, const uint8_t* row, const uint8_t* up, size_t n, size_t bytes_per_pixel, uint8_t* out))

}  // namespace weft_engine::kernels
