// Running a step of a master's session: all its parts together.
#include <algorithm>
#include <chrono>
#include <condition_variable>

#include "core/error_notes.h"
#include "core/threads.h"
#include "io/run_metadata.h"
#include "remote/master_session.h"
#include "runtime/blocking_threads.h"

namespace weft_engine::remote {

using graph::Endpoint;
using graph::Node;
using Clock = std::chrono::steady_clock;

namespace {

// Follows from an error elsewhere, which is the one to report: a message that did not come, or a part that was told to stop.
bool is_derived(const Status& s) { return s.code() == Code::kCancelled || core::find_note(s, core::kNoteDerived); }

int64_t new_step_id() { return int64_t((random_id() & ((uint64_t(1) << 55) - 1)) | uint64_t(1) << 55); }

constexpr auto kForTheCause = std::chrono::milliseconds(500);  // how long the error is waited for that another follows from

}  // namespace

// Shared with the calls and threads of the parts.
class StepRun {
 public:
  StepRun(std::shared_ptr<GraphService> here, int64_t step_id, size_t parts) : here_(std::move(here)), step_id_(step_id), left_(parts) {
    results.resize(parts);
  }

  void add(std::shared_ptr<ClientCall> call) {
    {
      std::lock_guard lock(mutex_);
      if (!cancelled_) {
        calls_.push_back(std::move(call));
        return;
      }
    }
    call->cancel();
  }

  void end(size_t part, const std::string& task, Status s) {
    bool stop = false;
    {
      std::lock_guard lock(mutex_);
      if (!s.ok()) {
        const bool derived = is_derived(s);
        stop = !derived;
        // Where a message did not come, who did not send it is told by that task itself.
        if (error_.ok() || (error_derived_ && !derived)) {
          error_ = core::reworded(s, cat("From ", task, ":\n", s.message()));
          error_derived_ = derived;
          error_at_ = Clock::now();
        }
      }
      (void)part;
      --left_;
    }
    if (stop) cancel(Status());
    changed_.notify_all();
  }

  // All parts stop. The reason is the step's error, unless it has one.
  void cancel(Status reason) {
    std::vector<std::shared_ptr<ClientCall>> calls;
    {
      std::lock_guard lock(mutex_);
      if (!reason.ok() && (error_.ok() || error_derived_)) {
        error_ = std::move(reason);
        error_derived_ = false;
      }
      if (std::exchange(cancelled_, true)) return;
      calls = std::move(calls_);
    }
    for (auto& c : calls) c->cancel();
    stop.start_cancel();
    here_->cleanup_step(step_id_);
  }

  // Until all parts have ended.
  Status wait(std::optional<Clock::time_point> deadline) {
    std::unique_lock lock(mutex_);
    while (left_ > 0) {
      std::optional<Clock::time_point> until = deadline;
      if (!cancelled_ && error_derived_ && (!until || error_at_ + kForTheCause < *until)) until = error_at_ + kForTheCause;
      if (cancelled_ || !until) {
        changed_.wait(lock);
        continue;
      }
      if (changed_.wait_until(lock, *until) == std::cv_status::no_timeout || left_ == 0) continue;
      const bool late = deadline && Clock::now() >= *deadline;
      if (!late && !(error_derived_ && Clock::now() >= error_at_ + kForTheCause)) continue;
      lock.unlock();
      cancel(late ? deadline_exceeded("Operation timed out.") : Status());
      lock.lock();
    }
    return error_;
  }

  std::vector<RunGraphResult> results;  // by part
  op::StepTrace trace;
  op::CancellationManager stop;  // of the parts here

