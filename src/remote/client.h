// The client's side of a cluster: connects an eager context to the tasks of a cluster, whose devices become devices of the context. Ops on them are
// sent one after the other and not waited for; their results stay there until somebody here needs them.
#pragma once

#include "eager/context.h"
#include "remote/messages.h"

namespace weft_engine::remote {

struct ConnectOptions {
  double timeout_seconds = 0;        // for all tasks to answer; 0: as long as it takes
  int64_t keep_alive_seconds = 600;  // a task forgets a client that it has not heard of for so long
};

// `def` names the cluster with this process as one of its tasks. Connecting again replaces the earlier cluster; tensors there are lost then.
// No op may run meanwhile. A task that does not answer for WEFT_CLUSTER_TIMEOUT_SECONDS (30; 0: for ever) is taken to be dead: what waits for it fails.
Status connect(eager::Context& context, const ServerDef& def, const ConnectOptions& options = {});
// The cluster with other tasks: those that stay, alive and at the same address, keep their tensors. FailedPrecondition where the context is in none.
Status update(eager::Context& context, const ServerDef& def, const ConnectOptions& options = {});
// Whether the task answers; InvalidArgument for one that the cluster does not have.
Result<bool> check_alive(eager::Context& context, const std::string& task);

}  // namespace weft_engine::remote
