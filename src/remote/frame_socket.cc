#include "remote/frame_socket.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/threads.h"
#include "remote/local_socket.h"

namespace weft_engine::remote {
namespace {

constexpr size_t kBuffered = 64 << 10;
constexpr size_t kLargePiece = 32 << 10;  // sent from where it is, and received into memory of its own
constexpr uint32_t kMostText = 64 << 10, kMostRuns = 4096;
constexpr int kSocketBytes = 1 << 20;  // the system may give less

}  // namespace

struct FrameSocket::Header {
  uint32_t kind, code;
  uint64_t id;
  uint32_t text, runs;
};

// Bytes that were copied, and after them perhaps a piece that was not.
struct FrameSocket::Out {
  std::string bytes;
  Message::Piece piece;
  size_t sent = 0;
  size_t size() const { return bytes.size() + piece.bytes.size(); }
};

FrameSocket::FrameSocket(int socket, int64_t most_body) : socket_(socket), most_body_(most_body), buffer_(new char[kBuffered]) {
  (void)setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof kSocketBytes);
  set_close_on_exec(socket_);
}

FrameSocket::~FrameSocket() {
  forget_socket(socket_);
  ::close(socket_);
}

void FrameSocket::shut_down() { shutdown(socket_, SHUT_RDWR); }

// ---- writing

bool FrameSocket::write(uint32_t kind, uint32_t code, uint64_t id, std::string_view text, const Message& body) {
  bool left = false;
  const Status s = without_exceptions([&]() -> Status {
    left = queue(kind, code, id, text, body);
    return {};
  });
  if (s.ok()) return left;
  std::lock_guard lock(mutex_);  // half of a frame may be there
  break_off();
  return false;
}

bool FrameSocket::queue(uint32_t kind, uint32_t code, uint64_t id, std::string_view text, const Message& body) {
  text = text.substr(0, kMostText);
  // Runs: each large piece is one, and so is what lies between them. What there is no room for in the list goes with the last run.
  std::vector<uint64_t> runs;
  std::vector<Out> out(1);
  bool small = false;
  std::string bytes;
  for (const Message::Piece& p : body.pieces()) {
    if (p.bytes.size() >= kLargePiece && runs.size() + 2 < kMostRuns) {
      out.back().bytes += bytes;
      bytes.clear();
      out.back().piece = p;
      out.emplace_back();
      runs.push_back(p.bytes.size());
      small = false;
      continue;
    }
    if (small) runs.back() += p.bytes.size();
    else runs.push_back(p.bytes.size());
    small = true;
    bytes += p.bytes;
  }
  out.back().bytes = std::move(bytes);
  const Header header{kind, code, id, uint32_t(text.size()), uint32_t(runs.size())};
  std::string first;
  first.reserve(sizeof header + text.size() + runs.size() * sizeof(uint64_t) + out[0].bytes.size());
  first.append(reinterpret_cast<const char*>(&header), sizeof header);
  first += text;
  first.append(reinterpret_cast<const char*>(runs.data()), runs.size() * sizeof(uint64_t));
  first += out[0].bytes;
  out[0].bytes = std::move(first);
  std::lock_guard lock(mutex_);
  if (broken_) return false;
  const bool idle = out_.empty();
  for (Out& o : out) {
    if (o.size() > 0) out_.push_back(std::move(o));
  }
  if (!idle) return false;  // whoever polls goes on with them
  flush_locked();
  return !out_.empty();
}

bool FrameSocket::flush() {
  std::lock_guard lock(mutex_);
  return flush_locked();
}

bool FrameSocket::has_output() const {
  std::lock_guard lock(mutex_);
  return !out_.empty();
}

// Not every error of a socket ends the connection: both sides shall see that it is over. What has come can still be read.
void FrameSocket::break_off() {
  broken_ = true;
  out_.clear();
  shutdown(socket_, SHUT_RDWR);
}

