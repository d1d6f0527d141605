#include "remote/data_service/snapshot_manager.h"

#include <algorithm>

#include "core/log.h"
#include "remote/data_service/datasets.h"
#include "remote/data_service/journal.h"
#include "wire/tensor_proto.h"

namespace weft_engine::remote::data_service {

namespace {

std::string in_quotes(std::string_view bytes) {
  std::string out;
  for (unsigned char c : bytes) {
    out += '\\';
    for (int shift : {6, 3, 0}) out += char('0' + ((c >> shift) & 7));
  }
  return out;
}

Result<std::vector<std::string>> names_in(const std::string& folder) {
  if (!wire::is_folder(folder)) return std::vector<std::string>();
  WEFT_ASSIGN(core::Place place, core::locate(folder));
  return place.system.children(place.path);
}

// The number behind a prefix; -1 for other names.
int64_t number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size() || name.size() > prefix.size() + 17) return -1;
  int64_t n = 0;
  for (char c : name.substr(prefix.size())) {
    if (c < '0' || c > '9') return -1;
    n = n * 10 + (c - '0');
  }
  return n;
}

Result<op::Splits> splits_of(std::string_view dataset_def, Datasets& datasets) {
  WEFT_ASSIGN(std::string graph, graph_of_dataset_def(dataset_def));
  WEFT_ASSIGN(auto dataset, datasets.make(graph, {}));
  return dataset->make_splits();
}

}  // namespace

Result<std::shared_ptr<SnapshotManager>> SnapshotManager::start(std::string_view request, std::shared_ptr<Datasets> datasets) {
  std::string def, path, metadata, spec, compression;
  WEFT_RETURN_IF_ERROR(read_message("SnapshotRequest", request, [&](ProtoReader& r) {
    if (r.field() == 1) def = r.string();
    if (r.field() == 2) path = r.string();
    if (r.field() == 3) metadata = r.string();
  }));
  WEFT_RETURN_IF_ERROR(read_message("DistributedSnapshotMetadata", metadata, [&](ProtoReader& r) {
    if (r.field() == 1) spec = r.string();
    if (r.field() == 2) compression = r.string();
  }));
  if (path.empty()) return invalid_argument("a snapshot needs a path");
  if (wire::file_exists(path + "/snapshot.metadata")) return already_exists("tf.data snapshot at ", path, " is already started or completed");
  WEFT_ASSIGN(op::Splits splits, splits_of(def, *datasets));
  WEFT_RETURN_IF_ERROR(wire::create_folders(path + "/streams"));
  WEFT_RETURN_IF_ERROR(wire::create_folders(path + "/chunks"));
  WEFT_RETURN_IF_ERROR(wire::write_file(path + "/dataset_def.proto", def));
  std::string text = cat("element_spec: \"", in_quotes(spec), "\"\n");
  if (!compression.empty()) text += cat("compression: \"", compression, "\"\n");
  WEFT_RETURN_IF_ERROR(wire::write_file(path + "/dataset_spec.pb", spec));
  WEFT_RETURN_IF_ERROR(wire::write_file(path + "/snapshot.metadata", text));
  return std::shared_ptr<SnapshotManager>(new SnapshotManager(path, metadata, std::move(splits)));
}

Result<std::shared_ptr<SnapshotManager>> SnapshotManager::resume(const std::string& path, std::shared_ptr<Datasets> datasets) {
  std::shared_ptr<SnapshotManager> manager;
  if (wire::file_exists(path + "/DONE") || wire::file_exists(path + "/ERROR")) {
    manager.reset(new SnapshotManager(path, {}, {}));
    manager->ended_ = true;
  } else {
    std::string def;
    WEFT_RETURN_IF_ERROR(wire::read_file(path + "/dataset_def.proto", def));
    WEFT_ASSIGN(op::Splits splits, splits_of(def, *datasets));
    // The metadata as a message again: the text has the element_spec in octal escapes, or as TensorFlow escapes it; the spec itself is in a file of its own.
    std::string spec, text;
    WEFT_RETURN_IF_ERROR(wire::read_file(path + "/snapshot.metadata", text));
    if (wire::file_exists(path + "/dataset_spec.pb")) WEFT_RETURN_IF_ERROR(wire::read_file(path + "/dataset_spec.pb", spec));
    ProtoWriter metadata;
    metadata.bytes(1, spec);
    constexpr std::string_view kCompression = "compression: \"";
    if (const size_t at = text.rfind(kCompression); at != text.npos) {
      const size_t begin = at + kCompression.size();
      metadata.bytes(2, text.substr(begin, text.find('"', begin) - begin));
    }
    manager.reset(new SnapshotManager(path, metadata.take(), std::move(splits)));
  }
  WEFT_RETURN_IF_ERROR(manager->read_streams());
  return manager;
}

