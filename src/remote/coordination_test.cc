// Who of a job is there: what tasks are told that ask for it, and when. The answers are those that TensorFlow's service gave.
#include <doctest/doctest.h>

#include <optional>

#include "remote/coordination_service.h"

using namespace weft_engine;  // NOLINT
using namespace weft_engine::remote;  // NOLINT

namespace {

CoordinationConfig two_workers() {
  CoordinationConfig c;
  c.service_type = "standalone";
  c.heartbeat_timeout_ms = 60000;
  c.jobs["worker"] = 2;
  return c;
}

CoordinatedTask worker(int i) { return {"worker", i}; }

Status registered(CoordinationService& s, int i, uint64_t incarnation) {
  std::optional<Status> done;
  s.register_task(worker(i), incarnation, [&](Status told) { done = std::move(told); });
  REQUIRE(done);
  return *done;
}

struct Told {
  std::optional<Status> status;
  std::vector<uint64_t> incarnations;
  CoordinationService::AliveDone done() {
    return [this](Status s, const std::vector<TaskStateInfo>& alive) {
      status = std::move(s);
      for (const TaskStateInfo& t : alive) incarnations.push_back(t.incarnation);
    };
  }
};

}  // namespace

TEST_CASE("tasks that ask who is alive wait for those that are") {
  CoordinationService s(two_workers(), nullptr);
  CHECK(registered(s, 0, 70).ok());
  Told not_among;
  s.alive_tasks(worker(0), {worker(1)}, not_among.done());
  CHECK(not_among.status->code() == Code::kInvalidArgument);
  CHECK(not_among.status->message() == "Requesting task /job:worker/replica:0/task:0 is not one of the tasks specified in a GetAliveTasks request.");
  Told alone;  // the other one is not connected
  s.alive_tasks(worker(0), {worker(0), worker(1)}, alone.done());
  REQUIRE(alone.status);
  CHECK(alone.incarnations == std::vector<uint64_t>{70});

  CHECK(registered(s, 1, 71).ok());
  Told first, second;
  s.alive_tasks(worker(0), {worker(0), worker(1)}, first.done());
  CHECK(!first.status);
  s.alive_tasks(worker(1), {worker(1), worker(0)}, second.done());
  CHECK(first.incarnations == std::vector<uint64_t>{70, 71});
  CHECK(second.incarnations == std::vector<uint64_t>{70, 71});

  Told after_end;  // the other one leaves while it is waited for
  s.alive_tasks(worker(0), {worker(0), worker(1)}, after_end.done());
  CHECK(!after_end.status);
  CHECK(s.reset_task(worker(1)).ok());
  CHECK(after_end.incarnations == std::vector<uint64_t>{70});
}

TEST_CASE("who watches a job is told of the next change") {
  CoordinationService s(two_workers(), nullptr);
  CHECK(registered(s, 0, 70).ok());
  std::vector<TaskStateInfo> states;
  int64_t version = -1;
  int told = 0;
  const auto done = [&](const Status& status, std::vector<TaskStateInfo> got, int64_t v) {
    told += status.ok();
    states = std::move(got);
    version = v;
  };
  s.watch_job("worker", -1, done);
  REQUIRE(told == 1);
  REQUIRE(states.size() == 2);
  CHECK(states[0].state == TaskState::kConnected);
  CHECK(states[1].state == TaskState::kDisconnected);
  const int64_t before = version;
  s.watch_job("worker", before, done);
  CHECK(told == 1);
  CHECK(registered(s, 1, 71).ok());
  CHECK(told == 2);
  CHECK(version > before);
  CHECK(states[1].incarnation == 71);
  s.watch_job("other", 0, done);
  CHECK(told == 3);
  CHECK(states.empty());
  int ended = 0;
  s.watch_job("worker", version, [&](const Status& status, const std::vector<TaskStateInfo>&, int64_t) { ended += !status.ok(); });
  s.stop();
  CHECK(ended == 1);
}
