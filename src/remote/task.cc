#include "remote/task.h"

#include <algorithm>

#include "core/interrupt.h"
#include "core/threads.h"
#include "remote/call_link.h"
#include "remote/error_text.h"
#include "remote/settings.h"

namespace weft_engine::remote {
namespace {

constexpr std::string_view kStream = "/tensorflow.eager.EagerService/StreamingEnqueue";
constexpr std::string_view kCloseContext = "/tensorflow.eager.EagerService/CloseContext";

// Of the task or the way to it, not of a request.
bool is_of_task(const Status& s) {
  return s.code() == Code::kUnavailable || s.code() == Code::kCancelled || s.code() == Code::kDeadlineExceeded || s.code() == Code::kAborted;
}

}  // namespace

// ---- answers

Answer::Calls Answer::set(Status status, QueueResponse response, Message message) {
  std::lock_guard lock(mutex_);
  if (done_) return {};
  status_ = std::move(status);
  response_ = std::move(response);
  message_ = std::move(message);
  done_ = true;
  changed_.notify_all();
  return std::exchange(calls_, {});
}

Status Answer::wait() {
  read_while_waiting([this] {
    std::lock_guard lock(mutex_);
    return done_;
  });
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kInterruptPollInterval, [&] { return done_; })) {
    if (process_ending.load(std::memory_order_relaxed)) return cancelled("the process ends");
    Interrupt* const call = Interrupt::current();
    if (!call) continue;
    lock.unlock();
    if (call->look()) return interrupted_call();
    lock.lock();
  }
  seen_ = true;
  lock.unlock();
  if (cause_) cause_->mark_seen();
  return status_;
}

void Answer::when_done(std::function<void(const Status&)> then) {
  {
    std::lock_guard lock(mutex_);
    if (!done_) {
      calls_.push_back(std::move(then));
      return;
    }
  }
  then(status_);
}

bool Answer::failed() const {
  std::lock_guard lock(mutex_);
  return done_ && !status_.ok();
}

void Answer::mark_seen() {
  {
    std::lock_guard lock(mutex_);
    seen_ = true;
    if (!done_) return;
  }
  if (cause_) cause_->mark_seen();
}

bool Answer::seen() const {
  std::lock_guard lock(mutex_);
  return seen_;
}

// ---- the stream

// Of a closed one. Who uses a task that died must not hear another error when the cluster was made without it a moment before.
Status Task::closed_status() const {
  const Status s = lost_ ? unavailable("the connection to ", name, " was closed: the task died, or was started again")
                         : failed_precondition("the connection to ", name, " was closed: the context is part of another cluster now");
  return s.with_payload(core::kNoteSender, name);
}

std::shared_ptr<Channel> Task::channel() {
  std::lock_guard lock(mutex_);
  return channel_;
}

// An error of the connection names the task in its text, and so does one of a task that has no room left. A task that tells of another one which it
// could not reach is there itself.
Status Task::with_task(Status s) const {
  // kAborted: it was started again and does not know the context.
  const bool of_task = s.code() == Code::kUnavailable || s.code() == Code::kAborted || s.code() == Code::kResourceExhausted;
  s = s.with_payload(core::kNoteSender, name);
  return of_task && !core::find_note(s, core::kNoteTarget) ? error_of_target(s, name) : s;
}

std::shared_ptr<Answer> Task::enqueue(const QueueItem& item, std::vector<std::shared_ptr<const void>> keep) {
  auto answer = std::make_shared<Answer>();
  auto message = encode_enqueue(context_id, item);
  if (!message.ok()) {
    answer->refuse(message.status());
    return answer;
  }
  Request request{answer, {}, {}, 0, {}, std::this_thread::get_id(), std::move(keep)};
  if (const auto* o = std::get_if<Operation>(&item)) {
    request.op = o->id;
    for (const auto& in : o->inputs) {
      if (const auto* h = std::get_if<RemoteTensorHandle>(&in)) request.inputs.push_back(h->op_id);
    }
  }
  std::unique_lock lock(mutex_);
  if (closed_) {
    lock.unlock();
    answer->refuse(closed_status());
    return answer;
  }
  // An op behind one of the same thread that failed, of which nobody was told: whether the error came before this op was sent makes no difference.
  const auto failed = std::find_if(failed_.begin(), failed_.end(), [&](const Failed& f) { return f.sender == request.sender && !f.answer->seen(); });
  if (request.op > 0 && failed != failed_.end()) {
    const auto earlier = failed->answer;
    lock.unlock();
    answer->fail_as(earlier);
    return answer;
  }
  if (!stream_) open();
  constexpr size_t kReleases = 64 << 10;  // what goes with it, at most
  if (const size_t most = stream_->most_bytes(); message->size() > most - std::min(most, kReleases)) {
    lock.unlock();
    answer->refuse(with_task(too_large(message->size(), most)));
    return answer;
  }
  request.body = std::move(message).value();
  request.releases = std::exchange(releases_, {});
  unsynced_ = true;
  send(std::move(request));
  return answer;
}

