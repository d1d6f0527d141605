#include "ops/io/reader_resource.h"

#include <atomic>

#include "kernels/cpu/text.h"
#include "wire/byte_stream.h"
#include "wire/proto.h"
#include "wire/record.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT

// ---- what all readers do -------------------------------------------------------------------------------

void Reader::read(Request request) {
  {
    std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
    if (requests_.size() > 1) return;  // who serves the one before continues with this one
  }
  serve();
}

// Continues until a request has to wait for its queue, or none is left. Only one thread is here at a time.
void Reader::serve() {
  while (true) {
    Request* request = nullptr;
    bool waits = false;
    {
      std::lock_guard lock(mutex_);
      if (requests_.empty()) return;
      request = &requests_.front();
      waits = !in_progress() && int64_t(request->records.size()) < request->wanted;
    }
    Status status;
    if (waits) {
      // Whoever comes second continues: this loop if the queue answers at once, else the queue's callback.
      struct Answer {
        std::atomic<bool> second{false};
        Status status;
      };
      auto answer = std::make_shared<Answer>();
      request->queue->take_one(*request->context, [self = shared_from_this(), answer](Status s, Queue::Element e) {
        answer->status = self->begin(std::move(s), e);
        if (!answer->second.exchange(true)) return;
        if (!answer->status.ok()) self->finish(answer->status);
        self->serve();
      });
      if (!answer->second.exchange(true)) return;
      status = answer->status;
      if (status.ok()) continue;
    } else if (!read_some(status)) {
      continue;
    }
    finish(std::move(status));
  }
}

Status Reader::begin(Status taken, const Queue::Element& element) {
  WEFT_RETURN_IF_ERROR(taken);
  if (element.size() != 1) return invalid_argument("Expected single component queue");
  if (element[0].dtype() != DType::kString) return invalid_argument("Expected queue with single string component");
  if (element[0].num_elements() != 1) return invalid_argument("Expected to dequeue a one-element string tensor");
  std::lock_guard lock(mutex_);
  work_ = element[0].data<tstring>()[0].str();
  WEFT_RETURN_IF_ERROR(start_work());
  ++started_;
  return {};
}

// Reads for the first request what the work gives. True: the request is done.
bool Reader::read_some(Status& status) {
  std::lock_guard lock(mutex_);
  Request& r = requests_.front();
  while (int64_t(r.records.size()) < r.wanted) {
    if (!in_progress()) return false;
    ReaderRecord record;
    bool produced = false, at_end = false;
    status = read_record(record, produced, at_end);
    if (!status.ok()) return true;
    if (produced) {
      r.records.push_back(std::move(record));
      ++produced_;
    }
    if (at_end) {
      stop_work();
      finished_ = started_;
      if (!r.records.empty()) return true;
    }
  }
  return true;
}

void Reader::finish(Status status) {
  Request r;
  {
    std::lock_guard lock(mutex_);
    r = std::move(requests_.front());
  }
  // Still the first: others that come now must wait for the loop that called this.
  r.done(std::move(status), std::move(r.records));
  std::lock_guard lock(mutex_);
  requests_.pop_front();
}

int64_t Reader::num_records_produced() const {
  std::lock_guard lock(mutex_);
  return produced_;
}

int64_t Reader::num_work_units_completed() const {
  std::lock_guard lock(mutex_);
  return finished_;
}

void Reader::reset_locked() {
  stop_work();
  started_ = finished_ = produced_ = 0;
  work_.clear();
}

void Reader::reset() {
  std::lock_guard lock(mutex_);
  reset_locked();
}

Result<std::string> Reader::serialize_state() const {
  std::lock_guard lock(mutex_);
  if (!has_state()) return unimplemented("Reader SerializeState");
  wire::ProtoWriter w;
  if (started_) w.int64(1, started_);
  if (finished_) w.int64(2, finished_);
  if (produced_) w.int64(3, produced_);
  if (!work_.empty()) w.bytes(4, work_);
  return w.take();
}

