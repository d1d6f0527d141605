// Replicas: threads that run the same code, each on a device and with its own copies of variables, and wait for each other where they write
// a variable that must have the same value on all of them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "op/emitter.h"

namespace weft_engine::trace {

using namespace weft_engine::op;

class ReplicaBarrier {
 public:
  explicit ReplicaBarrier(int replicas) : values_(size_t(replicas)) {}
  // Every replica arrives with a value; the last one calls `f` with all of them, outside of any replica. All get its status. An error
  // where a replica is gone that the others wait for; they are then left waiting (Replica).
  Status wait(int replica, Value value, const std::function<Status(std::span<const Value>)>& f);
  // A replica has ended, well or not.
  void leave();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Value> values_;
  void end_round(Status outcome);
  int64_t round_ = 0;
  int here_ = 0, gone_ = 0;
  Status outcome_;            // of the last round
  bool one_missing_ = false;  // in it
};

struct Replica {
  int id = 0, count = 1;
  ReplicaBarrier* barrier = nullptr;  // null in traces: they cannot wait there
  bool left_waiting = false;   // another one ended that this one waited for: its error follows from the other's
};
// Of this thread; null: none, code speaks for all replicas.
Replica*& current_replica();

}  // namespace weft_engine::trace
