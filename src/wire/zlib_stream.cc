#include "wire/zlib_stream.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace weft_engine::wire {

using namespace weft_engine::core;

struct ZlibStream::State {
  explicit State(bool p) : packs(p) {}
  ~State() {
    if (!ready) return;
    if (packs) deflateEnd(&z);
    else inflateEnd(&z);
  }
  const bool packs;
  z_stream z{};
  bool ready = false;
};

ZlibStream::ZlibStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
ZlibStream::~ZlibStream() = default;

Result<std::unique_ptr<ZlibStream>> ZlibStream::packing(const Options& o) {
  auto state = std::make_unique<State>(true);
  const int code = deflateInit2(&state->z, o.level, Z_DEFLATED, o.window_bits, o.memory_level, o.strategy);
  if (code != Z_OK) return invalid_argument("deflateInit failed with status", code);
  state->ready = true;
  return std::unique_ptr<ZlibStream>(new ZlibStream(std::move(state)));
}

Result<std::unique_ptr<ZlibStream>> ZlibStream::unpacking(int window_bits) {
  auto state = std::make_unique<State>(false);
  const int code = inflateInit2(&state->z, window_bits);
  if (code != Z_OK) return invalid_argument("inflateInit failed with status", code);
  state->ready = true;
  return std::unique_ptr<ZlibStream>(new ZlibStream(std::move(state)));
}

Status ZlibStream::reset() {
  const int code = state_->packs ? deflateReset(&state_->z) : inflateReset(&state_->z);
  return code == Z_OK ? Status() : internal_error("zlib cannot start again: ", code);
}

Status ZlibStream::step(std::string_view& in, char*& out, size_t& out_size, Flush flush, bool& ended) {
  static constexpr int kFlush[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_FINISH};
  constexpr size_t kMost = std::numeric_limits<uInt>::max();  // zlib counts in 32 bits
  z_stream& z = state_->z;
  const auto given = uInt(std::min(in.size(), kMost)), room = uInt(std::min(out_size, kMost));
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = given;
  z.next_out = reinterpret_cast<Bytef*>(out);
  z.avail_out = room;
  // What does not fit into one call is not the end of it.
  const int how = given < in.size() ? Z_NO_FLUSH : kFlush[int(flush)];
  const int code = state_->packs ? deflate(&z, how) : inflate(&z, Z_NO_FLUSH);
  in.remove_prefix(given - z.avail_in);
  out += room - z.avail_out;
  out_size -= room - z.avail_out;
  ended = code == Z_STREAM_END;
  if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR) return {};
  if (state_->packs) return data_loss("deflate() failed with error ", code);
  return data_loss("inflate() failed with error ", code, z.msg ? ": " : "", z.msg ? z.msg : "");
}

}  // namespace weft_engine::wire
