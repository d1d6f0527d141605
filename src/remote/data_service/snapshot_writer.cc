#include "remote/data_service/snapshot_writer.h"

#include <algorithm>

#include "core/threads.h"
#include "remote/data_service/datasets.h"
#include "remote/data_service/journal.h"
#include "wire/record.h"
#include "wire/tensor_proto.h"

namespace weft_engine::remote::data_service {

std::string stream_folder(const std::string& base_path, int64_t stream) { return cat(base_path, "/streams/stream_", stream); }

Result<SnapshotTask> decode_snapshot_task(std::string_view bytes) {
  SnapshotTask t;
  WEFT_RETURN_IF_ERROR(read_message("SnapshotTaskDef", bytes, [&](ProtoReader& r) {
    if (r.field() == 1) t.base_path = r.string();
    if (r.field() == 2) t.stream_index = r.int64();
    if (r.field() == 3) t.num_sources = r.int64();
    if (r.field() == 4) t.metadata = r.string();
  }));
  WEFT_RETURN_IF_ERROR(read_message("DistributedSnapshotMetadata", t.metadata, [&](ProtoReader& r) {
    if (r.field() == 2) t.compression = r.string();
  }));
  return t;
}

std::string encode_snapshot_task(const SnapshotTask& t) {
  ProtoWriter w;
  w.bytes(1, t.base_path);
  if (t.stream_index) w.int64(2, t.stream_index);
  w.int64(3, t.num_sources);
  w.bytes(4, t.metadata);
  return w.take();
}

Result<SnapshotProgress> decode_snapshot_progress(std::string_view bytes) {
  SnapshotProgress p;
  std::string task;
  int code = 0;
  std::string message;
  WEFT_RETURN_IF_ERROR(read_message("SnapshotTaskProgress", bytes, [&](ProtoReader& r) {
    if (r.field() == 1) task = r.string();
    if (r.field() == 2) p.completed = r.boolean();
    if (r.field() != 3) return;
    ProtoReader status = r.message();
    while (status.next()) {
      if (status.field() == 1) code = status.int32();
      if (status.field() == 2) message = status.string();
    }
  }));
  WEFT_ASSIGN(p.task, decode_snapshot_task(task));
  if (code > 0 && code <= int(Code::kUnauthenticated)) p.status = Status(Code(code), message);
  return p;
}

std::string encode_snapshot_progress(const SnapshotProgress& p) {
  ProtoWriter w;
  w.bytes(1, encode_snapshot_task(p.task));
  if (p.completed) w.boolean(2, true);
  if (!p.status.ok()) {
    ProtoWriter status;
    status.int64(1, int64_t(p.status.code()));
    status.bytes(2, p.status.message());
    w.message(3, status);
  }
  return w.take();
}

namespace {

// The splits that the stream has, from its files; after them those that the dispatcher gives.
class SnapshotSplits final : public op::SplitProvider {
 public:
  SnapshotSplits(const SnapshotTask& task, int64_t source, std::string worker, std::shared_ptr<Peer> dispatcher, std::shared_ptr<Stop> stop)
      : task_(task), source_(source), worker_(std::move(worker)), dispatcher_(std::move(dispatcher)), stop_(std::move(stop)) {}
  Status next(Tensor& split, bool& end) override {
    end = false;
    std::string tensor;
    std::vector<std::string> found;
    const std::string folder = cat(stream_folder(task_.base_path, task_.stream_index), "/splits/source_", source_, "/repetition_", repetition_);
    WEFT_ASSIGN(core::Place place, core::locate(folder));
    if (auto names = place.system.children(place.path); names.ok()) {
      for (const std::string& name : *names) {
        if (name.starts_with(cat("split_", given_, "_"))) found.push_back(name);
      }
    }
    if (!found.empty()) {
      WEFT_ASSIGN(tensor, read_record_file(cat(folder, "/", found[0])));
    } else {
      ProtoWriter w;
      w.bytes(1, task_.base_path);
      w.int64(2, task_.stream_index);
      w.int64(3, source_);
      w.bytes(4, worker_);
      w.int64(5, repetition_);
      constexpr double kHour = 3600;
      WEFT_ASSIGN(Message m, dispatcher_->retry("Failed to get snapshot split", "GetSnapshotSplit", w.take(), *stop_, kHour));
      WEFT_RETURN_IF_ERROR(read_message("GetSnapshotSplitResponse", m.flatten(), [&](ProtoReader& r) {
        if (r.field() == 1) tensor = r.string();
        if (r.field() == 2) end = r.boolean();
      }));
    }
    if (end) return {};
    ++given_;
    WEFT_ASSIGN(split, wire::decode_tensor(tensor));
    return {};
  }
  Status reset() override {
    ++repetition_;
    given_ = 0;
    return {};
  }

