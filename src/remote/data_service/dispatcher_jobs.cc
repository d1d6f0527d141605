// Jobs, iterations and their clients: the methods of a dispatcher that clients call.
#include <algorithm>

#include "remote/data_service/datasets.h"
#include "remote/data_service/dispatcher.h"
#include "wire/tensor_proto.h"
#include "remote/connections.h"

namespace weft_engine::remote::data_service {

namespace {

std::string mode_text(int mode) {
  constexpr const char* kNames[] = {"OFF", "DYNAMIC", "FILE", "DATA", "FILE_OR_DATA", "HINT"};
  if (mode <= 0) return {};  // as TensorFlow prints a message without fields
  return cat(" sharding_policy: ", mode < 6 ? kNames[mode] : "UNKNOWN");
}

const char* target_text(int target) {
  constexpr const char* kNames[] = {"", "AUTO", "ANY", "LOCAL"};
  return target >= 0 && target < 4 ? kNames[target] : "";
}

}  // namespace

Result<Message> Dispatcher::get_or_create_job(std::string_view request) {
  State::Job wanted;
  WEFT_RETURN_IF_ERROR(read_message("GetOrCreateJobRequest", request, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: wanted.dataset_id = r.string(); break;
      case 2: wanted.mode = decode_processing_mode(r.bytes()); break;
      case 3: wanted.name = r.string(); break;
      case 4: wanted.num_consumers = r.int64(); break;
      case 5: wanted.use_cross_trainer_cache = r.boolean(); break;
      case 6: wanted.target_workers = r.int32(); break;
      default: break;
    }
  }));
  if (wanted.mode < 0 || wanted.mode > int(op::ShardingPolicy::kHint))
    return internal_error("ProcessingMode ", wanted.mode, " is not a valid sharding policy");
  constexpr int64_t kMostConsumers = 1 << 20;
  if (wanted.num_consumers && (*wanted.num_consumers < 1 || *wanted.num_consumers > kMostConsumers))
    return invalid_argument("a coordinated read needs between 1 and ", kMostConsumers, " consumers, but got ", *wanted.num_consumers);
  std::lock_guard lock(mutex_);
  ProtoWriter response;
  if (const auto job = wanted.name.empty() ? nullptr : state_.job_by_name(wanted.name)) {
    std::string diff;
    if (job->mode != wanted.mode) diff += cat("Existing processing mode: <", mode_text(job->mode), ">; got <", mode_text(wanted.mode), ">. ");
    if (job->use_cross_trainer_cache != wanted.use_cross_trainer_cache)
      diff += cat("Existing cross-trainer cache: <", job->use_cross_trainer_cache ? "enabled" : "disabled", ">; got <",
                  wanted.use_cross_trainer_cache ? "enabled" : "disabled", ">. ");
    if (job->target_workers != wanted.target_workers)
      diff += cat("Existing target workers: <", target_text(job->target_workers), ">; got <", target_text(wanted.target_workers), ">. ");
    if (!diff.empty())
      return invalid_argument("Tried to create job with name ", job->name, ", but found an existing job with different parameters: ", diff);
    response.int64(1, job->id);
    return Message(response.take());
  }
  WEFT_RETURN_IF_ERROR(state_.dataset(wanted.dataset_id).status());
  const int64_t id = state_.next_job_id;
  if (wanted.name.empty()) wanted.name = cat(kAnonymousJob, id, "_", random_id());
  ProtoWriter update;
  update.int64(1, id);
  update.bytes(2, wanted.name);
  update.bytes(3, wanted.dataset_id);
  update.bytes(4, encode_processing_mode(wanted.mode));
  if (wanted.num_consumers) update.int64(6, *wanted.num_consumers);
  update.int64(7, wanted.target_workers);
  if (wanted.use_cross_trainer_cache) update.boolean(8, true);
  WEFT_RETURN_IF_ERROR(apply(14, update));
  response.int64(1, id);
  return Message(response.take());
}

