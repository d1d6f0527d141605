// FrameSocket: messages with a kind and a number over a Unix socket, both ways. Large pieces are sent from where they are, and received into memory of their own, which a tensor can take over.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "remote/transport.h"

namespace weft_engine::remote {

struct Frame {
  uint32_t kind = 0, code = 0;
  uint64_t id = 0;
  std::string text;
  Message body;
  bool refused = false;  // the body was larger than this side takes, or than it has memory for, and was thrown away
};

class FrameSocket {
 public:
  // Owns the socket. `most_body`: bytes of a message that comes; -1: any number.
  FrameSocket(int socket, int64_t most_body);
  ~FrameSocket();
  FrameSocket(const FrameSocket&) = delete;

  int descriptor() const { return socket_; }
  // From any thread: what the socket takes is sent now, the rest by flush(). True: something is left, and whoever polls has to know.
  bool write(uint32_t kind, uint32_t code, uint64_t id, std::string_view text, const Message& body = {});
  // False: the socket is broken, which whoever reads sees, too.
  bool flush();
  bool has_output() const;
  // What has come, one frame after the other; on one thread at a time. False: the other side is gone, or what it sent makes no sense.
  template <class Take>
  bool read(Take take) {
    for (;;) {
      const Next next = next_frame();
      if (next == Next::kFrame && take(std::exchange(frame_, {}))) continue;
      return next == Next::kNothing;
    }
  }
  // Ends both directions; from any thread.
  void shut_down();

 private:
  struct Header;
  struct Out;
  enum class Next { kFrame, kNothing, kBroken };
  Next next_frame();
  bool begin(const Header& header);
  bool begin_body();
  void begin_run();
  void end_run();
  bool queue(uint32_t kind, uint32_t code, uint64_t id, std::string_view text, const Message& body);
  bool flush_locked();
  void break_off();  // with the lock held
  // More bytes, straight to where they belong where that is large. False: broken.
  bool receive(bool& drained);

  const int socket_;
  const int64_t most_body_;
  mutable std::mutex mutex_;  // of what is written
  std::deque<Out> out_;
  bool broken_ = false;

  // Of what is read.
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool drained_ = false;  // the socket had less than there was room for
  enum class At { kHeader, kHead, kBody } at_ = At::kHeader;  // the head: the text, then the lengths of the body's runs of bytes
  uint32_t text_bytes_ = 0, num_runs_ = 0;
  Frame frame_;
  std::string head_;
  std::vector<uint64_t> runs_;
  size_t run_ = 0;
  std::string small_;  // the run that comes, where it is small
  RefPtr<Buffer> large_;  // where it is large
  char* to_ = nullptr;  // null: thrown away
  uint64_t left_ = 0;  // of what is read now
};

}  // namespace weft_engine::remote
