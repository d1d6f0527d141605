// cuBLASLt, dynamically loaded: matrix products. The declarations are weft's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/status.h"
#include "cuda/driver.h"

namespace weft_engine::cuda {

// cudaDataType_t, cublasComputeType_t, cublasOperation_t
enum class LtType : int { kFloat = 0, kDouble = 1, kHalf = 2, kBfloat16 = 14 };
enum class LtCompute : int { kFloat = 68, kDouble = 70, kTf32 = 77 };
enum class LtOperation : int { kPlain = 0, kTransposed = 1 };
// Of a product, of a matrix, of the search for an algorithm.
enum class LtProductAttribute : int { kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBias = 8 };
enum class LtMatrixAttribute : int { kBatch = 5, kStride = 6 };
enum class LtSearchAttribute : int { kWorkspace = 1, kAlignmentA = 5, kAlignmentB = 6, kAlignmentC = 7, kAlignmentD = 8 };

struct LtAlgorithm {
  uint64_t data[8];
};
struct LtChoice {
  LtAlgorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(LtChoice) == 96);

#define WEFT_CUBLASLT_FUNCTIONS(F)                                                                                                            \
  F(cublasLtCreate, create, (void** handle))                                                                                                  \
  F(cublasLtMatmulDescCreate, create_product, (void** product, LtCompute compute, LtType scale))                                              \
  F(cublasLtMatmulDescDestroy, destroy_product, (void* product))                                                                              \
  F(cublasLtMatmulDescSetAttribute, set_product, (void* product, LtProductAttribute attribute, const void* value, size_t bytes))              \
  F(cublasLtMatrixLayoutCreate, create_matrix, (void** matrix, LtType type, uint64_t rows, uint64_t columns, int64_t leading))                \
  F(cublasLtMatrixLayoutDestroy, destroy_matrix, (void* matrix))                                                                              \
  F(cublasLtMatrixLayoutSetAttribute, set_matrix, (void* matrix, LtMatrixAttribute attribute, const void* value, size_t bytes))               \
  F(cublasLtMatmulPreferenceCreate, create_search, (void** search))                                                                           \
  F(cublasLtMatmulPreferenceDestroy, destroy_search, (void* search))                                                                          \
  F(cublasLtMatmulPreferenceSetAttribute, set_search, (void* search, LtSearchAttribute attribute, const void* value, size_t bytes))           \
  F(cublasLtMatmulAlgoGetHeuristic, choose,                                                                                                   \
    (void* handle, void* product, void* a, void* b, void* c, void* d, void* search, int most, LtChoice* choices, int* found))                 \
  F(cublasLtMatmul, multiply,                                                                                                                 \
    (void* handle, void* product, const void* alpha, DevicePtr a, void* a_matrix, DevicePtr b, void* b_matrix, const void* beta, DevicePtr c, \
     void* c_matrix, DevicePtr d, void* d_matrix, const LtAlgorithm* algorithm, DevicePtr workspace, size_t workspace_bytes, void* stream))

struct CublasLt {
#define WEFT_CUBLASLT_POINTER(symbol, name, arguments) int(*name) arguments = nullptr;
  WEFT_CUBLASLT_FUNCTIONS(WEFT_CUBLASLT_POINTER)
#undef WEFT_CUBLASLT_POINTER
};

// Opened once. NotFound says what to install.
core::Result<const CublasLt*> cublaslt();

}  // namespace weft_engine::cuda