 private:
  const std::shared_ptr<GraphService> here_;
  const int64_t step_id_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t left_;
  bool cancelled_ = false, error_derived_ = false;
  Clock::time_point error_at_;
  Status error_;
  std::vector<std::shared_ptr<ClientCall>> calls_;
};

void cancel_step(StepRun& run) { run.cancel(cancelled("Session was closed")); }

void MasterSession::cleanup(const StepPlan& plan, int64_t step_id) {
  here_->cleanup_step(step_id);
  std::set<std::string> notified;
  for (const StepPart& p : plan.parts) {
    if (p.here || !notified.insert(p.task).second) continue;
    auto channel = connections_->to(p.task);
    if (channel.ok())
      (*channel)->call("/tensorflow.WorkerService/CleanupGraph", Message(encode_number(1, step_id)), 60, false, [](Status, Message) {});
  }
}

Status MasterSession::run(StepPlan& plan, std::span<Tensor> feeds, std::span<Tensor> results, const RunOptions& options, std::string* metadata,
                          op::CancellationManager* cancellation) {
  for (size_t i = 0; i < feeds.size(); ++i) {
    if (feeds[i].dtype() != plan.feed_types[i])
      return invalid_argument("Expects arg[", i, "] to be ", dtype_name(plan.feed_types[i]), " but ", dtype_name(feeds[i].dtype()), " is provided");
  }
  const int64_t step_id = new_step_id();
  auto step = std::make_shared<StepRun>(here_, step_id, plan.parts.size());
  {
    std::lock_guard lock(state_mutex_);
    if (closed_) return cancelled("Session has been closed.");
    running_.insert(step.get());
  }
  const auto token = cancellation ? cancellation->get_token() : 0;
  auto abandon = [weak = std::weak_ptr<StepRun>(step)] {
    if (auto run = weak.lock()) run->cancel(cancelled("the client has gone"));
  };
  if (cancellation && !cancellation->register_callback(token, abandon)) abandon();
  const int64_t timeout_ms = options.timeout_ms > 0 ? options.timeout_ms : timeout_ms_;
  std::optional<Clock::time_point> deadline;
  if (timeout_ms > 0) deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  const StepPart* mine = nullptr;  // runs on this thread
  size_t mine_at = 0;
  std::vector<std::vector<Tensor>> part_results(plan.parts.size());
  auto run_here = [this, step, step_id, trace = options.trace ? &step->trace : nullptr, feeds, &part_results](const StepPart& p, size_t i) {
    std::vector<Tensor> args;
    for (int a : p.args) args.push_back(feeds[size_t(a)]);
    part_results[i].resize(p.rets.size());
    step->end(i, p.task, here_->run(*p.here, step_id, trace, args, part_results[i], &step->stop));
  };
  for (size_t i = 0; i < plan.parts.size(); ++i) {
    const StepPart& p = plan.parts[i];
    if (p.here) {
      if (mine || deadline) {
        runtime::run_on_blocking_thread([run_here, &p, i] { run_here(p, i); });
      } else {
        mine = &p;
        mine_at = i;
      }
      continue;
    }
    RunGraph request;
    request.graph = p.graph;
    request.session = handle_;
    request.step_id = step_id;
    request.request_id = new_step_id();
    request.errors_in_body = true;
    request.trace = options.trace;
    request.partition_graphs = options.partition_graphs;
    for (size_t a = 0; a < p.args.size(); ++a) request.send.push_back({p.feed_keys[a], feeds[size_t(p.args[a])]});
    request.recv_keys = p.fetch_keys;
    auto message = encode_run_graph(request);
    auto channel = connections_->to(p.task);
    if (!message.ok() || !channel.ok()) {
      step->end(i, p.task, message.ok() ? channel.status() : message.status());
      continue;
    }
    step->add((*channel)->call("/tensorflow.WorkerService/RunGraph", std::move(message).value(), 0, false,
                               [step, i, task = p.task](Status s, Message response) {
                                 if (s.ok()) {
                                   auto result = decode_run_graph_result(response.flatten());
                                   s = result.ok() ? result->status : result.status();
                                   if (s.ok()) step->results[i] = std::move(result).value();
                                 }
                                 step->end(i, task, std::move(s));
                               }));
  }
  if (mine) run_here(*mine, mine_at);
  const Status s = step->wait(deadline);
  if (cancellation) cancellation->deregister_callback(token);
  {
    std::lock_guard lock(state_mutex_);
    running_.erase(step.get());
  }
  cleanup(plan, step_id);
  WEFT_RETURN_IF_ERROR(s);
  std::string stats = options.trace ? step_stats_of(io::encode_run_metadata(step->trace.take())) : std::string();
  std::vector<std::string> graphs;
  for (size_t i = 0; i < plan.parts.size(); ++i) {
    const StepPart& p = plan.parts[i];
    if (p.here) {
      for (size_t r = 0; r < p.rets.size(); ++r) results[size_t(p.rets[r])] = std::move(part_results[i][r]);
      if (options.partition_graphs) {
        WEFT_ASSIGN(std::string def, p.here->graph_def());
        graphs.push_back(std::move(def));
      }
      continue;
    }
    RunGraphResult& got = step->results[i];
    stats += got.step_stats;  // lists of devices
    for (std::string& g : got.partition_graphs) graphs.push_back(std::move(g));
    for (size_t r = 0; r < p.rets.size(); ++r) {
      auto it = std::find_if(got.recv.begin(), got.recv.end(), [&](const NamedTensor& t) { return t.name == p.fetch_keys[r]; });
      if (it == got.recv.end()) return internal_error("From ", p.task, ":\nthe answer has no value for ", p.fetch_keys[r]);
      results[size_t(p.rets[r])] = std::move(it->tensor);
    }
  }
  if (metadata) *metadata = encode_metadata(stats, graphs);
  return {};
}

// ---- what clients ask for

RunStepResult MasterSession::run_step(const RunStep& request, op::CancellationManager& cancellation) {
  RunStepResult out;
  std::vector<Tensor> results(request.fetches.size());
  out.status = [&]() -> Status {
    if (!request.partial_run.empty()) return run_part_of_step(request, results);
    WEFT_ASSIGN(const RunOptions options, decode_run_options(request.options));
    Names names;
    std::vector<Tensor> feeds;
    for (const NamedTensor& f : request.feeds) {
      names.feeds.push_back(f.name);
      feeds.push_back(f.tensor);
    }
    names.fetches = request.fetches;
    names.targets = request.targets;
    WEFT_ASSIGN(std::shared_ptr<StepPlan> ready, plan(names));
    return run(*ready, feeds, results, options, &out.metadata, &cancellation);
  }();
  if (!out.status.ok()) return out;
  for (size_t i = 0; i < results.size(); ++i) out.tensors.push_back({request.fetches[i], std::move(results[i])});
  return out;
}

Result<std::string> MasterSession::setup_partial_run(const PartialRunSetup& request) {
  Endpoints ends;
  {
    std::lock_guard lock(mutex_);
    WEFT_ASSIGN(ends, find({request.feeds, request.fetches, request.targets}));
  }
  if (ends.fetches.empty() && ends.targets.empty()) return invalid_argument("Must specify at least one target to fetch or execute.");
  for (size_t i = 0; i < ends.feeds.size(); ++i) {
    if (std::find(ends.feeds.begin(), ends.feeds.begin() + ptrdiff_t(i), ends.feeds[i]) != ends.feeds.begin() + ptrdiff_t(i))
      return invalid_argument("Endpoint \"", ends.feeds[i].node->name(), ":", ends.feeds[i].index, "\" fed more than once.");
  }
  // Each call of it has a plan of its own: what it computes depends on what ran before.
  auto runner = [this](std::span<const Endpoint> feeds, std::span<Tensor> values, std::span<const Endpoint> fetches, std::span<Tensor> results,
                       std::span<Node* const> targets, std::span<Node* const> done) -> Status {
    Endpoints part{{feeds.begin(), feeds.end()}, {fetches.begin(), fetches.end()}, {targets.begin(), targets.end()}};
    WEFT_ASSIGN(std::shared_ptr<StepPlan> made, make_plan(part, done));
    const Status s = run(*made, values, results, {});
    drop(*made);
    return s;
  };
  auto partial = std::make_shared<runtime::PartialRun>(runner, std::move(ends.feeds), std::move(ends.fetches), std::move(ends.targets));
  std::lock_guard lock(state_mutex_);
  std::string handle = cat("partial_run;", next_partial_run_++);
  partial_runs_[handle] = std::move(partial);
  return handle;
}

Status MasterSession::run_part_of_step(const RunStep& request, std::vector<Tensor>& results) {
  std::shared_ptr<runtime::PartialRun> partial;
  {
    std::lock_guard lock(state_mutex_);
    auto it = partial_runs_.find(request.partial_run);
    if (it == partial_runs_.end()) return invalid_argument("Must run PartialRunSetup before performing partial runs");
    partial = it->second;
  }
  Names names;
  std::vector<Tensor> values;
  for (const NamedTensor& f : request.feeds) {
    names.feeds.push_back(f.name);
    values.push_back(f.tensor);
  }
  names.fetches = request.fetches;
  names.targets = request.targets;
  Endpoints ends;
  {
    std::lock_guard lock(mutex_);
    WEFT_ASSIGN(ends, find(names));
  }
  WEFT_RETURN_IF_ERROR(partial->run(ends.feeds, values, ends.fetches, results, ends.targets));
  if (!partial->complete()) return {};
  std::lock_guard lock(state_mutex_);
  partial_runs_.erase(request.partial_run);
  return {};
}

Result<int64_t> MasterSession::make_callable(const MakeCallable& request) {
  Callable made{{request.feeds, request.fetches, request.targets, request.connections}, request.run_options};
  {
    std::lock_guard lock(mutex_);
    WEFT_ASSIGN(const Endpoints ends, find(made.names));
    for (const graph::Endpoint& f : ends.fetches) {
      if (std::find(ends.feeds.begin(), ends.feeds.end(), f) != ends.feeds.end())
        return invalid_argument(f.node->name(), ":", f.index, " is both fed and fetched.");
    }
  }
  WEFT_RETURN_IF_ERROR(plan(made.names).status());
  std::lock_guard lock(state_mutex_);
  callables_[next_callable_] = std::move(made);
  return next_callable_++;
}

Result<Message> MasterSession::run_callable(const RunCallable& request, op::CancellationManager& cancellation) {
  Callable callable;
  {
    std::lock_guard lock(state_mutex_);
    auto it = callables_.find(request.handle);
    if (it == callables_.end()) return invalid_argument("Attempted to run callable after handle was released: ", request.handle);
    callable = it->second;
  }
  if (request.feeds.size() != callable.names.feeds.size())
    return invalid_argument("the callable takes ", callable.names.feeds.size(), " feeds, and ", request.feeds.size(), " came");
  WEFT_ASSIGN(const RunOptions options, decode_run_options(callable.options));
  WEFT_ASSIGN(std::shared_ptr<StepPlan> ready, plan(callable.names));
  std::vector<Tensor> feeds = request.feeds, results(callable.names.fetches.size());
  std::string metadata;
  WEFT_RETURN_IF_ERROR(run(*ready, feeds, results, options, &metadata, &cancellation));
  return encode_run_callable_result(results, metadata);
}

Status MasterSession::release_callable(int64_t handle) {
  std::lock_guard lock(state_mutex_);
  if (!callables_.erase(handle)) return invalid_argument("Attempted to release callable after handle was released: ", handle);
  return {};
}

}  // namespace weft_engine::remote
