// Steps: what runs together in several tasks under one number, and the rendezvous of each in this task.
#pragma once

#include <deque>
#include <unordered_map>

#include "remote/connections.h"

namespace weft_engine::remote {

// Rendezvous by step, for all contexts of a task.
class StepTable {
 public:
  StepTable(std::string task, std::shared_ptr<Connections> connections) : task_(std::move(task)), connections_(std::move(connections)) {}
  // `connections`, `task`: those of whoever runs the step, where they are not the task's own.
  std::shared_ptr<TaskRendezvous> find_or_create(int64_t step_id, const std::shared_ptr<Connections>& connections = nullptr,
                                                 const std::string& task = {});
  // Drops a receive that came from outside; a step that nobody but the asker knew of goes with it.
  void give_up(int64_t step_id, std::string_view key, const void* ticket);
  // Whoever waits gets the status, and for a while those who come late, too.
  void erase(int64_t step_id, const Status& status);
  size_t size() const {
    std::lock_guard lock(mutex_);
    return steps_.size();
  }
  // From here on everyone who waits gets the status, also those who come later: a server that ends must not wait for values that will not come.
  void stop(const Status& status);

 private:
  const std::string task_;
  const std::shared_ptr<Connections> connections_;
  mutable std::mutex mutex_;
  std::unordered_map<int64_t, std::shared_ptr<TaskRendezvous>> steps_;
  std::deque<int64_t> ended_;  // the last ones that were erased: nobody waits in them any more
  Status stopped_;
};

// A step of a function over several tasks, with a number of its own. When the last one lets go of it, it is over here, and what was to be done at its end is done.
std::shared_ptr<op::Rendezvous> start_function_step(std::shared_ptr<StepTable> steps, const std::shared_ptr<Connections>& connections);

}  // namespace weft_engine::remote
