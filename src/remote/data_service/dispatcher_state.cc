#include "remote/data_service/dispatcher_state.h"

#include <algorithm>

namespace weft_engine::remote::data_service {

namespace {

constexpr int64_t kMostSources = 1 << 16;  // as in ops/data/splits.cc

// The host of "host:port", and whether the entry leaves the port open.
bool stands_for(std::string_view entry, std::string_view worker) {
  const auto host_of = [](std::string_view a) {
    const size_t colon = a.rfind(':');
    return colon == a.npos || (a.ends_with(']')) ? a : a.substr(0, colon);
  };
  const std::string_view host = host_of(entry), port = entry.size() > host.size() ? entry.substr(host.size() + 1) : std::string_view();
  return host == host_of(worker) && (port.empty() || (port.starts_with('%') && port.ends_with('%')));
}

Status does_not_fit(std::string_view what) { return data_loss("an update of the dispatcher's state does not fit it: ", what); }

}  // namespace

Status WorkerIndexResolver::validate(const std::string& worker) const {
  if (addresses_.empty()) return {};
  for (const std::string& a : addresses_) {
    if (a == worker || stands_for(a, worker)) return {};
  }
  return failed_precondition("Failed to assign an index for worker ", worker, ". Configured workers list: [", join(addresses_, ", "),
                             "]. The worker's address is not configured, or other workers are already running at the configured host. If your "
                             "worker has restarted, make sure it runs at the same address and port.");
}

void WorkerIndexResolver::add(const std::string& worker) {
  if (std::find(addresses_.begin(), addresses_.end(), worker) != addresses_.end()) return;
  for (std::string& a : addresses_) {
    if (!stands_for(a, worker)) continue;
    a = worker;
    return;
  }
}

Result<int64_t> WorkerIndexResolver::index_of(const std::string& worker) const {
  const auto it = std::find(addresses_.begin(), addresses_.end(), worker);
  if (it == addresses_.end())
    return not_found("Failed to shard dataset in tf.data service: Worker ", worker, " is not in the workers list. Got workers list ",
                     join(addresses_, ","), ".");
  return it - addresses_.begin();
}

Status DispatcherState::apply(std::string_view update) {
  ProtoReader r(update);
  if (!r.next() || r.type() != wire::WireType::kBytes) return data_loss("an update of the dispatcher's state says nothing");
  const std::string_view m = r.bytes();
  switch (r.field()) {
    case 1: return register_dataset(m);
    case 2: return create_iteration(m);
    case 3: return create_task(m, false);
    case 4: return finish_task(m);
    case 5: return register_worker(m);
    case 6: return acquire_client(m);
    case 7: return release_client(m);
    case 8: return produce_split(m);
    case 9: return create_task(m, true);
    case 10: return client_heartbeat(m);
    case 11: return remove_task(m);
    case 12: return garbage_collect(m);
    case 14: return create_job(m);
    case 15:
    case 16: {
      std::string name;
      WEFT_RETURN_IF_ERROR(read_message("Update", m, [&](ProtoReader& f) {
        if (f.field() == 1) name = f.string();
      }));
      (r.field() == 15 ? snapshots : compression_decided).insert(name);
      return {};
    }
    default: return unimplemented("updates of kind ", r.field(), " of the dispatcher's state");
  }
}

Status DispatcherState::register_dataset(std::string_view m) {
  auto d = std::make_shared<Dataset>();
  WEFT_RETURN_IF_ERROR(read_message("RegisterDatasetUpdate", m, [&](ProtoReader& r) {
    if (r.field() == 1) d->id = r.string();
    if (r.field() == 3) d->metadata = r.string();
  }));
  int64_t number = 0;
  const bool is_number = !d->id.empty() && d->id.size() < 18 &&
                         std::all_of(
                             d->id.begin(), d->id.end(),
                             [&](char c) {
                               number = number * 10 + (c - '0');
                               return c >= '0' && c <= '9';
                             });
  if (is_number) next_dataset_id_ = std::max(next_dataset_id_, number + 1);
  datasets_[d->id] = std::move(d);
  return {};
}

Status DispatcherState::register_worker(std::string_view m) {
  Worker w;
  WEFT_RETURN_IF_ERROR(read_message("RegisterWorkerUpdate", m, [&](ProtoReader& r) {
    if (r.field() == 1) w.address = r.string();
    if (r.field() == 3) w.tags.push_back(r.string());
    if (r.field() == 4) w.uid = r.int64();
    if (r.field() == 5) w.transfer_servers.push_back(r.string());
  }));
  indices.add(w.address);
  tasks_by_worker[w.address];
  workers[w.address] = std::move(w);
  return {};
}

Status DispatcherState::create_job(std::string_view m) {
  auto j = std::make_shared<Job>();
  WEFT_RETURN_IF_ERROR(read_message("CreateJobUpdate", m, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: j->id = r.int64(); break;
      case 2: j->name = r.string(); break;
      case 3: j->dataset_id = r.string(); break;
      case 4: j->mode = decode_processing_mode(r.bytes()); break;
      case 6: j->num_consumers = r.int64(); break;
      case 7: j->target_workers = r.int32(); break;
      case 8: j->use_cross_trainer_cache = r.boolean(); break;
      default: break;
    }
  }));
  next_job_id = std::max(next_job_id, j->id + 1);
  jobs_by_name_[j->name] = j;
  jobs_[j->id] = std::move(j);
  return {};
}

