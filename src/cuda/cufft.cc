#include "cuda/cufft.h"

#include "cuda/library.h"

namespace weft_engine::cuda {
namespace {

constexpr int kNoMemory = 2;  // CUFFT_ALLOC_FAILED

core::Result<const Cufft*> open() {
  WEFT_ASSIGN(void* library, open_library({"cuFFT",
                                           {"libcufft.so.12", "libcufft.so.11", "libcufft.so.10"},
                                           "WEFT_CUFFT_LIBRARY",
                                           {"cu13", "cufft"},
                                           "CUDA, or pip's nvidia-cufft (nvidia-cufft-cu12)"}));
  auto* fft = new Cufft();
  std::vector<Function> functions;
#define WEFT_CUFFT_FUNCTION(symbol, name, arguments) functions.push_back({#symbol, reinterpret_cast<void**>(&fft->name)});
  WEFT_CUFFT_FUNCTIONS(WEFT_CUFFT_FUNCTION)
#undef WEFT_CUFFT_FUNCTION
  WEFT_RETURN_IF_ERROR(find_functions(library, "cuFFT", functions));
  return fft;
}

}  // namespace

core::Status Cufft::status(int error, const char* what) const {
  if (!error) return {};
  if (error == kNoMemory) return core::resource_exhausted(what, " by cuFFT failed: the GPU has no memory for it");
  return core::internal_error(what, " by cuFFT failed with error ", error);
}

core::Result<const Cufft*> cufft() {
  static const auto& opened = *new core::Result<const Cufft*>(open());
  return opened;
}

}  // namespace weft_engine::cuda