bool FrameSocket::flush_locked() {
  constexpr size_t kMostParts = 16;
  while (!out_.empty()) {
    iovec parts[kMostParts];
    size_t n = 0;
    for (size_t i = 0; i < out_.size() && n + 2 <= kMostParts; ++i) {
      Out& o = out_[i];
      const size_t copied = o.bytes.size();
      if (o.sent < copied) parts[n++] = {o.bytes.data() + o.sent, copied - o.sent};
      const size_t of_piece = o.sent > copied ? o.sent - copied : 0;
      if (of_piece < o.piece.bytes.size()) parts[n++] = {const_cast<char*>(o.piece.bytes.data()) + of_piece, o.piece.bytes.size() - of_piece};
    }
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = n;
    const ssize_t sent = sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
      break_off();
      return false;
    }
    for (size_t left = size_t(sent); left > 0;) {
      Out& o = out_.front();
      const size_t now = std::min(left, o.size() - o.sent);
      o.sent += now;
      left -= now;
      if (o.sent == o.size()) out_.pop_front();
    }
  }
  return true;
}

// ---- reading

FrameSocket::Next FrameSocket::next_frame() {
  for (;;) {
    const size_t there = end_ - begin_;
    if (at_ == At::kHeader) {
      if (there >= sizeof(Header)) {
        Header header;
        std::memcpy(&header, buffer_.get() + begin_, sizeof header);
        begin_ += sizeof header;
        if (!begin(header)) return Next::kBroken;
        continue;
      }
    } else {
      const size_t take = size_t(std::min<uint64_t>(left_, there));
      if (take && to_) {
        std::memcpy(to_, buffer_.get() + begin_, take);
        to_ += take;
      }
      begin_ += take;
      left_ -= take;
      if (left_ == 0) {
        if (at_ == At::kBody) end_run();
        else if (!begin_body()) return Next::kBroken;
        if (at_ == At::kHeader) return Next::kFrame;
        continue;
      }
    }
    if (drained_) {
      drained_ = false;
      return Next::kNothing;
    }
    if (!receive(drained_)) return Next::kBroken;
  }
}

bool FrameSocket::receive(bool& drained) {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const bool direct = at_ == At::kBody && to_ && end_ == 0 && left_ >= kBuffered;
  const size_t room = direct ? size_t(left_) : kBuffered - end_;
  ssize_t n = 0;
  do n = recv(socket_, direct ? to_ : buffer_.get() + end_, room, MSG_DONTWAIT);
  while (n < 0 && errno == EINTR);
  if (n == 0) return false;
  if (n < 0) {
    drained = true;
    return errno == EAGAIN || errno == EWOULDBLOCK;
  }
  drained = size_t(n) < room;
  if (direct) {
    to_ += n;
    left_ -= uint64_t(n);
  } else {
    end_ += size_t(n);
  }
  return true;
}

bool FrameSocket::begin(const Header& header) {
  if (header.text > kMostText || header.runs > kMostRuns) return false;
  frame_ = {};
  frame_.kind = header.kind;
  frame_.code = header.code;
  frame_.id = header.id;
  text_bytes_ = header.text;
  num_runs_ = header.runs;
  left_ = header.text + header.runs * sizeof(uint64_t);
  head_.resize(size_t(left_));
  to_ = head_.data();
  at_ = At::kHead;
  return true;
}

bool FrameSocket::begin_body() {
  frame_.text.assign(head_, 0, text_bytes_);
  runs_.resize(num_runs_);
  if (num_runs_ > 0) std::memcpy(runs_.data(), head_.data() + text_bytes_, num_runs_ * sizeof(uint64_t));
  uint64_t all = 0;
  for (uint64_t n : runs_) {
    if (n == 0 || n > uint64_t(1) << 48 || (all += n) > uint64_t(1) << 48) return false;
  }
  frame_.refused = most_body_ >= 0 && all > uint64_t(most_body_);
  run_ = 0;
  begin_run();
  return true;
}

void FrameSocket::begin_run() {
  if (run_ == runs_.size()) {
    at_ = At::kHeader;
    if (frame_.refused) frame_.body = {};
    return;
  }
  at_ = At::kBody;
  left_ = runs_[run_];
  to_ = nullptr;
  if (frame_.refused) return;
  if (left_ < kLargePiece) {
    small_.resize(size_t(left_));
    to_ = small_.data();
    return;
  }
  large_ = Buffer::allocate(DType::kUint8, int64_t(left_));
  if (large_) to_ = static_cast<char*>(large_->data());
  else frame_.refused = true;
}

// What has come goes to the message.
void FrameSocket::end_run() {
  if (large_) frame_.body.append(std::exchange(large_, nullptr));
  else if (!frame_.refused) frame_.body.append(std::exchange(small_, {}));
  ++run_;
  begin_run();
}

}  // namespace weft_engine::remote
