#include "wire/event_file.h"

#include <unistd.h>

#include <atomic>

#include "wire/file.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

namespace {

std::string event(double wall_time, int64_t step, int field, std::string_view bytes) {
  ProtoWriter w;
  w.float64(1, wall_time);
  if (step != 0) w.int64(2, step);
  w.bytes(field, bytes);
  return w.take();
}

// The host's name goes into a file's name: nothing in it may be taken for a folder or an option.
std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || !*name) return "localhost";
  for (char* c = name; *c; ++c) {
    const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-' || *c == '.' || *c == '_';
    if (!plain) *c = '_';
  }
  return name;
}

std::atomic<int64_t> files_made{0};

}  // namespace

double wall_time_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string summary_event(double wall_time, int64_t step, std::string_view summary) { return event(wall_time, step, 5, summary); }
std::string graph_event(double wall_time, int64_t step, std::string_view graph_def) { return event(wall_time, step, 4, graph_def); }

Result<std::string> tensor_summary(std::string_view tag, const Tensor& value, const std::optional<std::string>& metadata) {
  WEFT_ASSIGN(std::string tensor, encode_tensor(value));
  ProtoWriter v, summary;
  v.bytes(1, tag);
  v.bytes(8, tensor);
  if (metadata) v.bytes(9, *metadata);
  summary.message(1, v);
  return summary.take();
}

std::string plugin_metadata(std::string_view plugin) {
  ProtoWriter data, metadata;
  data.bytes(1, plugin);
  metadata.message(1, data);
  return metadata.take();
}

EventFile::EventFile(std::string path, std::unique_ptr<WritableFile> file, const EventFileOptions& options)
    : path_(std::move(path)), options_(options), writer_(std::move(file), "") {}

Result<std::unique_ptr<EventFile>> EventFile::create(const std::string& folder, const EventFileOptions& options) {
  WEFT_ASSIGN(std::string path, path_of(folder));
  if (path.empty()) path += '.';
  if (options.suffix.find('/') != options.suffix.npos)
    return invalid_argument("the suffix of an event file is part of its name and has no '/': ", options.suffix);
  WEFT_RETURN_IF_ERROR(create_folders(path));
  const double now = wall_time_now();
  const std::string seconds = std::to_string(int64_t(now));
  const std::string front = cat(path, path.back() == '/' ? "" : "/", "events.out.tfevents.",
                                std::string(10 - std::min<size_t>(10, seconds.size()), '0'), seconds, ".", host_name(), ".", ::getpid(), ".");
  std::string name;
  do {
    name = cat(front, files_made.fetch_add(1), options.suffix);
  } while (file_exists(name));
  WEFT_ASSIGN(std::unique_ptr<WritableFile> file, open_to_append(name));
  std::unique_ptr<EventFile> out(new EventFile(name, std::move(file), options));
  ProtoWriter first, source;
  first.float64(1, double(int64_t(now)));
  first.bytes(3, "brain.Event:2");
  source.bytes(1, "weft");
  first.message(10, source);
  WEFT_RETURN_IF_ERROR(out->writer_.write(first.str()));
  WEFT_RETURN_IF_ERROR(out->writer_.flush());
  return out;
}

Status EventFile::write(std::string_view event) {
  const std::lock_guard lock(mutex_);
  if (closed_) return failed_precondition(path_, ": the event file is closed");
  WEFT_RETURN_IF_ERROR(writer_.write(event));
  const double waited = std::chrono::duration<double>(Clock::now() - flushed_).count();
  return ++queued_ > options_.max_queue || waited >= options_.flush_seconds ? flush_locked() : Status();
}

Status EventFile::flush() {
  const std::lock_guard lock(mutex_);
  return flush_locked();
}

Status EventFile::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  return writer_.finish();
}

Status EventFile::flush_locked() {
  queued_ = 0;
  flushed_ = Clock::now();
  return writer_.flush();
}

}  // namespace weft_engine::wire
