#include "remote/call_link.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "core/threads.h"
#include "remote/error_text.h"
#include "wire/proto.h"

namespace weft_engine::remote {
namespace {

constexpr uint64_t kVersion = 1;
// How long a waiting thread reads itself, and how long a link's thread leaves that to others when one has done so: the next wait is near in most programs.
constexpr int64_t kReadNs = 4000000, kLeaveNs = 1000000;
constexpr int kAcceptMs = 5000, kLookMs = 2500;
// As gRPC's connections: half a minute without a word, then so long for the answer.
constexpr int64_t kSilentNs = 30'000'000'000, kAnswerNs = 20'000'000'000;
thread_local bool reads_link = false;  // this thread calls what came: it must not read any more itself

int64_t steady_ns() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

uint32_t code_of(LinkFrame kind) { return uint32_t(kind); }

}  // namespace

// ---- the formats

Message encode_link_offer(const LinkOffer& offer) {
  wire::ProtoWriter w;
  w.varint(1, kVersion);
  w.bytes(2, offer.name);
  w.bytes(3, offer.secret);
  return Message(w.take());
}

Result<LinkOffer> decode_link_offer(std::string_view bytes) {
  LinkOffer out;
  uint64_t version = 0;
  wire::ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) version = r.varint();
    else if (r.field() == 2) out.name = r.string();
    else if (r.field() == 3) out.secret = r.string();
  }
  if (!r.ok() || version != kVersion || out.name.empty()) return unimplemented("another kind of link");
  return out;
}

// The message in field 1, payloads as a map in field 2.
std::string encode_link_status(const Status& s) {
  constexpr size_t kMost = 16 << 10;
  wire::ProtoWriter w;
  w.bytes(1, std::string_view(s.message()).substr(0, kMost));
  for (const auto& [key, value] : s.payloads()) {
    if (key.size() + value.size() > kMost) continue;
    wire::ProtoWriter entry;
    entry.bytes(1, key);
    entry.bytes(2, value);
    w.message(2, entry);
  }
  return w.take();
}

Status decode_link_status(uint32_t code, std::string_view bytes) {
  std::string text;
  std::vector<std::pair<std::string, std::string>> payloads;
  wire::ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) text = r.string();
    if (r.field() != 2) continue;
    auto& [key, value] = payloads.emplace_back();
    wire::ProtoReader entry = r.message();
    while (entry.next()) (entry.field() == 1 ? key : value) = entry.string();
  }
  Status out(code > 0 && code <= 16 ? Code(code) : Code::kUnknown, std::move(text));
  for (auto& [key, value] : payloads) out = out.with_payload(std::move(key), std::move(value));
  return with_notes_of_text(std::move(out));
}

// ---- calls

class CallLink::Call final : public ClientCall {
 public:
  Call(std::weak_ptr<CallLink> link, uint64_t id) : link_(std::move(link)), id_(id) {}
  void cancel() override {
    if (auto link = link_.lock()) link->cancel(id_);
  }

 private:
  const std::weak_ptr<CallLink> link_;
  const uint64_t id_;
};

// The other side gives back how many messages it has taken with each of its own (Frame::code): a stream has so many bytes under way, and the rest waits here.
class CallLink::Stream final : public ClientStream {
 public:
  Stream(std::weak_ptr<CallLink> link, uint64_t id, Events events) : link_(std::move(link)), id_(id), events_(std::move(events)) {}
  bool write(Message message) override {
    const auto link = link_.lock();
    std::lock_guard lock(mutex_);
    if (!link || closing_ || ended_) return false;
    waiting_.push_back(std::move(message));
    send(*link);
    return true;
  }
  void close() override {
    const auto link = link_.lock();
    std::lock_guard lock(mutex_);
    if (!link || std::exchange(closing_, true) || ended_) return;
    send(*link);
  }
  void cancel() override {
    if (const auto link = link_.lock()) link->cancel(id_);
  }
  // Of the link.
  void came(uint32_t taken, bool is_answer, Message message) {
    {
      const auto link = link_.lock();
      std::lock_guard lock(mutex_);
      if (ended_) return;
      for (; taken_ != taken && !lengths_.empty(); ++taken_) {
        on_way_ -= lengths_.front();
        lengths_.pop_front();
      }
      if (link) {
        if (is_answer && expected_ > 0) {
          --expected_;
          link->under_way_.fetch_sub(1, std::memory_order_relaxed);
        }
        send(*link);
      }
    }
    if (is_answer) events_.message(std::move(message));
  }
  void end(const Status& status) {
    {
      const auto link = link_.lock();
      std::lock_guard lock(mutex_);
      if (std::exchange(ended_, true)) return;
      if (link) link->under_way_.fetch_sub(expected_, std::memory_order_relaxed);
      waiting_.clear();
    }
    events_.end(status);
  }

