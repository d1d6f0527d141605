// The compiler in the background: one thread of low priority, started when it is first needed, and the code that it made, bounded in number and size.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace weft_engine::jit {

// What is to be compiled, and the code once it is.
class HotCode {
 public:
  virtual ~HotCode() = default;
  // On the background thread. Once `cancel_flag` is true it ends soon.
  virtual void compile(const std::atomic<bool>& cancel_flag) = 0;
  // Frees the code; calls that run it may do so to their end.
  virtual void drop() = 0;
  virtual size_t bytes() const = 0;
  std::atomic<int64_t> last_use{0};  // in milliseconds of now()
  static int64_t now();
};

class Background {
 public:
  static Background& get();  // for ever
  // False: there is too much to do already, or no thread.
  bool add(std::weak_ptr<HotCode> what);
  // It has code from here on. Above the limits the code that was not used for longest is dropped.
  void keep(const std::shared_ptr<HotCode>& what);
  // Waits until all that was added is done; for tests.
  void wait_until_idle();

 private:
  Background() = default;
  bool start_thread();  // with the lock
  void work();
  void wait_at_end_of_process();
  void end_of_process();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::weak_ptr<HotCode>> queue_;
  std::vector<std::weak_ptr<HotCode>> kept_;
  bool loading_ = false, busy_ = false;  // the thread loads the compiler, and then compiles
  bool must_stop_ = true;  // before the process may end
  int generation_ = -1;  // of forks, in which the thread was started
  bool refused_ = false;
  std::atomic<bool> give_up_{false};
};

}  // namespace weft_engine::jit