Status SnapshotManager::read_streams() {
  WEFT_ASSIGN(std::vector<std::string> folders, names_in(path_ + "/streams"));
  std::vector<std::map<int64_t, int64_t>> given(splits_.size());  // of each source: repetition -> splits
  for (const std::string& name : folders) {
    const int64_t index = number_after(name, "stream_");
    if (index < 0) continue;
    Stream& stream = streams_[index];
    const std::string folder = stream_folder(path_, index);
    stream.done = ended_ || wire::file_exists(folder + "/DONE");
    if (wire::file_exists(folder + "/owner_worker")) WEFT_RETURN_IF_ERROR(wire::read_file(folder + "/owner_worker", stream.worker));
    seen_[stream.worker] = Clock::now();
    for (size_t source = 0; source < splits_.size(); ++source) {
      const std::string splits = cat(folder, "/splits/source_", source);
      WEFT_ASSIGN(std::vector<std::string> repetitions, names_in(splits));
      for (const std::string& repetition : repetitions) {
        const int64_t r = number_after(repetition, "repetition_");
        if (r < 0) continue;
        WEFT_ASSIGN(std::vector<std::string> files, names_in(cat(splits, "/", repetition)));
        stream.splits[{int64_t(source), r}] = int64_t(files.size());
        given[source][r] += int64_t(files.size());
      }
    }
  }
  for (size_t source = 0; source < splits_.size(); ++source) {
    for (const auto& [repetition, n] : given[source]) total_splits_ += n;
    if (given[source].empty()) continue;
    repetitions_[source] = given[source].rbegin()->first;
    at_[source] = given[source].rbegin()->second;
    Tensor unused;
    bool end = false;
    for (int64_t n = at_[source]; n > 0 && !end; --n) WEFT_RETURN_IF_ERROR(splits_[source]->next(unused, end));
  }
  return {};
}

void SnapshotManager::handle(const SnapshotProgress& progress) {
  const auto it = streams_.find(progress.task.stream_index);
  if (it == streams_.end() || it->second.done) return;
  if (!progress.status.ok()) {
    ended_ = true;
    const std::string text = cat("code: ", int(progress.status.code()), "\nmessage: \"", in_quotes(progress.status.message()), "\"\n");
    const Status s = wire::write_file(path_ + "/ERROR", text);
    if (!s.ok()) log(LogLevel::kWarning, cat("the failure of the snapshot at ", path_, " cannot be noted: ", s.message()));
    return;
  }
  if (progress.completed) it->second.done = true;
}

Status SnapshotManager::finish_if_done() {
  if (ended_ || !all_given_ || std::any_of(streams_.begin(), streams_.end(), [](const auto& s) { return !s.second.done; })) return {};
  WEFT_RETURN_IF_ERROR(wire::write_file(path_ + "/DONE", ""));
  ended_ = true;
  return {};
}

