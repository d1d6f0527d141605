#include <algorithm>
#include <cstdlib>

#include "kernels/cpu/png_rows.h"
#include "kernels/cpu/isa_begin.h"

namespace {

typedef uint8_t Bytes __attribute__((vector_size(8)));
typedef int16_t Shorts __attribute__((vector_size(16)));

inline Shorts widen(const uint8_t* p) {
  Bytes b;
  __builtin_memcpy(&b, p, sizeof b);
  return __builtin_convertvector(b, Shorts);
}
inline Shorts absolute(Shorts v) { return v < 0 ? -v : v; }

// Of left, up and left above the nearest to left + up - left above; without branches.
inline Shorts paeth(Shorts a, Shorts b, Shorts c) {
  const Shorts pa = absolute(b - c), pb = absolute(a - c), pc = absolute((b - c) + (a - c));
  const Shorts other = pb <= pc ? b : c;
  return (pa <= pb) & (pa <= pc) ? a : other;
}
inline int paeth(int a, int b, int c) {
  const int pa = std::abs(b - c), pb = std::abs(a - c), pc = std::abs(a + b - 2 * c), other = pb <= pc ? b : c;
  return (pa <= pb) & (pa <= pc) ? a : other;
}

// A pixel of kPixel bytes at a time: the next one needs it.
template <size_t kPixel>
void unfilter_pixels(int filter, uint8_t* row, const uint8_t* up, size_t n) {
  Shorts a = {}, c = {};
  for (size_t i = 0; i + kPixel <= n; i += kPixel) {
    const Shorts b = widen(up + i), x = widen(row + i);
    if (filter == 1) a = a + x;
    else if (filter == 3) a = ((a + b) >> 1) + x;
    else a = paeth(a, b, c) + x;
    a &= 255;
    c = b;
    const Bytes out = __builtin_convertvector(a, Bytes);
    __builtin_memcpy(row + i, &out, kPixel);
  }
}

}  // namespace

void png_unfilter(int filter, uint8_t* row, const uint8_t* up, size_t n, size_t bytes_per_pixel) {
  if (filter == 2) {
    for (size_t i = 0; i < n; ++i) row[i] = uint8_t(row[i] + up[i]);
    return;
  }
  switch (bytes_per_pixel) {
    case 1: return unfilter_pixels<1>(filter, row, up, n);
    case 2: return unfilter_pixels<2>(filter, row, up, n);
    case 3: return unfilter_pixels<3>(filter, row, up, n);
    case 4: return unfilter_pixels<4>(filter, row, up, n);
    case 6: return unfilter_pixels<6>(filter, row, up, n);
    default: return unfilter_pixels<8>(filter, row, up, n);
  }
}

uint64_t png_filter(int filter, const uint8_t* row, const uint8_t* up, size_t n, size_t bytes_per_pixel, uint8_t* out) {
  const size_t first = std::min(bytes_per_pixel, n);
  for (size_t i = 0; i < first; ++i) {  // nothing is to the left
    const int b = up[i], guess = filter == 2 || filter == 4 ? b : filter == 3 ? b / 2 : 0;
    out[i] = uint8_t(row[i] - guess);
  }
  const uint8_t *left = row - bytes_per_pixel, *above = up - bytes_per_pixel;
  switch (filter) {
    case 1:
      for (size_t i = first; i < n; ++i) out[i] = uint8_t(row[i] - left[i]);
      break;
    case 2:
      for (size_t i = first; i < n; ++i) out[i] = uint8_t(row[i] - up[i]);
      break;
    case 3:
      for (size_t i = first; i < n; ++i) out[i] = uint8_t(row[i] - (left[i] + up[i]) / 2);
      break;
    case 4:
      for (size_t i = first; i < n; ++i) out[i] = uint8_t(row[i] - paeth(int(left[i]), int(up[i]), int(above[i])));
      break;
    default: std::copy(row + first, row + n, out + first);
  }
  uint64_t sum = 0;
  constexpr size_t kPiece = 4096;  // whose sum fits 32 bits
  for (size_t begin = 0; begin < n; begin += kPiece) {
    uint32_t part = 0;
    for (size_t i = begin; i < std::min(n, begin + kPiece); ++i) part += uint32_t(std::min<int>(out[i], 256 - out[i]));
    sum += part;
  }
  return sum;
}

#include "kernels/cpu/isa_end.h"
