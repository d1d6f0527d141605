// The door to cuBLAS proper: its own choice of kernels for a product, which is another than what cuBLASLt proposes. The declarations are weft's own.
#pragma once

#include "core/status.h"
#include "cuda/cublaslt.h"

namespace weft_engine::cuda {

inline constexpr int kCublasDefault = -1;  // CUBLAS_GEMM_DEFAULT

#define WEFT_CUBLAS_FUNCTIONS(F)                                                                                                               \
  F(cublasCreate_v2, create, (void** handle))                                                                                                  \
  F(cublasSetStream_v2, set_stream, (void* handle, void* stream))                                                                              \
  F(cublasSetWorkspace_v2, set_workspace, (void* handle, DevicePtr workspace, size_t bytes))                                                   \
  F(cublasGemmEx, multiply,                                                                                                                    \
    (void* handle, LtOperation a_operation, LtOperation b_operation, int m, int n, int k, const void* alpha, DevicePtr a, LtType a_type,       \
     int a_leading, DevicePtr b, LtType b_type, int b_leading, const void* beta, DevicePtr c, LtType c_type, int c_leading, LtCompute compute, \
     int algorithm))

struct Cublas {
#define WEFT_CUBLAS_POINTER(symbol, name, arguments) int(*name) arguments = nullptr;
  WEFT_CUBLAS_FUNCTIONS(WEFT_CUBLAS_POINTER)
#undef WEFT_CUBLAS_POINTER
};

// Opened once. NotFound where it is not there: cuBLASLt does without.
core::Result<const Cublas*> cublas();

}  // namespace weft_engine::cuda
