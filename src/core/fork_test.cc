// Forks while other threads hold locks: the child can take each of them, and what they guard is whole where their holders were quick.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

// The child's answer; one that hangs is ended by the alarm and gives its number, negative.
int in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(body() ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Does `body` on a thread until the end of the scope. The constructor returns when it ran once.
class Busy {
 public:
  explicit Busy(std::function<void()> body)
      : thread_([this, body = std::move(body)] {
          while (!stop_) {
            body();
            ran_ = true;
          }
        }) {
    while (!ran_) std::this_thread::yield();
  }
  ~Busy() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false}, ran_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("a child takes locks that other threads held, and finds what they guard whole") {
  std::mutex mutex;
  std::shared_mutex shared;
  std::recursive_mutex recursive;
  volatile int64_t a = 0, b = 0, c = 0, d = 0;
  Busy one([&] {
    std::lock_guard lock(mutex);
    a = a + 1;
    for (int i = 0; i < 1000; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
    b = b + 1;
  });
  Busy two([&] {
    std::lock_guard outer(recursive);
    std::unique_lock lock(shared);
    c = c + 1;
    std::this_thread::sleep_for(10us);
    std::lock_guard again(recursive);
    d = d + 1;
  });
  Busy three([&] { std::shared_lock lock(shared); });
  for (int i = 0; i < 20; ++i) {
    CHECK(in_child([&] {
            std::lock_guard l1(mutex);
            std::lock_guard l2(recursive);
            std::lock_guard l3(recursive);
            std::unique_lock l4(shared);
            return a == b && c == d;
          }) == 7);
  }
}

TEST_CASE("a child takes locks whose holders do not give them back") {
  std::mutex mutex;
  std::shared_mutex shared;
  std::recursive_mutex recursive;
  std::atomic<bool> held{false}, end{false};
  std::thread holder([&] {
    std::lock_guard l1(mutex);
    std::lock_guard l2(recursive);
    std::shared_lock l3(shared);
    held = true;
    while (!end) std::this_thread::sleep_for(1ms);
  });
  while (!held) std::this_thread::yield();
  CHECK(in_child([&] {
          std::lock_guard l1(mutex);
          std::lock_guard l2(recursive);
          std::lock_guard l3(recursive);
          std::unique_lock l4(shared);
          return true;
        }) == 7);
  end = true;
  holder.join();
  CHECK(mutex.try_lock());  // the parent's are as they were
  mutex.unlock();
  CHECK(shared.try_lock());
  shared.unlock();
}

TEST_CASE("a child uses and destroys condition variables that others wait in") {
  struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    int waiting = 0;
    bool end = false;
  };
  auto queue = std::make_unique<Queue>();
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&, timed = i % 2 == 1] {
      std::unique_lock lock(queue->mutex);
      ++queue->waiting;
      if (timed) {
        while (!queue->changed.wait_for(lock, 2ms, [&] { return queue->end; })) {
        }
      } else {
        queue->changed.wait(lock, [&] { return queue->end; });
      }
    });
  }
  for (bool all = false; !all; std::this_thread::yield()) {
    std::lock_guard lock(queue->mutex);
    all = queue->waiting == 4;
  }
  Busy notifier([&] {
    std::lock_guard lock(queue->mutex);
    queue->changed.notify_all();
  });
  for (int i = 0; i < 20; ++i) {
    CHECK(in_child([&] {
            {
              std::unique_lock lock(queue->mutex);
              queue->changed.notify_one();
              queue->changed.notify_all();
              if (queue->changed.wait_for(lock, 1ms) != std::cv_status::timeout) return false;
            }
            queue.reset();
            return true;
          }) == 7);
  }
  {
    std::lock_guard lock(queue->mutex);
    queue->end = true;
    queue->changed.notify_all();
  }
  for (std::thread& t : waiters) t.join();
}

TEST_CASE("a child makes a static that another thread was making") {
  static std::atomic<bool> inside{false}, end{false};
  static std::atomic<int> made{0};
  const auto get = [] {
    static const int value = [] {
      if (++made > 1) return 2;
      inside = true;
      while (!end) std::this_thread::sleep_for(1ms);
      return 1;
    }();
    return value;
  };
  std::thread maker([&] { get(); });
  while (!inside) std::this_thread::yield();
  CHECK(in_child([&] { return get() == 2; }) == 7);
  end = true;
  maker.join();
  CHECK(get() == 1);
}

TEST_CASE("forks on several threads at once") {
  std::mutex mutex;
  std::vector<std::thread> threads;
  std::atomic<int> fine{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        {
          std::lock_guard lock(mutex);
        }
        fine += in_child([&] {
                  std::lock_guard lock(mutex);
                  return true;
                }) == 7;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(fine == 20);
}
