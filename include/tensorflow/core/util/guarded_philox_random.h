// SPDX-License-Identifier: Apache-2.0
//
// GuardedPhiloxRandom: the generator of a kernel; each run takes its own part of the stream.
#ifndef TENSORFLOW_CORE_UTIL_GUARDED_PHILOX_RANDOM_H_
#define TENSORFLOW_CORE_UTIL_GUARDED_PHILOX_RANDOM_H_

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/lib/random/random.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {

class GuardedPhiloxRandom {
 public:
  GuardedPhiloxRandom() = default;
  GuardedPhiloxRandom(const GuardedPhiloxRandom&) = delete;
  void operator=(const GuardedPhiloxRandom&) = delete;

  // By the attributes seed and seed2; random where both are 0.
  Status Init(OpKernelConstruction* context) {
    int64 seed = 0, seed2 = 0;
    TF_RETURN_IF_ERROR(context->GetAttr("seed", &seed));
    TF_RETURN_IF_ERROR(context->GetAttr("seed2", &seed2));
    Init(seed, seed2);
    return OkStatus();
  }
  void Init(int64 seed, int64 seed2) {
    CHECK(!initialized_) << "a generator is initialized once";
    if (seed == 0 && seed2 == 0) {
      seed = static_cast<int64>(random::New64());
      seed2 = static_cast<int64>(random::New64());
    }
    const mutex_lock lock(mu_);
    generator_ = random::PhiloxRandom(static_cast<uint64>(seed), static_cast<uint64>(seed2));
    initialized_ = true;
  }
  void Init(random::PhiloxRandom::ResultType counter, random::PhiloxRandom::Key key) {
    CHECK(!initialized_) << "a generator is initialized once";
    const mutex_lock lock(mu_);
    generator_ = random::PhiloxRandom(counter, key);
    initialized_ = true;
  }
  random::PhiloxRandom ReserveSamples128(int64 samples) {
    CHECK(initialized_) << "a generator without seeds";
    const mutex_lock lock(mu_);
    const random::PhiloxRandom here = generator_;
    generator_.Skip(static_cast<uint64>(samples));
    return here;
  }
  random::PhiloxRandom ReserveSamples32(int64 samples) { return ReserveSamples128((samples + 3) / 4); }
  // `multiplier` numbers for each output.
  random::PhiloxRandom ReserveRandomOutputs(int64 outputs, int multiplier) { return ReserveSamples128(outputs * multiplier); }

 private:
  mutex mu_;
  random::PhiloxRandom generator_;
  bool initialized_ = false;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_GUARDED_PHILOX_RANDOM_H_
