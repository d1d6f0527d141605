// The common head of the linalg_*.cc files.
#pragma once

#include <Eigen/Core>

#include "kernels/cpu/linalg_vectors.h"

namespace weft_engine::kernels {

template <class T>
using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
Eigen::Map<const Dense<T>> matrix(const T* data, int64_t rows, int64_t columns) {
  return {data, rows, columns};
}
template <class T>
Eigen::Map<Dense<T>> matrix(T* data, int64_t rows, int64_t columns) {
  return {data, rows, columns};
}

}  // namespace weft_engine::kernels
