// Points of the Sobol sequence with the direction numbers of Joe and Kuo, "Constructing Sobol sequences
// with better two-dimensional projections" (2008), in the order of their Gray codes.
#pragma once

#include <cstdint>

namespace weft_engine::kernels {

inline constexpr int kMaxSobolDim = 21200;    // what the published table has
inline constexpr int kSobolTableDims = 1111;  // what is kept here: all polynomials up to degree 13

// Points skip + 1 ... skip + n of `dims` dimensions, point by point. dims <= kSobolTableDims, skip + n + 1 < 2^31.
template <class T>
void sobol_points(int64_t dims, int64_t n, int64_t skip, T* out);

}  // namespace weft_engine::kernels
