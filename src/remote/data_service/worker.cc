#include "remote/data_service/worker.h"

#include <algorithm>

#include "core/log.h"
#include "core/threads.h"
#include "remote/data_service/datasets.h"
#include "remote/data_service/journal.h"
#include "wire/tensor_proto.h"

namespace weft_engine::remote::data_service {

namespace {

struct LocalWorkers {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<DataWorker>> by_address;
};
LocalWorkers& local_workers() {
  static auto* all = new LocalWorkers;
  return *all;
}

// What a source gives next is the dispatcher's to say.
class RemoteSplits final : public op::SplitProvider {
 public:
  RemoteSplits(std::shared_ptr<Peer> dispatcher, std::shared_ptr<Stop> stop, int64_t iteration, int64_t index, double limit)
      : dispatcher_(std::move(dispatcher)), stop_(std::move(stop)), iteration_(iteration), index_(index), limit_(limit) {}
  Status next(Tensor& split, bool& end) override {
    ProtoWriter w;
    w.int64(1, iteration_);
    w.int64(2, repetition_);
    w.int64(3, index_);
    WEFT_ASSIGN(Message m, dispatcher_->retry("Failed to get split", "GetSplit", w.take(), *stop_, limit_));
    std::string tensor;
    end = false;
    WEFT_RETURN_IF_ERROR(read_message("GetSplitResponse", m.flatten(), [&](ProtoReader& r) {
      if (r.field() == 1) tensor = r.string();
      if (r.field() == 2) end = r.boolean();
    }));
    if (end) return {};
    WEFT_ASSIGN(split, wire::decode_tensor(tensor));
    return {};
  }
  Status reset() override {
    ++repetition_;
    return {};
  }

 private:
  const std::shared_ptr<Peer> dispatcher_;
  const std::shared_ptr<Stop> stop_;
  const int64_t iteration_, index_;
  const double limit_;
  int64_t repetition_ = 0;
};

double seconds_or(int64_t ms, double otherwise) { return ms > 0 ? double(ms) / 1000 : otherwise; }

}  // namespace

std::shared_ptr<DataWorker> DataWorker::find_local(const std::string& address) {
  LocalWorkers& all = local_workers();
  std::lock_guard lock(all.mutex);
  const auto it = all.by_address.find(address);
  return it == all.by_address.end() ? nullptr : it->second.lock();
}

void DataWorker::add_methods(MethodTable& methods) {
  const auto add = [&](std::string_view name, auto method) {
    methods.add_blocking(kWorkerService, name, [self = shared_from_this(), method](std::string_view request) { return method(*self, request); });
  };
  add("ProcessTask", [](DataWorker& w, std::string_view request) { return w.process_task(request); });
  add("GetWorkerTasks", [](DataWorker& w, std::string_view) { return w.get_worker_tasks(); });
  add("GetSnapshotTaskProgresses", [](DataWorker& w, std::string_view) { return w.get_snapshot_progress(); });
  add("GetElement", [](DataWorker& w, std::string_view bytes) -> Result<Message> {
    WEFT_ASSIGN(GetElementRequest request, decode_get_element(bytes));
    WEFT_ASSIGN(GetElementResult result, w.get_element(request));
    return encode_element(result);
  });
}

Status DataWorker::start(int port) {
  address_ = config_.worker_address;
  if (const size_t at = address_.find("%port%"); at != address_.npos) address_.replace(at, 6, cat(port));
  WEFT_ASSIGN(dispatcher_, Peer::to(config_.dispatcher_address, kDispatcherService));
  WEFT_RETURN_IF_ERROR(heartbeat(true));
  {
    LocalWorkers& all = local_workers();
    std::lock_guard lock(all.mutex);
    all.by_address[address_] = weak_from_this();
  }
  const double pause = seconds_or(config_.heartbeat_interval_ms, 30);
  WEFT_RETURN_IF_ERROR(start_thread([weak = weak_from_this(), stop = stop_, pause] {
    while (stop->sleep(pause)) {
      const auto self = weak.lock();
      if (!self) return;
      const Status s = self->heartbeat(false);
      if (!s.ok() && !stop->stopped()) log(LogLevel::kWarning, cat("Failed to send heartbeat to dispatcher: ", s.message()));
    }
  }));
  return start_thread([self = shared_from_this()] { self->report_completed(); });
}

void DataWorker::stop() {
  stop_->stop();
  std::map<int64_t, std::shared_ptr<Task>> tasks;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    tasks.swap(tasks_);
    for (auto& [key, writer] : snapshots_) writer->cancel();
    changed_.notify_all();
  }
  for (auto& [id, task] : tasks) {
    std::lock_guard lock(task->mutex);
    task->cancelled = true;
    if (task->runner) task->runner->cancel();
  }
  LocalWorkers& all = local_workers();
  std::lock_guard lock(all.mutex);
  if (const auto it = all.by_address.find(address_); it != all.by_address.end() && it->second.lock().get() == this) all.by_address.erase(it);
}

