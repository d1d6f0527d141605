// TFRecord files: a record is its length (8 bytes), the masked checksum of the length, the bytes, and their masked checksum.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/status.h"
#include "core/tstring.h"
#include "wire/byte_stream.h"
#include "wire/file.h"

namespace weft_engine::wire {

// Appends a record as it lies in a file.
void append_record(std::string& out, std::string_view record);

// Records from the place where a stream stands.
class RecordReader {
 public:
  explicit RecordReader(ByteStream& stream, uint64_t at = 0) : stream_(stream), at_(at) {}
  // False: the stream has ended; a length that is cut off counts as the end, unless `strict`. DataLoss for what is damaged.
  core::Result<bool> next(std::string& record, bool strict = false);
  core::Result<bool> next(core::tstring& record, bool strict = false);
  uint64_t at() const { return at_; }    // where the next record begins
  bool cut_off() const { return cut_; }  // the stream ended inside a record

 private:
  template <class String>
  core::Result<bool> next_into(String& record, bool strict);
  core::Result<bool> checked(uint64_t n, std::string& out);
  core::Result<bool> checked(uint64_t n, core::tstring& out);
  core::Result<bool> agrees(uint64_t begin, std::string_view bytes, const char* sum) const;
  ByteStream& stream_;
  uint64_t at_;
  uint64_t begin_ = 0;  // where the record that is being read began
  bool cut_ = false;
};

// Records on their way into a file, plain or compressed (GZIP, ZLIB, SNAPPY). What was written and not finished may be missing.
class RecordWriter {
 public:
  RecordWriter(std::unique_ptr<core::WritableFile> file, std::string_view compression);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  // Makes the file, or empties it. InvalidArgument for a compression that is not known.
  static core::Result<std::unique_ptr<RecordWriter>> create(const std::string& name, std::string_view compression);

  core::Status write(std::string_view record);
  core::Status write_bytes(std::string_view bytes);  // as they are: files of other records than TFRecords
  core::Status flush();   // so that a reader of the file sees all records so far
  core::Status finish();  // closes the file; nothing may be written after it

 private:
  struct Deflater;
  core::Status put(int how);
  core::Status put_pending(int how);
  core::Status put_snappy();
  const std::unique_ptr<core::WritableFile> file_;
  std::string pending_;
  const bool snappy_;
  std::unique_ptr<Deflater> packed_;
  bool closed_ = false;
  core::Status failed_;  // the file may end inside a record then: nothing more is written
};

}  // namespace weft_engine::wire