 private:
  void send(CallLink& link) {
    // The last message may be larger. What the other side has taken and not told is less than that (call_server.cc, next).
    constexpr size_t kMostOnWay = 32 << 20;
    while (!waiting_.empty() && on_way_ < kMostOnWay) {
      lengths_.push_back(waiting_.front().size());
      on_way_ += lengths_.back();
      ++expected_;
      link.under_way_.fetch_add(1, std::memory_order_relaxed);
      link.write(code_of(LinkFrame::kMessage), id_, {}, waiting_.front());
      waiting_.pop_front();
    }
    if (waiting_.empty() && closing_ && !std::exchange(told_, true)) link.write(code_of(LinkFrame::kClose), id_, {});
  }
  const std::weak_ptr<CallLink> link_;
  const uint64_t id_;
  const Events events_;
  std::mutex mutex_;
  std::deque<Message> waiting_;
  std::deque<size_t> lengths_;  // of messages that the other side has not taken
  size_t on_way_ = 0;
  uint32_t taken_ = 0;
  int expected_ = 0;
  bool closing_ = false, told_ = false, ended_ = false;
};

std::shared_ptr<ClientCall> CallLink::call(std::string_view method, const Message& request, Reply& reply) {
  uint64_t id = 0;
  {
    std::lock_guard lock(mutex_);
    if (!is_open()) return nullptr;
    id = next_++;
    asked_.emplace(id, std::move(reply));
  }
  under_way_.fetch_add(1, std::memory_order_relaxed);
  auto out = std::make_shared<Call>(weak_from_this(), id);
  write(code_of(LinkFrame::kCall), id, method, request);
  return out;
}

std::shared_ptr<ClientStream> CallLink::stream(std::string_view method, ClientStream::Events& events) {
  std::shared_ptr<Stream> out;
  uint64_t id = 0;
  {
    std::lock_guard lock(mutex_);
    if (!is_open()) return nullptr;
    id = next_++;
    out = std::make_shared<Stream>(weak_from_this(), id, std::move(events));
    streams_.emplace(id, out);
  }
  write(code_of(LinkFrame::kOpen), id, method);
  return out;
}

void CallLink::cancel(uint64_t id) {
  Reply reply;
  std::shared_ptr<Stream> stream;
  {
    std::lock_guard lock(mutex_);
    if (const auto call = asked_.find(id); call != asked_.end()) {
      reply = std::move(call->second);
      asked_.erase(call);
    } else if (const auto it = streams_.find(id); it != streams_.end()) {
      stream = std::move(it->second);
      streams_.erase(it);
    } else {
      return;  // it has ended
    }
  }
  write(code_of(LinkFrame::kCancel), id, {});
  if (stream) {
    stream->end(cancelled("CANCELLED"));
  } else {
    under_way_.fetch_sub(1, std::memory_order_relaxed);
    reply(cancelled("CANCELLED"), {});
  }
  if (unused_.load()) close_if_idle();
}

void CallLink::write(uint32_t kind, uint64_t id, std::string_view text, const Message& body) {
  if (is_own() && socket_.write(kind, 0, id, text, body)) signal_event(wake_);
}

// ---- what comes

