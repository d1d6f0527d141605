// ByteStream: a file read from front to back, plain or compressed (GZIP, ZLIB, SNAPPY).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/status.h"

namespace weft_engine::wire {

class ByteStream {
 public:
  // InvalidArgument for a compression that is not known: one of text files, which SNAPPY is not.
  static core::Status check_compression(std::string_view compression);
  static core::Result<std::unique_ptr<ByteStream>> open(const std::string& name, std::string_view compression);
  virtual ~ByteStream() = default;

  // The bytes at hand; reads on if there are none. Empty at the end of the file.
  core::Result<std::string_view> peek();
  void consume(size_t n) { at_ += n; }
  // The next n bytes, or as many as there are.
  core::Status read(uint64_t n, std::string& out);
  // The same into the caller's memory; long pieces of a plain file come there without a copy.
  core::Status read(uint64_t n, char* out, uint64_t& got);
  core::Status skip(uint64_t n, uint64_t& skipped);
  // Up to the next '\n', which is taken and not given. False: there is no line.
  core::Result<bool> read_line(std::string& out);
  // Asked at the end: whether compressed data ended where they should. Those of a file that was cut off do not.
  virtual bool complete() const { return true; }

 protected:
  // More bytes instead of those in `out`; none at the end.
  virtual core::Status fill(std::string& out) = 0;
  // Up to n bytes into the caller's memory, where that saves a copy; none: fill() has them.
  virtual core::Result<size_t> fill_directly(char*, size_t) { return size_t(0); }

 private:
  std::string buffer_;
  size_t at_ = 0;
};

}  // namespace weft_engine::wire