int DataWorker::num_tasks() {
  std::lock_guard lock(mutex_);
  return int(tasks_.size());
}

// ---- the dispatcher

Status DataWorker::heartbeat(bool first) {
  ProtoWriter w;
  w.bytes(1, address_);
  {
    std::lock_guard lock(mutex_);
    std::vector<int64_t> ids;
    for (const auto& [id, task] : tasks_) ids.push_back(id);
    if (!ids.empty()) w.packed_varints(2, ids);
    for (const std::string& tag : config_.worker_tags) w.bytes(4, tag);
    w.int64(5, -1);
    for (const auto& [key, writer] : snapshots_) {
      ProtoWriter entry;
      entry.bytes(1, key.first);
      entry.bytes(2, encode_snapshot_progress(writer->progress()));
      w.message(6, entry);
    }
    w.bytes(7, encode_transfer_server({"grpc", address_}));
    for (int64_t id : ids) {
      ProtoWriter active;
      active.int64(1, id);
      w.message(8, active);
    }
  }
  constexpr double kHour = 3600, kLimit = 60;
  Result<Message> answer = first ? dispatcher_->retry("Failed to perform worker heartbeat", "WorkerHeartbeat", w.take(), *stop_,
                                                      seconds_or(config_.dispatcher_timeout_ms, kHour))
                                 : dispatcher_->call("WorkerHeartbeat", Message(w.take()), *stop_, kLimit);
  WEFT_RETURN_IF_ERROR(answer.status());
  std::vector<int64_t> gone;
  std::vector<std::string> snapshots;
  Status s;
  WEFT_RETURN_IF_ERROR(read_message("WorkerHeartbeatResponse", answer->flatten(), [&](ProtoReader& r) {
    if (r.field() == 1) {
      auto def = decode_task_def(r.bytes());
      const Status one = def.ok() ? add_task(std::move(def).value()) : def.status();
      if (!one.ok()) s = one;
    }
    if (r.field() == 2) r.append_varints(gone);
    if (r.field() == 3) snapshots.push_back(r.string());
  }));
  for (int64_t id : gone) delete_task(id);
  start_snapshots(snapshots);
  std::lock_guard lock(mutex_);
  registered_ = true;
  return s;
}

void DataWorker::report_completed() {
  while (true) {
    ProtoWriter w;
    std::set<int64_t> ids;
    {
      std::unique_lock lock(mutex_);
      while (!stopped_ && completed_to_report_.empty()) {
        if (!wait_for_others(lock, changed_, [&] { return stopped_ || !completed_to_report_.empty(); })) return;
      }
      if (stopped_) return;
      ids = completed_to_report_;
    }
    w.bytes(1, address_);
    for (int64_t id : ids) {
      ProtoWriter progress;
      progress.int64(1, id);
      progress.boolean(2, true);
      w.message(2, progress);
    }
    constexpr double kLimit = 60;
    auto answer = dispatcher_->call("WorkerUpdate", Message(w.take()), *stop_, kLimit);
    if (!answer.ok() && is_preempted(answer.status())) {
      if (!stop_->sleep(0.1)) return;
      continue;
    }
    if (!answer.ok()) log(LogLevel::kWarning, cat("Failed to send task updates to dispatcher: ", answer.status().message()));
    std::lock_guard lock(mutex_);
    for (int64_t id : ids) completed_to_report_.erase(id);
  }
}

// ---- tasks

Result<Message> DataWorker::process_task(std::string_view request) {
  std::string bytes;
  WEFT_RETURN_IF_ERROR(read_message("ProcessTaskRequest", request, [&](ProtoReader& r) {
    if (r.field() == 1) bytes = r.string();
  }));
  WEFT_ASSIGN(TaskDef def, decode_task_def(bytes));
  WEFT_RETURN_IF_ERROR(add_task(std::move(def)));
  return Message();
}

Status DataWorker::add_task(TaskDef def) {
  std::lock_guard lock(mutex_);
  constexpr size_t kMostTasks = 1 << 16;
  if (tasks_.size() >= kMostTasks) return resource_exhausted("the worker has more than ", kMostTasks, " tasks");
  auto& task = tasks_[def.task_id];
  if (task) return {};  // told twice: by the dispatcher's call and in a heartbeat's answer
  finished_.erase(def.task_id);  // of a dispatcher that was here before and forgot all
  task = std::make_shared<Task>();
  task->def = std::move(def);
  return {};
}

void DataWorker::delete_task(int64_t id) {
  std::shared_ptr<Task> task;
  {
    std::lock_guard lock(mutex_);
    const auto it = tasks_.find(id);
    if (it == tasks_.end()) return;
    task = std::move(it->second);
    tasks_.erase(it);
    finished_.insert(id);
  }
  std::lock_guard lock(task->mutex);
  task->cancelled = true;
  if (task->runner) task->runner->cancel();
}

