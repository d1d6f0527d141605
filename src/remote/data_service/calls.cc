#include "remote/data_service/calls.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "core/threads.h"
#include "remote/blocking_call.h"

namespace weft_engine::remote::data_service {

using Clock = std::chrono::steady_clock;

void Stop::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  calls_.start_cancel();
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

// Connections are kept for the next reader: each epoch of a dataset is one.
std::shared_ptr<Channel> channel_to(const TransportApi& api, const std::string& address) {
  constexpr size_t kMost = 64;
  struct Kept {
    std::mutex mutex;
    std::map<std::string, std::pair<std::shared_ptr<Channel>, uint64_t>> channels;  // and when it was last asked for
    uint64_t now = 0;
  };
  static auto* kept = new Kept;
  std::shared_ptr<Channel> gone;  // ends without the lock
  std::lock_guard lock(kept->mutex);
  auto& [channel, used] = kept->channels[address];
  used = ++kept->now;
  if (!channel) channel = api.connect(address);
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
  op::CancellationManager ends(cancellation);
  const auto token = stop.calls_.get_token();
  if (!stop.calls_.register_callback(token, [&] { ends.start_cancel(); })) return cancelled("the call of ", method, " was cancelled");
  auto response = call_and_wait(*channel_, cat("/", service_, "/", method), std::move(request), {.seconds = seconds, .cancellation = &ends});
  stop.calls_.deregister_callback(token);
  return response;
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