void Task::send(Request request) {
  if (!stream_) open();
  Message message;
  if (!request.releases.empty()) {
    std::string bytes;
    for (const RemoteTensorHandle& h : request.releases) bytes += encode_release(h);
    message.append(std::move(bytes));
  }
  message.append(request.body);
  stream_->write(std::move(message));
  pending_->push_back(std::move(request));
}

void Task::release(const RemoteTensorHandle& handle) {
  std::lock_guard lock(mutex_);
  if (closed_ || !channel_) return;
  releases_.push_back(handle);
  // Where something is under way it goes with the next request, or when the last answer comes.
  constexpr size_t kMost = 64;
  if (!pending_->empty() && releases_.size() < kMost) return;
  send_releases();
}

void Task::send_releases() { send({std::make_shared<Answer>(), Message(encode_context(context_id)), std::exchange(releases_, {}), 0, {}, {}, {}}); }

void Task::end_step(int64_t step) {
  constexpr size_t kMost = 64;
  bool many = false;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    ended_steps_.push_back(step);
    many = ended_steps_.size() >= kMost;
  }
  if (many || !gives_values()) flush();
}

std::vector<int64_t> Task::take_ended_steps() {
  std::lock_guard lock(mutex_);
  return std::exchange(ended_steps_, {});
}

void Task::flush() {
  for (int64_t step : take_ended_steps()) enqueue(QueueItem(CleanupFunction{step}));
}

void Task::when_idle(std::function<void(const Status&)> then) {
  std::shared_ptr<Answer> last;
  bool ask = false;
  {
    std::lock_guard lock(mutex_);
    if (!pending_->empty()) last = pending_->back().answer;
    ask = stream_ && !gives_values() && std::exchange(unsynced_, false);
  }
  if (ask) last = enqueue(QueueItem(SyncExecutor{}));  // as in sync()
  if (!last) return then({});
  last->when_done([then = std::move(then)](const Status& s) { then(is_of_task(s) ? s : Status()); });
}

void Task::open() {
  auto queue = std::make_shared<Queue>();
  pending_ = queue;
  std::weak_ptr<Task> weak = weak_from_this();
  ClientStream::Events events;
  events.message = [weak, queue](Message m) {
    if (auto task = weak.lock()) task->answered(queue, std::move(m));
  };
  events.end = [weak, queue](Status s) {
    if (s.ok()) s = cancelled("the stream ended");
    if (auto task = weak.lock()) return task->ended(queue, std::move(s));
    for (Request& r : *queue) r.answer->finish(s, {});
  };
  stream_ = channel_->stream(kStream, std::move(events));
}

// Answers come in the order of the requests.
void Task::answered(const std::shared_ptr<Queue>& queue, Message message) {
  Request request;
  {
    std::lock_guard lock(mutex_);
    if (queue->empty()) return;
    request = std::move(queue->front());
    queue->pop_front();
    if (queue == pending_ && queue->empty() && !releases_.empty() && !closed_ && stream_) {
      send_releases();
    }
  }
  QueueResponse last;
  const Status status = without_exceptions([&]() -> Status {
    WEFT_ASSIGN(auto unpacked, unpack(std::move(message), TensorsIn::kEnqueueResponse));
    WEFT_ASSIGN(auto responses, decode_enqueue_response(unpacked));
    if (!responses.empty()) last = std::move(responses.back());
    return {};
  });
  if (!status.ok()) return request.answer->finish(status, {});
  if (!last.tensors.empty() && !last.shapes.empty()) now_gives_values();
  request.answer->finish({}, std::move(last));
}

