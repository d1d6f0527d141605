// SPDX-License-Identifier: Apache-2.0
//
// Shard: work over a range, split over a pool.
#ifndef TENSORFLOW_CORE_UTIL_WORK_SHARDER_H_
#define TENSORFLOW_CORE_UTIL_WORK_SHARDER_H_

#include <functional>

#include "tensorflow/core/platform/threadpool.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

// Calls work(first, last) on parts of [0, total), at most max_parallelism at once; cost_per_unit is in nanoseconds or so.
inline void Shard(int max_parallelism, thread::ThreadPool* workers, int64 total, int64 cost_per_unit, std::function<void(int64, int64)> work) {
  if (total <= 0) return;
  if (max_parallelism <= 1) {
    work(0, total);
  } else if (max_parallelism >= workers->NumThreads()) {
    workers->ParallelFor(total, cost_per_unit, work);
  } else {
    workers->TransformRangeConcurrently((total + max_parallelism - 1) / max_parallelism, total, work);
  }
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_WORK_SHARDER_H_