Result<std::shared_ptr<TaskRunner>> DataWorker::runner_of(Task& task) {
  std::lock_guard lock(task.mutex);
  if (task.runner) return task.runner;
  if (task.cancelled) return cancelled("Worker is shutting down.");
  const TaskDef& def = task.def;
  std::string graph = def.graph;
  if (!def.path.empty()) {
    WEFT_ASSIGN(std::string message, read_record_file(def.path));
    WEFT_ASSIGN(graph, graph_of_dataset_def(message));
  }
  WEFT_ASSIGN(auto dataset, datasets_->make(graph, {op::ShardingPolicy(def.mode), def.num_workers, def.worker_index}));
  op::Splits splits;
  constexpr double kHour = 3600;
  constexpr int64_t kMostSources = 1 << 16;
  if (def.mode == int(op::ShardingPolicy::kDynamic)) {
    if (def.num_split_providers < 0 || def.num_split_providers > kMostSources)
      return invalid_argument("a task with ", def.num_split_providers, " sources");
    for (int64_t i = 0; i < def.num_split_providers; ++i)
      splits.push_back(std::make_shared<RemoteSplits>(dispatcher_, stop_, def.iteration_id, i, seconds_or(config_.dispatcher_timeout_ms, kHour)));
  }
  auto cancellation = std::make_shared<op::CancellationManager>();
  WEFT_ASSIGN(auto iterator, dataset->iterate(cancellation.get(), std::move(splits)));
  auto keep = std::make_shared<std::pair<std::shared_ptr<Datasets>, std::shared_ptr<const op::ServedDataset>>>(datasets_, dataset);
  WEFT_ASSIGN(task.runner, make_task_runner(def, dataset->cardinality(), config_.cross_trainer_cache_size_bytes, std::move(iterator),
                                            std::move(cancellation), std::move(keep)));
  return task.runner;
}

Result<GetElementResult> DataWorker::get_element(const GetElementRequest& request) {
  std::shared_ptr<Task> task;
  GetElementResult ended;
  ended.end_of_sequence = true;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return cancelled("Worker is shutting down");
    if (!registered_) return unavailable("Worker has not yet registered with dispatcher.");
    if (finished_.contains(request.task_id)) return ended;
    const auto it = tasks_.find(request.task_id);
    if (it == tasks_.end()) return unavailable("Task ", request.task_id, " not found");
    task = it->second;
  }
  WEFT_ASSIGN(std::shared_ptr<TaskRunner> runner, runner_of(*task));
  WEFT_ASSIGN(GetElementResult result, runner->next(request));
  if (!result.end_of_sequence) return result;
  std::lock_guard lock(mutex_);
  if (finished_.insert(request.task_id).second) {
    completed_to_report_.insert(request.task_id);
    changed_.notify_all();
  }
  return result;
}

Result<Message> DataWorker::get_worker_tasks() {
  ProtoWriter w;
  std::lock_guard lock(mutex_);
  for (const auto& [id, task] : tasks_) {
    TaskInfo info;
    info.worker_address = address_;
    info.task_id = id;
    info.iteration_id = task->def.iteration_id;
    w.bytes(1, encode_task_info(info));
  }
  return Message(w.take());
}

// ---- snapshots

void DataWorker::start_snapshots(const std::vector<std::string>& tasks) {
  std::set<std::pair<std::string, int64_t>> wanted;
  for (const std::string& bytes : tasks) {
    auto task = decode_snapshot_task(bytes);
    if (!task.ok()) continue;
    wanted.insert({task->base_path, task->stream_index});
    std::lock_guard lock(mutex_);
    auto& writer = snapshots_[{task->base_path, task->stream_index}];
    if (!writer && !stopped_) writer = SnapshotWriter::start(*task, datasets_, dispatcher_, stop_, address_, config_.snapshot_max_chunk_size_bytes);
  }
  std::lock_guard lock(mutex_);
  // What the dispatcher does not name any more is done, or another's.
  std::erase_if(snapshots_, [&](auto& entry) {
    if (wanted.contains(entry.first)) return false;
    if (entry.second) entry.second->cancel();
    return true;
  });
}

std::vector<SnapshotProgress> DataWorker::snapshot_progress() {
  std::vector<SnapshotProgress> out;
  std::lock_guard lock(mutex_);
  for (const auto& [key, writer] : snapshots_) out.push_back(writer->progress());
  return out;
}

Result<Message> DataWorker::get_snapshot_progress() {
  ProtoWriter w;
  for (const SnapshotProgress& p : snapshot_progress()) w.bytes(1, encode_snapshot_progress(p));
  return Message(w.take());
}

}  // namespace weft_engine::remote::data_service
