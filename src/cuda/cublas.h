// cuBLAS, dynamically loaded: triangular systems, and its own choice of kernels for a product, which is another than what cuBLASLt proposes. The declarations are weft's own.
#pragma once

#include "core/status.h"
#include "cuda/cublaslt.h"
#include "cuda/driver.h"

namespace weft_engine::cuda {

// cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t; cuSOLVER has the same.
enum class BlasSide : int { kLeft = 0, kRight = 1 };
enum class BlasTriangle : int { kLower = 0, kUpper = 1 };
enum class BlasOperation : int { kPlain = 0, kTransposed = 1 };
enum class BlasDiagonal : int { kStored = 0, kOnes = 1 };

inline constexpr int kCublasDefault = -1;  // CUBLAS_GEMM_DEFAULT

// Matrices have their columns one after the other, `a_leading` elements apart. alpha is in host memory.
#define WEFT_CUBLAS_FUNCTIONS(F)                                                                                                                     \
  F(cublasCreate_v2, create, (void** handle))                                                                                                        \
  F(cublasSetStream_v2, set_stream, (void* handle, void* stream))                                                                                    \
  F(cublasStrsm_v2, triangular_float,                                                                                                                \
    (void* handle, BlasSide side, BlasTriangle triangle, BlasOperation operation, BlasDiagonal diagonal, int rows, int columns, const float* alpha,  \
     DevicePtr a, int a_leading, DevicePtr b, int b_leading))                                                                                        \
  F(cublasDtrsm_v2, triangular_double,                                                                                                               \
    (void* handle, BlasSide side, BlasTriangle triangle, BlasOperation operation, BlasDiagonal diagonal, int rows, int columns, const double* alpha, \
     DevicePtr a, int a_leading, DevicePtr b, int b_leading))                                                                                        \
  F(cublasSetWorkspace_v2, set_workspace, (void* handle, DevicePtr workspace, size_t bytes))                                                         \
  F(cublasGemmEx, multiply,                                                                                                                          \
    (void* handle, LtOperation a_operation, LtOperation b_operation, int m, int n, int k, const void* alpha, DevicePtr a, LtType a_type,             \
     int a_leading, DevicePtr b, LtType b_type, int b_leading, const void* beta, DevicePtr c, LtType c_type, int c_leading, LtCompute compute,       \
     int algorithm))

struct Cublas {
#define WEFT_CUBLAS_POINTER(symbol, name, arguments) int(*name) arguments = nullptr;
  WEFT_CUBLAS_FUNCTIONS(WEFT_CUBLAS_POINTER)
#undef WEFT_CUBLAS_POINTER
};

// Opened once. NotFound says what to install; products do without.
core::Result<const Cublas*> cublas();

}  // namespace weft_engine::cuda
