// SPDX-License-Identifier: Apache-2.0
//
// Memory of the C library, and aligned.
#ifndef TENSORFLOW_CORE_PLATFORM_MEM_H_
#define TENSORFLOW_CORE_PLATFORM_MEM_H_

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace port {

inline void* Malloc(size_t size) { return std::malloc(size); }
inline void* Realloc(void* p, size_t size) { return std::realloc(p, size); }
inline void Free(void* p) { std::free(p); }
// Null where there is not so much memory.
inline void* AlignedMalloc(size_t size, std::align_val_t alignment) {
  void* p = nullptr;
  const size_t least = static_cast<size_t>(alignment) < sizeof(void*) ? sizeof(void*) : static_cast<size_t>(alignment);
  return ::posix_memalign(&p, least, size) == 0 ? p : nullptr;
}
inline void* AlignedMalloc(size_t size, int alignment) { return AlignedMalloc(size, static_cast<std::align_val_t>(alignment)); }
inline void AlignedFree(void* p) { std::free(p); }
inline void AlignedSizedFree(void* p, size_t, std::align_val_t) { std::free(p); }
inline void AlignedSizedFree(void* p, size_t, size_t) { std::free(p); }

template <class T, std::align_val_t alignment>
struct AlignedAllocator {
  using value_type = T;
  T* allocate(size_t n) { return static_cast<T*>(AlignedMalloc(n * sizeof(T), alignment)); }
  void deallocate(T* p, size_t) { AlignedFree(p); }
};

inline void MallocExtension_ReleaseToSystem(size_t) {}
inline size_t MallocExtension_GetAllocatedSize(const void*) { return 0; }  // as where TensorFlow runs without tcmalloc

struct MemoryInfo {
  int64 total = std::numeric_limits<int64>::max(), free = std::numeric_limits<int64>::max();
};
inline MemoryInfo GetMemoryInfo() {
  MemoryInfo info;
  const int64 page = ::sysconf(_SC_PAGESIZE), all = ::sysconf(_SC_PHYS_PAGES), available = ::sysconf(_SC_AVPHYS_PAGES);
  if (page > 0 && all > 0) info.total = page * all;
  if (page > 0 && available > 0) info.free = page * available;
  return info;
}
inline int64 AvailableRam() { return GetMemoryInfo().free; }

}  // namespace port
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_MEM_H_
