#include "wire/record.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "wire/crc32c.h"
#include "wire/snappy.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

namespace {

constexpr uint64_t kSum = 4;          // bytes of a checksum
constexpr size_t kEnough = 1 << 20;  // bytes that are worth a write
constexpr uint64_t kTrusted = 1 << 24;

}  // namespace

void append_record(std::string& out, std::string_view record) {
  const uint64_t size = record.size();
  char head[12];
  std::memcpy(head, &size, 8);
  const uint32_t head_sum = crc32c_mask(crc32c(head, 8)), sum = crc32c_mask(crc32c(record));
  std::memcpy(head + 8, &head_sum, kSum);
  out.append(head, sizeof head);
  out += record;
  out.append(reinterpret_cast<const char*>(&sum), kSum);
}

template <class String>
Result<bool> RecordReader::next_into(String& record, bool strict) {
  const uint64_t begin = begin_ = at_;
  std::string head;
  WEFT_ASSIGN(bool found, checked(8, head));
  if (!found && !(strict && cut_)) return false;
  uint64_t length = 0;
  if (found) {
    std::memcpy(&length, head.data(), 8);
    WEFT_ASSIGN(found, checked(length, record));
  }
  if (!found) return data_loss("truncated record at ", begin, "' failed with Read less bytes than requested");
  return true;
}

Result<bool> RecordReader::next(std::string& record, bool strict) { return next_into(record, strict); }

Result<bool> RecordReader::next(tstring& record, bool strict) {
  // A record that is at hand as a whole: checked where it lies, copied once. All others, and what is wrong, go the long way.
  constexpr uint64_t kHead = 8 + kSum;
  WEFT_ASSIGN(const std::string_view bytes, stream_.peek());
  if (bytes.size() >= kHead + kSum) {
    uint64_t length;
    std::memcpy(&length, bytes.data(), 8);
    const auto right = [&](size_t at, size_t n) {
      uint32_t stored;
      std::memcpy(&stored, bytes.data() + at + n, kSum);
      return crc32c_agrees(crc32c_unmask(stored), crc32c(bytes.substr(at, n)));
    };
    if (length <= bytes.size() - kHead - kSum && right(0, 8) && right(kHead, size_t(length))) {
      record.assign(bytes.substr(kHead, size_t(length)));
      stream_.consume(size_t(kHead + length + kSum));
      begin_ = at_;
      at_ += kHead + length + kSum;
      cut_ = false;
      return true;
    }
  }
  return next_into(record, strict);
}

Result<bool> RecordReader::agrees(uint64_t begin, std::string_view bytes, const char* sum) const {
  uint32_t stored;
  std::memcpy(&stored, sum, kSum);
  if (!crc32c_agrees(crc32c_unmask(stored), crc32c(bytes)))
    return data_loss("corrupted record at ", begin, begin == 0 ? " (Is this even a TFRecord file?)" : "");
  return true;
}

// n bytes and the checksum behind them. False: the file ends before.
Result<bool> RecordReader::checked(uint64_t n, std::string& out) {
  const uint64_t begin = at_;
  if (n > UINT64_MAX - kSum) return data_loss("record size too large");
  WEFT_RETURN_IF_ERROR(stream_.read(n + kSum, out));
  at_ += out.size();
  cut_ = out.size() < n + kSum && at_ > begin_;
  if (out.size() < n + kSum) return false;
  WEFT_RETURN_IF_ERROR(agrees(begin, std::string_view(out).substr(0, size_t(n)), out.data() + n).status());
  out.resize(size_t(n));
  return true;
}

// Memory for what a file says is taken only up to a size; longer records grow as their bytes come.
Result<bool> RecordReader::checked(uint64_t n, tstring& out) {
  if (n > kTrusted) {
    std::string bytes;
    WEFT_ASSIGN(const bool found, checked(n, bytes));
    out = bytes;
    return found;
  }
  const uint64_t begin = at_;
  char sum[kSum];
  uint64_t got = 0, got_sum = 0;
  WEFT_RETURN_IF_ERROR(stream_.read(n, out.resize_uninitialized(size_t(n)), got));
  if (got == n) WEFT_RETURN_IF_ERROR(stream_.read(kSum, sum, got_sum));
  at_ += got + got_sum;
  cut_ = got_sum < kSum && at_ > begin_;
  if (got_sum < kSum) return false;
  return agrees(begin, out, sum);
}