bool CallLink::take(Frame frame) {
  const auto kind = LinkFrame(frame.kind);
  heard_at_.store(steady_ns(), std::memory_order_relaxed);
  switch (kind) {
    case LinkFrame::kHello:
    case LinkFrame::kPing: return true;
    case LinkFrame::kReply:
    case LinkFrame::kError: {
      Reply reply;
      {
        std::lock_guard lock(mutex_);
        const auto it = asked_.find(frame.id);
        if (it == asked_.end()) return true;  // given up meanwhile
        reply = std::move(it->second);
        asked_.erase(it);
      }
      under_way_.fetch_sub(1, std::memory_order_relaxed);
      if (kind == LinkFrame::kError) reply(decode_link_status(frame.code, frame.text), {});
      else if (frame.refused) reply(resource_exhausted("no memory for an answer"), {});
      else reply({}, std::move(frame.body));
      return true;
    }
    case LinkFrame::kMessage:
    case LinkFrame::kClose:
    case LinkFrame::kEnd: {
      std::shared_ptr<Stream> stream;
      {
        std::lock_guard lock(mutex_);
        const auto it = streams_.find(frame.id);
        if (it == streams_.end()) return true;
        stream = it->second;
        if (kind == LinkFrame::kEnd) streams_.erase(it);
      }
      if (kind == LinkFrame::kEnd) stream->end(frame.code ? decode_link_status(frame.code, frame.text) : Status());
      else if (frame.refused) cancel(frame.id);
      else stream->came(frame.code, kind == LinkFrame::kMessage, std::move(frame.body));
      return true;
    }
    default: return false;
  }
}

bool CallLink::read_all() {
  const bool before = std::exchange(reads_link, true);
  const Status s =
      without_exceptions([&]() -> Status { return socket_.read([this](Frame f) { return take(std::move(f)); }) ? Status() : unavailable("closed"); });
  if (unused_.load(std::memory_order_relaxed)) close_if_idle();
  reads_link = before;
  return s.ok();
}

void CallLink::end() {
  close();
  std::unordered_map<uint64_t, Reply> asked;
  std::unordered_map<uint64_t, std::shared_ptr<Stream>> streams;
  {
    std::lock_guard lock(mutex_);
    asked.swap(asked_);
    streams.swap(streams_);
  }
  for (auto& [id, reply] : asked) reply(unavailable("Socket closed"), {});
  for (auto& [id, stream] : streams) stream->end(unavailable("Socket closed"));
}

// ---- who reads

// All links of the process, for those who wait.
class LinkReaders {
 public:
  void add(const std::shared_ptr<CallLink>& link) {
    std::lock_guard lock(mutex_);
    std::erase_if(links_, [](const auto& l) { return l.expired(); });
    links_.push_back(link);
    any_.store(true, std::memory_order_release);
  }
  void read(const std::function<bool()>& done) {
    if (!any_.load(std::memory_order_acquire) || reads_link || done()) return;
    if (reading_.exchange(true, std::memory_order_acquire)) return;  // somebody reads for all
    constexpr size_t kMost = 64;
    std::shared_ptr<CallLink> links[kMost];
    pollfd watched[kMost];
    size_t n = 0;
    {
      std::lock_guard lock(mutex_);
      for (const auto& weak : links_) {
        if (n == kMost || !(links[n] = weak.lock()) || !links[n]->is_open()) continue;
        watched[n] = {links[n]->socket_.descriptor(), POLLIN, 0};
        ++n;
      }
    }
    const int64_t end = steady_ns() + kReadNs;
    for (size_t i = 0; i < n; ++i) links[i]->leave_reading(kReadNs + kLeaveNs);
    while (n > 0) {
      const int64_t left = end - steady_ns();
      if (left <= 0) break;
      const timespec limit{0, long(left)};
      bool closed = false;
      if (ppoll(watched, nfds_t(n), &limit, nullptr) > 0) {
        for (size_t i = 0; i < n; ++i) {
          if (watched[i].revents) links[i]->read_here();
          closed |= !links[i]->is_open();
        }
      }
      if (closed || done()) break;
    }
    reading_.store(false, std::memory_order_release);
    // Others may wait for what comes.
    for (size_t i = 0; i < n; ++i) {
      if (links[i]->is_waited_for()) links[i]->read_again();
      else links[i]->leave_reading(kLeaveNs);
    }
  }

