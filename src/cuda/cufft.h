// cuFFT, dynamically loaded: Fourier transforms. The declarations are weft's own.
#pragma once

#include <cstddef>

#include "core/status.h"
#include "cuda/driver.h"

namespace weft_engine::cuda {

// cufftType: from what to what, in float or double.
enum class FftType : int {
  kFloatComplex = 0x29,
  kFloatForward = 0x2a,
  kFloatBack = 0x2c,
  kDoubleComplex = 0x69,
  kDoubleForward = 0x6a,
  kDoubleBack = 0x6c
};
enum class FftDirection : int { kForward = -1, kInverse = 1 };

// Sizes, and how the elements lie: the box that `sizes` are the first elements of, how far apart elements and transforms are.
#define WEFT_CUFFT_FUNCTIONS(F)                                                                                                                     \
  F(cufftCreate, create, (int* plan))                                                                                                               \
  F(cufftDestroy, destroy, (int plan))                                                                                                              \
  F(cufftSetAutoAllocation, set_auto_allocation, (int plan, int on))                                                                                \
  F(cufftMakePlanMany64, make_plan,                                                                                                                 \
    (int plan, int rank, long long* sizes, long long* in_box, long long in_stride, long long in_distance, long long* out_box, long long out_stride, \
     long long out_distance, FftType type, long long batch, size_t* workspace))                                                                     \
  F(cufftSetWorkArea, set_workspace, (int plan, DevicePtr workspace))                                                                               \
  F(cufftSetStream, set_stream, (int plan, void* stream))                                                                                           \
  F(cufftExecC2C, float_complex, (int plan, DevicePtr from, DevicePtr to, FftDirection direction))                                                  \
  F(cufftExecR2C, float_forward, (int plan, DevicePtr from, DevicePtr to))                                                                          \
  F(cufftExecC2R, float_back, (int plan, DevicePtr from, DevicePtr to))                                                                             \
  F(cufftExecZ2Z, double_complex, (int plan, DevicePtr from, DevicePtr to, FftDirection direction))                                                 \
  F(cufftExecD2Z, double_forward, (int plan, DevicePtr from, DevicePtr to))                                                                         \
  F(cufftExecZ2D, double_back, (int plan, DevicePtr from, DevicePtr to))

struct Cufft {
#define WEFT_CUFFT_POINTER(symbol, name, arguments) int(*name) arguments = nullptr;
  WEFT_CUFFT_FUNCTIONS(WEFT_CUFFT_POINTER)
#undef WEFT_CUFFT_POINTER
  core::Status status(int error, const char* what) const;
};

// Opened once. NotFound says what to install.
core::Result<const Cufft*> cufft();

}  // namespace weft_engine::cuda