 private:
  const SnapshotTask task_;
  const int64_t source_;
  const std::string worker_;
  const std::shared_ptr<Peer> dispatcher_;
  const std::shared_ptr<Stop> stop_;
  int64_t repetition_ = 0, given_ = 0;
};

// What an earlier attempt left; chunks that another program committed before its worker died are among it.
Status remove_leftovers(const SnapshotTask& task, const std::string& uncommitted) {
  if (wire::is_folder(uncommitted)) WEFT_RETURN_IF_ERROR(wire::delete_recursively(uncommitted));
  WEFT_RETURN_IF_ERROR(wire::create_folders(uncommitted));
  const std::string chunks = task.base_path + "/chunks";
  WEFT_RETURN_IF_ERROR(wire::create_folders(chunks));
  WEFT_ASSIGN(core::Place place, core::locate(chunks));
  WEFT_ASSIGN(std::vector<std::string> names, place.system.children(place.path));
  for (const std::string& name : names) {
    if (name.starts_with(cat("chunk_", task.stream_index, "_"))) WEFT_RETURN_IF_ERROR(wire::delete_file(cat(chunks, "/", name)));
  }
  return {};
}

}  // namespace

std::shared_ptr<SnapshotWriter> SnapshotWriter::start(const SnapshotTask& task, std::shared_ptr<Datasets> datasets, std::shared_ptr<Peer> dispatcher,
                                                      std::shared_ptr<Stop> stop, std::string worker_address, int64_t chunk_bytes) {
  auto writer = std::make_shared<SnapshotWriter>();
  writer->progress_.task = task;
  const Status s = start_thread([=] {
    Status done = without_exceptions([&] { return writer->write(*datasets, dispatcher, stop, worker_address, chunk_bytes); });
    std::lock_guard lock(writer->mutex_);
    writer->progress_.completed = done.ok();
    // A worker that ends leaves the stream to another.
    if (done.code() != Code::kCancelled) writer->progress_.status = std::move(done);
  });
  if (!s.ok()) writer->progress_.status = s;
  return writer;
}

SnapshotProgress SnapshotWriter::progress() {
  std::lock_guard lock(mutex_);
  return progress_;
}

Status SnapshotWriter::write(Datasets& datasets, const std::shared_ptr<Peer>& dispatcher, const std::shared_ptr<Stop>& stop,
                             const std::string& worker_address, int64_t chunk_bytes) {
  const SnapshotTask task = progress().task;
  const std::string folder = stream_folder(task.base_path, task.stream_index), uncommitted = folder + "/uncommitted_chunks";
  if (wire::file_exists(folder + "/DONE")) return {};
  constexpr int64_t kMostSources = 1 << 16;
  if (task.stream_index < 0 || task.num_sources < 0 || task.num_sources > kMostSources) return invalid_argument("a snapshot with such a stream");
  WEFT_RETURN_IF_ERROR(remove_leftovers(task, uncommitted));
  std::string message;
  WEFT_RETURN_IF_ERROR(wire::read_file(task.base_path + "/dataset_def.proto", message));
  WEFT_ASSIGN(std::string graph, graph_of_dataset_def(message));
  WEFT_ASSIGN(auto dataset, datasets.make(graph, {}));
  op::Splits splits;
  for (int64_t i = 0; i < task.num_sources; ++i) splits.push_back(std::make_shared<SnapshotSplits>(task, i, worker_address, dispatcher, stop));
  WEFT_ASSIGN(auto iterator, dataset->iterate(&cancellation_, std::move(splits)));
  constexpr int64_t kDefaultChunk = int64_t(6) << 30;
  std::vector<int64_t> counts;  // elements of each chunk
  std::unique_ptr<wire::RecordWriter> file;
  int64_t bytes = 0;
  while (true) {
    std::vector<Tensor> element;
    bool end = false;
    WEFT_RETURN_IF_ERROR(iterator->next(element, end));
    if (cancellation_.cancelled()) return cancelled("the snapshot's stream was given to another worker");
    if (end) break;
    if (!file) {
      WEFT_ASSIGN(file, wire::RecordWriter::create(cat(uncommitted, "/chunk_", counts.size()), task.compression));
      counts.push_back(0);
      bytes = 0;
    }
    for (const Tensor& t : element) {
      WEFT_ASSIGN(std::string tensor, wire::encode_tensor_content(t));
      bytes += int64_t(tensor.size());
      WEFT_RETURN_IF_ERROR(file->write(tensor));
    }
    ++counts.back();
    if (bytes < (chunk_bytes > 0 ? chunk_bytes : kDefaultChunk)) continue;
    WEFT_RETURN_IF_ERROR(file->finish());
    file.reset();
  }
  if (file) WEFT_RETURN_IF_ERROR(file->finish());
  for (size_t i = 0; i < counts.size(); ++i)
    WEFT_RETURN_IF_ERROR(
        wire::rename_file(cat(uncommitted, "/chunk_", i), cat(task.base_path, "/chunks/chunk_", task.stream_index, "_", i, "_", counts[i])));
  return wire::write_file(folder + "/DONE", "");
}

}  // namespace weft_engine::remote::data_service
