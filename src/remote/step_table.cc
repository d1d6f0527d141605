#include "remote/step_table.h"

#include <algorithm>

namespace weft_engine::remote {

std::shared_ptr<TaskRendezvous> StepTable::find_or_create(int64_t step_id, const std::shared_ptr<Connections>& connections, const std::string& task) {
  constexpr const char* kEnded = "the step has ended";
  std::lock_guard lock(mutex_);
  if (step_id < 0 && std::find(ended_.begin(), ended_.end(), step_id) != ended_.end()) {
    auto step = std::make_shared<TaskRendezvous>(step_id, task_, connections ? connections : connections_);
    step->abort(cancelled(kEnded));
    return step;
  }
  auto& step = steps_[step_id];
  if (!step) step = std::make_shared<TaskRendezvous>(step_id, task_, connections_);
  if (connections) step->use(connections, task);
  if (!stopped_.ok()) step->abort(stopped_);
  return step;
}

void StepTable::give_up(int64_t step_id, std::string_view key, const void* ticket) {
  std::shared_ptr<TaskRendezvous> step;  // destroyed after the lock is
  std::lock_guard lock(mutex_);
  const auto it = steps_.find(step_id);
  if (it == steps_.end()) return;
  it->second->give_up(key, ticket);
  if (it->second.use_count() > 1 || !it->second->empty()) return;
  step = std::move(it->second);
  steps_.erase(it);
}

void StepTable::stop(const Status& status) {
  std::unordered_map<int64_t, std::shared_ptr<TaskRendezvous>> steps;
  {
    std::lock_guard lock(mutex_);
    stopped_ = status;
    steps = steps_;
  }
  for (auto& [id, step] : steps) step->abort(status);
}

void StepTable::erase(int64_t step_id, const Status& status) {
  std::shared_ptr<TaskRendezvous> step;
  {
    constexpr size_t kRemembered = 256;
    std::lock_guard lock(mutex_);
    if (step_id < 0) ended_.push_back(step_id);  // negative ones are not used again
    if (ended_.size() > kRemembered) ended_.pop_front();
    auto it = steps_.find(step_id);
    if (it == steps_.end()) return;
    step = std::move(it->second);
    steps_.erase(it);
  }
  step->abort(status);
}

std::shared_ptr<op::Rendezvous> start_function_step(std::shared_ptr<StepTable> steps, const std::shared_ptr<Connections>& connections) {
  const int64_t step = -int64_t(random_id() >> 2) - 1;  // negative: not used again
  auto here = steps->find_or_create(step, connections);
  TaskRendezvous* const meeting = here.get();
  return std::shared_ptr<op::Rendezvous>(meeting, [here = std::move(here), steps = std::move(steps), step](op::Rendezvous*) {
    steps->erase(step, cancelled("the step has ended"));
    here->end();
  });
}

}  // namespace weft_engine::remote
