// Reader: the resource behind the readers of version 1 (TextLineReader, TFRecordReader ...). It takes names of
// files out of a queue ("work") and gives their records one by one. A read waits for its queue without a thread.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/resource.h"
#include "ops/state/queue_resource.h"

namespace weft_engine::ops {

struct ReaderRecord {
  std::string key, value;
};

class Reader : public core::Resource, public std::enable_shared_from_this<Reader> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow15ReaderInterfaceE";
  explicit Reader(std::string name) : name_(std::move(name)) {}
  // From the attributes of the node, whose op says which kind it is.
  static core::Result<std::shared_ptr<Reader>> make(const op::KernelContext& c, std::string name);
  core::Status check_shared(const op::KernelContext&) const { return {}; }
  std::string type_name() const override { return "Reader"; }

  // One read: as many records as wanted, or fewer where a file ends.
  struct Request {
    const op::KernelContext* context;
    std::shared_ptr<Queue> queue;
    int64_t wanted = 1;
    std::function<void(core::Status, std::vector<ReaderRecord>)> done;
    std::vector<ReaderRecord> records;
  };
  // Requests are served one after the other.
  void read(Request request);

  int64_t num_records_produced() const;
  int64_t num_work_units_completed() const;
  void reset();
  core::Result<std::string> serialize_state() const;
  core::Status restore_state(std::string_view state);

 protected:
  // All with the mutex held.
  const std::string& work() const { return work_; }
  virtual core::Status start_work() { return {}; }  // work() is new
  virtual void stop_work() {}
  // `produced`: a record is there; `at_end`: the work is done. One or both, or an error.
  virtual core::Status read_record(ReaderRecord& record, bool& produced, bool& at_end) = 0;
  virtual bool has_state() const { return false; }  // kinds without state of their own can be saved

 private:
  bool in_progress() const { return started_ > finished_; }
  void serve();
  bool read_some(core::Status& status);
  core::Status begin(core::Status taken, const Queue::Element& element);
  void finish(core::Status status);
  void reset_locked();

  const std::string name_;  // "TextLineReader 'node'"
  mutable std::mutex mutex_;
  std::deque<Request> requests_;  // the first is being served
  std::string work_;
  int64_t started_ = 0, finished_ = 0, produced_ = 0;
};

}  // namespace weft_engine::ops
