// RecordInput: records of TFRecord files in random order, epoch after epoch.
#include <algorithm>
#include <deque>
#include <mutex>
#include <random>

#include "core/hash64.h"
#include "op/registry.h"
#include "ops/all.h"
#include "wire/byte_stream.h"
#include "wire/file.h"
#include "wire/record.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Fills its buffer as far as TensorFlow's does before it gives a record. TensorFlow's readers go on meanwhile, so the order is
// the same as there where one file is read at a time and the buffer is twice as large as an epoch.
class RecordInput final : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(const NodeInfo& node) {
    auto k = std::make_unique<RecordInput>();
    k->pattern_ = node.attr<std::string>("file_pattern");
    k->seed_ = uint64_t(node.attr<int64_t>("file_random_seed"));
    k->shift_ = node.attr<float>("file_shuffle_shift_ratio");
    k->buffer_size_ = uint64_t(std::max<int64_t>(1, node.attr<int64_t>("file_buffer_size")));
    k->batch_ = node.attr<int64_t>("batch_size");
    k->parallel_ = node.attr<int64_t>("file_parallelism");
    k->compression_ = node.attr<std::string>("compression_type");
    if (k->parallel_ < 0) return invalid_argument("file_parallelism should >= 0, got ", k->parallel_);
    if (k->batch_ < 0) return invalid_argument("batch_size must be non-negative but got ", k->batch_);
    if (k->compression_ != "SNAPPY" && !wire::ByteStream::check_compression(k->compression_).ok()) k->compression_.clear();
    k->random_.seed(k->seed_);
    return std::unique_ptr<Kernel>(std::move(k));
  }

  Status run(KernelContext& c) override {
    WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({batch_})));
    std::lock_guard lock(mutex_);
    for (int64_t i = 0; i < batch_; ++i) {
      if (failed_.ok()) failed_ = fill();
      WEFT_RETURN_IF_ERROR(failed_);
      out->data<tstring>()[i] = buffer_.back();
      buffer_.pop_back();
    }
    return {};
  }

 private:
  // The files that one of TensorFlow's threads would read.
  struct Shard {
    std::deque<std::string> names;
    std::unique_ptr<wire::ByteStream> stream;
    uint64_t at = 0;
    std::string name;
  };

  // Until half of the buffer is full, or the epoch has ended and something is there.
  Status fill() {
    for (int empty_epochs = 0; buffer_.size() < std::max<uint64_t>(1, buffer_size_ / 2);) {
      if (shards_.empty()) {
        if (!buffer_.empty()) return {};
        if (++empty_epochs > 2) return not_found("Found no records at ", pattern_);
        WEFT_RETURN_IF_ERROR(start_epoch());
      }
      Shard shard = std::move(shards_.front());
      shards_.pop_front();
      WEFT_ASSIGN(bool more, read_some(shard));
      if (more) shards_.push_back(std::move(shard));
    }
    return {};
  }

  Status start_epoch() {
    ++epoch_;
    std::vector<std::string> names;
    for (size_t at = 0; at <= pattern_.size();) {
      const size_t comma = std::min(pattern_.find(',', at), pattern_.size());
      WEFT_ASSIGN(std::string pattern, wire::path_of(std::string_view(pattern_).substr(at, comma - at)));
      WEFT_ASSIGN(std::vector<std::string> found, wire::match_paths(pattern));
      std::sort(found.begin(), found.end());
      names.insert(names.end(), found.begin(), found.end());
      at = comma + 1;
    }
    if (names.empty()) return not_found("Found no files at ", pattern_);
    std::mt19937_64 random(core::hash64({reinterpret_cast<const char*>(&epoch_), sizeof epoch_}, seed_));
    std::shuffle(names.begin(), names.end(), random);
    if (0 <= shift_ && shift_ < 1) std::rotate(names.begin(), names.begin() + int64_t(shift_ * float(names.size())), names.end());
    const size_t n = size_t(std::max<int64_t>(1, std::min<int64_t>(parallel_, int64_t(names.size()))));
    shards_.resize(n);
    for (size_t i = 0; i < names.size(); ++i) shards_[i % n].names.push_back(std::move(names[i]));
    return {};
  }

  // Up to 16 records go into the buffer. False: the shard has been read.
  Result<bool> read_some(Shard& s) {
    constexpr size_t kRecords = 16;
    std::vector<std::string> records;
    bool more = true;
    while (records.size() < kRecords) {
      if (!s.stream) {
        if (s.names.empty()) {
          more = false;
          break;
        }
        s.name = std::move(s.names.front());
        s.names.pop_front();
        auto opened = wire::ByteStream::open(s.name, compression_);
        if (!opened.ok()) return invalid_argument("Can't open ", s.name);
        s.stream = std::move(opened).value();
        s.at = 0;
      }
      wire::RecordReader reader(*s.stream, s.at);
      std::string record;
      WEFT_ASSIGN(bool found, reader.next(record));
      s.at = reader.at();
      if (found) records.push_back(std::move(record));
      else s.stream.reset();
    }
    for (; !records.empty(); records.pop_back()) {
      const size_t index = random_() % (buffer_.size() + 1);
      buffer_.push_back(std::move(records.back()));
      if (index + 1 < buffer_.size()) std::swap(buffer_[index], buffer_.back());
    }
    return more;
  }

  std::string pattern_, compression_;
  uint64_t seed_ = 0, buffer_size_ = 1;
  float shift_ = 0;
  int64_t batch_ = 0, parallel_ = 1, epoch_ = 0;
  std::mutex mutex_;
  Status failed_;
  std::mt19937_64 random_;
  std::deque<Shard> shards_;
  std::vector<std::string> buffer_;
};

}  // namespace

void record_input(Registry& r) {
  r.add("RecordInput")
      .doc("Records of TFRecord files in random order, without end.")
      .out("records: string")
      .attr("file_pattern: string")
      .attr("file_random_seed: int = 301")
      .attr("file_shuffle_shift_ratio: float = 0")
      .attr("file_buffer_size: int = 10000")
      .attr("file_parallelism: int = 16")
      .attr("batch_size: int = 32")
      .attr("compression_type: string = ''")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(RecordInput::make);
}

}  // namespace weft_engine::ops
