// SPDX-License-Identifier: Apache-2.0
//
// Coordinator: threads that work for one program, stopped and joined together.
#ifndef TENSORFLOW_CC_TRAINING_COORDINATOR_H_
#define TENSORFLOW_CC_TRAINING_COORDINATOR_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/protobuf/config.pb.h"

namespace tensorflow {

// What a coordinator joins.
class RunnerInterface {
 public:
  virtual ~RunnerInterface() = default;
  virtual Status Join() = 0;
  virtual Status ExportCostGraph(CostGraphDef*) const { return errors::InvalidArgument("No cost model to export."); }
  virtual bool IsRunning() const = 0;
};

class Coordinator {
 public:
  Coordinator() = default;
  explicit Coordinator(const std::vector<error::Code>& clean_stop_errors) : clean_(clean_stop_errors.begin(), clean_stop_errors.end()) {
    Allow(error::OK);
  }
  ~Coordinator() {
    RequestStop().IgnoreError();
    Join().IgnoreError();
  }
  Coordinator(const Coordinator&) = delete;
  void operator=(const Coordinator&) = delete;

  Status RegisterRunner(std::unique_ptr<RunnerInterface> runner) {
    const std::lock_guard<std::mutex> lock(mu_);
    if (should_stop_) return errors::FailedPrecondition("The coordinator has been stopped.");
    runners_.push_back(std::move(runner));
    return OkStatus();
  }
  bool AllRunnersStopped() {
    const std::lock_guard<std::mutex> lock(mu_);
    for (const auto& runner : runners_) {
      if (runner->IsRunning()) return false;
    }
    return true;
  }
  Status RequestStop() {
    {
      const std::lock_guard<std::mutex> lock(mu_);
      if (should_stop_) return errors::FailedPrecondition("The Coordinator is not running.");
      should_stop_ = true;
    }
    stopped_.notify_all();
    return OkStatus();
  }
  bool ShouldStop() {
    const std::lock_guard<std::mutex> lock(mu_);
    return should_stop_;
  }
  Status Join() {
    std::vector<std::unique_ptr<RunnerInterface>> runners;
    {
      const std::lock_guard<std::mutex> lock(mu_);
      if (!should_stop_) return errors::FailedPrecondition("Joining coordinator without requesting to stop.");
      runners.swap(runners_);
    }
    for (const auto& runner : runners) ReportStatus(runner->Join());
    return GetStatus();
  }
  // The first error that is none of those with which runners end well.
  void ReportStatus(const Status& status) {
    const std::lock_guard<std::mutex> lock(status_lock_);
    if (!status_.ok() || clean_.count(static_cast<error::Code>(status.code()))) return;
    status_ = status;
  }
  Status GetStatus() {
    const std::lock_guard<std::mutex> lock(status_lock_);
    return status_;
  }
  void WaitForStop() {
    std::unique_lock<std::mutex> lock(mu_);
    stopped_.wait(lock, [&] { return should_stop_; });
  }

 private:
  void Allow(error::Code code) { clean_.insert(code); }
  std::mutex mu_, status_lock_;
  std::condition_variable stopped_;
  bool should_stop_ = false;
  Status status_;
  std::vector<std::unique_ptr<RunnerInterface>> runners_;
  std::set<error::Code> clean_ = {error::OK};
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_TRAINING_COORDINATOR_H_
