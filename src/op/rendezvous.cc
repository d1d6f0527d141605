#include "op/rendezvous.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

namespace weft_engine::op {
namespace {

class LocalRendezvous final : public Rendezvous {
 public:
  Status send(std::string_view key, Tensor value, bool dead) override {
    Done waiting;
    {
      std::lock_guard lock(mutex_);
      if (!aborted_.ok()) return aborted_;
      ItemQueue& m = queues_[std::string(key)];
      if (m.waiting.empty()) {
        m.sent.push_back({std::move(value), dead});
        return {};
      }
      waiting = std::move(m.waiting.front().done);
      m.waiting.pop_front();
      drop_if_empty(key, m);
    }
    waiting({}, std::move(value), dead);
    return {};
  }

  void recv_async(std::string_view key, Done done) override { recv_async(key, nullptr, std::move(done)); }
  void recv_async(std::string_view key, const void* ticket, Done done) override {
    std::unique_lock lock(mutex_);
    if (!aborted_.ok()) {
      Status s = aborted_;
      lock.unlock();
      return done(std::move(s), {}, false);
    }
    ItemQueue& m = queues_[std::string(key)];
    if (m.sent.empty()) {
      m.waiting.push_back({ticket, std::move(done)});
      return;
    }
    Sent sent = std::move(m.sent.front());
    m.sent.pop_front();
    drop_if_empty(key, m);
    lock.unlock();
    done({}, std::move(sent.value), sent.dead);
  }

  bool give_up(std::string_view key, const void* ticket) override {
    Done dropped;  // destroyed after the lock is
    std::lock_guard lock(mutex_);
    const auto it = queues_.find(std::string(key));
    if (it == queues_.end()) return false;
    auto& waiting = it->second.waiting;
    const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const Waiting& w) { return w.ticket == ticket; });
    if (found == waiting.end()) return false;
    dropped = std::move(found->done);
    waiting.erase(found);
    drop_if_empty(key, it->second);
    return true;
  }
  bool empty() override {
    std::lock_guard lock(mutex_);
    return queues_.empty();
  }

  // The last of those who wait may end the step, and this object with it: nothing is touched afterwards.
  void abort(Status status) override {
    std::unordered_map<std::string, ItemQueue> queues;
    {
      std::lock_guard lock(mutex_);
      if (!aborted_.ok() || status.ok()) return;
      aborted_ = status;
      queues.swap(queues_);
    }
    for (auto& [key, m] : queues) {
      for (Waiting& w : m.waiting) w.done(status, {}, false);
    }
  }

 private:
  struct Sent {
    Tensor value;
    bool dead;
  };
  struct Waiting {
    const void* ticket;
    Done done;
  };
  struct ItemQueue {
    std::deque<Sent> sent;     // at most one of the two holds something
    std::deque<Waiting> waiting;
  };
  void drop_if_empty(std::string_view key, const ItemQueue& m) {
    if (m.sent.empty() && m.waiting.empty()) queues_.erase(std::string(key));
  }

  std::mutex mutex_;
  std::unordered_map<std::string, ItemQueue> queues_;
  Status aborted_;
};

}  // namespace

std::shared_ptr<Rendezvous> make_local_rendezvous() { return std::make_shared<LocalRendezvous>(); }

}  // namespace weft_engine::op
