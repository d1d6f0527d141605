// Who of a job is there: what tasks are told that ask for it, and when. The answers are those that TensorFlow's service gave.
#include <doctest/doctest.h>

#include <future>
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
  s.register_task(worker(i), incarnation, [&](Status result) { done = std::move(result); });
  REQUIRE(done);
  return *done;
}

struct Answered {
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
  Answered not_among;
  s.alive_tasks(worker(0), {worker(1)}, not_among.done());
  CHECK(not_among.status->code() == Code::kInvalidArgument);
  CHECK(not_among.status->message() == "Requesting task /job:worker/replica:0/task:0 is not one of the tasks specified in a GetAliveTasks request.");
  Answered alone;  // the other one is not connected
  s.alive_tasks(worker(0), {worker(0), worker(1)}, alone.done());
  REQUIRE(alone.status);
  CHECK(alone.incarnations == std::vector<uint64_t>{70});

  CHECK(registered(s, 1, 71).ok());
  Answered first, second;
  s.alive_tasks(worker(0), {worker(0), worker(1)}, first.done());
  CHECK(!first.status);
  s.alive_tasks(worker(1), {worker(1), worker(0)}, second.done());
  CHECK(first.incarnations == std::vector<uint64_t>{70, 71});
  CHECK(second.incarnations == std::vector<uint64_t>{70, 71});

  Answered after_end;  // the other one leaves while it is waited for
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
  int answers = 0;
  const auto done = [&](const Status& status, std::vector<TaskStateInfo> got, int64_t v) {
    answers += status.ok();
    states = std::move(got);
    version = v;
  };
  s.watch_job("worker", -1, done);
  REQUIRE(answers == 1);
  REQUIRE(states.size() == 2);
  CHECK(states[0].state == TaskState::kConnected);
  CHECK(states[1].state == TaskState::kDisconnected);
  const int64_t before = version;
  s.watch_job("worker", before, done);
  CHECK(answers == 1);
  CHECK(registered(s, 1, 71).ok());
  CHECK(answers == 2);
  CHECK(version > before);
  CHECK(states[1].incarnation == 71);
  s.watch_job("other", 0, done);
  CHECK(answers == 3);
  CHECK(states.empty());
  int ended = 0;
  s.watch_job("worker", version, [&](const Status& status, const std::vector<TaskStateInfo>&, int64_t) { ended += !status.ok(); });
  s.stop();
  CHECK(ended == 1);
}

TEST_CASE("of tasks that die together none is named alive") {
  CoordinationConfig c = two_workers();
  c.jobs["worker"] = 3;
  c.heartbeat_timeout_ms = 400;
  c.recoverable_jobs = {"worker"};  // nobody else is told
  CoordinationService s(c, nullptr);
  for (int i = 0; i < 3; ++i) CHECK(registered(s, i, uint64_t(70 + i)).ok());
  std::promise<std::vector<uint64_t>> result;
  const std::vector<CoordinatedTask> all{worker(0), worker(1), worker(2)};
  s.alive_tasks(worker(0), all, [&](const Status&, const std::vector<TaskStateInfo>& alive) {
    std::vector<uint64_t> incarnations;
    for (const TaskStateInfo& t : alive) incarnations.push_back(t.incarnation);
    result.set_value(std::move(incarnations));
  });
  Answered lost;
  s.alive_tasks(worker(2), all, lost.done());  // then it dies, as the one that has not asked
  auto answer = result.get_future();
  for (int i = 0; i < 3000 && answer.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready; ++i) (void)s.heartbeat(worker(0), 70);
  REQUIRE(answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
  CHECK(answer.get() == std::vector<uint64_t>{70});
  s.stop();
}

TEST_CASE("tasks that wait for each other to register are there together") {
  CoordinationConfig c = two_workers();
  c.register_with_barrier = true;
  CoordinationService s(c, nullptr);
  Answered first, second;
  int registrations = 0;
  // Who is told first asks at once.
  s.register_task(worker(0), 70, [&](const Status& status) {
    registrations += status.ok();
    s.alive_tasks(worker(0), {worker(0), worker(1)}, first.done());
  });
  CHECK(registrations == 0);
  s.register_task(worker(1), 71, [&](const Status& status) { registrations += status.ok(); });
  CHECK(registrations == 2);
  CHECK(!first.status);
  s.alive_tasks(worker(1), {worker(0), worker(1)}, second.done());
  CHECK(first.incarnations == std::vector<uint64_t>{70, 71});
  CHECK(second.incarnations == std::vector<uint64_t>{70, 71});
  // One that has left comes back without the others.
  CHECK(s.reset_task(worker(1)).ok());
  CHECK(registered(s, 1, 72).ok());
  const auto states = s.task_states({worker(1)}).value();
  CHECK(states[0].state == TaskState::kConnected);
  CHECK(states[0].incarnation == 72);
}

TEST_CASE("what callers that have gone wait for is dropped") {
  CoordinationService s(two_workers(), nullptr);
  CHECK(registered(s, 0, 70).ok());
  CHECK(registered(s, 1, 71).ok());
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  std::promise<Status> watch, alive, value;
  s.watch_job("worker", 1000, [&](Status result, const auto&, int64_t) { watch.set_value(std::move(result)); }, gone);
  s.alive_tasks(worker(0), {worker(0), worker(1)}, [&](Status result, const auto&) { alive.set_value(std::move(result)); }, gone);
  s.get("never", [&](Status result, const std::string&) { value.set_value(std::move(result)); }, gone);
  std::future<Status> ends[] = {watch.get_future(), alive.get_future(), value.get_future()};
  for (auto& end : ends) CHECK(end.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  gone->store(true);
  for (auto& end : ends) {
    REQUIRE(end.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
    CHECK(end.get().code() == Code::kCancelled);
  }
}
