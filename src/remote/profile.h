// What tasks do, and when: ProfilerService, whose answer is TensorFlow's XSpace, or a file of it where the caller names a folder. Ops of all clients of the task are noted, functions
// node by node.
#pragma once

#include "op/step_trace.h"
#include "remote/clock.h"
#include "remote/messages.h"
#include "remote/method_table.h"
#include "runtime/server.h"

namespace weft_engine::remote {

using TraceEvent = op::StepTrace::Event;

// Events of the steady clock as an XSpace of the wall clock; `task` is its host.
std::string encode_xspace(const std::vector<TraceEvent>& events, const std::string& task);
// Events of the wall clock, without shapes. InvalidArgument for what is malformed.
Result<std::vector<TraceEvent>> decode_xspace(std::string_view bytes);

// Has ops noted in `trace` from now on; null ends that. False: others note them already. The trace lives for ever.
using TraceInto = std::function<bool(op::StepTrace* trace)>;
void add_profile_methods(MethodTable& methods, const std::string& task, TraceInto trace_into);
// A server of ProfilerService alone, on loopback or where WEFT_CLUSTER_BIND says; it serves from now on.
Result<std::unique_ptr<runtime::ServerNetwork>> serve_profiler(int port, TraceInto trace_into);

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
