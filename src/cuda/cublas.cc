#include "cuda/cublas.h"

#include "cuda/library.h"

namespace weft_engine::cuda {
namespace {

core::Result<const Cublas*> open() {
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
  static const auto& opened = *new core::Result<const Cublas*>(open());
  return opened;
}

}  // namespace weft_engine::cuda
