// ZlibStream: zlib's state for bytes that come and go in pieces, for C++ sources of TensorFlow (lib/io/zlib_*). Files are read by byte_stream.h.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/status.h"

namespace weft_engine::wire {

class ZlibStream {
 public:
  enum class Flush { kNone, kSync, kFull, kFinish };
  struct Options {
    int window_bits = 15;  // as zlib has them: more than 15 for gzip, negative for neither header nor checksum
    int level = -1, memory_level = 8, strategy = 0;
  };
  // InvalidArgument for options that zlib does not take.
  static core::Result<std::unique_ptr<ZlibStream>> packing(const Options& options);
  static core::Result<std::unique_ptr<ZlibStream>> unpacking(int window_bits);
  ~ZlibStream();
  ZlibStream(const ZlibStream&) = delete;
  ZlibStream& operator=(const ZlibStream&) = delete;

  // Takes bytes from the front of `in` and writes them, otherwise, from `out` on; both become what is left. `ended`: the packed data are complete.
  core::Status step(std::string_view& in, char*& out, size_t& out_size, Flush flush, bool& ended);
  // From the start, with the same options.
  core::Status reset();

 private:
  struct State;
  explicit ZlibStream(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace weft_engine::wire
