// Memory for one call, from the allocator of tensors, which keeps blocks for the next: fresh pages would cost more than many kernels.
#pragma once

#include <cstdint>
#include <new>

#include "core/allocator.h"

namespace weft_engine::kernels {

class Scratch {
 public:
  explicit Scratch(int64_t floats) : bytes_(size_t(floats) * sizeof(float)), data_(core::host_allocate(bytes_)) {
    if (!data_) throw std::bad_alloc();  // ends as ResourceExhausted where the op was called
  }
  ~Scratch() { core::host_free(data_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  float* get() const { return static_cast<float*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

}  // namespace weft_engine::kernels
