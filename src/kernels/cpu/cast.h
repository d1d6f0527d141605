// Conversion between number types. Any pair that TensorFlow knows is a chain of at most four loops over
// a few hub types (int64, float, double), run block by block; pairs that matter have a loop of their own.
#pragma once

#include <cstdint>
#include <optional>

#include "core/dtype.h"

namespace weft_engine::kernels {

using CastLoop = void (*)(const void* in, void* out, int64_t n);

class CastPlan {
 public:
  // nullopt if TensorFlow has no such cast. `truncate`: a float loses its surplus mantissa bits instead
  // of being rounded.
  static std::optional<CastPlan> make(core::DType from, core::DType to, bool truncate);

  bool same() const { return same_; }  // no bits change
  double cost() const { return 0.5 + count_; }
  // Not in place.
  void run(const void* in, void* out, int64_t n) const;

 private:
  struct Step {
    CastLoop loop = nullptr;
    uint64_t mask = 0;  // instead of a loop: clear the bits outside
    int from_size = 0, to_size = 0;
  };
  void add(core::DType from, core::DType to, CastLoop loop);
  void add_mask(core::DType t, int digits_lost);

  static constexpr int kMaxSteps = 5;
  Step steps_[kMaxSteps];
  int count_ = 0;
  bool same_ = false;
};

}  // namespace weft_engine::kernels
