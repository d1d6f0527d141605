// The door to cuBLAS: triangular systems. Matrix products go to cuBLASLt. The declarations are weft's own.
#pragma once

#include "core/status.h"
#include "cuda/driver.h"

namespace weft_engine::cuda {

// cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t; cuSOLVER has the same.
enum class BlasSide : int { kLeft = 0, kRight = 1 };
enum class BlasTriangle : int { kLower = 0, kUpper = 1 };
enum class BlasOperation : int { kPlain = 0, kTransposed = 1 };
enum class BlasDiagonal : int { kStored = 0, kOnes = 1 };

// Matrices have their columns one after the other, `a_leading` elements apart. alpha is in host memory.
#define WEFT_CUBLAS_FUNCTIONS(F)                                                                                                                     \
  F(cublasCreate_v2, create, (void** handle))                                                                                                        \
  F(cublasSetStream_v2, set_stream, (void* handle, void* stream))                                                                                    \
  F(cublasStrsm_v2, triangular_float,                                                                                                                \
    (void* handle, BlasSide side, BlasTriangle triangle, BlasOperation operation, BlasDiagonal diagonal, int rows, int columns, const float* alpha,  \
     DevicePtr a, int a_leading, DevicePtr b, int b_leading))                                                                                        \
  F(cublasDtrsm_v2, triangular_double,                                                                                                               \
    (void* handle, BlasSide side, BlasTriangle triangle, BlasOperation operation, BlasDiagonal diagonal, int rows, int columns, const double* alpha, \
     DevicePtr a, int a_leading, DevicePtr b, int b_leading))

struct Cublas {
#define WEFT_CUBLAS_POINTER(symbol, name, arguments) int(*name) arguments = nullptr;
  WEFT_CUBLAS_FUNCTIONS(WEFT_CUBLAS_POINTER)
#undef WEFT_CUBLAS_POINTER
};

// Opened once. NotFound says what to install.
core::Result<const Cublas*> cublas();

}  // namespace weft_engine::cuda