Status Reader::restore_state(std::string_view state) {
  std::lock_guard lock(mutex_);
  if (!has_state()) return unimplemented("Reader RestoreState");
  wire::ProtoReader r(state);
  int64_t numbers[3] = {};
  std::string work;
  while (r.next()) {
    if (r.field() >= 1 && r.field() <= 3) numbers[r.field() - 1] = r.int64();
    if (r.field() == 4) work = r.string();
  }
  const auto refuse = [&](const auto&... why) {
    reset_locked();
    return invalid_argument(why..., " ", name_, ": ", kernels::c_escape(state));
  };
  if (!r.ok()) return refuse("Could not parse state for");
  if (numbers[0] < 0 || numbers[1] < 0 || numbers[2] < 0) return refuse("Unexpected negative value when restoring in");
  if (numbers[0] > numbers[1]) return refuse("Inconsistent work started vs. finished when restoring in");
  started_ = numbers[0];
  finished_ = numbers[1];
  produced_ = numbers[2];
  work_ = std::move(work);
  return {};
}

// ---- the kinds -----------------------------------------------------------------------------------------

namespace {

using wire::ByteStream;

class IdentityReader final : public Reader {
 public:
  using Reader::Reader;

 protected:
  Status read_record(ReaderRecord& record, bool& produced, bool& at_end) override {
    record = {work(), work()};
    produced = at_end = true;
    return {};
  }
  bool has_state() const override { return true; }
};

class WholeFileReader final : public Reader {
 public:
  using Reader::Reader;

 protected:
  Status read_record(ReaderRecord& record, bool& produced, bool& at_end) override {
    record.key = work();
    WEFT_RETURN_IF_ERROR(wire::read_file(work(), record.value));
    produced = at_end = true;
    return {};
  }
  bool has_state() const override { return true; }
};

// Records from a file that is read sequentially.
class StreamReader : public Reader {
 public:
  StreamReader(std::string name, std::string compression) : Reader(std::move(name)), compression_(std::move(compression)) {}

 protected:
  Status start_work() override {
    stream_.reset();
    number_ = 0;
    WEFT_ASSIGN(stream_, ByteStream::open(work(), compression_));
    return start(*stream_);
  }
  void stop_work() override { stream_.reset(); }
  Status read_record(ReaderRecord& record, bool& produced, bool& at_end) override {
    if (!stream_) return internal_error("the reader has no open file");
    WEFT_ASSIGN(produced, read(*stream_, record));
    at_end = !produced;
    return {};
  }
  virtual Status start(ByteStream&) { return {}; }
  virtual Result<bool> read(ByteStream& stream, ReaderRecord& record) = 0;
  std::string key() const { return cat(work(), ":", number_); }
  uint64_t number_ = 0;  // of the line or record, or the offset: what the key tells

 private:
  const std::string compression_;
  std::unique_ptr<ByteStream> stream_;
};

class TextLineReader final : public StreamReader {
 public:
  TextLineReader(std::string name, int64_t skip) : StreamReader(std::move(name), ""), skip_(skip) {}

 protected:
  Status start(ByteStream& stream) override {
    std::string line;
    for (; number_ < uint64_t(skip_); ++number_) {
      WEFT_ASSIGN(bool found, stream.read_line(line));
      if (!found) break;
    }
    return {};
  }
  Result<bool> read(ByteStream& stream, ReaderRecord& record) override {
    WEFT_ASSIGN(bool found, stream.read_line(record.value));
    std::erase(record.value, '\r');  // not only before '\n': so does TensorFlow
    ++number_;
    record.key = key();
    return found;
  }

 private:
  const int64_t skip_;
};

class TFRecordReader final : public StreamReader {
 public:
  using StreamReader::StreamReader;

 protected:
  Result<bool> read(ByteStream& stream, ReaderRecord& record) override {
    record.key = key();
    wire::RecordReader reader(stream, number_);
    auto found = reader.next(record.value);
    number_ = reader.at();
    return found;
  }
};

struct FixedLengths {
  int64_t header, record, footer, hop;
};

class FixedLengthRecordReader final : public StreamReader {
 public:
  FixedLengthRecordReader(std::string name, std::string encoding, FixedLengths lengths)
      : StreamReader(std::move(name), std::move(encoding)), lengths_(lengths) {}

