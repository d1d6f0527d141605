#include "cuda/cusolver.h"

#include "cuda/library.h"

namespace weft_engine::cuda {
namespace {

core::Result<const Cusolver*> open() {
  WEFT_ASSIGN(void* library, open_library({"cuSOLVER",
                                           {"libcusolver.so.12", "libcusolver.so.11"},
                                           "WEFT_CUSOLVER_LIBRARY",
                                           {"cu13", "cusolver"},
                                           "CUDA, or pip's nvidia-cusolver (nvidia-cusolver-cu12)"}));
  auto* solver = new Cusolver();
  std::vector<Function> functions = {{"cusolverDnCreate", reinterpret_cast<void**>(&solver->create)},
                                     {"cusolverDnSetStream", reinterpret_cast<void**>(&solver->set_stream)}};
#define WEFT_CUSOLVER_FUNCTION(symbol, name, arguments) functions.push_back({#symbol, reinterpret_cast<void**>(&to.name)});
  {
    Cusolver::Functions& to = solver->of_float;
    WEFT_CUSOLVER_FUNCTIONS(WEFT_CUSOLVER_FUNCTION, S)
  }
  {
    Cusolver::Functions& to = solver->of_double;
    WEFT_CUSOLVER_FUNCTIONS(WEFT_CUSOLVER_FUNCTION, D)
  }
#undef WEFT_CUSOLVER_FUNCTION
  WEFT_RETURN_IF_ERROR(find_functions(library, "cuSOLVER", functions));
  return solver;
}

}  // namespace

core::Result<const Cusolver*> cusolver() {
  static const auto& opened = *new core::Result<const Cusolver*>(open());
  return opened;
}

}  // namespace weft_engine::cuda
