#include "cuda/cudnn.h"

#include "cuda/library.h"

namespace weft_engine::cuda {
namespace {

core::Result<const Cudnn*> open() {
  WEFT_ASSIGN(
      void* library,
      open_library(
          {"cuDNN", {"libcudnn.so.9", "libcudnn.so.8"}, "WEFT_CUDNN_LIBRARY", {"cudnn"}, "cuDNN, or pip's nvidia-cudnn-cu13 (nvidia-cudnn-cu12)"}));
  auto* dnn = new Cudnn();
  std::vector<Function> functions;
#define WEFT_CUDNN_FUNCTION(symbol, name, arguments) functions.push_back({#symbol, reinterpret_cast<void**>(&dnn->name)});
  WEFT_CUDNN_FUNCTIONS(WEFT_CUDNN_FUNCTION)
#undef WEFT_CUDNN_FUNCTION
  functions.push_back({"cudnnGetErrorString", reinterpret_cast<void**>(&dnn->error_text)});
  functions.push_back({"cudnnGetVersion", reinterpret_cast<void**>(&dnn->version)});
  WEFT_RETURN_IF_ERROR(find_functions(library, "cuDNN", functions));
  return dnn;
}

}  // namespace

core::Status Cudnn::status(int error, const char* what) const {
  if (!error) return {};
  return core::internal_error(what, " by cuDNN failed: ", error_text(error), " (", error, ")");
}

core::Result<const Cudnn*> cudnn() {
  static const auto& opened = *new core::Result<const Cudnn*>(open());
  return opened;
}

}  // namespace weft_engine::cuda
