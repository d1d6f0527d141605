// What a run's parallel loops are: with WEFT_LOOPS=FILE in the environment, pools run the chunks of a loop one after the other on the caller and
// measure each, and Programs say which op runs. bench/loops.py reads the file and computes what N threads would make of it. With WEFT_LOOPS_REAL=1 loops run on
// their threads as ever, and the times of ops alone are recorded.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/function_ref.h"

namespace weft_engine::core {

class LoopRecord {
 public:
  // Null where nothing is recorded.
  static LoopRecord* get() { return record_; }
  // Null too where loops run as ever.
  static LoopRecord* of_loops() { return of_loops_; }

  // Runs the chunks here. `cost` is the caller's estimate of all of them in nanoseconds, 0 where it made none; `site` is where in the code it was called.
  void loop(int64_t n, double cost, const void* site, FunctionRef<void(int64_t)> body);
  void begin_op(std::string_view op);
  void end_op();

 private:
  struct Events;
  static LoopRecord* const record_;
  static LoopRecord* const of_loops_;
  Events* events_ = nullptr;
};

}  // namespace weft_engine::core
