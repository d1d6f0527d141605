// Executor: runs eager ops in order on a thread of its own (async mode). After an op failed, those that
// follow are not run but fail with the same status, until the error is taken.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "core/status.h"

namespace weft_engine::eager {

class Executor {
 public:
  explicit Executor(bool async) : async_(async) {}
  ~Executor();
  bool async() const { return async_; }

  struct Task {
    std::function<core::Status()> run;
    std::function<void(core::Status)> abort;  // called when run failed, and instead of it after an error
  };
  void add(Task task);
  // Waits for everything added so far; gives the first error, if any, and keeps it.
  core::Status wait();
  core::Status status() const;
  void clear_error();

 private:
  void work();
  const bool async_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<Task> queue_;
  core::Status error_;
  bool running_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace weft_engine::eager
