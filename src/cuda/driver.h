// The CUDA driver, libcuda.so.1: the functions that weft calls, in its own declarations. Opened at first use; WEFT_CUDA_DRIVER names
// another file, such as the stand-in of tests/cuda.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/status.h"

namespace weft_engine::cuda {

using DevicePtr = uint64_t;  // an address on the device
using Error = int;           // CUresult

inline constexpr Error kSuccess = 0, kOutOfMemory = 2, kDeinitialized = 4, kNoDevice = 100, kNotReady = 600;

// CUdevice_attribute
enum class Attribute : int {
  kMaxThreadsPerBlock = 1,
  kClockRate = 13,
  kMultiprocessors = 16,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2Bytes = 38,
  kMajor = 75,
  kMinor = 76,
  kMemoryPools = 115,
};

// CUmemPoolProps: memory of one device, not shared with other processes.
struct PoolProperties {
  int allocation_type = 1;  // pinned: what pools hold
  int handle_types = 0;
  int location_type = 1;  // a device
  int device = 0;
  void* security = nullptr;
  size_t most = 0;  // 0: what the device has
  unsigned short usage = 0;
  unsigned char reserved[54] = {};
};
static_assert(sizeof(PoolProperties) == 88);

// CUDA_MEMCPY3D: `width` bytes of `height` rows in each of `depth` planes, between pieces of memory whose rows are `pitch` bytes apart.
struct BoxCopy {
  struct Side {
    size_t x_bytes = 0, y = 0, z = 0, level = 0;
    int memory = 2;  // a device's
    const void* host = nullptr;
    DevicePtr device = 0;
    void *array = nullptr, *reserved = nullptr;
    size_t pitch = 0, height = 0;
  } from, to;
  size_t width = 0, height = 0, depth = 0;
};
static_assert(sizeof(BoxCopy) == 200);

// CUmemPool_attribute
enum class PoolAttribute : int { kReleaseThreshold = 4, kReserved = 5, kReservedHigh = 6, kUsed = 7, kUsedHigh = 8 };

// name in the library, name here, arguments
#define WEFT_CUDA_FUNCTIONS(F)                                                                                                                       \
  F(cuInit, init, (unsigned flags))                                                                                                                  \
  F(cuDriverGetVersion, version, (int* version))                                                                                                     \
  F(cuGetErrorName, error_name, (Error error, const char** text))                                                                                    \
  F(cuGetErrorString, error_text, (Error error, const char** text))                                                                                  \
  F(cuDeviceGetCount, device_count, (int* count))                                                                                                    \
  F(cuDeviceGet, device, (int* device, int ordinal))                                                                                                 \
  F(cuDeviceGetName, device_name, (char* name, int length, int device))                                                                              \
  F(cuDeviceGetAttribute, device_attribute, (int* value, Attribute attribute, int device))                                                           \
  F(cuDeviceTotalMem_v2, device_memory, (size_t* bytes, int device))                                                                                 \
  F(cuDeviceGetPCIBusId, pci_bus_id, (char* text, int length, int device))                                                                           \
  F(cuDevicePrimaryCtxRetain, retain_context, (void** context, int device))                                                                          \
  F(cuCtxSetCurrent, set_context, (void* context))                                                                                                   \
  F(cuCtxSynchronize, synchronize, ())                                                                                                               \
  F(cuMemGetInfo_v2, memory_info, (size_t* free, size_t* total))                                                                                     \
  F(cuMemPoolCreate, create_pool, (void** pool, const PoolProperties* properties))                                                                   \
  F(cuMemPoolSetAttribute, set_pool_attribute, (void* pool, PoolAttribute attribute, void* value))                                                   \
  F(cuMemPoolTrimTo, trim_pool, (void* pool, size_t keep))                                                                                           \
  F(cuMemAllocFromPoolAsync, allocate, (DevicePtr * at, size_t bytes, void* pool, void* stream))                                                     \
  F(cuMemFreeAsync, free, (DevicePtr at, void* stream))                                                                                              \
  F(cuMemHostAlloc, allocate_pinned, (void** at, size_t bytes, unsigned flags))                                                                      \
  F(cuMemFreeHost, free_pinned, (void* at))                                                                                                          \
  F(cuMemcpyHtoDAsync_v2, copy_to_device, (DevicePtr to, const void* from, size_t bytes, void* stream))                                              \
  F(cuMemcpyDtoHAsync_v2, copy_to_host, (void* to, DevicePtr from, size_t bytes, void* stream))                                                      \
  F(cuMemcpyDtoDAsync_v2, copy_on_device, (DevicePtr to, DevicePtr from, size_t bytes, void* stream))                                                \
  F(cuMemcpy3DAsync_v2, copy_box, (const BoxCopy* copy, void* stream))                                                                               \
  F(cuMemsetD8Async, fill, (DevicePtr to, unsigned char value, size_t bytes, void* stream))                                                          \
  F(cuStreamCreate, create_stream, (void** stream, unsigned flags))                                                                                  \
  F(cuStreamDestroy_v2, destroy_stream, (void* stream))                                                                                              \
  F(cuStreamSynchronize, wait_for_stream, (void* stream))                                                                                            \
  F(cuStreamWaitEvent, stream_waits, (void* stream, void* event, unsigned flags))                                                                    \
  F(cuEventCreate, create_event, (void** event, unsigned flags))                                                                                     \
  F(cuEventDestroy_v2, destroy_event, (void* event))                                                                                                 \
  F(cuEventRecord, record_event, (void* event, void* stream))                                                                                        \
  F(cuEventElapsedTime, event_time, (float* milliseconds, void* from, void* to))                                                                     \
  F(cuEventSynchronize, wait_for_event, (void* event))                                                                                               \
  F(cuModuleLoadDataEx, load_module, (void** module, const void* image, unsigned count, int* options, void** values))                                \
  F(cuModuleUnload, unload_module, (void* module))                                                                                                   \
  F(cuModuleGetFunction, module_function, (void** function, void* module, const char* name))                                                         \
  F(cuLaunchKernel, launch,                                                                                                                          \
    (void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, \
     void* stream, void** arguments, void** extra))

// Those of newer drivers: graphs (CUDA 11.4).
#define WEFT_CUDA_NEWER_FUNCTIONS(F)                                                      \
  F(cuStreamBeginCapture_v2, begin_capture, (void* stream, int mode))                     \
  F(cuStreamEndCapture, end_capture, (void* stream, void** graph))                        \
  F(cuGraphInstantiateWithFlags, make_ready, (void** ready, void* graph, uint64_t flags)) \
  F(cuGraphLaunch, launch_graph, (void* ready, void* stream))                             \
  F(cuGraphExecDestroy, destroy_ready, (void* ready))                                     \
  F(cuGraphDestroy, destroy_graph, (void* graph))

struct Driver {
#define WEFT_CUDA_POINTER(symbol, name, arguments) Error(*name) arguments = nullptr;
  WEFT_CUDA_FUNCTIONS(WEFT_CUDA_POINTER)
  WEFT_CUDA_NEWER_FUNCTIONS(WEFT_CUDA_POINTER)
#undef WEFT_CUDA_POINTER
  bool graphs() const { return begin_capture && end_capture && make_ready && launch_graph && destroy_ready && destroy_graph; }
  // Not NVIDIA's: a stand-in that runs kernels on the processor takes functions in place of PTX (compiler::GpuHostKernel).
  Error (*host_function)(void** function, void* kernel, const char* name, unsigned arguments) = nullptr;

  // Internal, or ResourceExhausted where memory is short: "CUDA_ERROR_X: text" and what was to be done.
  core::Status status(Error error, const char* what) const;
};

#define WEFT_CUDA_RETURN(driver, call, what)                                                    \
  do {                                                                                          \
    if (const ::weft_engine::cuda::Error weft_error_ = (driver).call; weft_error_) [[unlikely]] \
      return (driver).status(weft_error_, what);                                                \
  } while (0)

// Is there anything that looks like a driver? Cheap, and opens nothing.
bool driver_available();
// Opened and initialised once. NotFound where there is none.
core::Result<const Driver*> driver();

}  // namespace weft_engine::cuda
