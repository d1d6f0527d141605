// SPDX-License-Identifier: Apache-2.0
//
// RecordReader: TFRecord files by offset; SequentialRecordReader: from their beginning.
#ifndef TENSORFLOW_CORE_LIB_IO_RECORD_READER_H_
#define TENSORFLOW_CORE_LIB_IO_RECORD_READER_H_

#include <limits>
#include <memory>
#include <string>

#include "tensorflow/core/lib/io/inputstream_interface.h"
#include "tensorflow/core/lib/io/snappy/snappy_compression_options.h"
#include "tensorflow/core/lib/io/snappy/snappy_inputstream.h"
#include "tensorflow/core/lib/io/zlib_inputstream.h"
#include "tensorflow/core/platform/coding.h"
#include "tensorflow/core/platform/crc32c.h"

namespace tensorflow {
namespace io {

struct RecordReaderOptions {
  enum CompressionType { NONE = 0, ZLIB_COMPRESSION = 1, SNAPPY_COMPRESSION = 2 };
  CompressionType compression_type = NONE;
  int64_t buffer_size = 0;
  ZlibCompressionOptions zlib_options;
  SnappyCompressionOptions snappy_options;
  static RecordReaderOptions CreateRecordReaderOptions(const std::string& type) {
    RecordReaderOptions options;
    if (type == "ZLIB" || type == "GZIP") options.compression_type = ZLIB_COMPRESSION;
    if (type == "GZIP") options.zlib_options = ZlibCompressionOptions::GZIP();
    if (type == "SNAPPY") options.compression_type = SNAPPY_COMPRESSION;
    return options;
  }
};

class RecordReader {
 public:
  static constexpr size_t kHeaderSize = sizeof(uint64) + sizeof(uint32);
  static constexpr size_t kFooterSize = sizeof(uint32);
  explicit RecordReader(RandomAccessFile* file, const RecordReaderOptions& options = RecordReaderOptions()) : options_(options) {
    if (options.compression_type == RecordReaderOptions::ZLIB_COMPRESSION) {
      const ZlibCompressionOptions& z = options.zlib_options;
      stream_ = std::make_unique<ZlibInputStream>(new RandomAccessInputStream(file), static_cast<size_t>(z.input_buffer_size),
                                                  static_cast<size_t>(z.output_buffer_size), z, true);
    } else if (options.compression_type == RecordReaderOptions::SNAPPY_COMPRESSION) {
      stream_ = std::make_unique<SnappyInputStream>(new RandomAccessInputStream(file), static_cast<size_t>(options.snappy_options.output_buffer_size),
                                                    true);
    } else {
      stream_ = std::make_unique<BufferedInputStream>(file, options.buffer_size > 0 ? static_cast<size_t>(options.buffer_size) : 256 << 10);
    }
  }

  // The record at *offset, which becomes that of the next one; OutOfRange at the end.
  Status ReadRecord(uint64* offset, tstring* record) {
    TF_RETURN_IF_ERROR(SeekTo(*offset));
    uint64 length = 0;
    TF_RETURN_IF_ERROR(Length(*offset, record, &length));
    const Status s = ReadChecked(*offset + kHeaderSize, length, record);
    if (!s.ok()) return errors::IsOutOfRange(s) ? Truncated(*offset, s) : s;
    *offset += kHeaderSize + length + kFooterSize;
    return OkStatus();
  }
  Status SkipRecords(uint64* offset, int num_to_skip, int* num_skipped) {
    TF_RETURN_IF_ERROR(SeekTo(*offset));
    for (*num_skipped = 0; *num_skipped < num_to_skip; ++*num_skipped) {
      uint64 length = 0;
      tstring head;
      TF_RETURN_IF_ERROR(Length(*offset, &head, &length));
      if (length > static_cast<uint64>(std::numeric_limits<int64_t>::max()) - kFooterSize) return errors::DataLoss("record size too large");
      const Status s = stream_->SkipNBytes(static_cast<int64_t>(length + kFooterSize));
      if (!s.ok()) return errors::IsOutOfRange(s) ? Truncated(*offset, s) : s;
      *offset += kHeaderSize + length + kFooterSize;
    }
    return OkStatus();
  }

 private:
  static Status Truncated(uint64 offset, const Status& s) { return errors::DataLoss("truncated record at ", offset, "' failed with ", s.message()); }
  Status SeekTo(uint64 offset) {
    const auto at = static_cast<uint64>(stream_->Tell());
    if (at > offset) return errors::InvalidArgument("Trying to seek offset: ", offset, " which is less than the current offset: ", at);
    return stream_->SkipNBytes(static_cast<int64_t>(offset - at));
  }
  Status Length(uint64 offset, tstring* head, uint64* length) {
    TF_RETURN_IF_ERROR(ReadChecked(offset, sizeof *length, head));
    *length = core::DecodeFixed64(head->data());
    return OkStatus();
  }
  // n bytes and their checksum. A length that the file cannot have is found when it ends, not by an allocation.
  Status ReadChecked(uint64 offset, uint64 n, tstring* result) {
    if (n >= std::numeric_limits<int64_t>::max() - sizeof(uint32)) return errors::DataLoss("record size too large");
    const uint64 expected = n + sizeof(uint32);
    TF_RETURN_IF_ERROR(stream_->ReadNBytes(static_cast<int64_t>(expected), result));
    const uint32 masked = core::DecodeFixed32(result->data() + n);
    if (crc32c::Unmask(masked) != crc32c::Value(result->data(), n)) {
      return errors::DataLoss("corrupted record at ", offset, offset == 0 ? " (Is this even a TFRecord file?)" : "");
    }
    result->resize(n);
    return OkStatus();
  }
  RecordReaderOptions options_;
  std::unique_ptr<InputStreamInterface> stream_;
};

class SequentialRecordReader {
 public:
  explicit SequentialRecordReader(RandomAccessFile* file, const RecordReaderOptions& options = RecordReaderOptions()) : reader_(file, options) {}
  virtual ~SequentialRecordReader() = default;
  virtual Status ReadRecord(tstring* record) { return reader_.ReadRecord(&offset_, record); }
  virtual Status SkipRecords(int num_to_skip, int* num_skipped) { return reader_.SkipRecords(&offset_, num_to_skip, num_skipped); }
  virtual uint64 TellOffset() { return offset_; }
  virtual Status SeekOffset(uint64 offset) {
    if (offset < offset_) return errors::InvalidArgument("Trying to seek offset: ", offset, " which is less than the current offset: ", offset_);
    offset_ = offset;
    return OkStatus();
  }

 private:
  RecordReader reader_;
  uint64 offset_ = 0;
};

}  // namespace io
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_IO_RECORD_READER_H_