 protected:
  Status start(ByteStream& stream) override {
    prefetched_.clear();
    uint64_t skipped = 0;
    WEFT_RETURN_IF_ERROR(stream.skip(uint64_t(lengths_.header), skipped));
    return skipped < uint64_t(lengths_.header) ? out_of_range("reached end of file") : Status();
  }
  // A record counts only if the footer's bytes follow it; what was read ahead serves the next one.
  Result<bool> read(ByteStream& stream, ReaderRecord& record) override {
    if (number_ > 0) {
      const uint64_t hop = uint64_t(lengths_.hop), have = std::min<uint64_t>(hop, prefetched_.size());
      prefetched_.erase(0, have);
      uint64_t skipped = 0;
      WEFT_RETURN_IF_ERROR(stream.skip(hop - have, skipped));
    }
    const uint64_t wanted = uint64_t(lengths_.record) + uint64_t(lengths_.footer);
    if (wanted > prefetched_.size()) {
      std::string more;
      WEFT_RETURN_IF_ERROR(stream.read(wanted - prefetched_.size(), more));
      prefetched_ += more;
    }
    if (prefetched_.size() < wanted) return false;
    record.key = key();
    record.value = prefetched_.substr(0, size_t(lengths_.record));
    ++number_;
    return true;
  }

 private:
  const FixedLengths lengths_;
  std::string prefetched_;
};

Result<std::shared_ptr<Reader>> fixed_length_reader(const NodeInfo& node, std::string name) {
  FixedLengths lengths;
  const std::pair<const char*, int64_t*> fields[] = {
      {"header_bytes", &lengths.header}, {"record_bytes", &lengths.record}, {"footer_bytes", &lengths.footer}, {"hop_bytes", &lengths.hop}};
  for (const auto& [attr, to] : fields) {
    *to = node.attr<int64_t>(attr);
    if (*to < 0) return invalid_argument(attr, " must be >= 0 not ", *to);
  }
  if (lengths.record > INT64_MAX - lengths.footer) return invalid_argument("record_bytes and footer_bytes are too large");
  if (lengths.hop == 0) lengths.hop = lengths.record;
  std::string encoding = node.find_attr("encoding") ? node.attr<std::string>("encoding") : std::string();
  if (encoding != "ZLIB" && encoding != "GZIP") encoding.clear();
  return std::shared_ptr<Reader>(std::make_shared<FixedLengthRecordReader>(std::move(name), std::move(encoding), lengths));
}

}  // namespace

Result<std::shared_ptr<Reader>> Reader::make(const KernelContext& c, std::string) {
  const NodeInfo& node = c.node();
  std::string_view kind = node.op();
  if (kind.ends_with("V2")) kind.remove_suffix(2);
  std::string name = cat(kind, " '", node.name().empty() ? node.op() : std::string_view(node.name()), "'");
  if (kind == "FixedLengthRecordReader") return fixed_length_reader(node, std::move(name));
  if (kind == "IdentityReader") return std::shared_ptr<Reader>(std::make_shared<IdentityReader>(std::move(name)));
  if (kind == "WholeFileReader") return std::shared_ptr<Reader>(std::make_shared<WholeFileReader>(std::move(name)));
  if (kind == "LMDBReader")
    return unimplemented(
        "LMDB support is removed from TensorFlow. This API will be deleted in the next TensorFlow release. If you need LMDB support, please file a "
        "GitHub issue.");
  if (kind == "TextLineReader") {
    const int64_t skip = node.attr<int64_t>("skip_header_lines");
    if (skip < 0) return invalid_argument("skip_header_lines must be >= 0 not ", skip);
    return std::shared_ptr<Reader>(std::make_shared<TextLineReader>(std::move(name), skip));
  }
  std::string compression = node.attr<std::string>("compression_type");
  if (compression != "SNAPPY" && !ByteStream::check_compression(compression).ok())
    compression.clear();  // as TensorFlow, which only notes it in the log
  return std::shared_ptr<Reader>(std::make_shared<TFRecordReader>(std::move(name), std::move(compression)));
}

}  // namespace weft_engine::ops
