// SPDX-License-Identifier: Apache-2.0
//
// Allocator: memory of the host, for sources that name one. Tensors have the engine's memory whichever they are given.
#ifndef TENSORFLOW_CORE_FRAMEWORK_ALLOCATOR_H_
#define TENSORFLOW_CORE_FRAMEWORK_ALLOCATOR_H_

#include <cstddef>
#include <cstdlib>
#include <string>

namespace tensorflow {

// Where memory is wanted. All of it is the host's here.
struct AllocatorAttributes {
  void set_on_host(bool) {}
  void set_gpu_compatible(bool) {}
  void set_nic_compatible(bool) {}
  bool on_host() const { return true; }
  bool gpu_compatible() const { return false; }
  bool nic_compatible() const { return false; }
};

class Allocator {
 public:
  static constexpr size_t kAllocatorAlignment = 64;
  virtual ~Allocator() = default;
  virtual std::string Name() { return "cpu"; }
  // Null where there is not so much memory.
  virtual void* AllocateRaw(size_t alignment, size_t num_bytes) {
    void* memory = nullptr;
    return ::posix_memalign(&memory, alignment < sizeof(void*) ? sizeof(void*) : alignment, num_bytes) == 0 ? memory : nullptr;
  }
  virtual void DeallocateRaw(void* memory) { std::free(memory); }
};

inline Allocator* cpu_allocator() {
  static auto* const host = new Allocator;
  return host;
}
inline Allocator* cpu_allocator(int) { return cpu_allocator(); }

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_ALLOCATOR_H_
