#include "remote/call_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "core/threads.h"
#include "remote/settings.h"
#include "runtime/blocking_threads.h"

namespace weft_engine::remote {
namespace {

constexpr int64_t kLongNs = 500000;   // a call that takes longer holds up nobody
constexpr int64_t kUsualNs = 150000;  // where calls take so long another thread is called at once
constexpr size_t kMostServed = 1 << 16;
constexpr const char* kTooLarge = "the request did not arrive, or is larger than this server takes";
// Which link this thread reads, or has read until another took over.
thread_local const CallServer* serving = nullptr;
thread_local uint64_t serving_turn = 0;

int64_t steady_ns() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void set_timer(int timer, int64_t nanoseconds) {
  itimerspec at{};
  at.it_value.tv_nsec = long(nanoseconds);
  timerfd_settime(timer, 0, &at, nullptr);
}

}  // namespace

// Messages that came while the handler was busy wait here.
class CallServer::Stream final : public ServerStream {
 public:
  Stream(std::weak_ptr<CallServer> link, uint64_t id) : link_(std::move(link)), id_(id) {}
  // Of the link, before anything comes.
  void set_handler(std::shared_ptr<StreamHandler> handler) { handler_ = std::move(handler); }

  void write(Message message) override {
    const auto link = link_.lock();
    std::lock_guard lock(mutex_);
    if (link && !finished_) link->write(LinkFrame::kMessage, told_ = taken_, id_, {}, message);
  }
  void next() override {
    const auto link = link_.lock();
    std::unique_lock lock(mutex_);
    if (finished_ || !link) return;
    ++taken_;
    // An answer was told before its message counted as taken, and there may be none.
    constexpr uint32_t kOften = 64;
    constexpr size_t kMuch = 1 << 20;
    if (taken_ - told_ >= kOften || bytes_ >= kMuch) {
      link->write(LinkFrame::kClose, told_ = taken_, id_, {});
      bytes_ = 0;
    }
    const auto handler = handler_;
    if (!waiting_.empty()) {
      Message message = std::move(waiting_.front());
      waiting_.pop_front();
      bytes_ += message.size();
      lock.unlock();
      return handler->message(std::move(message));
    }
    ready_ = true;
    tell_end(lock);
  }
  void finish(Status status) override {
    std::shared_ptr<StreamHandler> last;
    {
      std::lock_guard lock(mutex_);
      if (std::exchange(finished_, true)) return;
      waiting_.clear();
      last.swap(handler_);
    }
    const auto link = link_.lock();
    if (!link) return;
    link->write(LinkFrame::kEnd, uint32_t(status.code()), id_, status.ok() ? std::string() : encode_link_status(status));
    std::lock_guard lock(link->mutex_);
    link->streams_.erase(id_);
  }

  // Of the link.
  void came(Message message) {
    std::unique_lock lock(mutex_);
    if (finished_ || closed_) return;
    if (!std::exchange(ready_, false)) {
      waiting_.push_back(std::move(message));
      return;
    }
    bytes_ += message.size();
    const auto handler = handler_;
    lock.unlock();
    handler->message(std::move(message));
  }
  void close() {
    std::unique_lock lock(mutex_);
    if (finished_) return;
    closed_ = true;
    tell_end(lock);
  }
  void abandon() {
    std::unique_lock lock(mutex_);
    if (finished_) return;
    closed_ = ready_ = true;
    waiting_.clear();
    const auto handler = handler_;
    lock.unlock();
    handler->abandoned();
    lock.lock();
    tell_end(lock);
  }