Status DispatcherState::create_iteration(std::string_view m) {
  auto it = std::make_shared<Iteration>();
  int64_t job_id = 0, sources = 0;
  WEFT_RETURN_IF_ERROR(read_message("CreateIterationUpdate", m, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: it->id = r.int64(); break;
      case 2: job_id = r.int64(); break;
      case 3: it->repetition = r.int64(); break;
      case 4: sources = r.int64(); break;
      default: break;
    }
  }));
  const auto found = jobs_.find(job_id);
  if (found == jobs_.end() || sources < 0 || sources > kMostSources) return does_not_fit("an iteration");
  it->job = found->second;
  it->split_repetitions.resize(size_t(sources));
  it->split_indices.resize(size_t(sources));
  next_iteration_id = std::max(next_iteration_id, it->id + 1);
  iterations_by_key_[{job_id, it->repetition}] = it;
  iterations[it->id] = std::move(it);
  return {};
}

Status DispatcherState::produce_split(std::string_view m) {
  int64_t id = 0, repetition = 0, index = 0;
  bool finished = false;
  WEFT_RETURN_IF_ERROR(read_message("ProduceSplitUpdate", m, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: id = r.int64(); break;
      case 2: repetition = r.int64(); break;
      case 3: finished = r.boolean(); break;
      case 4: index = r.int64(); break;
      default: break;
    }
  }));
  WEFT_ASSIGN(std::shared_ptr<Iteration> it, iteration(id));
  if (index < 0 || size_t(index) >= it->split_indices.size()) return does_not_fit("a split");
  const auto i = size_t(index);
  if (repetition > it->split_repetitions[i]) {
    it->split_repetitions[i] = repetition;
    it->split_indices[i] = 0;
  }
  if (finished) {
    ++it->split_repetitions[i];
    it->split_indices[i] = 0;
  } else {
    ++it->split_indices[i];
  }
  return {};
}

Status DispatcherState::acquire_client(std::string_view m) {
  int64_t id = 0, client = 0;
  WEFT_RETURN_IF_ERROR(read_message("AcquireIterationClientUpdate", m, [&](ProtoReader& r) {
    if (r.field() == 1) id = r.int64();
    if (r.field() == 2) client = r.int64();
  }));
  WEFT_ASSIGN(std::shared_ptr<Iteration> it, iteration(id));
  ++it->num_clients;
  clients[client] = std::move(it);
  next_client_id = std::max(next_client_id, client + 1);
  return {};
}

Status DispatcherState::release_client(std::string_view m) {
  int64_t client = 0, time = 0;
  WEFT_RETURN_IF_ERROR(read_message("ReleaseIterationClientUpdate", m, [&](ProtoReader& r) {
    if (r.field() == 1) client = r.int64();
    if (r.field() == 2) time = r.int64();
  }));
  WEFT_ASSIGN(std::shared_ptr<Iteration> it, iteration_of_client(client));
  --it->num_clients;
  it->last_client_released_us = time;
  clients.erase(client);
  if (it->num_clients == 0 && it->finished && it->job->name.starts_with(kAnonymousJob)) forget(it);
  return {};
}

void DispatcherState::forget(const std::shared_ptr<Iteration>& iteration) {
  for (const auto& t : iteration->tasks) tasks_.erase(t->id);
  iteration->tasks.clear();  // tasks and iterations hold each other
  jobs_by_name_.erase(iteration->job->name);
  jobs_.erase(iteration->job->id);
  iterations_by_key_.erase({iteration->job->id, iteration->repetition});
  iterations.erase(iteration->id);
}

DispatcherState::~DispatcherState() {
  for (auto& [id, it] : iterations) {
    it->tasks.clear();
    it->pending_tasks.clear();
  }
}

Status DispatcherState::garbage_collect(std::string_view m) {
  int64_t id = 0;
  WEFT_RETURN_IF_ERROR(read_message("GarbageCollectIterationUpdate", m, [&](ProtoReader& r) {
    if (r.field() == 1) id = r.int64();
  }));
  WEFT_ASSIGN(std::shared_ptr<Iteration> it, iteration(id));
  for (const auto& t : it->tasks) {
    t->finished = true;
    tasks_by_worker[t->worker.address].erase(t->id);
  }
  it->finished = it->garbage_collected = true;
  return {};
}

