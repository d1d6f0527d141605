// The coordination service, on one task of a cluster (the leader): who is there, barriers, a store of keys and values. A task whose heartbeats stop, or that reports an
// error, is made known to all others.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "remote/connections.h"
#include "remote/coordination_messages.h"
#include "remote/method_table.h"

namespace weft_engine::remote {

class CoordinationService {
 public:
  using Done = std::function<void(Status)>;
  using ValueDone = std::function<void(Status, std::string)>;
  using BarrierDone = std::function<void(Status, int64_t counter)>;
  using AliveDone = std::function<void(Status, std::vector<TaskStateInfo>)>;
  using WatchDone = std::function<void(Status, std::vector<TaskStateInfo>, int64_t version)>;
  // Set when the caller waits for the answer no longer: it is dropped then. Null: the caller stays.
  using Gone = std::shared_ptr<const std::atomic<bool>>;
  CoordinationService(CoordinationConfig config, std::shared_ptr<Connections> connections);
  ~CoordinationService();
  CoordinationService(const CoordinationService&) = delete;
  // Whoever waits gets an error; so does who comes later.
  void stop();

  uint64_t incarnation() const { return incarnation_; }
  void register_task(const CoordinatedTask& task, uint64_t incarnation, Done done);
  Status heartbeat(const CoordinatedTask& task, uint64_t incarnation);
  // `devices`: what the task tells of its own, each as bytes. When all tasks have called, devices() has those of all.
  void wait_for_all(const CoordinatedTask& task, std::vector<std::string> devices, Done done);
  std::vector<std::string> devices();
  void shutdown_task(const CoordinatedTask& task, Done done);
  Status reset_task(const CoordinatedTask& task);
  Status report_error(const CoordinatedTask& task, const Status& error);
  Result<std::vector<TaskStateInfo>> task_states(const std::vector<CoordinatedTask>& tasks);
  void poll_for_error(const CoordinatedTask& task, Done done);
  // Waits for all of `tasks` that are connected to ask for the same; then all of them get the same answer: those that are.
  void alive_tasks(const CoordinatedTask& asking, const std::vector<CoordinatedTask>& tasks, AliveDone done, Gone gone = {});
  // The states of a job's tasks, as soon as they are newer than `version`.
  void watch_job(const std::string& job, int64_t version, WatchDone done, Gone gone = {});
  void barrier(const BarrierRequest& request, BarrierDone done);
  Status cancel_barrier(const BarrierRequest& request);

  Status insert(const std::string& key, const std::string& value, bool overwrite);
  // Waits for the key.
  void get(const std::string& key, ValueDone done, Gone gone = {});
  Result<std::string> try_get(const std::string& key);
  Result<std::string> increment(const std::string& key, int64_t by);
  std::vector<std::pair<std::string, std::string>> directory(const std::string& key);
  void remove(const std::string& key);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr char kRegisterBarrier[] = "[Init]Wait_for_all_tasks_to_register";
  struct Task {
    CoordinatedTask task;
    TaskState state = TaskState::kDisconnected;
    Status status;
    uint64_t incarnation = 0;
    Clock::time_point last_heartbeat{}, grace_end{};  // heartbeats of a task that has left are taken for a while
    std::vector<std::string> devices;
    bool told_devices = false;
  };
  struct Barrier {
    std::string id;
    int64_t counter = -1;  // -1: it was never called
    bool passed = false;
    Status result;
    std::map<std::string, bool> there;  // by task
    CoordinatedTask first;
    Clock::time_point deadline;
    std::map<std::string, BarrierDone> waiting;
    std::string name() const { return cat(id, "::", counter); }
  };
  struct Aliveness {
    std::set<std::string> tasks, asked;  // names
    std::vector<std::pair<AliveDone, Gone>> waiting;
  };
  struct Watch {
    std::string job;
    WatchDone done;
    Gone gone;
  };
  // What is to be called once the lock is free.
  using After = std::vector<std::function<void()>>;

  Task* find(const CoordinatedTask& task);
  void connect(Task& task, uint64_t incarnation);  // state_changed() follows
  // Once for tasks that change together: nobody is told of one without the others.
  void state_changed(After& after);
  bool answer_alive(Aliveness& a, After& after);
  std::vector<TaskStateInfo> states_of(const std::string& job) const;
  Status disconnect(const CoordinatedTask& task, After& after);
  void set_error(Task& task, const Status& error, After& after);
  void set_errors(const std::vector<std::pair<Task*, Status>>& errors, After& after);  // at the same moment
  void leave_barriers(const Task& task, const std::string& reason, After& after);
  void propagate(const Status& error, const std::vector<CoordinatedTask>& sources, bool by_task, After& after);
  void barrier_locked(const BarrierRequest& request, BarrierDone done, After& after);
  bool begin_barrier(Barrier& b, const BarrierRequest& request, const BarrierDone& done, After& after);
  bool check_barrier_tasks(Barrier& b, const BarrierRequest& request, After& after);
  void pass(Barrier& b, const Status& result, After& after);
  void watch();
  void check_heartbeats(Clock::time_point now, After& after);
  void check_barriers(Clock::time_point now, After& after);
  void drop_abandoned(After& after);
  Clock::duration heartbeat_timeout() const;
  static void run(After& after) {
    for (auto& f : after) f();
  }

  const CoordinationConfig config_;
  const std::shared_ptr<Connections> connections_;
  const uint64_t incarnation_;
  const std::string devices_barrier_, shutdown_barrier_;
  std::mutex mutex_;
  bool stopped_ = false;
  std::condition_variable changed_;
  std::map<std::string, Task> tasks_;
  std::map<std::string, Barrier> barriers_;
  std::map<std::string, Done> polls_;  // by task
  int64_t version_ = 0;  // of the tasks' states
  std::vector<Aliveness> alive_;
  std::vector<Watch> watches_;
  Status polled_;  // what polls were answered
  std::vector<std::string> devices_;
  std::map<std::string, std::string> values_;
  std::map<std::string, std::vector<std::pair<ValueDone, Gone>>> wanted_;
  std::thread watcher_;
};

// Methods of the service; a null one answers that it is not enabled.
void add_coordination_methods(MethodTable& methods, std::shared_ptr<CoordinationService> service);

}  // namespace weft_engine::remote
