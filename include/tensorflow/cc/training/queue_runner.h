// SPDX-License-Identifier: Apache-2.0
//
// QueueRunner: threads that run a graph's enqueue ops, as a QueueRunnerDef says.
#ifndef TENSORFLOW_CC_TRAINING_QUEUE_RUNNER_H_
#define TENSORFLOW_CC_TRAINING_QUEUE_RUNNER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tensorflow/cc/training/coordinator.h"
#include "tensorflow/core/protobuf/queue_runner.pb.h"
#include "tensorflow/core/public/session.h"

namespace tensorflow {

class QueueRunner : public RunnerInterface {
 public:
  static Status New(const QueueRunnerDef& def, std::unique_ptr<QueueRunner>* result) { return New(def, nullptr, result); }
  static Status New(const QueueRunnerDef& def, Coordinator* coord, std::unique_ptr<QueueRunner>* result) {
    std::unique_ptr<QueueRunner> runner(new QueueRunner(coord));
    runner->queue_ = def.queue_name();
    for (const std::string& op : def.enqueue_op_name()) runner->enqueue_.push_back(op);
    if (runner->enqueue_.empty()) return errors::InvalidArgument("Empty enqueue ops to run.");
    runner->close_ = def.close_op_name();
    runner->cancel_ = def.cancel_op_name();
    for (int i = 0; i < def.queue_closed_exception_types_size(); ++i) runner->closed_.insert(static_cast<int>(def.queue_closed_exception_types(i)));
    if (runner->closed_.empty()) runner->closed_.insert(error::OUT_OF_RANGE);
    *result = std::move(runner);
    return OkStatus();
  }
  ~QueueRunner() override {
    if (coord_) coord_->RequestStop().IgnoreError();
    Join().IgnoreError();
  }
  Status Start(Session* session) { return Start(session, 0); }
  // Waits until each enqueue op has run once, if wait_for_ms is not 0.
  Status Start(Session* session, int wait_for_ms) {
    started_ = 0;
    runs_ = static_cast<int>(enqueue_.size());
    for (const std::string& op : enqueue_) threads_.emplace_back([this, session, op] { Run(session, op); });
    if (coord_ && !cancel_.empty()) threads_.emplace_back([this, session] { Stop(session); });
    if (wait_for_ms > 0) {
      std::unique_lock<std::mutex> lock(mu_);
      if (!changed_.wait_for(lock, std::chrono::milliseconds(wait_for_ms),
                             [&] { return started_ >= static_cast<int>(enqueue_.size()) || !status_.ok(); }))
        return errors::DeadlineExceeded("Queues not fed before the timeout");
      return status_;
    }
    return OkStatus();
  }
  // There is no cost model: nothing is collected.
  Status StartAndCollectCostGraph(Session* session, const RunOptions& = RunOptions()) { return Start(session); }
  Status StartAndCollectCostGraph(Session* session, int wait_for_ms, const RunOptions& = RunOptions()) { return Start(session, wait_for_ms); }
  // Called with an error that is not the end of the queue, before Join returns.
  void AddErrorCallback(const std::function<void(Status)>& callback) {
    const std::lock_guard<std::mutex> lock(mu_);
    callbacks_.push_back(callback);
  }
  void ClearErrorCallbacks() {
    const std::lock_guard<std::mutex> lock(mu_);
    callbacks_.clear();
  }
  Status Join() override {
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
    threads_.clear();
    const std::lock_guard<std::mutex> lock(mu_);
    return status_;
  }
  Status GetStatus() {
    const std::lock_guard<std::mutex> lock(mu_);
    return status_;
  }
  bool IsRunning() const override {
    const std::lock_guard<std::mutex> lock(mu_);
    return runs_ > 0;
  }

 private:
  explicit QueueRunner(Coordinator* coord) : coord_(coord) {}
  void Run(Session* session, const std::string& op) {
    bool first = true;
    Status s;
    while (!coord_ || !coord_->ShouldStop()) {
      s = session->Run({}, {}, {op}, nullptr);
      if (first) {
        const std::lock_guard<std::mutex> lock(mu_);
        ++started_;
        changed_.notify_all();
        first = false;
      }
      if (!s.ok()) break;
    }
    const bool closed = !s.ok() && closed_.count(s.raw_code()) != 0;
    bool last = false;
    {
      const std::lock_guard<std::mutex> lock(mu_);
      last = --runs_ == 0;
      if (!s.ok() && !closed) {
        status_.Update(s);
        for (const auto& callback : callbacks_) callback(s);
      }
      changed_.notify_all();
    }
    // The queue of runners that all ended is closed, so that readers see its end.
    if (last && !close_.empty()) session->Run({}, {}, {close_}, nullptr).IgnoreError();
    if (coord_ && !s.ok() && !closed) {
      coord_->ReportStatus(s);
      coord_->RequestStop().IgnoreError();
    }
  }
  void Stop(Session* session) {
    coord_->WaitForStop();
    session->Run({}, {}, {cancel_}, nullptr).IgnoreError();
  }

  Coordinator* coord_;
  std::string queue_, close_, cancel_;
  std::vector<std::string> enqueue_;
  std::set<int> closed_;
  std::vector<std::thread> threads_;
  mutable std::mutex mu_;
  std::condition_variable changed_;
  int started_ = 0, runs_ = 0;
  Status status_;
  std::vector<std::function<void(Status)>> callbacks_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CC_TRAINING_QUEUE_RUNNER_H_
