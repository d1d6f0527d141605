#include "remote/data_service/dispatcher.h"

#include <algorithm>
#include <cstdlib>

#include "core/log.h"
#include "core/threads.h"
#include "remote/data_service/datasets.h"

namespace weft_engine::remote::data_service {

namespace {

int64_t or_default(int64_t value, int64_t otherwise) { return value > 0 ? value : otherwise; }

int64_t now_us() { return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count(); }

Result<int64_t> number_field(std::string_view name, std::string_view bytes, int field) {
  int64_t value = 0;
  WEFT_RETURN_IF_ERROR(read_message(name, bytes, [&](ProtoReader& r) {
    if (r.field() == field) value = r.int64();
  }));
  return value;
}

DispatcherConfig with_limit(DispatcherConfig config) {
  constexpr int64_t kMaxEntries = 250000;
  if (config.max_entries > 0) return config;
  const char* text = std::getenv("WEFT_DATA_SERVICE_MAX_ENTRIES");
  config.max_entries = text && std::atoll(text) > 0 ? std::atoll(text) : kMaxEntries;
  return config;
}

}  // namespace

Dispatcher::Dispatcher(DispatcherConfig config, std::shared_ptr<Datasets> datasets)
    : config_(with_limit(std::move(config))), datasets_(std::move(datasets)), state_(config_.worker_addresses) {}

Status Dispatcher::start() {
  std::lock_guard lock(mutex_);
  if (config_.fault_tolerant_mode && config_.work_dir.empty()) return invalid_argument("fault_tolerant_mode is True, but no work_dir is configured.");
  if (!config_.work_dir.empty()) WEFT_RETURN_IF_ERROR(wire::create_folders(config_.work_dir + "/datasets"));
  if (config_.fault_tolerant_mode) {
    const std::string folder = config_.work_dir + "/tf_data_dispatcher_journal";
    WEFT_RETURN_IF_ERROR(read_journal(folder, [&](std::string_view update) { return state_.apply(update); }));
    for (const auto& [id, iteration] : state_.iterations) {
      if (iteration->split_indices.empty() || iteration->finished) continue;
      WEFT_ASSIGN(op::Splits splits, make_splits(iteration->job->dataset_id));
      for (size_t i = 0; i < std::min(splits.size(), iteration->split_indices.size()); ++i) {
        Tensor unused;
        bool end = false;
        for (int64_t n = iteration->split_indices[i]; n > 0 && !end; --n) WEFT_RETURN_IF_ERROR(splits[i]->next(unused, end));
      }
      splits_[id] = std::move(splits);
    }
    for (const auto& [client, iteration] : state_.clients) heartbeats_[client] = Clock::now();
    for (const std::string& path : state_.snapshots) {
      auto resumed = SnapshotManager::resume(path, datasets_);
      if (resumed.ok()) snapshots_[path] = std::move(resumed).value();
      else log(LogLevel::kWarning, cat("the snapshot at ", path, " cannot be continued: ", resumed.status().message()));
    }
    WEFT_ASSIGN(journal_, JournalWriter::create(folder));
  }
  started_ = true;
  return start_thread([weak = weak_from_this(), stop = stop_, pause = double(or_default(config_.job_gc_check_interval_ms, 600000)) / 1000] {
    while (stop->sleep(pause)) {
      const auto self = weak.lock();
      if (!self) return;
      self->collect_garbage();
    }
  });
}

void Dispatcher::stop() {
  stop_->stop();
  std::lock_guard lock(mutex_);
  started_ = false;
  changed_.notify_all();
}

int Dispatcher::num_workers() {
  std::lock_guard lock(mutex_);
  return int(state_.workers.size());
}

void Dispatcher::add_methods(MethodTable& methods) {
  using Method = Result<Message> (Dispatcher::*)(std::string_view);
  const std::pair<std::string_view, Method> all[] = {
      {"WorkerHeartbeat", &Dispatcher::worker_heartbeat},
      {"WorkerUpdate", &Dispatcher::worker_update},
      {"GetDatasetDef", &Dispatcher::get_dataset_def},
      {"GetSplit", &Dispatcher::get_split},
      {"GetOrRegisterDataset", &Dispatcher::register_dataset},
      {"GetDataServiceMetadata", &Dispatcher::get_metadata},
      {"DisableCompressionAtRuntime", &Dispatcher::disable_compression},
      {"GetOrCreateJob", &Dispatcher::get_or_create_job},
      {"GetOrCreateIteration", &Dispatcher::get_or_create_iteration},
      {"MaybeRemoveTask", &Dispatcher::maybe_remove_task},
      {"ReleaseIterationClient", &Dispatcher::release_client},
      {"ClientHeartbeat", &Dispatcher::client_heartbeat},
      {"GetWorkers", &Dispatcher::get_workers},
      {"Snapshot", &Dispatcher::snapshot},
      {"GetSnapshotSplit", &Dispatcher::get_snapshot_split},
      {"GetSnapshotStreams", &Dispatcher::get_snapshot_streams},
  };
  for (const auto& [name, method] : all) {
    methods.add_blocking(kDispatcherService, name, [self = shared_from_this(), method = method](std::string_view request) -> Result<Message> {
      {
        std::lock_guard lock(self->mutex_);
        if (!self->started_) return unavailable("Dispatcher has not started yet.");
      }
      return (*self.*method)(request);
    });
  }
  methods.add(kDispatcherService, "GetVersion", [](std::string_view, Reply reply) {
    ProtoWriter w;
    w.int64(1, kVersion);
    reply({}, Message(w.take()));
  });
  methods.add(kDispatcherService, "GetDataServiceConfig", [](std::string_view, Reply reply) {
    ProtoWriter w;
    w.bytes(1, {});
    reply({}, Message(w.take()));
  });
}

// ---- updates and datasets

Status Dispatcher::apply(int kind, const ProtoWriter& update) {
  constexpr int kAdding[] = {1, 2, 3, 5, 6, 9, 14, 15, 16};
  if (std::find(std::begin(kAdding), std::end(kAdding), kind) != std::end(kAdding) && state_.num_entries() >= config_.max_entries)
    return resource_exhausted("this dispatcher keeps ", state_.num_entries(), " datasets, workers, jobs, tasks and clients, and its limit is ",
                              config_.max_entries, " (WEFT_DATA_SERVICE_MAX_ENTRIES)");
  ProtoWriter w;
  w.message(kind, update);
  if (journal_) WEFT_RETURN_IF_ERROR(journal_->write(w.str()));
  return state_.apply(w.str());
}

std::string Dispatcher::dataset_file(const std::string& id) const { return cat(config_.work_dir, "/datasets/", id); }

Result<std::string> Dispatcher::graph_of(const std::string& dataset_id) {
  WEFT_RETURN_IF_ERROR(state_.dataset(dataset_id).status());
  if (!config_.work_dir.empty()) {
    WEFT_ASSIGN(std::string def, read_record_file(dataset_file(dataset_id)));
    return graph_of_dataset_def(def);
  }
  const auto it = graphs_.find(dataset_id);
  if (it == graphs_.end()) return not_found("Dataset with key ", dataset_id, " not found");
  return it->second;
}

Result<op::Splits> Dispatcher::make_splits(const std::string& dataset_id) {
  WEFT_ASSIGN(std::string graph, graph_of(dataset_id));
  WEFT_ASSIGN(auto dataset, datasets_->make(graph, {}));
  return dataset->make_splits();
}

Result<Message> Dispatcher::register_dataset(std::string_view request) {
  std::string def, metadata, id;
  WEFT_RETURN_IF_ERROR(read_message("GetOrRegisterDatasetRequest", request, [&](ProtoReader& r) {
    if (r.field() == 1) def = r.string();
    if (r.field() == 3) metadata = r.string();
    if (r.field() == 4) id = r.string();
  }));
  WEFT_ASSIGN(std::string graph, graph_of_dataset_def(def));
  std::lock_guard lock(mutex_);
  const auto respond = [&]() -> Result<Message> {
    ProtoWriter w;
    w.bytes(1, id);
    return Message(w.take());
  };
  if (!id.empty()) {
    if (auto known = state_.dataset(id); known.ok()) {
      const auto cardinality = [](std::string_view m) { return number_field("DataServiceMetadata", m, 3); };
      WEFT_ASSIGN(int64_t there, cardinality((*known)->metadata));
      WEFT_ASSIGN(int64_t here, cardinality(metadata));
      if (there != here)
        return invalid_argument("Datasets with the same ID should have the same structure, got diff for dataset ID ", id,
                                ": ignored: element_spec\nmodified: cardinality: ", here, " -> ", there,
                                "\n. To fix this error, make sure you're registering the same dataset with the same ID.");
      const auto spec = [](std::string_view m) {
        std::string out;
        ProtoReader r(m);
        while (r.next()) {
          if (r.field() == 1) out = r.string();
        }
        return out;
      };
      if (spec((*known)->metadata) != spec(metadata))
        return invalid_argument("Datasets with the same ID should have the same structure, got diff for dataset ID ", id,
                                " with different element_spec. To fix this error, make sure you're registering the same dataset with the same ID.");
      return respond();
    }
    constexpr size_t kLongest = 200;
    if (!config_.work_dir.empty() && (id.size() > kLongest || id == "." || id == ".." || id.find('/') != id.npos || id.find('\0') != id.npos))
      return invalid_argument("a dataset id is the name of a file in the dispatcher's work_dir, and \"", id.substr(0, kLongest), "\" cannot be one");
  } else {
    id = state_.next_dataset_id();
  }
  if (config_.work_dir.empty()) graphs_[id] = std::move(graph);
  else WEFT_RETURN_IF_ERROR(write_record_file(dataset_file(id), encode_dataset_def(graph)));
  ProtoWriter update;
  update.bytes(1, id);
  update.bytes(3, metadata);
  WEFT_RETURN_IF_ERROR(apply(1, update));
  return respond();
}

Result<Message> Dispatcher::get_dataset_def(std::string_view request) {
  std::string id;
  WEFT_RETURN_IF_ERROR(read_message("GetDatasetDefRequest", request, [&](ProtoReader& r) {
    if (r.field() == 1) id = r.string();
  }));
  std::lock_guard lock(mutex_);
  WEFT_ASSIGN(std::string graph, graph_of(id));
  ProtoWriter w;
  w.bytes(1, encode_dataset_def(graph));
  return Message(w.take());
}

Result<Message> Dispatcher::get_metadata(std::string_view request) {
  std::string id;
  WEFT_RETURN_IF_ERROR(read_message("GetDataServiceMetadataRequest", request, [&](ProtoReader& r) {
    if (r.field() == 1) id = r.string();
  }));
  std::lock_guard lock(mutex_);
  WEFT_ASSIGN(auto dataset, state_.dataset(id));
  ProtoWriter w;
  w.bytes(1, dataset->metadata);
  return Message(w.take());
}

// Elements stay as the client that registered the dataset wanted them.
Result<Message> Dispatcher::disable_compression(std::string_view request) {
  std::string id;
  WEFT_RETURN_IF_ERROR(read_message("DisableCompressionAtRuntimeRequest", request, [&](ProtoReader& r) {
    if (r.field() == 1) id = r.string();
  }));
  std::lock_guard lock(mutex_);
  WEFT_ASSIGN(auto dataset, state_.dataset(id));
  WEFT_ASSIGN(int64_t compression, number_field("DataServiceMetadata", dataset->metadata, 2));
  constexpr int64_t kSnappy = 2;
  ProtoWriter w;
  if (compression != kSnappy) {
    w.boolean(3, true);
  } else {
    if (!state_.compression_decided.contains(id)) {
      ProtoWriter update;
      update.bytes(1, id);
      WEFT_RETURN_IF_ERROR(apply(16, update));
    }
    w.boolean(1, false);
  }
  return Message(w.take());
}

// ---- workers and their tasks

Result<Message> Dispatcher::get_workers(std::string_view) {
  ProtoWriter w;
  std::lock_guard lock(mutex_);
  for (const auto& [address, worker] : state_.workers) {
    ProtoWriter info;
    info.bytes(1, address);
    w.message(1, info);
  }
  return Message(w.take());
}

Result<TaskDef> Dispatcher::task_def(const State::Task& task) {
  const State::Iteration& iteration = *task.iteration;
  TaskDef out;
  out.dataset_id = iteration.job->dataset_id;
  out.worker_address = task.worker.address;
  out.task_id = task.id;
  out.iteration_id = iteration.id;
  out.mode = iteration.job->mode;
  out.num_consumers = iteration.job->num_consumers;
  out.use_cross_trainer_cache = iteration.job->use_cross_trainer_cache;
  out.num_split_providers = int64_t(iteration.split_indices.size());
  if (out.mode >= int(op::ShardingPolicy::kFile)) {
    out.num_workers = state_.indices.size();
    WEFT_ASSIGN(out.worker_index, state_.indices.index_of(task.worker.address));
  }
  if (config_.work_dir.empty()) {
    WEFT_ASSIGN(out.graph, graph_of(out.dataset_id));
  } else {
    out.path = dataset_file(out.dataset_id);
  }
  return out;
}

Status Dispatcher::create_task(State::Iteration& iteration, const State::Worker& worker, bool pending) {
  ProtoWriter update;
  update.int64(1, state_.next_task_id);
  update.int64(2, iteration.id);
  update.bytes(pending ? 3 : 4, worker.address);
  if (pending) {
    int64_t round = 0;
    for (const auto& [client, of] : state_.clients) {
      if (of.get() == &iteration) round = std::max(round, rounds_[client]);
    }
    update.int64(5, round + 1);
  }
  for (const std::string& tag : worker.tags) update.bytes(pending ? 6 : 7, tag);
  update.int64(pending ? 7 : 8, worker.uid);
  for (const std::string& server : worker.transfer_servers) update.bytes(pending ? 8 : 9, server);
  return apply(pending ? 9 : 3, update);
}

Result<Message> Dispatcher::worker_heartbeat(std::string_view request) {
  State::Worker worker;
  std::vector<int64_t> current;
  WEFT_RETURN_IF_ERROR(read_message("WorkerHeartbeatRequest", request, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: worker.address = r.string(); break;
      case 2: r.append_varints(current); break;
      case 4: worker.tags.push_back(r.string()); break;
      case 5: worker.uid = r.int64(); break;
      case 7: worker.transfer_servers.push_back(r.string()); break;
      case 8: {
        auto id = number_field("ActiveTask", r.bytes(), 1);
        if (id.ok()) current.push_back(*id);
        break;
      }
      default: break;
    }
  }));
  if (worker.address.empty()) return invalid_argument("a worker's heartbeat must name the worker's address");
  std::lock_guard lock(mutex_);
  if (!state_.worker(worker.address)) {
    WEFT_RETURN_IF_ERROR(state_.indices.validate(worker.address));
    ProtoWriter update;
    update.bytes(1, worker.address);
    for (const std::string& tag : worker.tags) update.bytes(3, tag);
    update.int64(4, worker.uid);
    for (const std::string& server : worker.transfer_servers) update.bytes(5, server);
    WEFT_RETURN_IF_ERROR(apply(5, update));
    for (const auto& [id, iteration] : state_.iterations) {
      if (!iteration->finished) WEFT_RETURN_IF_ERROR(create_task(*iteration, worker, iteration->job->num_consumers.has_value()));
    }
  }
  ProtoWriter response;
  const auto& assigned = state_.tasks_by_worker[worker.address];
  for (const auto& [id, task] : assigned) {
    if (std::find(current.begin(), current.end(), id) != current.end()) continue;
    WEFT_ASSIGN(TaskDef def, task_def(*task));
    response.bytes(1, encode_task_def(def));
  }
  for (int64_t id : current) {
    if (!assigned.contains(id)) response.int64(2, id);
  }
  for (const auto& [path, manager] : snapshots_) {
    for (const std::string& task : manager->worker_heartbeat(worker.address, request, config_.worker_max_concurrent_snapshots))
      response.bytes(3, task);
  }
  return Message(response.take());
}

