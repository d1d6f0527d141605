// StepTrace: what ran when, in one step; for RunMetadata, `weft trace` and the profiler. Kernels do not
// see it; executors add an event a kernel when a trace is asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace weft_engine::op {

class StepTrace {
 public:
  struct Event {
    std::string node, op, device;
    int64_t start_ns = 0, end_ns = 0;  // of the steady clock
    int64_t thread = 0;
    std::vector<std::pair<core::DType, core::Shape>> outputs;
  };
  static int64_t now() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
  // A small number for the calling thread.
  static int64_t thread_number();

  void add(Event e) {
    std::lock_guard lock(mutex_);
    events_.push_back(std::move(e));
  }
  std::vector<Event> take() {
    std::lock_guard lock(mutex_);
    return std::move(events_);
  }
  // Wall clock minus steady clock, so that events can be dated.
  static int64_t wall_offset_ns();

 private:
  std::mutex mutex_;
  std::vector<Event> events_;
};

// The container of what belongs to one step alone.
std::string step_container(int64_t step_id);

}  // namespace weft_engine::op
