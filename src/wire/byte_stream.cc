#include "wire/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "core/allocator.h"
#include "wire/file.h"
#include "wire/snappy.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

namespace {

// A small file may stand for more bytes than the machine has memory; a string that grows needs several times its size.
Status check_length(size_t n) {
  const auto most = size_t(host_stats().bytes_limit) / 4;
  if (n <= most) return {};
  return resource_exhausted("A record or line of more than ", most, " bytes does not fit into memory");
}

constexpr size_t kChunk = 1 << 18;

class PlainFile final : public ByteStream {
 public:
  explicit PlainFile(std::unique_ptr<RandomAccessFile> file) : file_(std::move(file)) {}

 protected:
  Status fill(std::string& out) override {
    out.resize(kChunk);
    WEFT_ASSIGN(size_t got, file_->read(at_, out.data(), out.size()));
    out.resize(got);
    at_ += got;
    return {};
  }
  Result<size_t> fill_directly(char* out, size_t n) override {
    if (n < kChunk) return size_t(0);
    WEFT_ASSIGN(size_t got, file_->read(at_, out, n));
    at_ += got;
    return got;
  }

 private:
  const std::unique_ptr<RandomAccessFile> file_;
  uint64_t at_ = 0;
};

class CompressedFile final : public ByteStream {
 public:
  CompressedFile(std::unique_ptr<ByteStream> file, int window_bits) : file_(std::move(file)), ready_(inflateInit2(&z_, window_bits) == Z_OK) {}
  ~CompressedFile() override {
    if (ready_) inflateEnd(&z_);
  }
  bool complete() const override { return !inside_; }

 protected:
  Status fill(std::string& out) override {
    if (!ready_) return resource_exhausted("inflateInit() failed");
    out.resize(kChunk);
    z_.next_out = reinterpret_cast<Bytef*>(out.data());
    z_.avail_out = uInt(out.size());
    while (z_.avail_out == out.size()) {
      WEFT_ASSIGN(std::string_view in, file_->peek());
      if (in.empty()) break;
      z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
      z_.avail_in = uInt(in.size());
      const int result = inflate(&z_, Z_NO_FLUSH);
      file_->consume(in.size() - z_.avail_in);
      inside_ = result != Z_STREAM_END;
      if (result == Z_STREAM_END) inflateReset(&z_);  // gzip files may be several, one behind the other
      else if (result != Z_OK && result != Z_BUF_ERROR)
        return data_loss("inflate() failed with error ", result, z_.msg ? ": " : "", z_.msg ? z_.msg : "");
    }
    out.erase(out.size() - z_.avail_out);
    return {};
  }

 private:
  const std::unique_ptr<ByteStream> file_;
  z_stream z_{};
  const bool ready_;
  bool inside_ = false;
};

// Blocks, each behind its length: four bytes, the highest first.
class SnappyFile final : public ByteStream {
 public:
  explicit SnappyFile(std::unique_ptr<ByteStream> file) : file_(std::move(file)) {}

 protected:
  Status fill(std::string& out) override {
    out.clear();
    while (out.empty()) {
      std::string head, block;
      WEFT_RETURN_IF_ERROR(file_->read(4, head));
      if (head.empty()) return {};
      if (head.size() < 4) return cut_off(4);
      uint32_t length = 0;
      for (char byte : head) length = length << 8 | uint8_t(byte);
      WEFT_RETURN_IF_ERROR(file_->read(length, block));
      if (block.size() < length) return cut_off(length);
      std::optional<std::string> bytes = snappy_uncompress(block);
      if (!bytes) return data_loss("Snappy_Uncompress failed");
      out = std::move(*bytes);
    }
    return {};
  }

 private:
  static Status cut_off(uint32_t n) { return data_loss("Failed to read ", n, " bytes from file. Possible data corruption."); }
  const std::unique_ptr<ByteStream> file_;
};

}  // namespace

Status ByteStream::check_compression(std::string_view compression) {
  if (compression.empty() || compression == "GZIP" || compression == "ZLIB") return {};
  return invalid_argument("Unsupported compression_type.");
}

Result<std::unique_ptr<ByteStream>> ByteStream::open(const std::string& name, std::string_view compression) {
  WEFT_ASSIGN(Place place, locate(name));
  std::string& path = place.path;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  WEFT_ASSIGN(std::unique_ptr<RandomAccessFile> file, place.system.open(path));
  std::unique_ptr<ByteStream> stream = std::make_unique<PlainFile>(std::move(file));
  if (compression == "SNAPPY") return std::make_unique<SnappyFile>(std::move(stream));
  if (!compression.empty()) stream = std::make_unique<CompressedFile>(std::move(stream), compression == "GZIP" ? MAX_WBITS + 16 : MAX_WBITS);
  return stream;
}

Result<std::string_view> ByteStream::peek() {
  if (at_ >= buffer_.size()) {
    at_ = 0;
    Status s = fill(buffer_);
    if (!s.ok()) {
      buffer_.clear();
      return s;
    }
  }
  return std::string_view(buffer_).substr(at_);
}

Status ByteStream::read(uint64_t n, std::string& out) {
  out.clear();
  while (out.size() < n) {
    WEFT_ASSIGN(std::string_view bytes, peek());
    if (bytes.empty()) break;
    bytes = bytes.substr(0, size_t(std::min<uint64_t>(bytes.size(), n - out.size())));
    out += bytes;
    consume(bytes.size());
    WEFT_RETURN_IF_ERROR(check_length(out.size()));
  }
  return {};
}

Status ByteStream::read(uint64_t n, char* out, uint64_t& got) {
  got = 0;
  while (got < n) {
    if (at_ >= buffer_.size()) {
      WEFT_ASSIGN(size_t direct, fill_directly(out + got, size_t(n - got)));
      got += direct;
      if (direct > 0) continue;
    }
    WEFT_ASSIGN(std::string_view bytes, peek());
    if (bytes.empty()) break;
    bytes = bytes.substr(0, size_t(std::min<uint64_t>(bytes.size(), n - got)));
    std::memcpy(out + got, bytes.data(), bytes.size());
    got += bytes.size();
    consume(bytes.size());
  }
  return {};
}

Status ByteStream::skip(uint64_t n, uint64_t& skipped) {
  for (skipped = 0; skipped < n;) {
    WEFT_ASSIGN(std::string_view bytes, peek());
    if (bytes.empty()) break;
    const uint64_t step = std::min<uint64_t>(bytes.size(), n - skipped);
    consume(size_t(step));
    skipped += step;
  }
  return {};
}

Result<bool> ByteStream::read_line(std::string& out) {
  out.clear();
  for (bool any = false;; any = true) {
    WEFT_ASSIGN(std::string_view bytes, peek());
    if (bytes.empty()) return any;
    const size_t end = bytes.find('\n');
    out += bytes.substr(0, end);
    WEFT_RETURN_IF_ERROR(check_length(out.size()));
    consume(end == bytes.npos ? bytes.size() : end + 1);
    if (end != bytes.npos) return true;
  }
}

}  // namespace weft_engine::wire