std::vector<std::string> SnapshotManager::worker_heartbeat(const std::string& worker, std::string_view request, int64_t) {
  seen_[worker] = Clock::now();
  ProtoReader r(request);
  while (r.next()) {
    if (r.field() != 6) continue;
    std::string key, value;
    ProtoReader entry = r.message();
    while (entry.next()) (entry.field() == 1 ? key : value) = entry.string();
    auto progress = decode_snapshot_progress(value);
    if (progress.ok() && progress->task.base_path == path_) handle(*progress);
  }
  if (const Status s = finish_if_done(); !s.ok()) log(LogLevel::kWarning, cat("the snapshot at ", path_, " cannot be finished: ", s.message()));
  if (ended_) return {};
  Stream* own = nullptr;
  int64_t index = 0;
  for (auto& [i, stream] : streams_) {
    if (!stream.done && stream.worker == worker) own = &stream, index = i;
  }
  if (!own) {
    for (auto& [i, stream] : streams_) {
      const auto seen = seen_.find(stream.worker);
      const bool lost = seen == seen_.end() || Clock::now() - seen->second > std::chrono::milliseconds(int64_t(worker_timeout_ * 1000));
      if (!stream.done && lost) own = &stream, index = i;
    }
    if (!own) {
      if (all_given_) return {};
      index = streams_.empty() ? 0 : streams_.rbegin()->first + 1;
      own = &streams_[index];
    }
    own->worker = worker;
    const Status s = wire::write_file(stream_folder(path_, index) + "/owner_worker", worker);
    if (!s.ok()) log(LogLevel::kWarning, cat("the owner of a snapshot's stream cannot be noted: ", s.message()));
  }
  SnapshotTask task;
  task.base_path = path_;
  task.stream_index = index;
  task.num_sources = int64_t(splits_.size());
  task.metadata = metadata_;
  return {encode_snapshot_task(task)};
}

Result<Message> SnapshotManager::get_split(std::string_view request) {
  int64_t index = 0, source = 0, repetition = 0;
  std::string worker;
  WEFT_RETURN_IF_ERROR(read_message("GetSnapshotSplitRequest", request, [&](ProtoReader& r) {
    if (r.field() == 2) index = r.int64();
    if (r.field() == 3) source = r.int64();
    if (r.field() == 4) worker = r.string();
    if (r.field() == 5) repetition = r.int64();
  }));
  const auto it = streams_.find(index);
  if (it == streams_.end()) return internal_error("the dispatcher does not know of stream ", index, " of the snapshot at ", path_);
  Stream& stream = it->second;
  if (stream.worker != worker)
    return internal_error("worker ", worker, " requested a split for stream ", index, " of the snapshot at ", path_, ", which is ", stream.worker,
                          "'s");
  if (stream.done) return internal_error("stream ", index, " of the snapshot at ", path_, " is done");
  if (source < 0 || size_t(source) >= splits_.size()) return invalid_argument("the snapshot at ", path_, " has no source ", source);
  const auto s = size_t(source);
  ProtoWriter response;
  const auto end_of_splits = [&]() -> Message {
    response.boolean(2, true);
    response.int64(3, stream.splits[{source, repetition}]);  // TensorFlow's workers compare it with what they have read, also at the end
    return Message(response.take());
  };
  if (repetition < repetitions_[s]) return end_of_splits();
  if (repetition > repetitions_[s]) {
    WEFT_RETURN_IF_ERROR(splits_[s]->reset());
    repetitions_[s] = repetition;
    at_[s] = 0;
  }
  Tensor split;
  bool end = false;
  WEFT_RETURN_IF_ERROR(splits_[s]->next(split, end));
  if (end) {
    // Which stream has the last elements is known when its worker says that it is done.
    all_given_ = true;
    return end_of_splits();
  }
  WEFT_ASSIGN(std::string bytes, wire::encode_tensor_content(split));
  int64_t& given = stream.splits[{source, repetition}];
  WEFT_RETURN_IF_ERROR(write_record_file(
      cat(stream_folder(path_, index), "/splits/source_", source, "/repetition_", repetition, "/split_", given, "_", total_splits_), bytes));
  ++total_splits_;
  ++at_[s];
  response.bytes(1, bytes);
  response.int64(3, given++);
  return Message(response.take());
}

std::vector<std::pair<int64_t, int>> SnapshotManager::streams() const {
  constexpr int kAssigned = 1, kDone = 4;
  std::vector<std::pair<int64_t, int>> out;
  for (const auto& [index, stream] : streams_) out.emplace_back(index, stream.done ? kDone : kAssigned);
  return out;
}

}  // namespace weft_engine::remote::data_service
