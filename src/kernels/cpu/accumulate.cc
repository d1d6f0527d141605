#include "kernels/cpu/accumulate.h"

#include <type_traits>

namespace weft_engine::kernels {

using namespace weft_engine::core;

namespace {

template <class T>
void accumulate_range(T* target, const T* value, int64_t n, bool subtract) {
  if constexpr (std::is_same_v<T, float>) {
    WEFT_BEST_ISA(add_floats_to)(target, value, n, subtract);
  } else if constexpr (std::is_same_v<T, double>) {
    WEFT_BEST_ISA(add_doubles_to)(target, value, n, subtract);
  } else if (subtract) {
    for (int64_t i = 0; i < n; ++i) target[i] = T(target[i] - value[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) target[i] = T(target[i] + value[i]);
  }
}

template <class T>
bool run(void* target, const void* value, int64_t n, bool subtract, ThreadPool& pool) {
  T* t = static_cast<T*>(target);
  const T* v = static_cast<const T*>(value);
  pool.parallel_for(n, 0.3, [&](int64_t b, int64_t e) { accumulate_range(t + b, v + b, e - b, subtract); });
  return true;
}

}  // namespace

bool accumulate(DType type, void* target, const void* value, int64_t n, bool subtract, ThreadPool& pool) {
  // Signed integers are added as unsigned ones: the same bits, without undefined overflow.
  switch (type) {
    case DType::kFloat: return run<float>(target, value, n, subtract, pool);
    case DType::kDouble: return run<double>(target, value, n, subtract, pool);
    case DType::kHalf: return run<half>(target, value, n, subtract, pool);
    case DType::kBfloat16: return run<bfloat16>(target, value, n, subtract, pool);
    case DType::kComplex64: return run<complex64>(target, value, n, subtract, pool);
    case DType::kComplex128: return run<complex128>(target, value, n, subtract, pool);
    case DType::kInt8:
    case DType::kUint8: return run<uint8_t>(target, value, n, subtract, pool);
    case DType::kInt16:
    case DType::kUint16: return run<uint16_t>(target, value, n, subtract, pool);
    case DType::kInt32:
    case DType::kUint32: return run<uint32_t>(target, value, n, subtract, pool);
    case DType::kInt64:
    case DType::kUint64: return run<uint64_t>(target, value, n, subtract, pool);
    default: return false;
  }
}

}  // namespace weft_engine::kernels
