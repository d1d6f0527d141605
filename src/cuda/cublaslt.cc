#include "cuda/cublaslt.h"

#include "cuda/cublas.h"
#include "cuda/library.h"

namespace weft_engine::cuda {
namespace {

core::Result<const CublasLt*> open() {
  WEFT_ASSIGN(void* library, open_library({"cuBLASLt",
                                           {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"},
                                           "WEFT_CUBLASLT_LIBRARY",
                                           {"cu13", "cublas"},
                                           "CUDA, or pip's nvidia-cublas (nvidia-cublas-cu12)"}));
  auto* lt = new CublasLt();
  std::vector<Function> functions;
#define WEFT_CUBLASLT_FUNCTION(symbol, name, arguments) functions.push_back({#symbol, reinterpret_cast<void**>(&lt->name)});
  WEFT_CUBLASLT_FUNCTIONS(WEFT_CUBLASLT_FUNCTION)
#undef WEFT_CUBLASLT_FUNCTION
  WEFT_RETURN_IF_ERROR(find_functions(library, "cuBLASLt", functions));
  return lt;
}

core::Result<const Cublas*> open_cublas() {
  WEFT_ASSIGN(void* library, open_library({"cuBLAS",
                                           {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"},
                                           "WEFT_CUBLAS_LIBRARY",
                                           {"cu13", "cublas"},
                                           "CUDA, or pip's nvidia-cublas (nvidia-cublas-cu12)"}));
  auto* blas = new Cublas();
  std::vector<Function> functions;
#define WEFT_CUBLAS_FUNCTION(symbol, name, arguments) functions.push_back({#symbol, reinterpret_cast<void**>(&blas->name)});
  WEFT_CUBLAS_FUNCTIONS(WEFT_CUBLAS_FUNCTION)
#undef WEFT_CUBLAS_FUNCTION
  WEFT_RETURN_IF_ERROR(find_functions(library, "cuBLAS", functions));
  return blas;
}

}  // namespace

core::Result<const Cublas*> cublas() {
  static const auto& opened = *new core::Result<const Cublas*>(open_cublas());
  return opened;
}

core::Result<const CublasLt*> cublaslt() {
  static const auto& opened = *new core::Result<const CublasLt*>(open());
  return opened;
}

}  // namespace weft_engine::cuda
