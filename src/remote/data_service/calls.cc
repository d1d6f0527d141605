#include "remote/data_service/calls.h"

#include <algorithm>
#include <chrono>

#include "core/threads.h"

namespace weft_engine::remote::data_service {

using Clock = std::chrono::steady_clock;

void Stop::stop() {
  std::map<int64_t, std::shared_ptr<ClientCall>> calls;
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    calls.swap(calls_);
  }
  changed_.notify_all();
  for (auto& [id, call] : calls) call->cancel();
}

bool Stop::stopped() {
  std::lock_guard lock(mutex_);
  return stopped_;
}

bool Stop::sleep(double seconds, op::CancellationManager* cancellation) {
  const auto end = Clock::now() + std::chrono::microseconds(int64_t(std::min(seconds, 1e6) * 1e6));
  constexpr auto kSlice = std::chrono::milliseconds(50);
  std::unique_lock lock(mutex_);
  while (!stopped_ && Clock::now() < end && !process_ending.load(std::memory_order_relaxed)) {
    changed_.wait_until(lock, cancellation ? std::min(end, Clock::now() + kSlice) : std::min(end, Clock::now() + 10 * kSlice));
    if (!cancellation || stopped_) continue;
    lock.unlock();
    const bool asked = cancellation->asked_to_stop();
    lock.lock();
    if (asked) return false;
  }
  return !stopped_ && !process_ending.load(std::memory_order_relaxed);
}

StopWhenCancelled::StopWhenCancelled(op::CancellationManager* cancellation, std::shared_ptr<Stop> stop) : cancellation_(cancellation) {
  if (!cancellation_) return;
  token_ = cancellation_->get_token();
  if (!cancellation_->register_callback(token_, [stop] { stop->stop(); })) stop->stop();
}

StopWhenCancelled::~StopWhenCancelled() {
  if (cancellation_) cancellation_->deregister_callback(token_);
}

namespace {

// Connections are kept for the next reader: each epoch of a dataset is one. The first one stays for ever: libgrpc++ 1.51 can abort when the last channel of a process goes while
// another one comes.
std::shared_ptr<Channel> channel_to(const TransportApi& api, const std::string& address) {
  constexpr size_t kMost = 64;
  struct Kept {
    std::mutex mutex;
    std::map<std::string, std::pair<std::shared_ptr<Channel>, uint64_t>> channels;  // and when it was last asked for
    uint64_t now = 0;
    std::shared_ptr<Channel> first;
  };
  static auto* kept = new Kept;
  std::shared_ptr<Channel> gone;  // ends without the lock
  std::lock_guard lock(kept->mutex);
  auto& [channel, used] = kept->channels[address];
  used = ++kept->now;
  if (!channel) channel = api.connect(address);
  if (!kept->first) kept->first = channel;
  std::shared_ptr<Channel> out = channel;
  if (kept->channels.size() > kMost) {
    const auto oldest = std::min_element(kept->channels.begin(), kept->channels.end(),
                                         [](const auto& a, const auto& b) { return a.second.second < b.second.second; });
    gone = std::move(oldest->second.first);
    kept->channels.erase(oldest);
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<Peer>> Peer::to(const std::string& address, std::string_view service) {
  WEFT_ASSIGN(const TransportApi* api, transport());
  return std::make_shared<Peer>(channel_to(*api, address), service);
}

Result<Message> Peer::call(std::string_view method, Message request, Stop& stop, double seconds, op::CancellationManager* cancellation) {
  struct Answer {
    std::mutex mutex;
    std::condition_variable changed;
    bool there = false;
    Status status;
    Message message;
  };
  auto answer = std::make_shared<Answer>();
  if (stop.stopped()) return cancelled("the call of ", method, " was cancelled");
  auto call = channel_->call(cat("/", service_, "/", method), std::move(request), seconds, false, [answer](Status s, Message m) {
    std::lock_guard lock(answer->mutex);
    answer->status = std::move(s);
    answer->message = std::move(m);
    answer->there = true;
    answer->changed.notify_all();
  });
  int64_t id = 0;
  bool stopped = false;
  {
    std::lock_guard lock(stop.mutex_);
    stopped = stop.stopped_;
    if (!stopped) stop.calls_[id = stop.next_++] = call;
  }
  if (stopped) call->cancel();
  {
    std::unique_lock lock(answer->mutex);
    const auto there = [&] { return answer->there; };
    if (cancellation) op::CancellationManager::wait(lock, answer->changed, cancellation, there);
    else wait_for_others(lock, answer->changed, there);
    if (!answer->there) return cancelled("the process ends");
  }
  if (!stopped) {
    std::lock_guard lock(stop.mutex_);
    stop.calls_.erase(id);
  }
  if (!answer->status.ok()) return answer->status;
  return std::move(answer->message);
}

Result<Message> Peer::retry(std::string_view what, std::string_view method, std::string request, Stop& stop, double limit_seconds,
                            op::CancellationManager* cancellation) {
  constexpr double kFirst = 0.05, kLongest = 1;
  const auto end = Clock::now() + std::chrono::seconds(int64_t(limit_seconds));
  for (double pause = kFirst;; pause = std::min(pause * 1.5, kLongest)) {
    auto response = call(method, Message(request), stop, 0, cancellation);
    if (response.ok()) return response;
    if (!is_preempted(response.status()) || stop.stopped() || (limit_seconds > 0 && Clock::now() > end)) return with_prefix(what, response.status());
    if (!stop.sleep(pause, cancellation)) return cancelled(what, ": the call was cancelled");
  }
}

}  // namespace weft_engine::remote::data_service