 private:
  // Once all that came was taken.
  void tell_end(std::unique_lock<std::mutex>& lock) {
    if (!closed_ || !ready_ || finished_ || std::exchange(told_end_, true)) return;
    const auto handler = handler_;
    lock.unlock();
    handler->ended();
  }
  const std::weak_ptr<CallServer> link_;
  const uint64_t id_;
  std::mutex mutex_;
  std::shared_ptr<StreamHandler> handler_;  // until it has finished
  std::deque<Message> waiting_;
  uint32_t taken_ = 0, told_ = 0;
  size_t bytes_ = 0;  // of messages that were taken since the last frame for that alone
  bool ready_ = true;  // the handler takes a message
  bool closed_ = false, told_end_ = false, finished_ = false;
};

CallServer::CallServer(int socket, std::string secret, std::shared_ptr<ServedCalls> calls)
    : secret_(std::move(secret)),
      calls_(std::move(calls)),
      socket_(socket, settings().ok() ? settings()->max_message : 0),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {}

CallServer::~CallServer() {
  if (wake_ >= 0) ::close(wake_);
  if (timer_ >= 0) ::close(timer_);
}

Result<std::shared_ptr<LocalConnection>> CallServer::serve(int socket, std::string secret, std::shared_ptr<ServedCalls> calls) {
  std::shared_ptr<CallServer> link(new CallServer(socket, std::move(secret), std::move(calls)));
  if (link->wake_ < 0 || link->timer_ < 0) return resource_exhausted("no descriptor for a link");
  link->run_on_ = [weak = link->weak_from_this()](std::function<void()> job) {
    if (const auto self = weak.lock()) self->run(std::move(job));
    else runtime::run_on_blocking_thread(std::move(job));
  };
  WEFT_RETURN_IF_ERROR(start_thread([link] {
    std::unique_lock lock(link->turn_mutex_);
    link->lead(link->turn_, lock);
    if (link->ended_ || std::exchange(link->has_standby_, true)) return;
    lock.unlock();
    link->run_standby();
  }));
  return std::shared_ptr<LocalConnection>(std::move(link));
}

void CallServer::close() {
  if (forks_ != core::fork_generation()) return;  // the parent's
  if (closed_.exchange(true)) return;
  socket_.shut_down();
  signal_event(wake_);
}

// ---- whose turn it is

// Reads and runs until another thread has taken over, or the link has ended.
void CallServer::lead(uint64_t mine, std::unique_lock<std::mutex>& lock) {
  serving = this;
  serving_turn = mine;
  while (!ended_ && mine == turn_) {
    if (jobs_.empty()) {
      lock.unlock();
      const bool more = without_exceptions([&]() -> Status { return read_more() ? Status() : unavailable("closed"); }).ok();
      if (!more) end();
      lock.lock();
      if (more) continue;
      ended_ = true;
      if (has_standby_) set_timer(timer_, 1);
      while (!jobs_.empty()) {  // what came last is done, too
        auto job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        job = nullptr;
        lock.lock();
      }
      break;
    }
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    const int64_t begin = job_since_ = steady_ns();
    watch_job();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    usual_ns_ += (steady_ns() - begin - usual_ns_) / 8;
    if (mine == turn_) job_since_ = 0;
  }
  serving = nullptr;
}

// Before a job, with the lock held: sees to it that somebody looks how long it takes.
void CallServer::watch_job() {
  const bool at_once = usual_ns_ > kUsualNs || !jobs_.empty();
  if (!has_standby_) {
    std::function<void()> other = [self = shared_from_this()] { self->run_standby(); };
    has_standby_ = runtime::try_run_on_blocking_thread(other);  // without one the next job tries again
  } else if (at_once || !watched_) {
    watched_ = true;
    set_timer(timer_, at_once ? 1 : kLongNs);
  }
}

// Waits for its turn: until who reads is in a job for long.
void CallServer::run_standby() {
  std::unique_lock lock(turn_mutex_);
  while (!ended_) {
    const int64_t left = kLongNs - (steady_ns() - job_since_);
    if (job_since_ != 0 && (left <= 0 || usual_ns_ > kUsualNs || !jobs_.empty())) {
      has_standby_ = watched_ = false;
      job_since_ = 0;
      lead(++turn_, lock);
      if (ended_ || has_standby_) return;
      has_standby_ = true;
      continue;
    }
    watched_ = job_since_ != 0;
    if (watched_) set_timer(timer_, left);
    lock.unlock();
    take_event(timer_);  // sleeps
    lock.lock();
  }
  has_standby_ = false;
}

void CallServer::run(std::function<void()> job) {
  std::unique_lock lock(turn_mutex_);
  if (ended_) {
    lock.unlock();
    return runtime::run_on_blocking_thread(std::move(job));
  }
  jobs_.push_back(std::move(job));
  if (serving != this || serving_turn != turn_) signal_event(wake_);
}

// ---- what comes

bool CallServer::read_more() {
  pollfd watched[2] = {{socket_.descriptor(), POLLIN, 0}, {wake_, POLLIN, 0}};
  if (socket_.has_output()) watched[0].events |= POLLOUT;
  if (poll(watched, 2, -1) < 0) return errno == EINTR;
  if (watched[1].revents) take_event(wake_);
  if (closed_.load() || ((watched[0].revents & POLLOUT) && !socket_.flush())) return false;
  if (!(watched[0].revents & ~POLLOUT)) return true;
  return socket_.read([this](Frame f) { return take(std::move(f)); });
}

bool CallServer::take(Frame frame) {
  const auto kind = LinkFrame(frame.kind);
  if (!known_) {
    known_ = kind == LinkFrame::kHello && same_token(frame.text, secret_);
    if (known_) write(LinkFrame::kHello, 0, 0, {});
    return known_;
  }
  switch (kind) {
    case LinkFrame::kPing: write(LinkFrame::kPing, 0, 0, {}); return true;
    case LinkFrame::kCall: return begin_call(std::move(frame));
    case LinkFrame::kOpen: return open_stream(frame);
    case LinkFrame::kCancel: cancel(frame.id); return true;
    case LinkFrame::kMessage:
    case LinkFrame::kClose: {
      std::shared_ptr<Stream> stream;
      {
        std::lock_guard lock(mutex_);
        const auto it = streams_.find(frame.id);
        if (it == streams_.end()) return true;  // it has ended
        stream = it->second;
      }
      if (kind == LinkFrame::kClose) stream->close();
      else if (frame.refused) stream->finish(resource_exhausted(kTooLarge));
      else stream->came(std::move(frame.body));
      return true;
    }
    default: return false;
  }
}

bool CallServer::begin_call(Frame frame) {
  const uint64_t id = frame.id;
  bool many = false;
  {
    std::lock_guard lock(mutex_);
    many = served_.size() >= kMostServed;
    if (!many && !served_.emplace(id, nullptr).second) return false;
  }
  if (many || frame.refused) {
    const Status s = many ? resource_exhausted("this link has too many calls under way") : resource_exhausted(kTooLarge);
    if (many) write(LinkFrame::kError, uint32_t(s.code()), id, encode_link_status(s));
    else answer(id, s, {});
    return true;
  }
  const auto reply = [weak = weak_from_this(), id](Status s, const Message& response) {
    if (const auto link = weak.lock()) link->answer(id, s, response);
  };
  const auto on_abandoned = [this, id](std::function<void()> abandoned) {  // called inside of the method: the link is there
    std::lock_guard lock(mutex_);
    if (const auto it = served_.find(id); it != served_.end()) it->second = std::move(abandoned);
  };
  std::shared_lock open(calls_->mutex_);
  if (!calls_->service_) answer(id, unavailable("the server has stopped"), {});
  else calls_->service_->call(frame.text, std::move(frame.body), reply, on_abandoned, run_on_);
  return true;
}

bool CallServer::open_stream(const Frame& frame) {
  auto stream = std::make_shared<Stream>(weak_from_this(), frame.id);
  bool many = false;
  {
    std::lock_guard lock(mutex_);
    many = streams_.size() >= kMostServed;
    if (!many && !streams_.emplace(frame.id, stream).second) return false;
  }
  std::shared_ptr<StreamHandler> handler;
  if (!many) {
    std::shared_lock open(calls_->mutex_);
    if (calls_->service_ && calls_->service_->is_stream(frame.text)) handler = calls_->service_->stream(frame.text, stream, run_on_);
  }
  if (handler) stream->set_handler(std::move(handler));
  else stream->finish(many ? resource_exhausted("this link has too many streams") : unimplemented("this server has no method ", frame.text));
  return true;
}

// The caller does not wait for it any more.
void CallServer::cancel(uint64_t id) {
  std::function<void()> abandoned;
  std::shared_ptr<Stream> stream;
  {
    std::lock_guard lock(mutex_);
    if (const auto call = served_.find(id); call != served_.end()) {
      abandoned = std::move(call->second);
      served_.erase(call);
    } else if (const auto it = streams_.find(id); it != streams_.end()) {
      stream = it->second;
    }
  }
  if (abandoned) abandoned();
  if (stream) stream->abandon();
}

void CallServer::answer(uint64_t id, const Status& status, const Message& response) {
  std::function<void()> dropped;  // destroyed without the lock
  {
    std::lock_guard lock(mutex_);
    const auto it = served_.find(id);
    if (it == served_.end()) return;
    dropped = std::move(it->second);
    served_.erase(it);
  }
  if (status.ok()) write(LinkFrame::kReply, 0, id, {}, response);
  else write(LinkFrame::kError, uint32_t(status.code()), id, encode_link_status(status));
}

void CallServer::write(LinkFrame kind, uint32_t code, uint64_t id, std::string_view text, const Message& body) {
  if (socket_.write(uint32_t(kind), code, id, text, body) && (serving != this || serving_turn != turn_)) signal_event(wake_);
}

void CallServer::end() {
  close();
  std::unordered_map<uint64_t, std::function<void()>> served;
  std::unordered_map<uint64_t, std::shared_ptr<Stream>> streams;
  {
    std::lock_guard lock(mutex_);
    served.swap(served_);
    streams = streams_;
  }
  for (auto& [id, abandoned] : served) {
    if (abandoned) abandoned();
  }
  for (auto& [id, stream] : streams) stream->abandon();
}

// ---- the listener

Result<Message> ServedCalls::offer() {
  std::lock_guard lock(mutex_);
  if (!service_) return cancelled("the server has stopped");
  if (!listener_) {
    WEFT_ASSIGN(listener_,
                LocalListener::start([weak = weak_from_this()](int socket, const std::string& secret) -> Result<std::shared_ptr<LocalConnection>> {
                  auto self = weak.lock();
                  if (self) return CallServer::serve(socket, secret, std::move(self));
                  ::close(socket);
                  return cancelled("the server has stopped");
                }));
  }
  return encode_link_offer({listener_->name(), listener_->secret()});
}

void ServedCalls::close() {
  std::shared_ptr<LocalListener> listener;  // which may be in the service: closed without the lock
  {
    std::lock_guard lock(mutex_);
    service_ = nullptr;
    listener.swap(listener_);
  }
}

}  // namespace weft_engine::remote
