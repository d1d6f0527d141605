#include "remote/local_link.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/threads.h"
#include "remote/error_text.h"
#include "runtime/blocking_threads.h"

namespace weft_engine::remote {
namespace {

enum Kind : uint32_t { kHello = 1, kRequest, kValue, kError, kCancel };
constexpr uint64_t kMostText = 64 << 10;     // of requests and errors
constexpr size_t kMostWaiting = 1 << 14;     // requests of one link
constexpr size_t kHandedOver = 256 << 10;    // whoever gets so many bytes has something to do with them: not on the link's thread
constexpr size_t kBuffered = 64 << 10;
thread_local bool link_thread = false, reads_for_itself = false;

int64_t steady_ns() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

struct LocalLink::Header {
  uint32_t kind, code;
  uint64_t id, size;
};

struct LocalLink::Out {
  std::string text;  // the header and what follows it
  Tensor body;
  size_t sent = 0;
};

struct LocalLink::Pending {
  Tensor into;
  Reply reply;
};

class LocalLink::Call final : public ClientCall {
 public:
  Call(std::weak_ptr<LocalLink> link, uint64_t id) : link_(std::move(link)), id_(id) {}
  void cancel() override {
    if (auto link = link_.lock()) link->cancel(id_);
  }

 private:
  const std::weak_ptr<LocalLink> link_;
  const uint64_t id_;
};

// What has come of a frame.
struct LocalLink::Reading {
  char buffer[kBuffered];
  size_t begin = 0, end = 0;
  bool known = false;  // the other side said the secret
  bool inside = false;
  Header header{};
  std::string text;
  Pending current;     // whose value comes; with the lock held, since it may be given up meanwhile
  char* to = nullptr;  // null: thrown away
  uint64_t left = 0;
};

LocalLink::LocalLink(int socket) : socket_(socket), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), reading_(std::make_unique<Reading>()) {
  set_close_on_exec(socket_);
}

LocalLink::~LocalLink() {
  forget_socket(socket_);
  ::close(socket_);
  if (wake_ >= 0) ::close(wake_);
}

Status LocalLink::start() {
  if (wake_ < 0) return resource_exhausted("no descriptor for a link");
  const int bytes = 1 << 20;  // the system may give less
  (void)setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  return start_thread([self = shared_from_this()] { self->work(); });
}

Result<std::shared_ptr<LocalLink>> LocalLink::connect(const std::string& name, const std::string& secret) {
  WEFT_ASSIGN(const int s, connect_local(name));
  std::shared_ptr<LocalLink> link(new LocalLink(s));
  link->reading_->known = true;
  link->write(kHello, 0, 0, secret);
  WEFT_RETURN_IF_ERROR(link->start());
  return link;
}

Result<std::shared_ptr<LocalLink>> LocalLink::serve(int socket, std::string secret, Handler handler) {
  std::shared_ptr<LocalLink> link(new LocalLink(socket));
  if (!is_of_same_user(socket)) return permission_denied("a link of another user");
  link->secret_ = std::move(secret);
  link->handler_ = std::move(handler);
  WEFT_RETURN_IF_ERROR(link->start());
  return link;
}

bool LocalLink::on_thread() { return link_thread; }

bool LocalLink::is_open() const {
  std::lock_guard lock(mutex_);
  return !closed_ && is_own();
}

void LocalLink::close() {
  std::lock_guard lock(mutex_);
  if (std::exchange(closed_, true) || !is_own()) return;
  shutdown(socket_, SHUT_RDWR);
  signal_event(wake_);
}

// ---- asking

std::shared_ptr<ClientCall> LocalLink::ask(std::string request, Tensor into, Reply reply) {
  uint64_t id = 0;
  {
    std::lock_guard lock(mutex_);
    if (closed_ || !is_own()) return nullptr;
    id = next_++;
    asked_.emplace(id, Pending{std::move(into), std::move(reply)});
  }
  auto call = std::make_shared<Call>(weak_from_this(), id);
  write(kRequest, 0, id, std::move(request));
  return call;
}

void LocalLink::cancel(uint64_t id) {
  Pending given_up;
  {
    std::lock_guard lock(mutex_);
    const auto it = asked_.find(id);
    if (it != asked_.end()) {
      given_up = std::move(it->second);
      asked_.erase(it);
    } else if (Reading& r = *reading_; r.current.reply && r.header.id == id) {
      given_up.reply = std::exchange(r.current.reply, nullptr);  // the rest may never come; its memory stays until then
    } else {
      return;  // answered
    }
  }
  write(kCancel, 0, id, {});
  given_up.reply(cancelled("the call was cancelled"), {});
}

// ---- writing

void LocalLink::write(uint32_t kind, uint32_t code, uint64_t id, std::string text, Tensor body) {
  const uint64_t bytes = body.valid() ? body.byte_size() : 0;
  const Header header{kind, code, id, text.size() + bytes};
  Out out{std::string(reinterpret_cast<const char*>(&header), sizeof header) + text, std::move(body)};
  std::lock_guard lock(mutex_);
  if (closed_ || !is_own()) return;
  const bool first = out_.empty();
  out_.push_back(std::move(out));
  if (!first) return;  // the link's thread goes on with them
  if (flush() && !out_.empty()) signal_event(wake_);
}

// Sends what the socket takes. False: the link is broken; its thread sees that, too.
bool LocalLink::flush() {
  while (!out_.empty()) {
    Out& o = out_.front();
    const size_t body = o.body.valid() ? o.body.byte_size() : 0, text = o.text.size();
    iovec parts[2];
    int n = 0;
    if (o.sent < text) parts[n++] = {o.text.data() + o.sent, text - o.sent};
    const size_t of_body = o.sent > text ? o.sent - text : 0;
    if (of_body < body) parts[n++] = {static_cast<char*>(const_cast<void*>(static_cast<const void*>(o.body.raw()))) + of_body, body - of_body};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = size_t(n);
    const ssize_t sent = sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    o.sent += size_t(sent);
    if (o.sent == text + body) out_.erase(out_.begin());
  }
  return true;
}

// ---- the link's thread

void LocalLink::work() {
  link_thread = true;
  for (;;) {
    const Status s = without_exceptions([&]() -> Status {
      const int left = left_for();
      {
        std::unique_lock reading(read_mutex_, std::defer_lock);
        if (left ? reading.try_lock() : (reading.lock(), true)) {
          if (!is_open() || !read_all()) return unavailable("closed");
        }
      }
      std::lock_guard lock(mutex_);
      return closed_ || !flush() ? unavailable("closed") : Status();
    });
    if (!s.ok()) break;
    const int left = left_for();
    pollfd watched[2] = {{socket_, short(left ? 0 : POLLIN), 0}, {wake_, POLLIN, 0}};
    {
      std::lock_guard lock(mutex_);
      if (!out_.empty()) watched[0].events |= POLLOUT;
    }
    if (poll(watched, 2, left ? left : -1) < 0 && errno != EINTR) break;
    if (watched[1].revents) take_event(wake_);
  }
  std::lock_guard reading(read_mutex_);
  end();
  link_thread = false;
}

// Milliseconds that others still read.
int LocalLink::left_for() const {
  const int64_t until = left_until_.load(std::memory_order_relaxed);
  if (until == 0) return 0;
  const int64_t left = until - steady_ns();
  return left <= 0 ? 0 : int(left / 1000000) + 1;
}

void LocalLink::leave_reading(std::chrono::nanoseconds how_long) {
  if (!is_own()) return;
  if (how_long.count() > 0) left_until_.store(steady_ns() + how_long.count(), std::memory_order_relaxed);
  else if (left_until_.exchange(0, std::memory_order_relaxed) != 0) signal_event(wake_);
}

void LocalLink::read_here() {
  if (!is_own()) return;
  const bool before = std::exchange(link_thread, true), before_too = std::exchange(reads_for_itself, true);
  const Status s = without_exceptions([&]() -> Status {
    std::unique_lock reading(read_mutex_, std::try_to_lock);
    return reading && is_open() && !read_all() ? unavailable("closed") : Status();
  });
  link_thread = before;
  reads_for_itself = before_too;
  if (!s.ok()) close();  // its own thread ends it
}

void LocalLink::end() {
  close();
  std::map<uint64_t, Pending> asked;
  std::map<uint64_t, std::function<void()>> served;
  std::vector<Out> out;
  {
    std::lock_guard lock(mutex_);
    asked.swap(asked_);
    served.swap(served_);
    out.swap(out_);
    if (reading_->current.reply) asked.emplace(0, std::exchange(reading_->current, {}));
  }
  for (auto& [id, p] : asked) p.reply(unavailable("Socket closed"), {});
  for (auto& [id, abandoned] : served) {
    if (abandoned) abandoned();
  }
  handler_ = nullptr;
}

// All that has come. False: the other side has gone, or what it sent makes no sense.
bool LocalLink::read_all() {
  Reading& r = *reading_;
  bool drained = false;
  for (;;) {
    if (!r.inside && r.end - r.begin >= sizeof(Header)) {
      if (!begin_frame()) return false;
      continue;
    }
    if (r.inside) {
      const size_t take = size_t(std::min<uint64_t>(r.left, r.end - r.begin));
      if (take && r.to) std::memcpy(r.to, r.buffer + r.begin, take);
      if (r.to) r.to += take;
      r.begin += take;
      r.left -= take;
      if (r.left == 0) {
        r.inside = false;
        if (!end_frame()) return false;
        continue;
      }
    }
    if (r.begin > 0) {
      std::memmove(r.buffer, r.buffer + r.begin, r.end - r.begin);
      r.end -= r.begin;
      r.begin = 0;
    }
    if (drained) return true;  // there was less than there was room for
    // Large values come where they are needed, without a stop.
    const bool direct = r.inside && r.to && r.left >= kBuffered;
    char* const to = direct ? r.to : r.buffer + r.end;
    const ssize_t n = recv(socket_, to, direct ? size_t(r.left) : kBuffered - r.end, MSG_DONTWAIT);
    if (n == 0) return false;
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    drained = size_t(n) < (direct ? size_t(r.left) : kBuffered - r.end);
    if (direct) {
      r.to += n;
      r.left -= uint64_t(n);
    } else {
      r.end += size_t(n);
    }
  }
}

bool LocalLink::begin_frame() {
  Reading& r = *reading_;
  {
    std::lock_guard lock(mutex_);
    std::memcpy(&r.header, r.buffer + r.begin, sizeof(Header));
  }
  r.begin += sizeof(Header);
  r.inside = true;
  r.left = r.header.size;
  r.to = nullptr;
  r.text.clear();
  if (!r.known && r.header.kind != kHello) return false;
  if (r.header.kind != kValue) {
    if (r.header.size > kMostText) return false;
    r.text.resize(size_t(r.header.size));
    r.to = r.text.data();
    return true;
  }
  std::lock_guard lock(mutex_);
  const auto it = asked_.find(r.header.id);
  if (it == asked_.end()) return true;  // given up meanwhile
  r.current = std::move(it->second);
  asked_.erase(it);
  if (r.current.into.byte_size() == r.header.size) r.to = static_cast<char*>(r.current.into.raw());
  return true;
}

bool LocalLink::end_frame() {
  Reading& r = *reading_;
  const Header h = r.header;
  switch (h.kind) {
    case kHello: return handler_ && (r.known = same_token(r.text, secret_));
    case kValue: {
      Pending p;
      {
        std::lock_guard lock(mutex_);
        p = std::exchange(r.current, {});
      }
      if (!p.reply) return true;
      if (p.into.byte_size() != h.size) {
        p.reply(internal_error("RecvBufResponse returned ", h.size, " bytes where to_tensor expected ", p.into.byte_size()), {});
      } else if (h.size < kHandedOver || reads_for_itself) {
        p.reply({}, {});
      } else {
        runtime::run_on_blocking_thread([p = std::move(p)] { p.reply({}, {}); });
      }
      return true;
    }
    case kError: {
      Pending p;
      {
        std::lock_guard lock(mutex_);
        const auto it = asked_.find(h.id);
        if (it == asked_.end()) return true;
        p = std::move(it->second);
        asked_.erase(it);
      }
      p.reply(with_notes_of_text(Status(h.code > 0 && h.code <= 16 ? Code(h.code) : Code::kUnknown, r.text)), {});
      return true;
    }
    case kRequest: {
      if (!handler_) return false;
      {
        std::lock_guard lock(mutex_);
        if (served_.size() >= kMostWaiting || !served_.emplace(h.id, nullptr).second) return false;
      }
      const auto waits = [](LocalLink& link, uint64_t id) {
        std::function<void()> dropped;  // destroyed without the lock
        std::lock_guard lock(link.mutex_);
        const auto it = link.served_.find(id);
        if (it == link.served_.end()) return false;
        dropped = std::move(it->second);
        link.served_.erase(it);
        return true;
      };
      handler_(
          r.text,
          [weak = weak_from_this(), id = h.id, waits](Status s, Tensor value) {
            auto link = weak.lock();
            if (!link || !waits(*link, id)) return;
            if (s.ok()) link->write(kValue, 0, id, {}, std::move(value));
            else link->write(kError, uint32_t(s.code()), id, s.message().substr(0, kMostText));
          },
          [this, id = h.id](std::function<void()> abandoned) {  // called inside of the handler: the link is there
            std::lock_guard lock(mutex_);
            if (const auto it = served_.find(id); it != served_.end()) it->second = std::move(abandoned);
          });
      return true;
    }
    case kCancel: {
      std::function<void()> abandoned;
      {
        std::lock_guard lock(mutex_);
        const auto it = served_.find(h.id);
        if (it == served_.end()) return true;
        abandoned = std::move(it->second);
        served_.erase(it);
      }
      if (abandoned) abandoned();
      return true;
    }
    default: return false;
  }
}

// ---- the listener

Result<std::shared_ptr<LocalListener>> LocalLink::listen(Handler handler) {
  return LocalListener::start([handler = std::move(handler)](int socket, const std::string& secret) -> Result<std::shared_ptr<LocalConnection>> {
    WEFT_ASSIGN(std::shared_ptr<LocalLink> link, serve(socket, secret, handler));
    return std::shared_ptr<LocalConnection>(std::move(link));
  });
}

}  // namespace weft_engine::remote
