// SPDX-License-Identifier: Apache-2.0
//
// EventsWriter: files of events, which TensorBoard reads.
#ifndef TENSORFLOW_CORE_UTIL_EVENTS_WRITER_H_
#define TENSORFLOW_CORE_UTIL_EVENTS_WRITER_H_

#include <unistd.h>

#include <memory>
#include <string>

#include "tensorflow/core/lib/io/record_writer.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/stringprintf.h"
#include "tensorflow/core/util/event.pb.h"

namespace tensorflow {

class EventsWriter {
 public:
  static constexpr const char* kVersionPrefix = "brain.Event:";
  static constexpr int kCurrentVersion = 2;
  static constexpr const char* kWriterSourceMetadata = "tensorflow.core.util.events_writer";
  // Files are named PREFIX.out.tfevents.TIME.HOSTSUFFIX.
  explicit EventsWriter(const std::string& file_prefix) : prefix_(file_prefix) {}
  ~EventsWriter() { Close().IgnoreError(); }
  EventsWriter(const EventsWriter&) = delete;
  void operator=(const EventsWriter&) = delete;

  Status Init() { return InitWithSuffix(""); }
  Status InitWithSuffix(const std::string& suffix) {
    suffix_ = suffix;
    return InitIfNeeded();
  }
  std::string FileName() {
    if (name_.empty()) InitIfNeeded().IgnoreError();
    return name_;
  }
  void WriteEvent(const Event& event) { WriteSerializedEvent(event.SerializeAsString()); }
  void WriteSerializedEvent(StringPiece event) {
    if (!writer_ && !InitIfNeeded().ok()) return;
    ++waiting_;
    writer_->WriteRecord(event).IgnoreError();
  }
  Status Flush() {
    if (!writer_ || waiting_ == 0) return OkStatus();
    TF_RETURN_WITH_CONTEXT_IF_ERROR(writer_->Flush(), "Failed to flush ", waiting_, " events to ", name_);
    TF_RETURN_WITH_CONTEXT_IF_ERROR(file_->Sync(), "Failed to sync ", waiting_, " events to ", name_);
    waiting_ = 0;
    return OkStatus();
  }
  Status Close() {
    Status s = Flush();
    writer_.reset();
    if (file_) s.Update(file_->Close());
    file_.reset();
    waiting_ = 0;
    return s;
  }

 private:
  Status InitIfNeeded() {
    if (writer_ && Env::Default()->FileExists(name_).ok()) return OkStatus();
    TF_RETURN_IF_ERROR(Close());
    const double now = static_cast<double>(Env::Default()->NowMicros()) / 1e6;
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    name_ = strings::Printf("%s.out.tfevents.%010lld.%s%s", prefix_.c_str(), static_cast<long long>(now), host, suffix_.c_str());
    TF_RETURN_WITH_CONTEXT_IF_ERROR(Env::Default()->NewWritableFile(name_, &file_), "Creating writable file ", name_);
    writer_ = std::make_unique<io::RecordWriter>(file_.get());
    Event event;
    event.set_wall_time(now);
    event.set_file_version(strings::StrCat(kVersionPrefix, kCurrentVersion));
    event.mutable_source_metadata()->set_writer(kWriterSourceMetadata);
    WriteEvent(event);
    return Flush();
  }
  const std::string prefix_;
  std::string suffix_, name_;
  std::unique_ptr<WritableFile> file_;
  std::unique_ptr<io::RecordWriter> writer_;
  int waiting_ = 0;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_EVENTS_WRITER_H_
