// Prefetcher: results made on threads before they are asked for, and given in order. It knows nothing of tensors, so that its test can be
// built alone under the thread sanitizer.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace weft::data {

template <class Item>
class Prefetcher {
 public:
  using Pull = std::function<bool(Item&)>;  // the next item, false at the end; called by one thread at a time
  using Work = std::function<void(Item&)>;  // done to each item, by several threads at once; may be empty

  Prefetcher(Pull pull, Work work, int threads, size_t capacity)
      : pull_(std::move(pull)), work_(std::move(work)), slots_(std::max<size_t>(capacity, 1)) {
    threads_.reserve(size_t(threads));
    for (int i = 0; i < threads; ++i) {
      try {
        threads_.emplace_back([this] { loop(); });
      } catch (const std::system_error&) {
        if (threads_.empty()) throw;
        break;  // fewer will do
      }
    }
  }
  ~Prefetcher() {
    stop();
    for (std::thread& t : threads_) t.join();
  }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // False at the end. Throws what pulling or working on this item threw; that was the last item then.
  bool next(Item& out) {
    std::unique_lock lock(mutex_);
    Slot& slot = slots_[taken_ % slots_.size()];
    ready_.wait(lock, [&] { return slot.full || (ended_ && taken_ == pulled_); });
    if (!slot.full) return false;
    slot.full = false;
    ++taken_;
    if (slot.error) {
      const std::exception_ptr error = std::exchange(slot.error, nullptr);
      // Later items are not given; the threads need not make them.
      ended_ = stopped_ = true;
      pulled_ = taken_;
      for (Slot& s : slots_) s = {};
      lock.unlock();
      room_.notify_all();
      std::rethrow_exception(error);
    }
    out = std::move(slot.item);
    lock.unlock();
    room_.notify_one();
    return true;
  }

 private:
  struct Slot {
    Item item{};
    std::exception_ptr error;
    bool full = false;
  };

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    room_.notify_all();
  }

  void loop() {
    while (true) {
      Slot made;
      uint64_t place = 0;
      if (!pull(made, place)) return;
      if (!made.error && work_) {
        try {
          work_(made.item);
        } catch (...) {
          made.error = std::current_exception();
        }
      }
      made.full = true;
      {
        const std::lock_guard lock(mutex_);
        if (stopped_) return;  // also: what the slot was for is over
        slots_[place % slots_.size()] = std::move(made);
      }
      ready_.notify_one();
    }
  }

  // One thread at a time waits for room and pulls, so that items get their places in order.
  bool pull(Slot& made, uint64_t& place) {
    const std::lock_guard pulling(pull_mutex_);
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return stopped_ || ended_ || pulled_ - taken_ < slots_.size(); });
      if (stopped_ || ended_) return false;
    }
    bool got = false;
    try {
      got = pull_(made.item);
    } catch (...) {
      made.error = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return false;
      place = pulled_;
      if (got || made.error) ++pulled_;
      if (!got) ended_ = true;
    }
    if (!got) {
      room_.notify_all();
      if (!made.error) ready_.notify_one();
    }
    return got || made.error;
  }

  const Pull pull_;
  const Work work_;
  std::mutex pull_mutex_, mutex_;
  std::condition_variable ready_, room_;
  std::vector<Slot> slots_;  // the items from taken_ on, each in its place modulo the size
  uint64_t pulled_ = 0, taken_ = 0;
  bool ended_ = false, stopped_ = false;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace weft::data
