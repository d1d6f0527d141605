#include "remote/chunks.h"

#include <algorithm>
#include <cstring>

#include "wire/proto.h"

namespace weft_engine::remote {
namespace {

constexpr int kRuns = 536870910;  // the field of a header, which no message of TensorFlow has
constexpr size_t kLarge = 32 << 10;
constexpr uint64_t kMostBytes = uint64_t(1) << 48;

// The lengths that a header announces; nothing: the message is none.
std::optional<std::vector<uint64_t>> header_of(const Message& message) {
  static const auto& tag = *new std::string([] {
    wire::ProtoWriter w;
    w.raw_varint(uint64_t(kRuns) << 3 | 2);
    return w.take();
  }());
  if (message.pieces().empty() || message.pieces()[0].bytes.size() < tag.size() || !message.pieces()[0].bytes.starts_with(tag)) return std::nullopt;
  Message copy = message;
  wire::ProtoReader r(copy.flatten());
  std::vector<uint64_t> out;
  while (r.next()) {
    if (r.field() != kRuns || !r.append_varints(out)) return std::nullopt;
  }
  if (!r.ok()) return std::nullopt;
  return out;
}

}  // namespace

std::vector<Message> cut(const Message& message, size_t most) {
  std::vector<int64_t> runs;
  bool small = false;  // the last run takes more small pieces
  for (const Message::Piece& p : message.pieces()) {
    const bool joins = small && p.bytes.size() < kLarge;
    if (joins) runs.back() += int64_t(p.bytes.size());
    else runs.push_back(int64_t(p.bytes.size()));
    small = p.bytes.size() < kLarge;
  }
  wire::ProtoWriter header;
  header.packed_varints(kRuns, runs);
  std::vector<Message> out;
  out.emplace_back(header.take());
  Message chunk;
  for (const Message::Piece& p : message.pieces()) {
    const auto owner = p.owner ? p.owner : std::make_shared<const RefPtr<Buffer>>(p.buffer);
    for (std::string_view rest = p.bytes; !rest.empty();) {
      const size_t now = std::min(rest.size(), most - chunk.size());
      chunk.append(rest.substr(0, now), owner);
      rest.remove_prefix(now);
      if (chunk.size() < most) continue;
      out.push_back(std::exchange(chunk, {}));
    }
  }
  if (chunk.size() > 0) out.push_back(std::move(chunk));
  return out;
}

Result<std::optional<Message>> ChunkReader::add(Message part) {
  if (!open_) {
    auto runs = header_of(part);
    if (!runs) return std::optional<Message>(std::move(part));
    WEFT_RETURN_IF_ERROR(begin(std::move(*runs)));
    return std::optional<Message>();
  }
  if (part.size() == 0) return invalid_argument("an empty chunk of a message");
  for (const Message::Piece& p : part.pieces()) {
    for (std::string_view rest = p.bytes; !rest.empty();) {
      if (run_ == runs_.size()) return invalid_argument("the chunks of a message are longer than its header says");
      if (!to_) WEFT_RETURN_IF_ERROR(begin_run());
      const size_t now = size_t(std::min<uint64_t>(left_, rest.size()));
      std::memcpy(to_, rest.data(), now);
      to_ += now;
      left_ -= now;
      rest.remove_prefix(now);
      if (left_ > 0) continue;
      if (large_) message_.append(std::exchange(large_, nullptr));
      else message_.append(std::exchange(small_, {}));
      to_ = nullptr;
      ++run_;
    }
  }
  if (run_ < runs_.size()) return std::optional<Message>();
  open_ = false;
  return std::optional<Message>(std::exchange(message_, {}));
}

Status ChunkReader::begin(std::vector<uint64_t> runs) {
  uint64_t all = 0;
  for (uint64_t n : runs) {
    if (n == 0 || n > kMostBytes || (all += n) > kMostBytes) return invalid_argument("a malformed header of chunks");
  }
  if (runs.empty()) return invalid_argument("a malformed header of chunks");
  if (most_ >= 0 && all > uint64_t(most_))
    return resource_exhausted("a message of ", all, " bytes is larger than the ", most_, " bytes that this task takes (WEFT_CLUSTER_MAX_MESSAGE_MB)");
  runs_ = std::move(runs);
  run_ = 0;
  open_ = true;
  return {};
}

// Memory is asked for when the first byte is there; the system gives it where bytes are written.
Status ChunkReader::begin_run() {
  left_ = runs_[run_];
  if (left_ < kLarge) {
    small_.resize(size_t(left_));
    to_ = small_.data();
    return {};
  }
  large_ = Buffer::allocate(DType::kUint8, int64_t(left_));
  if (!large_) return resource_exhausted("no memory for ", left_, " bytes of a message");
  to_ = static_cast<char*>(large_->data());
  return {};
}

}  // namespace weft_engine::remote