Result<Message> Dispatcher::worker_update(std::string_view request) {
  std::vector<int64_t> completed;
  WEFT_RETURN_IF_ERROR(read_message("WorkerUpdateRequest", request, [&](ProtoReader& r) {
    if (r.field() != 2) return;
    int64_t id = 0;
    bool done = false;
    ProtoReader progress = r.message();
    while (progress.next()) {
      if (progress.field() == 1) id = progress.int64();
      if (progress.field() == 2) done = progress.boolean();
    }
    if (done) completed.push_back(id);
  }));
  std::lock_guard lock(mutex_);
  for (int64_t id : completed) {
    const auto task = state_.task(id);
    if (!task || task->finished) continue;  // what was forgotten or told twice
    ProtoWriter update;
    update.int64(1, id);
    WEFT_RETURN_IF_ERROR(apply(4, update));
  }
  return Message();
}

Status Dispatcher::assign(const std::vector<std::pair<std::string, TaskDef>>& tasks) {
  constexpr double kLimit = 60;  // seconds; a worker that stands still hears of its task by its next heartbeat
  for (const auto& [address, def] : tasks) {
    std::shared_ptr<Peer> peer;
    {
      std::lock_guard lock(mutex_);
      auto& known = workers_[address];
      if (!known) {
        WEFT_ASSIGN(known, Peer::to(address, kWorkerService));
      }
      peer = known;
    }
    ProtoWriter w;
    w.bytes(1, encode_task_def(def));
    auto response = peer->call("ProcessTask", Message(w.take()), *stop_, kLimit);
    if (response.ok() || is_preempted(response.status()) || response.status().code() == Code::kDeadlineExceeded) continue;
    return with_prefix(cat("Failed to submit task to worker ", address), response.status());
  }
  return {};
}

