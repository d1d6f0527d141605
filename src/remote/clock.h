// Clocks of tasks: what the wall clock of another machine shows while ours shows something else. Events of several tasks are on one time line by that.
#pragma once

#include "remote/method_table.h"

namespace weft_engine::remote {

int64_t wall_clock_ns();

struct ClockOffset {
  bool known = false;  // false: the task does not say (TensorFlow's), or did not answer
  int64_t offset_ns = 0;  // its clock less ours
  int64_t error_ns = 0;  // it is at most this far off: half of the round trip
};
// Asks a few times, one call after the other; the quickest answer counts. `done` is called once, on a thread of the transport.
void measure_clock(std::shared_ptr<Channel> channel, std::function<void(ClockOffset)> done);

// Answers with this task's clock.
void add_clock_methods(MethodTable& methods);

}  // namespace weft_engine::remote
