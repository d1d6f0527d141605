// Event files, as TensorBoard reads them: TFRecord files of tensorflow.Event (proto/event.proto).
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/status.h"
#include "core/tensor.h"
#include "wire/record.h"

namespace weft_engine::wire {

// The messages. Times are seconds since the epoch.
double wall_time_now();
std::string summary_event(double wall_time, int64_t step, std::string_view summary);
std::string graph_event(double wall_time, int64_t step, std::string_view graph_def);
// A Summary of one tensor; `metadata` is a serialized SummaryMetadata, if there is one.
core::Result<std::string> tensor_summary(std::string_view tag, const core::Tensor& value, const std::optional<std::string>& metadata);
std::string plugin_metadata(std::string_view plugin);  // the SummaryMetadata that names a plugin of TensorBoard

struct EventFileOptions {
  std::string suffix = ".v2";  // of the file's name
  int64_t max_queue = 10;      // events held back before they are written
  double flush_seconds = 120;  // and for how long, if another comes then
};

// A file of its own in a folder; safe to use from many threads.
class EventFile {
 public:
  static core::Result<std::unique_ptr<EventFile>> create(const std::string& folder, const EventFileOptions& options);
  ~EventFile() { (void)close(); }
  core::Status write(std::string_view event);
  core::Status flush();
  core::Status close();  // flushes; what is written later is an error
  const std::string& path() const { return path_; }

 private:
  EventFile(std::string path, std::unique_ptr<core::WritableFile> file, const EventFileOptions& options);
  core::Status flush_locked();
  using Clock = std::chrono::steady_clock;
  const std::string path_;
  const EventFileOptions options_;
  std::mutex mutex_;
  RecordWriter writer_;
  int64_t queued_ = 0;
  Clock::time_point flushed_ = Clock::now();
  bool closed_ = false;
};

}  // namespace weft_engine::wire