// A failed request ends the stream. Those behind it were not looked at: what needs its results fails as it did, and so does what the same thread sent
// behind it, as if it had been told at once; the rest is sent again.
void Task::ended(const std::shared_ptr<Queue>& queue, Status status) {
  status = with_task(std::move(status));
  std::vector<std::pair<std::shared_ptr<Answer>, Answer::Calls>> calls;
  std::deque<Request> left;
  {
    std::lock_guard lock(mutex_);
    left.swap(*queue);
    const bool current = pending_ == queue;
    if (current) stream_ = nullptr;
    std::set<int64_t> failed_ops;
    const bool by_request = current && !closed_ && !is_of_task(status);
    const std::thread::id sender = left.empty() ? std::thread::id() : left.front().sender;
    for (Request& r : left) {
      bool fails = !by_request || &r == &left.front() || (r.op > 0 && r.sender == sender && sender != std::thread::id());
      for (int64_t op : r.inputs) fails |= failed_ops.contains(op);
      const auto lost = [&](const RemoteTensorHandle& h) { return failed_ops.contains(h.op_id); };
      std::erase_if(r.releases, lost);
      if (!fails) {
        send(std::move(r));
        continue;
      }
      if (by_request && &r != &left.front()) releases_.insert(releases_.end(), r.releases.begin(), r.releases.end());
      if (r.op > 0) failed_ops.insert(r.op);
      if (by_request && &r != &left.front()) {
        r.answer->set_cause(left.front().answer);
      } else {
        if (failed_.size() == kMostFailed) std::erase_if(failed_, [](const Failed& f) { return f.answer->seen(); });
        if (failed_.size() < kMostFailed) failed_.push_back({r.answer, by_request ? r.sender : std::thread::id()});
      }
      calls.emplace_back(r.answer, r.answer->set(status, {}));  // under the lock: who lets go of an output must know that it is not there
    }
    if (!failed_ops.empty()) std::erase_if(releases_, [&](const RemoteTensorHandle& h) { return failed_ops.contains(h.op_id); });
  }
  for (auto& [answer, then] : calls) {
    for (auto& call : then) call(answer->status());
  }
}

// ---- single calls

std::shared_ptr<Answer> Task::start(std::string_view method, Message request, double seconds, bool wait, std::shared_ptr<ClientCall>* running) {
  auto answer = std::make_shared<Answer>();
  const auto to = channel();
  if (!to) {
    answer->finish(closed_status(), {});
    return answer;
  }
  {
    std::lock_guard lock(mutex_);
    calls_[answer.get()] = {nullptr, answer};
  }
  auto call = to->call(method, std::move(request), seconds, wait, [weak = weak_from_this(), answer](Status s, Message m) {
    auto task = weak.lock();
    if (task) {
      std::lock_guard lock(task->mutex_);
      task->calls_.erase(answer.get());
    }
    answer->finish(task && !s.ok() ? task->with_task(std::move(s)) : std::move(s), {}, std::move(m));
  });
  if (running) *running = call;
  std::lock_guard lock(mutex_);
  if (const auto it = calls_.find(answer.get()); it != calls_.end()) it->second.first = std::move(call);
  return answer;
}

Result<Message> Task::call(std::string_view method, Message request, double seconds, bool wait) {
  std::shared_ptr<ClientCall> running;
  const auto answer = start(method, std::move(request), seconds, wait, &running);
  if (Status s = answer->wait(); !s.ok()) {
    if (running) running->cancel();
    return s;
  }
  return std::move(answer->message());
}

// ---- ends

Status Task::sync() {
  bool ask = false;
  {
    std::lock_guard lock(mutex_);
    ask = stream_ && unsynced_ && !gives_values();
  }
  if (ask) enqueue(QueueItem(SyncExecutor{}));  // TensorFlow's tasks answer before they are done, and tell errors here
  std::vector<std::shared_ptr<Answer>> all;
  {
    std::lock_guard lock(mutex_);
    for (Failed& f : failed_) all.push_back(std::move(f.answer));
    failed_.clear();
    for (const Request& r : *pending_) all.push_back(r.answer);
  }
  Status first;
  for (auto& answer : all) {
    const bool seen = answer->seen();
    Status s = answer->wait();
    if (!seen && first.ok()) first = std::move(s);
  }
  std::lock_guard lock(mutex_);
  unsynced_ = false;
  std::erase_if(failed_, [](const Failed& f) { return f.answer->seen(); });
  return first;
}

void Task::fail(const Status& status) {
  std::shared_ptr<Queue> queue;
  std::shared_ptr<ClientStream> stream;
  std::map<const void*, std::pair<std::shared_ptr<ClientCall>, std::shared_ptr<Answer>>> calls;
  {
    std::lock_guard lock(mutex_);
    queue = pending_;
    stream = std::move(stream_);
    calls = calls_;
    releases_.clear();
  }
  ended(queue, status);
  for (auto& [key, call] : calls) {
    call.second->finish(status, {});
    if (call.first) call.first->cancel();
  }
  if (stream) stream->cancel();
}

void Task::close(bool notify, uint64_t view) {
  std::shared_ptr<Channel> channel;
  std::shared_ptr<ClientStream> stream;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    lost_ = !notify;
    stream = std::move(stream_);
    channel = std::move(channel_);
    releases_.clear();
  }
  if (stream) notify ? stream->close() : stream->cancel();
  if (channel && notify) channel->call(kCloseContext, Message(encode_ids(1, context_id, 2, view)), 2, false, [channel](Status, Message) {});
}

}  // namespace weft_engine::remote