struct RecordWriter::Deflater {
  explicit Deflater(int window_bits) : ready(deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK) {}
  ~Deflater() {
    if (ready) deflateEnd(&z);
  }
  z_stream z{};
  const bool ready;
};

RecordWriter::RecordWriter(std::unique_ptr<WritableFile> file, std::string_view compression)
    : file_(std::move(file)), snappy_(compression == "SNAPPY") {
  if (!compression.empty() && !snappy_) packed_ = std::make_unique<Deflater>(compression == "GZIP" ? MAX_WBITS + 16 : MAX_WBITS);
}

RecordWriter::~RecordWriter() = default;

Result<std::unique_ptr<RecordWriter>> RecordWriter::create(const std::string& name, std::string_view compression) {
  if (compression != "SNAPPY") WEFT_RETURN_IF_ERROR(ByteStream::check_compression(compression));
  WEFT_ASSIGN(std::unique_ptr<WritableFile> file, open_to_write(name));
  return std::make_unique<RecordWriter>(std::move(file), compression);
}

Status RecordWriter::write(std::string_view record) {
  WEFT_RETURN_IF_ERROR(failed_);
  append_record(pending_, record);
  return pending_.size() < kEnough ? Status() : put(Z_NO_FLUSH);
}

Status RecordWriter::write_bytes(std::string_view bytes) {
  WEFT_RETURN_IF_ERROR(failed_);
  pending_ += bytes;
  return pending_.size() < kEnough ? Status() : put(Z_NO_FLUSH);
}

Status RecordWriter::flush() {
  if (closed_) return failed_;
  WEFT_RETURN_IF_ERROR(put(Z_SYNC_FLUSH));
  return failed_ = file_->flush();
}
Status RecordWriter::finish() {
  if (closed_) return failed_;
  closed_ = true;
  WEFT_RETURN_IF_ERROR(put(Z_FINISH));
  return failed_ = file_->close();
}

Status RecordWriter::put(int how) {
  if (failed_.ok()) failed_ = put_pending(how);
  return failed_;
}

Status RecordWriter::put_snappy() {
  constexpr size_t kBlock = 1 << 17;  // TensorFlow reads no block of more than 256 KiB, whether packed or not
  for (std::string_view rest = pending_; !rest.empty(); rest.remove_prefix(std::min(kBlock, rest.size()))) {
    const std::string packed = snappy_compress(rest.substr(0, kBlock));
    std::string head;
    for (int shift = 24; shift >= 0; shift -= 8) head.push_back(char(packed.size() >> shift));
    WEFT_RETURN_IF_ERROR(file_->append(head + packed));
  }
  pending_.clear();
  return {};
}

Status RecordWriter::put_pending(int how) {
  if (snappy_) return put_snappy();
  if (!packed_) {
    WEFT_RETURN_IF_ERROR(file_->append(pending_));
    pending_.clear();
    return {};
  }
  if (!packed_->ready) return resource_exhausted("deflateInit() failed");
  z_stream& z = packed_->z;
  std::string out(1 << 16, '\0');
  std::string_view rest = pending_;
  int result = Z_OK;
  do {  // in pieces, since zlib counts in 32 bits
    const std::string_view piece = rest.substr(0, 1u << 30);
    rest.remove_prefix(piece.size());
    const int now = rest.empty() ? how : Z_NO_FLUSH;
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    z.avail_in = uInt(piece.size());
    do {
      z.next_out = reinterpret_cast<Bytef*>(out.data());
      z.avail_out = uInt(out.size());
      result = deflate(&z, now);
      WEFT_RETURN_IF_ERROR(file_->append(std::string_view(out).substr(0, out.size() - z.avail_out)));
    } while (z.avail_out == 0 || (now == Z_FINISH && result == Z_OK));
  } while (!rest.empty());
  pending_.clear();
  return {};
}

}  // namespace weft_engine::wire
