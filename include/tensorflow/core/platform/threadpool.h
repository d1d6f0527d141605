// SPDX-License-Identifier: Apache-2.0
//
// thread::ThreadPool: the engine's threads, or some of the program's own.
#ifndef TENSORFLOW_CORE_PLATFORM_THREADPOOL_H_
#define TENSORFLOW_CORE_PLATFORM_THREADPOOL_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {
namespace thread {

class ThreadPool {
 public:
  enum class SchedulingStrategy { kAdaptive, kFixedBlockSize };
  class SchedulingParams {
   public:
    SchedulingParams(SchedulingStrategy strategy, std::optional<int64> cost_per_unit, std::optional<int64> block_size)
        : strategy_(strategy), cost_(cost_per_unit), block_(block_size) {}
    SchedulingStrategy strategy() const { return strategy_; }
    std::optional<int64> cost_per_unit() const { return cost_; }
    std::optional<int64> block_size() const { return block_; }

   private:
    SchedulingStrategy strategy_;
    std::optional<int64> cost_, block_;
  };

  ThreadPool(Env*, const std::string&, int num_threads) : pool_(weft_pool_new(num_threads)), own_(true) {}
  ThreadPool(Env*, const ThreadOptions&, const std::string&, int num_threads) : pool_(weft_pool_new(num_threads)), own_(true) {}
  // A low latency is what the engine's threads have anyway.
  template <class Allocator = void>
  ThreadPool(Env* env, const ThreadOptions& options, const std::string& name, int num_threads, bool /*low_latency_hint*/, Allocator* = nullptr)
      : ThreadPool(env, options, name, num_threads) {}
  explicit ThreadPool(weft_pool* pool) : pool_(pool) {}
  ~ThreadPool() {
    if (own_) weft_pool_delete(pool_);
  }
  ThreadPool(const ThreadPool&) = delete;
  void operator=(const ThreadPool&) = delete;

  int NumThreads() const { return own_ ? weft_pool_threads(pool_) - 1 : weft_pool_threads(pool_); }
  void Schedule(std::function<void()> f) {
    weft_pool_schedule(
        pool_,
        [](void* data) {
          const std::unique_ptr<std::function<void()>> task(static_cast<std::function<void()>*>(data));
          (*task)();
        },
        new std::function<void()>(std::move(f)));
  }
  // Calls f(first, last) on parts of [0, total), and returns when all are done. An exception of f is thrown here.
  void ParallelFor(int64 total, int64 cost_per_unit, const std::function<void(int64, int64)>& f) {
    weft_pool_for(
        pool_, total, static_cast<double>(cost_per_unit),
        [](void* data, int64_t begin, int64_t end) { (*static_cast<const std::function<void(int64, int64)>*>(data))(begin, end); },
        const_cast<void*>(static_cast<const void*>(&f)));
  }
  void ParallelFor(int64 total, const SchedulingParams& params, const std::function<void(int64, int64)>& f) {
    if (params.strategy() == SchedulingStrategy::kFixedBlockSize && params.block_size().value_or(0) > 0) {
      TransformRangeConcurrently(*params.block_size(), total, f);
    } else {
      ParallelFor(total, params.cost_per_unit().value_or(1), f);
    }
  }
  // In parts of exactly that size, the last one being what is left.
  void TransformRangeConcurrently(int64 block_size, int64 total, const std::function<void(int64, int64)>& f) {
    const int64 blocks = (total + block_size - 1) / block_size;
    ParallelFor(blocks, int64{1} << 30, [&](int64 begin, int64 end) {
      for (int64 b = begin; b < end; ++b) f(b * block_size, std::min(total, (b + 1) * block_size));
    });
  }
  // f is told which worker calls it, 0 to NumThreads(): no two calls at once have the same number.
  void ParallelForWithWorkerId(int64 total, int64 cost_per_unit, const std::function<void(int64, int64, int)>& f) {
    std::mutex mu;
    std::vector<int> free;
    for (int i = NumThreads(); i >= 0; --i) free.push_back(i);
    ParallelFor(total, cost_per_unit, [&](int64 begin, int64 end) {
      std::unique_lock<std::mutex> lock(mu);
      const int id = free.back();
      free.pop_back();
      lock.unlock();
      f(begin, end, id);
      lock.lock();
      free.push_back(id);
    });
  }
  void ScheduleWithHint(std::function<void()> f, int, int) { Schedule(std::move(f)); }
  static int NumShardsUsedByFixedBlockSizeScheduling(int64 total, int64 block_size) {
    return block_size <= 0 || total <= 1 || total <= block_size ? 1 : static_cast<int>((total + block_size - 1) / block_size);
  }
  weft_pool* underlying() const { return pool_; }

 private:
  weft_pool* pool_;
  bool own_ = false;
};

}  // namespace thread
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_THREADPOOL_H_