 private:
  std::atomic<bool> any_{false}, reading_{false};
  std::mutex mutex_;
  std::vector<std::weak_ptr<CallLink>> links_;
};

// A variable of this library alone: one of an inline function would be shared with the engine (cmake/companion.py).
static LinkReaders& link_readers() {
  static auto* made = new LinkReaders;
  return *made;
}

void read_while_waiting(const std::function<bool()>& done) { link_readers().read(done); }

void CallLink::read_here() {
  if (!is_own()) return;
  std::unique_lock reading(read_mutex_, std::try_to_lock);
  if (reading && is_open() && !read_all()) close();  // its own thread ends it
}

void CallLink::leave_reading(int64_t nanoseconds) { left_until_.store(steady_ns() + nanoseconds, std::memory_order_relaxed); }

void CallLink::read_again() {
  if (left_until_.exchange(0, std::memory_order_relaxed) != 0) signal_event(wake_);
}

bool CallLink::leaves_reading() const {
  const int64_t until = left_until_.load(std::memory_order_relaxed);
  return until != 0 && until > steady_ns();
}

CallLink::CallLink(int socket) : socket_(socket, -1), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

CallLink::~CallLink() {
  if (wake_ >= 0) ::close(wake_);
}

Result<std::shared_ptr<CallLink>> CallLink::connect(const std::string& name, const std::string& secret) {
  WEFT_ASSIGN(const int socket, connect_local(name));
  std::shared_ptr<CallLink> link(new CallLink(socket));
  if (link->wake_ < 0) return resource_exhausted("no descriptor for a link");
  link->write(code_of(LinkFrame::kHello), 0, secret);
  // A connection is there before anybody accepts it, and the server may have no thread or descriptor for it.
  char first;
  if (!wait_for_input(socket, kAcceptMs) || recv(socket, &first, 1, MSG_PEEK | MSG_DONTWAIT) != 1)
    return unavailable("the server did not take the link ", name);
  WEFT_RETURN_IF_ERROR(start_thread([link] { link->work(); }));
  link_readers().add(link);
  return link;
}

void CallLink::close() {
  if (!is_own()) return;
  if (closed_.exchange(true)) return;
  socket_.shut_down();
  signal_event(wake_);
}

void CallLink::close_when_idle() {
  unused_.store(true);
  close_if_idle();
}

void CallLink::close_if_idle() {
  {
    std::lock_guard lock(mutex_);
    if (!asked_.empty() || !streams_.empty()) return;
  }
  close();
}

void CallLink::work() {
  for (;;) {
    bool leaves = leaves_reading();
    if (!leaves) {
      std::lock_guard reading(read_mutex_);
      if (!is_open() || !read_all()) break;
    }
    if (closed_.load() || !socket_.flush()) break;
    leaves = leaves_reading();
    pollfd watched[2] = {{socket_.descriptor(), short(leaves ? 0 : POLLIN), 0}, {wake_, POLLIN, 0}};
    if (socket_.has_output()) watched[0].events |= POLLOUT;
    if (poll(watched, 2, leaves ? 1 : kLookMs) < 0 && errno != EINTR) break;
    if (watched[0].revents & (POLLHUP | POLLERR)) left_until_.store(0, std::memory_order_relaxed);
    if (watched[1].revents) take_event(wake_);
    if (is_dead()) break;
  }
  std::lock_guard reading(read_mutex_);
  end();
}

// Whether something is waited for, and the other side has neither said anything for long nor answered when it was asked: it is stopped, or its process is gone and a child of it keeps the socket.
bool CallLink::is_dead() {
  const int64_t now = steady_ns(), heard = heard_at_.load(std::memory_order_relaxed);
  if (!is_waited_for()) {
    waits_since_ = asked_at_ = 0;
    return false;
  }
  if (waits_since_ == 0) waits_since_ = now;
  if (heard >= asked_at_) asked_at_ = 0;
  if (asked_at_ != 0) return now - asked_at_ > kAnswerNs;
  if (now - std::max(heard, waits_since_) < kSilentNs) return false;
  asked_at_ = now;
  write(code_of(LinkFrame::kPing), 0, {});
  return false;
}

}  // namespace weft_engine::remote
