// Arguments of ops that functions of the API make.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "weft/tensor.h"

namespace weft::api {

inline Tensor ints(const std::vector<int64_t>& v) { return Tensor(std::span<const int64_t>(v)); }

// -1: not known while a function is traced.
inline int known_rank(const Tensor& x) {
  if (!x.is_symbolic()) return x.rank();
  const PartialShape s = x.partial_shape();
  return s.known_rank ? int(s.dims.size()) : -1;
}

// The range of an integer type; false for other types.
inline bool integer_limits(DType t, double& low, double& high) {
  const auto set = [&]<class T>(T) {
    low = double(std::numeric_limits<T>::min());
    high = double(std::numeric_limits<T>::max());
    return true;
  };
  switch (t) {
    case DType::int8: return set(int8_t());
    case DType::int16: return set(int16_t());
    case DType::int32: return set(int32_t());
    case DType::int64: return set(int64_t());
    case DType::uint8: return set(uint8_t());
    case DType::uint16: return set(uint16_t());
    case DType::uint32: return set(uint32_t());
    case DType::uint64: return set(uint64_t());
    default: return false;
  }
}

}  // namespace weft::api
