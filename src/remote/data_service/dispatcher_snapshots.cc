// Distributed snapshots: the methods of a dispatcher for them.
#include "remote/data_service/dispatcher.h"

namespace weft_engine::remote::data_service {

namespace {

Result<std::string> path_field(std::string_view name, std::string_view request, int field) {
  std::string path;
  WEFT_RETURN_IF_ERROR(read_message(name, request, [&](ProtoReader& r) {
    if (r.field() == field) path = r.string();
  }));
  return path;
}

}  // namespace

Result<Message> Dispatcher::snapshot(std::string_view request) {
  if (!config_.fault_tolerant_mode)
    return invalid_argument(
        "tf.data distributed snapshot requires running tf.data service in the fault tolerant mode. To enable the fault tolerant mode, set "
        "`DispatcherConfig.fault_tolerant_mode` to true and provide a valid `DispatcherConfig.work_dir`.");
  WEFT_ASSIGN(std::string path, path_field("SnapshotRequest", request, 2));
  std::lock_guard lock(mutex_);
  if (snapshots_.contains(path)) return already_exists("tf.data snapshot at ", path, " is already started or completed");
  WEFT_ASSIGN(auto manager, SnapshotManager::start(request, datasets_));
  if (config_.worker_timeout_ms > 0) manager->set_worker_timeout(double(config_.worker_timeout_ms) / 1000);
  ProtoWriter update;
  update.bytes(1, path);
  WEFT_RETURN_IF_ERROR(apply(15, update));
  snapshots_[path] = std::move(manager);
  return Message();
}

Result<Message> Dispatcher::get_snapshot_split(std::string_view request) {
  WEFT_ASSIGN(std::string path, path_field("GetSnapshotSplitRequest", request, 1));
  std::lock_guard lock(mutex_);
  const auto it = snapshots_.find(path);
  if (it == snapshots_.end()) return invalid_argument("the dispatcher does not know of a snapshot at ", path);
  return it->second->get_split(request);
}

Result<std::vector<std::pair<int64_t, int>>> Dispatcher::snapshot_streams(const std::string& path) {
  std::lock_guard lock(mutex_);
  const auto it = snapshots_.find(path);
  if (it == snapshots_.end()) return invalid_argument("the dispatcher does not know of a snapshot at ", path);
  return it->second->streams();
}

Result<Message> Dispatcher::get_snapshot_streams(std::string_view request) {
  WEFT_ASSIGN(std::string path, path_field("GetSnapshotStreamsRequest", request, 1));
  WEFT_ASSIGN(auto streams, snapshot_streams(path));
  ProtoWriter w;
  for (const auto& [index, state] : streams) {
    ProtoWriter info;
    info.int64(1, index);
    info.int64(2, state);
    w.message(1, info);
  }
  return Message(w.take());
}

}  // namespace weft_engine::remote::data_service
