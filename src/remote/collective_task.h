// This process as a task of a cluster: it serves the task, its devices have the task's names, and its collectives reach the other tasks.
#pragma once

#include "eager/context.h"
#include "remote/collective_group.h"
#include "remote/coordination_agent.h"

namespace weft_engine::remote {

// What TensorFlow's context.enable_collective_ops(server_def) does. Before the first op: tensors that are there already keep the names of their devices. A second
// call with the same ServerDef does nothing, one with another takes its place. With a coordination service this waits until all of its tasks are there.
Status enable_collective_ops(eager::Context& context, const ServerDef& def);
// Whether a task ("/job:worker/replica:0/task:1") is there, and still the one that took part in groups before.
Status check_peer_health(eager::Context& context, const std::string& task, double seconds);

// Of a task whose configuration has a coordination service (ConfigProto.experimental.coordination_config); FailedPrecondition for others.
Result<std::shared_ptr<CoordinationAgent>> coordination_agent(eager::Context& context);

}  // namespace weft_engine::remote