Status DispatcherState::create_task(std::string_view m, bool pending) {
  auto t = std::make_shared<Task>();
  int64_t iteration_id = 0;
  // The two messages have other numbers for the same things.
  WEFT_RETURN_IF_ERROR(read_message("CreateTaskUpdate", m, [&](ProtoReader& r) {
    const int f = r.field();
    if (f == 1) t->id = r.int64();
    if (f == 2) iteration_id = r.int64();
    if (f == (pending ? 3 : 4)) t->worker.address = r.string();
    if (pending && f == 5) t->starting_round = r.int64();
    if (f == (pending ? 6 : 7)) t->worker.tags.push_back(r.string());
    if (f == (pending ? 7 : 8)) t->worker.uid = r.int64();
    if (f == (pending ? 8 : 9)) t->worker.transfer_servers.push_back(r.string());
  }));
  WEFT_ASSIGN(t->iteration, iteration(iteration_id));
  next_task_id = std::max(next_task_id, t->id + 1);
  tasks_[t->id] = t;
  tasks_by_worker[t->worker.address][t->id] = t;
  if (pending) t->iteration->pending_tasks.push_back({t, t->starting_round, 0, {}});
  else t->iteration->tasks.push_back(t);
  return {};
}

Status DispatcherState::remove_task(std::string_view m) {
  int64_t id = 0;
  WEFT_RETURN_IF_ERROR(read_message("RemoveTaskUpdate", m, [&](ProtoReader& r) {
    if (r.field() == 1) id = r.int64();
  }));
  const auto t = task(id);
  if (!t) return does_not_fit("a task that is removed");
  std::erase(t->iteration->tasks, t);
  tasks_by_worker[t->worker.address].erase(id);
  tasks_.erase(id);
  return {};
}

Status DispatcherState::finish_task(std::string_view m) {
  int64_t id = 0;
  WEFT_RETURN_IF_ERROR(read_message("FinishTaskUpdate", m, [&](ProtoReader& r) {
    if (r.field() == 1) id = r.int64();
  }));
  const auto t = task(id);
  if (!t) return does_not_fit("a task that is finished");
  t->finished = true;
  tasks_by_worker[t->worker.address].erase(id);
  const auto& all = t->iteration->tasks;
  t->iteration->finished = std::all_of(all.begin(), all.end(), [](const auto& one) { return one->finished; });
  return {};
}

Status DispatcherState::client_heartbeat(std::string_view m) {
  int64_t client = 0;
  bool accepted = false;
  std::optional<int64_t> new_round;
  WEFT_RETURN_IF_ERROR(read_message("ClientHeartbeatUpdate", m, [&](ProtoReader& r) {
    if (r.field() == 1) client = r.int64();
    if (r.field() == 2) accepted = r.boolean();
    if (r.field() != 3) return;
    new_round = 0;
    ProtoReader rejected = r.message();
    while (rejected.next()) {
      if (rejected.field() == 1) new_round = rejected.int64();
    }
  }));
  WEFT_ASSIGN(std::shared_ptr<Iteration> it, iteration_of_client(client));
  if (it->pending_tasks.empty() || !it->job->num_consumers) return does_not_fit("a heartbeat");
  PendingTask& pending = it->pending_tasks.front();
  if (new_round) {
    ++pending.failures;
    pending.ready_consumers.clear();
    pending.target_round = *new_round;
  }
  if (!accepted) return {};
  pending.ready_consumers.insert(client);
  if (int64_t(pending.ready_consumers.size()) < *it->job->num_consumers) return {};
  pending.task->starting_round = pending.target_round;
  it->tasks.push_back(pending.task);
  it->pending_tasks.pop_front();
  return {};
}

Result<std::shared_ptr<const DispatcherState::Dataset>> DispatcherState::dataset(const std::string& id) const {
  const auto it = datasets_.find(id);
  if (it == datasets_.end()) return not_found("Dataset id ", id, " not found");
  return it->second;
}

Result<std::shared_ptr<const DispatcherState::Job>> DispatcherState::job(int64_t id) const {
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return not_found("Job with id ", id, " not found");
  return it->second;
}

Result<std::shared_ptr<DispatcherState::Iteration>> DispatcherState::iteration(int64_t id) const {
  const auto it = iterations.find(id);
  if (it == iterations.end()) return not_found("Iteration id ", id, " not found");
  return it->second;
}

Result<std::shared_ptr<DispatcherState::Iteration>> DispatcherState::iteration_of_client(int64_t client) const {
  const auto it = clients.find(client);
  if (it == clients.end()) return not_found("Iteration client id not found: ", client);
  return it->second;
}

std::shared_ptr<DispatcherState::Task> DispatcherState::task(int64_t id) const {
  const auto it = tasks_.find(id);
  return it == tasks_.end() ? nullptr : it->second;
}

std::shared_ptr<const DispatcherState::Job> DispatcherState::job_by_name(const std::string& name) const {
  const auto it = jobs_by_name_.find(name);
  return it == jobs_by_name_.end() ? nullptr : it->second;
}

std::shared_ptr<DispatcherState::Iteration> DispatcherState::iteration_of(int64_t job, int64_t repetition) const {
  const auto it = iterations_by_key_.find({job, repetition});
  return it == iterations_by_key_.end() ? nullptr : it->second;
}

const DispatcherState::Worker* DispatcherState::worker(const std::string& address) const {
  const auto it = workers.find(address);
  return it == workers.end() ? nullptr : &it->second;
}

std::string DispatcherState::next_dataset_id() const {
  int64_t id = next_dataset_id_;
  while (datasets_.contains(cat(id))) ++id;
  return cat(id);
}

}  // namespace weft_engine::remote::data_service
