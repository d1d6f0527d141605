// SPDX-License-Identifier: Apache-2.0
//
// RecordWriter: TFRecord files (https://www.tensorflow.org/tutorials/load_data/tfrecord: length, its checksum, the record, its checksum).
#ifndef TENSORFLOW_CORE_LIB_IO_RECORD_WRITER_H_
#define TENSORFLOW_CORE_LIB_IO_RECORD_WRITER_H_

#include <memory>
#include <string>

#include "tensorflow/core/lib/io/snappy/snappy_compression_options.h"
#include "tensorflow/core/lib/io/snappy/snappy_outputbuffer.h"
#include "tensorflow/core/lib/io/zlib_outputbuffer.h"
#include "tensorflow/core/platform/coding.h"
#include "tensorflow/core/platform/crc32c.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/file_system.h"

namespace tensorflow {
namespace io {

struct RecordWriterOptions {
  enum CompressionType { NONE = 0, ZLIB_COMPRESSION = 1, SNAPPY_COMPRESSION = 2 };
  CompressionType compression_type = NONE;
  ZlibCompressionOptions zlib_options;
  SnappyCompressionOptions snappy_options;
  static RecordWriterOptions CreateRecordWriterOptions(const std::string& type) {
    RecordWriterOptions options;
    if (type == "ZLIB" || type == "GZIP") options.compression_type = ZLIB_COMPRESSION;
    if (type == "GZIP") options.zlib_options = ZlibCompressionOptions::GZIP();
    if (type == "SNAPPY") options.compression_type = SNAPPY_COMPRESSION;
    return options;
  }
};

class RecordWriter {
 public:
  static constexpr size_t kHeaderSize = sizeof(uint64) + sizeof(uint32);
  static constexpr size_t kFooterSize = sizeof(uint32);
  explicit RecordWriter(WritableFile* dest, const RecordWriterOptions& options = RecordWriterOptions()) : dest_(dest) {
    if (!dest) return;
    if (options.compression_type == RecordWriterOptions::ZLIB_COMPRESSION) {
      const ZlibCompressionOptions& z = options.zlib_options;
      auto packed = std::make_unique<ZlibOutputBuffer>(dest, static_cast<int32>(z.input_buffer_size), static_cast<int32>(z.output_buffer_size), z);
      made_ = packed->Init();
      packed_ = std::move(packed);
    } else if (options.compression_type == RecordWriterOptions::SNAPPY_COMPRESSION) {
      const SnappyCompressionOptions& s = options.snappy_options;
      packed_ = std::make_unique<SnappyOutputBuffer>(dest, static_cast<int32>(s.input_buffer_size), static_cast<int32>(s.output_buffer_size));
    }
    if (packed_) dest_ = packed_.get();
  }
  ~RecordWriter() {
    if (const Status s = Close(); !s.ok()) LOG(ERROR) << "Could not finish writing file: " << s;
  }
  RecordWriter(const RecordWriter&) = delete;
  void operator=(const RecordWriter&) = delete;

  Status WriteRecord(StringPiece data) {
    if (!dest_) return errors::FailedPrecondition("Writer not initialized or previously closed");
    TF_RETURN_IF_ERROR(made_);
    char header[kHeaderSize], footer[kFooterSize];
    PopulateHeader(header, data.data(), data.size());
    PopulateFooter(footer, data.data(), data.size());
    TF_RETURN_IF_ERROR(dest_->Append(StringPiece(header, sizeof header)));
    TF_RETURN_IF_ERROR(dest_->Append(data));
    return dest_->Append(StringPiece(footer, sizeof footer));
  }
  Status Flush() {
    if (!dest_) return errors::FailedPrecondition("Writer not initialized or previously closed");
    return packed_ ? packed_->Flush() : OkStatus();
  }
  // The file stays open.
  Status Close() {
    if (!packed_) return OkStatus();
    const Status s = made_.ok() ? packed_->Close() : made_;
    packed_.reset();
    dest_ = nullptr;
    return s;
  }

  static void PopulateHeader(char* header, const char*, size_t n) {
    core::EncodeFixed64(header, n);
    core::EncodeFixed32(header + sizeof(uint64), MaskedCrc(header, sizeof(uint64)));
  }
  static void PopulateFooter(char* footer, const char* data, size_t n) { core::EncodeFixed32(footer, MaskedCrc(data, n)); }

 private:
  static uint32 MaskedCrc(const char* data, size_t n) { return crc32c::Mask(crc32c::Value(data, n)); }
  WritableFile* dest_;
  std::unique_ptr<WritableFile> packed_;
  Status made_;
};

}  // namespace io
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_IO_RECORD_WRITER_H_