// ---- what is left over

void Dispatcher::collect_garbage() {
  const auto client_limit = std::chrono::milliseconds(or_default(config_.client_timeout_ms, 120000));
  const int64_t job_limit_us = or_default(config_.job_gc_timeout_ms, 300000) * 1000;
  std::lock_guard lock(mutex_);
  std::vector<int64_t> gone;
  for (const auto& [client, iteration] : state_.clients) {
    const auto it = heartbeats_.find(client);
    if (it != heartbeats_.end() && Clock::now() > it->second + client_limit) gone.push_back(client);
  }
  Status s;
  for (int64_t client : gone) {
    ProtoWriter update;
    update.int64(1, client);
    update.int64(2, now_us());
    if (Status one = apply(7, update); !one.ok()) s = one;
    heartbeats_.erase(client);
    rounds_.erase(client);
  }
  std::vector<int64_t> idle;
  for (const auto& [id, iteration] : state_.iterations) {
    const bool dynamic = iteration->job->mode == int(op::ShardingPolicy::kDynamic);
    if (iteration->finished || iteration->num_clients > 0 || iteration->last_client_released_us < 0) continue;
    if (dynamic && !config_.gc_dynamic_sharding_jobs) continue;
    if (now_us() >= iteration->last_client_released_us + job_limit_us) idle.push_back(id);
  }
  for (int64_t id : idle) {
    ProtoWriter update;
    update.int64(1, id);
    if (Status one = apply(12, update); !one.ok()) s = one;
    splits_.erase(id);
  }
  if (!s.ok()) log(LogLevel::kWarning, cat("the dispatcher could not clean up: ", s.message()));
}

}  // namespace weft_engine::remote::data_service
