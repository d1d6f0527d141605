// What tasks do, and when: ProfilerService.Profile, whose answer is TensorFlow's XSpace. Ops of all clients of the task are noted, functions node by node.
#pragma once

#include "op/step_trace.h"
#include "remote/clock.h"
#include "remote/eager_service.h"

namespace weft_engine::remote {

using TraceEvent = op::StepTrace::Event;

// Events of the steady clock as an XSpace of the wall clock; `task` is its host.
std::string encode_xspace(const std::vector<TraceEvent>& events, const std::string& task);
// Events of the wall clock, without shapes. InvalidArgument for what is malformed.
Result<std::vector<TraceEvent>> decode_xspace(std::string_view bytes);

void add_profile_methods(MethodTable& methods, const std::string& task, std::shared_ptr<EagerService> service);

struct TaskProfile {
  std::string job;
  int task = 0;
  std::string address;
  Result<std::vector<TraceEvent>> events;
  ClockOffset clock;
};
// What all tasks do in the next `seconds`, asked for at once. Times are of this process's wall clock, as far as tasks tell what theirs shows.
Result<std::vector<TaskProfile>> profile_all(const ClusterMap& cluster, double seconds);

}  // namespace weft_engine::remote
