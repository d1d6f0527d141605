// SnapshotWriter: one stream of a distributed snapshot (tf.data.experimental.distributed_save): a worker's share of the dataset's splits, walked and written as chunks.
//
//   PATH/streams/stream_N/splits/source_S/repetition_R/split_L_G   what the dispatcher gave the stream, written by the dispatcher
//   PATH/streams/stream_N/uncommitted_chunks/chunk_C               what the worker has written so far
//   PATH/chunks/chunk_N_C_ELEMENTS                                 what readers see: moved there when the stream is complete
//   PATH/streams/stream_N/DONE, PATH/DONE, PATH/ERROR              its end
//
// A stream whose worker died is walked again from its beginning, with the splits that it had.
#pragma once

#include "remote/data_service/calls.h"

namespace weft_engine::remote::data_service {

class Datasets;

struct SnapshotTask {
  std::string base_path, metadata, compression;  // metadata: DistributedSnapshotMetadata
  int64_t stream_index = 0, num_sources = 0;
};
Result<SnapshotTask> decode_snapshot_task(std::string_view bytes);
std::string encode_snapshot_task(const SnapshotTask& task);

struct SnapshotProgress {
  SnapshotTask task;
  bool completed = false;
  Status status;
};
Result<SnapshotProgress> decode_snapshot_progress(std::string_view bytes);
std::string encode_snapshot_progress(const SnapshotProgress& progress);

std::string stream_folder(const std::string& base_path, int64_t stream);

class SnapshotWriter {
 public:
  // Writes on a thread of its own.
  static std::shared_ptr<SnapshotWriter> start(const SnapshotTask& task, std::shared_ptr<Datasets> datasets, std::shared_ptr<Peer> dispatcher,
                                               std::shared_ptr<Stop> stop, std::string worker_address, int64_t chunk_bytes);
  SnapshotProgress progress();
  void cancel() { cancellation_.start_cancel(); }

 private:
  Status write(Datasets& datasets, const std::shared_ptr<Peer>& dispatcher, const std::shared_ptr<Stop>& stop, const std::string& worker_address,
               int64_t chunk_bytes);
  op::CancellationManager cancellation_;
  std::mutex mutex_;
  SnapshotProgress progress_;
};

}  // namespace weft_engine::remote::data_service
