// Who of a cluster answers, and what devices they have: GetStatus of all tasks at once, without a context there.
#pragma once

#include "remote/messages.h"

namespace weft_engine::remote {

struct TaskAnswer {
  std::string job;
  int task = 0;
  std::string address;
  Result<std::vector<DeviceAttributes>> devices;
};

// Each task has `seconds` to answer.
Result<std::vector<TaskAnswer>> ask_all(const ClusterMap& cluster, double seconds);

}  // namespace weft_engine::remote
