#include "remote/large_calls.h"

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include "remote/connections.h"

namespace weft_engine::remote {
namespace {

using Clock = std::chrono::steady_clock;

// Answers of this process that callers are about to take.
struct Kept {
  std::mutex mutex;
  std::map<std::string, std::pair<Message, Clock::time_point>> answers;
  std::atomic<size_t> count{0};
};
Kept& kept() {
  static auto* k = new Kept;
  return *k;
}

Result<Message> take_answer(const std::string& ticket) {
  Kept& all = kept();
  std::lock_guard lock(all.mutex);
  auto node = all.answers.extract(ticket);
  all.count = all.answers.size();
  if (node.empty()) return not_found("no answer is kept under this ticket");
  return std::move(node.mapped().first);
}

class CallHandler final : public StreamHandler {
 public:
  CallHandler(Service& service, std::shared_ptr<ServerStream> stream, RunOn run_on)
      : service_(service), state_(std::make_shared<State>(std::move(stream))), run_on_(std::move(run_on)) {}
  void message(Message m) override {
    if (method_.empty()) {
      method_ = m.flatten();
      if (method_.empty() || method_.starts_with("/weft.Transport/")) return state_->stream->finish(invalid_argument("a call without a method"));
      return state_->stream->next();
    }
    if (std::exchange(called_, true)) return state_->stream->finish(invalid_argument("a call with two requests"));
    service_.call(
        method_, std::move(m),
        [state = state_](Status s, Message answer) {
          const auto dropped = state->take();  // destroyed without the lock
          if (s.ok()) state->stream->write(std::move(answer));
          state->stream->finish(std::move(s));
        },
        [state = state_](std::function<void()> then) { state->watch(std::move(then)); }, run_on_);
  }
  void ended() override {
    if (!called_) state_->stream->finish(invalid_argument("a call without a request"));
  }
  void abandoned() override {
    const auto then = state_->abandon();
    if (then) then();
  }

 private:
  struct State {
    explicit State(std::shared_ptr<ServerStream> s) : stream(std::move(s)) {}
    std::function<void()> take() {
      std::lock_guard lock(mutex);
      done = true;
      return std::exchange(then, nullptr);
    }
    void watch(std::function<void()> f) {
      {
        std::lock_guard lock(mutex);
        if (done) return;
        if (!gone) {
          then = std::move(f);
          return;
        }
      }
      f();
    }
    std::function<void()> abandon() {
      std::lock_guard lock(mutex);
      gone = true;
      if (!done) stream->finish(cancelled("the caller has gone"));
      return std::exchange(then, nullptr);
    }
    const std::shared_ptr<ServerStream> stream;
    std::mutex mutex;
    bool done = false, gone = false;
    std::function<void()> then;
  };
  Service& service_;
  const std::shared_ptr<State> state_;
  const RunOn run_on_;
  std::string method_;
  bool called_ = false;
};

class TakeHandler final : public StreamHandler {
 public:
  explicit TakeHandler(std::shared_ptr<ServerStream> stream) : stream_(std::move(stream)) {}
  void message(Message m) override {
    auto answer = take_answer(std::string(m.flatten()));
    if (answer.ok()) stream_->write(std::move(answer).value());
    stream_->finish(answer.status());
  }
  void ended() override { stream_->finish(invalid_argument("no ticket came")); }

 private:
  const std::shared_ptr<ServerStream> stream_;
};

}  // namespace

Status keep_answer(Message answer, size_t most) {
  constexpr size_t kMost = 64;
  constexpr auto kTime = std::chrono::seconds(60);
  drop_kept_answers();
  Kept& all = kept();
  std::lock_guard lock(all.mutex);
  Status error = too_large(answer.size(), most);
  if (all.answers.size() >= kMost) return error;
  const std::string ticket = cat(random_id(), "-", random_id());
  all.answers[ticket] = {std::move(answer), Clock::now() + kTime};
  all.count = all.answers.size();
  return error.with_payload(kNoteTicket, ticket);
}

void drop_kept_answers() {
  Kept& all = kept();
  if (all.count.load(std::memory_order_relaxed) == 0) return;
  std::vector<Message> dropped;  // without the lock
  const auto now = Clock::now();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.answers, [&](auto& a) {
    if (a.second.second > now) return false;
    dropped.push_back(std::move(a.second.first));
    return true;
  });
  all.count = all.answers.size();
}

std::unique_ptr<StreamHandler> WithLargeCalls::stream(std::string_view method, std::shared_ptr<ServerStream> stream, const RunOn& run_on) {
  if (method == kLargeCall) return std::make_unique<CallHandler>(service_, std::move(stream), run_on);
  if (method == kTakeAnswer) return std::make_unique<TakeHandler>(std::move(stream));
  return service_.stream(method, std::move(stream), run_on);
}

std::shared_ptr<ClientCall> call_by_stream(const OpenStream& open, std::string_view method, std::vector<Message> messages, Reply reply) {
  struct Call final : ClientCall {
    void cancel() override { stream->cancel(); }
    std::shared_ptr<ClientStream> stream;
  };
  struct Got {
    Reply reply;
    std::optional<Message> answer;
  };
  auto got = std::make_shared<Got>();
  got->reply = std::move(reply);
  auto call = std::make_shared<Call>();
  call->stream = open(method, {[got](Message m) { got->answer = std::move(m); },
                               [got](Status s) {
                                 if (s.ok() && !got->answer) s = internal_error("the answer of a large call did not come");
                                 got->reply(s, s.ok() ? std::move(*got->answer) : Message());
                               }});
  for (Message& m : messages) call->stream->write(std::move(m));
  call->stream->close();
  return call;
}

}  // namespace weft_engine::remote
