#include "cuda/cublaslt.h"

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

}  // namespace

core::Result<const CublasLt*> cublaslt() {
  static const auto& opened = *new core::Result<const CublasLt*>(open());
  return opened;
}

}  // namespace weft_engine::cuda
