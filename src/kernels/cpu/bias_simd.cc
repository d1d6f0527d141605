#include <complex>
#include <type_traits>

#include "kernels/cpu/bias.h"
#include "kernels/cpu/isa_begin.h"

namespace {

template <class T>
void columns(const void* x, const void* bias, void* y, int64_t rows, int64_t n) {
  const T *in = static_cast<const T*>(x), *b = static_cast<const T*>(bias);
  T* out = static_cast<T*>(y);
  for (int64_t r = 0; r < rows; ++r, in += n, out += n) {
    for (int64_t j = 0; j < n; ++j) out[j] = T(in[j] + b[j]);
  }
}

template <class T>
void runs(const void* x, const void* bias, void* y, int64_t first, int64_t rows, int64_t n, int64_t channels) {
  const T *in = static_cast<const T*>(x), *b = static_cast<const T*>(bias);
  T* out = static_cast<T*>(y);
  for (int64_t r = 0; r < rows; ++r, in += n, out += n) {
    const T add = b[(first + r) % channels];
    for (int64_t j = 0; j < n; ++j) out[j] = T(in[j] + add);
  }
}

// Signed integers are added as unsigned ones, which wrap.
#define WEFT_BIAS_CASES(f, ...)                                             \
  using core::DType;                                                        \
  switch (type) {                                                           \
    case DType::kFloat: f<float>(__VA_ARGS__); return true;                 \
    case DType::kDouble: f<double>(__VA_ARGS__); return true;               \
    case DType::kHalf: f<core::half>(__VA_ARGS__); return true;             \
    case DType::kBfloat16: f<core::bfloat16>(__VA_ARGS__); return true;     \
    case DType::kInt8:                                                      \
    case DType::kUint8: f<uint8_t>(__VA_ARGS__); return true;               \
    case DType::kInt16:                                                     \
    case DType::kUint16: f<uint16_t>(__VA_ARGS__); return true;             \
    case DType::kInt32:                                                     \
    case DType::kUint32: f<uint32_t>(__VA_ARGS__); return true;             \
    case DType::kInt64:                                                     \
    case DType::kUint64: f<uint64_t>(__VA_ARGS__); return true;             \
    case DType::kComplex64: f<core::complex64>(__VA_ARGS__); return true;   \
    case DType::kComplex128: f<core::complex128>(__VA_ARGS__); return true; \
    default: return false;                                                  \
  }

}  // namespace

bool add_bias(core::DType type, const void* x, const void* bias, void* y, int64_t rows, int64_t n) { WEFT_BIAS_CASES(columns, x, bias, y, rows, n) }

bool add_bias_runs(core::DType type, const void* x, const void* bias, void* y, int64_t first, int64_t rows, int64_t n, int64_t channels) {
  WEFT_BIAS_CASES(runs, x, bias, y, first, rows, n, channels)
}

#include "kernels/cpu/isa_end.h"