Result<Message> Dispatcher::get_or_create_iteration(std::string_view request) {
  int64_t job_id = 0, repetition = 0;
  WEFT_RETURN_IF_ERROR(read_message("GetOrCreateIterationRequest", request, [&](ProtoReader& r) {
    if (r.field() == 1) job_id = r.int64();
    if (r.field() == 2) repetition = r.int64();
  }));
  std::vector<std::pair<std::string, TaskDef>> assigned;
  int64_t client = 0;
  {
    std::lock_guard lock(mutex_);
    WEFT_ASSIGN(auto job, state_.job(job_id));
    auto iteration = state_.iteration_of(job_id, repetition);
    if (!iteration || iteration->garbage_collected) {
      const int64_t id = state_.next_iteration_id;
      op::Splits splits;
      if (job->mode == int(op::ShardingPolicy::kDynamic)) {
        WEFT_ASSIGN(splits, make_splits(job->dataset_id));
      }
      ProtoWriter update;
      update.int64(1, id);
      update.int64(2, job_id);
      update.int64(3, repetition);
      update.int64(4, int64_t(splits.size()));
      WEFT_RETURN_IF_ERROR(apply(2, update));
      splits_[id] = std::move(splits);
      WEFT_ASSIGN(iteration, state_.iteration(id));
      for (const auto& [address, worker] : state_.workers) WEFT_RETURN_IF_ERROR(create_task(*iteration, worker, false));
      for (const auto& task : iteration->tasks) {
        WEFT_ASSIGN(TaskDef def, task_def(*task));
        assigned.emplace_back(task->worker.address, std::move(def));
      }
    }
    client = state_.next_client_id;
    ProtoWriter update;
    update.int64(1, iteration->id);
    update.int64(2, client);
    WEFT_RETURN_IF_ERROR(apply(6, update));
  }
  WEFT_RETURN_IF_ERROR(assign(assigned));
  ProtoWriter response;
  response.int64(1, client);
  return Message(response.take());
}

