// SnapshotManager: a distributed snapshot as the dispatcher sees it: which stream is which worker's, and which splits each stream has. All it knows is also in files beside the
// snapshot (snapshot_writer.h), so that another dispatcher can go on.
#pragma once

#include <chrono>

#include "remote/data_service/snapshot_writer.h"

namespace weft_engine::remote::data_service {

class SnapshotManager {
 public:
  // `request`: a SnapshotRequest. AlreadyExists where there is a snapshot.
  static Result<std::shared_ptr<SnapshotManager>> start(std::string_view request, std::shared_ptr<Datasets> datasets);
  static Result<std::shared_ptr<SnapshotManager>> resume(const std::string& path, std::shared_ptr<Datasets> datasets);

  // What the worker reports (a WorkerHeartbeatRequest), and the tasks that are its own from now on: SnapshotTaskDefs. Called by one at a time.
  std::vector<std::string> worker_heartbeat(const std::string& worker, std::string_view request, int64_t most_streams);
  Result<Message> get_split(std::string_view request);
  std::vector<std::pair<int64_t, int>> streams() const;  // index and SnapshotStreamInfo.State
  // Streams of workers that were not heard of for so long become others'.
  void set_worker_timeout(double seconds) { worker_timeout_ = seconds; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Stream {
    std::string worker;
    bool done = false;
    std::map<std::pair<int64_t, int64_t>, int64_t> splits;  // (source, repetition) -> given
  };
  SnapshotManager(std::string path, std::string metadata, op::Splits splits)
      : path_(std::move(path)), metadata_(std::move(metadata)), splits_(std::move(splits)), at_(splits_.size()), repetitions_(splits_.size()) {}
  void handle(const SnapshotProgress& progress);
  Status read_streams();
  Status finish_if_done();

  const std::string path_, metadata_;
  op::Splits splits_;
  std::vector<int64_t> at_, repetitions_;  // of each source: splits given in its repetition
  std::map<int64_t, Stream> streams_;
  std::map<std::string, Clock::time_point> seen_;  // workers
  int64_t total_splits_ = 0;
  double worker_timeout_ = 60;
  bool all_given_ = false, ended_ = false;
};

}  // namespace weft_engine::remote::data_service
