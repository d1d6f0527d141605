#include "remote/cluster_status.h"

#include <condition_variable>
#include <mutex>

namespace weft_engine::remote {

Result<std::vector<TaskAnswer>> ask_all(const ClusterMap& cluster, double seconds) {
  WEFT_ASSIGN(const TransportApi* api, transport());
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    size_t left = 0;
    std::vector<TaskAnswer> answers;
  };
  auto state = std::make_shared<Waiting>();
  for (const auto& [job, tasks] : cluster) {
    for (const auto& [task, address] : tasks) state->answers.push_back({job, task, address, unavailable("not asked yet")});
  }
  state->left = state->answers.size();
  std::vector<std::shared_ptr<Channel>> channels;
  for (size_t i = 0; i < state->answers.size(); ++i) {
    channels.push_back(api->connect(state->answers[i].address));
    channels.back()->call("/tensorflow.WorkerService/GetStatus", Message(), seconds, false, [state, i](Status s, Message response) {
      Result<std::vector<DeviceAttributes>> devices = s.ok() ? decode_device_list(1, response.flatten()) : Result<std::vector<DeviceAttributes>>(s);
      std::lock_guard lock(state->mutex);
      state->answers[i].devices = std::move(devices);
      --state->left;
      state->changed.notify_one();
    });
  }
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return state->left == 0; });  // each call has its deadline
  return std::move(state->answers);
}

}  // namespace weft_engine::remote