Result<Message> Dispatcher::release_client(std::string_view request) {
  int64_t client = 0;
  WEFT_RETURN_IF_ERROR(read_message("ReleaseIterationClientRequest", request, [&](ProtoReader& r) {
    if (r.field() == 1) client = r.int64();
  }));
  std::lock_guard lock(mutex_);
  WEFT_ASSIGN(auto iteration, state_.iteration_of_client(client));
  ProtoWriter update;
  update.int64(1, client);
  update.int64(2, std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  WEFT_RETURN_IF_ERROR(apply(7, update));
  heartbeats_.erase(client);
  rounds_.erase(client);
  if (iteration->finished) splits_.erase(iteration->id);
  return Message();
}

Result<Message> Dispatcher::client_heartbeat(std::string_view request) {
  int64_t client = 0, current_round = 0;
  std::optional<int64_t> blocked_round;
  bool has_round = false;
  WEFT_RETURN_IF_ERROR(read_message("ClientHeartbeatRequest", request, [&](ProtoReader& r) {
    if (r.field() == 1) client = r.int64();
    if (r.field() == 2) {
      current_round = r.int64();
      has_round = true;
    }
    if (r.field() == 4) blocked_round = r.int64();
  }));
  std::lock_guard lock(mutex_);
  auto found = state_.iteration_of_client(client);
  if (!found.ok()) {
    if (config_.fault_tolerant_mode) return found.status();
    return not_found("Unknown iteration client id ", client,
                     ". The dispatcher is not configured to be fault tolerant, so this could be caused by a dispatcher restart.");
  }
  const auto& iteration = *found;
  heartbeats_[client] = Clock::now();
  if (iteration->garbage_collected)
    return failed_precondition(
        "The requested iteration has been garbage collected due to inactivity. Consider configuring the dispatcher with a higher "
        "`iteration_gc_timeout_ms`.");
  if (has_round) rounds_[client] = std::max(rounds_[client], current_round);
  if (!iteration->pending_tasks.empty()) {
    const State::PendingTask& pending = iteration->pending_tasks.front();
    ProtoWriter update;
    update.int64(1, client);
    bool changed = false;
    if (blocked_round && *blocked_round <= pending.target_round && current_round < pending.target_round &&
        !pending.ready_consumers.contains(client)) {
      update.boolean(2, true);
      changed = true;
    }
    if (current_round >= pending.target_round) {
      // Rounds further and further away, until all consumers can stop before it.
      ProtoWriter rejected;
      rejected.int64(1, rounds_[client] + (int64_t(2) << std::min(pending.failures, 20)));
      update.message(3, rejected);
      changed = true;
    }
    if (changed) WEFT_RETURN_IF_ERROR(apply(10, update));
  }
  ProtoWriter response;
  for (const auto& task : iteration->tasks) {
    TaskInfo info;
    info.worker_address = task->worker.address;
    info.worker_tags = task->worker.tags;
    info.transfer_servers = task->worker.transfer_servers;
    info.worker_uid = task->worker.uid;
    info.task_id = task->id;
    info.iteration_id = iteration->id;
    info.starting_round = task->starting_round;
    response.bytes(1, encode_task_info(info));
  }
  if (iteration->finished) response.boolean(2, true);
  if (!iteration->pending_tasks.empty()) response.int64(3, iteration->pending_tasks.front().target_round);
  return Message(response.take());
}

Result<Message> Dispatcher::get_split(std::string_view request) {
  int64_t id = 0, repetition = 0, index = 0;
  WEFT_RETURN_IF_ERROR(read_message("GetSplitRequest", request, [&](ProtoReader& r) {
    if (r.field() == 1) id = r.int64();
    if (r.field() == 2) repetition = r.int64();
    if (r.field() == 3) index = r.int64();
  }));
  std::lock_guard lock(mutex_);
  WEFT_ASSIGN(auto iteration, state_.iteration(id));
  auto& splits = splits_[id];
  if (iteration->split_indices.empty() || splits.empty())
    return failed_precondition("Cannot get split for iteration ", id, ", since it is not a distributed_epoch iteration.");
  if (index < 0 || size_t(index) >= std::min(splits.size(), iteration->split_indices.size()))
    return invalid_argument("Iteration ", id, " has ", splits.size(), " split providers; there is no ", index);
  ProtoWriter response;
  const int64_t current = iteration->split_repetitions[size_t(index)];
  if (repetition < current) {
    response.boolean(2, true);
    return Message(response.take());
  }
  op::SplitProvider& provider = *splits[size_t(index)];
  // Where a walk begins again before the end: the longer input of a zip.
  if (repetition > current) WEFT_RETURN_IF_ERROR(provider.reset());
  Tensor split;
  bool end = false;
  WEFT_RETURN_IF_ERROR(provider.next(split, end));
  ProtoWriter update;
  update.int64(1, id);
  if (repetition) update.int64(2, repetition);
  if (end) update.boolean(3, true);
  if (index) update.int64(4, index);
  WEFT_RETURN_IF_ERROR(apply(8, update));
  if (end) {
    response.boolean(2, true);
    WEFT_RETURN_IF_ERROR(provider.reset());
  } else {
    WEFT_ASSIGN(std::string bytes, wire::encode_tensor_content(split));
    response.bytes(1, bytes);
  }
  return Message(response.take());
}

Result<Message> Dispatcher::maybe_remove_task(std::string_view request) {
  int64_t id = 0, consumer = 0, round = 0;
  WEFT_RETURN_IF_ERROR(read_message("MaybeRemoveTaskRequest", request, [&](ProtoReader& r) {
    if (r.field() == 1) id = r.int64();
    if (r.field() == 2) consumer = r.int64();
    if (r.field() == 3) round = r.int64();
  }));
  constexpr auto kLimit = std::chrono::seconds(5);
  ProtoWriter response;
  std::unique_lock lock(mutex_);
  const auto task = state_.task(id);
  if (!task) {
    response.boolean(1, true);  // by another consumer
    return Message(response.take());
  }
  if (!task->iteration->job->num_consumers) return failed_precondition("MaybeRemoveTask called on a non-round-robin task.");
  Removal& removal = removals_[id];
  if (round > removal.round) {
    removal.round = round;
    removal.consumers.clear();
  }
  if (round == removal.round) {
    removal.consumers.insert(consumer);
    if (int64_t(removal.consumers.size()) >= *task->iteration->job->num_consumers) removal.removed = true;
    changed_.notify_all();
    changed_.wait_for(lock, kLimit, [&] { return removals_[id].removed || removals_[id].round != round || !started_; });
  }
  const bool removed = removals_[id].removed;
  if (removed && state_.task(id)) {
    ProtoWriter update;
    update.int64(1, id);
    WEFT_RETURN_IF_ERROR(apply(11, update));
  }
  if (removed) response.boolean(1, true);
  else removals_[id].consumers.erase(consumer);
  return Message(response.take());
}

}  // namespace weft_engine::remote::data_service
